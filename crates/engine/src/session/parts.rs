//! Writes of very many keys. DEL and UNLINK: some keys at a time, each part in an attempt of its own. MSET and MSETNX:
//! all at one instant, but sorted by shard before the shards are held.
//!
//! ```text
//! hash all keys --> shard by shard, 128 keys:  room, locks, frame, position --> the next 128 keys ... --> the sum
//!                                                                           ^
//!                       no lock is held here, and others have their turn every 512 keys, or sooner
//! ```
//!
//! Each key is removed atomically, but not all at the same instant, and a crash may come between two parts. The reply
//! has seen the positions of all parts, so it is sent when the last is durable. A part waits for any obstacle (a lock,
//! a full journal, a pause, a shard still to be loaded) as any attempt does. In MULTI and in scripts a command is not
//! split.

use super::gathered_keys::GatherPace;
use super::replies::{Took, read};
use super::state::Session;
use super::suspend::Suspend;
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

/// Maximum number of keys per part: their shards are held for some 30 µs.
const PART_KEYS_MAX: usize = 128;
/// Maximum bytes of names per part, unless a single one is longer.
const PART_BYTES_MAX: usize = 64 << 10;
/// Keys after which others have their turn.
const TURN_KEYS_MAX: usize = 512;
/// Microseconds after which others have their turn.
const TURN_US_MAX: u128 = 300;
/// Requests up to this many bytes are copied when sorted, if none of their arguments exceeds the next constant.
const COPIED_BYTES_MAX: usize = 64 << 20;
const COPIED_ARGUMENT_BYTES_MAX: usize = 16 << 10;
/// Keys hashed between two clock readings.
const KEYS_A_LOOK: usize = 16;

impl Session {
    /// Runs a write of very many keys. Returns the time for which it ran.
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

    /// Removes the keys of a request in parts. Returns the time for which it ran.
    async fn remove_by_parts(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        // Yields first: decoding such a long request was a turn.
        worker.long_turn().await;
        let mut pace = GatherPace::begin(worker);
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
                worker.long_turn().await;
                (turn_keys, turn_took) = (0, Duration::ZERO);
            }
            let (outcome, ran) = self.remove_part(worker, part_command, &part.args(args)).await;
            (turn_keys, turn_took, took) = (turn_keys + keys_count, turn_took + ran, took + ran);
            match outcome {
                Ok(count) => removed += count,
                Err(error) => {
                    // The error was counted where it arose.
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

    /// Stores the pairs of a request at one instant, in shard order: each shard's table is visited once instead of once
    /// per key. Pairs with the same key keep their order. Returns the time for which it ran.
    async fn put_sorted(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        // Yields first: decoding such a long request was a turn.
        worker.long_turn().await;
        let mut pace = GatherPace::begin(worker);
        let by_shard = by_shard(worker, args, 2, &mut pace).await;
        // Also copied in that order: fetching scattered arguments costs as much as visiting scattered shards.
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

    /// A recursive future must be boxed.
    fn run_sorted<'s>(
        &'s mut self,
        worker: &'s Rc<Worker>,
        command: Command,
        args: &'s Args<'s>,
        output: &'s mut Output,
    ) -> Pin<Box<dyn Future<Output = Duration> + 's>> {
        Box::pin(async move {
            let took = self.run_until_done(worker, command, args, Suspend::Shards(Vec::new()), output).await;
            worker.executor.note_hold_ns(took.held_ns);
            Duration::from_nanos(took.held_ns)
        })
    }

    /// Removes the keys of one part. Returns how many existed, or the error for the client, and the time for which it
    /// ran.
    async fn remove_part(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
    ) -> (Result<i64, String>, Duration) {
        let mut output = Output::new();
        // A recursive future must be boxed.
        let removal: Pin<Box<dyn Future<Output = Took> + '_>> =
            Box::pin(self.run_until_done(worker, command, args, Suspend::Shards(Vec::new()), &mut output));
        let took = removal.await;
        worker.executor.note_hold_ns(took.held_ns);
        let outcome = match read(output) {
            Value::Error(error) => Err(error),
            value => Ok(value.as_int().expect("a number of keys")),
        };
        (outcome, Duration::from_nanos(took.held_ns + took.searched_ns))
    }
}

/// Returns the argument numbers of each shard's keys, in request order; every `step`-th argument from the first is a
/// key. Asks for shards that are still to be loaded.
async fn by_shard(worker: &Worker, args: &Args<'_>, step: usize, pace: &mut GatherPace<'_>) -> Vec<Vec<u32>> {
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

/// Returns true if copying a request takes little memory and no argument takes long.
fn is_copied(args: &Args<'_>) -> bool {
    args.bytes_total() <= COPIED_BYTES_MAX && args.iter().all(|argument| argument.len() <= COPIED_ARGUMENT_BYTES_MAX)
}

/// Selects the next few keys as a request.
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
