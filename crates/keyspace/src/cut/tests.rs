//! Turns of one section with colliding hashes, step by step, against a model; and a shard with many entries.

use super::marking::{EVEN, PARITIES, PRESENT};
use super::*;
use crate::section::{Section, string_of};
use crate::{DecodeError, Effect, Record};
use base::hash::KeyHasher;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: TableId = 9;

#[derive(Clone, Debug)]
enum Act {
    Put(u8),
    Expire(u8),
    Remove(u8),
    /// Changed by this and restored.
    Undo(u8, Box<Act>),
    Turn(bool),
    Take(usize),
    Abandon,
}

fn act() -> impl Strategy<Value = Act> {
    let change = prop_oneof![4 => (0..12u8).prop_map(Act::Put), 1 => (0..12u8).prop_map(Act::Expire), 2 => (0..12u8).prop_map(Act::Remove)];
    let undone = (0..12u8, change.clone()).prop_map(|(key, act)| Act::Undo(key, Box::new(act)));
    prop_oneof![
        8 => change,
        2 => undone,
        2 => prop::bool::weighted(0.2).prop_map(Act::Turn),
        4 => (1..5usize).prop_map(Act::Take),
        1 => Just(Act::Abandon),
    ]
}

/// Contents of keys: a text and a deadline.
type Twin = BTreeMap<Vec<u8>, (Vec<u8>, Option<u64>)>;

struct Pair {
    section: Section,
    /// Makes each change distinct.
    changes: u64,
    stored: Twin,
    /// The section's contents at the turn in progress, the stored contents with the records taken so far applied, and
    /// names of records taken.
    turn: Option<(Twin, Twin, BTreeSet<Vec<u8>>)>,
    /// Some marks of an abandoned turn remain.
    clears: bool,
}

impl Pair {
    fn hash(key: u8) -> u64 {
        // Three prefixes, and distinct bits after them.
        5 << 54 | (u64::from(key % 3) * 0x5_1234) << 34 | u64::from(key)
    }

    fn run(&mut self, act: &Act) {
        match act {
            Act::Undo(key, act) => {
                let old = self.section.copy(Self::hash(*key), &[*key]);
                let act = match **act {
                    Act::Put(_) => Act::Put(*key),
                    Act::Expire(_) => Act::Expire(*key),
                    _ => Act::Remove(*key),
                };
                self.run(&act);
                self.section.restore(Self::hash(*key), &[*key], old);
            }
            Act::Put(key) => {
                self.changes += 1;
                self.section.put_text(Self::hash(*key), &[*key], self.changes.to_string().as_bytes(), None);
            }
            Act::Expire(key) => {
                self.changes += 1;
                self.section.set_expiry(Self::hash(*key), &[*key], Some(self.changes));
            }
            Act::Remove(key) => self.section.remove(Self::hash(*key), &[*key]),
            Act::Turn(whole) if self.turn.is_none() && !self.clears => self.turn(*whole),
            Act::Take(entries) => self.take(*entries),
            Act::Abandon if !self.clears => {
                self.clears = self.turn.take().is_some();
                self.section.marking_mut().make_whole();
                drop(self.section.marking_mut().abandon_turn());
            }
            _ => {}
        }
    }

    fn held(&self) -> Twin {
        let entries = self.section.scan(5 << 54).map(|(_, entry)| entry);
        entries
            .map(|entry| (entry.key().to_vec(), (string_of(entry).unwrap().to_vec(), entry.expires_at_ms())))
            .collect()
    }

    fn turn(&mut self, whole: bool) {
        let whole = whole || self.section.marking().is_whole();
        self.section.marking_mut().turn(whole, true, None);
        let below = if whole { Twin::new() } else { self.stored.clone() };
        self.turn = Some((self.held(), below, BTreeSet::new()));
    }

    fn take(&mut self, entries: usize) {
        let mut batch = Batch::default();
        let is_over = self.section.take(TABLE, &mut Room::new(entries), &mut batch);
        // One prefix has four keys; a prefix once begun is taken whole.
        assert!(batch.records_count() < entries + 4);
        if self.clears {
            assert!(batch.is_empty());
            self.clears = !is_over;
        }
        let Some((held, known, puts)) = &mut self.turn else { return };
        batch
            .encode(&mut Inline, |record| {
                assert!(record[0] == 1 || puts.insert(record.to_vec()), "an entry is taken once");
                apply(known, record);
                Ok(())
            })
            .unwrap();
        if is_over {
            assert_eq!(known, held);
            self.stored = std::mem::take(known);
            self.turn = None;
        }
    }

    /// Checks that each entry in the store is marked so, or named, or the next turn is whole; and that no stray mark
    /// remains.
    fn check(&self) {
        let is_idle = self.turn.is_none() && !self.clears;
        for (_, entry) in self.section.scan(5 << 54) {
            let marks = entry.marks();
            assert!(!is_idle || marks & PARITIES == 0 || marks & PARITIES == self.section.marking().mark());
            let is_known = self.stored.contains_key(entry.key());
            assert!(!is_known || marks & PRESENT != 0 || !self.section.marking().is_settled());
        }
        if is_idle && self.section.marking().is_settled() {
            assert_eq!(self.held(), self.stored);
        }
    }
}

