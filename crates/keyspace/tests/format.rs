//! The published page of effects, `docs/formats/effect.md`, matches the code.

use base::hash::KeyHasher;
use blocks::{End, LeafStore, Place};
use keyspace::{
    Absent, Batch, BlockSink, BlockSource, DecodeError, Held, Keyspace, Log, Record, TurnMemory, Tx, ValueChange,
};
use keyspace::{Entry, Extras, FETCHED, STALE, list_of, shard_of, string_of};
use std::convert::Infallible;
use values::{LongString, Value, ValueType};

const PAGE: &str = include_str!("../../../docs/formats/effect.md");

/// Returns the bytes of each line of the page's last drawing, without the explanations.
fn examples() -> Vec<Vec<u8>> {
    drawing("## Each number once")
}

fn drawing(head: &str) -> Vec<Vec<u8>> {
    let (_, section) = PAGE.split_once(head).expect("the section is there");
    let drawing = section.split("```").nth(1).expect("the drawing is there");
    drawing.lines().filter(|line| !line.is_empty()).map(bytes_of).collect()
}

fn bytes_of(line: &str) -> Vec<u8> {
    // Four spaces separate the bytes from the words.
    let (bytes, _) = line.split_once("    ").expect("bytes, then words");
    bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

fn numbers_of_the_table() -> Vec<u8> {
    let (_, section) = PAGE.split_once("## The numbers").expect("the section is there");
    let (section, _) = section.split_once("\n## ").expect("another follows");
    section.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn the_page_lists_exactly_the_known_numbers_once_each() {
    let shown: Vec<u8> = examples().iter().map(|example| example[0]).collect();
    assert_eq!(shown, numbers_of_the_table());
    for number in 0..=u8::MAX {
        let known = !matches!(
            Record::decode(&mut &[number, 0, 0][..]),
            Err(keyspace::DecodeError::UnknownNumber(unknown)) if unknown == number
        );
        assert_eq!(known, shown.contains(&number), "number {number}");
    }
}

#[test]
fn every_example_of_the_page_is_one_canonical_record() {
    for example in examples() {
        let mut input = &example[..];
        let record = Record::decode(&mut input).unwrap_or_else(|error| panic!("{example:x?}: {error}"));
        assert!(input.is_empty(), "{record:?}");
        let mut again = Vec::new();
        record.encode(&mut again);
        assert_eq!(again, example, "{record:?}");
    }
}

#[test]
fn whole_values_of_the_page_can_be_replayed() {
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 16);
    for example in examples().iter().filter(|example| [0x20, 0x21, 0x40].contains(&example[0])) {
        keyspace.replay(example).unwrap_or_else(|error| panic!("{example:x?}: {error}"));
    }
    assert_eq!(keyspace.map().table(3), 70_000);
}

/// Returns the place of that leaf on the page.
fn place(leaf: usize) -> u64 {
    (leaf as u64 + 1) << 32 | 0x40
}

/// Two leaves of one item each.
fn items() -> [Vec<u8>; 2] {
    [vec![7; 3_000], vec![8; 3_000]]
}

#[derive(Default)]
struct Leaves {
    leaves: Vec<Vec<u8>>,
}

impl LeafStore for Leaves {
    type Error = Infallible;

    fn keeps(&mut self, _: Place, _: u64) -> bool {
        unreachable!("nothing is stored yet")
    }

    fn write(&mut self, leaf: &[u8]) -> Result<Place, Infallible> {
        self.leaves.push(leaf.to_vec());
        Ok(Place::of_number(place(self.leaves.len() - 1)).unwrap())
    }
}

impl BlockSink for Leaves {
    type Error = Infallible;

    fn put(&mut self, value: &Value, form: &mut Vec<u8>) -> Result<ValueChange, Infallible> {
        let mut storing = value.storing(form);
        while !storing.step(1, self, form)? {}
        Ok(ValueChange::All)
    }

    fn has_put(&mut self, _: u32, _: &[u8], _: &Value) {}
}

impl BlockSource for Leaves {
    type Error = DecodeError;

    fn get(&mut self, kind: ValueType, mut form: &[u8]) -> Result<Value, DecodeError> {
        let read = &mut |place: Place, _| {
            let at = (0..self.leaves.len()).find(|at| self::place(*at) == place.number());
            Ok::<_, DecodeError>(&self.leaves[at.ok_or(DecodeError::Malformed)?])
        };
        Value::of_stored(kind, &mut form, read).map_err(|_| DecodeError::Malformed)
    }
}

const DEADLINES_MS: [Option<u64>; 2] = [None, Some(1_700_000_000_000)];

/// Returns a keyspace whose database 5 has under `k` the value that `fill` puts there.
fn filled(fill: impl FnOnce(&mut Tx<'_>)) -> Keyspace {
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 16);
    keyspace.keep_marks();
    let mut log = Log::default();
    let mut tx = Tx::new(&keyspace, Held::under_gate(&keyspace), 5, 0, &mut log, u64::MAX);
    fill(&mut tx);
    tx.end();
    keyspace
}

fn fill_list(tx: &mut Tx<'_>, expires_at_ms: Option<u64>) {
    items().iter().for_each(|item| {
        tx.list_mut(b"k", Absent::Create).unwrap().unwrap().push(End::Tail, &[item]);
    });
    tx.set_expiry(b"k", expires_at_ms);
}

/// Text and extras of the page.
fn item() -> (Vec<u8>, Extras) {
    (b"0123456789".repeat(2_000), Extras { flags: 7, cas: 300, signs: 0 })
}

/// Passes the record that a checkpoint writes for `k`, and the entry loaded from it, to `look`.
fn stored_and_read(keyspace: &Keyspace, look: impl FnOnce(&[u8], Entry<'_>)) {
    let shard = shard_of(keyspace.hash(b"k"));
    let (mut batch, mut leaves) = (Batch::default(), Leaves::default());
    let mut state = keyspace.shard(shard).try_write().unwrap();
    state.turn(keyspace, true, &mut TurnMemory::default(), || 0).unwrap();
    state.take(keyspace, 1, &mut batch);
    let mut records = Vec::new();
    let keep = |record: &[u8]| {
        records.push(record.to_vec());
        Ok(())
    };
    batch.encode(&mut leaves, keep).unwrap();
    let alive = keyspace.map().alive();
    let other = keyspace.empty_like();
    other.keep_marks();
    let mut loading = other.load(shard, &alive);
    loading.record::<DecodeError>(&records[0]).unwrap();
    loading.settle(&mut leaves).unwrap();
    loading.end(&mut other.shard(shard).try_write().unwrap());
    let state = other.shard(shard).try_read().unwrap();
    look(&records[0], state.section(5).unwrap().find(other.hash(b"k"), b"k").expect("it was read"));
}

#[test]
fn records_of_the_store_match_the_page() {
    for (example, expires_at_ms) in drawing("## Records of the store").iter().zip(DEADLINES_MS) {
        let keyspace = filled(|tx| fill_list(tx, expires_at_ms));
        stored_and_read(&keyspace, |record, entry| {
            assert_eq!(record, example);
            assert_eq!(entry.expires_at_ms(), expires_at_ms);
            let list = list_of(entry).unwrap();
            for (index, item) in (0..).zip(items()) {
                assert_eq!(list.get(index, <[u8]>::to_vec), Some(item));
            }
            assert_eq!(list.len(), 2);
        });
    }
    for (example, expires_at_ms) in drawing("A text of 20,000 bytes").iter().zip(DEADLINES_MS) {
        let (text, extras) = item();
        let put = |tx: &mut Tx<'_>| tx.put_long_item(b"k", LongString::of(&text), expires_at_ms, extras).unwrap();
        stored_and_read(&filled(put), |record, entry| {
            assert_eq!(record, example);
            assert_eq!((entry.expires_at_ms(), entry.extras()), (expires_at_ms, Some(extras)));
            assert!(string_of(entry).unwrap().to_vec() == text);
        });
    }
}

#[test]
fn a_short_string_is_stored_with_its_extras() {
    for expires_at_ms in DEADLINES_MS {
        let extras = Extras { flags: u32::MAX, cas: u64::MAX, signs: FETCHED | STALE };
        stored_and_read(&filled(|tx| tx.put_item(b"k", b"17", expires_at_ms, extras)), |_, entry| {
            let recorded = Extras { signs: STALE, ..extras };
            assert_eq!((entry.expires_at_ms(), entry.extras()), (expires_at_ms, Some(recorded)));
            assert_eq!(string_of(entry).unwrap().to_vec(), b"17");
        });
    }
}
