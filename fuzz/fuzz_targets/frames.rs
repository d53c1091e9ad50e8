//! Journals in every state of disorder: recovery takes the first frames, announces what it cuts off, or refuses.
//!
//! ```text
//!   | 0 | a segment's bytes ... |
//!   | 1 | payload lengths .. 0 | change : 1, segment 1, offset 2, value 1 | change ... |     a true journal, changed
//! ```
//!
//! Checksums and seals keep a fuzzer out, so the second shape begins with a true journal. Half of its frames contain
//! bytes that look like marks, and the target may repair the checksums of changed records: without the key of the
//! seals, as a client can, which must have no effect; or with it. With that key a forgery cannot be detected; then
//! recovery must only end in order.

#![no_main]

use base::Position;
use base::disk::{Disk, FakeDisk};
use journal::{
    Frame, HEAD_BYTES, History, MARK_BYTES, OpenError, Opened, Options, Policy, Purpose, SEGMENT_HEAD_BYTES, Seal, Step,
};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::Arc;

type Frames = Vec<(Position, Vec<u8>)>;

const SEGMENT_BYTES: u64 = 2048;
const SEAL_KEY: [u8; 16] = [7; 16];

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, segment)) => scan(segment),
        Some((_, script)) => change(script),
        None => {}
    }
});

/// One segment's bytes, as they are.
fn scan(segment: &[u8]) {
    let mut end = None;
    let mut replay = |frame: Frame<'_>| {
        assert_eq!(frame.end - frame.position, (HEAD_BYTES + frame.payload.len()) as u64);
        assert!(end.is_none_or(|end| end == frame.position), "no frame is passed over");
        end = Some(frame.end);
        Ok(())
    };
    let found = journal::scan_bytes(segment, &Seal::new(SEAL_KEY), &mut replay);
    assert!(end.is_none() || found.map(|(reached, _)| reached) == Ok(end.expect("checked")));
}

/// A true journal of a few segments, changed, then opened twice.
fn change(script: &[u8]) {
    let lengths = script.iter().take_while(|&&length| length != 0).take(40);
    let disk = FakeDisk::new();
    let (twin, from) = journal_of(&disk, lengths.clone().map(|&length| usize::from(length)));
    let mut changes = script[lengths.count()..].iter().skip(1).copied();
    let files = segment_files(&disk);
    let (mut honest, mut is_changed) = (true, false);
    while let [Some(what), Some(segment), Some(low), Some(high), Some(value)] = [0; 5].map(|_| changes.next()) {
        let path = &files[usize::from(segment) % files.len()];
        let (has_key, offset) = (segment & 0x80 != 0, usize::from(low) | usize::from(high) << 8);
        let mend = if has_key { mend_with_key } else { mend };
        honest &= fuzz::alter(&disk, path, what, offset, value, mend) || !has_key;
        is_changed = true;
    }
    let first = match recover(&disk, from) {
        Ok(first) => first,
        Err(error @ OpenError::Damaged { .. }) if !is_changed => panic!("a true journal: {error}"),
        Err(OpenError::Damaged { why, remedy, .. }) => return assert!(!why.is_empty() && !remedy.is_empty()),
        Err(OpenError::Io { error, .. }) => panic!("the disk does all it is asked: {error}"),
    };
    if honest {
        assert!(first.len() <= twin.len() && first[..] == twin[..first.len()], "a wrong frame");
    }
    assert_eq!(recover(&disk, from).expect("what was recovered stays readable"), first);
}

fn folder() -> PathBuf {
    PathBuf::from("/data/journal")
}

fn options() -> Options {
    Options {
        policy: Policy::Never,
        segment_bytes_first: SEGMENT_BYTES,
        segment_bytes_max: 4 * SEGMENT_BYTES,
        undurable_bytes_max: 1 << 20,
        log_buffer_bytes: 4 << 20,
        shards: 16,
        blocks: 1,
        now_ms: 1000,
        kept_free_bytes: None,
        elapsed_us: Arc::new(|| 1),
        drawn: [[3; 16], [5; 16], SEAL_KEY],
    }
}

fn open(disk: &FakeDisk, from: Position) -> Result<(Opened, Frames), OpenError> {
    let mut frames = Frames::new();
    let mut replay = |frame: Frame<'_>| {
        frames.push((frame.position, frame.payload.to_vec()));
        Ok(())
    };
    let opened = journal::open(Arc::new(disk.clone()), &folder(), options(), from, &mut replay)?;
    Ok((opened, frames))
}

fn recover(disk: &FakeDisk, from: Position) -> Result<Frames, OpenError> {
    open(disk, from).map(|(_, frames)| frames)
}

