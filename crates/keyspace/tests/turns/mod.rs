//! Turns against a naive model. Whatever happens between the steps of a turn, its records, applied over the records of
//! earlier turns, give exactly the shard's state at its position; and the effects since then give the present state.
//!
//! `BOBBIN_CASES` scales the number of cases.

mod store;
mod world;

use blocks::End;
use proptest::prelude::*;
use std::collections::BTreeSet;
use world::{Change, DATABASES, Happening, World, keys};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let number = any::<i32>().prop_map(|number| number.to_string().into_bytes());
    let of = |lengths: std::ops::Range<usize>| (any::<u8>(), lengths).prop_map(|(byte, length)| vec![byte; length]);
    prop_oneof![4 => number, 4 => of(0..40), 2 => of(200..5_000), 2 => of(16_000..60_000)]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Head), Just(End::Tail)]
}

fn delay() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 2 => (1..20_000u64).prop_map(Some)]
}

/// The number of the first field or member.
fn first() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 0..8u64, 1 => 0..4_000u64]
}

fn fields() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 1..6u64, 1 => 100..600u64]
}

fn member_bytes() -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(0usize), 2 => 1..3usize, 1 => 60..100usize]
}

fn change() -> impl Strategy<Value = Change> {
    let keys_count = keys().names.len();
    let push = (end(), 0..4u8, prop_oneof![3 => 1..5usize, 1 => 100..1_500usize], prop_oneof![0..2usize, 1..30usize]);
    prop_oneof![
        8 => (bytes(), delay()).prop_map(|(bytes, delay)| Change::Put(bytes, delay)),
        2 => bytes().prop_map(Change::Replace),
        3 => bytes().prop_map(Change::Append),
        2 => (0..20_000usize, bytes()).prop_map(|(offset, bytes)| Change::Overwrite(offset, bytes)),
        8 => Just(Change::Remove),
        4 => delay().prop_map(Change::Expiry),
        8 => push.prop_map(|(end, byte, count, bytes)| Change::Push(end, byte, count, bytes)),
        3 => (end(), prop_oneof![1..4u64, 1..3_000u64]).prop_map(|(end, count)| Change::Pop(end, count)),
        2 => (any::<u64>(), bytes()).prop_map(|(index, item)| Change::Set(index, item)),
        2 => (any::<u64>(), bytes()).prop_map(|(index, item)| Change::Insert(index, item)),
        2 => any::<(u64, u64)>().prop_map(|(start, count)| Change::Cut(start, count)),
        2 => (0..6u8).prop_map(Change::Without),
        8 => (first(), fields(), 0..200usize, delay()).prop_map(|(at, n, bytes, delay)| Change::Fields(at, n, bytes, delay)),
        2 => (first(), fields(), 0..200usize).prop_map(|(at, n, bytes)| Change::Keep(at, n, bytes)),
        4 => (first(), fields()).prop_map(|(at, n)| Change::Forget(at, n)),
        4 => (first(), fields(), delay()).prop_map(|(at, n, delay)| Change::FieldExpiry(at, n, delay)),
        6 => (first(), fields(), member_bytes()).prop_map(|(at, n, bytes)| Change::Add(at, n, bytes)),
        3 => (first(), fields(), member_bytes()).prop_map(|(at, n, bytes)| Change::Leave(at, n, bytes)),
        3 => (any::<u64>(), fields()).prop_map(|(at, n)| Change::Draw(at, n)),
        5 => (0..keys_count, 0..DATABASES, any::<bool>()).prop_map(|(to, of, moves)| Change::Copy(to, of, moves)),
        1 => Just(Change::Flush),
        1 => (0..DATABASES).prop_map(Change::Swap),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    // Most of it in one database, and much of it on few keys.
    let database = || prop_oneof![4 => Just(0u32), 1 => 0..DATABASES];
    let count = keys().names.len();
    let key = move || prop_oneof![2 => 0..count, 1 => 0..3usize, 1 => count - 2..count];
    let changes = proptest::collection::vec((database(), key(), change()), 1..4);
    let shard = || prop_oneof![2 => Just(0usize), 1 => 1..3usize];
    prop_oneof![
        30 => (changes, prop::bool::weighted(0.2)).prop_map(|(changes, undone)| Happening::Changes(changes, undone)),
        2 => (1..5_000u64).prop_map(Happening::Expire),
        8 => (shard(), prop::bool::weighted(0.1)).prop_map(|(shard, whole)| Happening::Turn(shard, whole)),
        10 => (shard(), 1..6usize).prop_map(|(shard, entries)| Happening::Take(shard, entries)),
        6 => shard().prop_map(Happening::Commit),
        1 => shard().prop_map(Happening::Fail),
        1 => Just(Happening::CommitMap),
        1 => Just(Happening::Housekeep),
        1 => shard().prop_map(Happening::Merge),
        2 => prop::bool::weighted(0.6).prop_map(Happening::Restart),
    ]
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// Ends with everything committed and read back.
fn run(happenings: &[Happening]) -> BTreeSet<&'static str> {
    let mut world = World::new();
    happenings.iter().for_each(|happening| world.run(happening));
    for shard in 0..keys().shards.len() {
        [Happening::Commit(shard), Happening::Turn(shard, false), Happening::Commit(shard)]
            .iter()
            .for_each(|last| world.run(last));
    }
    world.run(&Happening::CommitMap);
    world.run(&Happening::Restart(false));
    world.seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn the_store_holds_the_shards_state_at_its_turn(happenings in proptest::collection::vec(happening(), 1..120)) {
        run(&happenings);
    }

    #[test]
    fn the_store_is_correct_after_all_keys_are_replaced(
        happenings in proptest::collection::vec(prop_oneof![20 => happening(), 1 => Just(Happening::Reload)], 1..80),
    ) {
        run(&happenings);
    }
}

#[test]
fn the_random_workload_reaches_every_rare_case() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let long = proptest::collection::vec(happening(), 4_000);
    let seen = run(&long.new_tree(&mut runner).unwrap().current());
    let all = [
        "changed",
        "changed before it was stored",
        "failed amid",
        "gone before it was read",
        "read one by one",
        "searched",
        "stored elsewhere",
        "unchanged",
        "whole by itself",
    ];
    assert_eq!(seen, all.into());
}

