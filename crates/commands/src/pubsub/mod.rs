//! Messages: who wants to hear them, and what is said.

pub(crate) mod look;
pub(crate) mod publish;
pub(crate) mod subscribe;
