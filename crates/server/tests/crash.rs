//! kill -9 under load, again and again on one data folder: everything that a reply reported still holds, under any
//! policy.
//!
//! ```text
//!   start ── read everything ── writers and readers ── kill -9 ──.      8 rounds, 5 more amid checkpoints
//!     ^            |                     |                       |
//!     |         Content  <─ holds ─   facts: all that replies reported
//!     '──────────────────────────────────────────────────────────'
//! ```
//!
//! Reading everything is a reply too: the next round must find the same data, and no other data of that age.
//! `BOBBIN_KILLS` sets the number of rounds; `make soak` runs 50.

use crate::support::{Server, request};
use rustix::process::Signal;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use wire::client::Value;

const ROUNDS: u64 = 8;
/// The number of rounds with checkpoints all the time.
const ROUNDS_AMID_CHECKPOINTS: u64 = 5;
const WRITERS: u64 = 4;
const READERS: u64 = 2;
/// Numbers that writers are given before a kill.
const NUMBERS_A_ROUND: u64 = 1_000;
/// Numbers asked for by one MGET.
const NUMBERS_A_READ: u64 = 500;

/// An element of the list: its writer and number.
type Item = (u64, u64);

/// A fact reported by a reply.
enum Fact {
    /// `text:number` is there.
    Text(u64),
    /// Both keys of one EXEC are there.
    Pair(u64),
    /// `brief:number` was deleted.
    Gone(u64),
    /// The item at an index of the list.
    Item(usize, Item),
    /// Neighbours in the list.
    Items(Vec<Item>),
    /// The counter stood there.
    Counter(i64),
    /// The counter was raised to this.
    Raised(i64),
}

/// All that is in the server's keys.
#[derive(Default)]
struct Content {
    texts: BTreeSet<u64>,
    pairs: BTreeSet<u64>,
    /// Keys that were not deleted.
    briefs: BTreeSet<u64>,
    items: Vec<Item>,
    counter: i64,
}

impl Content {
    /// Reads everything that was sent up to `last` and is present.
    fn read(server: &Server, last: u64) -> Self {
        let (mut client, mut content) = (server.connect(), Self::default());
        for from in (1..=last).step_by(NUMBERS_A_READ as usize) {
            let numbers = from..=last.min(from + NUMBERS_A_READ - 1);
            let names = numbers.clone().flat_map(names);
            let reply = client.call(&[vec!["MGET".to_owned()], names.collect()].concat());
            for (number, values) in numbers.zip(reply.as_slice().unwrap().chunks(4)) {
                content.note(number, values);
            }
        }
        content.items = items(&client.call(&["LRANGE", "list", "0", "-1"]));
        content.counter = counter(&client.call(&["GET", "counter"]));
        let keys = content.texts.len() + 2 * content.pairs.len() + content.briefs.len() + 2 * usize::from(last > 0);
        assert_eq!(client.call(&["DBSIZE"]), Value::Int(keys as i64), "there are keys that nobody wrote");
        content
    }

    /// The values of [`names`].
    fn note(&mut self, number: u64, values: &[Value]) {
        let is_there = |value: &Value| {
            let is_there = *value != Value::Null;
            assert!(!is_there || value.as_bytes() == Some(&text(number)), "{number} has another's value");
            is_there
        };
        let [text, first, second, brief] = [0, 1, 2, 3].map(|index| is_there(&values[index]));
        assert_eq!(first, second, "half of the EXEC of {number} is there");
        self.texts.extend(text.then_some(number));
        self.pairs.extend(first.then_some(number));
        self.briefs.extend(brief.then_some(number));
    }

    /// Panics unless everything that was present at number `last` still is, and nothing else of that age.
    fn check_base(&self, base: &Self, last: u64) {
        assert!(self.texts.range(..=last).eq(&base.texts), "texts of earlier rounds");
        assert!(self.pairs.range(..=last).eq(&base.pairs), "pairs of earlier rounds");
        assert!(self.briefs.range(..=last).eq(&base.briefs), "keys of earlier rounds that were not deleted");
        assert!(self.items.starts_with(&base.items), "items of earlier rounds");
    }

