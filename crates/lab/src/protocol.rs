//! The protocols of a side, as far as the lab needs them: calls of one line with at most one payload.
//!
//! ```text
//! say = "SET key"        RESP                *3 $3 SET $3 key $100 payload
//! say = "set key 0 0"    memcached, queue    set key 0 0 100 | payload
//! say = "put 0 0 60"     beanstalkd          put 0 0 60 100 | payload
//! ```

use crate::resp;
use serde::Deserialize;
use std::io::{self, Write};

/// A protocol.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
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
}

/// The meaning of a complete answer.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    /// It was done, or here it is.
    Done,
    /// There is nothing.
    Nothing,
    /// The call continues with these bytes.
    Next(Vec<u8>),
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
        if let Some(payload) = payload {
            write!(out, " {}\r\n", payload.len()).expect("writing to a Vec");
            out.extend_from_slice(payload);
        }
        out.extend_from_slice(b"\r\n");
    }

    /// The answer at the front of `bytes` and its length, once it is whole.
    ///
    /// # Errors
    /// It is an error, or none of this protocol.
    pub(crate) fn answer(self, bytes: &[u8]) -> io::Result<Option<(usize, Answer)>> {
        if self == Self::Resp {
            return resp_answer(bytes);
        }
        let Some((line, line_bytes)) = line_of(bytes) else { return Ok(None) };
        let words: Vec<&str> = line.split(' ').collect();
        let last_number = || words.last().and_then(|word| word.parse::<usize>().ok()).ok_or_else(|| unexpected(line));
        let whole = |length: usize, answer| Ok((bytes.len() >= length).then_some((length, answer)));
        match words[0] {
            "VALUE" => whole(line_bytes + last_number()? + "\r\nEND\r\n".len(), Answer::Done),
            "STAT" => {
                let end = bytes.windows(5).position(|five| five == b"END\r\n");
                Ok(end.map(|end| (end + 5, Answer::Done)))
            }
            "OK" | "FOUND" if words.len() > 1 => whole(line_bytes + last_number()? + 2, Answer::Done),
            "RESERVED" => {
                let id = words.get(1).ok_or_else(|| unexpected(line))?;
                whole(line_bytes + last_number()? + 2, Answer::Next(format!("delete {id}\r\n").into_bytes()))
            }
            "STORED" | "OK" | "INSERTED" | "DELETED" | "TOUCHED" | "VERSION" => whole(line_bytes, Answer::Done),
            "END" | "NOT_STORED" | "NOT_FOUND" | "TIMED_OUT" => whole(line_bytes, Answer::Nothing),
            _ => Err(unexpected(line)),
        }
    }
}

/// The line at the front, and its bytes with its end.
fn line_of(bytes: &[u8]) -> Option<(&str, usize)> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    Some((std::str::from_utf8(&bytes[..end]).unwrap_or("?"), end + 2))
}

fn resp_answer(bytes: &[u8]) -> io::Result<Option<(usize, Answer)>> {
    let Some((line, line_bytes)) = line_of(bytes) else { return Ok(None) };
    let count = || line[1..].parse::<i64>().map_err(|_| unexpected(line));
    match line.as_bytes().first() {
        Some(b'+' | b':') => Ok(Some((line_bytes, Answer::Done))),
        Some(b'$' | b'*') if count()? < 0 => Ok(Some((line_bytes, Answer::Nothing))),
        Some(b'$') => {
            let length = line_bytes + count()? as usize + 2;
            Ok((bytes.len() >= length).then_some((length, Answer::Done)))
        }
        Some(b'*') => {
            let mut length = line_bytes;
            for _ in 0..count()? {
                let Some((part, _)) = resp_answer(&bytes[length..])? else { return Ok(None) };
                length += part;
            }
            Ok(Some((length, if length == line_bytes { Answer::Nothing } else { Answer::Done })))
        }
        _ => Err(unexpected(line)),
    }
}

fn unexpected(line: &str) -> io::Error {
    io::Error::other(format!("answered `{line}`"))
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
        let next = |text: &str| Answer::Next(text.as_bytes().to_vec());
        let cases = [
            (Protocol::Memcached, "VALUE k 0 3\r\nabc\r\nEND\r\n", Answer::Done),
            (Protocol::Memcached, "VALUE k 0 5\r\nEND\r\n\r\nEND\r\n", Answer::Done),
            (Protocol::Memcached, "END\r\n", Answer::Nothing),
            (Protocol::Memcached, "STORED\r\n", Answer::Done),
            (Protocol::Memcached, "STAT a 1\r\nSTAT b 2\r\nEND\r\n", Answer::Done),
            (Protocol::Beanstalk, "INSERTED 7\r\n", Answer::Done),
            (Protocol::Beanstalk, "RESERVED 7 3\r\nabc\r\n", next("delete 7\r\n")),
            (Protocol::Beanstalk, "TIMED_OUT\r\n", Answer::Nothing),
            (Protocol::Beanstalk, "OK 4\r\n---\n\r\n", Answer::Done),
            (Protocol::Resp, ":12\r\n", Answer::Done),
            (Protocol::Resp, "$-1\r\n", Answer::Nothing),
            (Protocol::Resp, "$3\r\nabc\r\n", Answer::Done),
            (Protocol::Resp, "*-1\r\n", Answer::Nothing),
            (Protocol::Resp, "*2\r\n$1\r\na\r\n*1\r\n:1\r\n", Answer::Done),
        ];
        for (protocol, text, expected) in cases {
            for cut in 0..text.len() {
                assert_eq!(protocol.answer(&text.as_bytes()[..cut]).unwrap(), None, "{text:?} cut at {cut}");
            }
            let more = format!("{text}STORED");
            assert_eq!(protocol.answer(more.as_bytes()).unwrap(), Some((text.len(), expected)), "{text:?}");
        }
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
