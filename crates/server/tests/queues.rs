//! Queues in the real binary: killed in every state of their messages, again and again, with no acknowledged message
//! lost or processed twice; and clients that wait for returned messages.

use crate::support::{Connection, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use wire::client::Value;

type Client = Connection<TcpStream>;

const ROUNDS: usize = 6;
const MESSAGES_A_ROUND: usize = 60;

fn call(client: &mut Client, request: &str) -> Value {
    client.call(&request.split(' ').collect::<Vec<_>>())
}

fn int(client: &mut Client, request: &str) -> i64 {
    match call(client, request) {
        Value::Int(number) => number,
        other => panic!("{request}: {other}"),
    }
}

fn text(value: &Value) -> String {
    String::from_utf8(value.as_bytes().expect("a text").to_vec()).unwrap()
}

/// Receipts and messages that a request leased.
fn reserve(client: &mut Client, request: &str) -> Vec<(String, String)> {
    let Value::Array(parts) = call(client, request) else { return Vec::new() };
    let Value::Array(messages) = &parts[1] else { panic!("{parts:?}") };
    let receipt_and_message = |message: &Value| match message {
        Value::Array(parts) => (text(&parts[0]), text(&parts[2])),
        other => panic!("{other}"),
    };
    messages.iter().map(receipt_and_message).collect()
}

fn info(client: &mut Client, key: &str) -> BTreeMap<String, i64> {
    let Value::Array(reply) = call(client, &format!("Q.INFO {key}")) else { return BTreeMap::new() };
    let pairs = reply.chunks_exact(2).filter_map(|pair| match pair[1] {
        Value::Int(number) => Some((text(&pair[0]), number)),
        _ => None,
    });
    pairs.collect()
}

/// The expected state of each message; leases last for an hour.
#[derive(Default)]
struct Expected {
    ready: BTreeSet<String>,
    leased: BTreeMap<String, String>,
    delayed: BTreeSet<String>,
    buried: BTreeSet<String>,
    done: BTreeSet<String>,
}

impl Expected {
    fn check(&self, client: &mut Client) {
        let reported = info(client, "q");
        let counts = [self.ready.len(), self.leased.len(), self.delayed.len(), self.buried.len()];
        for (state, count) in ["ready", "leased", "delayed", "buried"].iter().zip(counts) {
            assert_eq!(reported[*state], count as i64, "{state}");
        }
        let Value::Array(ready) = call(client, "LRANGE q 0 -1") else { panic!("no array") };
        assert_eq!(ready.iter().map(text).collect::<BTreeSet<_>>(), self.ready);
        let Value::Array(done) = call(client, "LRANGE done 0 -1") else { panic!("no array") };
        assert_eq!(done.len(), self.done.len(), "work was done twice, or lost");
        assert_eq!(done.iter().map(text).collect::<BTreeSet<_>>(), self.done);
    }

    /// Does something with each of some messages.
    fn work(&mut self, client: &mut Client, round: usize) {
        for number in 0..MESSAGES_A_ROUND {
            let message = format!("{round}:{number}");
            if number % 5 == 0 {
                call(client, &format!("Q.PUSH q {message} DELAY 3600000"));
                self.delayed.insert(message);
            } else {
                call(client, &format!("Q.PUSH q {message} ID {message}"));
                self.ready.insert(message);
            }
        }
        for number in 0..MESSAGES_A_ROUND / 2 {
            for (receipt, message) in reserve(client, "Q.RESERVE q LEASE 3600000") {
                assert!(self.ready.remove(&message), "{message} was not ready");
                match number % 4 {
                    0 => {
                        assert_eq!(int(client, &format!("Q.BURY q {receipt}")), 1);
                        self.buried.insert(message);
                    }
                    1 => {
                        assert_eq!(int(client, &format!("Q.NACK q {receipt} DELAY 3600000")), 1);
                        self.delayed.insert(message);
                    }
                    2 => self.pass(client, &receipt, message),
                    _ => drop(self.leased.insert(receipt, message)),
                }
            }
        }
        // Leases from before an earlier kill are still valid.
        let old: Vec<String> = self.leased.keys().take(3).cloned().collect();
        for receipt in old {
            let message = self.leased.remove(&receipt).unwrap();
            self.pass(client, &receipt, message);
        }
    }

    fn pass(&mut self, client: &mut Client, receipt: &str, message: String) {
        let push = format!("Q.PUSH done {message}");
        for request in ["MULTI", &format!("Q.ACK q {receipt}"), &push] {
            call(client, request);
        }
        let Value::Array(replies) = call(client, "EXEC") else { panic!("no array") };
        assert_eq!(replies[0], Value::Int(1));
        self.done.insert(message);
    }
}

#[test]
fn kills_lose_or_repeat_no_message_in_any_state() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut expected = Expected::default();
    for round in 0..ROUNDS {
        let mut client = server.connect();
        expected.work(&mut client, round);
        if round % 2 == 1 {
            assert_eq!(call(&mut client, "SAVE"), Value::Simple("OK".into()));
            expected.work(&mut client, 100 + round);
        }
        expected.check(&mut client);
        server.kill();
        server.restart();
        expected.check(&mut server.connect());
    }
    let mut client = server.connect();
    let kicked = int(&mut client, "Q.KICK q COUNT 1000");
    assert_eq!(kicked, expected.buried.len() as i64);
}

