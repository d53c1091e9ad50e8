//! A journal over a disk in memory, stepped by hand, with a list of every frame handed over.

use base::Position;
use base::disk::FakeDisk;
use journal::{
    Frame, Journal, Level, LogBuffer, OpenError, Opened, Options, Policy, Preallocator, Purpose, Recovery, Refusal,
    Step, Syncer, Writer,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::notifier::Notifier;

pub(crate) const SEGMENT_BYTES: u64 = 4096;
/// Bytes of the largest segment, where segments grow.
pub(crate) const LARGEST_BYTES: u64 = 2 * SEGMENT_BYTES;
/// Length of the segments of [`World::open_large`].
pub(crate) const LARGE_BYTES: u64 = 16 * SEGMENT_BYTES;
pub(crate) const SEAL_KEY: [u8; 16] = [7; 16];

pub(crate) fn folder() -> PathBuf {
    PathBuf::from("/data/journal")
}

/// Frames by position.
pub(crate) type Frames = Vec<(Position, Vec<u8>)>;

/// A small random generator, so that a seed gives the same numbers forever.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }
}

pub(crate) fn random(seed: u64) -> Random {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    random.next();
    random
}

/// Returns the number of cases of a heavy test: `BOBBIN_CASES` percent of the usual number.
pub(crate) fn cases(usual: u64) -> u64 {
    let percent = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(100u64);
    (usual * percent / 100).max(1)
}

pub(crate) struct World {
    pub(crate) disk: FakeDisk,
    pub(crate) elapsed_us: Arc<AtomicU64>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) writer: Writer,
    pub(crate) syncer: Syncer,
    pub(crate) preallocator: Preallocator,
    pub(crate) log_buffers: Vec<LogBuffer>,
    pub(crate) recovery: Recovery,
    /// Every frame handed over, those found at the start first.
    pub(crate) frames: Frames,
    pub(crate) now_ms: u64,
    /// The position below which frames are released.
    pub(crate) from: Position,
}

pub(crate) fn options(policy: Policy, elapsed_us: &Arc<AtomicU64>) -> Options {
    let elapsed_us = elapsed_us.clone();
    Options {
        policy,
        segment_bytes_first: SEGMENT_BYTES,
        segment_bytes_max: SEGMENT_BYTES,
        kept_free_bytes: None,
        undurable_bytes_max: 1 << 20,
        log_buffer_bytes: 4 << 20,
        shards: 16,
        blocks: 1,
        now_ms: 1000,
        elapsed_us: Arc::new(move || elapsed_us.load(Ordering::SeqCst)),
        drawn: [[3; 16], [5; 16], SEAL_KEY],
    }
}

impl World {
    pub(crate) fn open(disk: &FakeDisk, policy: Policy) -> Result<Self, OpenError> {
        Self::open_from(disk, policy, 0)
    }

    /// Opens a journal whose frames below `from` are released.
    pub(crate) fn open_from(disk: &FakeDisk, policy: Policy, from: Position) -> Result<Self, OpenError> {
        let elapsed_us = Arc::new(AtomicU64::new(1));
        let options = options(policy, &elapsed_us);
        Self::open_as(disk, options, elapsed_us, from)
    }

    /// Opens a journal whose segments begin with a fourth of [`SEGMENT_BYTES`] and grow to [`LARGEST_BYTES`].
    pub(crate) fn open_small(disk: &FakeDisk, policy: Policy) -> Result<Self, OpenError> {
        let elapsed_us = Arc::new(AtomicU64::new(1));
        let (segment_bytes_first, segment_bytes_max) = (SEGMENT_BYTES / 4, LARGEST_BYTES);
        let options = Options { segment_bytes_first, segment_bytes_max, ..options(policy, &elapsed_us) };
        Self::open_as(disk, options, elapsed_us, 0)
    }

    /// Opens a journal whose segments have [`LARGE_BYTES`].
    pub(crate) fn open_large(disk: &FakeDisk, policy: Policy) -> Result<Self, OpenError> {
        let elapsed_us = Arc::new(AtomicU64::new(1));
        let (segment_bytes_first, segment_bytes_max) = (LARGE_BYTES, LARGE_BYTES);
        let options = Options { segment_bytes_first, segment_bytes_max, ..options(policy, &elapsed_us) };
        Self::open_as(disk, options, elapsed_us, 0)
    }

