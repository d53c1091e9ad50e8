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

    /// Its settings file alone says when it syncs; unless told otherwise it never does.
    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        (fsync == Fsync::None).then(Vec::new)
    }

    fn is_tried(&self) -> bool {
        false
    }
}
