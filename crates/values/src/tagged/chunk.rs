//! A chunk: some items in one leaf, bit columns followed by values. Drawn in `docs/formats/tagged.md`.
//!
//! ```text
//! | form 1 | items 2 | planes 2 | width 4 | label 5 | lengths     | plane | plane | ... | value | value | ...
//!                                 if equal  if       1 or 2 bytes   a bit per item,
//!                                           unique   if not equal   up to whole bytes
//!
//! | form 1 | items 2 | planes 2 |           label 5 |               plane | plane | ... | values, packed |
//! ```
//!
//! Chunks that are full and have neighbours on both sides pack their values; adding or removing one unpacks them. A filter
//! reads planes 64 items at a time. Planes that a chunk lacks, of attributes added later, are all zeros.

use super::planes::{Lane, Planes, SUMMED_BITS_MAX, ends};
use super::{TaggedItem, Tags};
use blocks::{LEAF_BYTES_MAX, PackedItems, UnpackedItems};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// The maximum size of a chunk of several items, in bytes: with its header it fills a leaf.
pub(super) const CHUNK_BYTES_MAX: usize = LEAF_BYTES_MAX - 16;
/// The maximum number of items in a chunk.
pub(super) const ITEMS_MAX: usize = 4096;
/// The words of a plane, or of a mask over a chunk.
pub(super) const MASK_WORDS: usize = ITEMS_MAX / 64;

/// The first byte of a list's head, which is no chunk.
pub(super) const HEAD: u8 = 0xff;

const ALIKE: u8 = 0;
/// The form with packed values; lesser forms give the bytes per length.
pub(super) const PACKED: u8 = 3;
pub(super) const LABELLED: u8 = 4;
const FIXED_BYTES: usize = 5;
/// The offset of the number of items, of two bytes.
const COUNT_AT: usize = 1;
const WIDTH_BYTES: usize = 4;
pub(super) const LABEL_BYTES: usize = 5;

/// A chunk in stored form.
#[derive(Clone, Copy)]
pub(super) struct TaggedChunk<'a> {
    count: usize,
    planes_count: usize,
    width: Option<usize>,
    label: u64,
    lengths: &'a [u8],
    /// Planes and values in one slice, so that a whole word of a plane can be read.
    rest: &'a [u8],
    values_at: usize,
    is_packed: bool,
}

/// The values of some items of a chunk, unpacked if need be.
pub(super) enum Values<'a> {
    Raw(TaggedChunk<'a>),
    /// From this item on.
    Unpacked(usize, UnpackedItems),
}

impl Values<'_> {
    /// Returns the value of one of the items.
    pub(super) fn at(&self, at: usize) -> &[u8] {
        match self {
            Values::Raw(chunk) => chunk.value(at),
            Values::Unpacked(from, items) => items.item(at - from),
        }
    }
}

/// A mask over the items of a chunk.
pub(super) type Mask = [u64; MASK_WORDS];

/// Returns the label of a list item; the head's is 0.
pub(super) fn label_of(item: &[u8]) -> u64 {
    if item[0] == HEAD || item[0] & LABELLED == 0 {
        return 0;
    }
    number(&item[label_range(item)])
}

/// Returns where a labelled chunk has its label.
fn label_range(item: &[u8]) -> Range<usize> {
    let at = FIXED_BYTES + if item[0] & 3 == ALIKE { WIDTH_BYTES } else { 0 };
    at..at + LABEL_BYTES
}

