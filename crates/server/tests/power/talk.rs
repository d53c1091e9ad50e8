//! The requests and replies of a trace, and the marked values in them.
//!
//! Every value that the load writes begins with a mark of its own, `u:00000042;`. Wherever its bytes appear, in a request,
//! a file or a reply, the mark identifies the write.

use crate::power::trace::{Call, Event};
use std::collections::BTreeMap;

/// The write of a value.
pub(crate) type Id = u32;

const MARK_BYTES: usize = 11;

/// The mark of a value.
pub(crate) fn mark(id: Id) -> String {
    format!("u:{id:08};")
}

/// The ids of all marks in `bytes`, in order.
pub(crate) fn marks(bytes: &[u8]) -> impl Iterator<Item = Id> {
    memchr::memmem::find_iter(bytes, b"u:").filter_map(|start| {
        let digits = bytes.get(start + 2..start + MARK_BYTES)?.strip_suffix(b";")?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    })
}

/// A reply whose first byte began to leave at `line`, and the writes that it acknowledges or shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) line: usize,
    pub(crate) ids: Vec<Id>,
}

#[derive(Default)]
struct Stream {
    requests: Vec<u8>,
    replies: Vec<u8>,
    /// The offset in `replies` of a call's bytes, and the line at which that call began.
    sends: Vec<(usize, usize)>,
}

/// The replies of all connections.
///
/// # Panics
/// If anything was said that is no request or no reply, or a reply that nobody asked for.
pub(crate) fn replies(events: &[Event]) -> Vec<Reply> {
    let mut streams: BTreeMap<&str, Stream> = BTreeMap::new();
    for event in events {
        match &event.call {
            Call::Received { socket, bytes } => streams.entry(socket).or_default().requests.extend(bytes),
            Call::Sent { socket, bytes } => {
                let stream = streams.entry(socket).or_default();
                stream.sends.push((stream.replies.len(), event.begin));
                stream.replies.extend(bytes);
            }
            _ => {}
        }
    }
    let mut replies: Vec<Reply> = streams.values().flat_map(Stream::answered).collect();
    replies.sort_by_key(|reply| reply.line);
    replies
}

impl Stream {
    fn answered(&self) -> Vec<Reply> {
        let (mut asked, mut at) = (0, 0);
        let mut replies = Vec::new();
        // The last reply may be cut off by the end of the trace.
        while let Some(bytes) = message_bytes(&self.replies[at..]) {
            let reply = &self.replies[at..at + bytes];
            let request = message_bytes(&self.requests[asked..]).expect("each reply has a request");
            let request = &self.requests[asked..asked + request];
            let line = self.sends[self.sends.partition_point(|send| send.0 <= at) - 1].1;
            let written = if reply[0] == b'-' { &[] } else { request };
            replies.push(Reply { line, ids: marks(reply).chain(marks(written)).collect() });
            asked += request.len();
            at += bytes;
        }
        replies
    }
}

/// Bytes of the first message of RESP2; `None` if it is not whole.
fn message_bytes(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(2).position(|two| two == b"\r\n")? + 2;
    let count = || std::str::from_utf8(&bytes[1..head - 2]).ok().and_then(|digits| digits.parse::<i64>().ok());
    match bytes[0] {
        b'+' | b'-' | b':' => Some(head),
        b'$' => {
            let whole = head + usize::try_from(count()?).map_or(0, |body| body + 2);
            (whole <= bytes.len()).then_some(whole)
        }
        b'*' => (0..count()?).try_fold(head, |at, _| Some(at + message_bytes(&bytes[at..])?)),
        other => panic!("a message begins with byte {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(parts: &[(usize, &str, &str)]) -> Vec<Reply> {
        let events: Vec<Event> = parts
            .iter()
            .map(|&(line, who, text)| {
                let (socket, bytes) = ("socket:[7]".to_owned(), text.as_bytes().to_vec());
                let call = if who == ">" { Call::Received { socket, bytes } } else { Call::Sent { socket, bytes } };
                Event { begin: line, end: line, call }
            })
            .collect();
        replies(&events)
    }

    #[test]
    fn a_reply_counts_from_its_first_byte() {
        let request = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
        let replies = said(&[
            (1, ">", request),
            (2, ">", &request[..9]),
            (3, "<", "$11\r\nu:0000"),
            (4, ">", &request[9..]),
            (5, "<", "0001;\r\n$1"),
            (6, "<", "1\r\nu:00000002;\r\n"),
        ]);
        assert_eq!(replies, [Reply { line: 3, ids: vec![1] }, Reply { line: 5, ids: vec![2] }]);
    }

    #[test]
    fn a_write_is_acknowledged_unless_it_fails() {
        let request = "*2\r\n$1\r\nW\r\n$11\r\nu:00000007;\r\n";
        let replies = said(&[(1, ">", request), (2, "<", "+OK\r\n"), (3, ">", request), (4, "<", "-ERR\r\n")]);
        assert_eq!(replies, [Reply { line: 2, ids: vec![7] }, Reply { line: 4, ids: vec![] }]);
    }

    #[test]
    fn arrays_count_as_one_reply() {
        let request = "*1\r\n$1\r\nR\r\n";
        let reply = "*3\r\n$11\r\nu:00000001;\r\n$-1\r\n*0\r\n";
        let replies = said(&[(1, ">", &request.repeat(2)), (2, "<", &reply.repeat(2))]);
        assert_eq!(replies, [Reply { line: 2, ids: vec![1] }, Reply { line: 2, ids: vec![1] }]);
    }
}
