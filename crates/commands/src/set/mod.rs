//! Sets.

pub(crate) mod add;
pub(crate) mod algebra;
pub(crate) mod all;
pub(crate) mod look;
pub(crate) mod random;
pub(crate) mod scan;
