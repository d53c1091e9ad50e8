//! Valkey, whose settings are those of Redis.

use super::{Adapter, Fsync, debian, redis};

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
        redis::arguments(port, folder)
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(redis::durability(fsync))
    }

    fn is_tried(&self) -> bool {
        false
    }
}
