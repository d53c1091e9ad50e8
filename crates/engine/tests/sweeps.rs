//! DBSIZE, RANDOMKEY and SCAN, which pass over shards of which enough is known without their locks, beside a naive count.

use crate::support::{Client, World};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const DATABASES: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Set(usize, u8),
    Remove(usize, u8),
    Flush(usize),
    FlushAll,
    Swap(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let database = 0..DATABASES;
    let step = prop_oneof![
        8 => (database.clone(), any::<u8>()).prop_map(|(database, key)| Step::Set(database, key)),
        4 => (database.clone(), any::<u8>()).prop_map(|(database, key)| Step::Remove(database, key)),
        1 => database.clone().prop_map(Step::Flush),
        1 => Just(Step::FlushAll),
        1 => (database.clone(), database).prop_map(|(one, other)| Step::Swap(one, other)),
    ];
    proptest::collection::vec(step, 1..60)
}

fn apply(client: &mut Client, twin: &mut [BTreeSet<String>], step: &Step) {
    let lines = match *step {
        Step::Set(database, key) => {
            twin[database].insert(key.to_string());
            [format!("SELECT {database}"), format!("SET {key} value")]
        }
        Step::Remove(database, key) => {
            twin[database].remove(&key.to_string());
            [format!("SELECT {database}"), format!("DEL {key}")]
        }
        Step::Flush(database) => {
            twin[database].clear();
            [format!("SELECT {database}"), "FLUSHDB".to_owned()]
        }
        Step::FlushAll => {
            twin.iter_mut().for_each(BTreeSet::clear);
            ["PING".to_owned(), "FLUSHALL".to_owned()]
        }
        Step::Swap(one, other) => {
            twin.swap(one, other);
            ["PING".to_owned(), format!("SWAPDB {one} {other}")]
        }
    };
    lines.iter().for_each(|line| assert!(!client.call(line).starts_with('-'), "{line}"));
}

/// Returns the bulk strings of a reply.
fn bulks(reply: &str) -> Vec<String> {
    let mut lines = reply.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with('$') && line != "$-1" {
            found.extend(lines.next().map(str::to_owned));
        }
    }
    found
}

/// Returns the keys that SCAN finds.
fn scanned(client: &mut Client, count: u32) -> Vec<String> {
    let (mut cursor, mut found) = ("0".to_owned(), Vec::new());
    loop {
        let mut page = bulks(&client.call(&format!("SCAN {cursor} COUNT {count}")));
        cursor = page.remove(0);
        found.append(&mut page);
        if cursor == "0" {
            return found;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn counts_draws_and_scans_equal_those_of_a_twin(steps in steps(), count in 1_u32..300) {
        let world = World::new(&[]);
        let mut client = world.client();
        let mut twin = vec![BTreeSet::new(); DATABASES];
        for step in &steps {
            apply(&mut client, &mut twin, step);
            for (database, keys) in twin.iter().enumerate() {
                client.call(&format!("SELECT {database}"));
                prop_assert_eq!(client.call("DBSIZE"), format!(":{}\r\n", keys.len()));
                let drawn = bulks(&client.call("RANDOMKEY"));
                prop_assert!(drawn.first().map_or(keys.is_empty(), |key| keys.contains(key)), "{:?}", drawn);
            }
        }
        for (database, keys) in twin.iter().enumerate() {
            client.call(&format!("SELECT {database}"));
            let mut found = scanned(&mut client, count);
            found.sort();
            prop_assert_eq!(found, keys.iter().cloned().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_pipeline_sees_its_own_keys_in_dbsize() {
    let world = World::new(&[]);
    let (mut client, mut other) = (world.client(), world.client());
    let pipeline = ["SET a 1", "SET a 2", "SET a 3", "DBSIZE", "DEL a", "DBSIZE"];
    assert_eq!(client.call_all(&pipeline), "+OK\r\n+OK\r\n+OK\r\n:1\r\n:1\r\n:0\r\n");
    assert_eq!(other.call("DBSIZE"), ":0\r\n");
}

#[test]
fn randomkey_draws_equally_whatever_is_known_of_shards() {
    let world = World::new(&[]);
    let mut client = world.client();
    for key in 0..4 {
        client.call(&format!("SET lasting:{key} v"));
        client.call(&format!("SET expiring:{key} v PX 1000000"));
    }
    client.call("SET expired v PX 1");
    world.advance(5);
    let mut drawn = BTreeMap::<String, u32>::new();
    for _ in 0..800 {
        *drawn.entry(bulks(&client.call("RANDOMKEY")).remove(0)).or_default() += 1;
    }
    assert_eq!(drawn.len(), 8, "each is drawn, the expired one never: {drawn:?}");
    // A hundred each are expected; forty is more than six standard deviations away.
    assert!(drawn.values().all(|times| (40..=160).contains(times)), "{drawn:?}");
}

#[test]
fn randomkey_ends_where_all_keys_of_full_shards_have_expired() {
    let world = World::new(&[]);
    let mut client = world.client();
    (0..100_000).for_each(|key| drop(client.call(&format!("SET {key} v PX 1"))));
    world.advance(5);
    assert_eq!(client.call("RANDOMKEY"), "$-1\r\n");
    client.call("SET live v");
    assert_eq!(client.call("RANDOMKEY"), "$4\r\nlive\r\n");
}

#[test]
fn randomkey_finds_the_only_live_key_behind_expired_ones() {
    let world = World::new(&[]);
    let mut client = world.client();
    // Many expired keys in some shards, and a key alone in a shard after them.
    let shard = |key: &str| keyspace::shard_of(world.engine.keyspace.hash(key.as_bytes()));
    let (mut expired, mut key) = (0, 0);
    while expired < 100 {
        let name = format!("expired:{key}");
        if shard(&name) == 0 {
            client.call(&format!("SET {name} v PX 1"));
            expired += 1;
        }
        key += 1;
    }
    let live = (0..).map(|key| format!("live:{key}")).find(|name| shard(name) > 0).unwrap();
    client.call(&format!("SET {live} v"));
    world.advance(5);
    for _ in 0..50 {
        assert!(client.call("RANDOMKEY").contains(&live));
    }
}

#[test]
fn a_served_client_counts_what_its_feeder_has_put() {
    let world = World::of_workers(2, &[]);
    let (mut feeder, mut waiter) = (world.client_of(0), world.client_of(1));
    feeder.call("SET kept v");
    feeder.call_all(&["RPUSH list a", "RPUSH list b", "RPUSH list c"]);
    assert_eq!(waiter.call("DBSIZE"), ":2\r\n");
    assert_eq!(bulks(&waiter.call("BLPOP list 0")), ["list", "a"]);
}
