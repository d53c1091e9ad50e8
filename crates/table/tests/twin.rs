//! Compares the table with a naive twin, under evenly and badly distributed hashes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use table::{
    Content, Entry, Extras, Fields, NewContent, OwnedContent, OwnedEntry, PREFIX_BITS, SHARED_BITS, Table, prefix_after,
};

/// The root of a large value: owns memory, and a reference to a token whose count shows whether all were dropped.
#[derive(Clone, Debug, PartialEq)]
struct Root(Box<(u64, Arc<()>)>);

#[derive(Clone, Debug, PartialEq)]
enum Plain {
    Bytes(Vec<u8>),
    Int(i64),
    Value(u64),
}

#[derive(Clone, Debug, PartialEq)]
struct Record {
    content: Plain,
    expires_at_ms: Option<u64>,
    extras: Option<Extras>,
    marks: u8,
    touched: u32,
}

type Twin = BTreeMap<(u64, Vec<u8>), Record>;

struct Pair {
    table: Table<Root>,
    twin: Twin,
    token: Arc<()>,
    hash: Hash,
}

#[derive(Clone, Copy, Debug)]
enum Hash {
    /// All keys have one prefix: the first, the last or one between.
    Equal(u64),
    /// Four prefixes.
    Few,
    /// The first tags, one after the other.
    Sequential,
    /// The last tags, downwards: all entries crowd at the end.
    Crowded,
    Random,
}

const SHARD: u64 = 0x2a7 << (64 - SHARED_BITS);

impl Hash {
    fn of(self, key_index: usize) -> u64 {
        let tag = match self {
            Self::Equal(tag) => tag,
            Self::Few => key_index as u64 % 4 * 0x5_1234,
            Self::Sequential => key_index as u64,
            Self::Crowded => 0xf_ffff - key_index as u64,
            Self::Random => mixed(key_index) >> 44,
        };
        let unused = mixed(key_index) & ((1 << (64 - PREFIX_BITS)) - 1);
        SHARD | tag << (64 - PREFIX_BITS) | unused
    }
}

fn mixed(key_index: usize) -> u64 {
    let mut mixed = (key_index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd134_2543_de82_ef95);
    mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

/// Keys of many lengths; one in eleven needs a wide length.
fn key(key_index: usize) -> Vec<u8> {
    let mut key = key_index.to_string().into_bytes();
    key.resize(key.len() + key_index % 11 * 7, b'k');
    if key_index % 11 == 10 {
        key.resize(key.len() + 250, b'w');
    }
    key
}

fn prefix(hash: u64) -> u64 {
    hash >> (64 - PREFIX_BITS) << (64 - PREFIX_BITS)
}

#[derive(Clone, Debug)]
enum Step {
    Put(usize, Plain, Option<u64>, Option<Extras>),
    Remove(usize),
    /// Overwrites a content by one like it, if it is plain.
    Overwrite(usize, Plain),
    Append(usize, Vec<u8>),
    Resize(usize, usize),
    Expire(usize, Option<u64>),
    Extra(usize, Option<Extras>),
    /// A reader sets a sign.
    Sign(usize, u8),
    Mark(usize, u8),
    Touch(usize, u32),
    /// Flips the bits of the content in place.
    Flip(usize),
    /// Copies an entry, does the steps to it, and puts the copy back.
    Undo(usize, Vec<Step>),
    /// Takes an entry out and puts it back.
    Move(usize),
    Scan(usize),
    /// Marks at most this many entries from this one's prefix on.
    Visit(usize, usize, u8),
}

fn plain() -> impl Strategy<Value = Plain> {
    prop_oneof![
        3 => (prop_oneof![0usize..40, 240usize..270, 0usize..1000], any::<u8>()).prop_map(|(length, byte)| Plain::Bytes(vec![byte; length])),
        2 => prop_oneof![any::<i64>(), -300i64..300, Just(0)].prop_map(Plain::Int),
        2 => any::<u64>().prop_map(Plain::Value),
    ]
}

fn expiry() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), (0..1u64 << 48).prop_map(Some), any::<u64>().prop_map(Some)]
}

