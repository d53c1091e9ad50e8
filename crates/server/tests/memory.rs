//! Memory limits: a server under a limit refuses growth before an allocation fails, and starts again under that limit.
//!
//! ```text
//!   fill until OOM --> reads, deletions --> kill -9 --> start: all is there --> deletions --> writes again
//! ```

use crate::support::{Connection, Server, ULIMIT_V, request};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wire::client::Value;

const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";
const NOT_LOADED: &str = "OOM the key is not loaded";
const VALUE_BYTES: usize = 1000;
/// Requests in one pipeline.
const BATCH: usize = 500;
/// Connections that fill the memory.
const WRITERS: usize = 4;
/// The maximum time before a change is noticed.
const PATIENCE: Duration = Duration::from_secs(60);

fn key(writer: usize, number: usize) -> String {
    format!("key:{writer}:{number}")
}

fn value(number: usize) -> String {
    let digits = number.to_string();
    format!("{digits}{}", ".".repeat(VALUE_BYTES - digits.len()))
}

fn ok() -> Value {
    Value::Simple("OK".to_owned())
}

fn oom() -> Value {
    Value::Error(OOM.to_owned())
}

/// Returns true if a write was refused for want of memory, of its own or to load its key.
fn is_refused(reply: &Value) -> bool {
    matches!(reply, Value::Error(text) if text == OOM || text.starts_with(NOT_LOADED))
}

/// Sends a request for each of these keys of a writer in one pipeline, SET with the key's value. Returns the replies with
/// the keys' numbers.
fn call_each(
    client: &mut Connection<TcpStream>,
    command: &str,
    writer: usize,
    numbers: &[usize],
) -> Vec<(usize, Value)> {
    let request_of = |number: &usize| match command {
        "SET" => request(&[command, &key(writer, *number), &value(*number)]),
        _ => request(&[command, &key(writer, *number)]),
    };
    client.send_bytes(&numbers.iter().flat_map(request_of).collect::<Vec<_>>());
    numbers.iter().map(|number| (*number, client.reply())).collect()
}

/// Sets keys until all of a batch are refused; returns those that were set.
fn fill(mut client: Connection<TcpStream>, writer: usize, from: usize) -> Vec<usize> {
    let mut set = Vec::new();
    for batch in (from..).step_by(BATCH) {
        let numbers: Vec<usize> = (batch..batch + BATCH).collect();
        let before = set.len();
        for (number, reply) in call_each(&mut client, "SET", writer, &numbers) {
            match reply {
                reply if reply == ok() => set.push(number),
                reply => assert_eq!(reply, oom()),
            }
        }
        if set.len() == before {
            return set;
        }
    }
    unreachable!("memory has an end")
}

/// All writers at once, until all are refused.
fn fill_all(server: &Server, from: usize) -> Vec<Vec<usize>> {
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let client = server.connect();
                scope.spawn(move || fill(client, writer, from))
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    })
}

/// Checks that each key that was set has its value, and that others are absent.
fn check(server: &Server, set: &[Vec<usize>]) {
    let mut client = server.connect();
    for (writer, numbers) in set.iter().enumerate() {
        for some in numbers.chunks(BATCH) {
            for (number, reply) in call_each(&mut client, "GET", writer, some) {
                assert_eq!(reply, Value::bulk(value(number)), "{}", key(writer, number));
            }
        }
    }
    let count: usize = set.iter().map(Vec::len).sum();
    assert_eq!(client.call(&["DBSIZE"]), Value::Int(count as i64));
}

/// Deletes each second key of those that were set.
fn thin_out(server: &Server, set: &mut [Vec<usize>]) {
    let mut client = server.connect();
    for (writer, numbers) in set.iter_mut().enumerate() {
        let doomed: Vec<usize> = numbers.iter().copied().step_by(2).collect();
        for some in doomed.chunks(BATCH) {
            call_each(&mut client, "DEL", writer, some).iter().for_each(|(_, reply)| assert_eq!(*reply, Value::Int(1)));
        }
        let mut at = 0;
        numbers.retain(|_| {
            at += 1;
            at % 2 == 0
        });
    }
}

