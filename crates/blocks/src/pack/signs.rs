//! Characters of 4 and 6 bits: finds a run's alphabet, and converts eight characters at a time.

use super::bits::{self, Writer, mask};
use super::{Form, items};
use crate::view::View;

/// The bit of decimal digits in [`alphabets`].
pub(super) const DECIMAL: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 4;
const SEXTET: u8 = 8;

/// The 6-bit characters, by value.
const SIGNS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// The alphabets each byte belongs to.
const ALPHABETS: [u8; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 64 {
        let sign = SIGNS[value];
        table[sign as usize] = SEXTET
            | match sign {
                b'0'..=b'9' => DECIMAL | LOWER | UPPER,
                b'a'..=b'f' => LOWER,
                b'A'..=b'F' => UPPER,
                _ => 0,
            };
        value += 1;
    }
    table
};

/// The value of each 6-bit character; 0 for others.
const VALUES: [u8; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 64 {
        table[SIGNS[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// Two characters by their twelve bits, the first in the lower byte.
static PAIRS: [u16; 4096] = {
    let mut table = [0; 4096];
    let mut pair = 0;
    while pair < 4096 {
        table[pair] = SIGNS[pair % 64] as u16 | (SIGNS[pair / 64] as u16) << 8;
        pair += 1;
    }
    table
};

/// Repeats one byte eight times.
const fn every(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// Returns the alphabets common to all bodies, as bits.
pub(super) fn alphabets(run: &View<'_>, prefix_bytes: usize) -> u8 {
    if prefix_bytes == 0 {
        return narrowed(DECIMAL | LOWER | UPPER | SEXTET, run.bytes);
    }
    let mut left = DECIMAL | LOWER | UPPER | SEXTET;
    for item in items(run) {
        left = narrowed(left, &item[prefix_bytes..]);
        if left == 0 {
            break;
        }
    }
    left
}

fn narrowed(mut left: u8, body: &[u8]) -> u8 {
    for part in body.chunks(32) {
        left = part.iter().fold(left, |left, &byte| left & ALPHABETS[usize::from(byte)]);
        if left == 0 {
            break;
        }
    }
    left
}

/// Returns the form with the fewest bits per character among these alphabets.
pub(super) fn best(alphabets: u8) -> Option<Form> {
    [(LOWER, Form::Hex), (UPPER, Form::UpperHex), (SEXTET, Form::Sextets)]
        .into_iter()
        .find_map(|(alphabet, form)| (alphabets & alphabet != 0).then_some(form))
}

/// Returns true if a character form can encode this body.
pub(super) fn takes(form: Form, body: &[u8]) -> bool {
    let alphabet = match form {
        Form::Plain | Form::Digits => return form == Form::Plain,
        Form::Hex => LOWER,
        Form::UpperHex => UPPER,
        Form::Sextets => SEXTET,
    };
    narrowed(alphabet, body) != 0
}

/// Appends the characters `from..to` of `bytes`, which the form can encode.
#[inline]
pub(super) fn put(writer: &mut Writer<'_>, form: Form, bytes: &[u8], from: usize, to: usize) {
    if form == Form::Plain {
        writer.put_bytes(&bytes[from..to]);
        return;
    }
    let mut at = from;
    while at < to {
        let signs = (to - at).min(8);
        let sign_bits = signs * form.sign_bits();
        writer.put(eight_packed(form, bits::window(bytes, at)) & mask(sign_bits), sign_bits);
        at += 8;
    }
}

/// Returns the bits of eight characters; bits after one that the form cannot encode are meaningless.
#[inline]
pub(super) fn eight_packed(form: Form, signs: u64) -> u64 {
    match form {
        Form::Plain | Form::Digits => signs,
        Form::Hex | Form::UpperHex => {
            // Letters have bit 6, and their lower half counts from 1.
            let mut word = (signs & every(0x0f)) + (signs >> 6 & every(1)) * 9;
            word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
            word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
            (word | word >> 16) & 0xffff_ffff
        }
        Form::Sextets => {
            let signs = signs.to_le_bytes();
            (0..8).fold(0, |word, place| word | u64::from(VALUES[usize::from(signs[place])]) << (6 * place))
        }
    }
}

/// Returns eight characters from their bits; ignores higher bits. The two functions below do the same.
#[inline]
pub(super) fn hex_spelt(packed: u64) -> u64 {
    spelt_hex(packed, b'a' - b'0' - 10)
}

#[inline]
pub(super) fn upper_hex_spelt(packed: u64) -> u64 {
    spelt_hex(packed, b'A' - b'0' - 10)
}

#[inline]
pub(super) fn sextets_spelt(packed: u64) -> u64 {
    let pair = |place: usize| u64::from(PAIRS[(packed >> (12 * place) & 0xfff) as usize]) << (16 * place);
    pair(0) | pair(1) | pair(2) | pair(3)
}

#[inline]
fn spelt_hex(packed: u64, letter_offset: u8) -> u64 {
    let mut word = packed & 0xffff_ffff;
    word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    word = (word | word << 4) & every(0x0f);
    let letters = (word + every(6)) >> 4 & every(1);
    word + every(b'0') + letters * u64::from(letter_offset)
}
