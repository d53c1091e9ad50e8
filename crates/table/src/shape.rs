//! Where the parts of an entry lie: pure arithmetic, no memory.

use base::Ms;

use crate::{NewContent, size};

/// The head's bits: `| form 2 | wide key 1 | expiry 2 | marks 3 | touched 24 |`, highest first.
pub(crate) mod head {
    pub(crate) const TOUCHED_MASK: u32 = (1 << 24) - 1;
    pub(crate) const MARKS_SHIFT: u32 = 24;
    pub(crate) const MARKS_MASK: u32 = 0b111 << MARKS_SHIFT;
    pub(crate) const EXPIRY_SHIFT: u32 = 27;
    pub(crate) const WIDE_KEY: u32 = 1 << 29;
    pub(crate) const FORM_SHIFT: u32 = 30;
    /// The bits that a change of content or expiry leaves alone.
    pub(crate) const KEPT_MASK: u32 = TOUCHED_MASK | MARKS_MASK;
}

const HEAD_BYTES: usize = 4;

/// How the content is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Bytes, their length in 1 byte.
    Short = 0,
    /// Bytes, their length in 4 bytes.
    Long = 1,
    /// An integer of 0 to 8 bytes, the number of bytes in 1 byte.
    Int = 2,
    /// A `V`, aligned.
    Value = 3,
}

/// How the expiry is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Never = 0,
    /// 6 bytes: until the year 10889.
    Near = 1,
    /// 8 bytes: clients may say any number.
    Far = 2,
}

/// The sizes that say where everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) expiry: Expiry,
    pub(crate) key_bytes: usize,
    pub(crate) content_bytes: usize,
    /// Alignment of the content: 1, but for a value.
    pub(crate) content_align: usize,
}

impl Shape {
    pub(crate) fn new<V>(key: &[u8], expires_at_ms: Option<Ms>, content: &NewContent<'_, V>) -> Self {
        const { assert!(align_of::<V>() <= size::ALIGN) };
        let shape = Self {
            form: Form::Short,
            expiry: Expiry::of(expires_at_ms),
            key_bytes: key.len(),
            content_bytes: 0,
            content_align: 1,
        };
        assert!(shape.key_bytes <= u32::MAX as usize);
        shape.with_content(content)
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

    pub(crate) fn expiry_at(&self) -> usize {
        key_at(self.key_is_wide()) + self.key_bytes
    }

    pub(crate) fn length_at(&self) -> usize {
        self.expiry_at() + self.expiry.bytes()
    }

    pub(crate) fn content_at(&self) -> usize {
        (self.length_at() + self.form.length_bytes()).next_multiple_of(self.content_align)
    }

    /// Bytes of the allocation: as long as it stays the same, a new shape fits in the old place.
    pub(crate) fn allocation_bytes(&self) -> usize {
        size::class(self.content_at() + self.content_bytes)
    }

    /// The head's bits that the shape decides.
    pub(crate) fn head_bits(&self) -> u32 {
        (self.form as u32) << head::FORM_SHIFT
            | (self.expiry as u32) << head::EXPIRY_SHIFT
            | if self.key_is_wide() { head::WIDE_KEY } else { 0 }
    }
}

/// The key lies behind the head and its own length, of 1 or 4 bytes.
pub(crate) fn key_at(wide: bool) -> usize {
    HEAD_BYTES + if wide { 4 } else { 1 }
}

/// Where the key's length lies.
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

    pub(crate) fn of_head(head: u32) -> Self {
        match head >> head::EXPIRY_SHIFT & 0b11 {
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

/// Least number of bytes that hold `int`, sign included; none for zero.
pub(crate) fn int_bytes(int: i64) -> usize {
    let magnitude = (int ^ (int >> 63)) as u64;
    if int == 0 { 0 } else { (u64::BITS - magnitude.leading_zeros()) as usize / 8 + 1 }
}

/// The integer whose lowest bytes, lowest first, are `bytes`.
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
    fn integers_round_trip_in_their_least_bytes() {
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
    fn promised_entries_fit_in_their_classes() {
        let key = [0; 16];
        let soon = Some(1_800_000_000_000);
        let bytes = |expires, content| Shape::new::<u64>(&key, expires, &content).allocation_bytes();
        assert_eq!(bytes(None, NewContent::Bytes(&[0; 32])), 64);
        assert_eq!(bytes(soon, NewContent::Bytes(&[0; 32])), 64);
        assert_eq!(bytes(None, NewContent::Int(99_999_999)), 32);
        assert_eq!(bytes(soon, NewContent::Int(99_999_999)), 32);
        assert_eq!(bytes(None, NewContent::Value(0)), 32);
    }
}
