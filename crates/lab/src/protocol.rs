//! The protocols of a side, as far as the lab needs them: calls of one line with at most one payload.
//!
//! ```text
//! say = "SET key"        RESP                *3 $3 SET $3 key $100 payload
//! say = "set key 0 0"    memcached, queue    set key 0 0 100 | payload
//! say = "put 0 0 60"     beanstalkd          put 0 0 60 100 | payload
//! say = "insert ..."     SQL                 by a client of its own ([`crate::sql`]), which frames the text
//! ```

use crate::calls::scanner::{Meaning, Scanner};
use crate::resp;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// A protocol.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Protocol {
    /// Redis's.
    #[default]
    Resp,
    /// memcached's text protocol.
    Memcached,
    /// The same words, for queues.
    Queue,
    /// beanstalkd's. A message that was reserved is deleted at once, as part of the call.
    Beanstalk,
    /// The protocol of MariaDB and MySQL; calls are statements.
    Sql,
    /// None: a library, whose own tools are run ([`crate::tools`]).
    Tools,
}

impl Protocol {
    /// Appends a call.
    pub(crate) fn put_call(self, out: &mut Vec<u8>, say: &str, payload: Option<&[u8]>) {
        if self == Self::Resp {
            let words = resp::words(say);
            let words: Vec<&[u8]> = words.into_iter().map(str::as_bytes).chain(payload).collect();
            return resp::encode(out, &words);
        }
        out.extend_from_slice(say.as_bytes());
        if matches!(self, Self::Sql | Self::Tools) {
            return;
        }
        if let Some(payload) = payload {
            write!(out, " {}\r\n", payload.len()).expect("writing to a Vec");
            out.extend_from_slice(payload);
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Returns the length of the answer at the front of `bytes` and what it means, once it is complete.
    ///
    /// # Errors
    /// The answer is an error, or none of this protocol.
    pub(crate) fn answer(self, bytes: &[u8]) -> io::Result<Option<(usize, Meaning)>> {
        let Some(reply) = Scanner::default().scan(self, bytes)? else { return Ok(None) };
        if reply.meaning == Meaning::Error {
            let text = String::from_utf8_lossy(&bytes[reply.text]).into_owned();
            return Err(io::Error::other(format!("answered `{text}`")));
        }
        Ok(Some((reply.length, reply.meaning)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(protocol: Protocol, say: &str, payload: Option<&[u8]>) -> String {
        let mut out = Vec::new();
        protocol.put_call(&mut out, say, payload);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn calls_are_encoded_as_their_protocol_requires() {
        assert_eq!(put(Protocol::Memcached, "set k 0 0", Some(b"abc")), "set k 0 0 3\r\nabc\r\n");
        assert_eq!(put(Protocol::Queue, "get k", None), "get k\r\n");
        assert_eq!(put(Protocol::Beanstalk, "put 0 0 60", Some(b"ab")), "put 0 0 60 2\r\nab\r\n");
        assert_eq!(put(Protocol::Resp, "RPUSH k", Some(b"ab")), "*3\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n$2\r\nab\r\n");
    }

    #[test]
    fn an_answer_is_accepted_once_it_is_complete() {
        let answer = |bytes: &[u8]| Protocol::Memcached.answer(bytes).unwrap();
        assert_eq!(answer(b"VALUE k 0 3\r\nabc\r\nEND\r"), None);
        assert_eq!(answer(b"VALUE k 0 3\r\nabc\r\nEND\r\nSTORED"), Some((23, Meaning::Value)));
    }

    #[test]
    fn error_answers_are_errors() {
        for (protocol, text) in [
            (Protocol::Memcached, "ERROR\r\n"),
            (Protocol::Queue, "SERVER_ERROR out of memory\r\n"),
            (Protocol::Beanstalk, "BAD_FORMAT\r\n"),
            (Protocol::Resp, "-ERR no\r\n"),
            (Protocol::Resp, "$x\r\n"),
        ] {
            assert!(protocol.answer(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
