//! The guard of a stream.

use crate::effect::event;
use crate::effect::{Counting, Effect, Ids, Items, StreamChange};
use crate::notes::Classes;
use crate::tx::{Abandon, Before, Tx};
use base::{Ms, varint};
use values::stream::{ENTRY_BYTES_MAX, Foot, StreamId};
use values::{Stream, limits};

/// Maximum bytes of a record, excluding key, names and items.
const FIELDS_BYTES_MAX: usize = 72;
/// Bytes of an id in a record, at most.
const ID_BYTES_MAX: usize = 2 * varint::BYTES_MAX;
/// Records of an addition: the removal of an expired key, the entry, and a trim.
const RECORDS_OF_ADDITION: usize = 3;

/// A mutable stream under a key. The key is created with the first entry or group, and stays.
pub struct StreamMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
}

/// A consumer of a group, both by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader<'a> {
    /// The group's name.
    pub group: &'a [u8],
    /// The consumer's name.
    pub consumer: &'a [u8],
}

/// The data of a redelivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redelivery {
    /// Time of delivery to record.
    pub delivered_ms: Ms,
    /// Effect on the delivery count.
    pub counting: Counting,
}

impl<'t, 'k> StreamMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown } }
    }

    /// Returns the current stream; `None` if the key is absent.
    pub fn stream(&mut self) -> Option<&Stream> {
        self.tx.value(self.key).expect("its kind was checked when the guard was made")
    }

    /// Returns true if an entry of these fields is not too long.
    pub fn fits(fields: &[&[u8]]) -> bool {
        fields.iter().map(|field| field.len() + varint::BYTES_MAX).sum::<usize>() <= ENTRY_BYTES_MAX
    }

    /// Adds an entry of alternating names and values, with an id above all others. O(log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn add(&mut self, id: StreamId, fields: &[&[u8]]) -> Result<(), Abandon> {
        let bytes: usize = fields.iter().map(|field| field.len()).sum();
        let (entries_max, bytes_max) = (limits::STREAM_NODE_ENTRIES.get(), limits::STREAM_NODE_BYTES.get());
        let opens = self.stream().is_none_or(|stream| stream.must_open(bytes, entries_max, bytes_max));
        let fields_bytes = (bytes + fields.len() * varint::BYTES_MAX) as u64;
        self.tx.need_room(fields_bytes + Self::room(RECORDS_OF_ADDITION, self.key.len(), 0, 0))?;
        self.change(StreamChange::Add { id, fields: Items::Slices(fields), opens });
        Ok(())
    }

    /// Removes entries. Returns how many existed. O(ids log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn delete(&mut self, ids: &[StreamId]) -> Result<u64, Abandon> {
        let Some(stream) = self.stream() else { return Ok(0) };
        let (mut ids, mut there) = (ids.to_vec(), Vec::new());
        ids.sort_unstable();
        ids.dedup();
        stream.walk_these(&ids, &mut |id, fields| there.extend(fields.map(|_| id)));
        self.need_room_for(1, 0, there.len())?;
        if !there.is_empty() {
            self.change(StreamChange::Delete { ids: Ids::Slice(&there) });
        }
        Ok(there.len() as u64)
    }

    /// Removes the first `count` entries, which must exist. O(log n + chunks removed).
    pub fn trim(&mut self, count: u64) {
        if count > 0 {
            self.change(StreamChange::Trim { count });
        }
    }

    /// Removes these existing entries, with ascending ids, as a trim. O(ids log n).
    pub fn trim_these(&mut self, ids: &[StreamId]) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        let change = Effect::Stream(StreamChange::Delete { ids: Ids::Slice(ids) });
        self.tx.change_as(self.key, &change, before, Some((Classes::STREAM, event::TRIM)));
    }

    /// Sets the stream's id state; ignores `len`.
    pub fn set(&mut self, foot: Foot) {
        self.change(StreamChange::set(foot));
    }

    /// Creates a group, or sets an existing one's read position.
    pub fn put_group(&mut self, group: &[u8], last_id: StreamId, entries_read: Option<u64>) {
        self.change(StreamChange::GroupPut { group, last_id, entries_read });
    }

    /// Removes an existing group.
    pub fn remove_group(&mut self, group: &[u8]) {
        self.change(StreamChange::GroupRemove { group });
    }

    /// Creates a consumer of a group, or sets when it was seen, and active unless `None`, which leaves that unchanged.
    /// O(log n).
    pub fn see_consumer(&mut self, reader: Reader<'_>, seen_ms: Ms, active_ms: Option<Ms>) {
        let Reader { group, consumer } = reader;
        let stream = self.stream().expect("a group of it is there");
        let number = stream.group(group).expect("it is there").number;
        let found = stream.consumer(number, consumer);
        let active_ms = active_ms.or(found.and_then(|found| found.active_ms));
        match found {
            None => self.change(StreamChange::ConsumerMake { group, consumer, seen_ms, active_ms }),
            Some(found) if (found.seen_ms, found.active_ms) == (seen_ms, active_ms) => {}
            Some(_) => self.change(StreamChange::ConsumerSeen { group, consumer, seen_ms, active_ms }),
        }
    }

    /// Removes an existing consumer and its pending entries.
    pub fn remove_consumer(&mut self, reader: Reader<'_>) {
        let Reader { group, consumer } = reader;
        self.change(StreamChange::ConsumerRemove { group, consumer });
    }

    /// Delivers the entries after the group's last one, up to `to`. O(log n + entries).
    pub fn deliver(&mut self, reader: Reader<'_>, to: StreamId, entries_read: Option<u64>, delivered_ms: Ms) {
        let Reader { group, consumer } = reader;
        self.change(StreamChange::Deliver { group, consumer, to, entries_read, delivered_ms });
    }

    /// Redelivers entries, regardless of their present consumer. O(ids log n).
    pub fn claim(&mut self, reader: Reader<'_>, ids: &[StreamId], again: Redelivery) {
        let Redelivery { delivered_ms, counting } = again;
        let Reader { group, consumer } = reader;
        if !ids.is_empty() {
            let ids = Ids::Slice(ids);
            self.change(StreamChange::Claim { group, consumer, delivered_ms, counting, ids });
        }
    }

    /// Removes deliveries from the pending ones, where they must be; ids are ascending. O(ids log n).
    pub fn drop_pending(&mut self, group: &[u8], ids: &[StreamId]) {
        if !ids.is_empty() {
            self.change(StreamChange::Drop { group, ids: Ids::Slice(ids) });
        }
    }

    /// Returns the maximum bytes of `records` records, for a key, group and consumer with names of these lengths, that
    /// have `ids` ids together.
    pub fn room(records: usize, key_bytes: usize, names_bytes: usize, ids: usize) -> u64 {
        (records * (key_bytes + names_bytes + FIELDS_BYTES_MAX) + ids * ID_BYTES_MAX) as u64
    }

    /// Requires [`StreamMut::room`]; call before the first change.
    ///
    /// # Errors
    /// If less is claimed.
    pub fn need_room_for(&self, records: usize, names_bytes: usize, ids: usize) -> Result<(), Abandon> {
        self.tx.need_room(Self::room(records, self.key.len(), names_bytes, ids))
    }

    fn change(&mut self, change: StreamChange<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change(self.key, &Effect::Stream(change), before);
    }
}
