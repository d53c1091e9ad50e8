//! A segment file: its head, its end, and how it is written.
//!
//! ```text
//!   | head 40 | page or block | page or block | ... | end 32 |
//!
//! head  | magic 8 | version 4 | crc 4 | number 4 | blocks format 4 | follows 8 | created ms 8 |
//!       0         8           12      16         20                24          32             40
//! end   | magic 8 | crc 4 | number 4 | bytes before the end 8 | pages or blocks 8 |
//!       0         8       12         16                       24                  32
//! ```
//!
//! `follows` is the last commit that was durable when the segment was begun: the segment proves that commit.

use crate::page::{BLOCK_HEAD_BYTES, PAGE_HEAD_BYTES, u32_at, u64_at};
use crate::page::{PageHead, block_length, check_payload, decode_block, visit_records};
use crate::reserve::Reserve;
use crate::state::{SegmentKind, SegmentRecord};
use crate::{StoreError, names};
use base::disk::{Disk, DiskFile};
use base::{Ms, checksum};
use std::path::{Path, PathBuf};

/// Bytes of a segment head.
pub(crate) const HEAD_BYTES: usize = 40;
/// Bytes of a segment end.
pub(crate) const END_BYTES: usize = 32;

const VERSION: u32 = 1;
const END_MAGIC: [u8; 8] = *b"bobbinE\n";
/// Size of the write buffer.
const WRITE_BYTES: usize = 256 << 10;

fn magic(kind: SegmentKind) -> [u8; 8] {
    match kind {
        SegmentKind::Runs => *b"bobbinR\n",
        SegmentKind::Blocks => *b"bobbinB\n",
    }
}

/// The head of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHead {
    pub(crate) kind: SegmentKind,
    pub(crate) number: u32,
    pub(crate) blocks_format: u32,
    pub(crate) follows: u64,
    pub(crate) created_ms: Ms,
}

impl SegmentHead {
    pub(crate) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&magic(self.kind));
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.number.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.blocks_format.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.follows.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.created_ms.to_le_bytes());
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let Some(bytes) = bytes.first_chunk::<HEAD_BYTES>() else {
            return Err("the file is shorter than a segment's head".into());
        };
        let kinds = [SegmentKind::Runs, SegmentKind::Blocks];
        let Some(kind) = kinds.into_iter().find(|&kind| bytes[..8] == magic(kind)) else {
            return Err("the head of the segment lacks its magic bytes".into());
        };
        if u32_at(bytes, 12) != checksum(checksum(0, &bytes[..12]), &bytes[16..]) {
            return Err("checksum mismatch in the segment's head".into());
        }
        if u32_at(bytes, 8) != VERSION {
            return Err(format!("the segment has format version {}, known is {VERSION}", u32_at(bytes, 8)));
        }
        Ok(Self {
            kind,
            number: u32_at(bytes, 16),
            blocks_format: u32_at(bytes, 20),
            follows: u64_at(bytes, 24),
            created_ms: u64_at(bytes, 32),
        })
    }
}

fn encode_end(number: u32, bytes_before: u64, count: u64) -> [u8; END_BYTES] {
    let mut bytes = [0; END_BYTES];
    bytes[..8].copy_from_slice(&END_MAGIC);
    bytes[12..16].copy_from_slice(&number.to_le_bytes());
    bytes[16..24].copy_from_slice(&bytes_before.to_le_bytes());
    bytes[24..32].copy_from_slice(&count.to_le_bytes());
    let crc = checksum(checksum(0, &bytes[..8]), &bytes[12..]);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Decodes the end of segment `number`, which follows `bytes_before`; returns the number of pages or blocks.
pub(crate) fn decode_end(bytes: &[u8], number: u32, bytes_before: u64) -> Result<u64, &'static str> {
    let bytes = bytes.first_chunk::<END_BYTES>().ok_or("the end record of the segment is missing")?;
    let holds = u32_at(bytes, 8) == checksum(checksum(0, &bytes[..8]), &bytes[12..]);
    if bytes[..8] != END_MAGIC || !holds {
        return Err("the end record of the segment is incomplete or damaged");
    }
    if u32_at(bytes, 12) != number || u64_at(bytes, 16) != bytes_before {
        return Err("the end record belongs to another segment");
    }
    Ok(u64_at(bytes, 24))
}

