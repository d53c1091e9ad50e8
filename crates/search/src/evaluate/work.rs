//! The work of a step: units are given to it, spent, and asked for between two items.
//!
//! ```text
//!   Work::new(units) --> step: item, item, item ... until it is spent --> left, overshoot
//! ```

use std::ops::ControlFlow;

/// The work of finding a term and its postings.
pub(super) const TERM_WORK: u64 = 10;
/// The work of finding a row's record; its bytes are extra.
pub(super) const RECORD_WORK: u64 = 4;
/// The work of reading a chunk of postings, or of joining two sets of rows of a chunk.
pub(super) const CHUNK_WORK: u64 = 2;
/// Bytes of a text that are looked at per unit of work, and bytes that are only passed.
const TEXT_BYTES_PER_WORK: usize = 16;
const BYTES_PER_WORK: usize = 256;
/// Numbers, terms or other small items that are passed per unit of work.
const ITEMS_PER_WORK: u64 = 8;

/// The work that a step may do, in units of about 100 ns.
///
/// A step ends at the first item after its work is spent. So it overshoots by an item at most: by
/// [`Work::OVERSHOOT_MAX`] units, and by those of a single long record or term (one for each 8 bytes; more if it is
/// compared with a wildcard pattern), of a single union or intersection (one for each 2 parts), or of a single term
/// that is counted (one for each 16,384 rows).
#[derive(Debug)]
pub struct Work {
    left: u64,
    overshoot: u64,
}

impl Work {
    /// The units that a step may spend beyond those given, save for long records, terms and queries.
    pub const OVERSHOOT_MAX: u64 = 1_024;

    /// Returns work of this many units.
    pub fn new(units: u64) -> Self {
        Self { left: units, overshoot: 0 }
    }

    /// Returns the units left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the units spent beyond those given.
    pub fn overshoot(&self) -> u64 {
        self.overshoot
    }

    /// Returns true if no units are left.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    pub(super) fn spend(&mut self, units: u64) {
        self.overshoot = self.overshoot.saturating_add(units.saturating_sub(self.left));
        self.left = self.left.saturating_sub(units);
    }

    /// Spends the work of looking at all bytes of a text.
    pub(super) fn spend_text(&mut self, bytes: usize) {
        self.spend((bytes / TEXT_BYTES_PER_WORK) as u64);
    }

    /// Spends the work of passing bytes.
    pub(super) fn spend_bytes(&mut self, bytes: usize) {
        self.spend((bytes / BYTES_PER_WORK) as u64);
    }

    /// Spends the work of the nth small item of a walk.
    pub(super) fn spend_item(&mut self, nth: u64) {
        self.spend(u64::from(nth.is_multiple_of(ITEMS_PER_WORK)));
    }

    /// Breaks a walk once the work is spent.
    pub(super) fn flow(&self) -> ControlFlow<()> {
        if self.is_spent() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
