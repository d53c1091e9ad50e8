//! The first error of calls that go on until a server refuses one.

use super::worker::Ending;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first refusal, where one ends the calls instead of failing them.
pub(super) struct Refusal(Option<OnceLock<String>>);

impl Refusal {
    pub(super) fn new(is_expected: bool) -> Self {
        Self(is_expected.then(OnceLock::new))
    }

    /// Takes the error that ended a thread's calls, and ends those of all threads.
    ///
    /// # Errors
    /// The error itself, where calls are not expected to be refused.
    pub(super) fn take(&self, error: io::Error, is_failed: &AtomicBool) -> io::Result<Ending> {
        let Some(first) = &self.0 else { return Err(error) };
        first.get_or_init(|| error.to_string());
        is_failed.store(true, Ordering::Relaxed);
        Ok(Ending::Stopped)
    }

    /// Returns the text of the first, if there was one.
    pub(super) fn into_text(self) -> Option<String> {
        self.0.and_then(OnceLock::into_inner)
    }
}
