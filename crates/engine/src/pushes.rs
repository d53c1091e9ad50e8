//! Pushes: data sent to a single connection that did not just ask for it: invalidations of keys it may have cached, and
//! requests that it monitors.
//!
//! ```text
//! end of a tx, its shards held --> Pushes of a client --> between its requests into its output
//!                                  its position follows before the shards are let go
//! ```
//!
//! Unlike a message, a push goes to its client at once, on any worker: so the next holder of a shard after the tx finds
//! its pushes in place. [`ClientPushes::count`] counts all pushes so far; a reply that has seen the keys at some
//! instant belongs after the pushes already posted, and before all later ones.

use crate::pubsub::Stamp;
use base::primitives::atomic::{AtomicU64, AtomicUsize, Ordering};
use base::primitives::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

/// The content of a push.
pub(crate) enum Push {
    /// These keys have changed.
    Keys(Arc<[Box<[u8]>]>),
    /// All keys may have changed.
    All,
    /// The connection with this number, to which invalidations for this one were redirected, is gone.
    Gone(u64),
    /// A line, as MONITOR shows it.
    Line(Arc<str>),
}

impl Push {
    /// Returns its size in bytes.
    fn bytes(&self) -> u64 {
        match self {
            Self::Keys(keys) => 32 + keys.iter().map(|key| key.len() as u64 + 16).sum::<u64>(),
            Self::All | Self::Gone(_) => 32,
            Self::Line(line) => 32 + line.len() as u64,
        }
    }
}

/// A push in transit.
pub(crate) struct Sent {
    pub(crate) push: Push,
    /// True if it concerns a key that another connection has read.
    pub(crate) is_redirected: bool,
    pub(crate) stamp: Arc<Stamp>,
}

/// Pushes waiting for one connection.
#[derive(Default)]
pub(crate) struct ClientPushes {
    queue: Mutex<Queue>,
    /// The number waiting.
    waiting: AtomicUsize,
    bytes: AtomicU64,
    /// The number posted so far.
    count: AtomicU64,
}

#[derive(Default)]
struct Queue {
    sent: VecDeque<Sent>,
    is_cut_off: bool,
}

impl ClientPushes {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if any wait, with or without a position.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Returns true if the first one may be taken.
    pub(crate) fn are_ready(&self) -> bool {
        self.any() && self.lock().sent.front().is_some_and(|sent| sent.stamp.position().is_some())
    }

    /// Returns the number posted so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns the bytes waiting.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Adds a push. If more than `bytes_max` then wait (0: no bound), drops all, accepts no more, and returns how many
    /// bytes they were: the client must be cut off.
    pub(crate) fn put(&self, sent: Sent, bytes_max: u64) -> Option<u64> {
        let mut queue = self.lock();
        if queue.is_cut_off {
            return None;
        }
        let bytes = self.bytes() + sent.push.bytes();
        queue.sent.push_back(sent);
        self.count.fetch_add(1, Ordering::AcqRel);
        queue.is_cut_off = bytes_max > 0 && bytes > bytes_max;
        if queue.is_cut_off {
            queue.sent = VecDeque::new();
        }
        self.bytes.store(if queue.is_cut_off { 0 } else { bytes }, Ordering::Relaxed);
        self.waiting.store(queue.sent.len(), Ordering::Release);
        queue.is_cut_off.then_some(bytes)
    }

    /// Takes the first push if it has a position and was posted before number `end`.
    pub(crate) fn take(&self, end: u64) -> Option<Sent> {
        let mut queue = self.lock();
        let number = self.count() - queue.sent.len() as u64;
        if number >= end || queue.sent.front()?.stamp.position().is_none() {
            return None;
        }
        let sent = queue.sent.pop_front();
        if queue.sent.is_empty() {
            // A queue that was once long is freed.
            queue.sent = VecDeque::new();
        }
        self.waiting.store(queue.sent.len(), Ordering::Release);
        let bytes = sent.as_ref().map_or(0, |sent| sent.push.bytes());
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(key: &[u8], stamp: &Arc<Stamp>) -> Sent {
        Sent { push: Push::Keys(Arc::new([key.into()])), is_redirected: false, stamp: stamp.clone() }
    }

    #[test]
    fn take_returns_only_pushes_with_position_before_the_end() {
        let pushes = ClientPushes::default();
        let (known, unknown) = (Stamp::of(5, false), Stamp::unset());
        assert!(!pushes.any());
        assert_eq!(pushes.put(sent(b"a", &known), 0), None);
        assert_eq!(pushes.put(sent(b"b", &unknown), 0), None);
        assert_eq!((pushes.count(), pushes.are_ready()), (2, true));
        assert!(pushes.take(0).is_none(), "it came behind that");
        assert!(pushes.take(1).is_some());
        assert!(!pushes.are_ready() && pushes.any() && pushes.take(u64::MAX).is_none());
        unknown.set(7, false);
        assert!(pushes.take(1).is_none() && pushes.take(2).is_some());
        assert_eq!((pushes.any(), pushes.bytes(), pushes.count()), (false, 0, 2));
    }

    #[test]
    fn a_queue_beyond_its_bound_is_emptied_and_stays_empty() {
        let pushes = ClientPushes::default();
        let stamp = Stamp::of(0, false);
        assert_eq!(pushes.put(sent(&[0; 100], &stamp), 200), None);
        assert!(pushes.put(sent(&[0; 100], &stamp), 200).is_some_and(|bytes| bytes > 200));
        assert_eq!(pushes.put(sent(b"", &stamp), 200), None);
        assert_eq!((pushes.any(), pushes.bytes()), (false, 0));
    }
}
