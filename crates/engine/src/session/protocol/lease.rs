//! Messages that connections of the queue port have open: leased for as long as the connection lives.
//!
//! ```text
//! get q/open     MQ.OPEN, for 30 seconds --> held by `Leases`; each worker has one for its connections
//!                every 5 seconds         --> Q.EXTEND of leases with less than 20 seconds left, all of a queue at once
//! get q/close    MQ.CLOSE                --> released
//! gone           MQ.ABORT, for all that the connection has open
//! ```
//!
//! So a message may be open for hours, yet is ready again at most half a minute after a crash. A message closed within
//! ten seconds costs nothing here. A failed extension is retried; a connection whose lease expires because of that is
//! closed, since another client may get its message.

use crate::session::replies::read;
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::worker::Worker;
use base::Ms;
use commands::LEASE_MS;
use commands::registry::{self, Command, Lookup};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;
use wire::client::Value;
use wire::{Output, OwnedRequest};

/// Interval at which a worker checks for leases to extend.
const LOOK_EVERY_MS: Ms = LEASE_MS / 6;
/// Maximum number of leases of one queue extended at once.
const RECEIPTS_MAX: usize = 100;

impl Session {
    /// Extends the leases of the worker's connections, forever.
    pub async fn keep_leases(worker: Rc<Worker>) {
        loop {
            poll_fn(|context| worker.leases.poll_any(context.waker())).await;
            worker.sleep(LOOK_EVERY_MS).await;
            Self::extend_leases(&worker).await;
        }
    }

    /// Extends those leases of the worker's connections that have been held for some time.
    pub async fn extend_leases(worker: &Rc<Worker>) {
        for ((database, key), leases) in worker.leases.aging(worker.engine.clock.now()) {
            for leases in leases.chunks(RECEIPTS_MAX) {
                let receipts = leases.iter().map(|(_, receipt)| &**receipt);
                let words: Vec<&[u8]> = [EXTEND.name.as_bytes(), &key].into_iter().chain(receipts).collect();
                let (request, mut output) = (OwnedRequest::of(&words), Output::new());
                let mut session = Self::of_server(worker, database);
                let before = worker.engine.clock.now();
                let why = Suspend::Shards(Vec::new());
                session.run_until_done(worker, *EXTEND, &request.args(), why, &mut output).await;
                worker.executor.end_turn();
                match read(output) {
                    // If the key now has another type, nothing is left to hold.
                    Value::Error(error) if !error.starts_with("WRONGTYPE") => {
                        worker.leases.close_late(&key, leases, worker.engine.clock.now());
                    }
                    _ => worker.leases.extended(&key, leases, before + LEASE_MS),
                }
            }
        }
    }
}

static EXTEND: LazyLock<Command> = LazyLock::new(|| match registry::by_name(b"q.extend") {
    Lookup::Command(command) => command,
    _ => unreachable!("there is such a command"),
});
