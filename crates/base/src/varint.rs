//! Unsigned LEB128: seven bits per byte, lowest first; the top bit says that more follow.
//!
//! Decoders reject what an encoder never writes (more than ten bytes, bits beyond the 64th, a trailing zero byte), so a
//! value has only one encoding.

/// Maximum encoding of a `u64`, in bytes.
pub const BYTES_MAX: usize = 10;

/// Appends `value` to `out`.
#[inline]
pub fn put(out: &mut impl Extend<u8>, mut value: u64) {
    while value >= 0x80 {
        out.extend(Some(value as u8 | 0x80));
        value >>= 7;
    }
    out.extend(Some(value as u8));
}

/// Returns the bytes that [`put`] appends for `value`.
pub fn encoded_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Decodes one value from the front of `input`; `None` if it is cut short or not canonical.
#[inline]
pub fn take(input: &mut &[u8]) -> Option<u64> {
    match *input {
        [byte, rest @ ..] if *byte < 0x80 => {
            *input = rest;
            Some(u64::from(*byte))
        }
        _ => take_long(input),
    }
}

fn take_long(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (index, &byte) in input.iter().enumerate().take(BYTES_MAX) {
        let bits = u64::from(byte & 0x7f);
        if index == BYTES_MAX - 1 && bits > 1 {
            return None;
        }
        value |= bits << (7 * index);
        if byte & 0x80 == 0 {
            if byte == 0 && index > 0 {
                return None;
            }
            *input = &input[index + 1..];
            return Some(value);
        }
    }
    None
}

/// Appends `bytes`, length-prefixed.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Decodes bytes written by [`put_bytes`].
pub fn take_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(input)?).ok()?;
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_around_every_power_of_two() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, (1u64 << shift) + 1, u64::MAX] {
                let mut out = Vec::new();
                put(&mut out, value);
                assert_eq!(out.len(), encoded_bytes(value));
                let mut input = &out[..];
                assert_eq!(take(&mut input), Some(value));
                assert!(input.is_empty());
            }
        }
    }

    #[test]
    fn truncated_overlong_and_overflowing_varints_are_refused() {
        for bad in
            [&[][..], &[0x80], &[0x80, 0x00], &[0xff; 11], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            assert_eq!(take(&mut &bad[..]), None, "{bad:?}");
        }
    }
}
