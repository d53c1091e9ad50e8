//! Changes to a queue. Times are absolute, and the ends of leases are recorded: nothing happens by itself in a replay.

use super::items::{Items, take_item};
use super::{DecodeError, take, take_bytes};
use base::{Ms, varint};
use blocks::End;
use values::Queue;
use values::queue::{Misfit, QueueLimits, State, unzigzag, zigzag};

/// A change to the queue under a key, which is created if absent when something is put into it, and removed when empty.
/// The removal is recorded as an [`super::Effect::Remove`] too, for readers that have not loaded the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueChange<'a> {
    /// 100. Turns the list under the key into a queue whose items arrived at this time.
    Turn {
        /// The current time.
        at_ms: Ms,
    },
    /// 101. Turns the queue into a list of the ready messages; none may be held.
    TurnBack {
        /// Number of items.
        count: u64,
    },
    /// 102 at the tail, 103 at the head. Pushes messages one by one.
    Push {
        /// The end of the queue.
        end: End,
        /// Time of arrival.
        at_ms: Ms,
        /// The messages.
        messages: Items<'a>,
    },
    /// 104. Pushes a message at the tail, with a delay or a deduplication id.
    PushOne {
        /// Time of arrival.
        at_ms: Ms,
        /// When it becomes ready; 0: now.
        due_ms: Ms,
        /// Deduplication id; empty: none.
        dedup: &'a [u8],
        /// The message.
        message: &'a [u8],
    },
    /// 105. Leases the first ready messages.
    Reserve {
        /// Number of messages.
        count: u64,
        /// End of the lease.
        due_ms: Ms,
    },
    /// 106 at the head, 107 at the tail. Removes ready messages.
    Pop {
        /// The end of the queue.
        end: End,
        /// Number of messages.
        count: u64,
    },
    /// 108 acknowledged, 109 not. Removes held messages.
    Remove {
        /// True if they count as work done.
        are_acked: bool,
        /// The messages.
        ids: MessageIds<'a>,
    },
    /// 110. Makes held messages ready again.
    Release {
        /// The messages.
        ids: MessageIds<'a>,
    },
    /// 111. Sets the state of held messages.
    SetState {
        /// The state.
        state: State,
        /// When the state ends; 0 if it does not end by itself.
        due_ms: Ms,
        /// The messages.
        ids: MessageIds<'a>,
    },
    /// 112. Removes ready messages that are too old.
    Expire {
        /// Number of the first ones in the run.
        count: u64,
        /// Those among the returned ones.
        ids: MessageIds<'a>,
    },
    /// 113. Sets the queue's limits.
    Limit {
        /// The current time.
        at_ms: Ms,
        /// As written by [`QueueLimits::encode`].
        limits: &'a [u8],
    },
    /// 114. Sets the number from which the queue's message ids are reported.
    Base {
        /// The number added to each id.
        base: u64,
    },
}

/// Ascending ids of an effect: as in a handler, or as in a record.
#[derive(Clone, Copy, Debug)]
pub enum MessageIds<'a> {
    /// As in a handler.
    Slice(&'a [i64]),
    /// As in a record: the first, then the distance to each next one.
    Encoded {
        /// Number of ids.
        count: u64,
        /// Their bytes.
        bytes: &'a [u8],
    },
}

impl PartialEq for MessageIds<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.to_vec() == other.to_vec()
    }
}

impl Eq for MessageIds<'_> {}

impl<'a> MessageIds<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Slice(ids) => {
                varint::put(out, ids.len() as u64);
                let mut before = 0i64;
                for (nth, id) in ids.iter().enumerate() {
                    varint::put(out, if nth == 0 { zigzag(*id) } else { id.wrapping_sub(before) as u64 });
                    before = *id;
                }
            }
            Self::Encoded { count, bytes } => {
                varint::put(out, count);
                out.extend_from_slice(bytes);
            }
        }
    }

    fn decode(input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let count = take(input)?;
        let start = *input;
        for _ in 0..count {
            take(input)?;
        }
        Ok(Self::Encoded { count, bytes: &start[..start.len() - input.len()] })
    }

    fn to_vec(self) -> Vec<i64> {
        let (count, mut bytes) = match self {
            Self::Slice(ids) => return ids.to_vec(),
            Self::Encoded { count, bytes } => (count, bytes),
        };
        let mut last = None;
        let next = |_| {
            let number = varint::take(&mut bytes).expect("checked when decoded");
            let id = last.map_or_else(|| unzigzag(number), |last: i64| last.wrapping_add_unsigned(number));
            last = Some(id);
            id
        };
        (0..count).map(next).collect()
    }
}

