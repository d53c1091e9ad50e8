//! Small collections packed into one string, in every encoding Redis has used.
//!
//! ```text
//!   listpack   | bytes : u32 | entries : u16 | entry ... | ff |      of today
//!   ziplist    | bytes : u32 | last : u32 | entries : u16 | entry ... | ff |      before 7.0
//!   zipmap     | pairs : u8 | key, value ... | ff |      before 2.6, hashes alone
//!   intset     | width : u32 | entries : u32 | integer ... |      sets of integers
//! ```

pub(crate) mod listpack;
mod ziplist;
mod zipmap;

use crate::Fault;
use crate::number::take;
use std::ops::Range;

/// The end byte of all but an intset.
const END: u8 = 0xff;
/// The entry count of a header that means this many or more.
const UNCOUNTED: u16 = u16::MAX;

/// An entry of a packed string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The range of its bytes.
    Bytes(Range<usize>),
    /// The integer it spells.
    Integer(i64),
}

/// The packing of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Listpack,
    Ziplist,
    Zipmap,
    Intset,
}

/// A read position in a packed string.
pub(crate) struct Cursor {
    form: Form,
    at: usize,
    entries: u64,
    /// The number of entries, if the header has it.
    expected: Option<u64>,
    /// For an intset: the bytes per integer.
    width: usize,
}

impl Cursor {
    /// Opens at the first entry, after checking the header and the end.
    pub(crate) fn open(form: Form, bytes: &[u8]) -> Result<Self, Fault> {
        let (at, expected, width) = match form {
            Form::Listpack => listpack::open(bytes)?,
            Form::Ziplist => ziplist::open(bytes)?,
            Form::Zipmap => zipmap::open(bytes)?,
            Form::Intset => open_intset(bytes)?,
        };
        Ok(Self { form, at, entries: 0, expected, width })
    }

    /// Returns the next entry; `None` at the end.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<Option<Entry>, Fault> {
        let end = bytes.len() - usize::from(self.form != Form::Intset);
        if self.at == end {
            let are_all = self.expected.is_none_or(|expected| expected == self.entries);
            return if are_all { Ok(None) } else { Err(Fault::Malformed) };
        }
        let body = &bytes[..end];
        let entry = match self.form {
            Form::Listpack => listpack::take_entry(body, &mut self.at)?,
            Form::Ziplist => ziplist::take_entry(body, &mut self.at)?,
            Form::Zipmap => zipmap::take_entry(body, &mut self.at, self.entries % 2 == 1)?,
            Form::Intset => Entry::Integer(take_integer(body, &mut self.at, self.width)?),
        };
        self.entries += 1;
        Ok(Some(entry))
    }
}

/// The start of the entries, their number, and the bytes of each.
type Opened = (usize, Option<u64>, usize);

fn open_intset(bytes: &[u8]) -> Result<Opened, Fault> {
    let mut at = 0;
    let (width, count) = (u32::from_le_bytes(take(bytes, &mut at)?), u32::from_le_bytes(take(bytes, &mut at)?));
    let is_sound = matches!(width, 2 | 4 | 8) && u64::from(width) * u64::from(count) == (bytes.len() - at) as u64;
    if is_sound { Ok((at, Some(count.into()), width as usize)) } else { Err(Fault::Malformed) }
}

/// Reads a little-endian integer of `width` bytes.
fn take_integer(bytes: &[u8], at: &mut usize, width: usize) -> Result<i64, Fault> {
    Ok(match width {
        1 => i8::from_le_bytes(take(bytes, at)?).into(),
        2 => i16::from_le_bytes(take(bytes, at)?).into(),
        3 => {
            let [low, middle, high] = take(bytes, at)?;
            (i32::from_le_bytes([0, low, middle, high]) >> 8).into()
        }
        4 => i32::from_le_bytes(take(bytes, at)?).into(),
        _ => i64::from_le_bytes(take(bytes, at)?),
    })
}

/// Returns the number of entries in a header, if it is exact.
fn counted(entries: [u8; 2]) -> Option<u64> {
    Some(u16::from_le_bytes(entries)).filter(|entries| *entries != UNCOUNTED).map(u64::from)
}

/// Returns true if the header's length equals the number of bytes, and the last byte is the end marker.
fn is_whole(bytes: &[u8], length: [u8; 4]) -> bool {
    u64::from(u32::from_le_bytes(length)) == bytes.len() as u64 && bytes.last() == Some(&END)
}

/// Appends an intset of ascending integers.
pub(crate) fn put_intset(out: &mut Vec<u8>, integers: &[i64]) {
    let fits = |width: u32| integers.iter().all(|number| number >> (width * 8 - 1) == number >> 63);
    let width: u32 = if fits(2) {
        2
    } else if fits(4) {
        4
    } else {
        8
    };
    out.extend_from_slice(&width.to_le_bytes());
    out.extend_from_slice(&(integers.len() as u32).to_le_bytes());
    integers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()[..width as usize]));
}
