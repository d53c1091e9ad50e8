//! A session's part in messages: its subscriptions, the messages it publishes, and those it receives between requests.

use crate::engine::Engine;
use crate::executor::Outgoing;
use crate::pubsub::{Message, Stamp, SubscriberQueue};
use crate::script::catalogue::CatalogueChanges;
use crate::session::state::Session;
use crate::worker::{Chore, Worker};
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use commands::{Access, Flag, Topic};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use wire::Output;
use wire::resp::{Encoder, Protocol};

/// Maximum bytes of messages taken into an output; more wait in the subscriber queue, where their bytes are shared.
pub(in crate::session) const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// The subscriptions of a connection.
pub(in crate::session) struct Subscriptions {
    subscriber_queue: Rc<SubscriberQueue>,
    /// Channels, shard channels, patterns.
    names: [BTreeSet<Arc<[u8]>>; 3],
}

/// The messages of a running EXEC, and its other deferred output.
#[derive(Default)]
pub(in crate::session) struct Outbox {
    /// The number of the tx's notes when the current command began.
    pub(in crate::session) notes_count: usize,
    pub(in crate::session) messages: Vec<Outgoing>,
    /// Its changes to function libraries, if any.
    pub(in crate::session) library_changes: Option<CatalogueChanges>,
    /// The lines for MONITOR once it has ended, and their length in bytes.
    pub(in crate::session) shown: Vec<String>,
    pub(in crate::session) shown_bytes: u64,
    /// Subscriptions it has begun, and those it has ended, which resume if it is undone.
    pub(in crate::session) subscribed: Vec<(Topic, Box<[u8]>, bool)>,
    /// When the time ends that its queries may take together, while everybody waits.
    pub(in crate::session) queries_end_ms: Option<base::Ms>,
    /// Log lines of a script running in place, with their levels.
    pub(in crate::session) logged: Vec<(u8, String)>,
}

const TOPICS: [Topic; 3] = [Topic::Channel, Topic::Shard, Topic::Pattern];

fn index(topic: Topic) -> usize {
    match topic {
        Topic::Channel => 0,
        Topic::Shard => 1,
        Topic::Pattern => 2,
    }
}

/// Subscriptions of a closed connection.
struct Left {
    names: [BTreeSet<Arc<[u8]>>; 3],
    client: u64,
}

/// Subscriptions ended per step.
const LEFT_MAX: usize = 128;

impl Chore for Left {
    fn step(&mut self, worker: &Worker) -> bool {
        let mut post = worker.post.borrow_mut();
        for _ in 0..LEFT_MAX {
            let next = TOPICS.into_iter().find_map(|topic| Some((topic, self.names[index(topic)].pop_first()?)));
            let Some((topic, name)) = next else { return true };
            post.remove(&worker.engine.registry, worker.index, topic, &name, self.client);
        }
        self.names.iter().all(BTreeSet::is_empty)
    }
}

impl Session {
    /// Returns true if it has any subscriptions.
    pub fn is_subscribed(&self) -> bool {
        self.subscriptions.as_ref().is_some_and(|all| all.names.iter().any(|names| !names.is_empty()))
    }

    /// Returns the error for `command` if it may not run because its replies would look like messages or like MONITOR
    /// output.
    pub(in crate::session) fn check_listening(&self, command: &Command) -> Result<(), String> {
        if self.worker.engine.monitors.any()
            && matches!(command.access, Access::Read | Access::Write { .. })
            && self.client.is_monitor.load(Relaxed)
        {
            // Redis treats a monitor as a replica.
            return Err("ERR Replica can't interact with the keyspace".to_owned());
        }
        if self.protocol == Protocol::Resp3 || !self.is_subscribed() {
            return Ok(());
        }
        if command.subscribes() || command.has(Flag::WhileSubscribed) {
            return Ok(());
        }
        let name = command.reported_name();
        Err(format!(
            "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
             context"
        ))
    }

    pub(in crate::session) fn names(&self, topic: Topic) -> impl Iterator<Item = &Arc<[u8]>> {
        self.subscriptions.iter().flat_map(move |all| &all.names[index(topic)])
    }

    /// Returns the number of its subscriptions to a topic. O(1).
    pub(in crate::session) fn names_count(&self, topic: Topic) -> usize {
        self.subscriptions.as_ref().map_or(0, |all| all.names[index(topic)].len())
    }

    pub(in crate::session) fn subscribe_to(&mut self, topic: Topic, name: &[u8]) {
        let (worker, client) = (&self.worker, &self.client);
        let all = self.subscriptions.get_or_insert_with(|| {
            Box::new(Subscriptions {
                subscriber_queue: SubscriberQueue::new(client.clone()),
                names: Default::default(),
            })
        });
        let names = &mut all.names[index(topic)];
        if !names.contains(name) {
            names.insert(worker.post.borrow_mut().add(
                &worker.engine.registry,
                worker.index,
                topic,
                name,
                &all.subscriber_queue,
            ));
            self.client.subscriptions[index(topic)].store(names.len() as u32, Relaxed);
            self.outbox.iter_mut().for_each(|outbox| outbox.subscribed.push((topic, name.into(), true)));
        }
    }