/// Reads bytes as a segment file, to test that no input does harm. Returns the number of intact pages or blocks, and
/// their bytes.
///
/// # Errors
/// The offset of the damage, and a description.
pub fn scan_bytes(bytes: &[u8]) -> Result<(u64, u64), (u64, String)> {
    let head = SegmentHead::decode(bytes).map_err(|why| (0, why))?;
    let (mut offset, mut count, mut payload_bytes) = (HEAD_BYTES, 0, 0);
    while bytes.len() - offset > END_BYTES {
        let at = |why: &str| (offset as u64, why.to_owned());
        let taken = match head.kind {
            SegmentKind::Runs => {
                let page = PageHead::decode(&bytes[offset..], head.number, offset as u64).map_err(at)?;
                let rest = &bytes[offset + PAGE_HEAD_BYTES..];
                let payload = &rest[..rest.len().min(page.payload_bytes as usize)];
                check_payload(&page, payload).map_err(at)?;
                visit_records(&page, payload, &mut |_| Ok(())).map_err(|why| at(&why))?;
                page.bytes() as usize
            }
            SegmentKind::Blocks => {
                let length = block_length(&bytes[offset..], head.number, offset as u64).map_err(at)?;
                let end = (offset + BLOCK_HEAD_BYTES).saturating_add(length as usize).min(bytes.len());
                decode_block(&bytes[offset..end], head.number, offset as u64).map_err(at)?;
                end - offset
            }
        };
        offset += taken;
        count += 1;
        payload_bytes += taken as u64;
    }
    match decode_end(&bytes[offset..], head.number, offset as u64) {
        Ok(recorded) if recorded == count => Ok((count, payload_bytes)),
        Ok(recorded) => {
            Err((offset as u64, format!("the segment has {count} pages or blocks, its end record says {recorded}")))
        }
        Err(why) => Err((offset as u64, why.into())),
    }
}

/// A segment being written.
pub(crate) struct SegmentWriter {
    pub(crate) number: u32,
    pub(crate) path: PathBuf,
    kind: SegmentKind,
    created_ms: Ms,
    file: Box<dyn DiskFile>,
    buffer: Vec<u8>,
    written_bytes: u64,
    count: u64,
}

impl SegmentWriter {
    pub(crate) fn create(
        disk: &dyn Disk,
        folder: &Path,
        head: &SegmentHead,
        reserve: &mut Reserve,
    ) -> Result<Self, StoreError> {
        let path = folder.join(names::segment(head.number, head.kind));
        let file = reserve.spend(|| disk.create(&path)).map_err(StoreError::io(&path))?;
        let SegmentHead { kind, number, created_ms, .. } = *head;
        let buffer = head.encode().to_vec();
        Ok(Self { number, path, kind, created_ms, file, buffer, written_bytes: 0, count: 0 })
    }

    /// Returns the bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.written_bytes + self.buffer.len() as u64
    }

    /// Appends a page or a block, head and payload.
    pub(crate) fn put(&mut self, pieces: [&[u8]; 3], reserve: &mut Reserve) -> Result<(), StoreError> {
        self.count += 1;
        for piece in pieces {
            // Long pieces are not copied.
            if piece.len() >= WRITE_BYTES {
                self.flush(reserve)?;
                self.write(piece, reserve)?;
            } else {
                if self.buffer.len() + piece.len() > WRITE_BYTES {
                    self.flush(reserve)?;
                }
                self.buffer.extend_from_slice(piece);
            }
        }
        Ok(())
    }

    fn flush(&mut self, reserve: &mut Reserve) -> Result<(), StoreError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let written = self.write(&buffer, reserve);
        buffer.clear();
        self.buffer = buffer;
        written
    }

    fn write(&mut self, bytes: &[u8], reserve: &mut Reserve) -> Result<(), StoreError> {
        let (file, offset) = (&mut self.file, self.written_bytes);
        reserve.spend(|| file.write_at(bytes, offset)).map_err(StoreError::io(&self.path))?;
        self.written_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Ends and syncs it. Its name is durable once the folder is synced.
    pub(crate) fn finish(mut self, reserve: &mut Reserve) -> Result<SegmentRecord, StoreError> {
        let end = encode_end(self.number, self.bytes(), self.count);
        self.buffer.extend_from_slice(&end);
        self.flush(reserve)?;
        self.file.sync().map_err(StoreError::io(&self.path))?;
        let Self { number, kind, created_ms, written_bytes, .. } = self;
        Ok(SegmentRecord { number, kind, bytes: written_bytes, created_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_heads_and_ends_with_a_flipped_bit_are_rejected() {
        let head =
            SegmentHead { kind: SegmentKind::Blocks, number: 3, blocks_format: 1, follows: 0x1122, created_ms: 9 };
        let mut bytes = head.encode();
        assert_eq!(bytes[16..32], [3, 0, 0, 0, 1, 0, 0, 0, 0x22, 0x11, 0, 0, 0, 0, 0, 0]);
        assert_eq!(SegmentHead::decode(&bytes), Ok(head));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHead::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let mut end = encode_end(3, 500, 7);
        assert_eq!(decode_end(&end, 3, 500), Ok(7));
        assert!(decode_end(&end, 4, 500).is_err());
        assert!(decode_end(&end, 3, 501).is_err());
        for bit in 0..end.len() * 8 {
            end[bit / 8] ^= 1 << (bit % 8);
            assert!(decode_end(&end, 3, 500).is_err(), "bit {bit}");
            end[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
