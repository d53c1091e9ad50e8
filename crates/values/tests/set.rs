//! A set behaves as a `Vec` without duplicates under any operations, in every form, and clones do not change.
//!
//! `BOBBIN_CASES` scales the number of cases.

use base::hash;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use values::set::{SetAlgebra, SetForm, SetGoal, SetLimits, SetOperation};
use values::string::parse_int;
use values::{List, Set};

/// Limits so small that most cases exceed all of them.
const LIMITS: SetLimits = SetLimits { intset_entries: 8, listpack_entries: 6, listpack_value: 9 };

#[derive(Clone, Debug)]
enum Op {
    Add(Vec<u8>),
    AddRun(u32, u32),
    Remove(Vec<u8>),
    RemoveOne(usize),
    RemoveRun(u32, u32),
    /// Runs of positions, each as the gap before it and its length.
    RemoveAt(Vec<(u8, u8)>),
    /// Adds a member in a form that is larger than necessary.
    Turn(Vec<u8>, u8),
    Clone,
    Recode,
}

fn member() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (-20i64..20).prop_map(|number| number.to_string().into_bytes()),
        2 => any::<i64>().prop_map(|number| (number >> (number & 63)).to_string().into_bytes()),
        3 => vec(b'a'..b'd', 0..4),
        1 => vec(any::<u8>(), 0..20),
        1 => (0xf0..=0xffu8, vec(any::<u8>(), 0..9)).prop_map(|(first, rest)| [vec![first], rest].concat()),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => member().prop_map(Op::Add),
        1 => (0..3000u32, 0..500u32).prop_map(|(from, count)| Op::AddRun(from, count)),
        3 => member().prop_map(Op::Remove),
        5 => any::<usize>().prop_map(Op::RemoveOne),
        1 => (0..3000u32, 0..500u32).prop_map(|(from, count)| Op::RemoveRun(from, count)),
        1 => (member(), 0..3u8).prop_map(|(member, form)| Op::Turn(member, form)),
        2 => vec((any::<u8>(), 1..40u8), 0..24).prop_map(Op::RemoveAt),
        1 => Just(Op::Clone),
        1 => Just(Op::Recode),
    ]
}

/// Members in insertion order, and the form that the set must have.
#[derive(Clone, Debug, Default, PartialEq)]
struct Twin {
    members: Vec<Vec<u8>>,
    form: SetForm,
}

impl Twin {
    fn add(&mut self, member: &[u8]) -> bool {
        if self.members.iter().any(|other| other == member) {
            return false;
        }
        let len = self.members.len() as u64;
        let longest = self.members.iter().map(Vec::len).chain([member.len()]).max().unwrap_or(0) as u64;
        let has_room = len < LIMITS.listpack_entries;
        let is_integer = parse_int(member).is_some();
        self.form = match self.form {
            SetForm::Integers if is_integer && len < LIMITS.intset_entries => SetForm::Integers,
            SetForm::Integers if !is_integer && has_room && longest <= LIMITS.listpack_value => SetForm::Listed,
            SetForm::Listed if has_room && member.len() as u64 <= LIMITS.listpack_value => SetForm::Listed,
            _ => SetForm::Hashed,
        };
        self.members.push(member.to_vec());
        true
    }

    /// Returns the members in the order of the set.
    fn ordered(&self) -> Vec<Vec<u8>> {
        let mut members = self.members.clone();
        match self.form {
            SetForm::Integers => members.sort_by_key(|member| parse_int(member)),
            SetForm::Listed => {}
            SetForm::Hashed => members.sort(),
        }
        members
    }

    fn turn(&mut self, form: SetForm) {
        if form > self.form {
            // As listed, integers are in numeric order.
            self.members = self.ordered();
            self.form = form;
        }
    }
}

#[derive(Clone, Default)]
struct Pair {
    set: Set,
    twin: Twin,
}

impl Pair {
    fn add(&mut self, member: &[u8]) {
        if self.set.contains(member) {
            assert!(!self.twin.add(member));
            return;
        }
        let form = self.set.form_with(member, 1, LIMITS);
        if self.twin.form == SetForm::Integers && form != SetForm::Integers {
            self.twin.members = self.twin.ordered();
        }
        assert!(self.twin.add(member));
        assert!(self.set.add(member, form));
        assert!(!self.set.add(member, SetForm::Hashed));
    }

