//! A chunk being changed.

use super::TaggedItem;
use super::chunk::{CHUNK_BYTES_MAX, ITEMS_MAX, LABEL_BYTES, LABELLED, Mask, PACKED, TaggedChunk};
use super::planes::Planes;
use std::ops::Range;

/// The decoded items of a chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) label: Option<u64>,
    lengths: Vec<u32>,
    values: Vec<u8>,
    /// The bits of each plane.
    planes: Vec<Vec<u64>>,
    /// The packed values, as long as they are unchanged.
    packed: Option<Vec<u8>>,
}

/// The size figures of a run of items.
#[derive(Clone, Copy, Default)]
struct Size {
    count: usize,
    bytes: usize,
    shortest: u32,
    longest: u32,
}

impl Size {
    fn with(self, length: u32) -> Self {
        let shortest = if self.count == 0 { length } else { self.shortest.min(length) };
        Self { count: self.count + 1, bytes: self.bytes + length as usize, shortest, longest: self.longest.max(length) }
    }

    fn is_alike(self) -> bool {
        self.shortest == self.longest
    }

    fn length_bytes(self) -> usize {
        if self.is_alike() {
            0
        } else if self.longest <= 255 {
            1
        } else {
            2
        }
    }

    fn chunk_bytes(self, planes: usize, is_labelled: bool) -> usize {
        5 + if self.is_alike() { 4 } else { 0 }
            + if is_labelled { LABEL_BYTES } else { 0 }
            + self.count * self.length_bytes()
            + planes * self.count.div_ceil(8)
            + self.bytes
    }

    fn fits(self, planes: usize, is_labelled: bool) -> bool {
        self.count <= 1
            || (self.count <= ITEMS_MAX
                && self.longest <= 0xffff
                && self.chunk_bytes(planes, is_labelled) <= CHUNK_BYTES_MAX)
    }
}

impl Draft {
    /// Creates an empty draft with `planes` planes.
    pub(super) fn new(planes: usize, label: Option<u64>) -> Self {
        Self { label, planes: vec![Vec::new(); planes], ..Self::default() }
    }

    /// Decodes a chunk, with planes for the whole schema.
    pub(super) fn of(chunk: &TaggedChunk<'_>, planes: usize, is_labelled: bool) -> Self {
        let words = chunk.count().div_ceil(64);
        let plane = |nth| if nth < chunk.planes_count() { chunk.plane(nth) } else { vec![0; words] };
        let (values, lengths) = chunk.all_values();
        Self {
            label: is_labelled.then(|| chunk.label()),
            lengths,
            values: values.into_owned(),
            planes: (0..planes.max(chunk.planes_count())).map(plane).collect(),
            packed: chunk.packed().map(<[u8]>::to_vec),
        }
    }

    /// Packs the values, if that pays off, until one is added or removed.
    pub(super) fn pack(&mut self) {
        self.packed = blocks::pack_items(&self.values, &self.lengths);
    }

    pub(super) fn count(&self) -> usize {
        self.lengths.len()
    }

    fn offset(&self, at: usize) -> usize {
        if at == self.count() {
            return self.values.len();
        }
        self.lengths[..at].iter().map(|length| *length as usize).sum()
    }

    /// Visits its values.
    pub(super) fn for_each_value(&self, mut visit: impl FnMut(&[u8])) {
        let mut begin = 0;
        for length in &self.lengths {
            let end = begin + *length as usize;
            visit(&self.values[begin..end]);
            begin = end;
        }
    }

