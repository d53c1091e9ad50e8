//! A connection of the queue port: MemcacheQ's protocol, with Kestrel's options to take a message.
//!
//! ```text
//! get q/close/open/t=500      MQ.CLOSE q 17-1 | MQ.OPEN q BLOCK 500 | END      the connection keeps the receipt
//!        held: q --> 18-1                                                        its end gives open messages back
//! ```
//!
//! Trailing parts of a name that are known options say how to take a message; the rest is the queue name, slashes
//! included. Requests that Kestrel refuses get its error text, and the connection ends, as in Kestrel.

use super::port::{Port, QueuePort, QueueRequest, Step};
use crate::client::Client;
use crate::memcacheq::{forget, queues};
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::worker::Worker;
use commands::registry::{self, Command, Lookup};
use commands::{Fact, MessageRequest, QueueLengths, ReplyMode, Session as _};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use wire::memcache::{Dialect, ITEM_BYTES_MAX, MemcacheDecoder, Verb};
use wire::resp::{Encoder, Protocol};
use wire::{Mark, Output, Ranges, Reply as _};

/// Options of a GET: how to take the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    opens: bool,
    closes: bool,
    aborts: bool,
    peeks: bool,
    wait_ms: Option<u64>,
}

impl Way {
    /// Splits a token into the name and the options after it.
    fn of(token: &[u8]) -> (&[u8], Self) {
        let (mut name, mut way) = (token, Self::default());
        while let Some(slash) = name.iter().rposition(|byte| *byte == b'/')
            && way.add(&name[slash + 1..])
        {
            name = &name[..slash];
        }
        (name, way)
    }

    /// Returns true if the options are compatible.
    fn is_sound(&self) -> bool {
        let reliable = usize::from(self.opens || self.closes);
        reliable + usize::from(self.aborts) + usize::from(self.peeks) <= 1
    }

    /// Adds an option. Returns false if it is unknown.
    fn add(&mut self, part: &[u8]) -> bool {
        match part {
            b"open" => self.opens = true,
            b"close" => self.closes = true,
            b"abort" => self.aborts = true,
            b"peek" => self.peeks = true,
            _ => {
                let digits = part.strip_prefix(b"t=").filter(|digits| digits.iter().all(u8::is_ascii_digit));
                let number = digits.and_then(wire::memcache::unsigned);
                let Some(ms) = number.filter(|ms| *ms <= i64::MAX as u64) else { return false };
                self.wait_ms.get_or_insert(ms);
            }
        }
        true
    }
}

/// Kestrel's error for asking for another message while one of this queue is open.
const IS_OPEN: &str = "ERROR";
/// Kestrel's error for incompatible options.
const UNSOUND: &str = "CLIENT_ERROR";
/// No client could get a message put there.
const NO_NAME: &str = "CLIENT_ERROR the queue name ends in an option of get";

impl Session {
    /// Creates a connection of the queue port.
    pub fn of_queues(worker: Rc<Worker>, client: Arc<Client>) -> Self {
        let database = worker.settings().queue_database;
        let mut session = Self::new(worker, client);
        let decoder = MemcacheDecoder::new(Dialect::Queues, ITEM_BYTES_MAX);
        session.port = Port::Queues(Box::new(QueuePort { decoder, steps: VecDeque::new(), key: Vec::new() }));
        session.port.set_authenticated(session.authenticated);
        session.protocol = Protocol::Memcache;
        session.select(database);
        session
    }

    /// Returns the next step of a request that needs nothing more from the client.
    pub(in crate::session) fn next_step(&mut self, ranges: &mut Ranges) -> Option<Command> {
        let Port::Queues(queues) = &mut self.port else { return None };
        let step = queues.steps.pop_front()?;
        queues.key.clear();
        queues.key.extend_from_slice(step.words.get(1).map_or(&b""[..], |key| key));
        ranges.put(&step.words);
        Some(step.command)
    }

