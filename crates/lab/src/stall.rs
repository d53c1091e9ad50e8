//! Measures the longest stall of a thread by this machine itself, by the thread's own CPU clock.
//!
//! A virtual machine's host reclaims free memory, and provides it again at the first write; the writing thread stalls
//! meanwhile, and the guest counts that as its CPU time. So a server's longest turn is meaningful only beside the
//! longest stall of a loop that does nothing but write.

use base::clock::thread_cpu_us;
use std::time::{Duration, Instant};

/// Written to in one step, in bytes: as much as a turn of the server writes.
const STEP_BYTES: usize = 64 << 10;
/// Taken from the system and given back at a time, in bytes.
const AREA_BYTES: usize = 64 << 20;
/// The size of a page, which one write makes resident.
const PAGE_BYTES: usize = 4 << 10;

/// The longest step of a loop that for `span` writes into fresh memory, in microseconds of CPU.
pub(crate) fn longest_us(span: Duration) -> u64 {
    let began = Instant::now();
    let mut longest_us = 0;
    while began.elapsed() < span {
        let mut area = vec![0u8; AREA_BYTES];
        for step in area.chunks_mut(STEP_BYTES) {
            let began_us = thread_cpu_us();
            step.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
            std::hint::black_box(step);
            longest_us = longest_us.max(thread_cpu_us() - began_us);
        }
    }
    longest_us
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_step_takes_at_most_the_total_time() {
        let before_us = thread_cpu_us();
        let longest_us = longest_us(Duration::from_millis(50));
        assert!((1..=thread_cpu_us() - before_us).contains(&longest_us), "{longest_us}");
    }
}
