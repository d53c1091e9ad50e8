//! Retains a shard from one request of a pipeline to the next: a client that keeps writing to one key takes its lock
//! once for many requests, and others wait for it once.
//!
//! ```text
//!   LPUSH q | LPUSH q | LPUSH q | LPUSH q | SET x         requests received, in one turn
//!   |--hold-| |------------- hold --------| |-hold-|      kept from the second on, for KEPT_US_MAX at most
//! ```

use super::locks::hold;
use super::{Executor, Lack};
use crate::engine::Engine;
use base::instant::Instant;
use keyspace::{Held, Keyspace, Log, Plan, RetainedLock, Tx};
use sync::gate::Raised;

/// Microseconds for which a shard is kept; the request then running is finished. A second worker at the same list has
/// by then found other work or sleeps: waking it once costs as much as some ten requests.
const KEPT_US_MAX: u128 = 50;

/// Requests of a turn that held shards or had to wait for one, as seen from the counted one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShardUses {
    /// Those that write to it and to no other, and scripts whose first key it has.
    pub(crate) writes: i32,
    /// All others.
    pub(crate) others: i32,
}

/// The shard kept during one turn.
pub(crate) struct LockRetention<'k> {
    keyspace: &'k Keyspace,
    kept: Option<RetainedLock<'k>>,
    /// When that hold began.
    since: Option<Instant>,
    /// The single shard that the previous request wrote to.
    last: Option<u16>,
    /// The shard whose uses are counted, if any.
    counted: Option<u16>,
    uses: ShardUses,
    /// More input has been received.
    has_more: bool,
}

impl<'k> LockRetention<'k> {
    /// Creates a retention that keeps nothing until a request has begun; counts writes to the shard `counted`.
    pub(crate) fn new(keyspace: &'k Keyspace, counted: Option<u16>) -> Self {
        Self { keyspace, kept: None, since: None, last: None, counted, uses: ShardUses::default(), has_more: false }
    }

    /// Begins a request; `has_more` if more input follows.
    #[inline]
    pub(crate) fn begin(&mut self, now: Instant, has_more: bool) {
        self.has_more = has_more;
        if self.kept.is_none() {
            self.since = Some(now);
        }
    }

    /// Takes the shards of a plan: uses the kept one if it suffices, otherwise releases it and tries for each.
    #[inline]
    pub(super) fn hold<'p>(
        &mut self,
        executor: &'p Executor,
        plan: &'p Plan,
        raised: Option<&Raised<'_>>,
    ) -> Result<Held<'p>, Lack>
    where
        'k: 'p,
    {
        if self.kept.as_ref().is_some_and(|kept| !plan.is_of(kept)) {
            self.let_go(executor);
        }
        let held = match self.kept.take() {
            Some(kept) => Ok(plan.hold_kept(&executor.engine.keyspace, kept)),
            None => hold(&executor.engine, plan, raised),
        };
        // Where the shard goes to another worker after each request, all have to wait, and none would be counted.
        if matches!(held, Err(Lack::Locked(..))) {
            self.count_plan(plan);
        }
        held
    }

    /// Returns true if a tx by this plan is to leave its shard kept: the previous request used the same shard, and more
    /// input has been received. Each hold checks for shards that are still to be loaded; and nobody is shown a request
    /// whose shard is still held.
    #[inline]
    pub(super) fn wants(&mut self, engine: &Engine, plan: &Plan) -> bool {
        let before = std::mem::replace(&mut self.last, plan.only_write());
        self.count_plan(plan);
        let repeats = self.last.is_some() && self.last == before;
        self.has_more && repeats && engine.loading.is_over() && !engine.monitors.any_lines()
    }

    /// Counts a request with this plan, which holds its shards or waits for one.
    #[inline]
    fn count_plan(&mut self, plan: &Plan) {
        if self.counted.is_some() {
            self.count_use(plan.written());
        }
    }

    /// Counts a request as a use of the shard that it is taken to write to.
    #[inline]
    pub(crate) fn count_use(&mut self, written: Option<u16>) {
        if self.counted.is_some() {
            *(if written == self.counted { &mut self.uses.writes } else { &mut self.uses.others }) += 1;
        }
    }

    /// Ends a tx, and keeps its shard.
    #[inline]
    pub(super) fn end_tx<'t>(&mut self, tx: &'t mut Tx<'_>) -> &'t mut Log {
        let (log, kept) = tx.release_retaining(self.keyspace);
        self.kept = kept;
        log
    }

    /// Ends a request: releases a shard that has been kept for too long.
    #[inline]
    pub(crate) fn end(&mut self, executor: &Executor, now: Instant) {
        if self.kept.is_some() && self.since.is_some_and(|since| (now - since).as_micros() > KEPT_US_MAX) {
            self.let_go(executor);
        }
    }

    /// Releases the kept shard, if there is one, and counts the hold: what comes next may hold other shards.
    #[inline]
    pub(crate) fn let_go(&mut self, executor: &Executor) {
        if let (Some(kept), Some(since)) = (self.kept.take(), self.since) {
            drop(kept);
            executor.note_hold(since.elapsed());
        }
    }

    /// Ends a turn: releases the kept shard. Returns the uses of the counted one.
    #[inline]
    pub(crate) fn end_turn(&mut self, executor: &Executor) -> ShardUses {
        self.let_go(executor);
        self.uses
    }
}
