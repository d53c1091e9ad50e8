//! The threads of a journal: for the writer, the preallocator and the syncer. Each sleeps until there is news worth
//! waking for.

use crate::journal::Journal;
use crate::preallocator::Preallocator;
use crate::signal::Alert;
use crate::syncer::Syncer;
use crate::writer::{Step, Writer};
use std::sync::Arc;
use sync::primitives::atomic::Ordering;
use sync::primitives::lock;
use sync::primitives::thread::{self, JoinHandle};

/// Rest of the writer of a poisoned journal, which only discards frames.
const POISONED_REST_US: u64 = 5_000;

/// Rest of an idle syncer.
const SYNCER_REST_US: u64 = 10_000_000;

/// A journal with its threads running.
pub struct Running {
    journal: Arc<Journal>,
    writer: JoinHandle<Result<(), String>>,
    preallocator: JoinHandle<()>,
    syncer: JoinHandle<()>,
}

impl Running {
    /// Starts the threads.
    pub fn start(mut writer: Writer, preallocator: Preallocator) -> Self {
        let journal = writer.journal().clone();
        let named = |name: &str| thread::Builder::new().name(name.into());
        let reason = "the operating system gives three threads";
        let syncer = writer.sync_apart();
        *lock(&journal.shared_writer) = Some(writer);
        let writing = journal.clone();
        let syncer = named("journal-syncer").spawn(|| sync(syncer)).expect(reason);
        let writer = named("journal-writer").spawn(move || write(&writing)).expect(reason);
        let preallocator = named("journal-maker").spawn(|| make(preallocator)).expect(reason);
        Self { journal, writer, preallocator, syncer }
    }

    /// Stops cleanly. No thread may hand over frames any more.
    ///
    /// # Errors
    /// A description of why the stop was not clean.
    pub fn stop(self) -> Result<(), String> {
        self.journal.stopping.store(true, Ordering::SeqCst);
        self.journal.writer.wake(Alert::Pressure);
        self.journal.preallocator.wake(Alert::Pressure);
        self.journal.syncer.wake(Alert::Pressure);
        self.syncer.join().expect("the syncer's thread aborts rather than panics");
        self.preallocator.join().expect("the maker's thread aborts rather than panics");
        self.writer.join().expect("the writer's thread aborts rather than panics")
    }
}

fn write(journal: &Journal) -> Result<(), String> {
    const THERE: &str = "the writer is there until its thread ends";
    while !journal.stopping.load(Ordering::SeqCst) {
        let step = lock(&journal.shared_writer).as_mut().expect(THERE).step();
        let (us, alert) = match step {
            Step::Rest { us, alert } => (us, alert),
            Step::Poisoned => (POISONED_REST_US, Alert::Pressure),
            Step::Synced => {
                let_others_write(journal);
                continue;
            }
            Step::Wrote | Step::Rolled | Step::Marked => continue,
        };
        journal.writer.arm(alert);
        let has_news = || lock(&journal.shared_writer).as_mut().expect(THERE).has_news(alert);
        if journal.stopping.load(Ordering::SeqCst) || !journal.is_poisoned() && has_news() {
            journal.writer.disarm();
        } else {
            journal.writer.rest(us);
            let_others_write(journal);
        }
    }
    let writer = lock(&journal.shared_writer).take().expect(THERE);
    writer.stop()
}

/// While several write with [`crate::Policy::Always`], passes the processor to workers that wait for it: what they write
/// then goes with the next sync, not with one of its own. Where a processor is free this takes a microsecond.
fn let_others_write(journal: &Journal) {
    if lock(&journal.shared_writer).as_ref().is_some_and(Writer::may_gather) {
        thread::yield_now();
    }
}

fn make(mut preallocator: Preallocator) {
    let journal = preallocator.journal().clone();
    while !journal.stopping.load(Ordering::SeqCst) {
        let Some(us) = preallocator.step() else { continue };
        journal.preallocator.arm(Alert::Frame);
        if journal.stopping.load(Ordering::SeqCst) || preallocator.has_news() {
            journal.preallocator.disarm();
        } else {
            journal.preallocator.rest(us);
        }
    }
}

fn sync(mut syncer: Syncer) {
    let journal = syncer.journal().clone();
    while !journal.stopping.load(Ordering::SeqCst) {
        if syncer.step() {
            continue;
        }
        journal.syncer.arm(Alert::Frame);
        if journal.stopping.load(Ordering::SeqCst) || syncer.has_news() {
            journal.syncer.disarm();
        } else {
            journal.syncer.rest(SYNCER_REST_US);
        }
    }
}
