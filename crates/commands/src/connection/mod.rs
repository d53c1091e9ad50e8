//! The connection: who it is, what it speaks, and what it may do to others.

pub(crate) mod client;
pub(crate) mod client_options;
pub(crate) mod filter;
pub(crate) mod greeting;
pub(crate) mod plain;
pub(crate) mod tracking;