fn extras() -> impl Strategy<Value = Option<Extras>> {
    let some = (prop_oneof![Just(0), any::<u32>()], prop_oneof![Just(0), any::<u64>()], 0u8..16);
    prop_oneof![Just(None), some.prop_map(|(flags, cas, signs)| Some(Extras { flags, cas, signs }))]
}

fn change(keys: usize) -> impl Strategy<Value = Step> {
    let at = 0..keys;
    prop_oneof![
        8 => (at.clone(), plain(), expiry(), extras())
            .prop_map(|(at, content, expires, extras)| Step::Put(at, content, expires, extras)),
        4 => (at.clone(), plain()).prop_map(|(at, content)| Step::Overwrite(at, content)),
        3 => (at.clone(), extras()).prop_map(|(at, extras)| Step::Extra(at, extras)),
        2 => (at.clone(), 0u8..16).prop_map(|(at, sign)| Step::Sign(at, sign)),
        4 => at.clone().prop_map(Step::Remove),
        4 => (at.clone(), prop::collection::vec(any::<u8>(), 0..300)).prop_map(|(at, tail)| Step::Append(at, tail)),
        2 => (at.clone(), 0usize..600).prop_map(|(at, length)| Step::Resize(at, length)),
        4 => (at.clone(), expiry()).prop_map(|(at, expires)| Step::Expire(at, expires)),
        2 => (at.clone(), 0u8..8).prop_map(|(at, marks)| Step::Mark(at, marks)),
        2 => (at.clone(), any::<u32>()).prop_map(|(at, now)| Step::Touch(at, now)),
        2 => at.clone().prop_map(Step::Flip),
        1 => at.clone().prop_map(Step::Move),
        1 => at.clone().prop_map(Step::Scan),
        1 => (at, 1..12usize, 0u8..8).prop_map(|(at, count, marks)| Step::Visit(at, count, marks)),
    ]
}

fn step(keys: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => change(keys),
        1 => (0..keys, prop::collection::vec(change(keys), 1..4)).prop_map(|(at, steps)| Step::Undo(at, steps)),
    ]
}

fn hash() -> impl Strategy<Value = Hash> {
    prop_oneof![
        Just(Hash::Equal(0)),
        Just(Hash::Equal(0x7_7777)),
        Just(Hash::Equal(0xf_ffff)),
        Just(Hash::Few),
        Just(Hash::Sequential),
        Just(Hash::Crowded),
        Just(Hash::Random),
    ]
}

fn record(entry: Entry<'_, Root>) -> Record {
    let content = match entry.content() {
        Content::Bytes(bytes) => Plain::Bytes(bytes.to_vec()),
        Content::Int(int) => Plain::Int(int),
        Content::Value(root) => Plain::Value(root.0.0),
    };
    let Fields { expires_at_ms, extras } = entry.fields();
    assert_eq!((entry.expires_at_ms(), entry.extras()), (expires_at_ms, extras));
    Record { content, expires_at_ms, extras, marks: entry.marks(), touched: entry.touched() }
}

/// Returns true if both are stored in the same form and length.
fn are_alike(one: &Plain, other: &Plain) -> bool {
    // The least number of bytes that hold it, sign included.
    let bytes =
        |int: i64| (0..8).find(|bytes| int == 0 || *bytes > 0 && int >> (8 * bytes - 1) == int >> 63).unwrap_or(8);
    match (one, other) {
        (Plain::Bytes(one), Plain::Bytes(other)) => one.len() == other.len(),
        (Plain::Int(one), Plain::Int(other)) => bytes(*one) == bytes(*other),
        _ => false,
    }
}

impl Pair {
    fn new(hash: Hash) -> Self {
        Self { table: Table::new(), twin: Twin::new(), token: Arc::new(()), hash }
    }

    fn name(&self, at: usize) -> (u64, Vec<u8>) {
        (prefix(self.hash.of(at)), key(at))
    }

