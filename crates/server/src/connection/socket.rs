//! A non-blocking stream socket, TCP or unix, in the event loop.
//!
//! Events are edge-triggered, so readiness is remembered here, and cleared in the event loop at once: a socket is readable
//! until a read did not fill its buffer.

use crate::event;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Maximum bytes of one read: some 5 µs, and 8 pages that may be fresh.
pub(crate) const READ_BYTES_MAX: usize = 32 << 10;

/// The peer has closed, or the connection broke.
#[derive(Debug)]
pub(super) struct Gone;

/// A connected socket.
pub(super) struct Socket {
    descriptor: AsyncFd<OwnedFd>,
    /// It may hold bytes that no event will report.
    unread: bool,
}

impl Socket {
    /// Registers a non-blocking socket with this thread's event loop.
    ///
    /// # Errors
    /// Fails if the system cannot watch any more.
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        Ok(Self { descriptor: event::watch(descriptor, Interest::READABLE | Interest::WRITABLE)?, unread: false })
    }

    /// Takes the socket out of this thread's event loop.
    pub(super) fn into_descriptor(self) -> OwnedFd {
        self.descriptor.into_inner()
    }

    /// Returns true if a read may find something.
    pub(super) fn may_read(&self) -> bool {
        self.unread
    }

    /// Reads after the contents of `buffer`, up to its capacity or [`READ_BYTES_MAX`]. Returns 0 if there is nothing
    /// now.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> Result<usize, Gone> {
        debug_assert!(buffer.capacity() > buffer.len());
        loop {
            match self.read_some(buffer) {
                Ok((_, 0)) => return Err(Gone),
                Ok((room_bytes, bytes)) => {
                    self.unread = bytes == room_bytes;
                    return Ok(bytes);
                }
                Err(Errno::AGAIN) => {
                    self.unread = false;
                    return Ok(0);
                }
                Err(Errno::INTR) => {}
                Err(_) => return Err(Gone),
            }
        }
    }

    /// Reads once. Returns how many bytes it asked for, and how many it got.
    fn read_some(&self, buffer: &mut Vec<u8>) -> Result<(usize, usize), Errno> {
        let (descriptor, held_bytes) = (self.descriptor.get_ref(), buffer.len());
        let free_bytes = buffer.capacity() - held_bytes;
        if free_bytes <= READ_BYTES_MAX {
            return Ok((free_bytes, recv(descriptor, spare_capacity(buffer), RecvFlags::empty())?.1));
        }
        // Zeroes only as many bytes as are available, plus one to detect the end.
        let there_bytes = rustix::io::ioctl_fionread(descriptor)? as usize;
        let room_bytes = (there_bytes + 1).min(READ_BYTES_MAX);
        buffer.resize(held_bytes + room_bytes, 0);
        let read = recv(descriptor, &mut buffer[held_bytes..], RecvFlags::empty()).map(|(_, bytes)| bytes);
        buffer.truncate(held_bytes + read.unwrap_or(0));
        Ok((room_bytes, read?))
    }

    /// Writes as much as the socket takes; `None` if it takes nothing now.
    pub(super) fn write(&mut self, slices: &[IoSlice<'_>]) -> Result<Option<usize>, Gone> {
        loop {
            let written = match slices {
                [one] => send(self.descriptor.get_ref(), one, SendFlags::NOSIGNAL),
                _ => rustix::io::writev(self.descriptor.get_ref(), slices),
            };
            match written {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(Errno::AGAIN) => {
                    // Clears the readiness; the next edge sets it again.
                    let is_full = |_: &OwnedFd| Err::<(), _>(io::ErrorKind::WouldBlock.into());
                    let _ = self.descriptor.try_io(Interest::WRITABLE, is_full);
                    return Ok(None);
                }
                Err(Errno::INTR) => {}
                Err(_) => return Err(Gone),
            }
        }
    }

    /// Ready when [`Socket::may_read`] holds.
    pub(super) fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        if self.unread {
            return Poll::Ready(Ok(()));
        }
        match self.descriptor.poll_read_ready(context) {
            Poll::Ready(Ok(mut ready)) => {
                ready.clear_ready();
                self.unread = true;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(_)) => Poll::Ready(Err(Gone)),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Ready when a write may take something.
    pub(super) fn poll_write(&self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        self.descriptor.poll_write_ready(context).map(|ready| ready.map(drop).map_err(|_| Gone))
    }

    /// Ready when the peer has closed. Bytes before that are noted, and left in the socket.
    pub(super) fn poll_gone(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Poll::Ready(ready) = self.descriptor.poll_read_ready(context) else { return Poll::Pending };
            let Ok(mut guard) = ready else { return Poll::Ready(()) };
            if guard.ready().is_read_closed() {
                return Poll::Ready(());
            }
            guard.clear_ready();
            self.unread = true;
        }
    }
}
