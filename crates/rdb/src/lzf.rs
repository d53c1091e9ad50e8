//! LZF: literal bytes, and references to earlier bytes.
//!
//! ```text
//!   000lllll                              l + 1 bytes follow as they are                            1 to 32
//!   lllooooo oooooooo                     l + 2 bytes again, of those that begin o + 1 bytes back   3 to 8
//!   111ooooo llllllll oooooooo            l + 9 bytes again                                         9 to 264
//! ```
//!
//! Concatenated packed strings are the packed form of their concatenation: references only go back. So a long string is
//! packed in pieces, and unpacked in steps.

use crate::Fault;
use std::ops::Range;

/// The maximum number of bytes packed at once: an offset in them fits sixteen bits.
pub(crate) const PIECE_BYTES_MAX: usize = 32 << 10;
const LITERALS_MAX: usize = 32;
const LENGTH_MIN: usize = 3;
const LENGTH_MAX: usize = 264;
const DISTANCE_MAX: usize = 1 << 13;
const SLOT_BITS: u32 = 12;
/// The maximum expansion of one packed byte.
const GROWTH_MAX: usize = LENGTH_MAX / 3;

/// Appends the packed form of `input`, which may be longer than it.
pub(crate) fn pack(input: &[u8], out: &mut Vec<u8>) {
    assert!(input.len() <= PIECE_BYTES_MAX);
    // For each hash of three bytes, their last offset plus one; 0 for none.
    let mut slots = [0u16; 1 << SLOT_BITS];
    let (mut at, mut literal) = (0, 0);
    while at + LENGTH_MIN <= input.len() {
        let slot = &mut slots[slot(&input[at..])];
        let before = usize::from(*slot);
        *slot = at as u16 + 1;
        let length = before.checked_sub(1).map_or(0, |before| common(input, before, at));
        if length < LENGTH_MIN {
            at += 1;
            continue;
        }
        put_literals(&input[literal..at], out);
        put_reference(length, at - before, out);
        at += length;
        literal = at;
    }
    put_literals(&input[literal..], out);
}

fn slot(bytes: &[u8]) -> usize {
    let word = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
    (word.wrapping_mul(0x9e37_79b1) >> (32 - SLOT_BITS)) as usize
}

/// Returns how many bytes from `at` on match those from `before` on, if a reference reaches that far back.
fn common(input: &[u8], before: usize, at: usize) -> usize {
    if at - before > DISTANCE_MAX {
        return 0;
    }
    let pairs = input[at..].iter().zip(&input[before..]).take(LENGTH_MAX);
    pairs.take_while(|(one, other)| one == other).count()
}

fn put_literals(bytes: &[u8], out: &mut Vec<u8>) {
    for run in bytes.chunks(LITERALS_MAX) {
        out.push(run.len() as u8 - 1);
        out.extend_from_slice(run);
    }
}

/// `distance` is the offset back, minus one.
fn put_reference(length: usize, distance: usize, out: &mut Vec<u8>) {
    let [high, low] = (distance as u16).to_be_bytes();
    match length - 2 {
        short @ 1..7 => out.extend_from_slice(&[(short as u8) << 5 | high, low]),
        long => out.extend_from_slice(&[7 << 5 | high, (long - 7) as u8, low]),
    }
}

/// A string being unpacked.
pub(crate) struct Unpacking {
    packed: Range<usize>,
    length: usize,
    out: Vec<u8>,
}

impl Unpacking {
    /// Starts to unpack a string of `length` bytes from the range `packed`.
    pub(crate) fn new(packed: Range<usize>, length: usize) -> Result<Self, Fault> {
        if length == 0 || length > packed.len().saturating_mul(GROWTH_MAX) {
            return Err(Fault::Malformed);
        }
        Ok(Self { packed, length, out: Vec::with_capacity(length) })
    }

    /// Unpacks about `bytes_max`. Returns true when done.
    pub(crate) fn step(&mut self, bytes: &[u8], bytes_max: usize) -> Result<bool, Fault> {
        let pause = self.out.len().saturating_add(bytes_max);
        while !self.packed.is_empty() && self.out.len() < pause {
            let code = usize::from(self.take(bytes)?);
            if code < LITERALS_MAX {
                let literals = bytes[self.packed.clone()].get(..=code).ok_or(Fault::Malformed)?;
                self.out.extend_from_slice(literals);
                self.packed.start += code + 1;
            } else {
                self.repeat(bytes, code)?;
            }
            if self.out.len() > self.length {
                return Err(Fault::Malformed);
            }
        }
        if !self.packed.is_empty() {
            return Ok(false);
        }
        if self.out.len() == self.length { Ok(true) } else { Err(Fault::Malformed) }
    }

    fn repeat(&mut self, bytes: &[u8], code: usize) -> Result<(), Fault> {
        let mut length = (code >> 5) + 2;
        if length == 9 {
            length += usize::from(self.take(bytes)?);
        }
        let distance = ((code & 0x1f) << 8 | usize::from(self.take(bytes)?)) + 1;
        let from = self.out.len().checked_sub(distance).ok_or(Fault::Malformed)?;
        if distance >= length {
            self.out.extend_from_within(from..from + length);
        } else {
            (from..from + length).for_each(|at| self.out.push(self.out[at]));
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<u8, Fault> {
        self.packed.next().and_then(|at| bytes.get(at)).copied().ok_or(Fault::Malformed)
    }

    /// Returns the string, once it is done.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpack(packed: &[u8], length: usize, step_bytes: usize) -> Result<Vec<u8>, Fault> {
        let mut unpacking = Unpacking::new(0..packed.len(), length)?;
        while !unpacking.step(packed, step_bytes)? {}
        Ok(unpacking.into_text())
    }

    proptest! {
        #[test]
        fn concatenated_packed_pieces_unpack_to_the_text(
            words in prop::collection::vec(prop::sample::select(vec!["a", "bobbin", "0123456789", "zzzzzzzz"]), 1..2000),
            piece_bytes in 1usize..5000,
            step_bytes in 1usize..5000,
        ) {
            let text = words.concat().into_bytes();
            let mut packed = Vec::new();
            text.chunks(piece_bytes).for_each(|piece| pack(piece, &mut packed));
            prop_assert_eq!(unpack(&packed, text.len(), step_bytes), Ok(text));
        }

        #[test]
        fn arbitrary_bytes_survive_packing_and_unpacking(text in prop::collection::vec(any::<u8>(), 1..600)) {
            let mut packed = Vec::new();
            pack(&text, &mut packed);
            prop_assert_eq!(unpack(&packed, text.len(), 100), Ok(text));
        }

        #[test]
        fn unpacking_arbitrary_bytes_yields_the_declared_length_or_an_error(
            packed in prop::collection::vec(any::<u8>(), 1..100),
            length in 1usize..9000,
        ) {
            if let Ok(text) = unpack(&packed, length, 50) {
                prop_assert_eq!(text.len(), length);
            }
        }
    }

    #[test]
    fn a_run_of_one_byte_compresses_well() {
        let mut packed = Vec::new();
        pack(&[7; 10_000], &mut packed);
        assert!(packed.len() < 150, "{}", packed.len());
    }
}
