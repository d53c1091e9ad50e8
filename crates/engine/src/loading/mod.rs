//! From the store and the journal to keys: what each shard is made of, put together shard by shard.
//!
//! ```text
//!   Gathering    journal, from the least P(s) on --> effects that the store lacks, by shard; the map of databases
//!   Loading      which shards are still to come, and who wants one first
//!   Loader       shard by shard, while others are served: stored records, then these effects, beside the keyspace
//!                                                    --> in its place; whoever parked there goes on
//! ```
//!
//! A shard that is still to come is a lock that is shut, so nothing but this knows of it: who needs the shard parks there
//! ([`crate::waits::park`]), and says so here. Tables that no database names by then are passed over, in the store and in
//! the journal.

mod contents;
mod gather;
mod loader;

pub use contents::Mended;
pub use gather::Gathering;
pub use loader::Loader;

use crate::checkpoint::Usage;
use base::limits::SHARDS;
use contents::{Contents, Shard, Unread};
use keyspace::{Keyspace, TableId};
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use store::Reader;

/// The shards that are not in their place yet.
pub struct Loading {
    parts: Box<[Part]>,
    /// Not in their place.
    left: AtomicUsize,
    /// Of those that were not there from the start, and of those of them that are.
    bytes_total: u64,
    bytes_done: AtomicU64,
    is_stopped: AtomicBool,
    /// Tables from here on are younger than all that is to come.
    next_table: TableId,
    state: Mutex<State>,
}

/// One shard.
#[derive(Default)]
struct Part {
    /// What the store has of it.
    stored: Box<[store::Keys]>,
    /// The journal has more.
    is_changed: bool,
    is_wanted: AtomicBool,
    /// Until somebody begins to read it.
    contents: Mutex<Option<Contents>>,
}

#[derive(Default)]
struct State {
    /// While it lives no segment is removed.
    reader: Option<Reader>,
    wanted: VecDeque<usize>,
    /// How often somebody was the first to wait for a shard.
    wanted_count: u64,
    /// The first that nobody has looked at in order.
    next: usize,
    usages: Vec<Usage>,
    fault: Option<String>,
    /// Waiting for the end.
    waiters: Vec<Waker>,
    /// Loaders that rest.
    resting: Vec<Waker>,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Shards that are still to come.
    pub shards_left: usize,
    /// Shards that somebody has waited for.
    pub shards_wanted: u64,
    /// Bytes of all that were to come at the start.
    pub bytes_total: u64,
    /// Bytes of those that have come.
    pub bytes_done: u64,
}

/// What the store knows of a table in a shard that is still to come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Keys that were stored.
    pub keys: u64,
    /// Those of them with a deadline.
    pub expiring: u64,
    /// The journal has changes of the shard beyond that, in whatever table.
    pub is_changed: bool,
}

impl Loading {
    /// Nothing is to come: there is no store.
    pub fn nothing() -> Self {
        let parts = (0..SHARDS).map(|_| Part::default()).collect();
        Self {
            parts,
            left: AtomicUsize::new(0),
            bytes_total: 0,
            bytes_done: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            next_table: 0,
            state: Mutex::default(),
        }
    }

    fn new(keyspace: &Keyspace, reader: Reader, contents: impl Iterator<Item = Contents>) -> Self {
        let parts: Box<[_]> = contents.map(Part::new).collect();
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
        let state = State { reader: (left > 0).then_some(reader), usages, ..State::default() };
        let (left, bytes_done) = (AtomicUsize::new(left), AtomicU64::new(0));
        let (next_table, is_stopped) = (keyspace.map().fresh(), AtomicBool::new(false));
        Self { parts, left, bytes_total, bytes_done, is_stopped, next_table, state: Mutex::new(state) }
    }

    /// Whether all is in its place.
    pub fn is_over(&self) -> bool {
        self.left.load(Relaxed) == 0
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let (shards_left, shards_wanted) = (self.left.load(Relaxed), self.state().wanted_count);
        let bytes_done = self.bytes_done.load(Relaxed);
        Progress { shards_left, shards_wanted, bytes_total: self.bytes_total, bytes_done }
    }

    /// Why it will never come to its end, if it will not.
    pub fn fault(&self) -> Option<String> {
        self.state().fault.clone()
    }

    /// No shard is begun any more, and none that is begun is read to its end.
    pub fn stop(&self) {
        self.is_stopped.store(true, Relaxed);
    }

    /// Somebody waits for `shard`: it comes before those that nobody waits for.
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

