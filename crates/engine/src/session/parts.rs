//! Requests of very many keys that write. DEL and UNLINK: some keys at a time, each time by an attempt of its own. MSET and
//! MSETNX: all at one instant, but sorted by their shards before these are held.
//!
//! ```text
//! hash all keys --> shard by shard, 128 keys:  room, locks, frame, position --> the next 128 keys ... --> the sum
//!                                                                           ^
//!                       no lock is held here, and others have their turn every 512 keys, or sooner
//! ```
//!
//! Each key goes at one instant, but not all at the same one, and a crash may come between two parts. The reply has seen the
//! positions of all parts, so it leaves when the last of them is durable. Whatever a part meets (a lock, a full journal, a
//! pause, a shard that is still to be loaded) it waits for as any attempt does. In MULTI and in scripts a command is not parted.

use super::Session;
use super::gather::{ARGUMENTS_MAX, GatherPace};
use super::order::read;
use super::slow::Took;
use super::suspend::Suspend;
use crate::waits::yield_now;
use crate::worker::Worker;
use base::limits::SHARDS;
use commands::registry::Command;
use commands::{Flag, REMOVE_MORE, put_sorted};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use wire::client::Value;
use wire::resp::Encoder;
use wire::{Args, Output, Reply, Selection, Words};

/// Keys of one part, at most: their shards are held for some 30 µs.
const PART_KEYS_MAX: usize = 128;
/// Names of one part in bytes, unless one alone is longer.
const PART_BYTES_MAX: usize = 64 << 10;
/// Keys after which others have their turn.
const TURN_KEYS_MAX: usize = 512;
/// Or time after which they have, in microseconds.
const TURN_US_MAX: u128 = 300;
/// Requests up to so many bytes are copied when they are sorted, if none of their arguments is longer than that.
const COPIED_BYTES_MAX: usize = 64 << 20;
const COPIED_ARGUMENT_BYTES_MAX: usize = 16 << 10;
/// Keys hashed between two looks at the clock.
const KEYS_A_LOOK: usize = 16;

/// Whether a request has so many keys that they are removed some at a time.
#[inline]
pub(super) fn is_done_by_parts(command: &Command, args: &Args<'_>) -> bool {
    args.len() > ARGUMENTS_MAX && command.has(Flag::KeyByKey)
}

/// Whether a request has so many pairs that they are to be sorted by their shards.
#[inline]
pub(super) fn is_to_be_sorted(command: &Command, args: &Args<'_>) -> bool {
    args.len() > ARGUMENTS_MAX && command.has(Flag::Pairs) && !args.len().is_multiple_of(2)
}

impl Session {
    /// Runs a request of very many keys that writes. Gives the time for which it ran.
    pub(super) async fn write_many(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        if command.has(Flag::Pairs) {
            self.put_sorted(worker, command, args, output).await
        } else {
            self.remove_by_parts(worker, command, args, output).await
        }
    }

    /// Removes the keys of a request, some at a time. Gives the time for which it ran.
    async fn remove_by_parts(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        // First of all: to take in so long a request was a turn.
        yield_now().await;
        let mut pace = GatherPace::begin();
        let by_shard = by_shard(worker, args, 1, &mut pace).await;
        let mut took = pace.took();
        let mut keys = by_shard.iter().flatten().map(|at| *at as usize).peekable();
        let (mut removed, mut part_command) = (0, command);
        let (mut turn_keys, mut turn_took) = (0, Duration::ZERO);
        let mut part = Selection::default();
        while keys.peek().is_some() {
            choose(&mut part, &mut keys, args);
            let keys_count = part.len() - 1;
            if turn_keys + keys_count > TURN_KEYS_MAX || turn_took.as_micros() > TURN_US_MAX {
                yield_now().await;
                (turn_keys, turn_took) = (0, Duration::ZERO);
            }
            let (outcome, ran) = self.remove_part(worker, part_command, &part.args(args)).await;
            (turn_keys, turn_took, took) = (turn_keys + keys_count, turn_took + ran, took + ran);
            match outcome {
                Ok(count) => removed += count,
                Err(error) => {
                    // It was counted where it came up.
                    Encoder::new(output, self.protocol).error(&error);
                    return took;
                }
            }
            part_command = command.part(&REMOVE_MORE);
        }
        let mark = output.mark();
        Encoder::new(output, self.protocol).int(removed);
        self.hide_unreadable(worker, self.watermark, mark, output);
        took
    }

