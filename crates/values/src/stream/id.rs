//! The id of an entry: its time, and a sequence number within the millisecond.

use base::Ms;
use std::fmt;

/// The length of an encoded id.
pub(super) const ID_BYTES: usize = 16;

/// The id of an entry. Ids of a stream ascend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Milliseconds since the epoch, or a number chosen by a client.
    pub ms: Ms,
    /// The sequence number within the millisecond.
    pub seq: u64,
}

impl StreamId {
    /// The least id, which no entry has.
    pub const MIN: Self = Self { ms: 0, seq: 0 };
    /// The greatest id.
    pub const MAX: Self = Self { ms: u64::MAX, seq: u64::MAX };

    /// Returns true if the ids strictly ascend. O(ids).
    pub fn rise(ids: &[Self]) -> bool {
        ids.is_sorted_by(|id, next| id < next)
    }

    /// Returns the next id; `None` after the greatest.
    pub fn next(self) -> Option<Self> {
        match (self.seq.checked_add(1), self.ms.checked_add(1)) {
            (Some(seq), _) => Some(Self { seq, ..self }),
            (None, Some(ms)) => Some(Self { ms, seq: 0 }),
            (None, None) => None,
        }
    }

    /// Returns the previous id; `None` before the least.
    pub fn before(self) -> Option<Self> {
        match (self.seq.checked_sub(1), self.ms.checked_sub(1)) {
            (Some(seq), _) => Some(Self { seq, ..self }),
            (None, Some(ms)) => Some(Self { ms, seq: u64::MAX }),
            (None, None) => None,
        }
    }

    /// Encodes big-endian, so that bytes sort like ids.
    pub(super) fn to_bytes(self) -> [u8; ID_BYTES] {
        (u128::from(self.ms) << 64 | u128::from(self.seq)).to_be_bytes()
    }

    /// Decodes what [`StreamId::to_bytes`] wrote.
    pub(super) fn take(input: &mut &[u8]) -> Option<Self> {
        let (bytes, rest) = input.split_first_chunk::<ID_BYTES>()?;
        *input = rest;
        let whole = u128::from_be_bytes(*bytes);
        Some(Self { ms: (whole >> 64) as u64, seq: whole as u64 })
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}-{}", self.ms, self.seq)
    }
}
