//! The writer: the state machine of the journal's thread. Its caller decides when it steps.
//!
//! ```text
//! log buffers --> batch: | mark | frame | frame | ... |  one write, at the end of the segment
//!            |
//!            +-- the frame at the next position is in no log buffer: the batch ends (the writer never skips a gap)
//!            +-- it does not fit the segment: the segment ends with a mark, the next one begins
//! sync:      segments closed since the last sync, the folder if a segment was begun, the current segment
//! ```
//!
//! There is no timer under [`Policy::Always`]: the next batch is what was handed over during the last sync. Under the
//! other policies another thread syncs while writes continue (`syncer.rs`).

use crate::format::{
    Form, Kind, MARK_BYTES, RecordHead, SEGMENT_HEAD_BYTES, SegmentHead, encode_mark, encode_stop, segment_name,
};
use crate::journal::Journal;
use crate::preallocator::Spare;
use crate::segment_list::SegmentFile;
use crate::signal::Alert;
use crate::syncer::{Job, Request, Syncer, sync_all};
use crate::{ElapsedUs, HEAD_BYTES, History, Policy};
use base::disk::DiskFile;
use base::{Ms, Position};
use std::io::{self, IoSlice};
use std::sync::Arc;
use sync::notifier::Level;
use sync::primitives::atomic::Ordering;
use sync::primitives::lock;
use sync::primitives::thread;
use sync::ring::{Consumer, Late, Payload};

/// Batch size after which it is written, whatever else waits.
const BATCH_BYTES: usize = 1 << 20;
/// Batch size of short frames after which other work gets a turn: some 100 us.
const SHORT_BATCH_BYTES: u64 = 256 << 10;
/// Bytes written under [`Policy::Always`] after which a sync follows, whatever else waits.
const UNSYNCED_BYTES_MAX: u64 = 4 << 20;
/// Closed segments left to the operating system under [`Policy::Never`] before they are synced after all.
const CLOSED_MAX: usize = 64;
/// Bytes from which on the duration of a sync is that of its bytes.
const LONG_SYNC_BYTES: u64 = 4 << 20;
/// Time between syncs under [`Policy::EverySec`].
const SYNC_US: u64 = 1_000_000;
/// Time after a sync until a mark records it, if no write does.
const MARK_US: u64 = 500_000;
/// Interval of writes under load when nobody waits for them.
const PACE_US: u64 = 5_000;
/// Time after the last frame for which that interval is kept; later the next frame wakes the writer.
const PACED_US: u64 = 100_000;
/// Rest when nothing is due.
const REST_US: u64 = 1_000_000;

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It wrote frames.
    Wrote,
    /// It began a segment.
    Rolled,
    /// It synced, or asked another thread to sync.
    Synced,
    /// It wrote a mark.
    Marked,
    /// Nothing to do for this long, unless news worth waking for arrives.
    Rest {
        /// Microseconds.
        us: u64,
        /// The weakest news worth waking for.
        alert: Alert,
    },
    /// A write or a sync failed, now or before: frames are discarded.
    Poisoned,
}

/// The segment being written.
pub(crate) struct Segment {
    file: Box<dyn DiskFile>,
    number: u32,
    bytes: u64,
    offset: u64,
    /// The last record is a mark after a sync: it has used the room reserved for it.
    has_marked: bool,
    /// Stale bytes follow its records.
    is_recycled: bool,
}

impl Segment {
    pub(crate) fn new(spare: Spare, number: u32) -> Self {
        let offset = SEGMENT_HEAD_BYTES as u64;
        let Spare { file, bytes, is_recycled, .. } = spare;
        Self { file, number, bytes, offset, has_marked: false, is_recycled }
    }

    /// Returns the bytes left for records, beside a mark after a sync and the last mark.
    fn left(&self) -> u64 {
        self.bytes.saturating_sub(self.offset + 2 * MARK_BYTES as u64)
    }

