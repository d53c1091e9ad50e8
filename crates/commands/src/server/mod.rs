//! The server: information, settings, logs and command documentation.

pub(crate) mod acl;
pub(crate) mod cluster;
pub(crate) mod command;
pub(crate) mod config;
pub(crate) mod debug;
pub(crate) mod describe;
pub(crate) mod digest;
pub(crate) mod info;
pub(crate) mod latency;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod monitor;
pub(crate) mod replication_stubs;
pub(crate) mod shutdown;
pub(crate) mod slowlog;
pub(crate) mod syntax;
