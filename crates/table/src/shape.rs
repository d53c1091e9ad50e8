//! The layout of an entry: pure arithmetic, no memory.

use base::Ms;

use crate::{Extras, Fields, NewContent, size};

/// The head's bits: `| form 2 | wide key 1 | expiry 2 | marks 3 | touched 24 |`, highest first.
pub(crate) mod head {
    pub(crate) const TOUCHED_MASK: u32 = (1 << 24) - 1;
    pub(crate) const MARKS_SHIFT: u32 = 24;
    pub(crate) const MARKS_MASK: u32 = 0b111 << MARKS_SHIFT;
    pub(crate) const EXPIRY_SHIFT: u32 = 27;
    pub(crate) const WIDE_KEY: u32 = 1 << 29;
    pub(crate) const FORM_SHIFT: u32 = 30;
    /// The bits unaffected by a change of content or expiry.
    pub(crate) const KEPT_MASK: u32 = TOUCHED_MASK | MARKS_MASK;
}

const HEAD_BYTES: usize = 4;

/// The storage form of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Bytes, with a 1-byte length.
    Short = 0,
    /// Bytes, with a 4-byte length.
    Long = 1,
    /// An integer of 0 to 8 bytes, with a 1-byte length.
    Int = 2,
    /// A `V`, aligned.
    Value = 3,
}

/// The bits of the first byte of the extras: `| signs 4 | cas 1 | flags 1 | expiry 2 |`, highest first.
pub(crate) mod lead {
    pub(crate) const EXPIRY_MASK: u8 = 0b11;
    pub(crate) const FLAGS: u8 = 1 << 2;
    pub(crate) const CAS: u8 = 1 << 3;
    pub(crate) const SIGNS_SHIFT: u32 = 4;
}

/// The expiry bits of an entry with extras, whose first byte describes the expiry.
const EXTRAS: u32 = 3;
const FLAGS_BYTES: usize = 4;
const CAS_BYTES: usize = 8;

/// The extras that are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtrasShape {
    pub(crate) has_flags: bool,
    pub(crate) has_cas: bool,
}

impl ExtrasShape {
    fn of(extras: &Extras) -> Self {
        Self { has_flags: extras.flags != 0, has_cas: extras.cas != 0 }
    }

    /// Returns their total bytes, including the first one.
    pub(crate) fn bytes(self) -> usize {
        1 + self.flags_bytes() + self.cas_bytes()
    }

    pub(crate) fn flags_bytes(self) -> usize {
        if self.has_flags { FLAGS_BYTES } else { 0 }
    }

    pub(crate) fn cas_bytes(self) -> usize {
        if self.has_cas { CAS_BYTES } else { 0 }
    }
}

/// The storage form of the expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Never = 0,
    /// 6 bytes: until the year 10889.
    Near = 1,
    /// 8 bytes: clients may set any number.
    Far = 2,
}

/// The sizes that determine the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) expiry: Expiry,
    pub(crate) extras: Option<ExtrasShape>,
    pub(crate) key_bytes: usize,
    pub(crate) content_bytes: usize,
    /// Alignment of the content: 1, except for a value.
    pub(crate) content_align: usize,
}

impl Shape {
    pub(crate) fn new<V>(key: &[u8], fields: &Fields, content: &NewContent<'_, V>) -> Self {
        const { assert!(align_of::<V>() <= size::ALIGN) };
        let shape = Self {
            form: Form::Short,
            expiry: Expiry::Never,
            extras: None,
            key_bytes: key.len(),
            content_bytes: 0,
            content_align: 1,
        };
        assert!(shape.key_bytes <= u32::MAX as usize);
        shape.with_fields(fields).with_content(content)
    }

    pub(crate) fn with_fields(self, fields: &Fields) -> Self {
        Self { expiry: Expiry::of(fields.expires_at_ms), extras: fields.extras.as_ref().map(ExtrasShape::of), ..self }
    }

    pub(crate) fn with_content<V>(self, content: &NewContent<'_, V>) -> Self {
        match content {
            NewContent::Bytes(bytes) => self.with_bytes(bytes.len()),
            NewContent::Int(int) => Self { form: Form::Int, content_bytes: int_bytes(*int), content_align: 1, ..self },
            NewContent::Value(_) => {
                Self { form: Form::Value, content_bytes: size_of::<V>(), content_align: align_of::<V>(), ..self }
            }
        }
    }

    pub(crate) fn with_bytes(self, content_bytes: usize) -> Self {
        assert!(content_bytes <= u32::MAX as usize);
        let form = if content_bytes <= u8::MAX as usize { Form::Short } else { Form::Long };
        Self { form, content_bytes, content_align: 1, ..self }
    }

    pub(crate) fn key_is_wide(&self) -> bool {
        self.key_bytes > u8::MAX as usize
    }

    /// Returns the end of the key, where the extras begin if present.
    pub(crate) fn extras_at(&self) -> usize {
        key_at(self.key_is_wide()) + self.key_bytes
    }

    pub(crate) fn expiry_at(&self) -> usize {
        self.extras_at() + self.extras.map_or(0, ExtrasShape::bytes)
    }

    pub(crate) fn length_at(&self) -> usize {
        self.expiry_at() + self.expiry.bytes()
    }

    pub(crate) fn content_at(&self) -> usize {
        size::round_up(self.length_at() + self.form.length_bytes(), self.content_align)
    }

    /// Returns the bytes of the allocation: if unchanged, a new shape fits in the old place.
    pub(crate) fn allocation_bytes(&self) -> usize {
        size::class(self.content_at() + self.content_bytes)
    }

