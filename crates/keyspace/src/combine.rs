//! Computes the value that a command stores from other keys (SUNIONSTORE and its kin) without holding locks.
//!
//! ```text
//!   handler: tx.combine -- not made yet --> abandoned --> steps over clones, others run between them --.
//!      ^                                                                                               |
//!      `------ again: are the sources the clones still? then the result is put, as a whole ------------'
//! ```
//!
//! So the stored value reflects one instant of all sources. If the sources keep changing, two lock-free attempts are
//! made, then one under the locks.
//!
//! A combination may read keys whose names it finds in its sources (SORT BY and GET), one at a time, each under its own
//! lock. Such a combination reflects no single instant, and later changes to its sources do not invalidate it.

use crate::TableId;
use crate::tx::Tx;
use std::fmt;
use std::sync::Arc;
use values::Value;

/// A combination in progress.
pub trait Combining: Send {
    /// Runs for some 50 µs. Returns true when done.
    fn step(&mut self) -> bool;

    /// Returns the result once done; `None` if it is empty.
    fn result(&self) -> Option<Value>;

    /// Returns the key to look at before the next step.
    fn wants(&self) -> Option<&[u8]> {
        None
    }

    /// Looks at the wanted key; the tx holds its shard.
    fn look(&mut self, tx: &mut Tx<'_>) {
        let _ = tx;
    }

    /// Returns the error reply text if the finished combination has no result.
    fn fault(&self) -> Option<&'static str> {
        None
    }
}

/// The result of a combination, or its error.
pub type Made = Result<Option<Value>, &'static str>;

fn made(combining: &dyn Combining) -> Made {
    combining.fault().map_or_else(|| Ok(combining.result()), Err)
}

/// The instant that a combination reflects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfWhen {
    /// The instant at which its tx runs.
    Now,
    /// The instant at which it began, unless its tx has several commands.
    Then,
    /// As `Then`, but other keys as they were when looked at. A tx of several commands holds them all.
    Followed,
}

/// Begins a combination of these sources; `None` stands for an absent one.
pub(crate) type BeginCombining = dyn Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync;

/// A combination that a tx was abandoned for.
#[derive(Clone)]
pub struct Sources {
    table: TableId,
    /// Distinguishes it from others of the same EXEC.
    name: Vec<Box<[u8]>>,
    /// Clones of the sources as the tx saw them.
    values: Vec<Option<Value>>,
    begin: Arc<BeginCombining>,
}

impl Sources {
    pub(crate) fn new(
        table: TableId,
        name: &[&[u8]],
        values: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync + 'static,
    ) -> Self {
        Self { table, name: name.iter().map(|word| (*word).into()).collect(), values, begin: Arc::new(begin) }
    }

    /// Returns true if both are for the same command.
    pub(crate) fn is_for(&self, other: &Self) -> bool {
        self.table == other.table && self.name == other.name
    }

    fn are_same(&self, other: &Self) -> bool {
        let mut pairs = self.values.iter().zip(&other.values);
        self.values.len() == other.values.len()
            && pairs.all(|pair| match pair {
                (Some(one), Some(other)) => one.shares_root_with(other),
                (one, other) => one.is_none() && other.is_none(),
            })
    }

    /// Runs it to the end at once, in a tx that holds every key it looks at.
    pub(crate) fn combine(self, tx: &mut Tx<'_>) -> Made {
        let mut combining = (self.begin)(self.values);
        loop {
            if combining.wants().is_some() {
                combining.look(tx);
            } else if combining.step() {
                return made(&*combining);
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

/// One combination.
pub struct Combination {
    pub(crate) sources: Sources,
    /// Number of times its sources have been combined, including this one.
    pub(crate) tries: u32,
    combining: Box<dyn Combining>,
}

impl Combination {
    pub(crate) fn new(sources: Sources, tries: u32) -> Self {
        let combining = (sources.begin)(sources.values.clone());
        Self { sources, tries, combining }
    }

    pub(crate) fn step(&mut self) -> bool {
        self.combining.step()
    }

    pub(crate) fn result(&self) -> Made {
        made(&*self.combining)
    }

    pub(crate) fn wants(&self) -> Option<&[u8]> {
        self.combining.wants()
    }

    pub(crate) fn look(&mut self, tx: &mut Tx<'_>) {
        self.combining.look(tx);
    }
}
