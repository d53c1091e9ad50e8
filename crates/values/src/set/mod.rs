//! The set: members in one block list, in one of three orders.
//!
//! ```text
//!   form       list                             order of the members          until it passes a limit
//!   Integers   | ff 00 00 00 | item | item |    numeric; all are integers     a non-integer; `intset_entries`
//!   Listed     | ff 01 | item | item | ...      insertion order               `listpack_entries`, `listpack_value`
//!   Hashed     | item | item | item | ...       by hash of the item, then item
//! ```
//!
//! No item starts with ff (see `member`), so the first one gives the form; the head of integers is as long as most of
//! them. A set only moves to larger forms. An empty set is an empty list. Hashes of items are not stored but recomputed
//! for comparisons.

mod algebra;
mod member;

pub use algebra::{SetAlgebra, SetGoal, SetOperation};

use crate::limits;
use crate::string::parse_int;
use base::hash;
use blocks::{BlockList, Cursor, Direction, End, Guide};
use member::MemberItem;
use std::ops::ControlFlow;

/// The order of a set's members. The numbers are frozen: they appear in effects and stored values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SetForm {
    /// Integers, in numeric order.
    #[default]
    Integers = 0,
    /// Members in insertion order.
    Listed = 1,
    /// By hash.
    Hashed = 2,
}

impl SetForm {
    /// Returns the frozen number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the form with that number.
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::Integers, Self::Listed, Self::Hashed].into_iter().find(|form| form.number() == number)
    }

    /// Returns the `OBJECT ENCODING` reply.
    pub fn encoding(self) -> &'static str {
        match self {
            Self::Integers => "intset",
            Self::Listed => "listpack",
            Self::Hashed => "hashtable",
        }
    }
}

/// The limits of a set's small forms. Process-wide, like the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetLimits {
    /// The maximum number of integers in numeric order.
    pub intset_entries: u64,
    /// The maximum number of members in insertion order.
    pub listpack_entries: u64,
    /// The maximum size of such a member, in bytes.
    pub listpack_value: u64,
}

impl SetLimits {
    /// Returns the current settings.
    pub fn now() -> Self {
        Self {
            intset_entries: limits::SET_INTEGERS.get(),
            listpack_entries: limits::SET_ENTRIES.get(),
            listpack_value: limits::SET_VALUE_BYTES.get(),
        }
    }
}

impl Default for SetLimits {
    fn default() -> Self {
        Self { intset_entries: 512, listpack_entries: 128, listpack_value: 64 }
    }
}

/// A set of byte strings. Eight bytes; clones share everything until one is written to.
#[derive(Clone, Debug, Default)]
pub struct Set {
    list: BlockList,
}

/// Maximum number of runs whose members are removed one by one.
const RUNS_MAX: usize = 16;
/// The first byte of a head; no item starts with it.
const HEAD: u8 = 0xff;
const INTEGERS_HEAD: [u8; 4] = [HEAD, 0, 0, 0];
const LISTED_HEAD: [u8; 2] = [HEAD, 1];

impl SetForm {
    /// Returns the form of a list that starts with this item.
    fn of_head(item: &[u8]) -> Self {
        match item {
            [HEAD, 0, ..] => Self::Integers,
            [HEAD, ..] => Self::Listed,
            _ => Self::Hashed,
        }
    }

    /// Returns the position of the first member.
    fn start(self) -> u64 {
        u64::from(self != Self::Hashed)
    }

    fn head(self) -> &'static [u8] {
        match self {
            Self::Integers => &INTEGERS_HEAD,
            Self::Listed => &LISTED_HEAD,
            Self::Hashed => &[],
        }
    }
}

/// Filters most members of a hashed set by this hash.
fn by_hash(hash: u64) -> Guide {
    Guide { key: hash, key_of: hash::order, is_even: true }
}

impl Set {
    /// Creates an empty set, without allocating.
    pub const fn new() -> Self {
        Self { list: BlockList::new() }
    }

    /// Returns its form. O(log n).
    pub fn form(&self) -> SetForm {
        self.list.get(0, SetForm::of_head).unwrap_or_default()
    }

    /// Returns the position of its first member in the list.
    fn start(&self) -> u64 {
        if self.is_empty() { 0 } else { self.form().start() }
    }

    /// Returns the number of members. O(log n).
    pub fn len(&self) -> u64 {
        self.list.len() - self.start()
    }

