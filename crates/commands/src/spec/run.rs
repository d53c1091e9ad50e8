//! Where a command runs, and its handler.

use super::Outcome;
use crate::failure::Failure;
use crate::generic::range::NameRange;
use crate::session::Session;
use base::Ms;
use keyspace::Tx;
use wire::{Args, More, OwnedRequest, Reply};

/// A handler for connection and server commands.
pub type OfSession = fn(&mut dyn Session, &Args, &mut dyn Reply) -> Outcome;

/// A handler that works on the keys its command names.
pub type Local = fn(&mut Tx, &Args, &mut dyn Reply) -> Outcome;

/// A function that returns the request in the form kept while it waits.
pub type Settled = fn(&mut Tx, &Args) -> OwnedRequest;

/// A [`Settled`] for requests whose meaning does not depend on time.
pub(crate) fn as_it_is(_: &mut Tx, args: &Args) -> OwnedRequest {
    args.to_owned()
}

/// A function that starts a sweep over all shards, given the arguments and a random number.
pub type BeginSweep = fn(&Args, u64) -> Result<Box<dyn Sweep>, Failure>;

/// A function that starts a lookup of many keys, given the arguments. O(1), or one zeroed byte per key.
pub type BeginGather = fn(&Args) -> Box<dyn Gather>;

/// A function that starts a range scan of names in order, given the arguments.
pub type BeginRange = fn(&Args) -> Result<NameRange, Failure>;

/// Where a command runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Under the locks of its keys' shards.
    Local(Local),
    /// Like `Local`, with all arguments after the name as keys; very many are read shard by shard, but the reply still
    /// reflects one instant.
    Gather {
        /// The handler for a few keys.
        at_once: Local,
        /// Starts the lookup of many.
        begin: BeginGather,
    },
    /// Like `Local`, and rerun by the request that gives one of its keys what it waits for. `try_now` fails with
    /// [`Failure::Nothing`] if there is nothing yet, after checking the timeout.
    Blocking {
        /// The handler. With several keys it looks only at those [`Tx::may_use`] allows.
        try_now: Local,
        /// The position of the timeout argument.
        timeout: TimeoutAt,
        /// The immediate reply inside MULTI if there is nothing. On timeout the reply is a null array.
        empty: fn(&mut dyn Reply),
        /// The request as kept while it waits. Changes of an unsuccessful try persist, unless it was such a rerun.
        settled: Settled,
    },
    /// On the connection or the server, without any shard.
    Session(OfSession),
    /// Like `Session`, but long requests run in parts so that others get their turn.
    Parts {
        /// The handler for short requests and those that must be atomic.
        at_once: OfSession,
        /// Returns true if a request is long. O(1).
        is_long: fn(&dyn Session, &Args) -> bool,
        /// Starts a long one.
        begin: fn() -> Box<dyn Parts>,
    },
    /// Over all shards of the database, one at a time.
    Sweep(BeginSweep),
    /// Over names in order, in batches, each under the lock of its own shard.
    Range {
        /// The handler when all shards are held, under the gate.
        at_once: Local,
        /// Starts the range scan.
        begin: BeginRange,
    },
    /// Over an index of hashes.
    Search(SearchVerb),
    /// Over all shards atomically, under the gate.
    Gate(Local),
    /// By the engine itself.
    Engine(Verb),
}

/// The position of a blocking command's timeout, in seconds unless noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutAt {
    /// After the name.
    First,
    /// The last argument.
    Last,
    /// After the word BLOCK, before STREAMS, in milliseconds.
    Block,
    /// After the word BLOCK, which follows the keys, in milliseconds.
    LastBlock,
}

/// The commands only the engine can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// MULTI
    Multi,
    /// EXEC
    Exec,
    /// DISCARD
    Discard,
    /// WATCH
    Watch,
    /// UNWATCH
    Unwatch,
    /// CLIENT PAUSE
    Pause,
    /// MIGRATE
    Migrate,
    /// MC.FLUSH_ALL
    FlushStrings,
    /// MQ.FLUSH_ALL
    FlushQueues,
    /// MQ.QUEUES
    ListQueues,
    /// TL.DROP
    DropTagged,
    /// WAITAOF
    WaitDisk,
    /// DEBUG SLEEP
    DebugSleep,
    /// DEBUG RELOAD
    DebugReload,
    /// SAVE
    Save,
    /// SHUTDOWN
    Shutdown,
    /// EVAL, EVALSHA, FCALL and their read-only variants
    Eval,
    /// SCRIPT LOAD
    ScriptLoad,
    /// FUNCTION LOAD and other commands on libraries
    Library(LibraryVerb),
}

