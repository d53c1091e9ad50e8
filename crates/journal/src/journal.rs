//! The journal as all threads see it: positions, admission, log buffers.
//!
//! ```text
//!   before locks   try_admit -> Reservation room in the log buffer's ring, room in the segments, bytes not yet durable bounded
//!   under locks    take      -> FrameSlot the position: one atomic add
//!   after them     hand_over             bytes to the writer; what the claim had over goes back
//!   after many     end_turn              the writer is woken, if it rests
//! ```
//!
//! During a turn a log buffer takes room from what all share by the local credit, so that most frames touch one thing that other
//! threads touch: the position.

use crate::format::{HEAD_BYTES, History, PAYLOAD_BYTES_MAX};
use crate::preallocator::SparePool;
use crate::room::{Room, capacity, is_oversize, own_segment_bytes};
use crate::seal::Seal;
use crate::segment_list::{Barrier, SegmentList};
use crate::signal::{Alert, Signal};
use crate::statistics::Counters;
use crate::syncer::Request;
use crate::writer::Writer;
use crate::{Options, Policy, Refusal};
use base::disk::Disk;
use base::{Ms, Position};
use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use sync::notifier::{Level, Notifier};
use sync::primitives::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use sync::primitives::{Mutex, Padded, lock};
use sync::ring::{Consumer, INLINE_BYTES_MAX, Late, Producer, ring, ring_bytes};

/// Bytes in a log buffer at which the writer is woken out of its pace.
const PRESSURE_BYTES: usize = 1 << 20;
/// What a log buffer's local credit is filled with beyond the claim at hand, in the coin of claims, at most.
const CREDIT_MAX: i64 = 64 << 10;
/// And at most such a part of what is kept back.
const PURSES_IN_KEPT: i64 = 64;

/// What a frame does to the room it is refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It may make the data larger.
    Grow,
    /// It only takes away: it may use the room that is kept back for a full disk.
    Shrink,
}

/// Where a position stands, for one who waits for it to be written, or durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Everything below it is.
    There,
    /// The notifier will ring.
    Waiting,
    /// It never will be: a write or a sync failed.
    Poisoned,
}

/// The journal, shared by all threads.
pub struct Journal {
    pub(crate) next: Padded<AtomicU64>,
    /// What the segments at hand are worth, less what is claimed of them.
    pub(crate) free: Padded<AtomicI64>,
    pub(crate) written: Padded<AtomicU64>,
    pub(crate) durable: AtomicU64,
    pub(crate) history: History,
    pub(crate) seal: Seal,
    pub(crate) room: Room,
    undurable_bytes_max: u64,
    log_buffer_bytes: usize,
    policy: AtomicU8,
    poisoned: AtomicBool,
    poison: Mutex<String>,
    /// Frames that grow are refused.
    pub(crate) full: AtomicBool,
    /// See [`Options::kept_free_bytes`].
    pub(crate) kept_free_bytes: Option<u64>,
    /// Somebody waits for room that releases may bring.
    pub(crate) is_pressed: AtomicBool,
    /// Releases for the sake of room that have begun, and how many had when the last of them to end began.
    pub(crate) releases_begun: AtomicU64,
    pub(crate) releases_ended: AtomicU64,
    /// The disk has no room for another spare beside what is kept free, or refused the last one.
    pub(crate) is_low: AtomicBool,
    /// There is no spare of last resort, and a release has brought no room for one.
    pub(crate) is_spent: AtomicBool,
    /// The most that `free` had to be for somebody who was refused; 0 if nobody was.
    pub(crate) asked: AtomicI64,
    /// The same for somebody who only takes away.
    pub(crate) shrink_asked: AtomicI64,
    pub(crate) log_buffers: Mutex<Vec<Consumer>>,
    pub(crate) log_buffers_made: AtomicUsize,
    bells: Mutex<Vec<Arc<Notifier>>>,
    waiting: AtomicBool,
    waiters: Mutex<Vec<Waker>>,
    /// Bytes of the smallest segment that a frame may yet come to which the current one does not take. Never less than it was.
    pub(crate) spare_bytes_min: AtomicU64,
    pub(crate) spare_pool: Mutex<SparePool>,
    pub(crate) segment_list: Mutex<SegmentList>,
    pub(crate) barrier: Barrier,
    pub(crate) writer: Signal,
    pub(crate) preallocator: Signal,
    pub(crate) syncer: Signal,
    pub(crate) sync_request: Mutex<Request>,
    /// The writer, while its thread runs: whoever waits may write in its place.
    pub(crate) shared_writer: Mutex<Option<Writer>>,
    pub(crate) stopping: AtomicBool,
    pub(crate) counters: Counters,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: PathBuf,
}

