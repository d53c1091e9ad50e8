//! Deadlines of a section beside a naive twin that looks at every key.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Keys go so much after their deadline at the latest, in milliseconds.
const LATE_MS: Ms = 32;
const SHARD: usize = 5;

#[derive(Clone, Debug)]
enum Step {
    Put(u16, Option<Ms>),
    SetExpiry(u16, Option<Ms>),
    /// To this much later than its deadline.
    Slide(u16, Ms),
    Remove(u16),
    /// Changed, and put back as it was.
    Abandon(u16, Option<Ms>),
    /// So much time passes, and what is due goes.
    Expire(Ms),
}

fn delay() -> impl Strategy<Value = Ms> {
    prop_oneof![4 => 0..3_000u64, 2 => 0..200_000u64, 1 => 0..40_000_000_000u64]
}

fn step(keys: u16) -> impl Strategy<Value = Step> {
    let deadline = || prop_oneof![1 => Just(None), 5 => delay().prop_map(Some)];
    prop_oneof![
        6 => (0..keys, deadline()).prop_map(|(key, at)| Step::Put(key, at)),
        6 => (0..keys, deadline()).prop_map(|(key, at)| Step::SetExpiry(key, at)),
        4 => (0..keys, delay()).prop_map(|(key, by)| Step::Slide(key, by)),
        3 => (0..keys).prop_map(Step::Remove),
        1 => (0..keys, deadline()).prop_map(|(key, at)| Step::Abandon(key, at)),
        1 => prop_oneof![0..500u64, 0..20_000u64].prop_map(Step::Expire),
    ]
}

/// A section, and beside it every key's deadline.
struct Pair {
    section: Section,
    twin: BTreeMap<u16, Option<Ms>>,
    now: Ms,
    /// So many hashes there are.
    tags: u64,
}

fn name(key: u16) -> Vec<u8> {
    key.to_string().into_bytes()
}

impl Pair {
    fn hash(&self, key: u16) -> u64 {
        (SHARD as u64) << 54 | (u64::from(key) % self.tags) << 34
    }

    fn run(&mut self, step: &Step) {
        let after = |at: &Option<Ms>| at.map(|delay| self.now + delay);
        match step {
            Step::Put(key, at) => self.put(*key, after(at)),
            Step::SetExpiry(key, at) => self.set_expiry(*key, after(at)),
            Step::Slide(key, by) => {
                let at = self.twin.get(key).copied().flatten().map(|at| at + by);
                self.set_expiry(*key, at);
            }
            Step::Remove(key) => {
                self.section.remove(self.hash(*key), &name(*key));
                self.twin.remove(key);
            }
            Step::Abandon(key, at) => {
                let (hash, at) = (self.hash(*key), after(at));
                let old = self.section.copy(hash, &name(*key));
                self.section.put_text(hash, &name(*key), b"other", at);
                self.section.restore(hash, &name(*key), old);
            }
            Step::Expire(passed) => {
                self.now += passed;
                self.expire();
            }
        }
    }

    fn put(&mut self, key: u16, at: Option<Ms>) {
        self.section.put_text(self.hash(key), &name(key), b"text", at);
        self.twin.insert(key, at);
    }

    fn set_expiry(&mut self, key: u16, at: Option<Ms>) {
        let is_there = self.section.set_expiry(self.hash(key), &name(key), at);
        assert_eq!(is_there, self.twin.contains_key(&key));
        if is_there {
            self.twin.insert(key, at);
        }
    }

    fn expire(&mut self) {
        let hints = self.section.deadlines.hints_count();
        for looks in 0.. {
            // Each hint is seen once, and once more for each key that goes or that is put back within this pass.
            assert!(looks <= 2 * hints + self.twin.len() + 1, "a pass does not end");
            match self.section.next_expired(SHARD, self.now, u64::MAX, 1) {
                Due::Nothing => break,
                Due::More => {}
                Due::Key(hash, name) => {
                    let key = std::str::from_utf8(&name).unwrap().parse().unwrap();
                    let at = self.twin.remove(&key).expect("it is there").expect("it expires");
                    assert!(at <= self.now, "{key} went {} ms before its time", at - self.now);
                    assert_eq!(hash, self.hash(key));
                    self.section.remove(hash, &name);
                }
            }
        }
        let left = self.twin.iter().find(|(_, at)| at.is_some_and(|at| at + LATE_MS <= self.now));
        assert_eq!(left, None, "at {}", self.now);
        assert!(self.section.next_due().is_none_or(|due| due > self.now), "the keeper would run on");
    }

    fn check(&self) {
        let deadlines = &self.section.deadlines;
        let mut first = BTreeMap::new();
        for hint in deadlines.hints() {
            first.entry(hint & 0xf_ffff).or_insert(hint >> 20);
        }
        for (key, at) in self.twin.iter().filter_map(|(key, at)| Some((*key, (*at)?))) {
            let tick = first.get(&(u64::from(key) % self.tags));
            assert!(tick.is_some_and(|tick| *tick <= at.div_ceil(LATE_MS)), "nothing leads to {key} at {at}");
        }
    }

    fn check_sums(&self) {
        let expiring = self.twin.values().flatten().count();
        assert_eq!(self.section.expiring_count(), expiring);
        // At most as many outdated ones as keys that expire, and some.
        assert!(self.section.deadlines.hints_count() <= 2 * expiring + 2 * OUTDATED_HINTS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_go_in_time_and_hints_stay_few(
        tags in prop_oneof![Just(3u64), Just(40), Just(1 << 20)],
        steps in prop_oneof![Just(20u16), Just(700)].prop_flat_map(|keys| prop::collection::vec(step(keys), 1..3_000)),
    ) {
        let mut pair = Pair { section: Section::default(), twin: BTreeMap::new(), now: 1_790_000_000_000, tags };
        for (index, step) in steps.iter().enumerate() {
            pair.run(step);
            pair.check_sums();
            if index % 32 == 0 {
                pair.check();
            }
        }
        pair.check();
        pair.now += 1 << 40;
        pair.expire();
        prop_assert_eq!(pair.section.deadlines.heap_bytes(), 0);
    }
}

#[test]
fn deadlines_that_slide_add_no_hints() {
    let mut section = Section::default();
    for at_ms in 1..100_000 {
        section.put_text(7 << 34, b"session", b"text", Some(at_ms));
    }
    assert_eq!(section.deadlines.hints_count(), 1);
    // The hint was due long ago; it is put back, once.
    assert!(matches!(section.next_expired(0, 50_000, u64::MAX, 1), Due::More));
    assert!(matches!(section.next_expired(0, 50_000, u64::MAX, 1), Due::Nothing));
    assert!(matches!(section.next_expired(0, 100_031, u64::MAX, 1), Due::Key(..)));
}

#[test]
fn many_keys_without_a_deadline_are_not_looked_at_for_few_with_one() {
    let mut section = Section::default();
    let hash = |key: u64| (key % (1 << 20)) << 34;
    for key in 0..20_000u64 {
        section.put_text(hash(key), &key.to_le_bytes(), b"text", None);
    }
    for key in 0..20_000u64 {
        section.set_expiry(hash(key), &key.to_le_bytes(), Some(1_000_000 + key * 977 % 500_000));
    }
    assert_eq!(section.deadlines.hints_count(), 20_000);
    for key in 0..20_000u64 {
        section.set_expiry(hash(key), &key.to_le_bytes(), None);
        let (hints, keys) = (section.deadlines.hints_count(), section.expiring_count());
        assert!(hints <= 2 * keys + 2 * OUTDATED_HINTS, "{hints} hints for {keys} keys");
    }
}
