//! Passwords: authentication state of a session, and the treatment of wrong passwords.

use crate::auth_failures::{AuthDelay, delay_ms};
use crate::session::state::Session;
use base::Ms;

/// Wrong passwords after which a connection is closed.
const FAILURES_MAX: u8 = 10;

impl Session {
    /// Returns true if it has not authenticated yet.
    pub fn is_locked(&self) -> bool {
        !self.authenticated
    }

    /// Takes the delay due before anything in the output is written, which includes the answer to a password. Returns
    /// it only once.
    pub fn take_auth_delay(&mut self) -> Option<AuthDelay> {
        self.passwords.delay.take()
    }

    /// Authenticates `user` if any of `passwords` is right. Returns true if so.
    pub(in crate::session) fn try_passwords(&mut self, user: &[u8], passwords: &[&[u8]]) -> bool {
        let settings = self.worker.settings();
        let fits = |password: &&[u8]| settings.requirepass.as_ref().is_none_or(|secret| secret.matches(password));
        let is_right = passwords.iter().any(fits) && user == b"default";
        let engine = &self.worker.engine;
        let now = engine.clock.now();
        let failures = if is_right {
            engine.auth_failures.recent(&self.client, now)
        } else {
            engine.auth_failures.add(&self.client, now)
        };
        // Without a password there is nothing to guess.
        let ms: Ms = if settings.requirepass.is_some() { delay_ms(failures) } else { 0 };
        if ms > 0 {
            let failures = failures.min(u32::from(u16::MAX)) as u16;
            self.passwords.delay = Some(AuthDelay { ms: ms as u16, failures, is_denied: !is_right });
        }
        if is_right {
            self.unlock();
        } else if settings.requirepass.is_some() {
            self.passwords.failures += 1;
            self.closing |= self.passwords.failures >= FAILURES_MAX;
        }
        is_right
    }

    fn unlock(&mut self) {
        self.authenticated = true;
        self.port.set_authenticated(true);
        self.worker.engine.clients.note_unlocked(&self.client);
    }

    /// RESET: requires the password again, if there is one.
    pub(in crate::session) fn lock_again(&mut self) {
        let engine = &self.worker.engine;
        self.authenticated = self.worker.settings().requirepass.is_none();
        self.port.set_authenticated(self.authenticated);
        if !self.authenticated {
            engine.clients.note_locked(&self.client, engine.clock.now());
        }
    }
}
