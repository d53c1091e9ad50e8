//! Hashes of many fields: replies in steps, scans while fields are added and removed, and draws.

use commands::testing::direct::World;
use commands::testing::dump::dump;
use std::collections::{BTreeMap, BTreeSet};
use wire::client::Value;
use wire::resp::Protocol;

fn call(world: &mut World, words: &[&str]) -> Value {
    world.call(&words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
}

fn field(number: usize) -> String {
    format!("field:{number}{}", "x".repeat(number % 11))
}

/// Creates a hash `k` of `count` fields.
fn world_with(protocol: Protocol, count: usize) -> World {
    let mut world = World::new(protocol);
    put(&mut world, 0..count);
    world
}

fn put(world: &mut World, numbers: std::ops::Range<usize>) {
    let pairs: Vec<String> = numbers.flat_map(|number| [field(number), format!("value {number}")]).collect();
    for part in pairs.chunks(1_000) {
        let words: Vec<&str> = ["HSET", "k"].into_iter().chain(part.iter().map(String::as_str)).collect();
        assert_eq!(call(world, &words), Value::Int(part.len() as i64 / 2));
    }
}

/// Lets these fields expire after a second, and a second pass.
fn expire(world: &mut World, numbers: impl Iterator<Item = usize>) {
    let names: Vec<String> = numbers.map(field).collect();
    for part in names.chunks(500) {
        let count = part.len().to_string();
        let mut words = vec!["HPEXPIRE", "k", "1000", "FIELDS", &count];
        words.extend(part.iter().map(String::as_str));
        call(world, &words);
    }
    world.now += 1_000;
}

fn words_of(value: &Value) -> Vec<String> {
    let text = |value: &Value| String::from_utf8(value.as_bytes().expect("a bulk").to_vec()).expect("our own");
    match value {
        Value::Map(pairs) => pairs.iter().flat_map(|(field, value)| [text(field), text(value)]).collect(),
        Value::Array(items) => items
            .iter()
            .flat_map(|item| match item {
                Value::Array(_) => words_of(item),
                bulk => vec![text(bulk)],
            })
            .collect(),
        other => panic!("{other} is no aggregate"),
    }
}

fn pairs_of(value: &Value) -> BTreeMap<String, String> {
    let words = words_of(value);
    let pairs: BTreeMap<_, _> = words.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    assert_eq!(2 * pairs.len(), words.len(), "no field is returned twice");
    pairs
}

#[test]
fn hgetall_returns_all_fields_that_have_not_expired() {
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let mut world = world_with(protocol, 20_000);
        let gone = |number: &usize| number % 3 == 1;
        expire(&mut world, (0..20_000).filter(gone));
        let left: BTreeMap<String, String> = (0..20_000)
            .filter(|number| !gone(number))
            .map(|number| (field(number), format!("value {number}")))
            .collect();
        assert_eq!(call(&mut world, &["HLEN", "k"]), Value::Int(left.len() as i64));
        assert_eq!(pairs_of(&call(&mut world, &["HGETALL", "k"])), left);
        let keys: BTreeSet<String> = words_of(&call(&mut world, &["HKEYS", "k"])).into_iter().collect();
        assert!(keys.iter().eq(left.keys()));
        let mut values = words_of(&call(&mut world, &["HVALS", "k"]));
        let mut expected: Vec<String> = left.into_values().collect();
        values.sort();
        expected.sort();
        assert_eq!(values, expected);
    }
}

/// Runs one step; returns the next cursor and the fields.
fn scan(world: &mut World, cursor: &str, count: &str) -> (String, Vec<String>) {
    let Value::Array(parts) = call(world, &["HSCAN", "k", cursor, "COUNT", count, "NOVALUES"]) else { panic!("two") };
    (String::from_utf8(parts[0].as_bytes().unwrap().to_vec()).unwrap(), words_of(&parts[1]))
}

#[test]
fn hscan_returns_each_field_that_stays_exactly_once() {
    for count in ["1", "7", "1000"] {
        let mut world = world_with(Protocol::Resp2, 3_000);
        let (mut cursor, mut found, mut next) = ("0".to_owned(), Vec::new(), 3_000);
        loop {
            let (after, fields) = scan(&mut world, &cursor, count);
            found.extend(fields);
            if after == "0" {
                break;
            }
            cursor = after;
            // Every fifth of the first fields is removed, and others are added.
            put(&mut world, next..next + 3);
            call(&mut world, &["HDEL", "k", &field(next % 3_000 / 5 * 5)]);
            next += 3;
        }
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        found.iter().for_each(|name| *times.entry(name).or_default() += 1);
        assert!(times.values().all(|times| *times == 1), "a field is returned twice");
        let stays = (0..3_000).filter(|number| number % 5 != 0).map(field);
        stays.for_each(|name| assert!(times.contains_key(&name[..]), "{name} was there all the while"));
    }
}

