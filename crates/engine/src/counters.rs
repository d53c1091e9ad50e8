//! The counters of INFO. One set per worker, written by it alone with plain loads and stores; readers add them up.

use crate::latency::Latency;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use commands::registry;
use std::collections::BTreeMap;

/// One counter with a single writer.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `count`; only for its one writer.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    /// Sets it to `value`; only for its one writer.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Raises it to `value` if that is more; only for its one writer.
    #[inline]
    pub fn raise(&self, value: u64) {
        if value > self.0.load(Relaxed) {
            self.0.store(value, Relaxed);
        }
    }

    /// Returns its value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn reset(&self) {
        self.0.store(0, Relaxed);
    }
}

/// Counters of one command.
#[derive(Default)]
pub struct CommandCounters {
    /// Times it ran.
    pub calls: Counter,
    /// Total nanoseconds it took.
    pub took_ns: Counter,
    /// Times it ran and replied with an error.
    pub failed: Counter,
    /// Times it was refused before it ran.
    pub rejected: Counter,
    /// Latencies of its calls.
    pub latency: Latency,
}

/// The item counters, named as in `stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemCount {
    Gets,
    GetHits,
    GetMisses,
    Sets,
    Flushes,
    Touches,
    TouchHits,
    TouchMisses,
    Metas,
    DeleteHits,
    DeleteMisses,
    IncrHits,
    IncrMisses,
    DecrHits,
    DecrMisses,
    CasHits,
    CasMisses,
    CasDiffers,
    AuthCommands,
    AuthErrors,
    Stored,
}

impl ItemCount {
    /// All counters, in storage order.
    pub(crate) const NAMES: &'static [&'static str] = &[
        "cmd_get",
        "get_hits",
        "get_misses",
        "cmd_set",
        "cmd_flush",
        "cmd_touch",
        "touch_hits",
        "touch_misses",
        "cmd_meta",
        "delete_hits",
        "delete_misses",
        "incr_hits",
        "incr_misses",
        "decr_hits",
        "decr_misses",
        "cas_hits",
        "cas_misses",
        "cas_badval",
        "auth_cmds",
        "auth_errors",
        "total_items",
    ];
}

const _: () = assert!(ItemCount::Stored as usize + 1 == ItemCount::NAMES.len());

/// Maximum number of queues that one worker counts by name: names that come and go must not make the map grow forever.
/// Beyond, only the totals count.
const NAMES_MAX: usize = 10_000;

/// The number of messages taken, by queue.
type Taken = BTreeMap<Box<[u8]>, u64>;

/// The counters of one worker.
#[derive(Default)]
pub(crate) struct QueueCounters {
    pub(crate) gets: AtomicU64,
    pub(crate) get_hits: AtomicU64,
    pub(crate) sets: AtomicU64,
    pub(crate) set_hits: AtomicU64,
    pub(crate) taken: Mutex<Taken>,
}

impl QueueCounters {
    /// Counts a get, whether it found a message, and whether it took it.
    pub(crate) fn note_get(&self, name: &[u8], is_hit: bool, takes: bool) {
        self.gets.fetch_add(1, Relaxed);
        if is_hit {
            self.get_hits.fetch_add(1, Relaxed);
            if takes {
                self.note(name, 1);
            }
        }
    }

    /// Counts a put message, and whether there was room for it.
    pub(crate) fn note_set(&self, name: &[u8], is_hit: bool) {
        self.sets.fetch_add(1, Relaxed);
        if is_hit {
            self.set_hits.fetch_add(1, Relaxed);
            self.note(name, 0);
        }
    }

    /// Counts the return of a message that was taken.
    pub(crate) fn note_return(&self, name: &[u8]) {
        if let Some(taken) = self.taken.lock().expect("no holder panics").get_mut(name) {
            *taken = taken.saturating_sub(1);
        }
    }

    fn note(&self, name: &[u8], messages: u64) {
        let mut all = self.taken.lock().expect("no holder panics");
        if let Some(taken) = all.get_mut(name) {
            *taken += messages;
        } else if all.len() < NAMES_MAX {
            all.insert(name.into(), messages);
        }
    }

    pub(crate) fn reset(&self) {
        [&self.gets, &self.get_hits, &self.sets, &self.set_hits].into_iter().for_each(|count| count.store(0, Relaxed));
        self.taken.lock().expect("no holder panics").clear();
    }
}

