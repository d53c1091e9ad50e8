//! The replies of one server: a hash of each, to be compared with those of another, and its beginning, to be shown.
//!
//! ```text
//!  *2 $1 a $1 b   --> hash of the bytes                          Same
//!                 --> sum of the hashes of $1 a and of $1 b      AnyOrder: the same for *2 $1 b $1 a
//! ```

use super::rules::ReplyRule;
use crate::calls::scanner::Scanner;
use crate::protocol::Protocol;
use std::hash::{DefaultHasher, Hasher};
use std::io;

/// The part of a reply that is kept. Most replies are shorter than this.
const SHOWN_BYTES_MAX: usize = 80;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Answer {
    /// It was not made.
    #[default]
    None,
    /// The reply has this hash.
    Reply { hash: u64, is_error: bool },
    /// The server closed the connection instead.
    Closed,
    /// It waited for something that no call was left to bring.
    GivenUp,
}

/// The answers to all calls of a plan.
#[derive(Debug)]
pub(super) struct Answers {
    answers: Vec<Kept>,
    /// The beginnings of replies, one behind the other as they came.
    shown: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    answer: Answer,
    /// Where the reply begins among those shown.
    begin: usize,
    /// The length of the whole reply.
    length: usize,
}

impl Answers {
    pub(super) fn new(calls: usize) -> Self {
        Self { answers: vec![Kept::default(); calls], shown: Vec::new() }
    }

    /// Keeps the reply of a call.
    ///
    /// # Errors
    /// Its elements break the protocol.
    pub(super) fn put_reply(&mut self, call: usize, check: ReplyRule, reply: &[u8]) -> io::Result<()> {
        let answer = Answer::Reply { hash: hash_of(check, reply)?, is_error: reply.starts_with(b"-") };
        self.answers[call] = Kept { answer, begin: self.shown.len(), length: reply.len() };
        self.shown.extend_from_slice(&reply[..reply.len().min(SHOWN_BYTES_MAX)]);
        Ok(())
    }

    /// Keeps the reason why a call has no reply.
    pub(super) fn put(&mut self, call: usize, answer: Answer) {
        self.answers[call].answer = answer;
    }

    pub(super) fn answer(&self, call: usize) -> Answer {
        self.answers[call].answer
    }

    /// Returns an answer for the reader, shortened.
    pub(super) fn text(&self, call: usize) -> String {
        let kept = &self.answers[call];
        match kept.answer {
            Answer::None => "(not played)".to_owned(),
            Answer::Closed => "(the server closed the connection)".to_owned(),
            Answer::GivenUp => "(no reply)".to_owned(),
            Answer::Reply { .. } => {
                let shown = &self.shown[kept.begin..kept.begin + kept.length.min(SHOWN_BYTES_MAX)];
                with_length(reply_text(shown), kept.length)
            }
        }
    }
}

/// Returns a call for the reader, shortened.
pub(super) fn shortened(call: &[u8]) -> String {
    with_length(reply_text(&call[..call.len().min(SHOWN_BYTES_MAX)]), call.len())
}

fn with_length(text: String, length: usize) -> String {
    if length > SHOWN_BYTES_MAX { format!("{text} ({length} bytes)") } else { text }
}

