//! LedisDB.

use super::{Adapter, Fsync, owned};

/// LedisDB.
pub(super) struct LedisDb;

impl Adapter for LedisDb {
    fn name(&self) -> &'static str {
        "ledisdb"
    }

    fn program(&self) -> &'static str {
        "ledis-server"
    }

    fn remedy(&self) -> String {
        "`go install github.com/ledisdb/ledisdb/cmd/ledis-server@latest`".to_owned()
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        owned(&["-addr", &format!("127.0.0.1:{port}"), "-data_dir", folder, "-db_name", "goleveldb"])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        let commit = match fsync {
            Fsync::None => "0",
            Fsync::Everysec => "1",
            Fsync::Always => "2",
        };
        Some(owned(&["-db_sync", commit]))
    }

    /// It knows no argument for its version, and says it when asked for help.
    fn version_flag(&self) -> &'static str {
        "-h"
    }

    fn is_tried(&self) -> bool {
        false
    }
}
