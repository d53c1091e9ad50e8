//! Surveys: visits that skip whole subtrees by a few words of digest.
//!
//! ```text
//!   inner   | child | child | child | ...      digests, computed on first use:
//!             ▼                                 | words of child 0 | words of child 1 | - | ...
//!           words: the owner's digests of all items below, joined
//! ```
//!
//! The owner defines the [`Digest`] of an item and how digests are joined; this module keeps them beside the children
//! of a node while these are unchanged. So a change discards only the words along its path, a list that is never summarized
//! keeps none, and a clone shares the known ones.

use base::primitives::atomic::{AtomicU64, Ordering};
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use crate::inner::{CHILDREN_MAX, Inner};
use crate::node::{Kind, Node};
use crate::{BlockList, Direction};

/// The owner's digest of items: some words, joined over a subtree.
pub trait Digest {
    /// Distinguishes it from other digests of the same list, such as after a schema has grown.
    fn id(&self) -> u64;

    /// Returns the number of words; at least one. All are zero without items.
    fn words_count(&self) -> usize;

    /// Adds one item to `words`.
    fn add(&self, item: &[u8], words: &mut [u64]);

    /// Joins two digests into the first.
    fn join(&self, words: &mut [u64], more: &[u64]);
}

/// The visitor of [`BlockList::summarize`]: sees subtrees, and the items of those not skipped.
pub trait Summary {
    /// Returns true to skip `items` items of the list with these words.
    fn passes(&mut self, words: &[u64], items: u64) -> bool;

    /// Visits one item at this index. The slice is valid only during the call.
    fn item(&mut self, index: u64, item: &[u8]) -> ControlFlow<()>;
}

impl BlockList {
    /// Returns the digest of all items. O(changes since the last call).
    pub fn digest(&self, digest: &impl Digest) -> Vec<u64> {
        let mut words = vec![0; digest.words_count()];
        if let Some(root) = &self.root {
            add_node(root, digest, &mut words);
        }
        words
    }

