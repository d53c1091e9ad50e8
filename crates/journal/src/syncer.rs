//! The syncer: syncs what has been written while the writer goes on writing. Under `everysec` and `never` replies wait for
//! writes, and a sync may take long.
//!
//! ```text
//!   writer   write  write  | ask  | write  write  write  | told: durable up to where it asked |  write ...
//!   syncer                 | sync closed segments, folder, segment |
//! ```

use crate::ElapsedUs;
use crate::front::Journal;
use crate::signal::Alert;
use base::disk::DiskFile;
use std::io;
use std::sync::Arc;
use sync::primitives::lock;

/// What is to be synced.
pub(crate) struct Job {
    /// Segments that are written to no more.
    pub(crate) closed: Vec<Box<dyn DiskFile>>,
    /// A segment was begun.
    pub(crate) is_folder_dirty: bool,
    /// The segment being written.
    pub(crate) written: Box<dyn DiskFile>,
}

impl Job {
    /// In the order in which a power cut may take what is written: the last one says that the others are there.
    pub(crate) fn run(mut self, journal: &Journal) -> io::Result<()> {
        self.closed.iter_mut().try_for_each(|file| file.sync())?;
        if self.is_folder_dirty {
            journal.disk.sync_folder(&journal.folder)?;
        }
        self.written.sync()
    }
}

/// Where a job lies.
#[derive(Default)]
pub(crate) enum Desk {
    /// There is none.
    #[default]
    Empty,
    Asked(Job),
    UnderWay,
    /// How it ended, and how long it took, in microseconds.
    Over(io::Result<()>, u64),
}

/// Syncs for a writer; to be stepped by a thread of its own.
pub struct Syncer {
    journal: Arc<Journal>,
    elapsed_us: ElapsedUs,
}

impl Syncer {
    pub(crate) fn new(journal: Arc<Journal>, elapsed_us: ElapsedUs) -> Self {
        Self { journal, elapsed_us }
    }

    /// Does what it is asked for; whether it was asked.
    pub fn step(&mut self) -> bool {
        let desk = &self.journal.desk;
        let asked = {
            let mut desk = lock(desk);
            match std::mem::replace(&mut *desk, Desk::UnderWay) {
                Desk::Asked(job) => Some(job),
                other => {
                    *desk = other;
                    None
                }
            }
        };
        let Some(job) = asked else { return false };
        let begun_us = (self.elapsed_us)();
        let result = job.run(&self.journal);
        *lock(desk) = Desk::Over(result, (self.elapsed_us)().saturating_sub(begun_us));
        self.journal.writer.wake(Alert::Pressure);
        true
    }

    pub(crate) fn has_news(&self) -> bool {
        matches!(*lock(&self.journal.desk), Desk::Asked(_))
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }
}
