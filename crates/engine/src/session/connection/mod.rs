//! The requests and state of a connection beside its data: messages, tracking, MONITOR, passwords, WATCH.

pub(super) mod messages;
pub(super) mod monitor;
pub(super) mod password;
pub(super) mod tracking;
pub(super) mod watch;
