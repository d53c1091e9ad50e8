//! Redis.

use super::{Adapter, Fsync, debian, owned};

/// Redis.
pub(super) struct Redis;

impl Adapter for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn program(&self) -> &'static str {
        "redis-server"
    }

    fn remedy(&self) -> String {
        debian("redis-server")
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        arguments(port, folder)
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(durability(fsync))
    }
}

/// The arguments for port and folder of Redis and of servers that take its settings.
pub(super) fn arguments(port: u16, folder: &str) -> Vec<String> {
    owned(&["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir", folder])
}

/// The arguments for a durability of Redis and of servers that take its settings.
pub(super) fn durability(fsync: Fsync) -> Vec<String> {
    owned(match fsync {
        Fsync::None => &["--save", "", "--appendonly", "no"],
        Fsync::Everysec => &["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"],
        Fsync::Always => &["--save", "", "--appendonly", "yes", "--appendfsync", "always"],
    })
}
