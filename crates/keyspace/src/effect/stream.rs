//! Changes to a stream.

use super::items::Items;
use super::{DecodeError, take, take_bytes};
use base::{Ms, varint};
use values::stream::{ENTRY_BYTES_MAX, Foot, Group, Pending, StreamId};
use values::{List, Stream};

/// A change to the stream under a key. A stream that has lost its last entry still exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamChange<'a> {
    /// 70. Adds an entry; 71 in a new chunk. Creates the stream if absent.
    Add {
        /// Its id, above all others.
        id: StreamId,
        /// Name, value, name, value.
        fields: Items<'a>,
        /// True if it begins a chunk.
        opens: bool,
    },
    /// 72. Removes entries and records them as deleted.
    Delete {
        /// The ids, ascending.
        ids: Ids<'a>,
    },
    /// 73. Removes the first entries.
    Trim {
        /// Number of entries.
        count: u64,
    },
    /// 74. Sets the stream's id state.
    Set {
        /// The highest id assigned.
        last_id: StreamId,
        /// The highest id deleted.
        deleted_id: StreamId,
        /// Entries ever added.
        added: u64,
    },
    /// 75. Sets a group's read position; creates the group and the stream if absent.
    GroupPut {
        /// Its name.
        group: &'a [u8],
        /// The last id delivered.
        last_id: StreamId,
        /// Number of entries up to there, if known.
        entries_read: Option<u64>,
    },
    /// 76. Removes a group.
    GroupRemove {
        /// Its name.
        group: &'a [u8],
    },
    /// 77. Adds a consumer to a group.
    ConsumerMake {
        /// The group's name.
        group: &'a [u8],
        /// Its name.
        consumer: &'a [u8],
        /// Time of its last attempt.
        seen_ms: Ms,
        /// Time of its last successful one.
        active_ms: Option<Ms>,
    },
    /// 78. Removes a consumer and its pending entries.
    ConsumerRemove {
        /// The group's name.
        group: &'a [u8],
        /// Its name.
        consumer: &'a [u8],
    },
    /// 79. Delivers the entries after the group's last one to a consumer, which is seen and active then.
    Deliver {
        /// The group's name.
        group: &'a [u8],
        /// The consumer's name.
        consumer: &'a [u8],
        /// The last entry delivered.
        to: StreamId,
        /// Number of entries up to there, if known.
        entries_read: Option<u64>,
        /// Time of delivery.
        delivered_ms: Ms,
    },
    /// 80. Delivers pending entries again, to the same or another consumer.
    Claim {
        /// The group's name.
        group: &'a [u8],
        /// The consumer's name.
        consumer: &'a [u8],
        /// Time of delivery to record.
        delivered_ms: Ms,
        /// Effect on the delivery count.
        counting: Counting,
        /// The entries; one that was not pending gets a count of one.
        ids: Ids<'a>,
    },
    /// 81. Removes deliveries from the pending ones.
    Drop {
        /// The group's name.
        group: &'a [u8],
        /// The ids, ascending.
        ids: Ids<'a>,
    },
    /// 82. As 77, for an existing consumer.
    ConsumerSeen {
        /// The group's name.
        group: &'a [u8],
        /// Its name.
        consumer: &'a [u8],
        /// Time of its last attempt.
        seen_ms: Ms,
        /// Time of its last successful one.
        active_ms: Option<Ms>,
    },
}

/// The change of a delivery count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Unchanged.
    Keep,
    /// Incremented.
    OneMore,
    /// Set to this.
    Exactly(u64),
}

impl Counting {
    fn number(self) -> u64 {
        match self {
            Self::Keep => 0,
            Self::OneMore => 1,
            Self::Exactly(count) => count + 2,
        }
    }

    fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Keep,
            1 => Self::OneMore,
            more => Self::Exactly(more - 2),
        }
    }

    fn after(self, deliveries: u64) -> u64 {
        match self {
            Self::Keep => deliveries,
            Self::OneMore => deliveries.saturating_add(1),
            Self::Exactly(count) => count,
        }
    }
}

/// Ids of an effect: as in a handler, or as in a record.
#[derive(Clone, Copy, Debug)]
pub enum Ids<'a> {
    /// As in a handler.
    Slice(&'a [StreamId]),
    /// As in a record.
    Encoded {
        /// Number of ids.
        count: u64,
        /// Their bytes.
        bytes: &'a [u8],
    },
}

impl PartialEq for Ids<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Ids<'_> {}

