//! The sorted set: members ordered by (score, member), and an index that finds a member's score.
//!
//! ```text
//!   small    main     | score member | score member | ...          a lookup scans from the first member on
//!
//!   large    main     | - | score member | score member | ...      the head, an empty item, marks the large form
//!            index    | hash 3, score | hash 3, score | ...        in the order of the hashes
//!
//!   member --> hash --> the few scores beside that hash --> for each: is (score, member) in main?
//! ```
//!
//! The index is not stored but rebuilt on load. So its hash can use a random per-process key, and nobody can choose
//! members that collide.

mod algebra;
mod build;
mod candidates;
mod index;
mod removing;
mod scan;
mod score;

pub use algebra::{Aggregate, Asked, Members, SortedAlgebra, Source};
pub use build::SortedLimits;
pub use removing::Removing;
pub use scan::Scan;

use crate::List;
use blocks::{Cursor, Direction, End, Guide};
use index::MemberHash;
use score::{ScoreForm, split, split_checked};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

/// A sorted set; eight bytes, cloned in O(1). Scores are never NaN.
#[derive(Clone, Default)]
pub struct Sorted {
    parts: Option<Box<SortedParts>>,
}

#[derive(Clone, Default)]
struct SortedParts {
    main: List,
    /// Empty in a small sorted set.
    index: List,
}

/// Maximum number of members removed by rank one after the other. More are cut out at once, which takes the list apart.
const SINGLE_REMOVALS_MAX: u64 = 8;

/// A bound of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound<T> {
    /// Unbounded.
    None,
    /// The bound is included.
    Including(T),
    /// The bound is excluded.
    Excluding(T),
}

/// Where a member is, or would be. Valid until the sorted set changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberPlace {
    /// The position in main, and the score there.
    found: Option<(Cursor, f64)>,
    /// The position in the index, if large.
    index_at: Cursor,
}

impl MemberPlace {
    /// Returns the member's score; `None` if it is absent.
    pub fn score(&self) -> Option<f64> {
        self.found.map(|(_, score)| score)
    }
}

// ---- lookups ----

impl Sorted {
    fn main(&self) -> &List {
        const NONE: &List = &List::new();
        self.parts.as_ref().map_or(NONE, |parts| &parts.main)
    }

    /// Returns the stored blocks, as [`Sorted::of_list`] takes them.
    pub fn list(&self) -> &List {
        self.main()
    }

