//! MC.FLUSH_ALL, MQ.FLUSH_ALL and TL.DROP remove a database's strings, its lists and queues, or its tagged lists, a few
//! at a time, each batch by an attempt as for DEL.
//!
//! ```text
//! shard 0, 1, ...   searched for names, 256 keys at a time --> keys that still have that type are removed
//! delayed           Engine::flushes: database, type and time --> Session::flush_when_due, on one worker
//! ```

use super::Session;
use super::order::read;
use super::slow::Took;
use super::suspend::Suspend;
use crate::memcacheq::forget;
use crate::waits::yield_now;
use crate::worker::Worker;
use base::Ms;
use base::limits::SHARDS;
use base::primitives::Mutex;
use commands::registry::{self, Command, Lookup};
use commands::{CommandSpec, Failure, Outcome, REMOVE_QUEUES, REMOVE_TAGGED, REMOVE_TEXTS, Sweep, SweepNext};
use keyspace::{Tx, kind_of};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use values::ValueType;
use wire::client::Value;
use wire::{Args, Output, OwnedRequest, Reply};

/// Keys looked at each time a shard is held.
const VISIT_KEYS_MAX: usize = 256;
/// Maximum number of keys that one attempt removes.
const REMOVED_AT_ONCE: usize = 64;

/// The kind of keys to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flushed {
    /// Strings.
    Strings,
    /// Lists and queues.
    Queues,
    /// Tagged lists.
    Tagged,
}

impl Flushed {
    fn command(self) -> &'static str {
        match self {
            Self::Strings => "MC.FLUSH_ALL",
            Self::Queues => "MQ.FLUSH_ALL",
            Self::Tagged => "TL.DROP",
        }
    }

    /// Returns the command that removes a batch.
    fn part(self) -> &'static CommandSpec {
        match self {
            Self::Strings => &REMOVE_TEXTS,
            Self::Queues => &REMOVE_QUEUES,
            Self::Tagged => &REMOVE_TAGGED,
        }
    }

    fn takes(self, kind: ValueType) -> bool {
        match self {
            Self::Strings => kind == ValueType::String,
            Self::Queues => ValueType::List.is_taken_from(kind),
            Self::Tagged => kind == ValueType::Tagged,
        }
    }
}

/// Delayed flushes. They are lost when the server ends.
#[derive(Default)]
pub(crate) struct Flushes {
    state: Mutex<FlushState>,
}

#[derive(Default)]
struct FlushState {
    /// The time of each flush, by database and kind.
    due: BTreeMap<(u32, Flushed), Ms>,
    /// The number of requests so far.
    asked: u64,
    waker: Option<Waker>,
}

impl Flushes {
    /// Schedules a flush, replacing an earlier one; `None` cancels it.
    fn put(&self, what: (u32, Flushed), at_ms: Option<Ms>) {
        let mut state = self.state.lock().expect("no holder panics");
        state.due.remove(&what);
        state.due.extend(at_ms.map(|at_ms| (what, at_ms)));
        state.asked += 1;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Returns a database whose flush is due, and the kind; otherwise the number of requests so far, and the delay
    /// until the next flush if there is one.
    fn take_due(&self, now: Ms) -> Result<(u32, Flushed), (u64, Option<Ms>)> {
        let mut state = self.state.lock().expect("no holder panics");
        let next = state.due.iter().map(|(what, at_ms)| (*at_ms, *what)).min();
        match next {
            Some((at_ms, what)) if at_ms <= now => {
                state.due.remove(&what);
                Ok(what)
            }
            next => Err((state.asked, next.map(|(at_ms, _)| at_ms - now))),
        }
    }

    /// Returns true if there were more than `asked` requests; if not, registers the waker for the next one.
    fn is_asked(&self, asked: u64, waker: &Waker) -> bool {
        let mut state = self.state.lock().expect("no holder panics");
        if state.asked == asked {
            state.waker = Some(waker.clone());
        }
        state.asked != asked
    }
}

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
                yield_now().await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_flush_replaces_the_earlier_one_of_its_database() {
        let flushes = Flushes::default();
        assert_eq!(flushes.take_due(0), Err((0, None)));
        flushes.put((3, Flushed::Strings), Some(50));
        flushes.put((3, Flushed::Strings), Some(70));
        flushes.put((1, Flushed::Strings), Some(90));
        assert_eq!(flushes.take_due(60), Err((3, Some(10))));
        assert_eq!(flushes.take_due(70), Ok((3, Flushed::Strings)));
        flushes.put((1, Flushed::Strings), None);
        assert_eq!(flushes.take_due(100), Err((4, None)));
    }
}
