//! The preallocator: segments ahead of need, so that the writer never fills one in its own time; and where those go that
//! nobody needs any more.
//!
//! One spare is kept always, the room of last resort for frames that only take away. While frames come there are more,
//! up to [`SPARES_MAX`]; after [`IDLE_US`] without any all but one are given back. How many there should be is decided
//! by [`choose`], a pure function; the rest is dull.
//!
//! **They grow** ([`crate::room::grown`]): a spare is longer than the segment before it, up to
//! [`crate::Options::segment_bytes_max`]. They are begun in the order in which they were made, so none is smaller than the one
//! before it. A new journal has one spare at first ([`ROLLS_MIN`]). After a frame that is longer than the smallest spare, the
//! largest size is made at once, and smaller spares are given back.
//!
//! **Room is left to whoever releases segments** ([`crate::Options::kept_free_bytes`]). What frames say takes room elsewhere
//! before theirs can be released, so a disk that frames filled to the brim would stay full for ever. Where there is no
//! more room than that, only the spare of last resort is made, or as many as a long frame needs that only takes away;
//! frames that grow wait for a release, and are refused once one has ended that began since ([`Journal::end_release`]).
//! So does who only takes away, if a spare of last resort would take the room that the release needs.
//!
//! Released segments become spares where one is wanted: their room is claimed, and under [`Policy::Always`] need not be
//! filled. A few wait for that while frames come; the others are removed.

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

/// Spares at most.
const SPARES_MAX: usize = 4;
/// So many segments are begun in a new journal, with one spare, before there are more: each takes as long to make as many
/// writes, which come meanwhile.
const ROLLS_MIN: usize = 4;
/// The same of last resort: they hold the longest frame that needs no segment of its own.
const LAST_SPARES_MAX: usize = 3;
/// Released segments that wait to become spares, at most: they come many at a time, and are wanted one by one.
const RELEASED_MAX: usize = 8;
/// After so long without a frame, spares are given back.
const IDLE_US: u64 = 10_000_000;
/// How soon it tries again when the disk was full, or refused to give a segment back.
const RETRY_US: u64 = 250_000;
/// A tail of so many segments is worth a release, though the last one brought too little room.
const HOPED_SEGMENTS: u64 = 2;
/// How long it rests when nobody asks.
const REST_US: u64 = 1_000_000;
const ZEROS_BYTES: usize = 1 << 20;

/// The segments at hand.
pub(crate) struct SparePool {
    /// In the order in which they will be begun.
    pub(crate) spares: Vec<Spare>,
    /// Bytes of the next spare that is made. Only the preallocator changes it.
    pub(crate) segment_bytes: u64,
    segment_bytes_max: u64,
    /// The size that the preallocator takes next; raised by whoever needs a longer spare.
    segment_bytes_wanted: u64,
    /// Spares smaller than that are in somebody's way.
    is_outgrown: bool,
    /// How many there may be where none is lacking.
    spares_max: usize,
    /// Segments that are still to be begun before there may be more.
    rolls_left: usize,
    /// A segment made for one frame that is longer than the others, and whether a claim holds it.
    pub(crate) own: Option<Spare>,
    pub(crate) own_claimed: bool,
    /// The frame that it was claimed for, once it has its position.
    pub(crate) own_position: Option<Position>,
    /// Bytes of such a segment that somebody waits for, and that could not be made.
    own_wanted_bytes: u64,
    own_refused_bytes: u64,
}

/// A segment not yet begun.
pub(crate) struct Spare {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// It was a segment, whose bytes it still shows.
    pub(crate) is_recycled: bool,
}

impl SparePool {
    /// Without spares, the next of which has `segment_bytes`; `is_small` says that the journal is.
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

    /// The number of spares, and the bytes of all files.
    pub(crate) fn sums(&self) -> (u64, u64) {
        let bytes = self.spares.iter().chain(&self.own).map(|spare| spare.bytes).sum();
        (self.spares.len() as u64, bytes)
    }

    /// The segment to begin next, which claims have made sure is there.
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

    /// A spare was made. The next one may be longer.
    fn add(&mut self, spare: Spare) {
        self.spares.push(spare);
        self.segment_bytes_wanted = self.segment_bytes_wanted.max(grown(self.segment_bytes, self.segment_bytes_max));
    }