    /// Handles a request of this many bytes.
    pub(in crate::session) fn decode_of_queue(
        &mut self,
        verb: Verb,
        used: usize,
        silent: bool,
        input: &[u8],
        ranges: &mut Ranges,
        output: &mut Output,
    ) -> Step {
        let commands = &*ROWS;
        let Port::Queues(queues) = &mut self.port else { unreachable!("asked of a connection of this port") };
        let args = ranges.args(input);
        let key = if args.len() > 1 { args.get(1) } else { b"" };
        let (name, way) = Way::of(key);
        let command = match verb {
            Verb::Set if way != Way::default() => {
                if !silent {
                    self.say_line(NO_NAME, output);
                }
                return Step::Done(used);
            }
            Verb::Set => commands.set,
            Verb::Delete => commands.delete,
            Verb::FlushAll => commands.flush_all,
            Verb::Stats if key == b"queue" => {
                queues.key.clear();
                ranges.put(&[commands.queues.name]);
                return Step::Request(used, Some(commands.queues));
            }
            Verb::Stats => commands.stats,
            _ => {
                let is_sound = way.is_sound() && !name.is_empty();
                let takes = !(way.closes || way.aborts || way.peeks);
                if !is_sound || takes && self.worker.leases.holds(self.client.id, name) {
                    self.closing = true;
                    self.say_line(if is_sound { IS_OPEN } else { UNSOUND }, output);
                    return Step::Done(used);
                }
                self.plan(name, way, if verb == Verb::Gets { commands.gets } else { commands.get });
                return match self.next_step(ranges) {
                    Some(command) => Step::Request(used, Some(command)),
                    None => Step::Done(used),
                };
            }
        };
        queues.key.clear();
        queues.key.extend_from_slice(key);
        if silent {
            self.reply_mode = ReplyMode::Skip;
        }
        Step::Request(used, Some(command))
    }

    /// Counts the outcome of a request of this port, whose reply begins at `mark`, and keeps the receipt of an opened
    /// message.
    pub(in crate::session) fn note_message(&mut self, command: &Command, mark: Mark, output: &mut Output) {
        let aside = output.take_aside();
        let Port::Queues(queues) = &self.port else { return };
        let reply = output.since(mark);
        let counters = &self.worker.counters().queues;
        let is_value = reply.starts_with(b"VALUE");
        let kind = command.fact(|fact| if let Fact::Message(kind) = fact { Some(kind) } else { None });
        match kind {
            Some(kind @ (MessageRequest::Get | MessageRequest::Peek)) => {
                if let Some(receipt) = aside.filter(|_| is_value) {
                    let now = self.worker.engine.clock.now();
                    self.worker.leases.hold(&self.client, self.database, &queues.key, receipt, now);
                }
                counters.note_get(&queues.key, is_value, kind != MessageRequest::Peek);
            }
            Some(MessageRequest::Abort) => counters.note_return(&queues.key),
            Some(MessageRequest::Close) if !reply.is_empty() => counters.note_return(&queues.key),
            Some(MessageRequest::DeleteQueue) => {
                let [was_there, was_absent] = [&b"DELETED"[..], b"NOT_FOUND"].map(|text| reply.starts_with(text));
                let was_known = (was_there || was_absent) && forget(&self.worker.engine, &queues.key);
                // To MemcacheQ, an emptied queue exists.
                if was_absent && was_known {
                    output.truncate(mark);
                    Encoder::new(output, self.protocol).simple("DELETED");
                }
            }
            Some(MessageRequest::Set) => counters.note_set(&queues.key, reply.starts_with(b"STORED")),
            _ => {}
        }
    }

    /// Writes how many messages of each queue were put and taken.
    pub(in crate::session) async fn write_queue_counts(
        &mut self,
        worker: &Worker,
        command: Command,
        output: &mut Output,
    ) {
        let mark = output.mark();
        let mut lengths = QueueLengths::default();
        self.walk(worker, &mut lengths).await;
        let queues = queues(&worker.engine, lengths.found());
        let mut reply = Encoder::new(output, self.protocol);
        reply.array(queues.len() + 1);
        for (name, (put, taken)) in queues {
            reply.bulk(&[b"STAT ", &*name, format!(" {put}/{taken}").as_bytes()].concat());
        }
        reply.simple("END");
        self.end_walk(worker, command, Ok(()), mark, output);
    }

    /// Gives back the messages that the connection has opened and not closed, now that it has ended.
    pub async fn give_back(&mut self) {
        let worker = self.worker.clone();
        for (key, receipt) in worker.leases.let_all_go(self.client.id) {
            let request = commands::abort_request(&key, &receipt);
            let mut output = Output::new();
            // Errors were counted where they arose.
            self.run_until_done(&worker, ROWS.abort, &request.args(), Suspend::Shards(Vec::new()), &mut output).await;
            worker.counters().queues.note_return(&key);
            worker.executor.end_turn();
        }
    }

