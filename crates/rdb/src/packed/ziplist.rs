//! The ziplist.
//!
//! ```text
//!   entry    | bytes of the one before : 1, or fe and 4 | what it is |
//!
//!   00...... bytes              a text of fewer than 64
//!   01...... + 1, bytes         of fewer than 16,384, the highest bits first
//!   10000000 + 4, bytes         a longer one
//!   c0, d0, e0, f0, fe          an integer of 2, 4, 8, 3, 1 bytes
//!   f1 to fd                    0 to 12
//! ```

use super::{Entry, Opened, counted, is_whole, take_integer};
use crate::Fault;
use crate::number::{take, take_range};

const HEAD_BYTES: usize = 10;

pub(super) fn open(bytes: &[u8]) -> Result<Opened, Fault> {
    let mut at = 0;
    let (length, _last, entries) = (take(bytes, &mut at)?, take::<4>(bytes, &mut at)?, take(bytes, &mut at)?);
    if bytes.len() > HEAD_BYTES && is_whole(bytes, length) {
        Ok((HEAD_BYTES, counted(entries), 0))
    } else {
        Err(Fault::Malformed)
    }
}

pub(super) fn take_entry(bytes: &[u8], at: &mut usize) -> Result<Entry, Fault> {
    match take(bytes, at)? {
        [0xff] => return Err(Fault::Malformed),
        [0xfe] => drop(take::<4>(bytes, at)?),
        _ => {}
    }
    let [first] = take(bytes, at)?;
    let length = match first {
        0..0x40 => u64::from(first),
        0x40..0x80 => u16::from_be_bytes([first & 0x3f, take::<1>(bytes, at)?[0]]).into(),
        0x80 => u32::from_be_bytes(take(bytes, at)?).into(),
        0xf1..=0xfd => return Ok(Entry::Integer(i64::from(first) - 0xf1)),
        _ => {
            let width = match first {
                0xc0 => 2,
                0xd0 => 4,
                0xe0 => 8,
                0xf0 => 3,
                0xfe => 1,
                _ => return Err(Fault::Malformed),
            };
            return Ok(Entry::Integer(take_integer(bytes, at, width)?));
        }
    };
    Ok(Entry::Bytes(take_range(bytes, at, length)?))
}
