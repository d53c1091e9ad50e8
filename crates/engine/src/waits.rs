//! Waits: for a shard, for the gate, for the next turn. Nothing is held across them.

use crate::engine::Engine;
use keyspace::ShardState;
use std::future::poll_fn;
use std::task::Poll;
use sync::gate::{Gate, Member, Raised};
use sync::lock::{Parked, Want};

/// Waits until a shard may be free, or is loaded. Keep the result until the next try.
pub(crate) async fn park(engine: &Engine, shard: usize, want: Want) -> Parked<'_, ShardState> {
    let lock = engine.keyspace.shard(shard);
    if lock.is_shut() {
        engine.loading.want(shard);
    }
    let mut parked = None;
    poll_fn(|context| match parked.is_some() {
        true => Poll::Ready(()),
        false => {
            parked = Some(lock.park(want, context.waker()));
            Poll::Pending
        }
    })
    .await;
    parked.expect("parked before it was woken")
}

/// Waits until no key with this hash has an unread value.
pub(crate) async fn read(engine: &Engine, hash: u64) {
    poll_fn(|context| engine.loading.poll_read(hash, context)).await;
}

/// Waits until all shards are loaded, with all values.
pub(crate) async fn loaded(engine: &Engine) {
    poll_fn(|context| engine.loading.poll_over(context)).await;
}

/// Waits until the gate may be down.
pub(crate) async fn gate_open(gate: &Gate) {
    poll_fn(|context| {
        if !gate.is_raised() {
            return Poll::Ready(());
        }
        gate.wait_open(context.waker());
        if gate.is_raised() { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

/// Raises the gate for a thread that is no worker, after any other holder.
pub(crate) async fn raise_for<'m>(engine: &Engine, member: &'m Member) -> Raised<'m> {
    loop {
        if let Some(raising) = member.try_raise() {
            engine.watch.note_raise(None);
            return raising.await;
        }
        gate_open(member.gate()).await;
    }
}

/// Lets other tasks on this event loop have their turn.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
