//! The connections as other connections see them: CLIENT LIST, KILL, UNBLOCK.

use crate::pushes::ClientPushes;
use crate::waiter::{Answer, Waiter};
use base::Ms;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use commands::ClientFilter;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Waker};

/// Local connections accepted beyond `maxclients`: an operator must be able to reach a full server.
pub const LOCAL_RESERVE: usize = 32;
/// Minimum number of connections that may be unauthenticated at once, however small `maxclients` is.
const LOCKED_MIN: usize = 64;

/// Returns how many connections may be unauthenticated at once: a tenth of `maxclients`, and at least 64.
pub fn locked_clients_max(maxclients: usize) -> usize {
    (maxclients / 10).max(LOCKED_MIN)
}

/// One connection, shared with its observers.
pub struct Client {
    /// Its number, never reused.
    pub id: u64,
    /// The peer: `host:port`, or the socket's path and `:0`.
    pub address: Box<str>,
    /// The local address.
    pub local_address: Box<str>,
    /// True if the peer is on this machine.
    pub is_local: bool,
    /// When it connected.
    pub since_ms: Ms,
    /// When it last sent a request.
    pub last_ms: AtomicU64,
    /// The index of its last command, plus one.
    pub last_command: AtomicU16,
    /// Its database.
    pub database: AtomicU32,
    /// 2 or 3.
    pub protocol: AtomicU32,
    /// Commands queued by MULTI; `usize::MAX` outside of one.
    pub queued: AtomicUsize,
    /// Keys watched.
    pub watching: AtomicUsize,
    /// Bytes of replies not sent yet.
    pub output_bytes: AtomicUsize,
    /// Bytes of messages that wait in its subscriber queue.
    pub mail_bytes: AtomicU64,
    /// Subscriptions to channels, shard channels and patterns.
    pub subscriptions: [AtomicU32; 3],
    /// Pushes waiting for it alone.
    pub(crate) pushes: ClientPushes,
    /// It monitors all requests.
    pub(crate) is_monitor: AtomicBool,
    /// The tracking state of its reads.
    pub(crate) tracking: TrackingSign,
    /// Bytes that waited for it when it was cut off for that.
    cut_off_bytes: AtomicU64,
    /// CLIENT NO-EVICT, NO-TOUCH.
    pub no_evict: AtomicBool,
    /// See above.
    pub no_touch: AtomicBool,
    /// See [`Client::pinned_bytes`].
    pinned_bytes: AtomicU64,
    attributes: Mutex<Option<Box<ClientAttributes>>>,
    closing: AtomicBool,
    idle: Mutex<Option<Waker>>,
    /// `idle` holds the waker of the connection's task, which is the same until it moves to another worker.
    is_idle: AtomicBool,
    blocked: Mutex<Option<Arc<Waiter>>>,
    /// It waits for loading, or for the end of a pause.
    is_early: AtomicBool,
    /// Since when it has been unauthenticated; 0 if it is not.
    locked_ms: AtomicU64,
    /// It was accepted beyond `maxclients`, in the reserve for this machine.
    pub is_in_reserve: AtomicBool,
}

/// While it lives, its client counts as waiting: none of its request has run.
pub(crate) struct Early<'a>(&'a Client);

impl Drop for Early<'_> {
    fn drop(&mut self) {
        self.0.is_early.store(false, Relaxed);
    }
}

/// A connection's tracking state as CLIENT LIST reports it.
#[derive(Default)]
pub(crate) struct TrackingSign {
    is_on: AtomicBool,
    is_broadcast: AtomicBool,
    is_broken: AtomicBool,
    redirect: AtomicU64,
}

impl TrackingSign {
    /// Sets whether and how it tracks.
    pub(crate) fn set(&self, is_on: bool, is_broadcast: bool, redirect: u64) {
        self.is_on.store(is_on, Relaxed);
        self.is_broadcast.store(is_broadcast, Relaxed);
        self.is_broken.store(false, Relaxed);
        self.redirect.store(redirect, Relaxed);
    }

