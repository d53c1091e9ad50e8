//! The libraries of functions, as one worker's machine has them.
//!
//! ```text
//!   table of the server    libraries: { name: source, ... }       what is journaled; the truth
//!         | another root than the one seen last
//!         v
//!   Libraries, a worker    which library, by its number in the machine, has which function
//! ```
//!
//! A worker loads what is new to it when it next needs any, under the lock of that key: nobody finds less than was there.

use keyspace::{LIBRARIES, Tx};
use kinds::Hash;
use lua::{Flags, Registered};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A library that the machine has loaded, or could not load: then it has no functions.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) name: Arc<str>,
    /// First line included.
    pub(crate) source: Arc<[u8]>,
    /// By which the machine knows it.
    pub(crate) number: u64,
    pub(crate) functions: Vec<Registered>,
}

/// All that the machine has.
#[derive(Default)]
pub(crate) struct Libraries {
    /// What the table held when it was looked at last.
    seen: Hash,
    all: Vec<Library>,
    /// By the small letters of its name: a function's name, its library, and what it declares. Functions of different libraries
    /// differ by more than the case of letters; where those of one do not, the first is called.
    by_function: HashMap<String, (Arc<str>, u64, Flags)>,
    numbers: u64,
}

/// How many libraries and functions there are, and the bytes of all sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) libraries: usize,
    pub(crate) functions: usize,
    pub(crate) bytes: usize,
}

impl Libraries {
    /// What has changed in the table since it was looked at last: all of it, if anything.
    pub(crate) fn change(&self, tx: &mut Tx<'_>) -> Option<Hash> {
        tx.of_server(|tx| match tx.hash(LIBRARIES).ok().flatten() {
            Some(found) => (!found.shares_root_with(&self.seen)).then(|| found.clone()),
            None => (!self.seen.is_empty()).then(Hash::default),
        })
    }

    /// Libraries of the table that are not loaded: their names and sources.
    pub(crate) fn missing(&self, found: &Hash) -> Vec<(Arc<str>, Arc<[u8]>)> {
        let known: HashMap<&str, Vec<&Library>> = self.all.iter().fold(HashMap::new(), |mut known, library| {
            known.entry(&*library.name).or_default().push(library);
            known
        });
        let mut missing = Vec::new();
        for_each(found, |name, source| {
            let of_name = known.get(&*name).into_iter().flatten();
            if !of_name.into_iter().any(|library| *library.source == *source) {
                missing.push((name, source.into()));
            }
        });
        missing
    }

    /// The table is as `found`, all of which is loaded. Numbers of those that are to be forgotten.
    pub(crate) fn settle(&mut self, found: Hash) -> Vec<u64> {
        let mut known: HashMap<Arc<str>, Vec<Library>> = HashMap::new();
        for library in self.all.drain(..) {
            known.entry(library.name.clone()).or_default().push(library);
        }
        for_each(&found, |name, source| {
            let Some(of_name) = known.get_mut(&name) else { return };
            if let Some(at) = of_name.iter().position(|library| *library.source == *source) {
                self.all.push(of_name.swap_remove(at));
            }
        });
        self.by_function.clear();
        for library in &self.all {
            for known in &library.functions {
                let function = || (known.name.clone(), library.number, known.flags);
                self.by_function.entry(known.name.to_ascii_lowercase()).or_insert_with(function);
            }
        }
        self.seen = found;
        known.into_values().flatten().map(|library| library.number).collect()
    }

    /// A number that no library has had.
    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// One more is loaded.
    pub(crate) fn add(&mut self, library: Library) {
        self.all.push(library);
    }

    pub(crate) fn all(&self) -> &[Library] {
        &self.all
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|library| *library.name == *name)
    }

    /// A function's name, its library's number, and what it declares; called in any case of letters.
    pub(crate) fn function(&self, name: &[u8]) -> Option<(Arc<str>, u64, Flags)> {
        let name = std::str::from_utf8(name).ok()?;
        let found = self.by_function.get(name);
        found.or_else(|| self.by_function.get(&name.to_ascii_lowercase())).cloned()
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            libraries: self.all.len(),
            functions: self.all.iter().map(|library| library.functions.len()).sum(),
            bytes: self.all.iter().map(|library| library.source.len()).sum(),
        }
    }
}

/// A function of `library` that one of `others` has, too, in any case of letters.
pub(crate) fn clash<'a>(library: &Library, mut others: impl Iterator<Item = &'a Library>) -> Option<Arc<str>> {
    let own = library.functions.iter().map(|known| (known.name.to_ascii_lowercase(), &known.name));
    let own: HashMap<String, &Arc<str>> = own.collect();
    let of_both = |known: &Registered| own.get(&known.name.to_ascii_lowercase()).map(|name| (*name).clone());
    others.find_map(|other| other.functions.iter().find_map(of_both))
}

fn for_each(found: &Hash, mut visit: impl FnMut(Arc<str>, &[u8])) {
    let _ = found.walk(&mut |pair| {
        visit(String::from_utf8_lossy(pair.field).into(), pair.value);
        ControlFlow::Continue(())
    });
}
