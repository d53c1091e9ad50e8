//! The script runner of a worker: it runs scripts one at a time, each in slices.
//!
//! A running script holds its session, which holds the worker. The worker therefore owns a script only while it has
//! nothing on its stack; a suspended one is owned by [`SuspendedScript`], beside the worker. Whoever ends a worker lets
//! its script end first ([`Worker::scripts_ended`]): a suspended fiber that is dropped is leaked with all that it holds.

use super::libraries::Libraries;
use super::{Control, Memo};
use crate::session::retry_state::RetryState;
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::worker::Worker;
use base::instant::Instant;
use base::limits::BULK_BYTES_MAX;
use commands::registry::Command;
use lua::{About, Input, Machine};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use sync::fiber::{Fiber, Pause};
use wire::resp::REQUEST_BYTES_MAX;
use wire::{Output, Words};

/// Stack size for the engine's own code beneath a script; only touched pages take memory.
const STACK_BYTES: usize = 8 << 20;
/// Microseconds that a script runs before others have their turn.
const SLICE_US: u128 = 1_500;

/// A request on the script runner, with all that it needs, and its result.
pub(crate) struct ScriptJob {
    pub(crate) command: Command,
    pub(crate) request: Words,
    pub(crate) needs: RetryState,
    pub(crate) gated: bool,
    pub(crate) control: Arc<Control>,
    pub(crate) output: Output,
    pub(crate) result: Result<(), Suspend>,
    pub(crate) began: Instant,
    /// Its run time, if it was suspended.
    pub(crate) took: Duration,
}

/// A job run by the script runner.
pub(crate) struct Scripted<'a> {
    pub(crate) yielder: Rc<Yielder>,
    pub(crate) command: Command,
    pub(crate) needs: &'a RetryState,
    pub(crate) gated: bool,
}

/// Receives the outcome of a script that outlived its first slice.
#[derive(Default)]
pub(crate) struct ScriptTicket {
    outcome: RefCell<Option<Ended>>,
    waker: RefCell<Option<Waker>>,
}

impl ScriptTicket {
    /// Waits for the end of the script. If dropped, the script continues all the same.
    pub(crate) async fn outcome(&self) -> Ended {
        poll_fn(|context| match self.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                self.waker.replace(Some(context.waker().clone()));
                Poll::Pending
            }
        })
        .await
    }
}

/// The session of a request that has ended on the script runner, and the job with its result.
pub(crate) type Ended = (Box<Session>, Box<ScriptJob>);

/// Progress of a job in its first slice.
pub(crate) enum Begun {
    /// It completed.
    Over(Ended),
    /// It was suspended.
    Rests(Rc<ScriptTicket>),
}

enum Ask {
    /// The slice has ended.
    Rest,
    /// It waits for others to leave the gate.
    Wait,
    Over(Ended),
}

enum Resume {
    Begin(Box<Session>, Box<ScriptJob>),
    Go,
}

/// Lets a running script yield to others.
pub(crate) struct Yielder {
    pause: Pause<Resume, Ask>,
    slice_began: Cell<Instant>,
    control: Arc<Control>,
}

impl Yielder {
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Suspends the script if the slice has ended by `now`, having published what runs.
    #[inline]
    pub(crate) fn yield_if_due(&self, now: Instant, publish: impl FnOnce(&Control)) {
        if (now - self.slice_began.get()).as_micros() > SLICE_US {
            publish(&self.control);
            self.rest(Ask::Rest);
        }
    }

    /// Suspends the script, however short the slice was.
    pub(crate) fn rest_now(&self) {
        self.rest(Ask::Rest);
    }

    /// Suspends the script until others have had their turn.
    pub(crate) fn wait(&self) {
        self.rest(Ask::Wait);
    }

    fn rest(&self, ask: Ask) {
        self.pause.rest(ask);
        self.slice_began.set(Instant::now());
    }
}

struct CurrentScript {
    ticket: Rc<ScriptTicket>,
    control: Arc<Control>,
    began: Instant,
    waits: bool,
}

type ScriptFiber = Fiber<Resume, Ask>;

/// The owner of a worker's suspended script, if there is one. Whoever runs the worker keeps it.
#[derive(Default)]
pub struct SuspendedScript {
    fiber: Rc<RefCell<Option<ScriptFiber>>>,
}

