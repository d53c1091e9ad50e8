//! What a request costs in the server without sockets: whole turns of a session, in this process.
//!
//! `cargo bench -p engine --bench turn [-- FILTER]` prints nanoseconds a request for pipelines of 64, and LRANGE of 100
//! items of one list by one and by two threads at once (requests a second, and their ratio).

use base::clock::{Clock, system_wall_time};
use base::hash::KeyHasher;
use engine::settings::Draft;
use engine::{Engine, Next, Parts, Session, Worker};
use keyspace::Keyspace;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use wire::{Output, OwnedRequest, Ranges};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PIPELINE: usize = 64;
const KEYS: usize = 100_000;
const TURNS: usize = 5;
/// Batches a measurement; fewer, by BOBBIN_BATCHES, to count instructions.
fn batches_count() -> usize {
    std::env::var("BOBBIN_BATCHES").ok().and_then(|count| count.parse().ok()).unwrap_or(8_000)
}

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (name, requests) in WORKLOADS {
        if name.contains(&filter) {
            let requests = keyed(requests);
            let mut nanos: Vec<f64> = (0..TURNS).map(|_| run_alone(&requests)).collect();
            nanos.sort_by(f64::total_cmp);
            println!("{name:24} {:8.1} ns a request (median of {TURNS}; best {:.1})", nanos[TURNS / 2], nanos[0]);
        }
    }
    if "threads".contains(&filter) {
        run_threads();
    }
}

fn engine() -> Arc<Engine> {
    let hasher = KeyHasher::random();
    let clock = Clock::new(system_wall_time(), 0).expect("no last frame");
    let parts = Parts { hasher, clock, settings: Arc::new(Draft::new().finish()), workers: 2 };
    Engine::new(parts, Keyspace::new(hasher, 16), None)
}

fn session(engine: &Arc<Engine>, index: usize) -> Session {
    let worker = Worker::new(engine.clone(), index, Box::new(|_| Box::pin(std::future::pending())));
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
    let key = |at: usize| at.wrapping_mul(2_654_435_761) % KEYS;
    let batches =
        (0..1_600).map(|batch| (0..PIPELINE).map(|at| words(&request(key(batch * PIPELINE + at)))).collect::<Vec<_>>());
    batches.map(|batch| encode(&batch)).collect()
}

/// Makes the request for a key.
type MakeRequest = fn(usize) -> String;

/// What is measured, by name.
const WORKLOADS: &[(&str, MakeRequest)] = &[
    ("ping", |_| "PING".to_owned()),
    ("set", |key| format!("SET key:{key:012} xxx")),
    ("get", |key| format!("GET key:{key:012}")),
    ("incr", |key| format!("INCR counter:{key:012}")),
    ("lpush", |_| "LPUSH mylist xxx".to_owned()),
    ("push_pop", |key| if key % 2 == 0 { "LPUSH queue xxx".to_owned() } else { "LPOP queue".to_owned() }),
];

/// Sends batches until their number is reached; replies are thrown away.
fn run(session: &mut Session, batches: &[Vec<u8>], count: usize) {
    let (mut ranges, mut output) = (Ranges::new(), Output::new());
    for input in batches.iter().cycle().take(count) {
        let mut used = 0;
        while used < input.len() {
            let turn = session.run_turn(&input[used..], &mut ranges, &mut output);
            used += turn.used;
            assert!(!matches!(turn.next, Next::Slow(_) | Next::Close), "a request of a bench runs at once");
            while !output.is_empty() {
                output.fill();
                let ready = output.front().map_or(0, <[u8]>::len);
                output.consume(ready);
            }
        }
    }
}

fn run_alone(batches: &[Vec<u8>]) -> f64 {
    let engine = engine();
    let mut session = session(&engine, 0);
    let keys: Vec<_> = (0..KEYS).map(|key| words(&format!("SET key:{key:012} xxx"))).collect();
    keys.chunks(PIPELINE).for_each(|keys| run(&mut session, &[encode(keys)], 1));
    run(&mut session, batches, batches.len().min(batches_count()));
    let began = Instant::now();
    run(&mut session, batches, batches_count());
    began.elapsed().as_nanos() as f64 / (batches_count() * PIPELINE) as f64
}

fn run_threads() {
    let engine = engine();
    let item = |at: usize| format!("{at:012}");
    let load: Vec<Vec<String>> = (0..10_000).map(|at| vec!["RPUSH".into(), "list".into(), item(at)]).collect();
    run(&mut session(&engine, 0), &[encode(&load)], 1);
    let reads: Vec<Vec<String>> =
        (0..PIPELINE).map(|at| words(&format!("LRANGE list {} {}", at * 100, at * 100 + 99))).collect();
    let reads = [encode(&reads)];
    let rate = |threads: usize| {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for index in 0..threads {
                let (engine, reads) = (&engine, &reads);
                scope.spawn(move || run(&mut session(engine, index), reads, batches_count()));
            }
        });
        (threads * batches_count() * PIPELINE) as f64 / began.elapsed().as_secs_f64()
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
