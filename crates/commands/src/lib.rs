//! Commands and handlers: everything a client can request. A folder per group, a file per family of verbs.
//!
//! ```text
//! request --table::find--> command --engine locks its keys' shards--> run(tx, args, reply) -> Outcome
//! ```
//!
//! Invariant: nothing here sees a socket, a file, a clock or a thread. Handlers see [`keyspace::Tx`], arguments and a
//! [`wire::Reply`]; connection and server handlers see a [`Session`]. A handler never logs a change: the guards of its
//! tx record the effects. It reads and validates first and writes last.

#![forbid(unsafe_code)]

mod acl;
mod bitmap;
mod blocking_source;
mod chunked_buffer;
mod connection;
mod decimal;
mod double;
mod draw;
mod element_scan;
mod engine_arguments;
mod events;
mod failure;
mod generic;
mod geo;
mod hash;
mod help;
mod hyperloglog;
mod in_order;
mod list;
mod memcached;
mod parse;
mod prelude;
mod pubsub;
mod queue;
mod reads;
pub mod registry;
mod script;
mod search;
mod server;
mod session;
mod set;
mod sorted;
mod spec;
mod stream;
mod string;
mod tagged;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;

pub use acl::{CATEGORIES, categories};
pub use connection::greeting::REDIS_VERSION;
pub use engine_arguments::{pause_arguments, shutdown_arguments, sleep_ms, timeout_ms, wait_arguments};
pub use events::{Event, events, reports_misses};
pub use failure::{Failure, OUT_OF_MEMORY};
pub use generic::delete::REMOVE_MORE;
pub use generic::migrate::{Migration, migrate_arguments};
pub use generic::range::{NameRange, no_order};
pub use memcached::MEMCACHED_VERSION;
pub use memcached::flush::{REMOVE_TEXTS, flush_delay};
pub use memcached::life::exptime_seconds_left;
pub use parse::repeated;
pub use queue::LEASE_MS;
pub use queue::lengths::QueueLengths;
pub use queue::protocol::{MEMCACHEQ_VERSION, REMOVE_QUEUES, abort_request};
pub use rdb::{LibrariesDump, LibrariesReading};
pub use reads::counted_reads;
pub use script::eval::keys_count as script_keys_count;
pub use script::function::{LibraryRequest, RestorePolicy, library_request};
pub use search::declare::{DROP_DECLARATION, resolve_index};
pub use search::delete_by::{DELETE_MATCHING, DeleteQuery, DeleteRun, delete_matching};
pub use search::query::{IndexQuery, QueryRun, QueryStep};
pub use search::tree::write_tree;
pub use search::{
    CURSOR_IDLE_MS_MAX, CURSOR_RECORDS, INDEX_CURSORS_MAX, QUERY_TIMED_OUT, SEARCH_VERSION, unknown_index,
};
pub use server::monitor::{REDACTED, is_shown, may_be_secret, secret_arguments, shown};
pub use session::{
    ClientFilter, Facts, FunctionStats, ItemEvent, MemoryFigures, PrefixCounts, ReplyMode, RunningFunction, Saving,
    Session, SlowEntry, SlowEvents, Switch, Topic, TrackWhen, Tracking,
};
pub use spec::{
    Access, ArgumentFact, Arity, Begin, BeginGather, BeginRange, BeginSweep, CommandSpec, CountedReads, EventRule,
    Fact, Find, Flag, Gather, Group, ItemRequest, KeySpec, KnownKeys, LibraryVerb, Local, MessageRequest, OfSession,
    Outcome, Parts, QueryType, Run, SearchVerb, Secret, Settled, Sweep, SweepNext, TimeoutAt, Varies, Verb,
};
pub use string::many::put_sorted;
pub use tagged::drop::REMOVE_TAGGED;

