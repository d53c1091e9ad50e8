//! Checks a store without changing it: every checksum, run and block, against the manifest.

use crate::names::{self, Inventory};
use crate::segment_scan::{SegmentScan, scan};
use crate::state::{Run, SegmentKind, SegmentRecord, ShardRecord, State};
use crate::store::{Torn, check_head, judge};
use crate::{Options, StoreError, manifest};
use base::Position;
use base::disk::Disk;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The contents of a store, and the damage found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of the last commit.
    pub commit: u64,
    /// The journal is needed from this position on.
    pub least_position: Position,
    /// Number of non-empty shards.
    pub shards: u64,
    /// Named runs that are intact.
    pub runs: u64,
    /// Records in them.
    pub records: u64,
    /// Intact blocks, named or not.
    pub blocks: u64,
    /// Named segments that exist.
    pub segments: u64,
    /// Bytes read.
    pub bytes: u64,
    /// A last record that does not count, as after a power cut.
    pub torn: Option<Torn>,
    /// Damage found. Empty: the store opens, and every run can be read.
    pub damages: Vec<Damage>,
    /// Oddities without consequence.
    pub notes: Vec<String>,
    /// After a repair: files with the bytes cut off.
    pub kept_as: Vec<PathBuf>,
}

/// A piece of damage, and what a repair loses by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file concerned.
    pub file: PathBuf,
    /// Offset in the file.
    pub offset: u64,
    /// A description of the damage.
    pub why: String,
    /// The shard whose run is damaged; `None` for damage in the manifest or in blocks.
    pub shard: Option<u32>,
    /// Records of that run lost by a repair.
    pub records_lost: u64,
    /// A description of what a repair loses.
    pub loss: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}, byte {}: {}; lost: {}", self.file.display(), self.offset, self.why, self.loss)
    }
}

