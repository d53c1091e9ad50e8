//! One life of a server: booted from a disk, stepped at random, until it is stopped or loses power.

use crate::client::{Client, SharedState, let_others_go_on};
use crate::executor::{Executor, Time};
use crate::ledger::Frame;
use crate::line::SORTED;
use crate::random::Random;
use crate::request::Request;
use crate::script::{KEYS, Script, Turns};
use crate::sick::Illness;
use crate::state::state;
use base::Position;
use base::limits::SHARDS;
use engine::{Engine, ExpireCycle, Indexer, SuspendedScript, Worker};
use journal::{Journal, Preallocator, Step, Syncer, Writer};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use wire::client::Value;

/// The number of clients per life.
pub(crate) const CLIENTS: usize = 5;
/// The number of workers serving them.
pub(crate) const WORKERS: usize = 2;

/// Keys whose shards are occasionally locked.
const HELD: [&str; 18] = [
    "jobs", "count", "shared:0", "shared:1", "shared:2", "shared:3", "shared:4", "big:0", "big:1", "big:2", "reg:1",
    "trio:2:b", "r0", "l0", "q0", "q3", "row:1", "row:2:a",
];

/// One life of the server.
pub(crate) struct Life {
    pub(crate) engine: Arc<Engine>,
    pub(crate) shared: Rc<SharedState>,
    pub(crate) writer: Writer,
    pub(crate) preallocator: Preallocator,
    pub(crate) syncer: Syncer,
    pub(crate) expire_cycle: ExpireCycle,
    pub(crate) indexer: Indexer,
    pub(crate) tasks: Executor,
    /// The first task that is not a worker.
    pub(crate) guests: usize,
    /// The frames found in the journal at boot, and the position from which it was read.
    pub(crate) recovered: Vec<Frame>,
    pub(crate) stored: Position,
    /// The faults of the store's files.
    pub(crate) illness: Illness,
    pub(crate) time: Time,
    pub(crate) random: Random,
    /// Reads the lengths of lists, database 0.
    pub(crate) observer: RefCell<Client>,
}

impl Life {
    pub(crate) fn journal(&self) -> &Arc<Journal> {
        self.engine.journal.as_ref().expect("worlds have a journal")
    }

    /// Starts the clients, and one that holds shards for longer than any command does.
    pub(crate) fn open(&mut self) {
        for number in 0..CLIENTS {
            self.tasks.spawn(Client::new(number, self.shared.clone()).run());
        }
        self.tasks.spawn(hold_shards(self.shared.clone(), &HELD, 20, true));
    }

    /// Starts one client that runs at most `steps_max` steps of a script, and one that holds its shards.
    pub(crate) fn open_script(&mut self, script: Script, turns: Turns, steps_max: u64) {
        self.tasks.spawn(Client::new(0, self.shared.clone()).follow(script, turns, steps_max));
        self.tasks.spawn(hold_shards(self.shared.clone(), &KEYS, 6, false));
    }

    /// Returns true if the script's client is still running.
    pub(crate) fn is_in_script(&self) -> bool {
        self.tasks.any_alive(self.guests..self.guests + 1)
    }

    /// Runs one random step.
    pub(crate) fn step(&mut self) {
        let ready = self.tasks.ready();
        match self.random.below(13) {
            // Like a worker that waits.
            0 if self.random.one_in(6) => self.writer.write_short(),
            0 if self.random.one_in(6) => {
                let next = self.journal().next();
                self.writer.sync_short(next);
            }
            0 | 1 => {
                if let Step::Rest { us, .. } = self.writer.step() {
                    self.time.pass(self.random.below(us.clamp(1, 3_000)));
                }
            }
            2 if self.random.one_in(3) => drop(self.syncer.step()),
            2 => drop(self.preallocator.step()),
            3 if self.random.one_in(8) => {
                self.expire_cycle.pass();
                self.indexer.pass();
            }
            4 => self.time.pass(self.random.below(2_000)),
            // Spurious polls are allowed at any time.
            5 if self.random.one_in(8) => self.tasks.poll(self.random.below(self.tasks.len() as u64) as usize),
            _ if ready.is_empty() => self.time.pass(1_000),
            _ => self.tasks.poll(ready[self.random.below(ready.len() as u64) as usize]),
        }
        self.shared.line.borrow_mut().look();
        if self.random.one_in(4) {
            self.look_for_lost_wakes();
        }
    }

