//! Calls and replies on a few dedicated keys, over all lives of a world: a single order must explain them all.
//!
//! ```text
//!   registers r0 r1 r2        lists l0 l1 l2        queues q0 -> q1, q2 -> q3
//! ```
//!
//! Time is the number of earlier calls and replies, so any two events are ordered. A call not answered when its server
//! dies, or its connection ends, has happened by then or never.

use crate::client::{Client, Lost, number};
use crate::random::Random;
use crate::request::Request;
use linearizability::{End, Event, Key, Step, check};
use wire::client::Value;

/// The number of keys each for registers and lists.
const KEYS: u64 = 3;
/// The queues, and where their elements move.
const QUEUES: [(Key, Key); 2] = [(0, 1), (2, 3)];

/// All calls so far.
#[derive(Debug, Default)]
pub(crate) struct Record {
    events: Vec<Event>,
    ticks: u64,
    values: u64,
}

impl Record {
    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    /// Returns a value that is unique in a world.
    fn value(&mut self) -> u64 {
        self.values += 1;
        self.values
    }

    /// Records a call. Returns its number.
    pub(crate) fn begin(&mut self, client: usize, steps: Vec<Step>) -> usize {
        let called_ns = self.tick();
        self.events.push(Event { client: client as u32, called_ns, end: End::Lost(u64::MAX), steps });
        self.events.len() - 1
    }

    /// Records the outcome of a call: its last reply, or none.
    pub(crate) fn end(&mut self, call: usize, reply: Result<&Value, Lost>) {
        let now = self.tick();
        let event = &mut self.events[call];
        event.end = match reply.map(|reply| (reply, reply.as_error())) {
            Err(Lost) => End::Lost(now),
            Ok((_, Some(text))) => end_of(text, now),
            Ok((reply, None)) => {
                note(&mut event.steps, reply);
                End::Answered(now)
            }
        };
    }

    /// The server is gone: unanswered calls stay unanswered.
    pub(crate) fn bury(&mut self) {
        let now = self.tick();
        let open = self.events.iter_mut().filter(|event| event.end == End::Lost(u64::MAX));
        open.for_each(|event| event.end = End::Lost(now));
    }

    /// # Panics
    /// If no order explains all observations.
    pub(crate) fn judge(&self) {
        check(&self.events).unwrap_or_else(|anomaly| panic!("no order explains what clients saw: {anomaly}"));
    }
}

/// Refused before it changed anything, or run but not durable: the restart decides.
fn end_of(error: &str, now: u64) -> End {
    let is_refused = ["MISCONF the disk", "EXECABORT", "UNBLOCKED"].iter().any(|begin| error.starts_with(begin));
    assert!(is_refused || error.starts_with("MISCONF"), "the server answers {error}");
    if is_refused { End::Refused } else { End::Lost(now) }
}

/// Stores a reply's values in the steps of its call.
fn note(steps: &mut [Step], reply: &Value) {
    if let ([_, _, _, ..], Some(replies)) = (&*steps, reply.as_slice()) {
        assert_eq!(replies.len(), steps.len(), "EXEC answers {reply}");
        steps.iter_mut().zip(replies).for_each(|(step, reply)| note_step(step, reply));
    } else {
        // With SET GET, the reply answers the GET.
        note_step(&mut steps[0], reply);
    }
}

fn note_step(step: &mut Step, reply: &Value) {
    match step {
        Step::Get { found, .. } | Step::Move { found, .. } => *found = number(reply),
        // BLPOP also returns the queue.
        Step::Pop { found, .. } => *found = number(reply.as_slice().map_or(reply, |pair| &pair[1])),
        Step::Append { length, .. } => *length = reply.as_int().map(|length| length as u64),
        Step::Range { found, .. } | Step::Look { found, .. } => {
            let elements = reply.as_slice().unwrap_or_else(|| panic!("LRANGE answers {reply}"));
            *found = elements.iter().map(|element| number(element).expect("elements are numbers")).collect();
        }
        Step::Set { .. } => assert_eq!(*reply, Value::Simple("OK".to_owned())),
        Step::Push { .. } => assert!(reply.as_int().is_some(), "RPUSH answers {reply}"),
    }
}

