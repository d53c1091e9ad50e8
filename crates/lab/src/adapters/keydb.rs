//! KeyDB, whose settings are those of Redis.

use super::{Adapter, Fsync, owned};

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