/// Waits until a key can be set.
fn await_room(server: &Server) {
    let (mut client, began) = (server.connect(), Instant::now());
    loop {
        match client.call(&["SET", "probe", &value(0)]) {
            reply if reply == ok() => break,
            reply => assert!(is_refused(&reply), "{reply:?}"),
        }
        assert!(began.elapsed() < PATIENCE, "deletions bring no room: {}", server.log());
    }
    assert_eq!(client.call(&["DEL", "probe"]), Value::Int(1));
}

/// A limit that is reached again and again, by `flags`.
fn reaches_its_limit(flags: &[&str], keys_min: usize) {
    let mut server = Server::start(&[flags, &["--fsync", "always"]].concat());
    let mut set = fill_all(&server, 0);
    let count: usize = set.iter().map(Vec::len).sum();
    assert!(count >= keys_min, "{count} keys fit: {}", server.log());
    assert_ne!(server.info("oom_refusals"), "0");
    assert_ne!(server.info("errorstat_OOM"), "count=0");
    server.wait_for_log("memory is short");
    for round in 1..=2 {
        check(&server, &set);
        server.kill();
        server.restart();
        check(&server, &set);
        server.wait_for_info("async_loading", "0");
        thin_out(&server, &mut set);
        await_room(&server);
        let before: usize = set.iter().map(Vec::len).sum();
        let more = fill_all(&server, round * 10_000_000);
        set.iter_mut().zip(more).for_each(|(numbers, more)| numbers.extend(more));
        let after: usize = set.iter().map(Vec::len).sum();
        assert!(after > before + before / 20, "{after} keys after {before}: {}", server.log());
    }
    check(&server, &set);
    server.stop();
    server.restart();
    check(&server, &set);
    assert_eq!(server.connect().call(&["FLUSHALL"]), ok());
    await_room(&server);
}

#[test]
fn an_address_space_limit_refuses_writes_and_loses_none() {
    reaches_its_limit(&[ULIMIT_V, "400000"], 50_000);
}

#[test]
fn a_limit_by_setting_refuses_writes_and_loses_none() {
    reaches_its_limit(&["--memory-hard-limit", "200mb"], 50_000);
}

/// Returns a server with 200,000 keys, which do not fit its memory limit.
fn server_with_more_data_than_fits() -> Server {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    let numbers: Vec<usize> = (0..200_000).collect();
    for some in numbers.chunks(BATCH) {
        call_each(&mut client, "SET", 0, some).iter().for_each(|(_, reply)| assert_eq!(*reply, ok()));
    }
    assert_eq!(client.call(&["SAVE"]), ok());
    server.stop();
    server.restart_with(&[("BOBBIN_MEMORY_HARD_LIMIT", "150mb")]);
    server.wait_for_log("the data does not fit the memory limit of 150 MB (memory-hard-limit)");
    assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int(200_000));
    server
}

#[test]
fn flushall_is_served_though_the_data_does_not_fit() {
    let server = server_with_more_data_than_fits();
    assert_eq!(server.connect().call(&["FLUSHALL"]), ok());
    server.wait_for_info("async_loading", "0");
}