/// Reads everything and reports damage. `progress` gets the bytes done and the total.
///
/// # Errors
/// Disk errors, and a store that does not match these options. Damage is in the report.
pub fn check(
    disk: &dyn Disk,
    folder: &Path,
    options: Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, StoreError> {
    Ok(Findings::gather(disk, folder, options, progress)?.report)
}

/// The findings of a check, for a report or a repair.
pub(crate) struct Findings {
    pub(crate) report: Report,
    pub(crate) inventory: Inventory,
    /// Number of the manifest; 0 if there is none.
    pub(crate) manifest: u32,
    /// Durable commits are lost.
    pub(crate) is_manifest_damaged: bool,
    pub(crate) state: State,
    pub(crate) scans: BTreeMap<u32, SegmentScan>,
}

impl Findings {
    pub(crate) fn gather(
        disk: &dyn Disk,
        folder: &Path,
        options: Options,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, StoreError> {
        let inventory = Inventory::of(&disk.list(folder).map_err(StoreError::io(folder))?);
        let mut findings = Self {
            report: Report::default(),
            manifest: inventory.manifests.last().copied().unwrap_or(0),
            inventory,
            is_manifest_damaged: false,
            state: State::new(options.shards),
            scans: BTreeMap::new(),
        };
        findings.read_manifest(disk, folder, &options)?;
        findings.read_segments(disk, folder, progress)?;
        findings.check_runs(folder);
        findings.check_blocks(folder);
        findings.count();
        Ok(findings)
    }

    fn read_manifest(&mut self, disk: &dyn Disk, folder: &Path, options: &Options) -> Result<(), StoreError> {
        let path = folder.join(names::manifest(self.manifest.max(1)));
        if self.manifest == 0 {
            if !self.inventory.segments.is_empty() {
                self.manifest_damage(&path, 0, "the manifest is missing".into(), "everything".into());
            }
            return Ok(());
        }
        let bytes = manifest::load(disk, &path)?;
        self.report.bytes += bytes.len() as u64;
        let walk = match manifest::walk(&bytes) {
            Ok(mut walk) => {
                check_head(&walk, self.manifest, options).map_err(|why| StoreError::damaged(&path, 0, why))?;
                walk.state.forget_dead();
                walk
            }
            Err((offset, why)) => {
                self.salvage(&path, &bytes, options, (offset, why));
                return Ok(());
            }
        };
        match judge(disk, folder, &path, &bytes, &walk, &self.inventory) {
            Ok((opening, _)) => {
                self.report.torn = opening.torn;
                let note = |path: &PathBuf| format!("{} is intact, but no commit names it", path.display());
                self.report.notes.extend(opening.unclaimed.iter().map(note));
                self.state = walk.state;
            }
            // A missing or short segment is reported run by run.
            Err(StoreError::Damaged { file, .. }) if file != path => self.state = walk.state,
            Err(StoreError::Damaged { offset, why, .. }) => self.salvage(&path, &bytes, options, (offset, why)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes the intact parts of a damaged manifest.
    fn salvage(&mut self, path: &Path, bytes: &[u8], options: &Options, found: (u64, String)) {
        let mut salvage = manifest::salvage(bytes, self.manifest, options.shards);
        salvage.state.forget_dead();
        self.state = salvage.state;
        for (offset, why, loss) in salvage.damages {
            self.manifest_damage(path, offset, why, loss);
        }
        if self.report.damages.is_empty() {
            let loss = format!("all commits after {}", self.state.commit);
            self.manifest_damage(path, found.0, found.1, loss);
        }
    }

    fn manifest_damage(&mut self, path: &Path, offset: u64, why: String, loss: String) {
        self.is_manifest_damaged = true;
        let file = path.to_owned();
        self.report.damages.push(Damage { file, offset, why, shard: None, records_lost: 0, loss });
    }

    fn read_segments(
        &mut self,
        disk: &dyn Disk,
        folder: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), StoreError> {
        let bytes_total = self.state.segments.values().fold(0u64, |sum, segment| sum.saturating_add(segment.bytes));
        let mut bytes_done = 0;
        progress(bytes_done, bytes_total);
        for segment in self.state.segments.values() {
            let path = segment_path(folder, segment);
            let file = match disk.open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(StoreError::Io { file: path, error }),
            };
            let mut scan_progress = |bytes: u64| {
                bytes_done += bytes;
                progress(bytes_done.min(bytes_total), bytes_total);
            };
            let scan = scan(&*file, segment, &mut scan_progress).map_err(StoreError::io(&path))?;
            for blemish in &scan.blemishes {
                let (offset, why) = (blemish.offset, &blemish.why);
                self.report.notes.push(format!("{}, byte {offset}: {why}", path.display()));
            }
            self.report.bytes += scan.file_bytes;
            self.scans.insert(segment.number, scan);
        }
        progress(bytes_total, bytes_total);
        Ok(())
    }

    /// Checks every run that a shard names.
    fn check_runs(&mut self, folder: &Path) {
        for (shard, run) in self.runs() {
            let segment = &self.state.segments[&run.segment];
            let file = segment_path(folder, segment);
            let Some(scan) = self.scans.get(&run.segment) else {
                let why = "the file is missing, and the manifest names it".into();
                self.run_damage(file, 0, why, shard, &run, run.records);
                continue;
            };
            match scan.check_run(shard, &run) {
                Ok(()) => {
                    self.report.runs += 1;
                    self.report.records += run.records;
                }
                Err((offset, why)) => {
                    let left: u64 = scan.pages_of(shard, &run).map(|page| u64::from(page.head.records)).sum();
                    self.run_damage(file, offset, why, shard, &run, run.records.saturating_sub(left));
                }
            }
        }
        self.check_overlaps(folder);
    }

    /// Returns all runs with their shards, in file order.
    fn runs(&self) -> Vec<(u32, Run)> {
        let of_shard = self.state.shards.iter();
        let mut runs: Vec<_> = of_shard.flat_map(|record| record.runs.iter().map(|run| (record.shard, *run))).collect();
        runs.sort_by_key(|(_, run)| (run.segment, run.offset));
        runs
    }

    fn check_overlaps(&mut self, folder: &Path) {
        let runs: Vec<_> = self.runs().into_iter().filter(|(_, run)| run.bytes > 0).collect();
        for pair in runs.windows(2) {
            let ((one, before), (other, after)) = (pair[0], pair[1]);
            if before.segment == after.segment && before.offset + before.bytes > after.offset {
                let file = segment_path(folder, &self.state.segments[&after.segment]);
                let why = format!("a run of shard {one} and one of shard {other} overlap");
                self.run_damage(file, after.offset, why, other, &after, 0);
            }
        }
    }

    fn run_damage(&mut self, file: PathBuf, offset: u64, why: String, shard: u32, run: &Run, records_lost: u64) {
        let what = if run.is_base { "whole state" } else { "changes" };
        let loss = format!("{records_lost} of {} records of the {what} of shard {shard}", run.records);
        self.report.damages.push(Damage { file, offset, why, shard: Some(shard), records_lost, loss });
    }

    /// Reports damaged blocks, and segments of either kind that are shorter than they were.
    fn check_blocks(&mut self, folder: &Path) {
        for segment in self.state.segments.values() {
            let is_blocks = segment.kind == SegmentKind::Blocks;
            let loss =
                if is_blocks { self.loss_of_blocks(segment.number) } else { "nothing beyond the damage listed".into() };
            let mut damage = |offset: u64, why: String| {
                let (file, loss) = (segment_path(folder, segment), loss.clone());
                self.report.damages.push(Damage { file, offset, why, shard: None, records_lost: 0, loss });
            };
            let scan = match self.scans.get(&segment.number) {
                Some(scan) => scan,
                None if is_blocks => {
                    damage(0, "the file is missing, and the manifest names it".into());
                    continue;
                }
                None => continue,
            };
            scan.faults.iter().filter(|_| is_blocks).for_each(|fault| damage(fault.offset, fault.why.clone()));
            if scan.file_bytes < segment.bytes {
                damage(scan.file_bytes, format!("the file ends here, it was {} bytes long", segment.bytes));
            }
            self.report.blocks += scan.blocks;
        }
    }

    fn loss_of_blocks(&self, segment: u32) -> String {
        let names_it = |record: &&ShardRecord| record.blocks.iter().any(|share| share.segment == segment);
        let naming: Vec<String> =
            self.state.shards.iter().filter(names_it).map(|record| record.shard.to_string()).collect();
        format!("any values with blocks in this segment, in shards {}", naming.join(", "))
    }

    fn count(&mut self) {
        self.report.commit = self.state.commit;
        self.report.least_position = self.state.least_position();
        self.report.segments = self.scans.len() as u64;
        let holds = self.state.shards.iter().filter(|record| !record.runs.is_empty());
        self.report.shards = holds.count() as u64;
    }
}

pub(crate) fn segment_path(folder: &Path, segment: &SegmentRecord) -> PathBuf {
    folder.join(names::segment(segment.number, segment.kind))
}
