//! What the kernel knows about a process: CPU used and memory held, from `/proc/PID`.

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
    fn this_process_has_cpu_and_memory() {
        let (now, most) = memory_bytes(std::process::id()).unwrap();
        assert!(now > 0);
        assert!(most >= now);
        cpu_us(std::process::id()).unwrap();
    }
}
