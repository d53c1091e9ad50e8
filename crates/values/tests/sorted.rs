//! A sorted set behaves as a sorted `Vec` of pairs, in both forms; clones do not change; unsound bytes are refused.
//!
//! `BOBBIN_CASES` scales the number of cases.

use blocks::{BlockList, Direction, End};
use proptest::collection::vec;
use proptest::prelude::*;
use std::ops::ControlFlow;
use values::Sorted;
use values::sorted::Bound;

#[derive(Clone, Debug)]
enum Op {
    Put(f64, Vec<u8>),
    PutMany(u32, u16, u8),
    Remove(Vec<u8>),
    RemoveNth(u32),
    RemoveRange(u32, u32),
    Grow,
    Clone,
    Recode,
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-4i32..20).prop_map(f64::from),
        2 => any::<f64>().prop_filter("no score is NaN", |score| !score.is_nan()),
        2 => any::<i32>().prop_map(|number| f64::from(number) / 8.0),
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(1e16)],
    ]
}

fn member() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u16..300).prop_map(|number| format!("member:{number}").into_bytes()),
        2 => vec(any::<u8>(), 0..4),
        1 => vec(any::<u8>(), 200..600),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (score(), member()).prop_map(|(score, member)| Op::Put(score, member)),
        2 => (any::<u32>(), 0u16..900, 0u8..4).prop_map(|(seed, count, how)| Op::PutMany(seed, count, how)),
        3 => member().prop_map(Op::Remove),
        3 => any::<u32>().prop_map(Op::RemoveNth),
        2 => (any::<u32>(), any::<u32>()).prop_map(|(from, count)| Op::RemoveRange(from, count)),
        1 => Just(Op::Grow),
        1 => Just(Op::Clone),
        1 => Just(Op::Recode),
    ]
}

/// Pairs in the order of score and member.
#[derive(Clone, Default)]
struct Twin(Vec<(f64, Vec<u8>)>);

impl Twin {
    fn place(&self, score: f64, member: &[u8]) -> usize {
        self.0.partition_point(|(other_score, other)| (*other_score, &other[..]) < (score, member))
    }

    fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let at = self.0.iter().position(|(_, other)| other == member)?;
        Some(self.0.remove(at).0)
    }

    fn put(&mut self, score: f64, member: &[u8], is_large: bool) -> Option<f64> {
        let score = if is_large { score } else { score + 0.0 };
        let old = self.0.iter().find(|(_, other)| other == member).map(|(old, _)| *old);
        if old != Some(score) {
            self.remove(member);
            self.0.insert(self.place(score, member), (score, member.to_vec()));
        }
        old
    }
}

