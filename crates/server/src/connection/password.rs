//! The delay before the answer to a password: guessing is slow, and no other connection waits.

use super::{Connection, End};
use engine::AuthDelay;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use tracing::warn;

impl Connection {
    /// Logs a wrong password, and waits until the answer may be written. Ends early if the client has gone.
    pub(super) async fn delay_answer(&mut self, delay: AuthDelay) -> Result<(), End> {
        let client = self.session.client().clone();
        if delay.is_denied
            && let Some(left_out) = self.context.crew().warnings.passwords.spend(Instant::now())
        {
            let (id, address, failures) = (client.id, &client.address, delay.failures);
            warn!(
                "client {id} at {address} gave a wrong password: {failures} recent failures from its address{left_out}"
            );
        }
        let mut rest = pin!(sleep(Duration::from_millis(u64::from(delay.ms))));
        poll_fn(|context| {
            if client.is_closing(Some(context)) {
                return Poll::Ready(Err(End::Asked));
            }
            if self.socket.poll_gone(context).is_ready() {
                return Poll::Ready(Err(End::Gone));
            }
            rest.as_mut().poll(context).map(Ok)
        })
        .await
    }
}
