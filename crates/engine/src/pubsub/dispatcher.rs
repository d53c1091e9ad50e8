//! What one worker has of the messages: which of its connections listen to what, the publications that are still to be given to
//! them, and the subscriber queue of each. Touched by its own thread alone.

use super::{Publication, SubscriptionRegistry, index};
use crate::client::Client;
use crate::expire_cycle::DeferredDrop;
use commands::Topic;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Waker};

/// Subscriber queues that are filled before others have their turn, at most: some 50 µs.
const RECEIVERS_MAX: usize = 512;

/// Publications of one connection, which it takes into its output.
pub(crate) struct SubscriberQueue {
    client: Arc<Client>,
    publications: RefCell<VecDeque<Arc<Publication>>>,
    /// What they hold, in bytes.
    bytes: Cell<u64>,
    /// Of the worker's publications, all before this one have been looked through for it.
    caught_up: Cell<u64>,
    waker: RefCell<Option<Waker>>,
    /// Its connection is gone, or has left all that it heard by it.
    is_closed: Cell<bool>,
}

impl SubscriberQueue {
    /// An empty one.
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

    /// Whether all publications of its worker have been looked through for it.
    pub(crate) fn is_caught_up(&self, registry: &SubscriptionRegistry, worker: usize) -> bool {
        registry.worker_queue(worker).count() == self.caught_up.get()
    }

    /// Whether there are publications; if not, the context is woken when there are.
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

    /// The next publication.
    pub(crate) fn take(&self) -> Option<Arc<Publication>> {
        let publication = self.publications.borrow_mut().pop_front()?;
        self.note_bytes(self.bytes.get() - size_of_publication(&publication));
        if self.bytes.get() == 0 {
            // A queue that was long once is not kept.
            self.publications.replace(VecDeque::new());
        }
        Some(publication)
    }

    fn note_bytes(&self, bytes: u64) {
        self.bytes.set(bytes);
        self.client.mail_bytes.store(bytes, Relaxed);
    }

    /// Puts a publication in, and wakes the connection. One that has more waiting than it may is cut off.
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

    /// Has the connection closed, for which so many bytes wait.
    fn cut_off(&self, waiting_bytes: u64, deferred_drop: &DeferredDrop) {
        self.client.cut_off(waiting_bytes.max(1));
        self.close(deferred_drop);
        self.wake();
    }

    /// Drops the publications, and takes no more.
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
    /// Publications before this one were posted before it subscribed.
    since: u64,
}

/// By name, and there by the clients' numbers.
type Members = HashMap<Arc<[u8]>, BTreeMap<u64, Member>>;

/// Whether all publications have been given to those whom they concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// They have, or the notifier rings when it goes on.
    All,
    /// Others shall have their turn before it goes on.
    Some,
}

/// One worker's part.
#[derive(Default)]
pub(crate) struct Dispatcher {
    /// By topic.
    members: [Members; 3],
    pending: VecDeque<Arc<Publication>>,
    /// The number of the first of them.
    first: u64,
    /// Clients below this number have it.
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

    /// Ends a subscription that was added. What was not in the subscriber queue by then is not received any more.
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

    /// Whether there is anything to deliver.
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

    /// Gives publications to the subscriber queues of those whom they concern: to some hundred in one call.
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

    /// Gives one connection all publications for it that have a position, ahead of others. O(publications that are not delivered).
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

/// A queue with room for more publications than this is not kept.
const PENDING_KEPT_MAX: usize = 4096;