    /// Returns the head's bits that the shape determines.
    pub(crate) fn head_bits(&self) -> u32 {
        (self.form as u32) << head::FORM_SHIFT
            | self.extras.map_or(self.expiry as u32, |_| EXTRAS) << head::EXPIRY_SHIFT
            | if self.key_is_wide() { head::WIDE_KEY } else { 0 }
    }
}

impl Shape {
    /// Returns the first byte of the extras.
    pub(crate) fn lead_bits(&self, extras: &Extras) -> u8 {
        let shape = ExtrasShape::of(extras);
        debug_assert_eq!(self.extras, Some(shape));
        self.expiry as u8
            | if shape.has_flags { lead::FLAGS } else { 0 }
            | if shape.has_cas { lead::CAS } else { 0 }
            | extras.signs << lead::SIGNS_SHIFT
    }
}

/// Returns true if a head belongs to an entry with extras.
pub(crate) fn has_extras(head: u32) -> bool {
    head >> head::EXPIRY_SHIFT & 0b11 == EXTRAS
}

/// Returns which extras are present, from their first byte.
pub(crate) fn extras_of_lead(lead: u8) -> ExtrasShape {
    ExtrasShape { has_flags: lead & lead::FLAGS != 0, has_cas: lead & lead::CAS != 0 }
}

/// Returns the offset of the key, which follows the head and its own 1- or 4-byte length.
pub(crate) fn key_at(wide: bool) -> usize {
    HEAD_BYTES + if wide { 4 } else { 1 }
}

/// Offset of the key's length.
pub(crate) const KEY_LENGTH_AT: usize = HEAD_BYTES;

impl Form {
    pub(crate) fn of_head(head: u32) -> Self {
        match head >> head::FORM_SHIFT {
            0 => Self::Short,
            1 => Self::Long,
            2 => Self::Int,
            _ => Self::Value,
        }
    }

    pub(crate) fn length_bytes(self) -> usize {
        match self {
            Self::Short | Self::Int => 1,
            Self::Long => 4,
            Self::Value => 0,
        }
    }
}

impl Expiry {
    pub(crate) fn of(expires_at_ms: Option<Ms>) -> Self {
        match expires_at_ms {
            None => Self::Never,
            Some(at_ms) if at_ms >> 48 == 0 => Self::Near,
            Some(_) => Self::Far,
        }
    }

    /// For an entry without extras.
    pub(crate) fn of_head(head: u32) -> Self {
        Self::of_bits(head >> head::EXPIRY_SHIFT & 0b11)
    }

    /// For an entry whose extras begin with `lead`.
    pub(crate) fn of_lead(lead: u8) -> Self {
        Self::of_bits(u32::from(lead & lead::EXPIRY_MASK))
    }

    fn of_bits(bits: u32) -> Self {
        match bits {
            0 => Self::Never,
            1 => Self::Near,
            _ => Self::Far,
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Never => 0,
            Self::Near => 6,
            Self::Far => 8,
        }
    }
}

/// Returns the least number of bytes that hold `int`, sign included; 0 for zero.
pub(crate) fn int_bytes(int: i64) -> usize {
    let magnitude = (int ^ (int >> 63)) as u64;
    if int == 0 { 0 } else { (u64::BITS - magnitude.leading_zeros()) as usize / 8 + 1 }
}

/// Returns the integer with these little-endian low `bytes`.
pub(crate) fn int_of(bytes: &[u8]) -> i64 {
    let mut low = [0; 8];
    low[..bytes.len()].copy_from_slice(bytes);
    let spare_bits = u64::BITS - 8 * bytes.len() as u32;
    if bytes.is_empty() { 0 } else { i64::from_le_bytes(low) << spare_bits >> spare_bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip_in_the_fewest_bytes() {
        for (int, bytes) in
            [(0, 0), (1, 1), (-1, 1), (127, 1), (-128, 1), (128, 2), (-129, 2), (99_999_999, 4), (i64::MAX, 8)]
        {
            assert_eq!(int_bytes(int), bytes, "{int}");
        }
        for shift in 0..64 {
            for int in
                [1i64 << shift, (1i64 << shift).wrapping_sub(1), (1i64 << shift).wrapping_neg(), !(1i64 << shift)]
            {
                assert_eq!(int_of(&int.to_le_bytes()[..int_bytes(int)]), int);
            }
        }
    }

    #[test]
    fn common_entries_fit_the_promised_size_classes() {
        let key = [0; 16];
        let soon = Some(1_800_000_000_000);
        let bytes =
            |expires: Option<Ms>, content| Shape::new::<u64>(&key, &expires.into(), &content).allocation_bytes();
        assert_eq!(bytes(None, NewContent::Bytes(&[0; 32])), 64);
        assert_eq!(bytes(soon, NewContent::Bytes(&[0; 32])), 64);
        assert_eq!(bytes(None, NewContent::Int(99_999_999)), 32);
        assert_eq!(bytes(soon, NewContent::Int(99_999_999)), 32);
        assert_eq!(bytes(None, NewContent::Value(0)), 32);
    }

    #[test]
    fn extras_take_one_byte_plus_their_nonzero_fields() {
        let content_at = |extras| {
            let fields = Fields { expires_at_ms: None, extras };
            Shape::new::<u64>(b"key", &fields, &NewContent::Bytes(b"text")).content_at()
        };
        let without = content_at(None);
        for (flags, cas, bytes) in [(0, 0, 1), (1, 0, 5), (0, 1, 9), (u32::MAX, u64::MAX, 13)] {
            assert_eq!(content_at(Some(Extras { flags, cas, signs: 15 })), without + bytes);
        }
    }
}