impl Journal {
    pub(crate) fn new(options: &Options, disk: Arc<dyn Disk>, folder: PathBuf, begin: Begin) -> Self {
        let room = Room::new(options.segment_bytes_first, options.segment_bytes_max);
        Self {
            next: Padded(AtomicU64::new(begin.position)),
            free: Padded(AtomicI64::new(room.worth(capacity(begin.bytes)))),
            written: Padded(AtomicU64::new(begin.position)),
            durable: AtomicU64::new(begin.position),
            history: begin.history,
            seal: begin.seal,
            room,
            undurable_bytes_max: options.undurable_bytes_max,
            log_buffer_bytes: options.log_buffer_bytes,
            policy: AtomicU8::new(options.policy as u8),
            poisoned: AtomicBool::new(false),
            poison: Mutex::new(String::new()),
            full: AtomicBool::new(false),
            kept_free_bytes: options.kept_free_bytes,
            is_pressed: AtomicBool::new(false),
            releases_begun: AtomicU64::new(0),
            releases_ended: AtomicU64::new(0),
            is_low: AtomicBool::new(false),
            is_spent: AtomicBool::new(false),
            asked: AtomicI64::new(0),
            shrink_asked: AtomicI64::new(0),
            log_buffers: Mutex::new(Vec::new()),
            log_buffers_made: AtomicUsize::new(0),
            bells: Mutex::new(Vec::new()),
            waiting: AtomicBool::new(false),
            waiters: Mutex::new(Vec::new()),
            spare_bytes_min: AtomicU64::new(begin.spare_bytes),
            spare_pool: Mutex::new(SparePool::new(begin.spare_bytes, options.segment_bytes_max, begin.is_small)),
            segment_list: Mutex::new(begin.segment_list),
            barrier: Barrier::new(),
            writer: Signal::default(),
            preallocator: Signal::default(),
            syncer: Signal::default(),
            sync_request: Mutex::default(),
            shared_writer: Mutex::new(None),
            stopping: AtomicBool::new(false),
            counters: Counters::default(),
            disk,
            folder,
        }
    }

    /// Where the next frame will begin.
    pub fn next(&self) -> Position {
        self.next.0.load(Ordering::SeqCst)
    }

    /// Everything below lies in files.
    pub fn written(&self) -> Position {
        self.written.0.load(Ordering::SeqCst)
    }

    /// Everything below is synced.
    pub fn durable(&self) -> Position {
        self.durable.load(Ordering::SeqCst)
    }

    /// The history that this run writes.
    pub fn history(&self) -> History {
        self.history
    }

    /// When frames are synced.
    pub fn policy(&self) -> Policy {
        let policy = self.policy.load(Ordering::Relaxed);
        [Policy::Always, Policy::EverySec, Policy::Never][usize::from(policy)]
    }

