//! MONITOR: connections that are shown what all connections ask for.

use crate::client::Client;
use crate::notices::{Notice, Sent};
use crate::pubsub::Stamp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// All connections that are shown requests.
#[derive(Default)]
pub(crate) struct Monitors {
    count: AtomicUsize,
    clients: RwLock<Vec<Arc<Client>>>,
}

impl Monitors {
    /// Whether anybody is shown anything.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// A connection is shown what is asked for from now on.
    pub(crate) fn add(&self, client: &Arc<Client>) {
        let mut clients = self.clients.write().unwrap_or_else(PoisonError::into_inner);
        clients.push(client.clone());
        self.count.store(clients.len(), Ordering::Release);
    }

    /// It is shown no more.
    pub(crate) fn remove(&self, id: u64) {
        let mut clients = self.clients.write().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|client| client.id != id);
        self.count.store(clients.len(), Ordering::Release);
    }

    /// Shows a line to all; one for whom more than `bytes_max` wait is cut off. Who is to be woken is noted in `woken`.
    pub(crate) fn show(&self, line: String, bytes_max: u64, woken: &mut BTreeMap<u64, Arc<Client>>) {
        let line: Arc<str> = line.into();
        let stamp = Stamp::of(0, false);
        for client in &*self.clients.read().unwrap_or_else(PoisonError::into_inner) {
            let sent = Sent { notice: Notice::Line(line.clone()), is_redirected: false, stamp: stamp.clone() };
            if let Some(bytes) = client.notices.put(sent, bytes_max) {
                client.cut_off(bytes);
            }
            woken.insert(client.id, client.clone());
        }
    }
}