#[test]
fn hscan_ends_after_a_small_hash_grows() {
    let mut world = world_with(Protocol::Resp2, 100);
    let (cursor, fields) = scan(&mut world, "0", "10");
    assert_eq!((&cursor[..], fields.len()), ("0", 100));
    put(&mut world, 100..1_000);
    let (cursor, fields) = scan(&mut world, "281474976710656", "10");
    assert_eq!((&cursor[..], fields.len()), ("0", 0), "a cursor that was never given");
}

#[test]
fn hrandfield_draws_only_live_fields_and_reaches_all() {
    // All fields are live, most, or few.
    for gone in [0, 30, 190] {
        let mut world = world_with(Protocol::Resp2, 200);
        expire(&mut world, 0..gone);
        let left: BTreeSet<String> = (gone..200).map(field).collect();
        let one = |world: &mut World| match call(world, &["HRANDFIELD", "k"]) {
            Value::Bulk(name) => String::from_utf8(name).unwrap(),
            other => panic!("{other} is no field"),
        };
        let drawn: BTreeSet<String> = (0..10).map(|_| one(&mut world)).collect();
        assert!(drawn.is_subset(&left));
        let many = words_of(&call(&mut world, &["HRANDFIELD", "k", "-10000"]));
        assert_eq!(many.len(), 10_000);
        assert_eq!(many.into_iter().collect::<BTreeSet<_>>(), left, "none is left out in so many draws");
        for count in [1, 5, left.len() / 2, left.len() - 1, left.len(), 1_000] {
            let some = words_of(&call(&mut world, &["HRANDFIELD", "k", &count.to_string()]));
            assert_eq!(some.len(), count.min(left.len()));
            let some: BTreeSet<String> = some.into_iter().collect();
            assert_eq!(some.len(), count.min(left.len()), "none is drawn twice");
            assert!(some.is_subset(&left));
        }
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            world.protocol = protocol;
            let pairs = call(&mut world, &["HRANDFIELD", "k", "7", "WITHVALUES"]);
            assert!(pairs_of(&pairs).iter().all(|(name, value)| {
                let number = value.strip_prefix("value ").unwrap().parse().unwrap();
                *name == field(number) && left.contains(name)
            }));
            let is_nested = matches!(&pairs, Value::Array(items) if matches!(items[0], Value::Array(_)));
            assert_eq!(is_nested, protocol == Protocol::Resp3);
        }
    }
}

#[test]
fn a_hash_becomes_a_hashtable_beyond_512_fields() {
    let encoding = |world: &mut World| call(world, &["OBJECT", "ENCODING", "k"]);
    for (first, more, name) in
        [(512, 0, "listpack"), (512, 1, "hashtable"), (513, 0, "hashtable"), (1, 511, "listpack")]
    {
        let mut world = world_with(Protocol::Resp2, first);
        if more > 0 {
            put(&mut world, first..first + more);
        }
        assert_eq!(encoding(&mut world), Value::bulk(name), "{first} and {more}");
        // Setting existing fields does not convert it.
        let again: Vec<String> = (0..100).flat_map(|number| [field(number % first), "again".to_owned()]).collect();
        let words: Vec<&str> = ["HSET", "k"].into_iter().chain(again.iter().map(String::as_str)).collect();
        assert_eq!(call(&mut world, &words), Value::Int(0));
        assert_eq!(encoding(&mut world), Value::bulk(name));
        assert_eq!(dump(&world.replayed()), dump(&world.keyspace));
    }
}

#[test]
fn a_hash_of_expired_fields_is_absent() {
    let mut world = world_with(Protocol::Resp2, 300);
    expire(&mut world, 0..300);
    for words in [&["EXISTS", "k"][..], &["HLEN", "k"], &["DEL", "k"], &["HDEL", "k", "field:0"]] {
        assert_eq!(call(&mut world, words), Value::Int(0), "{words:?}");
    }
    assert_eq!(call(&mut world, &["HGETALL", "k"]), Value::Array(Vec::new()));
    assert_eq!(call(&mut world, &["HRANDFIELD", "k"]), Value::Null);
    assert_eq!(call(&mut world, &["SET", "k", "text"]), Value::Simple("OK".into()));
    assert_eq!(call(&mut world, &["GET", "k"]), Value::bulk("text"));
}