    /// Returns true if it is in large form.
    pub fn is_large(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| !parts.index.is_empty())
    }

    /// Returns the number of items before the first member: the head of a large one.
    fn start(&self) -> u64 {
        u64::from(self.is_large())
    }

    /// Returns the number of members. O(1).
    pub fn len(&self) -> u64 {
        self.main().len() - self.start()
    }

    /// Returns true if it has no members. O(1).
    pub fn is_empty(&self) -> bool {
        self.parts.is_none()
    }

    /// Returns the bytes of members and scores, as stored. O(1).
    pub fn content_bytes(&self) -> u64 {
        self.main().content_bytes()
    }

    /// Returns its heap memory in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.parts
            .as_ref()
            .map_or(0, |parts| size_of::<SortedParts>() as u64 + parts.main.heap_bytes() + parts.index.heap_bytes())
    }

    /// Returns the name that `OBJECT ENCODING` replies in Redis.
    pub fn encoding(&self) -> &'static str {
        if self.is_large() { "skiplist" } else { "listpack" }
    }

    /// Returns true if the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.main().shares_root_with(other.main())
    }

    /// Returns the score of `member`. O(log n); in a small one O(n).
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.find(member).score()
    }

    /// Returns the rank of `member`, counted from the lowest score, and its score. Cost as of [`Sorted::score`].
    pub fn rank(&self, member: &[u8]) -> Option<(u64, f64)> {
        let (at, score) = self.find(member).found?;
        Some((self.main().index_of(at) - self.start(), score))
    }

    /// Applies `visit` to score and member at `rank`; `None` if there is none. O(log n).
    pub fn get<R>(&self, rank: u64, visit: impl FnOnce(f64, &[u8]) -> R) -> Option<R> {
        self.main().get(rank + self.start(), |item| {
            let (score, member) = split(item);
            visit(score, member)
        })
    }

    /// Visits the `count` members from `rank` on: forward from the first of them, backward from the last. Breaks when
    /// `visit` does. O(log n + count).
    pub fn walk(
        &self,
        rank: u64,
        count: u64,
        direction: Direction,
        visit: &mut impl FnMut(f64, &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.main().walk(rank + self.start(), count, direction, &mut |item: &[u8]| {
            let (score, member) = split(item);
            visit(score, member)
        })
    }

    /// Returns the `count` members from `rank` on, in small form whatever their number: for iteration, not for lookups
    /// by member. O(log n).
    pub fn slice(&self, rank: u64, count: u64) -> Self {
        let mut main = self.main().clone();
        main.trim(rank + self.start(), count);
        Self { parts: (count > 0).then(|| Box::new(SortedParts { main, index: List::new() })) }
    }

    /// Visits every member, the lowest score first.
    pub fn for_each(&self, mut visit: impl FnMut(f64, &[u8])) {
        let _ = self.walk(0, self.len(), Direction::Forward, &mut |score, member| {
            visit(score, member);
            ControlFlow::Continue(())
        });
    }

    /// Returns the number of members for which `is_before` holds; they must have the lowest ranks. Examines O(log n) of
    /// them.
    fn count_before(&self, mut is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        let point = self.main().partition_point(|item| item.is_empty() || is_before(split(item).1));
        point - self.start()
    }

    /// Returns the number of members with scores below `bound`, or up to it.
    fn count_below(&self, bound: f64, takes_bound: bool) -> u64 {
        let is_before = |item: &[u8]| {
            item.is_empty() || {
                let score = split(item).0;
                score < bound || (takes_bound && score == bound)
            }
        };
        self.main().guided_point(0..self.main().len(), by_score(bound), is_before) - self.start()
    }

    /// Returns the first rank and the number of members with scores from `least` to `most`. O(log n).
    pub fn score_range(&self, least: Bound<f64>, most: Bound<f64>) -> (u64, u64) {
        let start = match least {
            Bound::None => 0,
            Bound::Including(least) => self.count_below(least, false),
            Bound::Excluding(least) => self.count_below(least, true),
        };
        let end = match most {
            Bound::None => self.len(),
            Bound::Including(most) => self.count_below(most, true),
            Bound::Excluding(most) => self.count_below(most, false),
        };
        (start, end.saturating_sub(start))
    }

    /// Returns the first rank and the number of members from `least` to `most` in byte order, if all scores are equal.
    /// O(log n).
    pub fn lex_range(&self, least: Bound<&[u8]>, most: Bound<&[u8]>) -> (u64, u64) {
        let start = match least {
            Bound::None => 0,
            Bound::Including(least) => self.count_before(|member| member < least),
            Bound::Excluding(least) => self.count_before(|member| member <= least),
        };
        let end = match most {
            Bound::None => self.len(),
            Bound::Including(most) => self.count_before(|member| member <= most),
            Bound::Excluding(most) => self.count_before(|member| member < most),
        };
        (start, end.saturating_sub(start))
    }

    /// Visits about `wanted` members from `cursor` on, in an order unrelated to scores, and returns the next cursor;
    /// `None` at the end. Cursor 0 is the start. A member that stays is visited in some step, whatever is added or
    /// removed meanwhile. O(wanted log n), but where very many members share a score, O(those members).
    pub fn scan(&self, cursor: u64, wanted: u64, mut visit: impl FnMut(f64, &[u8])) -> Option<u64> {
        match self.begin_scan(cursor, wanted) {
            Some(mut scan) => {
                while !scan.turn(&mut visit) {}
                scan.next()
            }
            None => {
                if cursor == 0 {
                    self.for_each(visit);
                }
                None
            }
        }
    }

    /// Like [`Sorted::scan`], but incremental; `None`: a small one is visited whole at cursor 0, and there is nothing
    /// after the last hash.
    pub fn begin_scan(&self, cursor: u64, wanted: u64) -> Option<Scan> {
        let parts = self.parts.as_ref().filter(|_| self.is_large())?;
        Scan::new(&parts.main, &parts.index, cursor, wanted)
    }

    /// Returns the place of `member`, for [`Sorted::put_at`]. Cost as of [`Sorted::score`].
    pub fn find(&self, member: &[u8]) -> MemberPlace {
        match &self.parts {
            Some(parts) if !parts.index.is_empty() => parts.find_large(member, index::hash(member)),
            Some(parts) => MemberPlace { found: parts.find_small(member), index_at: Cursor::default() },
            None => MemberPlace::default(),
        }
    }
}

impl SortedParts {
    fn find_small(&self, member: &[u8]) -> Option<(Cursor, f64)> {
        let (mut at, mut found) = (0, None);
        let _ = self.main.walk(0, self.main.len(), Direction::Forward, &mut |item: &[u8]| {
            let (score, other) = split(item);
            if other == member {
                found = Some(score);
                return ControlFlow::Break(());
            }
            at += 1;
            ControlFlow::Continue(())
        });
        found.map(|score| (self.main.cursor(at), score))
    }

