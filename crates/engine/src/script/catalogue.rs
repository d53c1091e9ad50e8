//! The catalogue: the function libraries that exist, and what each registers. All workers share it.
//!
//! ```text
//!   table of the server    libraries: { name: source, ... }       journaled; the truth
//!         |   a change changes the catalogue too, under the same lock; an undo undoes both
//!         v
//!   Catalogue              name -> Library { number, functions }     function, in small letters -> Library
//!         |   when one of its functions is first called on a worker
//!         v
//!   Libraries, a worker    the libraries that its Lua machine has loaded, by number
//! ```
//!
//! A reader of the catalogue holds the libraries' key: shared, so that it does not change, or exclusively, so that
//! nobody else reads it. The catalogue knows the root of the table it describes. If the root differs, as at a start,
//! the reader rebuilds the catalogue.

use base::cost::{self, Work};
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use base::primitives::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use lua::Registered;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use values::Hash;

/// One version of a library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) name: Arc<str>,
    /// Its number, by which machines know it. No other library of this process has it, nor another version of this one.
    pub(crate) number: u64,
    /// The functions it registers; none if it cannot be loaded.
    pub(crate) functions: Box<[Registered]>,
    /// Length of its source, including the first line.
    pub(crate) source_bytes: usize,
}

/// The numbers of libraries and functions, and the bytes of all sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) libraries: usize,
    pub(crate) functions: usize,
    pub(crate) bytes: usize,
}

/// A function: its library, and its index there.
pub(crate) type FunctionPlace = (Arc<Library>, usize);

/// The libraries, and an index of their functions. Trees, so that growing never copies all of it.
#[derive(Default)]
pub(crate) struct CatalogueContents {
    by_name: BTreeMap<Arc<str>, Arc<Library>>,
    /// By lower-case name. Functions of different libraries must differ in more than case; within one library the first
    /// is called.
    by_function: BTreeMap<Arc<str>, FunctionPlace>,
    counts: Counts,
}

/// Returns a name in lower case; the same one if it already is.
pub(crate) fn small(name: &Arc<str>) -> Arc<str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.clone() }
}

impl CatalogueContents {
    /// Returns the library of this name. O(log n).
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Library>> {
        cost::count(Work::Names, 1);
        self.by_name.get(name)
    }

    /// Returns the function of this name, in lower case. O(log n).
    pub(crate) fn function(&self, name: &str) -> Option<&FunctionPlace> {
        cost::count(Work::Names, 1);
        self.by_function.get(name)
    }

    /// Returns a function of `library` whose name is also taken by a library that `stays`. O(its functions, each log
    /// n).
    pub(crate) fn clash(&self, library: &Library, stays: impl Fn(&Library) -> bool) -> Option<Arc<str>> {
        let is_taken = |name: &Arc<str>| self.function(&small(name)).is_some_and(|(other, _)| stays(other));
        library.functions.iter().map(|known| &known.name).find(|name| is_taken(name)).cloned()
    }

    /// Adds a library with a new name. O(its functions, each log n).
    pub(crate) fn add(&mut self, library: Arc<Library>) {
        cost::count(Work::Names, 1 + library.functions.len());
        for (at, known) in library.functions.iter().enumerate() {
            self.by_function.entry(small(&known.name)).or_insert_with(|| (library.clone(), at));
        }
        self.counts.libraries += 1;
        self.counts.functions += library.functions.len();
        self.counts.bytes += library.source_bytes;
        let before = self.by_name.insert(library.name.clone(), library);
        assert!(before.is_none(), "one library, one name");
    }

    /// Removes a library. O(its functions, each log n).
    pub(crate) fn remove(&mut self, name: &str) -> Option<Arc<Library>> {
        cost::count(Work::Names, 1);
        let library = self.by_name.remove(name)?;
        cost::count(Work::Names, library.functions.len());
        for known in &library.functions {
            let name = small(&known.name);
            if self.by_function.get(&name).is_some_and(|(of, _)| of.number == library.number) {
                self.by_function.remove(&name);
            }
        }
        self.counts.libraries -= 1;
        self.counts.functions -= library.functions.len();
        self.counts.bytes -= library.source_bytes;
        Some(library)
    }

    /// Returns at most `count` libraries after the given name, in name order.
    pub(crate) fn behind(&self, name: Option<&str>, count: usize) -> Vec<Arc<Library>> {
        let from = name.map_or(Unbounded, Excluded);
        let found: Vec<_> =
            self.by_name.range::<str, _>((from, Unbounded)).take(count).map(|(_, it)| it.clone()).collect();
        cost::count(Work::Names, found.len());
        found
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }
}

/// A change of the table.
pub(crate) enum Change {
    Add(Arc<Library>),
    /// Removes the library of this name, if there is one.
    Remove(Arc<str>),
    /// Removes all libraries.
    Flush,
}

/// A change that was made and can be undone.
pub(crate) enum UndoStep {
    Added(Arc<Library>),
    Removed(Arc<Library>),
    Flushed(Box<CatalogueContents>),
}

/// The changes of a tx so far: they are committed or undone with it.
pub(crate) struct CatalogueChanges {
    /// The table before the first of them.
    pub(crate) before: Hash,
    pub(crate) done: Vec<UndoStep>,
}

/// The libraries as all workers know them.
#[derive(Default)]
pub(crate) struct Catalogue {
    state: RwLock<CatalogueState>,
    numbers: AtomicU64,
}

#[derive(Default)]
struct CatalogueState {
    /// The table that the rest describes.
    table: Hash,
    contents: CatalogueContents,
    /// The number of removed libraries.
    removals: u64,
}

