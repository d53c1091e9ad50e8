//! OffLockJobs of big lists, made for a command while it holds no lock.
//!
//! ```text
//!   handler: tx.search -- not made yet --> abandoned --> steps over a clone, others run between them --.
//!      ^                                                                                               |
//!      `------ again, with what was found: as it is if the list is the clone still, brought up to date if not
//! ```
//!
//! A removal of very many items is prepared as well, from the clone: the list after it, and the size of its record. Under
//! the locks only the root is exchanged. A list that others change all the time is searched twice in vain; then the command
//! looks under the lock into what is no longer its clone's own, and changes what it finds.

use crate::TableId;
use crate::bitop::BitopRequest;
use crate::combine::{Combination, Sources};
use crate::effect::RunWriter;
use crate::tx::Tx;
use blocks::{Direction, Removal, Runs};
use std::sync::Arc;
use values::List;
use values::bits::BitOperation;

/// What a command looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// What an item is to equal.
    pub needle: Vec<u8>,
    /// From the head forward, or from the tail backward.
    pub direction: Direction,
    /// How many items at most.
    pub limit: u64,
    /// Whether they are to be removed.
    pub removes: bool,
}

/// Work on clones that a tx was abandoned for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobRequest {
    /// A list is to be searched.
    Search(SearchRequest),
    /// A text is to be made of others.
    Mix(BitopRequest),
    /// A value is to be made of others.
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

/// Work on clones that was done for one command, or for one EXEC.
#[derive(Default)]
pub struct OffLockJobs(Vec<OffLockJob>);

/// Work on clones, under way or done.
pub enum OffLockJob {
    /// A list is searched.
    Search(Box<Search>),
    /// A text is made of others.
    Mix(Box<BitopRequest>),
    /// A value is made of others.
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
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many values, or aims in one value, have been worked on.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Begins work. Gives earlier work for the same that came to nothing: it may hold the last reference to much.
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

    /// The key that the work begun last is to be shown before its next step.
    pub fn wants(&self) -> Option<&[u8]> {
        match self.0.last() {
            Some(OffLockJob::Combination(combination)) => combination.wants(),
            _ => None,
        }
    }

    /// Has that work look at the key that it wants, whose shard the tx holds.
    pub fn look(&mut self, tx: &mut Tx<'_>) {
        if let Some(OffLockJob::Combination(combination)) = self.0.last_mut() {
            combination.look(tx);
        }
    }

    /// A step of the work that was begun last, of some 50 µs; whether it is over.
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
    /// Clones searched so far, this one included.
    pub(crate) tries: u32,
    search: blocks::Search,
    stage: Stage,
}

enum Stage {
    Searching,
    Removing { removal: Removal, next: usize, writer: RunWriter, runs_bytes: u64 },
    Done(Option<Prepared>),
}

/// A removal that is made by exchanging the list.
pub(crate) struct Prepared {
    /// The list without what was found.
    pub(crate) after: List,
    /// What the runs of its record take, in bytes.
    pub(crate) runs_bytes: u64,
}

/// How much is searched or changed in one step, in bytes of items.
const SEARCHED_BYTES: u64 = 128 << 10;
const CHANGED_BYTES: u64 = 32 << 10;
/// So many runs are removed under the lock: some 100 µs.
const DIRECT_RUNS_MAX: usize = 32;
/// And so many items, whose blocks are dropped there.
const DIRECT_ITEMS_MAX: u64 = 4096;

impl Search {
    fn new(wanted: SearchRequest, tries: u32) -> Self {
        let SearchQuery { needle, direction, limit, .. } = &wanted.aim;
        let search = blocks::Search::new(wanted.list.clone(), needle, *direction, *limit).repeatable();
        Self { wanted, tries, search, stage: Stage::Searching }
    }

    /// What was found in the clone.
    pub(crate) fn found(&self) -> &Arc<Runs> {
        self.search.found()
    }

    /// What is found in the list as it is now.
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

    /// What follows the search.
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

/// What a command works on: what was found before, if the list is still the one that was searched, or what is there now.
pub enum Finding<'k> {
    /// The list is the clone.
    Still(&'k Search),
    /// Found just now.
    Now(Arc<Runs>),
}

impl Finding<'_> {
    /// Indices of the items.
    pub fn found(&self) -> &Arc<Runs> {
        match self {
            Self::Still(search) => search.found(),
            Self::Now(found) => found,
        }
    }
}