    /// Changes when frames are synced, from the next step of the writer on.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy as u8, Ordering::SeqCst);
        self.writer.wake(Alert::Pressure);
    }

    /// Whether a write or a sync failed: from then on nothing becomes durable.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::SeqCst)
    }

    /// A log buffer for the calling thread, which writes. Its ring takes [`Options::log_buffer_bytes`](crate::Options) once used.
    pub fn log_buffer(self: &Arc<Self>) -> LogBuffer {
        let (producer, consumer) = ring(self.log_buffer_bytes);
        lock(&self.log_buffers).push(consumer);
        self.log_buffers_made.fetch_add(1, Ordering::SeqCst);
        let state = LogBufferState { journal: self.clone(), claimed_bytes: Cell::new(0), credit: Cell::new(0) };
        LogBuffer { producer, state: Rc::new(state), has_news: false }
    }

    /// Adds a worker's notifier: it is rung when what it wants is durable, and when the journal is poisoned.
    pub fn add_notifier(&self, notifier: Arc<Notifier>) {
        lock(&self.bells).push(notifier);
    }

    /// Everything below is written, or durable.
    pub fn reached(&self, level: Level) -> Position {
        match level {
            Level::Written => self.written(),
            Level::Durable => self.durable(),
        }
    }

    /// How safe a position is to be before a reply that has seen it leaves, under the policy in force.
    pub fn level(&self) -> Level {
        if self.policy() == Policy::Always { Level::Durable } else { Level::Written }
    }

    /// Writes short frames that were handed over, in the calling thread, unless another is at it: for one who would wait
    /// until they are written. It does so only where nobody waits for a sync, and begins no segment. Never waits for another writer.
    /// O(bytes written), 256 KiB and a frame at most.
    pub fn write_here(&self) {
        if self.level() == Level::Written
            && let Ok(mut shared) = self.shared_writer.try_lock()
            && let Some(writer) = &mut *shared
        {
            writer.write_short();
        }
    }

    /// Asks that `notifier` be rung once everything below `position` is written, or durable, whatever the policy: the writer
    /// writes or syncs for it. No ring follows when it says [`Reached::There`] or [`Reached::Poisoned`], or a needless one.
    pub fn want(&self, notifier: &Notifier, level: Level, position: Position) -> Reached {
        if self.reached(level) >= position {
            return Reached::There;
        }
        notifier.want(level, position);
        fence(Ordering::SeqCst);
        if self.reached(level) >= position {
            return Reached::There;
        }
        if self.is_poisoned() {
            return Reached::Poisoned;
        }
        self.writer.wake(Alert::Pressure);
        Reached::Waiting
    }

    /// Registers to be woken when room may have come. The caller then tries once more before it waits: the room may
    /// have come just before.
    pub fn wait_room(&self, waker: &Waker) {
        lock(&self.waiters).push(waker.clone());
        self.waiting.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn poison_reason(&self) -> Option<String> {
        self.is_poisoned().then(|| lock(&self.poison).clone())
    }

    pub(crate) fn poison(&self, reason: String) {
        *lock(&self.poison) = reason;
        self.poisoned.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        for notifier in &*lock(&self.bells) {
            notifier.notify();
        }
        self.notify_room();
    }

    pub(crate) fn ring_bells(&self, level: Level, reached: Position) {
        for notifier in &*lock(&self.bells) {
            notifier.notify_at(level, reached);
        }
    }

    /// The least position above `reached` that any notifier wants; notifiers that want less are rung.
    pub(crate) fn wanted(&self, level: Level, reached: Position) -> Option<Position> {
        let wanted = |notifier: &Arc<Notifier>| {
            notifier.notify_at(level, reached);
            notifier.wanted(level)
        };
        lock(&self.bells).iter().filter_map(wanted).min()
    }

    /// Adds to what may be claimed, or takes from it.
    pub(crate) fn add_room(&self, change: i64) {
        if change != 0 {
            self.free.0.fetch_add(change, Ordering::SeqCst);
        }
    }

    /// Lets the next long frame claim the segment made for one.
    pub(crate) fn end_own_claim(&self) {
        lock(&self.spare_pool).end_own_claim();
        self.notify_room();
    }

    /// Wakes all who wait for room, if any do.
    pub(crate) fn notify_room(&self) {
        // Between the room that came and the look at who waits; its twin is in `wait_room`.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) && self.waiting.swap(false, Ordering::SeqCst) {
            let waiters = std::mem::take(&mut *lock(&self.waiters));
            waiters.into_iter().for_each(Waker::wake);
        }
    }

    /// Takes `charge` from what is free if that leaves at least `kept_back`.
    pub(crate) fn take_room(&self, charge: i64, kept_back: i64) -> bool {
        let take = |free: i64| (free - charge >= kept_back).then(|| free - charge);
        self.free.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }

    /// Returns the room that is kept back from frames that grow, so that those that only take away find some: a first segment's
    /// worth, and a whole spare's worth where there is no room for another.
    pub(crate) fn kept_back(&self) -> i64 {
        let least = self.room.kept_back();
        if !self.is_low.load(Ordering::Relaxed) {
            return least;
        }
        least.max(self.room.spare(self.spare_bytes_min.load(Ordering::Relaxed)))
    }

    /// Takes `charge` from what is free, or asks for it.
    fn claim_room(&self, charge: i64, purpose: Purpose) -> Result<(), Refusal> {
        let kept_back = match purpose {
            Purpose::Grow => self.kept_back(),
            Purpose::Shrink => 0,
        };
        if self.take_room(charge, kept_back) {
            return Ok(());
        }
        self.asked.fetch_max(charge + kept_back, Ordering::SeqCst);
        if purpose == Purpose::Shrink {
            self.shrink_asked.fetch_max(charge, Ordering::SeqCst);
        }
        self.preallocator.wake(Alert::Pressure);
        // For what only takes away a last resort is made where there is room for no other spare.
        let may_last = purpose == Purpose::Shrink && self.kept_free_bytes.is_some();
        let refused = if may_last { &self.is_spent } else { &self.full };
        Err(if refused.load(Ordering::SeqCst) { Refusal::Full } else { Refusal::Wait })
    }

    /// Whether so much is not yet durable that it is better synced now than when nobody is admitted any more.
    pub(crate) fn is_half_behind(&self) -> bool {
        self.next() - self.durable() >= self.undurable_bytes_max / 2
    }

    /// Refuses whoever must wait for the disk, or for a release.
    fn check_pace(&self, purpose: Purpose) -> Result<(), Refusal> {
        let settled = if self.policy() == Policy::Never { &self.written.0 } else { &self.durable };
        let (settled, barrier) = (settled.load(Ordering::SeqCst), self.barrier.position(purpose));
        // Read last, so the difference is never negative.
        let next = self.next();
        match () {
            () if next - settled < self.undurable_bytes_max && next < barrier => Ok(()),
            () if self.is_poisoned() => Err(Refusal::Poisoned),
            () if next >= barrier && self.barrier.is_failing() => Err(Refusal::Full),
            () => Err(Refusal::Wait),
        }
    }
}

