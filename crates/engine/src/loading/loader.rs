//! Loads shards while others are served. Any number of them may; none holds a lock while it reads.

use super::{Contents, Reader, Unread};
use crate::engine::Engine;
use crate::waits::{gate_open, yield_now};
use crate::worker::{Sleep, Timer};
use base::Ms;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use sync::gate::{Inside, Member};

/// How long it rests when the system has no file or memory to give.
const LACKING_MS: Ms = 100;

/// One thread's part in it.
pub struct Loader {
    engine: Arc<Engine>,
    member: Member,
    timer: Timer,
    rest_ms: Ms,
}

impl Loader {
    /// One more loader of `engine`. It rests for `rest_ms` before each shard that nobody waits for.
    pub fn new(engine: Arc<Engine>, timer: Timer, rest_ms: Ms) -> Self {
        Self { member: engine.member(), engine, timer, rest_ms }
    }

    /// Loads shards, those first that somebody waits for, until none is left to begin with; whether it put the last one in
    /// its place. To be dropped when the server stops: between any two shards.
    ///
    /// If a shard cannot be read, the server is asked to stop: see [`super::Loading::fault`]. No key of that shard was told to
    /// anybody, nor will be.
    pub async fn run(self) -> bool {
        let engine = self.engine.clone();
        self.rest().await;
        while let Some((contents, reader)) = engine.loading.take() {
            match self.load(&contents, &reader).await {
                Ok(is_last) if is_last => return true,
                Ok(_) => {}
                Err(Unread::Stopped) => return false,
                Err(Unread::Lacking(_)) => {
                    engine.loading.give_back(contents);
                    (self.timer)(LACKING_MS).await;
                    continue;
                }
                Err(Unread::Fault(why)) => {
                    self.fail(why);
                    return false;
                }
            }
            drop((contents, reader));
            self.rest().await;
        }
        false
    }

    /// Has the server stop, and admits no change until it has.
    fn fail(&self, why: String) {
        let Engine { loading, journal, .. } = &*self.engine;
        loading.fail(why);
        journal.iter().for_each(|journal| journal.set_tail_limit(0));
        self.engine.shut_down();
    }

    async fn load(&self, contents: &Contents, reader: &Reader) -> Result<bool, Unread> {
        let Engine { keyspace, loading, .. } = &*self.engine;
        // One look at the map for the whole shard: a table that is flushed meanwhile is dropped as any other that is.
        let alive = {
            let _inside = self.inside().await;
            keyspace.map().alive()
        };
        let read = contents.read(keyspace, &alive, reader, &loading.is_stopped)?;
        let _inside = self.inside().await;
        Ok(loading.put(keyspace, contents.record.shard as usize, read, contents.bytes()))
    }

    async fn inside(&self) -> Inside<'_> {
        loop {
            if let Some(inside) = self.member.enter() {
                return inside;
            }
            gate_open(&self.engine.gate).await;
        }
    }

    /// Lets the thread's other tasks go on, and the threads of others if it is to rest and nobody waits for a shard.
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
