//! Several entries in one item, with common parts stored once.
//!
//! ```text
//! chunk   | 7 | first id : 16 | last ms - first ms | last seq | entries | removed | names of entry 1 | entry | ...
//! names   | how many | name : bytes | ...
//! entry   | head | ms step, if large | seq, if not the usual one | names, if they differ | value : bytes | ...
//! head    | ms step x 4 + 2 if the seq is stored + 1 if the names are |      all numbers are varints
//! ```
//!
//! The usual seq is the next one within the same millisecond, else 0. A step of [`LARGE_STEP`] means the real one
//! follows.

use super::id::{ID_BYTES, StreamId};
use super::key::CHUNK;
use base::varint;

/// The step that stands for one stored after the head.
const LARGE_STEP: u64 = 1 << 61;
/// Head flag: the seq is stored.
const HAS_SEQ: u64 = 2;
/// Head flag: the names are stored.
const HAS_NAMES: u64 = 1;

/// Names or values, each preceded by its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordRun<'a> {
    count: u64,
    bytes: &'a [u8],
}

impl<'a> WordRun<'a> {
    fn take(input: &mut &'a [u8], count: u64) -> Option<Self> {
        let start = *input;
        for _ in 0..count {
            varint::take_bytes(input)?;
        }
        Some(Self { count, bytes: &start[..start.len() - input.len()] })
    }

    fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let mut bytes = self.bytes;
        (0..self.count).map(move |_| varint::take_bytes(&mut bytes).expect("taken before"))
    }

    fn put(self, out: &mut Vec<u8>) {
        varint::put(out, self.count);
        out.extend_from_slice(self.bytes);
    }
}

/// The fields of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    names: WordRun<'a>,
    values: WordRun<'a>,
}

impl<'a> Fields<'a> {
    /// Returns the number of fields.
    pub fn count(&self) -> u64 {
        self.names.count
    }

    /// Returns names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        self.names.iter().zip(self.values.iter())
    }

    /// Returns the bytes of names and values, including their lengths. O(1).
    pub fn bytes(&self) -> usize {
        self.names.bytes.len() + self.values.bytes.len()
    }
}

/// A chunk's header.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamChunk<'a> {
    /// The id of its first entry.
    pub(super) first: StreamId,
    /// The id of its last entry.
    pub(super) last: StreamId,
    /// The number of entries.
    pub(super) entries: u64,
    /// The number of removed entries.
    pub(super) gone: u64,
    names: WordRun<'a>,
    body: &'a [u8],
}

impl<'a> StreamChunk<'a> {
    /// Returns `None` if the item is no chunk. O(names of its first entry).
    pub(super) fn of(item: &'a [u8]) -> Option<Self> {
        let (&CHUNK, mut rest) = item.split_first()? else { return None };
        let first = StreamId::take(&mut rest)?;
        let ms = first.ms.checked_add(varint::take(&mut rest)?)?;
        let last = StreamId { ms, seq: varint::take(&mut rest)? };
        let (entries, gone) = (varint::take(&mut rest)?, varint::take(&mut rest)?);
        let names_count = varint::take(&mut rest)?;
        let names = WordRun::take(&mut rest, names_count)?;
        Some(Self { first, last, entries, gone, names, body: rest })
    }

    /// Returns its entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StreamId, Fields<'a>)> + use<'a> {
        let mut reader = Reader::of(self);
        (0..self.entries).map(move |_| reader.take().expect("chunks are made here or checked"))
    }

    /// Returns true if it has entries and is exactly the bytes that [`Writer`] writes for them.
    pub(super) fn is_sound(&self, item: &[u8]) -> bool {
        let mut reader = Reader::of(self);
        let mut writer: Option<Writer> = None;
        for _ in 0..self.entries {
            let last = writer.as_ref().map_or(StreamId::MIN, |writer| writer.last);
            let Some((id, fields)) = reader.take().filter(|(id, fields)| *id > last && fields.count() > 0) else {
                return false;
            };
            Writer::add(&mut writer, id, fields);
        }
        let is_whole = reader.rest.is_empty() && self.entries.checked_add(self.gone).is_some();
        is_whole && writer.is_some_and(|writer| writer.finish(self.gone) == item)
    }

    /// Returns the item with an entry appended.
    pub(super) fn with(&self, id: StreamId, fields: &[&[u8]]) -> Vec<u8> {
        let bytes: usize = fields.iter().map(|field| field.len() + varint::BYTES_MAX).sum();
        let mut out = Vec::with_capacity(HEAD_BYTES_MAX + self.names.bytes.len() + self.body.len() + bytes);
        put_head(&mut out, self.first, id, self.entries + 1, self.gone);
        self.names.put(&mut out);
        out.extend_from_slice(self.body);
        let has_same_names =
            self.names.count == fields.len() as u64 / 2 && self.names.iter().eq(fields.iter().step_by(2).copied());
        let step = Step { before: self.last, id, has_names: !has_same_names };
        step.put(&mut out);
        put_fields(&mut out, fields, !has_same_names);
        out
    }

    /// Returns the item without the entries for which `goes` holds; `None` if none is left. Calls `goes` once for each.
    pub(super) fn without(&self, mut goes: impl FnMut(StreamId) -> bool) -> Option<Vec<u8>> {
        let mut writer = None;
        let mut gone = self.gone;
        for (id, fields) in self.iter() {
            if goes(id) {
                gone += 1;
            } else {
                Writer::add(&mut writer, id, fields);
            }
        }
        writer.map(|writer| writer.finish(gone))
    }

    /// Returns an item with one entry.
    pub(super) fn alone(id: StreamId, fields: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        put_head(&mut out, id, id, 1, 0);
        varint::put(&mut out, fields.len() as u64 / 2);
        fields.iter().step_by(2).for_each(|name| varint::put_bytes(&mut out, name));
        Step { before: before_first(id), id, has_names: false }.put(&mut out);
        put_fields(&mut out, fields, false);
        out
    }
}

