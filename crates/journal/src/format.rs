//! Byte formats of the journal: segment heads, record heads, and marks.
//!
//! ```text
//! segment head, 64 bytes
//!   | magic 8 | version 4 | crc 4 | number 4 | seal 4 | history 8 | history begins 8 | first position 8 | synced 8 | ms 8 |
//!   0         8           12      16         20       24          32                 40                 48         56     64
//!
//! record: head of 40 bytes, then the payload
//!   | crc 4 | payload bytes 4 | "bob" 3 | kind 1 | segment 4 | seal 8 | position 8 | ms 8 | payload ...
//!   0       4                 8         11       12          16       24           32     40
//! ```
//!
//! Integers are little-endian. A CRC-32C covers every other byte of its head and payload, except a record's seal, which
//! covers the head with the CRC and the segment's history. Segments of version 1 are read but no longer written: there
//! a record has the history itself in place of its seal, covered by the CRC, and a segment's head has no seal. A mark
//! is a record whose payload is one number: the position known synced when the mark was written. Drawn to scale in
//! `docs/formats/frame.md`.

use crate::seal::{RECORD_SEAL_AT, SEGMENT_SEAL_AT, Seal};
use base::{Ms, Position, checksum};

/// Bytes of a segment head.
pub const SEGMENT_HEAD_BYTES: usize = 64;
/// Bytes of a record head.
pub const HEAD_BYTES: usize = 40;
/// Bytes of a mark.
pub const MARK_BYTES: usize = HEAD_BYTES + 8;
/// Maximum payload of a frame, in bytes.
pub const PAYLOAD_BYTES_MAX: u64 = u32::MAX as u64 - HEAD_BYTES as u64;

const SEGMENT_MAGIC: [u8; 8] = *b"bobbinJ\n";
/// Without seals.
const VERSION_PLAIN: u32 = 1;
const VERSION: u32 = 2;
/// The three bytes that identify a record among other bytes.
pub(crate) const RECORD_MAGIC: [u8; 3] = *b"bob";
pub(crate) const RECORD_MAGIC_AT: usize = 8;

/// The kind of a record. The numbers are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Payload of the journal's users.
    Frame = 1,
    /// The position known synced so far.
    Mark = 2,
    /// A mark that closes the segment: nothing follows.
    SegmentEnd = 3,
    /// A mark of a clean stop: nothing was written after it, and everything was synced.
    CleanStop = 4,
}

impl Kind {
    pub(crate) fn of(number: u8) -> Option<Self> {
        [Self::Frame, Self::Mark, Self::SegmentEnd, Self::CleanStop].into_iter().find(|&kind| kind as u8 == number)
    }
}

/// Identifies an unbroken run of one journal: the upper 24 bits count, the lower 40 are random, so that two runs that
/// diverged from a common past differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct History(pub u64);

const HISTORY_DRAWN_BITS: u32 = 40;

impl History {
    /// Returns the history after this one (the first follows 0), made distinct by `drawn` bits.
    pub(crate) fn next(self, drawn: u64) -> Self {
        Self((self.ordinal() + 1) << HISTORY_DRAWN_BITS | drawn >> (64 - HISTORY_DRAWN_BITS))
    }

    /// Returns the number of histories so far, this one included.
    pub fn ordinal(self) -> u64 {
        self.0 >> HISTORY_DRAWN_BITS
    }
}

/// The record form of one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// As in version 1: anyone who can write bytes can forge one.
    Plain,
    /// As in version 2: sealed for this history.
    Sealed(Seal, History),
}

impl Form {
    pub(crate) fn is_sealed(&self) -> bool {
        matches!(self, Self::Sealed(..))
    }

    /// Fills in the seal or history; the checksum is already in place.
    fn finish(&self, head: &mut [u8; HEAD_BYTES]) {
        if let Self::Sealed(seal, history) = self {
            let sealed = seal.of_record(head, *history);
            head[RECORD_SEAL_AT..][..8].copy_from_slice(&sealed.to_le_bytes());
        }
    }

    /// Returns the history of a record with this head. `None` if it was not written for this history with the key.
    pub(crate) fn history_of(&self, head: &[u8; HEAD_BYTES]) -> Option<History> {
        match self {
            Self::Plain => Some(History(u64_at(head, RECORD_SEAL_AT))),
            Self::Sealed(seal, history) => {
                (seal.of_record(head, *history) == u64_at(head, RECORD_SEAL_AT)).then_some(*history)
            }
        }
    }

