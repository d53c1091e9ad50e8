//! MONITOR, and `watch` of memcached: connections that see the requests of others.

use crate::client::Client;
use crate::pubsub::Stamp;
use crate::pushes::{Push, Sent};
use base::primitives::RwLock;
use base::primitives::atomic::{AtomicU8, AtomicU64, Ordering};
use commands::ItemEvent;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// Maximum number of item watchers, as in memcached.
const ITEM_WATCHERS_MAX: usize = 20;

/// Kinds of lines, one bit each.
#[derive(Clone, Copy)]
pub(crate) enum LineKind {
    /// All requests: MONITOR.
    Requests = 1,
    /// Item lookups.
    Fetches = 2,
    /// Item writes.
    Mutations = 4,
    /// Item evictions; there are none.
    Evictions = 8,
}

const ITEMS: u8 = LineKind::Fetches as u8 | LineKind::Mutations as u8 | LineKind::Evictions as u8;

/// All monitoring connections.
#[derive(Default)]
pub(crate) struct Monitors {
    /// Kinds of lines with a watcher.
    shown: AtomicU8,
    /// Item lines so far.
    lines: AtomicU64,
    watchers: RwLock<Vec<Watcher>>,
}

struct Watcher {
    client: Arc<Client>,
    shown: u8,
}

impl Watcher {
    fn is_of_items(&self) -> bool {
        self.shown & ITEMS != 0
    }
}

impl Monitors {
    /// Returns true if any connection monitors requests.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.shows(LineKind::Requests)
    }

    /// Returns true if any connection monitors or watches anything.
    #[inline]
    pub(crate) fn any_lines(&self) -> bool {
        self.shown.load(Ordering::Acquire) != 0
    }

    /// Returns true if any connection watches items.
    #[inline]
    pub(crate) fn any_items(&self) -> bool {
        self.shown.load(Ordering::Acquire) & ITEMS != 0
    }

    /// Returns true if any connection watches this kind.
    #[inline]
    pub(crate) fn shows(&self, shown: LineKind) -> bool {
        self.shown.load(Ordering::Acquire) & shown as u8 != 0
    }

    /// Shows all requests to a connection from now on.
    pub(crate) fn add(&self, client: &Arc<Client>) {
        self.change(|watchers| {
            watchers.push(Watcher { client: client.clone(), shown: LineKind::Requests as u8 });
        });
    }

    /// Shows these events, and no others, to a connection from now on; `false`: there are too many such connections.
    pub(crate) fn add_item_watcher(&self, client: &Arc<Client>, events: &[ItemEvent]) -> bool {
        let bit = |event: &ItemEvent| match event {
            ItemEvent::Fetch => LineKind::Fetches as u8,
            ItemEvent::Mutation => LineKind::Mutations as u8,
            ItemEvent::Eviction => LineKind::Evictions as u8,
        };
        let shown = events.iter().map(bit).fold(0, |shown, bit| shown | bit);
        self.change(|watchers| {
            let own = watchers.iter_mut().find(|watcher| watcher.is_of_items() && watcher.client.id == client.id);
            if let Some(own) = own {
                own.shown = shown;
                return true;
            }
            let is_free = watchers.iter().filter(|watcher| watcher.is_of_items()).count() < ITEM_WATCHERS_MAX;
            if is_free {
                watchers.push(Watcher { client: client.clone(), shown });
            }
            is_free
        })
    }

    /// Stops showing anything to a connection.
    pub(crate) fn remove(&self, id: u64) {
        self.change(|watchers| watchers.retain(|watcher| watcher.client.id != id));
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Watcher>) -> R) -> R {
        let mut watchers = self.watchers.write().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut watchers);
        self.shown.store(watchers.iter().fold(0, |shown, watcher| shown | watcher.shown), Ordering::Release);
        result
    }

    /// Returns the number of the next item line.
    pub(crate) fn next_line(&self) -> u64 {
        self.lines.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sends a line to all connections that watch its kind; cuts off those for which more than `bytes_max` wait. Adds
    /// the clients to be woken to `woken`.
    pub(crate) fn show(&self, shown: LineKind, line: String, bytes_max: u64, woken: &mut BTreeMap<u64, Arc<Client>>) {
        let line: Arc<str> = line.into();
        let stamp = Stamp::of(0, false);
        let watchers = self.watchers.read().unwrap_or_else(PoisonError::into_inner);
        for Watcher { client, .. } in watchers.iter().filter(|watcher| watcher.shown & shown as u8 != 0) {
            let sent = Sent { push: Push::Line(line.clone()), is_redirected: false, stamp: stamp.clone() };
            if let Some(bytes) = client.pushes.put(sent, bytes_max) {
                client.cut_off(bytes);
            }
            woken.insert(client.id, client.clone());
        }
    }
}
