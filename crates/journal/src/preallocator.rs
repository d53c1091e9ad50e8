//! The preallocator: makes segments ahead of need, so that the writer never has to, and recycles or removes released
//! ones.
//!
//! One spare is always kept, as a last resort for frames that only remove data. While frames arrive there are more, up
//! to [`SPARES_MAX`]; after [`IDLE_US`] without frames all but one are removed. The pure function [`choose`] decides
//! how many there should be.
//!
//! **Spares grow** ([`crate::room::grown`]): each is longer than the segment before it, up to
//! [`crate::Options::segment_bytes_max`]. They are used in the order made, so none is smaller than its predecessor. A
//! new journal has one spare at first ([`ROLLS_MIN`]). A frame longer than the smallest spare switches to the maximum
//! size at once, and smaller spares are removed.
//!
//! **Space is reserved for releases** ([`crate::Options::kept_free_bytes`]). The data of frames takes space in the
//! store before the frames can be released, so a disk filled by frames would stay full forever. When only the reserve
//! is left, only the spare of last resort is made, or as many as a long frame needs that only removes; frames that grow
//! data wait for a release, and are refused once a release has ended that began after their wait
//! ([`Journal::end_release`]). So is a frame that only removes, if a spare of last resort would take the space that the
//! release needs.
//!
//! Released segments become spares when one is wanted: their space is already claimed, and under [`Policy::Always`]
//! needs no zero-filling. A few are kept for that while frames arrive; the others are removed.

use crate::format::segment_name;
use crate::journal::Journal;
use crate::room::grown;
use crate::segment_list::SegmentFile;
use crate::{ElapsedUs, OpenError, Policy, Refusal};
use base::Position;
use base::disk::{Disk, DiskFile};
use std::io;
use std::path::Path;
use std::sync::Arc;
use sync::primitives::atomic::Ordering;
use sync::primitives::lock;

/// Maximum number of spares.
const SPARES_MAX: usize = 4;
/// Segments begun in a new journal, with one spare, before more spares are made: making each takes as long as many
/// writes, which arrive meanwhile.
const ROLLS_MIN: usize = 4;
/// Maximum spares of last resort: they hold the longest frame that needs no segment of its own.
const LAST_SPARES_MAX: usize = 3;
/// Maximum released segments kept to become spares: many are released at once, but spares are wanted one by one.
const RELEASED_MAX: usize = 8;
/// Idle time without frames after which spares are removed.
const IDLE_US: u64 = 10_000_000;
/// Retry delay after the disk was full, or refused to remove a segment.
const RETRY_US: u64 = 250_000;
/// Tail length in segments that makes another release worthwhile, though the last one freed too little.
const HOPED_SEGMENTS: u64 = 2;
/// Rest when idle.
const REST_US: u64 = 1_000_000;
const ZEROS_BYTES: usize = 1 << 20;

/// The segments at hand.
pub(crate) struct SparePool {
    /// In order of use.
    pub(crate) spares: Vec<Spare>,
    /// Bytes of the next spare. Changed only by the preallocator.
    pub(crate) segment_bytes: u64,
    segment_bytes_max: u64,
    /// The size the preallocator switches to next; raised by threads that need a longer spare.
    segment_bytes_wanted: u64,
    /// Spares smaller than that block a frame.
    is_outgrown: bool,
    /// Maximum number of spares in normal operation.
    spares_max: usize,
    /// Segments yet to be begun before that number may rise.
    rolls_left: usize,
    /// The segment made for one frame longer than the others, and whether it is claimed.
    pub(crate) own: Option<Spare>,
    pub(crate) own_claimed: bool,
    /// Position of the frame that claimed it, once taken.
    pub(crate) own_position: Option<Position>,
    /// Bytes of such a segment that is waited for, and of the last one that could not be made.
    own_wanted_bytes: u64,
    own_refused_bytes: u64,
}

