//! The contents of one shard, and how it is assembled: stored records, their values, then the journal's effects.

use super::gather::Effects;
use crate::checkpoint::usage::Usage;
use base::primitives::atomic::{AtomicBool, Ordering::Relaxed};
use keyspace::{Alive, Keyspace, LoadError, TableCount};
use rustix::io::Errno;
use store::{Reader, ShardRecord, StoreError};
use values::{Value, ValueType};

/// The contents of one shard.
pub(super) struct ShardContents {
    pub(super) record: ShardRecord,
    pub(super) effects: Effects,
}

/// A shard that was read but is not in place yet.
pub(super) struct Shard<'k> {
    pub(super) state: keyspace::Loading<'k>,
    pub(super) usage: Usage,
    /// Values to be read after it.
    pub(super) unread: Vec<keyspace::Unread>,
}

/// A shard that was not recovered completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mended {
    /// Its number.
    pub shard: usize,
    /// The number of its stored keys.
    pub keys_stored: u64,
    /// Those that could be read, some perhaps in an older state.
    pub keys_left: u64,
    /// Changes in the journal that do not fit the recovered data.
    pub changes_lost: u64,
}

/// Why a shard was not read.
pub(super) enum NotRead {
    /// The server is stopping.
    Stopped,
    /// The system currently has too few files or too little memory.
    Lacking(String),
    /// A disk error or damage; with file, offset and remedy.
    Fault(String),
}

impl NotRead {
    pub(super) fn why(self) -> String {
        match self {
            Self::Stopped => "the server stops".to_owned(),
            Self::Lacking(why) | Self::Fault(why) => why,
        }
    }
}

impl From<String> for NotRead {
    fn from(why: String) -> Self {
        Self::Fault(why)
    }
}

impl From<StoreError> for NotRead {
    fn from(error: StoreError) -> Self {
        match is_lacking(&error) {
            true => Self::Lacking(error.to_string()),
            false => Self::Fault(error.to_string()),
        }
    }
}

/// Returns true if the system had no file or memory to give, which may change.
fn is_lacking(error: &StoreError) -> bool {
    const LACKING: [Errno; 3] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    let StoreError::Io { error, .. } = error else { return false };
    Errno::from_io_error(error).is_some_and(|number| LACKING.contains(&number))
}

impl ShardContents {
    pub(super) fn is_empty(&self) -> bool {
        self.record.runs.is_empty() && self.effects.is_empty()
    }

    /// Returns the bytes to be read.
    pub(super) fn bytes(&self) -> u64 {
        let runs: u64 = self.record.runs.iter().map(|run| run.bytes).sum();
        let blocks: u64 = self.record.blocks.iter().map(|share| share.bytes).sum();
        runs + blocks + self.effects.bytes()
    }