/// Returns the bytes of a labelled chunk with another label.
pub(super) fn relabelled(item: &[u8], label: u64) -> Vec<u8> {
    let mut out = item.to_vec();
    out[label_range(item)].copy_from_slice(&label.to_le_bytes()[..LABEL_BYTES]);
    out
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl<'a> TaggedChunk<'a> {
    /// Parses a list item as a chunk; `None` if it is none.
    pub(super) fn of(item: &'a [u8]) -> Option<Self> {
        let (&[form, a, b, c, d], mut rest) = item.split_first_chunk()?;
        if form > LABELLED + PACKED {
            return None;
        }
        let is_packed = form & 3 == PACKED;
        let (count, planes_count) = (usize::from(u16::from_le_bytes([a, b])), usize::from(u16::from_le_bytes([c, d])));
        let mut take = |bytes: usize| {
            let (taken, behind) = rest.split_at_checked(bytes)?;
            rest = behind;
            Some(taken)
        };
        let width = if form & 3 == ALIKE { Some(number(take(WIDTH_BYTES)?) as usize) } else { None };
        let label = if form & LABELLED != 0 { number(take(LABEL_BYTES)?) } else { 0 };
        let lengths = take(if is_packed { 0 } else { count * usize::from(form & 3) })?;
        let values_at = count.div_ceil(8) * planes_count;
        let chunk = Self { count, planes_count, width, label, lengths, rest, values_at, is_packed };
        (values_at <= rest.len()).then_some(chunk)
    }

    /// Like [`TaggedChunk::of`], but validates everything.
    pub(super) fn checked(item: &'a [u8], planes_max: usize, is_labelled: bool) -> Option<Self> {
        let chunk = Self::of(item)?;
        let is_sized = chunk.count > 0
            && chunk.count <= ITEMS_MAX
            && (1..=planes_max).contains(&chunk.planes_count)
            && (item.len() <= CHUNK_BYTES_MAX || chunk.count == 1);
        let are_values_sound = if chunk.is_packed {
            PackedItems::check(chunk.count, chunk.values()).is_ok()
        } else {
            (0..chunk.count).map(|at| chunk.length(at)).sum::<usize>() == chunk.values().len()
        };
        (is_sized && (item[0] & LABELLED != 0) == is_labelled && are_values_sound).then_some(chunk)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn label(&self) -> u64 {
        self.label
    }

    /// Returns the stored bytes of its values, packed or not.
    fn values(&self) -> &'a [u8] {
        &self.rest[self.values_at..]
    }

    /// Returns the packed values, if they are packed.
    pub(super) fn packed(&self) -> Option<&'a [u8]> {
        self.is_packed.then(|| self.values())
    }

    fn packed_items(&self) -> Option<PackedItems<'a>> {
        self.packed().map(|bytes| PackedItems::of(self.count, bytes))
    }

    /// Returns the length of an unpacked value.
    fn length(&self, at: usize) -> usize {
        match self.width {
            Some(width) => width,
            None if self.lengths.len() == self.count => usize::from(self.lengths[at]),
            None => usize::from(u16::from_le_bytes([self.lengths[2 * at], self.lengths[2 * at + 1]])),
        }
    }

    /// Returns the offset of the value at `at`, if values are not packed.
    fn offset(&self, at: usize) -> usize {
        match self.width {
            Some(width) => at * width,
            None => (0..at).map(|before| self.length(before)).sum(),
        }
    }

    fn value(&self, at: usize) -> &'a [u8] {
        let begin = self.offset(at);
        &self.values()[begin..begin + self.length(at)]
    }

    /// Returns the values of these items. O(their bytes) if packed, else O(1).
    pub(super) fn open(&self, range: Range<usize>) -> Values<'a> {
        match self.packed_items() {
            Some(items) => Values::Unpacked(range.start, items.unpack(range.start, range.end)),
            None => Values::Raw(*self),
        }
    }

    /// Returns the bytes of all values, concatenated, and the length of each.
    pub(super) fn all_values(&self) -> (Cow<'a, [u8]>, Vec<u32>) {
        match self.packed_items() {
            Some(items) => {
                let items = items.unpack(0, self.count);
                let lengths = items.lengths().map(|length| length as u32).collect();
                (Cow::Owned(items.bytes().to_vec()), lengths)
            }
            None => (Cow::Borrowed(self.values()), (0..self.count).map(|at| self.length(at) as u32).collect()),
        }
    }

    /// Returns the first item with this value, from `from` on.
    pub(super) fn find(&self, value: &[u8], from: usize) -> Option<usize> {
        if let Some(items) = self.packed_items() {
            return items.find(value, from);
        }
        match self.width {
            Some(width) if width != value.len() => None,
            Some(0) => (from < self.count).then_some(from),
            Some(width) => {
                let values = &self.values()[from * width..];
                let found = if let Some((head, _)) = value.split_first_chunk::<8>() {
                    let head = u64::from_le_bytes(*head);
                    let is_it = |item: &[u8]| {
                        item.first_chunk().is_some_and(|bytes| u64::from_le_bytes(*bytes) == head) && item == value
                    };
                    values.chunks_exact(width).position(is_it)
                } else {
                    values.chunks_exact(width).position(|item| item == value)
                };
                found.map(|at| from + at)
            }
            None => {
                let (values, mut begin) = (self.values(), self.offset(from));
                (from..self.count).find(|&at| {
                    let end = begin + self.length(at);
                    let is_it = values[begin..end] == *value;
                    begin = end;
                    is_it
                })
            }
        }
    }

    /// Returns a word of a plane, zero-padded.
    #[inline]
    fn word(&self, plane: usize, nth: usize) -> u64 {
        if plane >= self.planes_count {
            return 0;
        }
        let at = plane * self.count.div_ceil(8) + 8 * nth;
        let left = self.count - 64 * nth;
        let word = match self.rest[at..].first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => number(&self.rest[at..]),
        };
        if left < 64 { word & ((1 << left) - 1) } else { word }
    }

    /// Returns the mask of all items.
    fn all(&self, nth: usize) -> u64 {
        let left = self.count - 64 * nth;
        if left < 64 { (1 << left) - 1 } else { u64::MAX }
    }

    fn words_count(&self) -> usize {
        self.count.div_ceil(64)
    }

    pub(super) fn bit(&self, plane: usize, at: usize) -> bool {
        self.word(plane, at / 64) >> (at % 64) & 1 == 1
    }

    pub(super) fn is_hidden(&self, at: usize) -> bool {
        self.bit(0, at)
    }

    /// Returns an attribute of an item.
    pub(super) fn attribute(&self, planes: &Planes, attribute: usize, at: usize) -> u32 {
        let (first, bits, _) = planes.column(attribute);
        (0..bits).fold(0, |number, bit| number | u32::from(self.bit(first + bit, at)) << bit)
    }

    /// Returns the bytes of this chunk, which are `stored`, with one more item before the one at `at`: of a chunk that a
    /// draft encoded, those that it would encode. `None` if the chunk is packed, has fewer planes than the schema, would
    /// have another form, or not fit.
    pub(super) fn with_item(
        &self,
        stored: &[u8],
        at: usize,
        item: &TaggedItem<'_>,
        planes: &Planes,
    ) -> Option<Vec<u8>> {
        let (bytes, length_bytes, values) = (item.value.len(), self.lengths.len() / self.count, self.values());
        let keeps_form = match self.width {
            Some(width) => bytes == width,
            None => bytes < 1 << (8 * length_bytes),
        };
        if self.is_packed || !keeps_form || self.planes_count != planes.count() || self.count == ITEMS_MAX {
            return None;
        }
        let count = self.count + 1;
        let head = &stored[..stored.len() - self.rest.len() - self.lengths.len()];
        let (before, behind) = self.lengths.split_at(at * length_bytes);
        let planes_bytes = count.div_ceil(8) * self.planes_count;
        let whole_bytes = head.len() + self.lengths.len() + length_bytes + planes_bytes + values.len() + bytes;
        if whole_bytes > CHUNK_BYTES_MAX {
            return None;
        }
        let mut out = Vec::with_capacity(whole_bytes);
        out.extend_from_slice(head);
        out[COUNT_AT..COUNT_AT + 2].copy_from_slice(&(count as u16).to_le_bytes());
        out.extend_from_slice(before);
        out.extend_from_slice(&(bytes as u16).to_le_bytes()[..length_bytes]);
        out.extend_from_slice(behind);
        for (plane, bit) in planes.bits(item.is_hidden, item.attributes).enumerate() {
            self.put_plane(plane, at, bit, &mut out);
        }
        let (before, behind) = values.split_at(self.offset(at));
        out.extend_from_slice(before);
        out.extend_from_slice(item.value);
        out.extend_from_slice(behind);
        Some(out)
    }

    /// Appends a plane with one more bit, before the one at `at`.
    fn put_plane(&self, plane: usize, at: usize, bit: bool, out: &mut Vec<u8>) {
        let end = out.len() + (self.count + 1).div_ceil(8);
        let mut carry = 0;
        for nth in 0..=self.count / 64 {
            let word = self.word(plane, nth);
            let longer = match nth.cmp(&(at / 64)) {
                Ordering::Less => word,
                Ordering::Equal => {
                    let low = (1 << (at % 64)) - 1;
                    word & low | u64::from(bit) << (at % 64) | (word & !low) << 1
                }
                Ordering::Greater => word << 1 | carry,
            };
            carry = word >> 63;
            out.extend_from_slice(&longer.to_le_bytes()[..(end - out.len()).min(8)]);
        }
    }

    /// Returns the bytes of this chunk, which are `stored`, with other tags for one item. `None` if it has fewer planes
    /// than the schema.
    pub(super) fn with_tags(&self, stored: &[u8], at: usize, tags: &Tags, planes: &Planes) -> Option<Vec<u8>> {
        if self.planes_count != planes.count() {
            return None;
        }
        let (mut out, stride) = (stored.to_vec(), self.count.div_ceil(8));
        let start = stored.len() - self.rest.len() + at / 8;
        for (plane, bit) in planes.bits(tags.is_hidden, &tags.attributes).enumerate() {
            let byte = &mut out[start + plane * stride];
            *byte = *byte & !(1 << (at % 8)) | u8::from(bit) << (at % 8);
        }
        Some(out)
    }

    /// Adds the chunk's digest.
    pub(super) fn add_to(&self, planes: &Planes, words: &mut [u64]) {
        let hidden: u64 = (0..self.words_count()).map(|nth| u64::from(self.word(0, nth).count_ones())).sum();
        words[0] += self.count as u64 - hidden;
        words[1] += hidden;
        let mut own = vec![0; words.len()];
        for attribute in 0..planes.attributes() {
            let (first, bits, lane) = planes.column(attribute);
            match lane {
                Lane::Set { word, shift } => own[word] |= self.numbers(first, bits) << shift,
                Lane::Ends { word } => {
                    let (least, greatest) = self.ends(first, bits);
                    own[word] = ends(least, greatest);
                }
            }
        }
        planes.join(words, &own);
    }

    /// Returns the set of values of a short attribute, as bits.
    fn numbers(&self, first: usize, bits: usize) -> u64 {
        let mut numbers = 0;
        for nth in 0..self.words_count() {
            let mut planes = [0; SUMMED_BITS_MAX as usize];
            (0..bits).for_each(|bit| planes[bit] = self.word(first + bit, nth));
            numbers |= numbers_of(&planes[..bits], self.all(nth), 0);
        }
        numbers
    }

    /// Returns the minimum and maximum of an attribute.
    fn ends(&self, first: usize, bits: usize) -> (u32, u32) {
        let (mut least, mut greatest) = (u32::MAX, 0);
        for nth in 0..self.words_count() {
            let (mut low, mut high) = ((self.all(nth), 0), (self.all(nth), 0));
            for bit in (0..bits).rev() {
                let plane = self.word(first + bit, nth);
                let (clear, set) = (low.0 & !plane, high.0 & plane);
                low = if clear == 0 { (low.0, low.1 | 1 << bit) } else { (clear, low.1) };
                high = if set == 0 { high } else { (set, high.1 | 1 << bit) };
            }
            (least, greatest) = (least.min(low.1), greatest.max(high.1));
        }
        (least, greatest)
    }

    /// Returns the items whose attribute is `number`.
    fn equal(&self, (first, bits): (usize, usize), number: u32, nth: usize) -> u64 {
        if bits < 32 && number >> bits != 0 {
            return 0;
        }
        (0..bits).fold(self.all(nth), |mask, bit| {
            let plane = self.word(first + bit, nth);
            mask & if number >> bit & 1 == 1 { plane } else { !plane }
        })
    }

    /// Returns the items whose attribute is less than `number`.
    fn less(&self, (first, bits): (usize, usize), number: u32, nth: usize) -> u64 {
        if bits < 32 && number >> bits != 0 {
            return self.all(nth);
        }
        let (mut less, mut equal) = (0, self.all(nth));
        for bit in (0..bits).rev() {
            let plane = self.word(first + bit, nth);
            if number >> bit & 1 == 1 {
                less |= equal & !plane;
                equal &= plane;
            } else {
                equal &= !plane;
            }
        }
        less
    }

    /// Returns the items of `within` that match a filter.
    pub(super) fn mask(&self, filter: &super::Filter, planes: &Planes, within: Range<usize>, mask: &mut Mask) {
        for (nth, word) in mask[..self.words_count()].iter_mut().enumerate() {
            let hidden = self.word(0, nth);
            *word = match filter.shown {
                super::Shown::Visible => self.all(nth) & !hidden,
                super::Shown::Hidden => hidden,
                super::Shown::All => self.all(nth),
            };
            *word &= bits_within(&within, nth);
            for term in &filter.terms {
                if *word != 0 {
                    *word &= self.term(term, planes, nth);
                }
            }
        }
    }

    fn term(&self, term: &super::Term, planes: &Planes, nth: usize) -> u64 {
        let (first, bits, _) = planes.column(term.attribute);
        let column = (first, bits);
        match &term.test {
            super::Test::Any(numbers) => numbers.iter().fold(0, |mask, number| mask | self.equal(column, *number, nth)),
            super::Test::None(numbers) => {
                numbers.iter().fold(self.all(nth), |mask, number| mask & !self.equal(column, *number, nth))
            }
            super::Test::Within(least, greatest) if least > greatest => 0,
            super::Test::Within(least, greatest) => {
                let upto = match greatest.checked_add(1) {
                    Some(end) => self.less(column, end, nth),
                    None => self.all(nth),
                };
                upto & !self.less(column, *least, nth)
            }
        }
    }

    /// Returns the number of hidden items in a mask.
    pub(super) fn hidden_of(&self, mask: &Mask) -> u64 {
        (0..self.words_count()).map(|nth| u64::from((mask[nth] & self.word(0, nth)).count_ones())).sum()
    }

    /// Returns the number of items in a mask.
    pub(super) fn count_of(&self, mask: &Mask) -> u64 {
        mask[..self.words_count()].iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(super) fn planes_count(&self) -> usize {
        self.planes_count
    }

    pub(super) fn plane(&self, plane: usize) -> Vec<u64> {
        (0..self.words_count()).map(|nth| self.word(plane, nth)).collect()
    }
}

