//! FUNCTION LIST and FUNCTION DUMP: long replies come from a clone of the table, while the reply is sent.

use super::catalogue::{CataloguePace, LOOKED_AT_ONCE};
use crate::script::catalogue::Library;
use crate::session::state::Session;
use crate::worker::Worker;
use base::Ms;
use base::cost::{self, Work};
use base::glob::{Case, matches};
use commands::{Failure, LibrariesDump};
use keyspace::{LIBRARIES, Pin, Tx};
use std::ops::ControlFlow;
use std::sync::Arc;
use values::Hash;
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// Estimated bytes of a library and a function in a reply, besides names, descriptions and sources.
const HEADERS_BYTES: usize = 128;

impl Session {
    /// FUNCTION LIST
    pub(in crate::session) fn list_libraries(
        &mut self,
        worker: &Worker,
        pattern: Option<&[u8]>,
        with_code: bool,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Result<(), Failure> {
        let is_asked = |library: &Arc<Library>| {
            pattern.is_none_or(|pattern| matches(pattern, library.name.as_bytes(), Case::Ignored))
        };
        let (mut asked, mut last, mut pace) = (Vec::new(), None::<Arc<str>>, CataloguePace::default());
        loop {
            let some = worker.engine.scripts.catalogue.look(|all| all.behind(last.as_deref(), LOOKED_AT_ONCE));
            let Some(end) = some.last() else { break };
            last = Some(end.name.clone());
            let count = some.len();
            asked.extend(some.into_iter().filter(is_asked));
            self.go_on_after(worker, &mut pace, count)?;
        }
        reply.array(asked.len());
        let table = if with_code { table(tx) } else { Hash::default() };
        let mut listing = Listing { asked, at: 0, table, now: tx.now(), pin: tx.keyspace().pin(LIBRARIES) };
        if !listing.asked.is_empty() && listing.next(reply) != More::Done {
            reply.stream(Box::new(listing));
        }
        Ok(())
    }

    /// FUNCTION DUMP
    pub(in crate::session) fn dump_libraries(&self, tx: &mut Tx<'_>, reply: &mut dyn Reply) {
        let (table, pin) = (table(tx), tx.keyspace().pin(LIBRARIES));
        let mut dumping = Dumping { table, at: 0, dump: LibrariesDump::default(), pin };
        if dumping.next(reply) != More::Done {
            reply.stream(Box::new(dumping));
        }
    }
}

fn table(tx: &mut Tx<'_>) -> Hash {
    tx.of_server(|tx| tx.hash(LIBRARIES).ok().flatten().cloned()).unwrap_or_default()
}

/// A FUNCTION LIST reply in progress.
struct Listing {
    asked: Vec<Arc<Library>>,
    /// The next library.
    at: usize,
    /// The table of sources; empty if they were not asked for.
    table: Hash,
    now: Ms,
    pin: Pin,
}

impl Source for Listing {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let mut bytes = 0;
        while bytes < SOURCE_STEP_BYTES
            && let Some(library) = self.asked.get(self.at)
        {
            cost::count(Work::Elements, 1);
            bytes += write_library(library, &self.table, self.now, reply);
            self.at += 1;
        }
        if self.at < self.asked.len() { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        size_of_val(self.asked.as_slice()) as u64 + self.pin.bytes(self.table.heap_bytes())
    }
}

/// A FUNCTION DUMP reply: made first, then sent as a whole.
struct Dumping {
    table: Hash,
    /// The position of the next library.
    at: u64,
    dump: LibrariesDump,
    pin: Pin,
}

impl Source for Dumping {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let (mut at, mut bytes) = (self.at, 0);
        let _ = self.table.walk_from(at, &mut |pair| {
            cost::count(Work::Elements, 1);
            self.dump.add(pair.value);
            at += 1;
            bytes += pair.value.len() + HEADERS_BYTES;
            if bytes < SOURCE_STEP_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.at = at;
        if bytes >= SOURCE_STEP_BYTES {
            return More::Rest;
        }
        reply.bulk_owned(std::mem::take(&mut self.dump).finish());
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.dump.bytes_count() as u64 + self.pin.bytes(self.table.heap_bytes())
    }
}

/// Writes one library; returns its approximate length in bytes.
fn write_library(library: &Library, table: &Hash, now: Ms, reply: &mut dyn Reply) -> usize {
    let mut bytes = HEADERS_BYTES + library.name.len();
    reply.map(if table.is_empty() { 3 } else { 4 });
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
        bytes += HEADERS_BYTES + function.name.len() + function.description.as_ref().map_or(0, Vec::len);
    }
    if !table.is_empty() {
        reply.bulk(b"library_code");
        let source = table.get(library.name.as_bytes(), now, |pair| pair.value.to_vec()).unwrap_or_default();
        reply.bulk(&source);
        bytes += source.len();
    }
    bytes
}