    /// Returns what is left in claim units; the mark after a sync was paid for by the frames before it.
    fn left_to_claim(&self) -> u64 {
        self.left() + if self.has_marked { MARK_BYTES as u64 } else { 0 }
    }
}

/// The frames of one write.
///
/// ```text
/// bytes   | mark | head | payload | head | head | ...
///                                        ^      ^
/// moved                              payload  payload
/// ```
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Payloads handed over by move, each with the length of `bytes` before it.
    moved: Vec<(usize, Vec<u8>)>,
    moved_bytes: u64,
    frames: u64,
    /// The charge of its frames.
    charge: i64,
    /// More frames wait that it could not take.
    is_cut_short: bool,
}

impl Batch {
    fn len(&self) -> u64 {
        self.bytes.len() as u64 + self.moved_bytes
    }

    fn move_in(&mut self, payload: Vec<u8>) {
        self.moved_bytes += payload.len() as u64;
        self.moved.push((self.bytes.len(), payload));
    }

    fn pieces(&self) -> Vec<IoSlice<'_>> {
        let mut pieces = Vec::with_capacity(2 * self.moved.len() + 1);
        let mut done = 0;
        for (at, payload) in &self.moved {
            pieces.extend([&self.bytes[done..*at], payload].map(IoSlice::new));
            done = *at;
        }
        pieces.push(IoSlice::new(&self.bytes[done..]));
        pieces
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.moved.clear();
        (self.moved_bytes, self.frames, self.charge) = (0, 0, 0);
    }
}

/// A sync on another thread.
struct Syncing {
    /// The position below which everything is durable once it ends.
    position: Position,
    /// The segment that was being written.
    number: u32,
    begun_us: u64,
}

/// The frames that a batch takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frames {
    All,
    /// Those in log buffers, up to a number that takes negligible time.
    Short,
}

/// The writer of a journal.
pub struct Writer {
    journal: Arc<Journal>,
    elapsed_us: ElapsedUs,
    now_ms: Box<dyn Fn() -> Ms + Send>,
    log_buffers: Vec<Consumer>,
    log_buffers_seen: usize,
    /// The log buffer of the last frame: likely to have the next.
    log_buffer_last: usize,
    batch: Batch,
    segment: Segment,
    /// Segments with bytes not yet synced.
    closed: Vec<Box<dyn DiskFile>>,
    is_folder_dirty: bool,
    /// Another thread syncs when nobody waits for the sync.
    syncs_apart: bool,
    syncing: Option<Syncing>,
    history: History,
    history_begins: Position,
    /// Position of the next frame to be written.
    position: Position,
    time_ms: Ms,
    /// The position that the last mark records as synced.
    marked: Position,
    durable: Position,
    unsynced_since_us: u64,
    last_sync_us: u64,
    /// Frames written since the last sync.
    unsynced_frames: u64,
    /// Frames that it was for.
    synced_frames: u64,
    last_write_us: Option<u64>,
    /// Bytes that a sync makes durable in a microsecond, of the last long ones.
    synced_per_us: Option<f64>,
}

impl Writer {
    pub(crate) fn new(
        journal: Arc<Journal>,
        elapsed_us: ElapsedUs,
        segment: Segment,
        head: &SegmentHead,
        time_ms: Ms,
    ) -> Self {
        Self {
            now_ms: Box::new(|| 0),
            log_buffers: Vec::new(),
            log_buffers_seen: 0,
            log_buffer_last: 0,
            batch: Batch::default(),
            segment,
            closed: Vec::new(),
            is_folder_dirty: false,
            syncs_apart: false,
            syncing: None,
            history: head.history,
            history_begins: head.history_begins,
            position: head.first_position,
            time_ms,
            // The segment's head records it, as a mark would.
            marked: head.synced,
            durable: head.synced,
            unsynced_since_us: 0,
            last_sync_us: 0,
            unsynced_frames: 0,
            synced_frames: 0,
            last_write_us: None,
            synced_per_us: None,
            journal,
            elapsed_us,
        }
    }

