//! The affinity of a connection to a shard, and its move to the worker where that shard is at home.
//!
//! ```text
//!   turn                                                  waits    share
//!   w w w w, then one has to wait in a pipeline           + 16     + 5       another request holds the shard
//!   w w w w w w w w w w w w                               -  1     + 12
//!   w w r r w, then one has to wait in a pipeline         + 16     + 4 - 4   two requests read, or write to others
//!   one has to wait without a pipeline                    -  1     + 1
//!   waits >= 48 and share > 0: it goes to the home        at home, share = -64: it leaves
//! ```
//!
//! The first wait begins the scores with 16 and 0. A script counts as a write to the shard of its first key, whichever of
//! its shards it waits for, and then too: scripts that meet have that key in common more often than any other. Only those
//! that are declared to read do not. Requests that run elsewhere count for neither: EXEC, and what waits for other things. So
//! connections that mostly read, that spread their writes, or that send one request at a time stay where they are, and
//! every core works for them: without a pipeline a request holds its shard for a tenth of what its system calls take.
//!
//! It moves between two turns, with what it has received and not run. Connections with state on their worker stay:
//! subscribers, monitors, trackers, transactions, watches, and the queue port, whose messages the worker keeps.

use super::protocol::port::Port;
use super::state::Session;
use crate::auth_failures::Passwords;
use crate::client::Client;
use crate::executor::ShardUses;
use crate::homes::{HomePlace, Homes};
use crate::worker::Worker;
use base::Position;
use base::primitives::atomic::Ordering::Relaxed;
use commands::ReplyMode;
use journal::PaceTag;
use std::rc::Rc;
use std::sync::Arc;
use wire::resp::Protocol;

/// The bound of both scores.
const SCORE_MAX: i32 = 64;
/// The score of waits from which a connection goes to the home: that of some four.
const GO_SCORE: i32 = 48;
/// The score of a wait for the shard.
const WAIT_SCORE: i32 = 16;
/// The share that a request takes away which is no write to the shard: so at least two of three are.
const OTHER_SHARE: i32 = 2;

/// How much a connection is drawn to a shard.
#[derive(Default)]
pub(super) struct Affinity {
    shard: Option<u16>,
    /// From 0 to [`SCORE_MAX`].
    waits: i32,
    /// From minus to plus [`SCORE_MAX`].
    share: i32,
    /// Its place at the home of the shard.
    place: Option<HomePlace>,
}

/// The worker to which a connection is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The worker with this number.
    Worker(usize),
    /// The one with the fewest connections.
    Any,
}

/// A session on its way to another worker, which is to go on by [`Session::arrive`].
#[must_use = "its client stays registered until it arrives and ends"]
pub struct MovingSession {
    client: Arc<Client>,
    port: Port,
    database: u32,
    protocol: Protocol,
    authenticated: bool,
    passwords: Passwords,
    reply_mode: ReplyMode,
    durable_always: bool,
    watermark: Position,
    strict_watermark: Position,
    affinity: Affinity,
    pace: PaceTag,
}

impl Affinity {
    /// Returns the shard to which writes are to be counted.
    #[inline]
    pub(super) fn counted(&self) -> Option<u16> {
        self.shard.filter(|_| self.place.is_some() || self.waits > 0)
    }

    /// Notes a turn, what its requests were to the counted shard, and the shard for which it has to wait in the middle
    /// of a pipeline.
    #[inline]
    pub(super) fn note_turn(&mut self, uses: ShardUses, held: Option<u16>) {
        if self.counted().is_some() {
            self.score_turn(uses, held);
        } else if held.is_some() {
            // What it did for another shard says nothing for this one.
            (self.shard, self.waits, self.share) = (held, WAIT_SCORE, self.share.min(0));
        }
    }

    fn score_turn(&mut self, uses: ShardUses, held: Option<u16>) {
        let is_elsewhere = held.is_some() && held != self.shard;
        self.share = (self.share + uses.writes - OTHER_SHARE * uses.others).clamp(-SCORE_MAX, SCORE_MAX);
        if self.place.is_none() {
            let wait = match held {
                None => -1,
                Some(_) if is_elsewhere => -WAIT_SCORE,
                Some(_) => WAIT_SCORE,
            };
            self.waits = (self.waits + wait).clamp(0, SCORE_MAX);
        }
    }

    /// Returns true if it is to go home, or to leave it.
    #[inline]
    fn is_due(&self) -> bool {
        match &self.place {
            None => self.waits >= GO_SCORE && self.share > 0,
            Some(_) => self.share == -SCORE_MAX,
        }
    }
}

impl MovingSession {
    /// Returns the client as other connections see it.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl Session {
    /// Returns where the connection is to move now, between two turns and with no output pending: then the caller moves
    /// it, or says that it stays by [`Session::stay`].
    #[inline]
    pub fn destination(&mut self) -> Option<Destination> {
        if !self.affinity.is_due() || !self.is_movable() {
            return None;
        }
        let affinity = &mut self.affinity;
        if affinity.place.take().is_some() {
            affinity.waits = 0;
            return Some(Destination::Any);
        }
        let own = self.worker.index;
        let place = Homes::enter(&self.worker.engine, usize::from(affinity.shard?), own);
        let worker = place.worker;
        affinity.place = Some(place);
        (worker != own).then_some(Destination::Worker(worker))
    }

    /// Notes that the connection does not move.
    pub fn stay(&mut self) {
        self.affinity = Affinity::default();
    }

    /// Returns true if its worker keeps nothing of it, and no output is pending.
    pub fn is_movable(&self) -> bool {
        let has_state = self.subscriptions.is_some()
            || self.tracking.is_some()
            || self.outbox.is_some()
            || self.multi.is_some()
            || self.watched.is_some()
            || self.shows_items
            || self.client.is_monitor.load(Relaxed)
            || self.is_locked();
        let is_between = !self.closing && self.replies_held == 0 && self.own_pushes.is_empty();
        is_between && !has_state && !matches!(self.port, Port::Queues(_))
    }

    /// Leaves its worker. What is left must only be dropped.
    ///
    /// # Panics
    /// Panics if its worker keeps some of it: see [`Session::is_movable`].
    pub fn depart(&mut self) -> MovingSession {
        assert!(self.is_movable());
        self.is_stand_in = true;
        self.client.forget_task();
        self.worker.counters().moves.add(1);
        MovingSession {
            client: self.client.clone(),
            port: std::mem::replace(&mut self.port, Port::resp(true)),
            database: self.database,
            protocol: self.protocol,
            authenticated: self.authenticated,
            passwords: self.passwords,
            reply_mode: self.reply_mode,
            durable_always: self.durable_always,
            watermark: self.watermark,
            strict_watermark: self.strict_watermark,
            affinity: std::mem::take(&mut self.affinity),
            pace: self.pace,
        }
    }

    /// Goes on at another worker.
    pub fn arrive(worker: Rc<Worker>, moving: MovingSession) -> Self {
        let mut session = Self::new(worker, moving.client);
        session.port = moving.port;
        session.database = moving.database;
        session.protocol = moving.protocol;
        session.authenticated = moving.authenticated;
        session.passwords = moving.passwords;
        session.reply_mode = moving.reply_mode;
        session.durable_always = moving.durable_always;
        session.watermark = moving.watermark;
        session.strict_watermark = moving.strict_watermark;
        session.affinity = moving.affinity;
        session.pace = moving.pace;
        session
    }
}
