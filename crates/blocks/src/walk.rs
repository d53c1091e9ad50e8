//! Visits ranges and searches, in both directions.

use std::ops::ControlFlow;

use crate::Direction;
use crate::inner::Inner;
use crate::node::{Kind, Node};
use crate::view::{Lengths, View};

/// A visitor of a range's items. The slices are valid only during the call.
pub trait Visit {
    /// Visits one item.
    fn item(&mut self, item: &[u8]) -> ControlFlow<()>;

    /// Visits several items of `width` bytes (at least 1) each, back to back in order. Called only by a forward walk.
    fn run(&mut self, width: usize, bytes: &[u8]) -> ControlFlow<()> {
        bytes.chunks_exact(width).try_for_each(|item| self.item(item))
    }
}

/// A closure visits one item at a time.
impl<F: FnMut(&[u8]) -> ControlFlow<()>> Visit for F {
    fn item(&mut self, item: &[u8]) -> ControlFlow<()> {
        self(item)
    }
}

/// Visits `count` items from `start`; backward, the last of them first.
pub(crate) fn walk(
    node: &Node,
    start: u64,
    count: u64,
    direction: Direction,
    visit: &mut impl Visit,
) -> ControlFlow<()> {
    match node.kind() {
        Kind::Leaf(leaf) => walk_view(&leaf.open(start as usize, (start + count) as usize).view(), direction, visit),
        Kind::Inner(inner) => match direction {
            Direction::Forward => walk_forward(inner, start, count, visit),
            Direction::Backward => walk_backward(inner, start, count, visit),
        },
    }
}

fn walk_forward(inner: &Inner, start: u64, mut count: u64, visit: &mut impl Visit) -> ControlFlow<()> {
    let (mut at, mut from) = inner.seek(start);
    while count > 0 {
        let here = count.min(inner.items_of(at) - from);
        walk(inner.child(at), from, here, Direction::Forward, visit)?;
        count -= here;
        from = 0;
        at += 1;
    }
    ControlFlow::Continue(())
}

fn walk_backward(inner: &Inner, start: u64, mut count: u64, visit: &mut impl Visit) -> ControlFlow<()> {
    let (mut at, last) = inner.seek(start + count - 1);
    let mut end = last + 1;
    loop {
        let here = count.min(end);
        walk(inner.child(at), end - here, here, Direction::Backward, visit)?;
        count -= here;
        if count == 0 {
            return ControlFlow::Continue(());
        }
        at -= 1;
        end = inner.items_of(at);
    }
}

fn walk_view(view: &View<'_>, direction: Direction, visit: &mut impl Visit) -> ControlFlow<()> {
    match (view.lengths, direction) {
        (Lengths::Fixed(width), Direction::Forward) if width > 0 => visit.run(width, view.bytes),
        (_, Direction::Forward) => {
            let mut at = 0;
            (0..view.count).try_for_each(|index| {
                let from = at;
                at += view.length(index);
                visit.item(&view.bytes[from..at])
            })
        }
        (_, Direction::Backward) => {
            let mut at = view.bytes.len();
            (0..view.count).rev().try_for_each(|index| {
                let to = at;
                at -= view.length(index);
                visit.item(&view.bytes[at..to])
            })
        }
    }
}

/// Returns the first item equal to `needle` at or after `from`, or the last at or before it.
pub(crate) fn find(node: &Node, needle: &[u8], from: u64, direction: Direction) -> Option<u64> {
    let inner = match node.kind() {
        Kind::Leaf(leaf) => return leaf.find(needle, from as usize, direction).map(|index| index as u64),
        Kind::Inner(inner) => inner,
    };
    let (mut at, mut from) = inner.seek(from);
    let mut base: u64 = inner.children().take(at).map(|(items, _)| items).sum();
    loop {
        if let Some(index) = find(inner.child(at), needle, from, direction) {
            return Some(base + index);
        }
        match direction {
            Direction::Forward => {
                base += inner.items_of(at);
                at += 1;
                from = 0;
            }
            Direction::Backward => {
                at = at.checked_sub(1)?;
                base -= inner.items_of(at);
                from = inner.items_of(at) - 1;
            }
        }
        if at == inner.len() {
            return None;
        }
    }
}

impl View<'_> {
    /// Returns the first item, or backward the last, that equals `needle`.
    pub(crate) fn find(&self, needle: &[u8], direction: Direction) -> Option<usize> {
        match self.lengths {
            Lengths::Fixed(width) if width != needle.len() => None,
            Lengths::Fixed(_) => find_fixed(self.bytes, self.count, needle, direction),
            Lengths::Narrow(_) | Lengths::Wide(_) => find_mixed(self, needle, direction),
        }
    }
}

/// Searches among items of the needle's own length.
///
/// Their first and last eight (or four) bytes overlap when the needle has up to sixteen (eight), so two loads and two
/// compares settle almost every item; only longer ones are compared whole, when both ends match.
fn find_fixed(bytes: &[u8], count: usize, needle: &[u8], direction: Direction) -> Option<usize> {
    match needle.len() {
        0 => match direction {
            Direction::Forward => (count > 0).then_some(0),
            Direction::Backward => count.checked_sub(1),
        },
        1 if direction == Direction::Forward => memchr::memchr(needle[0], bytes),
        1 => memchr::memrchr(needle[0], bytes),
        2..4 => find_where(bytes, needle.len(), direction, |item| item == needle),
        4..8 => {
            let (head, tail) = (four(needle), four(&needle[needle.len() - 4..]));
            find_where(bytes, needle.len(), direction, |item| {
                (four(item) ^ head) | (four(&item[item.len() - 4..]) ^ tail) == 0
            })
        }
        _ => {
            let (head, tail) = (eight(needle), eight(&needle[needle.len() - 8..]));
            find_where(bytes, needle.len(), direction, |item| {
                (eight(item) ^ head) | (eight(&item[item.len() - 8..]) ^ tail) == 0
                    && (item.len() <= 16 || item == needle)
            })
        }
    }
}

fn find_where(bytes: &[u8], width: usize, direction: Direction, is_it: impl FnMut(&[u8]) -> bool) -> Option<usize> {
    let mut items = bytes.chunks_exact(width);
    match direction {
        Direction::Forward => items.position(is_it),
        Direction::Backward => items.rposition(is_it),
    }
}

fn find_mixed(view: &View<'_>, needle: &[u8], direction: Direction) -> Option<usize> {
    match direction {
        Direction::Forward => {
            let mut end = 0;
            (0..view.count).find(|&index| {
                let length = view.length(index);
                end += length;
                length == needle.len() && &view.bytes[end - length..end] == needle
            })
        }
        Direction::Backward => {
            let mut start = view.bytes.len();
            (0..view.count).rev().find(|&index| {
                let length = view.length(index);
                start -= length;
                length == needle.len() && &view.bytes[start..start + length] == needle
            })
        }
    }
}

fn four(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn eight(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}