/// The commands of every file; a new file is added here.
const FILES: &[&[CommandSpec]] = &[
    bitmap::bit::COMMANDS,
    bitmap::count::COMMANDS,
    bitmap::field::COMMANDS,
    bitmap::operation::COMMANDS,
    connection::client::COMMANDS,
    connection::greeting::COMMANDS,
    connection::client_options::COMMANDS,
    connection::plain::COMMANDS,
    connection::tracking::COMMANDS,
    generic::database::COMMANDS,
    generic::delete::COMMANDS,
    generic::dump::COMMANDS,
    generic::expire::COMMANDS,
    generic::inspect::COMMANDS,
    generic::migrate::COMMANDS,
    generic::object::COMMANDS,
    generic::place::COMMANDS,
    generic::range::COMMANDS,
    generic::scan::COMMANDS,
    generic::sort::COMMANDS,
    generic::time_left::COMMANDS,
    geo::add::COMMANDS,
    geo::look::COMMANDS,
    geo::search::COMMANDS,
    hash::all::COMMANDS,
    hash::count::COMMANDS,
    hash::delete::COMMANDS,
    hash::expire::COMMANDS,
    hash::get::COMMANDS,
    hash::life::COMMANDS,
    hash::random::COMMANDS,
    hash::scan::COMMANDS,
    hash::set::COMMANDS,
    hash::time_left::COMMANDS,
    hyperloglog::count::COMMANDS,
    hyperloglog::debug::COMMANDS,
    list::blocking::COMMANDS,
    list::edit::COMMANDS,
    list::find::COMMANDS,
    list::transfer::COMMANDS,
    list::pop::COMMANDS,
    list::push::COMMANDS,
    list::range::COMMANDS,
    memcached::count::COMMANDS,
    memcached::dump::COMMANDS,
    memcached::flush::COMMANDS,
    memcached::get::COMMANDS,
    memcached::life::COMMANDS,
    memcached::meta::COMMANDS,
    memcached::meta_set::COMMANDS,
    memcached::stats::COMMANDS,
    memcached::store::COMMANDS,
    memcached::watch::COMMANDS,
    pubsub::look::COMMANDS,
    pubsub::publish::COMMANDS,
    pubsub::subscribe::COMMANDS,
    queue::protocol::COMMANDS,
    queue::acknowledge::COMMANDS,
    queue::limit::COMMANDS,
    queue::push::COMMANDS,
    queue::reserve::COMMANDS,
    queue::reply::COMMANDS,
    script::cache::COMMANDS,
    script::eval::COMMANDS,
    script::function::COMMANDS,
    search::alias::COMMANDS,
    search::config::COMMANDS,
    search::declare::COMMANDS,
    search::delete::COMMANDS,
    search::delete_by::COMMANDS,
    search::explain::COMMANDS,
    search::info::COMMANDS,
    search::query::COMMANDS,
    server::acl::COMMANDS,
    server::cluster::COMMANDS,
    server::command::COMMANDS,
    server::config::COMMANDS,
    server::debug::COMMANDS,
    server::info::COMMANDS,
    server::latency::COMMANDS,
    server::replication_stubs::COMMANDS,
    server::memory::COMMANDS,
    server::module::COMMANDS,
    server::monitor::COMMANDS,
    server::shutdown::COMMANDS,
    server::slowlog::COMMANDS,
    set::add::COMMANDS,
    set::algebra::COMMANDS,
    set::all::COMMANDS,
    set::look::COMMANDS,
    set::random::COMMANDS,
    set::scan::COMMANDS,
    sorted::add::COMMANDS,
    sorted::algebra::COMMANDS,
    sorted::blocking::COMMANDS,
    sorted::lookup::COMMANDS,
    sorted::pop::COMMANDS,
    sorted::random::COMMANDS,
    sorted::range::COMMANDS,
    sorted::remove::COMMANDS,
    sorted::scan::COMMANDS,
    stream::add::COMMANDS,
    stream::claim::COMMANDS,
    stream::delete::COMMANDS,
    stream::group::COMMANDS,
    stream::info::COMMANDS,
    stream::pending::COMMANDS,
    stream::range::COMMANDS,
    stream::read::COMMANDS,
    stream::trim::COMMANDS,
    string::compare::COMMANDS,
    string::count::COMMANDS,
    string::get::COMMANDS,
    string::lcs::COMMANDS,
    string::many::COMMANDS,
    string::part::COMMANDS,
    string::set::COMMANDS,
    tagged::count::COMMANDS,
    tagged::create::COMMANDS,
    tagged::drop::COMMANDS,
    tagged::insert::COMMANDS,
    tagged::mark::COMMANDS,
    tagged::place::COMMANDS,
    tagged::range::COMMANDS,
    tagged::remove::COMMANDS,
    tagged::schema::COMMANDS,
    tagged::lookup::COMMANDS,
    transaction::multi::COMMANDS,
];