    pub(in crate::session) fn unsubscribe_from(&mut self, topic: Topic, name: &[u8]) {
        let worker = &self.worker;
        let Some(all) = &mut self.subscriptions else { return };
        let names = &mut all.names[index(topic)];
        if names.remove(name) {
            worker.post.borrow_mut().remove(&worker.engine.registry, worker.index, topic, name, self.client.id);
            self.client.subscriptions[index(topic)].store(names.len() as u32, Relaxed);
            self.outbox.iter_mut().for_each(|outbox| outbox.subscribed.push((topic, name.into(), false)));
        }
    }

    /// Undoes the subscription changes of an abandoned EXEC, the latest first.
    pub(in crate::session) fn undo_subscribed(&mut self, subscribed: Vec<(Topic, Box<[u8]>, bool)>) {
        for (topic, name, has_begun) in subscribed.into_iter().rev() {
            if has_begun { self.unsubscribe_from(topic, &name) } else { self.subscribe_to(topic, &name) }
        }
    }

    /// Ends all subscriptions at once.
    pub(in crate::session) fn unsubscribe_from_all(&mut self) {
        for topic in TOPICS {
            let names: Vec<Arc<[u8]>> = self.names(topic).cloned().collect();
            names.iter().for_each(|name| self.unsubscribe_from(topic, name));
        }
    }

    /// Ends all subscriptions of a closed connection: it receives nothing more, and its worker removes them from the
    /// registry, in turns if there are many.
    pub(in crate::session) fn leave(&mut self) {
        let Some(all) = self.subscriptions.take() else { return };
        all.subscriber_queue.close(&self.worker.engine.deferred_drop);
        let mut left = Left { names: all.names, client: self.client.id };
        if !left.step(&self.worker) {
            self.worker.add_chore(Box::new(left));
        }
    }

    // ---- receiving ----

    /// Ready when it has messages.
    pub fn poll_messages(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.client.pushes.are_ready() {
            return Poll::Ready(());
        }
        let Some(all) = &self.subscriptions else { return Poll::Pending };
        if all.subscriber_queue.has_publications(Some(context)) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Returns true if [`Session::take_messages`] may have work.
    #[inline]
    pub(in crate::session) fn may_have_messages(&self) -> bool {
        self.subscriptions.is_some() || self.client.pushes.any()
    }

    /// Returns true if [`Session::take_messages`] would take messages.
    pub fn has_messages(&self) -> bool {
        self.client.pushes.are_ready()
            || self.subscriptions.as_ref().is_some_and(|all| all.subscriber_queue.has_publications(None))
    }

    /// Takes messages into the output, including those published earlier but not yet delivered. Returns true if there
    /// are more than it takes at once: they must be taken before any request runs.
    pub fn take_messages(&mut self, output: &mut Output) -> bool {
        if self.client.pushes.any() && self.take_pushes(u64::MAX, output) {
            return true;
        }
        let Some(all) = &self.subscriptions else { return false };
        let subscriber_queue = all.subscriber_queue.clone();
        let worker = self.worker.clone();
        worker.catch_up(&subscriber_queue);
        while output.bytes_pending() < OUTPUT_BYTES_MAX {
            let Some(publication) = subscriber_queue.take() else { return false };
            let (position, is_strict) = publication.waits_for();
            if is_lost(&worker.engine, position) {
                continue;
            }
            self.saw(position);
            if is_strict {
                self.strict_watermark = self.strict_watermark.max(position);
            }
            Encoder::new(output, self.protocol).message(publication.encoded());
        }
        subscriber_queue.has_publications(None)
    }

    // ---- publishing ----

    pub(in crate::session) fn say(&mut self, topic: Topic, channel: &[u8], text: &[u8]) -> usize {
        let worker = &*self.worker;
        if let Some(outbox) = &mut self.outbox {
            let behind = outbox.notes_count;
            outbox.messages.push(Outgoing { behind, topic, channel: channel.into(), text: text.into() });
            return worker.engine.registry.reach(topic, channel);
        }
        let message = Message { topic, channel, text };
        let stamp = Stamp::of(self.watermark, self.durable_always);
        worker.engine.registry.post(&message, &stamp, &mut worker.executor.notified.borrow_mut())
    }

    /// Does a part of [`Session::say`] when there are many patterns: sends to the channel's own subscribers, then to
    /// those of some patterns after `after`. Returns the number of receivers and the last pattern.
    pub(in crate::session) fn say_part(
        &mut self,
        (channel, text): (&[u8], &[u8]),
        after: Option<&Arc<[u8]>>,
    ) -> (usize, Option<Arc<[u8]>>) {
        let worker = &*self.worker;
        let (message, mut notified) =
            (Message { topic: Topic::Channel, channel, text }, worker.executor.notified.borrow_mut());
        let stamp = Stamp::of(self.watermark, self.durable_always);
        let registry = &worker.engine.registry;
        let direct = if after.is_none() { registry.post_to_channel(&message, &stamp, &mut notified) } else { 0 };
        let (reached, last) = registry.post_to_patterns(&message, after, &stamp, &mut notified);
        (direct + reached, last)
    }
}

/// Returns true if the data at `position` will never be durable.
pub(in crate::session) fn is_lost(engine: &Engine, position: base::Position) -> bool {
    engine.journal.as_ref().is_some_and(|journal| journal.is_poisoned() && position > journal.durable())
}
