//! The libraries of functions that one worker's machine has loaded.
//!
//! It loads a library when one of its functions is first called here, or when FUNCTION LOAD runs here, and forgets one that is
//! there no more: at once if its own requests removed it, else once about as many have gone as it has loaded.

use super::catalogue::{CatalogueContents, Library, small};
use keyspace::{LIBRARIES, Tx};
use lua::Flags;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use values::Hash;

/// Libraries that nobody has called here are kept loaded, so many at most.
const UNCALLED_MAX: usize = 1_000;
/// So many functions are kept loaded, called or not: some 50 MB of the machine's memory, if they are short.
const FUNCTIONS_MAX: usize = 100_000;
/// Among so many libraries that are loaded one may be gone and still be kept, since a machine forgets some at once.
const LOADED_PER_GONE: usize = 64;
/// So many libraries are forgotten at once, at most.
const FORGOTTEN_AT_ONCE: usize = 64;
/// So many may be gone before the first look for them.
const UNSEEN_MAX: u64 = 16;

/// What the machine has.
#[derive(Default)]
pub(crate) struct Libraries {
    /// What the table held when it was looked at last.
    seen: Hash,
    /// Counts how often it was another one: what was found before is looked up among all once more.
    epoch: u64,
    /// How many libraries had gone when those that are loaded were last looked through.
    removals: u64,
    /// Functions that were called here, by the small letters of their names.
    by_function: BTreeMap<Arc<str>, Callable>,
    loaded: BTreeMap<u64, Loaded>,
    /// Functions of those that are loaded.
    functions: usize,
    /// Those that were loaded by no call, the oldest first; some have been called since, or are gone.
    uncalled: VecDeque<u64>,
    /// Those that were called, the first one first; some are gone.
    called: VecDeque<u64>,
    /// What the machine is to forget.
    gone: Vec<u64>,
    /// The library that was last told to be broken here.
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
    /// The table, if it is another one than was looked at last.
    #[inline]
    pub(crate) fn change(&self, tx: &mut Tx<'_>) -> Option<Hash> {
        tx.of_server(|tx| match tx.hash(LIBRARIES).ok().flatten() {
            Some(found) => (!found.shares_root_with(&self.seen)).then(|| found.clone()),
            None => (!self.seen.is_empty()).then(Hash::default),
        })
    }

    /// The table is this; gives the one that was seen before.
    pub(crate) fn see(&mut self, found: Hash) -> Hash {
        self.epoch += 1;
        std::mem::replace(&mut self.seen, found)
    }

    /// A function that was called since the table was as it is: its name, its library's number, and what it declares; called in
    /// any case of letters. O(log n).
    #[inline]
    pub(crate) fn function(&self, name: &[u8]) -> Option<(Arc<str>, u64, Flags)> {
        let name = std::str::from_utf8(name).ok()?;
        let found = self.by_function.get(name).or_else(|| self.by_function.get(&*name.to_ascii_lowercase()))?;
        (found.epoch == self.epoch).then(|| (found.name.clone(), found.number, found.flags))
    }

    /// Whether the machine has the library of this number.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.loaded.contains_key(&number)
    }

    /// The machine has loaded a library that nobody calls yet.
    pub(crate) fn add(&mut self, library: &Arc<Library>) {
        self.loaded.insert(library.number, Loaded { library: library.clone(), is_called: false });
        self.functions += library.functions.len();
        self.uncalled.push_back(library.number);
        if self.uncalled.len() > UNCALLED_MAX {
            self.forget_uncalled(library.number);
        }
        self.make_room(library.number);
    }

    /// A function of a library that the machine has is called: what is to be known of it. One of a library that was not called
    /// for long may be forgotten for it, and begins anew with its next call.
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

    /// The oldest that nobody has called is to be forgotten, but not the one of the number `kept`; whether there may be more.
    fn forget_uncalled(&mut self, kept: u64) -> bool {
        let Some(oldest) = self.uncalled.pop_front() else { return false };
        let is_uncalled = self.loaded.get(&oldest).is_some_and(|loaded| !loaded.is_called);
        if is_uncalled && oldest == kept {
            // It came last.
            self.uncalled.push_back(kept);
            return false;
        }
        if is_uncalled {
            self.forget(oldest);
        }
        true
    }

    /// Forgets the oldest until there are not too many functions, first those that nobody has called.
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

    /// The library of this number is to be forgotten. O(its functions, each log n).
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

    /// The machine may have something of a library that it has not loaded to its end.
    pub(crate) fn forget_failed(&mut self, number: u64) {
        self.gone.push(number);
    }

    /// All libraries are to be forgotten. What is given back is to be dropped by who has time.
    pub(crate) fn forget_all(&mut self) -> impl Send + 'static {
        self.gone.extend(self.loaded.keys());
        self.functions = 0;
        self.uncalled.clear();
        self.called.clear();
        (std::mem::take(&mut self.loaded), std::mem::take(&mut self.by_function))
    }

    /// Numbers that the machine is to forget now, if it is worth the while: it looks through what it has.
    pub(crate) fn take_gone(&mut self) -> Option<Vec<u64>> {
        let has_room = self.functions < FUNCTIONS_MAX / 2;
        let kept = if has_room { (self.loaded.len() / LOADED_PER_GONE).min(FORGOTTEN_AT_ONCE) } else { 0 };
        let count = self.gone.len().min(FORGOTTEN_AT_ONCE);
        (self.gone.len() > kept).then(|| self.gone.split_off(self.gone.len() - count))
    }

    /// Whether so many libraries have gone that those that are loaded are to be looked through; if so, that is begun.
    pub(crate) fn begin_sweep(&mut self, removals: u64) -> bool {
        let is_due = removals - self.removals > UNSEEN_MAX + self.loaded.len() as u64 / 2;
        if is_due {
            self.removals = removals;
        }
        is_due
    }

    /// Looks at some that are loaded, from `number` on, and forgets those that are gone; where to go on, if there are more.
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

    /// Whether it is new that this library cannot be loaded here.
    pub(crate) fn note_broken(&mut self, number: u64) -> bool {
        std::mem::replace(&mut self.broken, number) != number
    }

    /// How many libraries the machine has, those included that it is to forget.
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
    fn of_what_nobody_calls_only_so_much_stays_loaded() {
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
    fn of_what_is_called_only_so_many_functions_stay_loaded_the_last_among_them() {
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
    fn what_others_have_removed_is_forgotten_after_some_time() {
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
