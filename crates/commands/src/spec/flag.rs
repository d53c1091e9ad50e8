//! The properties of a command beyond those that every command has: flags, which COMMAND INFO reports or the engine asks, and
//! facts, with data: events, reads, statistics, and what Redis publishes about it.

use super::published::ArgumentFact;
use keyspace::Classes;

/// A property that a command has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// O(1) or O(log n).
    Fast,
    /// For administrators.
    Admin,
    /// Dangerous on a production server.
    Dangerous,
    /// Not allowed in scripts.
    NoScript,
    /// Not allowed in MULTI.
    NoMulti,
    /// Allowed before AUTH.
    NoAuth,
    /// Allowed while data is loading.
    Loading,
    /// Allowed on a replica that lost its source.
    Stale,
    /// Not in the slow log.
    SkipSlowlog,
    /// Allowed while a script keeps the server busy.
    AllowBusy,
    /// Sent between cluster nodes.
    Asking,
    /// Allowed only by `enable-debug-command`.
    Debug,
    /// Its writes change no visible data: COMMAND INFO and ACL list it as a read command.
    ReportedAsReader,
    /// A Pub/Sub command.
    PubSub,
    /// With BY or GET it reads keys whose names it finds in values.
    FollowsNames,
    /// Not shown by MONITOR, which shows its inner commands one by one.
    SkipMonitor,
    /// The request may have no key.
    NoMandatoryKeys,
    /// Stores arguments under keys unchanged: long ones are split before the shards are locked.
    PutsString,
    /// Keys are independent: outside transactions and scripts, very many keys are processed in batches.
    KeyByKey,
    /// Its arguments are key-value pairs: very many are sorted by shard before the shards are locked.
    Pairs,
    /// Stores nothing if one of its keys exists.
    IfAbsent,
    /// Its reply counts the keys of all shards.
    ReportsKeyCounts,
    /// Its reply is in the protocol that it sets.
    SetsProtocol,
    /// Runs at once inside MULTI.
    NotQueued,
    /// A subcommand of CLIENT: CLIENT CACHING applies to the command after it.
    OfClient,
    /// Allowed on a RESP2 connection that has subscriptions.
    WhileSubscribed,
    /// Replies once writes are replicated or durable; COMMAND INFO reports it as blocking.
    Waits,
    /// Publishes a message: CLIENT PAUSE WRITE holds it.
    Publishes,
    /// A wait for its keys ends when the key is removed or becomes another type.
    WaitEndsWithKey,
    /// With several keys, its first key argument is an empty string and the others follow an option.
    EmptyKeyBeforeList,
    /// A script that may only read.
    ReadOnlyScript,
    /// A script named by its SHA-1.
    ByDigest,
    /// Calls a function of a library.
    CallsFunction,
    /// Changes a number that exists: memcached then has a shorter line for lack of memory.
    ChangesNumber,
    /// A key that it does not find is no miss.
    NoMisses,
    /// Its changes are reported in reverse order: it carries out first what Redis reports last.
    EventsInReverse,
    /// It removes a key's old value before it stores the new one.
    RemovesBeforeStoring,
    /// In the ACL category `admin`, though it needs no such right.
    AdminCategory,
    /// In the ACL category `connection`, whatever its group.
    ConnectionCategory,
    /// Redis refuses it while it loads asynchronously.
    NoAsyncLoading,
    /// It removes the declarations of all indexes.
    RemovesIndexes,
    /// For servers and their tests only: `syscmd` in COMMAND DOCS.
    System,
}

/// A property with data, which most commands lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Which of its arguments are secret.
    Secret(Secret),
    /// A request for an item, of memcached, as its statistics count it.
    Item(ItemRequest),
    /// A request for a message, of MemcacheQ, as its statistics count it.
    Message(MessageRequest),
    /// Which of its key lookups count as reads; other commands count as [`crate::counted_reads`] says.
    Reads(CountedReads),
    /// The events it reports instead of those named after its effects.
    Events(&'static [EventRule]),
    /// Its group in COMMAND DOCS, if not [`super::Group::name`].
    DocsGroup(&'static str),
    /// Command tips: <https://redis.io/docs/latest/develop/reference/command-tips/>.
    Tips(&'static [&'static str]),
    /// Versions of Redis and what they changed, oldest first.
    History(&'static [(&'static str, &'static str)]),
    /// The version of Redis that deprecated it, and its replacement.
    Deprecated {
        /// The version.
        since: &'static str,
        /// The replacement, in Markdown.
        replaced_by: &'static str,
    },
    /// Arguments that COMMAND DOCS describes otherwise than the syntax line does.
    Arguments(&'static [ArgumentFact]),
}

/// Which arguments MONITOR and the slow log hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// All.
    AllArguments,
    /// Those after the user's name.
    Rules,
    /// The values of settings that are secret.
    Settings,
    /// User and password after AUTH.
    HelloOptions,
    /// Passwords after AUTH and AUTH2.
    MigrateOptions,
}

/// The lookups of a command that INFO counts as hits or misses: its first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedReads {
    /// None: it changes its keys, or asks about a key rather than for its value.
    None,
    /// Only the key that it changes.
    Changed,
    /// That key, if `GET` is among its options.
    ChangedIfGet,
    /// That key, if no operation writes.
    ChangedIfGetAlone,
    /// Each named key that is only read.
    Sources,
    /// Each named key.
    Named,
    /// All lookups.
    All,
}

/// The events that a command reports for an effect, instead of the effect's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRule {
    /// The effect's name.
    pub instead_of: &'static str,
    /// The events; may be none.
    pub events: &'static [(Classes, &'static str)],
}

/// A kind of request for an item, as memcached's statistics count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemRequest {
    /// get, gets.
    Get,
    /// mg.
    MetaGet,
    /// mg that sets a time to live.
    MetaGetAndTouch,
    /// gat, gats.
    GetAndTouch,
    /// touch.
    Touch,
    /// cas.
    CompareAndSwap,
    /// set, add, replace, append, prepend.
    Store,
    /// ms.
    MetaStore,
    /// delete.
    Delete,
    /// md.
    MetaDelete,
    /// me.
    MetaDebug,
    /// flush_all.
    Flush,
    /// incr.
    Increment,
    /// decr.
    Decrement,
    /// ma.
    MetaArithmetic,
}

/// A kind of request for a message, as MemcacheQ's statistics count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRequest {
    /// A get that takes or opens a message.
    Get,
    /// A get that leaves the message in the queue.
    Peek,
    /// Returns an open message to the queue.
    Abort,
    /// Closes an open message.
    Close,
    /// delete, which removes the queue.
    DeleteQueue,
    /// set.
    Set,
}
