//! Bobbin.

use super::{Adapter, Fsync, owned, redis};

/// Bobbin.
pub(super) struct Bobbin;

impl Adapter for Bobbin {
    fn name(&self) -> &'static str {
        "bobbin"
    }

    fn program(&self) -> &'static str {
        "bobbin"
    }

    fn remedy(&self) -> String {
        "`make release`, or name it with --bobbin PATH".to_owned()
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        redis::arguments(port, folder)
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(owned(match fsync {
            Fsync::None => &["--journal", "off"],
            Fsync::Everysec => &["--journal", "on", "--fsync", "everysec"],
            Fsync::Always => &["--journal", "on", "--fsync", "always"],
        }))
    }
}
