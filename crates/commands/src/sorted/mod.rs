//! Sorted sets.

pub(crate) mod add;
pub(crate) mod algebra;
pub(crate) mod blocking;
pub(crate) mod lookup;
pub(crate) mod pop;
pub(crate) mod random;
pub(crate) mod range;
pub(crate) mod remove;
pub(crate) mod reply;
pub(crate) mod scan;
pub(crate) mod score;
