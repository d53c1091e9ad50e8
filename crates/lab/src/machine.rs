//! The machine on which a figure was measured.

use crate::{LabError, io_error, proc};
use std::fs;
use std::path::Path;
use std::thread;

/// This machine, in short and in full.
pub(crate) struct Machine {
    /// The folder of its records: `xeon-2c-24g`.
    pub(crate) slug: String,
    /// CPU, cores, memory, kernel, filesystem of the data.
    pub(crate) text: String,
}

impl Machine {
    /// Describes the machine; `data` is a folder on the filesystem that the servers write to.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub(crate) fn look(data: &Path) -> Result<Self, LabError> {
        let read = |path: &str| fs::read_to_string(path).map_err(io_error(path));
        let cpu = cpu_model(&read("/proc/cpuinfo")?);
        let memory_kib = proc::kib_field(&read("/proc/meminfo")?, "MemTotal:").unwrap_or(0);
        let kernel = read("/proc/sys/kernel/osrelease")?;
        let data = data.canonicalize().map_err(io_error(data.display().to_string()))?;
        let filesystem = filesystem(&read("/proc/self/mounts")?, &data);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        // Memory reserved by the firmware is missing: 23.5 GiB is sold as 24.
        let memory_gib = memory_kib.div_ceil(1024 * 1024);
        let slug = format!("{}-{cores}c-{memory_gib}g", family(&cpu));
        let text = format!("{cpu}, {cores} cores, {memory_gib} GiB, Linux {}, {filesystem}", kernel.trim());
        Ok(Self { slug, text })
    }
}

fn cpu_model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':')).map_or("unknown CPU", |(_, model)| model.trim()).to_owned()
}

/// One word for the CPU, neutral as to vendor and stepping.
fn family(cpu: &str) -> &'static str {
    const FAMILIES: [&str; 8] = ["xeon", "epyc", "ryzen", "threadripper", "core", "atom", "neoverse", "graviton"];
    let cpu = cpu.to_ascii_lowercase();
    FAMILIES.into_iter().find(|family| cpu.contains(family)).unwrap_or("cpu")
}

/// The type of the filesystem with the longest mount point above `folder`.
fn filesystem(mounts: &str, folder: &Path) -> String {
    let mut best = ("", "unknown filesystem");
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(1);
        let Some((point, kind)) = fields.next().zip(fields.next()) else { continue };
        if folder.starts_with(point) && point.len() >= best.0.len() {
            best = (point, kind);
        }
    }
    best.1.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_wins() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tm xfs rw 0 0\n";
        assert_eq!(filesystem(mounts, Path::new("/tmp/x")), "tmpfs");
        assert_eq!(filesystem(mounts, Path::new("/tmpx")), "ext4");
    }

    #[test]
    fn cpu_families_are_one_word() {
        assert_eq!(family("Intel(R) Xeon(R) Processor"), "xeon");
        assert_eq!(family("AMD EPYC 7B13"), "epyc");
        assert_eq!(family("something else"), "cpu");
    }
}
