//! What a write gives up while others hold it: the blocks that clones keep alive.
//!
//! ```text
//!   before   value --> root --> a b c          after SET in b   value --> root' --> a b' c
//!            clone ----^                                        clone --> root  --> a b  c     shed: root and b
//! ```
//!
//! Counted only where a handle is let go that is not the last one, so what nobody shares costs nothing. Whatever else
//! holds a node counts as a clone: a copy under another name too.

use std::cell::Cell;

thread_local! {
    static SHED_BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Runs `change` and says how many bytes of nodes it gave up that others hold.
///
/// With one clone and one value, sums of this are exactly what the clone holds and the value does not.
pub fn counting_retired<R>(change: impl FnOnce() -> R) -> (R, u64) {
    let before = SHED_BYTES.replace(0);
    let result = change();
    (result, SHED_BYTES.replace(before))
}

/// Notes that a node of so many bytes, all below it included, was let go and others hold it.
pub(crate) fn note(bytes: u64) {
    SHED_BYTES.set(SHED_BYTES.get() + bytes);
}

/// Runs `change`, which counts as giving up `bytes`, whatever it lets go.
pub(crate) fn counted_as<R>(bytes: u64, change: impl FnOnce() -> R) -> R {
    let (result, _) = counting_retired(change);
    note(bytes);
    result
}
