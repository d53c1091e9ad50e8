//! Publications between publishers and subscribers: bounded, and sent in parts.

use super::*;
use crate::client::{Client, Clients};
use crate::deferred_drop::DeferredDrop;
use std::rc::Rc;

struct Listener {
    client: Arc<Client>,
    subscriber_queue: Rc<SubscriberQueue>,
}

/// Connections of an idle worker.
struct Hall {
    registry: SubscriptionRegistry,
    post: Dispatcher,
    clients: Clients,
    deferred_drop: DeferredDrop,
}

impl Hall {
    fn new() -> Self {
        Self {
            registry: SubscriptionRegistry::new(1),
            post: Dispatcher::default(),
            clients: Clients::default(),
            deferred_drop: DeferredDrop::default(),
        }
    }

    fn listener(&mut self, topic: Topic, name: &[u8]) -> Listener {
        let client = self.clients.add("", "", true, 0);
        let subscriber_queue = SubscriberQueue::new(client.clone());
        self.post.add(&self.registry, 0, topic, name, &subscriber_queue);
        Listener { client, subscriber_queue }
    }

    fn publish(&self, channel: &str, text: &[u8]) -> usize {
        let message = Message { topic: Topic::Channel, channel: channel.as_bytes(), text };
        self.registry.post(&message, &Stamp::of(0, false), &mut Vec::new())
    }

    fn deliver(&mut self, hard_bytes: u64) {
        while self.post.deliver(&self.registry, 0, hard_bytes, &self.deferred_drop) == Delivered::Some {}
    }

    fn waiting_bytes(&self) -> u64 {
        let publications = self.registry.worker_queue(0).lock();
        publications.waiting.iter().map(|publication| publication.bytes()).sum()
    }
}

impl Listener {
    fn publications(&self) -> usize {
        std::iter::from_fn(|| self.subscriber_queue.take()).count()
    }
}

const MIB: usize = 1 << 20;

#[test]
fn a_full_worker_queue_cuts_off_subscribers_that_lose_messages() {
    let mut hall = Hall::new();
    let [loud, quiet] = [b"loud", b"calm"].map(|name| hall.listener(Topic::Channel, name));
    assert_eq!(hall.publish("calm", b"before"), 1);
    for _ in 0..1_000 {
        // Cut-off receivers are counted as reached, as in Redis.
        assert_eq!(hall.publish("loud", &vec![0; MIB]), 1);
    }
    assert!(
        hall.waiting_bytes() <= WORKER_QUEUE_BYTES_MAX + 2 * PUBLICATION_BYTES,
        "{} bytes wait",
        hall.waiting_bytes()
    );
    let late = hall.listener(Topic::Channel, b"loud");
    hall.deliver(0);
    assert_eq!(hall.registry.worker_queue(0).bytes.load(Ordering::Relaxed), 0);
    assert!(loud.client.is_cut_off() && loud.publications() == 0);
    assert!(!quiet.client.is_cut_off() && quiet.publications() == 1);
    assert!(!late.client.is_cut_off(), "all that was lost was published before it subscribed");
    assert_eq!(hall.publish("loud", b"after"), 2);
    hall.deliver(0);
    assert_eq!(late.publications(), 1);
}

#[test]
fn a_late_subscriber_is_cut_off_if_it_loses_messages() {
    let mut hall = Hall::new();
    let early = hall.listener(Topic::Channel, b"c");
    for _ in 0..200 {
        hall.publish("c", &vec![0; MIB]);
    }
    let late = hall.listener(Topic::Channel, b"c");
    hall.publish("c", &vec![0; MIB]);
    hall.deliver(0);
    assert!(early.client.is_cut_off() && late.client.is_cut_off());
}

#[test]
fn the_worker_queue_bound_follows_the_client_bound() {
    let hall = Hall::new();
    let bound = |client_bytes_max| {
        hall.registry.worker_queue(0).set_bound(client_bytes_max);
        hall.registry.worker_queue(0).bytes_max.load(Ordering::Relaxed)
    };
    assert_eq!([bound(1 << 20), bound(1 << 30), bound(0)], [WORKER_QUEUE_BYTES_MAX, 4 << 30, u64::MAX]);
}

#[test]
fn matching_many_patterns_is_split_into_bounded_parts() {
    let mut hall = Hall::new();
    let channel = "a".repeat(10_000);
    let listener = hall.listener(Topic::Pattern, b"*a?a*");
    let patterns: Vec<String> = (0..2_000).map(|nth| format!("*a?{nth}*")).collect();
    patterns.iter().for_each(|pattern| {
        drop(hall.post.add(&hall.registry, 0, Topic::Pattern, pattern.as_bytes(), &listener.subscriber_queue));
    });
    assert!(hall.registry.is_long_way(channel.as_bytes()) && !hall.registry.is_long_way(b"short"));
    let message = Message { topic: Topic::Channel, channel: channel.as_bytes(), text: b"text" };
    let (mut after, mut total, mut parts) = (None, 0, 0);
    loop {
        cost::take();
        let (reached, last) =
            hall.registry.post_to_patterns(&message, after.as_ref(), &Stamp::of(0, false), &mut Vec::new());
        assert!(cost::take().bytes <= (2 * POST_BYTES) as u64);
        (total, parts) = (total + reached, parts + 1);
        after = last;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((total, hall.publish(&channel, b"text")), (1, 1));
    assert!(parts > 10, "{parts} parts");
}
