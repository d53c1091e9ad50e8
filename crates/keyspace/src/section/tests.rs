//! Deadlines of a section against a naive model that looks at every key.

use super::*;
use blocks::End;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Maximum delay of expiry after a deadline, in milliseconds.
const LATE_MS: Ms = 32;
const SHARD: usize = 5;

#[derive(Clone, Debug)]
enum Step {
    Put(u16, Option<Ms>),
    SetExpiry(u16, Option<Ms>),
    /// Moves the deadline this much later.
    Slide(u16, Ms),
    Remove(u16),
    /// Changed, then restored.
    Abandon(u16, Option<Ms>),
    /// Time passes, and due keys are removed.
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

/// A section and the model: every key's deadline.
struct Pair {
    section: Section,
    twin: BTreeMap<u16, Option<Ms>>,
    now: Ms,
    /// Number of distinct hashes.
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
            // Each hint is seen once, and once more for each key removed or rescheduled within this pass.
            assert!(looks <= 2 * hints + self.twin.len() + 1, "a pass does not end");
            match self.section.next_expired(self.now, u64::MAX, 1) {
                Due::Nothing => break,
                Due::More => {}
                Due::Key(name) => {
                    let key = std::str::from_utf8(&name).unwrap().parse().unwrap();
                    let at = self.twin.remove(&key).expect("it is there").expect("it expires");
                    assert!(at <= self.now, "{key} went {} ms before its time", at - self.now);
                    self.section.remove(self.hash(key), &name);
                }
            }
        }
        let left = self.twin.iter().find(|(_, at)| at.is_some_and(|at| at + LATE_MS <= self.now));
        assert_eq!(left, None, "at {}", self.now);
        assert!(self.section.next_due().is_none_or(|due| due > self.now), "the housekeeper would loop");
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
        // At most as many outdated ones as expiring keys, and some.
        assert!(self.section.deadlines.hints_count() <= 2 * expiring + 2 * OUTDATED_HINTS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_expire_in_time_and_hints_stay_few(
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
fn average_due_is_close_to_the_mean_deadline() {
    let mut section = Section::default();
    assert_eq!(section.average_due(), None);
    let (first, apart) = (1_790_000_000_000, 50_000);
    for n in 0..10_000 {
        section.put_text(n << 34, &n.to_le_bytes(), b"text", Some(first + n * apart));
    }
    let (right, guessed) = (first + 4_999 * apart, section.average_due().unwrap());
    assert!(guessed.abs_diff(right) < 100 * apart, "{guessed} for {right}");
}

#[test]
fn moving_a_deadline_later_adds_no_hints() {
    let mut section = Section::default();
    for at_ms in 1..100_000 {
        section.put_text(7 << 34, b"session", b"text", Some(at_ms));
    }
    assert_eq!(section.deadlines.hints_count(), 1);
    // The hint was due long ago; it is rescheduled, once.
    assert!(matches!(section.next_expired(50_000, u64::MAX, 1), Due::More));
    assert!(matches!(section.next_expired(50_000, u64::MAX, 1), Due::Nothing));
    assert!(matches!(section.next_expired(100_031, u64::MAX, 1), Due::Key(_)));
}

#[test]
fn hints_of_cleared_deadlines_are_dropped() {
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

/// A change to a hash, by key and field.
#[derive(Clone, Debug)]
enum FieldStep {
    Put(u16, u8, Option<Ms>),
    RemoveField(u16, u8),
    SetExpiry(u16, Option<Ms>),
    Remove(u16),
    /// Changed, then restored.
    Abandon(u16, Option<Ms>),
    /// Its value is filled in as one that was left unread.
    Fill(u16),
    Expire(Ms),
}

fn field_step(keys: u16) -> impl Strategy<Value = FieldStep> {
    let deadline = || prop_oneof![1 => Just(None), 3 => delay().prop_map(Some)];
    prop_oneof![
        10 => (0..keys, 0..6u8, deadline()).prop_map(|(key, field, at)| FieldStep::Put(key, field, at)),
        3 => (0..keys, 0..6u8).prop_map(|(key, field)| FieldStep::RemoveField(key, field)),
        2 => (0..keys, deadline()).prop_map(|(key, at)| FieldStep::SetExpiry(key, at)),
        1 => (0..keys).prop_map(FieldStep::Remove),
        1 => (0..keys, deadline()).prop_map(|(key, at)| FieldStep::Abandon(key, at)),
        1 => (0..keys).prop_map(FieldStep::Fill),
        2 => prop_oneof![0..500u64, 0..20_000u64].prop_map(FieldStep::Expire),
    ]
}

/// The deadline of a key, and the deadlines of its fields.
type KeyTimes = (Option<Ms>, BTreeMap<u8, Option<Ms>>);

/// A section of hashes, and a model of the deadlines of every key and its fields.
struct Hashes {
    section: Section,
    twin: BTreeMap<u16, KeyTimes>,
    now: Ms,
    tags: u64,
}

impl Hashes {
    fn hash(&self, key: u16) -> u64 {
        (SHARD as u64) << 54 | (u64::from(key) % self.tags) << 34
    }

    fn put(&mut self, key: u16, field: u8, expires_at_ms: Option<Ms>) {
        let pair = values::hash::Pair { field: &[field], value: b"value", expires_at_ms };
        self.section.change(self.hash(key), &name(key), |hash: &mut Hash| hash.put(pair)).expect("a hash");
    }

    fn run(&mut self, step: &FieldStep) {
        let after = |at: &Option<Ms>| at.map(|delay| self.now + delay);
        match step {
            FieldStep::Put(key, field, at) => {
                let at = after(at);
                self.put(*key, *field, at);
                self.twin.entry(*key).or_default().1.insert(*field, at);
            }
            FieldStep::RemoveField(key, field) => {
                self.section.change(self.hash(*key), &name(*key), |hash: &mut Hash| hash.remove(&[*field])).unwrap();
                let left = self.twin.get_mut(key).map(|(_, fields)| {
                    fields.remove(field);
                    fields.len()
                });
                if left == Some(0) {
                    self.twin.remove(key);
                }
            }
            FieldStep::SetExpiry(key, at) => {
                let at = after(at);
                if self.section.set_expiry(self.hash(*key), &name(*key), at) {
                    self.twin.get_mut(key).expect("it is there").0 = at;
                }
            }
            FieldStep::Remove(key) => {
                self.section.remove(self.hash(*key), &name(*key));
                self.twin.remove(key);
            }
            FieldStep::Abandon(key, at) => {
                let (hash, at) = (self.hash(*key), after(at));
                let old = self.section.copy(hash, &name(*key));
                self.put(*key, 7, at);
                self.section.restore(hash, &name(*key), old);
            }
            FieldStep::Fill(key) => {
                let hash = self.hash(*key);
                let Some(entry) = self.section.find(hash, &name(*key)) else { return };
                let (whole, at) = (value_of::<Hash>(entry).expect("a hash").clone(), entry.expires_at_ms());
                self.section.put_value(hash, &name(*key), Value::nothing(ValueType::Hash), at);
                assert!(self.section.fill(hash, &name(*key), Value::Hash(whole)).is_none());
            }
            FieldStep::Expire(passed) => {
                self.now += passed;
                self.expire();
            }
        }
    }

    fn expire(&mut self) {
        let now = self.now;
        loop {
            match self.section.next_expired(now, u64::MAX, 1) {
                Due::Nothing => break,
                Due::More => {}
                Due::Key(name) => {
                    let hash = self.hash(std::str::from_utf8(&name).unwrap().parse().unwrap());
                    if !is_live(self.section.find(hash, &name).expect("it is there"), now) {
                        self.section.remove(hash, &name);
                        continue;
                    }
                    let some = |hash: &mut Hash| {
                        let count = hash.expired_count(now).min(2);
                        assert!(count > 0 && hash.expire(count), "it was given for nothing");
                    };
                    self.section.change(hash, &name, some).expect("a hash");
                    self.section.renew_due(hash, &name);
                }
            }
        }
        assert!(self.section.next_due().is_none_or(|due| due > now), "the housekeeper would loop");
        let is_left = |at: &Option<Ms>| at.is_none_or(|at| at + LATE_MS > now);
        self.twin.retain(|_, (at, fields)| {
            fields.retain(|_, at| is_left(at));
            is_left(at) && !fields.is_empty()
        });
        // Fields that fell due within the last tick may also be gone.
        let mut there = BTreeMap::new();
        for (key, (key_at, fields)) in &self.twin {
            let found = self.section.find(self.hash(*key), &name(*key));
            let hash = found.map(|entry| value_of::<Hash>(entry).expect("a hash"));
            let is_there = |field: u8| hash.is_some_and(|hash| hash.expires_at_ms(&[field]).is_some());
            let is_due = |at: &Option<Ms>| at.is_some_and(|at| at <= now);
            let left: BTreeMap<_, _> =
                fields.iter().filter(|(field, _)| is_there(**field)).map(|(f, at)| (*f, *at)).collect();
            let mut gone = fields.iter().filter(|(field, _)| !is_there(**field));
            assert!(gone.all(|(_, at)| is_due(at)) || is_due(key_at), "a field of {key} went before its time");
            if hash.is_some() {
                there.insert(*key, (*key_at, left));
            }
        }
        self.twin = there;
        assert_eq!(self.section.keys_count(), self.twin.len(), "a key without fields, or one too late");
        let fields = |entry: Entry<'_>| value_of::<Hash>(entry).expect("a hash").len();
        let fields_count: u64 = self.section.scan(0).map(|(_, entry)| fields(entry)).sum();
        assert_eq!(fields_count, self.twin.values().map(|(_, fields)| fields.len() as u64).sum::<u64>());
    }

    fn check_sums(&self) {
        assert_eq!(self.section.expiring_count(), self.twin.values().filter(|(at, _)| at.is_some()).count());
        let falls_due = |(at, fields): &&KeyTimes| at.is_some() || fields.values().any(Option::is_some);
        let due_count = self.twin.values().filter(falls_due).count();
        assert_eq!(self.section.due_count, due_count);
        assert!(self.section.deadlines.hints_count() <= 2 * due_count + 2 * OUTDATED_HINTS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fields_expire_in_time_and_hints_stay_few(
        tags in prop_oneof![Just(3u64), Just(40), Just(1 << 20)],
        steps in prop_oneof![Just(5u16), Just(200)].prop_flat_map(|keys| prop::collection::vec(field_step(keys), 1..1_000)),
    ) {
        let mut hashes = Hashes { section: Section::default(), twin: BTreeMap::new(), now: 1_790_000_000_000, tags };
        for step in &steps {
            hashes.run(step);
            hashes.check_sums();
        }
        hashes.now += 1 << 41;
        hashes.expire();
        let outdated = hashes.section.deadlines.hints_count();
        prop_assert_eq!(outdated, 0);
    }
}

/// Returns the expected totals of values, by looking at each entry.
fn values_of(section: &Section) -> (u64, usize, u64) {
    let (mut strings_bytes, mut others_count, mut others_bytes) = (0, 0, 0);
    for (_, entry) in section.scan(0) {
        if kind_of(entry) == ValueType::String {
            strings_bytes += held_bytes(entry.content());
        } else {
            others_count += 1;
            others_bytes += held_bytes(entry.content());
        }
    }
    (strings_bytes, others_count, others_bytes)
}

#[derive(Clone, Debug)]
enum Put {
    String(u16, usize),
    Append(u16, usize),
    List(u16, usize),
    Push(u16, usize),
    Clear(u16),
    Turn(u16),
    Remove(u16),
    /// Removed, then restored.
    Abandon(u16),
}

fn put() -> impl Strategy<Value = Put> {
    let bytes = || prop_oneof![3 => 0..40usize, 1 => 0..200_000usize];
    let key = 0..6u16;
    prop_oneof![
        3 => (key.clone(), bytes()).prop_map(|(key, bytes)| Put::String(key, bytes)),
        2 => (key.clone(), bytes()).prop_map(|(key, bytes)| Put::Append(key, bytes)),
        2 => (key.clone(), 1..300usize).prop_map(|(key, items)| Put::List(key, items)),
        2 => (key.clone(), 1..300usize).prop_map(|(key, items)| Put::Push(key, items)),
        1 => key.clone().prop_map(Put::Clear),
        1 => key.clone().prop_map(Put::Turn),
        1 => key.clone().prop_map(Put::Remove),
        1 => key.prop_map(Put::Abandon),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn totals_of_strings_and_other_values_match_the_entries(steps in prop::collection::vec(put(), 1..60)) {
        let mut section = Section::default();
        let items = |count: usize| (0..count).map(|at| at.to_string().into_bytes()).collect::<Vec<_>>();
        let list = |count: usize| {
            let mut list = List::new();
            items(count).iter().for_each(|item| list.push(End::Tail, item));
            list
        };
        for step in &steps {
            let (Put::String(key, _) | Put::Append(key, _) | Put::List(key, _) | Put::Push(key, _)
                | Put::Clear(key) | Put::Turn(key) | Put::Remove(key) | Put::Abandon(key)) = step;
            let (hash, name) = (u64::from(*key) << 34, name(*key));
            match step {
                Put::String(_, bytes) => section.put_text(hash, &name, &vec![b'x'; *bytes], None),
                Put::Append(_, bytes) => {
                    section.append_text(hash, &name, &vec![b'x'; *bytes]);
                }
                Put::List(_, count) => section.put_value(hash, &name, list(*count).into_value(), None),
                Put::Push(_, count) => {
                    section.change(hash, &name, |list: &mut List| items(*count).iter().for_each(|item| list.push(End::Tail, item)));
                }
                Put::Clear(_) => {
                    section.change(hash, &name, |list: &mut List| *list = List::new());
                }
                Put::Turn(_) => {
                    section.turn(hash, &name, |_| Some(Value::Text(LongString::of(&[b'y'; 100_000]))));
                }
                Put::Remove(_) => section.remove(hash, &name),
                Put::Abandon(_) => {
                    let copy = section.copy(hash, &name);
                    section.remove(hash, &name);
                    section.restore(hash, &name, copy);
                }
            }
            let values = &section.values;
            prop_assert_eq!((values.strings_bytes, values.others_count, values.others_bytes), values_of(&section));
        }
        let strings = section.scan(0).filter(|(_, entry)| kind_of(*entry) == ValueType::String).count();
        prop_assert_eq!(section.strings().0, strings);
    }
}
