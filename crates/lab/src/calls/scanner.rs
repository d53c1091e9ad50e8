//! Finds the end of a reply in bytes that come in pieces, and what the reply means.
//!
//! ```text
//! RESP         *2  $1 a  *1 :1     1 reply open, then 2, 1, 1, 0: the end
//!                        ^ at      an element that is complete is not looked at again
//! memcached    VALUE k 0 3 | abc   any number of them, then END
//! beanstalkd   RESERVED 7 3 | abc
//! ```
//!
//! A scanner keeps only where it is; the caller keeps the bytes of a reply until it is complete. Nothing is allocated.

use crate::protocol::Protocol;
use std::io;
use std::ops::Range;

/// A line longer than this is none of a reply.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// More elements than this are a broken reply.
const ELEMENTS_MAX: u64 = 1 << 40;
/// The maximum length of a value.
const VALUE_BYTES_MAX: u64 = 1 << 40;
const LINE_END: &[u8] = b"\r\n";

/// The meaning of a reply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Meaning {
    /// The protocol's word for success.
    Done,
    /// Another line of text.
    Text,
    Integer,
    Value,
    Elements,
    /// There is nothing, or nothing was changed.
    Nothing,
    /// An error, or an element that is one.
    Error,
    /// A message of beanstalkd; the range is that of its id. The call is complete once the message is deleted.
    Reserved(Range<usize>),
}

/// A complete reply at the front of some bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Reply {
    pub(crate) length: usize,
    pub(crate) meaning: Meaning,
    /// A value, or a line without its mark and its end; for several elements or values, that of the first line.
    pub(crate) text: Range<usize>,
    /// Elements of an array, or values of a text protocol.
    pub(crate) elements: u64,
}

/// The progress within a reply.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    /// Everything before is complete.
    at: usize,
    /// Replies and elements that have not ended; only RESP has more than one.
    open: u64,
    /// The reply as far as it is known; its length is not.
    found: Option<Reply>,
}

/// A line of a reply.
struct TextLine<'a> {
    text: &'a [u8],
    begin: usize,
    /// Where the next line begins.
    end: usize,
}

impl Scanner {
    /// Returns the reply at the front of `bytes` once it is complete. Until then `bytes` must be the same with more
    /// behind; afterwards the scanner is ready for the next reply.
    ///
    /// # Errors
    /// The bytes break the protocol.
    pub(crate) fn scan(&mut self, protocol: Protocol, bytes: &[u8]) -> io::Result<Option<Reply>> {
        let is_complete = match protocol {
            Protocol::Resp => self.scan_resp(bytes)?,
            _ => self.scan_text(bytes)?,
        };
        if !is_complete {
            return Ok(None);
        }
        let Self { at, found, .. } = std::mem::take(self);
        Ok(found.map(|reply| Reply { length: at, ..reply }))
    }

    fn scan_resp(&mut self, bytes: &[u8]) -> io::Result<bool> {
        loop {
            let Some(line) = line_at(bytes, self.at)? else { return Ok(false) };
            let (mark, rest) = line.text.split_first().ok_or_else(|| broken("an empty line"))?;
            let mut text = line.begin + 1..line.begin + line.text.len();
            let mut end = line.end;
            let mut elements = 0;
            let meaning = match mark {
                b'+' if rest == b"OK" => Meaning::Done,
                b'+' => Meaning::Text,
                b'-' => Meaning::Error,
                b':' => signed(rest).map(|_| Meaning::Integer)?,
                b'$' => match length(rest)? {
                    None => Meaning::Nothing,
                    Some(bytes_count) => {
                        let Some(value) = value_at(bytes, end, bytes_count)? else { return Ok(false) };
                        end = value.end + LINE_END.len();
                        text = value;
                        Meaning::Value
                    }
                },
                b'*' => {
                    elements = length(rest)?.unwrap_or(0);
                    if elements == 0 { Meaning::Nothing } else { Meaning::Elements }
                }
                _ => return Err(broken("an unknown type")),
            };
            self.at = end;
            self.note(meaning, text, elements);
            if self.open > ELEMENTS_MAX {
                return Err(broken("too many elements"));
            }
            if self.open == 0 {
                return Ok(true);
            }
        }
    }

