//! Scripts: EVAL, FCALL and the like, cached scripts, and function libraries.

pub(crate) mod cache;
pub(crate) mod eval;
pub(crate) mod function;
