//! The live indexes, one for each declaration in the server's own table.

use super::changes::RowChanges;
use super::cursors::Cursors;
use super::live_index::{BackgroundStep, DropLater, LiveIndex};
use crate::deferred_drop::DeferredDrop;
use base::primitives::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};
use base::primitives::{Mutex, MutexGuard};
use base::{Ms, Position};
use keyspace::{ChangedPart, Effect, IndexDeclarations, Keyspace, TableId, Tx};
use search::Definition;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// All live indexes.
pub(crate) struct IndexRegistry {
    /// There are indexes.
    is_used: AtomicBool,
    /// The declarations have been read since the start.
    is_open: AtomicBool,
    /// More rows wait for an index than is wanted.
    is_behind: AtomicBool,
    current: Mutex<Arc<LiveIndexes>>,
    /// Results that are read piece by piece.
    cursors: Mutex<Cursors>,
    drop_later: DropLater,
    /// Wakes whoever drops temporary indexes, once there is one.
    temporary_waker: Mutex<Option<Waker>>,
}

/// The indexes at one time.
#[derive(Default)]
pub(crate) struct LiveIndexes {
    /// By name.
    pub(super) list: Vec<Arc<LiveIndex>>,
    /// Other names, in order, and the indexes that they are of.
    aliases: Vec<(Vec<u8>, Arc<LiveIndex>)>,
    /// The position of the last change of the declarations.
    position: Position,
}

impl LiveIndexes {
    /// Returns the position that whoever knows the declarations has seen.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Returns the index of this name, or of which this is another name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&Arc<LiveIndex>> {
        let by_name = self.list.binary_search_by(|index| (*index.definition.name).cmp(name));
        let by_alias = || self.aliases.binary_search_by(|(alias, _)| (**alias).cmp(name)).ok();
        by_name.ok().map(|at| &self.list[at]).or_else(|| by_alias().map(|at| &self.aliases[at].1))
    }

    /// Returns the part that a change has in the rows of a key; `None` if no index has the key.
    pub(super) fn part(&self, key: &[u8], effect: Option<&Effect<'_>>) -> Option<ChangedPart> {
        let mut indexes = self.list.iter().filter(|index| index.definition.admits(key)).peekable();
        indexes.peek()?;
        let Some(Effect::Hash(change)) = effect else { return Some(ChangedPart::Whole) };
        let indexes: Vec<&Arc<LiveIndex>> = indexes.collect();
        let is_named = |field: &[u8]| indexes.iter().any(|index| index.definition.concerns(field));
        Some(change.puts_beside(is_named).map_or(ChangedPart::Whole, ChangedPart::OtherFields))
    }
}

impl IndexRegistry {
    /// Creates a registry without indexes, which leaves memory to `deferred_drop`.
    pub(crate) fn new(deferred_drop: &DeferredDrop) -> Self {
        Self {
            is_used: AtomicBool::new(false),
            is_open: AtomicBool::new(false),
            is_behind: AtomicBool::new(false),
            current: Mutex::default(),
            cursors: Mutex::default(),
            drop_later: Arc::new(deferred_drop.remote()),
            temporary_waker: Mutex::default(),
        }
    }

