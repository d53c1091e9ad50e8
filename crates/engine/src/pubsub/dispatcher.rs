//! One worker's message state: the subscriptions of its connections, the publications still to be delivered to them,
//! and the subscriber queue of each. Used by its own thread alone.

use super::{Publication, SubscriptionRegistry, index};
use crate::client::Client;
use crate::deferred_drop::DeferredDrop;
use base::primitives::atomic::Ordering::Relaxed;
use commands::Topic;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Maximum number of subscriber queues filled before others have their turn: some 50 µs.
const RECEIVERS_MAX: usize = 512;

/// Publications waiting for one connection, which takes them into its output.
pub(crate) struct SubscriberQueue {
    client: Arc<Client>,
    publications: RefCell<VecDeque<Arc<Publication>>>,
    /// Their size in bytes.
    bytes: Cell<u64>,
    /// All of the worker's publications before this number have been checked for it.
    caught_up: Cell<u64>,
    waker: RefCell<Option<Waker>>,
    /// Its connection is gone, or has ended all its subscriptions.
    is_closed: Cell<bool>,
}

impl SubscriberQueue {
    /// Creates an empty queue.
    pub(crate) fn new(client: Arc<Client>) -> Rc<Self> {
        Rc::new(Self {
            client,
            publications: RefCell::default(),
            bytes: Cell::new(0),
            caught_up: Cell::new(0),
            waker: RefCell::default(),
            is_closed: Cell::new(false),
        })
    }

    /// Returns true if all publications of its worker have been checked for it.
    pub(crate) fn is_caught_up(&self, registry: &SubscriptionRegistry, worker: usize) -> bool {
        registry.worker_queue(worker).count() == self.caught_up.get()
    }

    /// Returns true if there are publications; otherwise registers the context.
    pub(crate) fn has_publications(&self, context: Option<&mut Context<'_>>) -> bool {
        let has_publications = !self.publications.borrow().is_empty();
        if let Some(context) = context.filter(|_| !has_publications) {
            let mut waker = self.waker.borrow_mut();
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                *waker = Some(context.waker().clone());
            }
        }
        has_publications
    }

    /// Takes the next publication.
    pub(crate) fn take(&self) -> Option<Arc<Publication>> {
        let publication = self.publications.borrow_mut().pop_front()?;
        self.note_bytes(self.bytes.get() - size_of_publication(&publication));
        if self.bytes.get() == 0 {
            // A queue that was once long is freed.
            self.publications.replace(VecDeque::new());
        }
        Some(publication)
    }

    fn note_bytes(&self, bytes: u64) {
        self.bytes.set(bytes);
        self.client.mail_bytes.store(bytes, Relaxed);
    }

    /// Adds a publication and wakes the connection. Cuts it off if more is waiting than its limit.
    fn put(&self, publication: &Arc<Publication>, hard_bytes: u64, deferred_drop: &DeferredDrop) {
        if self.client.is_cut_off() || self.is_closed.get() {
            return;
        }
        if publication.is_lost {
            return self.cut_off(hard_bytes, deferred_drop);
        }
        self.publications.borrow_mut().push_back(publication.clone());
        self.note_bytes(self.bytes.get() + size_of_publication(publication));
        let waiting_bytes = self.bytes.get() + self.client.output_bytes.load(Relaxed) as u64;
        if hard_bytes > 0 && waiting_bytes > hard_bytes {
            return self.cut_off(waiting_bytes, deferred_drop);
        }
        self.wake();
    }

    /// Makes the connection close because this many bytes wait for it.
    fn cut_off(&self, waiting_bytes: u64, deferred_drop: &DeferredDrop) {
        self.client.cut_off(waiting_bytes.max(1));
        self.close(deferred_drop);
        self.wake();
    }

    /// Drops the publications and accepts no more.
    pub(crate) fn close(&self, deferred_drop: &DeferredDrop) {
        self.is_closed.set(true);
        let publications = self.publications.take();
        if !publications.is_empty() {
            deferred_drop.free(Box::new(publications));
        }
        self.note_bytes(0);
    }

    fn wake(&self) {
        let waker = self.waker.borrow_mut().take();
        waker.into_iter().for_each(Waker::wake);
    }
}

fn size_of_publication(publication: &Publication) -> u64 {
    publication.encoded.len() as u64 + 1
}

/// A connection's subscription to one name.
struct Member {
    subscriber_queue: Rc<SubscriberQueue>,
    /// Earlier publications were posted before it subscribed.
    since: u64,
}

/// By name, then by client number.
type Members = HashMap<Arc<[u8]>, BTreeMap<u64, Member>>;

/// Result of a delivery: some publications are left, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// They have, or the notifier rings when delivery can continue.
    All,
    /// Others have their turn before delivery continues.
    Some,
}

