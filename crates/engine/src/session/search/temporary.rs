//! TEMPORARY indexes: dropped with their hashes, as in RediSearch, once nobody has asked them, or added to them, for
//! their time.

use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::worker::Worker;
use base::Ms;
use commands::registry::{self, Command, Lookup};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;
use wire::{Output, OwnedRequest};

/// Milliseconds between two looks at the indexes.
const LOOK_EVERY_MS: Ms = 1_000;

impl Session {
    /// Drops temporary indexes when their time is up, forever.
    pub async fn drop_unused_indexes_when_due(worker: Rc<Worker>) {
        loop {
            poll_fn(|context| worker.engine.indexes.poll_any_temporary(context.waker())).await;
            worker.sleep(LOOK_EVERY_MS).await;
            Self::drop_unused_indexes(&worker).await;
        }
    }

    /// Drops the temporary indexes whose time is up.
    pub async fn drop_unused_indexes(worker: &Rc<Worker>) {
        for name in worker.engine.indexes.unused(worker.engine.clock.now()) {
            let (request, mut output) = (OwnedRequest::of(&[b"FT.DROPINDEX", &*name, b"DD"]), Output::new());
            let mut session = Self::of_server(worker, 0);
            // An error was counted where it arose; the next look tries again.
            session.run_until_done(worker, *DROP, &request.args(), Suspend::Search, &mut output).await;
            worker.executor.end_turn();
        }
    }
}

static DROP: LazyLock<Command> = LazyLock::new(|| match registry::by_name(b"ft.dropindex") {
    Lookup::Command(command) => command,
    _ => unreachable!("there is such a command"),
});
