//! Dragonfly, which keeps no log.

use super::{Adapter, Fsync, owned};

/// Dragonfly, which keeps no log.
pub(super) struct Dragonfly;

impl Adapter for Dragonfly {
    fn name(&self) -> &'static str {
        "dragonfly"
    }

    fn program(&self) -> &'static str {
        "dragonfly"
    }

    fn remedy(&self) -> String {
        "releases at github.com/dragonflydb/dragonfly".to_owned()
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        owned(&["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir", folder, "--dbfilename", ""])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        (fsync == Fsync::None).then(Vec::new)
    }

    fn is_tried(&self) -> bool {
        false
    }
}