    /// Panics unless `facts`, all of the round that began at `base`, hold.
    fn check_facts(&self, base: &Self, facts: &[Fact]) {
        let places: HashMap<Item, usize> = self.items.iter().enumerate().map(|(index, item)| (*item, index)).collect();
        assert_eq!(places.len(), self.items.len(), "an item is there twice");
        let mut raised = BTreeSet::new();
        for fact in facts {
            match fact {
                Fact::Text(number) => assert!(self.texts.contains(number), "the text {number} is gone"),
                Fact::Pair(number) => assert!(self.pairs.contains(number), "the pair {number} is gone"),
                Fact::Gone(number) => assert!(!self.briefs.contains(number), "the deleted key {number} is there again"),
                Fact::Item(index, item) => {
                    assert_eq!(self.items.get(*index), Some(item), "the item at {index} is another");
                }
                Fact::Items(items) => {
                    let begin = items.first().and_then(|item| places.get(item));
                    let kept = begin.and_then(|&begin| self.items.get(begin..begin + items.len()));
                    assert!(items.is_empty() || kept == Some(items), "seen was {items:?}, and now {kept:?}");
                }
                Fact::Counter(value) => assert!(self.counter >= *value, "the counter fell from {value}"),
                Fact::Raised(value) => {
                    assert!((base.counter + 1..=self.counter).contains(value), "the counter lost a step to {value}");
                    assert!(raised.insert(*value), "the counter was raised to {value} twice");
                }
            }
        }
    }

    /// Panics unless each writer's items stand in the order in which it sent them.
    fn check_order(&self) {
        let mut newest = HashMap::new();
        for &(writer, number) in &self.items {
            let before = newest.insert(writer, number);
            assert!(before < Some(number), "items of {writer} change places");
        }
    }
}

/// The keys that go with a number.
fn names(number: u64) -> [String; 4] {
    ["text", "first", "second", "brief"].map(|name| format!("{name}:{number}"))
}

/// The value of these keys; now and then a long one, so that segments fill.
fn text(number: u64) -> Vec<u8> {
    format!("{number}{}", ".".repeat(if number.is_multiple_of(16) { 20_000 } else { 0 })).into_bytes()
}

fn items(reply: &Value) -> Vec<Item> {
    let item = |value: &Value| {
        let item = std::str::from_utf8(value.as_bytes()?).ok()?.split_once(':')?;
        Some((item.0.parse().ok()?, item.1.parse().ok()?))
    };
    reply.as_slice().unwrap().iter().map(|value| item(value).expect("an item as it was pushed")).collect()
}

fn counter(reply: &Value) -> i64 {
    reply.as_bytes().map_or(0, |digits| std::str::from_utf8(digits).unwrap().parse().unwrap())
}

/// All that a writer sends with one number; the number before is one of its own.
fn writes(writer: u64, number: u64, before: u64) -> [Vec<u8>; 9] {
    let ([text_name, first, second, brief], value) = (names(number), text(number));
    let set = |name: &str| request(&[b"SET", name.as_bytes(), &value]);
    let push = request(&["RPUSH", "list", &format!("{writer}:{number}")]);
    let [incr, multi, exec] = [&["INCR", "counter"][..], &["MULTI"], &["EXEC"]].map(request);
    let [.., brief_before] = names(before);
    let delete = request(&["DEL", &brief_before]);
    [set(&text_name), push, incr, multi, set(&first), set(&second), exec, set(&brief), delete]
}

