//! The journal shared by all threads: positions, admission, log buffers.
//!
//! ```text
//!   before locks   try_admit -> Reservation  room in the log buffer's ring and in the segments; bounds undurable bytes
//!   under locks    take      -> FrameSlot    the position: one atomic add
//!   after them     hand_over                 bytes to the writer; unused room of the reservation is returned
//!   after many     end_turn                  wakes the writer if it sleeps
//! ```
//! During a turn a log buffer takes room from its local credit, not from the shared total, so that most frames touch
//! only one thing shared between threads: the position.

use crate::format::{HEAD_BYTES, History, PAYLOAD_BYTES_MAX};
use crate::pace::Pace;
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

/// Bytes handed over through one log buffer after which the writer is woken before its pace.
const PRESSURE_BYTES: u64 = 1 << 20;
/// Maximum refill of a log buffer's local credit beyond the current claim, in claim units.
const CREDIT_MAX: i64 = 64 << 10;
/// Divisor: a refill is also at most this part of the reserve kept back; of all log buffers together at most an eighth.
const CREDITS_IN_KEPT: usize = 64;
const CREDITS_IN_KEPT_BY_LOG_BUFFER: usize = 8;

/// The effect of a frame on the data, which decides the room it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It may grow the data.
    Grow,
    /// It only removes data: it may use the reserve kept back for a full disk.
    Shrink,
}

/// The state of a position, for a thread that waits until it is written or durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Everything below it has reached the level.
    There,
    /// The notifier will ring.
    Waiting,
    /// It never will: a write or a sync failed.
    Poisoned,
}

/// The journal, shared by all threads.
pub struct Journal {
    pub(crate) next: Padded<AtomicU64>,
    /// Worth of the available segments, less the claims on them.
    pub(crate) free: Padded<AtomicI64>,
    pub(crate) written: Padded<AtomicU64>,
    pub(crate) durable: AtomicU64,
    pub(crate) history: History,
    pub(crate) seal: Seal,
    pub(crate) room: Room,
    pub(crate) undurable_bytes_max: u64,
    log_buffer_bytes: usize,
    policy: AtomicU8,
    poisoned: AtomicBool,
    poison: Mutex<String>,
    /// Log buffers must return the room that they keep from turn to turn: a request waits for room.
    recalls_credit: AtomicBool,
    /// Frames that grow data are refused.
    pub(crate) full: AtomicBool,
    /// See [`Options::kept_free_bytes`].
    pub(crate) kept_free_bytes: Option<u64>,
    /// A request waits for room that releases may bring.
    pub(crate) is_pressed: AtomicBool,
    /// Number of releases begun to make room, and that number as of the start of the last one that ended.
    pub(crate) releases_begun: AtomicU64,
    pub(crate) releases_ended: AtomicU64,
    /// The disk has no room for another spare beyond the reserve, or refused the last one.
    pub(crate) is_low: AtomicBool,
    /// There is no spare of last resort, and a release made no room for one.
    pub(crate) is_spent: AtomicBool,
    /// The maximum of `free` that a refused frame needed; 0 if none was refused.
    pub(crate) asked: AtomicI64,
    /// The same for frames that only remove data.
    pub(crate) shrink_asked: AtomicI64,
    pub(crate) log_buffers: Mutex<Vec<Consumer>>,
    pub(crate) log_buffers_made: AtomicUsize,
    bells: Mutex<Vec<Arc<Notifier>>>,
    waiting: AtomicBool,
    waiters: Mutex<Vec<Waker>>,
    /// Bytes of the smallest segment after the current one that a frame may yet land in. Never decreases.
    pub(crate) spare_bytes_min: AtomicU64,
    pub(crate) spare_pool: Mutex<SparePool>,
    pub(crate) segment_list: Mutex<SegmentList>,
    pub(crate) barrier: Barrier,
    pub(crate) pace: Pace,
    pub(crate) writer: Signal,
    pub(crate) preallocator: Signal,
    pub(crate) syncer: Signal,
    pub(crate) sync_request: Mutex<Request>,
    /// The writer, while its thread runs: a waiting thread may write in its place.
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
            recalls_credit: AtomicBool::new(false),
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
            pace: Pace::new(options.elapsed_us.clone()),
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

