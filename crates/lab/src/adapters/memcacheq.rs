//! MemcacheQ.

use super::{Adapter, Fsync, owned};
use crate::protocol::Protocol;

/// MemcacheQ.
pub(super) struct MemcacheQ;

impl Adapter for MemcacheQ {
    fn name(&self) -> &'static str {
        "memcacheq"
    }

    fn program(&self) -> &'static str {
        "memcacheq"
    }

    fn remedy(&self) -> String {
        "sources at github.com/stvchu/memcacheq, with Berkeley DB".to_owned()
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        owned(&["-l", "127.0.0.1", "-p", &port.to_string(), "-H", folder, "-B", "1024", "-u", "root"])
    }

    /// With `-N` it does not sync its log at commit.
    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        match fsync {
            Fsync::None => None,
            Fsync::Everysec => Some(owned(&["-N", "-C", "1"])),
            Fsync::Always => Some(Vec::new()),
        }
    }

    fn protocol(&self) -> Protocol {
        Protocol::Queue
    }

    fn version_flag(&self) -> &'static str {
        "-h"
    }

    fn is_tried(&self) -> bool {
        false
    }
}
