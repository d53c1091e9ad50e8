//! A connection of the queue door: MemcacheQ's words, and Kestrel's ways to take a message.
//!
//! ```text
//! get q/close/open/t=500      MQ.CLOSE q 17-1 | MQ.OPEN q BLOCK 500 | END      the receipt is the connection's to know
//!        opened: q --> 18-1                                                      its end gives back what is open
//! ```
//!
//! What stands behind a name is taken for a way if every part of it is one; else it belongs to the name.

use super::Session;
use super::attempt::NotNow;
use super::memcached::Heard;
use crate::client::Client;
use crate::worker::Worker;
use commands::table::{self, Found, Row};
use commands::{ReplyMode, Session as _};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use wire::memcache::{Dialect, Verb};
use wire::resp::Encoder;
use wire::{Mark, Output, Ranges, Reply};

/// What a connection of this door knows.
#[derive(Default)]
pub(super) struct Queues {
    /// Receipts of the messages that it has opened, by queue.
    opened: BTreeMap<Box<[u8]>, Box<[u8]>>,
    /// What is still to be done of the last name.
    steps: VecDeque<Step>,
    /// The queue that the request under way is about.
    key: Vec<u8>,
}

/// A request, in words.
struct Step {
    row: Row,
    words: Vec<Box<[u8]>>,
}

/// How a message is to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    opens: bool,
    closes: bool,
    aborts: bool,
    peeks: bool,
    wait_ms: u64,
}

impl Way {
    /// The name, and what stands behind it.
    fn of(token: &[u8]) -> (&[u8], Self) {
        let mut way = Self::default();
        let mut parts = token.split(|byte| *byte == b'/');
        let name = parts.next().expect("even an empty text has a part");
        let is_way = parts.all(|part| way.add(part));
        if is_way && !name.is_empty() { (name, way) } else { (token, Self::default()) }
    }

    fn add(&mut self, part: &[u8]) -> bool {
        match part {
            b"open" => self.opens = true,
            b"close" => self.closes = true,
            b"abort" => self.aborts = true,
            b"peek" => self.peeks = true,
            _ => {
                let digits = part.strip_prefix(b"t=").and_then(wire::memcache::unsigned);
                let Some(ms) = digits.filter(|ms| *ms <= i64::MAX as u64) else { return false };
                self.wait_ms = ms;
            }
        }
        true
    }
}

const IS_OPEN: &str = "CLIENT_ERROR a message of this queue is open: close or abort it first";

impl Session {
    /// A connection of the queue door.
    pub fn of_queues(worker: Rc<Worker>, client: Arc<Client>) -> Self {
        let database = worker.settings().queue_database;
        let mut session = Self::new(worker, client);
        session.speak(Dialect::Queues);
        session.queues = Some(Box::default());
        session.select(database);
        session
    }

    /// A request of this door that needs nothing more from the client.
    pub(super) fn next_step(&mut self, ranges: &mut Ranges) -> Option<Row> {
        let queues = self.queues.as_mut()?;
        let step = queues.steps.pop_front()?;
        queues.key.clear();
        queues.key.extend_from_slice(step.words.get(1).map_or(&b""[..], |key| key));
        ranges.put(&step.words);
        Some(step.row)
    }

    /// What a request of so many bytes comes to.
    pub(super) fn hear_of_queue(
        &mut self,
        verb: Verb,
        used: usize,
        silent: bool,
        input: &[u8],
        ranges: &mut Ranges,
        output: &mut Output,
    ) -> Heard {
        let rows = &*ROWS;
        let queues = self.queues.as_mut().expect("asked of a connection of this door");
        let args = ranges.args(input);
        let key = if args.len() > 1 { args.get(1) } else { b"" };
        let row = match verb {
            Verb::Set => rows.set,
            Verb::Delete => rows.delete,
            Verb::FlushAll => rows.flush_all,
            Verb::Stats => rows.stats,
            _ => {
                let (name, way) = Way::of(key);
                if way.opens && queues.opened.contains_key(name) && !way.closes && !way.aborts {
                    self.closing = true;
                    Encoder::new(output, self.protocol).simple(IS_OPEN);
                    self.replies_held += 1;
                    return Heard::Done(used);
                }
                queues.take(name, way, if verb == Verb::Gets { rows.gets } else { rows.get });
                return match self.next_step(ranges) {
                    Some(row) => Heard::Request(used, row),
                    None => Heard::Done(used),
                };
            }
        };
        queues.key.clear();
        queues.key.extend_from_slice(key);
        if silent {
            self.reply_mode = ReplyMode::Skip;
        }
        Heard::Request(used, row)
    }

