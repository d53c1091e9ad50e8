//! Registers of six bits, packed from the lowest bit of each byte on.
//!
//! ```text
//!   byte 0     byte 1     byte 2
//!   11000000   22221111   33333322          four registers in three bytes
//! ```

use super::{Mark, REGISTERS};

/// The bytes of all registers.
pub(super) const BYTES: usize = REGISTERS * 6 / 8;

/// Visits each register with its value.
pub(super) fn for_each(bytes: &[u8], mut visit: impl FnMut(usize, u8)) {
    for (group, three) in bytes.as_chunks::<3>().0.iter().enumerate() {
        let word = u32::from(three[0]) | u32::from(three[1]) << 8 | u32::from(three[2]) << 16;
        (0..4).for_each(|at| visit(4 * group + at, (word >> (6 * at) & 63) as u8));
    }
}

pub(super) fn encode(registers: &[u8; REGISTERS]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES);
    for four in registers.as_chunks::<4>().0 {
        let word = (0..4).fold(0, |word, at| word | u32::from(four[at]) << (6 * at));
        bytes.extend_from_slice(&word.to_le_bytes()[..3]);
    }
    bytes
}

/// Returns the offset of the two bytes that hold the register of `mark`, and their contents once raised to it; `None`
/// if the register is not lower. The last register is in the last byte alone, so its pair begins a byte earlier.
pub(super) fn raised(bytes: &[u8], mark: Mark) -> Option<(usize, [u8; 2])> {
    let at = (mark.index * 6 / 8).min(BYTES - 2);
    let shift = mark.index * 6 - 8 * at;
    let word = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    if word >> shift & 63 >= u16::from(mark.run) {
        return None;
    }
    let word = word & !(63 << shift) | u16::from(mark.run) << shift;
    Some((at, word.to_le_bytes()))
}

/// Raises the register to `mark`. Returns true if it was lower.
pub(super) fn raise(bytes: &mut [u8], mark: Mark) -> bool {
    let raised = raised(bytes, mark);
    if let Some((at, pair)) = raised {
        bytes[at..at + 2].copy_from_slice(&pair);
    }
    raised.is_some()
}
