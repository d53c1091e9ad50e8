//! A world: lives of one server over one disk, with a crash or a stop between them.

use crate::client::{Client, number, trio};
use crate::executor::{Executor, Time};
use crate::facts::Facts;
use crate::random::Random;
use base::clock::Clock;
use base::disk::FakeDisk;
use base::hash::KeyHasher;
use engine::settings::Draft;
use engine::{Engine, Expirer, Parts, Replayer, Session, Worker, policy_of};
use journal::{Maker, Opened, Options, Policy, Step, Writer};
use keyspace::Keyspace;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use wire::client::Value;

/// What goes wrong beside the crash at the end of each life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Nothing,
    /// Recovery is cut short by another crash.
    CrashInRecovery,
    /// One operation of the disk fails.
    FailedOperation,
    /// The disk is small.
    SmallDisk,
    /// The server stops in order instead of crashing.
    CleanStop,
}

/// What a world is to be.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Decides everything.
    pub seed: u64,
    /// When frames are synced.
    pub policy: Policy,
    /// What goes wrong.
    pub fault: Fault,
    /// Replies leave before they are durable: a canary, which must be caught.
    pub hasty: bool,
}

impl Plan {
    /// The plan that a seed stands for.
    pub fn of(seed: u64) -> Self {
        let policy = [Policy::Always, Policy::Always, Policy::EverySec, Policy::Never][(seed % 4) as usize];
        let faults =
            [Fault::Nothing, Fault::CrashInRecovery, Fault::FailedOperation, Fault::SmallDisk, Fault::CleanStop];
        Self { seed, policy, fault: faults[(seed / 4 % 5) as usize], hasty: false }
    }
}

const CLIENTS: usize = 5;
const WORKERS: usize = 2;
const LIVES: usize = 3;
const FOLDER: &str = "data/journal";
/// Small, so that a life crosses several.
const SEGMENT_BYTES: u64 = 16 << 10;

/// A world being run.
pub struct World {
    plan: Plan,
    random: Random,
    time: Time,
    facts: Rc<RefCell<Facts>>,
}

/// One life of the server.
struct Life {
    engine: Arc<Engine>,
    workers: Vec<Rc<Worker>>,
    writer: Writer,
    maker: Maker,
    expirer: Expirer,
    tasks: Executor,
}

impl World {
    /// Runs the world of `plan` to its end. How many replies left.
    ///
    /// # Panics
    /// If anything is there, or is not, against what clients were told.
    pub fn run(plan: Plan) -> u64 {
        let world = Self { plan, random: Random::new(plan.seed), time: Time::default(), facts: Rc::default() };
        let mut disk = FakeDisk::new();
        for _ in 0..LIVES {
            disk = world.live(disk);
        }
        disk.set_capacity(None);
        world.check(&mut world.boot(&disk).expect("a whole disk is recovered"));
        world.facts.borrow().replies
    }

    /// One life, from boot to its end. Gives the disk as it is then.
    fn live(&self, disk: FakeDisk) -> FakeDisk {
        let mut life = match self.boot(&disk) {
            Ok(life) => life,
            Err(error) => panic!("seed {}: a crashed disk is not recovered: {error}", self.plan.seed),
        };
        self.check(&mut life);
        match self.plan.fault {
            Fault::FailedOperation => disk.fail_at(disk.operations() + self.random.below(60)),
            Fault::SmallDisk => {
                let spare_bytes = 3 * SEGMENT_BYTES + self.random.below(SEGMENT_BYTES);
                disk.set_capacity(Some(disk.used_bytes() + spare_bytes));
            }
            _ => {}
        }
        let stop = Rc::new(Cell::new(false));
        let first = life.tasks.len();
        for number in 0..CLIENTS {
            let client = self.client(&life, number, stop.clone());
            life.tasks.spawn(client.run());
        }
        let steps = 100 + self.random.below(1500);
        for _ in 0..steps {
            self.step(&mut life);
        }
        if self.plan.fault == Fault::CleanStop {
            return self.stop(life, first, &stop, disk);
        }
        drop(life);
        disk.set_capacity(None);
        let seed = self.random.next();
        let crashed = disk.crash(seed);
        if self.plan.fault == Fault::CrashInRecovery {
            crashed.halt_at(self.random.below(25));
            drop(self.boot(&crashed));
            return crashed.crash(self.random.next());
        }
        crashed
    }

