//! The seal: a keyed hash in the head of each record and segment. Bytes in a file beyond the last record may be client
//! data, and any client can forge a checksum; without the folder's key nobody can forge a seal.

use crate::format::{HEAD_BYTES, History, SEGMENT_HEAD_BYTES};
use base::hash::KeyHasher;

/// Offset of a record's seal: where records of version 1 have the history.
pub(crate) const RECORD_SEAL_AT: usize = 16;
/// Offset of a segment's seal.
pub(crate) const SEGMENT_SEAL_AT: usize = 20;
const SEGMENT_CRC_AT: usize = 12;

/// Makes and checks the seals of one data folder (SipHash-1-3 under the key in its identity).
#[derive(Clone, Copy)]
pub struct Seal(KeyHasher);

impl Seal {
    /// Creates a sealer under `key`.
    pub fn new(key: [u8; 16]) -> Self {
        Self(KeyHasher::new(key))
    }

    /// Returns a record's seal: over its head, with its checksum, and with `history` in the place of the seal. About 15
    /// ns.
    pub fn of_record(&self, head: &[u8; HEAD_BYTES], history: History) -> u64 {
        let mut sealed = *head;
        sealed[RECORD_SEAL_AT..][..8].copy_from_slice(&history.0.to_le_bytes());
        self.0.hash(&sealed)
    }

    /// Returns a segment's seal: over its head, with zeros in place of checksum and seal.
    pub fn of_segment(&self, head: &[u8; SEGMENT_HEAD_BYTES]) -> u32 {
        let mut sealed = *head;
        sealed[SEGMENT_CRC_AT..][..4].fill(0);
        sealed[SEGMENT_SEAL_AT..][..4].fill(0);
        self.0.hash(&sealed) as u32
    }
}

/// Omits the key.
impl std::fmt::Debug for Seal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Seal")
    }
}
