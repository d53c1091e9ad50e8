//! The segment list: the segments on disk, from the oldest that may still be needed to the one being written.
//!
//! ```text
//!   released                                     next
//!      |                                           |
//!   1  |  2     3     4  ...                    9  |  being written: never released
//!   |  +-- tail: bytes from here on, bounded by admission
//!   +-- wholly below `released`, and the next one is durable: the preallocator makes a spare of it; it removes it
//!       if too many already wait for reuse, or no frames arrive
//! ```
//!
//! File-name changes reach the disk in no guaranteed order: after a crash any segments below the one that holds
//! `released` may exist, or hold bytes written into them as spares. They are not read then.

use crate::journal::Journal;
use crate::scan::Scan;
use crate::signal::Alert;
use crate::{OpenError, Purpose, Replay};
use base::Position;
use std::collections::VecDeque;
use std::ops::Range;
use sync::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::primitives::lock;

/// Divisor: frames that only remove data may exceed the tail limit by this part of it.
const SHRINK_PART: u64 = 4;

/// A segment on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) number: u32,
    pub(crate) first_position: Position,
    /// Bytes of its file.
    pub(crate) bytes: u64,
}

/// All segments on disk.
pub(crate) struct SegmentList {
    /// Oldest first; the last one is being written.
    segments: VecDeque<SegmentFile>,
    /// The name and head of this segment and of all before it are durable.
    settled: u32,
    /// Nothing below this is needed.
    released: Position,
    /// The segment that the preallocator is releasing.
    leaving: Option<SegmentFile>,
    /// Number of readers that block releases.
    holds: usize,
    tail_bytes_max: u64,
}

impl SegmentList {
    /// Creates the list of a journal whose `segments` are durable, read from `released` on.
    pub(crate) fn new(segments: Vec<SegmentFile>, released: Position) -> Self {
        let settled = segments.last().expect("one is being written").number;
        let tail_bytes_max = u64::MAX;
        Self { segments: segments.into(), settled, released, leaving: None, holds: 0, tail_bytes_max }
    }

    /// Adds a segment just begun.
    pub(crate) fn push(&mut self, segment: SegmentFile) {
        self.segments.push_back(segment);
    }

    /// Notes that the segment's name and everything up to its first frame are durable.
    pub(crate) fn settle(&mut self, number: u32) {
        self.settled = number;
    }

    /// Returns the segment to release now, until [`SegmentList::has_left`] is called.
    pub(crate) fn leaver(&mut self) -> Option<SegmentFile> {
        if self.leavers_count() > 0 && self.leaving.is_none() {
            self.leaving = self.segments.pop_front();
        }
        self.leaving
    }

    pub(crate) fn has_left(&mut self) {
        self.leaving = None;
    }

    /// Returns the number of segments that are not needed and may be released. The following one must be crash-safe
    /// first: it says where the journal begins.
    pub(crate) fn leavers_count(&self) -> usize {
        let is_below = |next: &&SegmentFile| next.first_position <= self.released && next.number <= self.settled;
        let free = if self.holds == 0 { self.segments.iter().skip(1).take_while(is_below).count() } else { 0 };
        free + usize::from(self.leaving.is_some())
    }

    pub(crate) fn segments_count(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Returns the bytes of all segment files.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.segments.iter().chain(&self.leaving).map(|segment| segment.bytes).sum()
    }
}

/// The bound of admission until the next release.
pub(crate) struct Barrier {
    /// For each [`Purpose`], the position from which on no frame is admitted.
    positions: [AtomicU64; 2],
    /// Releases currently fail.
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

/// While it exists, no segment is released.
#[must_use]
pub struct SegmentHold<'a>(&'a Journal);

impl Drop for SegmentHold<'_> {
    fn drop(&mut self) {
        lock(&self.0.segment_list).holds -= 1;
        self.0.preallocator.wake(Alert::Pressure);
    }
}

impl Journal {
    /// Declares that nothing below `position` is needed any more, not even after a restart: the preallocator turns
    /// segments wholly below it into spares or removes them. Admits frames that waited for it.
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

    /// Returns the position below which nothing is needed.
    pub fn released(&self) -> Position {
        lock(&self.segment_list).released
    }

    /// Returns the bytes of frames from `from` on.
    pub fn tail_bytes(&self, from: Position) -> u64 {
        self.next().saturating_sub(from)
    }

    /// Returns the bytes of frames that still fit into existing files.
    pub fn ahead_bytes(&self) -> u64 {
        let spare_pool = lock(&self.spare_pool);
        spare_pool.segment_bytes + spare_pool.spares.iter().map(|spare| spare.bytes).sum::<u64>()
    }

    /// Bounds the bytes of frames beyond the released position: beyond the bound frames that grow data wait for the
    /// next release; frames that only remove may exceed it by a quarter. `u64::MAX`, the initial value, means no bound.
    pub fn set_tail_limit(&self, bytes_max: u64) {
        let mut segment_list = lock(&self.segment_list);
        segment_list.tail_bytes_max = bytes_max;
        self.barrier.set(&segment_list);
        drop(segment_list);
        self.notify_room();
    }

    /// Sets whether releases currently fail: frames that would wait for one are then refused with
    /// [`crate::Refusal::Full`], and no released segment is kept to become a spare.
    pub fn set_release_failing(&self, is_failing: bool) {
        self.barrier.is_failing.store(is_failing, Ordering::SeqCst);
        self.preallocator.wake(Alert::Pressure);
        self.notify_room();
    }

    /// Returns true if frames wait for room that the next release may bring.
    pub fn is_pressed(&self) -> bool {
        self.is_pressed.load(Ordering::SeqCst)
    }

    /// Returns true if frames that grow data are refused for lack of disk space.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::SeqCst)
    }

    /// Notes that a release begins. Returns true if frames wait for it.
    pub fn begin_release(&self) -> bool {
        // First: a frame that waits from here on requests another release.
        self.releases_begun.fetch_add(1, Ordering::SeqCst);
        self.is_pressed.swap(false, Ordering::SeqCst)
    }

    /// Notes that everything releasable when the last release began has been released, and that no more disk space will
    /// come of it: waiting frames are refused if it is too little.
    pub fn end_release(&self) {
        self.releases_ended.store(self.releases_begun.load(Ordering::SeqCst), Ordering::SeqCst);
        self.preallocator.wake(Alert::Pressure);
        self.notify_room();
    }

    /// Keeps all present segments until dropped; segments released meanwhile go then.
    pub fn hold(&self) -> SegmentHold<'_> {
        lock(&self.segment_list).holds += 1;
        SegmentHold(self)
    }

    /// Reads the frames of `range`, whose end must be written, from the files. The range must begin at a frame. The
    /// journal stays open, and releases no segment meanwhile.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn replay(&self, range: Range<Position>, replay: &mut dyn Replay) -> Result<(), OpenError> {
        let _hold = self.hold();
        let numbers: Vec<u32> = lock(&self.segment_list).segments.iter().map(|segment| segment.number).collect();
        Scan::new(&*self.disk, &self.folder, self.seal, range).run(&numbers, replay).map(drop)
    }
}
