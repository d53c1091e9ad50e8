//! The bytes in a segment: pages of records, and blocks. Each records its place, so none can pass for another.
//!
//! ```text
//! page: head of 40 bytes, then the payload
//!   | crc of the head 4 | crc of the payload 4 | "bob" 3 | kind 1 | segment 4 | offset 8 | payload bytes 4 | records 4 |
//!   0                   4                      8         11       12          16         24                28
//!   | shard 4 | index in its run 4 | record bytes : varint | record | record bytes | record ...
//!   32        36                   40
//!
//! block: head of 16 bytes, then the payload
//!   | crc 4 | payload bytes 4 | segment 4 | offset 4 | payload ...
//!   0       4                 8           12         16
//! ```
//!
//! A page's head has its own checksum, so its length can be trusted before the payload is read, and a damaged page
//! still shows how many records it had.

use base::{checksum, varint};

/// Up to this many bytes, records share a page. A longer record has a page to itself.
pub const PAGE_BYTES: usize = 16 << 10;
/// Bytes of a page head.
pub(crate) const PAGE_HEAD_BYTES: usize = 40;
/// Bytes of a block head.
pub const BLOCK_HEAD_BYTES: usize = 16;
/// Maximum payload of a page or a block, in bytes.
pub(crate) const PAYLOAD_BYTES_MAX: u64 = u32::MAX as u64 - 64;

/// Returns the bytes that a block of `bytes` takes in its segment.
pub fn block_bytes(bytes: usize) -> u64 {
    (BLOCK_HEAD_BYTES + bytes) as u64
}

/// The bytes that identify a page among other bytes; the last is the kind: only one kind exists.
const MAGIC: [u8; 4] = *b"bob\x01";
pub(crate) const MAGIC_AT: usize = 8;

/// The head of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageHead {
    pub(crate) payload_crc: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) segment: u32,
    pub(crate) offset: u64,
    pub(crate) records: u32,
    pub(crate) shard: u32,
    pub(crate) index: u32,
}

impl PageHead {
    pub(crate) fn encode(&self) -> [u8; PAGE_HEAD_BYTES] {
        let mut bytes = [0; PAGE_HEAD_BYTES];
        bytes[4..8].copy_from_slice(&self.payload_crc.to_le_bytes());
        bytes[8..12].copy_from_slice(&MAGIC);
        bytes[12..16].copy_from_slice(&self.segment.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.records.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.shard.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.index.to_le_bytes());
        let crc = checksum(0, &bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes the head at the start of `bytes`, which must be at `offset` of `segment`.
    pub(crate) fn decode(bytes: &[u8], segment: u32, offset: u64) -> Result<Self, &'static str> {
        let Some(bytes) = bytes.first_chunk::<PAGE_HEAD_BYTES>() else {
            return Err("the segment ends within the head of a page");
        };
        if bytes[MAGIC_AT..12] != MAGIC {
            return Err("no page begins here");
        }
        if u32_at(bytes, 0) != checksum(0, &bytes[4..]) {
            return Err("checksum mismatch in the page's head");
        }
        let head = Self {
            payload_crc: u32_at(bytes, 4),
            segment: u32_at(bytes, 12),
            offset: u64_at(bytes, 16),
            payload_bytes: u32_at(bytes, 24),
            records: u32_at(bytes, 28),
            shard: u32_at(bytes, 32),
            index: u32_at(bytes, 36),
        };
        if head.segment != segment || head.offset != offset {
            return Err("the page is misplaced: its head names another segment or offset");
        }
        Ok(head)
    }

    /// Returns the bytes of head and payload.
    pub(crate) fn bytes(&self) -> u64 {
        PAGE_HEAD_BYTES as u64 + u64::from(self.payload_bytes)
    }
}

/// Checks a page's whole payload, then passes its records to `visit`.
pub(crate) fn visit_records(
    head: &PageHead,
    payload: &[u8],
    visit: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    records(head, payload, &mut |_| Ok(()))?;
    records(head, payload, visit)
}

fn records(head: &PageHead, payload: &[u8], visit: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), String> {
    let mut rest = payload;
    for _ in 0..head.records {
        let Some(record) = varint::take_bytes(&mut rest) else {
            return Err("the page ends within a record".into());
        };
        visit(record)?;
    }
    if rest.is_empty() { Ok(()) } else { Err("bytes follow the page's last record".into()) }
}

/// Checks the payload of a page against its head.
pub(crate) fn check_payload(head: &PageHead, payload: &[u8]) -> Result<(), &'static str> {
    if payload.len() as u64 != u64::from(head.payload_bytes) {
        return Err("the segment ends within a page");
    }
    if checksum(0, payload) != head.payload_crc {
        return Err("checksum mismatch in the page");
    }
    Ok(())
}

