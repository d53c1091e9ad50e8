//! Power loss, tested at the boundary of system calls: `kill -9` leaves the page cache, a power cut does not.
//!
//! ```text
//! strace -f bobbin --fsync always   three lives with checkpoints: killed, restarted on a torn tail, stopped; everysec
//!     |
//!   trace --> rules      the order of writes, syncs and replies, line by line; `stored` has the rules of the store
//!         `-> rebuild    the folder as a power cut leaves it at 200 instants and at each step of each start: recovered
//! ```

mod rebuild;
mod rules;
mod rules_tests;
mod stored;
mod talk;
mod trace;
mod traced;

use crate::support::request;
use rebuild::{Cut, Film};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use talk::{Id, mark, marks};
use trace::{Call, Event};
use traced::{Life, next_line};
use wire::client::Value;

/// Instants at which the power is cut, beside each step of each start.
const INSTANTS: u64 = 200;
/// The number of instants that the real binary recovers too.
const REAL: usize = 3;
/// Lists that the load pushes to.
const LISTS: u32 = 4;

/// The load, which assigns ids and remembers the newest.
struct Load<'a> {
    life: &'a Life,
    ids: &'a AtomicU32,
}

impl Load<'_> {
    fn id(&self) -> Id {
        self.ids.fetch_add(1, SeqCst) + 1
    }

    fn set(&self, padding_bytes: usize) -> Vec<u8> {
        let id = self.id();
        request(&["SET", &format!("k{id}"), &format!("{}{}", mark(id), ".".repeat(padding_bytes))])
    }

    fn push(&self, list: u32) -> Vec<u8> {
        request(&["RPUSH", &format!("l{list}"), &mark(self.id()), &mark(self.id())])
    }

    /// Returns a read of a value that may be being written.
    fn newest(&self) -> Vec<u8> {
        request(&["GET", &format!("k{}", self.ids.load(SeqCst))])
    }

    fn tail(&self, list: u32) -> Vec<u8> {
        request(&["LRANGE", &format!("l{list}"), "-3", "-1"])
    }

    /// One request after another.
    fn step_by_step(&self, rounds: u32) {
        let mut client = self.life.connect();
        for round in 0..rounds {
            for request in [self.set(10), self.newest(), self.push(0), self.tail(0), self.set(round as usize * 40)] {
                client.send_bytes(&request);
                client.reply();
            }
        }
    }

    /// Pipelines that read what other connections write; until the server is gone or `rounds` are over.
    fn pipelines(&self, number: u32, rounds: u32) {
        let mut client = self.life.connect();
        for _ in 0..rounds {
            let batch = [
                self.set(100),
                self.newest(),
                self.push(number),
                self.tail((number + 1) % LISTS),
                self.set(0),
                self.tail(number),
                self.newest(),
            ];
            if std::io::Write::write_all(&mut client.stream, &batch.concat()).is_err() {
                return;
            }
            for _ in &batch {
                if client.try_reply().is_none() {
                    return;
                }
            }
        }
    }

    /// More than a segment at once.
    fn large(&self) {
        let mut client = self.life.connect();
        let requests: Vec<Vec<u8>> =
            [1_000_000].into_iter().chain([150_000; 110]).map(|bytes| self.set(bytes)).collect();
        client.send_bytes(&requests.concat());
        for _ in &requests {
            assert_eq!(client.reply(), Value::Simple("OK".into()));
        }
    }

    /// One checkpoint after another, as long as somebody else holds `load` and the server is there.
    fn checkpoints(&self, load: &Arc<()>) {
        let mut client = self.life.connect();
        while Arc::strong_count(load) > 1 {
            let replies = client.calls_until_gone(&[request(&["SAVE"])]);
            let Some(reply) = replies.first() else { return };
            let is_busy = reply.as_error().is_some_and(|text| text.contains("already in progress"));
            assert!(is_busy || *reply == Value::Simple("OK".into()), "SAVE answers {reply}");
        }
    }

    /// Pipelines amid checkpoints; `meanwhile` is called beside them.
    fn run_beside(&self, rounds: u32, meanwhile: impl FnOnce()) {
        let load = Arc::new(());
        std::thread::scope(|scope| {
            for number in 1..LISTS {
                let load = load.clone();
                scope.spawn(move || {
                    self.pipelines(number, rounds);
                    drop(load);
                });
            }
            scope.spawn(|| self.checkpoints(&load));
            meanwhile();
        });
    }

    fn run(&self, rounds: u32) {
        self.run_beside(rounds, || {});
    }

    /// Ends the server by `signal` in the midst of it.
    fn run_until(&self, signal: Signal) {
        let enough = self.ids.load(SeqCst) + 600;
        self.run_beside(u32::MAX, || {
            while self.ids.load(SeqCst) < enough {
                std::thread::yield_now();
            }
            self.life.signal(signal);
        });
    }
}