/// A segment not yet in use.
pub(crate) struct Spare {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// It is a recycled segment and still has its old bytes.
    pub(crate) is_recycled: bool,
}

impl SparePool {
    /// Creates a pool without spares; the next one has `segment_bytes`. `is_small`: the journal is small.
    pub(crate) fn new(segment_bytes: u64, segment_bytes_max: u64, is_small: bool) -> Self {
        let (spares_max, rolls_left) = if is_small { (1, ROLLS_MIN) } else { (SPARES_MAX, 0) };
        Self {
            spares_max,
            rolls_left,
            spares: Vec::new(),
            segment_bytes,
            segment_bytes_max,
            segment_bytes_wanted: segment_bytes,
            is_outgrown: false,
            own: None,
            own_claimed: false,
            own_position: None,
            own_wanted_bytes: 0,
            own_refused_bytes: 0,
        }
    }

    /// Returns the number of spares, and the total bytes of their files.
    pub(crate) fn sums(&self) -> (u64, u64) {
        let bytes = self.spares.iter().chain(&self.own).map(|spare| spare.bytes).sum();
        (self.spares.len() as u64, bytes)
    }

    /// Takes the next segment; claims guarantee that there is one.
    fn take(&mut self, is_own: bool) -> Spare {
        if is_own {
            return self.own.take().expect("a claim holds the segment made for its frame");
        }
        assert!(!self.spares.is_empty(), "frames were admitted beyond the room of the segments at hand");
        match self.rolls_left {
            0 => self.spares_max = (self.spares_max + 1).min(SPARES_MAX),
            _ => self.rolls_left -= 1,
        }
        self.spares.remove(0)
    }

    /// Adds a spare. The next one may be longer.
    fn add(&mut self, spare: Spare) {
        self.spares.push(spare);
        self.segment_bytes_wanted = self.segment_bytes_wanted.max(grown(self.segment_bytes, self.segment_bytes_max));
    }

    /// Returns the bytes of the segment after the current one.
    fn spare_bytes(&self) -> u64 {
        self.spares.first().map_or(self.segment_bytes, |spare| spare.bytes)
    }

    /// Frees the segment made for one long frame to be claimed by another.
    pub(crate) fn end_own_claim(&mut self) {
        (self.own_claimed, self.own_position) = (false, None);
    }

    /// Claims the segment for one long frame, or requests it. Only one claim holds it at a time.
    pub(crate) fn claim_own(&mut self, bytes: u64, is_mine: bool) -> Result<(), Refusal> {
        // Such frames rarely come alone; segments of the maximum size may do for the next ones.
        self.segment_bytes_wanted = self.segment_bytes_max;
        self.is_outgrown = true;
        if self.own_claimed && !is_mine {
            return Err(Refusal::Wait);
        }
        if self.own.as_ref().is_some_and(|own| own.bytes >= bytes) {
            self.own_claimed = true;
            return Ok(());
        }
        if self.own_refused_bytes != 0 && self.own_refused_bytes <= bytes {
            // The next request makes it retry.
            self.own_refused_bytes = 0;
            return Err(Refusal::Full);
        }
        self.own_wanted_bytes = self.own_wanted_bytes.max(bytes);
        Err(Refusal::Wait)
    }
}

/// Makes and removes spares; stepped by its own thread.
pub struct Preallocator {
    journal: Arc<Journal>,
    elapsed_us: ElapsedUs,
    spares_made: u64,
    /// The disk refused the last spare, whatever free space it reports.
    was_refused: bool,
    /// Room missing for frames that grow data, for a spare of last resort, and for the segment of one long frame.
    grow_lack: Lack,
    last_lack: LastLack,
    own_lack: Lack,
    retry_at_us: u64,
    /// The same for the segment of one long frame.
    own_retry_at_us: u64,
    release_at_us: u64,
    asked_at_us: u64,
}

/// Missing room, with the number of releases begun when it was first missing.
#[derive(Default)]
struct Lack(Option<u64>);