    fn remove(&mut self, member: &[u8]) {
        let at = self.twin.members.iter().position(|other| other == member);
        assert_eq!(self.set.remove(member), at.is_some());
        if let Some(at) = at {
            self.twin.members.remove(at);
        }
        if self.twin.members.is_empty() {
            self.twin.form = SetForm::Integers;
        }
    }

    fn check(&self) {
        assert_eq!(self.set.form(), self.twin.form);
        assert_eq!(self.set.len(), self.twin.members.len() as u64);
        self.set.list().check();
        let mut members = members(&self.set);
        if self.twin.form == SetForm::Hashed {
            let hashes: Vec<u64> = (0..self.set.len()).map(|at| self.set.hash_at(at).expect("within")).collect();
            assert!(hashes.is_sorted());
            for (at, hash) in hashes.iter().enumerate().step_by(7) {
                assert_eq!(self.set.index_of_hash(*hash), at as u64);
            }
            members.sort();
        }
        assert_eq!(members, self.twin.ordered());
        for member in self.twin.members.iter().step_by(5) {
            assert!(self.set.contains(member));
        }
    }
}

fn members(set: &Set) -> Vec<Vec<u8>> {
    let mut members = Vec::new();
    set.walk(0, set.len(), |member| {
        members.push(member.to_vec());
        ControlFlow::Continue(())
    });
    members
}

fn set_of(members: &[Vec<u8>]) -> Set {
    let mut pair = Pair::default();
    members.iter().for_each(|member| pair.add(member));
    pair.set
}

/// Returns a hashed set of these members, and its members in its order.
fn hashed(members: impl Iterator<Item = Vec<u8>>) -> (Set, Vec<Vec<u8>>) {
    let mut set = Set::new();
    members.for_each(|member| {
        set.add(&member, SetForm::Hashed);
    });
    let all = self::members(&set);
    (set, all)
}

