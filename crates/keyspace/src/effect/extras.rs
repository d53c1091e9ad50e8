//! The metadata that memcached's protocol keeps with a string: flags, a CAS number, and signs.
//!
//! ```text
//! | signs : 1 byte | flags : varint | cas : varint |
//! ```

use super::{DecodeError, take};
use base::varint;
use table::Extras;

/// Sign: read since it was put. Not recorded, nor is the time of its last use.
pub const FETCHED: u8 = 1;
/// Sign: marked as stale.
pub const STALE: u8 = 2;
/// Sign: a client was asked to recache it. Readers set it too; that is not recorded.
pub const CLAIMED: u8 = 4;

/// Sign: its key was given in base64.
pub const BINARY_KEY: u8 = 8;

/// The signs that are recorded.
const RECORDED: u8 = STALE | CLAIMED | BINARY_KEY;

/// Returns the extras of an altered text: a new version, neither fetched nor stale.
pub(crate) fn altered(extras: Extras) -> Extras {
    Extras { flags: extras.flags, cas: 0, signs: extras.signs & BINARY_KEY }
}

pub(crate) fn put_extras(out: &mut Vec<u8>, extras: &Extras) {
    out.push(extras.signs & RECORDED);
    varint::put(out, u64::from(extras.flags));
    varint::put(out, extras.cas);
}

pub(crate) fn take_extras(input: &mut &[u8]) -> Result<Extras, DecodeError> {
    let (&signs, rest) =
        input.split_first().filter(|(signs, _)| **signs & !RECORDED == 0).ok_or(DecodeError::Malformed)?;
    *input = rest;
    let flags = u32::try_from(take(input)?).map_err(|_| DecodeError::Malformed)?;
    Ok(Extras { flags, cas: take(input)?, signs })
}
