//! The key index: on request, the names of each table in byte order.
//!
//! ```text
//! writer, adds or removes a name     notes it in its section, under the shard's lock, and raises the shard's flag
//!                                                        |
//! reader, or background thread       notes --> taken --> changes, sorted --> names of a table   under the index's lock
//! ```
//!
//! When off, it costs a pointer test per name added or removed. It is built shard by shard: note-taking starts first,
//! then the existing entries are scanned. Everything read of a shard enters the index in the order read, so the last
//! known state of a name counts. A tx in progress, or being undone, holds its shards, so its notes cannot be taken
//! before it is over.
//!
//! An expired key stays in the index until it is removed. So each shard publishes a time before which nothing in it
//! falls due: usually the expire cycle has kept up, and a name needs no look-up to be shown.
//!
//! A reader of a page first takes the notes of all shards flagged at that moment, so the page contains every earlier
//! change. A page has names and their types; deadlines are in the shards.
//!
//! The backlog of notes not yet indexed is bounded: above the bound, a writer first indexes some, step by step, before
//! it holds any shard, until it is below. So the backlog never exceeds the bound plus what commands already running
//! add: one command (or transaction) per worker. During the build the bound is higher, since notes wait for names being
//! sorted; then it falls with the backlog to its final value.

mod changes;
mod chunk;
mod names;
#[cfg(test)]
mod tests;

pub(crate) use changes::{Flags, IndexDeltas, NotesTaken};
pub use names::{Page, Span};

use crate::{Keyspace, OF_SERVER, ShardState, TableId, kind_of};
use base::Ms;
use base::limits::SHARDS;
use base::primitives::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use base::primitives::{Mutex, MutexGuard};
use changes::{Changes, ShardBits};
use names::{Names, Scratch};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, TryLockError};

/// Notes sorted per batch, and their bytes: some 100 µs.
const NOTES_SORTED: usize = 500;
const NOTES_SORTED_BYTES: usize = 64 << 10;
/// Changes made per batch: some 150 µs if each is in another chunk of a large index.
const CHANGES_MADE: usize = 100;
/// Shards whose notes are taken per batch: some 200 µs.
const SHARDS_TAKEN: usize = 256;
/// The backlog bound in bytes: some thousand names, which a reader indexes within milliseconds.
const BACKLOG_BYTES_MAX: u64 = 64 << 10;
/// The bound during the build.
const BUILDING_BACKLOG_BYTES_MAX: u64 = 2 << 20;
/// Bytes by which the bound falls per step at the end of the build: half the size of the notes indexed per step.
const LOWERED_BYTES: u64 = 2 << 10;
/// Divisor of the bound: above that share, notes are indexed between scans.
const SOON_BEHIND: u64 = 4;
/// Entries of a shard scanned under one hold.
const ENTRIES_SEEN: usize = 512;
/// Names sorted together during the build (fewer when many notes arrive meanwhile), and their bytes.
const FOUND_MAX: usize = 200_000;
const FOUND_MIN: usize = 20_000;
/// Names scanned per note indexed under heavy writes: more than arrive, so that the build ends.
const FOUND_PER_NOTE: usize = 4;
const FOUND_BYTES_MAX: usize = 16 << 20;
/// Bytes of names in a page, give or take a name.
const PAGE_BYTES_MAX: usize = 64 << 10;

/// State of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// Not requested.
    Off,
    /// Being built: percent done.
    Building(u64),
    /// Ready.
    On,
}

/// The result of a background step.
pub enum IndexStep {
    /// There is nothing to do.
    Idle,
    /// There is more to do.
    More,
    /// A needed lock is held.
    Blocked,
    /// Names to be sorted outside the gate and returned.
    Sort(Found),
    /// Unneeded names, to be dropped where there is time.
    Garbage(Box<dyn std::any::Any + Send>),
}

/// Names found in shards.
pub struct Found {
    changes: Changes,
    built: u64,
}

