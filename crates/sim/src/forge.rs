//! Words that look like journal marks, as any client could forge them: their checksums are valid, and they claim that
//! everything is synced, in plausible segments. Clients store them, so that a crash may leave them beyond the journal's
//! break.

use journal::{Kind, MARK_BYTES};

/// Marks are for segments from 1 up to this.
pub const SEGMENTS: u64 = 24;
/// Words are text: no byte is greater.
const GREATEST: u8 = 0x7f;

/// Returns this many bytes of such marks, as text; `first` selects the segments.
pub fn marks(bytes: usize, first: u64) -> String {
    let count = bytes.div_ceil(MARK_BYTES) as u64;
    let segment = |index| 1 + (first * count + index) % SEGMENTS;
    let mut marks: String = (0..count).map(|index| mark(segment(index), first, index.is_multiple_of(2))).collect();
    marks.truncate(bytes);
    marks
}

/// Returns a mark of a segment: as in version 1, or with a guessed seal, at some position.
fn mark(segment: u64, some: u64, is_plain: bool) -> String {
    let mut bytes = [0; MARK_BYTES];
    bytes[4] = 8;
    bytes[8..12].copy_from_slice(&[b'b', b'o', b'b', Kind::Mark as u8]);
    bytes[12] = segment as u8;
    bytes[16..24].fill(GREATEST);
    bytes[40..48].fill(GREATEST);
    if !is_plain {
        let position = ((some * 977) & 0x7f_7f7f).to_le_bytes();
        bytes[24..32].copy_from_slice(&position);
        bytes[40..48].copy_from_slice(&position);
    }
    // Some time yields a checksum that is text.
    for time_ms in 0..=u16::MAX {
        (bytes[32], bytes[33]) = (time_ms as u8 & GREATEST, (time_ms >> 7) as u8 & GREATEST);
        let crc = match is_plain {
            true => base::checksum(0, &bytes[4..]),
            false => base::checksum(base::checksum(0, &bytes[4..16]), &bytes[24..]),
        };
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        if bytes.is_ascii() {
            return bytes.map(char::from).iter().collect();
        }
    }
    unreachable!("one of 16 checksums is text")
}
