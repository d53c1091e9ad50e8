//! Counts the cache lines that two workers share in a request, in the counting build alone (`make shared-lines`).
//!
//! Two workers run the same command, each on a key of its own; the keys lie in neighbouring shards, so that shards that
//! share a line are found too. A line counts if one worker writes it and the other reads or writes it: on many cores it
//! would move from one core to the other for each such request.

use crate::support::World;
use base::clock::{Clock, system_wall_time};
use base::hash::KeyHasher;
use base::primitives::{Lines, record};
use engine::event_loop::Sleep;
use engine::settings::Draft;
use engine::{Engine, Loading, Next, Parts, Session, SuspendedScript, Worker};
use keyspace::{Keyspace, shard_of};
use std::collections::BTreeSet;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use wire::{Output, OwnedRequest, Ranges};

/// Commands of the fast path: what is done first, and the request that is counted; `KEY` stands for a worker's key.
const REQUESTS: &[(&str, &str)] = &[
    ("PING", "PING"),
    ("SET KEY value", "GET KEY"),
    ("SET KEY value", "SET KEY other"),
    ("SET KEY 1", "INCR KEY"),
    ("SET KEY value", "EXPIRE KEY 1000"),
    ("SET KEY value", "DEL KEY"),
    ("RPUSH KEY one", "LPUSH KEY two"),
    ("RPUSH KEY one two three", "LPOP KEY"),
    ("RPUSH KEY one two three", "LRANGE KEY 0 1"),
    ("HSET KEY field value", "HSET KEY field other"),
    ("HSET KEY field value", "HGET KEY field"),
    ("SADD KEY one", "SADD KEY two"),
    ("ZADD KEY 1 one", "ZADD KEY 2 one"),
];
/// Requests before the one that is counted, so that buffers and clocks are as in a server that has run for a while.
const WARM_UP: usize = 8;

/// Times that a request is tried until it runs at once.
const TRIES: usize = 100;

/// A worker's only connection.
struct Side {
    session: Session,
    ranges: Ranges,
    output: Output,
}

impl Side {
    fn of(session: Session) -> Self {
        Self { session, ranges: Ranges::new(), output: Output::new() }
    }

    /// Runs a request; returns the lines that its first turn has touched, and whether it ran in that turn.
    fn run(&mut self, line: &str) -> (Lines, bool) {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut input = Vec::new();
        wire::resp::request(&mut input, OwnedRequest::of(&words).args());
        let (turn, lines) = record(|| self.session.run_turn(&input, &mut self.ranges, &mut self.output));
        let is_at_once = turn.used == input.len() && matches!(turn.next, Next::Input(_));
        if let Next::Slow(slow) = turn.next {
            let mut run = pin!(self.session.run_slowly(slow, &input, &mut self.output));
            while run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                std::thread::yield_now();
            }
        }
        while !self.output.is_empty() {
            self.output.fill();
            let ready = self.output.front().map_or(0, |bytes| {
                assert!(!bytes.starts_with(b"-"), "{line}: {}", String::from_utf8_lossy(bytes));
                bytes.len()
            });
            self.output.consume(ready);
        }
        (lines, is_at_once)
    }

    /// Runs a request after what it needs.
    fn run_warm(&mut self, (before, request): (&str, &str), key: &str) -> Lines {
        let (before, request) = (before.replace("KEY", key), request.replace("KEY", key));
        for _ in 0..WARM_UP {
            self.run(&before);
            self.run(&request);
        }
        // With a journal, it may have to wait for room.
        let lines = (0..TRIES).find_map(|_| {
            self.run(&before);
            let (lines, is_at_once) = self.run(&request);
            is_at_once.then_some(lines)
        });
        self.run(&format!("DEL {key}"));
        lines.expect("it runs at once most of the time")
    }
}

/// Two keys whose shards are neighbours.
fn neighbours(keyspace: &Keyspace) -> [String; 2] {
    let shard = |key: &str| shard_of(keyspace.hash(key.as_bytes()));
    let one = "one".to_owned();
    let other = (0..).map(|nth| format!("other:{nth}")).find(|key| shard(key) == shard(&one) ^ 1);
    [one, other.expect("there are more keys than shards")]
}

/// Returns the places at which a request writes a line that the other worker touches.
fn shared(sides: &mut [Side; 2], request: (&str, &str), keys: [&str; 2]) -> BTreeSet<String> {
    let [one, other] = sides;
    let of_one = one.run_warm(request, keys[0]);
    let of_other = other.run_warm(request, keys[1]);
    let places = [of_one.written_and_touched_by(&of_other), of_other.written_and_touched_by(&of_one)].concat();
    let places: BTreeSet<String> = places.iter().map(|place| format!("{}:{}", place.file(), place.line())).collect();
    let ((read, _), (_, written)) = (of_one.counts(), of_one.counts());
    println!("{:24} reads {read:3} lines, writes {written:3}, shared {}: {places:?}", request.1, places.len());
    places
}

fn without_journal() -> (Arc<Engine>, [Side; 2]) {
    let hasher = KeyHasher::random();
    let clock = Clock::new(system_wall_time(), 0).expect("no last frame");
    let parts = Parts { hasher, clock, settings: Arc::new(Draft::new().finish()), workers: 2 };
    let engine = Engine::new(parts, Keyspace::new(hasher, 16), Loading::nothing(), None);
    let side = |index| {
        let timer = Box::new(|_| -> Sleep { Box::pin(std::future::pending()) });
        let worker = Worker::new(engine.clone(), index, timer, &SuspendedScript::default());
        Side::of(Session::new(Rc::new(worker), engine.clients.add("test:0", "test:1", true, 0)))
    };
    let sides = [0, 1].map(side);
    (engine, sides)
}

#[test]
fn requests_for_different_keys_write_no_line_of_another_worker() {
    let (engine, mut sides) = without_journal();
    let [one, other] = neighbours(&engine.keyspace);
    let faults: Vec<_> = REQUESTS
        .iter()
        .map(|request| (request.1, shared(&mut sides, *request, [&one, &other])))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn requests_for_one_key_write_the_word_of_its_lock_alone() {
    let (_, mut sides) = without_journal();
    let faults: Vec<_> = [("SET KEY value", "GET KEY"), ("SET KEY value", "SET KEY other")]
        .iter()
        .map(|request| (request.1, shared(&mut sides, *request, ["same", "same"])))
        .filter(|(_, places)| places.len() != 1 || !places.iter().all(|place| place.contains("sync/src/lock.rs")))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn with_a_journal_writes_share_its_position_alone() {
    // A world for each, since nobody writes what its workers hand over.
    let of_world = |request: &(&'static str, &'static str)| {
        let world = World::of_workers(2, &[]);
        let mut sides = [0, 1].map(|index| Side::of(world.client_of(index).session));
        let [one, other] = neighbours(&world.engine.keyspace);
        (request.1, shared(&mut sides, *request, [&one, &other]))
    };
    let faults: Vec<_> = REQUESTS
        .iter()
        .map(of_world)
        .filter(|(_, places)| places.len() > 1 || !places.iter().all(|place| place.contains("journal/src/journal.rs")))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
