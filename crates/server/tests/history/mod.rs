//! Eight clients and two listeners use a server that is killed or stopped again and again; one order must explain all
//! that they saw.
//!
//! ```text
//!   round:  start ── load ─ kill -9 ─ restart ── load ─ SIGTERM ─ restart ── load ── read and pop all ── check
//!                    amid BGSAVE and DEBUG RELOAD         while shards are loaded
//! ```
//!
//! `BOBBIN_HISTORY_SECONDS` sets the time during which rounds are started (15), `BOBBIN_HISTORY_SEED` the choices. The
//! same seed makes the same choices, not the same times, so a history without an order is saved in the build folder.
//!
//! Built as a canary (`scripts/canaries`), a server with a fault put in on purpose, it passes only if the fault is
//! found: each was found in the first round, after 1 to 2 s on 2 cores, by six seeds for `early-read` and four for
//! `lockless-pop`. A read that is answered too early is found although a killed process's writes survive: while one
//! sync runs, later frames are not written.

mod client;
mod listener;
mod round;
mod workload;

use linearizability::{Anomaly, End, Event, check};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use workload::Chance;

const SECONDS: u64 = 15;

/// The fault that was built in.
const CANARY: Option<&str> = if cfg!(bobbin_canary = "early-message") {
    Some("early-message")
} else if cfg!(bobbin_canary = "early-read") {
    Some("early-read")
} else if cfg!(bobbin_canary = "early-release") {
    Some("early-release")
} else if cfg!(bobbin_canary = "early-reply") {
    Some("early-reply")
} else if cfg!(bobbin_canary = "lockless-pop") {
    Some("lockless-pop")
} else if cfg!(bobbin_canary = "skipped-stamp") {
    Some("skipped-stamp")
} else {
    None
};

#[test]
fn histories_of_concurrent_clients_are_linearizable() {
    let seconds = number("BOBBIN_HISTORY_SECONDS").unwrap_or(SECONDS);
    let seed = number("BOBBIN_HISTORY_SEED").unwrap_or_else(|| base::hash::KeyHasher::random().hash(b"seed"));
    println!("seed {seed}{}", CANARY.map_or(String::new(), |canary| format!(", canary {canary}")));
    let begin = Instant::now();
    let mut chance = Chance::new(seed);
    let mut total = Total::default();
    while total.rounds == 0 || begin.elapsed() < Duration::from_secs(seconds) {
        let events = round::play(&mut chance);
        total.add(&events);
        if let Err(anomaly) = check(&events) {
            let shown = show(&anomaly, &events, seed);
            println!("{shown}\n{total}");
            let canary = CANARY.expect("no order explains what clients saw, see above");
            println!("canary {canary} found after {} s", begin.elapsed().as_secs());
            return;
        }
    }
    println!("{total}");
    assert!(total.answered > 0, "nothing was answered");
    assert_eq!(CANARY, None, "the fault that was built in was not found");
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Returns the report of a failure: the anomaly, and the path of the whole history.
fn show(anomaly: &Anomaly, events: &[Event], seed: u64) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{seed}.txt"));
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    std::fs::write(&path, text).unwrap();
    format!("{anomaly}\nseed: BOBBIN_HISTORY_SEED={seed}, the whole history: {}", path.display())
}

/// The totals so far.
#[derive(Default)]
struct Total {
    rounds: usize,
    answered: usize,
    lost: usize,
}

impl Total {
    fn add(&mut self, events: &[Event]) {
        self.rounds += 1;
        self.answered += events.iter().filter(|event| event.is_answered()).count();
        self.lost += events.iter().filter(|event| matches!(event.end, End::Lost(_))).count();
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rounds, answered, lost } = self;
        let restarts = rounds * round::RESTARTS;
        write!(f, "{rounds} rounds, {restarts} restarts, {answered} calls answered, {lost} without a reply")
    }
}