impl<'a> Ids<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, self.count());
        self.iter().for_each(|id| put_id(out, id));
    }

    /// Decodes at least one id.
    fn decode(input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let count = take(input)?;
        let start = *input;
        for _ in 0..count {
            take_id(input)?;
        }
        if count == 0 {
            return Err(DecodeError::Malformed);
        }
        Ok(Self::Encoded { count, bytes: &start[..start.len() - input.len()] })
    }

    fn count(&self) -> u64 {
        match *self {
            Self::Slice(ids) => ids.len() as u64,
            Self::Encoded { count, .. } => count,
        }
    }

    fn iter(&self) -> impl Iterator<Item = StreamId> + use<'a> {
        let (slice, count, mut bytes) = match *self {
            Self::Slice(ids) => (ids, 0, &[][..]),
            Self::Encoded { count, bytes } => (&[][..], count, bytes),
        };
        let encoded = (0..count).map(move |_| take_id(&mut bytes).expect("checked when decoded"));
        slice.iter().copied().chain(encoded)
    }
}

fn put_id(out: &mut Vec<u8>, id: StreamId) {
    varint::put(out, id.ms);
    varint::put(out, id.seq);
}

fn take_id(input: &mut &[u8]) -> Result<StreamId, DecodeError> {
    Ok(StreamId { ms: take(input)?, seq: take(input)? })
}

/// Encodes an optional number: one more, or 0.
fn put_maybe(out: &mut Vec<u8>, number: Option<u64>) {
    varint::put(out, number.map_or(0, |number| number.saturating_add(1)));
}

fn take_maybe(input: &mut &[u8]) -> Result<Option<u64>, DecodeError> {
    Ok(take(input)?.checked_sub(1))
}

