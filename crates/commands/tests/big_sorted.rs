//! Sorted sets too big for a reply under a lock: compared with naive twins.

use commands::testing::direct::World;
use std::collections::{BTreeMap, BTreeSet};
use wire::client::Value;
use wire::resp::Protocol;

const COUNT: u32 = 30_000;

fn call(world: &mut World, words: &[&str]) -> Value {
    world.call(&words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
}

/// Returns members in the order of their scores, with ties.
fn pairs() -> Vec<(u32, String)> {
    let mut pairs: Vec<_> =
        (0..COUNT).map(|nth| (nth * 7919 % 10_007, format!("m{nth}{}", "x".repeat(nth as usize % 13)))).collect();
    pairs.sort();
    pairs
}

fn fill(world: &mut World, key: &str, pairs: &[(u32, String)]) {
    for part in pairs.chunks(1_000) {
        let words: Vec<String> = part.iter().flat_map(|(score, member)| [score.to_string(), member.clone()]).collect();
        let words: Vec<&str> = ["ZADD", key].into_iter().chain(words.iter().map(String::as_str)).collect();
        assert_eq!(call(world, &words), Value::Int(part.len() as i64));
    }
}

fn world_with(pairs: &[(u32, String)], protocol: Protocol) -> World {
    let mut world = World::new(protocol);
    fill(&mut world, "k", pairs);
    world
}

fn members<'a>(pairs: impl Iterator<Item = &'a (u32, String)>) -> Value {
    Value::Array(pairs.map(|(_, member)| Value::bulk(member)).collect())
}

fn flat<'a>(pairs: impl Iterator<Item = &'a (u32, String)>) -> Value {
    Value::Array(pairs.flat_map(|(score, member)| [Value::bulk(member), Value::bulk(score.to_string())]).collect())
}

fn nested<'a>(pairs: impl Iterator<Item = &'a (u32, String)>) -> Value {
    let pair =
        |(score, member): &(u32, String)| Value::Array(vec![Value::bulk(member), Value::Double(f64::from(*score))]);
    Value::Array(pairs.map(pair).collect())
}

#[test]
fn ranges_of_a_big_sorted_set_match_a_sorted_vector() {
    let pairs = pairs();
    let mut world = world_with(&pairs, Protocol::Resp2);
    assert_eq!(call(&mut world, &["ZRANGE", "k", "0", "-1"]), members(pairs.iter()));
    assert_eq!(call(&mut world, &["ZRANGE", "k", "0", "-1", "REV"]), members(pairs.iter().rev()));
    assert_eq!(
        call(&mut world, &["ZREVRANGE", "k", "100", "-1000", "WITHSCORES"]),
        flat(pairs[999..29_900].iter().rev())
    );
    let middle = pairs.iter().filter(|(score, _)| (2_000..=8_000).contains(score));
    assert_eq!(call(&mut world, &["ZRANGEBYSCORE", "k", "2000", "8000", "WITHSCORES"]), flat(middle.clone()));
    world.protocol = Protocol::Resp3;
    assert_eq!(call(&mut world, &["ZRANGE", "k", "0", "-1", "WITHSCORES"]), nested(pairs.iter()));
    let sum: u32 = middle.clone().map(|(score, _)| score).sum();
    assert_eq!(call(&mut world, &["ZSUM", "k", "2000", "8000"]), Value::Double(f64::from(sum)));
    let average = f64::from(sum) / middle.count() as f64;
    assert_eq!(call(&mut world, &["ZAVG", "k", "2000", "8000"]), Value::Double(average));
}

