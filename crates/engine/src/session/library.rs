//! FUNCTION LOAD and what else touches libraries, as rows of a tx; and the function that FCALL names.
//!
//! The key of libraries is among the tx's, so what is seen is what is there, and what is changed is undone with the tx.

use super::script::{Called, Cut};
use super::{NotNow, Session};
use crate::client::Client;
use crate::script::libraries::{Library, clash};
use crate::waits::loaded;
use crate::worker::Worker;
use base::glob::{Case, matches};
use commands::table::{self, Found, Row};
use commands::{Failure, LibraryRequest, Outcome, RestorePolicy};
use keyspace::{Absent, FieldExpiry, LIBRARIES, Tx};
use kinds::hash::PAIR_BYTES_MAX;
use lua::{Answer, Flags, Tell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use wire::{Args, Output, OwnedRequest, Reply};

/// For so long a library may take to be loaded by a request.
const LOAD_MS_MAX: u64 = 500;
/// What a change of libraries records beside their names and sources, and beside each of them, in bytes at most.
const RECORDS_BYTES: u64 = 4096;
const RECORD_BYTES: u64 = 64;

/// Why a library is not loaded.
enum Unloaded {
    /// It was cut short: it may load another time.
    Cut(Failure),
    /// It cannot be.
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

impl Session {
    /// Has `worker` load the libraries that are there once all data is: so a start tells at once what cannot be loaded, and
    /// how many there are.
    pub async fn open_libraries(worker: Rc<Worker>) {
        loaded(&worker.engine).await;
        let request = OwnedRequest::of(&["FUNCTION", "LIST"]);
        let Found::Command(row) = table::find(&request.args()) else { unreachable!("there is such a row") };
        let mut session = Self::new(worker.clone(), Arc::new(Client::of_server(worker.engine.clock.now())));
        session.is_stand_in = true;
        let why = NotNow::Shards(Vec::new());
        session.run_until_done(&worker, row, &request.args(), why, &mut Output::new()).await;
    }

    /// A row that touches libraries.
    pub(super) fn run_library_row(
        &mut self,
        worker: &Rc<Worker>,
        row: &Row,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Outcome {
        let request = commands::library_request(row, args)?;
        let called = Called { row: *row, name: "", args, is_function: true, reads_only: true, gated: tx.is_gated() };
        self.load_known(worker, &called, tx)?;
        match request {
            LibraryRequest::List { pattern, with_code } => {
                tell_libraries(worker.stage.libraries.borrow().all(), pattern, with_code, reply);
            }
            LibraryRequest::Dump => {
                let payload = commands::dump_libraries(worker.stage.libraries.borrow().all().iter().map(source));
                reply.bulk(&payload);
            }
            LibraryRequest::Load { replaces, source } => {
                let name = self.load_one(worker, replaces, source, &called, tx)?;
                reply.bulk(name.as_bytes());
            }
            LibraryRequest::Restore { sources, policy } => {
                self.load_several(worker, &sources, policy, &called, tx)?;
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
                reply.ok();
            }
            LibraryRequest::Flush => {
                tx.of_server(|tx| tx.remove(LIBRARIES));
                reply.ok();
            }
        }
        if row.writes() {
            self.load_known(worker, &called, tx)?;
            if let Some(outbox) = &mut self.outbox {
                outbox.library_counts = Some(worker.stage.libraries.borrow().counts());
            }
        }
        Ok(())
    }

    /// The function of this name, once the worker's machine has all libraries.
    pub(super) fn function(
        &mut self,
        worker: &Rc<Worker>,
        name: &[u8],
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Arc<str>, u64, Flags), Failure> {
        self.load_known(worker, called, tx)?;
        worker.stage.libraries.borrow().function(name).ok_or(Failure::text("ERR Function not found"))
    }

    /// Has the worker's machine load what is new to it, and forget what is gone.
    fn load_known(&mut self, worker: &Rc<Worker>, called: &Called<'_>, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let Some(found) = worker.stage.libraries.borrow().change(tx) else { return Ok(()) };
        let missing = worker.stage.libraries.borrow().missing(&found);
        for (name, source) in missing {
            let library = match self.load(worker, &source, None, called, tx) {
                Ok(library) => library,
                Err(Unloaded::Cut(failure)) => return Err(failure),
                Err(Unloaded::Broken(text)) => {
                    // Another worker, or another day, has loaded it: its calls fail, and nothing else does.
                    worker.engine.scripts.log(3, &format!("the library {name} of functions cannot be loaded: {text}"));
                    Library { name, source, number: 0, functions: Vec::new() }
                }
            };
            worker.stage.libraries.borrow_mut().add(library);
        }
        let gone = worker.stage.libraries.borrow_mut().settle(found);
        unload(worker, gone);
        Ok(())
    }

    /// Has the worker's machine load a library.
    fn load(
        &mut self,
        worker: &Rc<Worker>,
        source: &[u8],
        limit: Option<Duration>,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<Library, Unloaded> {
        let header = lua::library_header(source).map_err(Unloaded::Broken)?;
        let number = worker.stage.libraries.borrow_mut().number();
        let (cut, outcome) = self.drive(worker, Tell::Load(number, header.code.into()), limit, called, tx);
        let told = |text: &str| format!("ERR Error registering functions: ERR {text}");
        let why = match (cut, outcome) {
            (Some(Cut::NotNow(why)), _) => {
                self.lack = Some(why);
                Unloaded::Cut(Failure::Nothing)
            }
            (Some(Cut::Killed), _) => Unloaded::Cut(Failure::text(told("Script killed by user with SCRIPT KILL..."))),
            (Some(Cut::TooLong), _) => Unloaded::Broken(told("FUNCTION LOAD timeout")),
            (None, Ok(Answer::Functions(functions))) if !functions.is_empty() => {
                return Ok(Library { name: header.name.into(), source: source.into(), number, functions });
            }
            (None, Ok(_)) => Unloaded::Broken("ERR No functions registered".to_owned()),
            (None, Err(fault)) => Unloaded::Broken(fault.told("")),
        };
        unload(worker, vec![number]);
        Err(why)
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
        if !replaces && worker.stage.libraries.borrow().has(&name) {
            return Err(Failure::text(format!("ERR Library '{name}' already exists")));
        }
        need_room(&[source], tx)?;
        let library = self.load(worker, source, Some(Duration::from_millis(LOAD_MS_MAX)), called, tx)?;
        let number = library.number;
        let put = check_functions(worker, std::slice::from_ref(&library), |other| *other.name != *library.name)
            .and_then(|()| put(std::slice::from_ref(&library), tx));
        if let Err(failure) = put {
            unload(worker, vec![number]);
            return Err(failure);
        }
        let name = library.name.clone();
        worker.stage.libraries.borrow_mut().add(library);
        Ok(name)
    }

    /// FUNCTION RESTORE
    fn load_several(
        &mut self,
        worker: &Rc<Worker>,
        sources: &[Vec<u8>],
        policy: RestorePolicy,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        need_room(sources, tx)?;
        let mut loaded = Vec::new();
        let done = self
            .load_all(worker, sources, &mut loaded, called, tx)
            .and_then(|()| check_policy(worker, &loaded, policy))
            .and_then(|()| {
                if policy == RestorePolicy::Flush {
                    tx.of_server(|tx| tx.remove(LIBRARIES));
                }
                put(&loaded, tx)
            });
        if let Err(failure) = done {
            unload(worker, loaded.iter().map(|library| library.number).collect());
            return Err(failure);
        }
        loaded.into_iter().for_each(|library| worker.stage.libraries.borrow_mut().add(library));
        Ok(())
    }

    fn load_all(
        &mut self,
        worker: &Rc<Worker>,
        sources: &[Vec<u8>],
        loaded: &mut Vec<Library>,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(), Failure> {
        for source in sources {
            let name = lua::library_header(source).map_err(Failure::text)?.name;
            if loaded.iter().any(|library| *library.name == *name) {
                return Err(Failure::text(format!("ERR Library '{name}' already exists")));
            }
            let library = self.load(worker, source, Some(Duration::from_millis(LOAD_MS_MAX)), called, tx)?;
            let clash = clash(&library, loaded.iter());
            loaded.push(library);
            if let Some(function) = clash {
                return Err(taken(&function));
            }
        }
        Ok(())
    }
}

fn source(library: &Library) -> &[u8] {
    &library.source
}

fn taken(function: &str) -> Failure {
    Failure::text(format!("ERR Function {function} already exists"))
}

/// Has the worker's machine forget libraries.
fn unload(worker: &Rc<Worker>, numbers: Vec<u64>) {
    if !numbers.is_empty() {
        worker.stage.machine(worker).go(Tell::Unload(numbers));
    }
}

/// Checks that libraries may come beside those that are there and `stay`.
fn check_functions(worker: &Worker, fresh: &[Library], stays: impl Fn(&Library) -> bool) -> Result<(), Failure> {
    let libraries = worker.stage.libraries.borrow();
    let others = || libraries.all().iter().filter(|library| stays(library));
    fresh.iter().find_map(|library| clash(library, others())).map_or(Ok(()), |function| Err(taken(&function)))
}

fn check_policy(worker: &Worker, fresh: &[Library], policy: RestorePolicy) -> Result<(), Failure> {
    let is_fresh = |name: &str| fresh.iter().any(|library| *library.name == *name);
    match policy {
        RestorePolicy::Flush => Ok(()),
        RestorePolicy::Replace => check_functions(worker, fresh, |other| !is_fresh(&other.name)),
        RestorePolicy::Append => {
            let libraries = worker.stage.libraries.borrow();
            if let Some(library) = fresh.iter().find(|library| libraries.has(&library.name)) {
                return Err(Failure::text(format!("ERR Library {} already exists", library.name)));
            }
            check_functions(worker, fresh, |_| true)
        }
    }
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

/// Puts libraries into the table.
fn put(libraries: &[Library], tx: &mut Tx<'_>) -> Result<(), Failure> {
    let pairs: Vec<&[u8]> = libraries.iter().flat_map(|library| [library.name.as_bytes(), &*library.source]).collect();
    if !pairs.is_empty() {
        tx.of_server(|tx| match tx.hash_mut(LIBRARIES, Absent::Create)? {
            Some(mut table) => Ok::<_, Failure>(table.put(&pairs, FieldExpiry::Clear).map(drop)?),
            None => unreachable!("it is made"),
        })?;
    }
    Ok(())
}

fn tell_libraries(all: &[Library], pattern: Option<&[u8]>, with_code: bool, reply: &mut dyn Reply) {
    let is_asked =
        |library: &&Library| pattern.is_none_or(|pattern| matches(pattern, library.name.as_bytes(), Case::Ignored));
    let asked: Vec<&Library> = all.iter().filter(is_asked).collect();
    reply.array(asked.len());
    for library in asked {
        reply.map(if with_code { 4 } else { 3 });
        reply.bulk(b"library_name");
        reply.bulk(library.name.as_bytes());
        reply.bulk(b"engine");
        reply.bulk(b"LUA");
        reply.bulk(b"functions");
        reply.array(library.functions.len());
        for function in &library.functions {
            reply.map(3);
            reply.bulk(b"name");
            reply.bulk(function.name.as_bytes());
            reply.bulk(b"description");
            match &function.description {
                Some(description) => reply.bulk(description),
                None => reply.null(),
            }
            reply.bulk(b"flags");
            let flags: Vec<&str> = function.flags.names().collect();
            reply.set(flags.len());
            flags.iter().for_each(|flag| reply.simple(flag));
        }
        if with_code {
            reply.bulk(b"library_code");
            reply.bulk(&library.source);
        }
    }
}
