//! Decides when and how leaves are packed.
//!
//! ```text
//!   a list is pushed at its tail; a new leaf is opened after a full one:
//!
//!     | settled | settled | alone | alone | alone | full, raw | new, raw |
//!                         '--- the run ---'   ^
//!                                             packed alone when the next leaf is full
//! ```
//!
//! - The two leaves at a pushed end stay raw: pushes write to one, and later pops would reach the other. The last leaf
//!   of a node is packed too once the node is full, since later leaves go under another node.
//! - A leaf is packed alone once it is the third. When the run of such leaves holds as much as one packed leaf may, it
//!   becomes full leaves and a rest that begins the next run. So an item is packed about twice; more often only while
//!   the last slots of a node fill.
//! - A settled leaf stays unchanged until it is written to. A leaf opened by pops is packed again once pushes have
//!   passed it.

use std::ops::Range;

use crate::End;
use crate::inner::Inner;
use crate::leaf::{DATA_BYTES_MAX, ITEMS_MAX, Measure, build};
use crate::node::Node;
use crate::pack::{self, CONTENT_BYTES_MAX, Plan, Run};
use crate::view::View;

/// Packs leaves no longer pushed to at this end of a node of leaves. If the node is full, packs all of it: later leaves
/// go under another.
pub(crate) fn settle(inner: &mut Inner, end: End) {
    let (count, is_full) = (inner.len(), inner.is_full());
    let place = |nth: usize| if end == End::Head { nth } else { count - 1 - nth };
    let open_count = usize::from(!is_full);
    for nth in open_count..count {
        // Beyond the third, there is one to pack only if pops or other writes have opened some.
        if !pack_alone(inner, place(nth)) && nth > 0 {
            break;
        }
    }
    let (mut run_count, mut content_bytes) = (0, 0);
    while open_count + run_count < count && content_bytes < CONTENT_BYTES_MAX {
        let leaf = inner.child(place(open_count + run_count));
        if !leaf.is_packed() || leaf.is_settled() {
            break;
        }
        content_bytes += leaf.totals().content as usize;
        run_count += 1;
    }
    if run_count > 1 && (is_full || content_bytes >= CONTENT_BYTES_MAX) {
        let nearest = place(open_count);
        match end {
            End::Head => pack_run(inner, nearest..nearest + run_count, end),
            End::Tail => pack_run(inner, nearest + 1 - run_count..nearest + 1, end),
        }
    }
}

/// Packs a leaf if it is raw and worth it, and returns true; otherwise releases room that no push will use.
fn pack_alone(inner: &mut Inner, at: usize) -> bool {
    let leaf = inner.child(at);
    if leaf.is_packed() {
        return false;
    }
    let view = leaf.view();
    let plan = pack::plan(&view, DATA_BYTES_MAX).filter(|plan| plan.count == view.count);
    let smaller = match &plan {
        Some(plan) => packed(plan, &view, false),
        None if leaf.is_roomy() => build(&[view]),
        None => return false,
    };
    inner.with_child(at, |child| *child = smaller);
    plan.is_some()
}

/// Packs adjacent leaves again, together, unless that gains nothing: then marks them as settled.
fn pack_run(inner: &mut Inner, range: Range<usize>, end: End) {
    let opened: Vec<_> = range.clone().map(|at| inner.child(at).open()).collect();
    let views: Vec<View<'_>> = opened.iter().map(|opened| opened.view()).collect();
    let run = Run::gather(&views).expect("packed items are short");
    let leaves = packed_leaves(&run.view(), end);
    drop(opened);
    // Not the allocated size: the rest is not yet as large as it will be.
    let before: usize = range.clone().map(|at| inner.child(at).live_bytes()).sum();
    let after: usize = leaves.iter().map(Node::live_bytes).sum();
    if after >= before || leaves.len() > range.len() {
        range.for_each(|at| inner.with_child(at, Node::set_settled));
        return;
    }
    for at in range.clone().rev() {
        drop(inner.take(at));
    }
    for (nth, leaf) in leaves.into_iter().enumerate() {
        inner.insert(range.start + nth, leaf);
    }
}

/// Builds leaves of all these items, each as full as possible except one at `end`; raw ones where packing gains
/// nothing.
fn packed_leaves(view: &View<'_>, end: End) -> Vec<Node> {
    let mut leaves = Vec::new();
    let mut from = 0;
    if end == End::Head {
        // The rest that would remain at the tail, if all leaves took as many items as the first, goes first.
        let front = view.range(0, view.count_within(CONTENT_BYTES_MAX));
        let left = pack::plan(&front, DATA_BYTES_MAX).map_or(0, |plan| view.count % plan.count);
        if let Some(plan) = pack::plan(&view.range(0, left), DATA_BYTES_MAX) {
            from = plan.count;
            leaves.push(packed(&plan, view, false));
        }
    }
    while from < view.count {
        let rest = view.range(from, view.count);
        let window = rest.range(0, rest.count_within(CONTENT_BYTES_MAX));
        let leaf = match pack::plan(&window, DATA_BYTES_MAX) {
            Some(plan) => packed(&plan, &window, end == End::Head || plan.count < rest.count),
            None => build(&[window.range(0, raw_count(&window))]),
        };
        from += leaf.items() as usize;
        leaves.push(leaf);
    }
    leaves
}

/// Builds raw leaves of all these items.
pub(crate) fn raw_leaves(view: &View<'_>) -> Vec<Node> {
    let mut leaves = Vec::new();
    let mut from = 0;
    while from < view.count {
        let rest = view.range(from, view.count);
        let count = raw_count(&rest);
        leaves.push(build(&[rest.range(0, count)]));
        from += count;
    }
    leaves
}

/// Builds one leaf of all these items, if one can hold them: packed if that is smaller, or the only way to fit.
pub(crate) fn one_leaf(pieces: &[View<'_>]) -> Option<Node> {
    let is_raw = Measure::of(pieces).fits();
    let packed = Run::gather(pieces).and_then(|run| {
        let view = run.view();
        if view.bytes.len() > CONTENT_BYTES_MAX {
            return None;
        }
        let plan = pack::smallest_within(&view, DATA_BYTES_MAX)?;
        (plan.count == view.count && (!is_raw || plan.is_worth_it(&view))).then(|| packed(&plan, &view, true))
    });
    packed.or_else(|| is_raw.then(|| build(pieces)))
}

/// Builds as few leaves as possible of all these items, which are short.
pub(crate) fn few_leaves(pieces: &[View<'_>]) -> Vec<Node> {
    one_leaf(pieces).map_or_else(
        || packed_leaves(&Run::gather(pieces).expect("packed items are short").view(), End::Tail),
        |leaf| vec![leaf],
    )
}

fn packed(plan: &Plan, view: &View<'_>, is_settled: bool) -> Node {
    let mut leaf = Node::leaf_to_pack(plan.form, plan.count, view.offset(plan.count), plan.data_bytes);
    pack::write(plan, view, &mut leaf.leaf_mut().1[..plan.data_bytes]);
    if is_settled {
        leaf.set_settled();
    }
    leaf
}

/// Returns how many leading items fit a raw leaf; at least one.
fn raw_count(view: &View<'_>) -> usize {
    let column_width = Measure::of(&[*view]).column_width();
    let mut bytes = 0;
    (0..view.count)
        .find(|&index| {
            bytes += view.length(index) + column_width;
            index > 0 && bytes > DATA_BYTES_MAX
        })
        .unwrap_or(view.count)
        .min(ITEMS_MAX)
}
