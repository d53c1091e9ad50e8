//! Intersection, union and difference of sets, in steps over clones.
//!
//! ```text
//!   intersection   the smallest set, some members at a time: which of them are in all others?
//!   union          the largest set, plus the members of the others
//!   difference     the first set, some members at a time: which of them are in no other?
//!                  or the first set minus the members of the others - whichever is less work
//!
//!   members   | 02.. a | 31.. b | 77.. c | c9.. d |                the hashes rise in both, so both are read once
//!   other     | 05.. x | 31.. b | 40.. y | 80.. z | c9.. d |       (a much larger set is searched instead)
//! ```
//!
//! Hashed sets share one order. A union that starts with a large set, and a difference that removes, share unchanged
//! blocks with that set.

use super::{Set, SetForm, SetLimits, member};
use base::hash;
use blocks::{Direction, End};
use std::ops::ControlFlow;

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

/// The use of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetGoal {
    /// A set, in the form that its members alone would have under these limits.
    Stored(SetLimits),
    /// The members, in any form.
    Members,
    /// Their number, up to this one. For an intersection.
    Count(u64),
}

/// An operation in progress.
#[derive(Debug)]
pub struct SetAlgebra {
    result: Set,
    /// The number of members found so far, of an intersection and a difference.
    count: u64,
    goal: SetGoal,
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
    /// Keeps those which are in all of these sets, or in none of them.
    Keep {
        others: Vec<Other>,
        are_in: bool,
    },
}

/// A set in which members are sought.
#[derive(Debug)]
struct Other {
    set: Set,
    /// The next of its members, if both sets are read in their common order.
    merged_at: Option<u64>,
}

/// Set lookups per step: about 50 µs.
const STEP_LOOKS: u64 = 96;
/// Members whose hashes are compared in the time of a lookup.
const LOOK_MEMBERS: u64 = 8;
/// A set with so many times the members of the first one is searched rather than read; and the others skip as many
/// members by a search.
const SEARCHED_RATIO: u64 = 16;
/// A set whose members have more bytes than this, on average, is searched: reading means to hash all of them.
const READ_BYTES_MEAN: u64 = 128;
/// Members considered at a time, at least.
const STEP_MEMBERS_MIN: u64 = 32;
/// Bytes of members considered at a time.
const STEP_BYTES: usize = 64 << 10;

impl SetAlgebra {
    /// Starts the operation on at least one set. An absent key is an empty set.
    pub fn new(operation: SetOperation, mut sets: Vec<Set>, goal: SetGoal) -> Self {
        assert!(!sets.is_empty());
        let mut result = Set::new();
        let (passes, act) = match operation {
            SetOperation::Intersection => {
                let smallest = (0..sets.len()).min_by_key(|at| sets[*at].len()).expect("at least one");
                let first = sets.swap_remove(smallest);
                sets.sort_by_key(Set::len);
                let others = sets.into_iter().map(|set| Other::new(&first, set)).collect();
                (vec![first], Act::Keep { others, are_in: true })
            }
            SetOperation::Union => {
                let largest = (0..sets.len()).rev().max_by_key(|at| sets[*at].len()).expect("at least one");
                if !is_small(&sets[largest], goal) {
                    result = sets.swap_remove(largest);
                }
                (sets, Act::Add)
            }
            SetOperation::Difference => {
                let first = sets.remove(0);
                let others: u64 = sets.iter().map(Set::len).sum();
                sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
                if !is_small(&first, goal) && others < first.len().saturating_mul(sets.len() as u64) {
                    result = first;
                    (sets, Act::Remove)
                } else {
                    let others = sets.into_iter().map(|set| Other::new(&first, set)).collect();
                    (vec![first], Act::Keep { others, are_in: false })
                }
            }
        };
        let passes = passes.into_iter().filter(|set| !set.is_empty()).collect();
        Self { result, count: 0, goal, passes, act, pass: 0, at: 0 }
    }

    /// Returns the maximum number of set lookups left, or of work that takes as long, not counting the conversion of a
    /// result that became small.
    pub fn looks(&self) -> u64 {
        let members: u64 = self.passes.iter().map(Set::len).sum();
        match &self.act {
            Act::Add | Act::Remove => members,
            Act::Keep { others, .. } => others.iter().fold(members.div_ceil(LOOK_MEMBERS), |sum, other| {
                sum.saturating_add(match other.merged_at {
                    Some(_) => (members + other.set.len()).div_ceil(LOOK_MEMBERS),
                    None => members,
                })
            }),
        }
    }

