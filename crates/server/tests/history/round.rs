//! A round: a fresh server, load amid checkpoints and reloads, kills and stops at random instants, in one record.

use crate::history::client::Client;
use crate::history::listener;
use crate::history::workload::{self, Board, Chance};
use crate::support::{Connection, Server, request};
use linearizability::{End as Outcome, Event};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

const CLIENTS: u32 = 8;
/// Subscribed connections, on both workers.
const LISTENERS: u32 = 2;
/// The number of times that a round's server is killed or stopped.
pub(crate) const RESTARTS: usize = 3;
/// One of this many restarts follows a stop.
const STOPS_ONE_IN: u64 = 3;
/// After one of this many restarts, shards are loaded slowly, and clients connect at once.
const SLOW_LOADS_ONE_IN: u64 = 3;
/// One of this many checkpoints is reloaded.
const RELOADS_ONE_IN: u64 = 10;
/// Bounds of the time under load, from one start on.
const LOAD_MS: Range<u64> = 20..300;
/// Bounds of the time between two checkpoints that are asked for.
const SAVE_MS: Range<u64> = 2..60;

/// The end of the time under load.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Kill,
    /// The server is stopped.
    Stop,
    /// The clients are stopped.
    Rest,
}

/// Plays a round. In its record the events of one client follow each other as they were called.
pub(crate) fn play(chance: &mut Chance) -> Vec<Event> {
    let clock = Instant::now();
    let board = Board::default();
    // A kill takes nothing under any of them.
    let fsync = ["always", "everysec", "never"][chance.below(3) as usize];
    let flags = [
        "--fsync",
        fsync,
        "--checkpoint-journal-size",
        "64kb",
        "--enable-debug-command",
        "yes",
        "--notify-keyspace-events",
        "E$",
    ];
    let mut server = Server::start(&flags);
    let mut events = Vec::new();
    for _ in 0..RESTARTS {
        let end = if chance.one_in(STOPS_ONE_IN) { End::Stop } else { End::Kill };
        events.extend(load(&mut server, &board, chance, clock, end));
        if chance.one_in(SLOW_LOADS_ONE_IN) {
            server.restart_with(&[("BOBBIN_TEST_LOADER_REST_MS", "1")]);
        } else {
            server.restart();
            // At once, before anything is written over.
            events.extend(alone(&server, clock, |client| workload::read_all(client, &board)));
        }
    }
    events.extend(load(&mut server, &board, chance, clock, End::Rest));
    events.extend(alone(&server, clock, |client| workload::read_all(client, &board)));
    events.extend(alone(&server, clock, workload::pop_all));
    server.stop();
    events
}

/// All clients at once, for a while.
fn load(server: &mut Server, board: &Board, chance: &mut Chance, clock: Instant, end: End) -> Vec<Event> {
    let port = server.port;
    board.is_over.store(false, Ordering::Relaxed);
    let (mut events, dead_ns) = thread::scope(|scope| {
        let clients: Vec<_> = (1..=CLIENTS)
            .map(|number| {
                let mut chance = Chance::new(chance.next());
                scope.spawn(move || {
                    let Ok(mut client) = Client::connect(number, port, clock) else { return Vec::new() };
                    // The end of the connection is the end of the load.
                    let _ = workload::run(&mut client, board, &mut chance);
                    client.events
                })
            })
            .collect();
        let listeners: Vec<_> = (1..=LISTENERS)
            .map(|number| scope.spawn(move || listener::listen(CLIENTS + number, port, board, clock)))
            .collect();
        let mut saving = Chance::new(chance.next());
        let saver = server.connect();
        scope.spawn(move || save(saver, board, &mut saving));
        sleep(LOAD_MS, chance);
        match end {
            End::Kill => server.kill(),
            End::Stop => server.stop(),
            End::Rest => {}
        }
        let dead_ns = u64::try_from(clock.elapsed().as_nanos()).unwrap();
        board.is_over.store(true, Ordering::Relaxed);
        let all = clients.into_iter().chain(listeners);
        let events: Vec<Event> = all.flat_map(|client| client.join().unwrap()).collect();
        (events, dead_ns)
    });
    let is_lost = |event: &Event| matches!(event.end, Outcome::Lost(_));
    assert!(end != End::Rest || !events.iter().any(is_lost), "the server closed a connection: {}", server.log());
    // What was called after the server's death never began, and what was in flight had its last chance then.
    events.retain(|event| !is_lost(event) || event.called_ns <= dead_ns);
    events.iter_mut().filter(|event| is_lost(event)).for_each(|event| event.end = Outcome::Lost(dead_ns));
    events
}

/// Asks for checkpoints, and that they are loaded again, until the load is over or the server is dead.
fn save(mut client: Connection<TcpStream>, board: &Board, chance: &mut Chance) {
    while !board.is_over.load(Ordering::Relaxed) {
        let words: &[&str] = if chance.one_in(RELOADS_ONE_IN) { &["DEBUG", "RELOAD"] } else { &["BGSAVE"] };
        let [reply] = &client.calls_until_gone(&[request(words)])[..] else { return };
        let is_busy = reply.as_error().is_some_and(|text| text.contains("already in progress"));
        assert!(is_busy || reply.as_error().is_none(), "{words:?} answers {reply}");
        sleep(SAVE_MS, chance);
    }
}

fn sleep(ms: Range<u64>, chance: &mut Chance) {
    thread::sleep(Duration::from_millis(ms.start + chance.below(ms.end - ms.start)));
}

/// One client, that the server answers in full.
fn alone(
    server: &Server,
    clock: Instant,
    work: impl FnOnce(&mut Client) -> Result<(), crate::history::client::Closed>,
) -> Vec<Event> {
    let done = Client::connect(0, server.port, clock).and_then(|mut client| work(&mut client).map(|()| client.events));
    done.unwrap_or_else(|_| panic!("the server closed a connection: {}", server.log()))
}