    /// Puts the pairs of a request at one instant, in the order of their shards: each shard's table is visited once, not with
    /// every key anew. A key that is given twice keeps its order. Gives the time for which it ran.
    async fn put_sorted(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        // First of all: to take in so long a request was a turn.
        yield_now().await;
        let mut pace = GatherPace::begin();
        let by_shard = by_shard(worker, args, 2, &mut pace).await;
        // Copied in that order, too: to meet each argument in its place costs as much as to meet each shard anew.
        let mut copied = is_copied(args).then(|| Words::with_capacity(args.len(), args.bytes_total()));
        let mut chosen = Selection::default();
        let mut add = |at: usize| match &mut copied {
            Some(words) => words.push(args.get(at)),
            None => chosen.push(args, at),
        };
        add(0);
        for (count, at) in by_shard.iter().flatten().enumerate() {
            add(*at as usize);
            add(*at as usize + 1);
            if count.is_multiple_of(KEYS_A_LOOK) {
                pace.rest_if_due().await;
            }
        }
        pace.rest().await;
        let took = pace.took();
        let sorted = copied.as_ref().map_or_else(|| chosen.args(args), Words::args);
        took + self.run_sorted(worker, put_sorted(&command), &sorted, output).await
    }

    /// A future within itself has to lie elsewhere.
    fn run_sorted<'s>(
        &'s mut self,
        worker: &'s Rc<Worker>,
        command: Command,
        args: &'s Args<'s>,
        output: &'s mut Output,
    ) -> Pin<Box<dyn Future<Output = Duration> + 's>> {
        Box::pin(async move {
            let took = self.run_until_done(worker, command, args, Suspend::Shards(Vec::new()), output).await;
            worker.note_hold(took.held);
            took.held
        })
    }

    /// Removes the keys of one part. Gives how many were there, or what the client hears, and for how long it ran.
    async fn remove_part(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
    ) -> (Result<i64, String>, Duration) {
        let mut output = Output::new();
        // A future within itself has to lie elsewhere.
        let removal: Pin<Box<dyn Future<Output = Took> + '_>> =
            Box::pin(self.run_until_done(worker, command, args, Suspend::Shards(Vec::new()), &mut output));
        let took = removal.await;
        worker.note_hold(took.held);
        let outcome = match read(output) {
            Value::Error(error) => Err(error),
            value => Ok(value.as_int().expect("a number of keys")),
        };
        (outcome, took.held + took.searched)
    }
}

/// Which arguments are keys of which shard, in the order of the request; every `step`-th from the first one on is a key. Shards
/// that are still to be loaded are asked for.
async fn by_shard(worker: &Worker, args: &Args<'_>, step: usize, pace: &mut GatherPace) -> Vec<Vec<u32>> {
    let engine = &worker.engine;
    let mut by_shard = vec![Vec::new(); SHARDS];
    for (count, at) in (1..args.len()).step_by(step).enumerate() {
        by_shard[keyspace::shard_of(engine.keyspace.hash(args.get(at)))].push(at as u32);
        if count.is_multiple_of(KEYS_A_LOOK) {
            pace.rest_if_due().await;
        }
    }
    if !engine.loading.is_over() {
        (0..SHARDS).filter(|shard| !by_shard[*shard].is_empty()).for_each(|shard| engine.loading.want(shard));
    }
    by_shard
}

/// Whether a copy of a request takes neither much memory nor, of any argument, a while.
fn is_copied(args: &Args<'_>) -> bool {
    args.bytes_total() <= COPIED_BYTES_MAX && args.iter().all(|argument| argument.len() <= COPIED_ARGUMENT_BYTES_MAX)
}

/// Makes a request of the next few keys.
fn choose(part: &mut Selection, keys: &mut impl Iterator<Item = usize>, args: &Args<'_>) {
    part.clear();
    part.push(args, 0);
    let mut bytes = 0;
    for at in keys {
        part.push(args, at);
        bytes += args.get(at).len();
        if part.len() > PART_KEYS_MAX || bytes > PART_BYTES_MAX {
            break;
        }
    }
}
