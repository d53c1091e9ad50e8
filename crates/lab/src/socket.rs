//! Sockets of load generators: opened without waiting, and written as far as they take bytes.
//!
//! ```text
//!  connect --> socket, watched by an epoll under the number of its connection
//!  bytes to send | sent ... not yet sent | --> socket; the epoll reports when it takes more
//! ```

use rustix::event::epoll;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;

/// Begins to connect, and does not wait for the end of it: the socket takes bytes once it is connected.
///
/// # Errors
/// The server refuses, too many files are open, or no port is left. A closed connection keeps its port for a second or
/// more, so that not more than some 28,000 connections a second can be made.
pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

/// Has the epoll report under `place` when there is something to read.
///
/// # Errors
/// The system refuses.
pub(crate) fn watch(poll: &OwnedFd, place: u64, stream: &TcpStream) -> io::Result<()> {
    Ok(epoll::add(poll, stream, epoll::EventData::new_u64(place), epoll::EventFlags::IN)?)
}

/// Bytes that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    /// The bytes that a flush sends; others are added at the end.
    pub(crate) bytes: Vec<u8>,
    /// The length of the part that the socket has taken.
    sent: usize,
    /// True if the socket takes no more at present.
    is_full: bool,
}

impl SendBuffer {
    /// Sends as much as the socket takes, and has the epoll wait for the rest.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn flush(&mut self, stream: &mut TcpStream, poll: &OwnedFd, place: u64) -> io::Result<()> {
        while self.sent < self.bytes.len() {
            match stream.write(&self.bytes[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let is_full = self.sent < self.bytes.len();
        if !is_full {
            self.bytes.clear();
            self.sent = 0;
        }
        if is_full != self.is_full {
            self.is_full = is_full;
            let out = if is_full { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
            epoll::modify(poll, stream, epoll::EventData::new_u64(place), epoll::EventFlags::IN | out)?;
        }
        Ok(())
    }

    /// Forgets the state of the last socket: a new one takes bytes.
    pub(crate) fn begin(&mut self) {
        self.is_full = false;
    }
}
