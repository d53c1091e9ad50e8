//! Opens a journal: reads it, cuts off torn bytes, makes everything durable, begins a new segment.
//!
//! ```text
//! 1 read, refuse damage
//! 2 save torn bytes and the segments after them under other names         a crash before 7 ends finds the same or less
//! 3 sync every segment that counts, and the folder; then remove those below where reading begins
//! 4 cut the last segment that counts where its records end
//! 5 if the identity has no key of seals yet: write it anew, with one
//! 6 make a segment of the next number; after an unclean stop under a new history
//! 7 sync it and the folder; on the first start then write the identity
//! ```
//!
//! Everything accepted is synced before step 6, so the new segment's head may say so: from then on a loss below it is
//! damage. The cut needs no sync: if it is undone, the next segment still says where the records end.
//!
//! A repair ([`Prepared::mending`]) refuses no damaged records: it ends the journal at the break, saves the bytes after
//! it under other names, and reports them. If the store is of a later position than the journal's end, the new segment
//! begins at the store's position: the journal has a gap, and the store must checkpoint everything as of that position
//! before anything else opens the journal.

use crate::evidence::has_record_of;
use crate::format::{History, Kind, MARK_BYTES, Record, SEGMENT_HEAD_BYTES, SegmentHead, encode_stop, segment_name};
use crate::identity::{self, Identity};
use crate::journal::{Begin, Journal};
use crate::preallocator::{Preallocator, Spare, make_file, remove_leftovers};
use crate::room::{SHORT_BYTES, grown};
use crate::scan::{Break, REMEDY, Replay, Scan, Tale, load, segment_numbers};
use crate::segment_list::{SegmentFile, SegmentList};
use crate::writer::{Segment, Writer};
use crate::{OpenError, Options, Policy};
use base::disk::Disk;
use base::{Ms, Position};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A journal whose folder and identity are known, but which is not yet read.
pub struct Prepared {
    /// The data folder's identity; drawn now if the folder is new.
    pub identity: Identity,
    is_new: bool,
    /// The stored identity lacks the seal key that was just drawn.
    is_old: bool,
    mends: bool,
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    options: Options,
    /// The journal must reach this position.
    reach: Position,
}

/// An open journal.
pub struct Opened {
    /// Shared by all threads.
    pub journal: Arc<Journal>,
    /// Stepped by one thread.
    pub writer: Writer,
    /// Stepped by another.
    pub preallocator: Preallocator,
    /// The findings.
    pub recovery: Recovery,
    /// The data folder's identity.
    pub identity: Identity,
}

/// The findings of recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Frames read.
    pub frames: u64,
    /// Bytes of records read.
    pub bytes: u64,
    /// Segments read.
    pub segments: u64,
    /// Position at which the journal ends.
    pub end: Position,
    /// The history that this run writes.
    pub history: History,
    /// The latest time found; 0 if none.
    pub last_time_ms: Ms,
    /// True if the journal was stopped cleanly, or is new.
    pub clean_stop: bool,
    /// Bytes cut off.
    pub torn: Option<TornTail>,
    /// Damage that a repair passed over.
    pub loss: Option<Loss>,
}

/// Damage that a repair passed over: frames synced after it are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The location and cause of the break.
    pub why: String,
    /// Below this position, everything read is intact.
    pub whole_until: Position,
    /// The store is of a later position: the journal ends ([`Recovery::end`]) there, and has a gap until the store
    /// checkpoints everything as of that position.
    pub has_gap: bool,
}

/// Bytes after the last whole frame, cut off and saved to files. Without a [`Loss`], none of them was known synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The segment in which the records break off.
    pub file: PathBuf,
    /// Offset in it.
    pub offset: u64,
    /// Bytes cut off, including following segments.
    pub bytes: u64,
    /// A description of the damage.
    pub why: String,
    /// Files in the same folder with the bytes cut off.
    pub kept_as: Vec<String>,
}