    /// Returns the position of the next frame.
    pub fn next(&self) -> Position {
        self.next.0.load(Ordering::SeqCst)
    }

    /// Returns the position below which everything is written to files.
    pub fn written(&self) -> Position {
        self.written.0.load(Ordering::SeqCst)
    }

    /// Returns the position below which everything is durable.
    pub fn durable(&self) -> Position {
        self.durable.load(Ordering::SeqCst)
    }

    /// Returns the history that this run writes.
    pub fn history(&self) -> History {
        self.history
    }

    /// Returns the sync policy.
    pub fn policy(&self) -> Policy {
        let policy = self.policy.load(Ordering::Relaxed);
        [Policy::Always, Policy::EverySec, Policy::Never][usize::from(policy)]
    }

    /// Changes the sync policy, from the writer's next step on.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy as u8, Ordering::SeqCst);
        if policy != Policy::EverySec {
            self.end_pace_sync();
        }
        self.writer.wake(Alert::Pressure);
    }

    /// Returns true if a write or a sync failed: nothing becomes durable any more.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::SeqCst)
    }

    /// Creates a log buffer for the calling thread. Its ring takes [`Options::log_buffer_bytes`](crate::Options) once
    /// used.
    pub fn log_buffer(self: &Arc<Self>) -> LogBuffer {
        let (producer, consumer) = ring(self.log_buffer_bytes);
        lock(&self.log_buffers).push(consumer);
        self.log_buffers_made.fetch_add(1, Ordering::SeqCst);
        let state = LogBufferState { journal: self.clone(), claimed_bytes: Cell::new(0), credit: Cell::new(0) };
        LogBuffer { producer, state: Rc::new(state), has_news: false, unannounced_bytes: 0, keeps_credit: false }
    }

    /// Adds a worker's notifier: it rings when the position it wants is durable, when the journal is poisoned, and when
    /// [`LogBuffer::keep_credit`] must end.
    pub fn add_notifier(&self, notifier: Arc<Notifier>) {
        lock(&self.bells).push(notifier);
    }

    /// Returns the position below which everything has reached the level.
    pub fn reached(&self, level: Level) -> Position {
        match level {
            Level::Written => self.written(),
            Level::Durable => self.durable(),
        }
    }

    /// Returns the level that a position seen by a reply must reach before the reply is sent, under the current policy.
    pub fn level(&self) -> Level {
        if self.policy() == Policy::Always { Level::Durable } else { Level::Written }
    }

    /// Writes short frames that were handed over, in the calling thread, which would otherwise wait for them. Does
    /// nothing if another thread is writing or someone waits for a sync; begins no segment. Never waits for another
    /// writer. O(bytes written), 256 KiB and a frame at most.
    pub fn write_here(&self) {
        if self.level() == Level::Written
            && let Ok(mut shared) = self.shared_writer.try_lock()
            && let Some(writer) = &mut *shared
        {
            writer.write_short();
        }
    }

    /// Writes short frames that were handed over, and makes everything below `position` durable, in the calling thread,
    /// under [`Policy::Always`]; or does nothing if another thread is writing, and no sync while frames below `position`
    /// are not written, nor while somebody else waits for one: then one sync is for all. For a caller that has nothing
    /// else to do until they are durable, and has not asked for it by [`Journal::want`].
    pub fn sync_here(&self, position: Position) {
        if self.level() == Level::Durable
            && self.wanted(Level::Durable, self.durable()).is_none()
            && let Ok(mut shared) = self.shared_writer.try_lock()
            && let Some(writer) = &mut *shared
        {
            writer.sync_short(position);
        }
    }

    /// Requests a ring of `notifier` once everything below `position` has reached `level`, whatever the policy: the
    /// writer writes or syncs for it. After [`Reached::There`] or [`Reached::Poisoned`] no ring follows, or a spurious
    /// one.
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

    /// Registers `waker` to be woken when room may be available. The caller must then try once more before it waits:
    /// the room may have come just before.
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
        self.pace.end();
        fence(Ordering::SeqCst);
        for notifier in &*lock(&self.bells) {
            notifier.notify();
        }
        self.notify_room();
    }

    pub(crate) fn notify_waiters(&self, level: Level, reached: Position) {
        for notifier in &*lock(&self.bells) {
            notifier.notify_at(level, reached);
        }
    }

    /// Returns the lowest position above `reached` that any notifier wants; rings notifiers that want less.
    pub(crate) fn wanted(&self, level: Level, reached: Position) -> Option<Position> {
        let wanted = |notifier: &Arc<Notifier>| {
            notifier.notify_at(level, reached);
            notifier.wanted(level)
        };
        lock(&self.bells).iter().filter_map(wanted).min()
    }

    /// Adds to the claimable room, or subtracts from it.
    pub(crate) fn add_room(&self, change: i64) {
        if change != 0 {
            self.free.0.fetch_add(change, Ordering::SeqCst);
        }
    }

    /// Frees the segment made for one long frame to be claimed by the next.
    pub(crate) fn end_own_claim(&self) {
        lock(&self.spare_pool).end_own_claim();
        self.notify_room();
    }

    /// Wakes all threads that wait for room, if any.
    pub(crate) fn notify_room(&self) {
        // Orders the new room before the check for waiters; pairs with the fence in `wait_room`.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) && self.waiting.swap(false, Ordering::SeqCst) {
            let waiters = std::mem::take(&mut *lock(&self.waiters));
            waiters.into_iter().for_each(Waker::wake);
        }
    }

    /// Returns true if log buffers must not keep room from turn to turn.
    fn recalls_credit(&self) -> bool {
        self.recalls_credit.load(Ordering::Relaxed) || self.is_low.load(Ordering::Relaxed)
    }

    /// Returns the most that a refill of a log buffer's credit adds to what it is needed for.
    fn credit_max(&self, kept_back: i64) -> i64 {
        let log_buffers_count = self.log_buffers_made.load(Ordering::Relaxed);
        CREDIT_MAX.min(kept_back / CREDITS_IN_KEPT.max(CREDITS_IN_KEPT_BY_LOG_BUFFER * log_buffers_count) as i64)
    }

    /// Makes all log buffers return the room that they keep, until there is a new segment.
    pub(crate) fn recall_credit(&self) {
        if !self.recalls_credit.swap(true, Ordering::SeqCst) {
            lock(&self.bells).iter().for_each(|notifier| notifier.notify());
        }
    }

    /// Lets log buffers keep room again.
    pub(crate) fn end_recall(&self) {
        self.recalls_credit.store(false, Ordering::SeqCst);
    }

    /// Takes `charge` from the free room if that leaves at least `kept_back`.
    pub(crate) fn take_room(&self, charge: i64, kept_back: i64) -> bool {
        let take = |free: i64| (free - charge >= kept_back).then(|| free - charge);
        self.free.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }

    /// Returns the reserve kept back from frames that grow data, for those that only remove: the worth of a first
    /// segment, or of a whole spare if there is no room for another.
    pub(crate) fn kept_back(&self) -> i64 {
        let least = self.room.kept_back();
        if !self.is_low.load(Ordering::Relaxed) {
            return least;
        }
        least.max(self.room.spare(self.spare_bytes_min.load(Ordering::Relaxed)))
    }

    /// Takes `charge` from the free room, or registers the demand.
    fn claim_room(&self, charge: i64, purpose: Purpose) -> Result<(), Refusal> {
        let kept_back = match purpose {
            Purpose::Grow => self.kept_back(),
            Purpose::Shrink => 0,
        };
        if self.take_room(charge, kept_back) {
            return Ok(());
        }
        self.recall_credit();
        self.asked.fetch_max(charge + kept_back, Ordering::SeqCst);
        if purpose == Purpose::Shrink {
            self.shrink_asked.fetch_max(charge, Ordering::SeqCst);
        }
        self.preallocator.wake(Alert::Pressure);
        // For frames that only remove, a spare of last resort is made when there is room for no other.
        let may_last = purpose == Purpose::Shrink && self.kept_free_bytes.is_some();
        let refused = if may_last { &self.is_spent } else { &self.full };
        Err(if refused.load(Ordering::SeqCst) { Refusal::Full } else { Refusal::Wait })
    }

    /// Returns true if so much is not yet durable that a sync is due before admission stops.
    pub(crate) fn is_half_behind(&self) -> bool {
        self.next() - self.durable() >= self.undurable_bytes_max / 2
    }

    /// Refuses a frame that must wait for the disk or for a release.
    fn check_pace(&self, purpose: Purpose) -> Result<(), Refusal> {
        let settled = if self.policy() == Policy::Never { &self.written.0 } else { &self.durable };
        let (settled, barrier) = (settled.load(Ordering::SeqCst), self.barrier.position(purpose));
        // Read last, so that the difference is never negative.
        let next = self.next();
        match () {
            () if next - settled < self.undurable_bytes_max && next < barrier => Ok(()),
            () if self.is_poisoned() => Err(Refusal::Poisoned),
            () if next >= barrier && self.barrier.is_failing() => Err(Refusal::Full),
            () => Err(Refusal::Wait),
        }
    }
}