impl Found {
    /// Sorts them. Takes tens of milliseconds; needs no lock.
    pub fn sort(&mut self) {
        self.changes.sort();
    }
}

/// The result of requesting a page.
pub enum OrderTurn {
    /// The page; only an empty one means that nothing follows.
    Page(Page),
    /// Yield to others, then call again.
    Again,
    /// This shard is held.
    Locked(usize),
    /// There is no index.
    Not(IndexState),
}

/// A reader's progress in catching up with everything done before its request.
#[derive(Default)]
pub struct CatchUp {
    stage: IndexStage,
    built: u64,
}

#[derive(Default)]
enum IndexStage {
    #[default]
    New,
    /// Notes of these shards are yet to be taken.
    Taking(ShardBits),
    /// Notes taken up to this number are yet to be indexed.
    Waiting(u64),
    Done,
}

/// The key index of all tables.
pub struct KeyOrder {
    flags: Arc<Flags>,
    is_wanted: AtomicBool,
    is_on: AtomicBool,
    /// Progress of the build, in percent.
    progress: AtomicU64,
    count: AtomicU64,
    bytes: AtomicU64,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    phase: Phase,
    /// Number of builds begun: names found for an earlier one are void.
    built: u64,
    tables: BTreeMap<TableId, Names>,
    /// Notes taken, and how many bytes of the first have been read into the changes.
    taken: VecDeque<(TableId, NotesTaken)>,
    read_bytes: usize,
    /// Number of notes taken, and number indexed.
    came: u64,
    done: u64,
    changes: Changes,
    /// The first change not yet made.
    at: usize,
    scratch: Scratch,
    garbage: Vec<BTreeMap<TableId, Names>>,
}

#[derive(Default)]
enum Phase {
    #[default]
    Off,
    /// Shards from this one on have yet to start taking notes.
    Noting(usize),
    Building(Box<Building>),
    /// All names are found; the notes made meanwhile are being indexed.
    Ending,
    On,
    /// Shards from this one on have yet to stop taking notes.
    Stopping(usize),
}

#[derive(Default)]
struct Building {
    shard: usize,
    /// Tables of the shard yet to be scanned, last first.
    tables: Option<Vec<TableId>>,
    from_hash: u64,
    found: Changes,
    /// Backlog steps left before more names are scanned.
    drains_left: usize,
    /// The names found are being sorted elsewhere.
    is_lent: bool,
}

impl Default for KeyOrder {
    fn default() -> Self {
        Self {
            flags: Arc::default(),
            is_wanted: AtomicBool::new(false),
            is_on: AtomicBool::new(false),
            progress: AtomicU64::new(0),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            index: Mutex::default(),
        }
    }
}

