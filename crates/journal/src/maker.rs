//! The maker: segments ahead of need, so that the writer never fills one in its own time; and where those go that
//! nobody needs any more.
//!
//! One spare is kept always, the room of last resort for frames that only take away. While frames come there are more,
//! up to [`SPARES_MAX`]; after [`IDLE_US`] without any all but one are given back. How many there should be is decided
//! by [`choose`], a pure function; the rest is dull.
//!
//! Released segments become spares where one is wanted: their room is claimed, and under [`Policy::Always`] need not be
//! filled. A few wait for that while frames come; the others are removed.

use crate::format::segment_name;
use crate::front::Journal;
use crate::shelf::Kept;
use crate::{ElapsedUs, OpenError, Policy, Refusal};
use base::disk::{Disk, DiskFile};
use std::io;
use std::path::Path;
use std::sync::Arc;
use sync::primitives::atomic::Ordering;
use sync::primitives::lock;

/// Spares at most.
const SPARES_MAX: usize = 4;
/// Released segments that wait to become spares, at most: they come many at a time, and are wanted one by one.
const RELEASED_MAX: usize = 8;
/// After so long without a frame, spares are given back.
const IDLE_US: u64 = 10_000_000;
/// How soon it tries again when the disk was full, or refused to give a segment back.
const RETRY_US: u64 = 250_000;
/// How long it rests when nobody asks.
const REST_US: u64 = 1_000_000;
const ZEROS_BYTES: usize = 1 << 20;

/// The segments at hand.
#[derive(Default)]
pub(crate) struct Depot {
    pub(crate) spares: Vec<Spare>,
    /// A segment made for one frame that is longer than the others, and whether a claim holds it.
    pub(crate) own: Option<Spare>,
    pub(crate) own_claimed: bool,
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

impl Depot {
    /// The number of spares, and the bytes of all files.
    pub(crate) fn sums(&self) -> (u64, u64) {
        let bytes = self.spares.iter().chain(&self.own).map(|spare| spare.bytes).sum();
        (self.spares.len() as u64, bytes)
    }

    /// The segment to begin next, which claims have made sure is there.
    pub(crate) fn take(&mut self, is_own: bool) -> Spare {
        if is_own {
            self.own_claimed = false;
            return self.own.take().expect("a claim holds the segment made for its frame");
        }
        assert!(!self.spares.is_empty(), "frames were admitted beyond the room of the segments at hand");
        self.spares.remove(0)
    }

