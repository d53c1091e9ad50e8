//! The connection: its identity, its protocol, and its control over others.

pub(crate) mod client;
pub(crate) mod client_options;
pub(crate) mod filter;
pub(crate) mod greeting;
pub(crate) mod plain;
pub(crate) mod tracking;
