//! FUNCTION LOAD and the other commands on libraries, as commands of a tx.
//!
//! The libraries' key belongs to the tx, so it sees the current libraries, and changes are undone with the tx. Commands
//! on many libraries yield on the way.

use super::catalogue::CataloguePace;
use super::script::Called;
use crate::client::Client;
use crate::script::catalogue::{CatalogueContents, Change, Library};
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::waits::loaded;
use crate::worker::Worker;
use commands::registry::{self, Command, Lookup};
use commands::{Failure, LibrariesReading, LibraryRequest, Outcome, RestorePolicy};
use keyspace::{Absent, FieldExpiry, LIBRARIES, Tx};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use values::hash::PAIR_BYTES_MAX;
use wire::{Args, Output, OwnedRequest, Reply};

/// Milliseconds that a library may take when a request loads it.
const LOAD_MS_MAX: u64 = 500;
/// Maximum bytes that a change of libraries records beside names and sources: in all, and per library.
const RECORDS_BYTES: u64 = 4096;
const RECORD_BYTES: u64 = 64;
/// Maximum number of a payload's libraries stored in the table at once.
const PUT_AT_ONCE: usize = 32;

/// Libraries to be stored, and their sources.
type Fresh = Vec<(Arc<Library>, Vec<u8>)>;

impl Session {
    /// Loads the libraries into `worker` once all data is loaded: so the server reports at start-up how many there are
    /// and which cannot be loaded.
    pub async fn open_libraries(worker: Rc<Worker>) {
        loaded(&worker.engine).await;
        // No library has this name.
        let request = OwnedRequest::of(&["FUNCTION", "LIST", "LIBRARYNAME", "-"]);
        let Lookup::Command(command) = registry::find(&request.args()) else { unreachable!("there is such a command") };
        let mut session = Self::new(worker.clone(), Arc::new(Client::of_server(worker.engine.clock.now())));
        session.is_stand_in = true;
        let why = Suspend::Shards(Vec::new());
        session.run_until_done(&worker, command, &request.args(), why, &mut Output::new()).await;
    }

