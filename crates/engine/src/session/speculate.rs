//! A command that touches very much: run speculatively on another thread, holding nothing, then committed under its
//! locks.
//!
//! ```text
//! attempt: much to do --> OffLock::Speculate(snapshot) --> Offload pool: the command on clones --.
//!    ^                                                                               |
//!    `-- again: keys unchanged? --> Tx::commit, the prepared reply           (a reader: the reply, at once)
//!                           `-- no: run speculatively once more, then under the locks
//! ```

use super::retry_state::{RetryState, SpeculativeResult};
use super::state::Session;
use crate::executor::begin_command;
use crate::worker::Worker;
use base::instant::Instant;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use commands::{Failure, Local, Outcome, Run};
use keyspace::{OFF_LOCK_TRIES_MAX, Snapshot, Tx};
use std::time::Duration;
use wire::resp::{Encoder, Protocol};
use wire::{Args, Output};

/// Requests with more arguments run speculatively: many handlers do work per argument.
pub(super) const ARGUMENTS_MAX: usize = 1024;
/// Maximum number of keys of a command that runs speculatively: cloning this many values is cheap.
const KEYS_MAX: usize = 64;

/// Bytes of a request copied per turn: a few hundred microseconds where memory is fresh.
const COPIED_BYTES: usize = 512 << 10;

/// Returns true if a command may run speculatively (again).
fn may_speculate(needs: &RetryState, command: &Command, args: &Args<'_>) -> bool {
    let mut keys_count = 0;
    command.for_each_key(args, |_, _| keys_count += 1);
    needs.off_lock.speculations < OFF_LOCK_TRIES_MAX
        && command.keeps_to_its_keys()
        && (1..=KEYS_MAX).contains(&keys_count)
}

impl Session {
    /// Commits a speculative result, or runs a command with very many arguments under the locks.
    #[cold]
    pub(super) fn apply_speculation(
        &self,
        worker: &Worker,
        needs: &RetryState,
        command: &Command,
        (handler, args): (Local, &Args<'_>),
        tx: &mut Tx<'_>,
        output: &mut Output,
    ) -> Outcome {
        if let Some(performance) = needs.off_lock.speculated.take() {
            if performance.speculation.is_true(tx) {
                let SpeculativeResult { speculation, outcome, reply, .. } = *performance;
                tx.need_room(speculation.payload_bytes())?;
                worker.engine.deferred_drop.free(Box::new(tx.commit(speculation)));
                output.append(reply);
                return outcome;
            }
            worker.engine.deferred_drop.free(performance);
        }
        if may_speculate(needs, command, args) {
            tx.set_speculating();
            tx.expect_work(args.len() as u64)?;
        }
        handler(tx, args, &mut Encoder::new(output, self.protocol))
    }

    /// Takes the snapshot for a speculative run; the tx holds its shards. A read has then seen the snapshot's state.
    pub(super) fn snapshot(
        &mut self,
        worker: &Worker,
        command: &Command,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
    ) -> Box<Snapshot> {
        let mut keys = Vec::new();
        command.for_each_key(args, |key, _| keys.push(key));
        if !command.writes() {
            self.note_read(worker, command, args);
            self.saw(tx.seen());
        }
        Box::new(tx.snapshot(keys.into_iter()))
    }

    /// Runs a command speculatively; a read replies at once and is complete.
    pub(super) async fn speculate(
        &mut self,
        worker: &Worker,
        needs: &mut RetryState,
        (command, args): (Command, &Args<'_>),
        snapshot: Box<Snapshot>,
        output: &mut Output,
    ) -> (Duration, bool) {
        let mut copying = args.copying();
        // Yields first: the attempt was a turn.
        worker.long_turn().await;
        while !copying.step(COPIED_BYTES) {
            worker.long_turn().await;
        }
        let request = copying.finish();
        let handler = match command.run {
            Run::Local(handler) | Run::Blocking { try_now: handler, .. } => handler,
            _ => unreachable!("others do not run speculatively"),
        };
        let (protocol, seed) = (self.protocol, worker.random());
        let touches = !self.client.no_touch.load(Relaxed);
        let job = move || {
            let prepare = |tx: &mut Tx<'_>| {
                tx.set_touching(touches);
                tx.set_seed(seed);
            };
            perform(*snapshot, command, handler, (&request.args(), protocol), prepare)
        };
        let performance = worker.engine.offload.run(job).await;
        let took = performance.took;
        needs.off_lock.speculations += 1;
        // If events are on, the tx itself reports keys that were looked up in vain.
        let waits = matches!(performance.outcome, Err(Failure::Nothing));
        if !command.writes() && !waits && !worker.engine.publishes_events() {
            self.write_read_reply(worker, command, performance, output);
            return (took, true);
        }
        needs.room_bytes = needs.room_bytes.max(performance.speculation.payload_bytes());
        needs.off_lock.speculated.set(Some(performance));
        (took, false)
    }

    /// Writes the reply of a read on clones.
    fn write_read_reply(
        &mut self,
        worker: &Worker,
        command: Command,
        performance: Box<SpeculativeResult>,
        output: &mut Output,
    ) {
        let SpeculativeResult { speculation, outcome, reply, .. } = *performance;
        let mark = output.mark();
        worker.executor.note_reads(speculation.reads());
        match outcome {
            Ok(()) => output.append(reply),
            Err(failure) => self.fail(worker, Some(command), &failure, output),
        }
        self.hide_unreadable(worker, self.watermark, mark, output);
        worker.engine.deferred_drop.free(Box::new(speculation));
    }
}

/// Runs a command speculatively on the calling thread.
fn perform(
    snapshot: Snapshot,
    command: Command,
    handler: Local,
    (args, protocol): (&Args<'_>, Protocol),
    prepare: impl FnOnce(&mut Tx<'_>),
) -> Box<SpeculativeResult> {
    let began = Instant::now();
    let mut reply = Output::new();
    let (outcome, speculation) = snapshot.speculate(
        |keyspace, plan| command.plan(args, keyspace, plan),
        |tx| {
            prepare(tx);
            begin_command(tx, &command, args);
            handler(tx, args, &mut Encoder::new(&mut reply, protocol))
        },
    );
    if outcome.is_err() {
        reply = Output::new();
    }
    Box::new(SpeculativeResult { speculation, outcome, reply, took: began.elapsed() })
}