    /// Passes the items of `range`, or their subtrees, to `summary`; backward from the last one if so directed. Breaks
    /// when `summary` does.
    ///
    /// # Panics
    /// If the range exceeds the list.
    pub fn summarize(
        &self,
        digest: &impl Digest,
        range: Range<u64>,
        direction: Direction,
        summary: &mut impl Summary,
    ) -> ControlFlow<()> {
        assert!(range.start <= range.end);
        assert!(range.end <= self.len());
        match &self.root {
            Some(root) if !range.is_empty() => {
                let mut words = vec![0; digest.words_count()];
                visit(root, 0, &range, (digest, &mut words), direction, summary)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The range overlaps the node, whose first item is at `base`.
fn visit<D: Digest>(
    node: &Node,
    base: u64,
    range: &Range<u64>,
    (digest, words): (&D, &mut Vec<u64>),
    direction: Direction,
    summary: &mut impl Summary,
) -> ControlFlow<()> {
    let inner = match node.kind() {
        Kind::Leaf(leaf) => {
            let within = range.start.max(base) - base..range.end.min(base + leaf.count() as u64) - base;
            let mut show = |at: u64| leaf.item(at as usize, |item| summary.item(base + at, item));
            return match direction {
                Direction::Forward => within.into_iter().try_for_each(&mut show),
                Direction::Backward => within.rev().try_for_each(&mut show),
            };
        }
        Kind::Inner(inner) => inner,
    };
    let known = Known::of(inner, digest);
    let mut child = |at: usize, begin: u64, end: u64| {
        if begin >= range.end || end <= range.start {
            return ControlFlow::Continue(());
        }
        if range.start <= begin && end <= range.end {
            known.words_of(at, digest, words);
            if summary.passes(words, end - begin) {
                return ControlFlow::Continue(());
            }
        }
        let next = if direction == Direction::Forward { at + 1 } else { at.wrapping_sub(1) };
        if next < inner.len() {
            inner.child(next).prefetch();
        }
        visit(inner.child(at), begin, range, (digest, words), direction, summary)
    };
    match direction {
        Direction::Forward => {
            let mut begin = base;
            (0..inner.len()).try_for_each(|at| {
                let end = begin + inner.items_of(at);
                child(at, std::mem::replace(&mut begin, end), end)
            })
        }
        Direction::Backward => {
            let mut end = base + inner.items();
            (0..inner.len()).rev().try_for_each(|at| {
                let begin = end - inner.items_of(at);
                child(at, begin, std::mem::replace(&mut end, begin))
            })
        }
    }
}

/// The known facts about a node's children on entry.
struct Known<'n> {
    inner: &'n Inner,
    noted: &'n Noted,
    /// One bit per child whose words are known.
    which: u64,
}

impl<'n> Known<'n> {
    fn of(inner: &'n Inner, digest: &impl Digest) -> Self {
        let noted = inner.digests().of(digest.id(), digest.words_count());
        Self { inner, noted, which: noted.known.load(Ordering::Acquire) }
    }

    /// Returns the words of a child, computed from below if unknown.
    #[inline]
    fn words_of(&self, at: usize, digest: &impl Digest, words: &mut [u64]) {
        if self.which & 1 << at != 0 {
            return self.noted.read(at, words);
        }
        words.fill(0);
        add_node(self.inner.child(at), digest, words);
        self.noted.note(at, words);
    }
}

fn add_node(node: &Node, digest: &impl Digest, words: &mut [u64]) {
    match node.kind() {
        Kind::Leaf(leaf) => (0..leaf.count()).for_each(|at| leaf.item(at, |item| digest.add(item, words))),
        Kind::Inner(inner) => {
            let mut more = vec![0; words.len()];
            let known = Known::of(inner, digest);
            for at in 0..inner.len() {
                known.words_of(at, digest, &mut more);
                digest.join(words, &more);
            }
        }
    }
}

/// The known words of a node's children, for each digest requested. Clones share nodes and may add words concurrently:
/// they add the same ones.
#[derive(Default)]
pub(crate) struct Digests(OnceLock<Box<Noted>>);

struct Noted {
    id: u64,
    /// One bit per child whose words are known.
    known: AtomicU64,
    words: Box<[AtomicU64]>,
    /// The words of another digest.
    next: Digests,
}

const _: () = assert!(CHILDREN_MAX <= u64::BITS as usize);

impl Digests {
    fn of(&self, id: u64, words_count: usize) -> &Noted {
        let noted = self.0.get_or_init(|| Box::new(Noted::new(id, words_count)));
        if noted.id == id { noted } else { noted.next.of(id, words_count) }
    }

    /// Notes that a child may change.
    #[inline]
    pub(crate) fn forget(&mut self, at: usize) {
        let mut digests = self;
        while let Some(noted) = digests.0.get_mut() {
            *noted.known.get_mut() &= !(1 << at);
            digests = &mut noted.next;
        }
    }

    /// Notes that children are added, removed or moved.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.0.get().is_some() {
            self.0.take();
        }
    }
}

impl Clone for Digests {
    fn clone(&self) -> Digests {
        let digests = Digests::default();
        if let Some(noted) = self.0.get() {
            // The bits first: words added meanwhile then do not count as known.
            let known = AtomicU64::new(noted.known.load(Ordering::Acquire));
            let words = noted.words.iter().map(|word| AtomicU64::new(word.load(Ordering::Relaxed))).collect();
            let _ = digests.0.set(Box::new(Noted { id: noted.id, known, words, next: noted.next.clone() }));
        }
        digests
    }
}

impl Noted {
    fn new(id: u64, words_count: usize) -> Noted {
        let words = (0..CHILDREN_MAX * words_count).map(|_| AtomicU64::new(0)).collect();
        Noted { id, known: AtomicU64::new(0), words, next: Digests::default() }
    }

    /// Returns the known words of a child.
    #[inline]
    fn read(&self, at: usize, words: &mut [u64]) {
        let from = at * words.len();
        let noted = &self.words[from..from + words.len()];
        words.iter_mut().zip(noted).for_each(|(word, noted)| *word = noted.load(Ordering::Relaxed));
    }

