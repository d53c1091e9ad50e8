//! Finds where a list may differ from another that was once its clone.
//!
//! ```text
//!   was   [ A | B  | C | D ]        both trees are descended level by level; a shared node at the same index in both
//!   is    [ A | B' | C | D | E ]    is equal, and skipped with everything below it
//!               ^            ^
//! ```

use std::ops::Range;

use crate::BlockList;
use crate::node::{Kind, Node};

impl BlockList {
    /// Passes ascending index ranges of this list to `visit`; outside them each item equals the item of `was` at the
    /// same index. A range may include equal items that no longer share their leaf or have moved. O(changes · log n).
    pub fn for_each_differing(&self, was: &BlockList, mut visit: impl FnMut(Range<u64>)) {
        let (mut mine, mut theirs) = (Level::of(self), Level::of(was));
        let highest = [&self.root, &was.root].into_iter().flatten().map(Node::level).max().unwrap_or(0);
        for level in (0..=highest).rev() {
            mine.leave_out_shared(&mut theirs);
            mine.go_down(level);
            theirs.go_down(level);
        }
        mine.0.iter().for_each(|(start, leaf)| visit(*start..start + leaf.items()));
    }
}

/// Nodes and their first indices, ascending.
struct Level<'a>(Vec<(u64, &'a Node)>);

impl<'a> Level<'a> {
    fn of(list: &'a BlockList) -> Self {
        Self(list.root.iter().map(|root| (0, root)).collect())
    }

    fn leave_out_shared(&mut self, other: &mut Self) {
        let mut others = std::mem::take(&mut other.0).into_iter().peekable();
        self.0.retain(|(start, node)| {
            while let Some(passed) = others.next_if(|(before, _)| before < start) {
                other.0.push(passed);
            }
            others.next_if(|(begin, other)| begin == start && other.same_as(node)).is_none()
        });
        other.0.extend(others);
    }

    /// Replaces the nodes of `level` by their children, if they have some.
    fn go_down(&mut self, level: u8) {
        if level == 0 {
            return;
        }
        let nodes = std::mem::take(&mut self.0);
        for (start, node) in nodes {
            match node.kind() {
                Kind::Inner(inner) if node.level() == level => {
                    let mut start = start;
                    for (items, child) in inner.children() {
                        self.0.push((start, child));
                        start += items;
                    }
                }
                _ => self.0.push((start, node)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;

    fn list_of(count: u64) -> BlockList {
        let mut list = BlockList::new();
        (0..count).for_each(|number| list.push(End::Tail, format!("item {number:0>90}").as_bytes()));
        list
    }

    /// Checks that all items outside the ranges are equal; returns how many are inside.
    #[track_caller]
    fn check(is: &BlockList, was: &BlockList) -> u64 {
        let (mut end, mut within) = (0, 0);
        let check_same = |range: Range<u64>| {
            for index in range {
                assert_eq!(is.get(index, <[u8]>::to_vec), was.get(index, <[u8]>::to_vec), "item {index}");
            }
        };
        is.for_each_differing(was, |range| {
            assert!(range.start >= end && range.end <= is.len(), "{range:?} behind {end}");
            check_same(end..range.start);
            within += range.end - range.start;
            end = range.end;
        });
        check_same(end..is.len());
        within
    }

    #[test]
    fn a_diff_is_complete_and_small_after_few_changes() {
        for count in [0, 1, 30, 5_000, 200_000] {
            let was = list_of(count);
            assert_eq!(check(&was.clone(), &was), 0);
            let mut is = was.clone();
            for at in [0, count / 2, count.saturating_sub(1)].into_iter().filter(|at| *at < count) {
                is.set(at, b"another");
            }
            is.push(End::Tail, b"one more");
            assert!(check(&is, &was) <= 400, "of {count}");
            check(&was, &is);
            // From here on items have moved: more may be reported, none may be missed.
            is.push(End::Head, b"first");
            check(&is, &was);
            is.trim(1 + count / 3, is.len() - 1 - count / 3);
            check(&is, &was);
            check(&was, &is);
            check(&is, &BlockList::new());
            check(&list_of(count), &was);
        }
    }
}
