//! Times commits to a journal and its recovery: `commits FOLDER always|everysec|never THREADS SECONDS`.
//!
//! Each thread hands over frames of 60 bytes; under `always` it waits for each to be durable, else for none.

use base::disk::RealDisk;
use journal::{Frame, Level, LogBuffer, Options, Policy, Purpose, Reached, Refusal, Running, prepare};
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};
use sync::notifier::Notifier;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, policy, threads, seconds] = &arguments[..] else {
        panic!("usage: commits FOLDER always|everysec|never THREADS SECONDS");
    };
    let policy = match policy.as_str() {
        "always" => Policy::Always,
        "everysec" => Policy::EverySec,
        _ => Policy::Never,
    };
    let end = Instant::now() + Duration::from_secs(seconds.parse().expect("seconds"));
    let begun = Instant::now();
    let mut read_bytes = 0;
    let mut replay = |frame: Frame<'_>| {
        read_bytes += frame.payload.len();
        Ok(())
    };
    let options = Options::new(policy, 1);
    let prepared = prepare(Arc::new(RealDisk), Path::new(folder), options).expect("prepared");
    let opened = prepared.open(0, &mut replay).expect("opened");
    let frames = opened.recovery.frames as f64;
    let open_seconds = begun.elapsed().as_secs_f64();
    println!("opened in {open_seconds:.3} s: {frames} frames, {:.2} million a second", frames / open_seconds / 1e6);
    let journal = opened.journal.clone();
    let running = Running::start(opened.writer, opened.preallocator);
    std::thread::scope(|scope| {
        for _ in 0..threads.parse().expect("threads") {
            let journal = journal.clone();
            scope.spawn(move || work(journal.log_buffer(), policy == Policy::Always, end));
        }
    });
    let run_seconds = begun.elapsed().as_secs_f64() - open_seconds;
    let statistics = journal.statistics();
    println!("{:.0} frames a second, {statistics:?}", statistics.frames as f64 / run_seconds);
    running.stop().expect("a clean stop");
}

fn work(mut log_buffer: LogBuffer, waits: bool, end: Instant) {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let (journal, notifier) = (log_buffer.journal().clone(), Arc::new(Notifier::new()));
    journal.add_notifier(notifier.clone());
    let mut payload = Vec::new();
    let mut count = 0u64;
    while waits || !count.is_multiple_of(64) || Instant::now() < end {
        count += 1;
        let claim = loop {
            match log_buffer.try_admit(60, Purpose::Grow) {
                Ok(claim) => break claim,
                Err(Refusal::Wait) => journal.wait_room(&waker),
                Err(refusal) => panic!("{refusal:?}"),
            }
            match log_buffer.try_admit(60, Purpose::Grow) {
                Ok(claim) => break claim,
                Err(_) => std::thread::park(),
            }
        };
        payload.resize(60, count as u8);
        let ticket = log_buffer.take(claim, payload.len() as u64);
        let position = ticket.end;
        log_buffer.hand_over(ticket, count, &mut payload);
        log_buffer.end_turn();
        while waits && journal.want(&notifier, Level::Durable, position) == Reached::Waiting {
            if notifier.poll_notified(&mut context).is_pending() {
                std::thread::park();
            }
        }
        if waits && Instant::now() >= end {
            return;
        }
    }
}