fn put(key: usize, text: &[u8]) -> Happening {
    Happening::Changes(vec![(0, key, Change::Put(text.to_vec(), None))], false)
}

fn remove(key: usize) -> Happening {
    Happening::Changes(vec![(0, key, Change::Remove)], false)
}

#[test]
fn overflowing_names_make_only_the_next_turn_whole() {
    let [one, other] = [keys().names.len() - 2, keys().names.len() - 1];
    let mut world = World::new();
    let commit = [Happening::Turn(0, false), Happening::Commit(0)];
    let steps = [put(one, b"1"), put(other, b"2")].into_iter().chain(commit.clone());
    steps.chain([remove(one)]).chain(commit.clone()).for_each(|step| world.run(&step));
    assert!(!world.seen.contains("whole by itself"));
    [put(one, b"1")]
        .iter()
        .chain(&commit)
        .chain(&[remove(one), remove(other)])
        .chain(&commit)
        .for_each(|step| world.run(step));
    assert!(world.seen.remove("whole by itself"));
    [put(one, b"1")].iter().chain(&commit).chain(&[remove(one)]).chain(&commit).for_each(|step| world.run(step));
    assert!(!world.seen.contains("whole by itself"));
    world.run(&Happening::Restart(true));
}

/// Keys of one shard, in the order in which their values are made.
const BIG: std::ops::Range<usize> = 0..8;

fn big(key: usize, change: Change) -> Happening {
    Happening::Changes(vec![(0, key, change)], false)
}

#[test]
fn values_read_late_include_all_changes_since() {
    let mut world = World::new();
    let put = |key: usize| match key % 4 {
        _ if key == 5 => big(key, Change::Fields(0, 3_000, 20, Some(5_000))),
        3 => big(key, Change::Put(vec![b'x'; 60_000], Some(9_000))),
        _ => big(key, Change::Push(End::Tail, key as u8, 3_000, 20)),
    };
    BIG.map(put).for_each(|step| world.run(&step));
    let shards = 0..keys().shards.len();
    shards.clone().flat_map(|shard| [Happening::Turn(shard, false), Happening::Commit(shard)]).for_each(|step| {
        world.run(&step);
    });
    let tail = || {
        [
            big(0, Change::Push(End::Head, 1, 5, 10)),
            big(0, Change::Pop(End::Tail, 1_000)),
            big(0, Change::Expiry(Some(20_000))),
            // All of it goes, and another list comes.
            big(1, Change::Pop(End::Head, 3_000)),
            big(1, Change::Push(End::Tail, 2, 2, 10)),
            big(2, Change::Expiry(Some(100))),
            big(3, Change::Append(b"more".to_vec())),
            big(3, Change::Overwrite(7, b"other".to_vec())),
            big(4, Change::Copy(7, 0, true)),
            big(5, Change::Fields(2_990, 20, 30, None)),
            big(5, Change::Forget(100, 200)),
            big(5, Change::FieldExpiry(0, 50, Some(100))),
            big(5, Change::FieldExpiry(500, 50, None)),
            big(6, Change::Without(2)),
            big(7, Change::Replace(b"short".to_vec())),
        ]
    };
    tail().iter().for_each(|step| world.run(step));
    for order in [[6, 0, 5, 3], [3, 5, 0, 6]] {
        world.run(&Happening::Restart(true));
        world.run(&Happening::Expire(200));
        order.map(|key| big(key, Change::Push(End::Head, 9, 1, 3))).iter().for_each(|step| world.run(step));
        tail().iter().for_each(|step| world.run(step));
        world.run(&Happening::Restart(false));
    }
    assert!(world.seen.contains("read one by one") && world.seen.contains("gone before it was read"));
    shards
        .flat_map(|shard| [Happening::Turn(shard, false), Happening::Commit(shard)])
        .for_each(|step| world.run(&step));
    world.run(&Happening::Restart(false));
}