    /// Opens a journal that leaves this much of the disk free for a store.
    pub(crate) fn open_leaving(disk: &FakeDisk, policy: Policy, kept_free_bytes: u64) -> Result<Self, OpenError> {
        let elapsed_us = Arc::new(AtomicU64::new(1));
        let options = Options { kept_free_bytes: Some(kept_free_bytes), ..options(policy, &elapsed_us) };
        Self::open_as(disk, options, elapsed_us, 0)
    }

    fn open_as(
        disk: &FakeDisk,
        options: Options,
        elapsed_us: Arc<AtomicU64>,
        from: Position,
    ) -> Result<Self, OpenError> {
        let mut frames = Frames::new();
        let mut replay = |frame: Frame<'_>| {
            frames.push((frame.position, frame.payload.to_vec()));
            Ok(())
        };
        let opened = journal::open(Arc::new(disk.clone()), &folder(), options, from, &mut replay)?;
        let Opened { journal, mut writer, preallocator, recovery, .. } = opened;
        let syncer = writer.sync_apart();
        let log_buffers = (0..3).map(|_| journal.log_buffer()).collect();
        let mut world = Self {
            disk: disk.clone(),
            elapsed_us,
            journal,
            writer,
            preallocator,
            syncer,
            log_buffers,
            recovery,
            frames,
            now_ms: 0,
            from,
        };
        world.make();
        Ok(world)
    }

    /// Steps the preallocator until it rests.
    pub(crate) fn make(&mut self) {
        while self.preallocator.step().is_none() {}
    }

    /// Steps the writer until it rests, and nothing is being synced.
    pub(crate) fn write(&mut self) {
        loop {
            while !matches!(self.writer.step(), Step::Rest { .. } | Step::Poisoned) {}
            if !self.syncer.step() {
                return;
            }
        }
    }

    pub(crate) fn run(&mut self) {
        self.make();
        self.write();
        self.make();
    }

    /// Makes all frames handed over durable.
    pub(crate) fn settle(&mut self) {
        let notifier = Arc::new(Notifier::new());
        self.journal.add_notifier(notifier.clone());
        let _ = self.journal.want(&notifier, Level::Durable, self.journal.next());
        self.write();
    }

    pub(crate) fn pass_ms(&mut self, ms: u64) {
        self.elapsed_us.fetch_add(ms * 1000, Ordering::SeqCst);
        self.run();
    }

    /// Time passes for the preallocator alone.
    pub(crate) fn pass_make_only_ms(&mut self, ms: u64) {
        self.elapsed_us.fetch_add(ms * 1000, Ordering::SeqCst);
        self.make();
    }

    /// Hands over one frame; waits by running the journal.
    pub(crate) fn put(&mut self, log_buffer: usize, payload: &[u8], purpose: Purpose) -> Result<Position, Refusal> {
        self.put_with_claim(log_buffer, payload, payload.len() as u64, purpose)
    }

    /// As [`World::put`], with a claim of `claim_bytes`, at least the length of the payload.
    pub(crate) fn put_with_claim(
        &mut self,
        log_buffer: usize,
        payload: &[u8],
        claim_bytes: u64,
        purpose: Purpose,
    ) -> Result<Position, Refusal> {
        let mut tries = 0;
        let claim = loop {
            match self.log_buffers[log_buffer].try_admit(claim_bytes, purpose) {
                Ok(claim) => break claim,
                Err(Refusal::Wait) if tries < 20 => {
                    tries += 1;
                    self.pass_ms(50);
                }
                Err(refusal) => return Err(refusal),
            }
        };
        let ticket = self.log_buffers[log_buffer].take(claim, payload.len() as u64);
        let (position, end) = (ticket.position, ticket.end);
        self.now_ms += 1;
        let now_ms = self.now_ms;
        self.log_buffers[log_buffer].hand_over(ticket, now_ms, &mut payload.to_vec());
        self.log_buffers[log_buffer].end_turn();
        self.frames.push((position, payload.to_vec()));
        Ok(end)
    }

    /// Hands over frames of many lengths and steps the journal now and then, until a refusal.
    pub(crate) fn load(&mut self, random: &mut Random, count: u64) {
        for _ in 0..count {
            let payload = payload(random);
            let log_buffer = random.below(3) as usize;
            // A command claims the most it may write.
            let claim_bytes = payload.len() as u64 * (1 + random.below(4));
            if self.put_with_claim(log_buffer, &payload, claim_bytes, Purpose::Grow).is_err() {
                return;
            }
            match random.below(6) {
                0 => self.run(),
                1 => self.pass_ms(600),
                _ => {}
            }
        }
    }

    /// Releases everything below a random durable frame, or everything durable.
    pub(crate) fn release(&mut self, random: &mut Random) {
        let durable = self.journal.durable();
        let begins = self.frames.iter().map(|(position, _)| *position);
        let begins: Vec<_> = begins.filter(|&begin| begin >= self.from && begin < durable).collect();
        let some = begins.get(random.below(begins.len() as u64 + 1) as usize);
        // First durable elsewhere, then released.
        self.from = some.copied().unwrap_or(durable);
        self.journal.release_below(self.from);
        match random.below(8) {
            0 => {}
            // Long enough that no segment is kept for reuse.
            1 => self.pass_ms(10_001),
            _ => self.make(),
        }
    }

    /// Releases everything durable to make room.
    pub(crate) fn release_all(&mut self) {
        self.journal.begin_release();
        self.settle();
        self.journal.release_below(self.journal.durable());
        self.journal.end_release();
    }

    /// As [`World::load`], and releases frames now and then.
    pub(crate) fn load_and_release(&mut self, random: &mut Random, count: u64) {
        for _ in 0..count / 5 {
            self.load(random, 5);
            if random.below(2) == 0 {
                self.release(random);
            }
        }
    }

    /// Stops cleanly and returns the frames.
    pub(crate) fn stop(self) -> Frames {
        self.writer.stop().expect("a clean stop");
        self.frames
    }
}

