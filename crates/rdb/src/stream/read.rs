//! Reads a stream in steps. Every number is checked against the bytes that follow before it is trusted.

use super::{GONE, SAME_NAMES, UNKNOWN};
use crate::lzf::Unpacking;
use crate::number::{Text, take, take_length, take_text};
use crate::packed::{Cursor, Entry, Form};
use crate::{Fault, types};
use base::Ms;
use std::collections::BTreeMap;
use values::stream::{ENTRY_BYTES_MAX, Pending, StreamId};
use values::string::{DIGITS_MAX, format_int};
use values::{Stream, Value, limits};

/// Bytes read per step: about 50 µs.
const STEP_BYTES: usize = 16 << 10;
/// The cost of a pending id, in bytes.
const ID_BYTES: usize = 64;

/// The next part to read; numbers are counts left.
#[derive(Clone, Copy)]
enum NextRead {
    /// Nodes.
    Nodes(u64),
    /// Groups.
    Groups(u64),
    /// Pending ids; then groups.
    Pending(u64, u64),
    Consumers(u64, u64),
    /// Ids owned by this consumer; then consumers, and groups.
    Owned(u32, u64, u64, u64),
    Nothing,
}

/// A stream being read.
pub(crate) struct StreamReading {
    bytes: Vec<u8>,
    at: usize,
    /// The end of the value.
    end: usize,
    kind: u8,
    stream: Stream,
    next: NextRead,
    /// A node being unpacked, and the id of its first entry.
    unpacking: Option<(StreamId, Unpacking)>,
    group: u32,
    /// Pending deliveries of the group whose consumer is not yet known.
    unowned: BTreeMap<StreamId, (Ms, u64)>,
}

impl StreamReading {
    /// Opens a payload of type `kind` whose footer begins at `end` and is valid.
    pub(crate) fn open(bytes: Vec<u8>, end: usize) -> Result<Self, Fault> {
        let mut at = 0;
        let [kind] = take(&bytes[..end], &mut at)?;
        let nodes = take_length(&bytes[..end], &mut at)?;
        let (stream, next) = (Stream::default(), NextRead::Nodes(nodes));
        let unowned = BTreeMap::new();
        Ok(Self { at, end, kind, stream, next, unpacking: None, group: 0, unowned, bytes })
    }

    /// Runs one step. Returns true when all is read.
    pub(crate) fn step(&mut self) -> Result<bool, Fault> {
        let mut left = STEP_BYTES;
        while left > 0 {
            let begin = self.at;
            self.next = match self.next {
                NextRead::Nodes(0) => NextRead::Groups(self.take_foot()?),
                NextRead::Nodes(count) => match self.take_node(&mut left)? {
                    true => NextRead::Nodes(count - 1),
                    false => return Ok(false),
                },
                NextRead::Groups(0) => NextRead::Nothing,
                NextRead::Groups(count) => NextRead::Pending(self.take_group()?, count - 1),
                NextRead::Pending(0, groups) => NextRead::Consumers(self.length()?, groups),
                NextRead::Pending(count, groups) => {
                    self.take_pending()?;
                    left = left.saturating_sub(ID_BYTES);
                    NextRead::Pending(count - 1, groups)
                }
                // Every pending delivery belongs to a consumer.
                NextRead::Consumers(0, _) if !self.unowned.is_empty() => return Err(Fault::Malformed),
                NextRead::Consumers(0, groups) => NextRead::Groups(groups),
                NextRead::Consumers(count, groups) => {
                    let (consumer, owned) = self.take_consumer()?;
                    NextRead::Owned(consumer, owned, count - 1, groups)
                }
                NextRead::Owned(_, 0, consumers, groups) => NextRead::Consumers(consumers, groups),
                NextRead::Owned(consumer, count, consumers, groups) => {
                    self.take_owned(consumer)?;
                    left = left.saturating_sub(ID_BYTES);
                    NextRead::Owned(consumer, count - 1, consumers, groups)
                }
                NextRead::Nothing => return Ok(true),
            };
            left = left.saturating_sub(self.at - begin);
        }
        Ok(false)
    }

