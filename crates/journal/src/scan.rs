//! Reads a journal: the bytes of one segment, and the chain of all segments.
//!
//! ```text
//! start at the last segment that begins at or below the first position to read; ignore those before it
//! for each segment in order of numbers
//!   its head fits: number, history not older, first position = where we are        else broken here
//!   record by record: whole, of this segment and history, position = where we are  else broken here
//!   no more records, and the next segment begins where we are: go on
//! broken: does any mark or head after the break prove that more was synced?       damage, else a torn tail
//! ```
//!
//! The chain of positions makes every loss visible: a frame, a segment or a history out of place breaks it. Only marks
//! decide what a break means (`evidence.rs`); frames beyond it prove nothing, since any subset of what was not synced
//! may have reached the disk.
//!
//! A repair ([`Scan::mending`]) refuses no damage: it ignores everything after the break, and the `Tale` records why.

use crate::OpenError;
use crate::evidence::{Search, evidence};
use crate::format::{
    Form, HEAD_BYTES, History, Kind, PAYLOAD_BYTES_MAX, Record, SEGMENT_HEAD_BYTES, SegmentHead, segment_name,
    segment_number,
};
use crate::room::own_segment_bytes;
use crate::seal::Seal;
use crate::segment_list::SegmentFile;
use base::disk::Disk;
use base::{Ms, Position};
use std::io;
use std::ops::Range;
use std::path::Path;

/// A frame as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Position at which it begins.
    pub position: Position,
    /// Position at which it ends.
    pub end: Position,
    /// Its time.
    pub time_ms: Ms,
    /// Its history.
    pub history: History,
    /// Its payload.
    pub payload: &'a [u8],
}

/// For a journal that does not cover the store's position.
pub(crate) const REMEDY: &str = "Restore the whole data folder from a backup: the store needs the journal from its \
     position on. Or go on with what the store has: `bobbin check DIR --repair` reports the loss and keeps the \
     rest under other names.";