    /// Notes an element of RESP that is complete, or an array that begins.
    fn note(&mut self, meaning: Meaning, text: Range<usize>, elements: u64) {
        match &mut self.found {
            None => {
                self.open = elements;
                self.found = Some(Reply { length: 0, meaning, text, elements });
            }
            Some(reply) => {
                self.open = self.open - 1 + elements;
                if meaning == Meaning::Error {
                    *reply = Reply { meaning, text, ..reply.clone() };
                }
            }
        }
    }

    fn scan_text(&mut self, bytes: &[u8]) -> io::Result<bool> {
        loop {
            let Some(line) = line_at(bytes, self.at)? else { return Ok(false) };
            let (first, second) = (word(line.text, 0), word(line.text, 1));
            let whole = line.begin..line.begin + line.text.len();
            // Values with their lengths in these words; the others are lines.
            let length_word = match first {
                b"VALUE" => word(line.text, 3),
                b"RESERVED" | b"FOUND" => word(line.text, 2),
                b"OK" | b"VA" => second,
                _ => b"",
            };
            if !length_word.is_empty() {
                let bytes_count = length(length_word)?.ok_or_else(|| broken("a bad length"))?;
                let Some(value) = value_at(bytes, line.end, bytes_count)? else { return Ok(false) };
                self.at = value.end + LINE_END.len();
                let id = line.begin + first.len() + 1;
                match first {
                    b"VALUE" => self.note_value(Meaning::Value, value),
                    b"RESERVED" => {
                        self.note_value(Meaning::Reserved(id..id + second.len()), value);
                        return Ok(true);
                    }
                    _ => {
                        self.note_value(Meaning::Value, value);
                        return Ok(true);
                    }
                }
                continue;
            }
            self.at = line.end;
            match first {
                b"STAT" => self.note_value(Meaning::Elements, whole),
                b"END" if self.found.is_some() => return Ok(true),
                _ => {
                    let meaning = meaning_of(line.text, first);
                    self.found = Some(Reply { length: 0, meaning, text: whole, elements: 0 });
                    return Ok(true);
                }
            }
        }
    }

    /// Notes a value of a text protocol; with a second one they are elements.
    fn note_value(&mut self, meaning: Meaning, text: Range<usize>) {
        match &mut self.found {
            None => self.found = Some(Reply { length: 0, meaning, text, elements: 1 }),
            Some(reply) => {
                reply.meaning = Meaning::Elements;
                reply.elements += 1;
            }
        }
    }
}

/// Returns the meaning of a line of a text protocol.
fn meaning_of(line: &[u8], first: &[u8]) -> Meaning {
    match first {
        b"STORED" | b"DELETED" | b"TOUCHED" | b"OK" | b"HD" | b"MN" => Meaning::Done,
        b"INSERTED" | b"RELEASED" | b"USING" | b"WATCHING" | b"KICKED" | b"PAUSED" => Meaning::Done,
        b"END" | b"NOT_STORED" | b"NOT_FOUND" | b"EXISTS" | b"TIMED_OUT" => Meaning::Nothing,
        b"EN" | b"NF" | b"NS" | b"EX" => Meaning::Nothing,
        b"VERSION" => Meaning::Text,
        _ if !line.is_empty() && line.iter().all(u8::is_ascii_digit) => Meaning::Integer,
        _ => Meaning::Error,
    }
}

/// Returns the line that begins at `begin`, once its end is there.
fn line_at(bytes: &[u8], begin: usize) -> io::Result<Option<TextLine<'_>>> {
    let rest = &bytes[begin..];
    let Some(newline) = rest.iter().position(|byte| *byte == b'\n') else {
        return if rest.len() > LINE_BYTES_MAX { Err(broken("a line without an end")) } else { Ok(None) };
    };
    let text = rest[..=newline].strip_suffix(LINE_END).ok_or_else(|| broken("a line that ends otherwise"))?;
    Ok(Some(TextLine { text, begin, end: begin + newline + 1 }))
}

/// Returns the place of the value that begins at `begin`, once it and its end are there.
fn value_at(bytes: &[u8], begin: usize, length: u64) -> io::Result<Option<Range<usize>>> {
    if length > VALUE_BYTES_MAX {
        return Err(broken("a huge value"));
    }
    let end = begin + length as usize;
    match bytes.get(end..end + LINE_END.len()) {
        None => Ok(None),
        Some(LINE_END) => Ok(Some(begin..end)),
        Some(_) => Err(broken("a value of another length than it says")),
    }
}

