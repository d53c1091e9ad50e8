//! Union, intersection and difference of sorted sets against a naive map, at sizes around those of runs and buckets.

use base::varint;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use values::set::{SetLimits, SetOperation};
use values::sorted::{Aggregate, Asked, Members, SortedAlgebra, SortedLimits, Source};
use values::{Set, Sorted};

/// The plan of a source: whether it is a set, the number of members, the first number, the step, and the weight.
type Plan = (bool, u32, u32, u32, f64);

fn plan() -> impl Strategy<Value = Plan> {
    let count = prop_oneof![0u32..4, 100u32..200, 1_000u32..1_100, 2_000u32..5_000];
    let weight = prop_oneof![3 => Just(1.0), 1 => Just(-0.5), 1 => Just(f64::INFINITY), 1 => Just(0.0)];
    (prop::bool::weighted(0.3), count, 0u32..2_000, 1u32..4, weight)
}

fn member(number: u32) -> Vec<u8> {
    if number.is_multiple_of(3) { number.to_string().into_bytes() } else { format!("member:{number}").into_bytes() }
}

fn score(number: u32) -> f64 {
    match number % 101 {
        0 => f64::INFINITY,
        1 => f64::NEG_INFINITY,
        part => f64::from(part * 7 % 50) / 4.0,
    }
}

fn source(&(is_set, count, from, every, weight): &Plan) -> (Source, BTreeMap<Vec<u8>, f64>) {
    let numbers = (0..count).map(|nth| from + nth * every);
    let mut twin = BTreeMap::new();
    let members = if is_set {
        let (mut set, limits) = (Set::new(), SetLimits::now());
        numbers.for_each(|number| {
            let form = set.form_with(&member(number), 1, limits);
            set.add(&member(number), form);
            twin.insert(member(number), 1.0);
        });
        Members::Set(set)
    } else {
        let mut sorted = Sorted::default();
        numbers.for_each(|number| {
            sorted.put(score(number), &member(number));
            twin.insert(member(number), score(number));
            if sorted.len() == 129 {
                sorted.grow();
            }
        });
        Members::Sorted(sorted)
    };
    (Source { members, weight }, twin)
}

fn no_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// Computes the result by the algorithm of Redis: the smallest source first, except for differences.
fn naive(asked: Asked, sources: &[(Source, BTreeMap<Vec<u8>, f64>)]) -> BTreeMap<Vec<u8>, f64> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    if asked.operation != SetOperation::Difference {
        order.sort_by_key(|at| sources[*at].1.len());
    }
    // An intersection keeps a NaN from all sources but the first.
    let weighed = |at: usize, member: &Vec<u8>| {
        let score = sources[at].1.get(member)? * sources[at].0.weight;
        Some(if asked.operation == SetOperation::Intersection && at != order[0] { score } else { no_nan(score) })
    };
    let all: std::collections::BTreeSet<&Vec<u8>> = sources.iter().flat_map(|(_, twin)| twin.keys()).collect();
    let mut result = BTreeMap::new();
    for member in all {
        let scores: Vec<f64> = order.iter().filter_map(|at| weighed(*at, member)).collect();
        let score = match asked.operation {
            SetOperation::Difference => {
                let is_left = sources[0].1.contains_key(member) && scores.len() == 1;
                is_left.then(|| sources[0].1[member])
            }
            SetOperation::Intersection if scores.len() < sources.len() => None,
            _ => scores.into_iter().reduce(|one: f64, other| match asked.aggregate {
                Aggregate::Sum => no_nan(one + other),
                Aggregate::Min => one.min(other),
                Aggregate::Max => one.max(other),
            }),
        };
        result.extend(score.map(|score| (member.clone(), score)));
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        48 * std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1)
    ))]

    #[test]
    fn algebra_results_match_a_naive_map(
        plans in vec(plan(), 1..4),
        operation in prop_oneof![Just(SetOperation::Union), Just(SetOperation::Intersection), Just(SetOperation::Difference)],
        aggregate in prop_oneof![Just(Aggregate::Sum), Just(Aggregate::Min), Just(Aggregate::Max)],
        count_max in prop_oneof![2 => Just(u64::MAX), 1 => 1u64..50],
        is_counted in any::<bool>(),
    ) {
        let sources: Vec<_> = plans.iter().map(source).collect();
        let is_counted = is_counted && operation == SetOperation::Intersection;
        let count_max = if is_counted { count_max } else { u64::MAX };
        let asked = Asked { operation, aggregate, count_max, is_counted };
        let limits = SortedLimits { entries: 128, member_bytes: 64 };
        let twin = naive(asked, &sources);
        let mut algebra = SortedAlgebra::new(asked, sources.into_iter().map(|(source, _)| source).collect(), limits);
        let mut steps = 0;
        while !algebra.step() {
            steps += 1;
        }
        prop_assert!(is_counted || twin.len() < 1_000 || steps > 4, "a long one takes many steps");
        prop_assert_eq!(algebra.count(), count_max.min(twin.len() as u64));
        let result = algebra.result();
        if is_counted {
            prop_assert!(result.is_empty());
            return Ok(());
        }
        let mut pairs: Vec<(f64, Vec<u8>)> = twin.iter().map(|(member, score)| (*score, member.clone())).collect();
        pairs.sort_by(|one, other| one.partial_cmp(other).expect("no score is NaN"));
        let mut collected = Vec::new();
        result.for_each(|score, member| collected.push((score, member.to_vec())));
        prop_assert_eq!(&collected, &pairs);
        prop_assert_eq!(result.is_large(), pairs.len() > 128);
        for (member, score) in &twin {
            prop_assert_eq!(result.score(member), Some(*score), "by its index");
        }
        prop_assert_eq!(result.score(b"nobody"), None);
        // The result can be changed like any other set.
        let mut changed = result.clone();
        for (member, _) in twin.iter().step_by(7) {
            prop_assert!(changed.remove(member).is_some());
        }
        prop_assert!(changed.is_empty() || Sorted::of_list(changed.list().clone()).is_some());
    }
}

#[test]
fn a_union_of_one_source_keeps_long_members_and_scores() {
    let mut sorted = Sorted::default();
    for nth in 0..2_000u32 {
        let mut member = Vec::new();
        varint::put(&mut member, u64::from(nth));
        member.resize(300, b'x');
        sorted.put(f64::from(nth % 3), &member);
    }
    sorted.grow();
    let source = Source { members: Members::Sorted(sorted.clone()), weight: 1.0 };
    let asked =
        Asked { operation: SetOperation::Union, aggregate: Aggregate::Sum, count_max: u64::MAX, is_counted: false };
    let mut algebra = SortedAlgebra::new(asked, vec![source], SortedLimits { entries: 128, member_bytes: 64 });
    while !algebra.step() {}
    let mut pairs = Vec::new();
    algebra.result().for_each(|score, member| pairs.push((score, member.to_vec())));
    let mut expected = Vec::new();
    sorted.for_each(|score, member| expected.push((score, member.to_vec())));
    assert_eq!(pairs, expected);
}
