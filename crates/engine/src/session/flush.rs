//! MC.FLUSH_ALL, MQ.FLUSH_ALL and TL.DROP remove a database's strings, its lists and queues, or its tagged lists, a few
//! at a time, each batch by an attempt as for DEL.
//!
//! ```text
//! shard 0, 1, ...   searched for names, 256 keys at a time --> keys that still have that type are removed
//! delayed           Engine::flushes: database, type and time --> Session::flush_when_due, on one worker
//! ```

use super::replies::{Took, read};
use super::state::Session;
use super::suspend::Suspend;
use crate::flushes::Flushed;
use crate::memcacheq::forget;
use crate::worker::Worker;
use base::limits::SHARDS;
use commands::registry::{self, Command, Lookup};
use commands::{Failure, Outcome, Sweep, SweepNext};
use keyspace::{Tx, kind_of};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use wire::client::Value;
use wire::{Args, Output, OwnedRequest, Reply};

/// Keys looked at each time a shard is held.
const VISIT_KEYS_MAX: usize = 256;
/// Maximum number of keys that one attempt removes.
const REMOVED_AT_ONCE: usize = 64;

impl Session {
    /// Runs delayed flushes, forever.
    pub async fn flush_when_due(worker: Rc<Worker>) {
        let flushes = &worker.engine.flushes;
        loop {
            let (asked, left_ms) = match flushes.take_due(worker.engine.clock.now()) {
                Ok((database, what)) => {
                    let request = OwnedRequest::of(&[what.command()]);
                    let Lookup::Command(command) = registry::find(&request.args()) else {
                        unreachable!("there is such a command")
                    };
                    let mut session = Self::of_server(&worker, database);
                    // Errors were counted where they arose.
                    let _ = session.flush_now(&worker, command, what, b"").await;
                    worker.executor.end_turn();
                    continue;
                }
                Err(next) => next,
            };
            let mut sleep = left_ms.map(|left_ms| worker.sleep(left_ms.max(1)));
            poll_fn(|context| {
                if flushes.is_asked(asked, context.waker()) {
                    return Poll::Ready(());
                }
                sleep.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(context))
            })
            .await;
        }
    }

    /// Flushes at once or later.
    pub(super) async fn flush(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        what: Flushed,
        args: &Args<'_>,
    ) -> Outcome {
        let later_ms = commands::flush_delay(args, worker.engine.clock.now())?;
        worker.engine.flushes.put((self.database, what), later_ms);
        if later_ms.is_some() { Ok(()) } else { self.flush_now(worker, command, what, b"").await.map(drop) }
    }

    /// Removes the keys whose names have this prefix. Returns how many there were.
    pub(super) async fn flush_now(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        what: Flushed,
        prefix: &[u8],
    ) -> Result<i64, Failure> {
        let mut found = FoundNames { what, prefix: prefix.into(), names: Vec::new(), from_hash: 0 };
        let (mut ahead, mut removed) = (0, 0);
        for shard in 0..SHARDS {
            loop {
                let walk = self.visit(worker, &mut found, shard, &mut ahead).await;
                for names in found.take().chunks(REMOVED_AT_ONCE) {
                    removed += self.remove(worker, command, what, names).await?;
                }
                if walk == SweepNext::Next {
                    break;
                }
                worker.long_turn().await;
            }
        }
        Ok(removed)
    }

    async fn remove(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        what: Flushed,
        names: &[Box<[u8]>],
    ) -> Result<i64, Failure> {
        let name = what.command().as_bytes();
        let words: Vec<&[u8]> = std::iter::once(name).chain(names.iter().map(|name| &**name)).collect();
        let (part, request) = (command.part(what.part()), OwnedRequest::of(&words));
        let (args, mut output) = (request.args(), Output::new());
        let protocol = std::mem::take(&mut self.protocol);
        // A recursive future must be boxed.
        let removal: Pin<Box<dyn Future<Output = Took> + '_>> =
            Box::pin(self.run_until_done(worker, part, &args, Suspend::Shards(Vec::new()), &mut output));
        removal.await;
        self.protocol = protocol;
        match read(output) {
            Value::Error(error) => Err(Failure::Counted(error)),
            Value::Int(removed) => {
                if what == Flushed::Tagged {
                    worker.counters().dropped.add(removed as u64);
                }
                if what == Flushed::Queues && self.database == worker.settings().queue_database {
                    for name in names {
                        forget(&worker.engine, name);
                    }
                }
                Ok(removed)
            }
            other => Err(Failure::text(format!("ERR internal: unexpected reply {other}, expected a count"))),
        }
    }
}

/// The names found by a walk.
struct FoundNames {
    what: Flushed,
    prefix: Box<[u8]>,
    names: Vec<Box<[u8]>>,
    from_hash: u64,
}

impl FoundNames {
    fn take(&mut self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut self.names)
    }
}

impl Sweep for FoundNames {
    fn names_only(&self) -> bool {
        true
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        let from_hash = self.from_hash.max((shard as u64) << (u64::BITS - SHARDS.trailing_zeros()));
        let (mut looks, mut last) = (0, None);
        for (prefix, entry) in tx.scan(shard, from_hash) {
            if looks >= VISIT_KEYS_MAX && last != Some(prefix) {
                self.from_hash = prefix;
                return SweepNext::Again;
            }
            (looks, last) = (looks + 1, Some(prefix));
            if self.what.takes(kind_of(entry)) && entry.key().starts_with(&self.prefix) {
                self.names.push(entry.key().into());
            }
        }
        SweepNext::Next
    }

    fn finish(self: Box<Self>, _: &mut dyn Reply) -> Outcome {
        Ok(())
    }
}
