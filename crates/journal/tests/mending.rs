//! A repair opens a journal with any damage: the journal ends at the break, the bytes after it are saved to files, and
//! the loss is reported.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use journal::{Frame, Loss, OpenError, Policy, Recovery, SEGMENT_HEAD_BYTES};
use std::path::Path;
use std::sync::Arc;

fn mend(disk: &FakeDisk, from: u64, reach: u64) -> Result<(Recovery, Frames), OpenError> {
    let mut frames = Frames::new();
    let mut replay = |frame: Frame<'_>| {
        frames.push((frame.position, frame.payload.to_vec()));
        Ok(())
    };
    let prepared = journal::prepare(Arc::new(disk.clone()), &folder(), options(Policy::Always, &Arc::default()))?;
    let opened = prepared.must_reach(reach).mending().open(from, &mut replay)?;
    Ok((opened.recovery, frames))
}

struct Left {
    disk: FakeDisk,
    frames: Frames,
    from: u64,
    end: u64,
}

fn left(seed: u64) -> Left {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    match seed % 2 {
        0 => world.load_and_release(&mut random(seed), 100),
        _ => world.load(&mut random(seed), 60),
    }
    world.settle();
    let (from, end) = (world.from, world.journal.next());
    let frames = since(&world.stop(), from);
    Left { disk, frames, from, end }
}

fn flip(disk: &FakeDisk, path: &Path, at: u64, bits: u8) {
    let (mut file, mut byte) = (disk.open(path).unwrap(), [0]);
    let _ = file.read_at(&mut byte, at).unwrap();
    file.write_at(&[byte[0] ^ bits], at).unwrap();
}

/// Flips a bit, cuts a file, or takes it away.
fn hurt(disk: &FakeDisk, random: &mut Random) -> String {
    let files = segment_files(disk);
    let Some(path) = files.get(random.below(files.len().max(1) as u64) as usize) else {
        return "nothing more".to_owned();
    };
    let mut file = disk.open(path).unwrap();
    let at = random.below(file.bytes().unwrap().max(1));
    match random.below(4) {
        0 => file.truncate(at).unwrap(),
        1 => disk.remove(path).unwrap(),
        _ => flip(disk, path, at, 1 << random.below(8)),
    }
    format!("byte {at} of {}", path.display())
}

/// Bytes up to the last that is not zero.
fn content(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

#[test]
fn repair_opens_a_journal_with_any_damage() {
    let (mut random, mut losses, mut gaps) = (random(4), 0, 0);
    for seed in 0..cases(150) {
        let Left { disk, frames, from, end } = left(seed);
        let what: Vec<String> = (0..1 + random.below(2)).map(|_| hurt(&disk, &mut random)).collect();
        let context = format!("seed {seed}: {}", what.join(", "));
        // The store is of the position of some frame, or of the end.
        let reach = frames.get(random.below(frames.len() as u64 + 1) as usize).map_or(end, |frame| frame.0);
        let refused = {
            let prepared = journal::prepare(Arc::new(disk.copy()), &folder(), options(Policy::Always, &Arc::default()));
            prepared.unwrap().must_reach(reach).open(from, &mut |_: Frame<'_>| Ok(())).err()
        };
        let (recovery, left) = mend(&disk, from, reach).unwrap_or_else(|error| panic!("{context}: {error}"));
        check_prefix(&left, &frames, recovery.loss.as_ref().map_or(0, |loss| loss.whole_until), &context);
        assert_eq!(recovery.loss.is_some(), refused.is_some(), "{context}: {refused:?}");
        assert!(recovery.end >= reach.max(from), "{context}: ends at {}", recovery.end);
        let Some(Loss { why, has_gap, whole_until }) = recovery.loss else { continue };
        losses += 1;
        assert!(why.contains(".log, byte "), "{context}: {why}");
        assert_eq!(has_gap, whole_until < reach, "{context}");
        // A second repair finds the same.
        let (again, same) =
            mend(&disk.crash(seed), from, reach).unwrap_or_else(|error| panic!("{context}, again: {error}"));
        assert_eq!((again.end, same), (recovery.end, left.clone()), "{context}");
        // After a gap, the store keeps everything below the end.
        let from = if has_gap { recovery.end } else { from };
        gaps += u64::from(has_gap);
        let world = World::open_from(&disk.crash(seed), Policy::Always, from);
        let world = world.unwrap_or_else(|error| panic!("{context}, opened then: {error}"));
        assert_eq!(world.frames, since(&left, from), "{context}");
        assert_eq!(world.recovery.end, recovery.end, "{context}");
    }
    assert!(losses > 20 && gaps > 5, "{losses} losses, {gaps} gaps");
}

#[test]
fn repair_saves_all_bytes_after_the_break() {
    for seed in 0..cases(40) {
        let Left { disk, from, .. } = left(2 * seed + 1);
        let files = segment_files(&disk);
        let middle = files.len() / 2;
        flip(&disk, &files[middle], SEGMENT_HEAD_BYTES as u64, 1);
        let contents = files[middle..].iter().map(|path| bytes_of(&disk, path));
        let mut contents: Vec<_> = contents.map(|bytes| content(&bytes).to_vec()).collect();
        contents[0].drain(..SEGMENT_HEAD_BYTES);
        let (recovery, _) = mend(&disk, from, 0).unwrap();
        let torn = recovery.torn.clone().unwrap_or_else(|| panic!("seed {seed}: nothing is kept aside: {recovery:?}"));
        assert!(recovery.loss.is_some());
        let kept: Vec<_> = torn.kept_as.iter().map(|name| bytes_of(&disk, &folder().join(name))).collect();
        let kept: Vec<_> = kept.iter().map(|bytes| content(bytes).to_vec()).collect();
        assert_eq!(kept, contents, "seed {seed}");
    }
}

#[test]
fn a_journal_without_its_identity_is_not_repaired() {
    let Left { disk, .. } = left(1);
    let path = folder().join("identity");
    disk.remove(&path).unwrap();
    let all = || segment_files(&disk).iter().map(|path| bytes_of(&disk, path)).collect::<Vec<_>>();
    let before = all();
    match mend(&disk, 0, 0) {
        Err(OpenError::Damaged { file, remedy, .. }) => assert!(file == path && remedy.contains("Restore"), "{remedy}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(all(), before);
}

#[test]
fn repair_of_an_intact_journal_reports_no_loss() {
    for seed in 0..cases(10) {
        let Left { disk, frames, from, end } = left(seed);
        let (recovery, left) = mend(&disk, from, end).unwrap();
        assert_eq!((recovery.loss, recovery.torn, recovery.clean_stop, left), (None, None, true, frames));
    }
}