/// Writes a journal of frames of these lengths; every fifth frame is followed by a stop, clean or not, and now and
/// then segments are released there and used again. Gives the frames that are needed, and from where on.
fn journal_of(disk: &FakeDisk, lengths: impl Iterator<Item = usize>) -> (Frames, Position) {
    let (mut opened, mut frames) = open(disk, 0).expect("a new journal");
    let mut from = 0;
    let mut log_buffer = opened.journal.log_buffer();
    for (index, length) in lengths.enumerate() {
        let payload = if length % 2 == 0 { vec![index as u8; length] } else { marks(index, length) };
        while opened.preallocator.step().is_none() {}
        let claim =
            log_buffer.try_admit(payload.len() as u64, Purpose::Grow).expect("spares are there and nothing waits");
        let ticket = log_buffer.take(claim, payload.len() as u64);
        frames.push((ticket.position, payload.clone()));
        log_buffer.hand_over(ticket, index as u64, &mut payload.clone());
        write(&mut opened);
        if index % 5 == 4 {
            if index % 2 == 0 {
                opened.writer.stop().expect("a clean stop");
            }
            opened = open(disk, from).expect("a true journal").0;
            log_buffer = opened.journal.log_buffer();
            if index % 3 == 0 {
                from = opened.journal.durable();
                opened.journal.release_below(from);
            }
        }
    }
    frames.retain(|(position, _)| *position >= from);
    (frames, from)
}

fn write(opened: &mut Opened) {
    while !matches!(opened.writer.step(), Step::Rest { .. } | Step::Poisoned) {}
}

fn segment_files(disk: &FakeDisk) -> Vec<PathBuf> {
    let names = disk.list(&folder()).expect("the folder is there");
    names
        .into_iter()
        .filter(|name| name.ends_with(".log") && !name.starts_with("spare"))
        .map(|name| folder().join(name))
        .collect()
}

/// Returns `length` bytes that look like marks of the next segments which report everything as synced.
fn marks(index: usize, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for segment in (1 + index as u32 / 4..).take(length.div_ceil(MARK_BYTES)) {
        let mut mark = [0xff; MARK_BYTES];
        mark[4..12].copy_from_slice(b"\x08\0\0\0bob\x02");
        mark[12..16].copy_from_slice(&segment.to_le_bytes());
        mark[24..32].copy_from_slice(&(index as u64 * 200).to_le_bytes());
        let crc = crc(&mark, segment % 2 == 0);
        mark[..4].copy_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&mark);
    }
    bytes.truncate(length);
    bytes
}

/// The checksum of a record, which leaves out its seal if it has one.
fn crc(record: &[u8], is_sealed: bool) -> u32 {
    match is_sealed {
        true => base::checksum(base::checksum(0, &record[4..16]), &record[24..]),
        false => base::checksum(0, &record[4..]),
    }
}

/// Makes the checksums of the head and of all records that can be found from it on hold.
fn mend(bytes: &mut [u8]) {
    mend_as(bytes, None);
}

/// The same, and their seals.
fn mend_with_key(bytes: &mut [u8]) {
    mend_as(bytes, Some(Seal::new(SEAL_KEY)));
}

fn mend_as(bytes: &mut [u8], seal: Option<Seal>) {
    let Some(head) = bytes.first_chunk_mut::<SEGMENT_HEAD_BYTES>() else { return };
    let is_sealed = head[8] == 2;
    if let Some(seal) = seal.filter(|_| is_sealed) {
        let sealed = seal.of_segment(head);
        head[20..24].copy_from_slice(&sealed.to_le_bytes());
    }
    let head_crc = base::checksum(base::checksum(0, &head[..12]), &head[16..]);
    head[12..16].copy_from_slice(&head_crc.to_le_bytes());
    let history = History(u64::from_le_bytes(*head[24..].first_chunk().expect("a head is longer")));
    let mut at = SEGMENT_HEAD_BYTES;
    while let Some(head) = bytes.get(at..at + HEAD_BYTES) {
        let payload_bytes = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let is_frame = head[11] == 1;
        let end = at + if is_frame { HEAD_BYTES + payload_bytes } else { MARK_BYTES };
        let Some(record) = bytes.get_mut(at..end) else { break };
        let crc = crc(record, is_sealed);
        record[..4].copy_from_slice(&crc.to_le_bytes());
        if let Some(seal) = seal.filter(|_| is_sealed) {
            let sealed = seal.of_record(record.first_chunk().expect("a head was found"), history);
            record[16..24].copy_from_slice(&sealed.to_le_bytes());
        }
        at = end;
    }
}
