//! Messages: from publishers to all subscribers, on whatever worker they are.
//!
//! ```text
//! PUBLISH, end of a tx --> Registry: which workers listen to this channel?
//!                            |  a publication into the worker queue of each, and the notifier once a batch
//!                            v
//!                  worker:  Dispatcher: whose of my connections?  --> a subscriber queue each, some hundred in a turn
//!                                                                   |
//!                  connection:  between its requests <--------------'  publications into the output, watermark raised
//! ```
//!
//! - A publisher looks up the channel once, however many subscribers there are; the fan-out is done by the subscribers'
//!   workers, in turns. A message is encoded once, and all its receivers share the bytes.
//! - A tx posts its publications under its locks, before it takes a position: so publications about one key are in
//!   order. They get a position with the frame, a moment later, and nobody reads them before.
//! - A publication raises the watermark of the connection that receives it: it is sent when all that it has seen is
//!   durable.
//! - A connection takes publications into its output between its requests: what was published before a request ran
//!   comes before its reply, and a message never overtakes a reply.
//! - A subscription receives what is published from then on, in order: each worker queue counts its publications, and a
//!   subscription records the count.
//! - The backlog of a worker is bounded, even if the worker is stuck forever. Beyond the bound a message is lost, and a
//!   mark in its place makes its receivers be cut off, like clients that do not read their replies.

mod dispatcher;

pub(crate) use dispatcher::{Delivered, Dispatcher, SubscriberQueue};

use base::Position;
use base::cost::{self, Work};
use base::glob::{Case, matches, matches_counted};
use base::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use base::primitives::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use commands::Topic;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::{Arc, PoisonError};
use sync::notifier::Notifier;
use wire::resp::message;

/// Number of maps, each under its own lock, over which names are spread.
const PARTS: usize = 64;

/// The position that must be durable before a publication is sent.
pub(crate) struct Stamp {
    position: AtomicU64,
    /// True if it waits for durability under any policy, as the publishing connection requested.
    is_strict: AtomicBool,
}

const UNSET: Position = Position::MAX;

impl Stamp {
    /// Creates a stamp for publications that are posted before their position is known.
    pub(crate) fn unset() -> Arc<Self> {
        Self::of(UNSET, false)
    }

    pub(crate) fn of(position: Position, is_strict: bool) -> Arc<Self> {
        Arc::new(Self { position: AtomicU64::new(position), is_strict: AtomicBool::new(is_strict) })
    }

    /// Sets the position of the publications. Ring the workers in whose queues they are after this.
    pub(crate) fn set(&self, position: Position, is_strict: bool) {
        self.is_strict.store(is_strict, Ordering::Relaxed);
        self.position.store(position, Ordering::Release);
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict.load(Ordering::Relaxed)
    }

    /// Returns the position; `None` while it is not known.
    pub(crate) fn position(&self) -> Option<Position> {
        Some(self.position.load(Ordering::Acquire)).filter(|position| *position != UNSET)
    }
}

/// A message to all subscribers of one name.
pub(crate) struct Publication {
    topic: Topic,
    /// The channel, or the pattern that it matches.
    name: Arc<[u8]>,
    /// As encoded by [`message`].
    encoded: Arc<[u8]>,
    stamp: Arc<Stamp>,
    /// There was no room for it.
    is_lost: bool,
}

impl Publication {
    /// Returns its size in bytes.
    fn bytes(&self) -> u64 {
        PUBLICATION_BYTES + self.encoded.len() as u64
    }

    /// Returns a mark in its place.
    fn lost(&self) -> Self {
        Self {
            topic: self.topic,
            name: self.name.clone(),
            encoded: Arc::default(),
            stamp: self.stamp.clone(),
            is_lost: true,
        }
    }

    /// Returns the encoded bytes.
    pub(crate) fn encoded(&self) -> &Arc<[u8]> {
        &self.encoded
    }

    /// Returns what must be durable before it is sent, and whether that holds whatever the policy.
    pub(crate) fn waits_for(&self) -> (Position, bool) {
        let position = self.stamp.position().expect("it is not delivered before its position is known");
        (position, self.stamp.is_strict())
    }
}

/// Bytes that a publication takes besides its message.
const PUBLICATION_BYTES: u64 = 128;
/// Bytes allowed in a worker queue without an explicit bound.
const WORKER_QUEUE_BYTES_MAX: u64 = 128 << 20;

