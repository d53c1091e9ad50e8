//! The segment list: the segments on the disk, from the oldest that somebody may still need to the one being written.
//!
//! ```text
//!   released                                     next
//!      |                                           |
//!   1  |  2     3     4  ...                    9  |  being written: never given back
//!   |  +-- tail: bytes from here on, bounded by admission
//!   +-- wholly below `released`, and what follows is durable: the preallocator makes a spare of it, or removes it
//!       once too many wait for that, or nothing is written
//! ```
//!
//! Names change on the disk in no certain order: after a crash any segments below the one that holds `released` may be
//! there, or hold what was written into them as spares. Nobody reads them then.

use crate::journal::Journal;
use crate::scan::Scan;
use crate::signal::Alert;
use crate::{OpenError, Purpose, Replay};
use base::Position;
use std::collections::VecDeque;
use std::ops::Range;
use sync::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::primitives::lock;

/// Frames that only take away go on for such a part of the tail's limit beyond it.
const SHRINK_PART: u64 = 4;

/// A segment on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) number: u32,
    pub(crate) first_position: Position,
    /// Of its file.
    pub(crate) bytes: u64,
}

/// All segments on the disk.
pub(crate) struct SegmentList {
    /// Oldest first; the last one is being written.
    segments: VecDeque<SegmentFile>,
    /// The name and the head of this segment are durable, and of all before it.
    settled: u32,
    /// Nobody needs what lies below.
    released: Position,
    /// What the preallocator is giving back.
    leaving: Option<SegmentFile>,
    /// Readers during whose life nothing leaves.
    holds: usize,
    tail_bytes_max: u64,
}

impl SegmentList {
    /// The segment list of a journal whose `segments` are durable, read from `released` on.
    pub(crate) fn new(segments: Vec<SegmentFile>, released: Position) -> Self {
        let settled = segments.last().expect("one is being written").number;
        let tail_bytes_max = u64::MAX;
        Self { segments: segments.into(), settled, released, leaving: None, holds: 0, tail_bytes_max }
    }

    /// A segment was begun.
    pub(crate) fn push(&mut self, segment: SegmentFile) {
        self.segments.push_back(segment);
    }

    /// Everything up to this segment's first frame is durable, and its name.
    pub(crate) fn settle(&mut self, number: u32) {
        self.settled = number;
    }

    /// What the preallocator is to give back now, until it says [`SegmentList::has_left`].
    pub(crate) fn leaver(&mut self) -> Option<SegmentFile> {
        if self.leavers_count() > 0 && self.leaving.is_none() {
            self.leaving = self.segments.pop_front();
        }
        self.leaving
    }

    pub(crate) fn has_left(&mut self) {
        self.leaving = None;
    }

    /// How many segments lie below what is needed and may leave. The one that follows must outlive a power cut first: it
    /// says where the journal begins.
    pub(crate) fn leavers_count(&self) -> usize {
        let is_below = |next: &&SegmentFile| next.first_position <= self.released && next.number <= self.settled;
        let free = if self.holds == 0 { self.segments.iter().skip(1).take_while(is_below).count() } else { 0 };
        free + usize::from(self.leaving.is_some())
    }

    pub(crate) fn segments_count(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Bytes of the files of all segments.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.segments.iter().chain(&self.leaving).map(|segment| segment.bytes).sum()
    }
}

/// Where admission ends for want of a release.
pub(crate) struct Barrier {
    /// For each [`Purpose`], the position from which on no frame is admitted.
    positions: [AtomicU64; 2],
    /// No release is to be hoped for at present.
    is_failing: AtomicBool,
}

impl Barrier {
    pub(crate) fn new() -> Self {
        Self { positions: [const { AtomicU64::new(u64::MAX) }; 2], is_failing: AtomicBool::new(false) }
    }

    pub(crate) fn position(&self, purpose: Purpose) -> Position {
        self.positions[purpose as usize].load(Ordering::SeqCst)
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::SeqCst)
    }

    fn set(&self, segment_list: &SegmentList) {
        let grow = segment_list.released.saturating_add(segment_list.tail_bytes_max);
        let shrink = grow.saturating_add(segment_list.tail_bytes_max / SHRINK_PART);
        for (purpose, position) in [(Purpose::Grow, grow), (Purpose::Shrink, shrink)] {
            self.positions[purpose as usize].store(position, Ordering::SeqCst);
        }
    }
}

