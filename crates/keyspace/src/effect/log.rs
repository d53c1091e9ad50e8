//! The log of one tx: its effects, encoded as they happen, in a buffer lent by the worker.
//!
//! ```text
//! bytes    | record | record | head of a whole put | record | ...
//!                                                  ^
//! holes                                            value, a clone: encoded after the shards are released
//! ```
//!
//! A value of 64 KiB or more that is put whole is not encoded under the locks: its size, and so the frame's, is known
//! without. The same holds for the runs of a long removal.
//!
//! Without a journal the records are not read, unless a watch or a blocked client depends on a key: then only whether
//! anything changed is noted.

use super::list::{put_removal_head, put_runs};
use super::{Effect, Record, put_whole_head, take_name};
use crate::guard::Whole;
use crate::{OF_SERVER, TableId};
use blocks::Runs;
use std::sync::Arc;
use values::Value;

/// The effects of one tx: the payload of its future frame.
#[derive(Default)]
pub struct Log {
    payload: Payload,
    changed: bool,
    unread: bool,
}

/// Records; the ends of some are kept separately.
#[derive(Default)]
pub struct Payload {
    bytes: Vec<u8>,
    holes: Vec<Hole>,
    /// See [`Log::expect_bytes`].
    expected_bytes: usize,
}

/// Place for bytes kept separately.
struct Hole {
    /// Start of its record.
    record_at: usize,
    /// Place of the bytes, which end the record.
    at: usize,
    beside: Beside,
}

enum Beside {
    Value(Value),
    /// Runs of a removal, and their encoded size.
    Runs(Arc<Runs>, u64),
}

impl Beside {
    fn encoded_bytes(&self) -> u64 {
        match self {
            Self::Value(value) => value.encoded_bytes(),
            Self::Runs(_, bytes) => *bytes,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Value(value) => value.encode(out),
            Self::Runs(runs, _) => put_runs(out, runs),
        }
    }
}

/// Values of fewer bytes are encoded at once.
const HOLE_BYTES_MIN: u64 = 64 << 10;

/// A larger buffer is not kept for the next tx.
const PAYLOAD_BYTES_KEPT: usize = 256 << 10;

/// The target of a record: a key, or a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A key of this table.
    Key(TableId, &'a [u8]),
    /// The table of this database.
    Database(u32),
}

impl Log {
    /// Returns true if nothing is recorded.
    pub fn is_empty(&self) -> bool {
        !self.changed
    }

    /// Sets whether the records will be read. Call while it is empty; [`Log::clear`] resets it to true.
    pub fn set_read(&mut self, read: bool) {
        assert!(self.is_empty());
        self.unread = !read;
    }

    /// Sets the size that the records may reach: the first one makes room for it, so that they are not moved while they
    /// grow; those of very many bytes are.
    #[inline]
    pub fn expect_bytes(&mut self, bytes: u64) {
        self.payload.expected_bytes = bytes.min(PAYLOAD_BYTES_KEPT as u64) as usize;
    }

    /// Returns the exact size of the payload so far. O(values kept separately).
    pub fn payload_bytes(&self) -> u64 {
        self.payload.bytes_count()
    }

    /// Returns the payload, to be taken away; clear what is left.
    pub fn payload_mut(&mut self) -> &mut Payload {
        &mut self.payload
    }

    /// Returns the end of the records so far, for [`Log::named_from`].
    pub fn mark(&self) -> usize {
        self.payload.bytes.len()
    }

