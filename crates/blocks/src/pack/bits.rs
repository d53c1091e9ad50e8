//! A bit stream in bytes, the lowest bit of each byte first.

/// Returns a mask of the lowest `bits` bits.
pub(super) fn mask(bits: usize) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// Reads eight bytes from `at`, little-endian; bytes beyond the end are zero.
#[inline]
pub(super) fn window(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8) {
        Some(eight) => u64::from_le_bytes(eight.try_into().expect("eight bytes")),
        None => window_at_end(bytes, at),
    }
}

#[cold]
fn window_at_end(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Returns the `bits` bits (at most 64) from bit `at`.
#[inline]
pub(super) fn take(stream: &[u8], at: usize, bits: usize) -> u64 {
    let (byte, shift) = (at / 8, at % 8);
    let mut word = window(stream, byte) >> shift;
    if shift + bits > 64 {
        word |= window(stream, byte + 8) << (64 - shift);
    }
    word & mask(bits)
}

/// Fills bytes with bits from the front.
pub(super) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    word: u64,
    filled: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Writer<'a> {
        Writer { out, at: 0, word: 0, filled: 0 }
    }

    /// Appends the `bits` bits (at most 64) of `value`; its higher bits must be zero.
    #[inline]
    pub(super) fn put(&mut self, value: u64, bits: usize) {
        debug_assert!(value & !mask(bits) == 0);
        self.word |= value << self.filled;
        self.filled += bits;
        if self.filled >= 64 {
            self.out[self.at..self.at + 8].copy_from_slice(&self.word.to_le_bytes());
            self.at += 8;
            self.filled -= 64;
            self.word = if self.filled == 0 { 0 } else { value >> (bits - self.filled) };
        }
    }

    /// Appends bytes to a stream that is byte-aligned.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        debug_assert!(self.filled == 0);
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Writes the remaining bits; the bytes must end there.
    pub(super) fn finish(self) {
        let rest = self.filled.div_ceil(8);
        assert!(self.at + rest == self.out.len());
        self.out[self.at..].copy_from_slice(&self.word.to_le_bytes()[..rest]);
    }
}
