//! The watchdog: reports operations that take too long, while they are still running.
//!
//! ```text
//! workers: turn, command, locks  ---.
//! requests that wait for room       +--> sightings, several times a second --> Watchdog::observe --> reports, counters
//! the gate: its last raiser      ---'
//! ```
//!
//! A worker publishes, by relaxed stores into a cache line of its own and without reading a clock, when a turn or a
//! command begins and when locks are taken and released. A state that is the same at two looks of the watchdog has
//! lasted from one to the other.

pub(crate) mod room_wait;

use base::instant::Instant;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use commands::registry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A kind of watched operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatchedThing {
    /// A worker's turn: meanwhile its other connections wait.
    Turn,
    /// Shard locks held by a command or transaction.
    LockHold,
    /// Shard locks held by a script, which other connections of its worker need not wait for.
    ScriptHold,
    /// Requests of a worker waiting for journal room.
    JournalWait,
    /// The gate, raised or being raised.
    Gate,
}

impl WatchedThing {
    /// All kinds, in the order of their counters.
    const ALL: [Self; 5] = [Self::Turn, Self::LockHold, Self::ScriptHold, Self::JournalWait, Self::Gate];
}

/// An operation in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Its kind.
    pub what: WatchedThing,
    /// Its worker; `None`: a background thread.
    pub worker: Option<u16>,
    /// Its number: each turn of a worker has another.
    pub number: u64,
    /// When it began, in nanoseconds since the start, if known.
    pub began_ns: Option<u64>,
    /// The index of its command, if known.
    pub command: Option<u16>,
}

/// An operation that takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its last sighting.
    pub sighting: Sighting,
    /// Its minimum age, in milliseconds.
    pub age_ms: u64,
    /// True for the first report of an event.
    pub is_first: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sighting { what, worker, command, .. } = self.sighting;
        let command =
            command.and_then(|command| registry::commands().nth(usize::from(command))).map(|command| command.name);
        match worker {
            Some(worker) => write!(f, "worker {worker} ")?,
            None => write!(f, "a background thread ")?,
        }
        let age_ms = self.age_ms;
        match what {
            WatchedThing::Turn => write!(f, "has been in one turn for {age_ms} ms, and its other clients wait")?,
            WatchedThing::LockHold => {
                write!(f, "has held shard locks for {age_ms} ms, and requests for their keys wait")?;
            }
            WatchedThing::ScriptHold => write!(f, "runs a script that has held shard locks for {age_ms} ms")?,
            WatchedThing::JournalWait => write!(f, "has a request that has waited for journal room for {age_ms} ms")?,
            WatchedThing::Gate => write!(f, "has held all shards exclusively for {age_ms} ms")?,
        }
        match command {
            Some(command) => write!(f, ": {command}"),
            None => Ok(()),
        }
    }
}

/// An operation remembered between looks.
struct SeenThing {
    number: u64,
    since_ns: u64,
    /// The age at which it is reported (again).
    report_ns: u64,
    /// It was seen in the current look.
    is_there: bool,
}

/// Decides what is reported: once when it is older than the threshold, and again whenever its age has doubled. So
/// anything lasting long takes few lines, and at most one operation per worker and kind is reported at a time.
pub struct Watchdog {
    threshold_ns: u64,
    seen: HashMap<(WatchedThing, Option<u16>), SeenThing>,
}

impl Watchdog {
    /// Creates a watchdog that reports operations older than `threshold`.
    pub fn new(threshold: Duration) -> Self {
        Self { threshold_ns: (threshold.as_nanos() as u64).max(1), seen: HashMap::new() }
    }

    /// Processes all operations in progress at `now_ns`, which never goes back. O(sightings).
    pub fn observe(&mut self, now_ns: u64, sightings: &[Sighting]) -> Vec<Report> {
        self.seen.values_mut().for_each(|seen| seen.is_there = false);
        let mut reports = Vec::new();
        for sighting in sightings {
            let fresh = SeenThing {
                number: sighting.number,
                since_ns: sighting.began_ns.unwrap_or(now_ns),
                report_ns: self.threshold_ns,
                is_there: true,
            };
            let seen =
                self.seen.entry((sighting.what, sighting.worker)).or_insert(SeenThing { is_there: false, ..fresh });
            if seen.number != sighting.number {
                *seen = fresh;
            }
            seen.is_there = true;
            seen.since_ns = sighting.began_ns.unwrap_or(seen.since_ns);
            let age_ns = now_ns.saturating_sub(seen.since_ns);
            if age_ns < self.threshold_ns {
                // Among waiters, another may now be the oldest: it is reported once it has waited too long.
                seen.report_ns = self.threshold_ns;
            } else if age_ns >= seen.report_ns {
                let is_first = seen.report_ns == self.threshold_ns;
                seen.report_ns = age_ns.saturating_mul(2);
                reports.push(Report { sighting: *sighting, age_ms: age_ns / 1_000_000, is_first });
            }
        }
        self.seen.retain(|_, seen| seen.is_there);
        reports
    }
}