/// Counters of one worker.
#[repr(align(128))]
pub struct Counters {
    /// By command index.
    pub by_command: Box<[CommandCounters]>,
    /// Counters of the memcached port, under its names.
    pub(crate) items: [Counter; ItemCount::NAMES.len()],
    /// Counters of the queue port.
    pub(crate) queues: QueueCounters,
    /// Requests.
    pub commands: Counter,
    /// Bytes read from sockets.
    pub input_bytes: Counter,
    /// Bytes written to sockets.
    pub output_bytes: Counter,
    /// Reads that found a key.
    pub hits: Counter,
    /// Reads that found none.
    pub misses: Counter,
    /// Keys removed by expiry.
    pub expired: Counter,
    /// Tagged lists removed by prefix.
    pub dropped: Counter,
    /// Commands and transactions that changed something while no journal counts them; never reset.
    pub changes: Counter,
    /// Bytes held by scripts on this worker; never reset.
    pub(crate) script_memory_bytes: Counter,
    /// Connections accepted.
    pub connections: Counter,
    /// Connections that left for another worker.
    pub moves: Counter,
    /// Connections refused for lack of room.
    pub refused: Counter,
    /// Connections closed because a browser spoke HTTP.
    pub http: Counter,
    /// Connections closed because they did not authenticate in time.
    pub passwords_late: Counter,
    /// Error replies.
    pub errors: Counter,
    /// Connections cut off because they did not read their replies.
    pub slow_readers: Counter,
    /// Connections cut off because their replies pinned the most memory.
    pub evicted: Counter,
    /// Turns by CPU time.
    pub turns: Latency,
    /// Shard holds by CPU time.
    pub lock_holds: Latency,
    /// Waits for shards or the gate, by wall-clock time.
    pub lock_waits: Latency,
    /// Shard holds in which a checkpoint turns a shard.
    pub shard_turns: Latency,
    /// Longest turn in CPU time, in microseconds.
    pub longest_turn_us: Counter,
    /// Longest shard hold in CPU time, in microseconds.
    pub longest_lock_hold_us: Counter,
    /// Longest time a command waited for shards, in microseconds.
    pub longest_lock_wait_us: Counter,
    /// Longest shard hold by a checkpoint's turn, in CPU time, in microseconds.
    pub longest_shard_turn_us: Counter,
    /// Longest time a reply waited to become durable, in microseconds.
    pub longest_durable_wait_us: Counter,
}

impl Default for Counters {
    fn default() -> Self {
        let by_command = registry::commands().map(|_| CommandCounters::default()).collect();
        Self {
            by_command,
            items: Default::default(),
            queues: QueueCounters::default(),
            commands: Counter::default(),
            input_bytes: Counter::default(),
            output_bytes: Counter::default(),
            hits: Counter::default(),
            misses: Counter::default(),
            expired: Counter::default(),
            dropped: Counter::default(),
            changes: Counter::default(),
            script_memory_bytes: Counter::default(),
            connections: Counter::default(),
            moves: Counter::default(),
            refused: Counter::default(),
            http: Counter::default(),
            passwords_late: Counter::default(),
            errors: Counter::default(),
            slow_readers: Counter::default(),
            evicted: Counter::default(),
            turns: Latency::default(),
            lock_holds: Latency::default(),
            lock_waits: Latency::default(),
            shard_turns: Latency::default(),
            longest_turn_us: Counter::default(),
            longest_lock_hold_us: Counter::default(),
            longest_lock_wait_us: Counter::default(),
            longest_shard_turn_us: Counter::default(),
            longest_durable_wait_us: Counter::default(),
        }
    }
}

impl Counters {
    fn all(&self) -> impl Iterator<Item = &Counter> {
        let counts = self.by_command.iter().flat_map(|command| {
            [&command.calls, &command.took_ns, &command.failed, &command.rejected]
                .into_iter()
                .chain(command.latency.counters())
        });
        let histograms = [&self.turns, &self.lock_holds, &self.lock_waits, &self.shard_turns];
        let histograms = histograms.into_iter().flat_map(Latency::counters);
        counts.chain(histograms).chain([
            &self.commands,
            &self.input_bytes,
            &self.output_bytes,
            &self.hits,
            &self.misses,
            &self.expired,
            &self.dropped,
            &self.connections,
            &self.moves,
            &self.refused,
            &self.http,
            &self.passwords_late,
            &self.errors,
            &self.slow_readers,
            &self.evicted,
            &self.longest_turn_us,
            &self.longest_lock_hold_us,
            &self.longest_lock_wait_us,
            &self.longest_shard_turn_us,
            &self.longest_durable_wait_us,
        ])
    }

