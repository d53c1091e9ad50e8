//! Writing the output to the socket: at once as a rule, and patiently when the peer reads slowly.
//!
//! A client that sends a long pipeline before it reads a reply would deadlock with us. So when a reader has taken
//! nothing for [`STALL_MS`], its further requests are received, but not run, until it reads.

use super::{Connection, End};
use crate::worker::WorkerContext;
use engine::settings::OutputLimit;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep};

/// Maximum number of output slices per write.
const SLICES_MAX: usize = 16;
/// Bytes written before other connections have their turn: some 30 µs, and 300 if the system must find the memory for
/// them.
const WRITE_BYTES_MAX: usize = 64 << 10;
/// Milliseconds without taking anything after which a reader is taken to be busy sending.
const STALL_MS: u64 = 100;
/// The interval between checks of a reader's limits while it takes nothing, in milliseconds.
const LOOK_MS: u64 = 500;

/// Maximum bytes pending for a reader when memory is nearly out.
const SHORT_BYTES_MAX: u64 = 1 << 20;

/// The result of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    /// Everything was written.
    All,
    /// The socket takes no more now.
    Blocked,
    /// Others have their turn first.
    Enough,
}

impl Connection {
    /// Writes the output once it may be sent.
    pub(super) async fn flush(&mut self) -> Result<(), End> {
        if !self.session.may_write() && !poll_fn(|context| self.poll_may_write(context)).await? {
            self.session.fail_held(&mut self.output);
        }
        match self.write()? {
            Sent::All => {}
            sent => Box::pin(self.drain(sent)).await?,
        }
        self.session.note_written();
        Ok(())
    }

    fn poll_may_write(&self, context: &mut Context<'_>) -> Poll<Result<bool, End>> {
        if self.session.client().is_closing(Some(context)) && !self.context.is_stopping() {
            return Poll::Ready(Err(End::Asked));
        }
        self.session.poll_may_write(context).map(Ok)
    }

    fn write(&mut self) -> Result<Sent, End> {
        let mut written_bytes = 0;
        while written_bytes < WRITE_BYTES_MAX {
            let shall_rest = self.output.fill_some();
            if let Some(spent) = self.output.take_spent() {
                self.context.worker.engine.deferred_drop.free(Box::new(spent));
            }
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = self.output.io_slices(&mut slices);
            if count == 0 {
                assert!(shall_rest || self.output.is_empty(), "a source gives bytes, searches or ends");
                return Ok(if shall_rest { Sent::Enough } else { Sent::All });
            }
            let Some(bytes) = self.socket.write(&slices[..count])? else { return Ok(Sent::Blocked) };
            self.output.consume(bytes);
            self.context.worker.counters().output_bytes.add(bytes as u64);
            written_bytes += bytes;
            if shall_rest {
                break;
            }
        }
        Ok(if self.output.is_empty() { Sent::All } else { Sent::Enough })
    }

    /// Writes the output that the socket did not take at once.
    async fn drain(&mut self, mut sent: Sent) -> Result<(), End> {
        let owner = self.context.clone();
        let client = self.session.client().clone();
        let mut patience = Patience::default();
        let mut takes_in = false;
        while sent != Sent::All {
            let waiting_bytes = self.session.note_waiting(&self.output);
            let limits = owner.worker.settings().output_limits;
            let limit = if self.session.is_subscribed() { limits.pubsub } else { limits.normal };
            if patience.ends(limit, waiting_bytes, Instant::now()) {
                return Err(End::OutputTooLong);
            }
            if waiting_bytes > SHORT_BYTES_MAX && owner.worker.engine.memory.is_nearly_out() {
                return Err(End::OutOfMemory);
            }
            if sent == Sent::Enough {
                tokio::task::yield_now().await;
            } else {
                let mut rest = pin!(sleep(Duration::from_millis(if takes_in { LOOK_MS } else { STALL_MS })));
                let is_stalled = !poll_fn(|context| self.poll_taken(&owner, rest.as_mut(), takes_in, context)).await?;
                // No memory is spent on more requests of an unauthenticated client.
                takes_in |= is_stalled && !self.session.is_locked();
            }
            if client.is_closing(None) && !owner.is_stopping() {
                return Err(End::Asked);
            }
            sent = self.write()?;
            if sent != Sent::Blocked {
                client.last_ms.store(owner.worker.engine.clock.now(), Relaxed);
            }
        }
        self.session.note_waiting(&self.output);
        Ok(())
    }

    /// Ready with `true` when the socket takes more, with `false` when `rest` has elapsed.
    fn poll_taken(
        &mut self,
        owner: &WorkerContext,
        rest: Pin<&mut Sleep>,
        takes_in: bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<bool, End>> {
        if self.session.client().is_closing(Some(context)) && !owner.is_stopping() {
            return Poll::Ready(Err(End::Asked));
        }
        if self.socket.poll_write(context)?.is_ready() {
            return Poll::Ready(Ok(true));
        }
        if takes_in {
            self.poll_take_in(owner, context)?;
        }
        rest.poll(context).map(|()| Ok(false))
    }

    /// Receives input, up to the limit, without running it.
    fn poll_take_in(&mut self, owner: &WorkerContext, context: &mut Context<'_>) -> Result<(), End> {
        let limit_bytes = owner.worker.settings().query_buffer_bytes_max;
        // A client that has shut down its side, and still reads, will send no more.
        while let Poll::Ready(Ok(())) = self.socket.poll_read(context) {
            let mut scratch = owner.scratch.borrow_mut();
            scratch.clear();
            match self.socket.read(&mut scratch) {
                Ok(bytes) if !owner.worker.may_receive(bytes as u64) => return Err(End::OutOfMemory),
                Ok(bytes) => {
                    owner.worker.counters().input_bytes.add(bytes as u64);
                    self.input.append(&scratch);
                }
                Err(_) => break,
            }
            if self.input.bytes_wanted() as u64 > limit_bytes {
                return Err(End::InputTooLong);
            }
        }
        Ok(())
    }
}

/// The time that a client has spent above its soft limit.
#[derive(Default)]
struct Patience {
    above_since: Option<Instant>,
}

impl Patience {
    /// Returns true if a client with `waiting_bytes` pending must be cut off.
    fn ends(&mut self, limit: OutputLimit, waiting_bytes: u64, now: Instant) -> bool {
        let is_above = |bound_bytes: u64| bound_bytes > 0 && waiting_bytes > bound_bytes;
        if is_above(limit.hard_bytes) {
            return true;
        }
        if !is_above(limit.soft_bytes) {
            self.above_since = None;
            return false;
        }
        let since = *self.above_since.get_or_insert(now);
        now - since >= Duration::from_secs(u64::from(limit.soft_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_limits_apply_at_once_and_soft_limits_later() {
        let limit = OutputLimit { hard_bytes: 100, soft_bytes: 10, soft_s: 2 };
        let start = Instant::now();
        let after = |s: u64| start + Duration::from_secs(s);
        let mut patience = Patience::default();
        assert!(patience.ends(limit, 101, start));
        assert!(!patience.ends(limit, 11, start));
        assert!(!patience.ends(limit, 11, after(1)));
        assert!(patience.ends(limit, 11, after(2)));
        assert!(!patience.ends(limit, 10, after(2)), "what is at the bound is not above it");
        assert!(!patience.ends(limit, 11, after(3)), "the time begins anew");
        assert!(!patience.ends(OutputLimit::default(), u64::MAX, after(9)), "no bound");
    }
}