impl Lack {
    /// Returns true if a release may bring the room: none has ended that began since. Requests one if none has begun.
    fn is_hoped(&mut self, journal: &Journal) -> bool {
        let begun = journal.releases_begun.load(Ordering::SeqCst);
        let since = *self.0.get_or_insert(begun);
        if journal.kept_free_bytes.is_none() || journal.releases_ended.load(Ordering::SeqCst) > since {
            return false;
        }
        if begun == since {
            journal.is_pressed.store(true, Ordering::SeqCst);
        }
        true
    }

    /// As [`Self::is_hoped`], and once more if the tail has grown long since.
    fn is_hoped_again(&mut self, journal: &Journal) -> bool {
        if self.is_hoped(journal) {
            return true;
        }
        let is_long = journal.tail_bytes(journal.released()) >= HOPED_SEGMENTS * journal.segment_bytes();
        if is_long && !journal.barrier.is_failing() {
            self.0 = None;
        }
        is_long && self.is_hoped(journal)
    }
}

/// Missing room for a spare of last resort, and whether one release already failed to bring it: that one may have met
/// frames that grew data meanwhile, and space taken after it is missing for the next.
#[derive(Default)]
struct LastLack(Lack, bool);

impl LastLack {
    fn is_hoped(&mut self, journal: &Journal) -> bool {
        if self.0.is_hoped_again(journal) {
            return true;
        }
        if !std::mem::replace(&mut self.1, true) {
            self.0 = Lack::default();
        }
        self.0.is_hoped(journal)
    }
}

/// The next action on spares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Make a spare of a released segment.
    Recycle,
    /// Make a spare.
    Make,
    /// Remove a released segment.
    Remove,
    /// Remove the smallest spare.
    GiveBack,
    Nothing,
}

struct State {
    spares: usize,
    /// Maximum number of spares in normal operation.
    spares_max: usize,
    /// The first spare is smaller than the next one to be made, and blocks a frame.
    is_outgrown: bool,
    /// The last spare has the new size.
    is_replaced: bool,
    /// Number of segments that may be released.
    released: usize,
    /// A frame lacks room on the disk.
    is_pressed: bool,
    /// There is space for a spare beyond the reserve.
    has_room: bool,
    free: i64,
    asked: i64,
    /// Demand of frames that only remove.
    shrink_asked: i64,
    /// Worth of a spare.
    worth: i64,
    /// Time since a frame was written, or refused for lack of room.
    since_use_us: u64,
    /// Time since a segment was last begun; the shorter, the faster they fill.
    since_roll_us: u64,
}

/// Returns the number of spares to make when space is short.
fn last_spares(state: &State) -> usize {
    let lacking = (state.shrink_asked - state.free).max(0) as u64;
    let more = lacking.div_ceil(state.worth.max(1) as u64) as usize;
    if more == 0 { 1 } else { (state.spares + more).clamp(1, LAST_SPARES_MAX) }
}

fn choose(state: &State) -> Choice {
    let is_short = state.asked > state.free;
    let is_idle = state.since_use_us >= IDLE_US && !is_short;
    let wanted = match () {
        () if !state.has_room => last_spares(state),
        () if is_short => SPARES_MAX,
        () if is_idle => 1,
        () if state.since_roll_us < IDLE_US => state.spares_max,
        () => state.spares_max.min(2),
    };
    let is_lacking = state.spares < wanted || state.is_outgrown && !state.is_replaced && state.has_room;
    let released_max = if is_idle || state.is_pressed || !state.has_room { 0 } else { RELEASED_MAX };
    match state.spares {
        _ if is_lacking && state.released > 0 => Choice::Recycle,
        _ if is_lacking => Choice::Make,
        _ if state.released > released_max => Choice::Remove,
        spares if is_idle && spares > wanted => Choice::GiveBack,
        _ if state.is_outgrown && state.is_replaced => Choice::GiveBack,
        _ => Choice::Nothing,
    }
}

