//! The protocols that connections speak: RESP, memcached's, MemcacheQ's.

pub(super) mod lease;
pub(super) mod memcached;
pub(super) mod memcacheq;
pub(super) mod port;