    /// Notes that the connection it redirects to is gone.
    pub(crate) fn note_broken(&self) {
        self.is_broken.store(true, Relaxed);
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Relaxed)
    }

    /// Returns the flags, and the number of the redirection target.
    fn flags_and_redirect(&self) -> (String, i64) {
        if !self.is_on.load(Relaxed) {
            return (String::new(), -1);
        }
        let more = [(self.is_broken(), 'R'), (self.is_broadcast.load(Relaxed), 'B')];
        let more = more.into_iter().filter_map(|(is, flag)| is.then_some(flag));
        (std::iter::once('t').chain(more).collect(), self.redirect.load(Relaxed) as i64)
    }
}

/// Attributes that a client declares about itself.
#[derive(Clone, Default)]
pub struct ClientAttributes {
    /// CLIENT SETNAME.
    pub name: String,
    /// CLIENT SETINFO LIB-NAME.
    pub library: String,
    /// CLIENT SETINFO LIB-VER.
    pub version: String,
}

impl Client {
    /// The number of the server's own connection, never given to a client.
    pub(crate) const OF_SERVER: u64 = 0;

    /// Creates the connection through which the server makes its own requests.
    pub(crate) fn of_server(now: Ms) -> Self {
        Self::new(Self::OF_SERVER, "", "", true, now)
    }

    fn new(id: u64, address: &str, local_address: &str, is_local: bool, now: Ms) -> Self {
        Self {
            id,
            address: address.into(),
            local_address: local_address.into(),
            is_local,
            since_ms: now,
            last_ms: AtomicU64::new(now),
            last_command: AtomicU16::new(0),
            database: AtomicU32::new(0),
            protocol: AtomicU32::new(2),
            queued: AtomicUsize::new(usize::MAX),
            watching: AtomicUsize::new(0),
            output_bytes: AtomicUsize::new(0),
            pinned_bytes: AtomicU64::new(0),
            mail_bytes: AtomicU64::new(0),
            subscriptions: Default::default(),
            pushes: ClientPushes::default(),
            is_monitor: AtomicBool::new(false),
            tracking: TrackingSign::default(),
            cut_off_bytes: AtomicU64::new(0),
            no_evict: AtomicBool::new(false),
            no_touch: AtomicBool::new(false),
            attributes: Mutex::default(),
            closing: AtomicBool::new(false),
            idle: Mutex::default(),
            is_idle: AtomicBool::new(false),
            blocked: Mutex::default(),
            is_early: AtomicBool::new(false),
            locked_ms: AtomicU64::new(0),
            is_in_reserve: AtomicBool::new(false),
        }
    }

    /// Returns true if it is still unauthenticated.
    pub fn is_locked(&self) -> bool {
        self.locked_ms.load(Relaxed) > 0
    }

    /// Returns the peer's address without its port; `None` for a unix socket.
    pub fn ip(&self) -> Option<IpAddr> {
        self.address.parse::<SocketAddr>().ok().map(|address| address.ip())
    }

    /// Returns the peer's address as MONITOR shows it; for a unix socket, its path.
    pub(crate) fn shown_address(&self) -> String {
        match (self.ip(), self.address.strip_suffix(":0")) {
            (None, Some(path)) => format!("unix:{path}"),
            _ => self.address.to_string(),
        }
    }

    /// Returns its declared attributes.
    pub fn attributes(&self) -> ClientAttributes {
        self.attributes.lock().expect("no holder panics").as_deref().cloned().unwrap_or_default()
    }

    /// Returns the bytes that replies in progress keep in memory although their values have released them.
    pub fn pinned_bytes(&self) -> u64 {
        self.pinned_bytes.load(Relaxed)
    }

