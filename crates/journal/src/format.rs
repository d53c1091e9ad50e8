//! The bytes of the journal: the head of a segment, the head of a record, and marks.
//!
//! ```text
//! segment head, 64 bytes
//!   | magic 8 | version 4 | crc 4 | number 4 | zero 4 | history 8 | history begins 8 | first position 8 | synced 8 | ms 8 |
//!   0         8           12      16         20       24          32                 40                 48         56     64
//!
//! record: head of 40 bytes, then the payload
//!   | crc 4 | payload bytes 4 | "bob" 3 | kind 1 | segment 4 | history 8 | position 8 | ms 8 | payload ...
//!   0       4                 8         11       12          16          24           32     40
//! ```
//!
//! Integers lie lowest byte first. A CRC-32C covers every other byte of its head, and of its payload. A mark is a
//! record whose payload is one number: the position that was known synced when the mark was written. Drawn to scale
//! in `docs/formats/frame.md`.

use base::{Ms, Position, checksum};

/// Bytes of a segment's head.
pub const SEGMENT_HEAD_BYTES: usize = 64;
/// Bytes of a record's head.
pub const HEAD_BYTES: usize = 40;
/// Bytes of a mark.
pub const MARK_BYTES: usize = HEAD_BYTES + 8;
/// Longest payload of a frame, in bytes.
pub const PAYLOAD_BYTES_MAX: u64 = u32::MAX as u64 - HEAD_BYTES as u64;

const SEGMENT_MAGIC: [u8; 8] = *b"bobbinJ\n";
const VERSION: u32 = 1;
/// The three bytes by which a record is found in a heap of others.
pub(crate) const RECORD_MAGIC: [u8; 3] = *b"bob";
pub(crate) const RECORD_MAGIC_AT: usize = 8;

/// What a record is. The numbers are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes of the journal's users.
    Frame = 1,
    /// The position known synced so far.
    Mark = 2,
    /// A mark after which the segment holds nothing.
    SegmentEnd = 3,
    /// A mark after which nothing was written, and everything was synced.
    CleanStop = 4,
}

impl Kind {
    pub(crate) fn of(number: u8) -> Option<Self> {
        [Self::Frame, Self::Mark, Self::SegmentEnd, Self::CleanStop].into_iter().find(|&kind| kind as u8 == number)
    }
}

/// An unbroken run of one journal: the upper 24 bits count, the lower 40 are drawn, so that two runs that parted from
/// one common past differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct History(pub u64);

const HISTORY_DRAWN_BITS: u32 = 40;

impl History {
    /// The history that follows this one (the first one follows 0), told apart by `drawn` bits.
    pub(crate) fn next(self, drawn: u64) -> Self {
        Self((self.ordinal() + 1) << HISTORY_DRAWN_BITS | drawn >> (64 - HISTORY_DRAWN_BITS))
    }

    /// How many histories there were, this one included.
    pub fn ordinal(self) -> u64 {
        self.0 >> HISTORY_DRAWN_BITS
    }
}

/// The head of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHead {
    /// The segment's number, from 1 on; also the name of its file.
    pub number: u32,
    /// The history of every record in it.
    pub history: History,
    /// The position at which that history began.
    pub history_begins: Position,
    /// The position of its first frame.
    pub first_position: Position,
    /// The position known synced when the segment was made.
    pub synced: Position,
    /// Time of making.
    pub created_ms: Ms,
}

impl SegmentHead {
    /// The bytes of the head.
    pub fn encode(&self) -> [u8; SEGMENT_HEAD_BYTES] {
        let mut bytes = [0; SEGMENT_HEAD_BYTES];
        bytes[..8].copy_from_slice(&SEGMENT_MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.history.0.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.history_begins.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.first_position.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.synced.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.created_ms.to_le_bytes());
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a head; says in words what is wrong with it otherwise.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let Some(bytes) = bytes.first_chunk::<SEGMENT_HEAD_BYTES>() else {
            return Err("the file is shorter than a segment's head".into());
        };
        if bytes[..8] != SEGMENT_MAGIC {
            return Err("the head of the segment lacks its magic bytes".into());
        }
        if u32_at(bytes, 12) != checksum(checksum(0, &bytes[..12]), &bytes[16..]) {
            return Err("the checksum of the segment's head does not hold".into());
        }
        if u32_at(bytes, 8) != VERSION {
            return Err(format!("the segment has format version {}, known is {VERSION}", u32_at(bytes, 8)));
        }
        let head = Self {
            number: u32_at(bytes, 16),
            history: History(u64_at(bytes, 24)),
            history_begins: u64_at(bytes, 32),
            first_position: u64_at(bytes, 40),
            synced: u64_at(bytes, 48),
            created_ms: u64_at(bytes, 56),
        };
        let ordered = head.history_begins <= head.first_position && head.synced <= head.first_position;
        if u32_at(bytes, 20) != 0 || !ordered {
            return Err("the head of the segment contradicts itself".into());
        }
        Ok(head)
    }
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// What the record is.
    pub kind: Kind,
    /// Bytes of its payload.
    pub payload_bytes: u32,
    /// The number of its segment.
    pub segment: u32,
    /// The history it belongs to.
    pub history: History,
    /// Where it begins; of a mark: where the next frame begins.
    pub position: Position,
    /// Its time.
    pub time_ms: Ms,
}

