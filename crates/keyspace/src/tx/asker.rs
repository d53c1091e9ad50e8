//! What a tx knows of who asks: a script or a client, whether what it looks at counts as used, and when one who waits is to
//! look again.

use super::Tx;
use base::Ms;

impl Tx<'_> {
    /// Says whether what this tx looks at counts as used (CLIENT NO-TOUCH); it does unless told otherwise.
    pub fn set_touching(&mut self, touches: bool) {
        self.touches = touches;
    }

    /// Whether what it looks at counts as used.
    pub fn touches(&self) -> bool {
        self.touches
    }

    /// Says whether a script runs in this tx.
    pub fn set_scripted(&mut self, is_scripted: bool) {
        self.is_scripted = is_scripted;
    }

    /// Whether what runs is a call of a script.
    pub fn is_scripted(&self) -> bool {
        self.is_scripted
    }

    /// Says when a command that found nothing, and waits, is to look again, if nobody serves it before.
    pub fn look_again(&mut self, at_ms: Ms) {
        self.look_again_ms = Some(at_ms);
    }

    /// What [`Tx::look_again`] was told last; `Ms::MAX` is never.
    pub fn looks_again_at(&self) -> Option<Ms> {
        self.look_again_ms.filter(|at_ms| *at_ms != Ms::MAX)
    }
}