    /// Checks, between any two steps, that nobody waits for a key that holds elements.
    fn look_for_lost_wakes(&self) {
        let keys = self.shared.line.borrow().keys();
        for waited in keys {
            let (look, key) = match waited.strip_prefix(SORTED) {
                Some(key) => ("ZCARD", key),
                None => ("LLEN", &*waited),
            };
            let length = self.ask(&Request::plain(&[look, key]));
            assert!(!matches!(length, Some(Value::Int(1..))), "somebody waits for {waited}, which has elements");
        }
    }

    /// Runs a request at once; `None` if the answer has to wait.
    pub(crate) fn ask(&self, request: &Request) -> Option<Value> {
        self.observer.borrow_mut().ask_now(request)
    }

    /// Checks that the state equals the replay of its journal, if all frames are written, no shard is locked and all
    /// values are loaded.
    pub(crate) fn check_replay(&self, twin: &Life) {
        if self.engine.loading.is_over()
            && let Some(here) = state(&self.engine.keyspace)
        {
            let there = state(&twin.engine.keyspace).expect("nobody holds a shard there");
            assert_eq!(here, there, "the state (left) is not what its journal replays to (right)");
        }
    }

    /// Lets the writer write the remaining frames, after all else has ended.
    pub(crate) fn drain(&mut self) {
        while !matches!(self.writer.step(), Step::Rest { .. } | Step::Poisoned) {}
    }
}

/// Simulates a thread that holds shard locks longer than commands do. If it `writes`, it occasionally takes the lock
/// again before all waiters, including a round of the checkpointer.
async fn hold_shards(shared: Rc<SharedState>, keys: &[&str], rest_steps_max: u64, writes: bool) {
    let (engine, random) = (shared.engine.clone(), shared.random.clone());
    let member = engine.member();
    let mut client = Client::new(CLIENTS, shared.clone());
    let wait = async |steps: u64| {
        for _ in 0..random.below(steps) {
            let_others_go_on().await;
        }
    };
    while !shared.stop.get() {
        wait(rest_steps_max).await;
        let Some(inside) = member.enter() else { continue };
        let shard_of = |key: &str| keyspace::shard_of(engine.keyspace.hash(key.as_bytes()));
        // Half the time, the shard that a round visits next.
        let next = engine.checkpoints.status().round.map_or(SHARDS, |round| round.shards_done);
        let ahead = keys.iter().filter(|key| shard_of(key) >= next).min_by_key(|key| shard_of(key));
        let any = &keys[random.below(keys.len() as u64) as usize];
        let key = ahead.filter(|_| random.one_in(2)).unwrap_or(any);
        let shard = if random.one_in(8) { random.below(SHARDS as u64) as usize } else { shard_of(key) };
        if random.one_in(2) {
            let _held = engine.keyspace.shard(shard).try_read();
            wait(12).await;
        } else {
            let _held = engine.keyspace.shard(shard).try_write();
            wait(12).await;
        }
        drop(inside);
        if writes && (key.starts_with("shared:") || key.starts_with("big:")) {
            drop(client.ask_now(&Request::plain(&["RPUSH", key, &client.token()])));
        }
    }
}

/// Creates the workers of an engine, with timers on the world's time.
pub(crate) fn workers(engine: &Arc<Engine>, time: &Time, tasks: &mut Executor) -> Vec<Rc<Worker>> {
    let worker = |index| {
        let (time, suspended) = (time.clone(), SuspendedScript::default());
        let timer = Box::new(move |ms| time.sleep(ms));
        let worker = Rc::new(Worker::new(engine.clone(), index, timer, &suspended));
        let listening = worker.clone();
        tasks.spawn(async move {
            let _owned = suspended;
            listening.listen().await;
        });
        worker
    };
    (0..WORKERS).map(worker).collect()
}
