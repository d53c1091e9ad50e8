//! What a tx knows of who asks: a script or a client, and whether what it looks at counts as used.

use super::Tx;

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
}
