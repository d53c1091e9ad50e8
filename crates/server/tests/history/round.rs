//! A round: a fresh server, load amid checkpoints, and kills at random instants, in one record.

use crate::client::Client;
use crate::support::{Connection, Server, request};
use crate::workload::{self, Board, Chance};
use history::{End, Event};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

const CLIENTS: u32 = 8;
/// How often a round's server is killed.
pub(crate) const KILLS: usize = 3;
/// Bounds of the time under load, from one start on.
const LOAD_MS: Range<u64> = 20..300;
/// Bounds of the time between two checkpoints that are asked for.
const SAVE_MS: Range<u64> = 2..60;

/// Plays a round. In its record the events of one client follow each other as they were called.
pub(crate) fn play(chance: &mut Chance) -> Vec<Event> {
    let clock = Instant::now();
    let board = Board::default();
    let mut server = Server::start(&["--fsync", "always", "--checkpoint-journal-size", "64kb"]);
    let mut events = Vec::new();
    for _ in 0..KILLS {
        events.extend(load(&mut server, &board, chance, clock, true));
        server.restart();
        // At once, before anything is written over.
        events.extend(alone(&server, clock, |client| workload::read_all(client, &board)));
    }
    events.extend(load(&mut server, &board, chance, clock, false));
    events.extend(alone(&server, clock, |client| workload::read_all(client, &board)));
    events.extend(alone(&server, clock, workload::pop_all));
    server.stop();
    events
}

/// All clients at once, for a while; at its end the server is killed, or the clients are told to stop.
fn load(server: &mut Server, board: &Board, chance: &mut Chance, clock: Instant, is_killed: bool) -> Vec<Event> {
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
        let mut saving = Chance::new(chance.next());
        let saver = server.connect();
        scope.spawn(move || save(saver, board, &mut saving));
        sleep(LOAD_MS, chance);
        if is_killed {
            server.kill();
        }
        let dead_ns = u64::try_from(clock.elapsed().as_nanos()).unwrap();
        board.is_over.store(true, Ordering::Relaxed);
        let events: Vec<Event> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        (events, dead_ns)
    });
    let is_lost = |event: &Event| matches!(event.end, End::Lost(_));
    assert!(is_killed || !events.iter().any(is_lost), "the server closed a connection: {}", server.log());
    // What was called after the server's death never began, and what was in flight had its last chance then.
    events.retain(|event| !is_lost(event) || event.called_ns <= dead_ns);
    events.iter_mut().filter(|event| is_lost(event)).for_each(|event| event.end = End::Lost(dead_ns));
    events
}

/// Asks for checkpoints, until the load is over or the server is dead.
fn save(mut client: Connection<TcpStream>, board: &Board, chance: &mut Chance) {
    while !board.is_over.load(Ordering::Relaxed) {
        let [reply] = &client.calls_until_gone(&[request(&["BGSAVE"])])[..] else { return };
        let is_busy = reply.as_error().is_some_and(|text| text.contains("already in progress"));
        assert!(is_busy || reply.as_error().is_none(), "BGSAVE answers {reply}");
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
    work: impl FnOnce(&mut Client) -> Result<(), crate::client::Closed>,
) -> Vec<Event> {
    let done = Client::connect(0, server.port, clock).and_then(|mut client| work(&mut client).map(|()| client.events));
    done.unwrap_or_else(|_| panic!("the server closed a connection: {}", server.log()))
}