#[test]
fn work_of_a_dead_worker_is_redelivered_then_dead_lettered() {
    let server = Server::start(&[]);
    let (mut client, mut worker) = (server.connect(), server.connect());
    call(&mut client, "Q.LIMIT q RETRIES 1 DEADLETTER dead");
    call(&mut client, "Q.PUSH q work");
    assert_eq!(reserve(&mut worker, "Q.RESERVE q LEASE 50")[0].1, "work");
    drop(worker);
    let leased = reserve(&mut client, "Q.RESERVE q BLOCK 0 LEASE 50");
    assert_eq!(leased[0].1, "work");
    let Value::Array(dead) = call(&mut client, "BLPOP dead 0") else { panic!("no array") };
    assert_eq!(text(&dead[1]), "work");
    assert_eq!(int(&mut client, &format!("Q.ACK q {}", leased[0].0)), 0);
    assert_eq!(int(&mut client, "LLEN q"), 0);
}

/// Lets the clients of `line` wait with these requests for as many messages, which become due together; returns the
/// replies.
fn replies_in_line(server: &Server, line: &mut [Client], request: impl Fn(usize) -> &'static str) -> Vec<String> {
    let mut newcomer = server.connect();
    let messages: Vec<String> = (0..line.len()).map(|at| format!("m{at:03}")).collect();
    let delay_ms = 1000 + 30 * messages.len();
    call(&mut newcomer, &format!("Q.PUSH q {} DELAY {delay_ms}", messages.join(" ")));
    for (at, client) in line.iter_mut().enumerate() {
        client.send(&request(at).split(' ').collect::<Vec<_>>());
        while server.info("blocked_clients") != (at + 1).to_string() {
            let delayed = info(&mut newcomer, "q").get("delayed").copied();
            assert_eq!(delayed, Some(messages.len() as i64), "this machine is too slow for this test");
        }
    }
    while server.info("blocked_clients") != "0" {
        assert_eq!(call(&mut newcomer, "Q.RESERVE q"), Value::NullArray, "taken before those who wait");
        assert_eq!(call(&mut newcomer, "LPOP q"), Value::Null, "taken before those who wait");
    }
    call(&mut newcomer, "DEL q");
    line.iter_mut().map(|client| client.reply().to_string()).collect()
}

#[test]
fn due_messages_go_to_waiters_in_order() {
    let server = Server::start(&["--journal", "off"]);
    let mut line: Vec<Client> = (0..100).map(|_| server.connect()).collect();
    let by_turns = |at| if at % 2 == 0 { "Q.RESERVE other q BLOCK 0 LEASE 3600000" } else { "BLPOP other q 0" };
    // More waiters than messages made ready at once, and a last one that makes due messages ready itself.
    let mostly_pops = |at| if at < 99 { "BLPOP q 0" } else { "Q.RESERVE q BLOCK 0" };
    let replies = [
        replies_in_line(&server, &mut line[..8], by_turns),
        replies_in_line(&server, &mut line[..8], by_turns),
        replies_in_line(&server, &mut line, mostly_pops),
    ];
    for (at, reply) in replies.iter().flat_map(|replies| replies.iter().enumerate()) {
        assert!(reply.contains(&format!("\"m{at:03}\"")), "number {at} of a line got {reply}");
    }
}

#[test]
fn delayed_messages_can_move_on_to_many_keys() {
    let server = Server::start(&["--journal", "off"]);
    let mut clients: Vec<Client> = (0..6).map(|_| server.connect()).collect();
    let mut client = server.connect();
    call(&mut client, "Q.PUSH q m0 m1 m2 m3 m4 m5 DELAY 300");
    for (at, waiting) in clients.iter_mut().enumerate() {
        waiting.send(&["BLMOVE", "q", &format!("target{at}"), "LEFT", "RIGHT", "0"]);
        server.wait_for_info("blocked_clients", &(at + 1).to_string());
    }
    for (at, waiting) in clients.iter_mut().enumerate() {
        assert_eq!(waiting.reply(), Value::bulk(format!("m{at}")));
    }
}

