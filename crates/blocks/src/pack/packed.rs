//! Reads a packed run: checks, measures, unpacks and searches it.

use super::bits::{self, mask};
use super::digits::{self, Line};
use super::{Bodies, CONTENT_BYTES_MAX, DIFFER, Form, HEAD_BYTES, ITEM_BYTES_MAX, signs};
use crate::Direction;
use crate::codec::DecodeError;
use crate::leaf::ITEMS_MAX;
use crate::view::{Lengths, View};

/// Slack after unpacked bytes, so that all writes can be of 8 or 16 bytes.
const SLACK_BYTES: usize = 16;

/// A packed run.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    form: Form,
    count: usize,
    prefix: &'a [u8],
    bodies: Bodies,
    /// Body lengths, if they are in a column.
    column: &'a [u8],
    line: Line,
    stream: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Wraps bytes already checked. O(1).
    pub(crate) fn of(form: Form, count: usize, data: &'a [u8]) -> Packed<'a> {
        Packed::parse(form, count, data).expect("a packed run was checked when it came in")
    }

    /// Checks untrusted bytes, and returns the total size of their items once unpacked: at most [`CONTENT_BYTES_MAX`].
    /// Checks everything, so that no other call can fail. O(items).
    ///
    /// # Errors
    ///
    /// [`DecodeError::Malformed`] if `data` is cut short, [`DecodeError::Inconsistent`] if no writer writes it:
    /// trailing bytes, bits set after the last, no items or too many, an item above 255 bytes, integers with more
    /// digits than stated.
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

    /// Locates the parts; reads only what that needs.
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

    /// Returns the total bytes of all bodies, and the longest body's.
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
        for value in self.values(0, self.count) {
            if value >= beyond {
                return Err(DecodeError::Inconsistent);
            }
            let length = self.digits_of(value);
            body_bytes += length;
            longest = longest.max(length);
        }
        Ok((body_bytes, longest))
    }

    /// Returns the number of items.
    pub(crate) fn count(&self) -> usize {
        self.count
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
        self.line.at(index).wrapping_add(bits::take(self.stream, index * self.line.bits, self.line.bits))
    }

    /// Returns the values of `from..to`, at half the cost of [`Packed::value`].
    #[inline]
    fn values(&self, from: usize, to: usize) -> impl Iterator<Item = u64> + use<'a> {
        let Packed { line, stream, .. } = *self;
        let residual_mask = mask(line.bits);
        (from..to).zip((from * line.bits..).step_by(line.bits.max(1))).map(move |(index, at)| {
            let (byte, shift) = (at / 8, at % 8);
            let mut word = bits::window(stream, byte) >> shift;
            if shift + line.bits > 64 {
                word |= bits::window(stream, byte + 8) << (64 - shift);
            }
            line.at(index).wrapping_add(word & residual_mask)
        })
    }

    /// Returns the number of characters before item `index`. O(1) for equal lengths, else one sum over bytes.
    fn sign_offset(&self, index: usize) -> usize {
        match self.bodies {
            Bodies::Equal(length) => index * length,
            _ => sum(&self.column[..index]),
        }
    }

    /// Unpacks the items `from..to`. O(their bytes), plus a sum over earlier lengths if these differ.
    pub(crate) fn unpack(&self, from: usize, to: usize) -> Run {
        assert!(from <= to);
        assert!(to <= self.count);
        match (self.form, self.bodies) {
            (Form::Digits, Bodies::Equal(length)) => self.unpack_equal_digits(from, to, length),
            (Form::Digits, _) => self.unpack_canonical(from, to),
            _ => self.unpack_signs(from, to),
        }
    }

    fn unpack_equal_digits(&self, from: usize, to: usize, length: usize) -> Run {
        let packed = *self;
        let width = packed.prefix.len() + length;
        if length <= 8 && width >= 8 && from < to {
            return packed.unpack_short_digits(from, to, length);
        }
        let mut bytes = vec![0; (to - from) * width + SLACK_BYTES];
        let mut page = Page::new(&mut bytes, packed.prefix);
        let mut at = 0;
        for value in packed.values(from, to) {
            let body = page.put_prefix(at);
            page.put_digits(body, value, length);
            at += width;
        }
        Run::fixed(bytes, to - from, width)
    }

    /// Unpacks items that differ only in the last eight bytes: one word each.
    fn unpack_short_digits(&self, from: usize, to: usize, length: usize) -> Run {
        let packed = *self;
        let width = packed.prefix.len() + length;
        let mut bytes = rows(packed.prefix, width, to - from);
        let rows = bytes.chunks_exact_mut(width).map(|row| row.last_chunk_mut::<8>().expect("eight bytes or more"));
        let body_mask = !mask(64 - 8 * length);
        let prefix_word = bits::window(&packed.prefix[width - 8..], 0) & !body_mask;
        let word_of = |digits: u64| (digits & body_mask | prefix_word).to_le_bytes();
        match packed.line.pace() {
            Some(pace) => {
                // Consecutive ids: nine times out of ten one digit changes. 200 ns for 100 items instead of 440.
                let mut spelt = 0;
                let mut left = 0;
                for (row, index) in rows.zip(from..) {
                    if left == 0 {
                        let value = packed.value(index);
                        spelt = digits::spelt_8(value, 8);
                        left = if pace > 0 { 10 - value % 10 } else { value % 10 + 1 };
                    }
                    *row = word_of(spelt);
                    spelt = spelt.wrapping_add_signed(pace << 56);
                    left -= 1;
                }
            }
            None if length <= 4 => {
                for (row, value) in rows.zip(packed.values(from, to)) {
                    *row = word_of(digits::spelt_4(value, 4) << 32);
                }
            }
            None => {
                for (row, value) in rows.zip(packed.values(from, to)) {
                    *row = word_of(digits::spelt_8(value, 8));
                }
            }
        }
        Run::fixed(bytes, to - from, width)
    }

    fn unpack_canonical(&self, from: usize, to: usize) -> Run {
        let packed = *self;
        let mut column = vec![0; to - from];
        let mut bytes = vec![0; (to - from) * (packed.prefix.len() + digits::LENGTH_MAX) + SLACK_BYTES];
        let mut page = Page::new(&mut bytes, packed.prefix);
        let mut at = 0;
        for (value, place) in packed.values(from, to).zip(column.iter_mut().rev()) {
            let length = digits::length_of(value);
            let body = page.put_prefix(at);
            page.put_digits(body, value, length);
            *place = (packed.prefix.len() + length) as u8;
            at = body + length;
        }
        Run::mixed(bytes, at, column)
    }

    fn unpack_signs(&self, from: usize, to: usize) -> Run {
        match self.form {
            Form::Plain | Form::Digits => self.unpack_spelt(from, to, 8, |packed| packed),
            Form::Hex => self.unpack_spelt(from, to, 4, signs::hex_spelt),
            Form::UpperHex => self.unpack_spelt(from, to, 4, signs::upper_hex_spelt),
            Form::Sextets => self.unpack_spelt(from, to, 6, signs::sextets_spelt),
        }
    }

    /// Unpacks characters of a given number of bits; `spelt` returns eight of them.
    #[inline]
    fn unpack_spelt(&self, from: usize, to: usize, sign_bits: usize, spelt: impl Fn(u64) -> u64) -> Run {
        let packed = *self;
        let prefix_bytes = packed.prefix.len();
        let signs = packed.sign_offset(from)..packed.sign_offset(to);
        let count = to - from;
        let content_bytes = count * prefix_bytes + signs.len();
        let mut bytes = vec![0; content_bytes + SLACK_BYTES];
        let spell = |page: &mut Page<'_>, mut at: usize, sign: usize, signs: usize| {
            let (mut byte, shift) = (sign * sign_bits / 8, sign * sign_bits % 8);
            for _ in 0..signs.div_ceil(8) {
                page.put(at, spelt(bits::window(packed.stream, byte) >> shift));
                at += 8;
                byte += sign_bits;
            }
        };
        let mut page = Page::new(&mut bytes, packed.prefix);
        if prefix_bytes == 0 {
            spell(&mut page, 0, signs.start, signs.len());
        } else {
            let (mut at, mut sign) = (0, signs.start);
            for index in from..to {
                let length = packed.body_length(index);
                let body = page.put_prefix(at);
                spell(&mut page, body, sign, length);
                at = body + length;
                sign += length;
            }
        }
        match packed.bodies {
            Bodies::Equal(length) => Run::fixed(bytes, count, prefix_bytes + length),
            _ => {
                let lengths = packed.column[from..to].iter().rev();
                Run::mixed(bytes, content_bytes, lengths.map(|&length| prefix_bytes as u8 + length).collect())
            }
        }
    }

    /// Returns the first (forward) or last (backward) item of `from..to` that equals `needle`. Packs the needle instead
    /// of unpacking items. O(items).
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
                .zip(&parts)
                .all(|(done, part)| bits::take(self.stream, (at + done) * sign_bits, part_bits(done)) == *part)
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

