//! The byte format of a manifest: its head, and the heads of its records.
//!
//! ```text
//! head, 48 bytes
//!   | magic 8 | version 4 | crc 4 | number 4 | shards 4 | blocks format 4 | zero 4 | identity 8 | created ms 8 |
//!   0         8           12      16         20         24                28       32           40             48
//!
//! record: head of 40 bytes, then the payload
//!   | crc 4 | payload bytes 4 | "bob" 3 | kind 1 | manifest 4 | commit 8 | ms 8 | before 4 | zero 4 | payload ...
//!   0       4                 8         11       12           16         24     32         36       40
//! ```
//!
//! `before` is the checksum of the previous record, marks aside; for the first record, the checksum of the head. A mark
//! has no payload: it records that its commit was synced.

use crate::page::{u32_at, u64_at};
use base::{Ms, checksum};

/// Bytes of a manifest head.
pub(crate) const HEAD_BYTES: usize = 48;
/// Bytes of a record head.
pub(crate) const RECORD_HEAD_BYTES: usize = 40;
/// Bytes of a mark.
pub(crate) const MARK_BYTES: usize = RECORD_HEAD_BYTES;

const MAGIC: [u8; 8] = *b"bobbinM\n";
const VERSION: u32 = 1;
/// The bytes that identify a record among other bytes.
pub(crate) const RECORD_MAGIC: [u8; 3] = *b"bob";
pub(crate) const RECORD_MAGIC_AT: usize = 8;

/// The kind of a record. The numbers are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The whole state, first in each manifest.
    Whole = 1,
    /// One commit's changes.
    Commit = 2,
    /// The previous commit was synced.
    Mark = 3,
}

impl Kind {
    fn of(number: u8) -> Option<Self> {
        [Self::Whole, Self::Commit, Self::Mark].into_iter().find(|&kind| kind as u8 == number)
    }
}

/// The head of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) number: u32,
    pub(crate) shards: u32,
    pub(crate) blocks_format: u32,
    pub(crate) identity: u64,
    pub(crate) created_ms: Ms,
}

impl Head {
    pub(crate) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.number.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.shards.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.blocks_format.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.identity.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.created_ms.to_le_bytes());
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes a head; else returns what is wrong with it.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let Some(bytes) = bytes.first_chunk::<HEAD_BYTES>() else {
            return Err("the file is shorter than a manifest's head".into());
        };
        if bytes[..8] != MAGIC {
            return Err("the head of the manifest lacks its magic bytes".into());
        }
        if u32_at(bytes, 12) != checksum(checksum(0, &bytes[..12]), &bytes[16..]) {
            return Err("checksum mismatch in the manifest's head".into());
        }
        if u32_at(bytes, 8) != VERSION {
            return Err(format!("the store has format version {}, known is {VERSION}", u32_at(bytes, 8)));
        }
        Ok(Self {
            number: u32_at(bytes, 16),
            shards: u32_at(bytes, 20),
            blocks_format: u32_at(bytes, 24),
            identity: u64_at(bytes, 32),
            created_ms: u64_at(bytes, 40),
        })
    }

    /// Returns the checksum for the first record's `before`.
    pub(crate) fn crc(&self) -> u32 {
        u32_at(&self.encode(), 12)
    }
}

/// A record decoded from a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) kind: Kind,
    pub(crate) manifest: u32,
    pub(crate) commit: u64,
    pub(crate) time_ms: Ms,
    /// Checksum of the previous record.
    pub(crate) before: u32,
    pub(crate) payload: &'a [u8],
    /// Its own checksum.
    pub(crate) crc: u32,
}

impl<'a> Record<'a> {
    /// Decodes the record at the start of `bytes`; else returns what is wrong with it.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let Some(head) = bytes.first_chunk::<RECORD_HEAD_BYTES>() else {
            return Err("the manifest ends within the head of a record");
        };
        if head[RECORD_MAGIC_AT..][..3] != RECORD_MAGIC {
            return Err("no record begins here");
        }
        let Some(kind) = Kind::of(head[11]) else {
            return Err("the record is of an unknown kind");
        };
        let Some(payload) = bytes[RECORD_HEAD_BYTES..].get(..u32_at(head, 4) as usize) else {
            return Err("the record reaches beyond the manifest");
        };
        if kind == Kind::Mark && !payload.is_empty() {
            return Err("the mark has a payload");
        }
        let crc = checksum(checksum(0, &head[4..]), payload);
        if u32_at(head, 0) != crc {
            return Err("checksum mismatch in the record");
        }
        Ok(Self {
            kind,
            manifest: u32_at(head, 12),
            commit: u64_at(head, 16),
            time_ms: u64_at(head, 24),
            before: u32_at(head, 32),
            payload,
            crc,
        })
    }

    /// Returns the bytes of head and payload.
    pub(crate) fn bytes(&self) -> usize {
        RECORD_HEAD_BYTES + self.payload.len()
    }
}

/// Appends a record to `out`, and returns its checksum.
pub(crate) fn put_record(
    out: &mut Vec<u8>,
    kind: Kind,
    manifest: u32,
    commit: u64,
    time_ms: Ms,
    before: u32,
    payload: &[u8],
) -> u32 {
    let mut head = [0; RECORD_HEAD_BYTES];
    let payload_bytes = u32::try_from(payload.len()).expect("a record of a manifest is far below 4 GiB");
    head[4..8].copy_from_slice(&payload_bytes.to_le_bytes());
    head[8..11].copy_from_slice(&RECORD_MAGIC);
    head[11] = kind as u8;
    head[12..16].copy_from_slice(&manifest.to_le_bytes());
    head[16..24].copy_from_slice(&commit.to_le_bytes());
    head[24..32].copy_from_slice(&time_ms.to_le_bytes());
    head[32..36].copy_from_slice(&before.to_le_bytes());
    let crc = checksum(checksum(0, &head[4..]), payload);
    head[..4].copy_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(payload);
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_record_has_its_published_bytes() {
        let mut bytes = Vec::new();
        let crc = put_record(&mut bytes, Kind::Commit, 7, 0x1122, 0x99, 0x0102_0304, b"abc");
        assert_eq!(bytes[4..16], [3, 0, 0, 0, b'b', b'o', b'b', 2, 7, 0, 0, 0]);
        assert_eq!(bytes[16..32], [0x22, 0x11, 0, 0, 0, 0, 0, 0, 0x99, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[32..], [4, 3, 2, 1, 0, 0, 0, 0, b'a', b'b', b'c']);
        let record = Record {
            kind: Kind::Commit,
            manifest: 7,
            commit: 0x1122,
            time_ms: 0x99,
            before: 0x0102_0304,
            payload: b"abc",
            crc,
        };
        assert_eq!(Record::decode(&bytes), Ok(record));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_manifest_head_with_a_flipped_bit_is_rejected() {
        let head = Head { number: 3, shards: 1024, blocks_format: 1, identity: 0x1122, created_ms: 5 };
        let mut bytes = head.encode();
        assert_eq!(bytes[16..40], [3, 0, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x22, 0x11, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Head::decode(&bytes), Ok(head));
        assert_eq!(head.crc().to_le_bytes(), bytes[12..16]);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Head::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn record_kinds_keep_their_numbers() {
        assert_eq!([Kind::Whole, Kind::Commit, Kind::Mark].map(|kind| kind as u8), [1, 2, 3]);
    }
}