    fn find_large(&self, member: &[u8], hash: MemberHash) -> MemberPlace {
        let (first_at, first) = index::first_beside(&self.index, hash);
        let Some(first) = first else { return MemberPlace { found: None, index_at: first_at } };
        // Usually no other member has this hash.
        if let Ok(found) = self.place(first, member) {
            return MemberPlace { found: Some(found), index_at: first_at };
        }
        let mut index_at = self.index.index_of(first_at) + 1;
        let (mut found, mut before) = (None, first.to_bits());
        let _ = self.index.walk(index_at, self.index.len() - index_at, Direction::Forward, &mut |item: &[u8]| {
            let Some(score) = index::score_beside(item, hash) else { return ControlFlow::Break(()) };
            if before != score.to_bits()
                && let Ok(place) = self.place(score, member)
            {
                found = Some(place);
                return ControlFlow::Break(());
            }
            before = score.to_bits();
            index_at += 1;
            ControlFlow::Continue(())
        });
        let index_at = if found.is_some() { self.index.cursor(index_at) } else { first_at };
        MemberPlace { found, index_at }
    }

    /// Returns the position of (score, member) in main and its score there, which may be the other zero; or the
    /// insertion point.
    fn place(&self, score: f64, member: &[u8]) -> Result<(Cursor, f64), Cursor> {
        let key = score_key(score);
        let is_before = |item: &[u8]| {
            item.is_empty() || {
                let (other, name) = split(item);
                let other_key = score_key(other);
                other_key < key || (other_key == key && name < member)
            }
        };
        let score_of = |item: &[u8]| {
            let (other, name) = split(item);
            order((other, name), (score, member)).is_eq().then_some(other)
        };
        let (at, seen) = self.main.find_cursor(0..self.main.len(), Some(by_score(score)), is_before, score_of);
        seen.flatten().map(|score| (at, score)).ok_or(at)
    }

    fn insert(&mut self, score: f64, member: &[u8]) {
        let at = self.place(score, member).expect_err("no member is there twice");
        self.main.insert_at(at, &item(score, member));
    }
}

/// Compares in the order of the main list. Zeros of both signs are equal, as in every comparison of scores.
fn order((score, member): (f64, &[u8]), (other_score, other): (f64, &[u8])) -> Ordering {
    score.partial_cmp(&other_score).expect("no score is NaN").then_with(|| member.cmp(other))
}

/// Filters most members of the main list by this score.
fn by_score(score: f64) -> Guide {
    let key_of = |item: &[u8]| if item.is_empty() { 0 } else { score_key(split(item).0) };
    Guide { key: score_key(score), key_of, is_even: false }
}

