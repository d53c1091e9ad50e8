//! Errors of the real binary that repeat bytes which are no text, beside redis-server.

#[path = "clients/peer.rs"]
#[allow(dead_code, reason = "the trials of clients use the rest")]
mod peer;
mod support;

use lab::skip::program_or_skip;
use peer::{Peer, Redis};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;
use support::Server;

const PATIENCE: Duration = Duration::from_secs(30);

/// Requests that each has a reply of one line.
const REQUESTS: &[&[&[u8]]] = &[
    &[b"\xff\xfe\xfdX"],
    &[b"caf\xe9", b"a\xff", b"\xf4\x8f\xbf\xbf", b"\x80"],
    &[b"name\0hidden", b"a"],
    &[b"OBJECT", b"\xff\xc3\xa9"],
    &[b"CONFIG", b"SET", b"\xff", b"1"],
    &[b"CLIENT", b"REPLY\xff"],
    &[b"EVAL", b"return redis.error_reply('MY \xff\xfe')", b"0"],
    &[b"EVAL", b"return {ok='\xff\xf4\x8f\xbf\xbf'}", b"0"],
    &[b"EVAL", b"return {err='MY \xe9 x'}", b"0"],
    &[b"EVAL", b"return redis.pcall('OBJECT', '\xff')", b"0"],
];

/// Requests whose reply is a bulk.
const BULKS: &[&[&[u8]]] = &[&[b"EVAL", b"return redis.pcall('OBJECT', '\xff').err", b"0"]];

struct Raw(BufReader<TcpStream>);

impl Raw {
    fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, request: &[&[u8]], lines: usize) -> Vec<u8> {
        let bytes = support::request(request);
        self.0.get_mut().write_all(&bytes).unwrap();
        let mut reply = Vec::new();
        for _ in 0..lines {
            self.0.read_until(b'\n', &mut reply).unwrap();
        }
        reply
    }
}

#[test]
fn bytes_that_are_no_text_are_repeated_as_they_came() {
    let test = "bytes_that_are_no_text_are_repeated_as_they_came";
    if program_or_skip(test, "redis-server").is_none() {
        return;
    }
    let (server, redis) = (Server::start(&["--journal", "off"]), Redis::start(&[]));
    let (mut ours, mut theirs) = (Raw::connect(server.port), Raw::connect(redis.port()));
    for (requests, lines) in [(REQUESTS, 1), (BULKS, 2)] {
        for request in requests {
            let (ours, theirs) = (ours.ask(request, lines), theirs.ask(request, lines));
            let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
            let request: Vec<String> = request.iter().map(|word| shown(word)).collect();
            assert_eq!(shown(&ours), shown(&theirs), "{request:?}: Bobbin's on the left");
        }
    }
}
