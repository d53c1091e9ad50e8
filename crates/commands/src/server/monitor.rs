//! MONITOR: what all connections ask for, as they do; and how a request is shown.

use crate::prelude::*;
use crate::table::Row;

pub(crate) const COMMANDS: &[Command] = &[MONITOR];

const MONITOR: Command = Command {
    name: "MONITOR",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    group: Group::Server,
    cost: "O(1), and for each request that is shown O(n), n its bytes",
    since: "1.0.0",
    brief: "Shows the connection every request from now on, until RESET.",
    answer: "simple: OK; then a status for each request: time, database, address, arguments",
    run: Run::Session(|session, _, reply| {
        session.monitor().map_err(Failure::text)?;
        reply.ok();
        Ok(())
    }),
};

/// Of a longer request only so much is shown, in bytes of its arguments.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// Whether requests of a row are shown: not those for whoever runs the server.
pub fn is_shown(row: &Row) -> bool {
    !row.has(Flag::Admin)
}

/// A request as MONITOR shows it, without time and address; passwords are hidden.
pub fn shown(row: &Row, args: &Args<'_>) -> String {
    let mut text = String::new();
    let mut left = SHOWN_BYTES_MAX;
    for (at, argument) in args.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        if is_secret(row, args, at) {
            text.push_str("\"(redacted)\"");
            continue;
        }
        if left == 0 {
            text.push_str(&format!("... ({} more arguments)", args.len() - at));
            break;
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

/// Whether an argument is a user or a password.
fn is_secret(row: &Row, args: &Args<'_>, at: usize) -> bool {
    match row.name {
        "AUTH" => at > 0,
        "HELLO" => {
            let word = (2..args.len()).find(|word| parse::is(args.get(*word), "AUTH"));
            word.is_some_and(|word| at == word + 1 || at == word + 2)
        }
        "MIGRATE" => (6..at).any(|word| {
            let behind = at - word;
            (parse::is(args.get(word), "AUTH") && behind == 1) || (parse::is(args.get(word), "AUTH2") && behind <= 2)
        }),
        _ => false,
    }
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
    use crate::table::{Found, find};
    use wire::OwnedRequest;

    fn of(words: &[&[u8]]) -> String {
        let owned = OwnedRequest::of(words);
        let args = owned.args();
        let Found::Command(row) = find(&args) else { panic!("a row") };
        shown(&row, &args)
    }

    #[test]
    fn requests_are_shown_as_redis_shows_them() {
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
    fn of_a_long_request_the_beginning_is_shown() {
        let long = vec![b'x'; SHOWN_BYTES_MAX];
        let text = of(&[b"SET", &long, b"v"]);
        assert!(text.ends_with("x\"... (3 more bytes) ... (1 more arguments)"), "{}", &text[text.len() - 60..]);
    }
}