/// The state in which an opened journal begins to write.
pub(crate) struct Begin {
    pub(crate) position: Position,
    pub(crate) history: History,
    pub(crate) seal: Seal,
    /// Bytes of the first new segment.
    pub(crate) bytes: u64,
    /// Bytes of the segment after it.
    pub(crate) spare_bytes: u64,
    /// It is smaller than segments may become.
    pub(crate) is_small: bool,
    pub(crate) segment_list: SegmentList,
}

/// One thread's buffer for handing over frames.
pub struct LogBuffer {
    producer: Producer,
    state: Rc<LogBufferState>,
    /// Frames were handed over that the writer may not know of.
    has_news: bool,
    /// Bytes handed over since the writer was last woken before its pace.
    unannounced_bytes: u64,
    keeps_credit: bool,
}

struct LogBufferState {
    journal: Arc<Journal>,
    /// Ring bytes held by claims.
    claimed_bytes: Cell<usize>,
    /// Room taken in advance for this turn's claims. Never from the reserve kept back: any frame may use it.
    credit: Cell<i64>,
}

/// The room that a claim, and later its ticket, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReservedRoom {
    payload_bytes: u64,
    ring_bytes: usize,
    charge: i64,
    /// The part of the charge not paid from the local credit.
    uncredited: i64,
    /// It holds the segment made for this one frame.
    own_segment: bool,
}