#[test]
fn data_beyond_the_limit_is_served_as_far_as_possible() {
    let mut server = server_with_more_data_than_fits();
    let mut client = server.connect();
    let reply = client.call(&["SET", "new", "x"]);
    assert!(is_refused(&reply), "{reply:?}");
    let (mut there, mut absent) = (Vec::new(), 0);
    let numbers: Vec<usize> = (0..200_000).collect();
    for some in numbers.chunks(BATCH) {
        for (number, reply) in call_each(&mut client, "GET", 0, some) {
            match reply {
                Value::Error(text) => {
                    assert!(text.starts_with(NOT_LOADED), "{text}");
                    absent += 1;
                }
                reply => {
                    assert_eq!(reply, Value::bulk(value(number)));
                    there.push(number);
                }
            }
        }
        if absent > 1_000 && there.len() > 60_000 {
            break;
        }
    }
    assert!(absent > 0 && there.len() > 30_000, "{} of {absent} more are there", there.len());
    let left: u32 = server.info("loading_shards_left").parse().unwrap();
    for some in there.chunks(BATCH) {
        call_each(&mut client, "DEL", 0, some).iter().for_each(|(_, reply)| assert_eq!(*reply, Value::Int(1)));
    }
    // The deletions make room for data that was not loaded.
    let began = Instant::now();
    while server.info("loading_shards_left").parse::<u32>().unwrap() >= left {
        assert!(began.elapsed() < PATIENCE, "loading does not go on");
    }
    assert_eq!(client.call(&["FLUSHALL"]), ok());
    await_room(&server);
    server.wait_for_info("async_loading", "0");
    server.kill();
    server.restart_with(&[("BOBBIN_MEMORY_HARD_LIMIT", "150mb")]);
    assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int(0));
}

/// Returns the beginning of a request whose last argument has `bytes` bytes, longer than one read takes.
fn begun(bytes: usize) -> Vec<u8> {
    let mut request = format!("*3\r\n$3\r\nSET\r\n$4\r\nlong\r\n${bytes}\r\n").into_bytes();
    request.resize(request.len() + 100_000, b'x');
    request
}

#[test]
fn a_long_argument_is_refused_before_it_arrives() {
    let server = Server::start(&["--memory-hard-limit", "200mb"]);
    let mut client = server.connect();
    client.send_bytes(&begun(400_000_000));
    assert_eq!(client.reply(), oom());
    assert_eq!(client.try_reply(), None);
    // Buffers that are announced count, though little of them has come.
    let mut clients: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send_bytes(&begun(10_000_000));
    }
    server.wait_for_log("memory is limited to 200 MB (memory-hard-limit)");
    let began = Instant::now();
    while server.info("errorstat_OOM").strip_prefix("count=").unwrap().parse::<u32>().unwrap() < 80 {
        assert!(began.elapsed() < PATIENCE, "{}", server.info("errorstat_OOM"));
    }
    drop(clients);
    await_room(&server);
}

#[test]
fn a_huge_reply_does_not_kill_the_server() {
    let server = Server::start(&["--memory-hard-limit", "200mb"]);
    let mut client = server.connect();
    assert_eq!(client.call(&["SETRANGE", "far", "500000000", "x"]), oom());
    assert_eq!(client.call(&["SET", "value", &"x".repeat(16_000)]), ok());
    let words = [vec!["MGET"], vec!["value"; 100_000]].concat();
    // 1.6 GB of replies: refused, or disconnected while they are sent.
    client.send(&words);
    if let Some(reply) = client.try_reply() {
        assert_eq!(reply, oom());
    }
    assert_eq!(server.connect().call(&["PING"]), Value::Simple("PONG".to_owned()));
}

#[test]
fn a_limit_that_is_too_small_fails_the_start() {
    let refused =
        |flags: &[&str]| Server::try_start_once(tempfile::tempdir().unwrap(), flags).err().expect("it does not start");
    for (flags, words) in [
        (&[ULIMIT_V, "150000"][..], &["RLIMIT_AS (ulimit -v)", "146 MB", "192 MB", "--threads"]),
        (&["--memory-hard-limit", "10mb"], &["memory-hard-limit", "10 MB", "68 MB", "--threads"]),
    ] {
        let log = refused(flags);
        assert!(words.iter().all(|word| log.contains(word)), "{log}");
        assert!(log.contains("exit status: 2"), "{log}");
    }
}