/// Returns a word of a line, empty if there are fewer.
fn word(line: &[u8], place: usize) -> &[u8] {
    line.split(|byte| *byte == b' ').nth(place).unwrap_or_default()
}

/// Returns a length; absent for -1, which stands for nothing.
fn length(digits: &[u8]) -> io::Result<Option<u64>> {
    signed(digits).map(|value| u64::try_from(value).ok())
}

fn signed(digits: &[u8]) -> io::Result<i64> {
    let (is_negative, digits) = match digits.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, digits),
    };
    let add = |sum: i64, digit: &u8| {
        let digit = i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        sum.checked_mul(10)?.checked_add(if is_negative { -digit } else { digit })
    };
    let value = if digits.is_empty() { None } else { digits.iter().try_fold(0, add) };
    value.ok_or_else(|| broken("a bad number"))
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the server sent {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Complete replies with their meaning, their text and their number of elements.
    const REPLIES: [(Protocol, &str, Meaning, &str, u64); 36] = [
        (Protocol::Resp, "+OK\r\n", Meaning::Done, "OK", 0),
        (Protocol::Resp, "+PONG\r\n", Meaning::Text, "PONG", 0),
        (Protocol::Resp, "+\r\n", Meaning::Text, "", 0),
        (Protocol::Resp, ":-12\r\n", Meaning::Integer, "-12", 0),
        (Protocol::Resp, ":9223372036854775807\r\n", Meaning::Integer, "9223372036854775807", 0),
        (Protocol::Resp, "-ERR no\r\n", Meaning::Error, "ERR no", 0),
        (Protocol::Resp, "$-1\r\n", Meaning::Nothing, "-1", 0),
        (Protocol::Resp, "*-1\r\n", Meaning::Nothing, "-1", 0),
        (Protocol::Resp, "*0\r\n", Meaning::Nothing, "0", 0),
        (Protocol::Resp, "$0\r\n\r\n", Meaning::Value, "", 0),
        (Protocol::Resp, "$5\r\na\r\nbc\r\n", Meaning::Value, "a\r\nbc", 0),
        (Protocol::Resp, "*2\r\n$1\r\na\r\n*1\r\n:1\r\n", Meaning::Elements, "2", 2),
        (Protocol::Resp, "*3\r\n*0\r\n$-1\r\n*2\r\n+a\r\n*1\r\n$0\r\n\r\n", Meaning::Elements, "3", 3),
        (Protocol::Resp, "*2\r\n-ERR no\r\n:1\r\n", Meaning::Error, "ERR no", 2),
        (Protocol::Memcached, "STORED\r\n", Meaning::Done, "STORED", 0),
        (Protocol::Memcached, "NOT_STORED\r\n", Meaning::Nothing, "NOT_STORED", 0),
        (Protocol::Memcached, "END\r\n", Meaning::Nothing, "END", 0),
        (Protocol::Memcached, "VALUE k 0 3\r\nabc\r\nEND\r\n", Meaning::Value, "abc", 1),
        (Protocol::Memcached, "VALUE k 0 5\r\nEND\r\n\r\nEND\r\n", Meaning::Value, "END\r\n", 1),
        (Protocol::Memcached, "VALUE k 0 3 77\r\nabc\r\nEND\r\n", Meaning::Value, "abc", 1),
        (Protocol::Memcached, "VALUE a 0 1\r\na\r\nVALUE b 0 0\r\n\r\nEND\r\n", Meaning::Elements, "a", 2),
        (Protocol::Memcached, "STAT a 1\r\nSTAT b 2\r\nEND\r\n", Meaning::Elements, "STAT a 1", 2),
        (Protocol::Memcached, "17\r\n", Meaning::Integer, "17", 0),
        (Protocol::Memcached, "VERSION 1.6\r\n", Meaning::Text, "VERSION 1.6", 0),
        (Protocol::Memcached, "HD\r\n", Meaning::Done, "HD", 0),
        (Protocol::Memcached, "VA 2 t0\r\nhi\r\n", Meaning::Value, "hi", 1),
        (Protocol::Memcached, "EN\r\n", Meaning::Nothing, "EN", 0),
        (Protocol::Memcached, "ERROR\r\n", Meaning::Error, "ERROR", 0),
        (Protocol::Queue, "SERVER_ERROR out of memory\r\n", Meaning::Error, "SERVER_ERROR out of memory", 0),
        (Protocol::Queue, "VALUE q 0 1\r\nx\r\nEND\r\n", Meaning::Value, "x", 1),
        (Protocol::Beanstalk, "INSERTED 7\r\n", Meaning::Done, "INSERTED 7", 0),
        (Protocol::Beanstalk, "BURIED 7\r\n", Meaning::Error, "BURIED 7", 0),
        (Protocol::Beanstalk, "RESERVED 71 3\r\nabc\r\n", Meaning::Reserved(9..11), "abc", 1),
        (Protocol::Beanstalk, "TIMED_OUT\r\n", Meaning::Nothing, "TIMED_OUT", 0),
        (Protocol::Beanstalk, "OK 4\r\n---\n\r\n", Meaning::Value, "---\n", 1),
        (Protocol::Beanstalk, "BAD_FORMAT\r\n", Meaning::Error, "BAD_FORMAT", 0),
    ];

    fn scan(scanner: &mut Scanner, protocol: Protocol, bytes: &[u8]) -> Option<Reply> {
        scanner.scan(protocol, bytes).unwrap()
    }

    #[test]
    fn each_reply_has_its_end_and_meaning() {
        let mut scanner = Scanner::default();
        for (protocol, text, meaning, content, elements) in REPLIES {
            let more = format!("{text}{text}");
            let reply = scan(&mut scanner, protocol, more.as_bytes()).unwrap();
            assert_eq!((reply.length, reply.elements), (text.len(), elements), "{text:?}");
            assert_eq!((reply.meaning, &text[reply.text]), (meaning, content), "{text:?}");
        }
    }

    #[test]
    fn a_reply_in_two_pieces_equals_the_whole() {
        for (protocol, text, ..) in REPLIES {
            let whole = scan(&mut Scanner::default(), protocol, text.as_bytes());
            assert!(whole.is_some());
            for cut in 0..text.len() {
                let mut scanner = Scanner::default();
                assert_eq!(scan(&mut scanner, protocol, &text.as_bytes()[..cut]), None, "{text:?} cut at {cut}");
                assert_eq!(scan(&mut scanner, protocol, text.as_bytes()), whole, "{text:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_reply_that_comes_byte_by_byte_equals_the_whole() {
        let mut scanner = Scanner::default();
        for (protocol, text, ..) in REPLIES {
            let bytes = text.as_bytes();
            for cut in 0..bytes.len() {
                assert_eq!(scan(&mut scanner, protocol, &bytes[..cut]), None, "{text:?} cut at {cut}");
            }
            let whole = scan(&mut Scanner::default(), protocol, bytes);
            assert_eq!(scan(&mut scanner, protocol, bytes), whole, "{text:?}");
        }
    }

    #[test]
    fn broken_replies_are_errors() {
        let huge = "x".repeat(LINE_BYTES_MAX + 1);
        for (protocol, text) in [
            (Protocol::Resp, "?x\r\n"),
            (Protocol::Resp, "\r\n"),
            (Protocol::Resp, "$x\r\n"),
            (Protocol::Resp, ":\r\n"),
            (Protocol::Resp, ":1 2\r\n"),
            (Protocol::Resp, ":9223372036854775808\r\n"),
            (Protocol::Resp, "+OK\n"),
            (Protocol::Resp, "$2\r\nabc\r\n"),
            (Protocol::Resp, "$9223372036854775807\r\n"),
            (Protocol::Resp, "*9223372036854775807\r\n"),
            (Protocol::Resp, "*2\r\n*9223372036854775807\r\n"),
            (Protocol::Memcached, "VALUE k 0 x\r\n"),
            (Protocol::Memcached, "VALUE k 0 1\r\nabc\r\n"),
            (Protocol::Beanstalk, "RESERVED 7 -1\r\n"),
            (Protocol::Resp, &huge),
        ] {
            assert!(Scanner::default().scan(protocol, text.as_bytes()).is_err(), "{text:.40?}");
        }
    }
}
