//! Reports of the watchdog on requests that wait.

use crate::support::World;
use engine::{Next, Report, Watchdog, WatchedThing};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;
use wire::Output;

const DISK_BYTES: u64 = 8 << 20;
/// More keys than fit on that disk.
const KEYS: usize = 20_000;

fn waits(reports: &[Report]) -> Vec<String> {
    reports.iter().filter(|report| report.sighting.what == WatchedThing::JournalWait).map(Report::to_string).collect()
}

#[test]
fn a_wait_for_journal_room_is_seen_while_it_lasts() {
    let world = World::on_small_disk(DISK_BYTES);
    let mut client = world.client();
    let mut watchdog = Watchdog::new(Duration::from_nanos(1));
    let value = vec![b'v'; 1_000];
    let seen = (0..KEYS).find_map(|key| {
        let mut output = Output::new();
        let key = format!("secret:{key}");
        let Next::Slow(slow) = client.send(&[b"SET", key.as_bytes(), &value], &mut output) else { return None };
        let mut running = pin!(client.session.run_slowly(slow, &client.input, &mut output));
        let is_over = running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        let reports = world.engine.look_after(&mut watchdog);
        (!is_over && !waits(&reports).is_empty()).then(|| waits(&reports))
    });
    let seen = seen.expect("nobody makes room here");
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("worker 0 has a request that has waited for journal room for "), "{}", seen[0]);
    assert!(seen[0].ends_with(" ms: SET"), "{}", seen[0]);
    // The request is dropped by now.
    assert!(waits(&world.engine.look_after(&mut watchdog)).is_empty());
    let info = client.call("INFO stats");
    assert!(info.contains("\r\nwatchdog_long_journal_waits:1\r\n"), "{info}");
    client.call("CONFIG RESETSTAT");
    assert!(client.call("INFO stats").contains("\r\nwatchdog_long_journal_waits:0\r\n"));
}