    /// Returns true if there are indexes.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Relaxed)
    }

    /// Returns true if writers are to help first: see [`IndexRegistry::help`].
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind.load(Relaxed)
    }

    /// Returns the indexes as they are.
    pub(crate) fn current(&self) -> Arc<LiveIndexes> {
        self.current.lock().expect("no holder panics").clone()
    }

    /// Reads the declarations, unless that was done. Returns false if their shard is held. All is loaded.
    pub(crate) fn open(&self, keyspace: &Keyspace) -> bool {
        if self.is_open.load(Acquire) {
            return true;
        }
        let mut current = self.current.lock().expect("no holder panics");
        let Some((declared, position)) = keyspace.index_declarations() else { return false };
        if !self.is_open.swap(true, Release) {
            *current = self.follow(&current, &declared, keyspace.map().table(0), position, true);
        }
        true
    }

    /// Reads the declarations anew, and finds all rows again. The caller holds the gate, and has exchanged all keys.
    pub(crate) fn reopen(&self, keyspace: &Keyspace) {
        let mut current = self.current.lock().expect("no holder panics");
        let Some((declared, position)) = keyspace.index_declarations() else { return };
        self.is_open.store(true, Release);
        *current = self.follow(&LiveIndexes::default(), &declared, keyspace.map().table(0), position, true);
    }

    /// Gathers what indexes have to know of a transaction that is about to end, its shards held.
    #[inline]
    pub(crate) fn changes_of(&self, tx: &mut Tx<'_>) -> Option<Box<RowChanges>> {
        (self.is_used() || tx.has_changed_indexes()).then(|| self.gather(tx))
    }

    #[cold]
    fn gather(&self, tx: &mut Tx<'_>) -> Box<RowChanges> {
        Box::new(RowChanges::of(&self.current(), tx))
    }

    /// Takes the changes of a transaction that has taken `position`, and still holds its shards.
    #[cold]
    pub(crate) fn take(&self, changes: &mut RowChanges, keyspace: &Keyspace, position: Position) {
        let (declared, table) = (changes.declared.take(), changes.table);
        if changes.feed(position) {
            self.is_behind.store(true, Relaxed);
        }
        if declared.is_none() && table.is_none() {
            return;
        }
        let mut current = self.current.lock().expect("no holder panics");
        let table = table.unwrap_or_else(|| keyspace.map().table(0));
        let declared = declared.unwrap_or_else(|| current.declarations());
        // Before that, the declarations are all read by whoever opens it.
        if self.is_open.load(Acquire) {
            *current = self.follow(&current, &declared, table, position, false);
        }
    }

    /// Returns the indexes of these declarations on `table`: those there are already, and new ones.
    fn follow(
        &self,
        current: &LiveIndexes,
        declared: &IndexDeclarations,
        table: TableId,
        position: Position,
        is_start: bool,
    ) -> Arc<LiveIndexes> {
        let mut list = Vec::new();
        for (name, declaration) in &declared.indexes {
            let known = current.find(name).filter(|index| *index.definition.name == **name);
            if let Some(known) = known.filter(|index| index.is_of(declaration, table)) {
                list.push(known.clone());
                continue;
            }
            // Only a later version's declaration cannot be read: it stays, and is not served.
            let Ok(definition) = Definition::decode(declaration) else { continue };
            let is_scanned = is_start || known.is_some() || !definition.skips_initial_scan;
            let declaration = declaration.clone().into();
            let drop_later = self.drop_later.clone();
            let index = LiveIndex::new(Arc::new(definition), declaration, (table, position), is_scanned, drop_later);
            list.push(Arc::new(index));
        }
        let find = |name: &[u8]| list.iter().find(|index: &&Arc<LiveIndex>| *index.definition.name == *name).cloned();
        let aliases = declared.aliases.iter().filter_map(|(alias, name)| Some((alias.clone(), find(name)?))).collect();
        self.is_used.store(!list.is_empty(), Release);
        self.wake_temporary(&list);
        Arc::new(LiveIndexes { list, aliases, position: position.max(current.position) })
    }

    /// Returns the cursors.
    pub(crate) fn cursors(&self) -> MutexGuard<'_, Cursors> {
        self.cursors.lock().expect("no holder panics")
    }

    /// Ends cursors that nobody reads.
    pub(crate) fn end_idle(&self, now: Ms, deferred_drop: &DeferredDrop) {
        let ended = self.cursors().take_ended(now);
        if !ended.is_empty() {
            deferred_drop.free(Box::new(ended));
        }
    }

    /// Ready once there are temporary indexes.
    pub(crate) fn poll_any_temporary(&self, waker: &Waker) -> Poll<()> {
        *self.temporary_waker.lock().expect("no holder panics") = Some(waker.clone());
        if self.current().list.iter().any(is_temporary) { Poll::Ready(()) } else { Poll::Pending }
    }

    fn wake_temporary(&self, list: &[Arc<LiveIndex>]) {
        if list.iter().any(is_temporary) {
            let waker = self.temporary_waker.lock().expect("no holder panics").take();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    /// Returns the names of temporary indexes that nobody has used for their time.
    pub(crate) fn unused(&self, now: Ms) -> Vec<Box<[u8]>> {
        let current = self.current();
        let is_unused = |index: &&Arc<LiveIndex>| {
            // One that nobody has used yet begins now.
            let used_ms = index.used_ms.compare_exchange(0, now, Relaxed, Relaxed).err().unwrap_or(now);
            index.definition.temporary_s.is_some_and(|span_s| now.saturating_sub(used_ms) > span_s.saturating_mul(1000))
        };
        let temporary = current.list.iter().filter(|index| is_temporary(index));
        temporary.filter(is_unused).map(|index| index.definition.name.clone()).collect()
    }

    /// Puts some of the rows that wait into an index that is behind. Returns false if another thread is at it.
    pub(crate) fn help(&self, keyspace: &Keyspace) -> bool {
        let current = self.current();
        let Some(index) = current.list.iter().find(|index| index.is_behind()) else {
            self.is_behind.store(false, Relaxed);
            return true;
        };
        index.background_step(keyspace) == BackgroundStep::More
    }

    /// Does some of what is left to do, a step for each index. Returns the busiest result.
    pub(crate) fn step(&self, keyspace: &Keyspace) -> BackgroundStep {
        if !self.is_used() {
            return BackgroundStep::Idle;
        }
        let current = self.current();
        current.list.iter().map(|index| index.background_step(keyspace)).max().unwrap_or(BackgroundStep::Idle)
    }
}

fn is_temporary(index: &Arc<LiveIndex>) -> bool {
    index.definition.temporary_s.is_some()
}

impl LiveIndexes {
    fn declarations(&self) -> IndexDeclarations {
        let names = |index: &Arc<LiveIndex>| (index.definition.name.to_vec(), index.declaration.to_vec());
        IndexDeclarations {
            indexes: self.list.iter().map(names).collect(),
            aliases: self
                .aliases
                .iter()
                .map(|(alias, index)| (alias.clone(), index.definition.name.to_vec()))
                .collect(),
        }
    }
}
