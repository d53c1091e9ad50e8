//! The engine: sessions, MULTI, blocking, durability of replies, recovery.
//!
//! ```text
//! Session (one a connection) --> Worker (one a thread) --> Engine (one) --> Keyspace, Journal, Clients, Hooks
//!                                       Checkpointer (one) ----^   `--> Store
//! ```
//!
//! Invariant: nothing here opens a socket or starts a thread; futures are woken by plain wakers and sleep on the given
//! [`event_loop::SleepFn`], so the same code runs in the server and in a simulated world.

#![forbid(unsafe_code)]

mod auth_failures;
pub mod checkpoint;
pub mod client;
pub mod counters;
mod deferred_drop;
mod engine;
pub mod event_loop;
mod executor;
mod expire_cycle;
mod fifo_lock;
mod flushes;
mod homes;
mod hooks;
mod indexer;
pub mod info;
mod item_log;
pub mod latency;
mod latency_monitor;
mod leases;
pub mod loading;
mod memcached;
mod memcacheq;
pub mod memory;
mod monitors;
mod offload;
mod pause;
mod prefixes;
mod pubsub;
mod pushes;
mod script;
mod search;
mod session;
pub mod settings;
mod slowlog;
mod thread_cpu_time;
mod tracking;
mod waiter;
mod waits;
mod watchdog;
pub mod worker;

pub use auth_failures::{AuthDelay, AuthFailures};
pub use checkpoint::{CheckpointPace, Checkpointer};
pub use deferred_drop::DeferredDrop;
pub use engine::{Engine, Parts, Sums, VERSION, policy_of};
pub use expire_cycle::{ExpireCycle, close_greatest_pinners};
pub use indexer::Indexer;
pub use loading::{AT_ONCE_BYTES_MAX, Gathering, Loader, Loading, Mended};
pub use offload::OffloadPool;
pub use script::runner::SuspendedScript;
pub use script::{Logger, Scripts};
pub use session::{Destination, MovingSession, Next, Session, Slow, Turn};
pub use watchdog::{Report, Sighting, Watchdog, WatchedThing};
pub use worker::{ServedConnection, Worker};
