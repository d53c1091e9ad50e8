//! Scripts: EVAL and its kin, and the scripts that are known.

pub(crate) mod cache;
pub(crate) mod eval;