/// Room for one frame, claimed before its locks are taken. Returned on drop.
#[must_use]
pub struct Reservation {
    log_buffer: Rc<LogBufferState>,
    hold: ReservedRoom,
    purpose: Purpose,
}

/// A position taken: its frame must be handed over, or the journal stalls.
#[must_use]
#[derive(Debug)]
pub struct FrameSlot {
    /// Position at which the frame begins.
    pub position: Position,
    /// Position at which it ends: the shard's state depends on it from now on.
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
        let mut claim = Reservation { log_buffer: self.state.clone(), hold: ReservedRoom::default(), purpose };
        self.extend(&mut claim, payload_bytes, purpose)?;
        Ok(claim)
    }

    /// Adds room for `more_bytes` of payload to `claim`, which came from this log buffer.
    ///
    /// # Errors
    /// The claim is unchanged; see [`Refusal`].
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
            Ok(uncredited) => {
                self.state.claimed_bytes.update(|claimed| claimed + ring_more);
                let uncredited = claim.hold.uncredited + uncredited;
                claim.hold = ReservedRoom { payload_bytes, ring_bytes, charge, uncredited, own_segment };
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

    /// From now on, turns leave a little of the room they claimed for the next turn. Whoever calls this returns it by
    /// [`LogBuffer::return_recalled_credit`] when the thread's notifier rings.
    pub fn keep_credit(&mut self) {
        self.keeps_credit = true;
    }

    /// Returns room kept from earlier turns if a request elsewhere waits for room.
    pub fn return_recalled_credit(&mut self) {
        if self.state.journal.recalls_credit() {
            self.state.empty_credit();
        }
    }

    /// Takes the position of a finished frame: the last step under the locks. Never waits. O(1).
    ///
    /// # Panics
    /// If the payload is longer than claimed: the caller's bug.
    pub fn take(&mut self, mut claim: Reservation, payload_bytes: u64) -> FrameSlot {
        assert!(payload_bytes <= claim.hold.payload_bytes, "a frame longer than its claim");
        assert!(Rc::ptr_eq(&claim.log_buffer, &self.state), "a reservation in another log buffer");
        let (journal, frame_bytes) = (&*self.state.journal, HEAD_BYTES as u64 + payload_bytes);
        let position = journal.next.0.fetch_add(frame_bytes, Ordering::SeqCst);
        let hold = std::mem::take(&mut claim.hold);
        if hold.own_segment && !journal.room.is_small(payload_bytes) {
            lock(&journal.spare_pool).own_position = Some(position);
        }
        FrameSlot { position, end: position + frame_bytes, hold }
    }

    /// Hands over the frame of `ticket` and leaves `payload` empty: a short one is copied, a long one moved. The writer
    /// may stay asleep until [`LogBuffer::end_turn`].
    ///
    /// # Panics
    /// If the payload's length differs from the ticket's: the caller's bug.
    pub fn hand_over(&mut self, ticket: FrameSlot, time_ms: Ms, payload: &mut Vec<u8>) {
        let payload_bytes = ticket.check(payload.len() as u64);
        if payload.len() > INLINE_BYTES_MAX {
            // It waits for the disk, and only its length was admitted.
            if payload.capacity() > 2 * payload.len() {
                payload.shrink_to_fit();
            }
            self.producer.push_owned(ticket.position, time_ms, std::mem::take(payload));
        } else {
            self.producer.push(ticket.position, time_ms, payload);
            payload.clear();
        }
        self.settle(ticket, payload_bytes);
    }

    /// Hands over the frame of `ticket`, whose payload is built when the writer writes it. Otherwise as
    /// [`LogBuffer::hand_over`].
    ///
    /// # Panics
    /// If the payload's length differs from the ticket's: the caller's bug.
    pub fn hand_over_late(&mut self, ticket: FrameSlot, time_ms: Ms, payload: Late) {
        let payload_bytes = ticket.check(payload.bytes_count());
        self.producer.push_late(ticket.position, time_ms, payload);
        self.settle(ticket, payload_bytes);
    }

    fn settle(&mut self, ticket: FrameSlot, payload_bytes: u64) {
        let journal = &self.state.journal;
        self.has_news = true;
        self.unannounced_bytes += HEAD_BYTES as u64 + payload_bytes;
        if self.unannounced_bytes >= PRESSURE_BYTES {
            self.unannounced_bytes = 0;
            journal.writer.wake(Alert::Pressure);
        }
        let mut rest = ticket.hold;
        std::mem::forget(ticket);
        rest.charge -= journal.room.charge(payload_bytes, rest.own_segment);
        // Otherwise the writer returns it.
        rest.own_segment &= journal.room.is_small(payload_bytes);
        self.state.release(rest);
    }

    /// Notifies the writer of frames handed over, and returns unused room that is not kept. Call soon after a claim or a
    /// frame, once for many: each call costs more than a frame, since it touches memory shared between threads.
    pub fn end_turn(&mut self) {
        if !self.keeps_credit || self.state.journal.recalls_credit() || self.state.has_much_credit() {
            self.state.empty_credit();
        }
        if std::mem::take(&mut self.has_news) {
            self.state.journal.writer.wake(Alert::Frame);
        }
    }

    /// Returns the journal of this log buffer.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.state.journal
    }
}