    /// Returns the memory kept for it, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        1024 + self.output_bytes.load(Relaxed) as u64 + self.waiting_message_bytes() + self.pinned_bytes()
    }

    /// Returns the bytes of messages and pushes that wait for it.
    pub fn waiting_message_bytes(&self) -> u64 {
        self.mail_bytes.load(Relaxed) + self.pushes.bytes()
    }

    /// Changes its declared attributes.
    pub fn change_attributes(&self, change: impl FnOnce(&mut ClientAttributes)) {
        change(self.attributes.lock().expect("no holder panics").get_or_insert_default());
    }

    /// Returns true if it has any subscriptions.
    pub fn is_subscribed(&self) -> bool {
        self.subscriptions.iter().any(|count| count.load(Relaxed) > 0)
    }

    /// Forgets the task of its connection, which goes on as another.
    pub(crate) fn forget_task(&self) {
        let mut idle = self.idle.lock().expect("no holder panics");
        self.is_idle.store(false, Relaxed);
        *idle = None;
    }

    /// Asks the connection to close because this many bytes wait for it.
    pub(crate) fn cut_off(&self, waiting_bytes: u64) {
        self.cut_off_bytes.store(waiting_bytes, Relaxed);
        self.close();
    }

    /// Returns the bytes that waited for it when it was cut off for that; 0 if it was not.
    pub fn cut_off_bytes(&self) -> u64 {
        self.cut_off_bytes.load(Relaxed)
    }

    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off_bytes() > 0
    }

    /// Makes the connection check for pushes.
    pub(crate) fn wake(&self) {
        let mut idle = self.idle.lock().expect("no holder panics");
        self.is_idle.store(false, Relaxed);
        let waker = idle.take();
        drop(idle);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Asks the connection to close, wherever it waits.
    pub fn close(&self) {
        self.closing.store(true, Relaxed);
        if let Some(waiter) = &*self.blocked.lock().expect("no holder panics")
            && waiter.claim()
        {
            waiter.answer(Answer::TimedOut);
        }
        self.wake();
    }

    /// Returns true if it was asked to close; otherwise registers the context for that.
    pub fn is_closing(&self, context: Option<&mut Context<'_>>) -> bool {
        // Whoever takes the waker wakes the task, which then comes here again.
        if let Some(context) = context
            && !self.is_idle.load(Relaxed)
        {
            let mut idle = self.idle.lock().expect("no holder panics");
            *idle = Some(context.waker().clone());
            self.is_idle.store(true, Relaxed);
        }
        self.closing.load(Relaxed)
    }

    /// Records the wait that blocks it, for UNBLOCK and KILL.
    pub fn set_blocked(&self, waiter: Option<Arc<Waiter>>) {
        *self.blocked.lock().expect("no holder panics") = waiter;
    }

    /// Returns the wait that blocks it.
    pub fn blocked(&self) -> Option<Arc<Waiter>> {
        self.blocked.lock().expect("no holder panics").clone()
    }

    /// Marks it as waiting for loading, or for the end of a pause, while the result lives.
    pub(crate) fn wait_early(&self) -> Early<'_> {
        self.is_early.store(true, Relaxed);
        Early(self)
    }

    /// Returns true if it waits for an element, for a shard to load or for the end of a pause: if the peer has gone, in
    /// vain.
    pub fn is_waiting(&self) -> bool {
        self.is_early.load(Relaxed) || self.blocked().is_some()
    }

    /// Returns true if it waits for a shard to load or for the end of a pause.
    pub(crate) fn is_early(&self) -> bool {
        self.is_early.load(Relaxed)
    }

    /// Ends its wait, since the peer has gone, so that it is no longer served; `false` if it is being served just now:
    /// then it must take the element, and give back a leased message.
    pub fn ends_wait(&self) -> bool {
        self.blocked().is_none_or(|waiter| waiter.claim())
    }

    fn fits(&self, filter: &ClientFilter, asking: u64, now: Ms) -> bool {
        (filter.ids.is_empty() || filter.ids.binary_search(&self.id).is_ok())
            && !(filter.skip_me && self.id == asking)
            && filter.kind.as_deref().is_none_or(|kind| kind == if self.is_subscribed() { "pubsub" } else { "normal" })
            && filter.address.as_deref().is_none_or(|address| address == &*self.address)
            && filter.local_address.as_deref().is_none_or(|address| address == &*self.local_address)
            && filter.user.as_deref().is_none_or(|user| user == "default")
            && filter.age_s_min.is_none_or(|age_s| now.saturating_sub(self.since_ms) / 1000 >= age_s)
    }

    /// Returns its line of CLIENT LIST, without a line end.
    pub fn line(&self, now: Ms) -> String {
        let attributes = self.attributes();
        let queued = self.queued.load(Relaxed);
        let flags = match (self.is_waiting(), queued != usize::MAX) {
            (true, _) => "b",
            (_, true) => "x",
            _ => "",
        };
        let monitor_flag = if self.is_monitor.load(Relaxed) { "O" } else { "" };
        let pubsub_flag = if self.is_subscribed() { "P" } else { "" };
        let (tracking_flags, redirect) = self.tracking.flags_and_redirect();
        let more_flags = match self.no_evict.load(Relaxed) {
            true => "e",
            false if [monitor_flag, flags, pubsub_flag, &tracking_flags].iter().all(|flag| flag.is_empty()) => "N",
            false => "",
        };
        let index = self.last_command.load(Relaxed).checked_sub(1);
        let command = index.and_then(|index| commands::registry::commands().nth(usize::from(index)));
        let command = command.map_or("NULL".to_owned(), |command| command.reported_name());
        let output = self.output_bytes.load(Relaxed);
        let output_memory = output as u64 + self.waiting_message_bytes() + self.pinned_bytes();
        let [channels, shards, patterns] = [0, 1, 2].map(|topic| self.subscriptions[topic].load(Relaxed));
        format!(
            "id={} addr={} laddr={} fd=0 name={} age={} idle={} flags={monitor_flag}{pubsub_flag}{flags}{tracking_flags}{more_flags} db={} sub={channels} psub={patterns} ssub={shards} multi={} watch={} qbuf=0 \
             qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl={output} oll=0 omem={output_memory} tot-mem={} events=r cmd={command} \
             user=default redir={redirect} resp={} lib-name={} lib-ver={}",
            self.id,
            self.address,
            self.local_address,
            attributes.name,
            now.saturating_sub(self.since_ms) / 1000,
            now.saturating_sub(self.last_ms.load(Relaxed)) / 1000,
            self.database.load(Relaxed),
            if queued == usize::MAX { -1 } else { queued as i64 },
            self.watching.load(Relaxed),
            self.memory_bytes(),
            self.protocol.load(Relaxed),
            attributes.library,
            attributes.version,
        )
    }
}