/// Receives the contents of a journal.
pub trait Replay {
    /// Receives the next frame, in order of positions.
    ///
    /// # Errors
    /// A description of a malformed payload: the journal is then refused as damaged.
    fn frame(&mut self, frame: Frame<'_>) -> Result<(), String>;

    /// Reports progress in file bytes; called once per segment.
    fn progress(&mut self, bytes_done: u64, bytes_total: u64) {
        let _ = (bytes_done, bytes_total);
    }
}

impl<F: FnMut(Frame<'_>) -> Result<(), String>> Replay for F {
    fn frame(&mut self, frame: Frame<'_>) -> Result<(), String> {
        self(frame)
    }
}

/// The end of the records of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// With a mark that closes a segment or a run.
    Closed(Kind),
    /// With bytes that are not a valid record here.
    Broken(&'static str),
    /// With a frame that the replay rejected.
    Refused(String),
    /// At the end of the requested range.
    Reached,
}

struct Walk {
    position: Position,
    offset: usize,
    time_ms: Ms,
    frames: u64,
    end: End,
}

/// Reads the records of one segment, and passes the frames in `range` to `replay`.
fn walk(bytes: &[u8], head: &SegmentHead, form: &Form, range: &Range<Position>, replay: &mut dyn Replay) -> Walk {
    let mut walk =
        Walk { position: head.first_position, offset: SEGMENT_HEAD_BYTES, time_ms: 0, frames: 0, end: End::Reached };
    while walk.position < range.end {
        let record = match Record::read(&bytes[walk.offset..], form) {
            Ok(record) => record,
            Err(why) => return Walk { end: End::Broken(why), ..walk },
        };
        if let Some(why) = misplaced(&record, head, walk.position) {
            return Walk { end: End::Broken(why), ..walk };
        }
        walk.time_ms = walk.time_ms.max(record.head.time_ms);
        if record.head.kind == Kind::Frame {
            let frame_bytes = (HEAD_BYTES + record.payload.len()) as u64;
            let Some(end) = walk.position.checked_add(frame_bytes) else {
                return Walk { end: End::Broken("the positions overflow"), ..walk };
            };
            let (position, time_ms) = (walk.position, record.head.time_ms);
            if position < range.start && range.start < end {
                let why = format!("the store's position {} is inside this frame", range.start);
                return Walk { end: End::Refused(why), ..walk };
            }
            if range.start <= position {
                let frame = Frame { position, end, time_ms, history: head.history, payload: record.payload };
                if let Err(why) = replay.frame(frame) {
                    return Walk { end: End::Refused(why), ..walk };
                }
                walk.frames += 1;
            }
            walk.position = end;
        }
        walk.offset += record.bytes();
        if matches!(record.head.kind, Kind::SegmentEnd | Kind::CleanStop) {
            return Walk { end: End::Closed(record.head.kind), ..walk };
        }
    }
    walk
}

fn misplaced(record: &Record<'_>, segment: &SegmentHead, position: Position) -> Option<&'static str> {
    if record.head.segment != segment.number {
        return Some("the record is of another segment");
    }
    if record.head.history != segment.history {
        return Some("the record is of another history");
    }
    if record.head.position != position {
        return Some("the record is of another position");
    }
    if record.synced().is_some_and(|synced| synced > position) {
        return Some("the mark knows more synced than was written");
    }
    None
}

/// Reads bytes like the file of a segment under `seal`, to test that no input does harm. Returns the position reached,
/// and the greater position that marks beyond it prove synced, if any.
///
/// # Errors
/// A description of what is wrong with the segment's head or a frame's payload.
pub fn scan_bytes(bytes: &[u8], seal: &Seal, replay: &mut dyn Replay) -> Result<(Position, Option<Position>), String> {
    let (head, form) = SegmentHead::read(bytes, seal)?;
    let walk = walk(bytes, &head, &form, &(0..Position::MAX), replay);
    if let End::Refused(why) = walk.end {
        return Err(why);
    }
    let begun = Some((walk.position, walk.offset));
    let (forms, histories) = (&[form], head.history..=head.history);
    let search = Search { number: head.number, forms, histories, position: walk.position, begun };
    let found = evidence(bytes, walk.offset, &search);
    assert!(found.as_ref().is_none_or(|found| found.synced > walk.position));
    Ok((walk.position, found.map(|found| found.synced)))
}

/// Returns the numbers of the segments in `folder`, sorted.
pub(crate) fn segment_numbers(names: &[String]) -> Vec<u32> {
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| segment_number(name)).collect();
    numbers.sort_unstable();
    numbers
}

/// A break in the chain of records.
#[derive(Clone, Debug)]
pub(crate) struct Break {
    /// The segment.
    pub(crate) number: u32,
    /// True if its file exists.
    pub(crate) is_there: bool,
    pub(crate) offset: u64,
    pub(crate) why: String,
    /// Segments after it.
    pub(crate) later: Vec<u32>,
}

/// The contents of the segments.
#[derive(Default)]
pub(crate) struct Tale {
    pub(crate) position: Position,
    pub(crate) history: Option<History>,
    pub(crate) history_begins: Position,
    pub(crate) time_ms: Ms,
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    /// Segments below the first one read.
    pub(crate) released: Vec<u32>,
    /// Segments whose frames were accepted.
    pub(crate) accepted: Vec<SegmentFile>,
    /// The last of them has seals.
    pub(crate) is_sealed: bool,
    pub(crate) clean_stop: bool,
    pub(crate) broken: Option<Break>,
    /// Damage that refuses a start but not a repair.
    pub(crate) damage: Option<OpenError>,
}

impl Tale {
    /// Returns the last segment whose frames were accepted.
    pub(crate) fn last_number(&self) -> Option<u32> {
        self.accepted.last().map(|segment| segment.number)
    }

