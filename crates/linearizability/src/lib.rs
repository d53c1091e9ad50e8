//! Checks whether a single order explains a record of calls and replies.
//!
//! ```text
//!   clients ── Vec<Event> ──> check ──> Ok, or an Anomaly: what is wrong, and the few events that show it
//!                               │
//!                               ├ inside     the steps of one transaction agree with each other
//!                               ├ registers  SET GET: each key has an order of its calls, in real time
//!                               ├ lists      RPUSH LRANGE: what was read are beginnings of one list
//!                               ├ queues     pops and moves: once each, in order, nothing lost, nothing in two places
//!                               └ cycles     one order of all transactions, over all keys and real time
//! ```
//!
//! Values are unique, so a read identifies the write it saw. Keys are never deleted, so a list only grows and a
//! register never becomes absent again. A call whose reply was lost may have taken effect before its server was dead,
//! or never.
//!
//! An anomaly is proof: no order explains the events it names, whatever else happened. Its absence is proof for each
//! register by itself; elsewhere, the more is read, the less escapes (`tests/twin.rs`).
//!
//! The crate uses no clock, sockets or randomness: real and simulated servers are checked alike.

#![forbid(unsafe_code)]

mod anomaly;
mod cycles;
mod event;
mod graph;
mod happened;
mod inside;
mod lists;
mod overtaking;
mod parse;
mod queues;
mod registers;
mod unknown;

pub use anomaly::{Anomaly, Kind};
pub use event::{End, Event, Key, Step, Value};
pub use parse::{ParseError, parse};

/// Checks a history: events in any order, times of one clock, each key used with one type of steps.
///
/// O(n log n) in events and elements read.
///
/// # Errors
/// The anomaly that is easiest to understand among those found.
pub fn check(events: &[Event]) -> Result<(), Anomaly> {
    let happened = happened::find(events);
    inside::check(events)?;
    registers::check(events, &happened)?;
    let orders = lists::check(events, &happened)?;
    queues::check(events, &happened)?;
    cycles::check(events, &happened, &orders)
}
