//! A tx's caller: script or client, whether reads count as use, and when a waiter retries.

use super::Tx;
use base::Ms;

impl Tx<'_> {
    /// Sets whether reads count as use of the keys (CLIENT NO-TOUCH); the default is true.
    pub fn set_touching(&mut self, touches: bool) {
        self.touches = touches;
    }

    /// Returns true if reads count as use.
    pub fn touches(&self) -> bool {
        self.touches
    }

    /// Sets whether a script runs in this tx.
    pub fn set_scripted(&mut self, is_scripted: bool) {
        self.is_scripted = is_scripted;
    }

    /// Returns true if a script's call is running.
    pub fn is_scripted(&self) -> bool {
        self.is_scripted
    }

    /// Sets when a command that found nothing and waits retries, unless it is served before.
    pub fn look_again(&mut self, at_ms: Ms) {
        self.look_again_ms = Some(at_ms);
    }

    /// Returns the last time passed to [`Tx::look_again`]; `Ms::MAX` is never.
    pub fn looks_again_at(&self) -> Option<Ms> {
        self.look_again_ms.filter(|at_ms| *at_ms != Ms::MAX)
    }
}