/// Bytes as of a write that the power cut short, beyond what the last segment holds.
fn tear(folder: &Path, events: &mut Vec<Event>) {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let path = names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('0')).max().unwrap();
    let held = std::fs::read(&path).unwrap();
    // Far enough from the end for the zeros with which a record may end.
    let offset = held.iter().rposition(|&byte| byte != 0).unwrap() as u64 + 64;
    let bytes = vec![0xab; 900];
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&bytes, offset).unwrap();
    let line = next_line(events);
    events.push(Event { begin: line, end: line, call: Call::Write { path, offset, bytes } });
}

/// Returns the calls and requests of a server in three lives.
fn three_lives(folder: &Path, strace: &Path) -> Vec<Event> {
    let (mut events, ids) = (Vec::new(), AtomicU32::new(0));
    let life = Life::start(folder, "always", Some(strace)).unwrap();
    let load = Load { life: &life, ids: &ids };
    load.step_by_step(12);
    std::thread::scope(|scope| {
        scope.spawn(|| load.large());
        load.run(15);
    });
    load.run_until(Signal::KILL);
    life.ended(&mut events);

    tear(&folder.join("data/journal"), &mut events);
    let life = Life::start(folder, "always", Some(strace)).unwrap();
    let mut client = life.connect();
    assert!(marks(client.call(&["GET", "k1"]).as_bytes().unwrap()).eq([1]), "a read comes first");
    Load { life: &life, ids: &ids }.run(5);
    life.signal(Signal::TERM);
    life.ended(&mut events);

    let life = Life::start(folder, "everysec", Some(strace)).unwrap();
    Load { life: &life, ids: &ids }.run(3);
    life.signal(Signal::TERM);
    life.ended(&mut events);
    events
}

/// Recovers with the real binary, and says which acknowledged values are gone.
fn lost_for_real(cut: &Cut, journal: &Path) -> Result<Vec<Id>, String> {
    let folder = tempfile::tempdir().unwrap();
    cut.copy(journal, &folder.path().join("data/journal"));
    cut.copy(&journal.with_file_name("store"), &folder.path().join("data/store"));
    let life = Life::start(folder.path(), "always", None)?;
    let mut client = life.connect();
    let mut found: BTreeSet<Id> = BTreeSet::new();
    for list in 0..LISTS {
        let items = client.call(&["LRANGE", &format!("l{list}"), "0", "-1"]);
        found.extend(items.as_slice().unwrap().iter().flat_map(|item| marks(item.as_bytes().unwrap())));
    }
    let is_gone = |id: &Id| {
        let value = client.call(&["GET", &format!("k{id}")]);
        !found.contains(id) && !value.as_bytes().is_some_and(|bytes| marks(bytes).eq([*id]))
    };
    Ok(cut.acknowledged.iter().copied().filter(is_gone).collect())
}

/// Returns the faults found after power cuts.
fn cut_faults(film: &Film<'_>, root: &Path) -> Vec<String> {
    let journal = &root.join("data/journal");
    let instants = film.instants(INSTANTS);
    let is_real = |number: usize| number % instants.len().div_ceil(REAL) == instants.len() / REAL / 2;
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel::<(usize, Cut)>(1);
        let receive = Arc::new(Mutex::new(receive));
        for receive in [receive.clone(), receive] {
            let faults = &faults;
            scope.spawn(move || {
                loop {
                    let next = receive.lock().unwrap().recv();
                    let Ok((number, cut)) = next else { return };
                    if is_real(number) {
                        report(faults, &cut, lost_for_real(&cut, journal));
                    }
                    report(faults, &cut, cut.lost(journal));
                }
            });
        }
        let mut number = 0;
        film.cut(root, &instants, |cut| {
            send.send((number, cut)).unwrap();
            number += 1;
        });
    });
    faults.into_inner().unwrap()
}

fn report(faults: &Mutex<Vec<String>>, cut: &Cut, lost: Result<Vec<Id>, String>) {
    let fault = match lost {
        Ok(lost) if lost.is_empty() => return,
        Ok(lost) => format!("acknowledged and gone: {lost:?}"),
        Err(why) => why,
    };
    faults.lock().unwrap().push(format!("power cut behind line {}: {fault}", cut.line));
}

#[test]
fn acknowledged_writes_survive_a_power_cut() {
    let test = "acknowledged_writes_survive_a_power_cut";
    let Some(strace) = testing::program_or_skip(test, "strace") else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let events = three_lives(&root, &strace);
    let verdict = rules::check(&events);
    let stored = stored::check(&events);
    let reported: usize = verdict.replies.iter().map(|reply| reply.ids.len()).sum();
    let (replies, segments) = (verdict.replies.len(), verdict.segments);
    println!("{} calls, {replies} replies that report {reported} values, {segments} segments", events.len());
    println!("{} commits of the store, {} of its segments removed", stored.commits, stored.removed);
    assert!(stored.commits >= 10 && stored.removed >= 5, "too few checkpoints to show anything");
    assert!(replies > 1_000 && reported > 2_000 && segments >= 5, "the load is too small to show anything");
    assert_eq!((verdict.torn, verdict.stops), (1, 2), "torn tails and clean stops that were seen");
    let mut faults = [verdict.faults, stored.faults].concat();
    faults.extend(cut_faults(&Film::new(&events, &verdict.replies), &root));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
}