    fn new_content<'a>(&self, plain: &'a Plain) -> NewContent<'a, Root> {
        match plain {
            Plain::Bytes(bytes) => NewContent::Bytes(bytes),
            Plain::Int(int) => NewContent::Int(*int),
            Plain::Value(number) => NewContent::Value(Root(Box::new((*number, self.token.clone())))),
        }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Put(at, content, expires, extras) => self.put(*at, content, *expires, *extras),
            Step::Remove(at) => self.remove(*at),
            Step::Undo(at, steps) => self.undo(*at, steps),
            Step::Move(at) => {
                if let Some(entry) = self.table.remove(self.hash.of(*at), &key(*at)) {
                    self.table.put_back(self.hash.of(*at), entry);
                }
            }
            Step::Scan(at) => self.scan(*at),
            Step::Visit(at, count, marks) => self.visit(*at, *count, *marks),
            Step::Overwrite(at, _)
            | Step::Append(at, _)
            | Step::Resize(at, _)
            | Step::Expire(at, _)
            | Step::Extra(at, _)
            | Step::Sign(at, _)
            | Step::Mark(at, _)
            | Step::Touch(at, _)
            | Step::Flip(at) => self.edit(*at, step),
        }
    }

    fn put(&mut self, at: usize, content: &Plain, expires_at_ms: Option<u64>, extras: Option<Extras>) {
        let new = self.new_content(content);
        if let Some(record) = self.twin.get_mut(&(prefix(self.hash.of(at)), key(at))) {
            record.content = content.clone();
            let mut entry = self.table.find_mut(self.hash.of(at), &key(at)).expect("the twin has it");
            entry.set_content(new);
            assert_eq!(&self::record(entry.read()), record);
        } else {
            self.table.insert(self.hash.of(at), &key(at), new, Fields { expires_at_ms, extras });
            let record = Record { content: content.clone(), expires_at_ms, extras, marks: 0, touched: 0 };
            self.twin.insert(self.name(at), record);
        }
    }

    fn remove(&mut self, at: usize) {
        let removed = self.table.remove(self.hash.of(at), &key(at));
        let expected = self.twin.remove(&self.name(at));
        assert_eq!(removed.as_ref().map(|entry| record(entry.read())), expected);
        let content = removed.map(|entry| match entry.into_content() {
            OwnedContent::Bytes(bytes) => Plain::Bytes(bytes),
            OwnedContent::Int(int) => Plain::Int(int),
            OwnedContent::Value(root) => Plain::Value(root.0.0),
        });
        assert_eq!(content, expected.map(|record| record.content));
    }

    fn undo(&mut self, at: usize, steps: &[Step]) {
        let (old, expected) = (self.table.copy(self.hash.of(at), &key(at)), self.twin.get(&self.name(at)).cloned());
        assert_eq!(old.as_ref().map(|entry| record(entry.read())), expected);
        for step in steps {
            self.apply(step);
        }
        if let (Some(old), Some(expected)) = (old, expected) {
            self.table.put_back(self.hash.of(at), old);
            self.twin.insert(self.name(at), expected);
        }
    }

    fn edit(&mut self, at: usize, step: &Step) {
        let name = self.name(at);
        let overwriting = if let Step::Overwrite(_, content) = step { Some(self.new_content(content)) } else { None };
        let entry = self.table.find_mut(self.hash.of(at), &key(at));
        assert_eq!(entry.is_some(), self.twin.contains_key(&name));
        let (Some(mut entry), Some(record)) = (entry, self.twin.get_mut(&name)) else { return };
        match (step, &mut record.content) {
            (Step::Overwrite(_, new), content) => {
                let is_plain = record.expires_at_ms.is_none() && record.extras.is_none();
                let is_overwritten = entry.overwrite(&overwriting.expect("made above"));
                assert_eq!(is_overwritten, is_plain && are_alike(content, new), "{content:?} by {new:?}");
                if is_overwritten {
                    *content = new.clone();
                }
            }
            (Step::Append(_, tail), Plain::Bytes(bytes)) => {
                entry.append(tail);
                bytes.extend(tail);
            }
            (Step::Resize(_, length), Plain::Bytes(bytes)) => {
                entry.resize(*length);
                bytes.resize(*length, 0);
            }
            (Step::Flip(_), Plain::Bytes(bytes)) => {
                entry.bytes_mut().expect("it is a text").iter_mut().for_each(|byte| *byte = !*byte);
                bytes.iter_mut().for_each(|byte| *byte = !*byte);
            }
            (Step::Flip(_), Plain::Value(number)) => {
                let root = entry.value_mut().expect("it is a value");
                root.0.0 = !root.0.0;
                *number = !*number;
            }
            (Step::Flip(_), Plain::Int(_)) => assert!(entry.value_mut().is_none() && entry.bytes_mut().is_none()),
            (Step::Expire(_, expires), _) => {
                entry.set_expiry(*expires);
                record.expires_at_ms = *expires;
            }
            (Step::Extra(_, extras), _) => {
                entry.set_extras(*extras);
                record.extras = *extras;
            }
            (Step::Sign(_, sign), _) => {
                let is_new = entry.read().give_sign(*sign);
                assert_eq!(is_new, record.extras.is_some_and(|extras| extras.signs & sign != *sign));
                record.extras.iter_mut().for_each(|extras| extras.signs |= sign);
            }
            (Step::Mark(_, marks), _) => {
                entry.set_marks(*marks);
                record.marks = *marks;
            }
            (Step::Touch(_, now), _) => {
                entry.touch(*now);
                record.touched = now & 0xff_ffff;
            }
            _ => {}
        }
        assert_eq!(entry.key(), name.1);
        assert_eq!(&self::record(entry.read()), record);
    }

    /// Marks the first `count` entries of a scan from there, and appends to the strings among them.
    fn visit(&mut self, at: usize, count: usize, marks: u8) {
        let from = self.hash.of(at);
        let names = self.table.scan(from).take(count).map(|(hash, entry)| (hash, entry.key().to_vec()));
        let mut names = names.collect::<Vec<_>>().into_iter();
        let twin = &mut self.twin;
        let visited = self.table.visit_mut(from, |hash, mut entry| {
            let Some(name) = names.next() else { return ControlFlow::Break(()) };
            assert_eq!((hash, entry.key()), (name.0, &name.1[..]));
            let record = twin.get_mut(&name).expect("the twin has it");
            entry.set_marks(marks);
            record.marks = marks;
            if let Plain::Bytes(bytes) = &mut record.content {
                entry.append(b"visited");
                bytes.extend(b"visited");
            }
            ControlFlow::Continue(())
        });
        assert!(names.next().is_none());
        assert_eq!(visited.is_break(), self.twin.range((prefix(from), vec![])..).count() > count);
    }

    /// Checks that a scan from the prefix of a key on returns the twin's entries in prefix order.
    fn scan(&self, at: usize) {
        let from = self.hash.of(at);
        let mut last = prefix(from);
        let mut seen = Twin::new();
        for (hash, entry) in self.table.scan(from) {
            assert!(hash >= last && hash == prefix(hash));
            last = hash;
            assert!(seen.insert((hash, entry.key().to_vec()), record(entry)).is_none());
        }
        let expected: Twin = self.twin.range((prefix(from), vec![])..).map(|(k, v)| (k.clone(), v.clone())).collect();
        assert_eq!(seen, expected);
    }

    fn check(&self) {
        assert_eq!(self.table.len(), self.twin.len());
        assert_eq!(self.table.is_empty(), self.twin.is_empty());
        let entries_bytes: usize = self.table.scan(SHARD).map(|(_, entry)| entry.heap_bytes()).sum();
        let slots_bytes = self.table.heap_bytes() as usize - entries_bytes;
        assert!(slots_bytes.is_multiple_of(8) && slots_bytes >= 8 * self.table.len());
        assert!(slots_bytes <= 8 * (8 + 5 * self.table.len()), "{slots_bytes} for {}", self.table.len());
        assert_eq!(slots_bytes == 0, self.twin.is_empty());
    }

    fn check_whole(&self) {
        self.check();
        let seen: Twin =
            self.table.scan(SHARD).map(|(hash, entry)| ((hash, entry.key().to_vec()), record(entry))).collect();
        assert_eq!(seen, self.twin);
        for ((hash, key), expected) in &self.twin {
            assert_eq!(&record(self.table.find(*hash, key).expect("the twin has it")), expected);
        }
        let values = self.twin.values().filter(|record| matches!(record.content, Plain::Value(_))).count();
        assert_eq!(Arc::strong_count(&self.token), values + 1);
    }
}

