//! A session's part in client-side caching: recording its reads and receiving invalidations.
//!
//! An invalidation posted before its reader held the shard is sent before the reply; a later one follows the reply. So
//! a client that drops what is invalidated, and keeps what replies contain, never keeps stale data.

use super::messages::{OUTPUT_BYTES_MAX, is_lost};
use crate::pushes::Push;
use crate::session::state::Session;
use crate::tracking::Tracked;
use crate::tracking::invalidations::put_out;
use crate::worker::Worker;
use commands::registry::Command;
use commands::{Access, Flag, TrackWhen};
use keyspace::{Named, Tx};
use std::collections::BTreeSet;
use wire::resp::{Encoder, Protocol};
use wire::{Args, Mark, Output, Reply};

/// Tracking state of a connection.
pub(in crate::session) struct Tracking {
    is_broadcast: bool,
    no_loop: bool,
    redirect: u64,
    when: TrackWhen,
    /// CLIENT CACHING: the next request deviates from the default.
    is_caching_said: bool,
    prefixes: BTreeSet<Vec<u8>>,
    /// The number of pushes posted when the latest reply saw its keys.
    heard: u64,
    /// Keys that a running EXEC has read and not changed since.
    read: BTreeSet<Box<[u8]>>,
}

impl Session {
    /// CLIENT TRACKING ON, or CLIENT CACHING: both have been checked.
    pub(in crate::session) fn begin_tracking(&mut self, asked: commands::Tracking) {
        let engine = &self.worker.engine;
        let tracked = Tracked {
            client: self.client.clone(),
            redirect: asked.redirect,
            is_broadcast: asked.is_broadcast,
            no_loop: asked.no_loop,
        };
        engine.tracker.add(tracked, &asked.prefixes);
        self.client.tracking.set(true, asked.is_broadcast, asked.redirect);
        if asked.is_broken {
            self.client.tracking.note_broken();
        }
        self.tracking = Some(Box::new(Tracking {
            is_broadcast: asked.is_broadcast,
            no_loop: asked.no_loop,
            redirect: asked.redirect,
            when: asked.when,
            is_caching_said: asked.is_caching_said,
            prefixes: asked.prefixes.into_iter().collect(),
            heard: 0,
            read: BTreeSet::new(),
        }));
    }

    /// CLIENT TRACKING OFF
    pub(in crate::session) fn untrack(&mut self) {
        let Some(tracking) = self.tracking.take() else { return };
        let engine = &self.worker.engine;
        engine.tracker.remove(self.client.id, &tracking.prefixes, &engine.deferred_drop);
        self.client.tracking.set(false, false, 0);
    }

    /// Returns its tracking state in the form of a request for it.
    pub(in crate::session) fn tracking_state(&self) -> Option<commands::Tracking> {
        self.tracking.as_ref().map(|tracking| commands::Tracking {
            redirect: tracking.redirect,
            is_broadcast: tracking.is_broadcast,
            when: tracking.when,
            no_loop: tracking.no_loop,
            prefixes: tracking.prefixes.iter().cloned().collect(),
            is_caching_said: tracking.is_caching_said,
            is_broken: self.client.tracking.is_broken(),
        })
    }

    /// Restores the tracking state from before an abandoned EXEC.
    pub(in crate::session) fn restore_tracking(&mut self, before: Option<commands::Tracking>) {
        if self.tracking_state() != before {
            self.untrack();
            before.into_iter().for_each(|before| self.begin_tracking(before));
        }
    }

    /// Records the keys that a command has read, whose shards are still held.
    #[inline]
    pub(in crate::session) fn note_read(&mut self, worker: &Worker, command: &Command, args: &Args<'_>) {
        if self.tracking.is_some() {
            self.note_tracked_read(worker, command, args);
        }
    }

    #[cold]
    fn note_tracked_read(&mut self, worker: &Worker, command: &Command, args: &Args<'_>) {
        self.note_heard();
        if command.reported_access() == Access::Read && self.remembers() {
            let keyspace = &worker.engine.keyspace;
            command.for_each_key(args, |key, _| {
                worker.engine.tracker.remember(keyspace::shard_of(keyspace.hash(key)), key, self.client.id);
            });
            self.put_out(worker);
        }
    }

