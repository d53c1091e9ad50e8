//! Scripts: EVAL, FCALL and their kin, the scripts that are known, and libraries of functions.

pub(crate) mod cache;
pub(crate) mod eval;
pub(crate) mod function;
