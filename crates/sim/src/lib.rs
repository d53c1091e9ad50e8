//! A seeded world: a fake disk, a fake clock, one schedule. It runs engine, journal and keyspace as the server does.
//!
//! ```text
//! seed --> schedule: which client, the journal's writer or maker, the expire cycle, or time itself advances next
//!            |
//!          crash at any step --> FakeDisk::crash: any subset of the unsynced sectors and names survives
//!            |
//!          boot again (and crash during that, too) --> the replies to clients are compared with the state
//! ```
//!
//! Clients write unique values to keys of their own, read each other's, and move elements of one queue; so what must
//! survive a crash follows from the replies sent, without a model of the server. We compare six pairs: store and
//! journal with all frames ever made (`ledger`), replies with the state (`check`), replies with the frames they had
//! seen (`ledger`), the state with the replay of its journal (`life`), waiting clients with those served (`line`), and
//! all calls on a few keys over all lives with a single order (`record`). For scripts, the expected state is known in
//! full (`script`). A seed determines a world: the same seed gives the same run.

#![forbid(unsafe_code)]

mod act;
mod boot;
mod check;
mod client;
mod executor;
mod facts;
pub mod forge;
mod ledger;
mod life;
mod line;
mod lying;
mod random;
mod record;
mod request;
mod rows;
mod script;
mod sick;
mod state;
mod turns;
mod world;

pub use script::{Script, Turns};
pub use world::{Fault, Plan, Seen, Workload, World};
