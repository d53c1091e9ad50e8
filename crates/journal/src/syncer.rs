//! The syncer: syncs written data while the writer continues. Under `everysec` and `never` replies wait for writes, and
//! a sync may take long.
//!
//! ```text
//!   writer   write  write  | request |  write  write  write  | durable: up to the request |  write ...
//!   syncer                           | sync closed segments, folder, segment |
//! ```

use crate::ElapsedUs;
use crate::journal::Journal;
use crate::signal::Alert;
use base::disk::DiskFile;
use std::io;
use std::sync::Arc;
use sync::primitives::lock;

/// One sync request.
pub(crate) struct Job {
    /// Segments no longer written to.
    pub(crate) closed: Vec<Box<dyn DiskFile>>,
    /// A segment was begun.
    pub(crate) is_folder_dirty: bool,
    /// The segment being written.
    pub(crate) written: Box<dyn DiskFile>,
}

impl Job {
    pub(crate) fn run(mut self, journal: &Journal) -> io::Result<()> {
        sync_all(journal, self.closed, self.is_folder_dirty, &mut *self.written)
    }
}

/// Syncs closed segments, the folder if a segment was begun, and then the segment being written, whose records prove
/// that the others exist.
pub(crate) fn sync_all(
    journal: &Journal,
    closed: Vec<Box<dyn DiskFile>>,
    is_folder_dirty: bool,
    written: &mut dyn DiskFile,
) -> io::Result<()> {
    closed.into_iter().try_for_each(|mut file| file.sync())?;
    if is_folder_dirty {
        journal.disk.sync_folder(&journal.folder)?;
    }
    written.sync()
}

/// The state of the sync requested by the writer.
#[derive(Default)]
pub(crate) enum Request {
    /// None requested.
    #[default]
    None,
    Pending(Job),
    Running,
    /// Its result and duration in microseconds.
    Over(io::Result<()>, u64),
}

/// Syncs for a writer; stepped by its own thread.
pub struct Syncer {
    journal: Arc<Journal>,
    elapsed_us: ElapsedUs,
}

impl Syncer {
    pub(crate) fn new(journal: Arc<Journal>, elapsed_us: ElapsedUs) -> Self {
        Self { journal, elapsed_us }
    }

    /// Runs the requested sync. Returns true if there was one.
    pub fn step(&mut self) -> bool {
        let request = &self.journal.sync_request;
        let pending = {
            let mut request = lock(request);
            match std::mem::replace(&mut *request, Request::Running) {
                Request::Pending(job) => Some(job),
                other => {
                    *request = other;
                    None
                }
            }
        };
        let Some(job) = pending else { return false };
        let begun_us = (self.elapsed_us)();
        let result = job.run(&self.journal);
        *lock(request) = Request::Over(result, (self.elapsed_us)().saturating_sub(begun_us));
        self.journal.writer.wake(Alert::Pressure);
        true
    }

    pub(crate) fn has_news(&self) -> bool {
        matches!(*lock(&self.journal.sync_request), Request::Pending(_))
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }
}
