//! The workload of clients: few keys, so that they conflict, and moods, so that they conflict in different ways.
//!
//! ```text
//!   registers r0..r3      lists, three at a time: l0 l1 l2, then l3 l4 l5, ...      queues q0 -> q1, q2 -> q3
//! ```

use crate::history::client::{Call, Client, Closed, Form};
use linearizability::{Event, Key, Step, Value};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const REGISTERS: u64 = 4;
const LISTS: u64 = 3;
/// Registers from this number on are written once, and keyspace notifications report them: the value is the number less
/// this.
pub(crate) const ONCE: Key = 1_000;
/// The maximum number of the registers reported last that are read at the end.
const ONCE_READ_MAX: usize = 100;
/// Elements appended to a set of lists before the next is begun.
const APPENDS: u64 = 150;
/// The queues, and where their elements move.
const QUEUES: [(Key, Key); 2] = [(0, 1), (2, 3)];
/// Elements in queues, about, above which nobody produces more.
const QUEUED_MAX: u64 = 30;
/// The longest pipeline, in calls.
const PIPELINE_MAX: u64 = 64;
/// Pipelines sent in one mood, at most.
const MOOD_MAX: u64 = 30;

/// Random numbers from a seed (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Once in `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The state shared by the clients of a round.
#[derive(Default)]
pub(crate) struct Board {
    /// Values given out.
    values: AtomicU64,
    /// Elements appended to lists.
    appends: AtomicU64,
    /// Elements put into queues, and taken out at their ends.
    pushed: AtomicU64,
    popped: AtomicU64,
    /// Registers written once that listeners have received.
    pub(crate) received: Mutex<Vec<Key>>,
    /// True if clients are to stop.
    pub(crate) is_over: AtomicBool,
}

