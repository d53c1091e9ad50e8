//! Big sets compared with naive twins: replies, draws, pops and stored results.

use commands::testing::direct::World;
use std::collections::{BTreeMap, BTreeSet};
use wire::client::Value;
use wire::resp::Protocol;

fn call(world: &mut World, words: &[&str]) -> Value {
    world.call(&words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
}

/// Members of several lengths, some of them integers.
fn names(range: std::ops::Range<usize>) -> Vec<String> {
    let name = |number: usize| match number % 3 {
        0 => format!("{number}"),
        _ => format!("{number}{}", "x".repeat(number % 17)),
    };
    range.map(name).collect()
}

fn fill(world: &mut World, key: &str, members: &[String]) {
    for part in members.chunks(1_000) {
        let words: Vec<&str> = ["SADD", key].into_iter().chain(part.iter().map(String::as_str)).collect();
        assert_eq!(call(world, &words), Value::Int(part.len() as i64));
    }
}

fn sorted(reply: &Value) -> Vec<String> {
    let (Value::Array(members) | Value::Set(members)) = reply else { panic!("{reply} is no array") };
    let text = |member: &Value| String::from_utf8(member.as_bytes().expect("a bulk").to_vec()).expect("a text");
    let mut members: Vec<String> = members.iter().map(text).collect();
    members.sort_unstable();
    members
}

fn set(members: &[String]) -> BTreeSet<String> {
    members.iter().cloned().collect()
}

#[test]
fn operations_on_big_sets_match_a_naive_twin() {
    let (a, b, c) = (names(0..30_000), names(10_000..50_000), names(0..100));
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let mut world = World::new(protocol);
        fill(&mut world, "a", &a);
        fill(&mut world, "b", &b);
        fill(&mut world, "c", &c);
        assert_eq!(sorted(&call(&mut world, &["SMEMBERS", "a"])), set(&a).into_iter().collect::<Vec<_>>());
        let twin: BTreeMap<&str, BTreeSet<String>> = [("a", set(&a)), ("b", set(&b)), ("c", set(&c))].into();
        for keys in [&["a", "b"][..], &["b", "a"], &["c", "a"], &["a", "c"], &["a", "b", "c"], &["c", "b"], &["a", "a"]]
        {
            let sets: Vec<&BTreeSet<String>> = keys.iter().map(|key| &twin[key]).collect();
            let union: BTreeSet<String> = sets.iter().flat_map(|set| set.iter().cloned()).collect();
            let first = || sets[0].iter().cloned();
            let inter: BTreeSet<String> = first().filter(|it| sets.iter().all(|set| set.contains(it))).collect();
            let diff: BTreeSet<String> = first().filter(|it| !sets[1..].iter().any(|set| set.contains(it))).collect();
            for (name, expected) in [("SUNION", union), ("SINTER", inter.clone()), ("SDIFF", diff)] {
                let all: Vec<String> = expected.into_iter().collect();
                assert_eq!(sorted(&call(&mut world, &[&[name], keys].concat())), all, "{name} {keys:?}");
                let store = format!("{name}STORE");
                let count = call(&mut world, &[&[&store, "to"], keys].concat());
                assert_eq!(count, Value::Int(all.len() as i64), "{store} {keys:?}");
                assert_eq!(sorted(&call(&mut world, &["SMEMBERS", "to"])), all, "{store} {keys:?}");
            }
            let (numkeys, count) = (keys.len().to_string(), inter.len());
            for limit in [0, 1, 77, 10_000, 1_000_000] {
                let limit_word = limit.to_string();
                let words = [&["SINTERCARD", &numkeys][..], keys, &["LIMIT", &limit_word]].concat();
                let expected = if limit == 0 { count } else { count.min(limit) };
                assert_eq!(call(&mut world, &words), Value::Int(expected as i64), "{words:?}");
            }
        }
    }
}

#[test]
fn srandmember_and_spop_of_many_match_a_naive_twin() {
    let mut world = World::new(Protocol::Resp2);
    let all = names(0..20_000);
    fill(&mut world, "k", &all);
    let twin = set(&all);
    for count in [1, 10, 999, 1_000, 1_001, 5_000, 19_999, 20_000, 30_000] {
        let drawn = sorted(&call(&mut world, &["SRANDMEMBER", "k", &count.to_string()]));
        assert_eq!(drawn.len(), count.min(20_000));
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]), "{count}: one was drawn twice");
        assert!(drawn.iter().all(|member| twin.contains(member)));
        let again = sorted(&call(&mut world, &["SRANDMEMBER", "k", &format!("-{count}")]));
        assert_eq!(again.len(), count);
        assert!(again.iter().all(|member| twin.contains(member)));
    }
    let mut left = twin;
    for count in [1, 3, 500, 1_000, 1_001, 2, 9_000, 1, 4_000, 3_000, 5] {
        let taken = sorted(&call(&mut world, &["SPOP", "k", &count.to_string()]));
        assert_eq!(taken.len(), count);
        assert!(taken.iter().all(|member| left.remove(member)), "{count}");
        assert_eq!(call(&mut world, &["SCARD", "k"]), Value::Int(left.len() as i64));
    }
    assert_eq!(sorted(&call(&mut world, &["SMEMBERS", "k"])), left.into_iter().collect::<Vec<_>>());
}

/// Each of twenty members is drawn one time in twenty: 200 times of 4,000, give or take six standard deviations.
#[test]
fn srandmember_draws_every_member_equally_often() {
    for form in ["0", "x"] {
        let mut world = World::new(Protocol::Resp2);
        let members: Vec<String> = (0..20).map(|number| format!("{number}{}", &form[1..])).collect();
        fill(&mut world, "k", &members);
        if form == "x" {
            // From here on it is a hash table.
            call(&mut world, &["SADD", "k", &"x".repeat(100)]);
            call(&mut world, &["SREM", "k", &"x".repeat(100)]);
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..4_000 {
            world.now += 1;
            let reply = Value::Array(vec![call(&mut world, &["SRANDMEMBER", "k"])]);
            *counts.entry(sorted(&reply).remove(0)).or_default() += 1;
        }
        assert_eq!(counts.len(), 20);
        assert!(counts.values().all(|count| (115..285).contains(count)), "{counts:?}");
    }
}
