//! LockRetention a shard from one request of a pipeline to the next: who writes to one key again and again takes its lock once for
//! many requests, and whoever waits for it waits once.
//!
//! ```text
//!   LPUSH q | LPUSH q | LPUSH q | LPUSH q | SET x         what has been received, in one turn
//!   |--hold-| |------------- hold --------| |-hold-|      kept from the second on, for KEPT_US_MAX at most
//! ```

use super::attempt::hold;
use super::suspend::Suspend;
use crate::engine::Engine;
use crate::worker::Worker;
use keyspace::{Held, Keyspace, Log, Plan, RetainedLock, Tx};
use quanta::Instant;
use sync::gate::Raised;

/// So long a shard is kept, in microseconds, and the request that runs then is finished. Of two workers at one list the other has
/// found other work by then, or sleeps: waking it once costs as much as some ten requests.
const KEPT_US_MAX: u128 = 50;

/// What one turn keeps.
pub(super) struct LockRetention<'k> {
    keyspace: &'k Keyspace,
    kept: Option<RetainedLock<'k>>,
    /// When that hold began.
    since: Option<Instant>,
    /// The one shard that the request before wrote to.
    last: Option<u16>,
    /// More has been received.
    has_more: bool,
}

impl<'k> LockRetention<'k> {
    /// Nothing is kept, nor will be before something has begun.
    pub(super) fn new(keyspace: &'k Keyspace) -> Self {
        Self { keyspace, kept: None, since: None, last: None, has_more: false }
    }

    /// A request begins, and there is more behind it or not.
    #[inline]
    pub(super) fn begin(&mut self, now: Instant, has_more: bool) {
        self.has_more = has_more;
        if self.kept.is_none() {
            self.since = Some(now);
        }
    }

    /// Holds what a plan wants: what is kept, if that is all, else by a try for each, before which that is let go.
    #[inline]
    pub(super) fn hold<'p>(
        &mut self,
        worker: &'p Worker,
        plan: &'p Plan,
        raised: Option<&Raised<'_>>,
    ) -> Result<Held<'p>, Suspend>
    where
        'k: 'p,
    {
        if self.kept.as_ref().is_some_and(|kept| !plan.is_of(kept)) {
            self.let_go(worker);
        }
        match self.kept.take() {
            Some(kept) => Ok(plan.hold_kept(&worker.engine.keyspace, kept)),
            None => hold(&worker.engine, plan, raised),
        }
    }

    /// Whether a tx by this plan is to leave its shard kept: it is the same as that of the request before, and more has been
    /// received. What is still to be loaded is looked for at each hold.
    #[inline]
    pub(super) fn wants(&mut self, engine: &Engine, plan: &Plan) -> bool {
        let before = std::mem::replace(&mut self.last, plan.only_write());
        self.has_more && self.last.is_some() && self.last == before && engine.loading.is_over()
    }

    /// Ends a tx, and keeps its shard.
    #[inline]
    pub(super) fn end_tx<'t>(&mut self, tx: Tx<'t>) -> &'t mut Log {
        let (log, kept) = tx.end_retaining(self.keyspace);
        self.kept = kept;
        log
    }

    /// A request has ended: what has been kept for long is let go.
    #[inline]
    pub(super) fn end(&mut self, worker: &Worker, now: Instant) {
        if self.kept.is_some() && self.since.is_some_and(|since| (now - since).as_micros() > KEPT_US_MAX) {
            self.let_go(worker);
        }
    }

    /// Lets go of what is kept, if anything is, and counts the hold: what comes next may hold others by itself.
    #[inline]
    pub(super) fn let_go(&mut self, worker: &Worker) {
        if let (Some(kept), Some(since)) = (self.kept.take(), self.since) {
            drop(kept);
            worker.note_hold(since.elapsed());
        }
    }
}
