//! Work on large values, done for a command while it holds no lock: snapshot, compute, validate, exchange.
//!
//! ```text
//!   handler: tx.compute -- not done --> abandoned with its sources --> steps over clones, others run between them --.
//!      ^                                                                                                            |
//!      '--- again: are the sources the clones still? --yes--> the result is put, as a whole -------- once more -----'
//!                                                  '--no----> computed once more, keeping what still holds;
//!                                                             after [`OFF_LOCK_TRIES_MAX`] times, under the locks
//! ```
//!
//! So a stored value reflects one instant of all its sources.
//!
//! A computation may read keys whose names it finds in its sources (SORT BY and GET), one at a time, each under its own
//! lock. Such a computation reflects no single instant, and later changes to its sources do not invalidate it.

use crate::TableId;
use crate::tx::Tx;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use values::Value;

/// Number of times that work is done on clones, before it is done under the locks.
pub const OFF_LOCK_TRIES_MAX: u32 = 2;

/// A computation on clones, in progress or done.
pub trait Computation: Any + Send {
    /// Runs for some 50 µs. Returns true when done.
    fn step(&mut self) -> bool;

    /// Returns the result once done; `None` if it is empty.
    fn result(&self) -> Option<Value>;

    /// Returns the error reply text if the finished computation has no result.
    fn fault(&self) -> Option<&'static str> {
        None
    }

    /// Returns the finished computation begun again for its sources as they are now, with all in it that still holds;
    /// `None`: it begins anew. O(differences · log n).
    fn resumed(&self, sources: &[Option<Value>]) -> Option<Box<dyn Computation>> {
        let _ = sources;
        None
    }

    /// Returns the key to look at before the next step.
    fn wants(&self) -> Option<&[u8]> {
        None
    }

    /// Looks at the wanted key; the tx holds its shard.
    fn look(&mut self, tx: &mut Tx<'_>) {
        let _ = tx;
    }
}

/// The result of a computation, or its error.
pub type Computed = Result<Option<Value>, &'static str>;

/// The instant that a computation reflects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfWhen {
    /// The instant at which its tx runs.
    Now,
    /// The instant at which it began, unless its tx has several commands.
    Then,
    /// As `Then`, but other keys as they were when looked at. A tx of several commands holds them all.
    Followed,
}

/// Begins a computation over these sources; `None` stands for an absent one.
type Begin = dyn Fn(Vec<Option<Value>>) -> Box<dyn Computation> + Send + Sync;

/// The sources of a computation for which a tx was abandoned.
#[derive(Clone)]
pub struct Sources {
    table: TableId,
    /// Distinguishes it from others of the same EXEC.
    name: Vec<Box<[u8]>>,
    /// Clones of the sources as the tx saw them.
    values: Vec<Option<Value>>,
    begin: Arc<Begin>,
}

impl Sources {
    pub(crate) fn new(
        table: TableId,
        name: &[&[u8]],
        values: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Computation> + Send + Sync + 'static,
    ) -> Self {
        Self { table, name: name.iter().map(|word| (*word).into()).collect(), values, begin: Arc::new(begin) }
    }

    /// Returns true if both are for the same command.
    fn is_for(&self, other: &Self) -> bool {
        self.table == other.table && self.name == other.name
    }

    fn are_same(&self, other: &Self) -> bool {
        let mut pairs = self.values.iter().zip(&other.values);
        self.values.len() == other.values.len()
            && pairs.all(|pair| match pair {
                (Some(Value::Text(one)), Some(Value::Text(other))) => one.is_same(other),
                (Some(one), Some(other)) => one.shares_root_with(other),
                (one, other) => one.is_none() && other.is_none(),
            })
    }

    /// Begins the computation, with what still holds of an `earlier` one.
    fn begin(&self, earlier: Option<&OffLockJob>) -> Box<dyn Computation> {
        let resumed = earlier.and_then(|earlier| earlier.computation.resumed(&self.values));
        resumed.unwrap_or_else(|| (self.begin)(self.values.clone()))
    }

    /// Runs it to the end at once, in a tx that holds every key it looks at.
    pub(crate) fn compute(&self, tx: &mut Tx<'_>, earlier: Option<&OffLockJob>) -> Computed {
        let mut computation = self.begin(earlier);
        loop {
            if computation.wants().is_some() {
                computation.look(tx);
            } else if computation.step() {
                return computed(&*computation);
            }
        }
    }
}

impl PartialEq for Sources {
    fn eq(&self, other: &Self) -> bool {
        self.is_for(other) && self.are_same(other)
    }
}

impl Eq for Sources {}

impl fmt::Debug for Sources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sources").field("values", &self.values).finish_non_exhaustive()
    }
}

fn computed(computation: &dyn Computation) -> Computed {
    computation.fault().map_or_else(|| Ok(computation.result()), Err)
}

/// A computation and the sources that it is of.
pub struct OffLockJob {
    pub(crate) sources: Sources,
    /// Number of times its sources have been worked on, including this one.
    pub(crate) tries: u32,
    computation: Box<dyn Computation>,
}

impl OffLockJob {
    /// Returns the result, once done.
    pub(crate) fn result(&self) -> Computed {
        computed(&*self.computation)
    }

    /// Returns its computation, which is a `C`.
    pub(crate) fn computation<C: Computation>(&self) -> &C {
        let computation: &dyn Any = &*self.computation;
        computation.downcast_ref().expect("jobs of one name have one kind of computation")
    }
}

/// The jobs of one command or one EXEC.
#[derive(Default)]
pub struct OffLockJobs(Vec<OffLockJob>);

impl OffLockJobs {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of jobs.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Begins work. Returns failed earlier work for the same: it may be the last reference to much memory.
    pub fn begin(&mut self, sources: Sources) -> Option<OffLockJob> {
        let earlier = self.0.iter().position(|job| job.sources.is_for(&sources)).map(|at| self.0.remove(at));
        let tries = 1 + earlier.as_ref().map_or(0, |job| job.tries);
        let computation = sources.begin(earlier.as_ref());
        self.0.push(OffLockJob { sources, tries, computation });
        earlier
    }

    /// Returns the key that the latest job needs to look at before its next step.
    pub fn wants(&self) -> Option<&[u8]> {
        self.0.last().and_then(|job| job.computation.wants())
    }

    /// Lets that job look at its wanted key; the tx holds the shard.
    pub fn look(&mut self, tx: &mut Tx<'_>) {
        if let Some(job) = self.0.last_mut() {
            job.computation.look(tx);
        }
    }

    /// Runs a step of the latest job, some 50 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        self.0.last_mut().is_none_or(|job| job.computation.step())
    }

    /// Returns the job for the same command.
    pub(crate) fn get(&self, sources: &Sources) -> Option<&OffLockJob> {
        self.0.iter().find(|job| job.sources.is_for(sources))
    }
}
