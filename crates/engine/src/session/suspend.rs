//! Why a request waits: what an attempt lacked, which the wait is to bring.

use super::element_wait::ElementWait;
use crate::script::runner::ScriptTicket;
use base::Ms;
use keyspace::{Abandon, JobRequest, Snapshot};
use std::rc::Rc;
use sync::lock::Want;

/// Why an attempt came to nothing; nothing has changed.
pub(crate) enum Suspend {
    /// Somebody else holds this shard.
    Locked(usize, Want),
    /// This shard is still to be loaded.
    Unloaded(usize, Want),
    /// The value of a key of this hash is still to be read.
    Unread(u64),
    /// All shards are needed, and some are still to be loaded.
    Loading,
    /// The journal has no room for so many bytes yet.
    Room(u64),
    /// These shards are needed too.
    Shards(Vec<usize>),
    /// A big list is to be searched without its lock.
    Search(Box<JobRequest>),
    /// It touches so much that it is to run speculatively on this.
    Speculate(Box<Snapshot>),
    /// It can only run under the gate.
    Gate,
    /// CLIENT PAUSE, perhaps of writes alone.
    Paused {
        /// It writes.
        writes: bool,
    },
    /// It is to wait for so many milliseconds first.
    Delayed(Ms),
    /// It is to help with the order of names before it writes.
    Behind,
    /// It is blocked now, and hangs off its keys.
    Waiting(ElementWait),
    /// It has looked again and is still to wait, in its place.
    StillWaiting {
        /// When it is to look once more.
        look_again_ms: Option<Ms>,
    },
    /// Texts are to be cut that are too long for a turn.
    LongStrings,
    /// It walks over all shards.
    Sweep,
    /// It goes through names in their order.
    Range,
    /// It has very many keys: they are looked at, or removed, some at a time, or sorted before they are put.
    ManyKeys,
    /// It does very much of the connection or the server.
    Parts,
    /// Only the engine can do it, and not at once.
    Verb,
    /// A script rests on this worker's script runner.
    RunnerBusy,
    /// It is a script that rests there.
    Script(Rc<ScriptTicket>),
    /// The server stops.
    Stopping,
}

impl From<Abandon> for Suspend {
    fn from(abandon: Abandon) -> Self {
        match abandon {
            Abandon::Room(bytes) => Self::Room(bytes),
            Abandon::Search(wanted) => Self::Search(wanted),
            Abandon::Rehearse => unreachable!("only where a tx is told that it may be is anything rehearsed"),
        }
    }
}
