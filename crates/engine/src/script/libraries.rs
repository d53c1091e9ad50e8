//! The function libraries that one worker's machine has loaded.
//!
//! It loads a library when one of its functions is first called here, or when FUNCTION LOAD runs here, and unloads a
//! removed one: at once if its own requests removed it, otherwise once about as many have been removed as it has
//! loaded.

use super::catalogue::{CatalogueContents, Library, small};
use keyspace::{LIBRARIES, Tx};
use lua::Flags;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use values::Hash;

/// Maximum number of libraries kept loaded that nobody has called here.
const UNCALLED_MAX: usize = 1_000;
/// Maximum number of functions kept loaded, called or not: some 50 MB of the machine's memory, if they are short.
const FUNCTIONS_MAX: usize = 100_000;
/// One removed library is kept per this many loaded ones, since a machine unloads several at once.
const LOADED_PER_GONE: usize = 64;
/// Maximum number of libraries unloaded at once.
const FORGOTTEN_AT_ONCE: usize = 64;
/// Libraries that may be removed before the first check.
const UNSEEN_MAX: u64 = 16;

/// The libraries in the machine.
#[derive(Default)]
pub(crate) struct Libraries {
    /// The table as last seen.
    seen: Hash,
    /// Counts changes of the table: after one, each function is looked up in the catalogue again.
    epoch: u64,
    /// The number of removed libraries when the loaded ones were last checked.
    removals: u64,
    /// Functions called here, by lower-case name.
    by_function: BTreeMap<Arc<str>, Callable>,
    loaded: BTreeMap<u64, Loaded>,
    /// The number of their functions.
    functions: usize,
    /// Libraries loaded without a call, the oldest first; some have been called since, or are gone.
    uncalled: VecDeque<u64>,
    /// Called libraries, the first one first; some are gone.
    called: VecDeque<u64>,
    /// Libraries that the machine is to unload.
    gone: Vec<u64>,
    /// The library last reported as broken here.
    broken: u64,
}

struct Callable {
    name: Arc<str>,
    number: u64,
    flags: Flags,
    epoch: u64,
}

struct Loaded {
    library: Arc<Library>,
    is_called: bool,
}

impl Libraries {
    /// Returns the table, if it has changed since last seen.
    #[inline]
    pub(crate) fn change(&self, tx: &mut Tx<'_>) -> Option<Hash> {
        tx.of_server(|tx| match tx.hash(LIBRARIES).ok().flatten() {
            Some(found) => (!found.shares_root_with(&self.seen)).then(|| found.clone()),
            None => (!self.seen.is_empty()).then(Hash::default),
        })
    }

    /// Records the table; returns the one seen before.
    pub(crate) fn see(&mut self, found: Hash) -> Hash {
        self.epoch += 1;
        std::mem::replace(&mut self.seen, found)
    }

    /// Returns a function called since the table last changed, by name in any case: its name, its library's number, and
    /// its flags. O(log n).
    #[inline]
    pub(crate) fn function(&self, name: &[u8]) -> Option<(Arc<str>, u64, Flags)> {
        let name = std::str::from_utf8(name).ok()?;
        let found = self.by_function.get(name).or_else(|| self.by_function.get(&*name.to_ascii_lowercase()))?;
        (found.epoch == self.epoch).then(|| (found.name.clone(), found.number, found.flags))
    }

