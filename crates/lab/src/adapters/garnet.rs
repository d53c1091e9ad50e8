//! Garnet.

use super::{Adapter, Fsync, owned};

/// Garnet.
pub(super) struct Garnet;

impl Adapter for Garnet {
    fn name(&self) -> &'static str {
        "garnet"
    }

    fn program(&self) -> &'static str {
        "garnet-server"
    }

    fn remedy(&self) -> String {
        "`dotnet tool install garnet-server`".to_owned()
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        owned(&["--bind", "127.0.0.1", "--port", &port.to_string(), "--checkpointdir", folder])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(owned(match fsync {
            Fsync::None => &[],
            Fsync::Everysec => &["--aof", "--aof-commit-freq", "1000"],
            Fsync::Always => &["--aof", "--aof-commit-freq", "0", "--aof-commit-wait"],
        }))
    }

    fn is_tried(&self) -> bool {
        false
    }
}
