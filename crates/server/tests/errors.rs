//! Errors of the real binary that repeat bytes which are not UTF-8, compared with redis-server.

use crate::support;
use crate::support::Server;
use crate::support::peer::{Peer, Redis};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;
use testing::program_or_skip;

const PATIENCE: Duration = Duration::from_secs(30);

/// Requests that have a reply of one line each.
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
    // Characters that replace CR and LF in strings: they are not line ends.
    &[b"EVAL", b"#!lua flags=\xf4\x8f\xbc\x8d\xf4\x8f\xbc\x8a+X\nreturn 1", b"0"],
    &[b"EVAL", b"#!\xf4\x8f\xbc\x8d\xf4\x8f\xbc\x8a+X\nreturn 1", b"0"],
    &[b"\xf4\x8f\xbc\x8d\xf4\x8f\xbc\x8a+X"],
    &[b"EVAL", b"return {ok='\xf4\x8f\xbc\x8d\xf4\x8f\xbc\x8a+X'}", b"0"],
    &[b"EVAL", b"return {err='MY a\\r\\n+X'}", b"0"],
];

/// Requests in RESP3, each with the lines of its reply. The format of a verbatim string is any three bytes.
const OF_RESP3: &[(&[&[u8]], usize)] = &[
    (&[b"EVAL", b"return {verbatim_string={string='ab',format='\xc3\xa9'}}", b"0"], 2),
    (&[b"EVAL", b"return {verbatim_string={string='a\xff',format='t\xfft\xff'}}", b"0"], 2),
    (&[b"EVAL", b"return {verbatim_string={string='',format=''}}", b"0"], 2),
    (&[b"EVAL", b"return {big_number='1\xff2'}", b"0"], 1),
    // Two digits more than a double has.
    (&[b"GEOADD", b"g", b"13.361389", b"38.115556", b"m"], 1),
    (&[b"GEOPOS", b"g", b"m"], 4),
    (&[b"GEOSEARCH", b"g", b"FROMMEMBER", b"m", b"BYRADIUS", b"1", b"m", b"WITHCOORD"], 7),
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
fn errors_repeat_bytes_that_are_not_utf8_unchanged() {
    let test = "errors_repeat_bytes_that_are_not_utf8_unchanged";
    if program_or_skip(test, "redis-server").is_none() {
        return;
    }
    let (server, redis) = (Server::start(&["--journal", "off"]), Redis::start(&[]));
    let (mut ours, mut theirs) = (Raw::connect(server.port), Raw::connect(redis.port()));
    for (requests, lines) in [(REQUESTS, 1), (BULKS, 2)] {
        for request in requests {
            compare(request, &ours.ask(request, lines), &theirs.ask(request, lines));
        }
    }
    for (request, _) in &OF_RESP3[..3] {
        compare(request, &ours.ask(request, 2), &theirs.ask(request, 2));
    }
    for talk in [&mut ours, &mut theirs] {
        talk.ask(&[b"HELLO", b"3"], 1);
        talk.0.get_mut().write_all(b"PING\r\n").unwrap();
        let mut line = Vec::new();
        while line != b"+PONG\r\n" {
            line.clear();
            talk.0.read_until(b'\n', &mut line).unwrap();
        }
    }
    for (request, lines) in OF_RESP3 {
        compare(request, &ours.ask(request, *lines), &theirs.ask(request, *lines));
    }
    // An error code from a script stays within its line of INFO.
    server.connect().call(&["EVAL", "return {err='a:b\\r\\n+x y'}", "0"]);
    assert_eq!(server.info("errorstat_a_b__+x"), "count=1");
}

#[track_caller]
fn compare(request: &[&[u8]], ours: &[u8], theirs: &[u8]) {
    let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let request: Vec<String> = request.iter().map(|word| shown(word)).collect();
    assert_eq!(shown(ours), shown(theirs), "{request:?}: Bobbin's on the left");
}
