//! Messages: from whoever publishes to all who have subscribed, on whatever worker they are.
//!
//! ```text
//! PUBLISH, end of a tx --> Board: which workers listen to this channel?
//!                            |  a letter into the inbox of each, and the bell once a batch
//!                            v
//!                  worker:  Post: whose of my connections?  --> a mailbox each, some hundred in a turn
//!                                                                   |
//!                  connection:  between its requests <--------------'  letters into the output, watermark raised
//! ```
//!
//! - Whoever publishes looks at the channel once, however many listen; the fan-out is the work of the listeners' workers, in
//!   turns. A message is encoded once, and all its receivers share the bytes.
//! - A tx posts its letters under its locks, before it takes a position: so letters about one key are in order. They have no
//!   position until the frame has one (a moment later), and nobody looks at them before.
//! - A letter raises the watermark of the connection that receives it: it leaves when all that it has seen is durable.
//! - A connection takes its letters into its output between its requests: what was published before a request ran comes
//!   before its reply, and a message never overtakes a reply.
//! - A subscription receives what is published from then on, in order: each inbox counts its letters, and a subscription
//!   notes the count.

mod post;

pub(crate) use post::{Delivered, Mailbox, Post};

use base::Position;
use base::glob::{Case, matches};
use commands::Topic;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use sync::bell::Bell;
use wire::resp::message;

/// Names are spread over so many maps, each under its own lock.
const PARTS: usize = 64;

/// What a letter waits for before it leaves.
pub(crate) struct Stamp {
    position: AtomicU64,
    /// Whatever the policy, as the connection that published it had asked for.
    is_strict: AtomicBool,
}

const UNSET: Position = Position::MAX;

impl Stamp {
    /// One of letters that are posted before their position is known.
    pub(crate) fn unset() -> Arc<Self> {
        Self::of(UNSET, false)
    }

    pub(crate) fn of(position: Position, is_strict: bool) -> Arc<Self> {
        Arc::new(Self { position: AtomicU64::new(position), is_strict: AtomicBool::new(is_strict) })
    }

    /// Gives the letters their position. Those whose inboxes they lie in are to be rung after this.
    pub(crate) fn set(&self, position: Position, is_strict: bool) {
        self.is_strict.store(is_strict, Ordering::Relaxed);
        self.position.store(position, Ordering::Release);
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict.load(Ordering::Relaxed)
    }

    /// `None` while it is not known.
    pub(crate) fn position(&self) -> Option<Position> {
        Some(self.position.load(Ordering::Acquire)).filter(|position| *position != UNSET)
    }
}

/// A message to all who have subscribed to one name.
pub(crate) struct Letter {
    topic: Topic,
    /// The channel, or the pattern that it matches.
    name: Arc<[u8]>,
    /// As [`message`] makes it.
    encoded: Arc<[u8]>,
    stamp: Arc<Stamp>,
}

impl Letter {
    /// As it is sent.
    pub(crate) fn encoded(&self) -> &Arc<[u8]> {
        &self.encoded
    }

    /// What must be durable before it leaves, and whether that holds whatever the policy.
    pub(crate) fn waits_for(&self) -> (Position, bool) {
        let position = self.stamp.position().expect("it is not delivered before its position is known");
        (position, self.stamp.is_strict())
    }
}

/// Letters on their way to one worker.
#[derive(Default)]
pub(crate) struct Inbox {
    letters: Mutex<Vec<Arc<Letter>>>,
    /// How many letters have ever been put in.
    count: AtomicU64,
    /// Rung when there are letters.
    pub(crate) bell: Bell,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Letter>>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, letter: Arc<Letter>) {
        let mut letters = self.lock();
        letters.push(letter);
        self.count.fetch_add(1, Ordering::Release);
    }

    /// How many letters have ever been put in.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Takes the letters out, and says how many had been put in before the first of them.
    fn take(&self) -> (u64, Vec<Arc<Letter>>) {
        let mut letters = self.lock();
        let taken = std::mem::take(&mut *letters);
        (self.count.load(Ordering::Relaxed) - taken.len() as u64, taken)
    }
}

/// Which workers have subscriptions to a name, and how many.
#[derive(Default)]
struct Interest {
    total: usize,
    workers: Vec<(u16, usize)>,
}

type Names = HashMap<Arc<[u8]>, Interest>;