/// However the members of sets lie to each other, a step examines few of them, and nobody is missed.
#[test]
fn a_step_of_an_intersection_passes_few_members() {
    let (big, in_order) = hashed((0..30_000u32).map(|at| format!("m{at}").into_bytes()));
    let (part, late) = hashed(in_order[28_000..].iter().cloned());
    let (sparse, _) = hashed(in_order.iter().step_by(15).cloned());
    let last = in_order[29_990].clone();
    let strangers = (0..4_000u32).map(|at| format!("x{at}").into_bytes()).chain([last.clone()]);
    let (strangers, _) = hashed(strangers);
    for (sets, expected) in [
        (vec![part, big.clone()], late),
        (vec![strangers, sparse.clone(), big.clone()], Vec::new()),
        (vec![sparse.clone(), big.clone()], members(&sparse)),
    ] {
        let expected: BTreeSet<Vec<u8>> = match expected.is_empty() {
            true => sets
                .iter()
                .map(|set| members(set).into_iter().collect())
                .reduce(|one: BTreeSet<_>, other| &one & &other),
            false => Some(expected.into_iter().collect()),
        }
        .expect("some sets");
        let mut algebra = SetAlgebra::new(SetOperation::Intersection, sets, SetGoal::Members);
        base::cost::take();
        while !algebra.step() {
            let examined = base::cost::take().elements;
            assert!(examined < 10_000, "{examined} members examined in a step");
        }
        assert_eq!(members(algebra.result()).into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

fn recoded(set: &Set) -> Set {
    if set.is_empty() {
        return Set::new();
    }
    let mut bytes = Vec::new();
    set.list().encode(&mut bytes);
    decoded(&bytes).expect("what was encoded")
}

fn decoded(bytes: &[u8]) -> Option<Set> {
    List::decode(&mut &bytes[..]).ok().and_then(Set::of_list)
}

fn run(op: &Op, pair: &mut Pair, clones: &mut Vec<Pair>) {
    match op {
        Op::Add(member) => pair.add(member),
        Op::AddRun(from, count) => (*from..from + count).for_each(|at| pair.add(format!("run:{at}").as_bytes())),
        Op::Remove(member) => pair.remove(member),
        Op::RemoveOne(at) if pair.set.is_empty() => assert!(pair.set.get(*at as u64, |_| ()).is_none()),
        Op::RemoveOne(at) => {
            let member = pair.set.get(*at as u64 % pair.set.len(), <[u8]>::to_vec).expect("within");
            pair.remove(&member);
        }
        Op::RemoveRun(from, count) => (*from..from + count).for_each(|at| pair.remove(format!("run:{at}").as_bytes())),
        Op::Turn(member, number) => {
            let form = SetForm::of_number(*number).expect("one of three");
            let is_new = !pair.set.contains(member);
            let form = form.max(pair.set.form_with(member, 1, LIMITS));
            assert_eq!(pair.set.add(member, form), is_new);
            if is_new {
                pair.twin.turn(form);
                pair.twin.members.push(member.clone());
            }
        }
        Op::RemoveAt(gaps) => {
            let (mut at, mut runs) = (0, Vec::new());
            for (gap, count) in gaps {
                let (start, end) = (at + 1 + u64::from(*gap), at + 1 + u64::from(*gap) + u64::from(*count));
                if end < pair.set.len() {
                    runs.push((start, end - start));
                    at = end;
                }
            }
            let ordered = members(&pair.set);
            for (start, count) in &runs {
                for member in &ordered[*start as usize..(start + count) as usize] {
                    pair.twin.members.retain(|other| other != member);
                }
            }
            if !runs.is_empty() {
                pair.set.remove_runs(runs.into_iter());
            }
        }
        Op::Clone => clones.push(pair.clone()),
        Op::Recode => pair.set = recoded(&pair.set),
    }
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_set_matches_its_naive_twin(ops in vec(op(), 0..120)) {
        let (mut pair, mut clones) = (Pair::default(), Vec::new());
        for op in &ops {
            run(op, &mut pair, &mut clones);
        }
        pair.check();
        clones.iter().for_each(Pair::check);
    }

    #[test]
    fn algebra_results_match_those_of_naive_sets(
        parts in vec((vec(member(), 0..12), 0..2000u32, 0..600u32), 1..5),
        which in 0..3usize,
        count_max in prop_oneof![Just(u64::MAX), 1..40u64],
    ) {
        let all: Vec<Vec<Vec<u8>>> = parts.into_iter().map(|(mut members, from, count)| {
            if from % 2 == 0 {
                members.extend((from..from + count).map(|at| format!("m{at}").into_bytes()));
            }
            members
        }).collect();
        let twins: Vec<BTreeSet<Vec<u8>>> = all.iter().map(|members| members.iter().cloned().collect()).collect();
        let (first, others) = twins.split_first().expect("one at least");
        let operation = [SetOperation::Intersection, SetOperation::Union, SetOperation::Difference][which];
        let expected: BTreeSet<Vec<u8>> = match operation {
            SetOperation::Intersection => first.iter().filter(|it| others.iter().all(|other| other.contains(*it))).cloned().collect(),
            SetOperation::Difference => first.iter().filter(|it| !others.iter().any(|other| other.contains(*it))).cloned().collect(),
            SetOperation::Union => twins.iter().flatten().cloned().collect(),
        };
        let sets: Vec<Set> = all.iter().map(|members| set_of(members)).collect();
        let result = SetAlgebra::new(operation, sets.clone(), SetGoal::Stored(LIMITS)).run();
        result.list().check();
        recoded(&result);
        prop_assert_eq!(members(&result).into_iter().collect::<BTreeSet<_>>(), expected.clone());
        prop_assert_eq!(result.len(), expected.len() as u64);
        for limits in [LIMITS, SetLimits { intset_entries: 3, ..LIMITS }] {
            let result = SetAlgebra::new(operation, sets.clone(), SetGoal::Stored(limits)).run();
            let (count, are_integers) = (expected.len() as u64, expected.iter().all(|member| parse_int(member).is_some()));
            let are_short = expected.iter().all(|member| member.len() as u64 <= limits.listpack_value);
            let form = match () {
                () if are_integers && count <= limits.intset_entries => SetForm::Integers,
                () if !are_integers && are_short && count <= limits.listpack_entries => SetForm::Listed,
                () => SetForm::Hashed,
            };
            prop_assert_eq!(result.form(), form);
            prop_assert_eq!(result.len(), count);
        }
        let shown = SetAlgebra::new(operation, sets.clone(), SetGoal::Members).run();
        shown.list().check();
        prop_assert_eq!(shown.len(), expected.len() as u64);
        prop_assert_eq!(members(&shown).into_iter().collect::<BTreeSet<_>>(), expected.clone());
        if operation == SetOperation::Intersection {
            let mut counted = SetAlgebra::new(operation, sets.clone(), SetGoal::Count(count_max));
            while !counted.step() {}
            prop_assert_eq!(counted.count(), count_max.min(expected.len() as u64));
        }
        for (set, members) in sets.iter().zip(&all) {
            prop_assert_eq!(set.len(), members.iter().collect::<BTreeSet<_>>().len() as u64);
        }
    }

    #[test]
    fn foreign_bytes_are_refused_or_decode_to_a_sound_set(bytes in vec(any::<u8>(), 0..80), at in any::<usize>(), to in any::<u8>()) {
        let _ = decoded(&bytes);
        let mut encoded = Vec::new();
        set_of(&bytes.chunks(3).map(<[u8]>::to_vec).collect::<Vec<_>>()).list().encode(&mut encoded);
        let len = encoded.len();
        encoded[at % len] = to;
        if let Some(set) = decoded(&encoded) {
            let all = members(&set);
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
            for member in &all {
                prop_assert!(set.contains(member));
            }
        }
    }
}

#[test]
fn unordered_or_duplicate_members_are_refused() {
    let is_set = |items: &[&[u8]]| {
        let mut list = List::new();
        items.iter().for_each(|item| list.push(blocks::End::Tail, item));
        Set::of_list(list).is_some()
    };
    let [one, two, integers] = [[0xf9, 0, 0, 1], [0xf9, 0, 0, 2], [0xff, 0, 0, 0]];
    assert!(is_set(&[&integers, &one, &two]));
    assert!(!is_set(&[&integers, &two, &one]));
    assert!(!is_set(&[&integers, &one, &one]));
    assert!(!is_set(&[&integers, &one, b"a"]));
    assert!(!is_set(&[&integers]));
    assert!(!is_set(&[&[0xff, 0], &one]));
    assert!(!is_set(&[]));
    let listed = [0xff, 1];
    assert!(is_set(&[&listed, &two, b"a", &one]));
    assert!(!is_set(&[&listed, b"a", b"b", b"a"]));
    assert!(!is_set(&[&listed, b"1"]));
    assert!(!is_set(&[&listed, &listed]));
    assert!(!is_set(&[&[0xff, 2], b"a"]));
    let mut pair: [&[u8]; 2] = [b"a", b"b"];
    pair.sort_by_key(|item| hash::order(item));
    assert!(is_set(&pair));
    assert!(!is_set(&[pair[1], pair[0]]));
    assert!(!is_set(&[pair[0], pair[0]]));
}

/// Published limits: `set-max-intset-entries` 512, `set-max-listpack-entries` 128, `set-max-listpack-value` 64.
#[test]
fn encodings_change_at_the_limits_that_redis_documents() {
    let limits = SetLimits::default();
    let form = |members: &mut dyn Iterator<Item = String>| {
        let mut set = Set::new();
        for member in members {
            set.add(member.as_bytes(), set.form_with(member.as_bytes(), 1, limits));
        }
        set.form().encoding()
    };
    assert_eq!(form(&mut (0..512).map(|number| number.to_string())), "intset");
    assert_eq!(form(&mut (0..513).map(|number| number.to_string())), "hashtable");
    assert_eq!(form(&mut (0..128).map(|number| format!("m{number}"))), "listpack");
    assert_eq!(form(&mut (0..129).map(|number| format!("m{number}"))), "hashtable");
    assert_eq!(form(&mut ["x".repeat(64)].into_iter()), "listpack");
    assert_eq!(form(&mut ["x".repeat(65)].into_iter()), "hashtable");
    assert_eq!(form(&mut (0..127).map(|number| number.to_string()).chain(["a".into()])), "listpack");
    assert_eq!(form(&mut (0..128).map(|number| number.to_string()).chain(["a".into()])), "hashtable");
}

/// Counts all memory, for members added in random order, at sizes between block splits; a million with more cases.
#[test]
fn members_of_large_sets_take_few_bytes() {
    let scale = if cases() > 200 { 10 } else { 1 };
    for count in [70_000u64, 100_000, 140_000].map(|count| scale * count) {
        let (mut integers, mut texts) = (Set::new(), Set::new());
        let mut random = 1u64;
        let mut draw = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 11
        };
        while integers.len() < count {
            integers.add((1_000_000 + draw() % 9_000_000).to_string().as_bytes(), SetForm::Hashed);
        }
        while texts.len() < count {
            texts.add(&[draw().to_be_bytes(), draw().to_le_bytes()].concat()[3..13], SetForm::Hashed);
        }
        let bytes = |set: &Set| set.heap_bytes() as f64 / set.len() as f64;
        println!("{count}: integers {:.2}, 10 bytes {:.2}", bytes(&integers), bytes(&texts));
        assert!(bytes(&integers) <= 6.0);
        assert!(bytes(&texts) <= 15.0);
    }
}
