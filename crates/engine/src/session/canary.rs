//! A deliberate fault that the history test must find: a pop in two steps, with nothing held between them.

use super::attempt::Attempt;
use super::state::Session;
use super::suspend::Suspend;
use crate::executor::LockRetention;
use commands::registry::{self, Command, Lookup};
use commands::{Local, Run};
use wire::{Args, Output, OwnedRequest};

impl Session {
    /// Replies with the first element it sees, and removes the first one a moment later.
    pub(super) fn pop_in_two_steps(
        &mut self,
        attempt: &Attempt<'_>,
        command: Command,
        handler: Local,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let mark = output.mark();
        let Lookup::Command(look) = registry::by_name(b"LINDEX") else { panic!("LINDEX is a command") };
        let Run::Local(look_at) = look.run else { panic!("LINDEX looks at one key") };
        let request = OwnedRequest::of(&[b"LINDEX", args.get(1), b"0"]);
        let retention = &mut LockRetention::new(&attempt.worker.engine.keyspace, None);
        self.run_one(attempt, retention, look, look_at, &request.args(), output)?;
        std::thread::yield_now();
        self.run_one(attempt, retention, command, handler, args, &mut Output::new())
            .inspect_err(|_| output.truncate(mark))
    }
}