impl<'a> QueueChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Turn { .. } => 100,
            Self::TurnBack { .. } => 101,
            Self::Push { end: End::Tail, .. } => 102,
            Self::Push { end: End::Head, .. } => 103,
            Self::PushOne { .. } => 104,
            Self::Reserve { .. } => 105,
            Self::Pop { end: End::Head, .. } => 106,
            Self::Pop { end: End::Tail, .. } => 107,
            Self::Remove { are_acked: true, .. } => 108,
            Self::Remove { are_acked: false, .. } => 109,
            Self::Release { .. } => 110,
            Self::SetState { .. } => 111,
            Self::Expire { .. } => 112,
            Self::Limit { .. } => 113,
            Self::Base { .. } => 114,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Turn { at_ms } => varint::put(out, at_ms),
            Self::Push { at_ms, messages, .. } => {
                varint::put(out, at_ms);
                messages.encode(out);
            }
            Self::PushOne { at_ms, due_ms, dedup, message } => {
                varint::put(out, at_ms);
                varint::put(out, due_ms);
                varint::put_bytes(out, dedup);
                varint::put_bytes(out, message);
            }
            Self::Reserve { count, due_ms } => {
                varint::put(out, count);
                varint::put(out, due_ms);
            }
            Self::TurnBack { count } | Self::Pop { count, .. } => varint::put(out, count),
            Self::Remove { ids, .. } | Self::Release { ids } => ids.encode(out),
            Self::SetState { state, due_ms, ids } => {
                out.push(state.number());
                varint::put(out, due_ms);
                ids.encode(out);
            }
            Self::Expire { count, ids } => {
                varint::put(out, count);
                ids.encode(out);
            }
            Self::Limit { at_ms, limits } => {
                varint::put(out, at_ms);
                varint::put_bytes(out, limits);
            }
            Self::Base { base } => varint::put(out, base),
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let end = if matches!(number, 103 | 106) { End::Head } else { End::Tail };
        Ok(match number {
            100 => Self::Turn { at_ms: take(input)? },
            101 => Self::TurnBack { count: take(input)? },
            102 | 103 => Self::Push { end, at_ms: take(input)?, messages: Items::decode(input)? },
            104 => Self::PushOne {
                at_ms: take(input)?,
                due_ms: take(input)?,
                dedup: take_bytes(input)?,
                message: take_item(input)?,
            },
            105 => Self::Reserve { count: take(input)?, due_ms: take(input)? },
            106 | 107 => Self::Pop { end, count: take(input)? },
            108 | 109 => Self::Remove { are_acked: number == 108, ids: MessageIds::decode(input)? },
            110 => Self::Release { ids: MessageIds::decode(input)? },
            111 => {
                let (&state, rest) = input.split_first().ok_or(DecodeError::Malformed)?;
                *input = rest;
                let state = State::of_number(state).ok_or(DecodeError::Malformed)?;
                Self::SetState { state, due_ms: take(input)?, ids: MessageIds::decode(input)? }
            }
            112 => Self::Expire { count: take(input)?, ids: MessageIds::decode(input)? },
            113 => Self::Limit { at_ms: take(input)?, limits: take_bytes(input)? },
            114 => Self::Base { base: take(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Returns true if the queue may be empty after it.
    pub(crate) fn may_empty(&self) -> bool {
        matches!(self, Self::Pop { .. } | Self::Remove { .. } | Self::Expire { .. } | Self::Limit { .. })
    }

    /// Returns true if it assigns ids to messages.
    pub(crate) fn gives_ids(&self) -> bool {
        matches!(self, Self::Push { .. } | Self::PushOne { .. })
    }

    /// Changes `queue`; a change that does not fit it is a misfit and changes nothing.
    pub(super) fn apply(&self, queue: &mut Queue) -> Result<(), DecodeError> {
        let done = match *self {
            // These change the value's type: see `apply` of effects.
            Self::Turn { .. } | Self::TurnBack { .. } => Err(Misfit),
            Self::Push { end, at_ms, messages } => {
                let messages = messages.iter().collect::<Vec<_>>();
                queue.push(end, at_ms, messages.into_iter())
            }
            Self::PushOne { at_ms, due_ms, dedup, message } => queue.push_one(at_ms, due_ms, dedup, message),
            Self::Reserve { count, due_ms } => queue.reserve(count, due_ms),
            Self::Pop { end, count } => queue.pop(end, count),
            Self::Remove { are_acked, ids } => queue.remove(&ids.to_vec(), are_acked),
            Self::Release { ids } => queue.release(&ids.to_vec()),
            Self::SetState { state, due_ms, ids } => queue.set_state(&ids.to_vec(), state, due_ms),
            Self::Expire { count, ids } => queue.expire(&ids.to_vec(), count),
            Self::Limit { at_ms, limits } => match QueueLimits::decode(limits) {
                Some(limits) => {
                    queue.limit(at_ms, limits);
                    Ok(())
                }
                None => Err(Misfit),
            },
            Self::Base { base } => queue.set_base(base),
        };
        done.map_err(|Misfit| DecodeError::Misfit)
    }
}
