//! The room that a frame must claim to be sure of a place: pure arithmetic.
//!
//! A frame's place is known only when its turn comes, and a frame that does not fit the rest of a segment wastes that
//! rest. Segments grow with use, so those at hand differ in size, none smaller than the one before it. Claims use units
//! that cover the waste; a *quarter* is a fourth of the smallest possible segment:
//!
//! ```text
//! small frame (up to a quarter)                pays its bytes
//! longer frame                                 pays twice its bytes
//! frame longer than the next segment at hand   pays its bytes, a largest segment at most, and has its own segment made
//! a segment with n bytes left                  is worth n less a quarter, at most a largest segment's worth
//! ```
//!
//! A small frame that moves on wastes less than the quarter that no segment offers; a longer one wastes less than its
//! own length and fits the next segment, since it was checked against the smallest at hand on admission. A frame with
//! its own segment begins that only if it does not fit the rest of the one before, which again is less than its length.
//! So while claims are covered by the worth of the segments at hand, each frame finds its place, in any order. A
//! frame's bytes here are its head, its payload and two marks: one may open its write, one may follow its sync.

use crate::format::{HEAD_BYTES, MARK_BYTES, SEGMENT_HEAD_BYTES};

/// Each new segment may be up to this many times as long as the one before.
const GROWTH: u64 = 4;

/// Size of a first segment when the disk has no room for a usual one, in bytes.
pub(crate) const SHORT_BYTES: u64 = 64 << 10;

/// The arithmetic for a given range of segment sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    quarter: u64,
    /// Capacity of a first segment, in bytes.
    capacity_first: u64,
    /// Capacity of the largest segment that is not made for one frame, in bytes.
    capacity_max: u64,
}

impl Room {
    /// Creates it for segments that begin with `first_bytes` and grow to `bytes_max`.
    pub(crate) fn new(first_bytes: u64, bytes_max: u64) -> Self {
        assert!(first_bytes >= 1024, "a segment of {first_bytes} bytes holds next to nothing");
        assert!(first_bytes <= bytes_max, "segments begin with {first_bytes} bytes and grow to {bytes_max}");
        let quarter = capacity(first_bytes.min(SHORT_BYTES)) / 4;
        Self { quarter, capacity_first: capacity(first_bytes), capacity_max: capacity(bytes_max) }
    }

    /// Returns the charge of a claim for `payload_bytes`, with or without a segment of its own.
    pub(crate) fn charge(self, payload_bytes: u64, has_own_segment: bool) -> i64 {
        let bytes = place_bytes(payload_bytes);
        let cost = match () {
            () if bytes <= self.quarter => bytes,
            () if has_own_segment => bytes.min(self.capacity_max),
            () => 2 * bytes,
        };
        cost as i64
    }

    /// Returns the worth of `left` bytes of a segment.
    pub(crate) fn worth(self, left: u64) -> i64 {
        left.min(self.capacity_max).saturating_sub(self.quarter) as i64
    }

    /// Returns the worth of an unused segment of `segment_bytes`.
    pub(crate) fn spare(self, segment_bytes: u64) -> i64 {
        self.worth(capacity(segment_bytes))
    }

    /// Returns the minimum reserve kept back from frames that grow data: a first segment's worth.
    pub(crate) fn kept_back(self) -> i64 {
        self.worth(self.capacity_first)
    }

    /// Returns true if a payload fits any segment that may ever be made.
    pub(crate) fn is_small(self, payload_bytes: u64) -> bool {
        place_bytes(payload_bytes) <= self.quarter
    }
}

/// Returns the size of the segment made after one of `segment_bytes`.
pub(crate) fn grown(segment_bytes: u64, segment_bytes_max: u64) -> u64 {
    segment_bytes.saturating_mul(GROWTH).min(segment_bytes_max)
}

/// Returns true if a payload does not fit a segment of `segment_bytes`.
pub(crate) fn is_oversize(payload_bytes: u64, segment_bytes: u64) -> bool {
    place_bytes(payload_bytes) > capacity(segment_bytes)
}

/// Returns the size of the segment made for a payload longer than a segment.
pub(crate) fn own_segment_bytes(payload_bytes: u64) -> u64 {
    place_bytes(payload_bytes) + overhead_bytes()
}

/// Returns the bytes of a segment available for frames and the marks that open their writes.
pub(crate) fn capacity(segment_bytes: u64) -> u64 {
    segment_bytes.saturating_sub(overhead_bytes())
}