    /// Lets the clients end and stops the writer in order: then nothing may be lost, whatever the policy.
    fn stop(&self, mut life: Life, first: usize, stop: &Cell<bool>, disk: FakeDisk) -> FakeDisk {
        stop.set(true);
        let mut steps = 0;
        while life.tasks.any_alive(first..life.tasks.len()) {
            self.step(&mut life);
            steps += 1;
            assert!(steps < 200_000, "seed {}: a client waits for ever", self.plan.seed);
        }
        let Life { writer, tasks, expirer, .. } = life;
        drop((tasks, expirer));
        writer.stop().unwrap_or_else(|why| panic!("seed {}: no clean stop: {why}", self.plan.seed));
        disk.crash(self.random.next())
    }

    fn boot(&self, disk: &FakeDisk) -> Result<Life, String> {
        let wall = self.time.wall();
        let mut settings = Draft::new();
        let fsync = ["always", "everysec", "never"][self.plan.policy as usize];
        let row = engine::settings::find("fsync").expect("fsync is a row");
        settings.put_flag(row, fsync).map_err(|mistake| mistake.to_string())?;
        let settings = Arc::new(settings.finish());
        let mut options = Options::new(policy_of(settings.current().fsync), wall());
        options.segment_bytes = SEGMENT_BYTES;
        options.elapsed_us = self.time.elapsed_us();
        options.drawn = [self.drawn(), self.drawn()];
        let prepared =
            journal::prepare(Arc::new(disk.clone()), Path::new(FOLDER), options).map_err(|error| error.to_string())?;
        let hasher = KeyHasher::new(prepared.identity.hash_key);
        let keyspace = Keyspace::new(hasher, 16);
        let opened = prepared.open(&mut Replayer(&keyspace)).map_err(|error| error.to_string())?;
        let Opened { journal, mut writer, maker, recovery, .. } = opened;
        let clock = Clock::new(wall, recovery.last_time_ms).map_err(|ahead_ms| format!("{ahead_ms} ms ahead"))?;
        let time = clock.clone();
        writer.set_clock(move || time.now());
        let parts = Parts { hasher, clock, settings, workers: WORKERS };
        let engine = Engine::new(parts, keyspace, Some((journal, recovery)));
        let workers: Vec<Rc<Worker>> = (0..WORKERS).map(|index| Rc::new(self.worker(&engine, index))).collect();
        let mut tasks = Executor::default();
        for worker in &workers {
            let worker = worker.clone();
            tasks.spawn(async move { worker.listen().await });
        }
        let expirer = Expirer::new(engine.clone());
        Ok(Life { engine, workers, writer, maker, expirer, tasks })
    }

    fn drawn(&self) -> [u8; 16] {
        let mut drawn = [0; 16];
        drawn[..8].copy_from_slice(&self.random.next().to_le_bytes());
        drawn[8..].copy_from_slice(&self.random.next().to_le_bytes());
        drawn
    }

    fn worker(&self, engine: &Arc<Engine>, index: usize) -> Worker {
        let time = self.time.clone();
        Worker::new(engine.clone(), index, Box::new(move |ms| time.sleep(ms)))
    }

    fn client(&self, life: &Life, number: usize, stop: Rc<Cell<bool>>) -> Client {
        let shown = life.engine.clients.add("sim:1", "sim:0", true, 0);
        Client {
            number,
            clients: CLIENTS,
            session: Session::new(life.workers[number % WORKERS].clone(), shown),
            facts: self.facts.clone(),
            random: self.random.clone(),
            stop,
            hasty: self.plan.hasty,
        }
    }

    /// Something goes on.
    fn step(&self, life: &mut Life) {
        let ready = life.tasks.ready();
        match self.random.below(12) {
            0 | 1 => {
                if let Step::Rest { us, .. } = life.writer.step() {
                    self.time.pass(self.random.below(us.clamp(1, 3_000)));
                }
            }
            2 => drop(life.maker.step()),
            3 if self.random.one_in(8) => drop(life.expirer.pass()),
            4 => self.time.pass(self.random.below(2_000)),
            _ if ready.is_empty() => self.time.pass(1_000),
            _ => life.tasks.poll(ready[self.random.below(ready.len() as u64) as usize]),
        }
    }

