//! A control group of the kernel that limits the memory of a server, the page cache of its files included.
//!
//! ```text
//! version 2   /sys/fs/cgroup/bobbin-lab-77-0          memory.max, memory.swap.max
//! version 1   /sys/fs/cgroup/memory/bobbin-lab-77-0   memory.limit_in_bytes
//! ```

use crate::{LabError, io_error};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A version of control groups.
struct Version {
    root: &'static str,
    /// The file that is there if memory can be limited.
    sign: &'static str,
    limit: &'static str,
    swap_limit: &'static str,
    /// True if the limit of swap is one of memory and swap together.
    is_sum: bool,
}

const VERSIONS: [Version; 2] = [
    Version {
        root: "/sys/fs/cgroup/memory",
        sign: "memory.limit_in_bytes",
        limit: "memory.limit_in_bytes",
        swap_limit: "memory.memsw.limit_in_bytes",
        is_sum: true,
    },
    Version {
        root: "/sys/fs/cgroup",
        sign: "cgroup.controllers",
        limit: "memory.max",
        swap_limit: "memory.swap.max",
        is_sum: false,
    },
];

/// A group of this process. Removed when dropped: its processes have ended by then.
pub(crate) struct MemoryGroup {
    folder: PathBuf,
}

impl MemoryGroup {
    /// Makes a group whose processes may have so much memory together.
    ///
    /// # Errors
    /// The kernel has no such groups, or refuses: only root may make one.
    pub(crate) fn new(bytes_max: u64) -> Result<Self, LabError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Some(version) = VERSIONS.iter().find(|it| Path::new(it.root).join(it.sign).exists()) else {
            return Err(LabError::Step("a limit of memory needs control groups at /sys/fs/cgroup".to_owned()));
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(version.root).join(format!("bobbin-lab-{}-{number}", std::process::id()));
        let refused = |path: &Path| io_error(format!("{} (a limit of memory needs root)", path.display()));
        fs::create_dir(&folder).map_err(refused(&folder))?;
        let group = Self { folder };
        let path = group.folder.join(version.limit);
        fs::write(&path, bytes_max.to_string()).map_err(refused(&path))?;
        // Not there if the kernel does not account for swap.
        let swap_max = if version.is_sum { bytes_max } else { 0 };
        let _ = fs::write(group.folder.join(version.swap_limit), swap_max.to_string());
        Ok(group)
    }

    /// The file that takes the number of a process to be put into the group.
    pub(crate) fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A process that is not gone yet keeps it; it then stays, empty, until the machine starts again.
        let _ = fs::remove_dir(&self.folder);
    }
}