/// Unpacked items.
pub(crate) struct Run {
    count: usize,
    bytes: Vec<u8>,
    /// Width of each item, if there is no column.
    width: usize,
    /// Lengths, last item first; empty if they are equal.
    column: Vec<u8>,
}

impl Run {
    fn fixed(mut bytes: Vec<u8>, count: usize, width: usize) -> Run {
        bytes.truncate(count * width);
        Run { count, bytes, width, column: Vec::new() }
    }

    fn mixed(mut bytes: Vec<u8>, bytes_count: usize, column: Vec<u8>) -> Run {
        let width = column.first().copied().unwrap_or(0);
        if column.iter().all(|&length| length == width) {
            return Run::fixed(bytes, column.len(), usize::from(width));
        }
        bytes.truncate(bytes_count);
        Run { count: column.len(), bytes, width: 0, column }
    }

    /// Collects items that are back to back; `None` if one exceeds the maximum packed length.
    pub(super) fn of(bytes: &[u8], lengths: &[u32]) -> Option<Run> {
        let column = lengths.iter().rev().map(|length| u8::try_from(*length).ok()).collect::<Option<_>>()?;
        Some(Run::mixed(bytes.to_vec(), bytes.len(), column))
    }

    /// Collects all items of these pieces; `None` if one exceeds the maximum packed length.
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
        let bytes_count = bytes.len();
        Some(Run::mixed(bytes, bytes_count, column))
    }

    pub(crate) fn view(&self) -> View<'_> {
        let lengths = if self.column.is_empty() { Lengths::Fixed(self.width) } else { Lengths::Narrow(&self.column) };
        View { count: self.count, lengths, bytes: &self.bytes }
    }
}

