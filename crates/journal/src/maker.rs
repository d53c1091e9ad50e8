//! The maker: segments ahead of need, so that the writer never fills one in its own time.
//!
//! One spare is kept always, the room of last resort for frames that only take away. While frames come there are more,
//! up to [`SPARES_MAX`]; after [`IDLE_US`] without any all but one are given back. How many there should be is decided
//! by [`choose`], a pure function; the rest is dull.

use crate::front::Journal;
use crate::{ElapsedUs, OpenError, Policy, Refusal};
use base::disk::{Disk, DiskFile};
use std::io;
use std::path::Path;
use std::sync::Arc;
use sync::primitives::atomic::Ordering;
use sync::primitives::lock;

/// Spares at most.
const SPARES_MAX: usize = 4;
/// After so long without a frame, spares are given back.
const IDLE_US: u64 = 10_000_000;
/// How soon it tries again when the disk was full.
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
}

impl Depot {
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
    asked_at_us: u64,
}

/// What the number of spares calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Make,
    GiveBack,
    Nothing,
}

struct State {
    spares: usize,
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
    match state.spares {
        spares if spares < wanted => Choice::Make,
        spares if is_idle && spares > wanted => Choice::GiveBack,
        _ => Choice::Nothing,
    }
}

impl Maker {
    pub(crate) fn new(journal: Arc<Journal>, elapsed_us: ElapsedUs) -> Self {
        Self { journal, elapsed_us, spares_made: 0, retry_at_us: 0, asked_at_us: 0 }
    }

    /// Makes or gives back at most one segment. Says how many microseconds it may rest; `None`: there is more to do.
    pub fn step(&mut self) -> Option<u64> {
        let now_us = (self.elapsed_us)();
        if self.make_own() {
            return None;
        }
        match choose(&self.state(now_us)) {
            Choice::Make if now_us < self.retry_at_us => return Some(self.retry_at_us - now_us),
            Choice::Make => {
                if !self.make_spare() {
                    self.retry_at_us = now_us + RETRY_US;
                    return Some(RETRY_US);
                }
                return None;
            }
            Choice::GiveBack if self.give_back() => return None,
            Choice::GiveBack | Choice::Nothing => {}
        }
        self.give_back_own(now_us);
        Some(REST_US)
    }

    /// Whether there is something to do now; looked at between arming and resting.
    pub(crate) fn has_news(&mut self) -> bool {
        let now_us = (self.elapsed_us)();
        let is_own_wanted = lock(&self.journal.depot).own_wanted_bytes != 0;
        is_own_wanted || now_us >= self.retry_at_us && choose(&self.state(now_us)) == Choice::Make
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
        State {
            spares: lock(&journal.depot).spares.len(),
            free,
            asked,
            since_use_us: now_us.saturating_sub(used_at_us),
            since_roll_us: now_us.saturating_sub(journal.counters.last_roll_us.load(Ordering::Relaxed)),
        }
    }

    fn make_spare(&mut self) -> bool {
        let journal = self.journal.clone();
        let made = self.make(journal.room.segment_bytes, journal.policy() == Policy::Always);
        let is_made = made.is_ok();
        if let Ok(spare) = made {
            lock(&journal.depot).spares.push(spare);
            journal.add_room(journal.room.spare());
        }
        journal.full.store(!is_made, Ordering::SeqCst);
        journal.notify_room();
        is_made
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
        self.spares_made += 1;
        let name = format!("spare-{}.log", self.spares_made);
        make_file(&*self.journal.disk, &self.journal.folder, name, bytes, filled)
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
        Ok(()) => Ok(Spare { file, name, bytes }),
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
        State { spares, free, asked, since_use_us, since_roll_us }
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
}
