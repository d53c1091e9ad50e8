//! A request that must wait, watched meanwhile: the wait ends if the client is killed, or if the peer closes while it
//! is blocked or its data is still to be loaded.
//!
//! Any other request completes: a client may close its side after sending, and still mean what it sent.

use super::{Connection, End};
use engine::Slow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Bytes from which completing and freeing a request is one turn, and beginning its reply another.
const LONG_BYTES_MIN: usize = 64 << 10;

impl Connection {
    /// Runs a request to completion, or until its client has gone.
    pub(super) async fn run_slowly(&mut self, slow: Box<Slow>) -> Result<(), End> {
        let Self { session, input, output, socket, .. } = self;
        let client = session.client().clone();
        let request_bytes = slow.request_bytes();
        {
            let mut running = pin!(session.run_slowly(slow, input.rest(), output));
            poll_fn(|context| {
                if client.is_closing(Some(context)) {
                    return Poll::Ready(Err(End::Asked));
                }
                if running.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Ok(()));
                }
                if client.is_waiting() && socket.poll_gone(context).is_ready() && client.ends_wait() {
                    return Poll::Ready(Err(End::Gone));
                }
                Poll::Pending
            })
            .await?;
        }
        input.advance(request_bytes, 1);
        if request_bytes >= LONG_BYTES_MIN {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}
