//! SSDB, which takes its settings from a file only.

use super::{Adapter, Fsync};
use crate::{LabError, io_error};
use std::fs;
use std::path::Path;

/// SSDB.
pub(super) struct Ssdb;

impl Adapter for Ssdb {
    fn name(&self) -> &'static str {
        "ssdb"
    }

    fn program(&self) -> &'static str {
        "ssdb-server"
    }

    fn remedy(&self) -> String {
        "sources at github.com/ideawu/ssdb".to_owned()
    }

    fn arguments(&self, _: u16, folder: &str) -> Vec<String> {
        vec![format!("{folder}/ssdb.conf")]
    }

    /// It syncs when LevelDB's log is full, so its writes of the last seconds are not safe.
    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        (fsync != Fsync::Always).then(Vec::new)
    }

    fn version_flag(&self) -> &'static str {
        "-v"
    }

    fn prepare_folder(&self, _: &Path, folder: &Path, port: u16) -> Result<(), LabError> {
        let file = folder.join("ssdb.conf");
        let text = format!("work_dir = {}\nserver:\n\tip: 127.0.0.1\n\tport: {port}\n", folder.display());
        fs::write(&file, text).map_err(io_error(file.display().to_string()))
    }

    fn is_tried(&self) -> bool {
        false
    }
}