    /// Returns true if it has none. O(1).
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns its memory in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.list.heap_bytes()
    }

    /// Returns the bytes of its items. O(1).
    pub fn content_bytes(&self) -> u64 {
        self.list.content_bytes()
    }

    /// Returns true if `member` is in the set. O(log n), in a listed set O(n).
    pub fn contains(&self, member: &[u8]) -> bool {
        self.place(&MemberItem::of(member)).is_ok()
    }

    /// Adds a member, switching to `form` if that is larger than the current one. Returns true if the member is new.
    /// O(log n), in a listed set O(n); O(n log n) if it becomes hashed.
    ///
    /// # Panics
    /// If the form cannot hold the member: a bug of the caller.
    pub fn add(&mut self, member: &[u8], form: SetForm) -> bool {
        self.add_item(&MemberItem::of(member), form)
    }

    fn add_item(&mut self, item: &[u8], form: SetForm) -> bool {
        match self.place(item) {
            Ok(_) => false,
            Err(at) => {
                self.add_at(at, item, form);
                true
            }
        }
    }

    /// Adds an item at its insertion point, after switching to `form` if that is larger.
    fn add_at(&mut self, mut at: Cursor, item: &[u8], form: SetForm) {
        if self.is_empty() {
            if form != SetForm::Hashed {
                self.turn(form);
            }
            return self.list.push(End::Tail, item);
        }
        if form > self.form() {
            self.turn(form);
            at = self.place(item).expect_err("it is not there");
        }
        self.list.insert_at(at, item);
    }

    /// Switches to this form, if it is larger.
    fn turn(&mut self, form: SetForm) {
        if self.is_empty() {
            self.list.push(End::Tail, form.head());
            return;
        }
        let now = self.form();
        if form <= now {
            return;
        }
        if form == SetForm::Listed {
            // Integers stay in numeric order.
            self.list.set(0, form.head());
            return;
        }
        let mut items = Vec::with_capacity(self.list.len() as usize);
        let all = std::mem::take(&mut self.list);
        let _ = all.walk(now.start(), all.len() - now.start(), Direction::Forward, &mut |item: &[u8]| {
            items.push((hash::order(item), item.to_vec()));
            ControlFlow::Continue(())
        });
        items.sort_unstable();
        items.iter().for_each(|(_, item)| self.list.push(End::Tail, item));
    }

    /// Removes a member. Returns true if it was present. O(log n), in a listed set O(n).
    pub fn remove(&mut self, member: &[u8]) -> bool {
        self.remove_item(&MemberItem::of(member))
    }

    fn remove_item(&mut self, item: &[u8]) -> bool {
        let Ok(at) = self.place(item) else { return false };
        if self.list.len() <= 2 && self.list.len() == self.start() + 1 {
            self.list = BlockList::new();
        } else {
            self.list.remove_at(at);
        }
        true
    }

    /// Removes runs of members, given as first position and count, ascending and not adjacent; some members must
    /// remain. O(runs log n); with many runs, each block is written once however many of its members are removed.
    pub fn remove_runs(&mut self, runs: impl Iterator<Item = (u64, u64)> + Clone) {
        let start = self.start();
        if runs.clone().nth(RUNS_MAX).is_some() {
            self.list.remove_runs(runs.map(|(at, count)| (start + at, count)));
        } else {
            let mut removed = 0;
            for (at, count) in runs {
                self.remove_run(start + at - removed, count);
                removed += count;
            }
        }
        assert!(self.list.len() > start, "a head alone");
    }

    fn remove_run(&mut self, at: u64, count: u64) {
        if count == 1 {
            return self.list.remove(at);
        }
        let mut behind = self.list.split_off(at);
        behind.trim(count, behind.len() - count);
        self.list.append(behind);
    }

    /// Returns true if `member` can be added in this form, or in the set's own if that is larger. O(1) except for a
    /// small set.
    pub fn takes(&self, member: &[u8], form: SetForm) -> bool {
        form != SetForm::Integers || parse_int(member).is_some() || !self.is_empty() && self.form() != SetForm::Integers
    }

    /// Applies `visit` to the member at `index` in order; `None` if there is none. O(log n).
    pub fn get<R>(&self, index: u64, visit: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.list.get(self.start() + index, |item| member::spell(item, visit))
    }

    /// Visits `count` members from `start` on, in order, until `visit` breaks. O(log n + count).
    pub fn walk(&self, start: u64, count: u64, mut visit: impl FnMut(&[u8]) -> ControlFlow<()>) {
        let _ = self
            .list
            .walk(self.start() + start, count, Direction::Forward, &mut |item: &[u8]| member::spell(item, &mut visit));
    }

    fn walk_items(&self, start: u64, count: u64, mut visit: impl FnMut(&[u8])) {
        let _ = self.list.walk(self.start() + start, count, Direction::Forward, &mut |item: &[u8]| {
            visit(item);
            ControlFlow::Continue(())
        });
    }

    /// Returns the index of the first member of a hashed set whose hash is at least `hash`. O(log n).
    pub fn index_of_hash(&self, hash: u64) -> u64 {
        self.list.guided_point(0..self.list.len(), by_hash(hash), |item| hash::order(item) < hash)
    }

    /// Returns the hash of the member at `index`, by which a hashed set is ordered. O(log n).
    pub fn hash_at(&self, index: u64) -> Option<u64> {
        self.list.get(index, hash::order)
    }

    /// Visits the members of a hashed set from `start` on, with their hashes, until `visit` breaks.
    pub fn walk_hashed(&self, start: u64, mut visit: impl FnMut(u64, &[u8]) -> ControlFlow<()>) {
        let _ = self.list.walk(start, self.list.len() - start, Direction::Forward, &mut |item: &[u8]| {
            member::spell(item, |member| visit(hash::order(item), member))
        });
    }

    /// Returns the form needed to add `member` as one of `count` together: the current one, or a larger. O(log n).
    pub fn form_with(&self, member: &[u8], count: u64, limits: SetLimits) -> SetForm {
        let is_integer = parse_int(member).is_some();
        let (form, len) = (self.form(), self.len());
        let is_listed = len < limits.listpack_entries && member.len() as u64 <= limits.listpack_value;
        match form {
            SetForm::Integers if len == 0 => {
                if is_integer && count.max(1) <= limits.intset_entries {
                    SetForm::Integers
                } else if count <= limits.listpack_entries && is_listed {
                    SetForm::Listed
                } else {
                    SetForm::Hashed
                }
            }
            SetForm::Integers if count > limits.intset_entries => SetForm::Hashed,
            SetForm::Integers if is_integer && len < limits.intset_entries => SetForm::Integers,
            SetForm::Integers if !is_integer && is_listed && self.are_short(limits) => SetForm::Listed,
            SetForm::Listed if count <= limits.listpack_entries && is_listed => SetForm::Listed,
            _ => SetForm::Hashed,
        }
    }

    /// Returns true if its integers, in numeric order, are no longer than a listed set allows.
    fn are_short(&self, limits: SetLimits) -> bool {
        let ends = [0, self.len() - 1];
        ends.iter().all(|index| self.get(*index, |member| member.len() as u64 <= limits.listpack_value) == Some(true))
    }

    /// Returns an item's position in the list, or else its insertion point.
    fn place(&self, item: &[u8]) -> Result<Cursor, Cursor> {
        let list = &self.list;
        match self.form() {
            SetForm::Listed => match list.find(item, 1, Direction::Forward) {
                Some(index) => Ok(list.cursor(index)),
                None => Err(list.cursor(list.len())),
            },
            SetForm::Integers => {
                let Some(number) = member::integer(item) else { return Err(list.cursor(list.len())) };
                // The head is no integer, and comes first.
                let is_before = |other: &[u8]| member::integer(other).is_none_or(|other| other < number);
                let (at, found) = list.find_cursor(0..list.len(), None, is_before, |other| other == item);
                if found == Some(true) { Ok(at) } else { Err(at) }
            }
            SetForm::Hashed => {
                let hash = hash::order(item);
                let is_before = |other: &[u8]| (hash::order(other), other) < (hash, item);
                let (at, found) =
                    list.find_cursor(0..list.len(), Some(by_hash(hash)), is_before, |other| other == item);
                if found == Some(true) { Ok(at) } else { Err(at) }
            }
        }
    }

    /// Returns the list that stores the set.
    pub fn list(&self) -> &BlockList {
        &self.list
    }

    /// Returns the set stored in this untrusted list; `None` if items are invalid, out of order, or duplicated. O(n),
    /// for a listed set O(n log n).
    pub fn of_list(list: BlockList) -> Option<Self> {
        let set = Self { list };
        let is_sound = !set.is_empty() && set.list.len() > set.start() && set.has_its_head() && set.is_in_order();
        is_sound.then_some(set)
    }

    fn has_its_head(&self) -> bool {
        let form = self.form();
        form == SetForm::Hashed || self.list.get(0, |head| head == form.head()) == Some(true)
    }

    fn is_in_order(&self) -> bool {
        let form = self.form();
        let (mut are_items, mut listed) = (true, Vec::new());
        let (mut numbers, mut hashes) = (Order::default(), Order::default());
        self.walk_items(0, self.len(), |item| {
            are_items &= member::is_item(item) && (form != SetForm::Integers || member::integer(item).is_some());
            match form {
                SetForm::Integers => numbers.follow(member::integer(item), item),
                SetForm::Listed => listed.push((hash::order(item), item.to_vec())),
                SetForm::Hashed => hashes.follow(hash::order(item), item),
            }
        });
        listed.sort_unstable();
        are_items && numbers.rises && hashes.rises && listed.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// Checks that keys ascend.
struct Order<K> {
    last: Option<(K, Vec<u8>)>,
    rises: bool,
}

impl<K> Default for Order<K> {
    fn default() -> Self {
        Self { last: None, rises: true }
    }
}

impl<K: Ord> Order<K> {
    fn follow(&mut self, key: K, item: &[u8]) {
        match &mut self.last {
            Some((last, last_item)) => {
                self.rises &= (&*last, &last_item[..]) < (&key, item);
                *last = key;
                last_item.clear();
                last_item.extend_from_slice(item);
            }
            None => self.last = Some((key, item.to_vec())),
        }
    }
}