impl Preallocator {
    pub(crate) fn new(journal: Arc<Journal>, elapsed_us: ElapsedUs) -> Self {
        Self {
            journal,
            elapsed_us,
            spares_made: 0,
            was_refused: false,
            grow_lack: Lack::default(),
            last_lack: LastLack::default(),
            own_lack: Lack::default(),
            retry_at_us: 0,
            own_retry_at_us: 0,
            release_at_us: 0,
            asked_at_us: 0,
        }
    }

    /// Makes or removes at most one segment. Returns how many microseconds it may rest; `None` if there is more to do.
    pub fn step(&mut self) -> Option<u64> {
        let now_us = (self.elapsed_us)();
        if self.make_own(now_us) {
            return None;
        }
        let due_us = [self.release_at_us, self.own_retry_at_us].into_iter().filter(|&at_us| at_us > now_us);
        let rest_us = due_us.min().map_or(REST_US, |at_us| at_us - now_us);
        let state = self.state(now_us);
        self.look_for_room();
        let is_done = match choose(&state) {
            Choice::Make if now_us < self.retry_at_us => return Some(rest_us.min(self.retry_at_us - now_us)),
            Choice::Make => {
                if !self.make_spare(state.has_room) {
                    self.retry_at_us = now_us + RETRY_US;
                    return Some(rest_us.min(RETRY_US));
                }
                true
            }
            Choice::Recycle => self.release(now_us, Some(state.has_room)),
            Choice::Remove => self.release(now_us, None),
            Choice::GiveBack => self.give_back(),
            Choice::Nothing => false,
        };
        if is_done {
            return None;
        }
        self.give_back_own(now_us);
        if !state.has_room && state.asked > state.free {
            self.press();
            return Some(rest_us.min(RETRY_US));
        }
        Some(rest_us)
    }

    /// Frames that grow data have no room: makes them wait for a release, or refuses them.
    fn press(&mut self) {
        let is_hoped = self.grow_lack.is_hoped_again(&self.journal);
        if self.journal.full.swap(!is_hoped, Ordering::SeqCst) == is_hoped {
            self.journal.notify_room();
        }
    }

    /// Checks for room that came by itself or from a release while no spare was wanted.
    fn look_for_room(&mut self) {
        if self.grow_lack.0.is_some() && !self.was_refused && self.has_room(self.journal.segment_bytes()) {
            self.forget_full();
            self.journal.notify_room();
        }
    }

    fn forget_full(&mut self) {
        self.grow_lack = Lack::default();
        self.journal.full.store(false, Ordering::SeqCst);
        self.journal.is_low.store(false, Ordering::Relaxed);
    }

    /// Returns true if there is something to do now; checked between arming and resting.
    pub(crate) fn has_news(&mut self) -> bool {
        let now_us = (self.elapsed_us)();
        let is_own_wanted = now_us >= self.own_retry_at_us && lock(&self.journal.spare_pool).own_wanted_bytes != 0;
        let is_due = match choose(&self.state(now_us)) {
            Choice::Make => now_us >= self.retry_at_us,
            Choice::Recycle | Choice::Remove => true,
            Choice::GiveBack | Choice::Nothing => false,
        };
        is_own_wanted || is_due
    }

    /// Releases the oldest released segment, as a spare if wanted, with or without room. Retries later on failure.
    fn release(&mut self, now_us: u64, wanted: Option<bool>) -> bool {
        // `None` if a reader has begun since.
        let Some(leaver) = lock(&self.journal.segment_list).leaver() else { return false };
        let wanted = wanted.filter(|_| leaver.bytes == self.journal.segment_bytes());
        let left = match wanted {
            Some(has_room) => self.recycle(leaver, has_room),
            None => self.remove_segment(leaver),
        };
        match left {
            // If it does not exist, it has already been removed.
            Err(error) if error.kind() != io::ErrorKind::NotFound => self.release_at_us = now_us + RETRY_US,
            _ => {
                lock(&self.journal.segment_list).has_left();
                // The full disk has room now.
                (self.retry_at_us, self.own_retry_at_us) = (0, 0);
            }
        }
        true
    }

