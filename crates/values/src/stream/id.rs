//! The name of an entry: when it came, and which of those of that millisecond it is.

use base::Ms;
use std::fmt;

/// Bytes of an id as items hold it.
pub(super) const ID_BYTES: usize = 16;

/// The id of an entry. Those of a stream rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Milliseconds since the epoch, or what a client says in their place.
    pub ms: Ms,
    /// Its number within them.
    pub seq: u64,
}

impl StreamId {
    /// The least one, which no entry has.
    pub const MIN: Self = Self { ms: 0, seq: 0 };
    /// The greatest one.
    pub const MAX: Self = Self { ms: u64::MAX, seq: u64::MAX };

    /// Whether each of these is above the one before it. O(ids).
    pub fn rise(ids: &[Self]) -> bool {
        ids.is_sorted_by(|id, next| id < next)
    }

    /// The one behind it; `None` behind the greatest.
    pub fn next(self) -> Option<Self> {
        match (self.seq.checked_add(1), self.ms.checked_add(1)) {
            (Some(seq), _) => Some(Self { seq, ..self }),
            (None, Some(ms)) => Some(Self { ms, seq: 0 }),
            (None, None) => None,
        }
    }

    /// The one before it; `None` before the least.
    pub fn before(self) -> Option<Self> {
        match (self.seq.checked_sub(1), self.ms.checked_sub(1)) {
            (Some(seq), _) => Some(Self { seq, ..self }),
            (None, Some(ms)) => Some(Self { ms, seq: u64::MAX }),
            (None, None) => None,
        }
    }

    /// Highest byte first, so that they rise as the ids do.
    pub(super) fn to_bytes(self) -> [u8; ID_BYTES] {
        (u128::from(self.ms) << 64 | u128::from(self.seq)).to_be_bytes()
    }

    /// Takes what [`StreamId::to_bytes`] wrote.
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