/// The commands that use an index of hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchVerb {
    /// A query.
    Query(QueryType),
    /// FT.CURSOR
    Cursor,
    /// FT.INFO
    Info,
    /// FT.DELETEBY
    DeleteBy,
    /// FT.DROPINDEX
    Drop,
}

/// The types of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryType {
    /// FT.SEARCH
    Search,
    /// FT.AGGREGATE
    Aggregate,
    /// FT.TAGVALS
    TagValues,
}

/// The commands on function libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryVerb {
    /// FUNCTION LOAD
    Load,
    /// FUNCTION LIST
    List,
    /// FUNCTION DELETE
    Delete,
    /// FUNCTION DUMP
    Dump,
    /// FUNCTION RESTORE
    Restore,
    /// FUNCTION FLUSH
    Flush,
}

/// How a [`Sweep`] continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepNext {
    /// With the next shard.
    Next,
    /// With the same shard, which is unlocked in between.
    Again,
    /// The sweep ends.
    Over,
}

/// A lookup of many keys, each read on its own, and again if it may have changed since.
pub trait Gather: Send {
    /// Reserves space for one more key's value. Called for every key before any is read, so that no single step
    /// allocates much.
    fn expect(&mut self) {}

    /// Reserves space for the results of some keys before a shard is locked: fresh memory may be expensive.
    fn prepare(&mut self) {}

    /// Records the value of `key`, the argument at `at`; returns its deadline.
    fn look(&mut self, tx: &mut Tx, at: usize, key: &[u8]) -> Option<Ms>;

    /// Writes the reply.
    fn finish(self: Box<Self>, reply: &mut dyn Reply);
}

/// A long connection or server command, run in parts.
pub trait Parts {
    /// Runs about 100 µs of the command and writes that part's reply. Not called again after [`More::Done`] or a
    /// failure, which is then the whole reply.
    ///
    /// # Errors
    /// The command's failure.
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure>;
}

/// Commands with more arguments than this run in parts.
pub(crate) const PART_ARGUMENTS: usize = 128;

/// Returns true if a request has very many arguments.
pub(crate) fn has_many_arguments(_: &dyn Session, args: &Args) -> bool {
    args.len() > PART_ARGUMENTS
}

/// Runs all parts of a command at once.
pub(crate) fn all_parts(
    mut parts: impl Parts,
    session: &mut dyn Session,
    args: &Args,
    reply: &mut dyn Reply,
) -> Outcome {
    while parts.next(session, args, reply)? != More::Done {}
    Ok(())
}

/// The knowledge of a shard's keys of the database without a look at them.
#[derive(Clone, Copy, Debug)]
pub struct KnownKeys {
    /// Their number, including expired ones not yet removed.
    pub keys: u64,
    /// There may be more or fewer; in a loaded shard the number then says nothing.
    pub is_rough: bool,
    /// Some may have expired.
    pub may_expire: bool,
    /// A look need not wait for the shard to be loaded.
    pub is_loaded: bool,
}

impl KnownKeys {
    /// Returns true if there are none.
    pub fn are_none(&self) -> bool {
        self.keys == 0 && !self.is_rough
    }
}

/// A pass over all shards, one at a time, each under its own lock.
pub trait Sweep: Send {
    /// The first shard; the sweep ends with the last one.
    fn first_shard(&self) -> usize {
        0
    }

    /// Passes over a shard, given what is known of it. Returns `false` if it needs to look at the keys.
    fn pass(&mut self, shard: usize, known: KnownKeys) -> bool {
        let _ = (shard, known);
        false
    }

    /// Returns true if it is so short that it is tried at once, as any other command.
    fn is_short(&self) -> bool {
        false
    }

    /// After the last shard: returns a skipped shard to go back to.
    fn go_back(&mut self) -> Option<usize> {
        None
    }

    /// Returns true if the sweep reads only names, types and deadlines of keys: values may then be unloaded.
    fn names_only(&self) -> bool {
        false
    }

    /// Reserves space for the results of a visit before a shard is locked: fresh memory may be expensive.
    fn prepare(&mut self) {}

    /// Visits one shard, or some hundred keys of it.
    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext;

    /// Writes the reply.
    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome;
}
