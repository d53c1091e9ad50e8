//! Bit columns: the planes of each attribute, and its part of a digest.
//!
//! ```text
//! planes of a chunk     | hidden | attribute 0, bit 0 | bit 1 | ... | attribute 1, bit 0 | ...     a bit per item each
//! digest of a subtree   | visible | hidden | lanes of short attributes, packed | least, greatest of a long one | ...
//! ```
//!
//! A lane has a bit for each possible number of a short attribute, set if some item below has it. For a long attribute
//! we keep the maximum, and the minimum inverted, so that both merge by maximum and are zero when empty.

/// Attributes of up to this many bits have a lane with a bit for each number.
pub(super) const SUMMED_BITS_MAX: u8 = 6;

/// Words of a digest before the lanes.
pub(super) const COUNTS: usize = 2;

/// The position of an attribute's digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The set of numbers that occur.
    Set { word: usize, shift: u32 },
    /// The minimum and maximum.
    Ends { word: usize },
}

/// The column layout of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planes {
    /// For each attribute its first plane, its number of planes, and its lane.
    columns: Vec<(usize, u8, Lane)>,
    count: usize,
    /// For each word after the counts, whether it holds ends.
    words: Vec<bool>,
}

impl Planes {
    pub(super) fn new(bits: &[u8]) -> Self {
        let (mut columns, mut count, mut words, mut open) = (Vec::new(), 1, Vec::new(), None);
        for &bits in bits {
            let lane = if bits > SUMMED_BITS_MAX {
                words.push(true);
                Lane::Ends { word: COUNTS + words.len() - 1 }
            } else {
                let width = 1u32 << bits;
                let (word, shift) = match open {
                    Some((word, shift)) if shift + width <= u64::BITS => (word, shift),
                    _ => {
                        words.push(false);
                        (COUNTS + words.len() - 1, 0)
                    }
                };
                open = Some((word, shift + width));
                Lane::Set { word, shift }
            };
            columns.push((count, bits, lane));
            count += usize::from(bits);
        }
        Self { columns, count, words }
    }

    /// Returns the number of planes.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of words in a digest.
    pub(super) fn words(&self) -> usize {
        COUNTS + self.words.len()
    }

    /// Returns an attribute's first plane, number of planes, and lane.
    pub(super) fn column(&self, attribute: usize) -> (usize, usize, Lane) {
        let (first, bits, lane) = self.columns[attribute];
        (first, usize::from(bits), lane)
    }

    /// Returns the number of attributes.
    pub(super) fn attributes(&self) -> usize {
        self.columns.len()
    }

    /// Returns the bits of an item with these tags, plane by plane; missing attributes are 0.
    pub(super) fn bits<'p>(&'p self, is_hidden: bool, attributes: &'p [u32]) -> impl Iterator<Item = bool> + 'p {
        let column = move |(nth, &(_, bits, _)): (usize, &(usize, u8, Lane))| {
            let number = attributes.get(nth).copied().unwrap_or(0);
            (0..bits).map(move |bit| number >> bit & 1 == 1)
        };
        std::iter::once(is_hidden).chain(self.columns.iter().enumerate().flat_map(column))
    }

    /// Merges two digests.
    pub(super) fn join(&self, words: &mut [u64], more: &[u64]) {
        words[0] += more[0];
        words[1] += more[1];
        for ((word, more), has_ends) in words[COUNTS..].iter_mut().zip(&more[COUNTS..]).zip(&self.words) {
            *word = if *has_ends { joined_ends(*word, *more) } else { *word | more };
        }
    }
}

/// Merges two words of ends.
fn joined_ends(one: u64, other: u64) -> u64 {
    let greatest = u64::max(one & 0xffff_ffff, other & 0xffff_ffff);
    u64::max(one >> 32, other >> 32) << 32 | greatest
}

/// Packs two ends into a word.
pub(super) fn ends(least: u32, greatest: u32) -> u64 {
    u64::from(!least) << 32 | u64::from(greatest)
}

/// Unpacks the minimum and maximum from a word of ends.
pub(super) fn ends_of(word: u64) -> (u32, u32) {
    (!((word >> 32) as u32), word as u32)
}
