//! A seeded world: a fake disk, a fake clock, one schedule; it runs engine, journal and keyspace as the server does.
//!
//! ```text
//! seed --> schedule: which client, the journal's writer or maker, the expire cycle, or time itself goes on next
//!            |
//!          crash at any step --> FakeDisk::crash: of what was not synced, any subset of sectors and names survives
//!            |
//!          boot again (and crash during that, too) --> what clients were told is compared with what is there
//! ```
//!
//! Clients write unique values to keys of their own, read each other's, and move elements of one queue; so what must be
//! there after a crash follows from the replies that left, without a model of the server. Six things are held against
//! each other: store and journal, and all frames ever made (`ledger`), what was told and what is there (`check`), replies
//! and the frames they had seen (`ledger`), state and the replay of its journal (`life`), who waits and who is served
//! (`line`), and all calls of a few keys over all lives and one order of them (`record`). Where clients follow a
//! script, what must be there is known in full (`script`). One seed is one world: the same seed gives the same run.

#![forbid(unsafe_code)]

mod act;
mod boot;
mod check;
mod client;
mod executor;
mod facts;
mod forge;
mod ledger;
mod life;
mod line;
mod lying;
mod random;
mod record;
mod request;
mod script;
mod sick;
mod state;
mod turns;
mod world;

pub use script::{Script, Turns};
pub use world::{Fault, Plan, Seen, Workload, World};