/// What is subscribed to, by all connections.
pub(crate) struct Board {
    spread: RandomState,
    /// Channels, then shard channels.
    channels: [Box<[RwLock<Names>]>; 2],
    patterns: RwLock<Names>,
    /// Different names of each topic.
    names_count: [AtomicUsize; 3],
    inboxes: Box<[Inbox]>,
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

fn read(names: &RwLock<Names>) -> RwLockReadGuard<'_, Names> {
    names.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(names: &RwLock<Names>) -> RwLockWriteGuard<'_, Names> {
    names.write().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// Of so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let parts = || (0..PARTS).map(|_| RwLock::default()).collect();
        Self {
            spread: RandomState::new(),
            channels: [parts(), parts()],
            patterns: RwLock::default(),
            names_count: Default::default(),
            inboxes: (0..workers).map(|_| Inbox::default()).collect(),
        }
    }

    /// Where letters to a worker's connections arrive.
    pub(crate) fn inbox(&self, worker: usize) -> &Inbox {
        &self.inboxes[worker]
    }

    /// Whether anybody has subscribed to anything but shard channels.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.names_count(Topic::Channel) + self.names_count(Topic::Pattern) > 0
    }

    /// How many different names of a topic are subscribed to.
    pub(crate) fn names_count(&self, topic: Topic) -> usize {
        self.names_count[index(topic)].load(Ordering::Acquire)
    }

    fn names(&self, topic: Topic, name: &[u8]) -> &RwLock<Names> {
        match topic {
            Topic::Pattern => &self.patterns,
            topic => &self.channels[index(topic)][self.spread.hash_one(name) as usize % PARTS],
        }
    }

    /// Notes a subscription of a connection of `worker`; gives the name as all share it, and how many letters the worker's
    /// inbox had before.
    pub(crate) fn add(&self, worker: usize, topic: Topic, name: &[u8]) -> (Arc<[u8]>, u64) {
        let mut names = write(self.names(topic, name));
        let shared = match names.get_key_value(name) {
            Some((shared, _)) => shared.clone(),
            None => {
                self.names_count[index(topic)].fetch_add(1, Ordering::AcqRel);
                name.into()
            }
        };
        let interest = names.entry(shared.clone()).or_default();
        interest.total += 1;
        match interest.workers.iter_mut().find(|(of, _)| usize::from(*of) == worker) {
            Some((_, count)) => *count += 1,
            None => interest.workers.push((worker as u16, 1)),
        }
        (shared, self.inboxes[worker].count())
    }

    /// Ends a subscription that [`Board::add`] noted.
    pub(crate) fn remove(&self, worker: usize, topic: Topic, name: &[u8]) {
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
        }
    }

    /// Puts a message into the inboxes of all whom it concerns, and notes in `rung` whose bells are to be rung. How many
    /// subscriptions it reaches. O(patterns + workers).
    pub(crate) fn post(&self, what: &Message<'_>, stamp: &Arc<Stamp>, rung: &mut Vec<u16>) -> usize {
        let Message { topic, channel, text } = *what;
        let mut total = 0;
        let mut send = |interest: &Interest, letter: Arc<Letter>| {
            total += interest.total;
            for (worker, _) in &interest.workers {
                self.inboxes[usize::from(*worker)].put(letter.clone());
                if !rung.contains(worker) {
                    rung.push(*worker);
                }
            }
        };
        let names = read(self.names(topic, channel));
        if let Some((name, interest)) = names.get_key_value(channel) {
            let word: &[u8] = if topic == Topic::Shard { b"smessage" } else { b"message" };
            let encoded = message(&[word, channel, text]);
            send(interest, Arc::new(Letter { topic, name: name.clone(), encoded, stamp: stamp.clone() }));
        }
        if topic == Topic::Channel && self.names_count(Topic::Pattern) > 0 {
            for (pattern, interest) in &*read(&self.patterns) {
                if matches(pattern, channel, Case::Exact) {
                    let encoded = message(&[b"pmessage", pattern, channel, text]);
                    let topic = Topic::Pattern;
                    send(interest, Arc::new(Letter { topic, name: pattern.clone(), encoded, stamp: stamp.clone() }));
                }
            }
        }
        total
    }

    /// How many subscriptions a message to `channel` would reach now.
    pub(crate) fn reach(&self, topic: Topic, channel: &[u8]) -> usize {
        let mut total = self.subscribers_count(topic, channel);
        if topic == Topic::Channel && self.names_count(Topic::Pattern) > 0 {
            let patterns = read(&self.patterns);
            let matching = patterns.iter().filter(|(pattern, _)| matches(pattern, channel, Case::Exact));
            total += matching.map(|(_, interest)| interest.total).sum::<usize>();
        }
        total
    }

    /// How many have subscribed to a name itself.
    pub(crate) fn subscribers_count(&self, topic: Topic, name: &[u8]) -> usize {
        read(self.names(topic, name)).get(name).map_or(0, |interest| interest.total)
    }

    /// Channels that are subscribed to, those that match `pattern` if there is one. O(channels).
    pub(crate) fn channels(&self, topic: Topic, pattern: Option<&[u8]>) -> Vec<Vec<u8>> {
        let fits = |name: &[u8]| pattern.is_none_or(|pattern| matches(pattern, name, Case::Exact));
        let mut channels = Vec::new();
        for names in &self.channels[index(topic)] {
            channels.extend(read(names).keys().filter(|name| fits(name)).map(|name| name.to_vec()));
        }
        channels
    }
}
