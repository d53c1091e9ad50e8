//! The leases of messages that connections of the queue port have open, by worker.

use crate::client::Client;
use base::Ms;
use commands::LEASE_MS;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// Leases with less time left are extended.
const LEFT_MS_MIN: Ms = LEASE_MS / 3 * 2;

/// A key or a receipt.
pub(crate) type Bytes = Box<[u8]>;

/// A lease of a message.
struct Lease {
    receipt: Bytes,
    due_ms: Ms,
}

/// The open messages of a connection.
struct Opened {
    client: Arc<Client>,
    database: u32,
    by_queue: BTreeMap<Bytes, Lease>,
}

/// The open messages of one worker's connections.
#[derive(Default)]
pub(crate) struct Leases {
    state: RefCell<LeaseState>,
}

#[derive(Default)]
struct LeaseState {
    /// Connections with open messages, by id.
    opened: BTreeMap<u64, Opened>,
    waker: Option<Waker>,
}

/// A database, a queue, and leases of it: client ids and receipts.
pub(crate) type OfQueue = ((u32, Bytes), Vec<(u64, Bytes)>);

impl Leases {
    /// Records a message that a connection opened at `now`.
    pub(crate) fn hold(&self, client: &Arc<Client>, database: u32, key: &[u8], receipt: Bytes, now: Ms) {
        let state = &mut *self.state.borrow_mut();
        let empty = || Opened { client: client.clone(), database, by_queue: BTreeMap::new() };
        let opened = state.opened.entry(client.id).or_insert_with(empty);
        opened.by_queue.insert(key.into(), Lease { receipt, due_ms: now + LEASE_MS });
        state.waker.take().into_iter().for_each(Waker::wake);
    }

    pub(crate) fn holds(&self, client_id: u64, key: &[u8]) -> bool {
        self.state.borrow().opened.get(&client_id).is_some_and(|opened| opened.by_queue.contains_key(key))
    }

    /// Stops holding a message; returns its receipt.
    pub(crate) fn let_go(&self, client_id: u64, key: &[u8]) -> Option<Bytes> {
        let state = &mut *self.state.borrow_mut();
        let opened = state.opened.get_mut(&client_id)?;
        let lease = opened.by_queue.remove(key);
        if opened.by_queue.is_empty() {
            state.opened.remove(&client_id);
        }
        lease.map(|lease| lease.receipt)
    }

    /// Stops holding all messages of a connection; returns their keys and receipts.
    pub(crate) fn let_all_go(&self, client_id: u64) -> Vec<(Bytes, Bytes)> {
        let opened = self.state.borrow_mut().opened.remove(&client_id);
        let by_queue = opened.map(|opened| opened.by_queue).unwrap_or_default();
        by_queue.into_iter().map(|(key, lease)| (key, lease.receipt)).collect()
    }

    /// Returns the leases to extend.
    pub(crate) fn aging(&self, now: Ms) -> Vec<OfQueue> {
        let mut aging: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (client_id, opened) in &self.state.borrow().opened {
            let old = opened.by_queue.iter().filter(|(_, lease)| lease.due_ms < now + LEFT_MS_MIN);
            for (key, lease) in old {
                let of_queue = aging.entry((opened.database, key.clone())).or_default();
                of_queue.push((*client_id, lease.receipt.clone()));
            }
        }
        aging.into_iter().collect()
    }

    /// Records the new end of extended leases.
    pub(crate) fn extended(&self, key: &[u8], leases: &[(u64, Bytes)], due_ms: Ms) {
        self.with(key, leases, |_, lease| lease.due_ms = due_ms);
    }

    /// Closes the connections whose leases have expired because they could not be extended.
    pub(crate) fn close_late(&self, key: &[u8], leases: &[(u64, Bytes)], now: Ms) {
        self.with(key, leases, |client, lease| {
            if lease.due_ms <= now {
                client.close();
            }
        });
    }

    /// Calls `show` for those of some leases that are still held.
    fn with(&self, key: &[u8], leases: &[(u64, Bytes)], mut show: impl FnMut(&Client, &mut Lease)) {
        let state = &mut *self.state.borrow_mut();
        for (client_id, receipt) in leases {
            if let Some(opened) = state.opened.get_mut(client_id)
                && let Some(lease) = opened.by_queue.get_mut(key)
                && lease.receipt == *receipt
            {
                show(&opened.client, lease);
            }
        }
    }

    /// Ready when any lease is held; otherwise registers the waker.
    pub(crate) fn poll_any(&self, waker: &Waker) -> Poll<()> {
        let state = &mut *self.state.borrow_mut();
        if state.opened.is_empty() {
            state.waker = Some(waker.clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(client: &Arc<Client>, now: Ms) -> Leases {
        let leases = Leases::default();
        for key in [b"a", b"b"] {
            leases.hold(client, 3, key, b"1-1"[..].into(), now);
        }
        leases
    }

    #[test]
    fn a_held_lease_is_released_once() {
        let client = Arc::new(Client::of_server(0));
        let waker = Waker::noop();
        assert!(Leases::default().poll_any(waker).is_pending());
        let leases = held(&client, 0);
        assert!(leases.poll_any(waker).is_ready());
        assert!(leases.holds(client.id, b"a") && !leases.holds(client.id, b"c") && !leases.holds(client.id + 1, b"a"));
        assert_eq!(leases.let_go(client.id, b"a").as_deref(), Some(&b"1-1"[..]));
        assert_eq!(leases.let_go(client.id, b"a"), None);
        assert_eq!(leases.let_all_go(client.id), [(b"b"[..].into(), b"1-1"[..].into())]);
        assert!(leases.let_all_go(client.id).is_empty() && leases.poll_any(waker).is_pending());
    }

    #[test]
    fn only_aged_leases_are_extended() {
        let client = Arc::new(Client::of_server(0));
        let leases = held(&client, 1_000);
        let receipts = [(client.id, b"1-1"[..].into())];
        assert!(leases.aging(1_000 + LEASE_MS - LEFT_MS_MIN).is_empty());
        assert_eq!(leases.aging(2_000 + LEASE_MS - LEFT_MS_MIN).len(), 2);
        leases.extended(b"a", &receipts, 2_000 + LEASE_MS);
        assert_eq!(leases.aging(2_000 + LEASE_MS - LEFT_MS_MIN), [((3, b"b"[..].into()), receipts.to_vec())]);
    }

    #[test]
    fn a_connection_is_closed_when_its_lease_ends() {
        let client = Arc::new(Client::of_server(0));
        let leases = held(&client, 0);
        let stale = [(client.id, b"1-0"[..].into())];
        let receipts = [(client.id, b"1-1"[..].into())];
        leases.close_late(b"a", &receipts, LEASE_MS - 1);
        leases.close_late(b"a", &stale, LEASE_MS);
        assert!(!client.is_closing(None));
        leases.close_late(b"a", &receipts, LEASE_MS);
        assert!(client.is_closing(None));
    }
}
