//! Long texts of a request, cut into pieces before any shard is held: 100 MB take some 25 ms.

use values::LongString;

/// Texts that a tx can put without copying them under its locks.
#[derive(Default)]
pub struct PrebuiltStrings(Vec<Cut>);

/// An argument, identified by its address.
struct Cut {
    address: usize,
    bytes: usize,
    text: LongString,
}

impl PrebuiltStrings {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `argument`, whose bytes must not move until the tx ends, as `text`.
    ///
    /// # Panics
    /// If they differ in length.
    pub fn add(&mut self, argument: &[u8], text: LongString) {
        assert_eq!(argument.len(), text.bytes_count());
        self.0.push(Cut { address: argument.as_ptr().addr(), bytes: argument.len(), text });
    }

    /// Returns the text of `argument`, if it was cut. O(texts).
    pub(crate) fn find(&self, argument: &[u8]) -> Option<&LongString> {
        let address = argument.as_ptr().addr();
        self.0.iter().find(|cut| cut.address == address && cut.bytes == argument.len()).map(|cut| &cut.text)
    }
}