#[test]
fn pops_and_rank_removals_of_many_keep_the_rest() {
    let pairs = pairs();
    let mut world = world_with(&pairs, Protocol::Resp2);
    assert_eq!(call(&mut world, &["ZPOPMAX", "k", "12000"]), flat(pairs[18_000..].iter().rev()));
    assert_eq!(call(&mut world, &["ZREMRANGEBYRANK", "k", "1000", "1999"]), Value::Int(1_000));
    let left: Vec<_> = pairs[..1_000].iter().chain(&pairs[2_000..18_000]).cloned().collect();
    assert_eq!(call(&mut world, &["ZRANGE", "k", "0", "-1", "WITHSCORES"]), flat(left.iter()));
    for (rank, (score, member)) in left.iter().enumerate().step_by(97) {
        assert_eq!(call(&mut world, &["ZRANK", "k", member]), Value::Int(rank as i64));
        assert_eq!(call(&mut world, &["ZSCORE", "k", member]), Value::bulk(score.to_string()));
    }
    assert_eq!(call(&mut world, &["ZSCORE", "k", &pairs[1_500].1]), Value::Null);
    world.protocol = Protocol::Resp3;
    assert_eq!(call(&mut world, &["ZPOPMIN", "k", "17000"]), nested(left.iter()));
    assert_eq!(call(&mut world, &["EXISTS", "k"]), Value::Int(0));
}

#[test]
fn zrandmember_draws_distinct_members_for_a_positive_count() {
    let pairs = pairs();
    let mut world = world_with(&pairs, Protocol::Resp2);
    let known: BTreeSet<&[u8]> = pairs.iter().map(|(_, member)| member.as_bytes()).collect();
    for (count, distinct) in [("100", 100), ("20000", 20_000), ("30000", 30_000), ("99999", 30_000)] {
        let reply = call(&mut world, &["ZRANDMEMBER", "k", count]);
        let drawn: BTreeSet<&[u8]> =
            reply.as_slice().unwrap().iter().map(|member| member.as_bytes().unwrap()).collect();
        assert_eq!((reply.as_slice().unwrap().len(), drawn.len()), (distinct, distinct), "{count}");
        assert!(drawn.is_subset(&known));
    }
    let reply = call(&mut world, &["ZRANDMEMBER", "k", "-50000", "WITHSCORES"]);
    let scores: BTreeMap<&[u8], u32> = pairs.iter().map(|(score, member)| (member.as_bytes(), *score)).collect();
    assert_eq!(reply.as_slice().unwrap().len(), 100_000);
    for pair in reply.as_slice().unwrap().chunks(2) {
        assert_eq!(pair[1], Value::bulk(scores[pair[0].as_bytes().unwrap()].to_string()));
    }
}

/// Returns the members of a whole ZSCAN, with `between` called between its steps.
fn scanned(world: &mut World, mut between: impl FnMut(&mut World)) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (mut members, mut cursor, mut steps) = (BTreeMap::new(), "0".to_owned(), 0);
    loop {
        let reply = call(world, &["ZSCAN", "k", &cursor, "COUNT", "100"]);
        let [next, items] = reply.as_slice().unwrap() else { panic!("{reply}") };
        for pair in items.as_slice().unwrap().chunks(2) {
            members.insert(pair[0].as_bytes().unwrap().to_vec(), pair[1].as_bytes().unwrap().to_vec());
        }
        cursor = String::from_utf8(next.as_bytes().unwrap().to_vec()).unwrap();
        steps += 1;
        if cursor == "0" {
            assert!(steps > 20, "it takes many steps");
            return members;
        }
        between(world);
    }
}

#[test]
fn zscan_returns_every_member_that_stays() {
    for is_one_score in [false, true] {
        let mut pairs = pairs();
        if is_one_score {
            pairs.iter_mut().for_each(|(score, _)| *score = 5);
        }
        let mut world = world_with(&pairs, Protocol::Resp2);
        let expected: BTreeMap<Vec<u8>, Vec<u8>> =
            pairs.iter().map(|(score, member)| (member.clone().into_bytes(), score.to_string().into_bytes())).collect();
        assert_eq!(scanned(&mut world, |_| ()), expected);
        // Some members are removed or added meanwhile, and the scores of all others change.
        let mut nth = 0;
        let members = scanned(&mut world, |world| {
            for _ in 0..60 {
                nth = (nth + 1) % pairs.len();
                let member = &pairs[nth].1;
                match nth % 4 {
                    0 => call(world, &["ZREM", "k", member]),
                    1 => call(world, &["ZADD", "k", "3", &format!("new {nth}")]),
                    _ => call(world, &["ZINCRBY", "k", "1000", member]),
                };
            }
        });
        for (at, (_, member)) in pairs.iter().enumerate().filter(|(at, _)| at % 4 != 0) {
            assert!(members.contains_key(member.as_bytes()), "{at}: {member} was there throughout");
        }
    }
}

