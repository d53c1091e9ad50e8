//! The hash against a naive twin: after any operations they are equal, in both forms and in encoded bytes.

use base::hash::order;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use values::hash::Pair;
use values::{Hash, Value, ValueType};

#[derive(Clone, Debug)]
enum Step {
    Put(u16, Vec<u8>, Option<u64>),
    SetExpiry(u16, Option<u64>),
    Remove(u16),
    Expire(u64),
    Grow,
    /// Encodes and decodes the hash.
    Encode,
    /// Keeps a clone, which must be unchanged at the end.
    Clone,
}

fn deadline() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![2 => Just(None), 2 => (0..40u64).prop_map(Some), 1 => any::<u64>().prop_map(Some)]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        9 => prop::collection::vec(any::<u8>(), 0..30),
        1 => (0..6_000usize).prop_map(|bytes| vec![b'x'; bytes]),
    ]
}

fn step(fields: u16, grow: u32) -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..fields, value(), deadline()).prop_map(|(field, value, at)| Step::Put(field, value, at)),
        4 => (0..fields, deadline()).prop_map(|(field, at)| Step::SetExpiry(field, at)),
        6 => (0..fields).prop_map(Step::Remove),
        1 => (0..5u64).prop_map(Step::Expire),
        grow => Just(Step::Grow),
        1 => Just(Step::Encode),
        1 => Just(Step::Clone),
    ]
}

/// Names of several lengths, including the empty one.
fn name(field: u16) -> Vec<u8> {
    match field {
        0 => Vec::new(),
        field if field % 7 == 0 => format!("{field:0200}").into_bytes(),
        field => format!("f{field}").into_bytes(),
    }
}

/// Value and deadline.
type Held = (Vec<u8>, Option<u64>);
type Twin = BTreeMap<Vec<u8>, Held>;

#[derive(Default)]
struct Both {
    hash: Hash,
    twin: Twin,
    kept: Vec<(Hash, Twin)>,
}

fn contents(hash: &Hash) -> Vec<(Vec<u8>, Held)> {
    let mut all = Vec::new();
    let _ = hash.walk(&mut |pair| {
        all.push((pair.field.to_vec(), (pair.value.to_vec(), pair.expires_at_ms)));
        ControlFlow::Continue(())
    });
    all
}

impl Both {
    fn run(&mut self, step: &Step) {
        match step {
            Step::Put(field, value, expires_at_ms) => {
                let field = name(*field);
                let is_new = self.hash.put(Pair { field: &field, value, expires_at_ms: *expires_at_ms });
                assert_eq!(is_new, self.twin.insert(field, (value.clone(), *expires_at_ms)).is_none());
            }
            Step::SetExpiry(field, expires_at_ms) => {
                let there = self.hash.set_expiry(&name(*field), *expires_at_ms);
                let twin = self.twin.get_mut(&name(*field));
                assert_eq!(there, twin.is_some());
                twin.into_iter().for_each(|(_, at_ms)| *at_ms = *expires_at_ms);
            }
            Step::Remove(field) => {
                assert_eq!(self.hash.remove(&name(*field)), self.twin.remove(&name(*field)).is_some());
            }
            Step::Expire(count) => {
                let mut dues: Vec<_> = self
                    .twin
                    .iter()
                    .filter_map(|(field, (_, at))| Some(((*at)?, order(field), field.clone())))
                    .collect();
                dues.sort();
                let fits = *count as usize <= dues.len();
                assert_eq!(self.hash.expire(*count), fits);
                let gone = dues.iter().take(if fits { *count as usize } else { 0 });
                gone.for_each(|(_, _, field)| drop(self.twin.remove(field)));
            }
            Step::Grow => self.hash.grow(),
            Step::Encode if self.twin.is_empty() => {}
            Step::Encode => {
                let mut bytes = Vec::new();
                let value = Value::Hash(self.hash.clone());
                value.encode(&mut bytes);
                assert_eq!(bytes.len() as u64, value.encoded_bytes());
                let mut input = &bytes[..];
                let Some(Value::Hash(hash)) = Value::decode(ValueType::Hash, &mut input) else { panic!("a hash") };
                assert!(input.is_empty());
                self.hash = hash;
            }
            Step::Clone => self.kept.push((self.hash.clone(), self.twin.clone())),
        }
    }

    fn check(&self) {
        check(&self.hash, &self.twin);
        self.kept.iter().for_each(|(hash, twin)| check(hash, twin));
    }
}