impl Board {
    fn value(&self) -> Value {
        self.values.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the lists used so far; the last few are in use.
    fn lists(&self) -> std::ops::Range<Key> {
        let sets = self.appends.load(Ordering::Relaxed) / APPENDS + 1;
        0..(sets * LISTS) as Key
    }

    fn note(&self, events: &[Event]) {
        for step in events.iter().filter(|event| event.is_answered()).flat_map(|event| &event.steps) {
            match step {
                Step::Push { .. } => self.pushed.fetch_add(1, Ordering::Relaxed),
                Step::Pop { found: Some(_), .. } => self.popped.fetch_add(1, Ordering::Relaxed),
                _ => 0,
            };
        }
    }

    fn queued(&self) -> u64 {
        self.pushed.load(Ordering::Relaxed).saturating_sub(self.popped.load(Ordering::Relaxed))
    }
}

/// The behaviour of a client for a while.
#[derive(Clone, Copy)]
enum Mood {
    /// Long pipelines of writes.
    Write,
    /// Reads, one by one or a few at once.
    Read,
    /// Transactions over three keys.
    Transact,
    /// A bit of all.
    Mix,
    /// To the heads of queues.
    Produce,
    /// Through queues and out of them.
    Consume,
}

const MOODS: [Mood; 7] =
    [Mood::Write, Mood::Read, Mood::Transact, Mood::Mix, Mood::Produce, Mood::Consume, Mood::Consume];

/// Calls until the connection or the time ends. Of each eight clients one always writes and two always read: a server
/// that replies too early loses what was read just before a kill.
pub(crate) fn run(client: &mut Client, board: &Board, chance: &mut Chance) -> Result<(), Closed> {
    loop {
        let mood = match client.number % 8 {
            0 => Mood::Write,
            1 | 2 => Mood::Read,
            _ => chance.one_of(&MOODS),
        };
        for _ in 0..=chance.below(MOOD_MAX) {
            if board.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            let known = client.events.len();
            client.call(pipeline(mood, board, chance))?;
            board.note(&client.events[known..]);
        }
    }
}

fn pipeline(mood: Mood, board: &Board, chance: &mut Chance) -> Vec<Call> {
    let most = match mood {
        Mood::Write => PIPELINE_MAX,
        Mood::Produce | Mood::Mix => 8,
        Mood::Read | Mood::Transact => 3,
        Mood::Consume => 2,
    };
    let count = if chance.below(3) == 0 { 1 } else { 1 + chance.below(most) };
    (0..count).map(|_| call(mood, board, chance)).collect()
}

fn call(mood: Mood, board: &Board, chance: &mut Chance) -> Call {
    match mood {
        Mood::Write => match chance.below(10) {
            0 => plain(append(board, chance)),
            1 => set_get(board, chance),
            2 => publish(board, chance),
            3 => once(board),
            _ => plain(set(board, chance)),
        },
        Mood::Read => match chance.below(8) {
            0 => plain(range(board, chance)),
            1 => snapshot(board, chance),
            _ => plain(get(chance)),
        },
        Mood::Transact => transaction(board, chance),
        Mood::Mix => match chance.below(10) {
            8 => publish(board, chance),
            9 => once(board),
            0 => plain(set(board, chance)),
            1 => plain(get(chance)),
            2 => plain(append(board, chance)),
            3 => plain(range(board, chance)),
            4 => set_get(board, chance),
            5 => transaction(board, chance),
            6 => produce(board, chance),
            _ => consume(chance),
        },
        Mood::Produce => produce(board, chance),
        Mood::Consume => consume(chance),
    }
}

fn plain(step: Step) -> Call {
    Call { form: Form::Plain, steps: vec![step] }
}

fn get(chance: &mut Chance) -> Step {
    Step::Get { key: chance.below(REGISTERS) as Key, found: None }
}

fn set(board: &Board, chance: &mut Chance) -> Step {
    Step::Set { key: chance.below(REGISTERS) as Key, value: board.value() }
}

fn set_get(board: &Board, chance: &mut Chance) -> Call {
    let key = chance.below(REGISTERS) as Key;
    Call { form: Form::SetGet, steps: vec![Step::Get { key, found: None }, Step::Set { key, value: board.value() }] }
}

/// Returns a write in a transaction that also publishes it.
fn publish(board: &Board, chance: &mut Chance) -> Call {
    Call { form: Form::Published, steps: vec![set(board, chance)] }
}

/// Returns a write of a register that nobody writes again, which a keyspace notification reports.
fn once(board: &Board) -> Call {
    let value = board.value();
    plain(Step::Set { key: ONCE + value as Key, value })
}

fn list(board: &Board, chance: &mut Chance) -> Key {
    board.lists().end - 1 - chance.below(LISTS) as Key
}

fn append(board: &Board, chance: &mut Chance) -> Step {
    let key = list(board, chance);
    append_to(board, key)
}

fn append_to(board: &Board, key: Key) -> Step {
    board.appends.fetch_add(1, Ordering::Relaxed);
    Step::Append { key, value: board.value(), length: None }
}

fn range(board: &Board, chance: &mut Chance) -> Step {
    range_of(list(board, chance))
}

fn range_of(key: Key) -> Step {
    Step::Range { key, found: Vec::new() }
}

/// A transaction that reads two lists and a register.
fn snapshot(board: &Board, chance: &mut Chance) -> Call {
    let steps = vec![range(board, chance), get(chance), range(board, chance)];
    Call { form: Form::Transaction, steps }
}

/// A transaction that reads and writes three keys.
fn transaction(board: &Board, chance: &mut Chance) -> Call {
    let last = board.lists().end;
    let mut keys: Vec<u64> = (0..REGISTERS + LISTS).collect();
    let mut steps = Vec::new();
    for _ in 0..3 {
        let at = chance.below(keys.len() as u64) as usize;
        let key = keys.swap_remove(at);
        let (reads_before, writes, reads_after) = chance.one_of(&[
            (true, false, false),
            (false, true, false),
            (true, true, false),
            (false, true, true),
            (true, false, true),
        ]);
        if key < REGISTERS {
            let key = key as Key;
            steps.extend(reads_before.then_some(Step::Get { key, found: None }));
            steps.extend(writes.then(|| Step::Set { key, value: board.value() }));
            steps.extend(reads_after.then_some(Step::Get { key, found: None }));
        } else {
            let key = last - 1 - (key - REGISTERS) as Key;
            steps.extend(reads_before.then(|| range_of(key)));
            steps.extend(writes.then(|| append_to(board, key)));
            steps.extend(reads_after.then(|| range_of(key)));
        }
    }
    Call { form: Form::Transaction, steps }
}

fn produce(board: &Board, chance: &mut Chance) -> Call {
    if board.queued() > QUEUED_MAX {
        return consume(chance);
    }
    let (queue, _) = chance.one_of(&QUEUES);
    plain(Step::Push { queue, value: board.value() })
}

fn consume(chance: &mut Chance) -> Call {
    let (from, to) = chance.one_of(&QUEUES);
    let form = chance.one_of(&[Form::Plain, Form::Blocking]);
    let step = match chance.below(8) {
        0 => return look(&[from, to]),
        1..=4 => Step::Move { from, to, found: None },
        // Rarely from the first queue: an element then passes by the second.
        5 => Step::Pop { queue: from, found: None },
        _ => Step::Pop { queue: to, found: None },
    };
    Call { form, steps: vec![step] }
}

/// A transaction that looks at queues.
fn look(queues: &[Key]) -> Call {
    let steps = queues.iter().map(|&queue| Step::Look { queue, found: Vec::new() }).collect();
    Call { form: Form::Transaction, steps }
}

/// Reads all that there is, as one transaction.
pub(crate) fn read_all(client: &mut Client, board: &Board) -> Result<(), Closed> {
    let received = board.received.lock().unwrap().clone();
    let received = received.into_iter().rev().take(ONCE_READ_MAX);
    let registers = (0..REGISTERS as Key).chain(received).map(|key| Step::Get { key, found: None });
    let steps = registers.chain(board.lists().map(range_of)).collect();
    let queues: Vec<Key> = QUEUES.iter().flat_map(|&(from, to)| [from, to]).collect();
    client.call(vec![Call { form: Form::Transaction, steps }, look(&queues)])
}

/// Pops until all queues are empty.
pub(crate) fn pop_all(client: &mut Client) -> Result<(), Closed> {
    for queue in QUEUES.iter().flat_map(|&(from, to)| [from, to]) {
        let is_empty = |client: &Client| {
            matches!(client.events.last().map(|event| &event.steps[..]), Some([Step::Pop { found: None, .. }]))
        };
        client.call(vec![plain(Step::Pop { queue, found: None })])?;
        while !is_empty(client) {
            client.call(vec![plain(Step::Pop { queue, found: None })])?;
        }
    }
    Ok(())
}
