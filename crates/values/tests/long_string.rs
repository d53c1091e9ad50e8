//! A long string behaves as a `Vec<u8>` under any operations, and clones and parts do not change.
//!
//! `BOBBIN_CASES` scales the number of cases.

use blocks::{DecodeError, End, LeafStore, Place, StoredError};
use proptest::collection::vec;
use proptest::prelude::*;
use values::long_string::{PIECE_BYTES, Part};
use values::{List, LongString, Value, ValueType};

/// Maximum length: longer strings make a case slow without testing anything new.
const BYTES_MAX: usize = 40 * PIECE_BYTES;

/// Operations carry raw numbers; offsets are taken modulo the length at hand, or beyond it.
#[derive(Clone, Debug)]
enum Op {
    Replace(usize),
    Append(usize),
    AppendSmall(Vec<u8>),
    Overwrite(usize, usize),
    OverwriteSmall(usize, Vec<u8>),
    Gap(usize, usize),
    Clone,
    Part(usize, usize),
    TakePart(usize),
    Recode,
    Store,
}

/// Lengths at the edges of pieces as often as between them.
fn length() -> impl Strategy<Value = usize> {
    let edge = (0usize..6, 0usize..3).prop_map(|(pieces, beside)| (pieces * PIECE_BYTES + beside).saturating_sub(1));
    prop_oneof![edge, 0..5 * PIECE_BYTES]
}

fn offset() -> impl Strategy<Value = usize> {
    prop_oneof![length(), any::<u32>().prop_map(|raw| raw as usize)]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => length().prop_map(Op::Replace),
        4 => length().prop_map(Op::Append),
        4 => vec(any::<u8>(), 0..40).prop_map(Op::AppendSmall),
        4 => (offset(), length()).prop_map(|(at, count)| Op::Overwrite(at, count)),
        6 => (offset(), vec(any::<u8>(), 0..40)).prop_map(|(at, bytes)| Op::OverwriteSmall(at, bytes)),
        3 => (length(), length()).prop_map(|(gap, count)| Op::Gap(gap, count)),
        3 => Just(Op::Clone),
        3 => (offset(), offset()).prop_map(|(from, to)| Op::Part(from, to)),
        3 => (1..40_000usize).prop_map(Op::TakePart),
        1 => Just(Op::Recode),
        3 => Just(Op::Store),
    ]
}

/// A store of blocks in memory.
#[derive(Default)]
struct MemoryStore {
    blocks: Vec<Vec<u8>>,
}

impl LeafStore for MemoryStore {
    type Error = ();

    fn keeps(&mut self, place: Place, bytes: u64) -> bool {
        assert_eq!(self.blocks[place.number() as usize - 1].len() as u64, bytes);
        true
    }

    fn write(&mut self, leaf: &[u8]) -> Result<Place, ()> {
        self.blocks.push(leaf.to_vec());
        Place::of_number(self.blocks.len() as u64).ok_or(())
    }
}

impl MemoryStore {
    fn store(&mut self, value: &Value) -> Vec<u8> {
        let mut form = Vec::new();
        let mut storing = value.storing(&mut form);
        while !storing.step(10_000, self, &mut form).expect("it takes everything") {}
        form
    }

    fn load(&self, kind: ValueType, form: &[u8]) -> Result<Value, StoredError<()>> {
        let read = &mut |place: Place, _| self.blocks.get(place.number() as usize - 1).ok_or(());
        Value::of_stored(kind, &mut &form[..], read)
    }
}

#[derive(Default)]
struct Pair {
    text: LongString,
    memory_store: MemoryStore,
    twin: Vec<u8>,
    clones: Vec<(LongString, Vec<u8>)>,
    parts: Vec<(Part, Vec<u8>)>,
    /// A counter of writes, so that no two writes have the same bytes.
    written: u32,
}

