//! The system's limits on the memory of this process: control groups, rlimits, and the setting.
//!
//! ```text
//!   /proc/self/cgroup     0::/a/b          memory.max of /a/b, /a and / count, where they are mounted
//!                         4:memory:/a/b    likewise memory.limit_in_bytes, of version 1
//!   /proc/self/mountinfo  where control groups are mounted, and which of them is at the top there
//! ```

use engine::memory::Limit;
use rustix::process::{Resource, getrlimit};
use std::path::{Path, PathBuf};

/// A limit this high counts as none, in bytes: version 1 of control groups expresses "unlimited" only so.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// The memory that counts against a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Resident memory of the process.
    Resident,
    /// Unreclaimable memory of its control group, whose files are in this folder.
    Group(PathBuf, Version),
    /// Mapped memory, touched or not.
    AddressSpace,
    /// Mapped memory that is private and writable.
    Data,
}

/// A version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// A limit, and the memory that counts against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) limit: Limit,
    pub(super) measure: Measure,
}

impl Found {
    fn new(bytes: u64, source: impl Into<String>, measure: Measure) -> Self {
        Self { limit: Limit { bytes, source: source.into() }, measure }
    }

    /// Returns true if mapped memory counts, touched or not.
    pub(super) fn is_of_address_space(&self) -> bool {
        matches!(self.measure, Measure::AddressSpace | Measure::Data)
    }
}

/// Returns all limits on this process, including the setting's unless it is 0.
pub(super) fn find(setting_bytes: u64) -> Vec<Found> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let text = |path: &str| read(Path::new(path)).unwrap_or_default();
    let mut found = of_groups(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"), &read);
    found.extend(of_rlimits());
    if setting_bytes > 0 {
        found.push(Found::new(setting_bytes, "memory-hard-limit", Measure::Resident));
    }
    found
}

/// Returns the limits on mapped memory.
pub(super) fn of_rlimits() -> Vec<Found> {
    let of =
        |resource, source: &str, measure| getrlimit(resource).current.map(|bytes| Found::new(bytes, source, measure));
    let all = [
        of(Resource::As, "RLIMIT_AS (ulimit -v)", Measure::AddressSpace),
        of(Resource::Data, "RLIMIT_DATA (ulimit -d)", Measure::Data),
    ];
    all.into_iter().flatten().collect()
}

fn of_groups(groups: &str, mounts: &str, read: &dyn Fn(&Path) -> Option<String>) -> Vec<Found> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let version = match controllers {
            "" => Version::Two,
            _ if controllers.split(',').any(|name| name == "memory") => Version::One,
            _ => continue,
        };
        let Some((root, mount)) = mounts.lines().find_map(|line| mounted(line, version)) else { continue };
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
        let lowest = Path::new(mount).join(below);
        for folder in lowest.ancestors().take_while(|folder| folder.starts_with(mount)) {
            let file = folder.join(if version == Version::Two { "memory.max" } else { "memory.limit_in_bytes" });
            let bytes = read(&file).and_then(|text| text.trim().parse().ok());
            if let Some(bytes) = bytes.filter(|bytes| *bytes < UNLIMITED_BYTES) {
                found.push(Found::new(bytes, file.display().to_string(), Measure::Group(folder.into(), version)));
            }
        }
    }
    found
}

/// Returns the top group of a mount and its mount point, if a line of mountinfo is about memory control groups.
fn mounted(line: &str, version: Version) -> Option<(&str, &str)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let (system, _, options) = (kind.next()?, kind.next()?, kind.next()?);
    let fits = match version {
        Version::Two => system == "cgroup2",
        Version::One => system == "cgroup" && options.split(',').any(|name| name == "memory"),
    };
    let mut place = place.split(' ').skip(3);
    fits.then_some((place.next()?, place.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const ONE: &str = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                       36 31 0:33 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";

    fn limits(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Vec<(u64, String)> {
        let read =
            |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned());
        let found = of_groups(groups, mounts, &read);
        found.into_iter().map(|found| (found.limit.bytes, found.limit.source)).collect()
    }

    #[test]
    fn the_limits_of_all_ancestor_cgroups_apply() {
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000000\n"),
            ("/sys/fs/cgroup/memory.max", "2000000\n"),
        ];
        let expected = [(1_000_000, "/sys/fs/cgroup/a/memory.max"), (2_000_000, "/sys/fs/cgroup/memory.max")];
        assert_eq!(limits("0::/a/b\n", TWO, &files), expected.map(|(bytes, file)| (bytes, file.to_owned())));
    }

    #[test]
    fn limits_are_read_at_the_mount_point_in_a_container() {
        let files = [("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n")];
        let expected = [(5_000, "/sys/fs/cgroup/memory/memory.limit_in_bytes".to_owned())];
        assert_eq!(limits("4:memory:/docker/abc\n3:cpu:/x\n", ONE, &files), expected);
        // The group's own name does not determine where it is mounted.
        assert_eq!(limits("4:cpu,memory:/elsewhere\n", ONE, &files), expected);
    }

    #[test]
    fn there_is_no_limit_when_no_cgroup_sets_one() {
        let files = [("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")];
        assert_eq!(limits("4:memory:/docker/abc\n", ONE, &files), []);
        assert_eq!(limits("0::/a\n", "", &files), []);
        assert_eq!(limits("", TWO, &files), []);
    }

    #[test]
    fn the_setting_counts_among_the_limits() {
        let found = find(123 << 20);
        let own = found.last().unwrap();
        assert_eq!((own.limit.bytes, &*own.limit.source), (123 << 20, "memory-hard-limit"));
        assert!(!own.is_of_address_space());
    }
}