fn hash_of(check: ReplyRule, reply: &[u8]) -> io::Result<u64> {
    match check {
        ReplyRule::AnyOrder { group } if reply.starts_with(b"*") => any_order_hash(reply, usize::from(group)),
        _ => Ok(hash(reply)),
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns a hash of an array that does not depend on the order of its groups of elements.
fn any_order_hash(array: &[u8], group: usize) -> io::Result<u64> {
    let head = array.iter().position(|byte| *byte == b'\n').map_or(array.len(), |at| at + 1);
    // The number of elements counts, too.
    let mut sum = hash(&array[..head]);
    let mut at = head;
    while at < array.len() {
        let begin = at;
        for _ in 0..group {
            if at < array.len() {
                at += length_of_reply(&array[at..])?;
            }
        }
        sum = sum.wrapping_add(hash(&array[begin..at]));
    }
    Ok(sum)
}

fn length_of_reply(bytes: &[u8]) -> io::Result<usize> {
    let reply = Scanner::default().scan(Protocol::Resp, bytes)?;
    reply.map(|reply| reply.length).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Returns the beginning of a reply for the reader: `OK`, `(integer) 1`, `(nil)`, `"text"`, `["a", "b"]`; `…` is where
/// it is cut.
fn reply_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    // The elements that are still to come in each open array.
    let mut open: Vec<u64> = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else {
            let cut = rest.strip_prefix(b"-").map_or(rest, |message| message);
            return if open.is_empty() { format!("{text}{}…", cut.escape_ascii()) } else { text + "…" };
        };
        let (line, behind) = (&rest[..end], &rest[end + 2..]);
        let (mark, value) = line.split_first().unwrap_or((&b'+', b""));
        let length = std::str::from_utf8(value).ok().and_then(|digits| digits.parse::<u64>().ok());
        rest = behind;
        match (mark, length) {
            (b'*', Some(elements)) if elements > 0 => {
                text.push('[');
                open.push(elements);
                continue;
            }
            (b'*', Some(_)) => text += "[]",
            (b'*' | b'$', None) => text += "(nil)",
            (b'$', Some(length)) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let body = &rest[..rest.len().min(length)];
                text += &format!("\"{}", body.escape_ascii());
                if rest.len() < length.saturating_add(2) {
                    return text + "…";
                }
                text.push('"');
                rest = &rest[length + 2..];
            }
            (b':', _) => text += &format!("(integer) {}", value.escape_ascii()),
            (b'-', _) => text += &format!("(error) {}", value.escape_ascii()),
            _ => text += &value.escape_ascii().to_string(),
        }
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                text += ", ";
                break;
            }
            text.push(']');
            open.pop();
        }
        if open.is_empty() {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hashed(check: ReplyRule, reply: &str) -> u64 {
        hash_of(check, reply.as_bytes()).unwrap()
    }

    #[test]
    fn sets_in_another_order_have_the_same_hash() {
        let (one, other) = ("*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n$1\r\nb\r\n$1\r\na\r\n");
        let set = ReplyRule::AnyOrder { group: 1 };
        assert_eq!(hashed(set, one), hashed(set, other));
        assert_ne!(hashed(ReplyRule::Same, one), hashed(ReplyRule::Same, other));
        assert_ne!(hashed(set, one), hashed(set, "*2\r\n$1\r\na\r\n$1\r\na\r\n"));
        assert_ne!(hashed(set, one), hashed(set, "*1\r\n$1\r\na\r\n"));
    }

    #[test]
    fn values_swapped_between_fields_have_another_hash() {
        let pairs = ReplyRule::AnyOrder { group: 2 };
        let of = |words: [&str; 4]| {
            let words: Vec<String> = words.iter().map(|word| format!("$1\r\n{word}\r\n")).collect();
            hashed(pairs, &format!("*4\r\n{}", words.concat()))
        };
        assert_eq!(of(["a", "1", "b", "2"]), of(["b", "2", "a", "1"]));
        assert_ne!(of(["a", "1", "b", "2"]), of(["a", "2", "b", "1"]));
    }

    #[test]
    fn errors_are_compared_as_they_are_where_sets_are_expected() {
        let set = ReplyRule::AnyOrder { group: 1 };
        assert_eq!(hashed(set, "-WRONGTYPE x\r\n"), hashed(ReplyRule::Same, "-WRONGTYPE x\r\n"));
    }

    #[test]
    fn replies_are_shown_in_words() {
        for (reply, text) in [
            ("+OK\r\n", "OK"),
            (":-1\r\n", "(integer) -1"),
            ("$-1\r\n", "(nil)"),
            ("*-1\r\n", "(nil)"),
            ("-ERR no\r\n", "(error) ERR no"),
            ("$4\r\na\r\nb\r\n", "\"a\\r\\nb\""),
            ("*0\r\n", "[]"),
            ("*3\r\n$1\r\na\r\n*2\r\n:1\r\n*0\r\n$-1\r\n", "[\"a\", [(integer) 1, []], (nil)]"),
            ("$100\r\nabc", "\"abc…"),
            ("*9\r\n$1\r\na\r\n$5", "[\"a\", …"),
            ("-ERR a long me", "ERR a long me…"),
        ] {
            assert_eq!(reply_text(reply.as_bytes()), text);
        }
    }

    #[test]
    fn long_replies_are_shown_with_their_length() {
        let mut answers = Answers::new(2);
        let long = format!("$200\r\n{}\r\n", "x".repeat(200));
        answers.put_reply(1, ReplyRule::Same, long.as_bytes()).unwrap();
        assert_eq!(answers.text(1), format!("\"{}… (208 bytes)", "x".repeat(74)));
        assert_eq!(answers.text(0), "(not played)");
    }

    proptest! {
        #[test]
        fn any_bytes_are_shown_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            reply_text(&bytes);
        }

        #[test]
        fn cut_replies_are_shown_without_a_panic(text in "[*$:+-][0-9]{0,2}(\r\n[*$:+-]?[0-9]{0,2}){0,8}") {
            reply_text(text.as_bytes());
        }
    }
}
