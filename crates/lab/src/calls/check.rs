//! Compares each reply with what its call must have.
//!
//! ```text
//! bytes --> begin as usual? --yes--> done: the reply was compared where it lay
//!               | no
//!               '--> Scanner --> Reply --> met, nothing found, or an error that names the reply
//! ```
//!
//! Most replies of a call are alike: `+OK`, a value whose first line is known, the page that came before. Those are
//! compared with the bytes that they must have, which also finds their end. Only other replies are scanned.

use super::plan::{CallLine, Expect};
use super::scanner::{Meaning, Reply, Scanner};
use super::template::{DIGITS, Template};
use crate::protocol::Protocol;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

/// The part of an unexpected reply that an error shows.
const SHOWN_BYTES_MAX: usize = 200;
const LINE_END: &[u8] = b"\r\n";

/// The meaning of a complete reply for its call.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum ReplyVerdict {
    /// The call is complete.
    Met,
    /// The call is complete, and found nothing.
    FoundNothing,
    /// Nothing is there yet: the call is repeated.
    Again,
    /// The message of this id, of which this is the place, has to be deleted; then the call is complete.
    Delete(Range<usize>),
}

/// A line with its encoded form and the check of its replies.
pub(super) struct CheckedLine {
    pub(super) template: Template,
    line: CallLine,
    protocol: Protocol,
    /// The whole usual reply; empty if there is none.
    usual: Vec<u8>,
    /// The first line of the usual value and the value's length.
    usual_value: Option<(Vec<u8>, usize)>,
    /// The reply that all others must equal.
    first: OnceLock<Vec<u8>>,
}

impl CheckedLine {
    pub(super) fn new(protocol: Protocol, line: CallLine, items: u64) -> Self {
        let usual = match (&line.expect, protocol) {
            (Expect::Ok, Protocol::Resp) => "+OK\r\n",
            (Expect::Ok, Protocol::Memcached | Protocol::Queue) => "STORED\r\n",
            _ => "",
        };
        let usual_value = match line.expect {
            Expect::BulkBytes(bytes) | Expect::OwnBytes(bytes) if protocol == Protocol::Resp => {
                Some((format!("${bytes}\r\n").into_bytes(), bytes as usize))
            }
            _ => None,
        };
        let template = Template::new(protocol, &line.say, line.payload_bytes, items);
        Self { template, line, protocol, usual: usual.into(), usual_value, first: OnceLock::new() }
    }

    /// Returns the length of the reply at the front of `bytes` and what it means, once it is complete.
    ///
    /// # Errors
    /// The reply is not as expected.
    pub(super) fn check(
        &self,
        scanner: &mut Scanner,
        bytes: &[u8],
        call: u64,
    ) -> io::Result<Option<(usize, ReplyVerdict)>> {
        if let Some(known) = self.check_usual(bytes, call) {
            // The scanner may have seen the beginning of this reply.
            *scanner = Scanner::default();
            return Ok(Some((known, ReplyVerdict::Met)));
        }
        if self.may_become_first(bytes) {
            return Ok(None);
        }
        let unmet = |shown: &str| {
            let call = self.template.text(&self.line.say, call);
            io::Error::other(format!("`{call}` was answered with {shown}, expected {}", self.line.expect))
        };
        let scanned = scanner.scan(self.protocol, bytes).map_err(|error| unmet(&format!("`{error}`")))?;
        let Some(reply) = scanned else { return Ok(None) };
        match self.verdict(&reply, &bytes[..reply.length], call) {
            Some(verdict) => Ok(Some((reply.length, verdict))),
            None => Err(unmet(&shown(&bytes[..reply.length]))),
        }
    }

    /// Returns the length of a reply of the usual form.
    fn check_usual(&self, bytes: &[u8], call: u64) -> Option<usize> {
        if let Some((head, value_bytes)) = &self.usual_value {
            let value = bytes.strip_prefix(&head[..])?;
            let is_complete = value.get(*value_bytes..value_bytes + LINE_END.len()) == Some(LINE_END);
            let is_met = is_complete && self.is_own(&value[..*value_bytes], call);
            return is_met.then_some(head.len() + value_bytes + LINE_END.len());
        }
        let usual = self.first.get().unwrap_or(&self.usual);
        (!usual.is_empty() && bytes.starts_with(usual)).then_some(usual.len())
    }