    /// Like [`Session::note_read`], for keys of one shard that a gathering command looks at.
    pub(in crate::session) fn note_looked<'a>(
        &self,
        worker: &Worker,
        shard: usize,
        keys: impl Iterator<Item = &'a [u8]>,
    ) {
        if self.remembers() {
            keys.for_each(|key| worker.engine.tracker.remember(shard, key, self.client.id));
            self.put_out(worker);
        }
    }

    fn put_out(&self, worker: &Worker) {
        let keys_max = worker.settings().tracking_keys_max as usize;
        put_out(&worker.engine, keys_max, &mut worker.executor.invalidated());
    }

    /// Notes that the next reply shows data as of now.
    pub(in crate::session) fn note_heard(&mut self) {
        if let Some(tracking) = &mut self.tracking {
            tracking.heard = self.client.pushes.count();
        }
    }

    /// Returns true if current reads are remembered.
    fn remembers(&self) -> bool {
        self.tracking.as_ref().is_some_and(|tracking| {
            !tracking.is_broadcast
                && match tracking.when {
                    TrackWhen::Always => true,
                    TrackWhen::OptIn => tracking.is_caching_said,
                    TrackWhen::OptOut => !tracking.is_caching_said,
                }
        })
    }

    /// Begins the reads of an EXEC, perhaps a repeated one.
    pub(in crate::session) fn begin_reads(&mut self) {
        self.tracking.iter_mut().for_each(|tracking| tracking.read.clear());
    }

    /// Like [`Session::note_read`], for a command of an EXEC whose changes are in the log after `mark`.
    #[inline]
    pub(in crate::session) fn note_command(
        &mut self,
        worker: &Worker,
        tx: &Tx<'_>,
        mark: usize,
        command: &Command,
        args: &Args<'_>,
    ) {
        let remembers = command.reported_access() == Access::Read && self.remembers();
        let Some(tracking) = &mut self.tracking else { return };
        for named in tx.log().named_from(mark) {
            if let Named::Key(_, key) = named {
                tracking.read.remove(key);
            }
        }
        if remembers {
            tracking.read.extend(keys_of(command, args));
            // So that a later change is reported.
            self.note_read(worker, command, args);
        }
    }

    /// Remembers the reads of an EXEC, once its changes have been reported.
    pub(in crate::session) fn remember_reads(&mut self) {
        let Some(tracking) = &mut self.tracking else { return };
        tracking.heard = self.client.pushes.count();
        let read = std::mem::take(&mut tracking.read);
        let worker = self.worker.clone();
        let keyspace = &worker.engine.keyspace;
        for key in &read {
            worker.engine.tracker.remember(keyspace::shard_of(keyspace.hash(key)), key, self.client.id);
        }
        if !read.is_empty() {
            self.put_out(&worker);
        }
    }

    /// Takes pushes posted before number `end` into the output. Returns true if there are more than it takes at once.
    pub(in crate::session) fn take_pushes(&mut self, end: u64, output: &mut Output) -> bool {
        let client = self.client.clone();
        while output.bytes_pending() < OUTPUT_BYTES_MAX {
            let Some(sent) = client.pushes.take(end) else { return false };
            let position = sent.stamp.position().expect("it is not taken before its position is known");
            if is_lost(&self.worker.engine, position) {
                continue;
            }
            self.saw(position);
            if sent.stamp.is_strict() {
                self.strict_watermark = self.strict_watermark.max(position);
            }
            self.write_push(&sent.push, sent.is_redirected, output);
        }
        client.pushes.are_ready()
    }

    /// Writes a push. In RESP2 only a subscribed connection gets any, and only on behalf of others.
    fn write_push(&self, push: &Push, is_redirected: bool, output: &mut Output) {
        let is_resp3 = self.protocol == Protocol::Resp3;
        if let Push::Line(line) = push {
            if self.protocol == Protocol::Memcache {
                output.append_bytes(line.as_bytes());
                // The lines of memcached's `watch` end with this.
                return output.append_bytes(b"\n");
            }
            return Encoder::new(output, self.protocol).simple(line);
        }
        let hears = is_resp3 || (is_redirected && self.is_subscribed());
        if !hears {
            return;
        }
        let mut reply = Encoder::new(output, self.protocol);
        if let Push::Gone(id) = push {
            reply.push(2);
            reply.bulk(b"tracking-redir-broken");
            reply.int(*id as i64);
            return;
        }
        if is_resp3 {
            reply.push(2);
            reply.bulk(b"invalidate");
        } else {
            reply.array(3);
            reply.bulk(b"message");
            reply.bulk(b"__redis__:invalidate");
        }
        match push {
            Push::Keys(keys) => {
                reply.array(keys.len());
                keys.iter().for_each(|key| reply.bulk(key));
            }
            Push::All | Push::Gone(_) | Push::Line(_) => reply.null(),
        }
    }

    /// Completes a request whose reply begins at `mark`: inserts the pushes that the reply has overtaken before it, and
    /// its own after it.
    pub(in crate::session) fn settle_tracking(&mut self, command: &Command, mark: Mark, output: &mut Output) {
        let mut own = std::mem::take(&mut self.own_pushes);
        let is_ahead = own.iter().any(|own| own.is_first) || (self.tracking.is_some() && self.client.pushes.any());
        let reply = is_ahead.then(|| output.split_off(mark));
        if let Some(tracking) = &mut self.tracking {
            let heard = tracking.heard;
            if self.multi.is_none() && !command.has(Flag::OfClient) {
                tracking.is_caching_said = false;
            }
            if reply.is_some() {
                self.take_pushes(heard, output);
            }
        }
        own.sort_by_key(|own| !own.is_first);
        let (first, last) = own.split_at(own.partition_point(|own| own.is_first));
        first.iter().for_each(|own| self.write_push(&own.push, own.is_redirected, output));
        reply.into_iter().for_each(|reply| output.append(reply));
        last.iter().for_each(|own| self.write_push(&own.push, own.is_redirected, output));
    }
}

fn keys_of(command: &Command, args: &Args<'_>) -> Vec<Box<[u8]>> {
    let mut keys = Vec::new();
    command.for_each_key(args, |key, _| keys.push(key.into()));
    keys
}