#[test]
fn a_pause_does_not_delay_the_end_of_a_wait() {
    let server = Server::start(&["--journal", "off"]);
    let (mut client, mut waiting) = (server.connect(), server.connect());
    let id = int(&mut waiting, "CLIENT ID");
    call(&mut client, "Q.PUSH q message DELAY 200");
    let begin = |waiting: &mut Client, block_ms: &str| {
        waiting.send(&["Q.RESERVE", "q", "BLOCK", block_ms]);
        server.wait_for_info("blocked_clients", "1");
    };
    begin(&mut waiting, "1000");
    call(&mut client, "CLIENT PAUSE 600000 WRITE");
    assert_eq!(waiting.reply(), Value::NullArray);
    call(&mut client, "CLIENT UNPAUSE");
    assert_eq!(reserve(&mut client, "Q.RESERVE q BLOCK 0 LEASE 200")[0].1, "message");
    begin(&mut waiting, "0");
    call(&mut client, "CLIENT PAUSE 600000 WRITE");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(int(&mut client, &format!("CLIENT UNBLOCK {id} TIMEOUT")), 1);
    assert_eq!(waiting.reply(), Value::NullArray);
    call(&mut client, "CLIENT UNPAUSE");
    assert_eq!(reserve(&mut client, "Q.RESERVE q BLOCK 0")[0].1, "message");
}

#[test]
fn the_event_of_a_served_waiter_precedes_the_push() {
    let server =
        Server::start(&["--journal", "off", "--enable-debug-command", "yes", "--notify-keyspace-events", "KEA"]);
    let (mut client, mut waiting, mut listener) = (server.connect(), server.connect(), server.connect());
    // Only requests check for due messages.
    call(&mut client, "DEBUG SET-ACTIVE-EXPIRE 0");
    call(&mut client, "Q.PUSH q message DELAY 100");
    waiting.send(&["BLMOVE", "q", "target", "LEFT", "RIGHT", "0"]);
    server.wait_for_info("blocked_clients", "1");
    call(&mut listener, "PSUBSCRIBE __keyspace@0__:*");
    std::thread::sleep(std::time::Duration::from_millis(150));
    assert_eq!(int(&mut client, "RPUSH q new"), 1);
    assert_eq!(waiting.reply(), Value::bulk("message"));
    let mut events = Vec::new();
    while events.last().is_none_or(|last| last != "q rpush") {
        let Some(Value::Array(parts)) = listener.try_reply() else { panic!("no message") };
        events.push(format!("{} {}", text(&parts[2]).trim_start_matches("__keyspace@0__:"), text(&parts[3])));
    }
    events.retain(|event| event.starts_with("target"));
    assert_eq!(events, ["target rpush"]);
}

#[test]
fn every_waiter_notices_messages_that_become_due() {
    let server = Server::start(&["--journal", "off", "--enable-debug-command", "yes"]);
    let mut client = server.connect();
    call(&mut client, "DEBUG SET-ACTIVE-EXPIRE 0");
    let push = |client: &mut Client| call(client, "Q.PUSH q message DELAY 300");
    let wait = |request: &str| {
        let count: usize = server.info("blocked_clients").parse().unwrap();
        let mut waiting = server.connect();
        waiting.send(&request.split(' ').collect::<Vec<_>>());
        server.wait_for_info("blocked_clients", &(count + 1).to_string());
        waiting
    };
    let assert_served = |waiting: &mut Client| {
        let reply = waiting.reply().to_string();
        assert!(reply.contains("\"message\""), "{reply}");
    };
    // After a waiter that never checks by itself, but is first.
    push(&mut client);
    let mut first = wait("BLPOP q 0");
    let behind = wait("Q.RESERVE q BLOCK 0");
    assert_served(&mut first);
    drop((first, behind));
    server.wait_for_info("blocked_clients", "0");
    // After a waiter for another type.
    let other = wait("BZPOPMIN q 0");
    push(&mut client);
    let mut behind = wait("Q.RESERVE q BLOCK 0");
    assert_served(&mut behind);
    drop((other, behind));
    server.wait_for_info("blocked_clients", "0");
    call(&mut client, "DEL q");
    // The waiter came before any message; or the pushed message is due before the known one; or it is renamed to its
    // key.
    let mut early = wait("Q.RESERVE q BLOCK 0");
    push(&mut client);
    assert_served(&mut early);
    call(&mut client, "Q.PUSH q later DELAY 3600000");
    let mut early = wait("Q.RESERVE q BLOCK 0");
    push(&mut client);
    assert_served(&mut early);
    call(&mut client, "DEL q");
    let mut early = wait("Q.RESERVE q BLOCK 0");
    call(&mut client, "Q.PUSH z message DELAY 300");
    call(&mut client, "RENAME z q");
    assert_served(&mut early);
}