/// Publications in transit to one worker.
pub(crate) struct WorkerQueue {
    publications: Mutex<Publications>,
    /// The number of publications added so far.
    count: AtomicU64,
    /// Bytes of publications, taken out or not, that have not reached all their receivers.
    bytes: AtomicU64,
    bytes_max: AtomicU64,
    /// Rung when there are publications.
    pub(crate) notifier: Notifier,
}

#[derive(Default)]
struct Publications {
    waiting: Vec<Arc<Publication>>,
    /// Topics and names of marks that have not reached all their receivers.
    lost: BTreeSet<(usize, Arc<[u8]>)>,
}

impl Default for WorkerQueue {
    fn default() -> Self {
        Self {
            publications: Mutex::default(),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            bytes_max: AtomicU64::new(WORKER_QUEUE_BYTES_MAX),
            notifier: Notifier::default(),
        }
    }
}

impl WorkerQueue {
    fn lock(&self) -> MutexGuard<'_, Publications> {
        self.publications.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets its bound from the bound of a connection's messages, in bytes; 0: none.
    pub(crate) fn set_bound(&self, client_bytes_max: u64) {
        let bytes_max = if client_bytes_max == 0 { u64::MAX } else { WORKER_QUEUE_BYTES_MAX.max(4 * client_bytes_max) };
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Adds a publication, or a mark if there is no room for it. O(1), or O(log of names) for a mark.
    fn put(&self, mut publication: Arc<Publication>) {
        let mut publications = self.lock();
        let waiting_bytes = self.bytes.load(Ordering::Relaxed);
        let bytes_max = self.bytes_max.load(Ordering::Relaxed);
        // A single one is accepted, however long: it exists anyway.
        if waiting_bytes > 0 && waiting_bytes.saturating_add(publication.bytes()) > bytes_max {
            if !publications.lost.insert((index(publication.topic), publication.name.clone())) {
                return;
            }
            publication = Arc::new(publication.lost());
        }
        self.bytes.fetch_add(publication.bytes(), Ordering::Relaxed);
        publications.waiting.push(publication);
        self.count.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of publications added so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Takes the publications out, and returns how many had been added before the first of them.
    fn take(&self) -> (u64, Vec<Arc<Publication>>) {
        let mut publications = self.lock();
        let taken = std::mem::take(&mut publications.waiting);
        (self.count.load(Ordering::Relaxed) - taken.len() as u64, taken)
    }

    /// Notes that a publication that was taken out has reached all its receivers.
    fn end(&self, publication: &Publication) {
        if publication.is_lost {
            self.forget_lost(publication.topic, &publication.name);
        }
        self.bytes.fetch_sub(publication.bytes(), Ordering::Relaxed);
    }

    /// Forgets a name's loss mark: later losses have other receivers.
    fn forget_lost(&self, topic: Topic, name: &Arc<[u8]>) {
        self.lock().lost.remove(&(index(topic), name.clone()));
    }
}

/// The workers with subscriptions to a name, and how many.
#[derive(Default)]
struct Interest {
    total: usize,
    workers: Vec<(u16, usize)>,
}

type ChannelNames = HashMap<Arc<[u8]>, Interest>;

/// The subscriptions of all connections.
pub(crate) struct SubscriptionRegistry {
    spread: RandomState,
    /// Channels, then shard channels.
    channels: [Box<[RwLock<ChannelNames>]>; 2],
    patterns: RwLock<ChannelNames>,
    /// The patterns in order, for walks in parts.
    patterns_in_order: RwLock<BTreeSet<Arc<[u8]>>>,
    /// Their total length in bytes.
    patterns_bytes: AtomicUsize,
    /// The number of distinct names of each topic.
    names_count: [AtomicUsize; 3],
    worker_queues: Box<[WorkerQueue]>,
}

/// A message of a tx or a connection, to be posted.
pub(crate) struct Message<'a> {
    pub(crate) topic: Topic,
    pub(crate) channel: &'a [u8],
    pub(crate) text: &'a [u8],
}

pub(super) fn index(topic: Topic) -> usize {
    match topic {
        Topic::Channel => 0,
        Topic::Shard => 1,
        Topic::Pattern => 2,
    }
}

fn read<T>(names: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    names.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(names: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    names.write().unwrap_or_else(PoisonError::into_inner)
}

impl SubscriptionRegistry {
    /// Creates a registry for this many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let parts = || (0..PARTS).map(|_| RwLock::default()).collect();
        Self {
            spread: RandomState::new(),
            channels: [parts(), parts()],
            patterns: RwLock::default(),
            patterns_in_order: RwLock::default(),
            patterns_bytes: AtomicUsize::new(0),
            names_count: Default::default(),
            worker_queues: (0..workers).map(|_| WorkerQueue::default()).collect(),
        }
    }

    /// Returns the queue of publications to a worker's connections.
    pub(crate) fn worker_queue(&self, worker: usize) -> &WorkerQueue {
        &self.worker_queues[worker]
    }

    /// Returns true if there are subscriptions other than to shard channels.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.names_count(Topic::Channel) + self.names_count(Topic::Pattern) > 0
    }