    /// Sets the clock that dates marks and segments; by default they carry the time of the last frame.
    pub fn set_clock(&mut self, now_ms: impl Fn() -> Ms + Send + 'static) {
        self.now_ms = Box::new(now_ms);
    }

    /// Moves syncs to another thread, which must step the returned syncer; except under [`Policy::Always`], where
    /// writing before the sync ends gains nothing.
    pub fn sync_apart(&mut self) -> Syncer {
        self.syncs_apart = true;
        Syncer::new(self.journal.clone(), self.elapsed_us.clone())
    }

    /// Does the next thing due, at most one write or one sync.
    pub fn step(&mut self) -> Step {
        self.adopt_log_buffers();
        if self.journal.is_poisoned() {
            self.discard();
            return Step::Poisoned;
        }
        match self.act() {
            Ok(step) => step,
            Err(error) => {
                self.journal.poison(error.to_string());
                Step::Poisoned
            }
        }
    }

    /// Writes frames that were handed over, as far as they are short and fit the segment; one call takes no longer than
    /// a worker's turn may.
    pub fn write_short(&mut self) {
        self.adopt_log_buffers();
        if self.journal.is_poisoned() || !self.collect(Frames::Short) {
            return;
        }
        if let Err(error) = self.write((self.elapsed_us)()) {
            self.journal.poison(error.to_string());
        }
    }

    /// Writes short frames as [`Writer::write_short`] does, and makes everything written durable if that is all below
    /// `position`, and no other thread syncs.
    pub fn sync_short(&mut self, position: Position) {
        self.write_short();
        let is_due = self.durable < position && position <= self.position && self.syncing.is_none();
        if !is_due || self.journal.is_poisoned() {
            return;
        }
        match self.sync() {
            Ok(()) => drop(self.journal.counters.worker_syncs.fetch_add(1, Ordering::Relaxed)),
            Err(error) => self.journal.poison(error.to_string()),
        }
    }

    /// Stops cleanly: writes what was handed over, syncs, and leaves a mark of the clean stop.
    ///
    /// # Errors
    /// A description of why the stop was not clean.
    pub fn stop(mut self) -> Result<(), String> {
        while let Step::Wrote | Step::Rolled | Step::Synced | Step::Marked = self.step() {}
        if self.position != self.journal.next() && !self.journal.is_poisoned() {
            return Err("a frame slot was taken, but its frame was never submitted".into());
        }
        let close = |writer: &mut Self| {
            writer.await_sync()?;
            writer.sync()?;
            writer.put_mark(Kind::CleanStop)?;
            writer.segment.file.truncate(writer.segment.offset)?;
            writer.segment.file.sync()
        };
        if !self.journal.is_poisoned()
            && let Err(error) = close(&mut self)
        {
            self.journal.poison(error.to_string());
        }
        self.journal.statistics().poisoned.map_or(Ok(()), Err)
    }