    /// Returns true if `bytes` are the beginning of the reply that all must equal.
    fn may_become_first(&self, bytes: &[u8]) -> bool {
        self.first.get().is_some_and(|first| first.starts_with(bytes))
    }

    /// Returns true unless the value must begin with the number of the call and does not.
    fn is_own(&self, value: &[u8], call: u64) -> bool {
        let is_asked = matches!(self.line.expect, Expect::OwnBytes(_));
        !is_asked || self.template.own_digits(call).is_some_and(|own| value.get(..DIGITS) == Some(&own[..]))
    }

    /// Returns what a reply means, if it is as expected.
    fn verdict(&self, reply: &Reply, bytes: &[u8], call: u64) -> Option<ReplyVerdict> {
        let is_met = match (&reply.meaning, &self.line.expect) {
            (Meaning::Error, _) => false,
            (_, Expect::Any) => true,
            (Meaning::Nothing, Expect::FoundOrNothing) => return Some(ReplyVerdict::FoundNothing),
            (Meaning::Nothing, Expect::BulkBytes(_)) if self.line.takes_from_queue() => {
                return Some(ReplyVerdict::Again);
            }
            (meaning, Expect::Ok) => *meaning == Meaning::Done,
            (meaning, Expect::Integer) => *meaning == Meaning::Integer,
            (meaning, Expect::Exactly(text)) => {
                *meaning != Meaning::Elements && bytes[reply.text.clone()] == *text.as_bytes()
            }
            (_, Expect::Elements(count)) => reply.elements == *count,
            (_, Expect::SameElements(count)) => {
                reply.elements == *count && self.first.get_or_init(|| bytes.to_vec()) == bytes
            }
            (Meaning::Value | Meaning::Reserved(_), Expect::BulkBytes(length) | Expect::OwnBytes(length)) => {
                reply.text.len() as u64 == *length && self.is_own(&bytes[reply.text.clone()], call)
            }
            (meaning, Expect::FoundOrNothing) => {
                matches!(meaning, Meaning::Value | Meaning::Elements | Meaning::Reserved(_))
            }
            (_, Expect::BulkBytes(_) | Expect::OwnBytes(_)) => false,
        };
        let verdict = match &reply.meaning {
            Meaning::Reserved(id) => ReplyVerdict::Delete(id.clone()),
            _ => ReplyVerdict::Met,
        };
        is_met.then_some(verdict)
    }
}

/// Checks the reply to the deletion of a message.
///
/// # Errors
/// The message is not deleted.
pub(super) fn check_deletion(scanner: &mut Scanner, bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(reply) = scanner.scan(Protocol::Beanstalk, bytes)? else { return Ok(None) };
    if reply.meaning != Meaning::Done {
        return Err(io::Error::other(format!("`delete` was answered with {}", shown(&bytes[..reply.length]))));
    }
    Ok(Some(reply.length))
}