/// Returns the fact that the reply to the write at `index` of [`writes`] reports, if any.
fn reported_fact(writer: u64, number: u64, before: u64, index: usize, reply: &Value) -> Option<Fact> {
    match (index, reply) {
        (0, Value::Simple(_)) => Some(Fact::Text(number)),
        (1, Value::Int(length)) => Some(Fact::Item(*length as usize - 1, (writer, number))),
        (2, Value::Int(value)) => Some(Fact::Raised(*value)),
        (3..=5 | 7, Value::Simple(_)) => None,
        (6, Value::Array(_)) => Some(Fact::Pair(number)),
        (8, Value::Int(count)) => {
            assert_eq!(*count, i64::from(before > 0), "keys deleted with the name of {before}");
            Some(Fact::Gone(before))
        }
        _ => panic!("reply {index} is {reply}"),
    }
}

/// One life of the server, from ready to killed.
struct Round<'a> {
    server: &'a Server,
    /// True if checkpoints are requested all the time.
    is_saved: bool,
    /// The last number given.
    numbers: &'a AtomicU64,
    /// The client that draws this number kills the server.
    fatal: u64,
}

impl Round<'_> {
    /// Writes, `at_once` requests before their replies, until the server is gone.
    fn write(&self, writer: u64, at_once: usize) -> Vec<Fact> {
        let (mut client, mut facts) = (self.server.connect(), Vec::new());
        let mut before = 0;
        loop {
            let number = self.numbers.fetch_add(1, SeqCst) + 1;
            if number == self.fatal {
                self.server.signal(Signal::KILL);
            }
            let mut index = 0;
            for requests in writes(writer, number, before).chunks(at_once) {
                let replies = client.calls_until_gone(requests);
                for reply in &replies {
                    facts.extend(reported_fact(writer, number, before, index, reply));
                    index += 1;
                }
                if replies.len() < requests.len() {
                    return facts;
                }
            }
            before = number;
        }
    }

    /// Requests one checkpoint after another, until the server is gone.
    fn save(&self) -> Vec<Fact> {
        let mut client = self.server.connect();
        let save = || vec![request(&["SAVE"])];
        while let [reply] = client.calls_until_gone(&save()).as_slice() {
            // The checkpointer may have begun one by itself.
            let is_busy = reply.as_error().is_some_and(|text| text.contains("already in progress"));
            assert!(is_busy || *reply == Value::Simple("OK".into()), "SAVE answers {reply}");
        }
        Vec::new()
    }

    /// Reads what others may just be writing, until the server is gone.
    fn read(&self) -> Vec<Fact> {
        let (mut client, mut facts) = (self.server.connect(), Vec::new());
        loop {
            let number = self.numbers.load(SeqCst);
            let requests = [
                request(&[vec!["MGET".to_owned()], names(number).to_vec()].concat()),
                request(&["LRANGE", "list", "-3", "-1"]),
                request(&["GET", "counter"]),
            ];
            let replies = client.calls_until_gone(&requests);
            let [values, list, counted] = replies.as_slice() else { return facts };
            let mut seen = Content::default();
            seen.note(number, values.as_slice().unwrap());
            facts.extend(seen.texts.into_iter().map(Fact::Text));
            facts.extend(seen.pairs.into_iter().map(Fact::Pair));
            facts.extend([Fact::Items(items(list)), Fact::Counter(counter(counted))]);
        }
    }

    /// Runs the load until the kill and returns all reported facts.
    fn run(&self) -> Vec<Fact> {
        std::thread::scope(|scope| {
            let writers = (0..WRITERS).map(|writer| {
                let at_once = if writer % 2 == 0 { 1 } else { 7 };
                scope.spawn(move || self.write(writer, at_once))
            });
            let readers = (0..READERS).map(|_| scope.spawn(|| self.read()));
            let saver = self.is_saved.then(|| scope.spawn(|| self.save()));
            let clients: Vec<_> = writers.chain(readers).chain(saver).collect();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        })
    }
}

