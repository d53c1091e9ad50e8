//! Crowds: a connection per request, ten thousand that are idle, and senders that send byte by byte.

mod support;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::SockRef;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;
use support::{Connection, Server, request};
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];
/// Threads that connect again and again.
const COMERS: u32 = 4;
const CONNECTIONS: u32 = 100_000;
const IDLE: usize = 10_000;
/// Senders of single bytes, half of them inline.
const SLOW_SENDERS: u32 = 6;
/// Requests of each, in one pipeline.
const SLOW_REQUESTS: u32 = 200;

fn pong() -> Value {
    Value::Simple("PONG".to_owned())
}

/// Runs `body` beside a client that is never idle; also returns the number of its pipelines answered meanwhile.
fn beside_a_busy_client<R>(server: &Server, body: impl FnOnce() -> R) -> (R, u64) {
    /// Ends the busy client, whatever ends the body.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            let mut client = server.connect();
            let mut pushed = 0;
            while !is_over.load(SeqCst) {
                client.send_bytes(
                    &[request(&["RPUSH", "busy", "x"]), request(&["LINDEX", "busy", "-1"])].concat().repeat(20),
                );
                for _ in 0..20 {
                    pushed += 1;
                    assert_eq!(client.reply(), Value::Int(pushed));
                    assert_eq!(client.reply(), Value::bulk("x"));
                }
            }
            pushed as u64 / 20
        });
        let over = Over(&is_over);
        let result = body();
        drop(over);
        (result, busy.join().unwrap())
    })
}

#[test]
fn a_hundred_thousand_short_connections_are_all_served() {
    let server = Server::start(&CACHE);
    let come = |comer: u32| {
        let key = comer.to_string();
        for length in 1..=CONNECTIONS / COMERS {
            let mut client = server.connect();
            assert_eq!(client.call(&["RPUSH", &key, "a"]), Value::Int(length.into()));
            // Most disconnect by a reset: a clean close keeps the port for a minute, and there are fewer ports than
            // this.
            if !length.is_multiple_of(10) {
                SockRef::from(&client.stream).set_linger(Some(Duration::ZERO)).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        (0..COMERS).for_each(|comer| drop(scope.spawn(move || come(comer))));
    });
    assert_eq!(server.info("rejected_connections"), "0");
    assert_eq!(server.info("total_error_replies"), "0");
    let connections: u32 = server.info("total_connections_received").parse().unwrap();
    assert!(connections > CONNECTIONS, "{connections} connections were accepted");
    await_clients(&server, 1);
}

/// Waits until `count` clients are left, including the one that asks.
fn await_clients(server: &Server, count: usize) {
    let mut tries = 0;
    while server.info("connected_clients") != count.to_string() {
        tries += 1;
        assert!(tries < 10_000, "connections that are over are not forgotten");
    }
}

/// Lets this process open `files`, or notes that `test` is skipped.
fn open_files_or_skip(test: &str, files: u64) -> bool {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return true;
    }
    let maximum = maximum.map(|maximum| maximum.max(files));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum });
    if let Err(error) = raised {
        testing::skip(test, &format!("{files} open files are not allowed: {error}"));
    }
    raised.is_ok()
}

#[test]
fn a_busy_connection_is_served_beside_ten_thousand_idle_ones() {
    let files = 2 * IDLE as u64;
    if !open_files_or_skip("a_busy_connection_is_served_beside_ten_thousand_idle_ones", files) {
        return;
    }
    let server = Server::start(&["--journal", "off", "--maxclients", &(IDLE + 100).to_string()]);
    let mut other = server.connect();
    let ((), rounds) = beside_a_busy_client(&server, || {
        let mut idle: Vec<_> = (0..IDLE).map(|_| server.connect()).collect();
        for _ in 0..2 {
            for client in &mut idle {
                assert_eq!(client.call(&["PING"]), pong());
            }
            // Beside them the busy one, the other, and the one that asks.
            assert_eq!(server.info("connected_clients"), (IDLE + 3).to_string());
            (0..10_000).for_each(|_| assert_eq!(other.call(&["PING"]), pong()));
        }
    });
    assert!(rounds > 0, "the busy client was not served");
    await_clients(&server, 2);
}

/// Sends a pipeline byte by byte, and checks its replies.
fn send_slowly(mut client: Connection<TcpStream>, sender: u32) {
    let value = |number: u32| format!("{sender} says {number}");
    let encoded = |number: u32| match sender % 2 {
        0 => request(&["ECHO", &value(number)]),
        _ => format!("  ECHO  \"{}\"\r\n", value(number)).into_bytes(),
    };
    let pipeline: Vec<u8> = (0..SLOW_REQUESTS).flat_map(encoded).collect();
    for byte in &pipeline {
        client.send_bytes(std::slice::from_ref(byte));
    }
    for number in 0..SLOW_REQUESTS {
        assert_eq!(client.reply(), Value::bulk(value(number)));
    }
}

#[test]
fn byte_by_byte_senders_and_a_busy_connection_are_served() {
    let server = Server::start(&CACHE);
    let ((), rounds) = beside_a_busy_client(&server, || {
        std::thread::scope(|scope| {
            for sender in 0..SLOW_SENDERS {
                let client = server.connect();
                scope.spawn(move || send_slowly(client, sender));
            }
        });
    });
    assert!(rounds > 0, "the busy client was not served");
}
