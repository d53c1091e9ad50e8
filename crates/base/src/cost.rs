//! Work counters, for tests of the maximum cost of a turn: keys looked up, elements visited, bytes compared.
//!
//! Counters are per thread. A build without debug assertions counts nothing: [`count`] is empty there.

#[cfg(debug_assertions)]
use std::cell::Cell;

/// A kind of work counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A name looked up: a key, a channel, a script.
    Names,
    /// An element looked up, visited, or sent in a reply; a cell of a table.
    Elements,
    /// Bytes compared or searched.
    Bytes,
}

/// The amount of each kind of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// See [`Work::Names`].
    pub names: u64,
    /// See [`Work::Elements`].
    pub elements: u64,
    /// See [`Work::Bytes`].
    pub bytes: u64,
}

impl Counts {
    /// Returns the maximum per kind.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            names: self.names.max(other.names),
            elements: self.elements.max(other.elements),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

#[cfg(debug_assertions)]
thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { names: 0, elements: 0, bytes: 0 }) };
}

/// Counts work of this thread. Does nothing without debug assertions.
#[inline]
pub fn count(work: Work, amount: usize) {
    #[cfg(debug_assertions)]
    COUNTS.with(|cell| {
        let mut counts = cell.get();
        let sum = match work {
            Work::Names => &mut counts.names,
            Work::Elements => &mut counts.elements,
            Work::Bytes => &mut counts.bytes,
        };
        *sum += amount as u64;
        cell.set(counts);
    });
    #[cfg(not(debug_assertions))]
    let _ = (work, amount);
}

/// Takes this thread's counts since the last call. All zeros without debug assertions.
pub fn take() -> Counts {
    #[cfg(debug_assertions)]
    {
        COUNTS.take()
    }
    #[cfg(not(debug_assertions))]
    {
        Counts::default()
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_per_kind_and_taken_once() {
        take();
        count(Work::Names, 2);
        count(Work::Bytes, 7);
        count(Work::Names, 1);
        let counts = take();
        assert_eq!(counts, Counts { names: 3, elements: 0, bytes: 7 });
        assert_eq!(take(), Counts::default());
        assert_eq!(counts.max(Counts { names: 1, elements: 5, bytes: 9 }), Counts { names: 3, elements: 5, bytes: 9 });
    }
}
