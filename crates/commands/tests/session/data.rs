//! MEMORY USAGE and DEBUG OBJECT, DIGEST, DIGEST-VALUE: commands that inspect the data.

use crate::session::fake::{Fake, World};
use blocks::End;
use keyspace::{Absent, Expiry};
use wire::client::Value;
use wire::resp::Protocol;

const ZERO: &str = "0000000000000000000000000000000000000000";

fn put(world: &World, database: u32, key: &str, text: &str) {
    world.tx(database, |tx| tx.put_string(key.as_bytes(), text.as_bytes(), Expiry::Keep));
}

fn push(world: &World, key: &str, items: &[&str]) {
    let items: Vec<&[u8]> = items.iter().map(|item| item.as_bytes()).collect();
    world.tx(0, |tx| tx.list_mut(key.as_bytes(), Absent::Create).unwrap().unwrap().push(End::Tail, &items));
}

fn remove(world: &World, database: u32, key: &str) {
    assert!(world.tx(database, |tx| tx.remove(key.as_bytes())));
}

#[test]
fn memory_usage_includes_name_and_value() {
    let world = World::new(1);
    assert_eq!(world.call("MEMORY USAGE k"), "null");
    put(&world, 0, "k", &"x".repeat(100_000));
    let bytes: u64 = world.call("MEMORY USAGE k SAMPLES 0").parse().unwrap();
    assert!((100_000..150_000).contains(&bytes), "{bytes}");
    put(&world, 0, "short", "x");
    assert!(world.call("MEMORY USAGE short").parse::<u64>().unwrap() < 200);
    // The name counts, too.
    let name = "n".repeat(1_000);
    put(&world, 0, &name, "x");
    assert!(world.call(&format!("MEMORY USAGE {name}")).parse::<u64>().unwrap() > 1_000);
    push(&world, "l", &["x".repeat(2_000).as_str(), "y"]);
    assert!(world.call("MEMORY USAGE l").parse::<u64>().unwrap() > 2_000);
    for request in ["MEMORY USAGE k SAMPLES", "MEMORY USAGE k SAMPLES -1", "MEMORY USAGE k FOO 1"] {
        assert_eq!(world.call(request), "!ERR syntax error", "{request}");
    }
}

#[test]
fn pfselftest_passes() {
    let reply = Fake::new().value(Protocol::Resp2, "PFSELFTEST");
    assert_eq!(reply.unwrap(), Value::Simple("OK".into()));
}

#[test]
fn debug_object_shows_the_encoding() {
    let world = World::new(1);
    assert_eq!(world.call("DEBUG OBJECT k"), "!ERR no such key");
    put(&world, 0, "k", "v");
    put(&world, 0, "n", "12");
    push(&world, "l", &["a", "b"]);
    for (key, encoding) in [("k", "embstr"), ("n", "int"), ("l", "listpack")] {
        let shown = world.call(&format!("DEBUG OBJECT {key}"));
        assert!(shown.starts_with("Value at:0x"), "{shown}");
        assert!(shown.contains(&format!(" refcount:1 encoding:{encoding} serializedlength:")), "{shown}");
    }
}

#[test]
fn the_digest_of_no_data_is_zero() {
    let world = World::new(1);
    assert_eq!(world.call("DEBUG DIGEST"), ZERO);
    assert_eq!(world.call("DEBUG DIGEST-VALUE"), "[]");
    assert_eq!(world.call("DEBUG DIGEST-VALUE a"), format!("[{ZERO}]"));
}

#[test]
fn equal_data_has_equal_digests_in_any_key_order() {
    let (one, other) = (World::new(1), World::new(2));
    let keys: Vec<String> = (0..200).map(|number| format!("key:{number}")).collect();
    keys.iter().for_each(|key| put(&one, 0, key, key));
    keys.iter().rev().for_each(|key| put(&other, 0, key, key));
    push(&one, "l", &["a", "b"]);
    push(&other, "l", &["a"]);
    push(&other, "l", &["b"]);
    let digest = one.call("DEBUG DIGEST");
    assert_eq!(digest.len(), 40);
    assert_ne!(digest, ZERO);
    assert_eq!(digest, other.call("DEBUG DIGEST"));
    assert_eq!(one.call("DEBUG DIGEST-VALUE l key:1"), other.call("DEBUG DIGEST-VALUE l key:1"));
}

#[test]
fn every_difference_changes_the_digest() {
    let world = World::new(1);
    let mut seen = vec![world.call("DEBUG DIGEST")];
    let mut look = |what: &str| {
        let digest = world.call("DEBUG DIGEST");
        assert!(!seen.contains(&digest), "{what}");
        seen.push(digest);
    };
    put(&world, 0, "k", "v");
    look("a key");
    put(&world, 0, "k", "w");
    look("its value");
    remove(&world, 0, "k");
    put(&world, 0, "K", "w");
    look("its name");
    remove(&world, 0, "K");
    put(&world, 1, "K", "w");
    look("its database");
    push(&world, "l", &["a", "b"]);
    look("a list");
    remove(&world, 0, "l");
    push(&world, "l", &["b", "a"]);
    look("its order");
    remove(&world, 0, "l");
    push(&world, "l", &["ba"]);
    look("where its elements end");
    world.tx(0, |tx| assert!(tx.set_expiry(b"l", Some(world.now + 1_000))));
    look("a deadline");
}

#[test]
fn the_digest_ignores_the_time_of_a_deadline() {
    let world = World::new(1);
    put(&world, 0, "k", "v");
    world.tx(0, |tx| tx.set_expiry(b"k", Some(world.now + 1_000)));
    let before = world.call("DEBUG DIGEST");
    world.tx(0, |tx| tx.set_expiry(b"k", Some(world.now + 9_000)));
    assert_eq!(before, world.call("DEBUG DIGEST"));
    let late = World { now: world.now + 9_000, ..world };
    assert_eq!(late.call("DEBUG DIGEST"), ZERO);
}

#[test]
fn a_value_has_one_digest_under_any_key() {
    let world = World::new(1);
    put(&world, 0, "a", "v");
    put(&world, 1, "b", "v");
    let digest = |database, key: &str| {
        let _ = database;
        world.call(&format!("DEBUG DIGEST-VALUE {key}"))
    };
    put(&world, 0, "c", "v");
    assert_eq!(digest(0, "a"), digest(0, "c"));
    assert_eq!(digest(0, "b"), format!("[{ZERO}]"), "of another database");
}