    /// Makes a spare of a segment.
    fn recycle(&mut self, leaver: SegmentFile, has_room: bool) -> io::Result<()> {
        let journal = self.journal.clone();
        let path = journal.folder.join(segment_name(leaver.number));
        let name = self.spare_name();
        let mut file = journal.disk.open(&path)?;
        // Copying the folder may have lost unused allocated space.
        file.allocate(leaver.bytes)?;
        journal.disk.rename(&path, &journal.folder.join(&name))?;
        self.add_spare(Spare { file, name, bytes: leaver.bytes, is_recycled: true }, has_room);
        journal.counters.recycled.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn remove_segment(&self, leaver: SegmentFile) -> io::Result<()> {
        self.journal.disk.remove(&self.journal.folder.join(segment_name(leaver.number)))?;
        self.journal.counters.removed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn state(&mut self, now_us: u64) -> State {
        let journal = &*self.journal;
        let free = journal.free.0.load(Ordering::SeqCst);
        let asked = journal.asked.load(Ordering::SeqCst);
        if asked > free {
            self.asked_at_us = now_us;
        }
        if asked != 0 && asked <= free {
            // May lose a concurrent increase: a refused thread asks again when woken.
            journal.asked.store(0, Ordering::SeqCst);
            journal.notify_room();
        }
        let shrink_asked = journal.shrink_asked.load(Ordering::SeqCst);
        if shrink_asked != 0 && shrink_asked <= free {
            journal.shrink_asked.store(0, Ordering::SeqCst);
            journal.notify_room();
        }
        let used_at_us = journal.counters.last_write_us.load(Ordering::Relaxed).max(self.asked_at_us);
        let is_refused = now_us < self.release_at_us;
        let (spares_max, segment_bytes, [is_outgrown, is_replaced]) = journal.grow_segments();
        let mut state = State {
            spares: lock(&journal.spare_pool).spares.len(),
            spares_max,
            is_outgrown,
            is_replaced,
            released: if is_refused { 0 } else { lock(&journal.segment_list).leavers_count() },
            is_pressed: journal.barrier.is_failing(),
            has_room: true,
            free,
            asked,
            shrink_asked,
            worth: journal.room.spare(segment_bytes),
            since_use_us: now_us.saturating_sub(used_at_us),
            since_roll_us: now_us.saturating_sub(journal.counters.last_roll_us.load(Ordering::Relaxed)),
        };
        // Checked only when it matters.
        let looked = match choose(&state) {
            Choice::Recycle => Some(self.has_room(0)),
            Choice::Make => Some(self.has_room(segment_bytes)),
            _ => None,
        };
        if let Some(has_room) = looked {
            state.has_room = has_room;
            self.set_low(!has_room || self.was_refused);
        }
        state
    }

    /// Notes that the disk has room for another spare, or has not; then workers return the room that they keep.
    fn set_low(&self, is_low: bool) {
        self.journal.is_low.store(is_low, Ordering::Relaxed);
        if is_low {
            self.journal.recall_credit();
        }
    }

    /// Returns true if there is space for a file of `bytes`, and for the data of its frames, beyond the reserve.
    fn has_room(&self, bytes: u64) -> bool {
        let journal = &*self.journal;
        let Some(kept_bytes) = journal.kept_free_bytes else { return true };
        let segment_bytes = journal.segment_bytes();
        let tail_bytes = journal.tail_bytes(journal.released());
        let frames_bytes = tail_bytes + journal.ahead_bytes() + bytes.max(segment_bytes);
        journal.disk.free_bytes(&journal.folder) >= bytes.saturating_add(kept_bytes + frames_bytes)
    }

    fn make_spare(&mut self, has_room: bool) -> bool {
        let journal = self.journal.clone();
        let bytes = journal.segment_bytes();
        let may_make = has_room || self.has_last_room(bytes);
        match may_make.then(|| self.make(bytes, journal.policy() == Policy::Always)) {
            Some(Ok(spare)) => {
                self.was_refused = false;
                self.add_spare(spare, has_room);
                true
            }
            failed => {
                self.was_refused |= failed.is_some();
                self.set_low(true);
                journal.is_spent.store(!self.last_lack.is_hoped(&journal), Ordering::SeqCst);
                if journal.asked.load(Ordering::SeqCst) > journal.free.0.load(Ordering::SeqCst) {
                    self.press();
                }
                journal.notify_room();
                false
            }
        }
    }

    /// Returns true if there is space for a spare of last resort. Leaves some margin, since without a release it would
    /// not last; and while a release is hoped for, the space it may write: as much as all frames have, including those
    /// in this spare.
    fn has_last_room(&mut self, bytes: u64) -> bool {
        let journal = self.journal.clone();
        let free_bytes = journal.disk.free_bytes(&journal.folder);
        let left_bytes = bytes + journal.kept_free_bytes.unwrap_or(0) / 2;
        let frames_bytes = journal.tail_bytes(journal.released()) + bytes;
        free_bytes >= left_bytes + frames_bytes || free_bytes >= left_bytes && !self.last_lack.is_hoped(&journal)
    }

    fn add_spare(&mut self, spare: Spare, has_room: bool) {
        let journal = self.journal.clone();
        let worth = journal.room.spare(spare.bytes);
        lock(&journal.spare_pool).add(spare);
        journal.add_room(worth);
        self.last_lack = LastLack::default();
        journal.end_recall();
        journal.is_spent.store(false, Ordering::SeqCst);
        if has_room {
            self.forget_full();
        }
        journal.notify_room();
    }

    fn make_own(&mut self, now_us: u64) -> bool {
        if now_us < self.own_retry_at_us {
            return false;
        }
        let journal = self.journal.clone();
        let bytes = std::mem::take(&mut lock(&journal.spare_pool).own_wanted_bytes);
        if bytes == 0 {
            return false;
        }
        let has_room = self.has_room(bytes);
        if !has_room && self.own_lack.is_hoped(&journal) {
            lock(&journal.spare_pool).own_wanted_bytes = bytes;
            self.own_retry_at_us = now_us + RETRY_US;
            return false;
        }
        self.own_lack = Lack::default();
        // Zero-filling does not pay for a single write: allocated space serves one long frame as well.
        let made = has_room.then(|| self.make(bytes, false));
        let mut spare_pool = lock(&journal.spare_pool);
        let replaced = match made {
            Some(Ok(own)) => spare_pool.own.replace(own),
            Some(Err(_)) | None => {
                spare_pool.own_refused_bytes = bytes;
                None
            }
        };
        drop(spare_pool);
        if let Some(small) = replaced {
            self.remove(small);
        }
        journal.notify_room();
        true
    }

    fn make(&mut self, bytes: u64, filled: bool) -> io::Result<Spare> {
        let name = self.spare_name();
        make_file(&*self.journal.disk, &self.journal.folder, name, bytes, filled)
    }

    fn spare_name(&mut self) -> String {
        self.spares_made += 1;
        format!("spare-{}.log", self.spares_made)
    }

    /// Removes the smallest spare, unless frames that grow data need its room.
    fn give_back(&mut self) -> bool {
        let journal = &self.journal;
        let spare = {
            let mut spare_pool = lock(&journal.spare_pool);
            let [first, _, ..] = &spare_pool.spares[..] else { return false };
            if !journal.take_room(journal.room.spare(first.bytes), journal.kept_back()) {
                return false;
            }
            let spare = spare_pool.spares.remove(0);
            journal.note_spares(&spare_pool);
            spare
        };
        self.remove(spare);
        true
    }

    fn give_back_own(&mut self, now_us: u64) {
        let journal = &self.journal;
        if now_us.saturating_sub(journal.counters.last_write_us.load(Ordering::Relaxed)) < IDLE_US {
            return;
        }
        let mut spare_pool = lock(&journal.spare_pool);
        let own = if spare_pool.own_claimed { None } else { spare_pool.own.take() };
        drop(spare_pool);
        own.into_iter().for_each(|own| self.remove(own));
    }

    /// Removes a spare; one that cannot be removed now is removed at the next start.
    fn remove(&self, spare: Spare) {
        drop(spare.file);
        let _ = self.journal.disk.remove(&self.journal.folder.join(spare.name));
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }
}

impl Journal {
    /// Returns the bytes of the next spare.
    pub(crate) fn segment_bytes(&self) -> u64 {
        lock(&self.spare_pool).segment_bytes
    }

    /// Takes the next segment: the one made for this frame, or the first spare.
    pub(crate) fn take_spare(&self, is_own: bool) -> Spare {
        let mut spare_pool = lock(&self.spare_pool);
        let spare = spare_pool.take(is_own);
        self.note_spares(&spare_pool);
        spare
    }

    /// Returns true if the frame at `position` has claimed the segment made for one.
    pub(crate) fn has_own_segment(&self, position: Position, payload_bytes: u64) -> bool {
        !self.room.is_small(payload_bytes) && lock(&self.spare_pool).own_position == Some(position)
    }

    /// Adopts the wanted size for future spares. Returns the maximum number of spares, the bytes of the next one,
    /// whether the first is smaller than that and blocks a frame, and whether the last has the new size.
    fn grow_segments(&self) -> (usize, u64, [bool; 2]) {
        let mut spare_pool = lock(&self.spare_pool);
        spare_pool.segment_bytes = spare_pool.segment_bytes_wanted;
        self.note_spares(&spare_pool);
        let bytes = spare_pool.segment_bytes;
        spare_pool.is_outgrown &= spare_pool.spare_bytes() < bytes;
        let is_replaced = spare_pool.spares.last().is_some_and(|spare| spare.bytes == bytes);
        (spare_pool.spares_max, bytes, [spare_pool.is_outgrown, is_replaced])
    }

    fn note_spares(&self, spare_pool: &SparePool) {
        self.spare_bytes_min.store(spare_pool.spare_bytes(), Ordering::SeqCst);
    }
}

/// Creates a file of `bytes` with its space claimed; if `filled`, with zeros written and synced. Removes the file on
/// failure.
pub(crate) fn make_file(disk: &dyn Disk, folder: &Path, name: String, bytes: u64, filled: bool) -> io::Result<Spare> {
    let path = folder.join(&name);
    let mut file = disk.create(&path)?;
    let made = file.allocate(bytes).and_then(|()| if filled { fill(&mut *file, bytes) } else { Ok(()) });
    match made {
        Ok(()) => Ok(Spare { file, name, bytes, is_recycled: false }),
        Err(error) => {
            drop(file);
            // A leftover is removed at the next start.
            let _ = disk.remove(&path);
            Err(error)
        }
    }
}

fn fill(file: &mut dyn DiskFile, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; ZEROS_BYTES.min(bytes as usize)];
    let mut offset = 0;
    while offset < bytes {
        let count = (bytes - offset).min(zeros.len() as u64);
        file.write_at(&zeros[..count as usize], offset)?;
        offset += count;
    }
    file.sync()
}

/// Removes unfinished files of earlier runs.
pub(crate) fn remove_leftovers(disk: &dyn Disk, folder: &Path, names: &[String]) -> Result<(), OpenError> {
    for name in names.iter().filter(|name| name.starts_with("spare-") && name.ends_with(".log")) {
        let path = folder.join(name);
        disk.remove(&path).map_err(OpenError::io(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(spares: usize, free: i64, asked: i64, since_use_us: u64, since_roll_us: u64) -> State {
        State {
            spares,
            spares_max: SPARES_MAX,
            is_outgrown: false,
            is_replaced: false,
            released: 0,
            is_pressed: false,
            has_room: true,
            free,
            asked,
            shrink_asked: 0,
            worth: 10,
            since_use_us,
            since_roll_us,
        }
    }

    #[test]
    fn the_number_of_spares_follows_the_load() {
        let (now, long) = (0, IDLE_US);
        for (state, choice) in [
            (state(0, 0, 0, long, long), Choice::Make),
            (state(1, 10, 0, long, long), Choice::Nothing),
            (state(1, 10, 0, now, long), Choice::Make),
            (state(2, 10, 0, now, long), Choice::Nothing),
            (state(2, 10, 0, now, now), Choice::Make),
            (state(4, 10, 0, now, now), Choice::Nothing),
            (state(2, 10, 11, now, long), Choice::Make),
            (state(4, 10, 11, now, now), Choice::Nothing),
            (state(1, 10, 11, long, long), Choice::Make),
            (state(3, 10, 0, long, now), Choice::GiveBack),
            (state(3, 10, 10, long, long), Choice::GiveBack),
            (State { spares_max: 1, ..state(0, 0, 0, now, now) }, Choice::Make),
            (State { spares_max: 1, ..state(1, 10, 0, now, now) }, Choice::Nothing),
            (State { spares_max: 1, ..state(1, 10, 11, now, now) }, Choice::Make),
        ] {
            assert_eq!(choose(&state), choice);
        }
    }

    #[test]
    fn outgrown_spares_are_replaced() {
        let outgrown = |is_replaced, state| choose(&State { is_outgrown: true, is_replaced, ..state });
        assert_eq!(outgrown(false, state(4, 10, 0, 0, 0)), Choice::Make);
        assert_eq!(outgrown(true, state(5, 10, 0, 0, 0)), Choice::GiveBack);
        assert_eq!(outgrown(true, state(2, 10, 0, 0, 0)), Choice::Make);
        assert_eq!(outgrown(false, State { has_room: false, ..state(1, 10, 0, 0, 0) }), Choice::Nothing);
    }

    #[test]
    fn released_segments_are_kept_for_reuse_under_load() {
        let (now, long) = (0, IDLE_US);
        let released = |released, state| choose(&State { released, ..state });
        assert_eq!(released(1, state(3, 10, 0, now, now)), Choice::Recycle);
        assert_eq!(released(1, state(0, 0, 0, long, long)), Choice::Recycle);
        assert_eq!(released(RELEASED_MAX, state(4, 10, 0, now, now)), Choice::Nothing);
        assert_eq!(released(RELEASED_MAX + 1, state(4, 10, 0, now, now)), Choice::Remove);
        assert_eq!(released(1, state(4, 10, 0, long, long)), Choice::Remove);
        assert_eq!(released(1, State { is_pressed: true, ..state(4, 10, 0, now, now) }), Choice::Remove);
    }

    #[test]
    fn a_full_disk_allows_only_spares_of_last_resort() {
        let now = 0;
        let short = |spares, released| State { released, has_room: false, ..state(spares, 10, 11, now, now) };
        assert_eq!(choose(&short(0, 0)), Choice::Make);
        assert_eq!(choose(&short(0, 1)), Choice::Recycle);
        assert_eq!(choose(&short(1, 0)), Choice::Nothing);
        assert_eq!(choose(&short(1, 1)), Choice::Remove);
        let long = |spares, shrink_asked| choose(&State { shrink_asked, ..short(spares, 0) });
        assert_eq!(long(1, 10), Choice::Nothing);
        assert_eq!(long(1, 11), Choice::Make);
        assert_eq!(long(2, 21), Choice::Make);
        assert_eq!(long(3, 21), Choice::Nothing);
    }
}