fn cases(default: u32) -> ProptestConfig {
    let times = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(default * times) }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_table_matches_its_naive_twin(hash in hash(), steps in prop_oneof![
        prop::collection::vec(step(6), 0..150),
        prop::collection::vec(step(60), 0..400),
    ]) {
        let mut pair = Pair::new(hash);
        for step in &steps {
            pair.apply(step);
            pair.check();
        }
        pair.check_whole();
        let Pair { table, token, .. } = pair;
        std::thread::spawn(move || drop(table)).join().expect("a table may be dropped elsewhere");
        prop_assert_eq!(Arc::strong_count(&token), 1);
    }

    /// The table grows and shrinks between the steps of a scan.
    #[test]
    fn a_scan_returns_each_stable_entry_exactly_once(
        hash in hash(),
        stable in prop::collection::btree_set(0usize..1000, 0..60),
        waves in prop::collection::vec((0usize..1000, 0usize..300, any::<bool>()), 1..30),
        step in 1usize..40,
    ) {
        let mut table = Table::<u64>::new();
        for &at in &stable {
            table.insert(hash.of(at), &key(at), NewContent::Int(at as i64), None);
        }
        let mut seen = BTreeSet::new();
        let (mut cursor, mut waves) = (Some(SHARD), waves.iter().cycle());
        while let Some(from) = cursor {
            cursor = scan_step(&table, from, step, &mut seen);
            let &(first, count, put) = waves.next().expect("it cycles");
            wave(&mut table, hash, (first..first + count).filter(|at| !stable.contains(at)), put);
        }
        for &at in &stable {
            prop_assert!(seen.contains(&key(at)));
        }
    }

    #[test]
    fn random_finds_every_entry(hash in hash(), count in 1usize..40, seed in any::<u64>()) {
        let mut table = Table::<u64>::new();
        prop_assert!(table.random(seed).is_none());
        wave(&mut table, hash, 0..count, true);
        let drawn: BTreeSet<&[u8]> = (0..count as u64 * 40)
            .map(|draw| table.random(seed.wrapping_add(draw.wrapping_mul(0x5851_f42d_4c95_7f2d))).expect("it has entries").key())
            .collect();
        prop_assert_eq!(drawn.len(), count);
    }
}