/// The beginning of a reply as text.
fn shown(reply: &[u8]) -> String {
    let beginning = &reply[..reply.len().min(SHOWN_BYTES_MAX)];
    let rest = if beginning.len() < reply.len() { format!(" ... ({} bytes)", reply.len()) } else { String::new() };
    format!("`{}`{rest}", beginning.trim_ascii_end().escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(protocol: Protocol, say: &str, expect: Expect<u64>) -> CheckedLine {
        let line = CallLine { say: say.to_owned(), payload_bytes: None, expect, percent: 0 };
        CheckedLine::new(protocol, line, 1000)
    }

    /// The verdict on a reply that comes byte by byte; it must be the same when the reply comes at once.
    fn verdict(line: &CheckedLine, reply: &str, call: u64) -> Result<ReplyVerdict, String> {
        let mut scanner = Scanner::default();
        let bytes = reply.as_bytes();
        for cut in 0..bytes.len() {
            let early = line.check(&mut scanner, &bytes[..cut], call).map_err(|error| error.to_string())?;
            assert_eq!(early, None, "{reply:?} cut at {cut}");
        }
        let late = line.check(&mut scanner, bytes, call).map_err(|error| error.to_string());
        let more = format!("{reply}+OK\r\n");
        let at_once = line.check(&mut Scanner::default(), more.as_bytes(), call).map_err(|error| error.to_string());
        assert_eq!(late, at_once, "{reply:?}");
        let (length, verdict) = late?.expect("a complete reply");
        assert_eq!(length, reply.len(), "{reply:?}");
        Ok(verdict)
    }

    fn refused(line: &CheckedLine, replies: &[&str]) {
        for reply in replies {
            let error = verdict(line, reply, 7).unwrap_err();
            assert!(error.contains("was answered with `") && error.contains("expected "), "{error}");
        }
    }

    #[test]
    fn success_is_the_word_of_each_protocol() {
        let ok = |protocol| checked(protocol, "x", Expect::Ok);
        assert_eq!(verdict(&ok(Protocol::Resp), "+OK\r\n", 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&ok(Protocol::Memcached), "STORED\r\n", 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&ok(Protocol::Memcached), "HD\r\n", 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&ok(Protocol::Beanstalk), "INSERTED 12\r\n", 0), Ok(ReplyVerdict::Met));
        refused(&ok(Protocol::Resp), &["+PONG\r\n", ":1\r\n", "$-1\r\n", "$2\r\nOK\r\n", "-ERR no\r\n"]);
        refused(&ok(Protocol::Memcached), &["NOT_STORED\r\n", "ERROR\r\n", "END\r\n"]);
    }

    #[test]
    fn an_error_is_refused_whatever_else_is_allowed() {
        let any = checked(Protocol::Resp, "x", Expect::Any);
        for reply in ["+OK\r\n", ":1\r\n", "$-1\r\n", "*0\r\n", "*1\r\n$1\r\na\r\n"] {
            assert_eq!(verdict(&any, reply, 0), Ok(ReplyVerdict::Met));
        }
        refused(&any, &["-ERR no\r\n", "*2\r\n:1\r\n-WRONGTYPE no\r\n", "?\r\n"]);
    }

    #[test]
    fn an_integer_is_told_from_text() {
        let integer = checked(Protocol::Resp, "x", Expect::Integer);
        assert_eq!(verdict(&integer, ":-3\r\n", 0), Ok(ReplyVerdict::Met));
        refused(&integer, &["$1\r\n3\r\n", "+3\r\n", "$-1\r\n", ":3x\r\n"]);
    }

    #[test]
    fn an_exact_text_is_a_line_or_a_value() {
        let exactly = checked(Protocol::Resp, "x", Expect::Exactly("12".to_owned()));
        for reply in ["+12\r\n", ":12\r\n", "$2\r\n12\r\n"] {
            assert_eq!(verdict(&exactly, reply, 0), Ok(ReplyVerdict::Met));
        }
        refused(&exactly, &["+123\r\n", "$-1\r\n", "-12\r\n"]);
        let elements = format!("*12\r\n{}", ":1\r\n".repeat(12));
        refused(&exactly, &[&elements]);
    }

    #[test]
    fn a_value_must_have_the_expected_length() {
        let value = checked(Protocol::Resp, "GET k:{next:12}", Expect::BulkBytes(3));
        assert_eq!(verdict(&value, "$3\r\nabc\r\n", 0), Ok(ReplyVerdict::Met));
        refused(&value, &["$2\r\nab\r\n", "$4\r\nabcd\r\n", "$-1\r\n", "+abc\r\n", "$3\r\nabcd\r\n"]);
        let value = checked(Protocol::Memcached, "get k", Expect::BulkBytes(3));
        assert_eq!(verdict(&value, "VALUE k 0 3\r\nabc\r\nEND\r\n", 0), Ok(ReplyVerdict::Met));
        refused(&value, &["VALUE k 0 2\r\nab\r\nEND\r\n"]);
    }

    #[test]
    fn a_consumer_repeats_what_finds_nothing() {
        let line = |protocol| checked(protocol, "take", Expect::BulkBytes(3));
        assert_eq!(verdict(&line(Protocol::Resp), "$-1\r\n", 0), Ok(ReplyVerdict::Again));
        assert_eq!(verdict(&line(Protocol::Queue), "END\r\n", 0), Ok(ReplyVerdict::Again));
        assert_eq!(verdict(&line(Protocol::Beanstalk), "TIMED_OUT\r\n", 0), Ok(ReplyVerdict::Again));
        assert_eq!(verdict(&line(Protocol::Beanstalk), "RESERVED 7 3\r\nabc\r\n", 0), Ok(ReplyVerdict::Delete(9..10)));
        refused(&line(Protocol::Beanstalk), &["RESERVED 7 2\r\nab\r\n", "DEADLINE_SOON\r\n"]);
    }

    #[test]
    fn elements_are_counted() {
        let two = checked(Protocol::Resp, "x", Expect::Elements(2));
        assert_eq!(verdict(&two, "*2\r\n:1\r\n*1\r\n:2\r\n", 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&two, "*2\r\n:1\r\n$-1\r\n", 0), Ok(ReplyVerdict::Met));
        refused(&two, &["*1\r\n:1\r\n", "*0\r\n", "*-1\r\n", "$-1\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n"]);
        let two = checked(Protocol::Memcached, "get a b", Expect::Elements(2));
        assert_eq!(verdict(&two, "VALUE a 0 1\r\na\r\nVALUE b 0 1\r\nb\r\nEND\r\n", 0), Ok(ReplyVerdict::Met));
        refused(&two, &["VALUE a 0 1\r\na\r\nEND\r\n", "END\r\n"]);
    }

    #[test]
    fn all_replies_must_equal_the_first() {
        let same = checked(Protocol::Resp, "x", Expect::SameElements(2));
        refused(&same, &["*1\r\n:1\r\n", "*0\r\n"]);
        let first = "*2\r\n:1\r\n$2\r\nab\r\n";
        assert_eq!(verdict(&same, first, 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&same, first, 1), Ok(ReplyVerdict::Met));
        refused(&same, &["*2\r\n:1\r\n$2\r\nac\r\n", "*2\r\n:1\r\n$1\r\na\r\n", "*1\r\n:1\r\n", "*0\r\n"]);
    }

    #[test]
    fn a_value_must_begin_with_its_own_number() {
        let own = checked(Protocol::Resp, "GET k:{next:12}", Expect::OwnBytes(14));
        assert_eq!(verdict(&own, "$14\r\n000000000007xy\r\n", 7), Ok(ReplyVerdict::Met));
        refused(&own, &["$14\r\n000000000008xy\r\n", "$13\r\n000000000007x\r\n", "$-1\r\n"]);
        let own = checked(Protocol::Memcached, "get k:{next:12}", Expect::OwnBytes(13));
        assert_eq!(verdict(&own, "VALUE k 0 13\r\n000000000007x\r\nEND\r\n", 7), Ok(ReplyVerdict::Met));
        refused(&own, &["VALUE k 0 13\r\n000000000008x\r\nEND\r\n", "END\r\n"]);
    }

    #[test]
    fn nothing_found_is_counted_where_it_is_allowed() {
        let line = checked(Protocol::Resp, "x", Expect::FoundOrNothing);
        assert_eq!(verdict(&line, "$1\r\na\r\n", 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&line, "*1\r\n:1\r\n", 0), Ok(ReplyVerdict::Met));
        assert_eq!(verdict(&line, "$-1\r\n", 0), Ok(ReplyVerdict::FoundNothing));
        refused(&line, &["+OK\r\n", ":0\r\n", "-ERR no\r\n"]);
    }

    #[test]
    fn an_error_names_call_reply_and_expectation() {
        let own = checked(Protocol::Resp, "GET k:{next:12}", Expect::OwnBytes(256));
        let error = verdict(&own, "$-1\r\n", 42).unwrap_err();
        let expected = "`GET k:000000000042` was answered with `$-1`, expected a value of 256 bytes that begins with \
                        the call's number";
        assert_eq!(error, expected);
        let long = format!("${}\r\n{}\r\n", 1000, "a".repeat(1000));
        assert!(verdict(&own, &long, 42).unwrap_err().contains("... (1009 bytes)"));
    }

    #[test]
    fn only_a_deleted_message_counts_as_deleted() {
        let deletion = |reply: &[u8]| check_deletion(&mut Scanner::default(), reply);
        assert_eq!(deletion(b"DELETED\r\nx").unwrap(), Some(9));
        assert_eq!(deletion(b"DELET").unwrap(), None);
        deletion(b"NOT_FOUND\r\n").unwrap_err();
    }
}