/// One worker's script runner.
pub(crate) struct ScriptRunner {
    machine: RefCell<Option<Machine>>,
    generation: Cell<u64>,
    /// The libraries in the machine.
    pub(crate) libraries: RefCell<Libraries>,
    /// Made, and running no script.
    idle_fiber: RefCell<Option<ScriptFiber>>,
    suspended_fiber: Weak<RefCell<Option<ScriptFiber>>>,
    /// The suspended script.
    current: RefCell<Option<CurrentScript>>,
    /// Waiters for the script runner, and the driver.
    waiting: RefCell<Vec<Waker>>,
    driver: RefCell<Option<Waker>>,
    pub(crate) memo: RefCell<Memo>,
    /// Reusable memory of requests and replies that have left the script runner.
    spare: RefCell<(Words, Vec<u8>)>,
    /// Waiters to be notified when a script is busy.
    impatient: RefCell<BTreeMap<u64, Waker>>,
    next_impatient: Cell<u64>,
}

impl ScriptRunner {
    /// Creates the runner whose suspended script `suspended` owns.
    pub(crate) fn new(suspended: &SuspendedScript) -> Self {
        Self {
            machine: RefCell::default(),
            generation: Cell::default(),
            libraries: RefCell::default(),
            idle_fiber: RefCell::default(),
            suspended_fiber: Rc::downgrade(&suspended.fiber),
            current: RefCell::default(),
            waiting: RefCell::default(),
            driver: RefCell::default(),
            memo: RefCell::default(),
            spare: RefCell::default(),
            impatient: RefCell::default(),
            next_impatient: Cell::default(),
        }
    }

    /// Returns true if a script is suspended here.
    pub(crate) fn is_taken(&self) -> bool {
        self.current.borrow().is_some()
    }

    /// Returns memory for a request and its reply.
    pub(crate) fn lend(&self) -> (Words, Output) {
        let (words, buffer) = self.spare.take();
        let mut output = Output::new();
        output.give_buffer(buffer);
        (words, output)
    }

    /// Takes lent memory back.
    pub(crate) fn give_back(&self, mut words: Words, mut output: Output) {
        words.clear();
        self.spare.replace((words, output.take_buffer().unwrap_or_default()));
    }

    /// Returns the machine, with flushed scripts removed.
    pub(crate) fn machine(&self, worker: &Worker) -> RefMut<'_, Machine> {
        let mut slot = self.machine.borrow_mut();
        let generation = worker.engine.scripts.generation();
        if slot.is_none() {
            let about = About {
                version: commands::REDIS_VERSION,
                version_number: version_number(commands::REDIS_VERSION),
                seed: worker.random(),
                argument_bytes_max: BULK_BYTES_MAX,
                request_bytes_max: REQUEST_BYTES_MAX,
            };
            let mut machine = Machine::new(about);
            // Done here, since it takes longer than most scripts.
            machine.go(Input::Go);
            *slot = Some(machine);
            self.generation.set(generation);
        }
        let mut machine = RefMut::map(slot, |slot| slot.as_mut().expect("just made"));
        if self.generation.replace(generation) != generation {
            machine.go(Input::Forget);
        }
        machine
    }

    /// Maps the memory on which scripts run.
    pub(crate) fn map(&self, worker: &Worker) {
        drop(self.machine(worker));
        self.idle_fiber.borrow_mut().get_or_insert_with(new_fiber);
    }

    /// Begins a job of `session`; no script may be suspended here.
    ///
    /// # Panics
    /// If the worker's [`SuspendedScript`] is gone and the job needs it.
    pub(crate) fn begin(&self, worker: &Worker, session: Box<Session>, job: Box<ScriptJob>) -> Begun {
        assert!(!self.is_taken());
        let (control, began) = (job.control.clone(), job.began);
        let mut fiber = self.idle_fiber.take().unwrap_or_else(new_fiber);
        let ask = fiber.resume(Resume::Begin(session, job)).expect("the runner does not end");
        let waits = matches!(ask, Ask::Wait);
        if let Ask::Over(ended) = ask {
            self.idle_fiber.replace(Some(fiber));
            return Begun::Over(ended);
        }
        self.suspended_fiber.upgrade().expect("whoever runs the worker keeps it").replace(Some(fiber));
        let ticket = Rc::new(ScriptTicket::default());
        worker.engine.scripts.begin_long(&control);
        self.current.replace(Some(CurrentScript { ticket: ticket.clone(), control, began, waits }));
        self.driver.take().into_iter().for_each(Waker::wake);
        Begun::Rests(ticket)
    }

    /// Runs the next slice of the suspended script.
    fn go_on(&self, worker: &Worker) {
        let owner = self.suspended_fiber.upgrade().expect("whoever runs the worker keeps it");
        let ask =
            owner.borrow_mut().as_mut().expect("a script rests").resume(Resume::Go).expect("the runner does not end");
        let mut slot = self.current.borrow_mut();
        let current = slot.as_mut().expect("a script rests");
        current.waits = matches!(ask, Ask::Wait);
        let scripts = &worker.engine.scripts;
        match ask {
            Ask::Over((session, mut job)) => {
                self.idle_fiber.replace(owner.take());
                scripts.end_long(&current.control);
                let current = slot.take().expect("just seen");
                job.took = current.began.elapsed();
                current.ticket.outcome.replace(Some((session, job)));
                current.ticket.waker.take().into_iter().for_each(Waker::wake);
                self.waiting.take().into_iter().for_each(Waker::wake);
            }
            Ask::Rest | Ask::Wait => {
                let threshold_ms = worker.settings().busy_reply_threshold_ms;
                let is_over = threshold_ms > 0 && current.began.elapsed() >= Duration::from_millis(threshold_ms);
                if is_over && scripts.set_busy(&current.control) {
                    self.wake_impatient();
                    worker.ring_all();
                }
            }
        }
    }

    /// Wakes waiting requests when a script is busy.
    pub(crate) fn wake_impatient(&self) {
        self.impatient.borrow().values().for_each(Waker::wake_by_ref);
    }

    fn is_waiting(&self) -> bool {
        self.current.borrow().as_ref().is_some_and(|current| current.waits)
    }
}

