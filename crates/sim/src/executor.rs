//! Runs futures one poll at a time, in an order and under a clock that the caller controls.

use base::Ms;
use base::instant::SetClock;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Microseconds since the world began; shared with the journal's timers.
#[derive(Clone)]
pub(crate) struct Time {
    us: Arc<AtomicU64>,
    /// The engine's clock for durations.
    spans: SetClock,
    /// The offset of the wall clock, in milliseconds.
    moved_ms: Arc<AtomicI64>,
    sleepers: Rc<RefCell<Vec<(u64, Waker)>>>,
}

/// The start of every world, in milliseconds since the epoch.
const EPOCH_MS: Ms = 1_700_000_000_000;

impl Time {
    pub(crate) fn new() -> Self {
        Self { us: Arc::default(), spans: SetClock::default(), moved_ms: Arc::default(), sleepers: Rc::default() }
    }

    /// Runs a world under this time, including durations that the engine measures.
    pub(crate) fn rule<T>(&self, world: impl FnOnce() -> T) -> T {
        self.spans.rule(world)
    }

    pub(crate) fn us(&self) -> u64 {
        self.us.load(SeqCst)
    }

    pub(crate) fn elapsed_us(&self) -> Arc<dyn Fn() -> u64 + Send + Sync> {
        let us = self.us.clone();
        Arc::new(move || us.load(SeqCst))
    }

    pub(crate) fn wall(&self) -> Arc<dyn Fn() -> Ms + Send + Sync> {
        let (us, moved_ms) = (self.us.clone(), self.moved_ms.clone());
        Arc::new(move || (EPOCH_MS + us.load(SeqCst) / 1000).saturating_add_signed(moved_ms.load(SeqCst)))
    }

    /// Sets the wall clock `ahead_ms` ahead of the right time.
    pub(crate) fn jump(&self, ahead_ms: i64) {
        self.moved_ms.store(ahead_ms, SeqCst);
    }

    pub(crate) fn pass(&self, us: u64) {
        let now = self.us.fetch_add(us, SeqCst) + us;
        self.spans.advance(Duration::from_micros(us));
        self.sleepers.borrow_mut().retain(|(due_us, waker)| {
            if *due_us <= now {
                waker.wake_by_ref();
            }
            *due_us > now
        });
    }

    /// Sleeps; others have a turn even if that is for no time.
    pub(crate) fn sleep(&self, ms: Ms) -> Task {
        let (time, due_us, mut has_yielded) = (self.clone(), self.us() + ms * 1000, ms > 0);
        Box::pin(std::future::poll_fn(move |context| {
            if !std::mem::replace(&mut has_yielded, true) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if time.us() >= due_us {
                return Poll::Ready(());
            }
            time.sleepers.borrow_mut().push((due_us, context.waker().clone()));
            Poll::Pending
        }))
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// An owned future, polled in place.
type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Tasks, and whether each has been woken.
#[derive(Default)]
pub(crate) struct Executor {
    tasks: Vec<(Arc<Flag>, Option<Task>)>,
}

impl Executor {
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push((Arc::new(Flag(AtomicBool::new(true))), Some(Box::pin(task))));
    }

    /// Returns the woken tasks.
    pub(crate) fn ready(&self) -> Vec<usize> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter(|(_, (flag, task))| task.is_some() && flag.0.load(SeqCst)).map(|(index, _)| index).collect()
    }

    /// Polls one task.
    pub(crate) fn poll(&mut self, index: usize) {
        let (flag, slot) = &mut self.tasks[index];
        flag.0.store(false, SeqCst);
        let waker = Waker::from(flag.clone());
        if let Some(task) = slot
            && task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        {
            *slot = None;
        }
    }

    /// Returns true if any of these tasks is still running.
    pub(crate) fn any_alive(&self, range: std::ops::Range<usize>) -> bool {
        self.tasks[range].iter().any(|(_, task)| task.is_some())
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }
}
