//! The only source of randomness in a world.

use std::cell::Cell;
use std::rc::Rc;

/// SplitMix64; clones share the state, so that one seed decides everything in one order.
#[derive(Clone)]
pub(crate) struct Random {
    state: Rc<Cell<u64>>,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: Rc::new(Cell::new(seed)) }
    }

    pub(crate) fn next(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `bound`, which is not 0.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns true once in `times`.
    pub(crate) fn one_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }
}