    /// Reads it, except values of more than `at_once_bytes_max` bytes, unless it is stopped, which it checks before
    /// each run and each block.
    ///
    /// # Errors
    /// See [`NotRead`].
    pub(super) fn read<'k>(
        &self,
        keyspace: &'k Keyspace,
        alive: &'k Alive,
        reader: &Reader,
        is_stopped: &AtomicBool,
        at_once_bytes_max: u64,
    ) -> Result<Shard<'k>, NotRead> {
        let number = self.record.shard;
        let mut shard = self.records(keyspace, alive, reader, is_stopped)?;
        let mut source = Source { reader, is_stopped, unread: None };
        let settled = shard.state.settle_small(&mut source, at_once_bytes_max);
        settled.map_err(|error| not_read(number, source.unread, error))?;
        self.check_counts(alive, &shard.state.tables())?;
        for piece in self.effects.pieces() {
            let misfit = |error| format!("the journal does not fit shard {number} of the store: {error}. {REMEDY}");
            shard.state.replay(piece).map_err(misfit)?;
        }
        shard.unread = shard.state.take_unread();
        Ok(shard)
    }

    /// Reads whatever is left of it, for a repair.
    ///
    /// # Errors
    /// Returns, in words, what even a repair cannot skip.
    pub(super) fn read_rest<'k>(
        &self,
        keyspace: &'k Keyspace,
        alive: &'k Alive,
        reader: &Reader,
    ) -> Result<(Shard<'k>, Mended), String> {
        let number = self.record.shard as usize;
        let is_stopped = AtomicBool::new(false);
        let mut shard = self.records(keyspace, alive, reader, &is_stopped).map_err(NotRead::why)?;
        let mut lost = shard.state.settle_rest(&mut Source { reader, is_stopped: &is_stopped, unread: None });
        let keys_left = shard.state.tables().iter().map(|count| count.keys).sum();
        let mut changes_lost = 0;
        for piece in self.effects.pieces() {
            let left_out = shard.state.replay_rest(piece, &mut lost);
            changes_lost += left_out.map_err(|error| format!("the journal's effects on shard {number}: {error}"))?;
        }
        let keys_stored = self.alive_tables(alive).map(|keys| keys.keys).sum();
        Ok((shard, Mended { shard: number, keys_stored, keys_left, changes_lost }))
    }

    fn records<'k>(
        &self,
        keyspace: &'k Keyspace,
        alive: &'k Alive,
        reader: &Reader,
        is_stopped: &AtomicBool,
    ) -> Result<Shard<'k>, NotRead> {
        let number = self.record.shard;
        let mut state = keyspace.load(number as usize, alive);
        let mut usage = Usage::default();
        for run in &self.record.runs {
            if is_stopped.load(Relaxed) {
                return Err(NotRead::Stopped);
            }
            let visit = &mut |bytes: &[u8]| {
                state.record::<String>(bytes).map_err(|error| error.to_string())?;
                usage.apply(bytes).map_err(|error| error.to_string())
            };
            reader.visit(number, run, visit)?;
        }
        Ok(Shard { state, usage, unread: Vec::new() })
    }

    fn alive_tables(&self, alive: &Alive) -> impl Iterator<Item = &store::Keys> + Clone {
        self.record.tables.iter().filter(|keys| alive.contains(keys.table))
    }

    fn check_counts(&self, alive: &Alive, found: &[TableCount]) -> Result<(), String> {
        let expected = self.alive_tables(alive).map(|keys| (keys.table, keys.keys, keys.expiring));
        let found = found.iter().map(|count| (count.table, count.keys, count.expiring));
        if expected.clone().eq(found.clone()) {
            return Ok(());
        }
        let (expected, found) = (expected.map(|count| count.1).sum::<u64>(), found.map(|count| count.1).sum::<u64>());
        let shard = self.record.shard;
        Err(format!("shard {shard} of the store has {found} keys where {expected} were stored. {REMEDY}"))
    }
}

const REMEDY: &str = "Restore the data folder from a backup.";

/// Reads a value that was left unread, unless it is stopped.
///
/// # Errors
/// See [`NotRead`].
pub(super) fn read_value(value: &keyspace::Unread, reader: &Reader, is_stopped: &AtomicBool) -> Result<Value, NotRead> {
    let mut source = Source { reader, is_stopped, unread: None };
    let read = value.read(&mut source);
    read.map_err(|error| not_read(value.shard() as u32, source.unread, error))
}

fn not_read(shard: u32, unread: Option<NotRead>, error: LoadError<String>) -> NotRead {
    match (unread, error) {
        (Some(unread), _) => unread,
        (None, LoadError::Value(why)) => NotRead::Fault(why),
        (None, other) => NotRead::Fault(format!("shard {shard} of the store: {other}. {REMEDY}")),
    }
}

/// A source of values whose leaves lie in block segments.
struct Source<'a> {
    reader: &'a Reader,
    is_stopped: &'a AtomicBool,
    /// Why it returned none, if no damage is known.
    unread: Option<NotRead>,
}

impl keyspace::BlockSource for Source<'_> {
    type Error = String;

    fn get(&mut self, kind: ValueType, mut form: &[u8]) -> Result<Value, String> {
        let Self { reader, is_stopped, unread } = self;
        let mut read = |place: blocks::Place, bytes: usize| {
            if is_stopped.load(Relaxed) {
                *unread = Some(NotRead::Stopped);
                return Err("the server stops".to_owned());
            }
            let Some(place) = store::Place::of_number(place.number()) else {
                return Err("a stored value names an invalid block".to_owned());
            };
            reader.block(place, bytes).map_err(|error| {
                if is_lacking(&error) {
                    *unread = Some(NotRead::Lacking(error.to_string()));
                }
                error.to_string()
            })
        };
        let value = Value::of_stored(kind, &mut form, &mut read).map_err(|error| error.to_string())?;
        if form.is_empty() { Ok(value) } else { Err("bytes follow the stored form of a value".to_owned()) }
    }
}
