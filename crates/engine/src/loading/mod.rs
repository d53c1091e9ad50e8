//! Loading keys from the store and the journal: the contents of each shard, and its assembly, shard by shard.
//!
//! ```text
//!   Gathering    journal, from the least P(s) on --> effects that the store lacks, by shard; the map of databases
//!   Loading      the shards still to be loaded, and those that requests wait for
//!   Loader       shard by shard, while others are served: stored records, then these effects, beside the keyspace
//!                                                    --> into the keyspace; requests parked there continue
//!   Values       large ones, read after their shards --> into their keys; requests that wait for such a key continue
//! ```
//!
//! A shard still to be loaded is a lock that is shut, so nothing else needs to know of it: a request for the shard
//! parks there ([`crate::waits::park`]) and asks for it here. Tables that no database names by then are skipped, in the
//! store and in the journal.

mod contents;
mod gather;
mod late;
mod loader;

pub use contents::Mended;
pub use gather::Gathering;
pub use loader::Loader;

use crate::checkpoint::usage::Usage;
use base::limits::SHARDS;
use base::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use base::primitives::{Mutex, MutexGuard};
use contents::{NotRead, Shard, ShardContents};
use keyspace::{INDEXES, Keyspace, Plan, TableId, shard_of};
use late::{Number, Values};
use std::collections::{BTreeSet, VecDeque};
use std::task::{Context, Poll, Waker};
use store::Reader;

/// Values with more content than this are read after their shard, in bytes.
pub const AT_ONCE_BYTES_MAX: u64 = 1 << 20;

/// The shards and values that are not in place yet.
pub struct Loading {
    parts: Box<[LoadingShard]>,
    /// The number of shards and values not in place.
    left: AtomicUsize,
    /// The number of such values whose shards are in place.
    values_left: AtomicUsize,
    /// Bytes of shards and values not yet loaded at start-up: total, and loaded so far.
    bytes_total: u64,
    bytes_done: AtomicU64,
    is_stopped: AtomicBool,
    /// The next shard or value does not fit in memory.
    is_halted: AtomicBool,
    /// The shard that comes first unless others are wanted: that of the indexes' declarations, which FLUSHALL removes
    /// even if the data does not fit in memory.
    first: usize,
    /// Tables from here on are newer than anything still to be loaded.
    next_table: TableId,
    state: Mutex<LoadingState>,
}

/// One shard.
#[derive(Default)]
struct LoadingShard {
    /// Its stored key counts.
    stored: Box<[store::Keys]>,
    /// The journal has further changes.
    is_changed: bool,
    is_wanted: AtomicBool,
    /// The number of its unread values while it is in place. Changed under the shard's lock.
    unread: AtomicUsize,
    /// `Some` until a loader begins to read it.
    contents: Mutex<Option<ShardContents>>,
}

#[derive(Default)]
struct LoadingState {
    /// While it lives, no segment is removed.
    reader: Option<Reader>,
    wanted: VecDeque<usize>,
    /// Number of shards that a request has waited for.
    wanted_count: u64,
    values: Values,
    /// The number of shards visited in order.
    visited: usize,
    usages: Vec<Usage>,
    fault: Option<String>,
    /// Waiters for the end of loading.
    waiters: Vec<Waker>,
    /// Resting loaders.
    resting: Vec<Waker>,
    /// Waiters for something that may not fit the memory.
    doubtful: Vec<Waker>,
}

/// One thing to be read.
enum LoadingTask {
    Shard(ShardContents, Reader),
    Value(Number, keyspace::Unread, Reader),
}

/// The progress of loading.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Shards still to be loaded.
    pub shards_left: usize,
    /// Values still to be loaded, of loaded shards.
    pub values_left: usize,
    /// Shards that were waited for.
    pub shards_wanted: u64,
    /// Bytes to be loaded at the start.
    pub bytes_total: u64,
    /// Bytes loaded so far.
    pub bytes_done: u64,
}

/// The stored counts of a table in a shard still to be loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredTable {
    /// Stored keys.
    pub keys: u64,
    /// Those of them with a deadline.
    pub expiring: u64,
    /// The journal has further changes of the shard, in whatever table.
    pub is_changed: bool,
}

