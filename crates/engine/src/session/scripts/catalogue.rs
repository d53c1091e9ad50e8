//! A session and the catalogue of libraries: updates, changes and undoes it with the tx, and makes the worker's machine
//! load called libraries.

use super::script::{Called, Cut};
use crate::script::catalogue::{CatalogueChanges, CatalogueContents, Change, Library, UndoStep};
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::worker::Worker;
use base::instant::Instant;
use commands::Failure;
use keyspace::{LIBRARIES, Tx};
use lua::{Answer, Flags, Input, Registered};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use values::Hash;

/// Libraries looked at before others have their turn, however quick that was.
const LIBRARIES_AT_ONCE: usize = 512;
/// Libraries looked at under one hold of the catalogue's lock.
pub(in crate::session) const LOOKED_AT_ONCE: usize = 64;

/// Why a library is not loaded.
pub(in crate::session) enum Unloaded {
    /// Loading was cut short and may succeed another time.
    Cut(Failure),
    /// It cannot be loaded.
    Broken(String),
}

impl From<Unloaded> for Failure {
    fn from(why: Unloaded) -> Self {
        match why {
            Unloaded::Cut(failure) => failure,
            Unloaded::Broken(text) => Self::text(text),
        }
    }
}

/// Work done since others had their turn.
#[derive(Default)]
pub(in crate::session) struct CataloguePace {
    libraries: usize,
}

impl Session {
    /// Yields if it is time, after work on `libraries` more. Only on a script runner, where all locks stay held.
    pub(in crate::session) fn rest_after(&self, pace: &mut CataloguePace, libraries: usize) {
        let Some(yielder) = &self.yielder else { return };
        pace.libraries += libraries;
        if pace.libraries >= LIBRARIES_AT_ONCE {
            pace.libraries = 0;
            yielder.rest_now();
        } else {
            yielder.yield_if_due(Instant::now(), |_| ());
        }
    }

    /// Like [`Session::rest_after`], while nothing has been changed yet.
    ///
    /// # Errors
    /// The server is stopping, or the running function was killed.
    pub(in crate::session) fn go_on_after(
        &mut self,
        worker: &Worker,
        pace: &mut CataloguePace,
        libraries: usize,
    ) -> Result<(), Failure> {
        self.rest_after(pace, libraries);
        if worker.engine.scripts.is_stopping() {
            self.lack = Some(Suspend::Stopping);
            return Err(Failure::Nothing);
        }
        if self.yielder.as_ref().is_some_and(|yielder| yielder.control().is_killed()) {
            return Err(Failure::text("ERR Script killed by user with FUNCTION KILL."));
        }
        Ok(())
    }

    /// Returns the function of this name, loaded in the worker's machine.
    pub(in crate::session) fn function(
        &mut self,
        worker: &Rc<Worker>,
        name: &[u8],
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Arc<str>, u64, Flags), Failure> {
        self.look_at_libraries(worker, called, tx)?;
        let known = worker.runner.libraries.borrow().function(name);
        known.map_or_else(|| self.function_anew(worker, name, called, tx), Ok)
    }

    /// Returns a function not called on this worker since libraries changed; loads its library if necessary.
    #[cold]
    fn function_anew(
        &mut self,
        worker: &Rc<Worker>,
        name: &[u8],
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Arc<str>, u64, Flags), Failure> {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let found = worker.engine.scripts.catalogue.look(|contents| contents.function(&name).cloned());
        let (library, at) = found.ok_or(Failure::text("ERR Function not found"))?;
        let is_loaded = worker.runner.libraries.borrow().has(library.number);
        if !is_loaded {
            let source = source_of(&library.name, tx).unwrap_or_default();
            let loaded = self.load(worker, library.number, &source, None, called, tx);
            if let Err(Unloaded::Broken(text)) = &loaded
                && worker.runner.libraries.borrow_mut().note_broken(library.number)
            {
                // Another worker has loaded it.
                worker.engine.scripts.log(3, &broken(&library.name, text));
            }
            loaded?;
        }
        let known = worker.runner.libraries.borrow_mut().call(&library, at);
        self.unload_gone(worker);
        Ok(known)
    }

