//! Bits of texts: counting them, finding one, and making a text of the bits of several.
//!
//! Bit 0 is the highest of byte 0, as in Redis. Behind the end of a text there are only zeros.
//!
//! ```text
//!   sources    | 4,080 | 4,080 | 4,080 | 900 |        one piece of each at a time
//!              | 4,080 | 300 |                        shorter: zeros
//!   result     | 4,080 | 4,080 | 4,080 | 900 |        as long as the longest
//! ```

use crate::LongString;
use crate::long_string::PIECE_BYTES;
use std::ops::Range;

/// How many bits of `range` are set; the range lies within `bytes`, in bits. O(range).
pub fn count(bytes: &[u8], range: Range<u64>) -> u64 {
    if range.is_empty() {
        return 0;
    }
    let (first, last) = ((range.start / 8) as usize, ((range.end - 1) / 8) as usize);
    let (before, behind) = edges(&range);
    let edges = (bytes[first] & before).count_ones() + (bytes[last] & behind).count_ones();
    count_all(&bytes[first..=last]) - u64::from(edges)
}

/// Where the first bit of `range` that is `bit` lies; the range lies within `bytes`, in bits. O(bits passed).
pub fn find(bytes: &[u8], range: Range<u64>, bit: bool) -> Option<u64> {
    if range.is_empty() {
        return None;
    }
    let (first, last) = ((range.start / 8) as usize, ((range.end - 1) / 8) as usize);
    // What is looked for is made a one, and what lies beside the range a zero.
    let flip = if bit { 0 } else { 0xff };
    let (before, behind) = edges(&range);
    let mut at = first;
    let mut head = (bytes[first] ^ flip) & !before;
    if first == last {
        head &= !behind;
    }
    if head == 0 && first < last {
        at += 1 + same_bytes(&bytes[first + 1..last], flip);
        head = bytes[at] ^ flip;
        if at == last {
            head &= !behind;
        }
    }
    (head != 0).then(|| at as u64 * 8 + u64::from(head.leading_zeros()))
}

/// Masks of the bits of the first byte that lie before `range`, and of the last byte that lie behind it.
fn edges(range: &Range<u64>) -> (u8, u8) {
    let before = !(0xff_u16 >> (range.start % 8)) as u8;
    let behind = (0x7f_u16 >> ((range.end - 1) % 8)) as u8;
    (before, behind)
}

/// By the word: that is four times as fast as by the byte where no instruction counts bits.
fn count_all(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = |ones: u64, word: &[u8; 8]| ones + u64::from(u64::from_ne_bytes(*word).count_ones());
    words.iter().fold(0, sum) + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// How many bytes at the front are `byte`.
fn same_bytes(bytes: &[u8], byte: u8) -> usize {
    let words = bytes.as_chunks::<32>().0.iter().take_while(|word| **word == [byte; 32]).count();
    let rest = &bytes[32 * words..];
    32 * words + rest.iter().take_while(|next| **next == byte).count()
}

/// What BITOP makes of the bits at one place of its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperation {
    /// Set in all.
    And,
    /// Set in any.
    Or,
    /// Set in an odd number.
    Xor,
    /// Clear in the only one.
    Not,
    /// Set in the first and in no other.
    Diff,
    /// Clear in the first and set in another.
    Diff1,
    /// Set in the first and in another.
    AndOr,
    /// Set in exactly one.
    One,
}

/// The bits of a piece while its sources come, one by one.
struct Fold {
    operation: BitOperation,
    /// All but the first of [`BitOperation::Diff`] and its like, which is `first`.
    bits: [u8; PIECE_BYTES],
    /// The first source; of [`BitOperation::One`], bits that were set more than once.
    first: [u8; PIECE_BYTES],
}

impl Fold {
    fn new(operation: BitOperation) -> Self {
        Self { operation, bits: [0; PIECE_BYTES], first: [0; PIECE_BYTES] }
    }

    /// Takes in the piece of source number `index`.
    fn take(&mut self, index: usize, piece: &[u8]) {
        let (bits, rest) = self.bits.split_at_mut(piece.len());
        let pairs = bits.iter_mut().zip(piece);
        match self.operation {
            BitOperation::And if index > 0 => {
                pairs.for_each(|(bits, byte)| *bits &= byte);
                rest.fill(0);
            }
            BitOperation::Xor => pairs.for_each(|(bits, byte)| *bits ^= byte),
            BitOperation::One => {
                pairs.zip(&mut self.first).for_each(|((bits, byte), twice)| {
                    *twice |= *bits & byte;
                    *bits |= byte;
                });
            }
            BitOperation::Diff | BitOperation::Diff1 | BitOperation::AndOr if index == 0 => {
                self.first[..piece.len()].copy_from_slice(piece);
            }
            _ => pairs.for_each(|(bits, byte)| *bits |= byte),
        }
    }