/// Returns the head of a block.
pub(crate) fn encode_block_head(segment: u32, offset: u32, payload: &[u8]) -> [u8; BLOCK_HEAD_BYTES] {
    let mut bytes = [0; BLOCK_HEAD_BYTES];
    bytes[4..8].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes[8..12].copy_from_slice(&segment.to_le_bytes());
    bytes[12..16].copy_from_slice(&offset.to_le_bytes());
    let crc = checksum(checksum(0, &bytes[4..]), payload);
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Returns the length in a block's head, if the block claims to be at `offset` of `segment`.
pub(crate) fn block_length(bytes: &[u8], segment: u32, offset: u64) -> Result<u32, &'static str> {
    let Some(head) = bytes.first_chunk::<BLOCK_HEAD_BYTES>() else {
        return Err("the segment ends within the head of a block");
    };
    if u32_at(head, 8) != segment || u64::from(u32_at(head, 12)) != offset {
        return Err("no block begins here");
    }
    Ok(u32_at(head, 4))
}

/// Returns the payload of the block that fills `bytes`.
pub(crate) fn decode_block(bytes: &[u8], segment: u32, offset: u64) -> Result<&[u8], &'static str> {
    let length = block_length(bytes, segment, offset)?;
    let payload = &bytes[BLOCK_HEAD_BYTES..];
    if payload.len() as u64 != u64::from(length) {
        return Err("the block has another length");
    }
    if checksum(0, &bytes[4..]) != u32_at(bytes, 0) {
        return Err("checksum mismatch in the block");
    }
    Ok(payload)
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
    fn a_page_head_has_its_published_bytes() {
        let head = PageHead {
            payload_crc: checksum(0, b"\x01a\x02bc"),
            payload_bytes: 5,
            segment: 7,
            offset: 0x0102_0304_0506,
            records: 2,
            shard: 9,
            index: 3,
        };
        let mut bytes = head.encode();
        assert_eq!(bytes[8..16], [b'b', b'o', b'b', 1, 7, 0, 0, 0]);
        assert_eq!(bytes[16..28], [6, 5, 4, 3, 2, 1, 0, 0, 5, 0, 0, 0]);
        assert_eq!(bytes[28..40], [2, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(PageHead::decode(&bytes, 7, 0x0102_0304_0506), Ok(head));
        assert!(PageHead::decode(&bytes, 8, 0x0102_0304_0506).is_err());
        assert!(PageHead::decode(&bytes, 7, 0x0102_0304_0507).is_err());
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(PageHead::decode(&bytes, 7, 0x0102_0304_0506).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let mut records = Vec::new();
        let mut visit = |record: &[u8]| {
            records.push(record.to_vec());
            Ok(())
        };
        visit_records(&head, b"\x01a\x02bc", &mut visit).expect("two records");
        assert_eq!(records, [b"a".to_vec(), b"bc".to_vec()]);
        assert!(check_payload(&head, b"\x01a\x02bc").is_ok());
        assert!(check_payload(&head, b"\x01a\x02bd").is_err());
    }

    #[test]
    fn a_corrupted_or_misplaced_block_is_rejected() {
        let mut bytes = [&encode_block_head(7, 0x40, b"leaf")[..], b"leaf"].concat();
        assert_eq!(bytes[4..16], [4, 0, 0, 0, 7, 0, 0, 0, 0x40, 0, 0, 0]);
        assert_eq!(decode_block(&bytes, 7, 0x40), Ok(&b"leaf"[..]));
        assert!(decode_block(&bytes, 7, 0x41).is_err());
        assert!(decode_block(&bytes, 6, 0x40).is_err());
        assert!(decode_block(&bytes[..19], 7, 0x40).is_err());
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode_block(&bytes, 7, 0x40).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