    /// Plans the steps to take a message of `name`.
    fn plan(&mut self, name: &[u8], way: Way, get: Command) {
        let commands = &*ROWS;
        let Port::Queues(queues) = &mut self.port else { unreachable!("asked of a connection of this port") };
        if (way.closes || way.aborts)
            && let Some(receipt) = self.worker.leases.let_go(self.client.id, name)
        {
            let command = if way.closes { commands.close } else { commands.abort };
            queues
                .steps
                .push_back(QueueRequest { command, words: vec![command.name.as_bytes().into(), name.into(), receipt] });
        }
        let command = match way {
            Way { opens: true, .. } => commands.open,
            Way { peeks: true, .. } => commands.peek,
            Way { closes: true, .. } | Way { aborts: true, .. } => return,
            _ => get,
        };
        let mut words: Vec<Box<[u8]>> = vec![command.name.as_bytes().into(), name.into()];
        if let Some(wait_ms) = way.wait_ms.filter(|wait_ms| *wait_ms > 0) {
            words.extend([b"BLOCK"[..].into(), wait_ms.to_string().into_bytes().into()]);
        }
        queues.steps.push_back(QueueRequest { command, words });
    }
}

impl QueuePort {
    /// Skips the rest of a line of keys, and the remaining steps of its last request.
    pub(in crate::session) fn end_line(&mut self) {
        self.steps.clear();
        self.decoder.end_line();
    }
}

struct QueueCommands {
    get: Command,
    gets: Command,
    open: Command,
    peek: Command,
    close: Command,
    abort: Command,
    set: Command,
    delete: Command,
    flush_all: Command,
    stats: Command,
    queues: Command,
}

static ROWS: LazyLock<QueueCommands> = LazyLock::new(|| {
    let command = |name: &str| match registry::by_name(name.as_bytes()) {
        Lookup::Command(command) => command,
        _ => unreachable!("each word has a command: {name}"),
    };
    QueueCommands {
        get: command("mq.get"),
        gets: command("mq.gets"),
        open: command("mq.open"),
        peek: command("mq.peek"),
        close: command("mq.close"),
        abort: command("mq.abort"),
        set: command("mq.set"),
        delete: command("mq.delete"),
        flush_all: command("mq.flush_all"),
        stats: command("mq.stats"),
        queues: command("mq.queues"),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_name_is_split_from_its_options() {
        let plain = Way::default();
        assert_eq!(Way::of(b"q"), (&b"q"[..], plain));
        assert_eq!(Way::of(b"q/t=500"), (&b"q"[..], Way { wait_ms: Some(500), ..plain }));
        assert_eq!(Way::of(b"q/open/t=7/t=5"), (&b"q"[..], Way { opens: true, wait_ms: Some(5), ..plain }));
        assert_eq!(Way::of(b"a/b/t=5"), (&b"a/b"[..], Way { wait_ms: Some(5), ..plain }));
        assert_eq!(Way::of(b"a/open/b/open"), (&b"a/open/b"[..], Way { opens: true, ..plain }));
        assert_eq!(Way::of(b"/open"), (&b""[..], Way { opens: true, ..plain }));
        assert_eq!(Way::of(b"q/close/open"), (&b"q"[..], Way { opens: true, closes: true, ..plain }));
        assert_eq!(Way::of(b"q/abort"), (&b"q"[..], Way { aborts: true, ..plain }));
        assert_eq!(Way::of(b"q/peek"), (&b"q"[..], Way { peeks: true, ..plain }));
        for name in [&b"logs/today"[..], b"q/t=", b"q/t=x", b"q/open/or", b"/", b"q/"] {
            assert_eq!(Way::of(name), (name, plain));
        }
    }

    #[test]
    fn option_combinations_that_kestrel_refuses_are_unsound() {
        let is_sound = |token| Way::of(token).1.is_sound();
        for token in [&b"q"[..], b"q/t=1", b"q/open", b"q/close/open/t=5", b"q/abort", b"q/peek/t=5", b"q/close/t=5"] {
            assert!(is_sound(token));
        }
        for token in [&b"q/abort/open"[..], b"q/close/abort", b"q/peek/abort", b"q/open/peek", b"q/peek/close"] {
            assert!(!is_sound(token));
        }
    }
}