pub(crate) fn payload(random: &mut Random) -> Vec<u8> {
    let bytes = match random.below(20) {
        0 => 1000 + random.below(2500),
        1 => 4000 + random.below(6000),
        2..5 => random.below(600),
        _ => random.below(60),
    };
    let tag = random.next() as u8;
    (0..bytes).map(|index| tag.wrapping_add(index as u8)).collect()
}

/// Returns the frames on a disk, read without opening the journal.
pub(crate) fn frames_of(disk: &FakeDisk, range: Range<Position>) -> Frames {
    let mut frames = Frames::new();
    let mut replay = |frame: Frame<'_>| {
        frames.push((frame.position, frame.payload.to_vec()));
        Ok(())
    };
    journal::read(disk, &folder(), range, &mut replay).expect("readable");
    frames
}

/// Returns the frames from `from` on.
pub(crate) fn since(frames: &Frames, from: Position) -> Frames {
    frames.iter().filter(|(position, _)| *position >= from).cloned().collect()
}

/// Checks that the recovered frames are a prefix of the twin that includes everything below `durable`.
pub(crate) fn check_prefix(recovered: &Frames, twin: &Frames, durable: Position, context: &str) {
    assert!(recovered.len() <= twin.len(), "{context}: more frames than were handed over");
    assert_eq!(recovered[..], twin[..recovered.len()], "{context}");
    let kept = recovered.len();
    let is_lost = twin.get(kept).is_some_and(|(position, _)| *position < durable);
    assert!(!is_lost, "{context}: lost a frame at {} below {durable}", twin[kept].0);
}

pub(crate) fn segment_files(disk: &FakeDisk) -> Vec<PathBuf> {
    use base::disk::Disk;
    let names = disk.list(&folder()).unwrap();
    let is_segment = |name: &String| name.ends_with(".log") && !name.starts_with("spare");
    names.into_iter().filter(is_segment).map(|name| folder().join(name)).collect()
}

pub(crate) fn bytes_of(disk: &FakeDisk, path: &Path) -> Vec<u8> {
    use base::disk::Disk;
    let file = disk.open(path).unwrap();
    let mut bytes = vec![0; file.bytes().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}