/// Creates the folder if needed, and reads or draws its identity, which a caller needs to interpret the first frame.
///
/// # Errors
/// Disk errors, and a damaged identity.
pub fn prepare(disk: Arc<dyn Disk>, folder: &Path, options: Options) -> Result<Prepared, OpenError> {
    disk.create_folder(folder).map_err(OpenError::io(folder))?;
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        disk.sync_folder(parent).map_err(OpenError::io(parent))?;
    }
    let kept = Identity::read(&*disk, folder)?;
    let mut identity = kept.unwrap_or_else(|| Identity::draw(&options));
    let is_old = identity.draw_seal_key(&options);
    let (is_new, folder) = (kept.is_none(), folder.to_owned());
    Ok(Prepared { identity, is_new, is_old, mends: false, disk, folder, options, reach: 0 })
}

/// Combines [`prepare`] and [`Prepared::open`], for callers that need no identity to replay.
///
/// # Errors
/// As theirs.
pub fn open(
    disk: Arc<dyn Disk>,
    folder: &Path,
    options: Options,
    from: Position,
    replay: &mut dyn Replay,
) -> Result<Opened, OpenError> {
    prepare(disk, folder, options)?.open(from, replay)
}

/// Reads the frames of `range` in `folder` again, while the journal may be open: everything below its end must be
/// written, and no segment may be released meanwhile.
///
/// # Errors
/// Disk errors, and damage, which includes a start within a frame or before the first, and an end beyond the last.
pub fn read(disk: &dyn Disk, folder: &Path, range: Range<Position>, replay: &mut dyn Replay) -> Result<(), OpenError> {
    let numbers = segment_numbers(&disk.list(folder).map_err(OpenError::io(folder))?);
    let up_to = range.end;
    let seal = Identity::read(disk, folder)?.ok_or_else(|| missing(folder, "nothing else can be read".into()))?.seal();
    let tale = Scan::new(disk, folder, seal, range).run(&numbers, replay)?;
    if tale.position < up_to {
        let why = format!("the journal ends at position {}, expected at least {up_to}", tale.position);
        let remedy = "Restart the server: recovery reports the damage in detail.".into();
        return Err(OpenError::Damaged { file: folder.to_owned(), offset: 0, why, remedy });
    }
    Ok(())
}

fn missing(folder: &Path, why: String) -> OpenError {
    let (file, remedy) = (folder.join(identity::NAME), identity::REMEDY.into());
    OpenError::Damaged { file, offset: 0, why: format!("the file is missing, and {why}"), remedy }
}

impl Prepared {
    /// Returns true if the folder has no identity yet.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Declares that the store keeps everything below `position`, which was synced: a journal that ends earlier is
    /// damaged, however it ends.
    pub fn must_reach(self, position: Position) -> Self {
        Self { reach: position, ..self }
    }

    /// As [`Self::must_reach`], for a repair: damage of records ends the journal instead of being refused, and
    /// [`Recovery::loss`] reports it.
    pub fn mending(self) -> Self {
        Self { mends: true, ..self }
    }

    /// Reads the journal, passes every frame from position `from` on to `replay`, and opens it for writing. On return,
    /// everything passed to `replay` is durable. Frames below `from` may be gone, and count as released: see
    /// [`Journal::release_below`]. Without a store, `from` is 0.
    ///
    /// # Errors
    /// Disk errors, and [`OpenError::Damaged`] for anything that a torn tail does not explain; also if `from` is
    /// beyond the last whole frame, within one, or before the first one present.
    pub fn open(self, from: Position, replay: &mut dyn Replay) -> Result<Opened, OpenError> {
        let (disk, folder) = (&*self.disk, &*self.folder);
        let names = disk.list(folder).map_err(OpenError::io(folder))?;
        remove_leftovers(disk, folder, &names)?;
        let numbers = segment_numbers(&names);
        self.refuse_foreign(&numbers)?;
        let scan = Scan::new(disk, folder, self.identity.seal(), from..Position::MAX).mending(self.mends);
        let mut tale = scan.run(&numbers, replay)?;
        for refused in [self.lost_start(&tale), self.shortness(&tale)].into_iter().flatten() {
            if !self.mends {
                return Err(refused);
            }
            tale.damage.get_or_insert(refused);
        }
        let loss = self.end_beyond(&mut tale, from);
        let torn = tale.broken.as_ref().map(|broken| self.keep_aside(broken, &tale)).transpose()?.flatten();
        self.settle(&tale.accepted)?;
        self.remove_released(&tale.released)?;
        tale.broken.as_ref().map_or(Ok(()), |broken| self.cut(broken, &tale))?;
        let clean_stop = loss.is_none() && (tale.clean_stop && torn.is_none() || numbers.is_empty());
        if self.is_old {
            self.identity.write(disk, folder)?;
        }
        let head = self.next_segment(&tale, clean_stop);
        let bytes = self.segment_bytes(&tale.accepted);
        let spare_bytes = grown(bytes, self.options.segment_bytes_max);
        let spare = self.begin(&head, bytes)?;
        if self.is_new {
            self.identity.write(disk, folder)?;
        }
        let recovery = Recovery {
            frames: tale.frames,
            bytes: tale.bytes,
            segments: tale.accepted.len() as u64,
            end: tale.position,
            history: head.history,
            last_time_ms: tale.time_ms,
            clean_stop,
            torn,
            loss,
        };
        let mut segments = tale.accepted;
        if let (Some(last), Some(broken)) = (segments.last_mut(), &tale.broken)
            && last.number == broken.number
        {
            last.bytes = broken.offset;
        }
        segments.push(SegmentFile { number: head.number, first_position: head.first_position, bytes: spare.bytes });
        Ok(self.opened(recovery, head, spare, spare_bytes, SegmentList::new(segments, from)))
    }