    /// Returns true if only the number of members is wanted.
    pub fn is_counted(&self) -> bool {
        matches!(self.goal, SetGoal::Count(_))
    }

    /// Returns the bytes of the members to visit.
    pub fn content_bytes(&self) -> u64 {
        self.passes.iter().map(Set::content_bytes).sum()
    }

    /// Runs for about 50 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        let is_over = matches!(self.goal, SetGoal::Count(count_max) if self.count() >= count_max);
        let Some(set) = self.passes.get(self.pass).filter(|_| !is_over) else {
            self.finish();
            return true;
        };
        let len = set.len();
        self.at += match self.act {
            Act::Keep { .. } => self.keep_some(len - self.at),
            Act::Add | Act::Remove => self.change_some(len - self.at),
        };
        if self.at == len {
            (self.pass, self.at) = (self.pass + 1, 0);
        }
        false
    }

    /// Adds or removes some members of the current pass. Returns how many it has visited.
    fn change_some(&mut self, left: u64) -> u64 {
        let Self { result, goal, passes, act, pass, at, .. } = self;
        let count = STEP_LOOKS.min(left);
        passes[*pass].walk_items(*at, count, |item| match act {
            Act::Remove => {
                result.remove_item(item);
            }
            _ => result.add_within(item, limits_of(*goal)),
        });
        count
    }

    /// Keeps some members of the first set. Returns how many it has visited.
    fn keep_some(&mut self, left: u64) -> u64 {
        let Self { result, count, goal, passes, act, pass, at } = self;
        let Act::Keep { others, are_in } = act else { unreachable!("the caller has looked") };
        // Others may lie between those that are sought.
        let per_look = if others.iter().all(|other| other.merged_at.is_some()) { LOOK_MEMBERS / 2 } else { 1 };
        let mut wanted = STEP_LOOKS * per_look / others.len().max(1) as u64;
        if let SetGoal::Count(count_max) = *goal {
            wanted = wanted.min((count_max - *count).saturating_mul(2).max(STEP_MEMBERS_MIN));
        }
        let first = &passes[*pass];
        let mut candidates = SetCandidates::take(first, *at, wanted.clamp(1, left));
        let visited = candidates.items.len() as u64;
        others.iter_mut().for_each(|other| candidates.keep(other, *are_in));
        *count += candidates.items.len() as u64;
        if let SetGoal::Count(count_max) = *goal {
            *count = count_max.min(*count);
        } else {
            let form = first.form();
            candidates.items.iter().for_each(|candidate| result.push_new(candidates.item(candidate), form));
        }
        visited
    }

    /// Converts a result to the form its members alone would have had.
    fn finish(&mut self) {
        let SetGoal::Stored(limits) = self.goal else { return };
        let len = self.result.len();
        let are_right = self.result.form() == SetForm::Integers && len <= limits.intset_entries;
        if are_right || !is_small(&self.result, self.goal) {
            return;
        }
        let (mut are_integers, mut longest) = (true, 0);
        self.result.walk_items(0, len, |item| {
            are_integers &= member::integer(item).is_some();
            member::spell(item, |member| longest = longest.max(member.len() as u64));
        });
        let is_listed = len <= limits.listpack_entries && longest <= limits.listpack_value;
        let form = match () {
            () if are_integers && len <= limits.intset_entries => SetForm::Integers,
            // Integers that are too many do not become a listed set.
            () if is_listed && (!are_integers || limits.intset_entries == 0) => SetForm::Listed,
            () => SetForm::Hashed,
        };
        if form == self.result.form() {
            return;
        }
        let found = std::mem::take(&mut self.result);
        found.walk_items(0, len, |item| {
            self.result.add_item(item, form);
        });
    }

    /// Returns the number of members found; partial until the operation is done.
    pub fn count(&self) -> u64 {
        match self.act {
            Act::Keep { .. } => self.count,
            Act::Add | Act::Remove => self.result.len(),
        }
    }

    /// Returns the result; partial until the operation is done, and empty if only a count was asked for.
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

