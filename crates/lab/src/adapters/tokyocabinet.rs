//! Tokyo Cabinet: a library, driven by its own tools. Its server, Tokyo Tyrant, is not in Debian.
//!
//! A tool is one process a command and reads text or prints it: a program with the library in it does not have that
//! work. On the other hand there is no network between the two.

use super::{Adapter, Fsync, debian};
use crate::protocol::Protocol;

/// Tokyo Cabinet.
pub(super) struct TokyoCabinet;

impl Adapter for TokyoCabinet {
    fn name(&self) -> &'static str {
        "tokyocabinet"
    }

    fn program(&self) -> &'static str {
        "tchmgr"
    }

    fn remedy(&self) -> String {
        debian("tokyocabinet-bin")
    }

    fn is_server(&self) -> bool {
        false
    }

    fn arguments(&self, _: u16, _: &str) -> Vec<String> {
        Vec::new()
    }

    /// Its tools never sync: the kernel writes the mapped file when it likes.
    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        (fsync == Fsync::None).then(Vec::new)
    }

    fn protocol(&self) -> Protocol {
        Protocol::Tools
    }

    fn version_flag(&self) -> &'static str {
        "version"
    }
}
