//! Measures the cost of a request in the server without sockets: whole turns of a session, in this process.
//!
//! `cargo bench -p benches --bench turn [-- FILTER]` prints nanoseconds a request for pipelines of 64, and LRANGE of 100
//! items of one list by one and by two threads at once (requests a second, and their ratio). A filter that is the name
//! of a workload selects that workload only.
//!
//! With `BOBBIN_BATCHES=count` each workload runs once: `count` batches to warm up, then `count` more. The difference
//! in instructions between two such runs comes from their requests alone; `scripts/instructions` uses it.

use base::clock::{Clock, system_wall_time};
use base::hash::KeyHasher;
use engine::event_loop::Sleep;
use engine::settings::Draft;
use engine::{Engine, Loading, Next, Parts, Session, SuspendedScript, Worker};
use keyspace::Keyspace;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use wire::{Output, OwnedRequest, Ranges};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PIPELINE: usize = 64;
const KEYS: usize = 100_000;
/// From one request's key to the next.
const KEY_STEP: usize = 2_654_435_761;
const TURNS: usize = 5;
const BATCHES: usize = 8_000;
/// Different batches; they are sent again and again.
const BATCHES_MADE: usize = 1_600;
/// Items of the lists that are read.
const ITEMS: usize = 100_000;

/// Batches a measurement, if it is instructions that are counted.
fn batches_counted() -> Option<usize> {
    std::env::var("BOBBIN_BATCHES").ok().and_then(|count| count.parse().ok())
}

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let (turns, batches) = batches_counted().map_or((TURNS, BATCHES), |batches| (1, batches));
    let is_one = WORKLOADS.iter().any(|workload| workload.name == filter);
    for workload in WORKLOADS.iter().filter(|it| if is_one { it.name == filter } else { it.name.contains(&filter) }) {
        let requests = keyed(&workload.request);
        let mut nanos: Vec<f64> = (0..turns).map(|_| run_alone(workload, &requests, batches)).collect();
        nanos.sort_by(f64::total_cmp);
        let (name, median, best) = (workload.name, nanos[turns / 2], nanos[0]);
        println!("{name:24} {median:8.1} ns a request (median of {turns}; best {best:.1})");
    }
    if "threads".contains(&filter) {
        run_threads();
    }
}

fn engine() -> Arc<Engine> {
    let hasher = KeyHasher::random();
    let clock = Clock::new(system_wall_time(), 0).expect("no last frame");
    let parts = Parts { hasher, clock, settings: Arc::new(Draft::new().finish()), workers: 2 };
    Engine::new(parts, Keyspace::new(hasher, 16), Loading::nothing(), None)
}

fn session(engine: &Arc<Engine>, index: usize) -> Session {
    let timer = Box::new(|_| -> Sleep { Box::pin(std::future::pending()) });
    let worker = Worker::new(engine.clone(), index, timer, &SuspendedScript::default());
    let client = engine.clients.add("bench:0", "bench:1", true, 0);
    Session::new(Rc::new(worker), client)
}

