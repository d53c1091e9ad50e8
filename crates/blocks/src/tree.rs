//! Operations on a subtree: each descends to the leaf and rebalances on the way up.
//!
//! Each takes `&mut Node` and copies shared nodes along its path only. Three rules keep the tree dense: a push to a
//! full leaf or node opens a new one at the end (so pushed lists are full, not half full); the leaves before it are
//! packed (see `packing_policy`); and a node left below half full by a removal merges with a neighbour when both fill
//! at most three quarters of one.
//!
//! A packed leaf that is written to becomes as many raw leaves as it needs.

use crate::End;
use crate::cursor::Cursor;
use crate::inner::{CHILDREN_MAX, Inner};
use crate::leaf::{DATA_BYTES_MAX, Lean, Measure, build, build_roomy};
use crate::node::Node;
use crate::pack::CONTENT_BYTES_MAX;
use crate::packing_policy::{few_leaves, one_leaf, raw_leaves, settle};
use crate::view::View;

/// The outcome of a change for a node.
pub(crate) enum Change {
    /// It is still one node.
    Kept,
    /// Its last item was removed; the node is stale and must be discarded.
    Emptied,
    /// These nodes follow it now, on the same level.
    Grew(Vec<Node>),
}

/// Pushes an item; returns a new sibling at that end when the subtree is full.
pub(crate) fn push(node: &mut Node, end: End, item: &[u8], lean: Lean) -> Option<Node> {
    if push_in_place(node, end, item).is_some() {
        return None;
    }
    push_opening(node, end, item, lean)
}

/// The usual case: the path is unshared, and its leaf has room. Returns the growth of the encoded bytes; the sums above
/// need only this and the item, so nothing is read back from the child.
fn push_in_place(node: &mut Node, end: End, item: &[u8]) -> Option<u64> {
    if !node.is_unique() {
        return None;
    }
    if node.is_leaf() {
        return node.leaf_push_in_place(end, item);
    }
    let inner = node.inner_mut();
    let growth = push_in_place(inner.end_mut(end), end, item)?;
    inner.count_push(end, item.len() as u64, growth);
    Some(growth)
}

#[inline(never)]
fn push_opening(node: &mut Node, end: End, item: &[u8], lean: Lean) -> Option<Node> {
    if node.is_leaf() {
        return if node.leaf_push(end, item, lean) { None } else { Some(Node::leaf_opened(end, item)) };
    }
    let inner = node.inner_mut();
    let at = inner.end_index(end);
    let extra = inner.with_child(at, |child| push_opening(child, end, item, Lean::All(end)))?;
    if extra.is_leaf() {
        settle(inner, end);
    }
    if inner.is_full() {
        return Some(Node::inner(Inner::of([extra])));
    }
    let at = inner.end_index(end);
    let place = if end == End::Head { 0 } else { at + 1 };
    inner.insert(place, extra);
    None
}

/// Drops `count` items from an end; at least one stays. Returns the nodes that follow this one now.
pub(crate) fn discard(node: &mut Node, end: End, count: u64) -> Vec<Node> {
    assert!(count < node.items());
    if count == 0 {
        return Vec::new();
    }
    if node.is_packed() {
        return discard_packed(node, end, count as usize);
    }
    if node.is_leaf() {
        node.leaf_discard(end, count as usize);
        return Vec::new();
    }
    let rest = node.drop_children(end, count);
    let inner = node.inner_mut();
    let at = inner.end_index(end);
    let nodes = inner.with_child(at, |child| discard(child, end, rest));
    inner.put(at + 1, nodes).into_iter().collect()
}

/// Unpacks the rest of a leaf: removals at an end tend to continue.
fn discard_packed(node: &mut Node, end: End, count: usize) -> Vec<Node> {
    let contents = node.contents();
    let opened = match end {
        End::Head => contents.open(count, contents.count()),
        End::Tail => contents.open(0, contents.count() - count),
    };
    let mut leaves = raw_leaves(&opened.view());
    *node = leaves.remove(0);
    leaves
}

/// Drops one item from an end; at least one stays. Returns the nodes that follow this one now.
pub(crate) fn pop(node: &mut Node, end: End) -> Vec<Node> {
    if pop_in_place(node, end).is_none() { discard(node, end, 1) } else { Vec::new() }
}

