//! Slow events: for each kind, the latest seconds in which one took at least `latency-monitor-threshold`.

use base::primitives::Mutex;
use commands::SlowEvents;
use std::collections::{BTreeMap, VecDeque};

/// Seconds kept per kind, as in Redis.
const SAMPLES_MAX: usize = 160;

/// The latency monitor of a server.
#[derive(Default)]
pub struct LatencyMonitor {
    kinds: Mutex<BTreeMap<&'static str, EventKind>>,
}

#[derive(Default)]
struct EventKind {
    /// The second since the epoch, and the longest duration in that second, in milliseconds.
    samples: VecDeque<(u64, u64)>,
    max_ms: u64,
}

impl LatencyMonitor {
    /// Records a slow event.
    pub fn note(&self, event: &'static str, at_s: u64, took_ms: u64) {
        let mut kinds = self.kinds.lock().expect("no holder panics");
        let kind = kinds.entry(event).or_default();
        kind.max_ms = kind.max_ms.max(took_ms);
        match kind.samples.back_mut() {
            Some((second, longest_ms)) if *second == at_s => *longest_ms = took_ms.max(*longest_ms),
            _ => kind.samples.push_back((at_s, took_ms)),
        }
        if kind.samples.len() > SAMPLES_MAX {
            kind.samples.pop_front();
        }
    }

    /// Returns each kind's samples, the oldest first, and the longest ever.
    pub fn all(&self) -> Vec<SlowEvents> {
        let kinds = self.kinds.lock().expect("no holder panics");
        let slow_events = |(event, kind): (&&str, &EventKind)| SlowEvents {
            event: (*event).to_owned(),
            samples: kind.samples.iter().copied().collect(),
            max_ms: kind.max_ms,
        };
        kinds.iter().map(slow_events).collect()
    }

    /// Forgets these kinds, or all if none is named; returns how many.
    pub fn forget(&self, events: &[&[u8]]) -> usize {
        let mut kinds = self.kinds.lock().expect("no holder panics");
        let before = kinds.len();
        kinds.retain(|name, _| !events.is_empty() && !events.contains(&name.as_bytes()));
        before - kinds.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_keeps_its_maximum_and_old_samples_are_dropped() {
        let latency_monitor = LatencyMonitor::default();
        [(1, 5), (1, 9), (1, 7), (2, 3)].into_iter().for_each(|(at_s, ms)| latency_monitor.note("command", at_s, ms));
        let expected = SlowEvents { event: "command".to_owned(), samples: vec![(1, 9), (2, 3)], max_ms: 9 };
        assert_eq!(latency_monitor.all(), [expected]);
        (3..500).for_each(|at_s| latency_monitor.note("command", at_s, 1));
        let SlowEvents { samples, max_ms, .. } = latency_monitor.all().remove(0);
        assert_eq!((samples.len(), samples[0], max_ms), (SAMPLES_MAX, (340, 1), 9));
    }

    #[test]
    fn forget_clears_the_named_events_or_all() {
        let latency_monitor = LatencyMonitor::default();
        ["command", "fast-command"].into_iter().for_each(|event| latency_monitor.note(event, 1, 1));
        assert_eq!(latency_monitor.forget(&[b"none"]), 0);
        assert_eq!(latency_monitor.forget(&[b"command"]), 1);
        assert_eq!(latency_monitor.forget(&[]), 1);
    }
}
