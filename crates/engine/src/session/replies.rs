//! The replies of a connection: their count, their statistics, and when they may be written.

use super::gathered_keys;
use super::state::Session;
use crate::worker::Worker;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use commands::{Failure, Flag, ReplyMode, Run, Verb};
use std::task::{Context, Poll};
use sync::notifier::Level;
use wire::client::{Parser, Value};
use wire::resp::{Encoder, Protocol};
use wire::{Args, Output, Reply};

/// Run time of a request in nanoseconds, waiting excluded.
#[derive(Clone, Copy, Default)]
pub(super) struct Took {
    /// In the attempt that succeeded, most of it under its locks.
    pub(super) held_ns: u64,
    /// Before that, on clones, without a lock.
    pub(super) searched_ns: u64,
}

impl Session {
    /// Like [`Session::settle_reply`], for a request that ran. A subscription's reply is a message, which is always
    /// sent.
    #[inline]
    pub(super) fn settle_run(
        &mut self,
        command: &Command,
        args: &Args<'_>,
        mark: wire::Mark,
        before: ReplyMode,
        output: &mut Output,
    ) {
        if !self.port.is_resp() {
            self.count_line(command, args, mark, output);
            self.settle_line(mark, output);
        }
        if command.subscribes() {
            self.replies_held += 1;
            if before == ReplyMode::Skip {
                self.reply_mode = ReplyMode::On;
            }
        } else {
            self.settle_reply(mark, before, output);
        }
        if self.tracking.is_some() || !self.own_pushes.is_empty() {
            self.settle_tracking(command, mark, output);
        }
    }

    /// CLIENT REPLY: keeps or discards the output after `mark`, written by a request that began in mode `before`.
    #[inline]
    pub(super) fn settle_reply(&mut self, mark: wire::Mark, before: ReplyMode, output: &mut Output) {
        match (before, self.reply_mode) {
            // Set by this very request, which writes nothing.
            (ReplyMode::On | ReplyMode::Off, ReplyMode::Skip) => {}
            (ReplyMode::Skip, ReplyMode::Skip) => {
                output.truncate(mark);
                self.reply_mode = ReplyMode::On;
            }
            (_, ReplyMode::Off) => output.truncate(mark),
            (_, ReplyMode::On) => self.replies_held += 1,
        }
    }

    /// Counts a request that ran for `held_ns` in the attempt that succeeded, and for `searched_ns` before.
    pub(super) fn count(&self, worker: &Worker, slow_bound_ns: u64, command: Command, args: &Args<'_>, took: Took) {
        let took_ns = took.held_ns + took.searched_ns;
        let counters = &worker.counters().by_command[command.index()];
        counters.calls.add(1);
        counters.took_ns.add(took_ns);
        counters.latency.add(took_ns);
        if holds_shards(&command, args) {
            // The time of the whole attempt, locks included, so never too low.
            worker.executor.note_hold_ns(took.held_ns);
        }
        if took_ns >= slow_bound_ns && !command.has(Flag::SkipSlowlog) {
            self.note_slow(worker, &command, args, took_ns / 1000);
        }
        if took_ns >= SPIKE_NS_MIN {
            note_spike(worker, command, took_ns / SPIKE_NS_MIN);
        }
    }

    #[cold]
    pub(super) fn note_slow(&self, worker: &Worker, command: &Command, args: &Args<'_>, took_us: u64) {
        let entry = commands::SlowEntry {
            id: 0,
            at_s: worker.engine.clock.wall() / 1000,
            took_us,
            arguments: crate::slowlog::shortened(command, args),
            address: self.client.address.to_string(),
            name: self.client.attributes().name,
        };
        worker.engine.slowlog.push(entry, worker.settings().slowlog_entries_max);
    }

    /// Returns true if the pending output may be written now.
    pub fn may_write(&self) -> bool {
        let engine = &self.worker.engine;
        engine.may_leave(self.watermark, self.durable_always) && engine.may_leave(self.strict_watermark, true)
    }

