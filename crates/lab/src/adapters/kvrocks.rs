//! Kvrocks, which writes to RocksDB.

use super::{Adapter, Fsync, owned, redis};

/// Kvrocks, which writes to RocksDB.
pub(super) struct Kvrocks;

impl Adapter for Kvrocks {
    fn name(&self) -> &'static str {
        "kvrocks"
    }

    fn program(&self) -> &'static str {
        "kvrocks"
    }

    fn remedy(&self) -> String {
        "releases at kvrocks.apache.org".to_owned()
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        redis::arguments(port, folder)
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        match fsync {
            Fsync::None => None,
            Fsync::Everysec => Some(owned(&["--rocksdb.write_options.sync", "no"])),
            Fsync::Always => Some(owned(&["--rocksdb.write_options.sync", "yes"])),
        }
    }

    fn is_tried(&self) -> bool {
        false
    }
}