impl<'a> StreamChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Add { opens: false, .. } => 70,
            Self::Add { opens: true, .. } => 71,
            Self::Delete { .. } => 72,
            Self::Trim { .. } => 73,
            Self::Set { .. } => 74,
            Self::GroupPut { .. } => 75,
            Self::GroupRemove { .. } => 76,
            Self::ConsumerMake { .. } => 77,
            Self::ConsumerRemove { .. } => 78,
            Self::Deliver { .. } => 79,
            Self::Claim { .. } => 80,
            Self::Drop { .. } => 81,
            Self::ConsumerSeen { .. } => 82,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Add { id, fields, .. } => {
                put_id(out, id);
                fields.encode(out);
            }
            Self::Delete { ids } => ids.encode(out),
            Self::Trim { count } => varint::put(out, count),
            Self::Set { last_id, deleted_id, added } => {
                put_id(out, last_id);
                put_id(out, deleted_id);
                varint::put(out, added);
            }
            Self::GroupPut { group, last_id, entries_read } => {
                varint::put_bytes(out, group);
                put_id(out, last_id);
                put_maybe(out, entries_read);
            }
            Self::GroupRemove { group } => varint::put_bytes(out, group),
            Self::ConsumerMake { group, consumer, seen_ms, active_ms }
            | Self::ConsumerSeen { group, consumer, seen_ms, active_ms } => {
                varint::put_bytes(out, group);
                varint::put_bytes(out, consumer);
                varint::put(out, seen_ms);
                put_maybe(out, active_ms);
            }
            Self::ConsumerRemove { group, consumer } => {
                varint::put_bytes(out, group);
                varint::put_bytes(out, consumer);
            }
            Self::Deliver { group, consumer, to, entries_read, delivered_ms } => {
                varint::put_bytes(out, group);
                varint::put_bytes(out, consumer);
                put_id(out, to);
                put_maybe(out, entries_read);
                varint::put(out, delivered_ms);
            }
            Self::Claim { group, consumer, delivered_ms, counting, ids } => {
                varint::put_bytes(out, group);
                varint::put_bytes(out, consumer);
                varint::put(out, delivered_ms);
                varint::put(out, counting.number());
                ids.encode(out);
            }
            Self::Drop { group, ids } => {
                varint::put_bytes(out, group);
                ids.encode(out);
            }
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            70 | 71 => Self::Add { id: take_id(input)?, fields: take_fields(input)?, opens: number == 71 },
            72 => Self::Delete { ids: Ids::decode(input)? },
            73 => Self::Trim { count: take(input)? },
            74 => Self::Set { last_id: take_id(input)?, deleted_id: take_id(input)?, added: take(input)? },
            75 => {
                Self::GroupPut { group: take_name(input)?, last_id: take_id(input)?, entries_read: take_maybe(input)? }
            }
            76 => Self::GroupRemove { group: take_name(input)? },
            77 | 82 => {
                let (group, consumer) = (take_name(input)?, take_name(input)?);
                let (seen_ms, active_ms) = (take(input)?, take_maybe(input)?);
                match number {
                    77 => Self::ConsumerMake { group, consumer, seen_ms, active_ms },
                    _ => Self::ConsumerSeen { group, consumer, seen_ms, active_ms },
                }
            }
            78 => Self::ConsumerRemove { group: take_name(input)?, consumer: take_name(input)? },
            79 => Self::Deliver {
                group: take_name(input)?,
                consumer: take_name(input)?,
                to: take_id(input)?,
                entries_read: take_maybe(input)?,
                delivered_ms: take(input)?,
            },
            80 => Self::Claim {
                group: take_name(input)?,
                consumer: take_name(input)?,
                delivered_ms: take(input)?,
                counting: Counting::of_number(take(input)?),
                ids: Ids::decode(input)?,
            },
            81 => Self::Drop { group: take_name(input)?, ids: Ids::decode(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Changes `stream`, and returns what was removed, which may be large; a change that does not fit is a misfit and
    /// changes nothing.
    pub(super) fn apply(&self, stream: &mut Stream) -> Result<List, DecodeError> {
        match *self {
            Self::Add { id, fields, opens } => {
                misfit_unless(id > stream.foot().last_id)?;
                let fields: Vec<&[u8]> = fields.iter().collect();
                stream.add(id, &fields, opens);
            }
            Self::Delete { ids } => {
                let ids: Vec<StreamId> = ids.iter().collect();
                misfit_unless(StreamId::rise(&ids) && stream.count_of(&ids) == ids.len() as u64)?;
                stream.delete_these(&ids);
            }
            Self::Trim { count } => {
                misfit_unless(count > 0 && count <= stream.len())?;
                return Ok(stream.trim(count));
            }
            Self::Set { last_id, deleted_id, added } => {
                misfit_unless(stream.top_id().is_none_or(|top_id| top_id <= last_id))?;
                stream.set(last_id, deleted_id, added);
            }
            Self::GroupPut { group, last_id, entries_read } => stream.put_group(group, last_id, entries_read),
            Self::GroupRemove { group } => return stream.remove_group(group).ok_or(DecodeError::Misfit),
            Self::ConsumerRemove { group, consumer } => {
                let group = stream.group(group).ok_or(DecodeError::Misfit)?.number;
                return stream.remove_consumer(group, consumer).ok_or(DecodeError::Misfit);
            }
            _ => return self.apply_within(stream),
        }
        Ok(List::new())
    }

    /// Changes an existing group; returns what was removed.
    fn apply_within(&self, stream: &mut Stream) -> Result<List, DecodeError> {
        let group_of = |stream: &Stream, name| stream.group(name).ok_or(DecodeError::Misfit);
        match *self {
            Self::ConsumerMake { group, consumer, seen_ms, active_ms }
            | Self::ConsumerSeen { group, consumer, seen_ms, active_ms } => {
                let group = group_of(stream, group)?.number;
                stream.put_consumer(group, consumer, seen_ms, active_ms);
                Ok(List::new())
            }
            Self::Deliver { group: name, consumer, to, entries_read, delivered_ms } => {
                let group = group_of(stream, name)?;
                let owner = stream.consumer(group.number, consumer).ok_or(DecodeError::Misfit)?;
                misfit_unless(to > group.last_id)?;
                stream.deliver(&group, owner.number, to, delivered_ms);
                stream.put_consumer(group.number, consumer, delivered_ms, Some(delivered_ms));
                stream.put_group(name, to, entries_read);
                Ok(List::new())
            }
            Self::Claim { group, consumer, delivered_ms, counting, ids } => {
                let group = group_of(stream, group)?.number;
                let consumer = stream.consumer(group, consumer).ok_or(DecodeError::Misfit)?.number;
                let ids: Vec<StreamId> = ids.iter().collect();
                Ok(stream.put_pending_of(group, &ids, |id, before| {
                    let deliveries = counting.after(before.map_or(1, |pending| pending.deliveries));
                    Pending { id, consumer, delivered_ms, deliveries }
                }))
            }
            Self::Drop { group, ids } => {
                let Group { number, .. } = group_of(stream, group)?;
                let ids: Vec<StreamId> = ids.iter().collect();
                misfit_unless(StreamId::rise(&ids))?;
                stream.drop_pending_of(number, &ids).ok_or(DecodeError::Misfit)
            }
            _ => unreachable!("the caller does these"),
        }
    }

    /// Returns the 74 that records the stream's id state.
    pub(crate) fn set(foot: Foot) -> Self {
        Self::Set { last_id: foot.last_id, deleted_id: foot.deleted_id, added: foot.added }
    }
}

fn misfit_unless(fits: bool) -> Result<(), DecodeError> {
    if fits { Ok(()) } else { Err(DecodeError::Misfit) }
}

fn take_name<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    take_bytes(input).ok().filter(|name| name.len() <= ENTRY_BYTES_MAX).ok_or(DecodeError::Malformed)
}

fn take_fields<'a>(input: &mut &'a [u8]) -> Result<Items<'a>, DecodeError> {
    let fields = Items::decode(input)?;
    let bytes: usize = fields.iter().map(|field| field.len() + varint::BYTES_MAX).sum();
    let fit = fields.count() > 0 && fields.count() % 2 == 0 && bytes <= ENTRY_BYTES_MAX;
    if fit { Ok(fields) } else { Err(DecodeError::Malformed) }
}
