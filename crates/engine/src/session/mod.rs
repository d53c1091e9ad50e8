//! A session: one connection, from request bytes to reply bytes.
//!
//! ```text
//! input --turn--> request --attempt--> reply in output, counted by replies      all at once: no await, no lock kept
//!                        |
//!                        `-- Suspend --> Next::Slow --slow--> park, wait, gate, sweep      awaits
//!
//! state          the connection's fields; nothing below it knows how a request runs
//! protocol/      what a connection speaks: RESP, memcached, MemcacheQ
//! connection/    what a client asks of its connection: messages, tracking, MONITOR, passwords, WATCH
//! search/        queries over indexes of hashes
//! scripts/       what needs a Lua machine: EVAL, functions, libraries
//! ```
//!
//! A turn ends after a number of requests or microseconds, or when enough output is pending (`turn`).

mod affinity;
mod attempt;
#[cfg(bobbin_canary = "lockless-pop")]
mod canary;
mod connection;
mod element_wait;
mod exec;
mod flush;
mod gather;
mod gathered_keys;
mod in_parts;
mod migrate;
mod off_lock;
mod order;
mod parts;
mod protocol;
mod replies;
pub(crate) mod retry_state;
mod scripts;
mod search;
mod slow;
mod speculate;
pub(crate) mod state;
pub(crate) mod suspend;
mod sweep;
mod turn;
mod unless_short;

pub use affinity::{Destination, MovingSession};
pub use state::Session;
pub use turn::{Next, Slow, Turn};
