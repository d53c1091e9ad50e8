//! A packed run that is no block of its own: whoever has columns beside items, as a tagged list has, keeps them in one item.
//!
//! ```text
//!   | form 1 | the run, as `pack` draws it |
//! ```

use super::{Form, Packed, Run};
use crate::Direction;
use crate::codec::DecodeError;

/// Packs items that lie back to back in `bytes`, of `lengths`; `None` if that saves less than a sixteenth, if there are fewer
/// than eight, or one is longer than 255 bytes. O(bytes).
///
/// # Panics
///
/// If there are more than 16 KiB of them.
pub fn pack_items(bytes: &[u8], lengths: &[u32]) -> Option<Vec<u8>> {
    let run = Run::of(bytes, lengths)?;
    let run = run.view();
    let plan = super::plan(&run, bytes.len()).filter(|plan| plan.count == run.count)?;
    let mut out = vec![plan.form as u8; 1 + plan.data_bytes];
    super::write(&plan, &run, &mut out[1..]);
    Some(out)
}

/// Items that [`pack_items`] packed, to be read where they lie.
#[derive(Clone, Copy)]
pub struct PackedItems<'a>(Packed<'a>);

impl<'a> PackedItems<'a> {
    /// What [`PackedItems::check`] has let in. O(1).
    ///
    /// # Panics
    ///
    /// If it has not, perhaps: here, or in any other call.
    pub fn of(count: usize, bytes: &'a [u8]) -> Self {
        let (form, data) = bytes.split_first().expect("a packed run was checked when it came in");
        Self(Packed::of(Form::from_byte(*form).expect("as above"), count, data))
    }

    /// Bytes that nobody vouches for. O(items).
    ///
    /// # Errors
    ///
    /// They are not what [`pack_items`] may write of so many items.
    pub fn check(count: usize, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let (form, data) = bytes.split_first().ok_or(DecodeError::Malformed)?;
        let form = Form::from_byte(*form).ok_or(DecodeError::Malformed)?;
        Packed::check(form, count, data).map(|(packed, _)| Self(packed))
    }

    /// The items `from..to`. O(their bytes), and for differing lengths a sum over those before.
    pub fn unpack(&self, from: usize, to: usize) -> UnpackedItems {
        UnpackedItems(self.0.unpack(from, to))
    }

    /// The first item that equals `needle`, from `from` on. O(items).
    pub fn find(&self, needle: &[u8], from: usize) -> Option<usize> {
        self.0.find(needle, from, self.0.count(), Direction::Forward)
    }
}

/// Items that were unpacked.
pub struct UnpackedItems(Run);

impl UnpackedItems {
    /// All of them, back to back.
    pub fn bytes(&self) -> &[u8] {
        self.0.view().bytes
    }

    /// How long each is, in order.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        let view = self.0.view();
        (0..view.count).map(move |at| view.length(at))
    }

    /// One of them. O(1) for equal lengths, else a sum over those before.
    pub fn item(&self, at: usize) -> &[u8] {
        self.0.view().item(at)
    }
}