/// All connections.
#[derive(Default)]
pub struct Clients {
    next_id: AtomicU64,
    by_id: Mutex<BTreeMap<u64, Arc<Client>>>,
    count: AtomicUsize,
    /// The number of unauthenticated connections.
    locked_count: AtomicUsize,
    pinned_bytes: AtomicU64,
}

impl Clients {
    /// Adds a connection.
    pub fn add(&self, address: &str, local_address: &str, is_local: bool, now: Ms) -> Arc<Client> {
        let id = self.next_id.fetch_add(1, Relaxed) + 1;
        let client = Arc::new(Client::new(id, address, local_address, is_local, now));
        self.by_id.lock().expect("no holder panics").insert(client.id, client.clone());
        self.count.fetch_add(1, Relaxed);
        client
    }

    /// Removes a connection.
    pub fn remove(&self, id: u64) {
        let removed = self.by_id.lock().expect("no holder panics").remove(&id);
        if let Some(client) = removed {
            self.count.fetch_sub(1, Relaxed);
            self.note_unlocked(&client);
            self.note_pinned(&client, 0);
        }
    }

    /// Records the bytes that `client` pins now. Only for its own connection.
    pub fn note_pinned(&self, client: &Client, bytes: u64) {
        let before = client.pinned_bytes.swap(bytes, Relaxed);
        if bytes != before {
            self.pinned_bytes.fetch_add(bytes.wrapping_sub(before), Relaxed);
        }
    }

    /// Returns the total that clients pin, in bytes. O(1).
    pub fn pinned_bytes(&self) -> u64 {
        self.pinned_bytes.load(Relaxed)
    }

