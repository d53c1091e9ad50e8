//! Descriptors in the event loop of the calling thread.

use std::borrow::Borrow;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Watches a non-blocking descriptor while the result lives.
///
/// # Errors
/// Fails if the system cannot watch any more.
#[expect(
    deprecated,
    reason = "the function that replaces it is unsafe, for types that may show another descriptor tomorrow; an `OwnedFd` \
              keeps its own, and keeps it open, and so does whoever holds it by `Borrow`"
)]
pub(crate) fn watch<D: Borrow<OwnedFd> + AsRawFd>(descriptor: D, interest: Interest) -> io::Result<AsyncFd<D>> {
    AsyncFd::with_interest(descriptor, interest)
}