/// Returns the bytes of a segment not available for frames: its head, its last mark, and the mark that follows a sync.
fn overhead_bytes() -> u64 {
    (SEGMENT_HEAD_BYTES + 2 * MARK_BYTES) as u64
}

/// Returns the bytes that must be left in a segment for a frame to fit.
fn place_bytes(payload_bytes: u64) -> u64 {
    payload_bytes + (HEAD_BYTES + 2 * MARK_BYTES) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const FIRST_BYTES: u64 = 4096;
    const BYTES_MAX: u64 = 8 * FIRST_BYTES;

    /// A model of the segments: the rest of the current one, those after it, and the one made for a long frame.
    struct Segments {
        room: Room,
        left: u64,
        spares: VecDeque<u64>,
        segment_bytes: u64,
        free: i64,
        /// Frames admitted but not yet placed: payload, charge, whether it has its own segment.
        admitted: VecDeque<(u64, i64, bool)>,
    }

    impl Segments {
        fn begin() -> Self {
            let room = Room::new(FIRST_BYTES, BYTES_MAX);
            let left = capacity(FIRST_BYTES);
            let (spares, admitted) = (VecDeque::new(), VecDeque::new());
            Self { room, left, spares, segment_bytes: FIRST_BYTES, free: room.worth(left), admitted }
        }

        fn spare_bytes_min(&self) -> u64 {
            self.spares.front().copied().unwrap_or(self.segment_bytes)
        }

        fn make_spare(&mut self, is_grown: bool) {
            if is_grown {
                self.segment_bytes = grown(self.segment_bytes, BYTES_MAX);
            }
            self.spares.push_back(self.segment_bytes);
            self.free += self.room.spare(self.segment_bytes);
        }

        fn give_back(&mut self) {
            let worth = self.room.spare(self.spare_bytes_min());
            if self.spares.len() > 1 && self.free >= worth {
                self.free -= worth;
                self.spares.pop_front();
            }
        }

        fn admit(&mut self, payload_bytes: u64) {
            let is_own = is_oversize(payload_bytes, self.spare_bytes_min());
            let charge = self.room.charge(payload_bytes, is_own);
            // Only one claim at a time holds the segment made for a long frame.
            let is_held = is_own && self.admitted.iter().any(|(_, _, is_own)| *is_own);
            if self.free >= charge && !is_held {
                self.free -= charge;
                self.admitted.push_back((payload_bytes, charge, is_own));
            }
        }

        fn write(&mut self) {
            let Some((payload_bytes, charge, is_own)) = self.admitted.pop_front() else { return };
            let (bytes, before) = (place_bytes(payload_bytes), self.room.worth(self.left));
            let mut begun = 0;
            if self.left < bytes {
                self.left = match is_own {
                    true => capacity(own_segment_bytes(payload_bytes)),
                    false => capacity(self.spares.pop_front().expect("claims are covered by the segments at hand")),
                };
                begun = if is_own { 0 } else { self.room.worth(self.left) };
            }
            self.left = self.left.checked_sub(bytes).expect("the next segment takes the frame");
            // A spare's worth was already free.
            self.free += charge - (before + begun - self.room.worth(self.left));
        }
    }

    #[derive(Clone, Debug)]
    enum Act {
        Admit(u64),
        Write,
        Make(bool),
        GiveBack,
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            4 => prop_oneof![0..600u64, 0..FIRST_BYTES, 0..3 * BYTES_MAX].prop_map(Act::Admit),
            3 => Just(Act::Write),
            2 => any::<bool>().prop_map(Act::Make),
            1 => Just(Act::GiveBack),
        ]
    }

    proptest! {
        /// All admitted frames find their places, whatever their lengths, while segments grow, are made and released,
        /// and the accounting stays balanced.
        #[test]
        fn admitted_frames_always_fit(acts in prop::collection::vec(act(), 1..200)) {
            let mut segments = Segments::begin();
            for act in acts {
                match act {
                    Act::Admit(payload_bytes) => segments.admit(payload_bytes),
                    Act::Write => segments.write(),
                    Act::Make(is_grown) => segments.make_spare(is_grown),
                    Act::GiveBack => segments.give_back(),
                }
            }
            while !segments.admitted.is_empty() {
                segments.write();
            }
            let spares: i64 = segments.spares.iter().map(|bytes| segments.room.spare(*bytes)).sum();
            prop_assert_eq!(segments.free, segments.room.worth(segments.left) + spares);
        }
    }
}