impl Pair {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        self.written += 1;
        let seed = self.written.wrapping_mul(0x9e37_79b9);
        (0..count as u32).map(|at| (seed ^ at.wrapping_mul(0x85eb_ca6b)).to_le_bytes()[3]).collect()
    }

    fn overwrite(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        self.text.overwrite(offset, bytes);
        self.twin.resize(self.twin.len().max(end), 0);
        self.twin[offset..end].copy_from_slice(bytes);
    }

    fn append(&mut self, bytes: &[u8]) {
        self.text.append(bytes);
        self.twin.extend_from_slice(bytes);
    }

    fn run(&mut self, op: &Op) {
        let len = self.twin.len();
        match *op {
            Op::Replace(count) => {
                self.twin = self.bytes(count);
                self.text = LongString::of(&self.twin);
            }
            Op::Append(count) if len + count <= BYTES_MAX => {
                let bytes = self.bytes(count);
                self.append(&bytes);
            }
            Op::AppendSmall(ref bytes) => self.append(bytes),
            Op::Overwrite(at, count) if len + count <= BYTES_MAX => {
                let bytes = self.bytes(count);
                self.overwrite(at % (len + 1), &bytes);
            }
            Op::OverwriteSmall(at, ref bytes) => self.overwrite(at % (len + 1), bytes),
            Op::Gap(gap, count) if len + gap + count <= BYTES_MAX => {
                let bytes = self.bytes(count);
                self.overwrite(len + gap, &bytes);
            }
            Op::Append(_) | Op::Overwrite(..) | Op::Gap(..) => {}
            Op::Clone => self.clones.push((self.text.clone(), self.twin.clone())),
            Op::Part(from, to) => {
                let (from, to) = (from % (len + 1), to % (len + 1));
                let range = from.min(to)..from.max(to);
                assert_eq!(self.text.to_vec(range.clone()), self.twin[range.clone()]);
                self.parts.push((self.text.part(range.clone()), self.twin[range].to_vec()));
            }
            Op::TakePart(bytes_max) => {
                if let Some((part, rest)) = self.parts.last_mut() {
                    let mut taken = Vec::new();
                    part.take(bytes_max, |piece| taken.extend_from_slice(piece));
                    assert!(!taken.is_empty() || rest.is_empty(), "each step goes on");
                    assert!(taken.len() <= bytes_max.max(PIECE_BYTES));
                    assert_eq!(taken, rest.drain(..taken.len()).collect::<Vec<_>>());
                    assert_eq!(part.bytes_count(), rest.len());
                }
            }
            Op::Recode => {
                let value = Value::Text(self.text.clone());
                let mut bytes = Vec::new();
                value.encode(&mut bytes);
                assert!(bytes.len() as u64 <= value.encoded_bytes());
                let Some(Value::Text(text)) = Value::decode(ValueType::String, &mut &bytes[..]) else {
                    panic!("a text")
                };
                self.text = text;
            }
            Op::Store => {
                let value = Value::Text(self.text.clone());
                let form = self.memory_store.store(&value);
                let loaded = self.memory_store.load(ValueType::String, &form);
                let mut places = 0;
                value.visit_places(&mut |_, _| places += 1);
                assert_eq!(places, if value.is_one_leaf() { 0 } else { len.div_ceil(PIECE_BYTES) });
                let Ok(Value::Text(text)) = loaded else { panic!("{loaded:?}") };
                self.text = text;
            }
        }
    }

    fn check(&self) {
        let all = |text: &LongString| text.to_vec(0..text.bytes_count());
        assert_eq!(self.text.bytes_count(), self.twin.len());
        assert!(all(&self.text) == self.twin);
        assert!(self.clones.iter().all(|(text, twin)| all(text) == *twin), "a clone is as it was");
    }
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_long_string_matches_a_byte_vector(ops in vec(op(), 1..60)) {
        let mut pair = Pair::default();
        for op in &ops {
            pair.run(op);
            pair.check();
        }
        for (mut part, rest) in pair.parts {
            let mut bytes = Vec::new();
            while part.bytes_count() > 0 {
                part.take(10_000, |piece| bytes.extend_from_slice(piece));
            }
            assert!(bytes == rest, "a part is as it was");
        }
    }
}

const LONGEST_BYTES: usize = 512 << 20;

#[test]
fn the_longest_string_of_zeros_can_be_overwritten_and_read() {
    let mut text = LongString::default();
    text.overwrite(LONGEST_BYTES - 1, b"!");
    assert_eq!(text.bytes_count(), LONGEST_BYTES);
    assert_eq!(text.to_vec(LONGEST_BYTES - 3..LONGEST_BYTES), b"\0\0!");
    let before = text.clone();
    text.overwrite(300_000_000, b"in the midst");
    assert_eq!(text.to_vec(299_999_999..300_000_013), b"\0in the midst\0");
    assert_eq!(before.to_vec(299_999_999..300_000_013), [0; 14]);
    let others = [0, 299_990_000, 300_010_000, LONGEST_BYTES - 10_000];
    assert!(others.iter().all(|&at| text.to_vec(at..at + 5_000) == [0; 5_000]), "zeros elsewhere stay zeros");
    let mut part = text.part(299_999_990..300_000_020);
    let mut collected = Vec::new();
    part.take(1, |piece| collected.extend_from_slice(piece));
    while part.bytes_count() > 0 {
        part.take(1, |piece| collected.extend_from_slice(piece));
    }
    assert_eq!(collected, [&[0; 10][..], b"in the midst", &[0; 8]].concat());
}

#[test]
fn the_longest_string_of_zeros_is_stored_in_few_blocks() {
    let mut text = LongString::default();
    text.overwrite(LONGEST_BYTES - 1, b"!");
    let mut memory_store = MemoryStore::default();
    let form = memory_store.store(&Value::Text(text));
    assert!(memory_store.blocks.len() < 2_100, "{}", memory_store.blocks.len());
    let Ok(Value::Text(text)) = memory_store.load(ValueType::String, &form) else { panic!("a text") };
    assert_eq!(text.bytes_count(), LONGEST_BYTES);
    assert_eq!(text.to_vec(LONGEST_BYTES - 3..LONGEST_BYTES), b"\0\0!");
}

#[test]
fn a_stored_form_must_suit_the_value_type() {
    let list_of = |lengths: &[usize]| {
        let mut list = List::new();
        lengths.iter().for_each(|length| list.push(End::Tail, &vec![b'x'; *length]));
        Value::List(list)
    };
    let mut memory_store = MemoryStore::default();
    let unsound = Some(StoredError::Form(DecodeError::Inconsistent));
    for lengths in [&[4080, 4079, 4080][..], &[4081], &[4080, 4081], &[4080, 0], &[2000, 2080, 4080], &[12; 900]] {
        let form = memory_store.store(&list_of(lengths));
        assert!(
            matches!(memory_store.load(ValueType::List, &form), Ok(Value::List(list)) if list.len() == lengths.len() as u64)
        );
        assert_eq!(memory_store.load(ValueType::String, &form).err(), unsound, "{lengths:?}");
    }
    let form = memory_store.store(&list_of(&[4080, 4080, 1]));
    assert!(matches!(memory_store.load(ValueType::String, &form), Ok(Value::Text(text)) if text.bytes_count() == 8161));
    let form = memory_store.store(&list_of(&[]));
    assert_eq!(memory_store.load(ValueType::List, &form).err(), unsound, "a list is never empty");
}