/// As [`push_in_place`]; returns the item's bytes and the reduction of the encoded bytes.
fn pop_in_place(node: &mut Node, end: End) -> Option<(u64, u64)> {
    if !node.is_unique() {
        return None;
    }
    if node.is_leaf() {
        return node.leaf_pop_in_place(end);
    }
    let inner = node.inner_mut();
    let (content, encoded) = pop_in_place(inner.end_mut(end), end)?;
    inner.count_pop(end, content, encoded);
    Some((content, encoded))
}

/// Replaces `removed` (0 or 1) items at a position by `item`, if any.
pub(crate) fn splice(node: &mut Node, cursor: &Cursor, removed: usize, item: Option<&[u8]>) -> Change {
    if node.is_leaf() {
        return splice_leaf(node, cursor.within(), removed, item);
    }
    let level = node.level();
    let (at, is_first) = (cursor.child(level), cursor.is_first_below(level));
    let inner = node.inner_mut();
    match inner.with_child_from(at, is_first, |child| splice(child, cursor, removed, item)) {
        Change::Kept => {
            if removed > 0 {
                mend(inner, at);
            }
            Change::Kept
        }
        Change::Emptied if inner.len() == 1 => Change::Emptied,
        Change::Emptied => {
            drop(inner.take(at));
            Change::Kept
        }
        Change::Grew(nodes) => inner.put(at + 1, nodes).map_or(Change::Kept, |right| Change::Grew(vec![right])),
    }
}

/// As [`splice`], among the raw leaves made of a packed one.
fn splice_packed(node: &mut Node, index: usize, removed: usize, item: Option<&[u8]>) -> Change {
    let mut leaves = raw_leaves(&node.open().view());
    let (mut at, mut rest) = (0, index as u64);
    while rest >= leaves[at].items() && at + 1 < leaves.len() {
        rest -= leaves[at].items();
        at += 1;
    }
    match splice_leaf(&mut leaves[at], rest as usize, removed, item) {
        Change::Kept => {}
        Change::Emptied => drop(leaves.remove(at)),
        Change::Grew(nodes) => drop(leaves.splice(at + 1..at + 1, nodes)),
    }
    if leaves.is_empty() {
        return Change::Emptied;
    }
    *node = leaves.remove(0);
    if leaves.is_empty() { Change::Kept } else { Change::Grew(leaves) }
}

fn splice_leaf(node: &mut Node, index: usize, removed: usize, item: Option<&[u8]>) -> Change {
    if node.is_packed() {
        return splice_packed(node, index, removed, item);
    }
    if node.leaf_splice_in_place(index, removed, item) {
        return Change::Kept;
    }
    let view = node.view();
    if item.is_none() && removed == view.count {
        return Change::Emptied;
    }
    let middle = item.map_or(view.range(0, 0), View::item_alone);
    let pieces = [view.range(0, index), middle, view.range(index + removed, view.count)];
    if Measure::of(&pieces).fits() {
        let leaf = if item.is_some() { build_roomy(&pieces) } else { build(&pieces) };
        *node = leaf;
        return Change::Kept;
    }
    let mut leaves = split_leaf(&view, index, removed, &pieces);
    *node = leaves.remove(0);
    Change::Grew(leaves)
}

/// Splits at the [`parting`] point if the changed part fits one leaf, else at the item.
fn split_leaf(view: &View<'_>, index: usize, removed: usize, pieces: &[View<'_>; 3]) -> Vec<Node> {
    let parting = parting(view);
    let middle = pieces[1];
    let parts: [Vec<View<'_>>; 2] = if index < parting {
        [vec![pieces[0], middle, view.range(index + removed, parting)], vec![view.range(parting, view.count)]]
    } else {
        [vec![view.range(0, parting)], vec![view.range(parting, index), middle, pieces[2]]]
    };
    let sound = |part: &Vec<View<'_>>| {
        let measure = Measure::of(part);
        measure.count > 0 && measure.fits()
    };
    if parts.iter().all(sound) {
        return parts.iter().map(|part| build_roomy(part)).collect();
    }
    pieces.iter().filter(|piece| piece.count > 0).map(|piece| build(&[*piece])).collect()
}

/// Returns where to split a full leaf: between a third and two thirds of its bytes, pseudo-randomly by its middle item.
///
/// Leaves split in exact halves stay in step for many generations: all grow through the same sizes at the same time,
/// and leave the allocator's slabs of the previous sizes half empty. Leaves of mixed sizes reuse what others leave.
fn parting(view: &View<'_>) -> usize {
    let middle = view.item(view.count / 2);
    let drawn = base::hash::order(middle) as usize % 1024;
    let part = view.bytes.len() * (1024 + drawn) / (3 * 1024);
    let mut bytes = 0;
    (0..view.count)
        .find(|&index| {
            bytes += view.length(index);
            bytes > part
        })
        .unwrap_or(view.count / 2)
}