/// The current work of one worker, written by it alone.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Beat {
    /// When the current turn began, in nanoseconds since the start; 0: none.
    turn_ns: AtomicU64,
    /// Number of times shard locks were taken or released, outside of scripts and by scripts: odd while held.
    holds: [AtomicU64; 2],
    /// The commands that hold them.
    hold_rows: [AtomicU16; 2],
    /// The index plus one of the last command begun; 0: none in this turn.
    command: AtomicU16,
}

impl Beat {
    /// Notes that a command begins (or continues).
    #[inline]
    pub(crate) fn set_command(&self, command: usize) {
        self.command.store(command as u16 + 1, Relaxed);
    }

    /// Marks shard locks as held until the result is dropped: by a script, which may be suspended meanwhile, or not.
    #[inline]
    pub(crate) fn hold(&self, is_script: bool) -> Hold<'_> {
        let at = usize::from(is_script);
        self.hold_rows[at].store(self.command.load(Relaxed), Relaxed);
        let holds = &self.holds[at];
        holds.store(holds.load(Relaxed).wrapping_add(1), Relaxed);
        Hold(holds)
    }
}

/// Marks shard locks as held while it lives.
pub(crate) struct Hold<'b>(&'b AtomicU64);

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
    }
}

/// When each wait began, and its command, in order of arrival at each worker.
type RoomWaits = BTreeMap<(u16, u64), (u64, u16)>;

/// The state that the watchdog reads.
pub(crate) struct WatchdogState {
    start: Instant,
    beats: Box<[Arc<Beat>]>,
    room_waits: Mutex<RoomWaits>,
    /// Number of times the gate was raised (from bit 32 on); the worker that raised it, plus one (16 bits); the
    /// command, plus one.
    gate: AtomicU64,
    /// In the order of [`WatchedThing::ALL`].
    counts: [AtomicU64; WatchedThing::ALL.len()],
}