impl Loading {
    /// Creates one with nothing to load: there is no store.
    pub fn nothing() -> Self {
        let parts = (0..SHARDS).map(|_| LoadingShard::default()).collect();
        Self {
            parts,
            left: AtomicUsize::new(0),
            values_left: AtomicUsize::new(0),
            bytes_total: 0,
            bytes_done: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            is_halted: AtomicBool::new(false),
            first: 0,
            next_table: 0,
            state: Mutex::default(),
        }
    }

    fn new(keyspace: &Keyspace, reader: Reader, contents: impl Iterator<Item = ShardContents>) -> Self {
        let parts: Box<[_]> = contents.map(LoadingShard::new).collect();
        let mut left = 0;
        let mut bytes_total = 0;
        for (shard, part) in parts.iter().enumerate() {
            match &*part.contents() {
                Some(contents) => {
                    left += 1;
                    bytes_total += contents.bytes();
                }
                None => drop(keyspace.shard(shard).open()),
            }
        }
        let usages = (0..SHARDS).map(|_| Usage::default()).collect();
        let state = LoadingState { reader: (left > 0).then_some(reader), usages, ..LoadingState::default() };
        let (left, bytes_done) = (AtomicUsize::new(left), AtomicU64::new(0));
        let (next_table, is_stopped) = (keyspace.map().fresh(), AtomicBool::new(false));
        let (state, values_left) = (Mutex::new(state), AtomicUsize::new(0));
        let (is_halted, first) = (AtomicBool::new(false), shard_of(keyspace.hash(INDEXES)));
        Self { parts, left, values_left, bytes_total, bytes_done, is_stopped, is_halted, first, next_table, state }
    }

    /// Returns true if everything is in place.
    pub fn is_over(&self) -> bool {
        self.left.load(Relaxed) == 0
    }

    /// Returns the progress.
    pub fn progress(&self) -> Progress {
        let (bytes_total, values_left) = (self.bytes_total, self.values_left.load(Relaxed));
        let shards_left = self.left.load(Relaxed).saturating_sub(values_left);
        let (shards_wanted, bytes_done) = (self.state().wanted_count, self.bytes_done.load(Relaxed).min(bytes_total));
        Progress { shards_left, values_left, shards_wanted, bytes_total, bytes_done }
    }

    /// Returns why it will never finish, if so.
    pub fn fault(&self) -> Option<String> {
        self.state().fault.clone()
    }

    /// Stops loading: begins no further shard, and abandons the shards begun.
    pub fn stop(&self) {
        self.is_stopped.store(true, Relaxed);
    }

    /// Returns true if loaders wait for memory.
    pub fn is_halted(&self) -> bool {
        self.is_halted.load(Relaxed)
    }

    /// Records whether the next shard or value fits in memory; if not, notifies those who wait for loading.
    fn halt(&self, halts: bool) {
        if self.is_halted.swap(halts, Relaxed) != halts && halts {
            self.state().doubtful.drain(..).for_each(Waker::wake);
        }
    }

