//! The services of the event loop, or of the simulated world: sleeps, and connections to other servers.

use base::Ms;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A sleep, provided by the event loop or the simulated world.
pub type Sleep = Pin<Box<dyn Future<Output = ()>>>;

/// Creates a sleep of this many milliseconds. A sleep of 0 ends once all tasks that were ready have run and the sockets
/// have been polled.
pub type SleepFn = Box<dyn Fn(Ms) -> Sleep>;

/// A connection to another server, provided by the event loop.
pub trait OutboundConnection {
    /// Reads available bytes; 0 bytes: the connection is closed.
    ///
    /// # Errors
    /// Returns the connection's error.
    fn poll_read(&mut self, context: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Writes as many bytes as the connection takes.
    ///
    /// # Errors
    /// Returns the connection's error.
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
}

/// A connection being established.
pub type Dialing = Pin<Box<dyn Future<Output = io::Result<Box<dyn OutboundConnection>>>>>;

/// Connects to a host's port.
pub type Dialer = Box<dyn Fn(String, u16) -> Dialing>;