/// Returns the set of numbers that the items of a mask have in these planes, given their higher bits `number`, as bits.
fn numbers_of(planes: &[u64], mask: u64, number: u32) -> u64 {
    if mask == 0 {
        return 0;
    }
    let Some((plane, lower)) = planes.split_last() else { return 1 << number };
    numbers_of(lower, mask & plane, number | 1 << lower.len()) | numbers_of(lower, mask & !plane, number)
}

/// Returns the bits of a word for the items of a range.
fn bits_within(within: &Range<usize>, nth: usize) -> u64 {
    let (begin, end) = (64 * nth, 64 * (nth + 1));
    if within.start <= begin && end <= within.end {
        return u64::MAX;
    }
    let from = within.start.clamp(begin, end) - begin;
    let to = within.end.clamp(begin, end) - begin;
    let below = |bits: usize| if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    below(to) & !below(from)
}

/// Returns the items of a mask.
pub(super) fn items_of(mask: &Mask) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(nth, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (bit < 64).then_some(64 * nth + bit)
        })
    })
}

/// Returns a mask of exactly these items.
pub(super) fn mask_of(within: Range<usize>) -> Mask {
    let mut mask = [0; MASK_WORDS];
    mask.iter_mut().enumerate().for_each(|(nth, word)| *word = bits_within(&within, nth));
    mask
}
