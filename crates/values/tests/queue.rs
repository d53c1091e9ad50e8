//! A queue against a naive twin, which keeps its messages in vectors: after any operations they are equal, and so is
//! the queue decoded from the stored form.

use blocks::{Direction, End};
use proptest::prelude::*;
use std::ops::ControlFlow;
use values::queue::{Full, QueueLimits, Record, State};
use values::{List, Queue, Value, ValueType};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    id: i64,
    state: State,
    due_ms: u64,
    deliveries: u64,
    came_ms: u64,
    dedup: Vec<u8>,
    bytes: Vec<u8>,
}

impl Message {
    fn of(record: Record<'_>) -> Self {
        let Record { id, state, due_ms, deliveries, came_ms, dedup, message } = record;
        Self { id, state, due_ms, deliveries, came_ms, dedup: dedup.to_vec(), bytes: message.to_vec() }
    }
}

/// Messages that were returned, never taken, and held.
#[derive(Clone, Debug, Default)]
struct Twin {
    returned: Vec<Message>,
    run: Vec<Message>,
    held: Vec<Message>,
    low: i64,
    next: i64,
    pushed: u64,
    acked: u64,
    limits: QueueLimits,
}

impl Twin {
    fn new() -> Self {
        Self { low: 1, next: 1, ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.all().count() == 0 && self.limits == QueueLimits::default()
    }

    fn all(&self) -> impl Iterator<Item = &Message> {
        self.returned.iter().chain(&self.run).chain(&self.held)
    }

    fn ready(&self) -> Vec<Message> {
        self.returned.iter().chain(&self.run).cloned().collect()
    }

    fn message(&mut self, at_ms: u64, bytes: &[u8]) -> Message {
        self.pushed += 1;
        let state = State::Ready;
        let (id, dedup) = (self.next, Vec::new());
        Message { id, state, due_ms: 0, deliveries: 0, came_ms: at_ms, dedup, bytes: bytes.to_vec() }
    }

    fn push(&mut self, end: End, at_ms: u64, bytes: &[u8]) {
        let message = self.message(at_ms, bytes);
        if end == End::Tail {
            self.next += 1;
            return self.run.push(message);
        }
        self.low -= 1;
        self.returned.insert(0, Message { id: self.low, ..message });
    }

    fn push_one(&mut self, at_ms: u64, due_ms: u64, dedup: &[u8], bytes: &[u8]) {
        let message = Message { dedup: dedup.to_vec(), ..self.message(at_ms, bytes) };
        self.next += 1;
        match due_ms {
            0 => self.run.push(message),
            due_ms => self.hold(Message { state: State::Delayed, due_ms, ..message }),
        }
    }

    fn hold(&mut self, message: Message) {
        self.held.push(message);
        self.held.sort_by_key(|message| message.id);
    }

    fn release(&mut self, id: i64) {
        let message = self.take_held(id);
        self.returned.push(Message { state: State::Ready, due_ms: 0, ..message });
        self.returned.sort_by_key(|message| message.id);
    }

    fn take_held(&mut self, id: i64) -> Message {
        let at = self.held.iter().position(|message| message.id == id).unwrap();
        self.held.remove(at)
    }

    fn pop(&mut self, end: End) -> Message {
        match end {
            End::Head if !self.returned.is_empty() => self.returned.remove(0),
            End::Head => self.run.remove(0),
            End::Tail => self.run.pop().or_else(|| self.returned.pop()).unwrap(),
        }
    }

    fn due(&self, now: u64) -> Vec<i64> {
        let mut due: Vec<_> = self.held.iter().filter(|it| it.state.is_timed() && it.due_ms <= now).collect();
        due.sort_by_key(|message| (message.due_ms, message.id));
        due.iter().map(|message| message.id).collect()
    }
}

/// Returns the messages that a queue's walks visit: ready, then held.
fn shown(queue: &Queue) -> (Vec<Message>, Vec<Message>) {
    let (mut ready, mut held) = (Vec::new(), Vec::new());
    let _ = queue.walk_records(&mut |record| {
        ready.push(Message::of(record));
        ControlFlow::Continue(())
    });
    let _ = queue.walk_held(&mut |record| {
        held.push(Message::of(record));
        ControlFlow::Continue(())
    });
    (ready, held)
}

fn bytes(queue: &Queue, start: u64, count: u64, direction: Direction) -> Vec<Vec<u8>> {
    let mut shown = Vec::new();
    let _ = queue.walk_ready(start, count, direction, &mut |message: &[u8]| {
        shown.push(message.to_vec());
        ControlFlow::Continue(())
    });
    shown
}

fn reread(queue: &Queue) -> Queue {
    let mut stored = Vec::new();
    let value = Value::Queue(queue.clone());
    value.encode(&mut stored);
    assert_eq!(stored.len() as u64, value.encoded_bytes());
    let mut input = &stored[..];
    let Some(Value::Queue(read)) = Value::decode(ValueType::Queue, &mut input) else { panic!("{queue:?} is not read") };
    assert!(input.is_empty());
    read
}

/// Checks that messages are equal, except that a segment gives all its messages the arrival time of its first one.
fn about_as_old(shown: &[Message], twin: &[Message]) {
    assert_eq!(shown.len(), twin.len());
    for (one, other) in shown.iter().zip(twin) {
        assert!(one.came_ms <= other.came_ms && other.came_ms < one.came_ms + 100, "{one:?} {other:?}");
        assert_eq!(Message { came_ms: 0, ..one.clone() }, Message { came_ms: 0, ..other.clone() });
    }
}

fn check(queue: &Queue, twin: &Twin, now: u64) {
    assert_eq!(queue.is_empty(), twin.is_empty());
    let (ready, held) = shown(queue);
    about_as_old(&ready, &twin.ready());
    about_as_old(&held, &twin.held);
    let len = ready.len() as u64;
    assert_eq!((queue.ready_len(), queue.len()), (len, twin.all().count() as u64));
    let texts: Vec<Vec<u8>> = ready.iter().map(|message| message.bytes.clone()).collect();
    assert_eq!(bytes(queue, 0, len, Direction::Forward), texts);
    let (start, count) = (len / 3, len / 2);
    let part = texts[start as usize..(start + count) as usize].to_vec();
    assert_eq!(bytes(queue, start, count, Direction::Forward), part);
    assert_eq!(bytes(queue, start, count, Direction::Backward), part.iter().rev().cloned().collect::<Vec<_>>());
    for index in 0..=len {
        assert_eq!(queue.ready_at(index, <[u8]>::to_vec), texts.get(index as usize).cloned());
    }
    let figures = queue.figures();
    let of = |state| twin.held.iter().filter(|message| message.state == state).count() as u64;
    let states = [State::Leased, State::Delayed, State::Buried, State::Dead].map(of);
    assert_eq!([figures.leased, figures.delayed, figures.buried, figures.dead], states);
    assert_eq!(figures.bytes, twin.all().map(|message| message.bytes.len() as u64).sum::<u64>());
    assert_eq!((figures.pushed, figures.acked), (twin.pushed, twin.acked));
    assert_eq!(figures.oldest_ms, ready.iter().map(|message| message.came_ms).min());
    assert_eq!(queue.due_ids(now, 1000), twin.due(now));
    assert_eq!(queue.due_ids(now, 2), twin.due(now).into_iter().take(2).collect::<Vec<_>>());
    let ids = |state| {
        let with = twin.held.iter().filter(|message| message.state == state);
        with.map(|message| message.id).collect::<Vec<_>>()
    };
    assert_eq!((queue.dead_ids(1000), queue.buried_ids(1000)), (ids(State::Dead), ids(State::Buried)));
    for dedup in [&b"x"[..], b"y", b"z"] {
        assert_eq!(queue.has_dedup(dedup), twin.all().any(|message| message.dedup == dedup), "{dedup:?}");
    }
    for id in twin.low - 1..twin.next + 1 {
        let expected = held.iter().find(|message| message.id == id);
        assert_eq!(queue.held(id, Message::of).as_ref(), expected);
    }
    if queue.limits().ttl_ms == 0 {
        let timed = twin.held.iter().filter(|message| message.state.is_timed()).map(|message| message.due_ms);
        let dead = (of(State::Dead) > 0).then_some(0);
        assert_eq!(queue.next_due(), timed.chain(dead).min());
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(End, usize, Vec<u8>),
    PushOne(u64, usize, Vec<u8>),
    Reserve(u64, u64),
    Pop(End, u64),
    Remove(usize, bool),
    Release(usize),
    State(usize, State, u64),
    Expire(u64),
    Limit(u64),
    Wait(u64),
    Turn,
}

fn step() -> impl Strategy<Value = Step> {
    let end = || prop_oneof![Just(End::Tail), Just(End::Tail), Just(End::Head)];
    let text = || prop_oneof![prop::collection::vec(any::<u8>(), 0..40), Just(vec![7; 3000])];
    let state = prop_oneof![Just(State::Leased), Just(State::Delayed), Just(State::Buried), Just(State::Dead)];
    prop_oneof![
        4 => (end(), prop_oneof![Just(1usize), Just(3), Just(200)], text()).prop_map(|(a, b, c)| Step::Push(a, b, c)),
        3 => (0..3u64, 0..4usize, text()).prop_map(|(a, b, c)| Step::PushOne(a * 150, b, c)),
        5 => (1..5u64, 1..400u64).prop_map(|(a, b)| Step::Reserve(a, b)),
        2 => (end(), prop_oneof![Just(1u64), 1..300u64]).prop_map(|(a, b)| Step::Pop(a, b)),
        3 => (any::<usize>(), any::<bool>()).prop_map(|(a, b)| Step::Remove(a, b)),
        3 => any::<usize>().prop_map(Step::Release),
        3 => (any::<usize>(), state, 1..400u64).prop_map(|(a, b, c)| Step::State(a, b, c)),
        1 => (0..400u64).prop_map(Step::Expire),
        1 => (0..3u64).prop_map(|a| Step::Limit(a * 200)),
        2 => (0..300u64).prop_map(Step::Wait),
        1 => Just(Step::Turn),
    ]
}

/// Returns some of the held ids, ascending.
fn chosen(twin: &Twin, dice: usize) -> Vec<i64> {
    let held = twin.held.iter().enumerate();
    held.filter(|(nth, _)| dice >> (nth % 60) & 1 == 1).map(|(_, message)| message.id).collect()
}

fn expire(queue: &mut Queue, twin: &mut Twin, now: u64) {
    let (mut old, count) = queue.too_old(now, 1000);
    old.sort_unstable();
    let ttl_ms = queue.limits().ttl_ms;
    let is_old = |message: &Message| ttl_ms > 0 && message.came_ms + ttl_ms <= now;
    assert_eq!(old, twin.returned.iter().filter(|it| is_old(it)).map(|it| it.id).collect::<Vec<_>>());
    // The run's messages expire with their segment: none too early.
    assert!(twin.run[..count as usize].iter().all(is_old));
    if old.len() as u64 + count > 0 {
        queue.expire(&old, count).unwrap();
        twin.returned.retain(|message| !old.contains(&message.id));
        twin.run.drain(..count as usize);
    }
}

fn run(steps: &[Step]) {
    let (mut queue, mut twin, mut now) = (Queue::default(), Twin::new(), 1_000u64);
    for step in steps {
        let kept = (queue.clone(), twin.clone());
        match step {
            Step::Push(end, count, text) => {
                let texts: Vec<&[u8]> = (0..*count).map(|_| &text[..]).collect();
                queue.push(*end, now, texts.into_iter()).unwrap();
                (0..*count).for_each(|_| twin.push(*end, now, text));
            }
            Step::PushOne(delay_ms, dedup, text) => {
                let dedup = [&b""[..], b"x", b"y", b"z"][*dedup];
                let due_ms = if *delay_ms > 0 { now + delay_ms } else { 0 };
                queue.push_one(now, due_ms, dedup, text).unwrap();
                twin.push_one(now, due_ms, dedup, text);
            }
            Step::Reserve(count, lease_ms) => {
                let fits = *count <= queue.ready_len();
                assert_eq!(queue.reserve(*count, now + lease_ms).is_ok(), fits);
                for _ in (0..*count).filter(|_| fits) {
                    let message = twin.pop(End::Head);
                    let (state, due_ms, deliveries) = (State::Leased, now + lease_ms, message.deliveries + 1);
                    twin.hold(Message { state, due_ms, deliveries, ..message });
                }
            }
            Step::Pop(end, count) => {
                let fits = *count <= queue.ready_len();
                assert_eq!(queue.pop(*end, *count).is_ok(), fits);
                (0..*count).filter(|_| fits).for_each(|_| drop(twin.pop(*end)));
            }
            Step::Remove(dice, are_acked) => {
                let ids = chosen(&twin, *dice);
                assert_eq!(queue.remove(&ids, *are_acked).is_ok(), !ids.is_empty());
                ids.iter().for_each(|id| drop(twin.take_held(*id)));
                twin.acked += if *are_acked { ids.len() as u64 } else { 0 };
            }
            Step::Release(dice) => {
                let ids = chosen(&twin, *dice);
                assert_eq!(queue.release(&ids).is_ok(), !ids.is_empty());
                ids.iter().for_each(|id| twin.release(*id));
            }
            Step::State(dice, state, ms) => {
                let (ids, due_ms) = (chosen(&twin, *dice), if state.is_timed() { now + ms } else { 0 });
                assert_eq!(queue.set_state(&ids, *state, due_ms).is_ok(), !ids.is_empty());
                for message in twin.held.iter_mut().filter(|message| ids.contains(&message.id)) {
                    (message.state, message.due_ms) = (*state, due_ms);
                }
            }
            Step::Expire(ms) => expire(&mut queue, &mut twin, now + ms),
            Step::Limit(ttl_ms) => {
                let limits = QueueLimits { ttl_ms: *ttl_ms, len_max: 1_000_000, ..QueueLimits::default() };
                queue.limit(now, limits.clone());
                twin.limits = limits;
            }
            Step::Wait(ms) => now += ms,
            Step::Turn if queue.held_len() == 0 && queue.ready_len() > 0 => {
                queue = Queue::of_plain(queue.to_plain().unwrap(), now);
                let (run, pushed) = (twin.ready(), twin.ready().len() as u64);
                let anew = |(nth, it): (usize, Message)| {
                    let (id, dedup) = (1 + nth as i64, Vec::new());
                    Message { id, came_ms: now, deliveries: 0, dedup, ..it }
                };
                twin = Twin { run: run.into_iter().enumerate().map(anew).collect(), pushed, ..Twin::new() };
                twin.next = 1 + twin.run.len() as i64;
            }
            Step::Turn => {
                assert!(queue.to_plain().is_err() || queue.ready_len() == 0);
            }
        }
        check(&queue, &twin, now + 100);
        check(&kept.0, &kept.1, now);
        if !queue.is_empty() {
            check(&reread(&queue), &twin, now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_matches_its_naive_twin(steps in prop::collection::vec(step(), 1..60)) {
        run(&steps);
    }

    /// Any bytes are refused, or decode to a queue that can be walked and changed.
    #[test]
    fn corrupted_bytes_are_refused_or_decode_to_a_usable_queue(
        steps in prop::collection::vec(step(), 4..20), at in any::<usize>(), byte in any::<u8>(),
    ) {
        let mut queue = Queue::default();
        for step in &steps {
            match step {
                Step::Push(end, _, text) => queue.push(*end, 5, [&text[..]].into_iter()).unwrap(),
                Step::PushOne(delay_ms, _, text) => queue.push_one(5, *delay_ms, b"x", text).unwrap(),
                Step::Reserve(..) => drop(queue.reserve(1, 9)),
                _ => {}
            }
        }
        if !queue.is_empty() {
            let mut stored = Vec::new();
            Value::Queue(queue).encode(&mut stored);
            let at = at % stored.len();
            stored[at] = byte;
            if let Some(Value::Queue(mut read)) = Value::decode(ValueType::Queue, &mut &stored[..]) {
                shown(&read);
                let _ = read.reserve(1, 9);
                let _ = read.pop(End::Tail, 1);
                let _ = read.release(&read.due_ids(u64::MAX, 100));
            }
        }
    }
}

#[test]
fn a_list_converts_to_a_queue_and_back_without_growth() {
    let mut list = List::new();
    (0..100_000u32).for_each(|nth| list.push(End::Tail, format!("message {nth}").as_bytes()));
    let queue = Queue::of_plain(list.clone(), 5);
    assert_eq!((queue.len(), queue.ready_len(), queue.figures().oldest_ms), (100_000, 100_000, Some(5)));
    assert!(queue.heap_bytes() < list.heap_bytes() + 20_000);
    let back = queue.to_plain().unwrap();
    assert_eq!(back.len(), 100_000);
    for at in [0, 1, 50_000, 99_999] {
        assert_eq!(back.get(at, <[u8]>::to_vec), list.get(at, <[u8]>::to_vec));
    }
}

#[test]
fn refused_operations_change_nothing() {
    let mut queue = Queue::default();
    queue.push(End::Tail, 5, [&b"a"[..], b"b"].into_iter()).unwrap();
    queue.reserve(1, 50).unwrap();
    let before = format!("{:?}", shown(&queue));
    assert!(
        queue.remove(&[2], true).is_err() && queue.remove(&[1, 2], true).is_err() && queue.remove(&[], true).is_err()
    );
    assert!(queue.release(&[0]).is_err() && queue.release(&[1, 1]).is_err());
    assert!(queue.set_state(&[1], State::Ready, 0).is_err() && queue.set_state(&[1], State::Leased, 0).is_err());
    assert!(queue.reserve(2, 50).is_err() && queue.reserve(0, 50).is_err() && queue.reserve(1, u64::MAX).is_err());
    assert!(queue.pop(End::Head, 2).is_err() && queue.pop(End::Tail, 0).is_err());
    assert!(queue.expire(&[2], 0).is_err() && queue.expire(&[], 2).is_err() && queue.expire(&[], 0).is_err());
    assert!(queue.to_plain().is_err());
    assert_eq!(format!("{:?}", shown(&queue)), before);
}

#[test]
fn leased_messages_count_against_the_limits() {
    let mut queue = Queue::default();
    queue.push(End::Tail, 5, [&b"abc"[..], b"def"].into_iter()).unwrap();
    queue.limit(5, QueueLimits { len_max: 3, bytes_max: 8, ..QueueLimits::default() });
    queue.reserve(2, 50).unwrap();
    assert_eq!(queue.takes(1, 2), Ok(()));
    assert_eq!(queue.takes(2, 0), Err(Full::Len(3)));
    assert_eq!(queue.takes(1, 3), Err(Full::Bytes(8)));
}