    /// Returns the checksum of a head, to be continued over the payload.
    fn checksum(&self, head: &[u8; HEAD_BYTES]) -> u32 {
        match self {
            Self::Plain => checksum(0, &head[4..]),
            Self::Sealed(..) => checksum(checksum(0, &head[4..RECORD_SEAL_AT]), &head[RECORD_SEAL_AT + 8..]),
        }
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
    /// The position known synced when the segment was created.
    pub synced: Position,
    /// Creation time.
    pub created_ms: Ms,
}

impl SegmentHead {
    /// Returns the encoded head.
    pub fn encode(&self, seal: &Seal) -> [u8; SEGMENT_HEAD_BYTES] {
        let mut bytes = [0; SEGMENT_HEAD_BYTES];
        bytes[..8].copy_from_slice(&SEGMENT_MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.history.0.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.history_begins.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.first_position.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.synced.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.created_ms.to_le_bytes());
        let sealed = seal.of_segment(&bytes);
        bytes[SEGMENT_SEAL_AT..][..4].copy_from_slice(&sealed.to_le_bytes());
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes a head; also returns the form of the records after it.
    ///
    /// # Errors
    /// A description of what is wrong with it.
    pub(crate) fn read(bytes: &[u8], seal: &Seal) -> Result<(Self, Form), String> {
        let (head, version) = Self::glance(bytes)?;
        if version == VERSION_PLAIN {
            return Ok((head, Form::Plain));
        }
        let bytes = bytes.first_chunk().expect("a head was read");
        if u32_at(bytes, SEGMENT_SEAL_AT) != seal.of_segment(bytes) {
            return Err("invalid seal in the segment's head: made with another identity's key".into());
        }
        Ok((head, Form::Sealed(*seal, head.history)))
    }

    /// Decodes a head without checking its seal; also returns its version.
    pub(crate) fn glance(bytes: &[u8]) -> Result<(Self, u32), String> {
        let Some(bytes) = bytes.first_chunk::<SEGMENT_HEAD_BYTES>() else {
            return Err("the file is shorter than a segment's head".into());
        };
        if bytes[..8] != SEGMENT_MAGIC {
            return Err("the head of the segment lacks its magic bytes".into());
        }
        if u32_at(bytes, 12) != checksum(checksum(0, &bytes[..12]), &bytes[16..]) {
            return Err("checksum mismatch in the segment's head".into());
        }
        let version = u32_at(bytes, 8);
        if ![VERSION_PLAIN, VERSION].contains(&version) {
            return Err(format!("the segment has format version {version}, known are {VERSION_PLAIN} and {VERSION}"));
        }
        let head = Self {
            number: u32_at(bytes, 16),
            history: Self::raw_history(bytes),
            history_begins: u64_at(bytes, 32),
            first_position: u64_at(bytes, 40),
            synced: u64_at(bytes, 48),
            created_ms: u64_at(bytes, 56),
        };
        let ordered = head.history_begins <= head.first_position && head.synced <= head.first_position;
        if version == VERSION_PLAIN && u32_at(bytes, SEGMENT_SEAL_AT) != 0 || !ordered {
            return Err("the head of the segment is inconsistent".into());
        }
        Ok((head, version))
    }

    /// Returns the history that a head names, valid or not.
    pub(crate) fn raw_history(head: &[u8; SEGMENT_HEAD_BYTES]) -> History {
        History(u64_at(head, 24))
    }
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Kind of the record.
    pub kind: Kind,
    /// Bytes of its payload.
    pub payload_bytes: u32,
    /// The number of its segment.
    pub segment: u32,
    /// The history it belongs to.
    pub history: History,
    /// Position at which it begins; for a mark, the position of the next frame.
    pub position: Position,
    /// Its time.
    pub time_ms: Ms,
}

impl RecordHead {
    /// Returns the encoded, sealed head, with the checksum over it and the payload, which is in two pieces.
    pub fn encode(&self, seal: &Seal, payload: [&[u8]; 2]) -> [u8; HEAD_BYTES] {
        self.encode_as(Form::Sealed(*seal, self.history), payload)
    }

