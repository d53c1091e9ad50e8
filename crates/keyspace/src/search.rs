//! Searches of large lists, computed off the lock (see [`crate::off_lock`]).
//!
//! ```text
//!   search the clone, in steps --> few found, or nothing to be removed: their positions
//!                             '--> many to be removed: the list without them, and the size of its record
//! ```
//!
//! So the removal of very many items only exchanges the list's root under its lock. If the list keeps changing, two clones
//! are searched; then the command searches, under the lock, the parts that differ from the last clone, and changes what it
//! finds.

use crate::effect::RunWriter;
use crate::off_lock::Computation;
use blocks::{Direction, Removal, Runs};
use std::sync::Arc;
use values::{List, Value};

/// The search of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// The item to match.
    pub needle: Vec<u8>,
    /// Forward from the head, or backward from the tail.
    pub direction: Direction,
    /// Maximum number of items.
    pub limit: u64,
    /// Remove the items found.
    pub removes: bool,
}

impl SearchQuery {
    /// Returns what distinguishes it from other searches of one list, beside the item.
    pub(crate) fn name(&self) -> [u8; 10] {
        let mut name = [0; 10];
        name[..8].copy_from_slice(&self.limit.to_le_bytes());
        (name[8], name[9]) = (u8::from(self.direction == Direction::Forward), u8::from(self.removes));
        name
    }
}

/// One search.
pub struct Search {
    /// The list as the tx saw it.
    list: List,
    removes: bool,
    search: blocks::Search,
    stage: Stage,
}

enum Stage {
    Searching,
    Removing { removal: Removal, next: usize, writer: RunWriter, runs_bytes: u64 },
    Done(Option<Prepared>),
}

/// A removal applied by exchanging the list.
pub(crate) struct Prepared {
    /// The list without the items found.
    pub(crate) after: List,
    /// Size of the runs in its record, in bytes.
    pub(crate) runs_bytes: u64,
}

/// Bytes of items searched or changed per step.
const SEARCHED_BYTES: u64 = 128 << 10;
const CHANGED_BYTES: u64 = 32 << 10;
/// Maximum runs removed under the lock: some 100 µs.
const DIRECT_RUNS_MAX: usize = 32;
/// Maximum items removed there, since their blocks are dropped there.
const DIRECT_ITEMS_MAX: u64 = 4096;

impl Search {
    pub(crate) fn new(list: List, query: &SearchQuery) -> Self {
        let SearchQuery { needle, direction, limit, removes } = query;
        let search = blocks::Search::new(list.clone(), needle, *direction, *limit).repeatable();
        Self { list, removes: *removes, search, stage: Stage::Searching }
    }

    /// Returns the items found in the clone.
    pub(crate) fn found(&self) -> &Arc<Runs> {
        self.search.found()
    }

    /// Returns the items found in the list as it is now.
    pub(crate) fn again(&self, now: &List) -> Runs {
        self.search.again(now)
    }

    pub(crate) fn prepared(&self) -> Option<&Prepared> {
        match &self.stage {
            Stage::Done(prepared) => prepared.as_ref(),
            _ => None,
        }
    }

    /// Returns the stage after the search.
    fn begin_removal(&self) -> Stage {
        let found = self.search.found();
        let is_short = found.runs() <= DIRECT_RUNS_MAX && found.items() <= DIRECT_ITEMS_MAX;
        if !self.removes || is_short {
            return Stage::Done(None);
        }
        let removal = Removal::new(self.list.clone());
        Stage::Removing { removal, next: 0, writer: RunWriter::default(), runs_bytes: 0 }
    }
}

impl Computation for Search {
    fn step(&mut self) -> bool {
        let found = self.search.found();
        match &mut self.stage {
            Stage::Searching => {
                if self.search.step(SEARCHED_BYTES) {
                    self.stage = self.begin_removal();
                }
            }
            Stage::Removing { removal, next, writer, runs_bytes } => {
                let mut draw = || {
                    let run = (*next < found.runs()).then(|| found.rising(*next))?;
                    *next += 1;
                    *runs_bytes += writer.encoded_bytes(run) as u64;
                    Some(run)
                };
                if removal.step(CHANGED_BYTES, &mut draw) {
                    let (after, runs_bytes) = (removal.take_list(), *runs_bytes);
                    self.stage = Stage::Done(Some(Prepared { after, runs_bytes }));
                }
            }
            Stage::Done(_) => {}
        }
        matches!(self.stage, Stage::Done(_))
    }

    fn result(&self) -> Option<Value> {
        self.prepared().map(|prepared| Value::List(prepared.after.clone()))
    }
}

/// The search result for a command: the earlier one if the list is still the one searched, else a new one.
pub enum Finding<'k> {
    /// The list still is the clone.
    Still(&'k Search),
    /// Searched just now.
    Now(Arc<Runs>),
}

impl Finding<'_> {
    /// Returns the indices of the items.
    pub fn found(&self) -> &Arc<Runs> {
        match self {
            Self::Still(search) => search.found(),
            Self::Now(found) => found,
        }
    }
}
