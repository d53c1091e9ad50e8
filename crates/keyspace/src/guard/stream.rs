//! The guard of a stream.

use crate::effect::event;
use crate::effect::{Counting, Effect, Ids, Items, StreamChange};
use crate::notes::Classes;
use crate::tx::{Abandon, Before, Tx};
use base::{Ms, varint};
use values::stream::{ENTRY_BYTES_MAX, Foot, StreamId};
use values::{Stream, limits};

/// What a record has beside key, names and items, in bytes at most.
const FIELDS_BYTES_MAX: usize = 128;
/// What an id takes in a record, in bytes at most.
const ID_BYTES_MAX: usize = 2 * varint::BYTES_MAX;
/// Records that one command leaves of a key, at most.
const RECORDS_MAX: usize = 5;

/// A stream under a key, to be changed. The key comes with the first entry or group, and stays.
pub struct StreamMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
}

/// A consumer of a group, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader<'a> {
    /// The group's.
    pub group: &'a [u8],
    /// Its own.
    pub consumer: &'a [u8],
}

/// How entries are delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redelivery {
    /// When, as is to be told.
    pub delivered_ms: Ms,
    /// What becomes of the number of deliveries.
    pub counting: Counting,
}

impl<'t, 'k> StreamMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown } }
    }

    /// The stream as it is now; `None` if the key is absent.
    pub fn stream(&mut self) -> Option<&Stream> {
        self.tx.value(self.key).expect("its kind was checked when the guard was made")
    }

    /// Whether an entry of these fields is none too long.
    pub fn fits(fields: &[&[u8]]) -> bool {
        fields.iter().map(|field| field.len() + varint::BYTES_MAX).sum::<usize>() <= ENTRY_BYTES_MAX
    }

    /// Adds an entry, whose id is above all others, of names and values in turn. O(log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn add(&mut self, id: StreamId, fields: &[&[u8]]) -> Result<(), Abandon> {
        let bytes: usize = fields.iter().map(|field| field.len()).sum();
        let (entries_max, bytes_max) = (limits::STREAM_NODE_ENTRIES.get(), limits::STREAM_NODE_BYTES.get());
        let opens = self.stream().is_none_or(|stream| stream.must_open(bytes, entries_max, bytes_max));
        let fields_bytes = (bytes + fields.len() * varint::BYTES_MAX) as u64;
        self.tx.need_room(fields_bytes + Self::room(self.key.len(), 0, 0))?;
        self.change(StreamChange::Add { id, fields: Items::Slices(fields), opens });
        Ok(())
    }

    /// Removes entries; how many were there. O(ids log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn delete(&mut self, ids: &[StreamId]) -> Result<u64, Abandon> {
        let Some(stream) = self.stream() else { return Ok(0) };
        let (mut ids, mut there) = (ids.to_vec(), Vec::new());
        ids.sort_unstable();
        ids.dedup();
        stream.walk_these(&ids, &mut |id, fields| there.extend(fields.map(|_| id)));
        self.need_room_for(0, there.len())?;
        if !there.is_empty() {
            self.change(StreamChange::Delete { ids: Ids::Slice(&there) });
        }
        Ok(there.len() as u64)
    }

    /// Removes the first `count` entries, which must be there. O(log n + chunks that go).
    pub fn trim(&mut self, count: u64) {
        if count > 0 {
            self.change(StreamChange::Trim { count });
        }
    }

    /// Removes these entries, which must be there, to trim it; they rise. O(ids log n).
    pub fn trim_these(&mut self, ids: &[StreamId]) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        let change = Effect::Stream(StreamChange::Delete { ids: Ids::Slice(ids) });
        self.tx.change_as(self.key, &change, before, Some((Classes::STREAM, event::TRIM)));
    }

    /// Says what the stream knows of its ids; `len` is none of it.
    pub fn set(&mut self, foot: Foot) {
        self.change(StreamChange::set(foot));
    }

    /// Makes a group, or says of one what it has read.
    pub fn put_group(&mut self, group: &[u8], last_id: StreamId, entries_read: Option<u64>) {
        self.change(StreamChange::GroupPut { group, last_id, entries_read });
    }

    /// Removes a group, which must be there.
    pub fn remove_group(&mut self, group: &[u8]) {
        self.change(StreamChange::GroupRemove { group });
    }

    /// Makes a consumer of a group, or says of one when it was seen, and active unless `None`: then it stays as it was.
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

    /// Removes a consumer, which must be there, with what it owns.
    pub fn remove_consumer(&mut self, reader: Reader<'_>) {
        let Reader { group, consumer } = reader;
        self.change(StreamChange::ConsumerRemove { group, consumer });
    }

    /// Delivers what follows the group's last entry, up to `to`. O(log n + entries).
    pub fn deliver(&mut self, reader: Reader<'_>, to: StreamId, entries_read: Option<u64>, delivered_ms: Ms) {
        let Reader { group, consumer } = reader;
        self.change(StreamChange::Deliver { group, consumer, to, entries_read, delivered_ms });
    }

    /// Delivers entries again, whoever had them. O(ids log n).
    pub fn claim(&mut self, reader: Reader<'_>, ids: &[StreamId], again: Redelivery) {
        let Redelivery { delivered_ms, counting } = again;
        let Reader { group, consumer } = reader;
        if !ids.is_empty() {
            let ids = Ids::Slice(ids);
            self.change(StreamChange::Claim { group, consumer, delivered_ms, counting, ids });
        }
    }

    /// Takes deliveries off those that are pending, which they must be; the ids rise. O(ids log n).
    pub fn drop_pending(&mut self, group: &[u8], ids: &[StreamId]) {
        if !ids.is_empty() {
            self.change(StreamChange::Drop { group, ids: Ids::Slice(ids) });
        }
    }

    /// What all records of one command take at most, in bytes, for a key, a group and a consumer with names of so many
    /// bytes, and so many ids, some of them twice.
    pub fn room(key_bytes: usize, names_bytes: usize, ids: usize) -> u64 {
        let records = RECORDS_MAX * (key_bytes + names_bytes + FIELDS_BYTES_MAX);
        (records + 2 * ids * ID_BYTES_MAX) as u64
    }

    /// Asks for [`StreamMut::room`]; to be called before the first change.
    ///
    /// # Errors
    /// If less is claimed.
    pub fn need_room_for(&self, names_bytes: usize, ids: usize) -> Result<(), Abandon> {
        self.tx.need_room(Self::room(self.key.len(), names_bytes, ids))
    }

    fn change(&mut self, change: StreamChange<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change(self.key, &Effect::Stream(change), before);
    }
}
