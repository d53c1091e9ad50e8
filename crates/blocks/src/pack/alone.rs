//! A packed run outside a block: owners that keep columns beside items, such as tagged lists, store one in an item.
//!
//! ```text
//!   | form 1 | the run, as `pack` draws it |
//! ```

use super::{Form, Packed, Run};
use crate::Direction;
use crate::codec::DecodeError;

/// Packs items of `lengths`, back to back in `bytes`; `None` if that saves less than a sixteenth, if there are fewer
/// than eight items, or if one is longer than 255 bytes. O(bytes).
///
/// # Panics
///
/// If the items exceed 16 KiB.
pub fn pack_items(bytes: &[u8], lengths: &[u32]) -> Option<Vec<u8>> {
    let run = Run::of(bytes, lengths)?;
    let run = run.view();
    let plan = super::plan(&run, bytes.len()).filter(|plan| plan.count == run.count)?;
    let mut out = vec![plan.form as u8; 1 + plan.data_bytes];
    super::write(&plan, &run, &mut out[1..]);
    Some(out)
}

/// Items packed by [`pack_items`], read in place.
#[derive(Clone, Copy)]
pub struct PackedItems<'a>(Packed<'a>);

impl<'a> PackedItems<'a> {
    /// Wraps bytes accepted by [`PackedItems::check`]. O(1).
    ///
    /// # Panics
    ///
    /// Possibly, if the bytes were not accepted: here, or in any later call.
    pub fn of(count: usize, bytes: &'a [u8]) -> Self {
        let (form, data) = bytes.split_first().expect("a packed run was checked when it came in");
        Self(Packed::of(Form::from_byte(*form).expect("as above"), count, data))
    }

    /// Checks untrusted bytes. O(items).
    ///
    /// # Errors
    ///
    /// If [`pack_items`] cannot have written them for this number of items.
    pub fn check(count: usize, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let (form, data) = bytes.split_first().ok_or(DecodeError::Malformed)?;
        let form = Form::from_byte(*form).ok_or(DecodeError::Malformed)?;
        Packed::check(form, count, data).map(|(packed, _)| Self(packed))
    }

    /// Unpacks the items `from..to`. O(their bytes), plus a sum over earlier lengths if these differ.
    pub fn unpack(&self, from: usize, to: usize) -> UnpackedItems {
        UnpackedItems(self.0.unpack(from, to))
    }

    /// Returns the first item from `from` on that equals `needle`. O(items).
    pub fn find(&self, needle: &[u8], from: usize) -> Option<usize> {
        self.0.find(needle, from, self.0.count(), Direction::Forward)
    }
}

/// Unpacked items.
pub struct UnpackedItems(Run);

impl UnpackedItems {
    /// Returns all items, back to back.
    pub fn bytes(&self) -> &[u8] {
        self.0.view().bytes
    }

    /// Returns the lengths, in order.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        let view = self.0.view();
        (0..view.count).map(move |at| view.length(at))
    }

    /// Returns one item. O(1) for equal lengths, else a sum over earlier lengths.
    pub fn item(&self, at: usize) -> &[u8] {
        self.0.view().item(at)
    }
}