/// One worker's dispatcher.
#[derive(Default)]
pub(crate) struct Dispatcher {
    /// By topic.
    members: [Members; 3],
    pending: VecDeque<Arc<Publication>>,
    /// The number of the first pending publication.
    first: u64,
    /// Clients below this number have received it.
    reached: u64,
}

impl Dispatcher {
    /// Adds a subscription.
    pub(crate) fn add(
        &mut self,
        registry: &SubscriptionRegistry,
        worker: usize,
        topic: Topic,
        name: &[u8],
        subscriber_queue: &Rc<SubscriberQueue>,
    ) -> Arc<[u8]> {
        let (name, since) = registry.add(worker, topic, name);
        let member = Member { subscriber_queue: subscriber_queue.clone(), since };
        self.members[index(topic)].entry(name.clone()).or_default().insert(subscriber_queue.client.id, member);
        name
    }

    /// Ends a subscription. Publications not yet in the subscriber queue are no longer received.
    pub(crate) fn remove(
        &mut self,
        registry: &SubscriptionRegistry,
        worker: usize,
        topic: Topic,
        name: &[u8],
        client: u64,
    ) {
        registry.remove(worker, topic, name);
        let names = &mut self.members[index(topic)];
        let members = names.get_mut(name).expect("what is removed was added");
        members.remove(&client);
        if members.is_empty() {
            names.remove(name);
        }
    }

    /// Returns true if there is anything to deliver.
    pub(crate) fn has_publications(&self, registry: &SubscriptionRegistry, worker: usize) -> bool {
        !self.pending.is_empty() || registry.worker_queue(worker).count() != self.first
    }

    fn take_in(&mut self, registry: &SubscriptionRegistry, worker: usize) {
        let worker_queue = registry.worker_queue(worker);
        if worker_queue.count() == self.first + self.pending.len() as u64 {
            return;
        }
        let (before, publications) = worker_queue.take();
        assert_eq!(before, self.first + self.pending.len() as u64, "letters are taken in order");
        self.pending.extend(publications);
    }

    /// Delivers publications to the subscriber queues: to some hundreds per call.
    pub(crate) fn deliver(
        &mut self,
        registry: &SubscriptionRegistry,
        worker: usize,
        hard_bytes: u64,
        deferred_drop: &DeferredDrop,
    ) -> Delivered {
        registry.worker_queue(worker).set_bound(hard_bytes);
        self.take_in(registry, worker);
        let mut left = RECEIVERS_MAX;
        while let Some(publication) = self.pending.front() {
            if publication.stamp.position().is_none() {
                return Delivered::All;
            }
            if left == 0 {
                return Delivered::Some;
            }
            left -= 1;
            let members = self.members[index(publication.topic)].get(&publication.name);
            let from = self.reached;
            let mut members = members.into_iter().flat_map(|members| members.range(from..));
            let is_over = loop {
                let Some((id, member)) = members.next() else { break true };
                if member.since <= self.first && member.subscriber_queue.caught_up.get() <= self.first {
                    member.subscriber_queue.put(publication, hard_bytes, deferred_drop);
                }
                self.reached = id + 1;
                if left == 0 {
                    break false;
                }
                left -= 1;
            };
            if is_over {
                let publication = self.pending.pop_front().expect("just looked at");
                registry.worker_queue(worker).end(&publication);
                (self.first, self.reached) = (self.first + 1, 0);
            }
        }
        if self.pending.capacity() > PENDING_KEPT_MAX {
            self.pending = VecDeque::new();
        }
        Delivered::All
    }

    /// Delivers to one connection all its publications that have a position, ahead of others. O(undelivered
    /// publications).
    pub(crate) fn catch_up(
        &mut self,
        registry: &SubscriptionRegistry,
        worker: usize,
        subscriber_queue: &SubscriberQueue,
        hard_bytes: u64,
        deferred_drop: &DeferredDrop,
    ) {
        self.take_in(registry, worker);
        let id = subscriber_queue.client.id;
        let from = subscriber_queue.caught_up.get().max(self.first);
        let skipped = (from - self.first) as usize;
        subscriber_queue.caught_up.set(from);
        for publication in self.pending.iter().skip(skipped) {
            if publication.stamp.position().is_none() {
                return;
            }
            let number = subscriber_queue.caught_up.get();
            let member =
                self.members[index(publication.topic)].get(&publication.name).and_then(|members| members.get(&id));
            let has_it = number == self.first && id < self.reached;
            if member.is_some_and(|member| member.since <= number) && !has_it {
                subscriber_queue.put(publication, hard_bytes, deferred_drop);
            }
            subscriber_queue.caught_up.set(number + 1);
        }
    }
}

/// A pending queue with room for more publications than this is freed.
const PENDING_KEPT_MAX: usize = 4096;
