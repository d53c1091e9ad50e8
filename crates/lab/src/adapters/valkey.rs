//! Valkey, whose settings are those of Redis.

use super::{Adapter, Fsync, debian, owned};

/// Valkey, whose settings are those of Redis.
pub(super) struct Valkey;

impl Adapter for Valkey {
    fn name(&self) -> &'static str {
        "valkey"
    }

    fn program(&self) -> &'static str {
        "valkey-server"
    }

    fn remedy(&self) -> String {
        debian("valkey-server")
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        owned(&["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir", folder])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(owned(match fsync {
            Fsync::None => &["--save", "", "--appendonly", "no"],
            Fsync::Everysec => &["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"],
            Fsync::Always => &["--save", "", "--appendonly", "yes", "--appendfsync", "always"],
        }))
    }

    fn is_tried(&self) -> bool {
        false
    }
}