    /// Inserts items before the one at `at`.
    pub(super) fn insert(&mut self, at: usize, items: &[TaggedItem<'_>], planes: &Planes) {
        self.packed = None;
        let begin = self.offset(at);
        let bytes: usize = items.iter().map(|item| item.value.len()).sum();
        let old = self.values.len();
        self.values.resize(old + bytes, 0);
        self.values.copy_within(begin..old, begin + bytes);
        let mut to = begin;
        for item in items {
            self.values[to..to + item.value.len()].copy_from_slice(item.value);
            to += item.value.len();
        }
        let count = self.count();
        self.lengths.splice(at..at, items.iter().map(|item| item.value.len() as u32));
        for plane in &mut self.planes {
            let mut bits = vec![0; (count + items.len()).div_ceil(64)];
            copy_bits(plane, 0..at, &mut bits, 0);
            copy_bits(plane, at..count, &mut bits, at + items.len());
            *plane = bits;
        }
        for (nth, item) in items.iter().enumerate() {
            self.set(at + nth, item, planes);
        }
    }

    /// Sets an item's tags.
    pub(super) fn set(&mut self, at: usize, item: &TaggedItem<'_>, planes: &Planes) {
        for (plane, is_set) in planes.bits(item.is_hidden, item.attributes).enumerate() {
            self.put_bit(plane, at, is_set);
        }
    }

    fn put_bit(&mut self, plane: usize, at: usize, is_set: bool) {
        let word = &mut self.planes[plane][at / 64];
        *word = *word & !(1 << (at % 64)) | u64::from(is_set) << (at % 64);
    }

    /// Returns an item's value.
    pub(super) fn value(&self, at: usize) -> &[u8] {
        let begin = self.offset(at);
        &self.values[begin..begin + self.lengths[at] as usize]
    }

    /// Returns true if an item is hidden.
    pub(super) fn is_hidden(&self, at: usize) -> bool {
        self.bit(0, at)
    }

    fn bit(&self, plane: usize, at: usize) -> bool {
        self.planes[plane][at / 64] >> (at % 64) & 1 == 1
    }

    /// Removes the items of a mask.
    pub(super) fn remove(&mut self, gone: &Mask) {
        if let Some(range) = run_of(gone) {
            return self.remove_run(range);
        }
        let kept: Vec<usize> = (0..self.count()).filter(|at| gone[at / 64] >> (at % 64) & 1 == 0).collect();
        *self = self.with(&kept);
    }

    fn remove_run(&mut self, range: Range<usize>) {
        self.packed = None;
        let count = self.count();
        let (begin, end) = (self.offset(range.start), self.offset(range.end));
        self.values.drain(begin..end);
        self.lengths.drain(range.clone());
        for plane in &mut self.planes {
            let mut bits = vec![0; (count - range.len()).div_ceil(64)];
            copy_bits(plane, 0..range.start, &mut bits, 0);
            copy_bits(plane, range.end..count, &mut bits, range.start);
            *plane = bits;
        }
    }

    /// Returns some of its items, at these ascending indices.
    fn with(&self, kept: &[usize]) -> Self {
        let mut draft = Self::new(self.planes.len(), self.label);
        let (mut at, mut begin) = (0, 0);
        for &kept in kept {
            while at < kept {
                begin += self.lengths[at] as usize;
                at += 1;
            }
            let length = self.lengths[kept];
            draft.values.extend_from_slice(&self.values[begin..begin + length as usize]);
            draft.lengths.push(length);
        }
        for (plane, bits) in draft.planes.iter_mut().enumerate() {
            *bits = vec![0; kept.len().div_ceil(64)];
            for (to, &from) in kept.iter().enumerate() {
                bits[to / 64] |= u64::from(self.bit(plane, from)) << (to % 64);
            }
        }
        draft
    }

    /// Returns a range of its items.
    fn part(&self, range: Range<usize>) -> Self {
        let plane = |plane: &Vec<u64>| {
            let mut bits = vec![0; range.len().div_ceil(64)];
            copy_bits(plane, range.clone(), &mut bits, 0);
            bits
        };
        Self {
            label: self.label,
            lengths: self.lengths[range.clone()].to_vec(),
            values: self.values[self.offset(range.start)..self.offset(range.end)].to_vec(),
            planes: self.planes.iter().map(plane).collect(),
            packed: None,
        }
    }

    /// Appends the items of another draft.
    pub(super) fn append(&mut self, other: &Self) {
        self.packed = None;
        let count = self.count();
        self.lengths.extend_from_slice(&other.lengths);
        self.values.extend_from_slice(&other.values);
        let planes = self.planes.len().max(other.planes.len());
        self.planes.resize(planes, vec![0; count.div_ceil(64)]);
        let words = self.count().div_ceil(64);
        for (plane, bits) in self.planes.iter_mut().enumerate() {
            bits.resize(words, 0);
            let Some(theirs) = other.planes.get(plane) else { continue };
            copy_bits(theirs, 0..other.count(), bits, count);
        }
    }

    fn size(&self) -> Size {
        self.lengths.iter().fold(Size::default(), |size, length| size.with(*length))
    }

    /// Returns the encoded size.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.size().chunk_bytes(self.planes.len(), self.label.is_some())
    }

    pub(super) fn fits(&self) -> bool {
        self.size().fits(self.planes.len(), self.label.is_some())
    }