/// While it lives, no segment is given back.
#[must_use]
pub struct SegmentHold<'a>(&'a Journal);

impl Drop for SegmentHold<'_> {
    fn drop(&mut self) {
        lock(&self.0.segment_list).holds -= 1;
        self.0.preallocator.wake(Alert::Pressure);
    }
}

impl Journal {
    /// Says that nobody needs what lies below `position` any more, after a restart neither: segments that lie wholly
    /// below it become spares, or are removed, by the preallocator. Frames that waited for it are admitted.
    ///
    /// # Panics
    /// If `position` is not durable: the caller's bug.
    pub fn release_below(&self, position: Position) {
        assert!(position <= self.durable(), "{position} was released, durable is {}", self.durable());
        let mut segment_list = lock(&self.segment_list);
        segment_list.released = segment_list.released.max(position);
        self.barrier.set(&segment_list);
        drop(segment_list);
        self.preallocator.wake(Alert::Pressure);
        self.notify_room();
    }

    /// Below this position nobody needs anything.
    pub fn released(&self) -> Position {
        lock(&self.segment_list).released
    }

    /// Bytes of frames from `from` on.
    pub fn tail_bytes(&self, from: Position) -> u64 {
        self.next().saturating_sub(from)
    }

    /// Bytes of frames that may yet come into the files that there are.
    pub fn ahead_bytes(&self) -> u64 {
        let spare_pool = lock(&self.spare_pool);
        spare_pool.segment_bytes + spare_pool.spares.iter().map(|spare| spare.bytes).sum::<u64>()
    }

    /// Bounds the bytes of frames beyond what was released: frames that grow wait from there on for the next release,
    /// frames that only take away a quarter further. `u64::MAX`, as at the start: no bound.
    pub fn set_tail_limit(&self, bytes_max: u64) {
        let mut segment_list = lock(&self.segment_list);
        segment_list.tail_bytes_max = bytes_max;
        self.barrier.set(&segment_list);
        drop(segment_list);
        self.notify_room();
    }

    /// Says whether releases fail at present: then whoever would wait for one is refused by [`crate::Refusal::Full`],
    /// and no released segment is kept to become a spare.
    pub fn set_release_failing(&self, is_failing: bool) {
        self.barrier.is_failing.store(is_failing, Ordering::SeqCst);
        self.preallocator.wake(Alert::Pressure);
        self.notify_room();
    }

    /// Whether frames wait for room that the next release may bring.
    pub fn is_pressed(&self) -> bool {
        self.is_pressed.load(Ordering::SeqCst)
    }

    /// Whether frames that grow are refused for want of room on the disk.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::SeqCst)
    }

    /// Says that a release is begun; whether frames wait for it.
    pub fn begin_release(&self) -> bool {
        // First: whoever waits from here on asks for another one.
        self.releases_begun.fetch_add(1, Ordering::SeqCst);
        self.is_pressed.swap(false, Ordering::SeqCst)
    }

    /// Says that all has been released that could be when the last release was begun, and that the disk has as much room as
    /// it can have: who waited for that is refused if it is too little.
    pub fn end_release(&self) {
        self.releases_ended.store(self.releases_begun.load(Ordering::SeqCst), Ordering::SeqCst);
        self.preallocator.wake(Alert::Pressure);
        self.notify_room();
    }

    /// Keeps all segments that there are until it is dropped; what is released meanwhile is given back then.
    pub fn hold(&self) -> SegmentHold<'_> {
        lock(&self.segment_list).holds += 1;
        SegmentHold(self)
    }

    /// Reads the frames of `range`, whose end must be written, from the files. It begins where a frame does. The
    /// journal stays open, and gives no segment back meanwhile.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn replay(&self, range: Range<Position>, replay: &mut dyn Replay) -> Result<(), OpenError> {
        let _hold = self.hold();
        let numbers: Vec<u32> = lock(&self.segment_list).segments.iter().map(|segment| segment.number).collect();
        Scan::new(&*self.disk, &self.folder, self.seal, range).run(&numbers, replay).map(drop)
    }
}