    /// Compares what is there with what clients were told, and takes it for the truth from here on.
    fn check(&self, life: &mut Life) {
        let stop = Rc::new(Cell::new(false));
        let mut reader = self.client(life, 0, stop);
        reader.hasty = true;
        let keeps_told = self.plan.policy == Policy::Always || self.plan.fault == Fault::CleanStop;
        let seed = self.plan.seed;
        let told = |facts: &Facts, key: &str| facts.rising.get(key).copied().unwrap_or_default();
        let judge = |key: &str, value: u64| {
            let mut facts = self.facts.borrow_mut();
            let known = told(&facts, key);
            assert!(value <= known.sent, "seed {seed}: {key} is {value}, {} was the last sent", known.sent);
            assert!(
                !keeps_told || value >= known.told,
                "seed {seed}: {key} is {value}, a client was told {}",
                known.told
            );
            facts.settle(key, value);
        };
        for client in 0..CLIENTS {
            let key = format!("reg:{client}");
            judge(&key, number(&ask(&mut reader, &["GET", &key])).unwrap_or(0));
            let key = format!("list:{client}");
            judge(&key, self.rising_list(&mut reader, &key));
            let values = trio(client).map(|key| number(&ask(&mut reader, &["GET", &key])).unwrap_or(0));
            assert!(values.iter().all(|value| *value == values[0]), "seed {seed}: half a MULTI is there: {values:?}");
            judge(&format!("trio:{client}"), values[0]);
            let key = format!("fleeting:{client}");
            let gone = self.facts.borrow().gone.get(&key) == Some(&true);
            let there = ask(&mut reader, &["GET", &key]) != Value::Null;
            assert!(!(keeps_told && gone && there), "seed {seed}: {key} has come back after it was told to be gone");
        }
        self.check_queue(&mut reader, keeps_told);
    }

    /// The items of a list are numbered upward; numbers of pushes that failed may be missing. Its length.
    fn rising_list(&self, reader: &mut Client, key: &str) -> u64 {
        let Value::Array(items) = ask(reader, &["LRANGE", key, "0", "-1"]) else { panic!("LRANGE replies an array") };
        let numbers: Vec<u64> = items.iter().filter_map(number).collect();
        assert_eq!(numbers.len(), items.len());
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "seed {}: {key} is {numbers:?}", self.plan.seed);
        items.len() as u64
    }

    fn check_queue(&self, reader: &mut Client, keeps_told: bool) {
        let seed = self.plan.seed;
        let mut places: std::collections::HashMap<u64, Vec<Option<usize>>> = Default::default();
        for place in std::iter::once(None).chain((0..CLIENTS).map(Some)) {
            let key = place.map_or("jobs".to_owned(), |client| format!("done:{client}"));
            let Value::Array(items) = ask(reader, &["LRANGE", &key, "0", "-1"]) else {
                panic!("LRANGE replies an array")
            };
            for element in items.iter().filter_map(number) {
                places.entry(element).or_default().push(place);
            }
        }
        let mut facts = self.facts.borrow_mut();
        for (element, known) in &mut facts.elements {
            let there = places.get(element).map_or(&[][..], |places| places);
            assert!(there.len() < 2, "seed {seed}: element {element} is in {there:?}");
            if keeps_told {
                assert!(!known.pushed || there.len() == 1, "seed {seed}: element {element} is lost");
                assert!(
                    known.moved_to.is_none() || there == [known.moved_to],
                    "seed {seed}: element {element} is in {there:?}"
                );
            }
            known.pushed = there.len() == 1;
            known.moved_to = there.first().copied().flatten();
        }
    }
}

/// Calls with nobody else about: the request runs at once.
fn ask(reader: &mut Client, request: &[&str]) -> Value {
    let mut call = std::pin::pin!(reader.call(request));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match call.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a read with nobody else about waits"),
    }
}