    /// Returns the targets of the records after `mark`, in order, except in the server's own table.
    pub fn named_from(&self, mark: usize) -> impl Iterator<Item = Named<'_>> {
        self.records_from(mark).map(|(named, _)| named)
    }

    /// Lists the changes that watches and client-side caches must see. A group's read position in a stream is not one,
    /// as in Redis.
    pub fn touched(&self) -> impl Iterator<Item = Named<'_>> {
        let touches = |effect: &Option<Effect<'_>>| effect.as_ref().is_none_or(Effect::touches);
        self.changes().filter(move |(_, effect)| touches(effect)).map(|(named, _)| named)
    }

    /// Lists all changes with their targets, in order, except in the server's own table; `None` for a large value put
    /// whole, or a long removal.
    pub fn changes(&self) -> impl Iterator<Item = (Named<'_>, Option<Effect<'_>>)> {
        self.records_from(0)
    }

    /// Returns the target of each record after `mark`, and its effect unless part of that is kept separately.
    fn records_from(&self, mark: usize) -> impl Iterator<Item = (Named<'_>, Option<Effect<'_>>)> {
        let Payload { bytes, holes, .. } = &self.payload;
        let mut holes = holes.iter().skip_while(move |hole| hole.record_at < mark).peekable();
        let mut input = &bytes[mark..];
        let all = std::iter::from_fn(move || {
            let at = bytes.len() - input.len();
            (at < bytes.len()).then(|| match holes.next_if(|hole| hole.record_at == at) {
                Some(hole) => {
                    let (_, table, key) = take_name(&mut input).expect("what a log holds was encoded by it");
                    input = &bytes[hole.at..];
                    (Named::Key(table, key), None)
                }
                None => {
                    let record = Record::decode(&mut input).expect("what a log holds was encoded by it");
                    (record.named(), Some(record.effect))
                }
            })
        });
        all.filter(|(named, _)| !matches!(named, Named::Key(OF_SERVER, _)))
    }

    /// Clears the log and makes it read again; keeps the buffer unless it has grown large.
    #[inline]
    pub fn clear(&mut self) {
        if self.changed && !self.unread {
            self.payload.clear();
        }
        (self.changed, self.unread) = (false, false);
    }

    /// Takes over everything recorded in another log, which is in read mode; call while this one is empty.
    pub(crate) fn adopt(&mut self, other: &mut Self) {
        assert!(self.is_empty());
        self.changed = other.changed;
        if !self.unread {
            std::mem::swap(&mut self.payload, &mut other.payload);
        }
    }

    pub(crate) fn record(&mut self, table: TableId, key: &[u8], effect: &Effect<'_>) {
        self.changed = true;
        if !self.unread {
            Record { table, key, effect: *effect }.encode(self.payload.records());
        }
    }

    /// Records that `key` holds `whole`, replacing any value.
    pub(crate) fn record_whole(&mut self, table: TableId, key: &[u8], whole: &Whole) {
        self.changed = true;
        if self.unread {
            return;
        }
        let record_at = self.payload.bytes.len();
        put_whole_head(&mut self.payload.bytes, table, key, whole);
        self.payload.put(record_at, Beside::Value(whole.value.clone()));
    }

    /// Records that the items at `found` are removed from the list under `key`; encoded they take `runs_bytes`.
    pub(crate) fn record_removal(&mut self, table: TableId, key: &[u8], found: &Arc<Runs>, runs_bytes: u64) {
        self.changed = true;
        if self.unread {
            return;
        }
        let record_at = self.payload.bytes.len();
        put_removal_head(&mut self.payload.bytes, table, key, found.items(), runs_bytes);
        self.payload.put(record_at, Beside::Runs(found.clone(), runs_bytes));
    }
}

impl<'a> Record<'a> {
    fn named(&self) -> Named<'a> {
        match self.effect {
            Effect::MapPut { database, .. } => Named::Database(database),
            _ => Named::Key(self.table, self.key),
        }
    }
}

impl Payload {
    /// Returns the buffer of the records, with room for those expected.
    #[inline]
    fn records(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() < self.expected_bytes {
            self.bytes.reserve_exact(self.expected_bytes - self.bytes.len());
        }
        &mut self.bytes
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(PAYLOAD_BYTES_KEPT);
        self.holes.clear();
    }

    /// Releases room for records that never came, if it is more than they take.
    pub fn shrink(&mut self) {
        if self.bytes.capacity() > 2 * self.bytes.len() {
            self.bytes.shrink_to_fit();
        }
    }

    /// Returns the memory of values kept beside the records, in bytes. O(values).
    pub fn clones_bytes(&self) -> u64 {
        let clones = self.holes.iter().map(|hole| match &hole.beside {
            Beside::Value(value) => value.heap_bytes(),
            Beside::Runs(..) => 0,
        });
        clones.sum()
    }

    /// Adds the end of the record that began at `record_at`.
    fn put(&mut self, record_at: usize, beside: Beside) {
        if beside.encoded_bytes() < HOLE_BYTES_MIN {
            beside.encode(self.records());
        } else {
            self.holes.push(Hole { record_at, at: self.bytes.len(), beside });
        }
    }

    /// Returns the exact total size. O(values kept separately).
    pub fn bytes_count(&self) -> u64 {
        self.bytes.len() as u64 + self.holes.iter().map(|hole| hole.beside.encoded_bytes()).sum::<u64>()
    }

    /// Returns the whole payload, if no value is kept separately.
    pub fn complete(&mut self) -> Option<&mut Vec<u8>> {
        self.holes.is_empty().then_some(&mut self.bytes)
    }