    /// Resets all but the item and queue counters. A count made at the same instant may be lost or stay.
    pub fn reset(&self) {
        self.all().for_each(Counter::reset);
    }

    /// Resets the item counters.
    pub(crate) fn reset_items(&self) {
        self.items.iter().for_each(Counter::reset);
    }
}

/// Error replies by the first word of their text.
#[derive(Default)]
pub struct Errors {
    counts: base::primitives::Mutex<std::collections::BTreeMap<String, u64>>,
}

/// Maximum number of distinct words kept: words from scripts or arguments must not make the map grow forever.
const ERROR_WORDS_MAX: usize = 128;

impl Errors {
    /// Counts an error reply.
    pub fn add(&self, text: &str) {
        let word = text.split(' ').next().unwrap_or_default();
        let mut counts = self.counts.lock().expect("no holder panics");
        if let Some(count) = counts.get_mut(word) {
            *count += 1;
        } else if counts.len() < ERROR_WORDS_MAX {
            counts.insert(word.to_owned(), 1);
        }
    }

    /// Returns the words with their counts.
    pub fn counts(&self) -> Vec<(String, u64)> {
        self.counts.lock().expect("no holder panics").iter().map(|(word, count)| (word.clone(), *count)).collect()
    }

    /// Forgets all words.
    pub fn reset(&self) {
        self.counts.lock().expect("no holder panics").clear();
    }
}

/// Commands and bytes per second, over the last few samples.
#[derive(Default)]
pub struct Rates {
    samples: base::primitives::Mutex<std::collections::VecDeque<(base::Ms, Sample)>>,
}

/// Totals at an instant, or their change per second.
#[derive(Clone, Copy, Default)]
pub struct Sample {
    /// Commands run.
    pub commands: u64,
    /// Bytes read.
    pub input_bytes: u64,
    /// Bytes written.
    pub output_bytes: u64,
}

/// Samples over which the rates are taken.
const SAMPLES_MAX: usize = 16;

impl Rates {
    /// Adds a sample, at most one every 100 ms.
    pub fn add(&self, now: base::Ms, sample: Sample) {
        let mut samples = self.samples.lock().expect("no holder panics");
        if samples.back().is_some_and(|(at_ms, _)| now < at_ms + 100) {
            return;
        }
        samples.push_back((now, sample));
        if samples.len() > SAMPLES_MAX {
            samples.pop_front();
        }
    }

    /// Returns the recent rates per second.
    pub fn per_second(&self) -> Sample {
        let samples = self.samples.lock().expect("no holder panics");
        let (Some((from_ms, from)), Some((to_ms, to))) = (samples.front(), samples.back()) else {
            return Sample::default();
        };
        let span_ms = (to_ms - from_ms).max(1);
        let rate = |from: u64, to: u64| to.saturating_sub(from) * 1000 / span_ms;
        Sample {
            commands: rate(from.commands, to.commands),
            input_bytes: rate(from.input_bytes, to.input_bytes),
            output_bytes: rate(from.output_bytes, to.output_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_queue_names_is_bounded() {
        let counters = QueueCounters::default();
        (0..NAMES_MAX as u64 + 5).for_each(|name| counters.note_set(&name.to_le_bytes(), true));
        assert_eq!(counters.taken.lock().unwrap().len(), NAMES_MAX);
        assert_eq!(counters.sets.load(Relaxed), NAMES_MAX as u64 + 5);
        let taken = || counters.taken.lock().unwrap()[&0u64.to_le_bytes()[..]];
        counters.note_get(&0u64.to_le_bytes(), true, true);
        assert_eq!(taken(), 1);
        counters.note_return(&0u64.to_le_bytes());
        counters.note_return(b"unknown");
        assert_eq!(taken(), 0);
        counters.reset();
        assert!(counters.taken.lock().unwrap().is_empty());
    }
}
