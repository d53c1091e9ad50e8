//! A value made of others for a command that stores it (SUNIONSTORE and its kin), while no lock is held.
//!
//! ```text
//!   handler: tx.combine -- not made yet --> abandoned --> steps over clones, others run between them --.
//!      ^                                                                                               |
//!      `------ again: are the sources the clones still? then the result is put, as a whole ------------'
//! ```
//!
//! So what is stored is made of one instant of all sources. Sources that others change all the time are combined twice in
//! vain; then once more under the locks.
//!
//! A combination may look at keys whose names it finds in its sources (SORT BY and GET): one after the other, each under its
//! own lock. Such a one is of no instant, and what its sources have become meanwhile does not matter to it.

use crate::TableId;
use crate::tx::Tx;
use std::fmt;
use std::sync::Arc;
use values::Value;

/// A combination under way.
pub trait Combining: Send {
    /// Goes on for some 50 µs; whether it is over.
    fn step(&mut self) -> bool;

    /// What came out, of one that is over; `None` if that is nothing.
    fn result(&self) -> Option<Value>;

    /// The key that it is to be shown before its next step.
    fn wants(&self) -> Option<&[u8]> {
        None
    }

    /// Looks at the key that it wants, whose shard the tx holds.
    fn look(&mut self, tx: &mut Tx<'_>) {
        let _ = tx;
    }

    /// Why nothing can come out, of one that is over, in the words of an error reply.
    fn fault(&self) -> Option<&'static str> {
        None
    }
}

/// What came out of a combination, or why nothing could.
pub type Made = Result<Option<Value>, &'static str>;

fn made(combining: &dyn Combining) -> Made {
    combining.fault().map_or_else(|| Ok(combining.result()), Err)
}

/// Which instant of its sources a combination is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfWhen {
    /// The one in which its tx runs.
    Now,
    /// The one in which it began, unless its tx is of several commands.
    Then,
    /// Likewise, and other keys as they were when it looked at them. A tx of several commands holds them all.
    Followed,
}

/// Begins a combination of these sources; one that is absent is `None`.
pub(crate) type BeginCombining = dyn Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync;

/// A combination that a tx was abandoned for.
#[derive(Clone)]
pub struct Sources {
    table: TableId,
    /// What tells it from others of the same EXEC.
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

    /// Whether the two are for one command.
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

    /// All of it, at once, by a tx that holds whatever it wants to look at.
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
    /// How often its sources have been combined, this time included.
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
