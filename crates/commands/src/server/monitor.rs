//! MONITOR: shows the requests of all connections as they arrive; and the display form of a request.

use crate::prelude::*;
use crate::registry::Command;

pub(crate) const COMMANDS: &[CommandSpec] = &[MONITOR];

const MONITOR: CommandSpec = CommandSpec {
    name: "MONITOR",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1), and for each request that is shown O(n), n its bytes",
    since: "1.0.0",
    brief: "Streams every request that the server receives, until RESET.",
    answer: "simple: OK; then a status for each request: time, database, address, arguments",
    run: Run::Session(|session, _, reply| {
        session.monitor().map_err(Failure::text)?;
        reply.ok();
        Ok(())
    }),
};

/// Longer requests are truncated to this, in bytes of their arguments.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// Returns true if requests of a command are shown: administrative ones are not.
pub fn is_shown(command: &Command) -> bool {
    !command.has(Flag::Admin)
}

/// Returns a request as MONITOR shows it, without time and address; passwords are hidden.
pub fn shown(command: &Command, args: &Args<'_>) -> String {
    let mut text = String::new();
    let mut left = SHOWN_BYTES_MAX;
    let mut secrets = secret_arguments(command, args).into_iter().peekable();
    for (at, argument) in args.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        if left == 0 {
            text.push_str(&format!("... ({} more arguments)", args.len() - at));
            break;
        }
        if secrets.next_if_eq(&at).is_some() {
            quote(REDACTED, &mut text);
            left = left.saturating_sub(REDACTED.len());
            continue;
        }
        let part = &argument[..argument.len().min(left)];
        left -= part.len();
        quote(part, &mut text);
        if part.len() < argument.len() {
            text.push_str(&format!("... ({} more bytes)", argument.len() - part.len()));
        }
    }
    text
}

/// The replacement for a secret, as in Redis.
pub const REDACTED: &[u8] = b"(redacted)";

/// Names of settings, in lower case, whose values are secret: ours, and those of Redis that clients may try.
const SECRET_SETTINGS: &[&[u8]] =
    &[b"requirepass", b"masterauth", b"masteruser", b"tls-key-file-pass", b"tls-client-key-file-pass"];

/// Returns which arguments of a request are users or passwords, in order. MONITOR and the slow log hide them.
/// O(1) for commands that take none, else O(arguments).
pub fn secret_arguments(command: &Command, args: &Args<'_>) -> Vec<usize> {
    let count = args.len();
    match command.fact(|fact| if let Fact::Secret(secret) = fact { Some(secret) } else { None }) {
        Some(Secret::AllArguments) => (1..count).collect(),
        Some(Secret::Rules) => (2..count).collect(),
        Some(Secret::Settings) => (3..count).step_by(2).filter(|at| is_secret_setting(args.get(at - 1))).collect(),
        Some(Secret::HelloOptions) => secrets_of_hello(args),
        Some(Secret::MigrateOptions) => secrets_of_migrate(args),
        None => Vec::new(),
    }
}

/// Returns true if a setting of this name, in any case, is secret.
fn is_secret_setting(name: &[u8]) -> bool {
    SECRET_SETTINGS.iter().any(|secret| secret.eq_ignore_ascii_case(name))
}

fn secrets_of_hello(args: &Args<'_>) -> Vec<usize> {
    let mut at = 2;
    let mut secrets = Vec::new();
    while at < args.len() {
        if parse::is(args.get(at), "SETNAME") {
            at += 2;
        } else if parse::is(args.get(at), "AUTH") && at + 2 < args.len() {
            secrets.extend([at + 1, at + 2]);
            at += 3;
        } else {
            // Whatever is wrong here, a password may follow.
            secrets.extend(at + 1..args.len());
            break;
        }
    }
    secrets
}

fn secrets_of_migrate(args: &Args<'_>) -> Vec<usize> {
    let mut at = 6;
    let mut secrets = Vec::new();
    while at < args.len() && !parse::is(args.get(at), "KEYS") {
        let behind = match args.get(at) {
            word if parse::is(word, "AUTH") => 1,
            word if parse::is(word, "AUTH2") => 2,
            _ => 0,
        };
        secrets.extend((at + 1..=at + behind).filter(|at| *at < args.len()));
        at += 1 + behind;
    }
    secrets
}

