//! The folder as a power cut would have left it at any instant of a trace, and what recovery makes of it.
//!
//! The calls are repeated on a fake disk in their order: changes when they begin, syncs when they return. Cutting that
//! disk's power keeps what was synced, and of the rest any sectors and any changes of names.

use crate::power::talk::{Id, Reply, marks};
use crate::power::trace::{Call, Event, NEVER};
use base::disk::{Disk, DiskFile, FakeDisk};
use base::hash::KeyHasher;
use base::limits::SHARDS;
use engine::Gathering;
use journal::{Options, Policy};
use keyspace::{Keyspace, list_of, string_of};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use store::Store;

/// A power cut.
pub(crate) struct Cut {
    /// The last line before it.
    pub(crate) line: usize,
    /// The disk after the cut.
    pub(crate) disk: FakeDisk,
    /// Acknowledged values.
    pub(crate) acknowledged: Vec<Id>,
}

enum Step<'a> {
    Change(&'a Call),
    Synced(&'a Path),
    Acknowledged(&'a [Id]),
}

/// The trace as steps, with the line of each.
pub(crate) struct Film<'a> {
    steps: Vec<(usize, Step<'a>)>,
    starts: Vec<usize>,
    /// Files that get their names or go, and commits of the store.
    turns: Vec<usize>,
}

impl<'a> Film<'a> {
    pub(crate) fn new(events: &'a [Event], replies: &'a [Reply]) -> Self {
        let mut steps: Vec<(usize, Step<'a>)> = Vec::new();
        for event in events {
            match &event.call {
                Call::Sync { path } if event.end != NEVER => steps.push((event.end, Step::Synced(path))),
                Call::Sync { .. } | Call::Sent { .. } | Call::Received { .. } => {}
                call => steps.push((event.begin, Step::Change(call))),
            }
        }
        steps.extend(replies.iter().map(|reply| (reply.line, Step::Acknowledged(&reply.ids))));
        steps.sort_by_key(|step| step.0);
        let (mut starts, mut turns) = (Vec::new(), Vec::new());
        let mut is_starting = false;
        for (index, (_, step)) in steps.iter().enumerate() {
            match step {
                Step::Change(Call::Start { .. }) => is_starting = true,
                Step::Acknowledged(_) => is_starting = false,
                // Room is filled in many writes; one of them is enough.
                Step::Change(Call::Write { bytes, offset, .. }) if *offset > 0 && bytes.iter().all(|&b| b == 0) => {}
                _ if is_starting => starts.push(index),
                Step::Change(Call::Rename { .. } | Call::Remove { .. }) => turns.push(index),
                Step::Change(Call::Write { path, .. }) if path.to_string_lossy().contains("manifest-") => {
                    turns.push(index);
                }
                _ => {}
            }
        }
        Self { steps, starts, turns }
    }

    /// `count` instants at random, as many of the turns, and each step of each start.
    pub(crate) fn instants(&self, count: u64) -> Vec<usize> {
        let steps = self.steps.len() as u64;
        let mut instants: Vec<usize> = (0..count).map(|index| (mixed(index) % steps) as usize).collect();
        instants.extend(&self.starts);
        instants.extend(self.turns.iter().step_by(self.turns.len() / count as usize + 1));
        instants.sort_unstable();
        instants
    }

    /// Cuts the power after each of `instants`, which are in order.
    pub(crate) fn cut(&self, root: &Path, instants: &[usize], mut visit: impl FnMut(Cut)) {
        let disk = new_disk(root);
        let mut acknowledged = Vec::new();
        let mut instants = instants.iter().enumerate().peekable();
        for (index, (line, step)) in self.steps.iter().enumerate() {
            match step {
                Step::Acknowledged(ids) => acknowledged.extend_from_slice(ids),
                Step::Synced(path) => sync(&disk, path).unwrap(),
                Step::Change(call) => change(&disk, call).unwrap_or_else(|error| panic!("line {line}: {error}")),
            }
            while let Some((seed, _)) = instants.next_if(|(_, instant)| **instant == index) {
                let crashed = disk.crash(mixed(seed as u64));
                visit(Cut { line: *line, disk: crashed, acknowledged: acknowledged.clone() });
            }
        }
    }
}

/// A generator's `index`th number (SplitMix64), the same for ever.
fn mixed(index: u64) -> u64 {
    let mut mixed = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// An empty disk on which `root` is and lasts.
fn new_disk(root: &Path) -> FakeDisk {
    let disk = FakeDisk::new();
    disk.create_folder(root).unwrap();
    for folder in root.ancestors().skip(1) {
        disk.sync_folder(folder).unwrap();
    }
    disk
}

fn sync(disk: &FakeDisk, path: &Path) -> io::Result<()> {
    match disk.open(path) {
        Ok(mut file) => file.sync(),
        Err(_) => disk.sync_folder(path),
    }
}

fn change(disk: &FakeDisk, call: &Call) -> io::Result<()> {
    match call {
        Call::MakeFolder { path } => disk.create_folder(path),
        Call::Create { path } => match disk.create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        },
        Call::Write { path, offset, bytes } => disk.open(path)?.write_at(bytes, *offset),
        Call::Resize { path, bytes } => resize(&mut *disk.open(path)?, *bytes),
        Call::Rename { from, to } => disk.rename(from, to),
        Call::Remove { path } => disk.remove(path),
        Call::Start { .. } | Call::Sync { .. } | Call::Received { .. } | Call::Sent { .. } => Ok(()),
    }
}

fn resize(file: &mut dyn DiskFile, bytes: u64) -> io::Result<()> {
    if bytes > file.bytes()? { file.allocate(bytes) } else { file.truncate(bytes) }
}

impl Cut {
    /// Recovers the journal in `folder`, and says which acknowledged values are gone.
    ///
    /// # Errors
    /// In words, why the journal was refused.
    pub(crate) fn lost(&self, folder: &Path) -> Result<Vec<Id>, String> {
        let found = recover(&self.disk, folder)?;
        Ok(self.acknowledged.iter().copied().filter(|id| !found.contains(id)).collect())
    }

    /// Copies what is left of `folder` to a folder of the operating system.
    pub(crate) fn copy(&self, folder: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        // The folder itself may be gone.
        for name in self.disk.list(folder).unwrap_or_default() {
            let file = self.disk.open(&folder.join(&name)).unwrap();
            let mut bytes = vec![0; file.bytes().unwrap() as usize];
            file.read_at(&mut bytes, 0).unwrap();
            std::fs::write(to.join(&name), bytes).unwrap();
        }
    }
}

/// The values that recovery finds.
fn recover(disk: &FakeDisk, folder: &Path) -> Result<BTreeSet<Id>, String> {
    let options = Options::new(Policy::Never, 0);
    let prepared = journal::prepare(Arc::new(disk.clone()), folder, options).map_err(|error| error.to_string())?;
    let mut keyspace = Keyspace::new(KeyHasher::new(prepared.identity.hash_key), 1);
    let identity = u64::from_le_bytes(*prepared.identity.hash_key.first_chunk().expect("16 bytes hold 8"));
    let store_folder = folder.with_file_name("store");
    let store = Store::open(Arc::new(disk.clone()), &store_folder, store::Options::new(identity, 0));
    let store = store.map_err(|error| error.to_string())?;
    keyspace.shut();
    let mut gathering = Gathering::new(&keyspace, &store);
    prepared.open(store.least_position(), &mut gathering).map_err(|error| error.to_string())?;
    gathering.finish(&store).run(&keyspace)?;
    Ok((0..SHARDS).flat_map(|index| values(&keyspace, index)).collect())
}

/// The marks of the values in one shard.
fn values(keyspace: &Keyspace, index: usize) -> Vec<Id> {
    let shard = keyspace.shard(index).try_read().expect("recovery is over");
    let mut ids = Vec::new();
    for (_, entry) in shard.section(keyspace.map().table(0)).into_iter().flat_map(|section| section.scan(0)) {
        if let Some(text) = string_of(entry) {
            ids.extend(marks(&text.to_vec()));
        } else if let Some(list) = list_of(entry) {
            for item in 0..list.len() {
                list.get(item, |bytes| ids.extend(marks(bytes)));
            }
        }
    }
    ids
}