impl Client {
    /// Makes one recorded call.
    pub(crate) async fn call_recorded(&mut self) {
        let steps = self.steps();
        let timeout = (self.shared.random.below(3) == 0).then_some("0.02");
        let requests = requests(&steps, timeout);
        let call = self.shared.facts.borrow_mut().record.begin(self.number, steps);
        let replies = self.send(&requests).await;
        let last = replies.as_ref().map(|replies| replies.last().expect("each request is answered"));
        self.shared.facts.borrow_mut().record.end(call, last.map_err(|lost| *lost));
    }

    fn steps(&self) -> Vec<Step> {
        let random = &self.shared.random;
        let record = &mut self.shared.facts.borrow_mut().record;
        let (key, (from, to)) = (random.below(KEYS) as Key, QUEUES[random.below(2) as usize]);
        match random.below(12) {
            0 => vec![Step::Get { key, found: None }],
            1 => vec![Step::Set { key, value: record.value() }],
            2 => vec![Step::Get { key, found: None }, Step::Set { key, value: record.value() }],
            3 => vec![Step::Append { key, value: record.value(), length: None }],
            4 => vec![Step::Range { key, found: Vec::new() }],
            5 | 6 => vec![Step::Push { queue: from, value: record.value() }],
            7 | 8 => vec![Step::Move { from, to, found: None }],
            9 => vec![Step::Pop { queue: to, found: None }],
            _ => transaction(random, record),
        }
    }
}

/// Returns a transaction on three keys, each read, written, or both.
fn transaction(random: &Random, record: &mut Record) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..3 {
        let (key, is_list, way) = (random.below(KEYS) as Key, random.below(2) == 0, random.below(3));
        let read = match is_list {
            true => Step::Range { key, found: Vec::new() },
            false => Step::Get { key, found: None },
        };
        if way != 0 {
            steps.push(read.clone());
        }
        if way != 1 {
            steps.push(match is_list {
                true => Step::Append { key, value: record.value(), length: None },
                false => Step::Set { key, value: record.value() },
            });
        }
    }
    steps
}

/// Returns reads of all keys, one by one.
pub(crate) fn reads() -> impl Iterator<Item = (Step, Request)> {
    let registers = (0..KEYS as Key).map(|key| Step::Get { key, found: None });
    let lists = (0..KEYS as Key).map(|key| Step::Range { key, found: Vec::new() });
    let queues = QUEUES.iter().flat_map(|&(from, to)| [from, to]);
    let looks = queues.map(|queue| Step::Look { queue, found: Vec::new() });
    registers.chain(lists).chain(looks).map(|step| (step.clone(), request(&step, None)))
}

fn requests(steps: &[Step], timeout: Option<&str>) -> Vec<Request> {
    match steps {
        [step] => vec![request(step, timeout)],
        [Step::Get { key, .. }, Step::Set { value, .. }] => {
            let key = format!("r{key}");
            vec![Request::on(&["SET", &key, &value.to_string(), "GET"], &[&key])]
        }
        steps => Request::transaction(steps.iter().map(|step| request(step, None)).collect(), &[]),
    }
}

/// Returns the command of a step; a blocking one if there is a timeout.
fn request(step: &Step, timeout: Option<&str>) -> Request {
    let (kind, key) = match step {
        Step::Get { key, .. } | Step::Set { key, .. } => ("r", key),
        Step::Append { key, .. } | Step::Range { key, .. } => ("l", key),
        Step::Push { queue, .. } | Step::Pop { queue, .. } | Step::Look { queue, .. } => ("q", queue),
        Step::Move { from, .. } => ("q", from),
    };
    let key = &*format!("{kind}{key}");
    let one = |words: &[&str]| Request::on(words, &[key]);
    match (step, timeout) {
        (Step::Get { .. }, _) => one(&["GET", key]),
        (Step::Set { value, .. }, _) => one(&["SET", key, &value.to_string()]),
        (Step::Append { value, .. } | Step::Push { value, .. }, _) => one(&["RPUSH", key, &value.to_string()]),
        (Step::Range { .. } | Step::Look { .. }, _) => one(&["LRANGE", key, "0", "-1"]),
        (Step::Pop { .. }, None) => one(&["LPOP", key]),
        (Step::Pop { .. }, Some(timeout)) => one(&["BLPOP", key, timeout]),
        (Step::Move { to, .. }, None) => one(&["LMOVE", key, &format!("q{to}"), "LEFT", "RIGHT"]),
        (Step::Move { to, .. }, Some(timeout)) => one(&["BLMOVE", key, &format!("q{to}"), "LEFT", "RIGHT", timeout]),
    }
}