impl LogBufferState {
    /// Takes `charge` from the local credit, refilled from the free room beyond the reserve; if that is too little,
    /// directly from the free room. Returns what the local credit did not pay.
    fn pay(&self, charge: i64, purpose: Purpose) -> Result<i64, Refusal> {
        let journal = &*self.journal;
        if self.credit.get() < charge {
            let kept_back = journal.kept_back();
            let filled = charge + journal.credit_max(kept_back);
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

    /// Returns true if the credit is greater than the next turn needs, as after a long claim for a short frame.
    fn has_much_credit(&self) -> bool {
        self.credit.get() > 2 * self.journal.credit_max(self.journal.kept_back())
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
    /// Returns the payload bytes that it holds room for.
    pub fn payload_bytes(&self) -> u64 {
        self.hold.payload_bytes
    }

    /// Returns the purpose for which it was claimed first.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.log_buffer.release(self.hold);
    }
}

impl FrameSlot {
    /// Returns the payload length after checking it against the ticket's.
    fn check(&self, payload_bytes: u64) -> u64 {
        assert_eq!(self.end - self.position, HEAD_BYTES as u64 + payload_bytes);
        payload_bytes
    }
}

impl Drop for FrameSlot {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the frame of the slot at {} was never submitted", self.position);
    }
}