    /// Returns true under [`Policy::Always`] if the last sync was for several frames, as the next one may be.
    pub(crate) fn may_gather(&self) -> bool {
        self.journal.policy() == Policy::Always && self.synced_frames > 1
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Returns true if a writable frame waits; checked between arming and resting.
    pub(crate) fn has_news(&mut self, alert: Alert) -> bool {
        self.adopt_log_buffers();
        let next = self.position;
        let wanted = self.journal.wanted(Level::Durable, self.durable);
        let is_sync_wanted = wanted.is_some_and(|wanted| wanted <= next) && self.syncing.is_none();
        if is_sync_wanted || self.is_sync_over() || self.journal.is_poisoned() {
            return true;
        }
        // Waiting for a sync implies waiting for the frames before it.
        let is_awaited = wanted.is_some() || self.journal.wanted(Level::Written, next).is_some();
        let is_urgent = alert == Alert::Frame || is_awaited;
        is_urgent
            && self.log_buffers.iter_mut().any(|log_buffer| log_buffer.peek().is_some_and(|head| head.position == next))
    }

    fn act(&mut self) -> io::Result<Step> {
        let now_us = (self.elapsed_us)();
        self.end_sync()?;
        if self.is_sync_due(now_us) {
            self.begin_sync()?;
            return Ok(Step::Synced);
        }
        if self.collect(Frames::All) {
            self.write(now_us)?;
            return Ok(Step::Wrote);
        }
        if self.batch.is_cut_short {
            self.roll()?;
            return Ok(Step::Rolled);
        }
        // Once more: the batch that was cut short is complete now.
        if self.is_sync_due(now_us) {
            self.begin_sync()?;
            return Ok(Step::Synced);
        }
        if self.is_mark_owed() && now_us.saturating_sub(self.last_sync_us) >= MARK_US {
            self.mark_sync()?;
            return Ok(Step::Marked);
        }
        self.log_buffers.retain_mut(|log_buffer| !log_buffer.is_finished());
        Ok(self.rest(now_us))
    }

    fn rest(&self, now_us: u64) -> Step {
        let policy = self.journal.policy();
        let is_recent = |at_us: u64| now_us.saturating_sub(at_us) < PACED_US;
        // Under `always` too: a waiting worker reports once for all connections it had ready, and a sync that began
        // with the first of their frames would leave the others to the next one.
        let is_paced = self.last_write_us.is_some_and(is_recent);
        let (mut us, alert) = if is_paced { (PACE_US, Alert::Pressure) } else { (REST_US, Alert::Frame) };
        // The waited-for frame has yet to be handed over by another thread.
        let is_awaited = self.journal.wanted(Level::Written, self.position).is_some();
        let alert = if is_awaited { Alert::Frame } else { alert };
        let mut due_at = |at_us: u64| us = us.min(at_us.saturating_sub(now_us).max(1));
        if self.durable < self.position && policy == Policy::EverySec && self.syncing.is_none() {
            due_at(self.unsynced_since_us + SYNC_US);
        }
        if self.is_mark_owed() {
            due_at(self.last_sync_us + MARK_US);
        }
        Step::Rest { us, alert }
    }

    /// Returns true if writes since the last sync opened with a mark older than it; the next sync comes soon.
    fn is_mark_owed(&self) -> bool {
        self.marked < self.durable && self.durable == self.position
    }

    fn is_sync_due(&self, now_us: u64) -> bool {
        let unsynced = self.position - self.durable;
        if unsynced == 0 || self.syncing.is_some() {
            return false;
        }
        let is_wanted =
            || self.journal.wanted(Level::Durable, self.durable).is_some_and(|wanted| wanted <= self.position);
        match self.journal.policy() {
            Policy::Always => !self.batch.is_cut_short || unsynced >= UNSYNCED_BYTES_MAX,
            Policy::EverySec => {
                now_us.saturating_sub(self.unsynced_since_us) >= SYNC_US || self.journal.is_half_behind() || is_wanted()
            }
            Policy::Never => self.closed.len() >= CLOSED_MAX || is_wanted(),
        }
    }

    fn adopt_log_buffers(&mut self) {
        if self.journal.log_buffers_made.load(Ordering::SeqCst) != self.log_buffers_seen {
            let mut made = lock(&self.journal.log_buffers);
            self.log_buffers_seen += made.len();
            self.log_buffers.append(&mut made);
        }
    }

    fn discard(&mut self) {
        for log_buffer in &mut self.log_buffers {
            while log_buffer.peek().is_some() {
                log_buffer.take(|_| ());
            }
        }
        self.log_buffers.retain_mut(|log_buffer| !log_buffer.is_finished());
    }

    /// Takes frames into the batch, in order of positions, as many as are ready and fit. Returns true if there are any.
    fn collect(&mut self, frames: Frames) -> bool {
        let mut position = self.position;
        self.batch.is_cut_short = false;
        while let Some((log_buffer, payload_bytes)) = self.find(position) {
            if frames == Frames::Short && (payload_bytes > SHORT_BATCH_BYTES || self.batch.len() >= SHORT_BATCH_BYTES) {
                self.batch.is_cut_short = true;
                break;
            }
            let opening = if self.batch.frames == 0 { MARK_BYTES } else { 0 };
            let needed = self.batch.len() + opening as u64 + HEAD_BYTES as u64 + payload_bytes;
            self.batch.is_cut_short = needed > self.segment.left() || self.batch.len() >= BATCH_BYTES as u64;
            if self.batch.is_cut_short {
                break;
            }
            if self.batch.frames == 0 {
                self.append_mark();
            }
            self.append(log_buffer, position);
            position += HEAD_BYTES as u64 + payload_bytes;
        }
        self.batch.frames > 0
    }

    /// Finds the log buffer that holds the frame at `position`; also returns its payload length. O(log buffers).
    fn find(&mut self, position: Position) -> Option<(usize, u64)> {
        let count = self.log_buffers.len();
        for index in (0..count).map(|step| (self.log_buffer_last + step) % count) {
            if let Some(head) = self.log_buffers[index].peek().filter(|head| head.position == position) {
                self.log_buffer_last = index;
                return Some((index, head.payload_bytes));
            }
        }
        None
    }

    fn append_mark(&mut self) {
        let head = self.record_head(Kind::Mark, 0, self.position);
        self.batch.bytes.extend_from_slice(&encode_mark(&self.journal.seal, head, self.durable));
    }

    fn append(&mut self, log_buffer: usize, position: Position) {
        let head = self.log_buffers[log_buffer].peek().expect("`find` saw it");
        self.time_ms = self.time_ms.max(head.time_ms);
        let record = self.record_head(Kind::Frame, head.payload_bytes as u32, position);
        let (batch, seal) = (&mut self.batch, &self.journal.seal);
        let beside = self.log_buffers[log_buffer].take(|payload| match payload {
            Payload::Inline(first, second) => {
                batch.bytes.extend_from_slice(&record.encode(seal, [first, second]));
                batch.bytes.extend_from_slice(first);
                batch.bytes.extend_from_slice(second);
                None
            }
            Payload::Owned(payload) => Some(Late::new(head.payload_bytes, || payload)),
            Payload::Late(payload) => Some(payload),
        });
        // Only here: its place in the ring is free by now.
        if let Some(payload) = beside.map(Late::make) {
            batch.bytes.extend_from_slice(&record.encode(seal, [&payload, &[]]));
            batch.move_in(payload);
        }
        batch.frames += 1;
        let has_own = self.journal.has_own_segment(position, head.payload_bytes);
        batch.charge += self.journal.room.charge(head.payload_bytes, has_own);
        if has_own {
            self.journal.end_own_claim();
        }
    }

    fn record_head(&self, kind: Kind, payload_bytes: u32, position: Position) -> RecordHead {
        let (segment, history, time_ms) = (self.segment.number, self.history, self.time_ms);
        RecordHead { kind, payload_bytes, segment, history, position, time_ms }
    }

    /// Returns the bytes to write after the last record of segment `number` if stale bytes follow.
    fn stop_at(&self, number: u32, position: Position) -> [u8; HEAD_BYTES] {
        encode_stop(Form::Sealed(self.journal.seal, self.history), number, self.history, position)
    }

    /// Writes the batch and publishes its frames.
    fn write(&mut self, now_us: u64) -> io::Result<()> {
        let worth = self.worth();
        let stop = self.segment.is_recycled.then(|| {
            let end = self.position + self.batch.len() - MARK_BYTES as u64;
            self.stop_at(self.segment.number, end)
        });
        let batch = &mut self.batch;
        let (bytes, frames, charge) = (batch.len(), batch.frames, batch.charge);
        batch.bytes.extend_from_slice(stop.as_ref().map_or(&[], |stop| &stop[..]));
        let written = self.segment.file.write_pieces_at(&mut batch.pieces(), self.segment.offset);
        batch.clear();
        written?;
        if self.position == self.durable {
            self.unsynced_since_us = now_us;
        }
        self.segment.offset += bytes;
        self.segment.has_marked = false;
        self.position += bytes - MARK_BYTES as u64;
        self.marked = self.durable;
        self.last_write_us = Some(now_us);
        self.unsynced_frames += frames;
        let journal = &*self.journal;
        journal.counters.frames.fetch_add(frames, Ordering::Relaxed);
        journal.counters.bytes.fetch_add(bytes - MARK_BYTES as u64, Ordering::Relaxed);
        journal.counters.writes.fetch_add(1, Ordering::Relaxed);
        journal.counters.last_write_us.store(now_us, Ordering::Relaxed);
        journal.written.0.store(self.position, Ordering::SeqCst);
        journal.notify_waiters(Level::Written, self.position);
        journal.add_room(charge - (worth - self.worth()));
        journal.notify_room();
        Ok(())
    }

    /// Returns the worth of the rest of the segment, in claim units.
    fn worth(&self) -> i64 {
        self.journal.room.worth(self.segment.left_to_claim())
    }

    /// Makes everything written durable, here or on the syncer's thread.
    fn begin_sync(&mut self) -> io::Result<()> {
        if !self.syncs_apart || self.journal.policy() == Policy::Always {
            return self.sync();
        }
        let journal = &*self.journal;
        let job = Job {
            closed: std::mem::take(&mut self.closed),
            is_folder_dirty: std::mem::take(&mut self.is_folder_dirty),
            written: journal.disk.open(&journal.folder.join(segment_name(self.segment.number)))?,
        };
        let (bytes, begun_us) = (self.position - self.durable, (self.elapsed_us)());
        self.syncing = Some(Syncing { position: self.position, number: self.segment.number, begun_us });
        let expected_us = self.synced_per_us.map_or(0.0, |rate| bytes as f64 / rate);
        journal.pace_sync(self.position, begun_us, expected_us as u64);
        *lock(&journal.sync_request) = Request::Pending(job);
        journal.syncer.wake(Alert::Pressure);
        Ok(())
    }

    fn is_sync_over(&self) -> bool {
        self.syncing.is_some() && matches!(*lock(&self.journal.sync_request), Request::Over(..))
    }

    /// Processes a finished sync.
    fn end_sync(&mut self) -> io::Result<()> {
        if !self.is_sync_over() {
            return Ok(());
        }
        let request = std::mem::take(&mut *lock(&self.journal.sync_request));
        if let (Some(syncing), Request::Over(result, took_us)) = (self.syncing.take(), request) {
            result?;
            self.note_synced(&syncing, took_us);
        }
        Ok(())
    }

    /// Waits for a requested sync to end, and runs it if it has not begun.
    fn await_sync(&mut self) -> io::Result<()> {
        while self.syncing.is_some() {
            let mut request = lock(&self.journal.sync_request);
            match std::mem::replace(&mut *request, Request::Running) {
                Request::Pending(job) => *request = Request::Over(job.run(&self.journal), 0),
                other => *request = other,
            }
            drop(request);
            self.end_sync()?;
            thread::yield_now();
        }
        Ok(())
    }

    /// Makes everything written durable, and notifies waiters.
    fn sync(&mut self) -> io::Result<()> {
        let begun_us = (self.elapsed_us)();
        let (closed, is_folder_dirty) = (std::mem::take(&mut self.closed), std::mem::take(&mut self.is_folder_dirty));
        sync_all(&self.journal, closed, is_folder_dirty, &mut *self.segment.file)?;
        let took_us = (self.elapsed_us)().saturating_sub(begun_us);
        self.note_synced(&Syncing { position: self.position, number: self.segment.number, begun_us }, took_us);
        Ok(())
    }

    fn note_synced(&mut self, synced: &Syncing, took_us: u64) {
        let journal = &*self.journal;
        let now_us = (self.elapsed_us)();
        let is_awaited = journal.policy() == Policy::Always || journal.wanted(Level::Durable, self.durable).is_some();
        let bytes = synced.position - std::mem::replace(&mut self.durable, synced.position);
        if bytes >= LONG_SYNC_BYTES {
            let rate = bytes as f64 / took_us.max(1) as f64;
            self.synced_per_us = Some(self.synced_per_us.map_or(rate, |before| (before + rate) / 2.0));
        }
        self.last_sync_us = now_us;
        self.synced_frames = std::mem::take(&mut self.unsynced_frames);
        let counters = &journal.counters;
        counters.syncs.fetch_add(1, Ordering::Relaxed);
        counters.sync_us_last.store(took_us, Ordering::Relaxed);
        counters.sync_us_max.fetch_max(took_us, Ordering::Relaxed);
        if is_awaited {
            let wait_us = now_us.saturating_sub(self.unsynced_since_us);
            counters.durable_wait_us_max.fetch_max(wait_us, Ordering::Relaxed);
        }
        // Unsynced bytes were written after the sync began.
        self.unsynced_since_us = synced.begun_us;
        lock(&journal.segment_list).settle(synced.number);
        journal.durable.store(self.durable, Ordering::SeqCst);
        journal.end_pace_sync();
        journal.notify_waiters(Level::Durable, self.durable);
        journal.notify_room();
    }

    /// Writes a mark after a sync when no write does, to record what was synced.
    fn mark_sync(&mut self) -> io::Result<()> {
        // A write after the sync would have opened with that mark.
        assert_eq!(self.position, self.durable);
        self.put_mark(Kind::Mark)?;
        self.segment.has_marked = true;
        Ok(())
    }

    fn put_mark(&mut self, kind: Kind) -> io::Result<()> {
        self.time_ms = self.time_ms.max((self.now_ms)());
        let mark = encode_mark(&self.journal.seal, self.record_head(kind, 0, self.position), self.durable);
        let stop = self.stop_at(self.segment.number, self.position);
        let has_stop = kind == Kind::Mark && self.segment.is_recycled;
        self.segment
            .file
            .write_at(&[&mark, &stop[..if has_stop { HEAD_BYTES } else { 0 }]].concat(), self.segment.offset)?;
        self.segment.offset += MARK_BYTES as u64;
        self.marked = self.durable;
        Ok(())
    }

    /// Ends the segment and begins the next one, which has room for the next frame.
    fn roll(&mut self) -> io::Result<()> {
        let (_, payload_bytes) = self.find(self.position).expect("a frame that did not fit");
        let worth = self.worth();
        self.put_mark(Kind::SegmentEnd)?;
        let journal = self.journal.clone();
        let is_own = journal.has_own_segment(self.position, payload_bytes);
        let mut spare = journal.take_spare(is_own);
        let head = SegmentHead {
            number: self.segment.number + 1,
            history: self.history,
            history_begins: self.history_begins,
            first_position: self.position,
            synced: self.durable,
            created_ms: self.time_ms,
        };
        let stop = self.stop_at(head.number, self.position);
        spare.file.write_at(
            &[&head.encode(&journal.seal), &stop[..if spare.is_recycled { HEAD_BYTES } else { 0 }]].concat(),
            0,
        )?;
        let (from, to) = (journal.folder.join(&spare.name), journal.folder.join(segment_name(head.number)));
        journal.disk.rename(&from, &to)?;
        self.is_folder_dirty = true;
        lock(&journal.segment_list).push(SegmentFile {
            number: head.number,
            first_position: head.first_position,
            bytes: spare.bytes,
        });
        let closed = std::mem::replace(&mut self.segment, Segment::new(spare, head.number));
        self.closed.push(closed.file);
        // A spare's worth is already free; a segment made for one frame was not counted.
        journal.add_room(if is_own { self.worth() - worth } else { -worth });
        journal.counters.last_roll_us.store((self.elapsed_us)(), Ordering::Relaxed);
        journal.preallocator.wake(Alert::Frame);
        journal.notify_room();
        Ok(())
    }
}
