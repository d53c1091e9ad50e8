//! Searches of large lists, run for a command while it holds no lock.
//!
//! ```text
//!   handler: tx.search -- no result yet -> abandoned --> steps over a clone, others run between them --.
//!      ^                                                                                               |
//!      `------ again, with the positions found: unchanged if the list still equals the clone, else updated
//! ```
//!
//! A removal of very many items is also prepared from the clone: the resulting list, and the size of its record. Under
//! the locks only the root is exchanged. If the list keeps changing, two lock-free searches are made; then the command
//! searches, under the lock, the parts that differ from its clone, and changes what it finds.

use crate::TableId;
use crate::bitop::BitopRequest;
use crate::combine::{Combination, Sources};
use crate::effect::RunWriter;
use crate::tx::Tx;
use blocks::{Direction, Removal, Runs};
use std::sync::Arc;
use values::List;
use values::bits::BitOperation;

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

/// Work on clones that a tx was abandoned for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobRequest {
    /// Search a list.
    Search(SearchRequest),
    /// Compute a text from others.
    Mix(BitopRequest),
    /// Compute a value from others.
    Value(Sources),
}

/// A search that a tx was abandoned for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub(crate) table: TableId,
    pub(crate) key: Box<[u8]>,
    pub(crate) aim: SearchQuery,
    /// A clone of the list as the tx saw it.
    pub(crate) list: List,
}

impl SearchRequest {
    fn is_for(&self, table: TableId, key: &[u8], aim: &SearchQuery) -> bool {
        self.table == table && *self.key == *key && self.aim == *aim
    }
}

impl PartialEq for SearchRequest {
    fn eq(&self, other: &Self) -> bool {
        self.is_for(other.table, &other.key, &other.aim) && self.list.shares_root_with(&other.list)
    }
}

impl Eq for SearchRequest {}

/// Jobs on clones for one command or one EXEC.
#[derive(Default)]
pub struct OffLockJobs(Vec<OffLockJob>);

/// Work on clones, in progress or done.
pub enum OffLockJob {
    /// A list search.
    Search(Box<Search>),
    /// A text computed from others.
    Mix(Box<BitopRequest>),
    /// A value computed from others.
    Combination(Combination),
}

impl OffLockJob {
    fn is_for_same(&self, wanted: &JobRequest) -> bool {
        match (self, wanted) {
            (Self::Search(done), JobRequest::Search(SearchRequest { table, key, aim, .. })) => {
                done.wanted.is_for(*table, key, aim)
            }
            (Self::Mix(done), JobRequest::Mix(BitopRequest { table, key, mixing, .. })) => {
                done.is_for(*table, key, mixing.operation(), mixing.sources().len())
            }
            (Self::Combination(done), JobRequest::Value(sources)) => done.sources.is_for(sources),
            _ => false,
        }
    }

    fn tries(&self) -> u32 {
        match self {
            Self::Search(search) => search.tries,
            Self::Mix(mix) => mix.tries,
            Self::Combination(combination) => combination.tries,
        }
    }

    fn step(&mut self) -> bool {
        match self {
            Self::Search(search) => search.step(),
            Self::Mix(mix) => mix.step(),
            Self::Combination(combination) => combination.step(),
        }
    }
}

impl OffLockJobs {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of values, or searches of one value, worked on.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Begins work. Returns failed earlier work for the same: it may be the last reference to much memory.
    pub fn begin(&mut self, wanted: JobRequest) -> Option<OffLockJob> {
        let earlier = self.0.iter().position(|one| one.is_for_same(&wanted)).map(|at| self.0.remove(at));
        let tries = 1 + earlier.as_ref().map_or(0, OffLockJob::tries);
        self.0.push(match wanted {
            JobRequest::Search(wanted) => OffLockJob::Search(Box::new(Search::new(wanted, tries))),
            JobRequest::Mix(wanted) => OffLockJob::Mix(Box::new(BitopRequest { tries, ..wanted })),
            JobRequest::Value(sources) => OffLockJob::Combination(Combination::new(sources, tries)),
        });
        earlier
    }

    /// Returns the key that the latest work needs to look at before its next step.
    pub fn wants(&self) -> Option<&[u8]> {
        match self.0.last() {
            Some(OffLockJob::Combination(combination)) => combination.wants(),
            _ => None,
        }
    }

    /// Lets that work look at its wanted key; the tx holds the shard.
    pub fn look(&mut self, tx: &mut Tx<'_>) {
        if let Some(OffLockJob::Combination(combination)) = self.0.last_mut() {
            combination.look(tx);
        }
    }

    /// Runs a step of the latest work, some 50 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        self.0.last_mut().is_none_or(OffLockJob::step)
    }

    pub(crate) fn get(&self, table: TableId, key: &[u8], aim: &SearchQuery) -> Option<&Search> {
        self.0.iter().find_map(|one| match one {
            OffLockJob::Search(search) => Some(&**search).filter(|search| search.wanted.is_for(table, key, aim)),
            _ => None,
        })
    }

    pub(crate) fn get_mix(
        &self,
        table: TableId,
        key: &[u8],
        operation: BitOperation,
        count: usize,
    ) -> Option<&BitopRequest> {
        self.0.iter().find_map(|one| match one {
            OffLockJob::Mix(mix) => Some(&**mix).filter(|mix| mix.is_for(table, key, operation, count)),
            _ => None,
        })
    }

    pub(crate) fn get_combination(&self, sources: &Sources) -> Option<&Combination> {
        self.0.iter().find_map(|one| match one {
            OffLockJob::Combination(combination) => Some(combination).filter(|one| one.sources.is_for(sources)),
            _ => None,
        })
    }
}

/// One search.
pub struct Search {
    pub(crate) wanted: SearchRequest,
    /// Number of clones searched, including this one.
    pub(crate) tries: u32,
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
    fn new(wanted: SearchRequest, tries: u32) -> Self {
        let SearchQuery { needle, direction, limit, .. } = &wanted.aim;
        let search = blocks::Search::new(wanted.list.clone(), needle, *direction, *limit).repeatable();
        Self { wanted, tries, search, stage: Stage::Searching }
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

    /// Returns the stage after the search.
    fn begin_removal(&self) -> Stage {
        let found = self.search.found();
        let is_short = found.runs() <= DIRECT_RUNS_MAX && found.items() <= DIRECT_ITEMS_MAX;
        if !self.wanted.aim.removes || is_short {
            return Stage::Done(None);
        }
        let removal = Removal::new(self.wanted.list.clone());
        Stage::Removing { removal, next: 0, writer: RunWriter::default(), runs_bytes: 0 }
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