fn apply(known: &mut Twin, record: &[u8]) {
    let Record { table, key, effect } = Record::decode(&mut &record[..]).unwrap();
    assert_eq!(table, TABLE);
    match effect {
        Effect::Remove => drop(known.remove(key)),
        Effect::StringPut { expires_at_ms, bytes } => drop(known.insert(key.to_vec(), (bytes.to_vec(), expires_at_ms))),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn a_turn_takes_the_state_at_its_start(acts in proptest::collection::vec(act(), 1..150)) {
        let section = Section::marked(EVEN);
        let mut pair = Pair { section, changes: 0, stored: Twin::new(), turn: None, clears: false };
        for act in &acts {
            pair.run(act);
            pair.check();
        }
    }
}

/// Returns names of one shard.
fn names(keyspace: &Keyspace, shard: usize) -> impl Iterator<Item = Vec<u8>> {
    let names = (0..).map(|number: u32| number.to_string().into_bytes());
    names.filter(move |name| crate::shard_of(keyspace.hash(name)) == shard)
}

#[test]
fn marks_of_an_abandoned_turn_are_cleared_in_steps() {
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 2);
    keyspace.keep_marks();
    let mut state = keyspace.shard(3).try_write().unwrap();
    let names: Vec<_> = names(&keyspace, 3).take(2 * STEP_ENTRIES + 10).collect();
    let put = |state: &mut ShardState, name: &Vec<u8>| {
        state.section_mut(0).put_text(keyspace.hash(name), name, b"text", None);
    };
    names.iter().for_each(|name| put(&mut state, name));
    assert!(!state.turn(&keyspace, false, &mut TurnMemory::default(), || 1).unwrap().is_unchanged);
    let mut batch = Batch::default();
    assert_eq!(state.take(&keyspace, 400, &mut batch), CutStep::More);
    assert_eq!(batch.records_count(), 100);
    drop(state.abandon_turn());
    names.iter().step_by(3).for_each(|name| put(&mut state, name));
    assert_eq!(state.turn(&keyspace, false, &mut TurnMemory::default(), || 2), None);
    let turned = state.turn(&keyspace, false, &mut TurnMemory::default(), || 3).expect("all marks are cleared");
    assert!(turned.is_whole && turned.position == 3);
    let (mut records, mut step) = (0, CutStep::More);
    while step == CutStep::More {
        let mut batch = Batch::default();
        step = state.take(&keyspace, 100, &mut batch);
        records += batch.records_count();
        batch.encode(&mut Inline, |_| Ok(())).unwrap();
    }
    assert_eq!((step, records), (CutStep::Over, names.len()));
}

#[test]
fn sections_of_a_shard_share_one_limit_for_names() {
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 8);
    keyspace.keep_marks();
    let mut state = keyspace.shard(3).try_write().unwrap();
    let long = |number: u32| {
        let mut name = number.to_string().into_bytes();
        name.resize(20_000, b'l');
        name
    };
    let names: Vec<_> = (0..).map(long).filter(|name| crate::shard_of(keyspace.hash(name)) == 3).take(1).collect();
    let hash = keyspace.hash(&names[0]);
    (0..4).for_each(|table| state.section_mut(table).put_text(hash, &names[0], b"text", None));
    state.turn(&keyspace, true, &mut TurnMemory::default(), || 1).unwrap();
    while state.take(&keyspace, 9, &mut Batch::default()) == CutStep::More {}
    for (table, is_whole) in (0..4).zip([false, false, false, true]) {
        state.section_mut(table).remove(hash, &names[0]);
        assert_eq!(state.sections().any(|(_, section)| section.marking().is_whole()), is_whole, "{table}");
    }
}

#[test]
fn misplaced_and_malformed_shard_records_are_rejected() {
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 2);
    let alive = keyspace.map().alive();
    let shard = crate::shard_of(keyspace.hash(b"key"));
    let encoded = |effect| {
        let mut record = Vec::new();
        Record { table: 0, key: b"key", effect }.encode(&mut record);
        record
    };
    let refused = |shard: usize, record: &[u8]| keyspace.load(shard, &alive).record::<DecodeError>(record).unwrap_err();
    let whole = encoded(Effect::StringPut { expires_at_ms: Some(7), bytes: b"text" });
    assert_eq!(refused((shard + 1) % 1024, &whole), LoadError::Misplaced(shard));
    for cut in 0..whole.len() {
        assert_eq!(refused(shard, &whole[..cut]), LoadError::Record(DecodeError::Malformed));
    }
    assert_eq!(refused(shard, &[&whole[..], b"x"].concat()), LoadError::Record(DecodeError::Malformed));
    assert_eq!(refused(shard, &encoded(Effect::StringAppend(b"x"))), LoadError::Change);
    assert_eq!(refused(shard, &encoded(Effect::ExpiryClear)), LoadError::Change);
    let stored = [&[128, 0, 3][..], b"key", &[2, 1, 9]].concat();
    let mut loading = keyspace.load(shard, &alive);
    loading.record::<DecodeError>(&stored).unwrap();
    assert_eq!(loading.settle(&mut Inline).unwrap_err(), LoadError::Value(DecodeError::Malformed));
    for cut in 0..stored.len() {
        assert_eq!(refused(shard, &stored[..cut]), LoadError::Record(DecodeError::Malformed));
    }
    assert_eq!(refused(shard, &[&stored[..], b"x"].concat()), LoadError::Record(DecodeError::Malformed));
}
