//! A command that does a lot of work on the connection or the server: run in parts, between which others have their
//! turn.

use super::gathered_keys::GatherPace;
use super::state::Session;
use crate::worker::Worker;
use commands::Run;
use commands::registry::Command;
use std::time::Duration;
use wire::resp::Encoder;
use wire::{Args, More, Output};

impl Session {
    /// Runs a command in parts. Returns the time for which it ran.
    pub(super) async fn run_parts(
        &mut self,
        worker: &Worker,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        let Run::Parts { begin, .. } = command.run else { unreachable!("asked for parts") };
        let (mark, mut parts, mut pace) = (output.mark(), begin(), GatherPace::begin(worker));
        loop {
            // Yields first: decoding such a long request was a turn.
            pace.rest().await;
            let protocol = self.protocol;
            match parts.next(self, args, &mut Encoder::new(output, protocol)) {
                Ok(More::Done) => break,
                Ok(_) => worker.executor.end_turn(),
                Err(failure) => {
                    output.truncate(mark);
                    self.fail(worker, Some(command), &failure, output);
                    break;
                }
            }
        }
        pace.took()
    }
}
