//! Schedules of the locks and the gate, explored by shuttle. Built only under `--cfg shuttle`:
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p sync --test tests --target-dir target/shuttle`
//!
//! A task that is never woken leaves its schedule with nothing to run: shuttle reports that as a deadlock.
//! `BOBBIN_CASES` is the number of schedules per test.
#![cfg(shuttle)]

use std::future::poll_fn;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use shuttle::future::{JoinHandle, block_on, spawn};
use shuttle::thread;
use sync::gate::{Gate, Inside, Member, Raised};
use sync::lock::{Parked, Read, ShardLock, Want, Write};
use sync::primitives::Arc;

fn explore(scenario: impl Fn() + Send + Sync + 'static) {
    let cases = std::env::var("BOBBIN_CASES").map_or(2_000, |cases| cases.parse().expect("a number"));
    let scenario = StdArc::new(scenario);
    let same = StdArc::clone(&scenario);
    shuttle::check_random(move || scenario(), cases);
    shuttle::check_pct(move || same(), cases, 3);
}

/// Runs the tasks, each on a thread of its own as workers do, until all are done.
fn run_all(tasks: impl IntoIterator<Item = Task>) {
    let threads: Vec<_> = tasks.into_iter().map(|task| thread::spawn(move || block_on(task))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a task failed"));
}

type Task = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

fn task(run: impl Future<Output = ()> + Send + 'static) -> Task {
    Box::pin(run)
}

async fn waker() -> Waker {
    poll_fn(|context| Poll::Ready(context.waker().clone())).await
}

/// Suspends until the waker given to `register` is woken; returns the result of `register`.
async fn sleep_on<R>(mut register: impl FnMut(&Waker) -> R) -> R {
    let mut registered = None;
    poll_fn(|context| match registered.take() {
        Some(result) => Poll::Ready(result),
        None => {
            registered = Some(register(context.waker()));
            Poll::Pending
        }
    })
    .await
}

/// A guarded value that detects readers and writers at the same time.
#[derive(Default)]
struct Watched {
    readers: AtomicUsize,
    writing: AtomicBool,
    writes: usize,
}

impl sync::lock::Publish for Watched {}

impl Watched {
    fn read(&self) {
        self.readers.fetch_add(1, Ordering::SeqCst);
        thread::yield_now();
        assert!(!self.writing.load(Ordering::SeqCst), "a reader beside a writer");
        self.readers.fetch_sub(1, Ordering::SeqCst);
    }

    fn write(&mut self) {
        assert!(!self.writing.swap(true, Ordering::SeqCst), "two writers");
        thread::yield_now();
        assert_eq!(self.readers.load(Ordering::SeqCst), 0, "a writer beside a reader");
        self.writes += 1;
        self.writing.store(false, Ordering::SeqCst);
    }
}

type Shards = Arc<Vec<ShardLock<Watched>>>;

fn shards(count: usize) -> Shards {
    Arc::new((0..count).map(|_| ShardLock::new(Watched::default())).collect())
}

enum Guard<'a> {
    Read(Read<'a, Watched>),
    Write(Write<'a, Watched>),
}

impl Guard<'_> {
    fn touch(&mut self) {
        match self {
            Guard::Read(guard) => guard.read(),
            Guard::Write(guard) => guard.write(),
        }
    }
}

/// Takes all locks of the set in order; returns the shard and the access of the first one missing.
fn try_all<'a>(shards: &'a Shards, set: &[(usize, Want)]) -> Result<Vec<Guard<'a>>, (usize, Want)> {
    let take = |&(shard, want): &(usize, Want)| {
        let lock = &shards[shard];
        let guard = match want {
            Want::Read => lock.try_read().map(Guard::Read),
            Want::Write => lock.try_write().map(Guard::Write),
        };
        guard.ok_or((shard, want))
    };
    set.iter().map(take).collect()
}

/// Takes locks as a worker does, but without the gate: try all, release all, park on the missing one, try again.
async fn with_all(shards: &Shards, set: &[(usize, Want)]) {
    let mut parked: Option<Parked<'_, Watched>> = None;
    loop {
        let tried = try_all(shards, set);
        drop(parked.take());
        match tried {
            Ok(mut guards) => return guards.iter_mut().for_each(Guard::touch),
            Err((shard, want)) => parked = Some(sleep_on(|waker| shards[shard].park(want, waker)).await),
        }
    }
}

async fn enter(member: &Member) -> Inside<'_> {
    loop {
        if let Some(inside) = member.enter() {
            return inside;
        }
        sleep_on(|waker| member.gate().wait_open(waker)).await;
    }
}

/// Takes locks by the whole rule: four rounds inside the gate, then under the gate. A wait for a shut lock does not
/// count as a round, and no task waits for one under the gate.
async fn with_all_or_gate(member: &Member, shards: &Shards, set: &[(usize, Want)]) {
    let mut rounds = 0;
    while rounds < 4 {
        let inside = enter(member).await;
        let missing = match try_all(shards, set) {
            Ok(mut guards) => return guards.iter_mut().for_each(Guard::touch),
            Err(missing) => missing,
        };
        drop(inside);
        rounds += usize::from(!shards[missing.0].is_shut());
        let _parked = sleep_on(|waker| shards[missing.0].park(missing.1, waker)).await;
    }
    with_all_under_gate(member, shards, set).await;
}

async fn with_all_under_gate(member: &Member, shards: &Shards, set: &[(usize, Want)]) {
    loop {
        let raised = raise(member).await;
        let Some(&(shard, want)) = set.iter().find(|(shard, _)| shards[*shard].is_shut()) else {
            return set.iter().for_each(|(shard, _)| shards[*shard].write_under(&raised).write());
        };
        drop(raised);
        let _parked = sleep_on(|waker| shards[shard].park(want, waker)).await;
    }
}

/// Opens each shard's lock and writes its contents, as a loader does.
async fn open_all(member: &Member, shards: &Shards) {
    for lock in shards.iter() {
        let _inside = enter(member).await;
        lock.open().write();
    }
}

async fn raise(member: &Member) -> Raised<'_> {
    loop {
        if let Some(raising) = member.try_raise() {
            return raising.await;
        }
        sleep_on(|waker| member.gate().wait_open(waker)).await;
    }
}

fn shut_shards(count: usize) -> Shards {
    let shut = |mut lock: ShardLock<Watched>| {
        lock.shut();
        lock
    };
    Arc::new((0..count).map(|_| shut(ShardLock::new(Watched::default()))).collect())
}

fn assert_idle(shards: &Shards) {
    for lock in shards.iter() {
        assert_eq!(lock.parked_count(), 0);
        drop(lock.try_read().expect("free of writers and of bars"));
        drop(lock.try_write().expect("free"));
    }
}

const READ: Want = Want::Read;
const WRITE: Want = Want::Write;

fn crowd_on_one_lock(wants: &'static [Want], rounds: usize) {
    explore(move || {
        let shards = shards(1);
        let one = |&want: &Want| {
            let shards = Arc::clone(&shards);
            task(async move {
                for _ in 0..rounds {
                    with_all(&shards, &[(0, want)]).await;
                }
            })
        };
        run_all(wants.iter().map(one));
        assert_idle(&shards);
        let writers = wants.iter().filter(|want| **want == WRITE).count();
        assert_eq!(shards[0].try_read().unwrap().writes, writers * rounds);
    });
}

#[test]
fn a_writer_excludes_readers() {
    crowd_on_one_lock(&[WRITE, READ, READ], 2);
}

#[test]
fn queued_writers_all_get_the_lock() {
    crowd_on_one_lock(&[WRITE, WRITE, WRITE], 2);
}

#[test]
fn a_writers_bar_does_not_starve_readers() {
    crowd_on_one_lock(&[WRITE, WRITE, READ, READ], 2);
}

fn crossing(sets: &'static [&'static [(usize, Want)]]) {
    explore(move || {
        let shards = shards(3);
        let one = |set: &&'static [(usize, Want)]| {
            let (shards, set) = (Arc::clone(&shards), *set);
            task(async move {
                with_all(&shards, set).await;
                with_all(&shards, set).await;
            })
        };
        run_all(sets.iter().map(one));
        assert_idle(&shards);
    });
}

/// No task waits while it holds a lock, so even sets taken in opposite orders cannot deadlock.
#[test]
fn lock_sets_in_opposite_orders_do_not_deadlock() {
    crossing(&[&[(0, WRITE), (1, WRITE)], &[(1, WRITE), (0, WRITE)]]);
}

/// A woken task may fail on another lock and never take this one: the tasks queued after it must still get through.
#[test]
fn a_woken_task_that_fails_elsewhere_strands_no_waiter() {
    crossing(&[&[(0, WRITE), (1, WRITE)], &[(1, READ)], &[(0, WRITE)], &[(1, WRITE)]]);
}

#[test]
fn mixed_sets_of_reads_and_writes_do_not_deadlock() {
    crossing(&[&[(0, READ), (1, WRITE), (2, READ)], &[(2, WRITE), (0, READ)], &[(1, READ), (2, READ)]]);
}

#[test]
fn growing_lock_sets_do_not_deadlock() {
    explore(|| {
        let shards = shards(3);
        let grow = |order: [usize; 3]| {
            let shards = Arc::clone(&shards);
            task(async move {
                for count in 1..=3 {
                    let set: Vec<_> = order[..count].iter().map(|&shard| (shard, WRITE)).collect();
                    with_all(&shards, &set).await;
                }
            })
        };
        run_all([grow([0, 1, 2]), grow([2, 1, 0])]);
        assert_idle(&shards);
        assert!(shards.iter().map(|lock| lock.try_read().unwrap().writes).sum::<usize>() == 12);
    });
}

/// A connection that is closed while it waits must pass its wake-up on to the next waiter.
#[test]
fn a_waiter_that_gives_up_does_not_strand_the_next() {
    explore(|| {
        let shards = shards(1);
        let shared = || Arc::clone(&shards);
        let (holder, quitter, sleeper) = (shared(), shared(), shared());
        run_all([
            task(async move { with_all(&holder, &[(0, WRITE)]).await }),
            task(async move {
                let parked = quitter[0].park(WRITE, &waker().await);
                thread::yield_now();
                drop(parked);
            }),
            task(async move { with_all(&sleeper, &[(0, READ)]).await }),
        ]);
        assert_idle(&shards);
    });
}

#[test]
fn tasks_that_fail_four_rounds_complete_under_the_gate() {
    explore(|| {
        let (gate, shards) = (Arc::new(Gate::new(3)), shards(2));
        let one = |(index, set): (usize, &'static [(usize, Want)])| {
            let (member, shards) = (gate.member(index), Arc::clone(&shards));
            task(async move {
                with_all_or_gate(&member, &shards, set).await;
                with_all_or_gate(&member, &shards, set).await;
            })
        };
        let sets: [&'static [_]; 3] = [&[(0, WRITE), (1, WRITE)], &[(1, WRITE), (0, WRITE)], &[(0, READ), (1, READ)]];
        run_all(sets.into_iter().enumerate().map(one));
        assert_idle(&shards);
    });
}

#[test]
fn waiters_on_shut_locks_get_through_after_opening() {
    explore(|| {
        let shards = shut_shards(2);
        let one = |set: &'static [(usize, Want)]| {
            let shards = Arc::clone(&shards);
            task(async move { with_all(&shards, set).await })
        };
        let opener = Arc::clone(&shards);
        let open = task(async move { opener.iter().for_each(|lock| lock.open().write()) });
        run_all([one(&[(0, WRITE), (1, READ)]), one(&[(0, READ)]), one(&[(1, WRITE)]), open]);
        assert_idle(&shards);
        assert_eq!(shards.iter().map(|lock| lock.try_read().unwrap().writes).sum::<usize>(), 4);
    });
}

#[test]
fn shut_locks_and_the_gate_do_not_deadlock() {
    explore(|| {
        let (gate, shards) = (Arc::new(Gate::new(3)), shut_shards(2));
        let shared = |index| (gate.member(index), Arc::clone(&shards));
        let ((loader, brought), (tries, here), (raiser, there)) = (shared(0), shared(1), shared(2));
        run_all([
            task(async move { open_all(&loader, &brought).await }),
            task(async move { with_all_or_gate(&tries, &here, &[(0, READ), (1, WRITE)]).await }),
            task(async move { with_all_under_gate(&raiser, &there, &[(0, WRITE), (1, WRITE)]).await }),
        ]);
        assert_idle(&shards);
    });
}

/// State that only the gate protects: members may be inside together, the raiser is alone.
#[derive(Default)]
struct Yard {
    members: AtomicUsize,
    raisers: AtomicUsize,
}

impl Yard {
    fn as_member(&self) {
        self.members.fetch_add(1, Ordering::SeqCst);
        thread::yield_now();
        assert_eq!(self.raisers.load(Ordering::SeqCst), 0, "a member inside a raised gate");
        self.members.fetch_sub(1, Ordering::SeqCst);
    }

    fn as_raiser(&self) {
        assert_eq!(self.raisers.fetch_add(1, Ordering::SeqCst), 0, "two raisers");
        thread::yield_now();
        assert_eq!(self.members.load(Ordering::SeqCst), 0, "a raised gate around a member");
        self.raisers.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn go_in(member: &Member, yard: &Yard) {
    loop {
        if let Some(_inside) = member.enter() {
            return yard.as_member();
        }
        sleep_on(|waker| member.gate().wait_open(waker)).await;
    }
}

fn gate_with(make: fn(usize) -> Gate, members: usize, raisers: usize) {
    explore(move || {
        let (gate, yard) = (Arc::new(make(members + raisers)), Arc::new(Yard::default()));
        let one = |index: usize| {
            let (member, yard) = (gate.member(index), Arc::clone(&yard));
            task(async move {
                for _ in 0..2 {
                    if index < members {
                        go_in(&member, &yard).await;
                    } else {
                        let _raised = raise(&member).await;
                        yard.as_raiser();
                    }
                }
            })
        };
        run_all((0..members + raisers).map(one));
        assert!(!gate.is_raised());
    });
}

#[test]
fn members_and_a_raiser_exclude_each_other() {
    gate_with(Gate::new, 2, 1);
}

#[test]
fn two_raisers_take_turns() {
    gate_with(Gate::new, 2, 2);
}

#[test]
fn an_abandoned_raise_lets_members_in() {
    explore(|| {
        let (gate, yard) = (Arc::new(Gate::new(2)), Arc::new(Yard::default()));
        let (member, raiser) = (gate.member(0), gate.member(1));
        run_all([
            task(async move {
                go_in(&member, &yard).await;
                go_in(&member, &yard).await;
            }),
            task(async move {
                let mut raising = raiser.try_raise().expect("nobody else raises");
                drop(raising.ready(&waker().await));
            }),
        ]);
    });
}

/// Workers run many connections on one thread: parked tasks must not need a thread each.
#[test]
fn parked_tasks_share_a_thread() {
    explore(|| {
        let shards = shards(2);
        let spawned = |set: &'static [(usize, Want)]| -> JoinHandle<()> {
            let shards = Arc::clone(&shards);
            spawn(async move { with_all(&shards, set).await })
        };
        let handles = [spawned(&[(0, WRITE), (1, READ)]), spawned(&[(1, WRITE), (0, WRITE)]), spawned(&[(0, READ)])];
        block_on(async {
            for handle in handles {
                handle.await.expect("a task failed");
            }
        });
        assert_idle(&shards);
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_a_release_that_wakes_nobody_is_caught() {
    explore(|| {
        let shards: Shards = Arc::new(vec![ShardLock::forgetting_to_wake(Watched::default())]);
        let one = |_| {
            let shards = Arc::clone(&shards);
            task(async move { with_all(&shards, &[(0, WRITE)]).await })
        };
        run_all((0..2).map(one));
    });
}

#[test]
#[should_panic(expected = "raised gate")]
fn canary_a_member_that_looks_too_early_is_caught() {
    gate_with(Gate::looking_too_early, 2, 1);
}
