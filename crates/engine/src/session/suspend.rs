//! Why a request waits: the missing requirement of an attempt.

use super::element_wait::ElementWait;
use super::retry_state::OffLock;
use crate::executor::Lack;
use crate::script::runner::ScriptTicket;
use base::Ms;
use commands::Sweep;
use keyspace::Abandon;
use std::rc::Rc;
use sync::lock::Want;

/// Why an attempt failed; nothing has changed.
pub(crate) enum Suspend {
    /// Another request holds this shard.
    Locked(usize, Want),
    /// This shard is still to be loaded.
    Unloaded(usize, Want),
    /// The value of a key with this hash is still to be read.
    Unread(u64),
    /// All shards are needed, and some are still to be loaded.
    Loading,
    /// The journal does not yet have room for this many bytes.
    Room(u64),
    /// These shards are needed too.
    Shards(Vec<usize>),
    /// Work is to be done off the lock before the next attempt.
    OffLock(OffLock),
    /// It can only run under the gate.
    Gate,
    /// CLIENT PAUSE, perhaps of writes alone.
    Paused {
        /// True if the command writes.
        writes: bool,
    },
    /// It first waits for this many milliseconds.
    Delayed(Ms),
    /// It must help to update the order of names before it writes.
    Behind,
    /// It is now blocked and registered at its keys.
    Waiting(ElementWait),
    /// It has retried and keeps waiting, at its position in the queue.
    StillWaiting {
        /// When it retries next.
        look_again_ms: Option<Ms>,
    },
    /// It has strings that take longer than a turn to split.
    LongStrings,
    /// It sweeps over all shards; the sweep, if it has begun.
    Sweep(Option<Box<dyn Sweep>>),
    /// It walks names in order.
    Range,
    /// It uses an index of hashes.
    Search,
    /// It has very many keys: they are removed in parts, or sorted before they are stored.
    ManyKeys,
    /// It does a lot of work on the connection or the server.
    Parts,
    /// Only the engine can run it, and not at once.
    Verb,
    /// A script is suspended on this worker's script runner.
    RunnerBusy,
    /// It is the script suspended there.
    Script(Rc<ScriptTicket>),
    /// The server is stopping.
    Stopping,
}

impl From<Lack> for Suspend {
    fn from(lack: Lack) -> Self {
        match lack {
            Lack::Locked(shard, want) => Self::Locked(shard, want),
            Lack::Unloaded(shard, want) => Self::Unloaded(shard, want),
            Lack::Unread(hash) => Self::Unread(hash),
            Lack::Room(bytes) => Self::Room(bytes),
            Lack::Shards(shards) => Self::Shards(shards),
            Lack::Compute(sources) => Self::OffLock(OffLock::Compute(sources)),
            Lack::Gate => Self::Gate,
        }
    }
}

impl From<Abandon> for Suspend {
    fn from(abandon: Abandon) -> Self {
        Lack::from(abandon).into()
    }
}