    fn note(&self, at: usize, words: &[u64]) {
        let from = at * words.len();
        let noted = &self.words[from..from + words.len()];
        words.iter().zip(noted).for_each(|(word, noted)| noted.store(*word, Ordering::Relaxed));
        self.known.fetch_or(1 << at, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;

    /// Items are numbers: their count and sum.
    struct Sums;

    impl Digest for Sums {
        fn id(&self) -> u64 {
            7
        }

        fn words_count(&self) -> usize {
            2
        }

        fn add(&self, item: &[u8], words: &mut [u64]) {
            words[0] += 1;
            words[1] += number(item);
        }

        fn join(&self, words: &mut [u64], more: &[u64]) {
            words.iter_mut().zip(more).for_each(|(word, more)| *word += more);
        }
    }

    fn number(item: &[u8]) -> u64 {
        u64::from_le_bytes(item[..8].try_into().expect("eight bytes"))
    }

    /// Skips subtrees whose sum does not exceed what is left.
    struct Upto {
        left: u64,
        found: Option<u64>,
    }

    impl Summary for Upto {
        fn passes(&mut self, words: &[u64], items: u64) -> bool {
            assert_eq!(words[0], items);
            let passes = words[1] <= self.left;
            self.left -= if passes { words[1] } else { 0 };
            passes
        }

        fn item(&mut self, index: u64, item: &[u8]) -> ControlFlow<()> {
            if number(item) <= self.left {
                self.left -= number(item);
                return ControlFlow::Continue(());
            }
            self.found = Some(index);
            ControlFlow::Break(())
        }
    }

    /// Returns the index of the first number that exceeds what is left of a sum.
    fn beyond<'a>(mut numbers: impl Iterator<Item = &'a u64>, mut left: u64) -> Option<usize> {
        numbers.position(|number| {
            let is_too_much = *number > left;
            left -= if is_too_much { 0 } else { *number };
            is_too_much
        })
    }

    #[test]
    fn summaries_stay_correct_after_any_change() {
        let (mut list, mut twin) = (BlockList::new(), Vec::new());
        let mut dice = 3u64;
        let mut draw = |below: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % below
        };
        let mut clones: Vec<(BlockList, Vec<u64>)> = Vec::new();
        let item = |number: u64| [&number.to_le_bytes()[..], &[7; 300]].concat();
        for turn in 0..8_000u64 {
            let at = draw(twin.len() as u64 + 1) as usize;
            let number = draw(1000);
            match draw(9) {
                0 | 1 => {
                    list.push(End::Tail, &item(number));
                    twin.push(number);
                }
                2 => {
                    list.push(End::Head, &item(number));
                    twin.insert(0, number);
                }
                3 | 4 => {
                    list.insert(at as u64, &item(number));
                    twin.insert(at, number);
                }
                5 if at < twin.len() => {
                    list.set(at as u64, &item(number));
                    twin[at] = number;
                }
                6 if at < twin.len() => {
                    list.remove(at as u64);
                    twin.remove(at);
                }
                7 if at + 10 < twin.len() && turn % 40 == 0 => {
                    let mut cut = list.split_off(at as u64);
                    list.append(cut.split_off(10));
                    twin.drain(at..at + 10);
                }
                8 if turn % 50 == 0 => {
                    clones.push((list.clone(), twin.clone()));
                    clones.truncate(4);
                }
                _ => {}
            }
            if turn % 7 == 0 {
                for (list, twin) in clones.iter().map(|(list, twin)| (list, twin)).chain([(&list, &twin)]) {
                    assert_eq!(list.digest(&Sums), [twin.len() as u64, twin.iter().sum()], "turn {turn}");
                }
            }
            let (from, to) = (draw(twin.len() as u64 + 1), draw(twin.len() as u64 + 1));
            let range = from.min(to)..from.max(to);
            let mut summary = Upto { left: draw(50_000), found: None };
            let part = &twin[range.start as usize..range.end as usize];
            let left = summary.left;
            let (direction, place) = if turn % 2 == 0 {
                (Direction::Forward, beyond(part.iter(), left))
            } else {
                (Direction::Backward, beyond(part.iter().rev(), left).map(|nth| part.len() - 1 - nth))
            };
            let _ = list.summarize(&Sums, range.clone(), direction, &mut summary);
            // A subtree is skipped whole if it fits, so the first item that does not fit is the same.
            assert_eq!(summary.found, place.map(|place| range.start + place as u64), "turn {turn}");
        }
    }
}
