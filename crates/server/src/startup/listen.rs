//! The addresses on which the server listens, and the clients that may reach it there.

use super::Refused;
use crate::accept::Protocol;
use engine::settings::Current;
use socket2::{Domain, Protocol as IpProtocol, Socket, Type};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Listening sockets, all non-blocking.
#[derive(Debug)]
pub struct Listeners {
    /// TCP, one per address; workers share them by `try_clone`.
    pub tcp: Vec<(SocketAddr, TcpListener)>,
    /// Likewise, for memcached's protocol.
    pub memcached: Vec<(SocketAddr, TcpListener)>,
    /// Likewise, for MemcacheQ's.
    pub queue: Vec<(SocketAddr, TcpListener)>,
    /// Unix sockets with protocol and file name.
    pub(crate) unix: Vec<(Protocol, SocketFile, UnixListener)>,
}

/// The file of a unix socket, removed when this is dropped.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl SocketFile {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A file left behind is found stale by the next start.
        let _ = fs::remove_file(&self.0);
    }
}

impl Listeners {
    /// Returns the addresses for the start-up line.
    pub fn addresses(&self) -> Vec<String> {
        let tcp = self.tcp.iter().map(|(address, _)| address.to_string());
        let memcached = self.memcached.iter().map(|(address, _)| format!("{address} (memcached)"));
        let queue = self.queue.iter().map(|(address, _)| format!("{address} (queues)"));
        let spoken = |protocol: &Protocol| match protocol {
            Protocol::Resp => "",
            Protocol::Memcached => " (memcached)",
            Protocol::Queue => " (queues)",
        };
        let unix = self.unix.iter().map(|(protocol, file, _)| format!("{}{}", file.path().display(), spoken(protocol)));
        tcp.chain(unix).chain(memcached).chain(queue).collect()
    }
}

/// An address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) socket: SocketAddr,
    /// True if the server also starts when the machine lacks this address.
    pub(super) optional: bool,
}

/// The addresses of all ports.
pub(super) struct Addresses {
    tcp: Vec<Address>,
    memcached: Vec<Address>,
    queue: Vec<Address>,
}

impl Addresses {
    pub(super) fn of(current: &Current) -> Result<Self, Refused> {
        Ok(Self {
            tcp: addresses(current, current.port)?,
            memcached: addresses(current, current.memcached_port)?,
            queue: addresses(current, current.queue_port)?,
        })
    }

    pub(super) fn all(&self) -> Vec<Address> {
        [&self.tcp[..], &self.memcached, &self.queue].concat()
    }
}

/// Returns the addresses in `bind`, each once, with `port`; none if the port is 0.
pub(super) fn addresses(current: &Current, port: u16) -> Result<Vec<Address>, Refused> {
    let mut addresses: Vec<Address> = Vec::new();
    if port == 0 {
        return Ok(addresses);
    }
    for text in &current.bind {
        let optional = text.starts_with('-');
        let found = resolve(text.trim_start_matches('-'), port, optional);
        for address in found.map_err(|error| unresolved(text, &error))? {
            if !addresses.iter().any(|earlier| earlier.socket == address.socket) {
                addresses.push(address);
            }
        }
    }
    Ok(addresses)
}

fn resolve(host: &str, port: u16, optional: bool) -> io::Result<Vec<Address>> {
    let every_v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let every_v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    match host {
        "*" => Ok(vec![Address { socket: every_v4, optional }, Address { socket: every_v6, optional: true }]),
        "::*" => Ok(vec![Address { socket: every_v6, optional }]),
        // The resolver reads 0 as an address, and many a misspelt address as a name.
        "" => Err(io::Error::from(ErrorKind::InvalidInput)),
        _ => {
            let found = match host.parse::<IpAddr>() {
                Ok(address) => vec![SocketAddr::from((address, port))],
                Err(_) => (host, port).to_socket_addrs()?.collect(),
            };
            Ok(found.into_iter().map(|socket| Address { socket, optional }).collect())
        }
    }
}

/// Returns the first address that other machines can reach.
pub(super) fn reachable(addresses: &[Address]) -> Option<IpAddr> {
    addresses.iter().map(|address| address.socket.ip()).find(|ip| !ip.to_canonical().is_loopback())
}

