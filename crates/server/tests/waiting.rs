//! Waiting connections of the real binary: blocked, paused, and receiving streamed replies.

use crate::support::{Connection, Server, request};
use std::net::{Shutdown, TcpStream};
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];

fn pong() -> Value {
    Value::Simple("PONG".to_owned())
}

fn id(client: &mut Connection<TcpStream>) -> String {
    client.call(&["CLIENT", "ID"]).as_int().unwrap().to_string()
}

/// Waits until `count` clients are blocked.
fn await_blocked(server: &Server, count: usize) {
    while server.info("blocked_clients") != count.to_string() {
        std::thread::yield_now();
    }
}

#[test]
fn earlier_requests_are_answered_before_a_blocking_pop_waits() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    let mut pipeline = request(&["PING"]);
    pipeline.extend(request(&["BLPOP", "k", "0"]));
    pipeline.extend(request(&["PING"]));
    client.send_bytes(&pipeline);
    assert_eq!(client.reply(), pong());
    await_blocked(&server, 1);
    assert_eq!(["", "_on_nokey"].map(|what| server.info(&format!("total_blocking_keys{what}"))), ["1", "0"]);
    assert_eq!(server.connect().call(&["RPUSH", "k", "a"]), Value::Int(1));
    assert_eq!(client.reply(), Value::Array(vec![Value::bulk("k"), Value::bulk("a")]));
    assert_eq!(client.reply(), pong());
    assert_eq!(client.call(&["BLPOP", "k", "0.01"]), Value::NullArray);
}

#[test]
fn a_blocked_client_that_is_killed_or_leaves_takes_nothing() {
    let server = Server::start(&CACHE);
    let mut other = server.connect();
    let mut killed = server.connect();
    let id = id(&mut killed);
    killed.send(&["BLPOP", "k", "0"]);
    await_blocked(&server, 1);
    assert_eq!(other.call(&["CLIENT", "KILL", "ID", &id]), Value::Int(1));
    assert_eq!(killed.try_reply(), None, "no reply, only the end");
    let mut leaving = server.connect();
    leaving.send(&["BLPOP", "k", "0"]);
    // Bytes after the pop do not hide the end of the connection.
    leaving.send(&["PING"]);
    await_blocked(&server, 1);
    drop(leaving);
    let mut half_closed = server.connect();
    half_closed.send(&["BLMOVE", "k", "l", "LEFT", "LEFT", "0"]);
    half_closed.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(half_closed.try_reply(), None);
    await_blocked(&server, 0);
    assert_eq!(other.call(&["RPUSH", "k", "a"]), Value::Int(1));
    assert_eq!(other.call(&["LRANGE", "k", "0", "-1"]), Value::Array(vec![Value::bulk("a")]));
}

