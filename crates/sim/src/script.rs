//! Fixed steps of one client, with the expected state after any number of them: large lists that move between shards,
//! and databases that are swapped and flushed.
//!
//! ```text
//!   between   step 1 . round . step 2 . round . step 3 ...          every shard turns between any two steps
//!   amid      step 1 ..round.. step 2 ..round.. step 3 ...          some turn before the step, others after it
//! ```

use crate::client::{Client, let_others_go_on};
use crate::random::Random;
use crate::request::{Request, Touch};
use crate::state::State;
use std::collections::BTreeMap;
use std::mem::take;
use wire::client::Value;

/// The steps of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Large lists are copied and renamed between shards, and the originals deleted.
    Lists,
    /// FLUSHALL, FLUSHDB and SWAPDB on databases with lists.
    Databases,
}

/// When shards turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// A whole round runs between any two steps.
    Between,
    /// A round is started before each step, and continues during it.
    Amid,
}

/// The keys of all lists.
pub(crate) const KEYS: [&str; 3] = ["big:0", "big:1", "big:2"];
/// The number of databases used.
const DATABASES: usize = 3;
/// Bytes of an item, which compresses hardly at all.
const ITEM_BYTES: usize = 900;

/// The progress of a script.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// The number of steps that may have run.
    pub(crate) sent: usize,
    /// The number of acknowledged steps.
    pub(crate) acknowledged: usize,
}

/// One step: its database and its words. An item is given by its number.
type Step = (usize, &'static str);

const LISTS: &[Step] = &[
    (0, "RPUSH big:0 1 2 3 4 5"),
    (0, "RPUSH big:0 6"),
    (0, "COPY big:0 big:1"),
    (0, "DEL big:0"),
    (0, "RENAME big:1 big:2"),
    (0, "LSET big:2 0 7"),
    (0, "COPY big:2 big:0"),
    (0, "LPOP big:2 5"),
    (0, "COPY big:0 big:2 REPLACE"),
    (0, "RENAME big:0 big:1"),
    (0, "RENAME big:1 big:2"),
];

const SWAPS: &[Step] = &[
    (0, "RPUSH big:0 1 2 3 4 5"),
    (1, "RPUSH big:0 6"),
    (0, "SWAPDB 0 1"),
    (0, "RPUSH big:0 7"),
    (0, "FLUSHALL"),
    (1, "RPUSH big:0 8 9 10 11 12"),
    (0, "SWAPDB 1 2"),
    (1, "RPUSH big:1 13"),
    (2, "FLUSHDB"),
    (0, "SWAPDB 0 1"),
    (1, "RPUSH big:0 14"),
    (0, "FLUSHALL"),
];

impl Script {
    fn all(self) -> &'static [Step] {
        match self {
            Self::Lists => LISTS,
            Self::Databases => SWAPS,
        }
    }

    /// Returns the number of steps.
    pub fn steps(self) -> usize {
        self.all().len()
    }

    /// Returns the state after the first `steps` steps.
    pub(crate) fn state_after(self, steps: usize) -> State {
        let mut twin = Twin::default();
        self.all()[..steps].iter().for_each(|step| twin.apply(step));
        let databases = twin.databases.iter().enumerate();
        let lists = databases.flat_map(|(database, lists)| lists.iter().map(move |(key, list)| (database, key, list)));
        let entries = lists.map(|(database, key, list)| {
            let items = std::iter::once(b"list".to_vec()).chain(list.iter().map(|word| item(word).into_bytes()));
            ((database as u32, key.as_bytes().to_vec()), (items.collect(), None))
        });
        entries.collect()
    }
}

/// A model: databases, keys, and the words of the items.
#[derive(Default)]
struct Twin {
    databases: [BTreeMap<&'static str, Vec<&'static str>>; DATABASES],
}

impl Twin {
    fn apply(&mut self, (database, text): &Step) {
        let words: Vec<&'static str> = text.split(' ').collect();
        let lists = &mut self.databases[*database];
        match words[..] {
            ["RPUSH", key, ref items @ ..] => lists.entry(key).or_default().extend(items),
            ["COPY", from, to] if lists.contains_key(to) => panic!("{from} is copied to {to}, which is there"),
            ["COPY", from, to] | ["COPY", from, to, "REPLACE"] => drop(lists.insert(to, lists[from].clone())),
            ["RENAME", from, to] => {
                let list = lists.remove(from).expect("what is renamed is there");
                lists.insert(to, list);
            }
            ["DEL", key] => drop(lists.remove(key)),
            ["LSET", key, at, item] => lists.get_mut(key).expect("it is there")[number(at)] = item,
            ["LPOP", key, count] => drop(lists.get_mut(key).expect("it is there").drain(..number(count))),
            ["SWAPDB", one, other] => self.databases.swap(number(one), number(other)),
            ["FLUSHDB"] => drop(take(lists)),
            ["FLUSHALL"] => drop(take(&mut self.databases)),
            _ => panic!("the twin knows no {text}"),
        }
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("it is a number")
}

/// Returns the item with this number.
fn item(word: &str) -> String {
    let (random, mut item) = (Random::new(number(word) as u64), format!("{word}."));
    while item.len() < ITEM_BYTES {
        item.push_str(&format!("{:016x}", random.next()));
    }
    item
}

fn request((database, text): &Step) -> Request {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    match words[0].as_str() {
        "RPUSH" => words[2..].iter_mut().for_each(|word| *word = item(word)),
        "LSET" => words[3] = item(&words[3]),
        _ => {}
    }
    let keys = words.iter().filter(|word| KEYS.contains(&word.as_str()));
    let mut touches: Vec<Touch> = keys.map(|key| Touch::Key(*database as u32, key.clone())).collect();
    if touches.is_empty() {
        touches = (0..DATABASES as u32).map(Touch::Database).collect();
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Request { touches, ..Request::plain(&words) }
}

impl Client {
    /// Runs at most `steps_max` steps of a script, continuing where it stopped, until one fails.
    pub(crate) async fn follow(mut self, script: Script, turns: Turns, steps_max: u64) {
        for _ in 0..steps_max {
            let at = self.shared.facts.borrow().script.acknowledged;
            let Some(step) = script.all().get(at) else { return };
            if turns == Turns::Amid {
                self.call(Request::plain(&["BGSAVE"])).await;
            }
            self.shared.facts.borrow_mut().script.sent = at + 1;
            let requests = [Request::plain(&["SELECT", &step.0.to_string()]), request(step)];
            match self.send(&requests).await {
                Ok(replies) if replies.iter().all(|reply| reply.as_error().is_none()) => {}
                _ => return,
            }
            self.shared.facts.borrow_mut().script.acknowledged = at + 1;
            if turns == Turns::Between {
                let reply = self.call(Request::plain(&["SAVE"])).await;
                assert!(reply != Value::Null, "SAVE has an answer");
            }
            let_others_go_on().await;
        }
    }
}
