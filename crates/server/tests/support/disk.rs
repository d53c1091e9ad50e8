//! A small file system of a test's own.

use super::Connection;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wire::client::Value;

/// The maximum time for other clients' checkpoints.
const PATIENCE: Duration = Duration::from_secs(30);

/// A file system in memory, for as long as it lives.
pub(crate) struct Disk(TempDir);

impl Disk {
    /// Mounts a disk of `bytes` bytes, or records that `test` is skipped.
    pub(crate) fn mount_or_skip(test: &str, bytes: usize) -> Option<Self> {
        let program = testing::program_or_skip(test, "mount")?;
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={bytes}");
        let mount = Command::new(program).args(["-t", "tmpfs", "-o", &size, "bobbin"]).arg(folder.path()).output();
        let output = mount.unwrap();
        if output.status.success() {
            return Some(Self(folder));
        }
        let why = String::from_utf8_lossy(&output.stderr);
        testing::skip(test, &format!("only root may mount a small disk: {}", why.trim()));
        None
    }

    /// Returns the mount point.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Stores everything, after the running round, and after rounds that find no room while others still write.
pub(crate) fn save(client: &mut Connection<TcpStream>) {
    let began = Instant::now();
    let mut reply = client.call(&["SAVE"]);
    while matches!(reply, Value::Error(_)) && began.elapsed() < PATIENCE {
        reply = client.call(&["SAVE"]);
    }
    assert_eq!(reply, Value::Simple("OK".to_owned()));
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}