#[test]
fn a_blocked_claim_takes_entries_that_become_idle() {
    let server = Server::start(&CACHE);
    let mut other = server.connect();
    other.call(&["XADD", "s", "1-0", "f", "v"]);
    other.call(&["XGROUP", "CREATE", "s", "g", "0"]);
    other.call(&["XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"]);
    let mut client = server.connect();
    let claim = |client: &mut Connection<TcpStream>, block: &str, idle: &str| {
        client.send(&["XREADGROUP", "GROUP", "g", "b", "BLOCK", block, "CLAIM", idle, "STREAMS", "s", ">"]);
    };
    let shown = |reply: Value| reply.to_string();
    claim(&mut client, "0", "60");
    let reply = shown(client.reply());
    assert!(reply.starts_with(r#"[["s", [["1-0", ["f", "v"], "#) && reply.ends_with(", 1]]]]"), "{reply}");
    // The time is up before anything is idle for so long.
    claim(&mut client, "30", "1000000");
    assert_eq!(client.reply(), Value::NullArray);
    // What is new comes first.
    claim(&mut client, "0", "1000000");
    await_blocked(&server, 1);
    other.call(&["XADD", "s", "2-0", "f", "w"]);
    assert_eq!(shown(client.reply()), r#"[["s", [["2-0", ["f", "w"], 0, 0]]]]"#);
    // Nothing is pending yet, and what comes may be claimed at once.
    other.call(&["XACK", "s", "g", "1-0", "2-0"]);
    claim(&mut client, "0", "0");
    await_blocked(&server, 1);
    other.call(&["XCLAIM", "s", "g", "a", "0", "1-0", "FORCE", "JUSTID"]);
    let reply = shown(client.reply());
    assert!(reply.starts_with(r#"[["s", [["1-0", ["f", "v"], "#), "{reply}");
    // Unblocked, it is as if the time were up.
    let id = id(&mut client);
    claim(&mut client, "0", "1000000");
    await_blocked(&server, 1);
    assert_eq!(other.call(&["CLIENT", "UNBLOCK", &id]), Value::Int(1));
    assert_eq!(client.reply(), Value::NullArray);
}

#[test]
fn many_blocked_clients_are_served_one_each() {
    let server = Server::start(&CACHE);
    let mut blocked: Vec<_> = (0..500).map(|_| server.connect()).collect();
    for client in &mut blocked {
        client.send(&["BLPOP", "k", "0"]);
    }
    await_blocked(&server, 500);
    let mut pusher = server.connect();
    for index in 0..500 {
        pusher.call(&["RPUSH", "k", &index.to_string()]);
    }
    let mut popped: Vec<String> = blocked.iter_mut().map(|client| client.reply().to_string()).collect();
    popped.sort();
    popped.dedup();
    assert_eq!(popped.len(), 500);
    assert_eq!(pusher.call(&["LLEN", "k"]), Value::Int(0));
}

#[test]
fn blocked_and_paused_clients_do_not_delay_the_stop() {
    let mut server = Server::start(&[]);
    let mut blocked = server.connect();
    blocked.send(&["BLPOP", "k", "0"]);
    await_blocked(&server, 1);
    assert_eq!(server.connect().call(&["CLIENT", "PAUSE", "100000", "WRITE"]), Value::Simple("OK".to_owned()));
    let mut paused = server.connect();
    paused.send_bytes(&[request(&["PING"]), request(&["SET", "a", "b"])].concat());
    assert_eq!(paused.reply(), pong());
    server.stop();
    assert_eq!([blocked.try_reply(), paused.try_reply()], [None, None]);
}

/// As in Redis: a paused client counts as blocked, and PUBLISH is paused like a write.
#[test]
fn paused_clients_count_as_blocked_and_publish_is_paused() {
    let server = Server::start(&CACHE);
    let mut other = server.connect();
    let (mut writer, mut publisher) = (server.connect(), server.connect());
    other.call(&["CLIENT", "PAUSE", "100000", "WRITE"]);
    writer.send(&["SET", "a", "b"]);
    await_blocked(&server, 1);
    publisher.send(&["PUBLISH", "c", "m"]);
    await_blocked(&server, 2);
    assert_eq!(other.call(&["GET", "a"]), Value::Null);
    other.call(&["CLIENT", "UNPAUSE"]);
    assert_eq!([writer.reply(), publisher.reply()], [Value::Simple("OK".to_owned()), Value::Int(0)]);
    await_blocked(&server, 0);
}

#[test]
fn an_error_that_ends_a_wait_is_counted() {
    let server = Server::start(&CACHE);
    let (mut reader, mut other) = (server.connect(), server.connect());
    other.call(&["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"]);
    reader.send(&["XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"]);
    await_blocked(&server, 1);
    assert_eq!(["", "_on_nokey"].map(|what| server.info(&format!("total_blocking_keys{what}"))), ["1", "1"]);
    assert_eq!(other.call(&["XGROUP", "DESTROY", "s", "g"]), Value::Int(1));
    assert!(reader.reply().as_error().is_some_and(|error| error.starts_with("NOGROUP ")));
    assert_eq!(server.info("errorstat_NOGROUP"), "count=1");
    assert_eq!(server.info("total_error_replies"), "1");
    let calls = server.info("cmdstat_xreadgroup");
    assert!(calls.starts_with("calls=1,") && calls.ends_with("rejected_calls=0,failed_calls=1"), "{calls}");
}

#[test]
fn long_replies_are_streamed_while_others_are_served() {
    let server = Server::start(&["--journal", "off", "--client-output-buffer-limit", "normal 8mb 0 0"]);
    let mut reader = server.connect();
    let item = "v".repeat(1_000);
    let push: Vec<&str> = ["RPUSH", "k"].into_iter().chain(std::iter::repeat_n(item.as_str(), 1_000)).collect();
    for length in 1..=60 {
        assert_eq!(reader.call(&push), Value::Int(length * 1_000));
    }
    reader.send(&["LRANGE", "k", "0", "-1"]);
    let mut other = server.connect();
    // Items popped before the range is read are not in it.
    while !other.call(&["INFO", "commandstats"]).to_string().contains("cmdstat_lrange:") {}
    for _ in 0..100 {
        assert_eq!(other.call(&["PING"]), pong());
        assert_eq!(other.call(&["LPOP", "k"]), Value::bulk(&item));
    }
    // 60 MB wait in the list, not in the output: the bound of 8 MB is not met.
    let Value::Array(items) = reader.reply() else { panic!("a range is an array") };
    assert_eq!(items.len(), 60_000);
    assert!(items.iter().all(|value| value.as_bytes() == Some(item.as_bytes())));
    assert_eq!(reader.call(&["PING"]), pong());
}

#[test]
fn a_client_receiving_a_streamed_reply_can_be_killed() {
    let server = Server::start(&CACHE);
    let mut reader = server.connect();
    let id = id(&mut reader);
    let value = vec![b'v'; 32 << 20];
    reader.send(&[&b"ECHO"[..], &value]);
    let mut other = server.connect();
    while !other.call(&["CLIENT", "LIST"]).to_string().contains("cmd=echo") {}
    assert_eq!(other.call(&["CLIENT", "KILL", "ID", &id]), Value::Int(1));
    assert!(reader.bytes_until_closed() < value.len());
}

/// As in Redis but for RELOAD, which no transaction can hold.
#[test]
fn debug_runs_inside_a_transaction() {
    let server = Server::start(&["--enable-debug-command", "yes"]);
    let mut client = server.connect();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let queued = ["SET k v", "DEBUG SLEEP 0.01", "DEBUG SLEEP 0", "DEBUG SET-ACTIVE-EXPIRE 1", "DEBUG RELOAD", "GET k"];
    client.call(&["MULTI"]);
    for line in queued {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(client.call(&words), Value::Simple("QUEUED".to_owned()), "{line}");
    }
    let replies = "[OK, OK, OK, OK, !ERR this command is not allowed inside a transaction, \"v\"]";
    assert_eq!(client.call(&["EXEC"]).to_string(), replies);
    client.call(&["MULTI"]);
    for line in ["DEBUG DIGEST-VALUE k none", "DEBUG OBJECT k", "DEBUG OBJECT none"] {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(client.call(&words), Value::Simple("QUEUED".to_owned()), "{line}");
    }
    let looked = client.call(&["EXEC"]);
    let [digests, object, none] = looked.as_slice().unwrap() else { panic!("{looked}") };
    assert_eq!(*digests, client.call(&["DEBUG", "DIGEST-VALUE", "k", "none"]));
    assert!(object.to_string().contains("encoding:embstr"), "{object}");
    assert_eq!(none.to_string(), "!ERR no such key");
}

/// Returns true if CLIENT LIST shows a client as blocked. Commands of administrators are not paused.
fn is_blocked(other: &mut Connection<TcpStream>, id: &str) -> bool {
    other.call(&["CLIENT", "LIST", "ID", id]).to_string().contains(" flags=b ")
}

/// Returns true if nothing has arrived from the server.
fn is_silent(client: &Connection<TcpStream>) -> bool {
    client.stream.set_nonblocking(true).unwrap();
    let peeked = client.stream.peek(&mut [0]);
    client.stream.set_nonblocking(false).unwrap();
    peeked.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

/// As in 7.2, where the wider kind and the later end hold.
#[test]
fn overlapping_pauses_keep_the_wider_kind_and_the_longer_time() {
    let server = Server::start(&CACHE);
    let (mut reader, mut other) = (server.connect(), server.connect());
    let id = id(&mut reader);
    for pauses in [["100000 ALL", "10 WRITE"], ["100000 WRITE", "10 ALL"], ["10 WRITE", "100000 ALL"]] {
        for pause in pauses {
            let words: Vec<&str> = ["CLIENT", "PAUSE"].into_iter().chain(pause.split(' ')).collect();
            assert_eq!(other.call(&words), Value::Simple("OK".to_owned()));
        }
        reader.send(&["GET", "a"]);
        while !is_blocked(&mut other, &id) {
            assert!(is_silent(&reader), "GET is not paused by {pauses:?}");
        }
        // A pause that was cut short would be over.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(is_silent(&reader) && is_blocked(&mut other, &id), "GET is not paused by {pauses:?} any more");
        other.call(&["CLIENT", "UNPAUSE"]);
        assert_eq!(reader.reply(), Value::Null);
        assert!(!is_blocked(&mut other, &id));
    }
}
