//! A client that records what it calls and what it is answered.

use linearizability::{End, Event, Step, Value};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wire::client::{Parser, Value as Reply};

/// The timeout of a blocking pop, in seconds.
const BLOCK_S: &str = "0.02";
/// The channel on which transactions publish their writes.
pub(crate) const CHANNEL: &str = "writes";
/// The maximum time for a reply.
const PATIENCE: Duration = Duration::from_secs(30);

/// A call: steps that are sent as one command or transaction.
pub(crate) struct Call {
    pub(crate) form: Form,
    pub(crate) steps: Vec<Step>,
}

/// The commands for the steps of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One step, one command.
    Plain,
    /// One pop or move, by the command that waits for an element.
    Blocking,
    /// A read and a write of one register, by SET with GET.
    SetGet,
    /// All steps between MULTI and EXEC.
    Transaction,
    /// A write between MULTI and EXEC, and a message about it.
    Published,
}

/// A connection and its record.
pub(crate) struct Client {
    /// Its number in the record.
    pub(crate) number: u32,
    /// When time began.
    clock: Instant,
    stream: TcpStream,
    parser: Parser,
    /// The calls so far.
    pub(crate) events: Vec<Event>,
}

/// The connection has ended.
pub(crate) struct Closed;

impl Client {
    /// A connection to a server of this machine, unless that is already dead.
    pub(crate) fn connect(number: u32, port: u16, clock: Instant) -> Result<Self, Closed> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|_| Closed)?;
        stream.set_nodelay(true).map_err(|_| Closed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|_| Closed)?;
        Ok(Self { number, clock, stream, parser: Parser::new(), events: Vec::new() })
    }

    /// Sends calls as one pipeline and records their replies. Calls without a reply are recorded as lost at the end of
    /// time.
    pub(crate) fn call(&mut self, calls: Vec<Call>) -> Result<(), Closed> {
        let mut bytes = Vec::new();
        calls.iter().for_each(|call| encode(call, &mut bytes));
        let called_ns = self.now_ns();
        let mut open = self.stream.write_all(&bytes).map_err(|_| Closed);
        for mut call in calls {
            open = open.and_then(|()| self.replies(&mut call));
            let end = match open {
                Ok(()) => End::Answered(self.now_ns()),
                Err(Closed) => End::Lost(u64::MAX),
            };
            self.events.push(Event { client: self.number, called_ns, end, steps: call.steps });
        }
        open
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).unwrap()
    }

    fn replies(&mut self, call: &mut Call) -> Result<(), Closed> {
        match (call.form, call.steps.as_mut_slice()) {
            (Form::Plain | Form::Blocking, [step]) | (Form::SetGet, [step, _]) => note(step, &self.reply()?),
            (Form::Published, [_]) => {
                for _ in 0..3 {
                    self.reply()?;
                }
                let reply = self.reply()?;
                assert_eq!(reply.as_slice().map(<[Reply]>::len), Some(2), "EXEC answers {reply}");
            }
            (Form::Transaction, steps) => {
                for _ in 0..=steps.len() {
                    self.reply()?;
                }
                let reply = self.reply()?;
                let replies = reply.as_slice().unwrap_or_else(|| panic!("EXEC answers {reply}"));
                assert_eq!(replies.len(), steps.len(), "EXEC answers {reply}");
                steps.iter_mut().zip(replies).for_each(|(step, reply)| note(step, reply));
            }
            _ => panic!("a form has its number of steps"),
        }
        Ok(())
    }

    fn reply(&mut self) -> Result<Reply, Closed> {
        let mut bytes = [0; 16 << 10];
        loop {
            if let Some(reply) = self.parser.next_value().unwrap() {
                assert!(reply.as_error().is_none(), "the server answers {reply}");
                return Ok(reply);
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Closed),
                Ok(count) => self.parser.feed(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("no reply within {PATIENCE:?}"),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Closed),
            }
        }
    }
}

/// Puts what a reply says into the step.
fn note(step: &mut Step, reply: &Reply) {
    match step {
        Step::Get { found, .. } | Step::Move { found, .. } => *found = value(reply),
        // BLPOP says the queue, too.
        Step::Pop { found, .. } => *found = value(reply.as_slice().map_or(reply, |pair| &pair[1])),
        Step::Append { length, .. } => *length = reply.as_int().map(|length| u64::try_from(length).unwrap()),
        Step::Range { found, .. } | Step::Look { found, .. } => {
            let elements = reply.as_slice().unwrap_or_else(|| panic!("LRANGE answers {reply}"));
            *found = elements.iter().map(|element| value(element).unwrap()).collect();
        }
        Step::Set { .. } => assert_eq!(*reply, Reply::Simple("OK".to_owned())),
        Step::Push { .. } => assert!(reply.as_int().is_some(), "RPUSH answers {reply}"),
    }
}

fn value(reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Null | Reply::NullArray => None,
        Reply::Bulk(bytes) => Some(std::str::from_utf8(bytes).unwrap().parse().unwrap()),
        other => panic!("no value: {other}"),
    }
}

fn encode(call: &Call, bytes: &mut Vec<u8>) {
    let mut put = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        bytes.extend(crate::support::request(&words));
    };
    match (call.form, call.steps.as_slice()) {
        (Form::SetGet, [_, Step::Set { key, value }]) => put(&format!("SET r{key} {value} GET")),
        (Form::Blocking, [Step::Pop { queue, .. }]) => put(&format!("BLPOP q{queue} {BLOCK_S}")),
        (Form::Blocking, [Step::Move { from, to, .. }]) => put(&format!("BLMOVE q{from} q{to} LEFT RIGHT {BLOCK_S}")),
        (Form::Plain, [step]) => put(&command(step)),
        (Form::Published, [step @ Step::Set { key, value }]) => {
            put("MULTI");
            put(&command(step));
            put(&format!("PUBLISH {CHANNEL} {key}:{value}"));
            put("EXEC");
        }
        (Form::Transaction, steps) => {
            put("MULTI");
            steps.iter().for_each(|step| put(&command(step)));
            put("EXEC");
        }
        _ => panic!("no such form of these steps"),
    }
}

fn command(step: &Step) -> String {
    match step {
        Step::Get { key, .. } => format!("GET r{key}"),
        Step::Set { key, value } => format!("SET r{key} {value}"),
        Step::Append { key, value, .. } => format!("RPUSH l{key} {value}"),
        Step::Range { key, .. } => format!("LRANGE l{key} 0 -1"),
        Step::Push { queue, value } => format!("RPUSH q{queue} {value}"),
        Step::Pop { queue, .. } => format!("LPOP q{queue}"),
        Step::Move { from, to, .. } => format!("LMOVE q{from} q{to} LEFT RIGHT"),
        Step::Look { queue, .. } => format!("LRANGE q{queue} 0 -1"),
    }
}
