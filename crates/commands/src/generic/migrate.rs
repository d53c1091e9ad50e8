//! MIGRATE: its specification and arguments. The engine runs it, as a client of another server.

use crate::prelude::*;
use crate::spec::Verb;
use base::{Ms, raw_text};

pub(crate) const COMMANDS: &[CommandSpec] = &[MIGRATE];

const MIGRATE: CommandSpec = CommandSpec {
    name: "MIGRATE",
    syntax: "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] \
             [KEYS key [key ...]]",
    arity: Arity::AtLeast(6),
    keys: &[
        KeySpec::one(3, "RW ACCESS DELETE"),
        KeySpec::found(
            Begin::LastOption { word: "KEYS", from: 6, counts: &[("AUTH", 1), ("AUTH2", 2)] },
            Find::Range { last: -1, step: 1 },
            "RW ACCESS DELETE INCOMPLETE",
        ),
    ],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous, Flag::EmptyKeyBeforeList],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[
            ("3.0.0", "Takes `COPY` and `REPLACE`."),
            ("3.0.6", "Takes `KEYS`."),
            ("4.0.7", "Takes `AUTH`."),
            ("6.0.0", "Takes `AUTH2`."),
        ]),
        Fact::Arguments(&[
            argument("2", "key_or_empty_string", "", ""),
            argument("2.1", "empty_string", "", ""),
            argument("4", "", "integer", ""),
            argument("5", "", "", "3.0.0"),
            argument("6", "", "", "3.0.0"),
            argument("7", "authentication", "", ""),
            argument("7.0", "", "", "4.0.7"),
            argument("7.1", "", "", "6.0.0"),
            argument("8", "", "", "3.0.6"),
        ]),
        Fact::Secret(Secret::MigrateOptions),
    ],
    group: Group::Generic,
    cost: "O(n), n the bytes of the values",
    since: "2.6.0",
    brief: "Moves or copies keys to another server.",
    answer: "simple: OK; NOKEY if no key is there; error if the other server refuses or cannot be reached",
    run: Run::Engine(Verb::Migrate),
};

/// The arguments of MIGRATE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migration {
    /// The other server.
    pub host: String,
    /// Its port; `None` if invalid.
    pub port: Option<u16>,
    /// The keys to move.
    pub keys: Vec<Box<[u8]>>,
    /// The target database.
    pub database: i64,
    /// Maximum silence of the other server, in milliseconds.
    pub timeout_ms: Ms,
    /// True if the keys also stay here.
    pub copies: bool,
    /// True if existing keys on the target are replaced.
    pub replaces: bool,
    /// AUTH: password, or user and password.
    pub secret: Vec<Box<[u8]>>,
}

/// The default timeout, in milliseconds.
const TIMEOUT_MS: Ms = 1_000;

/// Parses the arguments of MIGRATE.
///
/// # Errors
/// If they are invalid.
pub fn migrate_arguments(args: &Args<'_>) -> Result<Migration, Failure> {
    let mut asked = Migration {
        host: raw_text::from_bytes(args.get(1)).into_owned(),
        port: parse::int(args.get(2)).ok().and_then(|port| u16::try_from(port).ok()),
        keys: vec![args.get(3).into()],
        ..Migration::default()
    };
    let mut words = args.from(6).iter();
    while let Some(word) = words.next() {
        if parse::is(word, "COPY") {
            asked.copies = true;
        } else if parse::is(word, "REPLACE") {
            asked.replaces = true;
        } else if parse::is(word, "AUTH") && words.len() >= 1 {
            asked.secret = words.by_ref().take(1).map(Box::from).collect();
        } else if parse::is(word, "AUTH2") && words.len() >= 2 {
            asked.secret = words.by_ref().take(2).map(Box::from).collect();
        } else if parse::is(word, "KEYS") {
            if !args.get(3).is_empty() {
                return Err(Failure::text(
                    "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
                ));
            }
            asked.keys = words.by_ref().map(Box::from).collect();
        } else {
            return Err(Failure::Syntax);
        }
    }
    let timeout = parse::int(args.get(5))?;
    asked.database = parse::int(args.get(4))?;
    asked.timeout_ms = if timeout > 0 { timeout as Ms } else { TIMEOUT_MS };
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::OwnedRequest;

    fn asked(request: &str) -> Result<Migration, Failure> {
        let words: Vec<&str> = request.split(' ').map(|word| if word == "-" { "" } else { word }).collect();
        migrate_arguments(&OwnedRequest::of(&words).args())
    }

    #[test]
    fn migrate_arguments_are_parsed_and_checked() {
        let plain = asked("MIGRATE host 6379 key 3 0").unwrap();
        assert_eq!((plain.port, plain.database, plain.timeout_ms), (Some(6379), 3, TIMEOUT_MS));
        assert_eq!(plain.keys, [Box::from(*b"key")]);
        let all = asked("MIGRATE h 1 - 0 50 COPY REPLACE AUTH2 user pw KEYS a KEYS b").unwrap();
        assert!(all.copies && all.replaces);
        assert_eq!((all.keys.len(), all.secret.len(), all.timeout_ms), (3, 2, 50));
        assert_eq!(asked("MIGRATE h 1 k 0 50 AUTH pw").unwrap().secret, [Box::from(*b"pw")]);
        for wrong in ["MIGRATE h 1 k 0 5 AUTH", "MIGRATE h 1 k 0 5 AUTH2 a", "MIGRATE h 1 k 0 5 WHAT"] {
            assert_eq!(asked(wrong), Err(Failure::Syntax), "{wrong}");
        }
        assert_eq!(asked("MIGRATE h 1 k x 5"), Err(Failure::NotAnInteger));
        assert_eq!(asked("MIGRATE h 1 k 0 x"), Err(Failure::NotAnInteger));
        assert!(asked("MIGRATE h 1 k 0 5 KEYS a").is_err_and(|failure| failure.to_string().contains("empty string")));
    }
}
