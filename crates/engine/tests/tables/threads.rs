//! Queries on one thread, transactions on another, and the background thread that feeds the index.

use super::twin::create;
use crate::support::{START_MS, World, read, timer};
use engine::{Indexer, Next, Session, SuspendedScript, Worker};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};
use wire::client::{Parser, Value};
use wire::{Output, OwnedRequest, Ranges};

/// Nobody waits for longer than this.
const WAIT: Duration = Duration::from_secs(60);
/// Rounds of the writer, which the queries do not reach: the disk is in memory.
const ROUNDS_MAX: usize = 20_000;

fn total(reply: &Value) -> i64 {
    let Value::Array(items) = reply else { panic!("{reply:?} is no answer") };
    let Value::Int(total) = items[0] else { panic!("{items:?} begin with no number") };
    total
}

/// Runs requests on a thread of its own.
struct Caller {
    worker: Rc<Worker>,
    session: Session,
}

struct Woken(AtomicBool, thread::Thread);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
        self.1.unpark();
    }
}

/// Runs a future to its end, beside the worker's listener.
fn wait(worker: &Worker, future: impl Future<Output = ()>) {
    let (mut listen, mut future) = (pin!(worker.listen()), pin!(future));
    let woken = Arc::new(Woken(AtomicBool::new(false), thread::current()));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        let _ = listen.as_mut().poll(&mut context);
        if future.as_mut().poll(&mut context).is_ready() {
            return;
        }
        let began = Instant::now();
        while !woken.0.swap(false, Relaxed) {
            assert!(began.elapsed() < WAIT, "a request that waits is not woken");
            thread::park_timeout(WAIT);
        }
    }
}

impl Caller {
    fn new(worker: &Rc<Worker>, engine: &engine::Engine) -> Self {
        let session = Session::new(worker.clone(), engine.clients.add("test:0", "test:1", true, START_MS));
        Self { worker: worker.clone(), session }
    }

    fn call(&mut self, line: &str) -> Value {
        let (mut input, mut output, mut ranges) = (Vec::new(), Output::new(), Ranges::new());
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        wire::resp::request(&mut input, OwnedRequest::of(&words).args());
        while !input.is_empty() {
            let turn = self.session.run_turn(&input, &mut ranges, &mut output);
            input.drain(..turn.used);
            match turn.next {
                Next::Slow(slow) => {
                    let request_bytes = slow.request_bytes();
                    wait(&self.worker, self.session.run_slowly(slow, &input, &mut output));
                    input.drain(..request_bytes);
                }
                Next::Gate => wait(&self.worker, self.session.gate_open()),
                Next::Paced(wait_ms) => wait(&self.worker, self.session.paced(wait_ms)),
                _ => {}
            }
        }
        let mut parser = Parser::new();
        parser.feed(read(output).as_bytes());
        parser.next_value().unwrap().unwrap()
    }
}

/// Calls `work` with a caller on a worker of this number, on its own thread, until `stop`.
fn work_until(engine: &Arc<engine::Engine>, index: usize, stop: &AtomicBool, mut work: impl FnMut(&mut Caller, usize)) {
    let suspended = SuspendedScript::default();
    let worker = Rc::new(Worker::new(engine.clone(), index, Box::new(timer), &suspended));
    let mut caller = Caller::new(&worker, engine);
    let mut round = 0;
    while !stop.load(Relaxed) && round < ROUNDS_MAX {
        work(&mut caller, round);
        round += 1;
    }
}

#[test]
fn threads_see_transactions_whole() {
    const KEYS: usize = 24;
    let world = World::of_workers(3, &[]);
    let (engine, stop) = (world.engine.clone(), AtomicBool::new(false));
    let paint = |caller: &mut Caller, tag: &str| {
        caller.call("MULTI");
        (0..KEYS).for_each(|at| drop(caller.call(&format!("HSET p:{at} t {tag}"))));
        assert!(matches!(caller.call("EXEC"), Value::Array(_)));
    };
    world.client().call_bytes(&create("all").iter().map(String::as_bytes).collect::<Vec<_>>());
    (0..KEYS).for_each(|at| drop(world.client().call(&format!("HSET p:{at} t red"))));
    thread::scope(|scope| {
        scope.spawn(|| work_until(&engine, 1, &stop, |caller, round| paint(caller, ["blue", "red"][round % 2])));
        scope.spawn(|| {
            let mut indexer = Indexer::new(engine.clone());
            while !stop.load(Relaxed) {
                indexer.pass();
                thread::yield_now();
            }
        });
        let ask = || {
            let done = AtomicBool::new(false);
            work_until(&engine, 2, &done, |caller, round| {
                let reply = caller.call("FT.SEARCH all @t:{red} LIMIT 0 100");
                let count = total(&reply);
                assert!(count == 0 || count == KEYS as i64, "{count} of {KEYS} rows are red");
                assert_eq!(total(&caller.call("FT.SEARCH all * LIMIT 0 0")), KEYS as i64);
                done.store(round >= 400, Relaxed);
            });
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask));
        stop.store(true, Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}