impl WatchdogState {
    /// Creates the state for this many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            start: Instant::now(),
            beats: (0..workers).map(|_| Arc::default()).collect(),
            room_waits: Mutex::default(),
            gate: AtomicU64::new(0),
            counts: Default::default(),
        }
    }

    fn lock_waits(&self) -> base::primitives::MutexGuard<'_, RoomWaits> {
        self.room_waits.lock().expect("no holder panics")
    }

    /// Returns nanoseconds since the start, never 0.
    fn ns(&self, at: Instant) -> u64 {
        ((at - self.start).as_nanos() as u64).max(1)
    }

    /// Returns the current work of each worker.
    #[inline]
    pub(crate) fn beats(&self) -> &[Arc<Beat>] {
        &self.beats
    }

    /// Notes that a turn of a worker began at `now`.
    #[inline]
    pub(crate) fn begin_turn(&self, worker: usize, now: Instant) {
        let beat = &self.beats[worker];
        beat.command.store(0, Relaxed);
        beat.turn_ns.store(self.ns(now), Relaxed);
    }

    /// Notes that the turn has ended.
    #[inline]
    pub(crate) fn end_turn(&self, worker: usize) {
        self.beats[worker].turn_ns.store(0, Relaxed);
    }

    /// Notes that a worker or a background thread raises the gate.
    pub(crate) fn note_raise(&self, worker: Option<usize>) {
        let command = worker.map_or(0, |worker| self.beats[worker].command.load(Relaxed));
        let count = (self.gate.load(Relaxed) >> 32).wrapping_add(1);
        let worker = worker.map_or(0, |worker| worker as u64 + 1);
        self.gate.store(count << 32 | worker << 16 | u64::from(command), Relaxed);
    }

    /// Returns the number of operations of this kind that took too long.
    pub(crate) fn count(&self, what: WatchedThing) -> u64 {
        self.counts[what as usize].load(Relaxed)
    }

    /// Returns the age of the oldest turn in progress, in microseconds; 0 if there is none.
    pub(crate) fn oldest_turn_us(&self) -> u64 {
        let now_ns = self.ns(Instant::now());
        let began = self.beats.iter().map(|beat| beat.turn_ns.load(Relaxed)).filter(|began_ns| *began_ns > 0).min();
        began.map_or(0, |began_ns| now_ns.saturating_sub(began_ns) / 1000)
    }

    /// CONFIG RESETSTAT.
    pub(crate) fn reset(&self) {
        self.counts.iter().for_each(|count| count.store(0, Relaxed));
    }

    /// Records that the last request begun by a worker starts to wait for journal room; returns its place.
    fn begin_room_wait(&self, worker: usize) -> (u16, u64) {
        let (began_ns, command) = (self.ns(Instant::now()), self.beats[worker].command.load(Relaxed));
        let mut waits = self.lock_waits();
        let worker = worker as u16;
        let last = waits.range((worker, 0)..=(worker, u64::MAX)).next_back();
        let place = (worker, last.map_or(0, |((_, number), _)| number + 1));
        waits.insert(place, (began_ns, command));
        place
    }

    /// Looks at all operations in progress, counts those newly too old, and returns those to be logged.
    pub(crate) fn look(&self, watchdog: &mut Watchdog, is_raised: bool) -> Vec<Report> {
        let sightings = self.sightings(is_raised);
        let reports = watchdog.observe(self.ns(Instant::now()), &sightings);
        for report in reports.iter().filter(|report| report.is_first) {
            self.counts[report.sighting.what as usize].fetch_add(1, Relaxed);
        }
        reports
    }

    fn sightings(&self, is_raised: bool) -> Vec<Sighting> {
        let mut sightings = Vec::new();
        let index = |command: u16| command.checked_sub(1);
        let waits = self.lock_waits();
        for (worker, beat) in (0..).zip(&self.beats) {
            let of =
                |what, number, began_ns, command| Sighting { what, worker: Some(worker), number, began_ns, command };
            let began_ns = beat.turn_ns.load(Relaxed);
            if began_ns > 0 {
                sightings.push(of(WatchedThing::Turn, began_ns, Some(began_ns), index(beat.command.load(Relaxed))));
            }
            for (at, what) in [WatchedThing::LockHold, WatchedThing::ScriptHold].into_iter().enumerate() {
                let number = beat.holds[at].load(Relaxed);
                if !number.is_multiple_of(2) {
                    sightings.push(of(what, number, None, index(beat.hold_rows[at].load(Relaxed))));
                }
            }
            if let Some((_, (began_ns, command))) = waits.range((worker, 0)..=(worker, u64::MAX)).next() {
                sightings.push(of(WatchedThing::JournalWait, 0, Some(*began_ns), index(*command)));
            }
        }
        drop(waits);
        if is_raised {
            let gate = self.gate.load(Relaxed);
            let (worker, command) = (index((gate >> 16) as u16), index(gate as u16));
            sightings.push(Sighting { what: WatchedThing::Gate, worker, number: gate >> 32, began_ns: None, command });
        }
        sightings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn turn(worker: u16, began_ms: u64) -> Sighting {
        let (number, began_ns) = (began_ms, Some(began_ms * MS));
        Sighting { what: WatchedThing::Turn, worker: Some(worker), number, began_ns, command: Some(0) }
    }

    /// Returns the reports: worker, age, and whether it is the first.
    fn look(watchdog: &mut Watchdog, now_ms: u64, sightings: &[Sighting]) -> Vec<(Option<u16>, u64, bool)> {
        let reports = watchdog.observe(now_ms * MS, sightings);
        reports.iter().map(|report| (report.sighting.worker, report.age_ms, report.is_first)).collect()
    }

    #[test]
    fn an_event_is_reported_again_when_its_age_has_doubled() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1));
        let mut reported = Vec::new();
        for now_ms in (5_000..60_000).step_by(100) {
            reported.extend(look(&mut watchdog, now_ms, &[turn(3, 5_000), turn(1, now_ms - 900)]));
        }
        let ages: Vec<u64> = reported.iter().map(|(_, age_ms, _)| *age_ms).collect();
        assert_eq!(ages, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
        assert!(reported.iter().all(|(worker, ..)| *worker == Some(3)));
        assert_eq!(reported.iter().filter(|(.., is_first)| *is_first).count(), 1);
    }

    #[test]
    fn another_turn_is_another_event() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1));
        assert_eq!(look(&mut watchdog, 2_000, &[turn(0, 500)]), [(Some(0), 1_500, true)]);
        assert_eq!(look(&mut watchdog, 2_100, &[turn(0, 2_050)]), []);
        assert_eq!(look(&mut watchdog, 3_100, &[turn(0, 2_050)]), [(Some(0), 1_050, true)]);
        // It has ended, and the next turn has the same age when first seen.
        assert_eq!(look(&mut watchdog, 3_200, &[]), []);
        assert_eq!(look(&mut watchdog, 9_000, &[turn(0, 3_200)]), [(Some(0), 5_800, true)]);
    }

    #[test]
    fn an_event_without_a_start_ages_from_its_first_sighting() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1));
        let hold = |number| Sighting { what: WatchedThing::LockHold, number, began_ns: None, ..turn(2, 0) };
        for now_ms in (1_000..9_000).step_by(100) {
            assert_eq!(look(&mut watchdog, now_ms, &[hold(now_ms)]), [], "one after the other");
        }
        assert_eq!(look(&mut watchdog, 9_000, &[hold(7)]), []);
        assert_eq!(look(&mut watchdog, 9_900, &[hold(7)]), []);
        assert_eq!(look(&mut watchdog, 10_000, &[hold(7)]), [(Some(2), 1_000, true)]);
    }

    #[test]
    fn overlapping_journal_waits_are_one_event() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1));
        let oldest = |began_ms| Sighting { what: WatchedThing::JournalWait, number: 0, ..turn(0, began_ms) };
        // Each waits for a second and a half, and another follows it.
        let mut reported = 0;
        for now_ms in (2_000..20_000).step_by(100) {
            reported += look(&mut watchdog, now_ms, &[oldest(now_ms - 1_500)]).len();
        }
        assert_eq!(reported, 1);
        assert_eq!(look(&mut watchdog, 20_000, &[oldest(19_500)]), []);
        assert_eq!(look(&mut watchdog, 21_000, &[oldest(19_500)]), [(Some(0), 1_500, true)]);
    }

    #[test]
    fn a_report_names_the_command_and_worker_but_no_argument() {
        let command = registry::commands().position(|command| command.name == "ZADD").map(|command| command as u16);
        let sighting = Sighting { command, ..turn(4, 0) };
        let report = Report { sighting, age_ms: 1_234, is_first: true };
        assert_eq!(report.to_string(), "worker 4 has been in one turn for 1234 ms, and its other clients wait: ZADD");
        let gate = Sighting { what: WatchedThing::Gate, worker: None, command: None, ..sighting };
        assert_eq!(
            Report { sighting: gate, ..report }.to_string(),
            "a background thread has held all shards exclusively for 1234 ms"
        );
    }

    #[test]
    fn a_workers_activity_is_sighted_while_it_lasts() {
        let watch = WatchdogState::new(2);
        let kinds = |watch: &WatchdogState| {
            watch.sightings(false).iter().map(|seen| (seen.what, seen.command)).collect::<Vec<_>>()
        };
        assert!(kinds(&watch).is_empty());
        watch.begin_turn(1, Instant::now());
        assert_eq!(kinds(&watch), [(WatchedThing::Turn, None)]);
        watch.beats()[1].set_command(7);
        let hold = watch.beats()[1].hold(false);
        assert_eq!(kinds(&watch), [(WatchedThing::Turn, Some(7)), (WatchedThing::LockHold, Some(7))]);
        let first = watch.sightings(false)[1].number;
        drop(hold);
        let script = watch.beats()[1].hold(true);
        watch.end_turn(1);
        watch.begin_turn(1, Instant::now());
        watch.beats()[1].set_command(8);
        let hold = watch.beats()[1].hold(false);
        let script_too =
            [(WatchedThing::Turn, Some(8)), (WatchedThing::LockHold, Some(8)), (WatchedThing::ScriptHold, Some(7))];
        assert_eq!(kinds(&watch), script_too);
        assert_ne!(watch.sightings(false)[1].number, first, "another hold has another number");
        drop((hold, script));
        watch.end_turn(1);
        assert!(kinds(&watch).is_empty());
        watch.begin_turn(0, Instant::now());
        watch.beats()[0].set_command(9);
        watch.note_raise(Some(0));
        let gate = *watch.sightings(true).last().unwrap();
        assert_eq!((gate.what, gate.worker, gate.command), (WatchedThing::Gate, Some(0), Some(9)));
        watch.note_raise(None);
        let other = *watch.sightings(true).last().unwrap();
        assert_eq!((other.worker, other.command), (None, None));
        assert_ne!(other.number, gate.number);
    }
}
