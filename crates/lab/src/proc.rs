//! The kernel's figures of a process: CPU used, memory held, bytes written, from `/proc/PID`.

use crate::{LabError, io_error};
use std::fs;

/// CPU that the process and the children it has waited for used so far, in microseconds.
///
/// Children count: a peer that forks to rewrite its log does that work for its clients. The kernel counts in clock
/// ticks (10 ms on most machines), so a step must last seconds for this to mean something.
///
/// # Errors
/// The process is gone.
pub(crate) fn cpu_us(pid: u32) -> Result<u64, LabError> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).map_err(io_error(&path))?;
    let ticks = cpu_ticks(&text).ok_or_else(|| LabError::Step(format!("{path}: unknown form")))?;
    Ok(ticks * 1_000_000 / rustix::param::clock_ticks_per_second())
}

/// Memory the process holds now, and the most it ever held, in bytes.
///
/// # Errors
/// The process is gone.
pub(crate) fn memory_bytes(pid: u32) -> Result<(u64, u64), LabError> {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).map_err(io_error(&path))?;
    let field = |name| kib_field(&text, name).map(|kib| kib * 1024);
    field("VmRSS:").zip(field("VmHWM:")).ok_or_else(|| LabError::Step(format!("{path}: no memory figures")))
}

/// Returns the memory of the process and its children together, in bytes.
///
/// A page that several of them share counts once (the sum of their shares, `Pss`): after a fork that is the parent's
/// memory and the pages copied since.
///
/// # Errors
/// The process is gone.
pub(crate) fn family_memory_bytes(pid: u32) -> Result<u64, LabError> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let children = fs::read_to_string(&path).map_err(io_error(&path))?;
    let mut kib = share_kib(pid).ok_or_else(|| LabError::Step(format!("process {pid} is gone")))?;
    // A child may have ended since.
    kib += children.split_whitespace().filter_map(|child| share_kib(child.parse().ok()?)).sum::<u64>();
    Ok(kib * 1024)
}

fn share_kib(pid: u32) -> Option<u64> {
    kib_field(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?, "Pss:")
}

/// Bytes that the process and the children it has waited for had written to disks so far: pages as they became dirty,
/// and direct writes.
///
/// # Errors
/// The process is gone.
pub(crate) fn written_bytes(pid: u32) -> Result<u64, LabError> {
    let path = format!("/proc/{pid}/io");
    let text = fs::read_to_string(&path).map_err(io_error(&path))?;
    let field = text.lines().find_map(|line| line.strip_prefix("write_bytes:")?.trim().parse().ok());
    field.ok_or_else(|| LabError::Step(format!("{path}: unknown form")))
}

/// utime + stime + cutime + cstime: fields 14 to 17, counted after the name, which may itself hold spaces.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11).take(4);
    let mut sum = 0;
    for _ in 0..4 {
        sum += fields.next()?.parse::<u64>().ok()?;
    }
    Some(sum)
}

pub(crate) fn kib_field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_counted_past_a_name_with_spaces_and_brackets() {
        let stat = "77 (a (b) c) S 1 77 77 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 4 0 9 1 1";
        assert_eq!(cpu_ticks(stat), Some(110));
        assert_eq!(cpu_ticks("77 (cut"), None);
    }

    #[test]
    fn memory_is_read_in_kib() {
        assert_eq!(kib_field("VmHWM:\t     12 kB\nVmRSS:\t      8 kB\n", "VmRSS:"), Some(8));
        assert_eq!(kib_field("VmHWM:\t12 kB\n", "VmRSS:"), None);
    }

    #[test]
    fn the_memory_of_child_processes_is_counted() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = share_kib(std::process::id());
        // The kernel lists children by thread, and no test runs on the main thread.
        assert!(family_memory_bytes(std::process::id()).unwrap() > 0);
        assert!(own.is_some() && share_kib(child.id()).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(share_kib(child.id()), None);
    }

    #[test]
    fn this_process_has_cpu_and_memory() {
        let (now, most) = memory_bytes(std::process::id()).unwrap();
        assert!(now > 0);
        assert!(most >= now);
        cpu_us(std::process::id()).unwrap();
        written_bytes(std::process::id()).unwrap();
    }
}
