//! Lists.

pub(crate) mod push;
