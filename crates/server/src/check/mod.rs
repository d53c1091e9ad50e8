//! Checking and repairing a data folder: `bobbin check DIR [--repair]`.
//!
//! ```text
//! look    the store's own check, then a start, on a disk whose changes stay in memory      --> sound
//!         refused?  then a repair on such a disk, too                                      --> what it would lose
//! repair  the store's own repair --> all that can be loaded --> shards that lost something stored whole --> look
//!                                    the journal ends where its records are damaged; what follows is kept aside
//! ```
//!
//! If the store covers more of the journal than is left, shards are at different positions and cannot be reconciled.
//! Then all shards are stored whole, as of a position beyond all known ones, and the journal begins there.
//!
//! So a folder is sound if and only if a start accepts it, and the predicted loss of a repair is its actual loss.

mod progress;
mod report;

use crate::open::{JOURNAL_FOLDER, Loaded, Loaders, STORE_FOLDER, Source, store_options};
use crate::startup::{DataFolder, REFUSED, Refused};
use base::clock::system_wall_time;
use base::disk::{Disk, DryDisk, RealDisk};
use base::limits::SHARDS;
use engine::Mended;
use engine::checkpoint::store_shards;
use journal::{Options, Policy, Recovery};
use keyspace::Keyspace;
use progress::Bar;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Exit code for a damaged folder.
pub const DAMAGED: u8 = 1;
/// Databases whose keys are counted separately; keys of further ones count too.
const DATABASES: u32 = 16;

/// Receives the progress: the current step, the amount done, and the total.
pub type CheckProgress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// The contents of a folder.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Keys in all databases.
    pub keys: u64,
    /// The state of the journal.
    pub journal: Recovery,
    /// The position where reading the journal begins.
    pub journal_from: u64,
    /// The state of the store.
    pub store: store::Report,
}

/// The predicted or actual loss of a repair.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The contents afterwards.
    pub facts: Facts,
    /// Shards with actual or possible loss.
    pub mended: Vec<Mended>,
    /// Files that keep the damaged data.
    pub kept_as: Vec<PathBuf>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Damage, with file and offset. Empty: a start accepts the folder.
    pub damages: Vec<String>,
    /// Harmless oddities.
    pub notes: Vec<String>,
    /// The contents; with damage, the known contents are in `repair`.
    pub facts: Option<Facts>,
    /// With damage: the loss by a repair, or why there is none.
    pub repair: Option<Result<Repair, String>>,
}

