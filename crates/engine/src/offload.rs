//! The queue to the threads that run big commands speculatively.
//!
//! ```text
//!   session: run(job) --> queue --> a thread of the process: job() --> slot, whose session is woken
//! ```
//!
//! If nobody has taken the receiving end, as in a simulated world, the caller runs the job.

use base::primitives::Mutex;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Poll, Waker};

/// The work to be done.
type OffloadJob = Box<dyn FnOnce() + Send>;

/// The queue of speculative runs.
pub struct OffloadPool {
    sender: Sender<OffloadJob>,
    receiver: Mutex<Option<Receiver<OffloadJob>>>,
}

impl Default for OffloadPool {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

/// The result of a job.
enum JobSlot<T> {
    /// No result yet, and the waker of the caller.
    Empty(Option<Waker>),
    Full(T),
    Taken,
}

impl OffloadPool {
    /// Returns the receiving end, for the threads that do the jobs; once.
    pub fn receiver(&self) -> Option<Receiver<OffloadJob>> {
        self.receiver.lock().expect("no holder panics").take()
    }

    /// Runs a job on another thread and waits for its result. If nobody waits any more, the result is dropped where it
    /// was made.
    pub(crate) async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        let is_alone = self.receiver.lock().expect("no holder panics").is_some();
        if is_alone {
            return job();
        }
        let slot = Arc::new(Mutex::new(JobSlot::Empty(None)));
        let full = slot.clone();
        let job = move || {
            let made = job();
            let before = std::mem::replace(&mut *full.lock().expect("no holder panics"), JobSlot::Full(made));
            if let JobSlot::Empty(Some(waker)) = before {
                waker.wake();
            }
        };
        // The other end lives as long as the process.
        let _ = self.sender.send(Box::new(job));
        poll_fn(|context| {
            let mut slot = slot.lock().expect("no holder panics");
            match std::mem::replace(&mut *slot, JobSlot::Taken) {
                JobSlot::Full(made) => Poll::Ready(made),
                _ => {
                    *slot = JobSlot::Empty(Some(context.waker().clone()));
                    Poll::Pending
                }
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    #[test]
    fn jobs_run_in_the_caller_unless_the_receiver_is_taken() {
        let offload = OffloadPool::default();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(offload.run(|| 1)).poll(&mut context), Poll::Ready(1));
        let jobs = offload.receiver().expect("nobody has it yet");
        let mut running = pin!(offload.run(|| 2));
        assert!(running.as_mut().poll(&mut context).is_pending());
        assert!(running.as_mut().poll(&mut context).is_pending(), "nobody has done it");
        jobs.try_iter().for_each(|job| job());
        assert_eq!(running.as_mut().poll(&mut context), Poll::Ready(2));
    }
}