    fn opened(
        self,
        recovery: Recovery,
        head: SegmentHead,
        spare: Spare,
        spare_bytes: u64,
        segment_list: SegmentList,
    ) -> Opened {
        let Self { identity, disk, folder, options, .. } = self;
        let (position, history, seal, bytes) = (recovery.end, head.history, identity.seal(), spare.bytes);
        let is_small = bytes < options.segment_bytes_max;
        let begin = Begin { position, history, seal, bytes, spare_bytes, is_small, segment_list };
        let journal = Arc::new(Journal::new(&options, disk, folder, begin));
        let segment = Segment::new(spare, head.number);
        let elapsed_us = options.elapsed_us.clone();
        let writer = Writer::new(journal.clone(), options.elapsed_us, segment, &head, recovery.last_time_ms);
        Opened { preallocator: Preallocator::new(journal.clone(), elapsed_us), journal, writer, recovery, identity }
    }

    /// Removes segments that were being released, or that have reappeared.
    fn remove_released(&self, released: &[u32]) -> Result<(), OpenError> {
        for &number in released {
            let path = self.folder.join(segment_name(number));
            self.disk.remove(&path).map_err(OpenError::io(&path))?;
        }
        Ok(())
    }

    /// Detects a lost start: the first segment was durable before the identity was written.
    fn lost_start(&self, tale: &Tale) -> Option<OpenError> {
        if self.is_new || !tale.accepted.is_empty() {
            return None;
        }
        let why = tale.broken.as_ref().map_or("the segment is missing", |broken| &broken.why);
        Some(OpenError::Damaged {
            file: self.folder.join(segment_name(1)),
            offset: 0,
            why: format!("{why}, though the folder has an identity"),
            remedy: "Restore the journal's files from a backup; or, to go on with what the store has, use `bobbin check DIR \
                     --repair`; or, to begin with no data, remove the whole folder."
                .into(),
        })
    }

    /// Refuses foreign files: the identity was written before the first frame, and its key before the first seal.
    fn refuse_foreign(&self, numbers: &[u32]) -> Result<(), OpenError> {
        if !self.is_new && !self.is_old {
            return Ok(());
        }
        for &number in numbers {
            let path = self.folder.join(segment_name(number));
            // A mark opens each write.
            let mut bytes = [0; SEGMENT_HEAD_BYTES + MARK_BYTES];
            let read = self.disk.open(&path).and_then(|file| file.read_at(&mut bytes, 0));
            let bytes = &bytes[..read.map_err(OpenError::io(&path))?];
            let head = SegmentHead::glance(bytes).ok().filter(|(head, _)| head.number == number);
            let record = bytes.get(SEGMENT_HEAD_BYTES..).and_then(Record::glance);
            let record = record.filter(|record| record.head.segment == number);
            let has_frames = head.is_some_and(|(head, _)| head.first_position > 0)
                || record.is_some_and(|record| record.head.kind != Kind::CleanStop || record.head.position > 0);
            if self.is_new && has_frames {
                return Err(missing(&self.folder, format!("{} contains frames", path.display())));
            }
            if self.is_old && head.is_some_and(|(_, version)| version > 1) {
                let segment = path.display();
                let why =
                    format!("the file is of version 1, and {segment} is sealed with a key missing from this file");
                let (file, remedy) = (self.folder.join(identity::NAME), identity::REMEDY.into());
                return Err(OpenError::Damaged { file, offset: 0, why, remedy });
            }
        }
        Ok(())
    }