#[test]
fn set_operations_on_big_sorted_sets_match_the_definition() {
    let pairs = pairs();
    let mut world = world_with(&pairs, Protocol::Resp2);
    let others: Vec<(u32, String)> =
        pairs.iter().step_by(3).map(|(score, member)| (score + 1, member.clone())).collect();
    fill(&mut world, "other", &others);
    let sums: BTreeMap<&str, u32> = others.iter().map(|(score, member)| (&**member, *score)).collect();
    let mut union: Vec<(u32, String)> =
        pairs.iter().map(|(score, member)| (score + sums.get(&**member).unwrap_or(&0), member.clone())).collect();
    union.sort();
    assert_eq!(call(&mut world, &["ZUNION", "2", "k", "other", "WITHSCORES"]), flat(union.iter()));
    assert_eq!(call(&mut world, &["ZUNIONSTORE", "to", "2", "k", "other"]), Value::Int(i64::from(COUNT)));
    assert_eq!(call(&mut world, &["ZRANGE", "to", "0", "-1", "WITHSCORES"]), flat(union.iter()));
    assert_eq!(call(&mut world, &["ZINTERCARD", "2", "k", "other"]), Value::Int(others.len() as i64));
    assert_eq!(
        call(&mut world, &["ZDIFFSTORE", "to", "2", "k", "other"]),
        Value::Int(i64::from(COUNT) - others.len() as i64)
    );
    let left: Vec<_> = pairs.iter().filter(|(_, member)| !sums.contains_key(&**member)).cloned().collect();
    assert_eq!(call(&mut world, &["ZRANGE", "to", "0", "-1", "WITHSCORES"]), flat(left.iter()));
    assert_eq!(call(&mut world, &["ZRANGESTORE", "to", "k", "0", "-1"]), Value::Int(i64::from(COUNT)));
    assert_eq!(call(&mut world, &["ZRANK", "to", &pairs[20_000].1]), Value::Int(20_000));
}

#[test]
fn removing_many_members_at_once_keeps_the_index_consistent() {
    let mut pairs = pairs();
    let mut world = world_with(&pairs, Protocol::Resp2);
    // The index is rebuilt if few members are left, else each member is removed from it.
    assert_eq!(call(&mut world, &["ZREMRANGEBYRANK", "k", "100", "1099"]), Value::Int(1_000));
    pairs.drain(100..1_100);
    assert_eq!(call(&mut world, &["ZPOPMIN", "k", "500"]), flat(pairs[..500].iter()));
    pairs.drain(..500);
    assert_eq!(call(&mut world, &["ZPOPMAX", "k", "700"]), flat(pairs[pairs.len() - 700..].iter().rev()));
    pairs.truncate(pairs.len() - 700);
    let before = pairs.len();
    pairs.retain(|(score, _)| !(1_000..=6_000).contains(score));
    let gone = Value::Int((before - pairs.len()) as i64);
    assert_eq!(call(&mut world, &["ZREMRANGEBYSCORE", "k", "1000", "6000"]), gone);
    assert_eq!(call(&mut world, &["ZRANGE", "k", "0", "-1", "WITHSCORES"]), flat(pairs.iter()));
    for (rank, (score, member)) in pairs.iter().enumerate().step_by(97) {
        assert_eq!(call(&mut world, &["ZSCORE", "k", member]), Value::bulk(score.to_string()));
        assert_eq!(call(&mut world, &["ZRANK", "k", member]), Value::Int(rank as i64));
    }
    let all = pairs.len().to_string();
    assert_eq!(call(&mut world, &["ZREMRANGEBYRANK", "k", "0", "-1"]).to_string(), all);
    assert_eq!(call(&mut world, &["EXISTS", "k"]), Value::Int(0));
}
