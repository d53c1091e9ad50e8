//! A wait for an element: the registration of a blocked client at its keys.

use crate::client::Client;
use crate::engine::Engine;
use crate::event_loop::Sleep;
use crate::executor::take_off;
use crate::waiter::{Answer, Waiter};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The longest wait before a client retries, if it is to retry at all.
const LOOK_AGAIN_MS_MAX: base::Ms = 3_600_000;

/// A wait for an element, from the moment the waiter is registered at its keys. Dropping it removes the waiter.
pub(crate) struct ElementWait {
    engine: Arc<Engine>,
    pub(super) waiter: Arc<Waiter>,
    client: Arc<Client>,
}

impl ElementWait {
    pub(super) fn begin(
        engine: Arc<Engine>,
        waiter: Arc<Waiter>,
        client: Arc<Client>,
        look_again_ms: Option<base::Ms>,
    ) -> Self {
        client.set_blocked(Some(waiter.clone()));
        waiter.set_looks_at(look_again_ms);
        Self { engine, waiter, client }
    }

    /// Returns its waiter, for an attempt from its place in the line.
    pub(super) fn waiter(&self) -> &Arc<Waiter> {
        &self.waiter
    }

    /// Waits for its answer; returns `None` if there is none by the time it must retry.
    pub(super) async fn answer(
        &mut self,
        sleep: impl Fn(base::Ms) -> Sleep,
        ends: &mut Option<Sleep>,
    ) -> Option<Answer> {
        let now = self.engine.clock.now();
        let span_ms = |at_ms: base::Ms| at_ms.saturating_sub(now).clamp(1, LOOK_AGAIN_MS_MAX);
        let mut looks = self.waiter.looks_at().map(|at_ms| sleep(span_ms(at_ms)));
        let (mut is_over, mut looks_again) = (false, false);
        poll_fn(|context| {
            let comes = |sleep: &mut Option<Sleep>, context: &mut Context<'_>| {
                sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(context).is_ready())
            };
            is_over = is_over || comes(ends, context);
            looks_again = looks_again || comes(&mut looks, context);
            let leaves = is_over || self.client.is_closing(None);
            let ended = self.waiter.poll_end(leaves, context);
            looks_again |= self.waiter.takes_look();
            if ended.is_pending() && looks_again { Poll::Ready(None) } else { ended.map(Some) }
        })
        .await
    }
}

impl Drop for ElementWait {
    fn drop(&mut self) {
        self.waiter.leave();
        self.client.set_blocked(None);
        take_off(&self.engine, &self.waiter);
    }
}