    fn encode_as(&self, form: Form, payload: [&[u8]; 2]) -> [u8; HEAD_BYTES] {
        debug_assert_eq!(self.payload_bytes as usize, payload[0].len() + payload[1].len());
        let mut bytes = [0; HEAD_BYTES];
        bytes[4..8].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[8..11].copy_from_slice(&RECORD_MAGIC);
        bytes[11] = self.kind as u8;
        bytes[12..16].copy_from_slice(&self.segment.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.history.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.position.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.time_ms.to_le_bytes());
        let crc = checksum(checksum(form.checksum(&bytes), payload[0]), payload[1]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        form.finish(&mut bytes);
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
    /// Decodes the record of this form at the start of `bytes`; else returns what is wrong with it.
    pub(crate) fn read(bytes: &'a [u8], form: &Form) -> Result<Self, &'static str> {
        let (kind, head, payload) = parts(bytes)?;
        // Checked first: it needs no payload.
        let history = form.history_of(head).ok_or("invalid seal in the record")?;
        if u32_at(head, 0) != checksum(form.checksum(head), payload) {
            return Err("checksum mismatch in the record");
        }
        Ok(Self::of(kind, history, head, payload))
    }

    /// Decodes the record at the start of `bytes` without the key: any bytes can be forged to pass. The history of a
    /// sealed record is unknown then, and 0.
    pub fn glance(bytes: &'a [u8]) -> Option<Self> {
        let (kind, head, payload) = parts(bytes).ok()?;
        let sealed = Form::Sealed(Seal::new([0; 16]), History(0));
        let crc = |form: Form| checksum(form.checksum(head), payload);
        if u32_at(head, 0) == crc(sealed) {
            return Some(Self::of(kind, History(0), head, payload));
        }
        let history = History(u64_at(head, RECORD_SEAL_AT));
        (u32_at(head, 0) == crc(Form::Plain)).then(|| Self::of(kind, history, head, payload))
    }

    fn of(kind: Kind, history: History, head: &[u8; HEAD_BYTES], payload: &'a [u8]) -> Self {
        let head = RecordHead {
            kind,
            payload_bytes: payload.len() as u32,
            segment: u32_at(head, 12),
            history,
            position: u64_at(head, 24),
            time_ms: u64_at(head, 32),
        };
        Self { head, payload }
    }

    /// Returns the position that a mark proves synced; `None` for a frame.
    pub fn synced(&self) -> Option<Position> {
        match self.head.kind {
            Kind::Frame => None,
            Kind::Mark | Kind::SegmentEnd | Kind::CleanStop => {
                self.payload.first_chunk().copied().map(u64::from_le_bytes)
            }
        }
    }

    /// Returns the bytes of head and payload.
    pub fn bytes(&self) -> usize {
        HEAD_BYTES + self.payload.len()
    }
}

/// Splits the record at the start of `bytes` into kind, head and payload.
fn parts(bytes: &[u8]) -> Result<(Kind, &[u8; HEAD_BYTES], &[u8]), &'static str> {
    let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else {
        return Err("the segment ends within the head of a record");
    };
    if head[RECORD_MAGIC_AT..][..3] != RECORD_MAGIC {
        return Err("no record begins here");
    }
    let Some(kind) = Kind::of(head[11]) else {
        return Err("the record is of an unknown kind");
    };
    let Some(payload) = bytes[HEAD_BYTES..].get(..u32_at(head, 4) as usize) else {
        return Err("the record reaches beyond its segment");
    };
    if kind != Kind::Frame && payload.len() != MARK_BYTES - HEAD_BYTES {
        return Err("the mark has a wrong length");
    }
    Ok((kind, head, payload))
}

/// Returns the encoded mark.
pub(crate) fn encode_mark(seal: &Seal, mut head: RecordHead, synced: Position) -> [u8; MARK_BYTES] {
    let mut bytes = [0; MARK_BYTES];
    head.payload_bytes = 8;
    let payload = synced.to_le_bytes();
    bytes[..HEAD_BYTES].copy_from_slice(&head.encode(seal, [&payload, &[]]));
    bytes[HEAD_BYTES..].copy_from_slice(&payload);
    bytes
}

/// Returns the head of a record without a kind, written after the last record where stale bytes may follow. The next
/// write overwrites it.
pub(crate) fn encode_stop(form: Form, segment: u32, history: History, position: Position) -> [u8; HEAD_BYTES] {
    let head = RecordHead { kind: Kind::Frame, payload_bytes: 0, segment, history, position, time_ms: 0 };
    let mut bytes = head.encode_as(form, [&[], &[]]);
    bytes[11] = 0;
    bytes
}

/// Returns the file name of a segment.
pub(crate) fn segment_name(number: u32) -> String {
    format!("{number:010}.log")
}

/// Returns the segment number in a file name.
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

    fn seal() -> Seal {
        Seal::new(*b"0123456789abcdef")
    }

    const FRAME: RecordHead = RecordHead {
        kind: Kind::Frame,
        payload_bytes: 3,
        segment: 7,
        history: History(0x0102_0304_0506_0708),
        position: 0x1122,
        time_ms: 0x99,
    };

    /// Returns the bytes of [`FRAME`], in `form`.
    fn frame(form: Form) -> Vec<u8> {
        [&FRAME.encode_as(form, [b"a", b"bc"])[..], b"abc"].concat()
    }

    #[test]
    fn a_frame_has_its_published_bytes() {
        let sealed = Form::Sealed(seal(), FRAME.history);
        let plain = frame(Form::Plain);
        let mut bytes = frame(sealed);
        assert_eq!(FRAME.encode(&seal(), [b"abc", b""]), bytes[..HEAD_BYTES]);
        for bytes in [&plain, &bytes] {
            assert_eq!(bytes[4..12], [3, 0, 0, 0, b'b', b'o', b'b', 1]);
            assert_eq!(bytes[12..16], [7, 0, 0, 0]);
            assert_eq!(bytes[24..40], [0x22, 0x11, 0, 0, 0, 0, 0, 0, 0x99, 0, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!(plain[16..24], [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(plain[..4], checksum(0, &plain[4..]).to_le_bytes());
        let covered = [&bytes[4..16], &bytes[24..]].concat();
        assert_eq!(bytes[..4], checksum(0, &covered).to_le_bytes());
        let covered = [&bytes[..16], &FRAME.history.0.to_le_bytes(), &bytes[24..40]].concat();
        let expected = base::hash::KeyHasher::new(*b"0123456789abcdef").hash(&covered);
        assert_eq!(bytes[16..24], expected.to_le_bytes());
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::read(&bytes, &sealed).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_record_is_read_only_in_its_form_and_history() {
        let of = |history| Form::Sealed(seal(), History(history));
        let foreign = Form::Sealed(Seal::new([1; 16]), FRAME.history);
        let forms = [Form::Plain, of(FRAME.history.0), of(FRAME.history.0 + 1), foreign];
        for (written, reads) in [(0, [true, false, false, false]), (1, [false, true, false, false])] {
            let bytes = frame(forms[written]);
            for (form, reads) in forms.iter().zip(reads) {
                let expected = Record { head: FRAME, payload: b"abc" };
                assert_eq!(Record::read(&bytes, form).ok(), reads.then_some(expected), "{written} as {form:?}");
            }
            assert_eq!(Record::glance(&bytes).map(|record| record.head.position), Some(FRAME.position));
        }
    }

    #[test]
    fn a_segment_head_with_a_flipped_bit_is_rejected() {
        let head = SegmentHead {
            number: 3,
            history: History(1 << 40),
            history_begins: 5,
            first_position: 10,
            synced: 9,
            created_ms: 1,
        };
        let mut bytes = head.encode(&seal());
        let read = |bytes: &[u8], seal| SegmentHead::read(bytes, &seal).map(|(head, form)| (head, form.is_sealed()));
        assert_eq!(read(&bytes, seal()), Ok((head, true)));
        assert!(read(&bytes, Seal::new([1; 16])).unwrap_err().contains("seal"));
        assert_eq!(SegmentHead::glance(&bytes), Ok((head, VERSION)));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bytes, seal()).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes[8] = VERSION_PLAIN as u8;
        bytes[SEGMENT_SEAL_AT..][..4].fill(0);
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(read(&bytes, seal()), Ok((head, false)));
    }

    #[test]
    fn record_kinds_keep_their_numbers() {
        let numbers = [Kind::Frame, Kind::Mark, Kind::SegmentEnd, Kind::CleanStop].map(|kind| kind as u8);
        assert_eq!(numbers, [1, 2, 3, 4]);
    }

    #[test]
    fn only_canonical_file_names_are_segments() {
        assert_eq!(segment_number(&segment_name(42)), Some(42));
        for name in ["42.log", "spare-1.log", "00000000+1.log", "9999999999.log", "0000000001.log.x"] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