/// Protected mode: without a password only local clients are served.
pub(super) fn protect(current: &Current, addresses: &[Address]) -> Result<(), Refused> {
    match reachable(addresses) {
        Some(address) if current.requirepass.is_none() => Err(Refused::new(format!(
            "other machines can reach {address} and there is no password; \
             set one by BOBBIN_REQUIREPASS, or listen on this machine alone with --bind 127.0.0.1"
        ))),
        _ => Ok(()),
    }
}

/// Binds the ports and the unix sockets.
pub(super) fn listen(current: &Current, addresses: &Addresses) -> Result<Listeners, Refused> {
    let mut listeners = Listeners {
        tcp: listen_on(current, &addresses.tcp, "--port")?,
        memcached: listen_on(current, &addresses.memcached, "--memcached-port")?,
        queue: listen_on(current, &addresses.queue, "--queue-port")?,
        unix: Vec::new(),
    };
    let unix = [
        (Protocol::Resp, &current.unixsocket),
        (Protocol::Memcached, &current.memcached_unixsocket),
        (Protocol::Queue, &current.queue_unixsocket),
    ];
    for (protocol, path) in unix.into_iter().filter_map(|(protocol, path)| Some((protocol, path.as_ref()?))) {
        let (file, listener) = listen_unix(path, current)
            .map_err(|error| Refused::new(format!("cannot listen on the unix socket {}: {error}", path.display())))?;
        listeners.unix.push((protocol, file, listener));
    }
    let has_ports = [&listeners.tcp, &listeners.memcached, &listeners.queue].into_iter().any(|all| !all.is_empty());
    if !has_ports && listeners.unix.is_empty() { Err(nowhere()) } else { Ok(listeners) }
}

/// Binds the port chosen by `flag`.
fn listen_on(current: &Current, addresses: &[Address], flag: &str) -> Result<Vec<(SocketAddr, TcpListener)>, Refused> {
    let mut listeners = Vec::new();
    for address in addresses {
        match listen_tcp(address.socket, current.tcp_backlog) {
            Ok(listener) => listeners.push((address.socket, listener)),
            Err(error) if address.optional && is_absent(&error) => {}
            Err(error) => return Err(refused(address.socket, &error, flag)),
        }
    }
    Ok(listeners)
}

fn listen_tcp(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(IpProtocol::TCP))?;
    if address.is_ipv6() {
        // Otherwise [::] would also take the port of 0.0.0.0.
        socket.set_only_v6(true)?;
    }
    // A restart need not wait for old connections to time out. Two servers still cannot listen.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(backlog as i32)?;
    Ok(socket.into())
}

fn listen_unix(path: &Path, current: &Current) -> io::Result<(SocketFile, UnixListener)> {
    remove_stale(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.bind(&socket2::SockAddr::unix(path)?)?;
    let file = SocketFile(path.to_owned());
    if let Some(mode) = current.unixsocket_mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    socket.listen(current.tcp_backlog as i32)?;
    Ok((file, socket.into()))
}

/// Removes a socket on which nobody answers; a killed server leaves its own behind.
fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            Err(io::Error::new(ErrorKind::AlreadyExists, "something else has this name; choose another path"))
        }
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
            Err(error) => Err(error),
            Ok(_) => Err(io::Error::new(ErrorKind::AddrInUse, "another server answers there; choose another path")),
        },
    }
}

/// Returns true if the machine lacks the address or its whole family.
fn is_absent(error: &io::Error) -> bool {
    let family = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    error.kind() == ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(family)
}

fn refused(address: SocketAddr, error: &io::Error, flag: &str) -> Refused {
    Refused::new(match error.kind() {
        ErrorKind::AddrInUse => {
            let or_none = if flag == "--port" { "" } else { ", or 0 for none" };
            format!("{address} is taken by another program; stop it, or choose another port with {flag}{or_none}")
        }
        ErrorKind::AddrNotAvailable => format!("this machine has no address {}; see --bind", address.ip()),
        ErrorKind::PermissionDenied => {
            format!("not permitted to listen on {address}; ports below 1024 are for the superuser, see {flag}")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}

fn unresolved(text: &str, error: &io::Error) -> Refused {
    Refused::new(format!("cannot find the address of {text:?}: {error}; see --bind"))
}

fn nowhere() -> Refused {
    Refused::new("there is nothing to listen on; give --port, --bind or --unixsocket".to_owned())
}