    /// Bytes of the segment that comes after the current one.
    fn spare_bytes(&self) -> u64 {
        self.spares.first().map_or(self.segment_bytes, |spare| spare.bytes)
    }

    /// The segment made for one long frame may be claimed for another.
    pub(crate) fn end_own_claim(&mut self) {
        (self.own_claimed, self.own_position) = (false, None);
    }

    /// Claims the segment for one long frame, or asks for it to be made. One claim at a time holds it.
    pub(crate) fn claim_own(&mut self, bytes: u64, is_mine: bool) -> Result<(), Refusal> {
        // Who has such frames has more of them, for which segments of the largest size may do.
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
            // The next one to ask has it tried again.
            self.own_refused_bytes = 0;
            return Err(Refusal::Full);
        }
        self.own_wanted_bytes = self.own_wanted_bytes.max(bytes);
        Err(Refusal::Wait)
    }
}

/// Makes spares and gives them back; stepped by a thread of its own.
pub struct Preallocator {
    journal: Arc<Journal>,
    elapsed_us: ElapsedUs,
    spares_made: u64,
    /// The disk refused the last spare, whatever it tells of its room.
    was_refused: bool,
    /// Room is lacking to frames that grow, to a spare of last resort, to the segment of one long frame.
    grow_lack: Lack,
    last_lack: LastLack,
    own_lack: Lack,
    retry_at_us: u64,
    /// The same for the segment of one long frame.
    own_retry_at_us: u64,
    release_at_us: u64,
    asked_at_us: u64,
}

/// Room that is lacking, since when: so many releases had begun.
#[derive(Default)]
struct Lack(Option<u64>);

impl Lack {
    /// Whether a release may bring the room: none has ended that began since. Asks for one if none has.
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

    /// As [`Self::is_hoped`], and once more if much has come since.
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

/// Room for a spare of last resort that is lacking, and whether one release was in vain: the first may have met frames that
/// grew meanwhile, and what is taken after it is lacking to the next.
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

/// What the number of spares calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// A spare of a released segment.
    Recycle,
    /// A spare.
    Make,
    /// A released segment.
    Remove,
    /// The smallest spare.
    GiveBack,
    Nothing,
}

struct State {
    spares: usize,
    /// How many there may be where none is lacking.
    spares_max: usize,
    /// The first spare is smaller than the next that is made, and in somebody's way.
    is_outgrown: bool,
    /// The last one is not.
    is_replaced: bool,
    /// Segments that may leave.
    released: usize,
    /// Somebody lacks room on the disk.
    is_pressed: bool,
    /// There is room for a spare beside what is kept free.
    has_room: bool,
    free: i64,
    asked: i64,
    /// By somebody who only takes away.
    shrink_asked: i64,
    /// What a spare is worth.
    worth: i64,
    /// Time since a frame was written, or refused for want of room.
    since_use_us: u64,
    /// Time since a segment was last begun; the younger, the faster they fill.
    since_roll_us: u64,
}