/// Where a journal begins when it is opened.
pub(crate) struct Begin {
    pub(crate) position: Position,
    pub(crate) history: History,
    pub(crate) seal: Seal,
    /// Bytes of the segment that is begun.
    pub(crate) bytes: u64,
    /// Bytes of the next one.
    pub(crate) spare_bytes: u64,
    /// It is smaller than segments may become.
    pub(crate) is_small: bool,
    pub(crate) segment_list: SegmentList,
}

/// One thread's way to hand over frames.
pub struct LogBuffer {
    producer: Producer,
    state: Rc<LogBufferState>,
    /// Frames were handed over of which the writer may not know.
    has_news: bool,
}

struct LogBufferState {
    journal: Arc<Journal>,
    /// Room in the ring that claims hold.
    claimed_bytes: Cell<usize>,
    /// Room that was taken from what is free, for claims of this turn. Never of what is kept back: any frame may use it.
    credit: Cell<i64>,
}

/// What a claim holds, and a ticket after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReservedRoom {
    payload_bytes: u64,
    ring_bytes: usize,
    charge: i64,
    /// Of the charge, what the local credit did not pay.
    uncredited: i64,
    /// The segment made for this one frame.
    own_segment: bool,
}

/// Room for one frame, claimed before its locks are taken. Dropped, it gives the room back.
#[must_use]
pub struct Reservation {
    log_buffer: Rc<LogBufferState>,
    hold: ReservedRoom,
}

/// A position taken: the frame must be handed over, or the journal stands still.
#[must_use]
#[derive(Debug)]
pub struct FrameSlot {
    /// Where the frame begins.
    pub position: Position,
    /// Where it ends: what the shard's state needs from now on.
    pub end: Position,
    hold: ReservedRoom,
}