    /// Runs a command on libraries.
    pub(in crate::session) fn run_library_command(
        &mut self,
        worker: &Rc<Worker>,
        command: &Command,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Outcome {
        self.yielder.iter().for_each(|yielder| yielder.control().begin(true));
        let request = commands::library_request(command, args)?;
        let called =
            Called { command: *command, name: "", args, is_function: true, reads_only: true, gated: tx.is_gated() };
        self.look_at_libraries(worker, &called, tx)?;
        match request {
            LibraryRequest::List { pattern, with_code } => {
                self.list_libraries(worker, pattern, with_code, tx, reply)?;
            }
            LibraryRequest::Dump => self.dump_libraries(tx, reply),
            LibraryRequest::Load { replaces, source } => {
                let name = self.load_one(worker, replaces, source, &called, tx)?;
                reply.bulk(name.as_bytes());
            }
            LibraryRequest::Restore { payload, policy } => {
                self.load_several(worker, payload, policy, &called, tx)?;
                reply.ok();
            }
            LibraryRequest::Delete(name) => {
                let count = tx.of_server(|tx| match tx.hash_mut(LIBRARIES, Absent::Leave)? {
                    Some(mut libraries) => Ok::<_, Failure>(libraries.remove(&[name])?),
                    None => Ok(0),
                })?;
                if count == 0 {
                    return Err(Failure::text("ERR Library not found"));
                }
                self.note_libraries(worker, vec![Change::Remove(String::from_utf8_lossy(name).into())], tx);
                reply.ok();
            }
            LibraryRequest::Flush => {
                self.flush_libraries(worker, tx);
                reply.ok();
            }
        }
        self.unload_gone(worker);
        Ok(())
    }

    fn flush_libraries(&mut self, worker: &Worker, tx: &mut Tx<'_>) {
        tx.of_server(|tx| tx.remove(LIBRARIES));
        self.note_libraries(worker, vec![Change::Flush], tx);
    }

    /// FUNCTION LOAD
    fn load_one(
        &mut self,
        worker: &Rc<Worker>,
        replaces: bool,
        source: &[u8],
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<Arc<str>, Failure> {
        let name = lua::library_header(source).map_err(Failure::text)?.name;
        let catalogue = &worker.engine.scripts.catalogue;
        let is_there = catalogue.look(|contents| contents.find(&name).is_some());
        if is_there && !replaces {
            return Err(Failure::text(format!("ERR Library '{name}' already exists")));
        }
        need_room(&[source], tx)?;
        let library = self.load_fresh(worker, name.into(), source, called, tx)?;
        let clash = catalogue.look(|contents| contents.clash(&library, |other| *other.name != *library.name));
        if let Err(failure) =
            clash.map_or(Ok(()), |function| Err(taken(&function))).and_then(|()| put(&[(&library, source)], tx))
        {
            worker.runner.libraries.borrow_mut().forget(library.number);
            return Err(failure);
        }
        let name = library.name.clone();
        let removed = is_there.then(|| Change::Remove(name.clone()));
        self.note_libraries(worker, removed.into_iter().chain([Change::Add(library)]).collect(), tx);
        Ok(name)
    }

    /// Makes the worker's machine load what is not in the catalogue yet.
    fn load_fresh(
        &mut self,
        worker: &Rc<Worker>,
        name: Arc<str>,
        source: &[u8],
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<Arc<Library>, Failure> {
        let number = worker.engine.scripts.catalogue.number();
        let functions = self.load(worker, number, source, Some(Duration::from_millis(LOAD_MS_MAX)), called, tx)?;
        let library = Arc::new(Library { name, number, functions: functions.into(), source_bytes: source.len() });
        worker.runner.libraries.borrow_mut().add(&library);
        Ok(library)
    }

    /// FUNCTION RESTORE
    fn load_several(
        &mut self,
        worker: &Rc<Worker>,
        payload: &[u8],
        policy: RestorePolicy,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        let sources = self.read_payload(worker, payload)?;
        need_room(&sources, tx)?;
        let mut fresh = Fresh::new();
        let (mut contents, mut pace) = (CatalogueContents::default(), CataloguePace::default());
        let done = self
            .load_all(worker, sources, (&mut fresh, &mut contents), called, tx)
            .and_then(|()| self.check_policy(worker, &fresh, &contents, policy));
        worker.engine.deferred_drop.free(Box::new(contents));
        if let Err(failure) = done {
            for (library, _) in &fresh {
                worker.runner.libraries.borrow_mut().forget(library.number);
                self.rest_after(&mut pace, 1);
            }
            worker.engine.deferred_drop.free(Box::new(fresh));
            return Err(failure);
        }
        if policy == RestorePolicy::Flush {
            self.flush_libraries(worker, tx);
        }
        // Done before any is stored: a new library may have a function of a replaced one.
        for some in fresh.chunks(PUT_AT_ONCE).filter(|_| policy == RestorePolicy::Replace) {
            let removed = some.iter().map(|(library, _)| Change::Remove(library.name.clone()));
            self.note_libraries(worker, removed.collect(), tx);
            self.rest_after(&mut pace, some.len());
        }
        for some in fresh.chunks(PUT_AT_ONCE) {
            let pairs: Vec<_> = some.iter().map(|(library, source)| (library, source.as_slice())).collect();
            put(&pairs, tx)?;
            let added = some.iter().map(|(library, _)| Change::Add(library.clone()));
            self.note_libraries(worker, added.collect(), tx);
            self.rest_after(&mut pace, some.len());
        }
        worker.engine.deferred_drop.free(Box::new(fresh));
        Ok(())
    }

    /// Reads the sources from a payload.
    fn read_payload(&mut self, worker: &Worker, payload: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let (mut reading, mut sources, mut pace) =
            (LibrariesReading::new(payload), Vec::new(), CataloguePace::default());
        let failure = |fault| Failure::text(format!("ERR {fault}"));
        while !reading.check().map_err(failure)? {
            self.go_on_after(worker, &mut pace, 0)?;
        }
        while let Some(source) = reading.next_source().map_err(failure)? {
            sources.push(source);
            self.go_on_after(worker, &mut pace, 1)?;
        }
        Ok(sources)
    }

    /// Loads the libraries of a payload, which must have distinct names.
    fn load_all(
        &mut self,
        worker: &Rc<Worker>,
        sources: Vec<Vec<u8>>,
        (fresh, contents): (&mut Fresh, &mut CatalogueContents),
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        let mut pace = CataloguePace::default();
        for source in sources {
            let name = lua::library_header(&source).map_err(Failure::text)?.name;
            if contents.find(&name).is_some() {
                return Err(Failure::text(format!("ERR Library '{name}' already exists")));
            }
            let library = self.load_fresh(worker, name.into(), &source, called, tx)?;
            fresh.push((library.clone(), source));
            if let Some(function) = contents.clash(&library, |_| true) {
                return Err(taken(&function));
            }
            contents.add(library);
            self.unload_gone(worker);
            self.go_on_after(worker, &mut pace, 1)?;
        }
        Ok(())
    }

    /// Checks that libraries may be added to the existing ones that stay.
    fn check_policy(
        &mut self,
        worker: &Worker,
        fresh: &Fresh,
        contents: &CatalogueContents,
        policy: RestorePolicy,
    ) -> Result<(), Failure> {
        if policy == RestorePolicy::Flush {
            return Ok(());
        }
        let (catalogue, mut pace) = (&worker.engine.scripts.catalogue, CataloguePace::default());
        if policy == RestorePolicy::Append {
            for (library, _) in fresh {
                if catalogue.look(|known| known.find(&library.name).is_some()) {
                    return Err(Failure::text(format!("ERR Library {} already exists", library.name)));
                }
                self.go_on_after(worker, &mut pace, 1)?;
            }
        }
        // With other policies, libraries of the same name are replaced.
        let stays = |other: &Library| policy == RestorePolicy::Append || contents.find(&other.name).is_none();
        for (library, _) in fresh {
            if let Some(function) = catalogue.look(|known| known.clash(library, stays)) {
                return Err(taken(&function));
            }
            self.go_on_after(worker, &mut pace, 1)?;
        }
        Ok(())
    }
}

fn taken(function: &str) -> Failure {
    Failure::text(format!("ERR Function {function} already exists"))
}

/// Asks for journal room before anything is compiled.
fn need_room<S: AsRef<[u8]>>(sources: &[S], tx: &Tx<'_>) -> Result<(), Failure> {
    if sources.iter().any(|source| 2 * source.as_ref().len() > PAIR_BYTES_MAX) {
        return Err(Failure::text("ERR the library is too long"));
    }
    // A name is part of its source.
    let bytes: u64 = sources.iter().map(|source| 4 * source.as_ref().len() as u64 + RECORD_BYTES).sum();
    Ok(tx.need_room(bytes + RECORDS_BYTES)?)
}

/// Stores libraries in the table.
fn put(libraries: &[(&Arc<Library>, &[u8])], tx: &mut Tx<'_>) -> Result<(), Failure> {
    let pairs: Vec<&[u8]> = libraries.iter().flat_map(|(library, source)| [library.name.as_bytes(), *source]).collect();
    tx.of_server(|tx| match tx.hash_mut(LIBRARIES, Absent::Create)? {
        Some(mut registry) => Ok(registry.put(&pairs, FieldExpiry::Clear).map(drop)?),
        None => unreachable!("it is made"),
    })
}