    /// Brings worker and catalogue up to date with the libraries.
    #[inline]
    pub(in crate::session) fn look_at_libraries(
        &mut self,
        worker: &Rc<Worker>,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        let change = worker.runner.libraries.borrow().change(tx);
        change.map_or(Ok(()), |found| self.look_anew(worker, found, called, tx))
    }

    #[cold]
    fn look_anew(
        &mut self,
        worker: &Rc<Worker>,
        found: Hash,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        let catalogue = &worker.engine.scripts.catalogue;
        if !catalogue.is_of(&found) {
            self.build(worker, &found, called, tx)?;
        }
        let before = worker.runner.libraries.borrow_mut().see(found);
        let is_due = worker.runner.libraries.borrow_mut().begin_sweep(catalogue.removals());
        if !is_due {
            return Ok(());
        }
        // After many changes, much of the old state may have no other reference.
        worker.engine.deferred_drop.free(Box::new(before));
        let (mut at, mut pace) = (Some(0), CataloguePace::default());
        while let Some(number) = at {
            let mut libraries = worker.runner.libraries.borrow_mut();
            at = catalogue.look(|contents| libraries.sweep(number, LOOKED_AT_ONCE, contents));
            drop(libraries);
            self.rest_after(&mut pace, LOOKED_AT_ONCE);
        }
        self.unload_gone(worker);
        Ok(())
    }

    /// Builds the catalogue from a table without recorded changes, as at start-up: loads each library once to learn
    /// what it registers.
    fn build(
        &mut self,
        worker: &Rc<Worker>,
        table: &Hash,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        let scripts = &worker.engine.scripts;
        let (mut contents, mut warnings, mut pace) =
            (CatalogueContents::default(), Vec::new(), CataloguePace::default());
        let mut at = 0;
        while let Some((name, source)) = library_at(table, at) {
            at += 1;
            let number = scripts.catalogue.number();
            let functions = match self.load(worker, number, &source, None, called, tx) {
                Ok(functions) => functions,
                Err(Unloaded::Cut(failure)) => return Err(failure),
                Err(Unloaded::Broken(text)) => {
                    // It could be loaded when it was stored: its calls fail now, and nothing else does.
                    warnings.push(broken(&name, &text));
                    Vec::new()
                }
            };
            let library = Library { name, number, functions: functions.into(), source_bytes: source.len() };
            let library = Arc::new(library);
            if !library.functions.is_empty() {
                worker.runner.libraries.borrow_mut().add(&library);
            }
            if contents.find(&library.name).is_none() {
                contents.add(library);
            }
            self.unload_gone(worker);
            self.go_on_after(worker, &mut pace, 1)?;
            if scripts.catalogue.is_of(table) {
                break;
            }
        }
        let (counts, mut table) = (contents.counts(), table.clone());
        if scripts.catalogue.install(&mut table, &mut contents) {
            warnings.iter().for_each(|text| scripts.log(3, text));
            scripts.note_library_counts(counts);
        }
        worker.engine.deferred_drop.free(Box::new((table, contents)));
        Ok(())
    }

