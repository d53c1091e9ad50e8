//! The guard of a text.

use crate::effect::Effect;
use crate::tx::{Before, Tx};
use values::StringValue;

/// Growth of a text that needs no memory grant: each request's estimate covers this much.
const UNASKED_BYTES_MAX: usize = 16 << 10;

/// A mutable text under a key; its deadline is kept.
pub struct StringMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
}

impl<'t, 'k> StringMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown } }
    }

    /// Returns the current text; `None` if the key is absent.
    pub fn string(&mut self) -> Option<StringValue<'_>> {
        self.tx.string(self.key).expect("its kind was checked when the guard was made")
    }

    /// Returns the length in bytes; 0 if absent.
    pub fn bytes_count(&mut self) -> usize {
        self.string().map_or(0, |text| text.bytes_count())
    }

    /// Replaces the text.
    pub fn replace(&mut self, bytes: &[u8]) {
        self.change(&Effect::StringReplace(bytes));
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        self.change(&Effect::StringAppend(bytes));
    }

    /// Overwrites from `offset` on, zero-filling a gap.
    pub fn overwrite(&mut self, offset: usize, bytes: &[u8]) {
        self.change(&Effect::StringOverwrite { offset: offset as u64, bytes });
    }

    /// Returns true if memory is granted for a string of `end` bytes; most may be zeros that the request did not send.
    pub fn has_memory_for(&mut self, end: usize) -> bool {
        let more_bytes = end.saturating_sub(self.bytes_count());
        more_bytes <= UNASKED_BYTES_MAX || self.tx.grants_memory(more_bytes as u64)
    }

    fn change(&mut self, effect: &Effect<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change(self.key, effect, before);
    }
}
