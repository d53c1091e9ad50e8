//! The zipmap: keys and values alternately.
//!
//! ```text
//!   key    | length : 1, or fe and 4 | bytes |
//!   value  | length : 1, or fe and 4 | unused : u8 | bytes | unused bytes |
//! ```

use super::{END, Entry, Opened};
use crate::Fault;
use crate::number::{take, take_range};

pub(super) fn open(bytes: &[u8]) -> Result<Opened, Fault> {
    let is_sound = bytes.len() >= 2 && bytes.last() == Some(&END);
    if is_sound { Ok((1, None, 0)) } else { Err(Fault::Malformed) }
}

pub(super) fn take_entry(bytes: &[u8], at: &mut usize, is_value: bool) -> Result<Entry, Fault> {
    let length = match take(bytes, at)? {
        [0xff] => return Err(Fault::Malformed),
        [0xfe] => u32::from_le_bytes(take(bytes, at)?),
        [length] => length.into(),
    };
    let [unused] = if is_value { take(bytes, at)? } else { [0] };
    let range = take_range(bytes, at, length.into())?;
    take_range(bytes, at, unused.into())?;
    Ok(Entry::Bytes(range))
}