impl KeyOrder {
    /// Requests or releases the index.
    pub fn want(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Release);
    }

    /// Returns the state.
    pub fn state(&self) -> IndexState {
        match (self.is_wanted.load(Acquire), self.is_on.load(Acquire)) {
            (false, _) => IndexState::Off,
            (true, false) => IndexState::Building(self.progress.load(Relaxed)),
            (true, true) => IndexState::On,
        }
    }

    /// Returns the number of names in it and its heap bytes.
    pub fn figures(&self) -> (u64, u64) {
        (self.count.load(Relaxed), self.bytes.load(Relaxed))
    }

    /// Returns true if no key of the shard has expired at `now`, so that names on a page need no look-up.
    pub fn is_live(&self, shard: usize, now: Ms) -> bool {
        self.flags.none_is_due(shard, now)
    }

    /// Returns true if writers are to help first: see [`Keyspace::help_order`].
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.flags.backlog_bytes() > self.flags.backlog_bytes_max()
    }

    /// Returns the bytes of notes not yet indexed.
    pub fn backlog_bytes(&self) -> u64 {
        self.flags.backlog_bytes()
    }

    fn is_soon_behind(&self) -> bool {
        self.flags.backlog_bytes() > self.flags.backlog_bytes_max() / SOON_BEHIND
    }

    /// Starts over after all keys were exchanged. The caller holds the gate.
    pub(crate) fn restart(&self) {
        let mut index = self.lock();
        self.is_on.store(false, Release);
        if !matches!(index.phase, Phase::Off | Phase::Stopping(_)) {
            index.forget(&self.flags);
            index.phase = Phase::Noting(0);
            self.flags.set_backlog_bytes_max(BUILDING_BACKLOG_BYTES_MAX);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().expect("no holder panics")
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Index>> {
        match self.index.try_lock() {
            Ok(index) => Some(index),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => unreachable!("no holder panics"),
        }
    }

    fn publish_figures(&self, index: &Index) {
        self.count.store(index.tables.values().map(Names::count).sum(), Relaxed);
        let bytes = self.flags.backlog_bytes() + index.changes.heap_bytes() as u64;
        self.bytes.store(bytes + index.tables.values().map(Names::heap_bytes).sum::<u64>(), Relaxed);
    }
}

impl Index {
    fn forget(&mut self, flags: &Flags) {
        let tables = std::mem::take(&mut self.tables);
        self.garbage.push(tables);
        self.built += 1;
        self.taken.drain(..).for_each(|(_, notes)| flags.note_done(notes.backlog_bytes));
        self.read_bytes = 0;
        self.changes = Changes::default();
        self.at = 0;
        self.done = self.came;
    }

    /// Returns true if all that was found or taken is indexed.
    fn is_made(&self) -> bool {
        self.at == self.changes.len() && self.taken.is_empty()
    }

    /// Takes the notes of a shard that the caller holds.
    fn take(&mut self, flags: &Flags, shard: usize, state: &mut ShardState) {
        let before = self.taken.len();
        self.taken.extend(state.take_name_notes());
        self.came += (self.taken.len() - before) as u64;
        flags.lower(shard);
    }

    /// Takes the notes of the free ones among `shards`, a batch at a time.
    fn take_free(&mut self, keyspace: &Keyspace, shards: &mut ShardBits) -> Taking {
        let (mut rest, mut locked, mut left) = (*shards, None, SHARDS_TAKEN);
        while let Some(shard) = rest.first() {
            if left == 0 {
                return Taking::More;
            }
            rest.remove(shard);
            let state = keyspace.order.flags.is_raised(shard).then(|| keyspace.shard(shard).try_write());
            match state {
                Some(None) => locked = locked.or(Some(shard)),
                Some(Some(mut state)) => {
                    self.take(&keyspace.order.flags, shard, &mut state);
                    shards.remove(shard);
                    left -= 1;
                }
                // Already taken by someone else.
                None => shards.remove(shard),
            }
        }
        locked.map_or(Taking::Over, Taking::Locked)
    }

    /// Indexes some notes, or takes more.
    fn drain(&mut self, keyspace: &Keyspace) -> IndexStep {
        if !self.make(&keyspace.order.flags, CHANGES_MADE) {
            return IndexStep::More;
        }
        let came = self.came;
        match self.take_free(keyspace, &mut keyspace.order.flags.all()) {
            _ if self.came > came => IndexStep::More,
            Taking::Over | Taking::More => IndexStep::Idle,
            Taking::Locked(_) => IndexStep::Blocked,
        }
    }

    /// Makes some changes, or sorts the next batch of taken notes. Returns true if all are made.
    fn make(&mut self, flags: &Flags, changes_max: usize) -> bool {
        if self.at == self.changes.len() && !self.taken.is_empty() {
            self.read_notes(flags);
            return false;
        }
        let until = self.at.saturating_add(changes_max);
        while self.at < self.changes.len().min(until) {
            let (table, ..) = self.changes.get(self.at);
            let names = self.tables.entry(table).or_default();
            self.at = names.apply(&self.changes, self.at, &mut self.scratch);
        }
        if self.at < self.changes.len() {
            return false;
        }
        // The first taken entry may have more notes to read.
        self.done = self.came - self.taken.len() as u64;
        self.taken.is_empty()
    }

    /// Moves notes into the changes.
    fn read_notes(&mut self, flags: &Flags) {
        self.changes.clear();
        self.at = 0;
        while let Some((table, notes)) = self.taken.front() {
            let mut rest = &notes.bytes[self.read_bytes..];
            while self.changes.len() < NOTES_SORTED
                && self.changes.heap_bytes() < NOTES_SORTED_BYTES
                && self.changes.read(*table, &mut rest)
            {}
            self.read_bytes = notes.bytes.len() - rest.len();
            if !rest.is_empty() {
                break;
            }
            flags.note_done(notes.backlog_bytes);
            self.taken.pop_front();
            self.read_bytes = 0;
        }
        self.changes.sort();
    }

    /// Advances for a reader; `None` once everything done before its request is indexed.
    fn catch_up(&mut self, keyspace: &Keyspace, reader: &mut CatchUp) -> Option<OrderTurn> {
        if reader.built != self.built {
            *reader = CatchUp { stage: IndexStage::New, built: self.built };
        }
        if matches!(reader.stage, IndexStage::New) {
            reader.stage = IndexStage::Taking(keyspace.order.flags.all());
        }
        if let IndexStage::Taking(shards) = &mut reader.stage {
            match self.take_free(keyspace, shards) {
                Taking::Over => {}
                Taking::More => return Some(OrderTurn::Again),
                Taking::Locked(shard) => return Some(OrderTurn::Locked(shard)),
            }
            reader.stage = IndexStage::Waiting(self.came);
        }
        if let IndexStage::Waiting(came) = reader.stage {
            if self.done < came {
                self.make(&keyspace.order.flags, CHANGES_MADE);
                keyspace.order.publish_figures(self);
            }
            if self.done < came {
                return Some(OrderTurn::Again);
            }
            reader.stage = IndexStage::Done;
        }
        None
    }

    fn page(&self, table: TableId, span: &Span, names_max: usize) -> Page {
        self.tables.get(&table).map_or_else(Page::default, |names| names.page(span, names_max, PAGE_BYTES_MAX))
    }
}

impl Keyspace {
    /// Returns the key index.
    pub fn order(&self) -> &KeyOrder {
        &self.order
    }

    /// Returns the first names of `span` in the table, or why not yet. Works for some 500 µs. The caller is inside the
    /// gate and holds no shard.
    pub fn order_page(&self, table: TableId, span: &Span, names_max: usize, reader: &mut CatchUp) -> OrderTurn {
        let state = self.order.state();
        if state != IndexState::On {
            return OrderTurn::Not(state);
        }
        let Some(mut index) = self.order.try_lock() else { return OrderTurn::Again };
        if !matches!(index.phase, Phase::On) {
            return OrderTurn::Not(self.order.state());
        }
        match index.catch_up(self, reader) {
            Some(turn) => turn,
            None => OrderTurn::Page(index.page(table, span, names_max)),
        }
    }

    /// As [`Keyspace::order_page`], for a tx that holds the gate; `take` runs on shard states.
    pub(crate) fn order_page_gated(
        &self,
        table: TableId,
        span: &Span,
        names_max: usize,
        mut take: impl FnMut(usize, &mut dyn FnMut(&mut ShardState)),
    ) -> Result<Page, IndexState> {
        let state = self.order.state();
        let mut index = self.order.lock();
        if state != IndexState::On || !matches!(index.phase, Phase::On) {
            return Err(state);
        }
        let mut shards = self.order.flags.all();
        while let Some(shard) = shards.first() {
            take(shard, &mut |state| index.take(&self.order.flags, shard, state));
            shards.remove(shard);
        }
        while !index.make(&self.order.flags, usize::MAX) {}
        self.order.publish_figures(&index);
        Ok(index.page(table, span, names_max))
    }

    /// Runs one step for a writer while the index lags: as [`Keyspace::step_order`], but returns nothing to sort.
    pub fn help_order(&self) -> IndexStep {
        self.step(false)
    }

    /// Runs one background step of building, maintaining or dropping the index. Works for some 500 µs at most. The
    /// caller is inside the gate and holds no shard.
    pub fn step_order(&self) -> IndexStep {
        self.step(true)
    }

    fn step(&self, may_sort: bool) -> IndexStep {
        let is_wanted = self.order.is_wanted.load(Acquire);
        let Some(mut index) = self.order.try_lock() else { return IndexStep::Blocked };
        if let Some(garbage) = index.garbage.pop().filter(|garbage| !garbage.is_empty()) {
            return IndexStep::Garbage(Box::new(garbage));
        }
        let index = &mut *index;
        if !is_wanted && !matches!(index.phase, Phase::Off | Phase::Stopping(_)) {
            self.order.is_on.store(false, Release);
            index.forget(&self.order.flags);
            index.phase = Phase::Stopping(0);
            self.order.flags.set_backlog_bytes_max(u64::MAX);
        }
        let is_made = index.is_made();
        let step = match &mut index.phase {
            Phase::Off if is_wanted => {
                self.order.progress.store(0, Relaxed);
                index.forget(&self.order.flags);
                index.phase = Phase::Noting(0);
                self.order.flags.set_backlog_bytes_max(BUILDING_BACKLOG_BYTES_MAX);
                IndexStep::More
            }
            Phase::Off => return IndexStep::Idle,
            Phase::Noting(shard) => {
                let step = self.set_noting(shard, Some(&self.order.flags));
                if *shard == SHARDS {
                    index.phase = Phase::Building(Box::default());
                }
                // Unloaded shards can block it here for long.
                if matches!(step, IndexStep::Blocked) { index.drain(self) } else { step }
            }
            Phase::Stopping(shard) => {
                let step = self.set_noting(shard, None);
                if *shard == SHARDS {
                    index.phase = Phase::Off;
                }
                step
            }
            Phase::Building(building) => match building.step(self, is_made, may_sort) {
                Some(BuildingStep::Sort(changes)) => {
                    return IndexStep::Sort(Found { changes, built: index.built });
                }
                Some(BuildingStep::Over) => {
                    index.phase = Phase::Ending;
                    IndexStep::More
                }
                Some(BuildingStep::Blocked) => IndexStep::Blocked,
                Some(BuildingStep::More) => IndexStep::More,
                Some(BuildingStep::Drain) => {
                    index.drain(self);
                    IndexStep::More
                }
                None => {
                    index.make(&self.order.flags, CHANGES_MADE);
                    IndexStep::More
                }
            },
            Phase::Ending => self.end_building(index),
            Phase::On => self.keep(index),
        };
        self.order.publish_figures(index);
        step
    }

    /// Returns the sorted names of [`IndexStep::Sort`].
    pub fn put_found(&self, found: Found) {
        let mut index = self.order.lock();
        if found.built != index.built {
            return;
        }
        if let Phase::Building(building) = &mut index.phase {
            building.is_lent = false;
            index.changes = found.changes;
            index.at = 0;
        }
    }

    /// Turns the index on and builds it at once; the caller is alone with the keyspace.
    pub fn order_at_once(&self) {
        self.order.want(true);
        while self.order.state() != IndexState::On {
            match self.step_order() {
                IndexStep::Sort(mut found) => {
                    found.sort();
                    self.put_found(found);
                }
                IndexStep::Blocked => panic!("somebody holds a shard"),
                _ => {}
            }
        }
    }

    /// Makes shards from `shard` on start or stop taking notes.
    fn set_noting(&self, shard: &mut usize, flags: Option<&Arc<Flags>>) -> IndexStep {
        while *shard < SHARDS {
            let Some(mut state) = self.shard(*shard).try_write() else { return IndexStep::Blocked };
            state.set_noting(*shard, flags);
            if flags.is_none() {
                self.order.flags.lower(*shard);
            }
            *shard += 1;
        }
        IndexStep::More
    }

    /// Indexes notes made during the build until few are left; readers index the rest.
    fn end_building(&self, index: &mut Index) -> IndexStep {
        let flags = &self.order.flags;
        // Lowered with each step, so that it ends under any write load.
        let bytes_max = flags.backlog_bytes_max().min(flags.backlog_bytes() + BACKLOG_BYTES_MAX) - LOWERED_BYTES;
        flags.set_backlog_bytes_max(bytes_max.max(BACKLOG_BYTES_MAX));
        if bytes_max > BACKLOG_BYTES_MAX {
            return index.drain(self);
        }
        index.phase = Phase::On;
        self.order.is_on.store(true, Release);
        IndexStep::More
    }

    fn keep(&self, index: &mut Index) -> IndexStep {
        let map = self.map();
        if let Some(dead) = index.tables.keys().copied().find(|table| !map.names(*table)) {
            let names = index.tables.remove(&dead);
            return IndexStep::Garbage(Box::new(names));
        }
        index.drain(self)
    }
}

/// The progress of taking the shards' notes.
enum Taking {
    Over,
    /// There are more.
    More,
    /// All but held shards are done; this is the first held one.
    Locked(usize),
}

enum BuildingStep {
    More,
    Blocked,
    Sort(Changes),
    /// The backlog is large enough to go first.
    Drain,
    Over,
}

impl Building {
    /// Scans some entries; `None` if the names found last are to be indexed first.
    fn step(&mut self, keyspace: &Keyspace, is_put: bool, may_sort: bool) -> Option<BuildingStep> {
        if self.is_lent {
            return Some(BuildingStep::Blocked);
        }
        if !is_put {
            return None;
        }
        let is_over = self.shard == SHARDS;
        if self.found.len() >= FOUND_MAX
            || self.found.names_bytes() >= FOUND_BYTES_MAX
            || is_over && self.found.len() > 0
            || keyspace.order.is_soon_behind() && self.found.len() >= FOUND_MIN
        {
            if !may_sort {
                return Some(BuildingStep::Blocked);
            }
            self.is_lent = true;
            self.drains_left = self.found.len() / CHANGES_MADE / FOUND_PER_NOTE;
            return Some(BuildingStep::Sort(std::mem::take(&mut self.found)));
        }
        // Names found earlier must not overwrite later notes: notes are taken only while no found names are pending.
        if self.drains_left > 0 && self.found.len() == 0 && keyspace.order.is_soon_behind() {
            self.drains_left -= 1;
            return Some(BuildingStep::Drain);
        }
        Some(if is_over { BuildingStep::Over } else { self.look(keyspace) })
    }

    fn look(&mut self, keyspace: &Keyspace) -> BuildingStep {
        if !self.found.has_room() {
            self.found = Changes::with_room(FOUND_MAX + ENTRIES_SEEN, FOUND_BYTES_MAX);
        }
        let Some(state) = keyspace.shard(self.shard).try_read() else { return BuildingStep::Blocked };
        let tables = self.tables.get_or_insert_with(|| {
            let tables = state.sections().map(|(table, _)| table);
            tables.filter(|table| *table != OF_SERVER && keyspace.map().names(*table)).collect()
        });
        let Some(table) = tables.last().copied() else {
            self.tables = None;
            self.shard += 1;
            keyspace.order.progress.store((self.shard * 100 / SHARDS).min(99) as u64, Relaxed);
            return BuildingStep::More;
        };
        let (mut seen, mut last) = (0, None);
        let entries = state.section(table).into_iter().flat_map(|section| section.scan(self.from_hash));
        for (prefix, entry) in entries {
            if seen >= ENTRIES_SEEN && last != Some(prefix) {
                self.from_hash = prefix;
                return BuildingStep::More;
            }
            (seen, last) = (seen + 1, Some(prefix));
            self.found.push(table, entry.key(), Some(kind_of(entry)));
        }
        tables.pop();
        self.from_hash = 0;
        BuildingStep::More
    }
}
