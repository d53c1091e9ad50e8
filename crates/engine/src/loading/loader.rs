//! Loads shards while others are served. Any number of them may; none holds a lock while it reads.

use super::{Contents, Reader};
use crate::engine::Engine;
use crate::waits::{gate_open, yield_now};
use crate::worker::{Sleep, Timer};
use base::Ms;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use sync::gate::{Inside, Member};

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
    /// If a shard cannot be read, the server is asked to stop: see [`super::Loading::fault`]. Nobody has had an answer from
    /// that shard, nor will.
    pub async fn run(self) -> bool {
        let engine = self.engine.clone();
        self.rest().await;
        while let Some((contents, reader)) = engine.loading.take() {
            match self.load(&contents, &reader).await {
                Ok(is_last) if is_last => return true,
                Ok(_) => {}
                Err(why) => {
                    engine.loading.fail(why);
                    engine.shut_down();
                    return false;
                }
            }
            drop((contents, reader));
            self.rest().await;
        }
        false
    }

    async fn load(&self, contents: &Contents, reader: &Reader) -> Result<bool, String> {
        let Engine { keyspace, loading, .. } = &*self.engine;
        // One look at the map for the whole shard: a table that is flushed meanwhile is dropped as any other that is.
        let alive = {
            let _inside = self.inside().await;
            keyspace.map().alive()
        };
        let read = contents.read(keyspace, &alive, reader)?;
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
