//! Runs a request that has to wait, unless memory is too short for what it waits for.
//!
//! While it waits, none of it has run, so it can be abandoned: a command that grows when memory is short, one that
//! builds a reply from very many keys when memory is nearly exhausted, and any command whose keys cannot be loaded for
//! lack of memory.

use super::attempt::OUT_OF_MEMORY_LINE;
use super::replies::Took;
use super::state::Session;
use super::suspend::Suspend;
use super::turn::Slow;
use crate::worker::Worker;
use commands::registry::Command;
use commands::{Access, Failure, Flag, OUT_OF_MEMORY, Run, Verb};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use wire::resp::Encoder;
use wire::{Args, Output, Reply};

/// The error for keys that are not loaded and for which there is no memory.
const NOT_LOADED: &str = "OOM the key is not loaded, since the data does not fit the memory limit. Delete other keys, or \
                          restart with a larger limit";

impl Session {
    /// Runs a request to completion, waiting for what it needs; `input` begins with it. If dropped, it has not run, or
    /// has run completely, or (DEL and UNLINK of very many keys, and flushes in parts) up to one of its parts.
    pub async fn run_slowly(&mut self, slow: Box<Slow>, input: &[u8], output: &mut Output) {
        let worker = self.worker.clone();
        let Slow { command, ranges, why, .. } = *slow;
        let args = ranges.args(input);
        let (mark, before) = (output.mark(), self.reply_mode);
        let ran = worker.named(&command, pin!(self.run_unless_short(&worker, command, &args, why, output))).await;
        let took = match ran {
            Ok(took) => took,
            Err(failure) => {
                output.truncate(mark);
                if matches!(command.run, Run::Engine(Verb::Exec)) {
                    self.end_multi();
                }
                worker.engine.memory.note_refusal();
                self.fail(&worker, Some(command), &failure, output);
                Took::default()
            }
        };
        self.settle_run(&command, &args, mark, before, output);
        self.end_turn(&worker);
        self.count(&worker, worker.slow_bound_ns(), command, &args, took);
    }

    /// Refuses a request for lack of memory before it has been fully received, and closes the connection.
    pub fn refuse_input(&mut self, output: &mut Output) {
        let worker = self.worker.clone();
        self.note_error(&worker, OUT_OF_MEMORY);
        let text = if !self.port.is_resp() { OUT_OF_MEMORY_LINE } else { OUT_OF_MEMORY };
        Encoder::new(output, self.protocol).error(text);
        self.replies_held += 1;
        self.closing = true;
    }

    async fn run_unless_short(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        why: Suspend,
        output: &mut Output,
    ) -> Result<Took, Failure> {
        // Long strings are split before a command is admitted: each exists twice for a while.
        if matches!(why, Suspend::LongStrings) && !worker.engine.memory.take(args.bytes_total() as u64) {
            return Err(Failure::OutOfMemory);
        }
        // A request on the script runner continues there by itself.
        let is_staged = self.needs_runner(&command);
        let client = self.client.clone();
        let mut running = pin!(self.run_until_done(worker, command, args, why, output));
        poll_fn(|context| {
            if let Poll::Ready(took) = running.as_mut().poll(context) {
                return Poll::Ready(Ok(took));
            }
            if !is_staged && is_short_for(worker, &command) {
                return Poll::Ready(Err(Failure::OutOfMemory));
            }
            if client.is_early() && is_not_to_be_loaded(worker, context) {
                return Poll::Ready(Err(Failure::text(NOT_LOADED)));
            }
            Poll::Pending
        })
        .await
    }
}

/// Returns true if a command that has not run yet must be abandoned.
fn is_short_for(worker: &Worker, command: &Command) -> bool {
    let memory = &worker.engine.memory;
    match (command.run, command.access) {
        // It waits for an element; memory is checked when there is one.
        (Run::Blocking { .. }, _) => false,
        (_, Access::Write { grows: true }) => memory.is_refusing(),
        // DBSIZE visits all shards, but its reply is a number.
        (Run::Gather { .. } | Run::Sweep(_) | Run::Range { .. } | Run::Search(_), Access::Read) => {
            !command.has(Flag::Fast) && memory.is_nearly_out()
        }
        _ => false,
    }
}

fn is_not_to_be_loaded(worker: &Worker, context: &mut Context<'_>) -> bool {
    worker.engine.loading.poll_halted(context).is_ready()
}