/// Kills a server with `flags` in each of `rounds`, on one folder; checkpoints are made meanwhile if `is_saved`.
fn outlives_kills(flags: &[&str], rounds: u64, is_saved: bool) {
    let rounds = std::env::var("BOBBIN_KILLS").map_or(rounds, |text| text.parse().expect("BOBBIN_KILLS is a number"));
    let mut server = Server::start(flags);
    let (mut base, numbers) = (Content::default(), AtomicU64::new(0));
    let (mut facts_count, mut checkpoints) = (0, 0);
    for round in 0..rounds {
        let begin = numbers.load(SeqCst);
        let facts = Round { server: &server, is_saved, numbers: &numbers, fatal: begin + NUMBERS_A_ROUND }.run();
        facts_count += facts.len();
        server.wait();
        server.restart();
        let last = numbers.load(SeqCst);
        let content = Content::read(&server, last);
        content.check_base(&base, begin);
        content.check_facts(&base, &facts);
        content.check_order();
        let raises = content.counter - base.counter;
        assert!(raises <= (last - begin) as i64, "round {round}: {raises} steps of the counter were not asked for");
        base = content;
        checkpoints += u64::from(server.log().contains(" keys to load"));
    }
    let sent = numbers.into_inner();
    let (texts, items) = (base.texts.len(), base.items.len());
    println!("{facts_count} facts; {sent} numbers sent, {texts} texts, {items} items, counter at {}", base.counter);
    assert!(!is_saved || checkpoints == rounds, "{checkpoints} of {rounds} starts found a checkpoint");
}

#[test]
fn replies_hold_after_kills_under_always() {
    outlives_kills(&["--fsync", "always"], ROUNDS, false);
}

#[test]
fn replies_hold_after_kills_under_everysec() {
    outlives_kills(&["--fsync", "everysec"], ROUNDS, false);
}

#[test]
fn replies_hold_after_kills_under_never() {
    outlives_kills(&["--fsync", "never"], ROUNDS, false);
}

#[test]
fn replies_hold_after_kills_during_checkpoints() {
    for fsync in ["always", "everysec"] {
        let flags = ["--fsync", fsync, "--checkpoint-journal-size", "64kb"];
        outlives_kills(&flags, ROUNDS_AMID_CHECKPOINTS, true);
    }
}

#[test]
fn a_long_list_copied_and_renamed_survives_a_kill() {
    const ITEMS: usize = 300_000;
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    let names: Vec<String> = (0..ITEMS).map(|item| format!("item:{item:07}")).collect();
    for part in names.chunks(10_000) {
        let words = ["RPUSH", "list"].into_iter().chain(part.iter().map(String::as_str));
        client.call(&words.collect::<Vec<_>>());
    }
    assert_eq!(client.call(&["COPY", "list", "copy"]), Value::Int(1));
    assert_eq!(client.call(&["LPUSH", "copy", "head"]), Value::Int(ITEMS as i64 + 1));
    assert_eq!(client.call(&["RENAME", "list", "renamed"]), Value::Simple("OK".into()));
    assert_eq!(client.call(&["RPUSH", "renamed", "tail"]), Value::Int(ITEMS as i64 + 1));
    assert_eq!(client.call(&["MOVE", "copy", "1"]), Value::Int(1));
    server.kill();
    server.restart();
    let mut client = server.connect();
    let expected = |item: &str| Value::bulk(item);
    let renamed = client.call(&["LRANGE", "renamed", "0", "-1"]);
    let (last, rest) = renamed.as_slice().unwrap().split_last().unwrap();
    assert!(rest.iter().eq(&names.iter().map(|name| expected(name)).collect::<Vec<_>>()));
    assert_eq!(*last, expected("tail"));
    assert_eq!(client.call(&["EXISTS", "list", "copy"]), Value::Int(0));
    client.call(&["SELECT", "1"]);
    assert_eq!(client.call(&["LLEN", "copy"]), Value::Int(ITEMS as i64 + 1));
    assert_eq!(client.call(&["LRANGE", "copy", "0", "1"]), Value::Array(vec![expected("head"), expected(&names[0])]));
}
