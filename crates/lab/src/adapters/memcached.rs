//! memcached.

use super::{Adapter, Fsync, debian, owned};
use crate::protocol::Protocol;

/// memcached.
pub(super) struct Memcached;

impl Adapter for Memcached {
    fn name(&self) -> &'static str {
        "memcached"
    }

    fn program(&self) -> &'static str {
        "memcached"
    }

    fn remedy(&self) -> String {
        debian("memcached")
    }

    fn arguments(&self, port: u16, _: &str) -> Vec<String> {
        owned(&["-l", "127.0.0.1", "-p", &port.to_string(), "-u", "nobody"])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        (fsync == Fsync::None).then(Vec::new)
    }

    fn protocol(&self) -> Protocol {
        Protocol::Memcached
    }
}