impl RecordHead {
    /// The bytes of the head, with the checksum over it and the payload, which lies in two pieces.
    pub fn encode(&self, payload: [&[u8]; 2]) -> [u8; HEAD_BYTES] {
        debug_assert_eq!(self.payload_bytes as usize, payload[0].len() + payload[1].len());
        let mut bytes = [0; HEAD_BYTES];
        bytes[4..8].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[8..11].copy_from_slice(&RECORD_MAGIC);
        bytes[11] = self.kind as u8;
        bytes[12..16].copy_from_slice(&self.segment.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.history.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.position.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.time_ms.to_le_bytes());
        let crc = checksum(checksum(checksum(0, &bytes[4..]), payload[0]), payload[1]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }
}

/// A record found in a segment's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its head.
    pub head: RecordHead,
    /// Its payload.
    pub payload: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads the record that begins with `bytes`; says in words what is wrong with it otherwise.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else {
            return Err("the segment ends within the head of a record");
        };
        if head[RECORD_MAGIC_AT..][..3] != RECORD_MAGIC {
            return Err("no record begins here");
        }
        let Some(kind) = Kind::of(head[11]) else {
            return Err("the record is of no known kind");
        };
        let payload_bytes = u32_at(head, 4);
        let Some(payload) = bytes[HEAD_BYTES..].get(..payload_bytes as usize) else {
            return Err("the record reaches beyond its segment");
        };
        if kind != Kind::Frame && payload.len() != MARK_BYTES - HEAD_BYTES {
            return Err("the mark has a wrong length");
        }
        if u32_at(head, 0) != checksum(checksum(0, &head[4..]), payload) {
            return Err("the checksum of the record does not hold");
        }
        let head = RecordHead {
            kind,
            payload_bytes,
            segment: u32_at(head, 12),
            history: History(u64_at(head, 16)),
            position: u64_at(head, 24),
            time_ms: u64_at(head, 32),
        };
        Ok(Self { head, payload })
    }

    /// The position a mark says was synced; `None` for a frame.
    pub fn synced(&self) -> Option<Position> {
        match self.head.kind {
            Kind::Frame => None,
            Kind::Mark | Kind::SegmentEnd | Kind::CleanStop => {
                self.payload.first_chunk().copied().map(u64::from_le_bytes)
            }
        }
    }

    /// Bytes of head and payload.
    pub fn bytes(&self) -> usize {
        HEAD_BYTES + self.payload.len()
    }
}

/// The bytes of a mark.
pub(crate) fn encode_mark(mut head: RecordHead, synced: Position) -> [u8; MARK_BYTES] {
    let mut bytes = [0; MARK_BYTES];
    head.payload_bytes = 8;
    let payload = synced.to_le_bytes();
    bytes[..HEAD_BYTES].copy_from_slice(&head.encode([&payload, &[]]));
    bytes[HEAD_BYTES..].copy_from_slice(&payload);
    bytes
}

/// The head of a record of no kind, which follows the last record where bytes of a former life may lie behind. The next
/// write is written over it.
pub(crate) fn encode_stop(segment: u32, history: History, position: Position) -> [u8; HEAD_BYTES] {
    let head = RecordHead { kind: Kind::Frame, payload_bytes: 0, segment, history, position, time_ms: 0 };
    let mut bytes = head.encode([&[], &[]]);
    bytes[11] = 0;
    bytes
}

/// The name of a segment's file.
pub(crate) fn segment_name(number: u32) -> String {
    format!("{number:010}.log")
}

/// The number of the segment that a file name names.
pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".log")?;
    let plain = digits.len() == 10 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_bytes_of_a_frame() {
        let head = RecordHead {
            kind: Kind::Frame,
            payload_bytes: 3,
            segment: 7,
            history: History(0x0102_0304_0506_0708),
            position: 0x1122,
            time_ms: 0x99,
        };
        let mut bytes = head.encode([b"a", b"bc"]).to_vec();
        assert_eq!(bytes[4..12], [3, 0, 0, 0, b'b', b'o', b'b', 1]);
        assert_eq!(bytes[12..24], [7, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(bytes[24..40], [0x22, 0x11, 0, 0, 0, 0, 0, 0, 0x99, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(b"abc");
        assert_eq!(Record::decode(&bytes), Ok(Record { head, payload: b"abc" }));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_segment_head_is_refused_with_any_bit_wrong() {
        let head = SegmentHead {
            number: 3,
            history: History(1 << 40),
            history_begins: 5,
            first_position: 10,
            synced: 9,
            created_ms: 1,
        };
        let mut bytes = head.encode();
        assert_eq!(SegmentHead::decode(&bytes), Ok(head));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHead::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn kinds_keep_their_numbers() {
        let numbers = [Kind::Frame, Kind::Mark, Kind::SegmentEnd, Kind::CleanStop].map(|kind| kind as u8);
        assert_eq!(numbers, [1, 2, 3, 4]);
    }

    #[test]
    fn only_plain_names_are_segments() {
        assert_eq!(segment_number(&segment_name(42)), Some(42));
        for name in ["42.log", "spare-1.log", "00000000+1.log", "9999999999.log", "0000000001.log.x"] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