/// Maps scores to numbers in the same order.
fn score_key(score: f64) -> u64 {
    // Zeros of both signs are equal.
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Bytes of an item up to which making one allocates nothing.
const ITEM_BYTES_USUAL: usize = 64;

/// Encodes an item of the main list; effects contain the same bytes.
pub fn item(score: f64, member: &[u8]) -> SmallVec<[u8; ITEM_BYTES_USUAL]> {
    let mut item = SmallVec::from_slice(ScoreForm::of(score).as_bytes());
    item.extend_from_slice(member);
    item
}

/// Splits an untrusted item into score and member; `None` if it is invalid.
pub fn checked_item(item: &[u8]) -> Option<(f64, &[u8])> {
    split_checked(item)
}

// ---- changes ----

impl Sorted {
    /// Sets the score of `member`, adding it if absent; returns its previous score. An equal score changes nothing.
    /// O(log n); in a small one O(n).
    pub fn put(&mut self, score: f64, member: &[u8]) -> Option<f64> {
        self.put_at(score, member, &self.find(member))
    }

    /// As [`Sorted::put`], where [`Sorted::find`] returned `place`. Saves lookups.
    pub fn put_at(&mut self, score: f64, member: &[u8], place: &MemberPlace) -> Option<f64> {
        assert!(!score.is_nan());
        let is_large = self.is_large();
        // The small form has no negative zero, as in Redis.
        let score = if is_large { score } else { score + 0.0 };
        let parts = self.parts.get_or_insert_default();
        match place.found {
            Some((_, before)) if before == score => {}
            Some((at, _)) => {
                parts.main.remove_at(at);
                parts.insert(score, member);
                if is_large {
                    parts.index.set_at(place.index_at, &index::item(index::hash(member), score));
                }
            }
            None => {
                parts.insert(score, member);
                if is_large {
                    parts.index.insert_at(place.index_at, &index::item(index::hash(member), score));
                }
            }
        }
        place.score()
    }

    /// Removes `member`; returns its previous score. Cost as of [`Sorted::put`].
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let (place, is_large) = (self.find(member), self.is_large());
        let (at, score) = place.found?;
        let parts = self.parts.as_mut().expect("something was found");
        parts.main.remove_at(at);
        if is_large {
            parts.index.remove_at(place.index_at);
        }
        self.drop_empty(is_large);
        Some(score)
    }

    /// Removes the member at `rank`, which must exist. O(log n).
    fn remove_rank(&mut self, rank: u64) {
        let (at, is_large) = (self.start() + rank, self.is_large());
        let parts = self.parts.as_mut().expect("it has members");
        if is_large {
            let entry = parts.main.get(at, |item| {
                let (score, member) = split(item);
                (index::hash(member), score)
            });
            let (hash, score) = entry.expect("the rank is of a member");
            index::remove(&mut parts.index, hash, score);
        }
        parts.main.remove(at);
        self.drop_empty(is_large);
    }

    /// Removes the `count` members from `rank` on. O(count log n).
    pub fn remove_range(&mut self, rank: u64, count: u64) {
        assert!(rank + count <= self.len());
        if count <= SINGLE_REMOVALS_MAX {
            return (0..count).for_each(|_| self.remove_rank(rank));
        }
        *self = Removing::new(std::mem::take(self), rank, count).run();
    }

    /// Appends a member that sorts after all others to a small one. O(1) as a rule.
    pub fn push(&mut self, score: f64, member: &[u8]) {
        assert!(!self.is_large());
        self.parts.get_or_insert_default().main.push(End::Tail, &item(score, member));
    }

    /// Makes negative zeros positive in a small one: the small form has none, as in Redis. O(n) if it is small.
    pub fn forget_zero_signs(&mut self) {
        let mut has_negative = false;
        if self.is_large() {
            return;
        }
        self.for_each(|score, _| has_negative |= score == 0.0 && score.is_sign_negative());
        if has_negative {
            let signed = std::mem::take(self);
            signed.for_each(|score, member| self.push(score + 0.0, member));
        }
    }

    /// Switches to large form if there are more than `members_max` members, or one has more than `member_bytes_max`
    /// bytes. O(n log n).
    pub fn grow_beyond(&mut self, members_max: u64, member_bytes_max: u64) {
        let is_beyond =
            self.len() > members_max
                || self
                    .walk(0, self.len(), Direction::Forward, &mut |_, member| match member.len() as u64
                        > member_bytes_max
                    {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    })
                    .is_break();
        if is_beyond {
            self.grow();
        }
    }

    /// Switches to large form, which it keeps until it is empty. O(n log n).
    pub fn grow(&mut self) {
        let is_large = self.is_large();
        if let Some(parts) = self.parts.as_mut().filter(|_| !is_large) {
            (parts.index, _) = index::of(&parts.main);
            parts.main.push(End::Head, b"");
        }
    }

    /// Drops the head and the index if there are no members.
    fn drop_empty(&mut self, was_large: bool) {
        if self.main().len() == u64::from(was_large) {
            self.parts = None;
        }
    }

    /// Returns the sorted set with this main list; `None` if it is invalid. O(n log n).
    pub fn of_list(main: List) -> Option<Self> {
        let is_large = main.get(0, <[u8]>::is_empty)?;
        let start = u64::from(is_large);
        let mut last: Option<(f64, Vec<u8>)> = None;
        let flow = main.walk(start, main.len() - start, Direction::Forward, &mut |item: &[u8]| {
            let Some((score, member)) = split_checked(item) else { return ControlFlow::Break(()) };
            if last.as_ref().is_some_and(|(before, other)| order((*before, other), (score, member)).is_ge()) {
                return ControlFlow::Break(());
            }
            let (before, other) = last.get_or_insert_default();
            *before = score;
            other.clear();
            other.extend_from_slice(member);
            ControlFlow::Continue(())
        });
        if flow.is_break() || last.is_none() {
            return None;
        }
        let (index, is_sound) = if is_large {
            let (index, met) = index::of(&main);
            let is_sound = index::has_no_member_twice(&main, &met);
            (index, is_sound)
        } else {
            (List::new(), has_no_member_twice(&main))
        };
        is_sound.then(|| Self { parts: Some(Box::new(SortedParts { main, index })) })
    }
}

/// Returns true if no member is in a small main list twice.
fn has_no_member_twice(main: &List) -> bool {
    let mut members = HashSet::new();
    main.walk(0, main.len(), Direction::Forward, &mut |item: &[u8]| match members.insert(split(item).1.to_vec()) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    })
    .is_continue()
}

impl fmt::Debug for Sorted {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Sorted({}, {} members, {} bytes)", self.encoding(), self.len(), self.heap_bytes())
    }
}
