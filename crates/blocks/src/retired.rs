//! Counts the bytes of blocks that a write releases while clones keep them alive.
//!
//! ```text
//!   before   value --> root --> a b c          after SET in b   value --> root' --> a b' c
//!            clone ----^                                        clone --> root  --> a b  c     shed: root and b
//! ```
//!
//! Counted only when a handle that is not the last one is dropped, so unshared data costs nothing. Any other holder of
//! a node counts as a clone, even a copy under another name.

use std::cell::Cell;

thread_local! {
    static SHED_BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Runs `change` and returns how many bytes of shared nodes it released.
///
/// With one clone and one value, the sum is exactly what the clone holds and the value does not.
pub fn counting_retired<R>(change: impl FnOnce() -> R) -> (R, u64) {
    let before = SHED_BYTES.replace(0);
    let result = change();
    (result, SHED_BYTES.replace(before))
}

/// Counts the release of a shared node of `bytes`, including everything below it.
pub(crate) fn note(bytes: u64) {
    SHED_BYTES.set(SHED_BYTES.get() + bytes);
}

/// Runs `change`, which counts as releasing `bytes`, whatever it actually releases.
pub(crate) fn counted_as<R>(bytes: u64, change: impl FnOnce() -> R) -> R {
    let (result, _) = counting_retired(change);
    note(bytes);
    result
}