/// Creates the fiber, which runs one job after the other.
fn new_fiber() -> ScriptFiber {
    Fiber::new("of a script runner", STACK_BYTES, act).expect("the system gives a stack")
}

fn act(pause: Pause<Resume, Ask>, first: Resume) {
    let mut next = first;
    loop {
        let Resume::Begin(mut session, mut job) = next else { unreachable!("a job comes when nothing is under way") };
        let ScriptJob { command, request, needs, gated, control, output, began, .. } = &mut *job;
        let yielder =
            Rc::new(Yielder { pause: pause.clone(), slice_began: Cell::new(*began), control: control.clone() });
        let scripted = Scripted { yielder, command: *command, needs, gated: *gated };
        job.result = session.run_scripted(&scripted, &request.args(), output);
        next = pause.rest(Ask::Over((session, job)));
    }
}

/// Returns `7.4.0` as a number, one byte per part.
fn version_number(version: &str) -> u32 {
    version.split('.').take(3).fold(0, |number, part| number << 8 | part.parse::<u32>().unwrap_or(0))
}

impl Worker {
    /// Runs scripts that outlive their first slice. Awaited forever, beside [`Worker::listen`].
    pub(crate) async fn drive_scripts(&self) {
        loop {
            poll_fn(|context| {
                if self.runner.is_taken() {
                    return Poll::Ready(());
                }
                self.runner.driver.replace(Some(context.waker().clone()));
                Poll::Pending
            })
            .await;
            // Others first: tasks that are ready, and those whose sockets are.
            self.sleep(if self.runner.is_waiting() { 1 } else { 0 }).await;
            self.in_turn(|| self.runner.go_on(self));
        }
    }

    /// Waits until no script is suspended on this worker.
    pub async fn scripts_ended(&self) {
        poll_fn(|context| {
            if !self.runner.is_taken() {
                return Poll::Ready(());
            }
            self.runner.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Awaits `waiting`, pinned by the caller as for [`Worker::in_turns`], or returns `None` once a script is busy.
    pub(crate) async fn unless_busy<R>(&self, mut waiting: Pin<&mut impl Future<Output = R>>) -> Option<R> {
        let impatience = Impatience::new(&self.runner);
        poll_fn(|context| {
            if self.engine.scripts.is_busy() {
                return Poll::Ready(None);
            }
            impatience.renew(context.waker());
            waiting.as_mut().poll(context).map(Some)
        })
        .await
    }
}

/// A registration to be notified when a script is busy.
struct Impatience<'s> {
    runner: &'s ScriptRunner,
    number: u64,
}

impl<'s> Impatience<'s> {
    fn new(runner: &'s ScriptRunner) -> Self {
        let number = runner.next_impatient.get();
        runner.next_impatient.set(number + 1);
        Self { runner, number }
    }

    /// Renews the waker. O(log waiters).
    fn renew(&self, waker: &Waker) {
        let mut all = self.runner.impatient.borrow_mut();
        match all.get_mut(&self.number) {
            Some(known) => known.clone_from(waker),
            None => drop(all.insert(self.number, waker.clone())),
        }
    }
}

impl Drop for Impatience<'_> {
    fn drop(&mut self) {
        self.runner.impatient.borrow_mut().remove(&self.number);
    }
}
