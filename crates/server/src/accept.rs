//! Accepting: each new socket goes to the worker with the fewest connections. Every worker accepts from every listener,
//! so a hung worker blocks nobody.
//!
//! Accepted sockets inherit their options from the listener, so a new connection needs no `setsockopt` call.

use crate::event;
use crate::startup::{Listeners, SocketFile};
use crate::worker::ConnectionPlace as Seating;
use crate::worker::WorkerContext;
use engine::settings::Settings;
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with, getsockname};
use socket2::{SockRef, TcpKeepalive};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tracing::{error, warn};

/// Connections accepted before existing ones have their turn.
const BURST_MAX: usize = 64;
/// Milliseconds to rest when the system gives no more sockets.
const EXHAUSTED_MS: u64 = 100;

/// The protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Redis's.
    Resp,
    /// Memcached's.
    Memcached,
    /// MemcacheQ's.
    Queue,
}

impl Protocol {
    /// Returns the reply when there is no room for a connection.
    fn refusal(self) -> &'static [u8] {
        match self {
            Self::Resp => b"-ERR max number of clients reached\r\n",
            Self::Memcached | Self::Queue => b"ERROR Too many open connections\r\n",
        }
    }

    /// Returns the reply when too many connections are unauthenticated.
    fn locked_refusal(self) -> &'static [u8] {
        match self {
            Self::Resp => b"-ERR max number of clients that have not authenticated reached\r\n",
            Self::Memcached | Self::Queue => self.refusal(),
        }
    }
}

/// A listening socket. Clones share it.
#[derive(Clone)]
pub(crate) struct Listener {
    socket: Arc<OwnedFd>,
    place: ListenPlace,
}

/// The place of a listening socket.
#[derive(Clone)]
struct ListenPlace {
    name: Arc<str>,
    /// Its address, unless it is a wildcard.
    address: Option<SocketAddr>,
    protocol: Protocol,
}

/// A socket just accepted.
pub(crate) struct Arrival {
    pub(crate) socket: OwnedFd,
    pub(crate) protocol: Protocol,
    /// The addresses of both sides, over TCP.
    between: Option<(SocketAddr, SocketAddr)>,
    /// The listener that accepted it.
    at: Arc<str>,
    /// It arrived when all places but those in the reserve for local connections were taken.
    pub(crate) is_in_reserve: bool,
}

impl Arrival {
    /// Returns the addresses of the peer and of this side, as CLIENT LIST shows them.
    pub(crate) fn addresses(&self) -> (String, String) {
        match self.between {
            Some((peer, local)) => (canonical(peer).to_string(), canonical(local).to_string()),
            None => (format!("{}:0", self.at), format!("{}:0", self.at)),
        }
    }

    /// Counts the refusal, and sends it to the peer.
    fn refuse(&self, context: &WorkerContext, text: &[u8]) {
        context.worker.counters().refused.add(1);
        // It fits an empty socket; a closed peer needs no answer.
        let _ = rustix::io::write(&self.socket, text);
    }

    /// Refuses it because too many connections are unauthenticated.
    pub(crate) fn refuse_locked(&self, context: &WorkerContext) {
        self.refuse(context, self.protocol.locked_refusal());
        if let Some(left_out) = context.crew().warnings.crowded.spend(Instant::now()) {
            let (address, _) = self.addresses();
            warn!("{address} is refused: too many unauthenticated connections{left_out}");
        }
    }

