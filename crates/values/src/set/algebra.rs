//! Intersection, union and difference of sets, in steps over clones.
//!
//! ```text
//!   intersection   the smallest set, member by member: is it in all others?
//!   union          the largest set, plus the members of the others
//!   difference     the first set, member by member: is it in no other? or the first set minus the members of the
//!                  others - whichever is less work
//! ```
//!
//! Hashed sets share one order, so consecutive lookups, insertions and removals are at neighbouring positions. A union
//! that starts with a large set, and a difference that removes, share unchanged blocks with that set.

use super::{Set, SetForm, SetLimits, member};

/// A set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperation {
    /// The members of all sets.
    Intersection,
    /// The members of any set.
    Union,
    /// The members of the first set only.
    Difference,
}

/// An operation in progress.
#[derive(Debug)]
pub struct SetAlgebra {
    result: Set,
    limits: SetLimits,
    /// The maximum number of members wanted.
    count_max: u64,
    /// The sets whose members are visited, and the action on each member.
    passes: Vec<Set>,
    act: Act,
    /// The next member: the index of its pass, and its index there.
    pass: usize,
    at: u64,
}

#[derive(Debug)]
enum Act {
    Add,
    Remove,
    /// Kept if it is in all of these sets.
    KeepIfIn(Vec<Set>),
    /// Kept if it is in none of these sets.
    KeepUnlessIn(Vec<Set>),
}

/// Set lookups per step: about 50 µs.
const STEP_LOOKS: u64 = 96;

impl SetAlgebra {
    /// Starts the operation on at least one set. An absent key is an empty set.
    pub fn new(operation: SetOperation, mut sets: Vec<Set>, limits: SetLimits) -> Self {
        assert!(!sets.is_empty());
        let mut result = Set::new();
        let (passes, act) = match operation {
            SetOperation::Intersection => {
                let smallest = (0..sets.len()).min_by_key(|at| sets[*at].len()).expect("at least one");
                let first = sets.swap_remove(smallest);
                sets.sort_by_key(Set::len);
                (vec![first], Act::KeepIfIn(sets))
            }
            SetOperation::Union => {
                let largest = (0..sets.len()).rev().max_by_key(|at| sets[*at].len()).expect("at least one");
                if !is_small(&sets[largest], limits) {
                    result = sets.swap_remove(largest);
                }
                (sets, Act::Add)
            }
            SetOperation::Difference => {
                let first = sets.remove(0);
                let others: u64 = sets.iter().map(Set::len).sum();
                sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
                if !is_small(&first, limits) && others < first.len().saturating_mul(sets.len() as u64) {
                    result = first;
                    (sets, Act::Remove)
                } else {
                    (vec![first], Act::KeepUnlessIn(sets))
                }
            }
        };
        let passes = passes.into_iter().filter(|set| !set.is_empty()).collect();
        Self { result, limits, count_max: u64::MAX, passes, act, pass: 0, at: 0 }
    }

    /// Limits the result to `count_max` members.
    #[must_use]
    pub fn up_to(self, count_max: u64) -> Self {
        Self { count_max, ..self }
    }

    /// Returns the maximum number of set lookups left, not counting the conversion of a result that became small.
    pub fn looks(&self) -> u64 {
        let members: u64 = self.passes.iter().map(Set::len).sum();
        members.saturating_mul(self.looks_a_member())
    }

    fn looks_a_member(&self) -> u64 {
        match &self.act {
            Act::Add | Act::Remove => 1,
            Act::KeepIfIn(others) | Act::KeepUnlessIn(others) => others.len().max(1) as u64,
        }
    }

    /// Returns the bytes of the members to visit.
    pub fn content_bytes(&self) -> u64 {
        self.passes.iter().map(Set::content_bytes).sum()
    }

    /// Runs for about 50 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        let looks = self.looks_a_member();
        let Self { result, limits, count_max, passes, act, pass, at } = self;
        let Some(set) = passes.get(*pass).filter(|_| result.len() < *count_max) else {
            self.finish();
            return true;
        };
        let count = (STEP_LOOKS / looks).clamp(1, set.len() - *at);
        set.walk_items(*at, count, |item| {
            match act {
                Act::Add | Act::KeepIfIn(_) | Act::KeepUnlessIn(_) if result.len() == *count_max => return,
                Act::Remove => {
                    result.remove_item(item);
                    return;
                }
                Act::Add => {}
                Act::KeepIfIn(others) if others.iter().all(|other| other.place(item).is_ok()) => {}
                Act::KeepUnlessIn(others) if others.iter().all(|other| other.place(item).is_err()) => {}
                Act::KeepIfIn(_) | Act::KeepUnlessIn(_) => return,
            }
            add(result, item, *limits);
        });
        *at += count;
        if *at == set.len() {
            (*pass, *at) = (*pass + 1, 0);
        }
        false
    }

    /// Converts a result that became small to the form its members alone would have had.
    fn finish(&mut self) {
        if !self.result.is_empty()
            && self.result.form() == SetForm::Hashed
            && self.result.len() <= small_len(self.limits)
        {
            let large = std::mem::take(&mut self.result);
            large.walk_items(0, large.len(), |item| {
                add(&mut self.result, item, self.limits);
            });
        }
    }

    /// Returns the result; partial until the operation is done.
    pub fn result(&self) -> &Set {
        &self.result
    }

    /// Runs it to completion.
    #[must_use]
    pub fn run(mut self) -> Set {
        while !self.step() {}
        self.result
    }
}

fn add(result: &mut Set, item: &[u8], limits: SetLimits) {
    let form = match result.form() {
        SetForm::Hashed => SetForm::Hashed,
        _ if result.place(item).is_ok() => return,
        _ => member::spell(item, |member| result.form_with(member, 1, limits)),
    };
    result.add_item(item, form);
}

fn small_len(limits: SetLimits) -> u64 {
    limits.intset_entries.max(limits.listpack_entries)
}

/// Returns true if the members alone may determine the form.
fn is_small(set: &Set, limits: SetLimits) -> bool {
    set.form() != SetForm::Hashed || set.len() <= small_len(limits)
}
