//! A slow reader receives a string of 100 MB while others read and write it; and all of it survives a kill.

use crate::support::{Connection, Server};
use wire::client::Value;

const BYTES: usize = 100_000_000;
/// The distance between bytes that are not zero: one in each of fifty pieces, including the very end.
const STEP: usize = BYTES / 50;

fn set_marks(client: &mut Connection<std::net::TcpStream>, mark: &str) {
    for at in (1..=50).map(|step| step * STEP - mark.len()) {
        let end = client.call(&["SETRANGE", "text", &at.to_string(), mark]);
        assert!(matches!(end, Value::Int(end) if end as usize <= BYTES));
    }
}

fn has_marks(text: &[u8], mark: &str) -> bool {
    text.chunks(STEP).all(|part| {
        let (zeros, found) = part.split_at(STEP - mark.len());
        found == mark.as_bytes() && zeros.iter().all(|byte| *byte == 0)
    })
}

fn assert_marks(reply: &Value, mark: &str) {
    let text = reply.as_bytes().expect("a text");
    assert_eq!(text.len(), BYTES);
    assert!(has_marks(text, mark), "all of it is as of {mark}");
}

#[test]
fn a_slow_reader_sees_one_snapshot_and_delays_nobody() {
    let server = Server::start(&["--journal", "off"]);
    let (mut slow, mut other) = (server.connect(), server.connect());
    set_marks(&mut other, "before");
    assert_eq!(other.call(&["CONFIG", "RESETSTAT"]), Value::Simple("OK".to_owned()));
    slow.send(&["GET", "text"]);
    // Nobody reads that reply yet: what the sockets take is little beside the whole.
    while held_bytes(&mut other) == 0 {}
    set_marks(&mut other, "behind");
    assert!(held_bytes(&mut other) < 1 << 20, "the connection holds a few steps of its reply at a time");
    assert_marks(&other.call(&["GET", "text"]), "behind");
    let mut gone = server.connect();
    gone.send(&["GET", "text"]);
    assert_eq!(other.call(&["DEL", "text"]), Value::Int(1));
    drop(gone);
    set_marks(&mut other, "anew");
    assert_marks(&slow.reply(), "before");
    assert_eq!(slow.call(&["GETRANGE", "text", "99999994", "-1"]), Value::bulk("\0\0anew"));
    assert_eq!(slow.call(&["APPEND", "text", "!"]), Value::Int(BYTES as i64 + 1));
    for field in ["longest_turn_us", "longest_lock_hold_us", "longest_lock_wait_us"] {
        println!("{field}: {}", server.info(field));
    }
}

/// Returns the pending output of other clients, from CLIENT LIST.
fn held_bytes(client: &mut Connection<std::net::TcpStream>) -> usize {
    let reply = client.call(&["CLIENT", "LIST"]);
    let list = String::from_utf8(reply.as_bytes().expect("a list").to_vec()).unwrap();
    list.split_whitespace()
        .filter_map(|word| word.strip_prefix("omem="))
        .map(|bytes| bytes.parse::<usize>().unwrap())
        .sum()
}

#[test]
fn long_strings_survive_a_kill() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    set_marks(&mut client, "first");
    let piece = "abcdefgh".repeat(40_000);
    assert_eq!(client.call(&["SET", "other", &piece]), Value::Simple("OK".to_owned()));
    assert_eq!(client.call(&["SETRANGE", "other", "4079", "--"]), Value::Int(320_000));
    assert_eq!(client.call(&["APPEND", "other", &piece]), Value::Int(640_000));
    assert_eq!(client.call(&["COPY", "other", "copy"]), Value::Int(1));
    assert_eq!(client.call(&["SETRANGE", "copy", "0", "copy"]), Value::Int(640_000));
    let large = "0123456789".repeat(3_000_000);
    assert_eq!(client.call(&["MSET", "large", &large, "small", "x"]), Value::Simple("OK".to_owned()));
    server.kill();
    server.restart();
    let mut client = server.connect();
    assert_marks(&client.call(&["GET", "text"]), "first");
    let mut twin = piece.repeat(2).into_bytes();
    twin[4079..4081].copy_from_slice(b"--");
    assert!(client.call(&["GET", "other"]) == Value::bulk(&twin));
    assert!(client.call(&["GET", "large"]) == Value::bulk(&large));
    twin[..4].copy_from_slice(b"copy");
    assert!(client.call(&["GET", "copy"]) == Value::bulk(&twin));
}
