//! KeyDB, whose settings are those of Redis.

use super::{Adapter, Fsync, redis};

/// KeyDB, whose settings are those of Redis.
pub(super) struct KeyDb;

impl Adapter for KeyDb {
    fn name(&self) -> &'static str {
        "keydb"
    }

    fn program(&self) -> &'static str {
        "keydb-server"
    }

    fn remedy(&self) -> String {
        "packages at docs.keydb.dev".to_owned()
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
