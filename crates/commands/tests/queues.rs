//! Leases and their receipts. Transcripts cannot name receipts, which depend on when a queue was created.

use commands::testing::direct::World;
use commands::testing::dump::dump;
use keyspace::{Keyspace, Log, Plan, Tx, shard_of};
use std::collections::BTreeSet;
use sync::lock::Want;
use wire::client::Value;
use wire::resp::Protocol;

struct Client(World);

impl Client {
    fn new() -> Self {
        Self(World::new(Protocol::Resp3))
    }

    fn call(&mut self, request: &str) -> Value {
        self.0.call(&request.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    fn int(&mut self, request: &str) -> i64 {
        match self.call(request) {
            Value::Int(number) => number,
            other => panic!("{request}: {other}"),
        }
    }

    /// Leases messages; returns receipt, deliveries and text of each.
    fn reserve(&mut self, request: &str) -> Vec<(String, i64, String)> {
        let Value::Array(parts) = self.call(&format!("Q.RESERVE {request}")) else { return Vec::new() };
        let Value::Array(messages) = &parts[1] else { panic!("{parts:?}") };
        messages.iter().map(message_parts).collect()
    }

    fn peek(&mut self, request: &str) -> Vec<(String, i64, String)> {
        let Value::Array(messages) = self.call(&format!("Q.PEEK {request}")) else { panic!("no array") };
        messages.iter().map(message_parts).collect()
    }

    fn ready(&mut self, key: &str) -> Vec<String> {
        let Value::Array(messages) = self.call(&format!("LRANGE {key} 0 -1")) else { panic!("no array") };
        messages.iter().map(text).collect()
    }

    fn info(&mut self, key: &str, field: &str) -> i64 {
        let Value::Map(pairs) = self.call(&format!("Q.INFO {key}")) else { panic!("no map") };
        let found = pairs.iter().find(|(name, _)| text(name) == field);
        let Some((_, Value::Int(number))) = found else { panic!("{field}: {found:?}") };
        *number
    }
}

fn text(value: &Value) -> String {
    let Value::Bulk(bytes) = value else { panic!("{value}") };
    String::from_utf8(bytes.clone()).unwrap()
}

fn message_parts(message: &Value) -> (String, i64, String) {
    let Value::Array(parts) = message else { panic!("{message}") };
    let [receipt, Value::Int(deliveries), message] = &parts[..] else { panic!("{parts:?}") };
    (text(receipt), *deliveries, text(message))
}

#[test]
fn an_acknowledged_message_is_removed_and_its_receipt_invalid() {
    let mut client = Client::new();
    client.call("RPUSH q a b c");
    let leased = client.reserve("q COUNT 2");
    assert_eq!(client.int(&format!("Q.ACK q {} {}", leased[0].0, leased[0].0)), 1, "once, however often it is named");
    assert_eq!(client.int(&format!("Q.ACK q {}", leased[0].0)), 0);
    assert_eq!(client.int(&format!("Q.ACK q {} {}", leased[0].0, leased[1].0)), 1);
    assert_eq!((client.info("q", "ready"), client.info("q", "leased"), client.info("q", "acked")), (1, 0, 2));
    let last = client.reserve("q");
    assert_eq!(client.int(&format!("Q.ACK q {}", last[0].0)), 1);
    assert_eq!(client.int("EXISTS q"), 0);
}

#[test]
fn an_expired_lease_passes_to_the_next_consumer() {
    let mut client = Client::new();
    client.call("RPUSH q a b");
    let first = client.reserve("q LEASE 100");
    client.0.now += 101;
    let second = client.reserve("q LEASE 100");
    assert_eq!((second[0].1, &*second[0].2), (2, "a"), "before what was never taken");
    for verb in ["Q.ACK", "Q.NACK", "Q.EXTEND", "Q.BURY"] {
        assert_eq!(client.int(&format!("{verb} q {}", first[0].0)), 0, "{verb} of the first one");
    }
    assert_eq!(client.int(&format!("Q.EXTEND q {} LEASE 1000", second[0].0)), 1);
    client.0.now += 500;
    assert_eq!(client.reserve("q")[0].2, "b");
    assert_eq!(client.int(&format!("Q.ACK q {}", second[0].0)), 1);
}

/// Receipts of a removed queue are invalid in the next queue under its key.
#[test]
fn receipts_of_a_removed_queue_are_invalid_in_the_next() {
    let mut client = Client::new();
    client.call("Q.PUSH q a");
    let first = client.reserve("q LEASE 10");
    client.0.now += 11;
    let second = client.reserve("q");
    assert_eq!(client.int(&format!("Q.ACK q {}", second[0].0)), 1);
    assert_eq!(client.int("EXISTS q"), 0);
    client.call("Q.PUSH q b");
    let other = client.reserve("q");
    assert_eq!(client.int(&format!("Q.ACK q {} {}", first[0].0, second[0].0)), 0);
    assert_eq!(client.int(&format!("Q.ACK q {}", other[0].0)), 1);
}

#[test]
fn nacked_messages_go_before_new_ones_in_id_order() {
    let mut client = Client::new();
    client.call("RPUSH q a b c d");
    let leased = client.reserve("q COUNT 3");
    client.call("LPUSH q z");
    assert_eq!(client.ready("q"), ["z", "d"]);
    assert_eq!(client.int(&format!("Q.NACK q {} {}", leased[2].0, leased[0].0)), 2);
    assert_eq!(client.ready("q"), ["z", "a", "c", "d"]);
    assert_eq!(client.int(&format!("Q.NACK q {} DELAY 50", leased[1].0)), 1);
    assert_eq!((client.info("q", "delayed"), client.info("q", "ready")), (1, 4));
    client.0.now += 51;
    let again = client.reserve("q COUNT 10");
    let delivered: Vec<(i64, &str)> = again.iter().map(|(_, deliveries, message)| (*deliveries, &**message)).collect();
    assert_eq!(delivered, [(1, "z"), (2, "a"), (2, "b"), (2, "c"), (1, "d")]);
}

#[test]
fn buried_messages_wait_to_be_kicked() {
    let mut client = Client::new();
    client.call("RPUSH q a b");
    let leased = client.reserve("q COUNT 2 LEASE 10");
    assert_eq!(client.int(&format!("Q.BURY q {} {}", leased[0].0, leased[1].0)), 2);
    client.0.now += 1000;
    assert!(client.reserve("q").is_empty());
    assert_eq!(client.info("q", "buried"), 2);
    let buried = client.peek("q BURIED COUNT 5");
    assert_eq!((buried.len(), buried[0].1, &*buried[0].2), (2, 1, "a"));
    assert_eq!(client.int("Q.KICK q"), 1);
    assert_eq!(client.ready("q"), ["a"]);
    assert_eq!(client.int("Q.KICK q COUNT 10"), 1);
    assert_eq!(client.reserve("q COUNT 5").len(), 2);
}

#[test]
fn messages_out_of_retries_are_dead() {
    let mut client = Client::new();
    client.call("Q.LIMIT q RETRIES 1");
    client.call("Q.PUSH q a");
    let first = client.reserve("q LEASE 10");
    assert_eq!(client.int(&format!("Q.NACK q {}", first[0].0)), 1);
    let second = client.reserve("q LEASE 10");
    assert_eq!((second[0].1, client.info("q", "leased")), (2, 1));
    client.0.now += 11;
    assert!(client.reserve("q").is_empty());
    assert_eq!((client.info("q", "dead"), client.info("q", "ready")), (1, 0));
    client.call("Q.PUSH q b");
    let other = client.reserve("q");
    assert_eq!(client.int(&format!("Q.NACK q {}", other[0].0)), 1);
    let last = client.reserve("q");
    assert_eq!(client.int(&format!("Q.NACK q {} DELAY 100", last[0].0)), 1, "there is no next time");
    assert_eq!(client.info("q", "dead"), 2);
}

#[test]
fn dead_letters_stay_while_their_shard_is_barred() {
    let mut client = Client::new();
    client.call("Q.LIMIT q RETRIES 0 DEADLETTER d");
    client.call("Q.PUSH q a");
    client.reserve("q LEASE 10");
    let World { keyspace, .. } = &client.0;
    let shard_of_key = |key: &str| shard_of(keyspace.hash(key.as_bytes()));
    let (from, to) = (shard_of_key("q"), shard_of_key("d"));
    assert_ne!(from, to);
    // Longer than the lease, then longer than a try is put off.
    for (passed_ms, bars, moved) in [(1_000, true, 0), (2_000, false, 1)] {
        expire(keyspace, from, client.0.now + passed_ms, &|shard| bars && shard == to);
        let held = keyspace.shard(to).try_read().expect("it is free");
        let keys: usize = held.section(keyspace.map().table(0)).map_or(0, |section| section.keys_count());
        assert_eq!(keys, moved, "barred: {bars}");
    }
}

fn expire(keyspace: &Keyspace, shard: usize, now: u64, is_barred: &dyn Fn(usize) -> bool) {
    let (mut plan, mut log) = (Plan::default(), Log::default());
    plan.add_shard(shard, Want::Write);
    let held = plan.try_hold(keyspace).expect("it is free");
    let mut tx = Tx::new(keyspace, held, 0, now, &mut log, u64::MAX);
    tx.set_barred(is_barred);
    tx.expire(shard, keyspace.map().table(0), 10);
    tx.end().clear();
}

#[test]
fn expired_messages_are_removed_on_the_next_reserve() {
    let mut client = Client::new();
    client.call("Q.LIMIT q TTL 1000");
    client.call("Q.PUSH q a");
    client.0.now += 600;
    client.call("Q.PUSH q b");
    client.call("LPUSH q z");
    let leased = client.reserve("q");
    assert_eq!(leased[0].2, "z");
    client.0.now += 500;
    assert_eq!(client.reserve("q COUNT 5").iter().map(|it| &*it.2).collect::<Vec<_>>(), ["b"]);
    client.0.now += 2000;
    assert_eq!(client.int(&format!("Q.NACK q {}", leased[0].0)), 1, "it was somebody's all the while");
    assert!(client.reserve("q").is_empty());
}

#[test]
fn a_dedup_id_is_free_once_its_message_is_acknowledged() {
    let mut client = Client::new();
    let push = |client: &mut Client| match client.call("Q.PUSH q a ID x") {
        Value::Array(ids) => ids[0] != Value::Null,
        other => panic!("{other}"),
    };
    assert!(push(&mut client) && !push(&mut client));
    let leased = client.reserve("q");
    assert!(!push(&mut client), "it is leased");
    client.int(&format!("Q.NACK q {}", leased[0].0));
    assert!(!push(&mut client), "it has come back");
    let leased = client.reserve("q");
    client.int(&format!("Q.BURY q {}", leased[0].0));
    assert!(!push(&mut client), "it is buried");
    client.int("Q.KICK q");
    let leased = client.reserve("q");
    client.int(&format!("Q.ACK q {}", leased[0].0));
    assert!(push(&mut client));
}

/// Copies, renamed queues and frames keep the whole state of their messages.
#[test]
fn rename_and_copy_keep_the_state_of_a_queue() {
    let mut client = Client::new();
    client.call("RPUSH q a b c");
    client.call("Q.PUSH q d ID x DELAY 1000");
    let leased = client.reserve("q COUNT 2 LEASE 100");
    client.call("RENAME q r");
    client.call("COPY r s");
    client.0.keyspace = client.0.replayed();
    for key in ["r", "s"] {
        assert_eq!(client.int(&format!("Q.ACK {key} {}", leased[0].0)), 1);
        assert_eq!((client.info(key, "leased"), client.info(key, "delayed"), client.info(key, "ready")), (1, 1, 1));
    }
    assert_eq!(dump(&client.0.keyspace), dump(&client.0.replayed()));
}

#[test]
fn reserve_bounds_its_reply_in_bytes() {
    let mut client = Client::new();
    let long = "x".repeat(600_000);
    (0..4).for_each(|_| drop(client.call(&format!("Q.PUSH q {long}"))));
    assert_eq!(client.reserve("q COUNT 10").len(), 1, "the next would be more than a mebibyte");
    client.call("DEL q");
    let longer = "x".repeat(3_000_000);
    client.call(&format!("Q.PUSH q {longer}"));
    assert_eq!(client.reserve("q COUNT 10").len(), 1, "one is returned, however long");
}

#[test]
fn queues_recreated_within_a_millisecond_use_distinct_ids() {
    let (mut client, mut seen) = (Client::new(), BTreeSet::new());
    let mut see = |receipt: &str| assert!(seen.insert(receipt.to_owned()), "{receipt}");
    for round in 0..60 {
        match round % 4 {
            0 => drop(client.call("Q.PUSH q a")),
            1 => drop(client.call("RPUSH q a")),
            2 => drop(client.call("Q.LIMIT q TTL 60000")),
            _ => drop(client.call("Q.PUSH q a DELAY 1000")),
        }
        client.call("RPUSH q b c");
        let leased = client.reserve("q COUNT 2");
        leased.iter().for_each(|(receipt, _, _)| see(receipt));
        if round % 5 == 0 {
            let receipts: Vec<&str> = leased.iter().map(|(receipt, _, _)| &**receipt).collect();
            assert_eq!(client.int(&format!("Q.NACK q {}", receipts.join(" "))), 2);
            client.call("LPOP q 9");
        }
        client.call("DEL q");
        client.call("Q.PUSH q other");
        let (other, _, _) = client.reserve("q").remove(0);
        see(&other);
        assert_eq!(client.int(&format!("Q.ACK q {}", leased[0].0)), 0, "a receipt of a queue that is gone");
        assert_eq!(client.int(&format!("Q.ACK q {other}")), 1);
    }
}