    /// Returns the stream, once all is read.
    pub(crate) fn finish(&self) -> Value {
        Value::Stream(self.stream.clone())
    }

    fn length(&mut self) -> Result<u64, Fault> {
        take_length(&self.bytes[..self.end], &mut self.at)
    }

    fn time(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_le_bytes(take(&self.bytes[..self.end], &mut self.at)?))
    }

    fn id(&mut self) -> Result<StreamId, Fault> {
        Ok(StreamId { ms: self.length()?, seq: self.length()? })
    }

    fn raw_id(&mut self) -> Result<StreamId, Fault> {
        Ok(id_of(take(&self.bytes[..self.end], &mut self.at)?))
    }

    fn name(&mut self) -> Result<Vec<u8>, Fault> {
        match take_text(&self.bytes[..self.end], &mut self.at)? {
            Text::Plain(range) => Ok(self.bytes[range].to_vec()),
            Text::Integer(number) => Ok(format_int(number, &mut [0; DIGITS_MAX]).to_vec()),
            Text::Packed(range, length) => {
                let mut unpacking = Unpacking::new(range, length)?;
                unpacking.step(&self.bytes, usize::MAX)?;
                Ok(unpacking.into_text())
            }
        }
    }

    /// Reads a node. Returns false if a compressed one is not yet fully unpacked.
    fn take_node(&mut self, left: &mut usize) -> Result<bool, Fault> {
        if let Some((first, mut unpacking)) = self.unpacking.take() {
            if !unpacking.step(&self.bytes, std::mem::take(left))? {
                self.unpacking = Some((first, unpacking));
                return Ok(false);
            }
            let node = unpacking.into_text();
            return add_entries(&mut self.stream, first, &node).map(|()| true);
        }
        let first = <[u8; 16]>::try_from(self.name()?).map_err(|_| Fault::Malformed)?;
        let first = id_of(first);
        match take_text(&self.bytes[..self.end], &mut self.at)? {
            Text::Plain(range) => add_entries(&mut self.stream, first, &self.bytes[range])?,
            Text::Integer(_) => return Err(Fault::Malformed),
            Text::Packed(range, length) => {
                self.unpacking = Some((first, Unpacking::new(range, length)?));
                return self.take_node(left);
            }
        }
        Ok(true)
    }

    /// Reads the stream's metadata. Returns the number of groups.
    fn take_foot(&mut self) -> Result<u64, Fault> {
        let (len, last_id) = (self.length()?, self.id()?);
        let (mut deleted_id, mut added) = (StreamId::MIN, len);
        if self.kind != types::STREAM_1 {
            let _first_id = self.id()?;
            (deleted_id, added) = (self.id()?, self.length()?);
        }
        if len != self.stream.len() || last_id < self.stream.top_id().unwrap_or(StreamId::MIN) {
            return Err(Fault::Malformed);
        }
        self.stream.set(last_id, deleted_id, added);
        self.length()
    }

    /// Reads a group. Returns the number of pending ids.
    fn take_group(&mut self) -> Result<u64, Fault> {
        let (name, last_id) = (self.name()?, self.id()?);
        let entries_read = if self.kind == types::STREAM_1 { UNKNOWN } else { self.length()? };
        if self.stream.group(&name).is_some() {
            return Err(Fault::Malformed);
        }
        self.stream.put_group(&name, last_id, Some(entries_read).filter(|read| *read != UNKNOWN));
        self.group = self.stream.group(&name).expect("just put").number;
        self.length()
    }

    fn take_pending(&mut self) -> Result<(), Fault> {
        let (id, delivered_ms, deliveries) = (self.raw_id()?, self.time()?, self.length()?);
        let before = self.unowned.insert(id, (delivered_ms, deliveries));
        if before.is_none() { Ok(()) } else { Err(Fault::Malformed) }
    }

    /// Reads a consumer. Returns its number, and how many ids it owns.
    fn take_consumer(&mut self) -> Result<(u32, u64), Fault> {
        let (name, seen_ms) = (self.name()?, self.time()?);
        let active_ms = if self.kind == types::STREAM_3 { self.time()? } else { seen_ms };
        if self.stream.consumer(self.group, &name).is_some() {
            return Err(Fault::Malformed);
        }
        let active_ms = Some(active_ms).filter(|active_ms| *active_ms != UNKNOWN);
        let number = self.stream.put_consumer(self.group, &name, seen_ms, active_ms);
        Ok((number, self.length()?))
    }

    fn take_owned(&mut self, consumer: u32) -> Result<(), Fault> {
        let id = self.raw_id()?;
        let (delivered_ms, deliveries) = self.unowned.remove(&id).ok_or(Fault::Malformed)?;
        self.stream.put_pending(self.group, Pending { id, consumer, delivered_ms, deliveries });
        Ok(())
    }
}