    /// What the store knows of `table` in `shard`, which is still to come.
    pub fn known(&self, shard: usize, table: TableId) -> Known {
        if table >= self.next_table {
            return Known::default();
        }
        let part = &self.parts[shard];
        let keys = part.stored.iter().find(|keys| keys.table == table);
        let known = Known { is_changed: part.is_changed, ..Known::default() };
        keys.map_or(known, |keys| Known { keys: keys.keys, expiring: keys.expiring, ..known })
    }

    /// Ready when all is in its place.
    pub fn poll_over(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if self.is_over() {
            return Poll::Ready(());
        }
        state.waiters.push(context.waker().clone());
        Poll::Pending
    }

    /// What each shard uses of the block segments, once all is in its place; to be taken once.
    pub fn take_usages(&self) -> Vec<Usage> {
        assert!(self.is_over());
        std::mem::take(&mut self.state().usages)
    }

    /// Loads shards into `keyspace`, which nobody else uses, until none is left; any number of threads may.
    ///
    /// # Errors
    /// The disk's, and damage, in words, with file, offset and remedy. What is loaded is worth nothing then.
    pub fn run(&self, keyspace: &Keyspace) -> Result<(), String> {
        let alive = keyspace.map().alive();
        while let Some((contents, reader)) = self.take() {
            let bytes = contents.bytes();
            let read = contents.read(keyspace, &alive, &reader, &self.is_stopped).map_err(Unread::why)?;
            self.put(keyspace, contents.record.shard as usize, read, bytes);
        }
        Ok(())
    }

    /// Loads all shards as [`Loading::run`] does, for a repair: of those in `damaged`, and of those that cannot be loaded,
    /// whatever is left. Which those were.
    ///
    /// # Errors
    /// In words, what not even a repair can pass over.
    pub fn run_mending(&self, keyspace: &Keyspace, damaged: &BTreeSet<u32>) -> Result<Vec<Mended>, String> {
        let alive = keyspace.map().alive();
        let mut all_mended = Vec::new();
        while let Some((contents, reader)) = self.take() {
            let number = contents.record.shard;
            let whole =
                (!damaged.contains(&number)).then(|| contents.read(keyspace, &alive, &reader, &self.is_stopped));
            let read = match whole {
                Some(Ok(read)) => read,
                // What the system does not give now is not lost.
                Some(Err(Unread::Lacking(why))) => return Err(why),
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

    /// The contents of the shard that is to be read next, which nobody else reads.
    fn take(&self) -> Option<(Contents, Reader)> {
        let mut state = self.state();
        if state.fault.is_some() || self.is_stopped.load(Relaxed) {
            return None;
        }
        loop {
            let shard = state.wanted.pop_front().or_else(|| {
                state.next += 1;
                (state.next <= SHARDS).then(|| state.next - 1)
            })?;
            if let Some(contents) = self.parts[shard].contents().take() {
                let reader = state.reader.clone().expect("kept until the last shard is in its place");
                return Some((contents, reader));
            }
        }
    }

    /// Puts what was read into its place: the shard is open from then on. Whether that was the last.
    fn put(&self, keyspace: &Keyspace, shard: usize, read: Shard<'_>, bytes: u64) -> bool {
        // Held until it is counted: who has seen the last shard is told that all are there.
        let mut opened = keyspace.shard(shard).open();
        read.state.end(&mut opened);
        self.bytes_done.fetch_add(bytes, Relaxed);
        let mut state = self.state();
        state.usages[shard] = read.usage;
        let is_last = self.left.fetch_sub(1, Relaxed) == 1;
        if is_last {
            state.reader = None;
            state.waiters.drain(..).for_each(Waker::wake);
        }
        is_last
    }

    /// Has somebody begin anew to read a shard.
    fn give_back(&self, contents: Contents) {
        let shard = contents.record.shard as usize;
        *self.parts[shard].contents() = Some(contents);
        let mut state = self.state();
        state.wanted.push_back(shard);
        state.resting.drain(..).for_each(Waker::wake);
    }

    fn fail(&self, why: String) {
        self.state().fault.get_or_insert(why);
    }

    /// Ready when somebody wants a shard that nobody has begun to read.
    fn poll_wanted(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.wanted.is_empty() {
            return Poll::Ready(());
        }
        state.resting.push(context.waker().clone());
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }
}

impl Part {
    fn new(contents: Contents) -> Self {
        let stored = contents.record.tables.clone().into();
        let is_changed = !contents.effects.is_empty();
        let contents = Mutex::new((!contents.is_empty()).then_some(contents));
        Self { stored, is_changed, is_wanted: AtomicBool::new(false), contents }
    }

    fn contents(&self) -> MutexGuard<'_, Option<Contents>> {
        self.contents.lock().expect("no holder panics")
    }
}