    /// Returns the number of distinct names of a topic with subscriptions.
    pub(crate) fn names_count(&self, topic: Topic) -> usize {
        self.names_count[index(topic)].load(Ordering::Acquire)
    }

    fn names(&self, topic: Topic, name: &[u8]) -> &RwLock<ChannelNames> {
        match topic {
            Topic::Pattern => &self.patterns,
            topic => &self.channels[index(topic)][self.spread.hash_one(name) as usize % PARTS],
        }
    }

    /// Adds a subscription of a connection of `worker`; returns the name as shared by all, and the count of the
    /// worker's queue before it.
    pub(crate) fn add(&self, worker: usize, topic: Topic, name: &[u8]) -> (Arc<[u8]>, u64) {
        let mut names = write(self.names(topic, name));
        let shared = match names.get_key_value(name) {
            Some((shared, _)) => shared.clone(),
            None => {
                self.names_count[index(topic)].fetch_add(1, Ordering::AcqRel);
                let shared: Arc<[u8]> = name.into();
                if topic == Topic::Pattern {
                    self.patterns_bytes.fetch_add(name.len(), Ordering::AcqRel);
                    write(&self.patterns_in_order).insert(shared.clone());
                }
                shared
            }
        };
        cost::count(Work::Names, 1);
        self.worker_queues[worker].forget_lost(topic, &shared);
        let interest = names.entry(shared.clone()).or_default();
        interest.total += 1;
        match interest.workers.iter_mut().find(|(of, _)| usize::from(*of) == worker) {
            Some((_, count)) => *count += 1,
            None => interest.workers.push((worker as u16, 1)),
        }
        (shared, self.worker_queues[worker].count())
    }

    /// Ends a subscription that [`SubscriptionRegistry::add`] added.
    pub(crate) fn remove(&self, worker: usize, topic: Topic, name: &[u8]) {
        cost::count(Work::Names, 1);
        let mut names = write(self.names(topic, name));
        let interest = names.get_mut(name).expect("what is removed was added");
        interest.total -= 1;
        let at = interest.workers.iter().position(|(of, _)| usize::from(*of) == worker);
        let at = at.expect("what is removed was added");
        interest.workers[at].1 -= 1;
        if interest.workers[at].1 == 0 {
            interest.workers.swap_remove(at);
        }
        if interest.total == 0 {
            names.remove(name);
            self.names_count[index(topic)].fetch_sub(1, Ordering::AcqRel);
            if topic == Topic::Pattern {
                self.patterns_bytes.fetch_sub(name.len(), Ordering::AcqRel);
                write(&self.patterns_in_order).remove(name);
            }
        }
    }

    /// Adds a message to the worker queues of all its receivers, and records in `notified` the workers to ring. Returns
    /// the number of subscriptions reached. O(patterns + workers).
    pub(crate) fn post(&self, what: &Message<'_>, stamp: &Arc<Stamp>, notified: &mut Vec<u16>) -> usize {
        let mut total = self.post_to_channel(what, stamp, notified);
        if what.topic == Topic::Channel && self.names_count(Topic::Pattern) > 0 {
            for (pattern, interest) in &*read(&self.patterns) {
                if matches(pattern, what.channel, Case::Exact) {
                    total += self.post_to_pattern(what, (pattern, interest), stamp, notified);
                }
            }
        }
        total
    }

    /// Like [`SubscriptionRegistry::post`], but only to subscribers of the channel itself. O(workers).
    pub(crate) fn post_to_channel(&self, what: &Message<'_>, stamp: &Arc<Stamp>, notified: &mut Vec<u16>) -> usize {
        let Message { topic, channel, text } = *what;
        let names = read(self.names(topic, channel));
        let Some((name, interest)) = names.get_key_value(channel) else { return 0 };
        let word: &[u8] = if topic == Topic::Shard { b"smessage" } else { b"message" };
        let encoded = message(&[word, channel, text]);
        let publication = Publication { topic, name: name.clone(), encoded, stamp: stamp.clone(), is_lost: false };
        self.send(interest, &Arc::new(publication), notified)
    }