    /// Returns the whole payload. O(bytes).
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes_count() as usize);
        let mut done = 0;
        for hole in &self.holes {
            out.extend_from_slice(&self.bytes[done..hole.at]);
            hole.beside.encode(&mut out);
            done = hole.at;
        }
        out.extend_from_slice(&self.bytes[done..]);
        assert_eq!(out.len() as u64, self.bytes_count(), "a value told a size that is not its own");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{ListChange, RunWriter};
    use base::varint;
    use blocks::End;
    use values::hash::Pair;
    use values::{Hash, List, Sorted, ValueType};

    fn text_of(bytes: usize) -> Value {
        let mut encoded = Vec::new();
        varint::put_bytes(&mut encoded, &b"x".repeat(bytes));
        Value::decode(ValueType::String, &mut &encoded[..]).expect("bytes are a text")
    }

    fn list_of(items: usize) -> Value {
        let mut list = List::new();
        (0..items).for_each(|item| list.push(End::Tail, format!("item {item}").as_bytes()));
        Value::List(list)
    }

    fn hash_of(fields: usize) -> Value {
        let mut hash = Hash::default();
        for field in 0..fields {
            let field = format!("field {field}");
            hash.put(Pair { field: field.as_bytes(), value: b"value", expires_at_ms: None });
            hash.grow();
        }
        Value::Hash(hash)
    }

    fn sorted_of(members: usize) -> Value {
        let mut sorted = Sorted::default();
        for member in 0..members {
            sorted.put(member as f64 / 4.0, format!("member {member}").as_bytes());
            sorted.grow();
        }
        Value::Sorted(sorted)
    }

    #[test]
    fn a_whole_value_is_logged_as_its_put_effect() {
        let texts = [1, 100, 20_000, 70_000].map(text_of).into_iter();
        let lists = [1, 100, 3_000, 100_000].map(list_of);
        for value in texts.chain(lists).chain([1, 100, 5_000].map(hash_of)).chain([1, 100, 5_000].map(sorted_of)) {
            for expires_at_ms in [None, Some(1_700_000_000_000)] {
                let whole = Whole::plain(value.clone(), expires_at_ms);
                let mut encoded = Vec::new();
                value.encode(&mut encoded);
                let effect = match &value {
                    Value::Text(_) => {
                        let bytes = varint::take_bytes(&mut &encoded[..]).expect("a text is bytes behind their length");
                        Effect::StringPut { expires_at_ms, bytes }
                    }
                    _ => Effect::ValuePut { expires_at_ms, kind: value.value_type(), encoded: &encoded },
                };
                let mut twin = Log::default();
                let mut log = Log::default();
                for log in [&mut log, &mut twin] {
                    log.record(7, b"before", &Effect::Remove);
                }
                log.record_whole(7, b"key", &whole);
                twin.record(7, b"key", &effect);
                for log in [&mut log, &mut twin] {
                    log.record(7, b"between", &Effect::ExpiryClear);
                }
                log.record_whole(8, b"other", &whole);
                twin.record(8, b"other", &effect);
                let expected = twin.payload_mut().complete().expect("nothing lies beside it").clone();
                assert_eq!(log.payload_bytes(), expected.len() as u64);
                assert!(log.payload_mut().to_vec() == expected, "{} bytes encoded", encoded.len());
                let is_big = value.encoded_bytes() >= HOLE_BYTES_MIN;
                assert_eq!(log.payload_mut().complete().is_none(), is_big);
                let names = [Named::Key(7, b"before"), Named::Key(7, b"key"), Named::Key(7, b"between")];
                assert!(log.named_from(0).eq(names.into_iter().chain([Named::Key(8, b"other")])));
            }
        }
    }

    #[test]
    fn a_long_removal_is_logged_as_its_remove_effect() {
        for count in [2, 1_000, 100_000] {
            let mut found = Runs::default();
            (0..count).rev().for_each(|at| found.add(at * 300 + at % 2, 1 + at % 200));
            let (mut runs, mut writer, mut runs_bytes) = (Vec::new(), RunWriter::default(), 0);
            put_runs(&mut runs, &found);
            (0..found.runs()).for_each(|at| runs_bytes += writer.encoded_bytes(found.rising(at)));
            assert_eq!(runs_bytes, runs.len());
            let (mut log, mut twin) = (Log::default(), Log::default());
            log.record_removal(7, b"key", &Arc::new(found.clone()), runs_bytes as u64);
            twin.record(7, b"key", &Effect::List(ListChange::RemoveMany { count: found.items(), runs: &runs }));
            for log in [&mut log, &mut twin] {
                log.record(7, b"after", &Effect::ExpiryClear);
            }
            assert_eq!(log.payload_bytes(), twin.payload_bytes());
            assert!(log.payload_mut().to_vec() == twin.payload_mut().to_vec(), "{count} runs");
            assert_eq!(log.payload_mut().complete().is_none(), runs_bytes as u64 >= HOLE_BYTES_MIN);
            assert!(log.named_from(0).eq([Named::Key(7, b"key"), Named::Key(7, b"after")]));
        }
    }

    #[test]
    fn named_from_lists_the_keys_since_any_mark() {
        let mut log = Log::default();
        let whole = Whole::plain(list_of(50_000), None);
        let mut marks = Vec::new();
        for table in 0..6 {
            marks.push(log.mark());
            if table % 2 == 0 {
                log.record_whole(table, b"big", &whole);
            } else {
                log.record(table, b"small", &Effect::Remove);
            }
        }
        for (mark, from) in marks.into_iter().zip(0..) {
            let tables = log.named_from(mark).map(|named| match named {
                Named::Key(table, _) => table,
                Named::Database(_) => unreachable!("none was recorded"),
            });
            assert!(tables.eq(from..6));
        }
        assert_eq!(log.named_from(log.mark()).next(), None);
    }

    #[test]
    fn a_logged_value_is_unaffected_by_later_changes() {
        let Value::List(mut list) = list_of(50_000) else { unreachable!() };
        let mut log = Log::default();
        let whole = Whole::plain(Value::List(list.clone()), None);
        log.record_whole(0, b"key", &whole);
        let before = log.payload_mut().to_vec();
        list.push(End::Tail, b"later");
        drop(whole);
        assert!(log.payload_mut().to_vec() == before);
    }
}