/// Returns true if an unknown command may be a misspelt AUTH or HELLO, whose arguments may contain a password.
pub fn may_be_secret(name: &[u8]) -> bool {
    let is_near = |meant: &[u8]| {
        if name.len().abs_diff(meant.len()) > 1 {
            return false;
        }
        let mut left = name.to_ascii_uppercase();
        let missing = meant.iter().filter(|letter| match left.iter().position(|there| there == *letter) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        });
        missing.count() <= 1
    };
    is_near(b"AUTH") || is_near(b"HELLO")
}

fn quote(bytes: &[u8], text: &mut String) {
    text.push('"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            0x07 => text.push_str("\\a"),
            0x08 => text.push_str("\\b"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Lookup, find};
    use wire::OwnedRequest;

    fn of(words: &[&[u8]]) -> String {
        let owned = OwnedRequest::of(words);
        let args = owned.args();
        let Lookup::Command(command) = find(&args) else { panic!("a command") };
        shown(&command, &args)
    }

    #[test]
    fn requests_are_escaped_as_in_redis() {
        assert_eq!(of(&[b"get", b"k"]), "\"get\" \"k\"");
        let odd = b"a\x00\x01\xffb\"\\\n\r\t\x07\x08";
        assert_eq!(of(&[b"ECHO", odd]), r#""ECHO" "a\x00\x01\xffb\"\\\n\r\t\a\b""#);
    }

    #[test]
    fn passwords_are_hidden() {
        assert_eq!(of(&[b"AUTH", b"pw"]), r#""AUTH" "(redacted)""#);
        assert_eq!(of(&[b"AUTH", b"u", b"pw"]), r#""AUTH" "(redacted)" "(redacted)""#);
        let hello: &[&[u8]] = &[b"HELLO", b"2", b"AUTH", b"u", b"pw", b"SETNAME", b"me"];
        assert_eq!(of(hello), r#""HELLO" "2" "AUTH" "(redacted)" "(redacted)" "SETNAME" "me""#);
    }

    #[test]
    fn passwords_are_hidden_in_every_command_that_takes_one() {
        for (request, expected) in [
            ("AUTH pw", &[1][..]),
            ("AUTH user pw more", &[1, 2, 3]),
            ("HELLO 3 SETNAME AUTH AUTH user pw SETNAME me", &[5, 6]),
            ("HELLO 3 AUTH pw", &[3]),
            ("HELLO 3 AUHT user pw", &[3, 4]),
            ("HELLO 3 SETNAME me", &[]),
            ("CONFIG SET requirepass pw", &[3]),
            ("config set port 1 RequirePass pw maxclients 5 masterauth pw2", &[5, 9]),
            ("MIGRATE h 1 key 0 5 COPY AUTH pw REPLACE", &[8]),
            ("MIGRATE h 1 k 0 5 AUTH2 user pw KEYS AUTH AUTH2 a", &[7, 8]),
            ("MIGRATE h 1 k 0 5 AUTH", &[]),
            ("MIGRATE h 1 k 0 5 AUTH2 user", &[7]),
            ("ACL SETUSER bob on >pw", &[2, 3, 4]),
            ("SET requirepass pw", &[]),
        ] {
            let words: Vec<&str> = request.split(' ').collect();
            let owned = OwnedRequest::of(&words);
            let args = owned.args();
            let Lookup::Command(command) = find(&args) else { panic!("{request}: a command") };
            assert_eq!(secret_arguments(&command, &args), expected, "{request}");
        }
    }

    #[test]
    fn misspelt_auth_commands_may_contain_a_password() {
        for name in ["AUHT", "auht", "ATUH", "AUT", "AUTHH", "AUTJ", "HELO", "HELLP"] {
            assert!(may_be_secret(name.as_bytes()), "{name}");
        }
        for name in ["NOSUCH", "FOO", "", "SETT", "A", "HGETAL"] {
            assert!(!may_be_secret(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn long_requests_are_truncated() {
        let long = vec![b'x'; SHOWN_BYTES_MAX];
        let text = of(&[b"SET", &long, b"v"]);
        assert!(text.ends_with("x\"... (3 more bytes) ... (1 more arguments)"), "{}", &text[text.len() - 60..]);
    }
}