/// Runs the command.
pub fn run(folder: &Path, repair: bool) -> ExitCode {
    let mut bar = Bar::new();
    let done = check(folder, repair, &mut |what, done, total| bar.report(what, done, total));
    bar.end();
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(DAMAGED),
        Err(refused) => {
            eprintln!("bobbin: {refused}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Checks or repairs. Returns true if the folder is sound in the end.
fn check(folder: &Path, repair: bool, progress: CheckProgress<'_>) -> Result<bool, Refused> {
    if !repair {
        let _held = DataFolder::look_at(folder)?;
        return Ok(say(folder, &look(folder, progress)?));
    }
    let _held = match DataFolder::look_at(folder)? {
        Some(held) => held,
        None => DataFolder::take(folder)?,
    };
    let found = look(folder, progress)?;
    let is_sound = say(folder, &found);
    if matches!(found.repair, Some(Err(_))) || is_sound && !found.has_torn() {
        return Ok(is_sound);
    }
    let repaired = mend(folder, Arc::new(RealDisk), progress)?;
    report::print(&report::repaired(&repaired));
    Ok(say(folder, &look(folder, progress)?))
}

fn say(folder: &Path, found: &Findings) -> bool {
    report::print(&report::found(folder, found));
    found.damages.is_empty()
}

impl Findings {
    /// Returns true if some file ends torn, as after a crash.
    fn has_torn(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.journal.torn.is_some() || facts.store.torn.is_some())
    }
}

/// Checks an unused folder, changing nothing.
///
/// # Errors
/// Fails if it could not be read, or is no data folder.
pub fn look(folder: &Path, progress: CheckProgress<'_>) -> Result<Findings, Refused> {
    let is_there = |name: &str| folder.join(name).is_dir();
    if !is_there(JOURNAL_FOLDER) && !is_there(STORE_FOLDER) {
        return Err(Refused::new(format!("{} is no data folder: it has neither journal nor store", folder.display())));
    }
    let damaged =
        |damages, why: String| Ok(Findings { damages, notes: Vec::new(), facts: None, repair: Some(Err(why)) });
    let source = source(folder, Arc::new(DryDisk::new()));
    let store = match examine_store(&source, progress) {
        Ok(store) => store,
        Err(refused) if refused.is_by_disk() => return Err(refused),
        Err(refused) => {
            let why = "nothing else can be read without the part damaged above".to_owned();
            return damaged(vec![refused.to_string()], why);
        }
    };
    let loaded = source.load(&Loaders::Whole, &mut |done, total, _| progress("reading the journal", done, total));
    let refused = match loaded {
        Ok(loaded) => return Ok(sound(facts(loaded, store).0)),
        Err(refused) if refused.is_by_disk() => return Err(refused),
        Err(refused) => refused,
    };
    let mut damages: Vec<String> = store.damages.iter().map(ToString::to_string).collect();
    if damages.is_empty() {
        damages.push(refused.to_string());
    }
    let repair = match mend(folder, Arc::new(DryDisk::new()), progress) {
        Err(refused) if refused.is_by_disk() => return Err(refused),
        Ok(repair) => Ok(repair),
        Err(why) => {
            let why = why.to_string();
            if !damages.contains(&why) {
                damages.push(why);
            }
            Err("see above what to restore".to_owned())
        }
    };
    Ok(Findings { damages, notes: store.notes, facts: None, repair: Some(repair) })
}

fn sound(facts: Facts) -> Findings {
    let harmless = facts.store.damages.iter();
    let harmless = harmless.map(|damage| {
        format!("{}, byte {}: {}; no stored data is affected", damage.file.display(), damage.offset, damage.why)
    });
    let notes = facts.store.notes.iter().cloned().chain(harmless).collect();
    Findings { damages: Vec::new(), notes, facts: Some(facts), repair: None }
}

/// Returns all keys that a start would load from an unused folder; changes nothing.
///
/// # Errors
/// Fails if a start would be refused.
pub fn load(folder: &Path) -> Result<Keyspace, Refused> {
    let loaded = source(folder, Arc::new(DryDisk::new())).load(&Loaders::Whole, &mut |_, _, _| {})?;
    Ok(loaded.keyspace)
}

/// Repairs an unused folder.
///
/// # Errors
/// Returns what a repair cannot skip. Damaged data still exists, perhaps under another name.
pub fn repair(folder: &Path, progress: CheckProgress<'_>) -> Result<Repair, Refused> {
    mend(folder, Arc::new(RealDisk), progress)
}

fn source(folder: &Path, disk: Arc<dyn Disk>) -> Source<'_> {
    let options = Options::new(Policy::EverySec, system_wall_time()());
    Source { disk, folder, options, databases: DATABASES }
}

fn examine_store(source: &Source<'_>, progress: CheckProgress<'_>) -> Result<store::Report, Refused> {
    let prepared = source.prepare()?;
    let path = source.folder.join(STORE_FOLDER);
    if !path.is_dir() {
        return Ok(store::Report::default());
    }
    if prepared.is_new() {
        let file = source.folder.join(JOURNAL_FOLDER).join("identity");
        return Err(Refused::new(format!(
            "{} is missing, and there is a store. {}",
            file.display(),
            journal::IDENTITY_REMEDY
        )));
    }
    let options = store_options(prepared.identity.hash_key, source.options.now_ms);
    let store_progress = &mut |done, total| progress("reading the store", done, total);
    store::check(&*source.disk, &path, options, store_progress).map_err(|error| source.unstored(&error))
}

fn mend(folder: &Path, disk: Arc<dyn Disk>, progress: CheckProgress<'_>) -> Result<Repair, Refused> {
    let source = source(folder, disk.clone());
    let hash_key = source.prepare()?.identity.hash_key;
    let (path, options) = (folder.join(STORE_FOLDER), store_options(hash_key, source.options.now_ms));
    let mut before = store::Report::default();
    if path.is_dir() {
        let store_progress = &mut |done, total| progress("repairing the store", done, total);
        before =
            store::repair(disk.clone(), &path, options, store_progress).map_err(|error| source.unstored(&error))?;
    }
    let damaged: BTreeSet<u32> = before.damages.iter().filter_map(|damage| damage.shard).collect();
    let journal_progress = &mut |done, total, _| progress("reading the journal", done, total);
    let mut loaded = source.load(&Loaders::Mending(damaged), journal_progress)?;
    let mended = std::mem::take(&mut loaded.mended);
    let has_gap = loaded.opened.recovery.loss.as_ref().is_some_and(|loss| loss.has_gap);
    if has_gap || !mended.is_empty() {
        let shards: Vec<usize> =
            if has_gap { (0..SHARDS).collect() } else { mended.iter().map(|mended| mended.shard).collect() };
        let Loaded { store, keyspace, opened, .. } = &mut loaded;
        let stored = store_shards(store, keyspace, &shards, opened.recovery.end, source.options.now_ms);
        stored.map_err(|error| source.unstored(&error))?;
    }
    let kept_as = before.kept_as.clone();
    let (facts, store) = facts(loaded, before);
    store.close().map_err(|error| source.unstored(&error))?;
    Ok(Repair { facts, mended, kept_as })
}

fn facts(loaded: Loaded, report: store::Report) -> (Facts, store::Store) {
    let Loaded { keyspace, store, opened, .. } = loaded;
    let count = |shard: usize| -> u64 {
        let state = keyspace.shard(shard).try_write().expect("nobody else knows of it");
        let tables = state.tables(&keyspace);
        tables.iter().filter(|counted| counted.table != keyspace::OF_SERVER).map(|counted| counted.keys).sum()
    };
    let keys = (0..SHARDS).map(count).sum();
    (Facts { keys, journal: opened.recovery, journal_from: store.least_position(), store: report }, store)
}
