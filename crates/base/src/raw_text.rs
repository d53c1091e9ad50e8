//! Foreign bytes in our texts: an error repeats client input, which need not be UTF-8.
//!
//! ```text
//! 61 ff 62    --from_bytes-->   'a' U+10FFFF 'b'   --to_bytes-->   61 ff 62
//! ```
//!
//! An invalid UTF-8 byte becomes one of the last 256 characters, which are for private use. If a text already contains
//! such characters, their bytes are escaped too, so that all bytes survive the round trip.

use std::borrow::Cow;

/// The character of byte 0.
const FIRST: u32 = 0x10_ff00;
/// The first byte of these characters in UTF-8.
const LEAD: u8 = 0xf4;

/// Converts any bytes to a `str`. O(n).
pub fn from_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_raw(text) => Cow::Borrowed(text),
        _ => {
            let mut text = String::with_capacity(bytes.len() + 16);
            for chunk in bytes.utf8_chunks() {
                for character in chunk.valid().chars() {
                    match is_raw(character) {
                        true => character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| text.push(raw(byte))),
                        false => text.push(character),
                    }
                }
                chunk.invalid().iter().for_each(|byte| text.push(raw(*byte)));
            }
            Cow::Owned(text)
        }
    }
}

/// Converts the result of [`from_bytes`] back to its bytes. O(n).
pub fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if !has_raw(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match is_raw(character) {
            true => bytes.push((u32::from(character) - FIRST) as u8),
            false => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

fn raw(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).expect("the last characters there are")
}

fn is_raw(character: char) -> bool {
    u32::from(character) >= FIRST
}

fn has_raw(text: &str) -> bool {
    memchr::memchr(LEAD, text.as_bytes()).is_some() && text.chars().any(is_raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_utf8_is_unchanged_and_other_bytes_are_mapped() {
        let text = "caf\u{e9} \u{1f600} \u{10fe00}";
        assert!(matches!(from_bytes(text.as_bytes()), Cow::Borrowed(same) if same == text));
        assert!(matches!(to_bytes(text), Cow::Borrowed(same) if same == text.as_bytes()));
        assert_eq!(from_bytes(b"a\xffb"), "a\u{10ffff}b");
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xf4), Just(0x8f), Just(0xbf)], 0..40)) {
            let text = from_bytes(&bytes);
            prop_assert_eq!(&*to_bytes(&text), &bytes[..]);
        }

        #[test]
        fn the_last_256_characters_round_trip(text in "[a\u{10ff00}-\u{10ffff}]{0,9}") {
            let stood = from_bytes(text.as_bytes());
            prop_assert_eq!(&*to_bytes(&stood), text.as_bytes());
        }
    }
}
