//! Item filters: visible, hidden or both, and conditions on attributes.

use super::planes::{Lane, Planes, ends_of};

/// The visibility of the wanted items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Visible items only.
    Visible,
    /// Hidden items only.
    Hidden,
    /// All items.
    All,
}

/// A test of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// One of these.
    Any(Vec<u32>),
    /// None of these.
    None(Vec<u32>),
    /// Between the two, inclusive.
    Within(u32, u32),
}

impl Test {
    /// Returns true if `number` passes.
    pub fn takes(&self, number: u32) -> bool {
        match self {
            Self::Any(numbers) => numbers.contains(&number),
            Self::None(numbers) => !numbers.contains(&number),
            Self::Within(least, greatest) => (*least..=*greatest).contains(&number),
        }
    }
}

/// A condition on one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The attribute's number in the schema.
    pub attribute: usize,
    /// The test.
    pub test: Test,
}

/// A filter for items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The visibility of the wanted items.
    pub shown: Shown,
    /// The conditions; all must hold.
    pub terms: Vec<Term>,
}

impl Filter {
    /// Creates a filter without conditions.
    pub fn of(shown: Shown) -> Self {
        Self { shown, terms: Vec::new() }
    }

    /// Returns how many of these visible and hidden items are wanted, ignoring conditions.
    pub(super) fn shown_of(&self, visible: u64, hidden: u64) -> u64 {
        match self.shown {
            Shown::Visible => visible,
            Shown::Hidden => hidden,
            Shown::All => visible + hidden,
        }
    }

    /// Returns true if a subtree with this digest may have a matching item.
    pub(super) fn may_be_in(&self, words: &[u64], planes: &Planes) -> bool {
        self.shown_of(words[0], words[1]) > 0 && self.terms.iter().all(|term| term.may_be_in(words, planes))
    }
}

impl Term {
    fn may_be_in(&self, words: &[u64], planes: &Planes) -> bool {
        let (_, bits, lane) = planes.column(self.attribute);
        match lane {
            Lane::Set { word, shift } => {
                let numbers = 1u32 << bits;
                let is_there = |number: u32| words[word] >> shift >> number & 1 == 1;
                match &self.test {
                    Test::Any(any) => any.iter().any(|number| *number < numbers && is_there(*number)),
                    test => (0..numbers).any(|number| is_there(number) && test.takes(number)),
                }
            }
            Lane::Ends { word } => {
                let (least, greatest) = ends_of(words[word]);
                match &self.test {
                    Test::Any(any) => any.iter().any(|number| (least..=greatest).contains(number)),
                    Test::None(none) => least != greatest || !none.contains(&least),
                    Test::Within(from, to) => from <= to && *from <= greatest && *to >= least,
                }
            }
        }
    }
}