    /// Returns the possible forms of the next records in a segment with an unusable head. Plain records never follow
    /// sealed ones.
    pub(crate) fn forms(&self, seal: Seal) -> Vec<Form> {
        let sealed = Form::Sealed(seal, self.history.unwrap_or(History(0)));
        if self.is_sealed { vec![sealed] } else { vec![sealed, Form::Plain] }
    }
}

/// Reads all segments of a folder.
pub(crate) struct Scan<'a> {
    disk: &'a dyn Disk,
    folder: &'a Path,
    seal: Seal,
    range: Range<Position>,
    buffer: Vec<u8>,
    tale: Tale,
    mends: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, folder: &'a Path, seal: Seal, range: Range<Position>) -> Self {
        Self { disk, folder, seal, range, buffer: Vec::new(), tale: Tale::default(), mends: false }
    }

    /// Sets whether damage ends the journal instead of being refused.
    pub(crate) fn mending(self, mends: bool) -> Self {
        Self { mends, ..self }
    }

    /// Notes damage for a repair to pass over.
    ///
    /// # Errors
    /// The damage, if this is not a repair.
    fn pass_over(&mut self, damage: OpenError) -> Result<(), OpenError> {
        match damage {
            OpenError::Damaged { .. } if self.mends => {
                self.tale.damage.get_or_insert(damage);
                Ok(())
            }
            damage => Err(damage),
        }
    }

    /// Reads the segments `numbers`; refuses damage.
    pub(crate) fn run(mut self, numbers: &[u32], replay: &mut dyn Replay) -> Result<Tale, OpenError> {
        let begin = match self.begin(numbers) {
            Ok(begin) => begin,
            Err(damage) => {
                let why = damage.why();
                self.pass_over(damage)?;
                if let Some((&number, later)) = numbers.split_first() {
                    self.tale.broken = Some(Break { number, is_there: true, offset: 0, why, later: later.to_vec() });
                }
                return Ok(self.tale);
            }
        };
        let (released, numbers) = numbers.split_at(begin);
        self.tale.released = released.to_vec();
        let first = numbers.first().copied().filter(|_| self.tale.history.is_some()).unwrap_or(1);
        let bytes_total = numbers.iter().map(|&number| self.file_bytes(number)).sum::<Result<u64, _>>()?;
        let mut bytes_done = 0;
        let mut ended: Option<Break> = None;
        for (index, &number) in numbers.iter().enumerate() {
            let later = || numbers[index + 1..].to_vec();
            let expected = self.tale.last_number().map_or(first, |last| last + 1);
            let head = if number == expected {
                self.load(number)?;
                self.check_head(number)
            } else {
                Err("the segment is missing".into())
            };
            let (head, form) = match (head, ended.take()) {
                (Ok(read), _) => read,
                (Err(_), Some(earlier)) => {
                    self.tale.broken = Some(earlier);
                    break;
                }
                (Err(why), None) => {
                    let is_there = number == expected;
                    let later = if is_there { later() } else { numbers[index..].to_vec() };
                    self.tale.broken = Some(Break { number: expected, is_there, offset: 0, why, later });
                    break;
                }
            };
            let walk = walk(&self.buffer, &head, &form, &self.range, replay);
            self.accept(&head, &form, &walk);
            bytes_done += self.buffer.len() as u64;
            replay.progress(bytes_done, bytes_total);
            match walk.end {
                End::Closed(kind) => self.tale.clean_stop = kind == Kind::CleanStop,
                End::Reached => return Ok(self.tale),
                End::Refused(why) => {
                    let (offset, why) =
                        (walk.offset as u64, format!("a frame with a valid checksum cannot be decoded: {why}"));
                    self.pass_over(self.damaged(number, offset, why.clone()))?;
                    self.tale.clean_stop = false;
                    self.tale.broken = Some(Break { number, is_there: true, offset, why, later: later() });
                    break;
                }
                End::Broken(why) => {
                    self.tale.clean_stop = false;
                    let (offset, why) = (walk.offset as u64, why.into());
                    ended = Some(Break { number, is_there: true, offset, why, later: later() });
                }
            }
        }
        self.tale.broken = self.tale.broken.take().or(ended);
        if let Some(broken) = self.tale.broken.clone()
            && let Err(damage) = self.judge(&broken)
        {
            self.pass_over(damage)?;
        }
        if let Err(damage) = self.refuse_short() {
            self.pass_over(damage)?;
        }
        Ok(self.tale)
    }

    /// Finds the segment to begin with: the last one that begins at or below the start position. Returns its index in
    /// `numbers`.
    fn begin(&mut self, numbers: &[u32]) -> Result<usize, OpenError> {
        let from = self.range.start;
        let mut begins = None;
        for (index, &number) in numbers.iter().enumerate().rev() {
            let Some((head, form)) = self.head(number)? else { continue };
            if head.first_position <= from {
                // What lay before is gone; it was written no later than this segment's creation.
                let time_ms = if head.first_position > 0 { head.created_ms } else { 0 };
                let (position, history) = (head.first_position, Some(head.history));
                self.tale = Tale { position, history, time_ms, is_sealed: form.is_sealed(), ..Tale::default() };
                return Ok(index);
            }
            // If nothing can be read, a repair begins a later history than any before.
            self.tale.history = self.tale.history.max(Some(head.history));
            begins = Some((index, head.first_position));
        }
        if from == 0 {
            self.tale.history = None;
            return Ok(0);
        }
        let journal = match begins {
            Some((_, first)) => format!("the journal begins at {first}"),
            None => "the journal has no segment that can be read".into(),
        };
        // The one before, if any, has lost its head.
        let index = begins.map_or(numbers.len(), |(index, _)| index).saturating_sub(1);
        let file = self.folder.join(segment_name(numbers.get(index).copied().unwrap_or(1)));
        let why = format!("the store is at position {from}, {journal}");
        Err(OpenError::Damaged { file, offset: 0, why, remedy: REMEDY.into() })
    }

    /// Returns the head of a segment, if it is valid and has that number.
    fn head(&self, number: u32) -> Result<Option<(SegmentHead, Form)>, OpenError> {
        let path = self.folder.join(segment_name(number));
        let mut bytes = [0; SEGMENT_HEAD_BYTES];
        let read = self.disk.open(&path).and_then(|file| file.read_at(&mut bytes, 0));
        let count = read.map_err(OpenError::io(&path))?;
        Ok(SegmentHead::read(&bytes[..count], &self.seal).ok().filter(|(head, _)| head.number == number))
    }

    /// Refuses a journal that ends below the start position.
    fn refuse_short(&self) -> Result<(), OpenError> {
        let (position, from) = (self.tale.position, self.range.start);
        if position >= from {
            return Ok(());
        }
        let last = self.tale.last_number().unwrap_or(1);
        let (number, offset, why) = match &self.tale.broken {
            Some(broken) => (broken.number, broken.offset, format!("{}; ", broken.why)),
            None => (last, self.file_bytes(last)?, String::new()),
        };
        let why = format!("{why}the store is at position {from}, the journal ends at {position}");
        Err(self.damaged(number, offset, why))
    }

    fn accept(&mut self, head: &SegmentHead, form: &Form, walk: &Walk) {
        let tale = &mut self.tale;
        tale.is_sealed = form.is_sealed();
        tale.position = walk.position;
        tale.history = Some(head.history);
        tale.history_begins = head.history_begins;
        tale.time_ms = tale.time_ms.max(walk.time_ms);
        tale.frames += walk.frames;
        tale.bytes += (walk.offset - SEGMENT_HEAD_BYTES) as u64;
        let (number, first_position, bytes) = (head.number, head.first_position, self.buffer.len() as u64);
        tale.accepted.push(SegmentFile { number, first_position, bytes });
    }

    /// Checks that the segment in the buffer may follow what was read so far.
    fn check_head(&self, number: u32) -> Result<(SegmentHead, Form), String> {
        let (head, form) = SegmentHead::read(&self.buffer, &self.seal)?;
        if self.tale.is_sealed && !form.is_sealed() {
            return Err("the segment has no seals, and the one before it has".into());
        }
        if head.number != number {
            return Err(format!("the file holds segment {}", head.number));
        }
        if self.tale.history.is_some_and(|history| head.history < history) {
            return Err("the segment is of an older history than the one before it".into());
        }
        if head.first_position != self.tale.position {
            let (first, position) = (head.first_position, self.tale.position);
            return Err(format!("the segment begins at position {first}, the one before it ends at {position}"));
        }
        Ok((head, form))
    }

    /// Refuses a break below any position that is known to have been synced.
    fn judge(&mut self, broken: &Break) -> Result<(), OpenError> {
        if broken.is_there {
            self.load(broken.number)?;
            self.judge_file(broken, broken.number, broken.offset as usize)?;
        }
        for &number in &broken.later {
            self.load(number)?;
            self.judge_file(broken, number, 0)?;
        }
        Ok(())
    }

    fn judge_file(&self, broken: &Break, number: u32, from: usize) -> Result<(), OpenError> {
        let (position, history) = (self.tale.position, self.tale.history.unwrap_or(History(0)));
        let refuse = |at: u64, what: &str| {
            let file = segment_name(number);
            let why = format!("{}, although {what} (byte {at} of {file})", broken.why);
            Err(self.damaged(broken.number, broken.offset, why))
        };
        let head = SegmentHead::read(&self.buffer, &self.seal);
        let head = head.ok().filter(|(head, form)| head.number == number && (form.is_sealed() || !self.tale.is_sealed));
        if from == 0 {
            if let Some((head, _)) = head.filter(|(head, _)| head.history >= history && head.synced > position) {
                return refuse(0, &format!("everything below position {} was synced", head.synced));
            }
            // The first record is in the same sector as the head, which was written before it. Client data is never
            // stored there, so the record can be trusted though its seal's history is unknown.
            let first = self.buffer.get(SEGMENT_HEAD_BYTES..).and_then(Record::glance);
            if head.is_none() && first.is_some_and(|record| record.head.segment == number) {
                return refuse(SEGMENT_HEAD_BYTES as u64, "a record follows");
            }
        }
        let (forms, histories) = match head {
            Some((head, form)) => (vec![form], head.history.max(history)..=head.history),
            None => (self.forms_under_wrong_head(history), history..=History(u64::MAX)),
        };
        let begun = match (from, head) {
            (0, Some((head, _))) => Some((head.first_position, SEGMENT_HEAD_BYTES)),
            (0, None) => None,
            _ => Some((position, from)),
        };
        match evidence(&self.buffer, from, &Search { number, forms: &forms, histories, position, begun }) {
            Some(found) => {
                refuse(found.offset as u64, &format!("a mark proves that everything below {} was synced", found.synced))
            }
            None => Ok(()),
        }
    }

    /// Returns the possible forms of records in a segment whose head is unreadable: if its history field is intact all
    /// the same, marks of a later history are found, too.
    fn forms_under_wrong_head(&self, history: History) -> Vec<Form> {
        let mut forms = self.tale.forms(self.seal);
        if let Some(head) = self.buffer.first_chunk() {
            forms.push(Form::Sealed(self.seal, SegmentHead::raw_history(head).max(history)));
        }
        forms
    }

    fn damaged(&self, number: u32, offset: u64, why: String) -> OpenError {
        let file = self.folder.join(segment_name(number));
        let position = self.tale.position;
        let cut = format!(
            "Restore the journal's files from a backup; or, to go on with what lies below position {position} and lose \
             the rest: `bobbin check DIR --repair` cuts this file to {offset} bytes, and keeps aside what it cuts off and \
             all segments of higher numbers."
        );
        // A journal cut below the store's position would only be refused for that.
        let remedy = if position < self.range.start { REMEDY.into() } else { cut };
        OpenError::Damaged { file, offset, why, remedy }
    }

    fn file_bytes(&self, number: u32) -> Result<u64, OpenError> {
        let path = self.folder.join(segment_name(number));
        self.disk.open(&path).and_then(|file| file.bytes()).map_err(OpenError::io(&path))
    }

    fn load(&mut self, number: u32) -> Result<(), OpenError> {
        let path = self.folder.join(segment_name(number));
        load(self.disk, &path, &mut self.buffer).map_err(OpenError::io(&path))
    }
}

/// Reads a whole file, unless it is longer than any segment.
pub(crate) fn load(disk: &dyn Disk, path: &Path, buffer: &mut Vec<u8>) -> io::Result<()> {
    let file = disk.open(path)?;
    let bytes = file.bytes()?;
    if bytes > own_segment_bytes(PAYLOAD_BYTES_MAX) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is longer than any segment"));
    }
    buffer.resize(bytes as usize, 0);
    let count = file.read_at(buffer, 0)?;
    buffer.truncate(count);
    Ok(())
}