/// Returns true if two tables are in the same state.
pub(crate) fn are_same(one: &Hash, other: &Hash) -> bool {
    one.shares_root_with(other) || one.is_empty() && other.is_empty()
}

impl Catalogue {
    fn read(&self) -> RwLockReadGuard<'_, CatalogueState> {
        self.state.read().expect("no holder panics")
    }

    fn write(&self) -> RwLockWriteGuard<'_, CatalogueState> {
        self.state.write().expect("no holder panics")
    }

    /// Returns a number that no library has had.
    pub(crate) fn number(&self) -> u64 {
        1 + self.numbers.fetch_add(1, Relaxed)
    }

    /// Returns true if it describes this table.
    pub(crate) fn is_of(&self, table: &Hash) -> bool {
        are_same(&self.read().table, table)
    }

    /// Returns the result of `look` on its contents. Others may wait meanwhile, so it must be short.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&CatalogueContents) -> R) -> R {
        look(&self.read().contents)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.look(CatalogueContents::counts)
    }

    /// Returns the number of libraries removed so far.
    pub(crate) fn removals(&self) -> u64 {
        self.read().removals
    }

    /// Replaces its contents by those made from this table, unless another worker did so first. Returns true if it did.
    /// The old contents are swapped out, to be dropped in the background.
    pub(crate) fn install(&self, table: &mut Hash, contents: &mut CatalogueContents) -> bool {
        let mut state = self.write();
        if are_same(&state.table, table) {
            return false;
        }
        state.removals += state.contents.counts.libraries as u64;
        std::mem::swap(&mut state.contents, contents);
        std::mem::swap(&mut state.table, table);
        true
    }

    /// Applies changes of the table, which is `table` now, and records them for the tx.
    pub(crate) fn change(&self, changes: Vec<Change>, table: Hash, all: &mut Option<CatalogueChanges>) {
        let mut state = self.write();
        let state = &mut *state;
        let before = std::mem::replace(&mut state.table, table);
        let all = all.get_or_insert_with(|| CatalogueChanges { before, done: Vec::new() });
        for change in changes {
            all.done.extend(match change {
                Change::Add(library) => {
                    state.contents.add(library.clone());
                    Some(UndoStep::Added(library))
                }
                Change::Remove(name) => {
                    let library = state.contents.remove(&name);
                    state.removals += u64::from(library.is_some());
                    library.map(UndoStep::Removed)
                }
                Change::Flush => {
                    state.removals += state.contents.counts.libraries as u64;
                    Some(UndoStep::Flushed(Box::new(std::mem::take(&mut state.contents))))
                }
            });
        }
    }

    /// Undoes the latest change of a tx; returns the library it removes, if any. Once nothing is left, it describes the
    /// table as before, and `None` is returned.
    pub(crate) fn undo(&self, all: &mut CatalogueChanges) -> Option<Option<Arc<Library>>> {
        let mut state = self.write();
        let Some(done) = all.done.pop() else {
            state.table = std::mem::take(&mut all.before);
            return None;
        };
        Some(match done {
            UndoStep::Added(library) => {
                state.removals += 1;
                state.contents.remove(&library.name)
            }
            UndoStep::Removed(library) => {
                state.contents.add(library);
                None
            }
            UndoStep::Flushed(contents) => {
                state.contents = *contents;
                None
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lua::Flags;
    use values::hash::Pair;

    fn library(catalogue: &Catalogue, name: &str, functions: &[&str]) -> Arc<Library> {
        let registered = |name: &&str| Registered { name: (*name).into(), description: None, flags: Flags::default() };
        let functions = functions.iter().map(registered).collect();
        Arc::new(Library { name: name.into(), number: catalogue.number(), functions, source_bytes: 10 })
    }

    fn names_and_numbers(catalogue: &Catalogue) -> Vec<(String, u64)> {
        let all = |contents: &CatalogueContents| contents.behind(None, usize::MAX);
        catalogue.look(all).iter().map(|library| (library.name.to_string(), library.number)).collect()
    }

    #[test]
    fn undo_restores_the_previous_catalogue() {
        let catalogue = Catalogue::default();
        let [one, two, three] = [("a", &["F"][..]), ("b", &["g", "G"]), ("a", &["f", "h"])]
            .map(|(name, functions)| library(&catalogue, name, functions));
        let table = |field: &[u8]| {
            let mut table = Hash::default();
            table.put(Pair { field, value: b"source", expires_at_ms: None });
            table
        };
        let mut kept = None;
        catalogue.change(vec![Change::Add(one), Change::Add(two)], table(b"kept"), &mut kept);
        let (before, counts) = (names_and_numbers(&catalogue), catalogue.counts());
        assert_eq!(counts, Counts { libraries: 2, functions: 3, bytes: 20 });
        assert_eq!(
            catalogue.look(|contents| contents.function("g").map(|(_, at)| *at)),
            Some(0),
            "the first of its library"
        );
        let mut changes = None;
        catalogue.change(vec![Change::Remove("a".into()), Change::Add(three)], table(b"next"), &mut changes);
        assert_eq!(names_and_numbers(&catalogue)[0], ("a".to_owned(), 3));
        catalogue.change(vec![Change::Flush], Hash::default(), &mut changes);
        assert_eq!((names_and_numbers(&catalogue), catalogue.counts()), (vec![], Counts::default()));
        let mut changes = changes.expect("there were some");
        while catalogue.undo(&mut changes).is_some() {}
        assert_eq!((names_and_numbers(&catalogue), catalogue.counts()), (before, counts));
        assert!(catalogue.look(|contents| contents.function("f").is_some() && contents.function("h").is_none()));
        assert!(!catalogue.is_of(&Hash::default()) && !catalogue.is_of(&table(b"kept")), "only of that very root");
    }
}