impl LogBuffer {
    /// Claims room for a frame of at most `payload_bytes`.
    ///
    /// # Errors
    /// Nothing has changed; see [`Refusal`].
    pub fn try_admit(&self, payload_bytes: u64, purpose: Purpose) -> Result<Reservation, Refusal> {
        let journal = &self.state.journal;
        journal.check_pace(purpose)?;
        let mut claim = Reservation { log_buffer: self.state.clone(), hold: ReservedRoom::default() };
        self.extend(&mut claim, payload_bytes, purpose)?;
        Ok(claim)
    }

    /// Claims room for `more_bytes` of payload on top of what `claim`, which came from this log buffer, holds.
    ///
    /// # Errors
    /// The claim is as before; see [`Refusal`].
    pub fn extend(&self, claim: &mut Reservation, more_bytes: u64, purpose: Purpose) -> Result<(), Refusal> {
        let journal = &self.state.journal;
        let payload_bytes = claim.hold.payload_bytes.saturating_add(more_bytes);
        if journal.is_poisoned() {
            return Err(Refusal::Poisoned);
        }
        if payload_bytes > PAYLOAD_BYTES_MAX {
            return Err(Refusal::TooLong);
        }
        let ring_bytes = ring_bytes(payload_bytes as usize);
        let ring_more = ring_bytes - claim.hold.ring_bytes;
        if self.producer.free_bytes() < self.state.claimed_bytes.get() + ring_more {
            return Err(Refusal::Wait);
        }
        let own_segment =
            claim.hold.own_segment || is_oversize(payload_bytes, journal.spare_bytes_min.load(Ordering::SeqCst));
        if own_segment {
            self.claim_own_segment(claim, payload_bytes)?;
        }
        let charge = journal.room.charge(payload_bytes, own_segment);
        match self.state.pay(charge - claim.hold.charge, purpose) {
            Ok(unpursed) => {
                self.state.claimed_bytes.update(|claimed| claimed + ring_more);
                let unpursed = claim.hold.uncredited + unpursed;
                claim.hold = ReservedRoom { payload_bytes, ring_bytes, charge, uncredited: unpursed, own_segment };
                Ok(())
            }
            Err(refusal) => {
                if own_segment && !claim.hold.own_segment {
                    journal.end_own_claim();
                }
                Err(refusal)
            }
        }
    }

    fn claim_own_segment(&self, claim: &Reservation, payload_bytes: u64) -> Result<(), Refusal> {
        let journal = &self.state.journal;
        let result = lock(&journal.spare_pool).claim_own(own_segment_bytes(payload_bytes), claim.hold.own_segment);
        if result == Err(Refusal::Wait) {
            journal.preallocator.wake(Alert::Pressure);
        }
        result
    }

    /// Takes the position of a finished frame: the last act under the locks. Never waits. O(1).
    ///
    /// # Panics
    /// If the payload is longer than what was claimed: the caller's bug.
    pub fn take(&mut self, mut claim: Reservation, payload_bytes: u64) -> FrameSlot {
        assert!(payload_bytes <= claim.hold.payload_bytes, "a frame longer than its claim");
        assert!(Rc::ptr_eq(&claim.log_buffer, &self.state), "a claim of another lane");
        let (journal, frame_bytes) = (&*self.state.journal, HEAD_BYTES as u64 + payload_bytes);
        let position = journal.next.0.fetch_add(frame_bytes, Ordering::SeqCst);
        let hold = std::mem::take(&mut claim.hold);
        if hold.own_segment && !journal.room.is_small(payload_bytes) {
            lock(&journal.spare_pool).own_position = Some(position);
        }
        FrameSlot { position, end: position + frame_bytes, hold }
    }

    /// Hands over the frame of `ticket` and leaves `payload` empty: a short one is copied, a long one is taken. The
    /// writer may rest until [`LogBuffer::end_turn`].
    ///
    /// # Panics
    /// If the payload has another length than the ticket was taken for: the caller's bug.
    pub fn hand_over(&mut self, ticket: FrameSlot, time_ms: Ms, payload: &mut Vec<u8>) {
        let payload_bytes = ticket.check(payload.len() as u64);
        if payload.len() > INLINE_BYTES_MAX {
            self.producer.push_owned(ticket.position, time_ms, std::mem::take(payload));
        } else {
            self.producer.push(ticket.position, time_ms, payload);
            payload.clear();
        }
        self.settle(ticket, payload_bytes);
    }