fn drawn(seed: u32, nth: u16) -> u64 {
    let drawn = (u64::from(seed) << 32 | u64::from(nth)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (drawn ^ drawn >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
}

fn many(seed: u32, nth: u16, how: u8) -> (f64, Vec<u8>) {
    let drawn = drawn(seed, nth);
    let score = match how {
        0 => f64::from(nth),
        1 => (drawn % 1000) as f64,
        2 => drawn as f64 / 1e12,
        _ => 7.0,
    };
    (score, format!("{:05}", drawn % 2000).into_bytes())
}

fn recoded(sorted: &Sorted) -> Option<Sorted> {
    let mut bytes = Vec::new();
    sorted.list().encode(&mut bytes);
    Sorted::of_list(BlockList::decode(&mut &bytes[..]).expect("a list"))
}

fn run(ops: Vec<Op>) {
    let (mut sorted, mut twin) = (Sorted::default(), Twin::default());
    let mut clones: Vec<(Sorted, Twin)> = Vec::new();
    let mut is_large = false;
    for op in ops {
        match op {
            Op::Put(score, member) => assert_eq!(sorted.put(score, &member), twin.put(score, &member, is_large)),
            Op::PutMany(seed, count, how) => {
                for (score, member) in (0..count).map(|nth| many(seed, nth, how)) {
                    assert_eq!(sorted.put(score, &member), twin.put(score, &member, is_large));
                }
            }
            Op::Remove(member) => assert_eq!(sorted.remove(&member), twin.remove(&member)),
            Op::RemoveNth(nth) if !twin.0.is_empty() => {
                let (score, member) = twin.0.remove(nth as usize % twin.0.len());
                assert_eq!(sorted.remove(&member), Some(score));
            }
            Op::RemoveRange(from, count) => {
                let from = from as usize % (twin.0.len() + 1);
                let count = count as usize % (twin.0.len() - from + 1);
                sorted.remove_range(from as u64, count as u64);
                twin.0.drain(from..from + count);
            }
            Op::Grow if !twin.0.is_empty() => {
                sorted.grow();
                is_large = true;
            }
            Op::Clone => clones.push((sorted.clone(), twin.clone())),
            Op::Recode if !twin.0.is_empty() => sorted = recoded(&sorted).expect("it was one"),
            _ => {}
        }
        is_large &= !twin.0.is_empty();
        assert_eq!(sorted.is_large(), is_large);
        assert_eq!(sorted.len(), twin.0.len() as u64);
        assert_eq!(sorted.is_empty(), twin.0.is_empty());
    }
    clones.push((sorted, twin));
    clones.iter().for_each(|(sorted, twin)| compare(sorted, twin));
}

fn compare(sorted: &Sorted, twin: &Twin) {
    let mut all = Vec::new();
    sorted.for_each(|score, member| all.push((score.to_bits(), member.to_vec())));
    let expected: Vec<_> = twin.0.iter().map(|(score, member)| (score.to_bits(), member.clone())).collect();
    assert_eq!(all, expected);
    for (rank, (score, member)) in twin.0.iter().enumerate().step_by(1 + twin.0.len() / 200) {
        assert_eq!(sorted.rank(member), Some((rank as u64, *score)));
        assert_eq!(sorted.score(member), Some(*score));
        assert_eq!(sorted.get(rank as u64, |score, member| (score, member.to_vec())), Some((*score, member.clone())));
        let at_least = twin.0.iter().filter(|(other, _)| other >= score).count() as u64;
        let above = twin.0.iter().filter(|(other, _)| other > score).count() as u64;
        let len = twin.0.len() as u64;
        assert_eq!(sorted.score_range(Bound::Including(*score), Bound::None), (len - at_least, at_least));
        assert_eq!(sorted.score_range(Bound::Excluding(*score), Bound::None), (len - above, above));
        assert_eq!(sorted.score_range(Bound::None, Bound::Excluding(*score)), (0, len - at_least));
        assert_eq!(
            sorted.score_range(Bound::Including(*score), Bound::Including(*score)),
            (len - at_least, at_least - above)
        );
    }
    let (from, count) = (twin.0.len() as u64 / 3, twin.0.len() as u64 / 2);
    let mut backward = Vec::new();
    let _ = sorted.walk(from, count, Direction::Backward, &mut |_, member| {
        backward.push(member.to_vec());
        ControlFlow::Continue(())
    });
    let expected: Vec<_> =
        twin.0[from as usize..(from + count) as usize].iter().rev().map(|(_, member)| member).collect();
    assert!(backward.iter().eq(expected));
    assert_eq!(sorted.score(b"never a member"), None);
    for wanted in [1, 10, 1000] {
        let mut scanned = Vec::new();
        let mut next = Some(0);
        while let Some(cursor) = next {
            next = sorted.scan(cursor, wanted, |score, member| scanned.push((score.to_bits(), member.to_vec())));
        }
        let mut expected: Vec<_> = twin.0.iter().map(|(score, member)| (score.to_bits(), member.clone())).collect();
        scanned.sort();
        expected.sort();
        assert_eq!(scanned, expected, "each once, {wanted} at a time");
        if expected.len() > 2000 {
            break;
        }
    }
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_sorted_set_matches_a_sorted_vec(ops in vec(op(), 1..60)) {
        run(ops);
    }

    #[test]
    fn members_of_equal_score_are_ordered_by_bytes(members in vec(vec(any::<u8>(), 0..3), 1..200), ends in any::<[u8; 2]>(), large: bool) {
        let mut sorted = Sorted::default();
        members.iter().for_each(|member| assert!(sorted.put(1.5, member).is_none_or(|old| old == 1.5)));
        if large {
            sorted.grow();
        }
        let mut members = members;
        members.sort();
        members.dedup();
        let (least, most) = (&ends[..1], &ends[1..]);
        let count = |wanted: &dyn Fn(&[u8]) -> bool| members.iter().filter(|member| wanted(member)).count() as u64;
        let including = sorted.lex_range(Bound::Including(least), Bound::Including(most));
        prop_assert_eq!(including, (count(&|it| it < least), count(&|it| it >= least && it <= most)));
        let excluding = sorted.lex_range(Bound::Excluding(least), Bound::Excluding(most));
        prop_assert_eq!(excluding, (count(&|it| it <= least), count(&|it| it > least && it < most)));
        prop_assert_eq!(sorted.lex_range(Bound::None, Bound::None), (0, members.len() as u64));
    }
}

fn list(items: &[&[u8]]) -> BlockList {
    let mut list = BlockList::new();
    items.iter().for_each(|item| list.push(End::Tail, item));
    list
}

#[test]
fn malformed_sorted_sets_are_refused() {
    assert!(Sorted::of_list(list(&[&[1, 2, b'a'], &[1, 2, b'b']])).is_some());
    assert!(Sorted::of_list(list(&[b"", &[1, 2, b'a'], &[1, 2, b'b']])).is_some());
    let nan = [&[8][..], &f64::NAN.to_le_bytes(), b"a"].concat();
    let bad: [&[&[u8]]; 8] = [
        &[],
        &[b""],
        &[b"", b""],
        &[&[1, 2, b'a'], &[1, 2, b'a']],
        &[&[1, 2, b'b'], &[1, 2, b'a']],
        &[&[1, 2, b'a'], &[1, 4, b'a']],
        &[b"", &[1, 2, b'a'], &[1, 4, b'a']],
        &[&nan],
    ];
    for items in bad {
        assert!(Sorted::of_list(list(items)).is_none(), "{items:?}");
    }
}

/// Returns the bytes per member of a large set with members of ten bytes.
fn density(score: impl Fn(u32) -> f64) -> f64 {
    const COUNT: u32 = 300_000;
    let mut sorted = Sorted::default();
    for nth in 0..COUNT {
        sorted.put(score(nth), format!("{:010}", drawn(nth, 1) % 10_000_000_000).as_bytes());
        if nth == 128 {
            sorted.grow();
        }
    }
    sorted.heap_bytes() as f64 / sorted.len() as f64
}

#[test]
fn large_sorted_sets_take_at_most_38_bytes_a_member() {
    let random = density(|nth| drawn(nth, 0) as f64 / (1u64 << 53) as f64);
    let integers = density(|nth| (drawn(nth, 0) % 1_000_000) as f64);
    let rising = density(f64::from);
    println!("random doubles {random:.2}, integers {integers:.2}, in order {rising:.2} bytes");
    assert!(random <= 38.0, "{random}");
    assert!(integers <= 30.0, "{integers}");
    assert!(rising <= 28.0, "{rising}");
}

/// Members of both zeros that share a hash prefix: of 120,000, about four hundred pairs do.
#[test]
fn zeros_of_both_signs_are_found_and_removed() {
    const EACH: u32 = 60_000;
    let mut sorted = Sorted::default();
    for nth in 0..2 * EACH {
        sorted.put(if nth < EACH { 0.0 } else { -0.0 }, format!("m{nth}").as_bytes());
        if nth == 128 {
            sorted.grow();
        }
    }
    for nth in (0..2 * EACH).step_by(7) {
        let score = sorted.score(format!("m{nth}").as_bytes()).expect("it is there");
        assert_eq!(score.is_sign_negative(), nth >= EACH, "m{nth}");
    }
    let (mut cursor, mut scanned) = (0, std::collections::HashSet::new());
    loop {
        let next = sorted.scan(cursor, 5_000, |_, member| {
            scanned.insert(member.to_vec());
        });
        let Some(next) = next else { break };
        cursor = next;
    }
    assert_eq!(scanned.len(), 2 * EACH as usize, "a scan returns all of them");
    for nth in 0..EACH {
        assert!(sorted.remove(format!("m{nth}").as_bytes()).is_some());
    }
    while sorted.len() > 1_000 {
        sorted.remove_range(0, 100);
    }
    assert_eq!(Sorted::of_list(sorted.list().clone()).map(|sorted| sorted.len()), Some(1_000));
}