    /// Detects a journal shorter than the store: everything in the store was synced in the journal first.
    fn shortness(&self, tale: &Tale) -> Option<OpenError> {
        if tale.position >= self.reach {
            return None;
        }
        let last = tale.last_number().unwrap_or(1);
        let (number, offset, why) = match &tale.broken {
            Some(broken) => (broken.number, broken.offset, format!("{}; ", broken.why)),
            None => (last, 0, String::new()),
        };
        Some(OpenError::Damaged {
            file: self.folder.join(segment_name(number)),
            offset,
            why: format!("{why}the store is at position {}, the journal ends at {}", self.reach, tale.position),
            remedy: REMEDY.into(),
        })
    }

    /// Ends the journal that a repair leaves beyond everything known of it.
    fn end_beyond(&self, tale: &mut Tale, from: Position) -> Option<Loss> {
        let damage = tale.damage.as_ref()?;
        let why = match damage {
            OpenError::Damaged { file, offset, why, .. } => format!("{}, byte {offset}: {why}", file.display()),
            OpenError::Io { .. } => damage.to_string(),
        };
        let whole_until = tale.position.max(from);
        tale.position = whole_until.max(self.reach);
        Some(Loss { why, whole_until, has_gap: tale.position > whole_until })
    }

    /// Saves the bytes after the break to files. Returns `None` if there are only zeros.
    fn keep_aside(&self, broken: &Break, tale: &Tale) -> Result<Option<TornTail>, OpenError> {
        let mut torn = TornTail {
            file: self.folder.join(segment_name(broken.number)),
            offset: broken.offset,
            bytes: 0,
            why: broken.why.clone(),
            kept_as: Vec::new(),
        };
        let is_accepted = tale.last_number() == Some(broken.number);
        if is_accepted {
            self.keep_rest(broken, tale, &mut torn)?;
        }
        let unread = (broken.is_there && !is_accepted).then_some(broken.number);
        for number in unread.into_iter().chain(broken.later.iter().copied()) {
            self.keep_segment(number, tale, &mut torn)?;
        }
        Ok((torn.bytes > 0).then_some(torn))
    }

    /// Cuts off the saved bytes, and frees the space of zeros.
    fn cut(&self, broken: &Break, tale: &Tale) -> Result<(), OpenError> {
        if tale.last_number() != Some(broken.number) {
            return Ok(());
        }
        let path = self.folder.join(segment_name(broken.number));
        self.disk.open(&path).and_then(|mut file| file.truncate(broken.offset)).map_err(OpenError::io(&path))
    }

    /// Copies the bytes after the break in its own segment to a file.
    fn keep_rest(&self, broken: &Break, tale: &Tale, torn: &mut TornTail) -> Result<(), OpenError> {
        let path = self.folder.join(segment_name(broken.number));
        let mut bytes = Vec::new();
        load(&*self.disk, &path, &mut bytes).map_err(OpenError::io(&path))?;
        let beyond = bytes.get(broken.offset as usize..).unwrap_or_default();
        let rest = content(beyond);
        let (history, forms) = (tale.history.unwrap_or(History(0)), tale.forms(self.identity.seal()));
        let is_stop = |form| beyond.starts_with(&encode_stop(form, broken.number, history, tale.position));
        let is_former = forms.iter().copied().any(is_stop) && !has_record_of(rest, broken.number, &forms);
        if rest.is_empty() || is_former && tale.damage.is_none() {
            return Ok(());
        }
        let (name, path) = self.aside(broken.number)?;
        let keep = self.disk.create(&path).and_then(|mut file| {
            file.write_at(rest, 0)?;
            file.sync()
        });
        keep.map_err(OpenError::io(&path))?;
        torn.bytes += rest.len() as u64;
        torn.kept_as.push(name);
        Ok(())
    }