impl Other {
    fn new(first: &Set, set: Set) -> Self {
        let is_merged = first.form() == SetForm::Hashed
            && set.form() == SetForm::Hashed
            && set.len() <= first.len().saturating_mul(SEARCHED_RATIO)
            && set.content_bytes() <= set.len().saturating_mul(READ_BYTES_MEAN);
        Self { set, merged_at: is_merged.then_some(0) }
    }
}

/// Members of the first set that may be in the result.
struct SetCandidates {
    bytes: Vec<u8>,
    items: Vec<SetCandidate>,
}

struct SetCandidate {
    /// Of its item.
    hash: u64,
    start: usize,
    end: usize,
}

impl SetCandidates {
    /// Takes up to `count` members of `set`, at least one, from `at` on.
    fn take(set: &Set, at: u64, count: u64) -> Self {
        let (mut bytes, mut items) = (Vec::new(), Vec::with_capacity(count as usize));
        let _ = set.list.walk(set.start() + at, count, Direction::Forward, &mut |item: &[u8]| {
            let start = bytes.len();
            bytes.extend_from_slice(item);
            items.push(SetCandidate { hash: hash::order(item), start, end: bytes.len() });
            if bytes.len() < STEP_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Self { bytes, items }
    }

    fn item(&self, candidate: &SetCandidate) -> &[u8] {
        &self.bytes[candidate.start..candidate.end]
    }

    /// Keeps those which are in a set, or those which are not.
    fn keep(&mut self, other: &mut Other, is_in: bool) {
        let Self { bytes, items } = self;
        let item_of = |candidate: &SetCandidate| &bytes[candidate.start..candidate.end];
        let Some(at) = &mut other.merged_at else {
            return items.retain(|candidate| other.set.place(item_of(candidate)).is_ok() == is_in);
        };
        let mut are_there = vec![false; items.len()];
        let mut next = 0;
        while next < items.len() {
            *at = (*at).max(other.set.index_of_hash(items[next].hash));
            let (from, mut passed) = (*at, 0);
            let flow = other.set.list.walk(from, other.set.len() - from, Direction::Forward, &mut |item: &[u8]| {
                base::cost::count(base::cost::Work::Elements, 1);
                let hash = hash::order(item);
                while let Some(candidate) = items.get(next)
                    && (candidate.hash < hash || candidate.hash == hash && item_of(candidate) < item)
                {
                    (next, passed) = (next + 1, 0);
                }
                let Some(candidate) = items.get(next) else { return ControlFlow::Break(()) };
                *at += 1;
                passed += 1;
                if candidate.hash == hash && item_of(candidate) == item {
                    are_there[next] = true;
                    (next, passed) = (next + 1, 0);
                }
                if passed < SEARCHED_RATIO { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if flow.is_continue() {
                break;
            }
        }
        let mut are_there = are_there.into_iter();
        items.retain(|_| are_there.next() == Some(is_in));
    }
}

/// Returns the limits of the forms that a result goes through.
fn limits_of(goal: SetGoal) -> SetLimits {
    match goal {
        SetGoal::Stored(limits) => limits,
        SetGoal::Members | SetGoal::Count(_) => SetLimits::default(),
    }
}

/// Returns true if the members alone may determine the form.
fn is_small(set: &Set, goal: SetGoal) -> bool {
    let limits = limits_of(goal);
    set.form() != SetForm::Hashed || set.len() <= limits.intset_entries.max(limits.listpack_entries)
}

impl Set {
    /// Adds an item, in the form that the limits allow.
    fn add_within(&mut self, item: &[u8], limits: SetLimits) {
        if let Err(at) = self.place(item) {
            let form = match self.form() {
                SetForm::Hashed if !self.is_empty() => SetForm::Hashed,
                _ => member::spell(item, |member| self.form_with(member, 1, limits)),
            };
            self.add_at(at, item, form);
        }
    }

    /// Appends an item of a set of this form: one after all others in the order of that form.
    fn push_new(&mut self, item: &[u8], form: SetForm) {
        if self.is_empty() && form != SetForm::Hashed {
            self.turn(form);
        }
        self.list.push(End::Tail, item);
    }
}