/// Tag, id and four numbers.
const HEAD_BYTES_MAX: usize = 1 + ID_BYTES + 5 * varint::BYTES_MAX;

fn put_head(out: &mut Vec<u8>, first: StreamId, last: StreamId, entries: u64, gone: u64) {
    out.push(CHUNK);
    out.extend_from_slice(&first.to_bytes());
    [last.ms - first.ms, last.seq, entries, gone].into_iter().for_each(|number| varint::put(out, number));
}

fn put_fields(out: &mut Vec<u8>, fields: &[&[u8]], has_names: bool) {
    if has_names {
        varint::put(out, fields.len() as u64 / 2);
        fields.iter().step_by(2).for_each(|name| varint::put_bytes(out, name));
    }
    fields.iter().skip(1).step_by(2).for_each(|value| varint::put_bytes(out, value));
}

/// Returns the id from which the first entry is encoded: it takes no bytes beyond its head.
fn before_first(first: StreamId) -> StreamId {
    StreamId { seq: first.seq.wrapping_sub(1), ..first }
}

/// The id difference between consecutive entries.
struct Step {
    before: StreamId,
    id: StreamId,
    has_names: bool,
}

impl Step {
    fn usual_seq(before: StreamId, ms_step: u64) -> u64 {
        if ms_step == 0 { before.seq.wrapping_add(1) } else { 0 }
    }

    fn put(&self, out: &mut Vec<u8>) {
        let ms_step = self.id.ms - self.before.ms;
        let has_seq = self.id.seq != Self::usual_seq(self.before, ms_step);
        let flags = if has_seq { HAS_SEQ } else { 0 } + if self.has_names { HAS_NAMES } else { 0 };
        varint::put(out, ms_step.min(LARGE_STEP) * 4 + flags);
        if ms_step >= LARGE_STEP {
            varint::put(out, ms_step);
        }
        if has_seq {
            varint::put(out, self.id.seq);
        }
    }
}

/// Reads entries one by one.
struct Reader<'a> {
    rest: &'a [u8],
    names: WordRun<'a>,
    last: StreamId,
}

impl<'a> Reader<'a> {
    fn of(chunk: &StreamChunk<'a>) -> Self {
        Self { rest: chunk.body, names: chunk.names, last: before_first(chunk.first) }
    }

    /// Returns `None` if the bytes are no valid entry.
    fn take(&mut self) -> Option<(StreamId, Fields<'a>)> {
        let head = varint::take(&mut self.rest)?;
        let ms_step = match head / 4 {
            LARGE_STEP => varint::take(&mut self.rest)?,
            step => step,
        };
        let seq = match head & HAS_SEQ {
            0 => Step::usual_seq(self.last, ms_step),
            _ => varint::take(&mut self.rest)?,
        };
        let names = match head & HAS_NAMES {
            0 => self.names,
            _ => {
                let count = varint::take(&mut self.rest)?;
                WordRun::take(&mut self.rest, count)?
            }
        };
        let values = WordRun::take(&mut self.rest, names.count)?;
        self.last = StreamId { ms: self.last.ms.checked_add(ms_step)?, seq };
        Some((self.last, Fields { names, values }))
    }
}

/// Builds a chunk from entries.
struct Writer {
    first: StreamId,
    last: StreamId,
    entries: u64,
    /// The names of the first entry, with their count.
    names: Vec<u8>,
    body: Vec<u8>,
}

impl Writer {
    fn add(writer: &mut Option<Self>, id: StreamId, fields: Fields<'_>) {
        let mut names = Vec::new();
        fields.names.put(&mut names);
        let into = writer.get_or_insert_with(|| Self {
            first: id,
            last: before_first(id),
            entries: 0,
            names: names.clone(),
            body: Vec::new(),
        });
        let has_names = names != into.names;
        Step { before: into.last, id, has_names }.put(&mut into.body);
        if has_names {
            into.body.extend_from_slice(&names);
        }
        into.body.extend_from_slice(fields.values.bytes);
        (into.last, into.entries) = (id, into.entries + 1);
    }

    fn finish(self, gone: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_BYTES_MAX + self.names.len() + self.body.len());
        put_head(&mut out, self.first, self.last, self.entries, gone);
        out.extend_from_slice(&self.names);
        out.extend_from_slice(&self.body);
        out
    }
}
