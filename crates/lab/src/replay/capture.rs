//! Reads the lines that MONITOR prints.
//!
//! ```text
//!  1339518083.107412 [0 127.0.0.1:60866] "keys" "*"
//!  |                  | |                 '- words: \" \\ \n \r \t \a \b \xHH are escapes
//!  seconds     database client            [0 lua] is a command that a script made: the script's call makes it again
//! ```
//!
//! A capture may hold anything: a line that is none of MONITOR's is an error, never a panic.

/// The kinds of lines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Line {
    Call(CapturedCall),
    /// A call that a script made.
    OfScript,
    /// The `OK` with which MONITOR begins, or nothing.
    Nothing,
}

/// A call as MONITOR saw it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct CapturedCall {
    /// Since 1970.
    pub(super) time_us: u64,
    /// The database in which it ran; for SELECT the one before or the one after, as the server's version has it.
    pub(super) database: u32,
    /// The address.
    pub(super) client: String,
    /// At least one.
    pub(super) words: Vec<Vec<u8>>,
}

type Parsed<T> = Result<T, &'static str>;

/// Reads a line, with or without its end.
///
/// # Errors
/// It is none of MONITOR's.
pub(super) fn parse_line(line: &[u8]) -> Parsed<Line> {
    let line = line.trim_ascii_end();
    // The mark of a status is there if the capture was not made by redis-cli.
    let line = line.strip_prefix(b"+").unwrap_or(line);
    if line.is_empty() || line == b"OK" {
        return Ok(Line::Nothing);
    }
    let (time, rest) = split_at_blank(line).ok_or("it has one word")?;
    let time_us = time_us(time).ok_or("it does not begin with a time")?;
    let rest = rest.strip_prefix(b"[").ok_or("it has no client in brackets")?;
    // Addresses of IPv6 have brackets, too.
    let end = rest.windows(3).position(|signs| signs == b"] \"").ok_or("it has no words behind the client")?;
    let (database, client) = split_at_blank(&rest[..end]).ok_or("it has no database in brackets")?;
    let database = digits(database).and_then(|number| u32::try_from(number).ok()).ok_or("its database is no number")?;
    let words = words(&rest[end + 2..])?;
    if client == b"lua" {
        return Ok(Line::OfScript);
    }
    let client = String::from_utf8_lossy(client).into_owned();
    Ok(Line::Call(CapturedCall { time_us, database, client, words }))
}

fn split_at_blank(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b' ')?;
    Some((&text[..at], &text[at + 1..]))
}

/// Returns the microseconds of `1339518083.107412`.
fn time_us(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.')?;
    let (seconds, fraction) = (digits(&text[..point])?, &text[point + 1..]);
    if fraction.len() != 6 {
        return None;
    }
    seconds.checked_mul(1_000_000)?.checked_add(digits(fraction)?)
}

fn digits(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Reads words in quotes with a blank between.
fn words(mut text: &[u8]) -> Parsed<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    loop {
        let (word, rest) = word(text)?;
        words.push(word);
        match rest {
            [] => return Ok(words),
            [b' ', more @ ..] => text = more,
            _ => return Err("a word has something behind its closing quote"),
        }
    }
}

/// Reads a word in quotes, and returns it with the text behind.
fn word(text: &[u8]) -> Parsed<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"").ok_or("a word has no opening quote")?;
    let mut word = Vec::new();
    loop {
        match rest {
            [] => return Err("a word has no closing quote"),
            [b'"', more @ ..] => return Ok((word, more)),
            [b'\\', more @ ..] => {
                let (byte, more) = escape(more).ok_or("a word has an unknown escape")?;
                word.push(byte);
                rest = more;
            }
            [byte, more @ ..] => {
                word.push(*byte);
                rest = more;
            }
        }
    }
}