    /// Ready when loaders wait for memory.
    pub(crate) fn poll_halted(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if self.is_halted() {
            return Poll::Ready(());
        }
        if !state.doubtful.iter().any(|waker| waker.will_wake(context.waker())) {
            state.doubtful.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Returns the bytes still to be loaded.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_total.saturating_sub(self.bytes_done.load(Relaxed))
    }

    /// Moves `shard`, which somebody waits for, ahead of unwanted ones.
    pub fn want(&self, shard: usize) {
        let part = &self.parts[shard];
        if part.is_wanted.swap(true, Relaxed) || part.contents().is_none() {
            return;
        }
        let mut state = self.state();
        state.wanted.push_back(shard);
        state.wanted_count += 1;
        state.resting.drain(..).for_each(Waker::wake);
    }

    /// Moves everything ahead, since somebody waits for all.
    pub fn want_all(&self) {
        (0..SHARDS).for_each(|shard| self.want(shard));
        let mut state = self.state();
        state.values.want_all();
        state.resting.drain(..).for_each(Waker::wake);
    }

    /// Returns the stored counts of `table` in `shard`, which is still to be loaded.
    pub fn known(&self, shard: usize, table: TableId) -> StoredTable {
        if table >= self.next_table {
            return StoredTable::default();
        }
        let part = &self.parts[shard];
        let keys = part.stored.iter().find(|keys| keys.table == table);
        let known = StoredTable { is_changed: part.is_changed, ..StoredTable::default() };
        keys.map_or(known, |keys| StoredTable { keys: keys.keys, expiring: keys.expiring, ..known })
    }

    /// Ready when everything is in place.
    pub fn poll_over(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if self.is_over() {
            return Poll::Ready(());
        }
        state.waiters.push(context.waker().clone());
        Poll::Pending
    }

    /// Returns each shard's usage of the block segments, once everything is in place; call it once.
    pub fn take_usages(&self) -> Vec<Usage> {
        assert!(self.is_over());
        std::mem::take(&mut self.state().usages)
    }

    /// Loads shards into `keyspace`, which nobody else uses, until none is left; several threads may do so.
    ///
    /// # Errors
    /// Returns a disk error or damage, in words, with file, offset and remedy. The loaded data is then worthless.
    pub fn run(&self, keyspace: &Keyspace) -> Result<(), String> {
        let alive = keyspace.map().alive();
        while let Some((contents, reader)) = self.take_shard() {
            let bytes = contents.bytes();
            let read = contents.read(keyspace, &alive, &reader, &self.is_stopped, u64::MAX).map_err(NotRead::why)?;
            self.put(keyspace, contents.record.shard as usize, read, bytes);
        }
        Ok(())
    }

    /// Loads all shards like [`Loading::run`], for a repair: of those in `damaged`, and of those that cannot be loaded,
    /// whatever is left. Returns those shards.
    ///
    /// # Errors
    /// Returns, in words, what even a repair cannot skip.
    pub fn run_mending(&self, keyspace: &Keyspace, damaged: &BTreeSet<u32>) -> Result<Vec<Mended>, String> {
        let alive = keyspace.map().alive();
        let mut all_mended = Vec::new();
        while let Some((contents, reader)) = self.take_shard() {
            let number = contents.record.shard;
            let whole = (!damaged.contains(&number))
                .then(|| contents.read(keyspace, &alive, &reader, &self.is_stopped, u64::MAX));
            let read = match whole {
                Some(Ok(read)) => read,
                // A temporary lack of system resources is no loss of data.
                Some(Err(NotRead::Lacking(why))) => return Err(why),
                _ => {
                    let (read, mended) = contents.read_rest(keyspace, &alive, &reader)?;
                    all_mended.push(mended);
                    read
                }
            };
            self.put(keyspace, number as usize, read, contents.bytes());
        }
        Ok(all_mended)
    }

    /// Takes the next task, which no other loader gets: wanted shards, and wanted values, since these may take long;
    /// then shards, then values.
    fn take(&self) -> Option<LoadingTask> {
        let is_shard_wanted = !self.state().wanted.is_empty();
        if !is_shard_wanted && let Some(task) = self.take_value(Values::take_wanted) {
            return Some(task);
        }
        match self.take_shard() {
            Some((contents, reader)) => Some(LoadingTask::Shard(contents, reader)),
            None => self.take_value(Values::take_any),
        }
    }

    fn take_value(&self, take: impl Fn(&mut Values) -> Option<(Number, keyspace::Unread)>) -> Option<LoadingTask> {
        let mut state = self.state();
        let (number, unread) = take(&mut state.values)?;
        let reader = state.reader.clone().expect("kept until the last value is in its place");
        Some(LoadingTask::Value(number, unread, reader))
    }

    fn take_shard(&self) -> Option<(ShardContents, Reader)> {
        let mut state = self.state();
        if state.fault.is_some() || self.is_stopped.load(Relaxed) {
            return None;
        }
        loop {
            let shard = state.wanted.pop_front().or_else(|| {
                let visited = state.visited;
                state.visited += 1;
                (visited < SHARDS).then(|| (self.first + visited) % SHARDS)
            })?;
            if let Some(contents) = self.parts[shard].contents().take() {
                let reader = state.reader.clone().expect("kept until the last shard is in its place");
                return Some((contents, reader));
            }
        }
    }

    /// Puts a read shard in place: it is open from then on. Returns true if it was the last.
    fn put(&self, keyspace: &Keyspace, shard: usize, read: Shard<'_>, bytes: u64) -> bool {
        // Held until it is counted: a reader of the last shard finds everything reported as loaded.
        let mut opened = keyspace.shard(shard).open();
        read.state.end(&mut opened);
        let unread_bytes = read.unread.iter().map(keyspace::Unread::stored_bytes).sum();
        let mut state = self.state();
        state.usages[shard] = read.usage;
        let count = read.unread.len();
        self.values_left.fetch_add(count, Relaxed);
        self.left.fetch_add(count, Relaxed);
        self.parts[shard].unread.store(count, Relaxed);
        read.unread.into_iter().for_each(|unread| state.values.add(unread));
        self.count_one(&mut state, bytes.saturating_sub(unread_bytes))
    }

    /// Notes that the value of a key of `shard`, whose lock is held, is in place or dropped. Returns true if it was the
    /// last.
    fn put_value(&self, shard: usize, number: Number, bytes: u64) -> bool {
        let mut state = self.state();
        state.values.end(number);
        self.parts[shard].unread.fetch_sub(1, Relaxed);
        self.values_left.fetch_sub(1, Relaxed);
        self.count_one(&mut state, bytes)
    }

    fn count_one(&self, state: &mut LoadingState, bytes: u64) -> bool {
        self.bytes_done.fetch_add(bytes, Relaxed);
        let is_last = self.left.fetch_sub(1, Relaxed) == 1;
        if is_last {
            state.reader = None;
            state.doubtful.clear();
            state.waiters.drain(..).for_each(Waker::wake);
        }
        is_last
    }

    /// Gives a shard back to be read again.
    fn give_back(&self, contents: ShardContents) {
        let shard = contents.record.shard as usize;
        *self.parts[shard].contents() = Some(contents);
        let mut state = self.state();
        state.wanted.push_back(shard);
        state.resting.drain(..).for_each(Waker::wake);
    }

    /// Gives a value back to be read again, after all others.
    fn give_back_value(&self, number: Number, unread: keyspace::Unread) {
        self.state().values.give_back(number, unread);
    }

    /// Returns the hash of a key that `plan` may name and whose value is unread, and asks for all that it surely names.
    /// Call it with the plan's shards held, or under the gate: a value read by then stays so.
    #[cold]
    pub(crate) fn unread(&self, plan: &Plan) -> Option<u64> {
        let mut shards = plan.wants().iter().map(|(shard, _)| usize::from(*shard));
        match plan.hashes() {
            Some(hashes) => hashes.filter(|hash| self.is_unread(*hash) && self.state().values.want(*hash)).last(),
            None => shards.find_map(|shard| self.unread_of(shard)),
        }
    }

    /// Returns the hash of some key of `shard` whose value is unread.
    pub(crate) fn unread_of(&self, shard: usize) -> Option<u64> {
        if self.parts[shard].unread.load(Relaxed) == 0 { None } else { self.state().values.first_of(shard) }
    }

    /// Returns true if a key with this hash has an unread value.
    pub(crate) fn is_unread(&self, hash: u64) -> bool {
        self.parts[keyspace::shard_of(hash)].unread.load(Relaxed) > 0 && self.state().values.contains(hash)
    }

    /// Ready when no key with this hash has an unread value; until then these come before unwanted ones.
    pub(crate) fn poll_read(&self, hash: u64, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.values.want(hash) {
            return Poll::Ready(());
        }
        state.values.wake(hash, context.waker());
        state.resting.drain(..).for_each(Waker::wake);
        Poll::Pending
    }

    fn fail(&self, why: String) {
        self.state().fault.get_or_insert(why);
    }

    /// Ready when somebody wants a shard or a value that no loader has begun to read.
    fn poll_wanted(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.wanted.is_empty() || state.values.has_wanted() {
            return Poll::Ready(());
        }
        state.resting.push(context.waker().clone());
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, LoadingState> {
        self.state.lock().expect("no holder panics")
    }
}

impl LoadingShard {
    fn new(contents: ShardContents) -> Self {
        let stored = contents.record.tables.clone().into();
        let is_changed = !contents.effects.is_empty();
        let contents = Mutex::new((!contents.is_empty()).then_some(contents));
        Self { stored, is_changed, is_wanted: AtomicBool::new(false), unread: AtomicUsize::new(0), contents }
    }

    fn contents(&self) -> MutexGuard<'_, Option<ShardContents>> {
        self.contents.lock().expect("no holder panics")
    }
}