    /// Claims the segment for one long frame, or asks for it to be made. One claim at a time holds it.
    pub(crate) fn claim_own(&mut self, bytes: u64, is_mine: bool) -> Result<(), Refusal> {
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
pub struct Maker {
    journal: Arc<Journal>,
    elapsed_us: ElapsedUs,
    spares_made: u64,
    retry_at_us: u64,
    release_at_us: u64,
    asked_at_us: u64,
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
    /// A spare.
    GiveBack,
    Nothing,
}

struct State {
    spares: usize,
    /// Segments that may leave.
    released: usize,
    /// Somebody lacks room on the disk.
    is_pressed: bool,
    free: i64,
    asked: i64,
    /// Time since a frame was written, or refused for want of room.
    since_use_us: u64,
    /// Time since a segment was last begun; the younger, the faster they fill.
    since_roll_us: u64,
}

fn choose(state: &State) -> Choice {
    let is_short = state.asked > state.free;
    let is_idle = state.since_use_us >= IDLE_US && !is_short;
    let wanted = match () {
        () if is_short => SPARES_MAX,
        () if is_idle => 1,
        () if state.since_roll_us < IDLE_US => SPARES_MAX,
        () => 2,
    };
    let released_max = if is_idle || state.is_pressed { 0 } else { RELEASED_MAX };
    match state.spares {
        spares if spares < wanted && state.released > 0 => Choice::Recycle,
        spares if spares < wanted => Choice::Make,
        _ if state.released > released_max => Choice::Remove,
        spares if is_idle && spares > wanted => Choice::GiveBack,
        _ => Choice::Nothing,
    }
}

impl Maker {
    pub(crate) fn new(journal: Arc<Journal>, elapsed_us: ElapsedUs) -> Self {
        Self { journal, elapsed_us, spares_made: 0, retry_at_us: 0, release_at_us: 0, asked_at_us: 0 }
    }

    /// Makes or gives back at most one segment. Says how many microseconds it may rest; `None`: there is more to do.
    pub fn step(&mut self) -> Option<u64> {
        let now_us = (self.elapsed_us)();
        if self.make_own() {
            return None;
        }
        let rest_us = match self.release_at_us.saturating_sub(now_us) {
            0 => REST_US,
            us => us,
        };
        let is_done = match choose(&self.state(now_us)) {
            Choice::Make if now_us < self.retry_at_us => return Some(rest_us.min(self.retry_at_us - now_us)),
            Choice::Make => {
                if !self.make_spare() {
                    self.retry_at_us = now_us + RETRY_US;
                    return Some(rest_us.min(RETRY_US));
                }
                true
            }
            Choice::Recycle => self.release(now_us, true),
            Choice::Remove => self.release(now_us, false),
            Choice::GiveBack => self.give_back(),
            Choice::Nothing => false,
        };
        if is_done {
            return None;
        }
        self.give_back_own(now_us);
        Some(rest_us)
    }

    /// Whether there is something to do now; looked at between arming and resting.
    pub(crate) fn has_news(&mut self) -> bool {
        let now_us = (self.elapsed_us)();
        let is_own_wanted = lock(&self.journal.depot).own_wanted_bytes != 0;
        let is_due = match choose(&self.state(now_us)) {
            Choice::Make => now_us >= self.retry_at_us,
            Choice::Recycle | Choice::Remove => true,
            Choice::GiveBack | Choice::Nothing => false,
        };
        is_own_wanted || is_due
    }

    /// Gives the oldest released segment back. If that fails it is tried again later.
    fn release(&mut self, now_us: u64, is_wanted: bool) -> bool {
        // None: somebody has begun to read since.
        let Some(leaver) = lock(&self.journal.shelf).leaver() else { return false };
        let is_spare = is_wanted && leaver.bytes == self.journal.room.segment_bytes;
        match if is_spare { self.recycle(leaver) } else { self.remove_segment(leaver) } {
            // Where it is not found somebody else has removed it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => self.release_at_us = now_us + RETRY_US,
            _ => {
                lock(&self.journal.shelf).has_left();
                // Where the disk was full there is room now.
                self.retry_at_us = 0;
            }
        }
        true
    }

    /// Makes a spare of a segment.
    fn recycle(&mut self, leaver: Kept) -> io::Result<()> {
        let journal = self.journal.clone();
        let path = journal.folder.join(segment_name(leaver.number));
        let name = self.spare_name();
        let mut file = journal.disk.open(&path)?;
        // A copy of the folder may have lost the room it does not use.
        file.allocate(leaver.bytes)?;
        journal.disk.rename(&path, &journal.folder.join(&name))?;
        self.add_spare(Spare { file, name, bytes: leaver.bytes, is_recycled: true });
        journal.counters.recycled.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn remove_segment(&self, leaver: Kept) -> io::Result<()> {
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
        let used_at_us = journal.counters.last_write_us.load(Ordering::Relaxed).max(self.asked_at_us);
        let is_refused = now_us < self.release_at_us;
        State {
            spares: lock(&journal.depot).spares.len(),
            released: if is_refused { 0 } else { lock(&journal.shelf).leavers_count() },
            is_pressed: journal.barrier.is_failing(),
            free,
            asked,
            since_use_us: now_us.saturating_sub(used_at_us),
            since_roll_us: now_us.saturating_sub(journal.counters.last_roll_us.load(Ordering::Relaxed)),
        }
    }

    fn make_spare(&mut self) -> bool {
        let journal = self.journal.clone();
        let made = self.make(journal.room.segment_bytes, journal.policy() == Policy::Always);
        match made {
            Ok(spare) => {
                self.add_spare(spare);
                true
            }
            Err(_) => {
                journal.full.store(true, Ordering::SeqCst);
                journal.notify_room();
                false
            }
        }
    }

    fn add_spare(&self, spare: Spare) {
        let journal = &*self.journal;
        lock(&journal.depot).spares.push(spare);
        journal.add_room(journal.room.spare());
        journal.full.store(false, Ordering::SeqCst);
        journal.notify_room();
    }

    fn make_own(&mut self) -> bool {
        let journal = self.journal.clone();
        let bytes = std::mem::take(&mut lock(&journal.depot).own_wanted_bytes);
        if bytes == 0 {
            return false;
        }
        // Zeros would only be written over by one write: allocated room serves a single long frame as well.
        let made = self.make(bytes, false);
        let mut depot = lock(&journal.depot);
        let replaced = match made {
            Ok(own) => depot.own.replace(own),
            Err(_) => {
                depot.own_refused_bytes = bytes;
                None
            }
        };
        drop(depot);
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

    /// Gives one spare back, unless frames that grow need its room.
    fn give_back(&mut self) -> bool {
        let journal = &self.journal;
        let worth = journal.room.spare();
        let mut depot = lock(&journal.depot);
        let take = |free: i64| (free - worth >= worth).then(|| free - worth);
        if depot.spares.len() < 2 || journal.free.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            return false;
        }
        let spare = depot.spares.pop();
        drop(depot);
        spare.into_iter().for_each(|spare| self.remove(spare));
        true
    }

    fn give_back_own(&mut self, now_us: u64) {
        let journal = &self.journal;
        if now_us.saturating_sub(journal.counters.last_write_us.load(Ordering::Relaxed)) < IDLE_US {
            return;
        }
        let mut depot = lock(&journal.depot);
        let own = if depot.own_claimed { None } else { depot.own.take() };
        drop(depot);
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
        State { spares, released: 0, is_pressed: false, free, asked, since_use_us, since_roll_us }
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
        ] {
            assert_eq!(choose(&state), choice);
        }
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
}