    /// Splits the draft into pieces that fit, all with its label: each as full as possible except the one at the list's
    /// end; in the middle two halves, if that is enough.
    pub(super) fn cut(self, lean: Lean) -> Vec<Self> {
        if self.fits() {
            return vec![self];
        }
        let (planes, is_labelled) = (self.planes.len(), self.label.is_some());
        let mut ends = Vec::new();
        if lean == Lean::Midst
            && let half = self.half()
            && [0..half, half..self.count()].into_iter().all(|range| self.range_fits(range))
        {
            ends.push(half);
        } else {
            let count = self.count();
            let length = |nth: usize| self.lengths[if lean == Lean::Head { count - 1 - nth } else { nth }];
            let mut size = Size::default();
            for nth in 0..count {
                let with = size.with(length(nth));
                if with.fits(planes, is_labelled) {
                    size = with;
                } else {
                    ends.push(if lean == Lean::Head { count - nth } else { nth });
                    size = Size::default().with(length(nth));
                }
            }
            ends.sort_unstable();
        }
        ends.push(self.count());
        let mut begin = 0;
        ends.into_iter().map(|end| self.part(std::mem::replace(&mut begin, end)..end)).collect()
    }

    fn range_fits(&self, range: Range<usize>) -> bool {
        let size = self.lengths[range].iter().fold(Size::default(), |size, length| size.with(*length));
        size.fits(self.planes.len(), self.label.is_some())
    }

    /// Returns the index of the first item after half of the bytes.
    fn half(&self) -> usize {
        let mut bytes = 0;
        let is_behind = |length: &u32| {
            bytes += *length as usize;
            bytes * 2 >= self.values.len()
        };
        let at = self.lengths.iter().position(is_behind).unwrap_or(0) + 1;
        if self.values.is_empty() { self.count() / 2 } else { at.min(self.count() - 1).max(1) }
    }

    /// Encodes the chunk.
    pub(super) fn encode(&self) -> Vec<u8> {
        let size = self.size();
        let form = if self.packed.is_some() { PACKED } else { size.length_bytes() as u8 };
        let mut out = Vec::with_capacity(size.chunk_bytes(self.planes.len(), self.label.is_some()));
        out.push(form | if self.label.is_some() { LABELLED } else { 0 });
        out.extend_from_slice(&(size.count as u16).to_le_bytes());
        out.extend_from_slice(&(self.planes.len() as u16).to_le_bytes());
        if form == 0 {
            out.extend_from_slice(&size.longest.to_le_bytes());
        }
        if let Some(label) = self.label {
            out.extend_from_slice(&label.to_le_bytes()[..LABEL_BYTES]);
        }
        match form {
            1 => out.extend(self.lengths.iter().map(|length| *length as u8)),
            2 => self.lengths.iter().for_each(|length| out.extend_from_slice(&(*length as u16).to_le_bytes())),
            _ => {}
        }
        for plane in &self.planes {
            let bytes = plane.iter().flat_map(|word| word.to_le_bytes());
            out.extend(bytes.take(size.count.div_ceil(8)));
        }
        out.extend_from_slice(self.packed.as_ref().unwrap_or(&self.values));
        out
    }
}

/// The end of its list at which a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lean {
    /// Items are added at its start, and nothing precedes it.
    Head,
    /// Items are added at its end, and nothing follows it.
    Tail,
    /// Neither.
    Midst,
}

/// Copies bits over zeros, a word at a time.
fn copy_bits(bits: &[u64], range: Range<usize>, to: &mut [u64], mut at: usize) {
    let mut from = range.start;
    while from < range.end {
        let taken = (64 - from % 64).min(range.end - from);
        let word = bits[from / 64] >> (from % 64) & (u64::MAX >> (64 - taken));
        to[at / 64] |= word << (at % 64);
        if at % 64 + taken > 64 {
            to[at / 64 + 1] |= word >> (64 - at % 64);
        }
        (from, at) = (from + taken, at + taken);
    }
}

/// Returns the items of a mask, if they are contiguous.
fn run_of(mask: &Mask) -> Option<Range<usize>> {
    let first = mask.iter().position(|word| *word != 0)?;
    let begin = 64 * first + mask[first].trailing_zeros() as usize;
    let count: usize = mask.iter().map(|word| word.count_ones() as usize).sum();
    (*mask == super::chunk::mask_of(begin..begin + count)).then_some(begin..begin + count)
}