/// Reads an escape behind its backslash.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (sign, rest) = text.split_first()?;
    let byte = match sign {
        b'\\' | b'"' => *sign,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 0x07,
        b'b' => 0x08,
        b'x' => {
            let (hex, rest) = rest.split_at_checked(2)?;
            let digit = |sign: u8| char::from(sign).to_digit(16);
            return Some((u8::try_from(digit(hex[0])? * 16 + digit(hex[1])?).ok()?, rest));
        }
        _ => return None,
    };
    Some((byte, rest))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes a word as Redis does (`sdscatrepr`).
    fn quoted(word: &[u8]) -> String {
        let sign = |byte: &u8| match byte {
            b'\\' | b'"' => format!("\\{}", char::from(*byte)),
            b'\n' => "\\n".to_owned(),
            b'\r' => "\\r".to_owned(),
            b'\t' => "\\t".to_owned(),
            0x07 => "\\a".to_owned(),
            0x08 => "\\b".to_owned(),
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        };
        format!("\"{}\"", word.iter().map(sign).collect::<String>())
    }

    /// The line that MONITOR prints for a call.
    pub(in crate::replay) fn line_of(call: &CapturedCall) -> String {
        let (seconds, fraction) = (call.time_us / 1_000_000, call.time_us % 1_000_000);
        let words: Vec<String> = call.words.iter().map(|word| quoted(word)).collect();
        format!("{seconds}.{fraction:06} [{} {}] {}", call.database, call.client, words.join(" "))
    }

    fn call(time_us: u64, database: u32, client: &str, words: &[&[u8]]) -> Line {
        let words = words.iter().map(|word| word.to_vec()).collect();
        Line::Call(CapturedCall { time_us, database, client: client.to_owned(), words })
    }

    #[test]
    fn the_line_of_redis_documentation_is_read() {
        let expected = call(1_339_518_083_107_412, 0, "127.0.0.1:60866", &[b"keys", b"*"]);
        assert_eq!(parse_line(b"1339518083.107412 [0 127.0.0.1:60866] \"keys\" \"*\"\n"), Ok(expected));
    }

    /// Lines that redis-server 7.0.15 printed.
    #[test]
    fn escapes_of_redis_are_read() {
        let line = br#"1795693875.981221 [0 127.0.0.1:52644] "SET" "a" "x\n\a\b\xff\"\\""#;
        let expected = call(1_795_693_875_981_221, 0, "127.0.0.1:52644", &[b"SET", b"a", b"x\n\x07\x08\xff\"\\"]);
        assert_eq!(parse_line(line), Ok(expected));
        let line = br#"1795693877.081387 [0 unix:/tmp/mon/s.sock] "SET" "u" """#;
        let expected = call(1_795_693_877_081_387, 0, "unix:/tmp/mon/s.sock", &[b"SET", b"u", b""]);
        assert_eq!(parse_line(line), Ok(expected));
        assert_eq!(parse_line(br#"1795693875.981955 [5 lua] "set" "k" "v""#), Ok(Line::OfScript));
    }

    #[test]
    fn addresses_of_ipv6_are_read() {
        let expected = call(1_000_000, 15, "[::1]:6000", &[b"PING"]);
        assert_eq!(parse_line(b"1.000000 [15 [::1]:6000] \"PING\"\r\n"), Ok(expected));
    }

    #[test]
    fn lines_without_a_call_are_nothing() {
        for line in [&b"OK\n"[..], b"+OK\r\n", b"", b"\r\n"] {
            assert_eq!(parse_line(line), Ok(Line::Nothing));
        }
    }

    #[test]
    fn lines_of_another_form_are_errors() {
        for line in [
            "Error: Server closed the connection",
            "1.000000",
            "x [0 a] \"PING\"",
            "1.5 [0 a] \"PING\"",
            "18446744073709551615.000000 [0 a] \"PING\"",
            "1.000000 0 a \"PING\"",
            "1.000000 [0 a]",
            "1.000000 [0 a] PING",
            "1.000000 [a] \"PING\"",
            "1.000000 [-1 a] \"PING\"",
            "1.000000 [4294967296 a] \"PING\"",
            "1.000000 [0 a] \"PING",
            "1.000000 [0 a] \"PING\"\"x\"",
            "1.000000 [0 a] \"PING\" ",
            "1.000000 [0 a] \"PING\"  \"x\"",
            "1.000000 [0 a] \"\\q\"",
            "1.000000 [0 a] \"\\x0\"",
            "1.000000 [0 a] \"\\xg0\"",
            "1.000000 [0 a] \"\\",
        ] {
            // A blank at the end is not taken for a part of the line.
            let is_trimmed = line.ends_with("\" ");
            assert_eq!(parse_line(line.as_bytes()).is_ok(), is_trimmed, "{line}");
        }
    }

    fn any_call() -> impl Strategy<Value = CapturedCall> {
        let word = prop::collection::vec(any::<u8>(), 0..20);
        let words = prop::collection::vec(word, 1..6);
        let client = prop::sample::select(vec!["127.0.0.1:1", "[::1]:65535", "unix:/run/a b.sock"]);
        (0..u64::MAX / 2, any::<u32>(), client, words).prop_map(|(time_us, database, client, words)| CapturedCall {
            time_us,
            database,
            client: client.to_owned(),
            words,
        })
    }

    proptest! {
        #[test]
        fn a_written_line_is_read_as_the_same_call(call in any_call()) {
            prop_assert_eq!(parse_line(line_of(&call).as_bytes()), Ok(Line::Call(call)));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(line in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse_line(&line);
        }

        #[test]
        fn a_damaged_line_is_read_without_a_panic(call in any_call(), cut in any::<prop::sample::Index>(), byte: u8) {
            let mut line = line_of(&call).into_bytes();
            let at = cut.index(line.len());
            let _ = parse_line(&line[..at]);
            line[at] = byte;
            let _ = parse_line(&line);
        }
    }
}