    /// Like [`SubscriptionRegistry::post`], but only to patterns after `after`, for some 100 µs. Returns the number of
    /// subscriptions reached, and the last pattern looked at, if there are more.
    pub(crate) fn post_to_patterns(
        &self,
        what: &Message<'_>,
        after: Option<&Arc<[u8]>>,
        stamp: &Arc<Stamp>,
        notified: &mut Vec<u16>,
    ) -> (usize, Option<Arc<[u8]>>) {
        let (patterns, in_order) = (read(&self.patterns), read(&self.patterns_in_order));
        let behind = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.clone()));
        let (mut total, mut bytes_left) = (0, POST_BYTES);
        for pattern in in_order.range((behind, Bound::Unbounded)) {
            let (is_match, bytes) = matches_counted(pattern, what.channel, Case::Exact);
            if is_match && let Some(interest) = patterns.get(pattern) {
                total += self.post_to_pattern(what, (pattern, interest), stamp, notified);
            }
            bytes_left = bytes_left.saturating_sub(bytes + PATTERN_BYTES);
            if bytes_left == 0 {
                return (total, Some(pattern.clone()));
            }
        }
        (total, None)
    }

    fn post_to_pattern(
        &self,
        what: &Message<'_>,
        (pattern, interest): (&Arc<[u8]>, &Interest),
        stamp: &Arc<Stamp>,
        notified: &mut Vec<u16>,
    ) -> usize {
        let encoded = message(&[b"pmessage", pattern, what.channel, what.text]);
        let (topic, name) = (Topic::Pattern, pattern.clone());
        let publication = Publication { topic, name, encoded, stamp: stamp.clone(), is_lost: false };
        self.send(interest, &Arc::new(publication), notified)
    }

    fn send(&self, interest: &Interest, publication: &Arc<Publication>, notified: &mut Vec<u16>) -> usize {
        for (worker, _) in &interest.workers {
            self.worker_queues[usize::from(*worker)].put(publication.clone());
            if !notified.contains(worker) {
                notified.push(*worker);
            }
        }
        interest.total
    }

    /// Returns true if matching a channel against all patterns costs more than a turn should. O(1).
    pub(crate) fn is_long_way(&self, channel: &[u8]) -> bool {
        let count = self.names_count(Topic::Pattern);
        count > 0
            && self.patterns_bytes.load(Ordering::Relaxed) + count * (channel.len() + PATTERN_BYTES)
                > POST_BYTES_AT_ONCE
    }

    /// Returns the number of subscriptions that a message to `channel` would reach now.
    pub(crate) fn reach(&self, topic: Topic, channel: &[u8]) -> usize {
        let mut total = self.subscribers_count(topic, channel);
        if topic == Topic::Channel && self.names_count(Topic::Pattern) > 0 {
            let patterns = read(&self.patterns);
            let matching = patterns.iter().filter(|(pattern, _)| matches(pattern, channel, Case::Exact));
            total += matching.map(|(_, interest)| interest.total).sum::<usize>();
        }
        total
    }

    /// Returns the number of subscribers to a name itself.
    pub(crate) fn subscribers_count(&self, topic: Topic, name: &[u8]) -> usize {
        read(self.names(topic, name)).get(name).map_or(0, |interest| interest.total)
    }

    /// Returns the channels of one part, those that match `pattern` if there is one. `None`: there is no part with this
    /// number. O(channels / parts).
    pub(crate) fn channels(&self, topic: Topic, pattern: Option<&[u8]>, part: usize) -> Option<Vec<Vec<u8>>> {
        let fits = |name: &[u8]| {
            cost::count(Work::Names, 1);
            pattern.is_none_or(|pattern| matches(pattern, name, Case::Exact))
        };
        let names = read(self.channels[index(topic)].get(part)?);
        Some(names.keys().filter(|name| fits(name)).map(|name| name.to_vec()).collect())
    }
}

/// Bytes that a pattern counts for besides its compared bytes.
const PATTERN_BYTES: usize = 32;
/// Bytes of patterns and channel compared in one part of a long walk.
const POST_BYTES: usize = 256 << 10;
/// Likewise in a walk of a single part.
const POST_BYTES_AT_ONCE: usize = 1 << 20;

#[cfg(test)]
mod tests;
