//! Programs of the system.

use std::env;
use std::path::PathBuf;

/// Returns the first `program` on `PATH`.
pub fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}
