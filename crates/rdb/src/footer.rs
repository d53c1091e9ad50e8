//! The end of a payload: the format version, and a CRC-64 of all before it.

use crate::Fault;
use crc::{CRC_64_REDIS, Crc, Digest, Table};

/// The length of version and checksum, in bytes.
pub(crate) const FOOTER_BYTES: usize = 10;
/// The length of the checksum alone.
const CHECKSUM_BYTES: usize = 8;
/// The highest supported version.
const VERSION_MAX: u16 = 12;

static CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// An incremental checksum.
pub(crate) struct Checksum(Digest<'static, u64, Table<16>>);

impl Default for Checksum {
    fn default() -> Self {
        Self(CRC.digest())
    }
}

impl Checksum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the footer for the bytes added.
    pub(crate) fn footer(mut self, version: u16) -> [u8; FOOTER_BYTES] {
        let mut footer = [0; FOOTER_BYTES];
        let (head, tail) = footer.split_at_mut(FOOTER_BYTES - CHECKSUM_BYTES);
        head.copy_from_slice(&version.to_le_bytes());
        self.add(head);
        tail.copy_from_slice(&self.0.finalize().to_le_bytes());
        footer
    }
}

/// Checks a payload's footer, given `checksum` over all bytes before the stored one. Returns the end of the value.
pub(crate) fn check(payload: &[u8], checksum: Checksum) -> Result<usize, Fault> {
    let (body, stored) = payload.split_last_chunk::<CHECKSUM_BYTES>().ok_or(Fault::Footer)?;
    let (value, version) = body.split_last_chunk::<2>().ok_or(Fault::Footer)?;
    let is_sound = checksum.0.finalize() == u64::from_le_bytes(*stored) && u16::from_le_bytes(*version) <= VERSION_MAX;
    if is_sound { Ok(value.len()) } else { Err(Fault::Footer) }
}

/// Returns how many bytes of a payload the checksum covers.
pub(crate) fn summed_bytes(payload_bytes: usize) -> usize {
    payload_bytes.saturating_sub(CHECKSUM_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_matches_the_redis_test_value() {
        assert_eq!(CRC.checksum(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }
}