    /// Asks the largest pinners to close, until the others pin at most `limit_bytes`. Clients with NO-EVICT stay.
    /// Returns the clients asked, and the bytes each pins.
    pub fn close_greatest_pinners(&self, limit_bytes: u64) -> Vec<(Arc<Client>, u64)> {
        if self.pinned_bytes() <= limit_bytes {
            return Vec::new();
        }
        let clients = self.by_id.lock().expect("no holder panics");
        let pinning = clients.values().map(|client| (client.clone(), client.pinned_bytes()));
        let mut pinning: Vec<_> = pinning.filter(|(client, bytes)| *bytes > 0 && !client.is_closing(None)).collect();
        drop(clients);
        let mut sum: u64 = pinning.iter().map(|(_, bytes)| bytes).sum();
        pinning.retain(|(client, _)| !client.no_evict.load(Relaxed));
        pinning.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        pinning.retain(|(client, bytes)| {
            let goes = sum > limit_bytes;
            if goes {
                sum -= bytes;
                client.close();
            }
            goes
        });
        pinning
    }

    /// Notes that `client` is unauthenticated from `now` on. Returns how many are, this one included. Only for its own
    /// connection.
    pub fn note_locked(&self, client: &Client, now: Ms) -> usize {
        if client.locked_ms.swap(now.max(1), Relaxed) > 0 {
            return self.locked_count();
        }
        self.locked_count.fetch_add(1, Relaxed) + 1
    }

    /// Notes that `client` has authenticated. Only for its own connection.
    pub fn note_unlocked(&self, client: &Client) {
        if client.locked_ms.swap(0, Relaxed) > 0 {
            self.locked_count.fetch_sub(1, Relaxed);
        }
    }

    /// Returns the number of unauthenticated connections. O(1).
    pub fn locked_count(&self) -> usize {
        self.locked_count.load(Relaxed)
    }

    /// Asks connections to close that have been unauthenticated for as long as `bound_of` allows, in milliseconds;
    /// returns them. O(connections), and O(1) if all are authenticated.
    pub fn close_locked(&self, now: Ms, bound_of: impl Fn(&Client) -> Option<Ms>) -> Vec<Arc<Client>> {
        if self.locked_count() == 0 {
            return Vec::new();
        }
        let is_late = |client: &Client| {
            let since = client.locked_ms.load(Relaxed);
            since > 0 && bound_of(client).is_some_and(|bound_ms| now.saturating_sub(since) >= bound_ms)
        };
        let clients = self.by_id.lock().expect("no holder panics");
        let late = clients.values().filter(|client| is_late(client) && !client.is_closing(None));
        let late: Vec<_> = late.cloned().collect();
        drop(clients);
        late.iter().for_each(|client| client.close());
        late
    }

    /// Returns the number of connections.
    pub fn count(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Returns the connection with this number.
    pub fn get(&self, id: u64) -> Option<Arc<Client>> {
        self.by_id.lock().expect("no holder panics").get(&id).cloned()
    }

    /// Returns the connections that `filter`, evaluated for `asking`, selects; in order of their numbers.
    pub fn select(&self, filter: &ClientFilter, asking: u64, now: Ms) -> Vec<Arc<Client>> {
        let clients = self.by_id.lock().expect("no holder panics");
        clients.values().filter(|client| client.fits(filter, asking, now)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::registry::{self, Lookup};
    use wire::OwnedRequest;
    use wire::resp::Protocol;

    #[test]
    fn a_client_ends_its_wait_unless_its_waiter_is_claimed() {
        let client = Client::of_server(0);
        assert!(client.ends_wait());
        let Lookup::Command(row) = registry::by_name(b"blpop") else { panic!("a row") };
        let waiter = Arc::new(Waiter::new(row, OwnedRequest::of(&["blpop", "q", "0"]), 0, Protocol::Resp2));
        client.set_blocked(Some(waiter.clone()));
        assert!(waiter.claim());
        assert!(!client.ends_wait());
        waiter.give_back();
        assert!(client.ends_wait());
        assert!(!waiter.claim(), "somebody serves one who is gone");
    }
}