/// Returns `count` rows of the prefix, zero-padded to the width.
fn rows(prefix: &[u8], width: usize, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count * width);
    bytes.extend_from_slice(prefix);
    bytes.resize(width, 0);
    while bytes.len() < count * width {
        let more = bytes.len().min(count * width - bytes.len());
        bytes.extend_from_within(..more);
    }
    bytes
}

/// Bytes written front to back in whole words: the next word overwrites the excess of the last.
struct Page<'a> {
    bytes: &'a mut [u8],
    prefix: &'a [u8],
    prefix_begin: [u8; 16],
}

impl<'a> Page<'a> {
    /// The bytes must have [`SLACK_BYTES`] more than will be used.
    fn new(bytes: &'a mut [u8], prefix: &'a [u8]) -> Page<'a> {
        let mut prefix_begin = [0; 16];
        let begin = prefix.len().min(16);
        prefix_begin[..begin].copy_from_slice(&prefix[..begin]);
        Page { bytes, prefix, prefix_begin }
    }

    #[inline]
    fn put(&mut self, at: usize, word: u64) {
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }

    /// Writes the prefix and returns its end.
    #[inline]
    fn put_prefix(&mut self, at: usize) -> usize {
        self.bytes[at..at + 16].copy_from_slice(&self.prefix_begin);
        if let Some(rest) = self.prefix.get(16..) {
            self.bytes[at + 16..at + 16 + rest.len()].copy_from_slice(rest);
        }
        at + self.prefix.len()
    }

    #[inline]
    fn put_digits(&mut self, at: usize, value: u64, length: usize) {
        if length <= 8 {
            self.put(at, digits::spelt_8(value, length));
            return;
        }
        let (upper, lower) = (value / digits::HUNDRED_MILLION, value % digits::HUNDRED_MILLION);
        if length <= 12 {
            self.put(at, digits::spelt_4(upper, length - 8));
        } else if length <= 16 {
            self.put(at, digits::spelt_8(upper, length - 8));
        } else {
            self.put(at, digits::spelt_8(upper / digits::HUNDRED_MILLION, length - 16));
            self.put(at + length - 16, digits::spelt_8(upper % digits::HUNDRED_MILLION, 8));
        }
        self.put(at + length - 8, digits::spelt_8(lower, 8));
    }
}