/// The spares that are made where there is no room.
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

    /// Makes or gives back at most one segment. Says how many microseconds it may rest; `None`: there is more to do.
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

    /// Frames that grow have no room: they wait for a release, or are refused.
    fn press(&mut self) {
        let is_hoped = self.grow_lack.is_hoped_again(&self.journal);
        if self.journal.full.swap(!is_hoped, Ordering::SeqCst) == is_hoped {
            self.journal.notify_room();
        }
    }

    /// Room may have come of itself, or of a release, while no spare was wanted.
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

    /// Whether there is something to do now; looked at between arming and resting.
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

    /// Gives the oldest released segment back, as a spare if that is wanted, with room or without. If that fails it is tried
    /// again later.
    fn release(&mut self, now_us: u64, wanted: Option<bool>) -> bool {
        // None: somebody has begun to read since.
        let Some(leaver) = lock(&self.journal.segment_list).leaver() else { return false };
        let wanted = wanted.filter(|_| leaver.bytes == self.journal.segment_bytes());
        let left = match wanted {
            Some(has_room) => self.recycle(leaver, has_room),
            None => self.remove_segment(leaver),
        };
        match left {
            // Where it is not found somebody else has removed it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => self.release_at_us = now_us + RETRY_US,
            _ => {
                lock(&self.journal.segment_list).has_left();
                // Where the disk was full there is room now.
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
        // A copy of the folder may have lost the room it does not use.
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
            // Lost if raised meanwhile: whoever was refused asks again when woken.
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
        // Looked at only when it matters.
        let looked = match choose(&state) {
            Choice::Recycle => Some(self.has_room(0)),
            Choice::Make => Some(self.has_room(segment_bytes)),
            _ => None,
        };
        if let Some(has_room) = looked {
            state.has_room = has_room;
            journal.is_low.store(!has_room || self.was_refused, Ordering::Relaxed);
        }
        state
    }

    /// Whether there is room for a file that takes `bytes`, and for frames in it, beside what is kept free.
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
                journal.is_low.store(true, Ordering::Relaxed);
                journal.is_spent.store(!self.last_lack.is_hoped(&journal), Ordering::SeqCst);
                if journal.asked.load(Ordering::SeqCst) > journal.free.0.load(Ordering::SeqCst) {
                    self.press();
                }
                journal.notify_room();
                false
            }
        }
    }

    /// Whether there is room for a spare of last resort. It leaves something, too: without a release it would not last. And as
    /// long as one is hoped for, what that may write: as much as all frames have, those in this spare, too.
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
        // Zeros would only be written over by one write: allocated room serves a single long frame as well.
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

    /// Gives the smallest spare back, unless frames that grow need its room.
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

    /// A spare that cannot be removed now is removed at the next start.
    fn remove(&self, spare: Spare) {
        drop(spare.file);
        let _ = self.journal.disk.remove(&self.journal.folder.join(spare.name));
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }
}

impl Journal {
    /// Bytes of the next spare that is made.
    pub(crate) fn segment_bytes(&self) -> u64 {
        lock(&self.spare_pool).segment_bytes
    }

    /// The segment to begin next: that made for one frame, or the first spare.
    pub(crate) fn take_spare(&self, is_own: bool) -> Spare {
        let mut spare_pool = lock(&self.spare_pool);
        let spare = spare_pool.take(is_own);
        self.note_spares(&spare_pool);
        spare
    }

    /// Whether the frame at `position` has claimed the segment made for one.
    pub(crate) fn has_own_segment(&self, position: Position, payload_bytes: u64) -> bool {
        !self.room.is_small(payload_bytes) && lock(&self.spare_pool).own_position == Some(position)
    }

    /// Lets spares from now on be as long as is wanted. How many there may be, the bytes of the next one, and whether the first
    /// is smaller than that and in somebody's way, and the last is not.
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

/// Makes a file of `bytes` whose room is claimed; `filled`: with zeros written and synced. Leaves none behind if it
/// fails.
pub(crate) fn make_file(disk: &dyn Disk, folder: &Path, name: String, bytes: u64, filled: bool) -> io::Result<Spare> {
    let path = folder.join(&name);
    let mut file = disk.create(&path)?;
    let made = file.allocate(bytes).and_then(|()| if filled { fill(&mut *file, bytes) } else { Ok(()) });
    match made {
        Ok(()) => Ok(Spare { file, name, bytes, is_recycled: false }),
        Err(error) => {
            drop(file);
            // What stays behind is removed at the next start.
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

/// Removes what makers of earlier runs left.
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
    fn spares_follow_the_load() {
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
    fn spares_that_are_in_the_way_are_replaced() {
        let outgrown = |is_replaced, state| choose(&State { is_outgrown: true, is_replaced, ..state });
        assert_eq!(outgrown(false, state(4, 10, 0, 0, 0)), Choice::Make);
        assert_eq!(outgrown(true, state(5, 10, 0, 0, 0)), Choice::GiveBack);
        assert_eq!(outgrown(true, state(2, 10, 0, 0, 0)), Choice::Make);
        assert_eq!(outgrown(false, State { has_room: false, ..state(1, 10, 0, 0, 0) }), Choice::Nothing);
    }

    #[test]
    fn released_segments_wait_to_be_wanted_while_frames_come() {
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
    fn without_room_there_is_only_the_last_resort() {
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