    /// Hands over the frame of `ticket`, whose payload the writer has made when it writes it. Otherwise as
    /// [`LogBuffer::hand_over`].
    ///
    /// # Panics
    /// If the payload has another length than the ticket was taken for: the caller's bug.
    pub fn hand_over_late(&mut self, ticket: FrameSlot, time_ms: Ms, payload: Late) {
        let payload_bytes = ticket.check(payload.bytes_count());
        self.producer.push_late(ticket.position, time_ms, payload);
        self.settle(ticket, payload_bytes);
    }

    fn settle(&mut self, ticket: FrameSlot, payload_bytes: u64) {
        let journal = &self.state.journal;
        self.has_news = true;
        if self.producer.queued_bytes(PRESSURE_BYTES) >= PRESSURE_BYTES {
            journal.writer.wake(Alert::Pressure);
        }
        let mut rest = ticket.hold;
        std::mem::forget(ticket);
        rest.charge -= journal.room.charge(payload_bytes, rest.own_segment);
        // Else the writer gives it back.
        rest.own_segment &= journal.room.is_small(payload_bytes);
        self.state.release(rest);
    }

    /// Tells the writer of what was handed over, and gives back room that was taken and not used. To be called soon
    /// after a claim or a frame, once for many: each costs more than a frame, since other threads look at it too.
    pub fn end_turn(&mut self) {
        self.state.empty_credit();
        if std::mem::take(&mut self.has_news) {
            self.state.journal.writer.wake(Alert::Frame);
        }
    }

    /// The journal of this log buffer.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.state.journal
    }
}

impl LogBufferState {
    /// Takes `charge` from the local credit, which is filled from what is free beyond what is kept back; where there is not
    /// that much, from what is free. Gives what the local credit did not pay.
    fn pay(&self, charge: i64, purpose: Purpose) -> Result<i64, Refusal> {
        let journal = &*self.journal;
        if self.credit.get() < charge {
            let kept_back = journal.kept_back();
            let filled = charge + CREDIT_MAX.min(kept_back / PURSES_IN_KEPT);
            let given_back = self.credit.take();
            journal.add_room(given_back);
            if !journal.take_room(filled, kept_back) {
                if given_back != 0 {
                    journal.notify_room();
                }
                return journal.claim_room(charge, purpose).map(|()| charge);
            }
            self.credit.set(filled);
        }
        self.credit.update(|credit| credit - charge);
        Ok(0)
    }

    fn empty_credit(&self) {
        let over = self.credit.take();
        if over != 0 {
            self.journal.add_room(over);
            self.journal.notify_room();
        }
    }

    fn release(&self, hold: ReservedRoom) {
        if hold == ReservedRoom::default() {
            return;
        }
        self.claimed_bytes.update(|claimed| claimed - hold.ring_bytes);
        let shared = hold.charge.min(hold.uncredited);
        self.credit.update(|credit| credit + hold.charge - shared);
        if hold.own_segment {
            self.journal.end_own_claim();
        }
        if shared > 0 {
            self.journal.add_room(shared);
            self.journal.notify_room();
        }
    }
}

impl Drop for LogBufferState {
    fn drop(&mut self) {
        self.empty_credit();
    }
}

impl Reservation {
    /// Payload bytes that it holds room for.
    pub fn payload_bytes(&self) -> u64 {
        self.hold.payload_bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.log_buffer.release(self.hold);
    }
}

impl FrameSlot {
    /// Gives the length of the payload, if it is what the position was taken for.
    fn check(&self, payload_bytes: u64) -> u64 {
        assert_eq!(self.end - self.position, HEAD_BYTES as u64 + payload_bytes);
        payload_bytes
    }
}

impl Drop for FrameSlot {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a position was taken at {} and its frame not handed over", self.position);
    }
}
