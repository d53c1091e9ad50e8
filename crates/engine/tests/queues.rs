//! State changes of a queue's messages without a request: leases and delays end, messages expire or run out of retries,
//! and waiting clients are served.

use crate::support::{Client, Load, World, block_on, read};
use engine::{ExpireCycle, Next};
use std::pin::pin;
use std::task::{Context, Waker};
use wire::Output;

const DEBUG: &[(&str, &str)] = &[("enable-debug-command", "yes")];

fn expire(world: &World) {
    expire_by(&mut ExpireCycle::new(world.engine.clone()));
}

fn expire_by(expire_cycle: &mut ExpireCycle) {
    let is_over = (0..10_000).any(|_| !expire_cycle.pass());
    assert!(is_over, "there is always more");
}

/// Returns the receipt in the reply to a Q.RESERVE of one message.
fn receipt(reply: &str) -> String {
    reply
        .lines()
        .find(|line| line.starts_with(|digit: char| digit.is_ascii_digit()) && line.contains('-'))
        .unwrap()
        .into()
}

/// Sends a request that waits, calls `meanwhile`, and returns the reply.
fn wait(client: &mut Client, request: &str, meanwhile: impl FnOnce()) -> String {
    let mut output = Output::new();
    let words: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
    let Next::Slow(slow) = client.send(&words, &mut output) else { panic!("{request} does not wait") };
    {
        let mut run = pin!(client.session.run_slowly(slow, &client.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        assert!(run.as_mut().poll(&mut context).is_pending(), "{request}");
        meanwhile();
        let is_over = (0..100).any(|_| run.as_mut().poll(&mut context).is_ready());
        assert!(is_over, "{request} waits on");
    }
    read(output)
}

#[test]
fn an_expired_lease_serves_waiters_of_every_command() {
    let world = World::new(&[]);
    let (mut one, mut other) = (world.client(), world.client());
    for request in ["BLPOP q 0", "Q.RESERVE q BLOCK 0", "BRPOPLPUSH q r 0", "BLMPOP 0 2 p q LEFT"] {
        one.call("Q.PUSH q work");
        assert!(one.call("Q.RESERVE q LEASE 500").contains("work"), "{request}");
        let reply = wait(&mut other, request, || {
            world.advance(1_000);
            expire(&world);
        });
        assert!(reply.contains("work"), "{request}: {reply}");
        one.call("DEL q r");
    }
}

#[test]
fn expired_delays_nacks_and_kicks_serve_waiters() {
    let world = World::new(&[]);
    let (mut one, mut other) = (world.client(), world.client());
    one.call("Q.PUSH q later DELAY 500");
    let reply = wait(&mut other, "BLPOP q 0", || {
        world.advance(1_000);
        expire(&world);
    });
    assert!(reply.contains("later"), "{reply}");
    one.call("RPUSH q work");
    let leased = receipt(&one.call("Q.RESERVE q"));
    let reply = wait(&mut other, "Q.RESERVE q BLOCK 0", || {
        assert_eq!(one.call(&format!("Q.NACK q {leased}")), ":1\r\n");
    });
    assert!(reply.contains("work") && reply.contains(":2\r\n"), "{reply}");
    let leased = receipt(&reply);
    assert_eq!(one.call(&format!("Q.BURY q {leased}")), ":1\r\n");
    let reply = wait(&mut other, "BRPOP q 0", || assert_eq!(one.call("Q.KICK q"), ":1\r\n"));
    assert!(reply.contains("work"), "{reply}");
}

#[test]
fn a_plain_list_becomes_a_queue_for_a_reserve_waiter() {
    let world = World::new(&[]);
    let (mut one, mut other) = (world.client(), world.client());
    let reply = wait(&mut other, "Q.RESERVE none q BLOCK 0", || drop(one.call("RPUSH q a b")));
    assert!(reply.contains("\r\nq\r\n") && reply.contains("\r\na\r\n"), "{reply}");
    assert_eq!(one.call("LRANGE q 0 -1"), "*1\r\n$1\r\nb\r\n");
    assert_eq!(one.call("LLEN q"), ":1\r\n");
}

#[test]
fn a_waiter_looks_again_at_lease_end_without_expire_cycle() {
    let world = World::new(&[]);
    let (mut one, mut other) = (world.client(), world.client());
    one.call("RPUSH q work");
    one.call("Q.RESERVE q LEASE 50");
    let reply = wait(&mut other, "Q.RESERVE q BLOCK 0", || world.advance(51));
    assert!(reply.contains("work"), "{reply}");
}

/// A queue whose one message is out of retries.
fn spent(message: &str) -> World {
    let world = World::new(DEBUG);
    let mut client = world.client();
    client.call("Q.LIMIT q RETRIES 0 DEADLETTER d");
    client.call(&format!("Q.PUSH q {message}"));
    client.call("Q.RESERVE q LEASE 10");
    world.advance(1_000);
    drop(client);
    world
}

#[test]
fn dead_letters_go_to_their_key_and_serve_its_waiters() {
    let world = spent("work");
    let mut client = world.client();
    expire(&world);
    assert_eq!(client.call("LRANGE d 0 -1"), "*1\r\n$4\r\nwork\r\n");
    assert_eq!((client.call("LLEN q"), client.call("EXISTS q")), (":0\r\n".into(), ":1\r\n".into()));
    client.call("Q.PUSH q again");
    let leased = receipt(&client.call("Q.RESERVE q"));
    client.call("DEL d");
    let mut other = world.client();
    let reply = wait(&mut other, "BLPOP d 0", || {
        assert_eq!(client.call(&format!("Q.NACK q {leased}")), ":1\r\n");
        expire(&world);
    });
    assert!(reply.contains("again"), "{reply}");
    let digest = client.call("DEBUG DIGEST");
    let world = world.restarted(DEBUG, Load::AtOnce);
    assert_eq!(world.client().call("DEBUG DIGEST"), digest);
}

#[test]
fn a_long_message_becomes_a_dead_letter_too() {
    let world = spent(&"x".repeat(400_000));
    expire(&world);
    assert_eq!(world.client().call("LLEN d"), ":1\r\n");
    assert!(world.client().call("LINDEX d 0").starts_with("$400000\r\n"));
}

#[test]
fn a_queue_with_a_long_name_expires() {
    let world = World::new(&[]);
    let mut client = world.client();
    let name = "q".repeat(100_000);
    client.call(&format!("RPUSH {name} one two three"));
    client.call(&format!("Q.RESERVE {name} COUNT 3 LEASE 10"));
    world.advance(1_000);
    expire(&world);
    assert!(client.call(&format!("Q.INFO {name}")).contains("ready\r\n:3\r\n"));
}

#[test]
fn dead_letters_keep_the_order_of_their_ids() {
    let world = World::new(&[]);
    let mut client = world.client();
    client.call("Q.LIMIT q RETRIES 0 DEADLETTER d");
    let numbers: Vec<String> = (0..900).map(|number| number.to_string()).collect();
    client.call(&format!("RPUSH q {}", numbers.join(" ")));
    client.call("Q.RESERVE q COUNT 900 LEASE 10");
    world.advance(1_000);
    expire(&world);
    assert_eq!(client.call("LLEN d"), ":900\r\n");
    assert_eq!(client.call("LINDEX d 899"), "$3\r\n899\r\n");
    assert_eq!(client.call("LPOP d"), "$1\r\n0\r\n");
}

#[test]
fn dead_letters_without_a_destination_are_buried() {
    for (filled, full) in [("SET d text", false), ("Q.LIMIT d MAXLEN 1", true), ("Q.LIMIT q DEADLETTER ", false)] {
        let world = spent("work");
        let mut client = world.client();
        client.call_bytes(&filled.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        if full {
            client.call("RPUSH d full");
        }
        expire(&world);
        assert!(client.call("Q.INFO q").contains("buried\r\n:1\r\n"), "{filled}");
        assert!(client.call("Q.PEEK q BURIED").contains("work"), "{filled}");
    }
}

#[test]
fn expired_messages_are_removed_but_a_limited_queue_stays() {
    let world = World::new(&[]);
    let mut client = world.client();
    client.call("Q.LIMIT q TTL 500");
    client.call("RPUSH q a b c");
    client.call("LPUSH q z");
    world.advance(400);
    client.call("RPUSH q d");
    world.advance(400);
    expire(&world);
    assert_eq!(client.call("LRANGE q 0 -1"), "*1\r\n$1\r\nd\r\n");
    client.call("Q.LIMIT q TTL 500");
    world.advance(400);
    expire(&world);
    assert_eq!((client.call("LLEN q"), client.call("EXISTS q")), (":0\r\n".into(), ":1\r\n".into()));
}

/// An acknowledgement in one queue and a push to another are one frame: after a stop at any time both exist or neither.
#[test]
fn work_moves_between_queues_exactly_once() {
    let world = World::new(DEBUG);
    let mut client = world.client();
    client.call("RPUSH a one two");
    let leased = receipt(&client.call("Q.RESERVE a LEASE 100"));
    for line in ["MULTI", &format!("Q.ACK a {leased}"), "Q.PUSH b done"] {
        client.call(line);
    }
    assert!(client.call("EXEC").starts_with("*2\r\n:1\r\n"));
    // The idiom for a lease that may have expired: a script.
    let script = "if redis.call('Q.ACK', KEYS[1], ARGV[1]) == 1 then redis.call('Q.PUSH', KEYS[2], ARGV[2]) return 1 end return 0";
    let leased = receipt(&client.call("Q.RESERVE a LEASE 100"));
    world.advance(200);
    expire(&world);
    let again = receipt(&client.call("Q.RESERVE a"));
    let eval = |client: &mut Client, receipt: &str| {
        client.call_bytes(&[b"EVAL", script.as_bytes(), b"2", b"a", b"b", receipt.as_bytes(), b"late"])
    };
    assert_eq!(eval(&mut client, &leased), ":0\r\n");
    assert_eq!(client.call("LLEN b"), ":1\r\n");
    assert_eq!(eval(&mut client, &again), ":1\r\n");
    assert_eq!((client.call("LLEN b"), client.call("EXISTS a")), (":2\r\n".into(), ":0\r\n".into()));
    let digest = client.call("DEBUG DIGEST");
    let world = world.restarted(DEBUG, Load::AtOnce);
    assert_eq!(world.client().call("DEBUG DIGEST"), digest);
}

/// A restart in each state loses no message and makes none ready twice.
#[test]
fn every_message_state_survives_a_restart() {
    let mut world = World::new(DEBUG);
    let mut client = world.client();
    client.call("RPUSH q leased buried back ready");
    client.call("Q.PUSH q delayed DELAY 100000 ID x");
    let leased = client.call("Q.RESERVE q LEASE 100000");
    let buried = receipt(&client.call("Q.RESERVE q"));
    let back = receipt(&client.call("Q.RESERVE q"));
    client.call(&format!("Q.BURY q {buried}"));
    client.call(&format!("Q.NACK q {back}"));
    client.call("LPUSH q first");
    let (info, digest) = (client.call("Q.INFO q"), client.call("DEBUG DIGEST"));
    drop(client);
    for saves in [false, true, true] {
        if saves {
            assert_eq!(world.client().call("SAVE"), "+OK\r\n");
        }
        world = world.restarted(DEBUG, Load::AtOnce);
        let mut client = world.client();
        assert_eq!((client.call("Q.INFO q"), client.call("DEBUG DIGEST")), (info.clone(), digest.clone()));
        assert!(client.call("LRANGE q 0 -1").contains("first\r\n$4\r\nback\r\n$5\r\nready"));
        assert!(client.call("Q.PUSH q again ID x").contains("$-1"));
    }
    let mut client = world.client();
    assert_eq!(client.call(&format!("Q.ACK q {}", receipt(&leased))), ":1\r\n");
    world.advance(200_000);
    expire(&world);
    assert!(client.call("LRANGE q 0 -1").contains("delayed"));
}

const CAME: &str = "VALUE q 0 4\r\nwork\r\nEND\r\n";

/// Lets time pass as in a server: leases are extended, and messages of expired leases are given back.
fn pass_seconds(world: &World, seconds: u64) {
    let mut expire_cycle = ExpireCycle::new(world.engine.clone());
    for _ in 0..seconds / 5 {
        world.advance(5_000);
        world.extend_leases();
        expire_by(&mut expire_cycle);
    }
}

#[test]
fn an_open_message_stays_leased_until_its_connection_ends() {
    let world = World::new(&[]);
    let (mut resp, mut queue_client) = (world.client(), world.client_of_queues());
    resp.call("RPUSH q work");
    assert_eq!(queue_client.ask("get q/open\r\n"), CAME);
    let extended = world.engine.journal.as_ref().unwrap().next();
    pass_seconds(&world, 10);
    assert_eq!(world.engine.journal.as_ref().unwrap().next(), extended, "a lease is extended though it is young");
    pass_seconds(&world, 3_600);
    assert_eq!(resp.call("LLEN q"), ":0\r\n");
    assert_eq!(queue_client.ask("get q/close\r\n"), "END\r\n");
    assert_eq!(resp.call("EXISTS q"), ":0\r\n");
    resp.call("RPUSH q work");
    assert_eq!(queue_client.ask("get q/open\r\n"), CAME);
    block_on(queue_client.session.give_back());
    assert_eq!(resp.call("LRANGE q 0 -1"), "*1\r\n$4\r\nwork\r\n");
}

#[test]
fn an_open_message_is_ready_30_seconds_after_a_crash() {
    let world = World::new(&[]);
    let (mut resp, mut queue_client) = (world.client(), world.client_of_queues());
    resp.call("RPUSH q work");
    assert_eq!(queue_client.ask("get q/open\r\n"), CAME);
    pass_seconds(&world, 60);
    drop((resp, queue_client));
    let world = world.restarted(&[], Load::AtOnce);
    let mut resp = world.client();
    assert_eq!(resp.call("LLEN q"), ":0\r\n");
    pass_seconds(&world, 30);
    // The expire cycle checks the time ten times a second.
    world.advance(100);
    expire(&world);
    assert_eq!(resp.call("LRANGE q 0 -1"), "*1\r\n$4\r\nwork\r\n");
}

#[test]
fn closing_after_the_lease_fails_and_ends_the_line() {
    let world = World::new(&[]);
    let (mut resp, mut queue_client) = (world.client(), world.client_of_queues());
    resp.call("RPUSH q work");
    assert_eq!(queue_client.ask("get q/open\r\n"), CAME);
    resp.call("DEL q");
    resp.call("RPUSH q work");
    let is_over = "SERVER_ERROR the lease has ended: the message was returned to the queue or removed\r\n";
    assert_eq!(queue_client.ask("get q/close/open q q\r\nget r\r\n"), format!("{is_over}END\r\n"));
    assert_eq!(resp.call("LLEN q"), ":1\r\n");
}
