//! Lists.

pub(crate) mod edit;
pub(crate) mod pop;
pub(crate) mod position;
pub(crate) mod push;
pub(crate) mod range;
pub(crate) mod transfer;