/// Removes the items at these ascending positions, counted from `base` at the node's first item.
pub(crate) fn remove_many(node: &mut Node, positions: &[u64], base: u64) -> Change {
    if positions.len() as u64 == node.items() {
        return Change::Emptied;
    }
    if node.is_leaf() {
        return remove_from_leaf(node, positions, base);
    }
    let inner = node.inner_mut();
    let mut positions = positions;
    let mut first = base + inner.items();
    let mut behind = Vec::new();
    for at in (0..inner.len()).rev() {
        first -= inner.items_of(at);
        let (before, here) = positions.split_at(positions.partition_point(|&position| position < first));
        positions = before;
        if here.is_empty() {
            continue;
        }
        match inner.with_child(at, |child| remove_many(child, here, first)) {
            Change::Kept => {}
            Change::Emptied => drop(inner.take(at)),
            Change::Grew(nodes) if inner.len() + nodes.len() > CHILDREN_MAX => {
                behind.splice(0..0, split_before(inner, at + 1, nodes));
            }
            Change::Grew(nodes) => assert!(inner.put(at + 1, nodes).is_none()),
        }
    }
    mend_all(inner);
    behind.iter_mut().for_each(|node| mend_all(node.inner_mut()));
    if behind.is_empty() { Change::Kept } else { Change::Grew(behind) }
}

fn mend_all(inner: &mut Inner) {
    for at in (0..inner.len()).rev() {
        mend(inner, at);
    }
}

/// Fewer packed items may need more bytes: after a removal, the following ones are off their line.
fn remove_from_leaf(node: &mut Node, positions: &[u64], base: u64) -> Change {
    if let [only] = positions
        && node.leaf_splice_in_place((only - base) as usize, 1, None)
    {
        return Change::Kept;
    }
    let mut leaves = leaves_without(node, positions, base);
    *node = leaves.remove(0);
    if leaves.is_empty() { Change::Kept } else { Change::Grew(leaves) }
}

fn leaves_without(node: &Node, positions: &[u64], base: u64) -> Vec<Node> {
    let opened = node.open();
    let view = opened.view();
    let mut pieces = Vec::with_capacity(positions.len() + 1);
    let mut from = 0;
    for position in positions {
        let index = (position - base) as usize;
        pieces.push(view.range(from, index));
        from = index + 1;
    }
    pieces.push(view.range(from, view.count));
    if node.is_packed() { few_leaves(&pieces) } else { vec![build(&pieces)] }
}

/// Merges the child at `at` with a neighbour when it is below half and both fit one with room to spare.
fn mend(inner: &mut Inner, at: usize) {
    if at >= inner.len() || inner.len() == 1 || fill(inner.child(at)) * 2 >= FILL_MAX {
        return;
    }
    let last = inner.len() - 1;
    for left in [at.min(last - 1), at.saturating_sub(1)] {
        let [a, b] = [left, left + 1].map(|at| inner.child(at));
        if (fill(a) + fill(b)) * 4 > FILL_MAX * 3 {
            continue;
        }
        let merged = if a.is_leaf() { merged(a, b) } else { None };
        if merged.is_none() && a.is_leaf() {
            continue;
        }
        let (mut right, mut node) = (inner.take(left + 1), inner.take(left));
        match merged {
            Some(leaf) => node = leaf,
            None => node.inner_mut().absorb(right.inner_mut()),
        }
        inner.insert(left, node);
        return;
    }
}

const FILL_MAX: usize = DATA_BYTES_MAX;

/// Returns how full a node is, of [`FILL_MAX`].
fn fill(node: &Node) -> usize {
    if !node.is_leaf() {
        return node.as_inner().len() * (FILL_MAX / CHILDREN_MAX);
    }
    if node.is_packed() {
        // A leaf may be full of bytes, or of unpacked content.
        let content_bytes = node.totals().content as usize;
        return node.live_bytes().max(content_bytes * FILL_MAX / CONTENT_BYTES_MAX);
    }
    node.live_bytes()
}