/// Runs one step of a scan: at least `step` entries, and all of the last prefix. Returns the next cursor.
fn scan_step(table: &Table<u64>, from: u64, step: usize, seen: &mut BTreeSet<Vec<u8>>) -> Option<u64> {
    let mut last = None;
    for (count, (hash, entry)) in table.scan(from).enumerate() {
        if count >= step && last != Some(hash) {
            break;
        }
        last = Some(hash);
        assert!(seen.insert(entry.key().to_vec()), "seen twice");
    }
    last.and_then(prefix_after).filter(|next| next >> (64 - SHARED_BITS) == SHARD >> (64 - SHARED_BITS))
}

fn wave(table: &mut Table<u64>, hash: Hash, range: impl Iterator<Item = usize>, put: bool) {
    for at in range {
        if !put {
            table.remove(hash.of(at), &key(at));
        } else if table.find(hash.of(at), &key(at)).is_none() {
            table.insert(hash.of(at), &key(at), NewContent::Value(at as u64), None);
        }
    }
}

#[test]
fn small_tables_use_few_slots_and_empty_ones_none() {
    let mut table = Table::<u64>::new();
    assert_eq!(table.heap_bytes(), 0);
    let mut slots_bytes = Vec::new();
    for at in 0..9 {
        table.insert(Hash::Random.of(at), b"", NewContent::Int(0), None);
        slots_bytes.push(table.heap_bytes() - 16 * table.len() as u64);
    }
    assert_eq!(slots_bytes, [16, 16, 32, 32, 64, 64, 64, 64, 128]);
    for at in 0..9 {
        table.remove(Hash::Random.of(at), b"");
    }
    assert_eq!(table.heap_bytes(), 0);
}