    /// Returns true if it comes from this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.between.is_none_or(|(peer, _)| peer.ip().to_canonical().is_loopback())
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

impl Listener {
    /// Returns the sockets of `listeners`, ready to accept, and the files to be removed when they are closed.
    pub(crate) fn all_of(listeners: Listeners, settings: &Settings) -> (Vec<Self>, Vec<SocketFile>) {
        let Listeners { tcp, memcached, queue, unix } = listeners;
        let mut all = Vec::new();
        let tcp = tcp.into_iter().map(|(address, listener)| (address, listener, Protocol::Resp));
        let memcached = memcached.into_iter().map(|(address, listener)| (address, listener, Protocol::Memcached));
        let queue = queue.into_iter().map(|(address, listener)| (address, listener, Protocol::Queue));
        for (address, listener, protocol) in tcp.chain(memcached).chain(queue) {
            let socket = Arc::new(OwnedFd::from(listener));
            tune(&socket, settings);
            let place = ListenPlace {
                name: address.to_string().into(),
                address: Some(address).filter(|address| !address.ip().is_unspecified()),
                protocol,
            };
            all.push(Self { socket, place });
        }
        let files = unix.into_iter().map(|(protocol, file, listener)| {
            let place = ListenPlace { name: file.path().display().to_string().into(), address: None, protocol };
            all.push(Self { socket: Arc::new(listener.into()), place });
            file
        });
        let files = files.collect();
        (all, files)
    }
}

impl ListenPlace {
    fn accept(&self, socket: &OwnedFd) -> Result<Arrival, Errno> {
        let (socket, peer) = acceptfrom_with(socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
        let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
        let between = peer.and_then(|peer| {
            let local = self.address.or_else(|| SocketAddr::try_from(getsockname(&socket).ok()?).ok())?;
            Some((peer, local))
        });
        Ok(Arrival { socket, protocol: self.protocol, between, at: self.name.clone(), is_in_reserve: false })
    }
}

/// Sets the options that accepted sockets inherit, now and when the settings change.
fn tune(listener: &Arc<OwnedFd>, settings: &Settings) {
    let apply = |socket: &OwnedFd, keepalive_s: u32| -> io::Result<()> {
        let socket = SockRef::from(socket);
        socket.set_tcp_nodelay(true)?;
        socket.set_keepalive(keepalive_s > 0)?;
        if keepalive_s > 0 {
            let idle = Duration::from_secs(u64::from(keepalive_s));
            let interval = Duration::from_secs(u64::from(keepalive_s / 3).max(1));
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(3))?;
        }
        Ok(())
    };
    // Connections also work without them, only less well.
    if let Err(error) = apply(listener, settings.current().tcp_keepalive_s) {
        warn!("the system refuses options of a listening socket: {error}");
    }
    // Settings outlive listening: a socket kept open by them would accept connections that nobody serves.
    let listener = Arc::downgrade(listener);
    settings.on_change(Box::new(move |before, after| {
        let Some(listener) = listener.upgrade() else { return Ok(()) };
        if before.tcp_keepalive_s == after.tcp_keepalive_s {
            return Ok(());
        }
        apply(&listener, after.tcp_keepalive_s).map_err(|error| ("tcp-keepalive", error.to_string()))
    }));
}

/// Accepts until dropped.
pub(crate) async fn accept(listener: Listener, context: Rc<WorkerContext>) {
    let Listener { socket, place } = listener;
    let watched = match event::watch(socket, Interest::READABLE) {
        Ok(watched) => watched,
        Err(error) => return error!("cannot accept connections on {}: {error}", place.name),
    };
    let mut is_exhausted = false;
    loop {
        let Ok(mut guard) = poll_fn(|context| watched.poll_read_ready(context)).await else { return };
        match accept_burst(watched.get_ref(), &place, &context) {
            Burst::All => {
                guard.clear_ready();
                is_exhausted = false;
            }
            Burst::More => tokio::task::yield_now().await,
            Burst::Exhausted(error) => {
                let is_news = !std::mem::replace(&mut is_exhausted, true);
                if is_news && context.crew().warnings.exhausted.spend(Instant::now()).is_some() {
                    warn!("accepting connections on {} paused: {error}", place.name);
                }
                tokio::time::sleep(Duration::from_millis(EXHAUSTED_MS)).await;
            }
        }
    }
}

/// The end of a burst of accepting.
enum Burst {
    /// No more connections wait.
    All,
    /// More may wait.
    More,
    /// The system gives no more sockets.
    Exhausted(Errno),
}

fn accept_burst(socket: &OwnedFd, place: &ListenPlace, context: &Rc<WorkerContext>) -> Burst {
    for _ in 0..BURST_MAX {
        match place.accept(socket) {
            Ok(arrival) => admit(arrival, context),
            Err(Errno::AGAIN) => return Burst::All,
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => {
                return Burst::Exhausted(error);
            }
            // The connection is already gone: accept reports its error.
            Err(_) => {}
        }
    }
    Burst::More
}

fn admit(mut arrival: Arrival, context: &Rc<WorkerContext>) {
    // The other protocols have no commands to repair a server.
    let may_use_reserve = arrival.protocol == Protocol::Resp && arrival.is_local();
    match context.crew().take_place(context.worker.settings().maxclients, may_use_reserve) {
        Some(place) => {
            arrival.is_in_reserve = place == Seating::Reserve;
            context.place(arrival);
        }
        None => arrival.refuse(context, arrival.protocol.refusal()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::settings::Draft;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn connections_are_refused_once_the_listeners_are_dropped() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let settings = Draft::new().finish();
        let listeners =
            Listeners { tcp: vec![(address, listener)], memcached: Vec::new(), queue: Vec::new(), unix: Vec::new() };
        let (all, _) = Listener::all_of(listeners, &settings);
        drop(TcpStream::connect(address).unwrap());
        drop(all);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(settings.set(&[(b"tcp-keepalive", b"7")]), Ok(()));
    }
}
