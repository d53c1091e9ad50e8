//! KEYRANGE and DELRANGE: pages of names, each looked up or removed under the locks of its own shards.
//!
//! ```text
//! page of names <--- order, once it contains all earlier changes     under the order's own lock, some 300 us at a time
//!      |
//!      |-- KEYRANGE:  shards held to read, all together         only where keys may have expired
//!      '-- DELRANGE:  an attempt, as for any DEL                a frame of its own
//! ```

use super::gathered_keys::GatherPace;
use super::replies::{Took, read};
use super::state::Session;
use super::suspend::Suspend;
use crate::executor::Lack;
use crate::waits::gate_open;
use crate::worker::Worker;
use commands::registry::Command;
use commands::{Failure, NameRange, Run, no_order};
use keyspace::{CatchUp, Keyspace, OrderTurn, Page, Plan, Tx, shard_of};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use sync::lock::Want;
use wire::client::Value;
use wire::resp::Encoder;
use wire::{Args, Output, Reply};

/// Tries for the shards of a whole page, after which they are held one by one.
const TRIES_MAX: usize = 4;

impl Session {
    /// Runs a command that walks names in order. Returns the time for which it ran.
    pub(super) async fn range(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        let Run::Range { begin, .. } = command.run else { unreachable!("asked for a range of names") };
        let mark = output.mark();
        let mut pace = GatherPace::begin(worker);
        let result = match begin(args) {
            Ok(range) => self.go_through(worker, command, range, output, &mut pace).await,
            Err(failure) => Err(failure),
        };
        self.end_walk(worker, command, result, mark, output);
        pace.took()
    }

    async fn go_through(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        mut range: NameRange,
        output: &mut Output,
        pace: &mut GatherPace<'_>,
    ) -> Result<(), Failure> {
        let mut reader = CatchUp::default();
        while range.wants().is_some() {
            let page = self.next_page(worker, &range, &mut reader, pace).await?;
            range.pass(&page);
            if !command.writes() {
                self.look_up(worker, &mut range, &page, pace).await;
            } else if !page.is_empty()
                && let Err(error) = self.remove_some(worker, command, &mut range, &page, pace).await
            {
                // The error was counted where it arose.
                Encoder::new(output, self.protocol).error(&error);
                return Ok(());
            }
        }
        range.finish(&mut Encoder::new(output, self.protocol));
        Ok(())
    }

    async fn next_page(
        &self,
        worker: &Worker,
        range: &NameRange,
        reader: &mut CatchUp,
        pace: &mut GatherPace<'_>,
    ) -> Result<Page, Failure> {
        let (engine, keyspace) = (&*worker.engine, &worker.engine.keyspace);
        loop {
            pace.rest_if_due().await;
            let turn = worker.member.enter().map(|_inside| {
                let (span, names_max) = range.wants().expect("asked by the caller");
                keyspace.order_page(keyspace.map().table(self.database), span, names_max, reader)
            });
            match turn {
                Some(OrderTurn::Page(page)) => return Ok(page),
                Some(OrderTurn::Not(state)) => return Err(no_order(state)),
                Some(OrderTurn::Again) => pace.rest().await,
                Some(OrderTurn::Locked(shard)) => {
                    pace.wait(async { drop(self.park(engine, shard, Want::Write).await) }).await;
                }
                None => pace.wait(gate_open(&engine.gate)).await,
            }
        }
    }

    /// Takes the names of a page that fit. Looks up only those that may have expired: all existed, with the right type,
    /// when the page was made.
    async fn look_up(&mut self, worker: &Worker, range: &mut NameRange, page: &Page, pace: &mut GatherPace<'_>) {
        let engine = &*worker.engine;
        let now = engine.clock.now();
        let names: Vec<&[u8]> = page.iter().collect();
        let mut fits: Vec<bool> = (0..names.len()).map(|nth| range.takes(page.value_type(nth))).collect();
        let is_live = |name: &[u8]| engine.keyspace.order().is_live(shard_of(engine.keyspace.hash(name)), now);
        let open: Vec<usize> = (0..names.len()).filter(|nth| fits[*nth] && !is_live(names[*nth])).collect();
        let (mut done, mut tries) = (0, 0);
        while done < open.len() {
            pace.rest_if_due().await;
            let some = if tries < TRIES_MAX { &open[done..] } else { &open[done..=done] };
            match self.look_at(worker, range, &names, some, &mut fits) {
                Ok(()) => done += some.len(),
                Err(Some(Lack::Locked(shard, want) | Lack::Unloaded(shard, want))) => {
                    tries += 1;
                    pace.wait(async { drop(self.park(engine, shard, want).await) }).await;
                }
                Err(Some(Lack::Unread(_) | Lack::Room(_) | Lack::Shards(_) | Lack::Compute(_) | Lack::Gate)) => {
                    unreachable!("a look lacks nothing else")
                }
                Err(None) => pace.wait(gate_open(&engine.gate)).await,
            }
        }
        names.iter().zip(fits).filter(|(_, fits)| *fits).for_each(|(name, _)| range.take(name));
    }

    /// Looks up `some` of the names, holding their shards.
    ///
    /// # Errors
    /// Returns what it lacks; `None`: the gate is up.
    fn look_at(
        &mut self,
        worker: &Worker,
        range: &NameRange,
        names: &[&[u8]],
        some: &[usize],
        fits: &mut [bool],
    ) -> Result<(), Option<Lack>> {
        let _inside = worker.member.enter().ok_or(None)?;
        // Names and types are known before values are read: no value is waited for.
        let add = |keyspace: &Keyspace, plan: &mut Plan| {
            some.iter().for_each(|nth| plan.add_shard(shard_of(keyspace.hash(names[*nth])), Want::Read));
        };
        let look = |tx: &mut Tx<'_>| some.iter().for_each(|nth| fits[*nth] = range.fits(tx, names[*nth]));
        let ((), seen) = worker.executor.look(None, (self.database, worker.engine.clock.now()), add, look)?;
        self.saw(seen);
        Ok(())
    }

    /// Removes the names of a page that still exist.
    ///
    /// # Errors
    /// Returns the error to be sent instead of the count.
    async fn remove_some(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        range: &mut NameRange,
        page: &Page,
        pace: &mut GatherPace<'_>,
    ) -> Result<(), String> {
        let (part, request) = range.removal(&command, page).expect("a command that writes removes");
        let (args, mut output) = (request.args(), Output::new());
        // A recursive future must be boxed.
        let removal: Pin<Box<dyn Future<Output = Took> + '_>> =
            Box::pin(self.run_until_done(worker, part, &args, Suspend::Shards(Vec::new()), &mut output));
        pace.wait(removal).await;
        match read(output) {
            Value::Error(error) => Err(error),
            value => {
                range.removed(value.as_int().and_then(|count| u64::try_from(count).ok()).expect("a number of keys"));
                Ok(())
            }
        }
    }
}
