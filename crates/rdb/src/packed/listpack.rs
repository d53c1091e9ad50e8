//! The listpack.
//!
//! ```text
//!   entry    | what it is | its length once more, 7 bits a byte, to be read from the end |
//!
//!   0.......                    an integer below 128
//!   10...... bytes              a text of fewer than 64
//!   110..... + 1                an integer of 13 bits, the highest first
//!   1110.... + 1, bytes         a text of fewer than 4,096
//!   11110000 + 4, bytes         a longer one
//!   f1, f2, f3, f4              an integer of 2, 3, 4, 8 bytes
//! ```

use super::{END, Entry, Opened, UNCOUNTED, counted, is_whole, take_integer};
use crate::Fault;
use crate::number::{take, take_range};
use values::string::parse_int;

/// The length of the header: total bytes and number of entries.
pub(crate) const HEAD_BYTES: usize = 6;
/// The maximum overhead of an entry, in bytes.
pub(crate) const ENTRY_BYTES_MAX: usize = 10;
/// The fixed integer widths and their tags.
const WIDTHS: [(u8, usize); 4] = [(0xf1, 2), (0xf2, 3), (0xf3, 4), (0xf4, 8)];

pub(super) fn open(bytes: &[u8]) -> Result<Opened, Fault> {
    let mut at = 0;
    let (length, entries) = (take(bytes, &mut at)?, take(bytes, &mut at)?);
    if bytes.len() > HEAD_BYTES && is_whole(bytes, length) {
        Ok((HEAD_BYTES, counted(entries), 0))
    } else {
        Err(Fault::Malformed)
    }
}

pub(super) fn take_entry(bytes: &[u8], at: &mut usize) -> Result<Entry, Fault> {
    let begin = *at;
    let [first] = take(bytes, at)?;
    let entry = match first {
        0..0x80 => Entry::Integer(first.into()),
        0x80..0xc0 => Entry::Bytes(take_range(bytes, at, u64::from(first & 0x3f))?),
        0xc0..0xe0 => {
            let [low] = take(bytes, at)?;
            let number = u16::from_be_bytes([first & 0x1f, low]);
            // The top bit of thirteen is the sign.
            Entry::Integer(((number << 3) as i16 >> 3).into())
        }
        0xe0..0xf0 => {
            let [low] = take(bytes, at)?;
            let length = u16::from_be_bytes([first & 0x0f, low]);
            Entry::Bytes(take_range(bytes, at, length.into())?)
        }
        0xf0 => {
            let length = u32::from_le_bytes(take(bytes, at)?);
            Entry::Bytes(take_range(bytes, at, length.into())?)
        }
        _ => {
            let (_, width) = WIDTHS.iter().find(|(code, _)| *code == first).ok_or(Fault::Malformed)?;
            Entry::Integer(take_integer(bytes, at, *width)?)
        }
    };
    let (again, count) = length_again(*at - begin);
    let there = take_range(bytes, at, count as u64)?;
    if bytes[there] == again[..count] { Ok(entry) } else { Err(Fault::Malformed) }
}

/// Returns the back-length of an entry of `length` bytes, and its own length.
fn length_again(length: usize) -> ([u8; 5], usize) {
    let count = match length {
        0..128 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    };
    let mut bytes = [0; 5];
    for (at, byte) in bytes[..count].iter_mut().enumerate() {
        let bits = (length >> (7 * (count - 1 - at))) as u8 & 0x7f;
        *byte = if at == 0 { bits } else { bits | 0x80 };
    }
    (bytes, count)
}

/// A listpack being written.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    entries: usize,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; HEAD_BYTES], entries: 0 }
    }

    /// Returns the bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Appends a string, as an integer if it spells one.
    pub(crate) fn push(&mut self, text: &[u8]) {
        match parse_int(text) {
            Some(number) => self.push_integer(number),
            None => self.push_text(text),
        }
    }

    pub(crate) fn push_integer(&mut self, number: i64) {
        let begin = self.bytes.len();
        match number {
            0..128 => self.bytes.push(number as u8),
            -4096..4096 => self.bytes.extend_from_slice(&(number as u16 & 0x1fff | 0xc000).to_be_bytes()),
            _ => {
                let holds = |width: usize| width == 8 || number >> (8 * width - 1) == number >> 63;
                let fewest = WIDTHS.iter().find(|(_, width)| holds(*width)).expect("eight bytes hold any");
                self.bytes.push(fewest.0);
                self.bytes.extend_from_slice(&number.to_le_bytes()[..fewest.1]);
            }
        }
        self.end_entry(begin);
    }

    fn push_text(&mut self, text: &[u8]) {
        let begin = self.bytes.len();
        match text.len() {
            length @ 0..64 => self.bytes.push(0x80 | length as u8),
            length @ 64..4096 => self.bytes.extend_from_slice(&(0xe000 | length as u16).to_be_bytes()),
            length => {
                self.bytes.push(0xf0);
                self.bytes.extend_from_slice(&(length as u32).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(text);
        self.end_entry(begin);
    }

    fn end_entry(&mut self, begin: usize) {
        let (again, count) = length_again(self.bytes.len() - begin);
        self.bytes.extend_from_slice(&again[..count]);
        self.entries += 1;
    }

    /// Appends the entries of another listpack.
    pub(crate) fn append(&mut self, other: Self) {
        self.bytes.extend_from_slice(&other.bytes[HEAD_BYTES..]);
        self.entries += other.entries;
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(END);
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        let entries = u16::try_from(self.entries).unwrap_or(UNCOUNTED);
        self.bytes[4..HEAD_BYTES].copy_from_slice(&entries.to_le_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cursor, Form};
    use super::*;

    #[test]
    fn entries_round_trip_at_every_encoding_boundary() {
        let numbers = [0, 127, 128, 4095, 4096, 32_767, 32_768, 1 << 23, 1 << 31, i64::MAX];
        let numbers: Vec<i64> = numbers.iter().flat_map(|number| [*number, -number, !number]).collect();
        let lengths =
            [0, 1, 63, 64, 125, 126, 127, 4095, 4096, 16_376, 16_377, 16_378, 16_379, 16_380, 2_097_146, 2_097_147];
        let mut writer = Writer::new();
        numbers.iter().for_each(|number| writer.push(number.to_string().as_bytes()));
        lengths.iter().for_each(|length| writer.push(&vec![b'a'; *length]));
        let bytes = writer.finish();
        let mut cursor = Cursor::open(Form::Listpack, &bytes).unwrap();
        for number in numbers {
            assert_eq!(cursor.next(&bytes), Ok(Some(Entry::Integer(number))));
        }
        for length in lengths {
            let Ok(Some(Entry::Bytes(range))) = cursor.next(&bytes) else { panic!("a text of {length}") };
            assert_eq!(range.len(), length);
        }
        assert_eq!(cursor.next(&bytes), Ok(None));
    }
}
