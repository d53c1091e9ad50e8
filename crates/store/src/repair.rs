//! Repairs a store with one commit, after which it opens and every run can be read.
//!
//! ```text
//! bytes that are damaged      copied to damaged-NAME-OFFSET-n.bin
//! runs that are damaged       written anew, of the pages that are whole
//! segments that are missing   named no more
//! a damaged manifest          renamed to damaged-NAME-n.bin, and segments that it may have named too
//! ```
//!
//! Damaged blocks stay where they are: the store does not know which values name them, and reading them reports the
//! damage.

use crate::check::{Findings, Report, segment_path};
use crate::commit::Commit;
use crate::manifest::Log;
use crate::names;
use crate::segment_scan::SegmentScan;
use crate::state::{Run, ShardRecord, State};
use crate::store::Store;
use crate::window::Window;
use crate::{Options, StoreError};
use base::disk::Disk;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Checks the store, and repairs damage. The report says what was wrong and what is lost.
///
/// # Errors
/// Disk errors, and a store that does not match these options. Then everything committed is unchanged.
pub fn repair(
    disk: Arc<dyn Disk>,
    folder: &Path,
    options: Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, StoreError> {
    let findings = Findings::gather(&*disk, folder, options, progress)?;
    if findings.report.damages.is_empty() {
        return Ok(findings.report);
    }
    Repair { disk, folder, options, findings }.run()
}

struct Repair<'a> {
    disk: Arc<dyn Disk>,
    folder: &'a Path,
    options: Options,
    findings: Findings,
}

impl Repair<'_> {
    fn run(mut self) -> Result<Report, StoreError> {
        let broken = self.broken_shards();
        self.keep_faults()?;
        let mut state = std::mem::replace(&mut self.findings.state, State::new(0));
        let mut records = Vec::new();
        for record in &state.shards {
            let is_here = |segment: u32| self.findings.scans.contains_key(&segment);
            let blocks: Vec<_> = record.blocks.iter().filter(|share| is_here(share.segment)).copied().collect();
            if broken.contains(&record.shard) || blocks != record.blocks {
                records.push(ShardRecord { blocks, ..record.clone() });
            }
        }
        // Set to the files' present lengths: the store opens with what is there.
        for (number, scan) in &self.findings.scans {
            let segment = state.segments.get_mut(number).expect("a scanned segment is part of the state");
            segment.bytes = segment.bytes.min(scan.file_bytes);
        }
        let (disk, folder) = (self.disk.clone(), self.folder);
        let log = Log::new(disk.clone(), folder, self.findings.manifest, self.findings.inventory.highest_manifest());
        let mut store = Store::assemble(disk, folder, self.options, state, log);
        store.doom_strangers(&self.findings.inventory, &[]);
        self.keep_files(&mut store);
        let mut commit = store.begin(self.options.now_ms);
        for record in records {
            let record = self.mend(&mut commit, record)?;
            commit.put_shard(record);
        }
        commit.finish()?;
        store.close()?;
        Ok(self.findings.report)
    }

    /// Returns the shards with a damaged run.
    fn broken_shards(&self) -> BTreeSet<u32> {
        self.findings.report.damages.iter().filter_map(|damage| damage.shard).collect()
    }

    /// Copies damaged bytes, since their segment may be removed.
    fn keep_faults(&mut self) -> Result<(), StoreError> {
        for (number, scan) in &self.findings.scans {
            let path = segment_path(self.folder, &self.findings.state.segments[number]);
            let file = self.disk.open(&path).map_err(StoreError::io(&path))?;
            let mut window = Window::new(&*file).map_err(StoreError::io(&path))?;
            for fault in &scan.faults {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("segment");
                let name = format!("damaged-{name}-{}.bin", fault.offset);
                let aside = self.folder.join(name);
                let bytes = window.at(fault.offset, fault.end - fault.offset).map_err(StoreError::io(&path))?;
                let _ = self.disk.remove(&aside);
                let kept = self.disk.create(&aside).and_then(|mut file| {
                    file.write_at(bytes, 0)?;
                    file.sync()
                });
                kept.map_err(StoreError::io(&aside))?;
                self.findings.report.kept_as.push(aside);
            }
        }
        Ok(())
    }

    /// If the manifest is damaged, renames files that it may have named instead of removing them.
    fn keep_files(&mut self, store: &mut Store) {
        if !self.findings.is_manifest_damaged {
            return;
        }
        let inventory = &self.findings.inventory;
        let manifest = (self.findings.manifest != 0).then(|| names::manifest(self.findings.manifest));
        let is_stranger = |number: &u32| !store.is_alive(*number);
        let strangers = inventory.segments.iter().filter(|(number, _)| is_stranger(number));
        let strangers: Vec<String> = strangers.map(|&(number, kind)| names::segment(number, kind)).collect();
        for name in manifest.into_iter().chain(strangers) {
            let kept = store.keep_aside(&self.folder.join(name));
            self.findings.report.kept_as.extend(kept);
        }
    }

    /// Returns a shard's record with intact runs: rewrites the damaged ones.
    fn mend(&self, commit: &mut Commit<'_>, record: ShardRecord) -> Result<ShardRecord, StoreError> {
        let mut runs = Vec::new();
        for run in &record.runs {
            let Some(scan) = self.findings.scans.get(&run.segment) else { continue };
            if scan.check_run(record.shard, run).is_ok() {
                runs.push(*run);
            } else {
                runs.push(self.copy(commit, record.shard, run, scan)?);
            }
        }
        Ok(ShardRecord { runs, ..record })
    }

    /// Rewrites the records of a run's intact pages.
    fn copy(&self, commit: &mut Commit<'_>, shard: u32, run: &Run, scan: &SegmentScan) -> Result<Run, StoreError> {
        let path = self.folder.join(names::segment(run.segment, crate::SegmentKind::Runs));
        let file = self.disk.open(&path).map_err(StoreError::io(&path))?;
        commit.begin_run(shard, run.is_base)?;
        for page in scan.pages_of(shard, run) {
            let mut failed = None;
            let visited = page.visit(&*file, &mut |record| {
                failed = commit.record(record).err();
                if failed.is_some() { Err(String::new()) } else { Ok(()) }
            });
            match (failed, visited) {
                (Some(error), _) => return Err(error),
                (None, Err(error)) => return Err(StoreError::Io { file: path, error }),
                (None, Ok(())) => {}
            }
        }
        commit.end_run()
    }
}