    /// The first `bytes_count` bytes of what came out.
    fn finish(&mut self, bytes_count: usize) -> &[u8] {
        let pairs = self.bits[..bytes_count].iter_mut().zip(&self.first);
        match self.operation {
            BitOperation::And | BitOperation::Or | BitOperation::Xor => {}
            BitOperation::Not => pairs.for_each(|(bits, _)| *bits = !*bits),
            BitOperation::Diff => pairs.for_each(|(bits, first)| *bits = first & !*bits),
            BitOperation::Diff1 | BitOperation::One => pairs.for_each(|(bits, first)| *bits &= !first),
            BitOperation::AndOr => pairs.for_each(|(bits, first)| *bits &= first),
        }
        &self.bits[..bytes_count]
    }
}

/// BITOP under way: in steps over texts as they were.
#[derive(Clone, Debug)]
pub struct Mixing {
    operation: BitOperation,
    sources: Vec<LongString>,
    result: LongString,
    /// Pieces that are yet to be made, the last first; they do not touch.
    todo: Vec<Range<u64>>,
}

impl Mixing {
    /// Begins. Of [`BitOperation::Not`] there is one source.
    pub fn new(operation: BitOperation, sources: Vec<LongString>) -> Self {
        let mut mixing = Self { operation, sources, result: LongString::default(), todo: Vec::new() };
        mixing.todo.push(0..mixing.pieces_count());
        mixing
    }

    /// The operation.
    pub fn operation(&self) -> BitOperation {
        self.operation
    }

    /// What it works on.
    pub fn sources(&self) -> &[LongString] {
        &self.sources
    }

    /// Whether `sources` are what they were here.
    pub fn is_of(&self, sources: &[LongString]) -> bool {
        self.sources.len() == sources.len()
            && self.sources.iter().zip(sources).all(|(mine, theirs)| mine.is_same(theirs))
    }

    /// Begins again, with as many sources that have changed since; only what differs is made anew.
    /// O(differences · log n).
    #[must_use]
    pub fn again(&self, sources: Vec<LongString>) -> Self {
        assert!(sources.len() == self.sources.len());
        let mut next = Self { operation: self.operation, sources, result: self.result.clone(), todo: Vec::new() };
        let mut todo: Vec<Range<u64>> = self.todo.clone();
        for (was, is) in self.sources.iter().zip(&next.sources).filter(|(was, is)| !was.is_same(is)) {
            is.pieces().for_each_differing(was.pieces(), |range| todo.push(range));
            // What a source has lost, others may have.
            todo.push(is.pieces().len()..was.pieces().len());
        }
        let count = next.pieces_count();
        let length = next.bytes_count();
        if length != self.result.bytes_count() {
            // The piece in which the shorter one ends is of another length.
            let common = length.min(self.result.bytes_count()) / PIECE_BYTES;
            next.result.keep_pieces(count.min(next.result.pieces().len()));
            todo.push(common as u64..count);
        }
        next.todo = falling(todo, count);
        next
    }

    /// Makes about `bytes_max` more, counted over all sources; whether it is over.
    pub fn step(&mut self, bytes_max: usize) -> bool {
        let piece_bytes = PIECE_BYTES * self.sources.len().max(1);
        let mut left = bytes_max.div_ceil(piece_bytes);
        while left > 0
            && let Some(range) = self.todo.last_mut()
        {
            let Some(index) = range.next() else {
                self.todo.pop();
                continue;
            };
            self.make(index);
            left -= 1;
        }
        self.todo.iter().all(Range::is_empty)
    }

    /// What came out, once it is over.
    pub fn result(&self) -> &LongString {
        assert!(self.todo.iter().all(Range::is_empty));
        &self.result
    }

    fn make(&mut self, index: u64) {
        let mut fold = Fold::new(self.operation);
        for (at, source) in self.sources.iter().enumerate() {
            if source.pieces().get(index, |piece| fold.take(at, piece)).is_none() {
                fold.take(at, &[]);
            }
        }
        let start = index as usize * PIECE_BYTES;
        let piece = fold.finish(PIECE_BYTES.min(self.bytes_count() - start));
        self.result.put_piece(index, piece);
    }

    fn bytes_count(&self) -> usize {
        self.sources.iter().map(LongString::bytes_count).max().unwrap_or(0)
    }

    fn pieces_count(&self) -> u64 {
        self.sources.iter().map(|source| source.pieces().len()).max().unwrap_or(0)
    }
}

/// Ranges below `end` without what is in them twice, the last first.
fn falling(mut ranges: Vec<Range<u64>>, end: u64) -> Vec<Range<u64>> {
    ranges.iter_mut().for_each(|range| range.end = range.end.min(end));
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined.reverse();
    joined
}