    /// Ready once [`Session::may_write`] holds; `false` if it never will: then the replies must not be written, and
    /// [`Session::fail_held`] replaces them.
    pub fn poll_may_write(&self, context: &mut Context<'_>) -> Poll<bool> {
        if self.may_write() {
            return Poll::Ready(true);
        }
        let Some(journal) = &self.worker.engine.journal else { return Poll::Ready(true) };
        let level = if self.durable_always { Level::Durable } else { journal.level() };
        let (level, position) = match self.worker.engine.may_leave(self.watermark, self.durable_always) {
            false => (level, self.watermark),
            true => (Level::Durable, self.strict_watermark),
        };
        self.worker.poll_reached(level, position, context)
    }

    /// Records and returns how many bytes the client's output holds or pins, which count against its limit.
    pub fn note_waiting(&self, output: &Output) -> u64 {
        let (pending_bytes, pinned_bytes) = (output.bytes_pending(), output.pinned_bytes());
        self.client.output_bytes.store(pending_bytes, Relaxed);
        self.worker.engine.clients.note_pinned(&self.client, pinned_bytes);
        pending_bytes as u64 + pinned_bytes + self.client.waiting_message_bytes()
    }

    /// Notes that all replies in the output have been handed to the socket.
    pub fn note_written(&mut self) {
        self.replies_held = 0;
    }

    /// Replaces the replies that will never be durable by the same number of errors.
    pub fn fail_held(&mut self, output: &mut Output) {
        self.worker.engine.deferred_drop.free(Box::new(std::mem::take(output)));
        for _ in 0..std::mem::take(&mut self.replies_held) {
            Encoder::new(output, self.protocol).error(POISONED);
        }
        self.closing = true;
        (self.watermark, self.strict_watermark) = (0, 0);
    }

    /// Returns true if the connection is to be closed once its output has been written.
    pub fn is_closing(&self) -> bool {
        self.closing
    }
}

/// Returns true if all of a command's time counts as holding shards; for sweeps, gathers and WATCH only each look does.
fn holds_shards(command: &Command, args: &Args<'_>) -> bool {
    match command.run {
        Run::Gather { .. } => args.len() <= gathered_keys::ARGUMENTS_MAX,
        Run::Local(_) => !gathered_keys::has_many_keys(command, args),
        Run::Blocking { .. } | Run::Gate(_) | Run::Engine(Verb::Exec | Verb::Eval | Verb::Library(_)) => true,
        Run::Sweep(_) | Run::Range { .. } | Run::Search(_) | Run::Session(_) | Run::Parts { .. } | Run::Engine(_) => {
            false
        }
    }
}

/// The error in place of a reply that will never be durable.
pub(super) const POISONED: &str = "MISCONF the journal could not be written or synced: nothing more becomes durable. See the log, \
                        repair the disk and restart";

/// Writes a failure as an error reply, without counting it.
pub(super) fn write_failure(output: &mut Output, protocol: Protocol, failure: &Failure) {
    Encoder::new(output, protocol).error(&failure.to_string());
}

/// The smallest `latency-monitor-threshold`: one millisecond.
const SPIKE_NS_MIN: u64 = 1_000_000;

#[cold]
fn note_spike(worker: &Worker, command: Command, took_ms: u64) {
    let event = if command.has(Flag::Fast) { "fast-command" } else { "command" };
    worker.engine.note_spike(event, took_ms);
}

/// Returns the single reply in `output`.
pub(super) fn read(mut output: Output) -> Value {
    let mut parser = Parser::new();
    loop {
        output.fill();
        let Some(bytes) = output.front() else { break };
        let count = bytes.len();
        parser.feed(bytes);
        output.consume(count);
    }
    parser.next_value().expect("replies are well formed").expect("a reply")
}