    /// Makes the worker's machine load a library; returns what it registers, which is not empty.
    pub(in crate::session) fn load(
        &mut self,
        worker: &Rc<Worker>,
        number: u64,
        source: &[u8],
        limit: Option<Duration>,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<Vec<Registered>, Unloaded> {
        let header = lua::library_header(source).map_err(Unloaded::Broken)?;
        let (cut, outcome) = self.drive(worker, Input::Load(number, header.code.into()), limit, called, tx);
        let error_text = |text: &str| format!("ERR Error registering functions: ERR {text}");
        let why = match (cut, outcome) {
            (Some(Cut::NotNow(why)), _) => {
                self.lack = Some(why);
                Unloaded::Cut(Failure::Nothing)
            }
            (Some(Cut::Killed), _) => {
                Unloaded::Cut(Failure::text(error_text("Script killed by user with SCRIPT KILL...")))
            }
            (Some(Cut::TooLong), _) => Unloaded::Broken(error_text("FUNCTION LOAD timeout")),
            (None, Ok(Answer::Functions(functions))) if !functions.is_empty() => return Ok(functions),
            (None, Ok(_)) => Unloaded::Broken("ERR No functions registered".to_owned()),
            (None, Err(fault)) => Unloaded::Broken(fault.reply_text("")),
        };
        worker.runner.libraries.borrow_mut().forget_failed(number);
        Err(why)
    }

    /// Makes the worker's machine unload removed libraries, if it is worth it.
    pub(in crate::session) fn unload_gone(&self, worker: &Rc<Worker>) {
        let mut pace = CataloguePace::default();
        loop {
            let gone = worker.runner.libraries.borrow_mut().take_gone();
            let Some(numbers) = gone else { return };
            let count = numbers.len();
            worker.runner.machine(worker).go(Input::Unload(numbers));
            self.rest_after(&mut pace, count);
        }
    }

    /// Records changes of the table in the catalogue, to be undone with the tx.
    pub(in crate::session) fn note_libraries(&mut self, worker: &Worker, changes: Vec<Change>, tx: &mut Tx<'_>) {
        let table = tx.of_server(|tx| tx.hash(LIBRARIES).ok().flatten().cloned()).unwrap_or_default();
        let outbox = self.outbox.get_or_insert_default();
        worker.engine.scripts.catalogue.change(changes, table, &mut outbox.library_changes);
    }

    /// Publishes the tx's library changes when it ends. Its shards are held.
    pub(in crate::session) fn publish_library_changes(&mut self, worker: &Worker) -> Option<CatalogueChanges> {
        let changes = self.outbox.as_mut()?.library_changes.take()?;
        let scripts = &worker.engine.scripts;
        scripts.note_library_counts(scripts.catalogue.counts());
        Some(changes)
    }

    /// Makes the worker's machine forget what the ended tx has removed.
    pub(in crate::session) fn forget_removed(&self, worker: &Rc<Worker>, changes: CatalogueChanges) {
        let (mut pace, deferred_drop) = (CataloguePace::default(), &worker.engine.deferred_drop);
        if changes.done.iter().any(|done| matches!(done, UndoStep::Flushed(_))) {
            deferred_drop.free(Box::new(changes.before));
        }
        for done in changes.done {
            let libraries = &worker.runner.libraries;
            match done {
                UndoStep::Added(_) => {}
                UndoStep::Removed(library) => libraries.borrow_mut().forget(library.number),
                UndoStep::Flushed(contents) => {
                    let garbage = libraries.borrow_mut().forget_all();
                    deferred_drop.free(Box::new((contents, garbage)));
                }
            }
            self.rest_after(&mut pace, 1);
        }
        self.unload_gone(worker);
    }

    /// Undoes the library changes of an abandoned tx. Its shards are held.
    pub(in crate::session) fn undo_libraries(&mut self, worker: &Rc<Worker>) {
        let changes = self.outbox.as_mut().and_then(|outbox| outbox.library_changes.take());
        let Some(mut changes) = changes else { return };
        let mut pace = CataloguePace::default();
        while let Some(gone) = worker.engine.scripts.catalogue.undo(&mut changes) {
            if let Some(library) = gone {
                worker.runner.libraries.borrow_mut().forget(library.number);
            }
            self.rest_after(&mut pace, 1);
        }
        self.unload_gone(worker);
    }
}

fn broken(name: &str, why: &str) -> String {
    format!("function library {name} cannot be loaded: {why}")
}

/// Returns the source of a library as in the table. O(log n).
pub(in crate::session) fn source_of(name: &str, tx: &mut Tx<'_>) -> Option<Vec<u8>> {
    let now = tx.now();
    tx.of_server(|tx| tx.hash(LIBRARIES).ok()??.get(name.as_bytes(), now, |pair| pair.value.to_vec()))
}

/// Returns the name and source of the library at this position in the table. O(log n).
fn library_at(table: &Hash, at: u64) -> Option<(Arc<str>, Vec<u8>)> {
    let mut found = None;
    let _ = table.walk_from(at, &mut |pair| {
        found = Some((String::from_utf8_lossy(pair.field).into(), pair.value.to_vec()));
        ControlFlow::Break(())
    });
    found
}