    /// Counts what came of a request of this door, whose reply begins at `mark`, and keeps the receipt of what was opened.
    pub(super) fn note_message(&mut self, row: &Row, mark: Mark, output: &mut Output) {
        let aside = output.take_aside();
        let Some(queues) = &mut self.queues else { return };
        let reply = output.since(mark);
        let counters = &self.worker.counters().queues;
        let is_value = reply.starts_with(b"VALUE");
        match row.name {
            "MQ.OPEN" | "MQ.GET" | "MQ.GETS" | "MQ.PEEK" => {
                if let Some(receipt) = aside.filter(|_| is_value) {
                    queues.opened.insert(queues.key.as_slice().into(), receipt);
                }
                counters.note_get(&queues.key, is_value, row.name != "MQ.PEEK");
            }
            "MQ.SET" => counters.note_set(&queues.key, reply.starts_with(b"STORED")),
            _ => {}
        }
    }

    /// Gives back what the connection has opened and not closed, now that it is over.
    pub async fn give_back(&mut self) {
        let Some(opened) = self.queues.as_mut().map(|queues| std::mem::take(&mut queues.opened)) else { return };
        let worker = self.worker.clone();
        for (key, receipt) in opened {
            let request = commands::abort_request(&key, &receipt);
            let mut output = Output::new();
            // What it meets was counted where it came up.
            self.run_until_done(&worker, ROWS.abort, &request.args(), NotNow::Shards(Vec::new()), &mut output).await;
            worker.end_turn();
        }
    }
}

impl Queues {
    /// Notes what is to be done to take a message of `name`.
    fn take(&mut self, name: &[u8], way: Way, get: Row) {
        let rows = &*ROWS;
        if (way.closes || way.aborts)
            && let Some(receipt) = self.opened.remove(name)
        {
            let row = if way.closes { rows.close } else { rows.abort };
            self.steps.push_back(Step { row, words: vec![row.name.as_bytes().into(), name.into(), receipt] });
        }
        let row = match way {
            Way { opens: true, .. } => rows.open,
            Way { peeks: true, .. } => rows.peek,
            Way { closes: true, .. } | Way { aborts: true, .. } => return,
            _ => get,
        };
        let mut words: Vec<Box<[u8]>> = vec![row.name.as_bytes().into(), name.into()];
        if way.wait_ms > 0 && !way.peeks {
            words.extend([b"BLOCK"[..].into(), way.wait_ms.to_string().into_bytes().into()]);
        }
        self.steps.push_back(Step { row, words });
    }
}

struct Rows {
    get: Row,
    gets: Row,
    open: Row,
    peek: Row,
    close: Row,
    abort: Row,
    set: Row,
    delete: Row,
    flush_all: Row,
    stats: Row,
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let row = |name: &str| match table::by_name(name.as_bytes()) {
        Found::Command(row) => row,
        _ => unreachable!("each word has a row: {name}"),
    };
    Rows {
        get: row("mq.get"),
        gets: row("mq.gets"),
        open: row("mq.open"),
        peek: row("mq.peek"),
        close: row("mq.close"),
        abort: row("mq.abort"),
        set: row("mq.set"),
        delete: row("mq.delete"),
        flush_all: row("mq.flush_all"),
        stats: row("mq.stats"),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_from_what_stands_behind_it() {
        let plain = Way::default();
        assert_eq!(Way::of(b"q"), (&b"q"[..], plain));
        assert_eq!(Way::of(b"q/t=500"), (&b"q"[..], Way { wait_ms: 500, ..plain }));
        assert_eq!(Way::of(b"q/open/t=5"), (&b"q"[..], Way { opens: true, wait_ms: 5, ..plain }));
        assert_eq!(Way::of(b"q/close/open"), (&b"q"[..], Way { opens: true, closes: true, ..plain }));
        assert_eq!(Way::of(b"q/abort"), (&b"q"[..], Way { aborts: true, ..plain }));
        assert_eq!(Way::of(b"q/peek"), (&b"q"[..], Way { peeks: true, ..plain }));
        for name in [&b"logs/today"[..], b"q/t=", b"q/t=x", b"q/open/or", b"/open", b"q/"] {
            assert_eq!(Way::of(name), (name, plain));
        }
    }
}