    /// Returns true if the machine has the library with this number.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.loaded.contains_key(&number)
    }

    /// Adds a loaded library that has not been called yet.
    pub(crate) fn add(&mut self, library: &Arc<Library>) {
        self.loaded.insert(library.number, Loaded { library: library.clone(), is_called: false });
        self.functions += library.functions.len();
        self.uncalled.push_back(library.number);
        if self.uncalled.len() > UNCALLED_MAX {
            self.forget_uncalled(library.number);
        }
        self.make_room(library.number);
    }

    /// Records the call of a loaded library's function, and returns its data. This may unload a library that has not
    /// been called for long; its next call loads it again.
    pub(crate) fn call(&mut self, library: &Arc<Library>, at: usize) -> (Arc<str>, u64, Flags) {
        let called = Loaded { library: library.clone(), is_called: true };
        let before = self.loaded.insert(library.number, called);
        if before.is_none() {
            self.functions += library.functions.len();
        }
        if before.is_none_or(|before| !before.is_called) {
            self.called.push_back(library.number);
            if self.called.len() > 2 * self.loaded.len() + LOADED_PER_GONE {
                let loaded = &self.loaded;
                self.called.retain(|number| loaded.contains_key(number));
            }
        }
        self.make_room(library.number);
        let (known, number, epoch) = (&library.functions[at], library.number, self.epoch);
        let callable = Callable { name: known.name.clone(), number, flags: known.flags, epoch };
        self.by_function.insert(small(&known.name), callable);
        (known.name.clone(), number, known.flags)
    }

    /// Unloads the oldest uncalled library, but not number `kept`. Returns true if there may be more.
    fn forget_uncalled(&mut self, kept: u64) -> bool {
        let Some(oldest) = self.uncalled.pop_front() else { return false };
        let is_uncalled = self.loaded.get(&oldest).is_some_and(|loaded| !loaded.is_called);
        if is_uncalled && oldest == kept {
            // It was the newest.
            self.uncalled.push_back(kept);
            return false;
        }
        if is_uncalled {
            self.forget(oldest);
        }
        true
    }

    /// Unloads the oldest until there are not too many functions, uncalled ones first.
    fn make_room(&mut self, kept: u64) {
        while self.functions > FUNCTIONS_MAX {
            if self.forget_uncalled(kept) {
                continue;
            }
            match self.called.pop_front() {
                Some(oldest) if oldest != kept => self.forget(oldest),
                Some(_) => return self.called.push_back(kept),
                None => return,
            }
        }
    }

    /// Marks the library with this number for unloading. O(its functions, each log n).
    pub(crate) fn forget(&mut self, number: u64) {
        let Some(Loaded { library, .. }) = self.loaded.remove(&number) else { return };
        self.functions -= library.functions.len();
        for known in &library.functions {
            let name = small(&known.name);
            if self.by_function.get(&name).is_some_and(|callable| callable.number == number) {
                self.by_function.remove(&name);
            }
        }
        self.gone.push(number);
    }

    /// Marks a library whose loading failed: the machine may hold parts of it.
    pub(crate) fn forget_failed(&mut self, number: u64) {
        self.gone.push(number);
    }

    /// Marks all libraries for unloading. The result is to be dropped in the background.
    pub(crate) fn forget_all(&mut self) -> impl Send + 'static {
        self.gone.extend(self.loaded.keys());
        self.functions = 0;
        self.uncalled.clear();
        self.called.clear();
        (std::mem::take(&mut self.loaded), std::mem::take(&mut self.by_function))
    }

    /// Takes the numbers to unload now, if it is worth it: unloading scans the machine.
    pub(crate) fn take_gone(&mut self) -> Option<Vec<u64>> {
        let has_room = self.functions < FUNCTIONS_MAX / 2;
        let kept = if has_room { (self.loaded.len() / LOADED_PER_GONE).min(FORGOTTEN_AT_ONCE) } else { 0 };
        let count = self.gone.len().min(FORGOTTEN_AT_ONCE);
        (self.gone.len() > kept).then(|| self.gone.split_off(self.gone.len() - count))
    }

    /// Begins a check of the loaded libraries if enough have been removed. Returns true if so.
    pub(crate) fn begin_sweep(&mut self, removals: u64) -> bool {
        let is_due = removals - self.removals > UNSEEN_MAX + self.loaded.len() as u64 / 2;
        if is_due {
            self.removals = removals;
        }
        is_due
    }

    /// Checks some loaded libraries, from `number` on, and unloads the removed ones; returns where to continue, if
    /// there are more.
    pub(crate) fn sweep(&mut self, number: u64, count: usize, contents: &CatalogueContents) -> Option<u64> {
        let range = self.loaded.range((Excluded(number), Unbounded)).take(count);
        let some: Vec<_> = range.map(|(number, loaded)| (*number, loaded.library.name.clone())).collect();
        for (number, name) in &some {
            if contents.find(name).is_none_or(|library| library.number != *number) {
                self.forget(*number);
            }
        }
        some.last().filter(|_| some.len() == count).map(|(number, _)| *number)
    }

    /// Notes that this library cannot be loaded here. Returns true if that is new.
    pub(crate) fn note_broken(&mut self, number: u64) -> bool {
        std::mem::replace(&mut self.broken, number) != number
    }

    /// Returns the number of libraries in the machine, including those to unload.
    #[cfg(test)]
    pub(crate) fn loaded_count(&self) -> usize {
        self.loaded.len() + self.gone.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lua::Registered;

    fn library(number: u64) -> Arc<Library> {
        let function = Registered { name: format!("F{number}").into(), description: None, flags: Flags::default() };
        Arc::new(Library { name: format!("l{number}").into(), number, functions: [function].into(), source_bytes: 1 })
    }

    #[test]
    fn uncalled_libraries_are_unloaded_beyond_a_bound() {
        let mut libraries = Libraries::default();
        for number in 1..=5_000 {
            libraries.add(&library(number));
            if number % 100 == 0 {
                libraries.call(&library(number), 0);
            }
            while libraries.take_gone().is_some() {}
        }
        assert!((1..=50).all(|nth| libraries.has(nth * 100)), "what is called stays");
        let most = UNCALLED_MAX + 50 + FORGOTTEN_AT_ONCE;
        assert!(libraries.loaded_count() <= most, "{}", libraries.loaded_count());
        assert_eq!(
            libraries.function(b"f100").map(|(name, number, _)| (name.to_string(), number)),
            Some(("F100".to_owned(), 100))
        );
        assert!(libraries.function(b"f101").is_none(), "it was not called");
    }

    #[test]
    fn called_libraries_stay_loaded_up_to_a_function_bound() {
        let mut libraries = Libraries::default();
        for number in 1..=3 * FUNCTIONS_MAX as u64 {
            libraries.call(&library(number), 0);
            while libraries.take_gone().is_some() {}
            assert!(libraries.has(number) && libraries.loaded_count() <= FUNCTIONS_MAX, "{number}");
        }
        assert!(libraries.has(2 * FUNCTIONS_MAX as u64 + 1) && !libraries.has(2 * FUNCTIONS_MAX as u64));
        assert!(libraries.function(b"f1").is_none(), "it would be loaded anew");
        let functions = (0..2 * FUNCTIONS_MAX as u64).map(|nth| library(nth).functions[0].clone());
        let large = Library { name: "large".into(), number: 0, functions: functions.collect(), source_bytes: 1 };
        let large = Arc::new(large);
        libraries.add(&large);
        libraries.add(&library(1));
        assert!(libraries.has(1) && !libraries.has(0), "one that nobody has called gives way");
        libraries.call(&large, 0);
        assert!(libraries.has(0), "one that is called is there, however many it has");
        libraries.call(&library(1), 0);
        assert!(libraries.has(1) && !libraries.has(0));
        for number in 1..10_000 {
            libraries.call(&library(number), 0);
            libraries.forget(number);
        }
        assert!(libraries.called.len() <= 2 * LOADED_PER_GONE, "nothing is kept of what is gone");
    }

    #[test]
    fn a_sweep_forgets_libraries_removed_elsewhere() {
        let mut libraries = Libraries::default();
        let mut contents = CatalogueContents::default();
        for number in 1..=200 {
            libraries.call(&library(number), 0);
            if number % 2 == 0 {
                contents.add(library(number));
            }
        }
        assert!(!libraries.begin_sweep(100), "not yet worth the while");
        assert!(libraries.begin_sweep(200));
        let (mut at, mut steps) = (Some(0), 0);
        while let Some(from) = at {
            at = libraries.sweep(from, 30, &contents);
            steps += 1;
        }
        assert_eq!(steps, 7);
        assert!((1..=200).all(|number| libraries.has(number) == (number % 2 == 0)));
        assert!(libraries.function(b"f2").is_some() && libraries.function(b"f1").is_none());
        drop(libraries.forget_all());
        let mut forgotten = 0;
        while let Some(numbers) = libraries.take_gone() {
            assert!(numbers.len() <= FORGOTTEN_AT_ONCE);
            forgotten += numbers.len();
        }
        assert_eq!((forgotten, libraries.loaded_count()), (200, 0));
    }
}