    /// Renames a rejected segment, or removes it if it is empty or has only stale bytes.
    fn keep_segment(&self, number: u32, tale: &Tale, torn: &mut TornTail) -> Result<(), OpenError> {
        let path = self.folder.join(segment_name(number));
        let mut bytes = Vec::new();
        load(&*self.disk, &path, &mut bytes).map_err(OpenError::io(&path))?;
        let content_bytes = content(&bytes).len() as u64;
        let head = SegmentHead::glance(&bytes).ok().map(|(head, _)| head);
        let is_former = head.is_some_and(|head| head.number < number)
            && !has_record_of(&bytes, number, &tale.forms(self.identity.seal()));
        // It was begun, but never written.
        let is_blank = head.is_some() && content_bytes <= SEGMENT_HEAD_BYTES as u64;
        if content_bytes == 0 || is_blank || is_former && tale.damage.is_none() {
            return self.disk.remove(&path).map_err(OpenError::io(&path));
        }
        let (name, aside) = self.aside(number)?;
        self.disk.rename(&path, &aside).map_err(OpenError::io(&path))?;
        torn.bytes += content_bytes;
        torn.kept_as.push(name);
        Ok(())
    }

    /// Returns a free name for the bytes cut off from segment `number`.
    fn aside(&self, number: u32) -> Result<(String, PathBuf), OpenError> {
        for attempt in 1u64.. {
            let name = format!("torn-{number:010}-{attempt}.bin");
            let path = self.folder.join(&name);
            match self.disk.open(&path) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((name, path)),
                Err(error) => return Err(OpenError::Io { file: path, error }),
            }
        }
        unreachable!("some number is free")
    }

    /// Makes everything read durable: after a kill it may be only in the page cache.
    fn settle(&self, accepted: &[SegmentFile]) -> Result<(), OpenError> {
        for segment in accepted {
            let path = self.folder.join(segment_name(segment.number));
            self.disk.open(&path).and_then(|mut file| file.sync()).map_err(OpenError::io(&path))?;
        }
        self.disk.sync_folder(&self.folder).map_err(OpenError::io(&self.folder))
    }

    fn next_segment(&self, tale: &Tale, clean_stop: bool) -> SegmentHead {
        let drawn = u64::from_le_bytes(*self.options.drawn[1].first_chunk().expect("16 bytes hold 8"));
        let (history, history_begins) = match tale.history.filter(|_| clean_stop) {
            Some(history) => (history, tale.history_begins),
            None => (tale.history.unwrap_or(History(0)).next(drawn), tale.position),
        };
        SegmentHead {
            number: tale.last_number().map_or(1, |last| last + 1),
            history,
            history_begins,
            first_position: tale.position,
            synced: tale.position,
            created_ms: self.options.now_ms.max(tale.time_ms),
        }
    }

    /// Returns the size of the next segment in bytes: the size of the largest one present, between the first and the
    /// maximum size.
    fn segment_bytes(&self, accepted: &[SegmentFile]) -> u64 {
        let Options { segment_bytes_first, segment_bytes_max, .. } = self.options;
        let largest = accepted.iter().map(|segment| segment.bytes).max().unwrap_or(0);
        largest.clamp(segment_bytes_first, segment_bytes_max)
    }

    fn begin(&self, head: &SegmentHead, bytes: u64) -> Result<Spare, OpenError> {
        let path = self.folder.join(segment_name(head.number));
        let (disk, folder) = (&*self.disk, &*self.folder);
        let filled = self.options.policy == Policy::Always;
        let make = |bytes| make_file(disk, folder, "spare-0.log".into(), bytes, filled);
        let begin = || {
            let is_full =
                |error: &io::Error| matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            // Removals make room, if they can be journaled.
            let shorter = [self.options.segment_bytes_first, SHORT_BYTES].into_iter().filter(|&less| less < bytes);
            let mut spare = shorter.fold(make(bytes), |made, less| match made {
                Err(error) if is_full(&error) => make(less),
                made => made,
            })?;
            spare.file.write_at(&head.encode(&self.identity.seal()), 0)?;
            spare.file.sync()?;
            disk.rename(&folder.join(&spare.name), &path)?;
            disk.sync_folder(folder)?;
            Ok(spare)
        };
        begin().map_err(OpenError::io(&path))
    }
}

/// Returns the bytes up to the last non-zero one.
fn content(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}
