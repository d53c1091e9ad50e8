//! A packed run, to be read: checked, measured, unpacked and searched.

use super::bits::{self, mask};
use super::digits::{self, Line};
use super::{Bodies, CONTENT_BYTES_MAX, DIFFER, Form, HEAD_BYTES, ITEM_BYTES_MAX, signs};
use crate::Direction;
use crate::codec::DecodeError;
use crate::leaf::ITEMS_MAX;
use crate::view::{Lengths, View};

/// Room behind unpacked bytes, so that all are written in steps of 8 and 16.
const SLACK_BYTES: usize = 16;

/// A packed run.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    form: Form,
    count: usize,
    prefix: &'a [u8],
    bodies: Bodies,
    /// Body lengths, if the bodies have a column.
    column: &'a [u8],
    line: Line,
    stream: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Bytes already checked. O(1).
    pub(crate) fn of(form: Form, count: usize, data: &'a [u8]) -> Packed<'a> {
        Packed::parse(form, count, data).expect("a packed run was checked when it came in")
    }

    /// Bytes that nobody vouches for, and how many bytes their items have once unpacked: at most
    /// [`CONTENT_BYTES_MAX`]. Everything is checked, so that no other call can fail. O(items).
    ///
    /// # Errors
    ///
    /// [`DecodeError::Malformed`] if `data` is cut short, [`DecodeError::Inconsistent`] for what no writer writes:
    /// bytes left over, bits set behind the last, no items or too many, an item above 255 bytes, integers of more
    /// digits than they are said to have.
    pub(crate) fn check(form: Form, count: usize, data: &'a [u8]) -> Result<(Packed<'a>, usize), DecodeError> {
        if count == 0 || count > ITEMS_MAX {
            return Err(DecodeError::Inconsistent);
        }
        let packed = Packed::parse(form, count, data)?;
        let (body_bytes, longest) = packed.checked_bodies()?;
        let content_bytes = count * packed.prefix.len() + body_bytes;
        if packed.prefix.len() + longest > ITEM_BYTES_MAX || content_bytes > CONTENT_BYTES_MAX {
            return Err(DecodeError::Inconsistent);
        }
        let stream_bits = match form {
            Form::Digits => count * packed.line.bits,
            _ => body_bytes * form.sign_bits(),
        };
        let stream_bytes = stream_bits.div_ceil(8);
        if packed.stream.len() < stream_bytes {
            return Err(DecodeError::Malformed);
        }
        let unused = bits::window(packed.stream, stream_bits / 8) & !mask(stream_bits % 8);
        if packed.stream.len() > stream_bytes || unused != 0 {
            return Err(DecodeError::Inconsistent);
        }
        Ok((packed, content_bytes))
    }

    /// Finds the parts; only what that needs is looked at.
    fn parse(form: Form, count: usize, data: &'a [u8]) -> Result<Packed<'a>, DecodeError> {
        let (&[prefix_bytes, body], rest) = data.split_first_chunk::<HEAD_BYTES>().ok_or(DecodeError::Malformed)?;
        let (prefix, rest) = cut(rest, usize::from(prefix_bytes))?;
        let bodies = match usize::from(body) {
            DIFFER if form == Form::Digits => Bodies::Canonical,
            DIFFER => Bodies::Column,
            length => Bodies::Equal(length),
        };
        let (column, rest) = cut(rest, if bodies == Bodies::Column { count } else { 0 })?;
        let (parameters, stream) = cut(rest, if form == Form::Digits { Line::BYTES } else { 0 })?;
        let line = if form == Form::Digits { Line::read(parameters) } else { Line::default() };
        Ok(Packed { form, count, prefix, bodies, column, line, stream })
    }

    /// The bytes of all bodies and of the longest.
    fn checked_bodies(&self) -> Result<(usize, usize), DecodeError> {
        if self.form == Form::Digits {
            return self.checked_values();
        }
        Ok(match self.bodies {
            Bodies::Equal(length) => (self.count * length, length),
            _ => (sum(self.column), self.column.iter().copied().max().map_or(0, usize::from)),
        })
    }

    fn checked_values(&self) -> Result<(usize, usize), DecodeError> {
        let length_max = match self.bodies {
            Bodies::Equal(length) => length,
            _ => digits::LENGTH_MAX,
        };
        if !(1..=digits::LENGTH_MAX).contains(&length_max) || self.line.bits > 64 {
            return Err(DecodeError::Inconsistent);
        }
        if self.stream.len() < (self.count * self.line.bits).div_ceil(8) {
            return Err(DecodeError::Malformed);
        }
        let beyond = digits::beyond(length_max);
        let (mut body_bytes, mut longest) = (0, 0);
        for index in 0..self.count {
            let value = self.value(index);
            if value >= beyond {
                return Err(DecodeError::Inconsistent);
            }
            let length = self.digits_of(value);
            body_bytes += length;
            longest = longest.max(length);
        }
        Ok((body_bytes, longest))
    }

    /// Items in the run.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The length of one item. O(1).
    pub(crate) fn length(&self, index: usize) -> usize {
        assert!(index < self.count);
        self.prefix.len() + self.body_length(index)
    }

    /// The length all items have, if they were packed as having one. O(1).
    pub(crate) fn common_length(&self) -> Option<usize> {
        match self.bodies {
            Bodies::Equal(length) => Some(self.prefix.len() + length),
            _ => None,
        }
    }

    fn body_length(&self, index: usize) -> usize {
        match self.bodies {
            Bodies::Equal(length) => length,
            Bodies::Column => usize::from(self.column[index]),
            Bodies::Canonical => digits::length_of(self.value(index)),
        }
    }

    fn digits_of(&self, value: u64) -> usize {
        if let Bodies::Equal(length) = self.bodies { length } else { digits::length_of(value) }
    }

    #[inline]
    fn value(&self, index: usize) -> u64 {
        self.line.at(index).wrapping_add(self.residual(index))
    }

    #[inline]
    fn residual(&self, index: usize) -> u64 {
        if self.line.bits == 0 { 0 } else { bits::take(self.stream, index * self.line.bits, self.line.bits) }
    }

    /// Signs before item `index`. O(1) for equal lengths, else one sum over bytes.
    fn sign_offset(&self, index: usize) -> usize {
        match self.bodies {
            Bodies::Equal(length) => index * length,
            _ => sum(&self.column[..index]),
        }
    }

    /// The items `from..to`, unpacked. O(their bytes), and for differing lengths a sum over those before.
    pub(crate) fn unpack(&self, from: usize, to: usize) -> Run {
        assert!(from <= to);
        assert!(to <= self.count);
        match (self.form, self.bodies) {
            (Form::Digits, Bodies::Equal(length)) => self.unpack_equal_digits(from, to, length),
            (Form::Digits, _) => self.unpack_canonical(from, to),
            (_, Bodies::Equal(length)) => self.unpack_equal_signs(from, to, length),
            _ => self.unpack_column(from, to),
        }
    }

    fn unpack_equal_digits(&self, from: usize, to: usize, length: usize) -> Run {
        let width = self.prefix.len() + length;
        let mut page = Page::new((to - from) * width, self.prefix);
        for index in from..to {
            page.put_prefix();
            digits::spell(self.value(index), length, |word, bytes| page.put(word, bytes));
        }
        Run { count: to - from, bytes: page.finish(), width, column: Vec::new() }
    }

    fn unpack_canonical(&self, from: usize, to: usize) -> Run {
        let mut column = vec![0; to - from];
        let mut page = Page::new((to - from) * (self.prefix.len() + digits::LENGTH_MAX), self.prefix);
        for (index, place) in (from..to).zip(column.iter_mut().rev()) {
            let value = self.value(index);
            let length = digits::length_of(value);
            page.put_prefix();
            digits::spell(value, length, |word, bytes| page.put(word, bytes));
            *place = (self.prefix.len() + length) as u8;
        }
        Run::mixed(page.finish(), column)
    }

    fn unpack_equal_signs(&self, from: usize, to: usize, length: usize) -> Run {
        let width = self.prefix.len() + length;
        let mut page = Page::new((to - from) * width, self.prefix);
        if self.prefix.is_empty() {
            self.spell(from * length, (to - from) * length, &mut page);
        } else {
            for index in from..to {
                page.put_prefix();
                self.spell(index * length, length, &mut page);
            }
        }
        Run { count: to - from, bytes: page.finish(), width, column: Vec::new() }
    }

    fn unpack_column(&self, from: usize, to: usize) -> Run {
        let mut at = self.sign_offset(from);
        let lengths = &self.column[from..to];
        let mut page = Page::new((to - from) * self.prefix.len() + sum(lengths), self.prefix);
        for &length in lengths {
            page.put_prefix();
            self.spell(at, usize::from(length), &mut page);
            at += usize::from(length);
        }
        let column = lengths.iter().rev().map(|&length| self.prefix.len() as u8 + length).collect();
        Run::mixed(page.finish(), column)
    }

    /// Puts `count` signs from sign `at` on the page.
    #[inline]
    fn spell(&self, at: usize, count: usize, page: &mut Page) {
        let sign_bits = self.form.sign_bits();
        for done in (0..count).step_by(8) {
            let bit = (at + done) * sign_bits;
            let packed = bits::window(self.stream, bit / 8) >> (bit % 8);
            page.put(signs::eight_spelt(self.form, packed), (count - done).min(8));
        }
    }

    /// The first (forward) or last (backward) item of `from..to` that equals `needle`. Nothing is unpacked: the
    /// needle is packed instead. O(items).
    pub(crate) fn find(&self, needle: &[u8], from: usize, to: usize, direction: Direction) -> Option<usize> {
        assert!(from <= to);
        assert!(to <= self.count);
        let body = needle.strip_prefix(self.prefix)?;
        if self.form == Form::Digits {
            self.find_value(body, from, to, direction)
        } else {
            self.find_signs(body, from, to, direction)
        }
    }

    fn find_value(&self, body: &[u8], from: usize, to: usize, direction: Direction) -> Option<usize> {
        let value = digits::parse(body)?;
        if self.digits_of(value) != body.len() {
            return None;
        }
        let mut indices = from..to;
        let equals = |index: &usize| self.value(*index) == value;
        match direction {
            Direction::Forward => indices.find(equals),
            Direction::Backward => indices.rev().find(equals),
        }
    }

    fn find_signs(&self, body: &[u8], from: usize, to: usize, direction: Direction) -> Option<usize> {
        if body.len() > ITEM_BYTES_MAX || !signs::takes(self.form, body) {
            return None;
        }
        let sign_bits = self.form.sign_bits();
        let part_bits = |done: usize| (body.len() - done).min(8) * sign_bits;
        let mut parts = [0; ITEM_BYTES_MAX.div_ceil(8)];
        for (part, done) in parts.iter_mut().zip((0..body.len()).step_by(8)) {
            *part = signs::eight_packed(self.form, bits::window(body, done)) & mask(part_bits(done));
        }
        let equals = |at: usize| {
            (0..body.len())
                .step_by(8)
                .zip(parts)
                .all(|(done, part)| bits::take(self.stream, (at + done) * sign_bits, part_bits(done)) == part)
        };
        let mut at = self.sign_offset(if direction == Direction::Forward { from } else { to });
        for step in 0..to - from {
            let index = if direction == Direction::Forward { from + step } else { to - 1 - step };
            let length = self.body_length(index);
            let begin = if direction == Direction::Forward { at } else { at - length };
            if length == body.len() && equals(begin) {
                return Some(index);
            }
            at = if direction == Direction::Forward { at + length } else { begin };
        }
        None
    }
}

impl Line {
    fn read(parameters: &[u8]) -> Line {
        let bits = parameters[Line::BYTES - 1];
        let slope = bits::window(parameters, 8) as i64;
        Line { base: bits::window(parameters, 0), slope, bits: usize::from(bits) }
    }
}

fn cut(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), DecodeError> {
    bytes.split_at_checked(at).ok_or(DecodeError::Malformed)
}

fn sum(column: &[u8]) -> usize {
    column.iter().map(|&length| u32::from(length)).sum::<u32>() as usize
}

/// Items that were unpacked.
pub(crate) struct Run {
    count: usize,
    bytes: Vec<u8>,
    /// Of each item, if there is no column.
    width: usize,
    /// Lengths, last item first; empty if they are equal.
    column: Vec<u8>,
}

impl Run {
    fn mixed(bytes: Vec<u8>, column: Vec<u8>) -> Run {
        let count = column.len();
        let width = column.first().copied().unwrap_or(0);
        let is_fixed = column.iter().all(|&length| length == width);
        Run { count, bytes, width: usize::from(width), column: if is_fixed { Vec::new() } else { column } }
    }

    /// All items of these pieces; none if one of them is longer than a packed item may be.
    pub(crate) fn gather(pieces: &[View<'_>]) -> Option<Run> {
        if pieces.iter().any(|piece| piece.longest() > ITEM_BYTES_MAX) {
            return None;
        }
        let bytes = pieces.iter().map(|piece| piece.bytes).collect::<Vec<_>>().concat();
        let mut column = Vec::with_capacity(pieces.iter().map(|piece| piece.count).sum());
        for piece in pieces.iter().rev() {
            match piece.lengths {
                Lengths::Fixed(width) => column.resize(column.len() + piece.count, width as u8),
                Lengths::Narrow(lengths) => column.extend_from_slice(lengths),
                Lengths::Wide(_) => column.extend((0..piece.count).rev().map(|index| piece.length(index) as u8)),
            }
        }
        Some(Run::mixed(bytes, column))
    }

    pub(crate) fn view(&self) -> View<'_> {
        let lengths = if self.column.is_empty() { Lengths::Fixed(self.width) } else { Lengths::Narrow(&self.column) };
        View { count: self.count, lengths, bytes: &self.bytes }
    }
}

/// Bytes that are written front to back in whole words: what a word has too much, the next one overwrites.
struct Page {
    bytes: Vec<u8>,
    at: usize,
    prefix: [u8; ITEM_BYTES_MAX + SLACK_BYTES],
    prefix_bytes: usize,
}

impl Page {
    fn new(bytes_max: usize, prefix: &[u8]) -> Page {
        let mut padded = [0; ITEM_BYTES_MAX + SLACK_BYTES];
        padded[..prefix.len()].copy_from_slice(prefix);
        Page { bytes: vec![0; bytes_max + SLACK_BYTES], at: 0, prefix: padded, prefix_bytes: prefix.len() }
    }

    #[inline]
    fn put(&mut self, word: u64, bytes: usize) {
        self.bytes[self.at..self.at + 8].copy_from_slice(&word.to_le_bytes());
        self.at += bytes;
    }

    #[inline]
    fn put_prefix(&mut self) {
        for done in (0..self.prefix_bytes).step_by(16) {
            let part = &self.prefix[done..done + 16];
            self.bytes[self.at + done..self.at + done + 16].copy_from_slice(part);
        }
        self.at += self.prefix_bytes;
    }

    fn finish(mut self) -> Vec<u8> {
        assert!(self.at + SLACK_BYTES <= self.bytes.len());
        self.bytes.truncate(self.at);
        self.bytes
    }
}
