//! The seal: a keyed hash in the head of each record and each segment. What lies in a file beyond the last record may be
//! bytes that a client stored, and any client can make a checksum hold; without the folder's key nobody makes a seal.

use crate::format::{HEAD_BYTES, History, SEGMENT_HEAD_BYTES};
use base::hash::KeyHasher;

/// Where the seal of a record lies: the place that the history has in records of version 1.
pub(crate) const RECORD_SEAL_AT: usize = 16;
/// Where the seal of a segment lies.
pub(crate) const SEGMENT_SEAL_AT: usize = 20;
const SEGMENT_CRC_AT: usize = 12;

/// Makes and checks the seals of one data folder (SipHash-1-3 under the key in its identity).
#[derive(Clone, Copy)]
pub struct Seal(KeyHasher);

impl Seal {
    /// Seals under `key`.
    pub fn new(key: [u8; 16]) -> Self {
        Self(KeyHasher::new(key))
    }

    /// The seal of a record: over its head, with its checksum, and with `history` where the seal is to lie. About 15 ns.
    pub fn of_record(&self, head: &[u8; HEAD_BYTES], history: History) -> u64 {
        let mut sealed = *head;
        sealed[RECORD_SEAL_AT..][..8].copy_from_slice(&history.0.to_le_bytes());
        self.0.hash(&sealed)
    }

    /// The seal of a segment: over its head, with zeros where checksum and seal are to lie.
    pub fn of_segment(&self, head: &[u8; SEGMENT_HEAD_BYTES]) -> u32 {
        let mut sealed = *head;
        sealed[SEGMENT_CRC_AT..][..4].fill(0);
        sealed[SEGMENT_SEAL_AT..][..4].fill(0);
        self.0.hash(&sealed) as u32
    }
}

/// Tells nothing of the key.
impl std::fmt::Debug for Seal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Seal")
    }
}