fn id_of(bytes: [u8; 16]) -> StreamId {
    let whole = u128::from_be_bytes(bytes);
    StreamId { ms: (whole >> 64) as u64, seq: whole as u64 }
}

/// The items of a listpack.
struct Items<'a> {
    bytes: &'a [u8],
    cursor: Cursor,
}

impl Items<'_> {
    fn integer(&mut self) -> Result<i64, Fault> {
        match self.cursor.next(self.bytes)? {
            Some(Entry::Integer(number)) => Ok(number),
            _ => Err(Fault::Malformed),
        }
    }

    fn count(&mut self) -> Result<usize, Fault> {
        // At most as many as bytes remain, so that no false count costs time.
        usize::try_from(self.integer()?).ok().filter(|count| *count <= self.bytes.len()).ok_or(Fault::Malformed)
    }

    fn text(&mut self) -> Result<Vec<u8>, Fault> {
        match self.cursor.next(self.bytes)?.ok_or(Fault::Malformed)? {
            Entry::Integer(number) => Ok(format_int(number, &mut [0; DIGITS_MAX]).to_vec()),
            Entry::Bytes(range) => Ok(self.bytes[range].to_vec()),
        }
    }
}

/// Adds the entries of a node.
fn add_entries(stream: &mut Stream, first: StreamId, node: &[u8]) -> Result<(), Fault> {
    let mut items = Items { bytes: node, cursor: Cursor::open(Form::Listpack, node)? };
    let (there, gone) = (items.count()?, items.count()?);
    let names_count = items.count()?;
    let names: Vec<Vec<u8>> = (0..names_count).map(|_| items.text()).collect::<Result<_, _>>()?;
    if items.integer()? != 0 {
        return Err(Fault::Malformed);
    }
    let mut is_gone = 0;
    for _ in 0..there + gone {
        let flags = items.integer()?;
        let (ms, seq) = (items.integer()? as u64, items.integer()? as u64);
        let id = StreamId { ms: first.ms.wrapping_add(ms), seq: first.seq.wrapping_add(seq) };
        let mut fields = Vec::new();
        if flags & SAME_NAMES != 0 {
            for name in &names {
                fields.extend([name.clone(), items.text()?]);
            }
        } else {
            for _ in 0..items.count()? {
                fields.extend([items.text()?, items.text()?]);
            }
        }
        items.integer()?;
        if flags & GONE != 0 {
            is_gone += 1;
        } else {
            add(stream, id, &fields)?;
        }
    }
    if is_gone == gone && items.cursor.next(node)?.is_none() { Ok(()) } else { Err(Fault::Malformed) }
}

fn add(stream: &mut Stream, id: StreamId, fields: &[Vec<u8>]) -> Result<(), Fault> {
    let bytes: usize = fields.iter().map(Vec::len).sum();
    let is_long = bytes.saturating_add(10 * fields.len()) > ENTRY_BYTES_MAX;
    if fields.is_empty() || is_long || id <= stream.foot().last_id {
        return Err(Fault::Malformed);
    }
    let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
    let opens = stream.must_open(bytes, limits::STREAM_NODE_ENTRIES.get(), limits::STREAM_NODE_BYTES.get());
    stream.add(id, &fields, opens);
    Ok(())
}