fn encode(requests: &[Vec<String>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for request in requests {
        wire::resp::request(&mut bytes, OwnedRequest::of(request).args());
    }
    bytes
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Batches of a pipeline each, over all keys in an order without pattern.
fn keyed(request: &MakeRequest) -> Vec<Vec<u8>> {
    let key = |at: usize| at.wrapping_mul(KEY_STEP) % KEYS;
    let batch = |batch: usize| (0..PIPELINE).map(|at| words(&request(key(batch * PIPELINE + at)))).collect::<Vec<_>>();
    (0..BATCHES_MADE).map(|index| encode(&batch(index))).collect()
}

/// Makes the request for a key.
type MakeRequest = fn(usize) -> String;

/// A measured workload.
struct Workload {
    name: &'static str,
    /// Puts there what the requests need besides the keys.
    prepare: fn(&mut Session),
    request: MakeRequest,
}

const fn plain(name: &'static str, request: MakeRequest) -> Workload {
    Workload { name, prepare: |_| (), request }
}

const WORKLOADS: &[Workload] = &[
    plain("ping", |_| "PING".to_owned()),
    plain("set", |key| format!("SET key:{key:012} xxx")),
    plain("get", |key| format!("GET key:{key:012}")),
    plain("incr", |key| format!("INCR counter:{key:012}")),
    plain("mget_10", |key| {
        (0..10).fold("MGET".to_owned(), |text, at| text + &format!(" key:{:012}", (key + at) % KEYS))
    }),
    plain("expire", |key| format!("EXPIRE key:{key:012} {}", 1_000_000 + key)),
    // Even and odd keys come in turns: what was deleted is set by the next request.
    plain("del_set", |key| {
        let last = (key + KEYS - KEY_STEP % KEYS) % KEYS;
        if key % 2 == 0 { format!("DEL key:{key:012}") } else { format!("SET key:{last:012} xxx") }
    }),
    plain("lpush", |_| "LPUSH mylist xxx".to_owned()),
    Workload {
        name: "lpop",
        // Enough for every batch there is.
        prepare: |session| push(session, "mylist", 2 * BATCHES * PIPELINE, |_| "xxx".to_owned()),
        request: |_| "LPOP mylist".to_owned(),
    },
    plain("push_pop", |key| if key % 2 == 0 { "LPUSH queue xxx".to_owned() } else { "LPOP queue".to_owned() }),
    // Letters that no codec makes shorter, so the blocks stay as they were written.
    Workload {
        name: "lrange_100_raw",
        prepare: |session| push(session, "items", ITEMS, |at| mixed(at, |byte| char::from(0x21 + byte % 94))),
        request: range_of_100,
    },
    Workload {
        name: "lrange_100_digits",
        prepare: |session| push(session, "items", ITEMS, |at| mixed(at, |byte| char::from(b'0' + byte % 10))),
        request: range_of_100,
    },
    Workload { name: "hset_of_100k", prepare: fill_hash, request: |key| format!("HSET hash f:{key:012} {key:05}") },
    Workload { name: "hincrby_of_100k", prepare: fill_hash, request: |key| format!("HINCRBY hash f:{key:012} 1") },
    Workload {
        name: "sadd_of_100k",
        prepare: |session| fill(session, "SADD set", |at| format!("m:{at:012}")),
        request: |key| format!("SADD set m:{key:012}"),
    },
    // About half of them change something.
    Workload {
        name: "sadd_srem_of_100k",
        prepare: |session| fill(session, "SADD set", |at| format!("m:{at:012}")),
        request: |key| format!("{} set m:{:012}", if key % 2 == 0 { "SREM" } else { "SADD" }, element(key / 2)),
    },
    Workload {
        name: "zadd_of_100k",
        prepare: fill_zone,
        request: |key| format!("ZADD zone {key:012} m:{:012}", element(key)),
    },
    Workload { name: "zincrby_of_100k", prepare: fill_zone, request: |key| format!("ZINCRBY zone 1 m:{key:012}") },
    Workload {
        name: "zpopmin_of_200k",
        prepare: |session| {
            fill_zone(session);
            fill(session, "ZADD zone", |at| format!("{:012} n:{at:012}", at * 11 % ITEMS));
        },
        request: |_| "ZPOPMIN zone".to_owned(),
    },
];

/// One of five thousand elements out of [`ITEMS`], so that each is changed several times in a pass over the requests.
fn element(key: usize) -> usize {
    key % 5_000 * (ITEMS / 5_000)
}

/// Adds [`ITEMS`] elements to one key by requests of a hundred.
fn fill(session: &mut Session, command: &str, element: fn(usize) -> String) {
    for from in (0..ITEMS).step_by(100) {
        let elements: Vec<String> = (from..from + 100).map(element).collect();
        run(session, &[encode(&[words(&format!("{command} {}", elements.join(" ")))])], 1);
    }
}

fn fill_hash(session: &mut Session) {
    fill(session, "HSET hash", |at| format!("f:{at:012} {at}"));
}

fn fill_zone(session: &mut Session) {
    fill(session, "ZADD zone", |at| format!("{:012} m:{at:012}", at * 7 % ITEMS));
}

fn range_of_100(key: usize) -> String {
    let start = key % (ITEMS - 100);
    format!("LRANGE items {start} {}", start + 99)
}

/// Twelve signs without pattern.
fn mixed(at: usize, sign: fn(u8) -> char) -> String {
    let number = (at as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C834);
    let number = (number ^ (number >> 64)).wrapping_mul(0xD6E8_FEB8_6659_FD93_A5A3_5625_2B1F_4C6D);
    number.to_be_bytes()[..12].iter().map(|byte| sign(*byte)).collect()
}

/// Fills a list, oldest item first.
fn push(session: &mut Session, list: &str, count: usize, item: fn(usize) -> String) {
    for from in (0..count).step_by(100) {
        let mut request = vec!["RPUSH".to_owned(), list.to_owned()];
        request.extend((from..count.min(from + 100)).map(item));
        run(session, &[encode(&[request])], 1);
    }
}

/// Sends batches until their number is reached; replies are thrown away.
fn run(session: &mut Session, batches: &[Vec<u8>], count: usize) {
    let (mut ranges, mut output) = (Ranges::new(), Output::new());
    for input in batches.iter().cycle().take(count) {
        let mut used = 0;
        while used < input.len() {
            let turn = session.run_turn(&input[used..], &mut ranges, &mut output);
            used += turn.used;
            assert!(
                !matches!(turn.next, Next::Slow(_) | Next::Close | Next::Http),
                "a request of a bench runs at once"
            );
            while !output.is_empty() {
                output.fill();
                let ready = output.front().map_or(0, <[u8]>::len);
                output.consume(ready);
            }
        }
    }
}

fn run_alone(workload: &Workload, requests: &[Vec<u8>], batches: usize) -> f64 {
    let engine = engine();
    let mut session = session(&engine, 0);
    let keys: Vec<_> = (0..KEYS).map(|key| words(&format!("SET key:{key:012} xxx"))).collect();
    keys.chunks(PIPELINE).for_each(|keys| run(&mut session, &[encode(keys)], 1));
    (workload.prepare)(&mut session);
    run(&mut session, requests, requests.len().min(batches));
    let began = Instant::now();
    run(&mut session, requests, batches);
    began.elapsed().as_nanos() as f64 / (batches * PIPELINE) as f64
}

fn run_threads() {
    let engine = engine();
    let item = |at: usize| format!("{at:012}");
    let load: Vec<Vec<String>> = (0..10_000).map(|at| vec!["RPUSH".into(), "list".into(), item(at)]).collect();
    run(&mut session(&engine, 0), &[encode(&load)], 1);
    let reads: Vec<Vec<String>> =
        (0..PIPELINE).map(|at| words(&format!("LRANGE list {} {}", at * 100, at * 100 + 99))).collect();
    let reads = [encode(&reads)];
    let batches = batches_counted().unwrap_or(BATCHES);
    let rate = |threads: usize| {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for index in 0..threads {
                let (engine, reads) = (&engine, &reads);
                scope.spawn(move || run(&mut session(engine, index), reads, batches));
            }
        });
        (threads * batches * PIPELINE) as f64 / began.elapsed().as_secs_f64()
    };
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        let (one, two) = (rate(1), rate(2));
        println!("LRANGE 100 of one list: {one:.0}/s by one thread, {two:.0}/s by two, ratio {:.2}", two / one);
        ratios.push(two / one);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[TURNS / 2]);
}
