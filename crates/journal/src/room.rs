//! How much room a frame must claim so that it surely finds a place: pure arithmetic.
//!
//! Where a frame will lie is known only when its turn comes, and a frame that does not fit the rest of a segment wastes
//! that rest. Claims are made in a coin that covers the waste:
//!
//! ```text
//! small frame (up to a quarter of a segment)   pays its bytes
//! longer frame                                 pays twice its bytes
//! frame longer than a segment                  pays twice a segment, and has a segment of its own made
//! a segment with n bytes left                  is worth n less a quarter of a segment, at most a spare
//! ```
//!
//! A small frame that moves on wastes less than the quarter that no segment sells; a longer one wastes less than
//! itself. One longer than a segment always begins its own and wastes the rest of the segment before it, which is why the
//! rest of a segment, however long, is worth a spare at most. So while claims are covered by what the segments at hand are
//! worth, each frame finds its place, in any order. The bytes of a frame here are its head, its payload and two marks: one
//! may open its write, one may follow its sync.

use crate::format::{HEAD_BYTES, MARK_BYTES, SEGMENT_HEAD_BYTES};

/// The arithmetic for one size of segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) segment_bytes: u64,
}

impl Room {
    pub(crate) fn new(segment_bytes: u64) -> Self {
        assert!(segment_bytes >= 1024, "a segment of {segment_bytes} bytes holds next to nothing");
        Self { segment_bytes }
    }

    /// Bytes of a segment for frames and the marks that open their writes.
    pub(crate) fn capacity(self) -> u64 {
        self.segment_bytes - overhead_bytes()
    }

    /// What a claim for a payload of `payload_bytes` costs.
    pub(crate) fn charge(self, payload_bytes: u64) -> i64 {
        let bytes = place_bytes(payload_bytes);
        let cost = if bytes <= self.capacity() / 4 { bytes } else { 2 * bytes.min(self.capacity()) };
        cost as i64
    }

    /// What `left` bytes of a segment are worth.
    pub(crate) fn worth(self, left: u64) -> i64 {
        left.min(self.capacity()).saturating_sub(self.capacity() / 4) as i64
    }

    /// What a segment not yet begun is worth; also what is kept back from frames that grow.
    pub(crate) fn spare(self) -> i64 {
        self.worth(self.capacity())
    }

    /// Whether a payload needs a segment of its own.
    pub(crate) fn is_oversize(self, payload_bytes: u64) -> bool {
        place_bytes(payload_bytes) > self.capacity()
    }

    /// Bytes of the segment made for a payload that is longer than a segment.
    pub(crate) fn own_segment_bytes(payload_bytes: u64) -> u64 {
        place_bytes(payload_bytes) + overhead_bytes()
    }
}

/// Bytes of a segment that are no room for frames: its head, its last mark, and the mark that follows a sync.
pub(crate) fn overhead_bytes() -> u64 {
    (SEGMENT_HEAD_BYTES + 2 * MARK_BYTES) as u64
}

/// Bytes that must be left in a segment for a frame to be put there.
pub(crate) fn place_bytes(payload_bytes: u64) -> u64 {
    payload_bytes + (HEAD_BYTES + 2 * MARK_BYTES) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Claims covered by the segments at hand always find a place, whatever their order and lengths.
        #[test]
        fn what_is_admitted_fits(payloads in prop::collection::vec(0u64..4000, 1..60), spares in 1u64..6) {
            let room = Room::new(4096);
            let mut free = room.spare() * (spares as i64 + 1);
            let admitted: Vec<u64> = payloads.into_iter().filter(|&bytes| {
                let fits = !room.is_oversize(bytes) && free >= room.charge(bytes);
                if fits { free -= room.charge(bytes); }
                fits
            }).collect();
            let (mut left, mut spares_left) = (room.capacity(), spares);
            for bytes in admitted {
                if left < place_bytes(bytes) {
                    prop_assert!(spares_left > 0);
                    spares_left -= 1;
                    left = room.capacity();
                }
                left -= place_bytes(bytes);
            }
        }
    }
}
