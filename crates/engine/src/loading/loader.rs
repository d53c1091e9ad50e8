//! Loads shards, and later their large values, while others are served. There may be several loaders; none holds a lock
//! while it reads.

use super::contents::read_value;
use super::late::Number;
use super::{LoadingTask, NotRead, Reader, ShardContents};
use crate::engine::Engine;
use crate::event_loop::{Sleep, SleepFn};
use crate::waits::{gate_open, park, yield_now};
use base::Ms;
use base::instant::Instant;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use sync::gate::{Inside, Member};
use sync::lock::Want;

/// Rest in milliseconds when the system has no file or memory to give.
const LACKING_MS: Ms = 100;

/// Bytes of memory that a shard takes until it is in place: per stored byte, allowing for small keys, and in addition.
const SHARD_BYTES_PER_STORED: u64 = 2;
const SHARD_BYTES: u64 = 64 << 10;

/// One thread's loader.
pub struct Loader {
    engine: Arc<Engine>,
    member: Member,
    timer: SleepFn,
    rest_ms: Ms,
    at_once_bytes_max: u64,
}

impl Loader {
    /// Creates one more loader of `engine`, which reads values of more than `at_once_bytes_max` bytes after their
    /// shards are in place. It rests for `rest_ms` before each shard or value that nobody waits for.
    pub fn new(engine: Arc<Engine>, timer: SleepFn, rest_ms: Ms, at_once_bytes_max: u64) -> Self {
        Self { member: engine.member(), engine, timer, rest_ms, at_once_bytes_max }
    }

    /// Loads shards and values, wanted ones first, until none is left to begin. Returns true if it put the last one in
    /// place. May be dropped between any two when the server stops.
    ///
    /// If one cannot be read, the server is asked to stop: see [`super::Loading::fault`]. No key of that shard, or not
    /// that value's key, has been or will be returned to anybody.
    pub async fn run(self) -> bool {
        let engine = self.engine.clone();
        self.rest().await;
        while let Some(task) = engine.loading.take() {
            let Some(task) = self.if_it_fits(task).await else { continue };
            let done = match task {
                LoadingTask::Shard(contents, reader) => self.load(contents, &reader).await,
                LoadingTask::Value(number, unread, reader) => self.load_value(number, unread, &reader).await,
            };
            match done {
                Ok(is_last) if is_last => return true,
                Ok(_) => {}
                Err(NotRead::Stopped) => return false,
                Err(NotRead::Lacking(_)) => unreachable!("waited for"),
                Err(NotRead::Fault(why)) => {
                    self.fail(why);
                    return false;
                }
            }
            self.rest().await;
        }
        false
    }

    /// Gives a task back if there is no memory for it, and waits for some.
    async fn if_it_fits(&self, task: LoadingTask) -> Option<LoadingTask> {
        let Engine { memory, loading, .. } = &*self.engine;
        let bytes = match &task {
            LoadingTask::Shard(contents, _) => SHARD_BYTES_PER_STORED * contents.bytes() + SHARD_BYTES,
            LoadingTask::Value(_, unread, _) => unread.stored_bytes() + unread.stored_bytes() / 16,
        };
        let fits = memory.take_briefly(bytes);
        loading.halt(!fits);
        if fits {
            return Some(task);
        }
        match task {
            LoadingTask::Shard(contents, _) => loading.give_back(contents),
            LoadingTask::Value(number, unread, _) => loading.give_back_value(number, unread),
        }
        (self.timer)(LACKING_MS).await;
        None
    }

    /// Stops the server, and admits no change until it has stopped.
    fn fail(&self, why: String) {
        let Engine { loading, journal, .. } = &*self.engine;
        loading.fail(why);
        journal.iter().for_each(|journal| journal.set_tail_limit(0));
        self.engine.shut_down();
    }

    async fn load(&self, contents: ShardContents, reader: &Reader) -> Result<bool, NotRead> {
        let Engine { keyspace, loading, .. } = &*self.engine;
        // The map is read once for the whole shard: a table flushed meanwhile is dropped like any other.
        let alive = {
            let _inside = self.inside().await;
            keyspace.map().alive()
        };
        let read = contents.read(keyspace, &alive, reader, &loading.is_stopped, self.at_once_bytes_max);
        let read = match read {
            Err(NotRead::Lacking(_)) => {
                loading.give_back(contents);
                (self.timer)(LACKING_MS).await;
                return Ok(false);
            }
            read => read?,
        };
        let _inside = self.inside().await;
        Ok(loading.put(keyspace, contents.record.shard as usize, read, contents.bytes()))
    }

    async fn load_value(&self, number: Number, unread: keyspace::Unread, reader: &Reader) -> Result<bool, NotRead> {
        let engine = &*self.engine;
        let Engine { keyspace, loading, .. } = engine;
        let (shard, bytes) = (unread.shard(), unread.stored_bytes());
        let is_alive = {
            let _inside = self.inside().await;
            keyspace.map().alive().contains(unread.table())
        };
        let value = loop {
            match is_alive.then(|| read_value(&unread, reader, &loading.is_stopped)).transpose() {
                Err(NotRead::Lacking(_)) => (self.timer)(LACKING_MS).await,
                other => break other?,
            }
        };
        let mut parked = None;
        loop {
            let inside = self.inside().await;
            if let Some(mut state) = keyspace.shard(shard).try_write() {
                let began = Instant::now();
                let gone = value.and_then(|value| unread.end(value, &mut state));
                let is_last = loading.put_value(shard, number, bytes);
                drop(state);
                engine.note_background_hold(began.elapsed().as_nanos() as u64);
                drop((parked, inside, gone));
                return Ok(is_last);
            }
            drop(inside);
            parked = Some(park(engine, shard, Want::Write).await);
        }
    }

    async fn inside(&self) -> Inside<'_> {
        loop {
            if let Some(inside) = self.member.enter() {
                return inside;
            }
            gate_open(&self.engine.gate).await;
        }
    }

    /// Yields to the thread's other tasks, and rests for other threads if configured and nobody waits for a shard.
    async fn rest(&self) {
        yield_now().await;
        if self.rest_ms > 0 {
            let mut sleep: Sleep = (self.timer)(self.rest_ms);
            poll_fn(|context| match self.engine.loading.poll_wanted(context) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => sleep.as_mut().poll(context),
            })
            .await;
        }
    }
}