#[test]
#[should_panic(expected = "the key is present")]
fn inserting_a_present_key_panics() {
    let mut table = Table::<u64>::new();
    table.insert(1, b"k", NewContent::Int(0), None);
    table.insert(1, b"k", NewContent::Int(0), None);
}

#[test]
fn slot_counts_stay_within_the_promised_load_factor() {
    let mut table = Table::<u64>::new();
    for at in 0..20_000 {
        table.insert(Hash::Random.of(at), &(at as u64).to_le_bytes(), NewContent::Bytes(b""), None);
        let slots = (table.heap_bytes() as usize - 16 * table.len()) / 8;
        assert!(at < 1000 || slots * 68 < table.len() * 100, "{slots} slots for {}", table.len());
    }
    for at in 0..20_000 {
        table.remove(Hash::Random.of(at), &(at as u64).to_le_bytes()).expect("it was inserted");
        let slots = (table.heap_bytes() as usize - 16 * table.len()) / 8;
        assert!(slots <= 2 || slots * 3 <= table.len() * 10 + 9, "{slots} slots for {}", table.len());
    }
}

#[test]
fn appending_byte_by_byte_rarely_reallocates() {
    let mut table = Table::<u64>::new();
    let mut entry = table.insert(0, b"log", NewContent::Bytes(b""), None);
    let (mut moves, mut heap_bytes) = (0, 0);
    for byte in 0..1_000_000u32 {
        entry.append(&[byte as u8]);
        let now_bytes = entry.read().heap_bytes();
        moves += usize::from(now_bytes != heap_bytes);
        heap_bytes = now_bytes;
    }
    assert!(moves < 70, "{moves}");
    assert!(matches!(entry.content(), Content::Bytes(bytes) if bytes.iter().zip(0u32..).all(|(&b, at)| b == at as u8)));
}

/// 512 MB each if `BOBBIN_CASES` is set, else 4 MB.
#[test]
fn very_long_keys_and_strings_are_supported() {
    let length = if std::env::var_os("BOBBIN_CASES").is_some() { 512 << 20 } else { 4 << 20 };
    let (long, text) = (vec![b'k'; length], vec![b't'; length]);
    let mut table = Table::<u64>::new();
    table.insert(7, &long, NewContent::Bytes(&text), Some(1));
    assert!(table.find(7, &long[1..]).is_none());
    let mut entry = table.find_mut(7, &long).expect("just inserted");
    entry.set_expiry(None);
    assert!(matches!(entry.content(), Content::Bytes(bytes) if bytes == text));
    entry.resize(3);
    assert!(matches!(entry.content(), Content::Bytes(b"ttt")));
    assert_eq!(entry.key(), long);
}

#[test]
fn tables_and_entries_are_send_and_sync() {
    fn shared<T: Send + Sync>() {}
    shared::<Table<Root>>();
    shared::<Entry<'static, Root>>();
    shared::<OwnedEntry<Root>>();
}

#[test]
fn the_prefix_after_the_last_is_none() {
    assert_eq!(prefix_after(u64::MAX), None);
    assert_eq!(prefix_after(0), Some(1 << (64 - PREFIX_BITS)));
    assert_eq!(prefix_after(prefix_after(0).expect("not the last") - 1), prefix_after(0));
}
