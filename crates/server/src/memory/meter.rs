//! The process's use of each memory limit, from the allocator and from the system.
//!
//! ```text
//!   mapped by the allocator   | used by values, buffers ... | half-empty pages | free pages | not resident |
//!                             '--------- active -----------'------------------'            '
//!                                       idle_bytes: active - allocated          free_bytes: dirty, muzzy
//! ```
//!
//! Free pages do not count: the allocator returns them when asked. Nor does other memory it keeps mapped, since it uses
//! that before it maps more.

use super::limits::{Found, Measure, Version};
use engine::memory::Used;
use std::path::Path;
use tikv_jemalloc_ctl::{Access, AsName, epoch, stats};

/// Readings per look at the memory used by others in a control group.
const READINGS_PER_LOOK: u32 = 16;

/// Reads the use of these limits.
pub(super) struct Meter {
    measures: Vec<Measure>,
    /// Bytes used by others in the group, for each control-group limit.
    others_bytes: Vec<u64>,
    readings: u32,
    page_bytes: u64,
}

/// Memory of the allocator, in bytes.
#[derive(Clone, Copy, Default)]
struct Allocated {
    active: u64,
    idle: u64,
    free: u64,
    retained: u64,
}

/// Memory of the process as the system reports it, in bytes.
#[derive(Clone, Copy, Default)]
struct Process {
    size: u64,
    resident: u64,
    /// The file-backed part of it.
    shared: u64,
    data: u64,
}

impl Meter {
    pub(super) fn new(found: &[Found]) -> Self {
        let measures: Vec<_> = found.iter().map(|found| found.measure.clone()).collect();
        let page_bytes = rustix::param::page_size() as u64;
        Self { others_bytes: vec![0; measures.len()], measures, readings: 0, page_bytes }
    }

    fn allocated(&self) -> Option<Allocated> {
        epoch::advance().ok()?;
        // The arena number that stands for all of them.
        let pages = |name: &str| -> Option<usize> { format!("stats.arenas.4096.{name}\0").as_str().name().read().ok() };
        let (active, allocated) = (stats::active::read().ok()? as u64, stats::allocated::read().ok()? as u64);
        let free = (pages("pdirty")? + pages("pmuzzy")?) as u64 * self.page_bytes;
        let retained = stats::retained::read().ok()? as u64;
        Some(Allocated { active, idle: active.saturating_sub(allocated), free, retained })
    }

    fn process(&self) -> Process {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let mut pages = text.split_whitespace().map(|pages| pages.parse().unwrap_or(0) * self.page_bytes);
        let mut next = || pages.next().unwrap_or(0);
        let (size, resident, shared) = (next(), next(), next());
        let (_text, _library) = (next(), next());
        Process { size, resident, shared, data: next() }
    }
}

impl engine::memory::Meter for Meter {
    fn read(&mut self) -> Vec<Used> {
        let (allocated, process) = (self.allocated().unwrap_or_default(), self.process());
        let own_bytes = process.resident.saturating_sub(process.shared);
        if self.readings.is_multiple_of(READINGS_PER_LOOK) {
            for (measure, others) in self.measures.iter().zip(&mut self.others_bytes) {
                if let Measure::Group(folder, version) = measure {
                    *others = group_bytes(folder, *version).unwrap_or(0).saturating_sub(own_bytes);
                }
            }
        }
        self.readings = self.readings.wrapping_add(1);
        let used = |(measure, others): (&Measure, &u64)| {
            let bytes = match measure {
                // Untouched buffers also count as active.
                Measure::Resident => process.resident.saturating_sub(allocated.free).max(allocated.active),
                Measure::Group(..) => own_bytes.saturating_sub(allocated.free).max(allocated.active) + others,
                Measure::AddressSpace => process.size.saturating_sub(allocated.free + allocated.retained),
                Measure::Data => process.data.saturating_sub(allocated.free + allocated.retained),
            };
            Used { bytes, idle_bytes: allocated.idle, free_bytes: allocated.free }
        };
        self.measures.iter().zip(&self.others_bytes).map(used).collect()
    }

    fn give_back(&mut self) {
        let arenas: u32 = "arenas.narenas\0".name().read().unwrap_or(0);
        for arena in 0..arenas {
            // An unused arena has no such field. With no time to decay, free pages are returned at once.
            let name = format!("arena.{arena}.dirty_decay_ms\0");
            let decay_ms: Result<isize, _> = name.as_str().name().update(0isize);
            if let Ok(decay_ms) = decay_ms {
                let _ = name.as_str().name().write(decay_ms);
            }
        }
    }
}

/// Returns the unreclaimable bytes of a control group: all but file pages and what the kernel reclaims.
fn group_bytes(folder: &Path, version: Version) -> Option<u64> {
    let (current, reclaimed): (_, &[&str]) = match version {
        Version::Two => ("memory.current", &["active_file", "inactive_file", "slab_reclaimable"]),
        Version::One => ("memory.usage_in_bytes", &["total_active_file", "total_inactive_file"]),
    };
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let current_bytes: u64 = text(current)?.trim().parse().ok()?;
    Some(current_bytes.saturating_sub(sum_of(&text("memory.stat")?, reclaimed)))
}

/// Returns the sum of these fields.
fn sum_of(stat: &str, fields: &[&str]) -> u64 {
    let pairs = stat.lines().filter_map(|line| line.split_once(' '));
    pairs.filter(|(name, _)| fields.contains(name)).filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reclaimable_memory_is_not_counted_as_used() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
        write("memory.current", "1000\n");
        write("memory.stat", "anon 500\nactive_file 100\ninactive_file 200\nslab_reclaimable 30\nslab 77\n");
        assert_eq!(group_bytes(folder.path(), Version::Two), Some(670));
        assert_eq!(group_bytes(folder.path(), Version::One), None);
        write("memory.usage_in_bytes", "900");
        write("memory.stat", "total_active_file 1\ntotal_inactive_file 2\nactive_file 100\n");
        assert_eq!(group_bytes(folder.path(), Version::One), Some(897));
    }
}