/// Merges two adjacent leaves into one, if it can hold them.
fn merged(left: &Node, right: &Node) -> Option<Node> {
    let (left_opened, right_opened) = (left.open(), right.open());
    let pieces = [left_opened.view(), right_opened.view()];
    if left.is_packed() || right.is_packed() {
        return one_leaf(&pieces);
    }
    Measure::of(&pieces).fits().then(|| build(&pieces))
}

/// Splits before item `at`; neither part is empty. Returns the nodes of both, on the level of this one.
pub(crate) fn split(mut node: Node, at: u64) -> (Vec<Node>, Vec<Node>) {
    assert!(at > 0 && at < node.items());
    if node.is_leaf() {
        let (contents, at) = (node.contents(), at as usize);
        let [left, right] = [0..at, at..contents.count()].map(|part| contents.open(part.start, part.end));
        return (raw_leaves(&left.view()), raw_leaves(&right.view()));
    }
    let inner = node.inner_mut();
    let (index, rest) = inner.seek(at);
    if rest == 0 {
        let right = inner.split_right(index);
        return (vec![node], vec![Node::inner(right)]);
    }
    let (left, right) = split(inner.take(index), rest);
    let right = split_before(inner, index, right);
    if index == 0 {
        return (vec![Node::inner(Inner::of(left))], right);
    }
    let more = inner.put(index, left);
    (std::iter::once(node).chain(more).collect(), right)
}

/// Splits the children before `at`; returns `nodes` and the children from `at` on, which now follow the node.
fn split_before(inner: &mut Inner, at: usize, nodes: Vec<Node>) -> Vec<Node> {
    if at == inner.len() {
        return vec![Node::inner(Inner::of(nodes))];
    }
    let mut behind = inner.split_right(at);
    let more = behind.put(0, nodes);
    std::iter::once(Node::inner(behind)).chain(more).collect()
}

/// Joins two subtrees of any heights into one or two nodes of the greater height.
pub(crate) fn join(mut left: Node, mut right: Node) -> (Node, Option<Node>) {
    if left.level() > right.level() {
        let inner = left.inner_mut();
        let last = inner.end_index(End::Tail);
        let (joined, extra) = join(inner.take(last), right);
        inner.insert(last, joined);
        let extra = extra.and_then(|node| inner.put(last + 1, vec![node]));
        (left, extra)
    } else if left.level() < right.level() {
        let inner = right.inner_mut();
        let (joined, extra) = join(left, inner.take(0));
        inner.insert(0, joined);
        let extra = extra.and_then(|node| inner.put(1, vec![node]));
        (right, extra)
    } else if left.is_leaf() {
        match joined_leaf(&left, &right) {
            Some(node) => (node, None),
            None => (left, Some(right)),
        }
    } else {
        join_level(left, right)
    }
}

/// Joins two leaves into one, if one of them is small and one can hold both.
fn joined_leaf(left: &Node, right: &Node) -> Option<Node> {
    let small = fill(left).min(fill(right)) * 2 < FILL_MAX;
    small.then(|| merged(left, right)).flatten()
}

/// Joins two inner nodes of one level: first their seam, then their children.
fn join_level(mut left: Node, mut right: Node) -> (Node, Option<Node>) {
    let (a, b) = (left.inner_mut(), right.inner_mut());
    join_seam(a, b);
    if a.len() + b.len() <= CHILDREN_MAX {
        a.absorb(b);
        return (left, None);
    }
    let half = (a.len() + b.len()) / 2;
    if b.len() * 2 < CHILDREN_MAX {
        let mut tail = a.split_right(half);
        tail.absorb(b);
        return (left, Some(Node::inner(tail)));
    }
    if a.len() * 2 < CHILDREN_MAX {
        let rest = b.split_right(half - a.len());
        a.absorb(b);
        *b = rest;
    }
    (left, Some(right))
}

/// Joins the last child of one node and the first of the next. Leaves that remain two stay unchanged, and keep their
/// places.
fn join_seam(left: &mut Inner, right: &mut Inner) {
    let last = left.end_index(End::Tail);
    let (a, b) = (left.child(last), right.child(0));
    if a.is_leaf() {
        if let Some(leaf) = joined_leaf(a, b) {
            drop((left.take(last), right.take(0)));
            left.insert(last, leaf);
        }
        return;
    }
    let (joined, extra) = join(left.take(last), right.take(0));
    left.insert(last, joined);
    if let Some(node) = extra {
        right.insert(0, node);
    }
}