fn check(hash: &Hash, twin: &Twin) {
    let all = contents(hash);
    assert_eq!(hash.len() as usize, twin.len());
    assert_eq!(hash.is_empty(), twin.is_empty());
    assert_eq!(all.iter().cloned().collect::<Twin>(), *twin);
    if hash.is_large() {
        assert!(all.is_sorted_by_key(|(field, _)| (order(field), field.clone())));
        for (at, (field, _)) in all.iter().enumerate() {
            assert_eq!(hash.place_of_order(order(field)), at as u64);
        }
    }
    assert_eq!(hash.next_due(), twin.values().filter_map(|(_, at)| *at).min());
    for now in [0, 1, 7, 20, 39, 1 << 40, u64::MAX] {
        let is_live = |at: &Option<u64>| at.is_none_or(|at| at > now);
        let live = twin.values().filter(|(_, at)| is_live(at)).count() as u64;
        assert_eq!(hash.live_len(now), live);
        assert_eq!(hash.is_spent(now), live == 0 && !twin.is_empty());
        for (field, (value, at)) in twin {
            let found = hash.get(field, now, |pair| (pair.value.to_vec(), pair.expires_at_ms));
            assert_eq!(found, is_live(at).then(|| (value.clone(), *at)));
        }
    }
    assert_eq!(hash.get(b"never put", 0, |_| ()), None);
    assert_eq!(hash.expires_at_ms(b"never put"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hash_matches_its_naive_twin(steps in prop::collection::vec(step(60, 1), 1..300)) {
        let mut both = Both::default();
        steps.iter().for_each(|step| both.run(step));
        both.check();
    }

    #[test]
    fn a_small_hash_keeps_insertion_order(steps in prop::collection::vec(step(20, 0), 1..60)) {
        let mut both = Both::default();
        let mut came: Vec<Vec<u8>> = Vec::new();
        for step in steps.iter().filter(|step| !matches!(step, Step::Grow)) {
            both.run(step);
            came.retain(|field| both.twin.contains_key(field));
            if let Step::Put(field, ..) = step && !came.contains(&name(*field)) {
                came.push(name(*field));
            }
        }
        both.check();
        prop_assert!(!both.hash.is_large());
        prop_assert_eq!(contents(&both.hash).into_iter().map(|(field, _)| field).collect::<Vec<_>>(), came);
    }

    #[test]
    fn corrupted_bytes_are_refused_or_decode_to_a_sound_hash(
        steps in prop::collection::vec(step(30, 1), 1..60),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut both = Both::default();
        steps.iter().for_each(|step| both.run(step));
        let mut bytes = Vec::new();
        Value::Hash(both.hash).encode(&mut bytes);
        let len = bytes.len();
        flips.iter().for_each(|(at, byte)| bytes[at.index(len)] ^= byte);
        if let Some(Value::Hash(hash)) = Value::decode(ValueType::Hash, &mut &bytes[..]) {
            let twin: Twin = contents(&hash).into_iter().collect();
            check(&hash, &twin);
            let mut both = Both { hash, twin, kept: Vec::new() };
            steps.iter().for_each(|step| both.run(step));
            both.check();
        }
    }
}

/// Decodes a list of these items as a hash.
fn decoded(items: &[&[u8]]) -> Option<Value> {
    let mut list = values::List::new();
    items.iter().for_each(|item| list.push(blocks::End::Tail, item));
    let mut bytes = Vec::new();
    list.encode(&mut bytes);
    Value::decode(ValueType::Hash, &mut &bytes[..])
}

#[test]
fn malformed_hashes_are_refused() {
    let due = [7u64.to_be_bytes(), order(b"a").to_be_bytes()].concat();
    let other = [8u64.to_be_bytes(), order(b"a").to_be_bytes()].concat();
    let (a, b, timed) = (&b"\x02aA"[..], &b"\x02bB"[..], &b"\x03a\x07A"[..]);
    assert!(decoded(&[&[0], a, b]).is_some());
    assert!(decoded(&[&[1, 1], &due, timed, b]).is_some());
    let (first, last) = if order(b"a") < order(b"b") { (a, b) } else { (b, a) };
    assert!(decoded(&[&[2], first, last]).is_some());
    for (items, why) in [
        (&[][..], "nothing at all"),
        (&[&[0u8][..]], "a head alone"),
        (&[&[3], a], "an unknown form"),
        (&[&[], a], "an empty head"),
        (&[&[0, 0], a], "no dues, said"),
        (&[&[0, 1], &due, timed], "a due in a small one without"),
        (&[&[1, 1], timed], "a due that is missing"),
        (&[&[1], timed], "a deadline without a due"),
        (&[&[1, 1], &other, timed], "the due of another time"),
        (&[&[1, 1], &due, a], "a due without a deadline"),
        (&[&[1, 2], &due, &due, timed], "a due too many"),
        (&[&[1, 1], &due[1..], timed], "a due cut short"),
        (&[&[0], a, a], "a field twice"),
        (&[&[2], last, first], "out of order"),
        (&[&[2], first, first], "twice in order"),
        (&[&[0], &[0x06, b'a']], "a field cut short"),
        (&[&[0], &[]], "an empty item"),
        (&[&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], a], "dues without end"),
    ] {
        assert!(decoded(items).is_none(), "{why}");
    }
}

/// The design's target: 34 bytes per field of a million, in any insertion order.
#[test]
fn a_large_hash_takes_at_most_34_bytes_a_field() {
    let mut hash = Hash::default();
    let mut worst: f64 = 0.0;
    for number in 0..1_400_000u64 {
        let field = format!("field:{:07}", number.wrapping_mul(7_368_787) % 10_000_000);
        hash.put(Pair { field: field.as_bytes(), value: b"value 1234567", expires_at_ms: None });
        hash.grow();
        if [700_000, 1_000_000, 1_400_000].contains(&(number + 1)) {
            worst = worst.max(hash.heap_bytes() as f64 / hash.len() as f64);
        }
    }
    assert_eq!(hash.len(), 1_400_000);
    println!("{worst:.2} bytes a field");
    assert!(worst <= 34.0, "{worst} bytes a field");
}
