//! Reports of a transaction while its shards are held: to watches, to subscribers of messages and key events.

use crate::engine::Engine;
use crate::pubsub::{Message, Stamp, SubscriptionRegistry};
use commands::Topic;
use commands::registry::Command;
use keyspace::{Classes, Named, Note, Tx};
use std::sync::Arc;
use wire::Args;

/// A message published inside a transaction: it is posted when that ends.
pub(crate) struct Outgoing {
    /// It follows this many notes of the tx.
    pub(crate) behind: usize,
    pub(crate) topic: Topic,
    pub(crate) channel: Box<[u8]>,
    pub(crate) text: Box<[u8]>,
}

/// Records the command that runs from here on, for the tx's notes, if any are taken, and for its read counts.
#[inline]
pub(crate) fn begin_command(tx: &mut Tx<'_>, command: &Command, args: &Args<'_>) {
    tx.count_reads(commands::counted_reads(command, args));
    if tx.is_taking_notes() {
        tx.begin_command(command.index() as u16, commands::reports_misses(command));
    }
}

/// Posts key events and messages in their order. The stamp must be set once the frame has a position.
pub(super) fn post_all(engine: &Engine, notes: &[Note], messages: &[Outgoing], notified: &mut Vec<u16>) -> Arc<Stamp> {
    let stamp = Stamp::unset();
    let mut posted = 0;
    for Outgoing { behind, topic, channel, text } in messages {
        post_notes(engine, &notes[posted..*behind], &stamp, notified);
        posted = *behind;
        engine.registry.post(&Message { topic: *topic, channel, text }, &stamp, notified);
    }
    post_notes(engine, &notes[posted..], &stamp, notified);
    stamp
}

/// Posts the keyspace notifications for these notes.
fn post_notes(engine: &Engine, notes: &[Note], stamp: &Arc<Stamp>, notified: &mut Vec<u16>) {
    let classes = engine.event_classes();
    let registry: &SubscriptionRegistry = &engine.registry;
    for event in commands::events(notes).into_iter().filter(|event| classes.has(event.class)) {
        let (database, name) = (event.database, event.name.as_bytes());
        let mut post = |prefix: &str, channel: &[u8], text: &[u8]| {
            let channel = [format!("__{prefix}@{database}__:").as_bytes(), channel].concat();
            registry.post(&Message { topic: Topic::Channel, channel: &channel, text }, stamp, notified);
        };
        if classes.has(Classes::KEYSPACE) {
            post("keyspace", event.key, name);
        }
        if classes.has(Classes::KEYEVENT) {
            post("keyevent", name, event.key);
        }
    }
}

/// Marks the watches of every key that the tx has changed; its shards are held.
pub(super) fn mark_watches(engine: &Engine, tx: &mut Tx<'_>) {
    let hooks = &engine.hooks;
    if !tx.shards().any(|shard| hooks.any(shard)) && !tx.map_changed() {
        return;
    }
    let map = engine.keyspace.map();
    for named in tx.touched() {
        let Named::Key(table, key) = named else { continue };
        let shard = keyspace::shard_of(engine.keyspace.hash(key));
        if hooks.any(shard) {
            for database in (0..map.databases()).filter(|database| map.table(*database) == table) {
                hooks.mark_watches(shard, database, key);
            }
        }
    }
    if tx.map_changed() {
        for shard in hooks.used_shards() {
            hooks.mark_watches_of(shard, |database, key| tx.is_in_moved(database, key));
        }
    }
}
