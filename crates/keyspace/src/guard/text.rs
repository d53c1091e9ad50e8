//! The guard of a text.

use crate::effect::Effect;
use crate::tx::Tx;
use kinds::Text;

/// A text under a key, to be changed; its deadline stays.
pub struct TextMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
}

impl<'t, 'k> TextMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8]) -> Self {
        Self { tx, key }
    }

    /// The text as it is now; `None` if the key is absent.
    pub fn text(&mut self) -> Option<Text<'_>> {
        self.tx.text(self.key).expect("its kind was checked when the guard was made")
    }

    /// Length in bytes; 0 if absent.
    pub fn bytes_count(&mut self) -> usize {
        self.text().map_or(0, |text| text.bytes_count())
    }

    /// Makes it these bytes.
    pub fn replace(&mut self, bytes: &[u8]) {
        self.tx.change(self.key, &Effect::TextReplace(bytes));
    }

    /// Appends.
    pub fn append(&mut self, bytes: &[u8]) {
        self.tx.change(self.key, &Effect::TextAppend(bytes));
    }

    /// Overwrites from `offset` on, zeros before it if the text is shorter.
    pub fn overwrite(&mut self, offset: usize, bytes: &[u8]) {
        self.tx.change(self.key, &Effect::TextOverwrite { offset: offset as u64, bytes });
    }
}
