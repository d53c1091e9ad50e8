//! A client and its connection: sends requests, waits like a server connection, and records the replies.

use crate::facts::Facts;
use crate::ledger::Ledger;
use crate::line::{Line, SORTED};
use crate::random::Random;
use crate::request::{Request, Touch};
use crate::world::Workload;
use base::Position;
use engine::{Destination, Engine, Next, Session, Slow, Worker};
use journal::Level;
use keyspace::{OF_SERVER, TableId};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use wire::client::{Parser, Value};
use wire::{Output, Ranges};

/// Of this many turns without a reason to move, one is followed by a move.
const MOVE_ONE_IN: u64 = 30;

/// The state shared by the clients of one life.
pub(crate) struct SharedState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) workers: Vec<Rc<Worker>>,
    pub(crate) facts: Rc<RefCell<Facts>>,
    pub(crate) ledger: RefCell<Ledger>,
    pub(crate) line: RefCell<Line>,
    pub(crate) random: Random,
    pub(crate) stop: Cell<bool>,
    pub(crate) workload: Workload,
    /// True if replies leave when ready rather than when durable: the canary.
    pub(crate) hasty: bool,
}

impl SharedState {
    fn note_seen(&self, pipeline: &mut Pipeline<'_>) {
        pipeline.seen = self.engine.journal.as_ref().map_or(0, |journal| journal.next());
        let map = self.engine.keyspace.map();
        pipeline.tables = (0..map.databases()).map(|database| map.table(database)).collect();
    }
}

/// The connection ended before all replies arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// One client of a world.
pub(crate) struct Client {
    pub(crate) number: usize,
    pub(crate) shared: Rc<SharedState>,
    session: Session,
    /// True if it requested `always`, whatever the policy.
    always: bool,
}

/// A pipeline in progress.
struct Pipeline<'a> {
    requests: &'a [Request],
    input: Vec<u8>,
    /// The end of each request in `input`.
    ends: Vec<usize>,
    used: usize,
    /// The number of requests that have run.
    ran: usize,
    replies: Vec<Value>,
    /// The journal's end when the last of them had run, and the tables of the databases then.
    seen: Position,
    tables: Vec<TableId>,
    output: Output,
}

impl<'a> Pipeline<'a> {
    fn new(requests: &'a [Request]) -> Self {
        let (mut input, mut ends) = (Vec::new(), Vec::new());
        for request in requests {
            request.encode(&mut input);
            ends.push(input.len());
        }
        Self {
            requests,
            input,
            ends,
            used: 0,
            ran: 0,
            replies: Vec::new(),
            seen: 0,
            tables: Vec::new(),
            output: Output::new(),
        }
    }
}

impl Client {
    pub(crate) fn new(number: usize, shared: Rc<SharedState>) -> Self {
        let session = connect(number, &shared);
        Self { number, shared, session, always: false }
    }

    fn reconnect(&mut self) {
        self.session = connect(self.number, &self.shared);
        self.always = false;
    }

    /// Returns the reply of one request; our own error if the connection ended.
    pub(crate) async fn call(&mut self, request: Request) -> Value {
        match self.send(&[request]).await {
            Ok(mut replies) => replies.remove(0),
            Err(Lost) => Value::Error("lost".into()),
        }
    }

    /// Runs one request at once, regardless of durability; `None` if it has to wait.
    pub(crate) fn ask_now(&mut self, request: &Request) -> Option<Value> {
        let (mut input, mut output, mut parser) = (Vec::new(), Output::new(), Parser::new());
        request.encode(&mut input);
        let turn = self.session.run_turn(&input, &mut Ranges::new(), &mut output);
        if matches!(turn.next, Next::Gate | Next::Paced(_) | Next::Slow(_)) {
            return None;
        }
        self.session.note_written();
        drain(&mut output, &mut parser);
        parser.next_value().expect("replies are well formed")
    }

    /// Requests that its replies leave only once durable.
    pub(crate) async fn be_durable(&mut self) {
        self.always = self.call(Request::plain(&["CLIENT", "DURABLE", "ALWAYS"])).await == Value::Simple("OK".into());
    }

    /// Sends a pipeline and waits for its replies, like a connection.
    ///
    /// # Errors
    /// The connection ended; there is a new one.
    pub(crate) async fn send(&mut self, requests: &[Request]) -> Result<Vec<Value>, Lost> {
        let mut pipeline = Pipeline::new(requests);
        let done = self.serve(&mut pipeline).await;
        self.shared.line.borrow_mut().leave(self.number, None);
        if done.is_err() || self.session.is_closing() {
            self.reconnect();
        }
        done.map(|()| pipeline.replies)
    }

    async fn serve(&mut self, pipeline: &mut Pipeline<'_>) -> Result<(), Lost> {
        let mut ranges = Ranges::new();
        while pipeline.replies.len() < pipeline.requests.len() {
            let turn = self.session.run_turn(&pipeline.input[pipeline.used..], &mut ranges, &mut pipeline.output);
            pipeline.used += turn.used;
            self.note_ran(pipeline, pipeline.ends.partition_point(|end| *end <= pipeline.used));
            self.flush(pipeline).await?;
            match turn.next {
                _ if self.session.is_closing() || self.session.client().is_closing(None) => return Err(Lost),
                Next::Close | Next::Http => return Err(Lost),
                Next::Input(_) => self.move_at_times(),
                Next::Again => let_others_go_on().await,
                Next::Gate => self.session.gate_open().await,
                Next::Paced(wait_ms) => self.session.paced(wait_ms).await,
                Next::Slow(slow) => {
                    self.run_slowly(slow, pipeline).await?;
                    self.flush(pipeline).await?;
                }
            }
        }
        Ok(())
    }

    /// Moves to another worker as a server moves connections, or for no reason.
    fn move_at_times(&mut self) {
        let shared = &*self.shared;
        let wants = self.session.destination();
        if !self.session.is_movable() || wants.is_none() && !shared.random.one_in(MOVE_ONE_IN) {
            return;
        }
        let worker = match wants {
            Some(Destination::Worker(worker)) => worker,
            Some(Destination::Any) | None => shared.random.below(shared.workers.len() as u64) as usize,
        };
        self.session = Session::arrive(shared.workers[worker].clone(), self.session.depart());
        shared.facts.borrow_mut().moves += 1;
    }

    fn note_ran(&self, pipeline: &mut Pipeline<'_>, ran: usize) {
        pipeline.ran = ran;
        self.shared.note_seen(pipeline);
    }

    /// Runs a request that must wait. A blocked one may find that its client is gone.
    async fn run_slowly(&mut self, slow: Box<Slow>, pipeline: &mut Pipeline<'_>) -> Result<(), Lost> {
        let client = self.session.client().clone();
        let (shared, number) = (self.shared.clone(), self.number);
        let touches = &pipeline.requests[pipeline.ran].touches;
        let waited =
            touches.iter().filter_map(|touch| if let Touch::Key(0, key) = touch { Some(key.as_str()) } else { None });
        let kind = if pipeline.requests[pipeline.ran].words[0].starts_with("BZ") { SORTED } else { "" };
        let waited: Vec<String> = waited.map(|key| format!("{kind}{key}")).collect();
        let mut was_blocked = false;
        let request_bytes = slow.request_bytes();
        let result = {
            let input = &pipeline.input[pipeline.used..];
            let mut running = pin!(self.session.run_slowly(slow, input, &mut pipeline.output));
            poll_fn(|context| {
                if client.is_closing(Some(context)) {
                    return Poll::Ready(Err(Lost));
                }
                was_blocked |= join(&shared, number, &client, &waited);
                if running.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Ok(()));
                }
                was_blocked |= join(&shared, number, &client, &waited);
                let goes = client.blocked().is_some() && shared.random.one_in(40);
                if goes { Poll::Ready(Err(Lost)) } else { Poll::Pending }
            })
            .await
        };
        pipeline.used += request_bytes;
        pipeline.ran += 1;
        shared.note_seen(pipeline);
        if was_blocked {
            // It was served by another client at an earlier time: its result is checked by other means.
            pipeline.seen = 0;
        }
        result
    }

    /// Waits until the output may leave, and sends it.
    async fn flush(&mut self, pipeline: &mut Pipeline<'_>) -> Result<(), Lost> {
        if pipeline.output.is_empty() {
            return Ok(());
        }
        let client = self.session.client().clone();
        if !self.shared.hasty {
            let may_leave = poll_fn(|context: &mut Context<'_>| {
                if client.is_closing(Some(context)) {
                    return Poll::Ready(Err(Lost));
                }
                self.session.poll_may_write(context).map(Ok)
            })
            .await?;
            if !may_leave {
                self.session.fail_held(&mut pipeline.output);
            }
        }
        self.session.note_written();
        self.leave(pipeline);
        Ok(())
    }

    fn leave(&self, pipeline: &mut Pipeline<'_>) {
        let mut parser = Parser::new();
        drain(&mut pipeline.output, &mut parser);
        while let Some(value) = parser.next_value().expect("replies are well formed") {
            let at = pipeline.replies.len();
            assert!(at < pipeline.ran, "a reply came before its request had run: {value:?}");
            self.note(&pipeline.requests[at], &value, pipeline.seen, &pipeline.tables);
            pipeline.replies.push(value);
        }
    }

    fn note(&self, request: &Request, reply: &Value, seen: Position, tables: &[TableId]) {
        let shared = &*self.shared;
        shared.line.borrow_mut().leave(self.number, served_from(request, reply).as_deref());
        let mut facts = shared.facts.borrow_mut();
        facts.replies += 1;
        let Some(journal) = &shared.engine.journal else { return };
        let mut ledger = shared.ledger.borrow_mut();
        if let Some(text) = reply.as_error() {
            facts.errors += 1;
            if text.starts_with("MISCONF the disk") {
                ledger.refuse(&request.tokens);
            }
            if text.starts_with("MISCONF") {
                return;
            }
        }
        let touches = request.touches.iter().map(|touch| match touch {
            Touch::Key(database, _) | Touch::Database(database) => (touch.clone(), tables[*database as usize]),
            Touch::Indexes => (touch.clone(), OF_SERVER),
        });
        let level = if self.always { Level::Durable } else { journal.level() };
        ledger.show(&request.words, seen, journal.reached(level), touches.collect());
    }
}

fn drain(output: &mut Output, parser: &mut Parser) {
    while !output.is_empty() {
        output.fill();
        let ready = output.front().map_or(0, |bytes| {
            parser.feed(bytes);
            bytes.len()
        });
        output.consume(ready);
    }
}

/// Records, once, that a client now waits for its keys.
fn join(shared: &SharedState, number: usize, client: &engine::client::Client, keys: &[String]) -> bool {
    let Some(waiter) = client.blocked() else { return false };
    let mut line = shared.line.borrow_mut();
    if !line.has(number) {
        line.join(number, keys.to_vec(), Box::new(move || waiter.is_waiting()));
    }
    true
}

/// Returns the key from which a blocking command got an element.
fn served_from(request: &Request, reply: &Value) -> Option<String> {
    match (request.words[0].as_str(), reply) {
        ("BLPOP" | "BRPOP", Value::Array(pair)) => {
            Some(String::from_utf8_lossy(pair.first()?.as_bytes()?).into_owned())
        }
        ("BZPOPMIN" | "BZPOPMAX", Value::Array(trio)) => {
            Some(format!("{SORTED}{}", String::from_utf8_lossy(trio.first()?.as_bytes()?)))
        }
        ("BLMOVE", Value::Bulk(_)) => Some(request.words[1].clone()),
        _ => None,
    }
}

fn connect(number: usize, shared: &SharedState) -> Session {
    let shown = shared.engine.clients.add("sim:1", "sim:0", true, 0);
    Session::new(shared.workers[number % shared.workers.len()].clone(), shown)
}

/// Yields although a reply that needs no sync is ready at once, so that the schedule can choose.
pub(crate) async fn let_others_go_on() {
    let mut was_here = false;
    poll_fn(|context| {
        if std::mem::replace(&mut was_here, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the number at the start of a bulk.
pub(crate) fn number(value: &Value) -> Option<u64> {
    std::str::from_utf8(value.as_bytes()?).ok()?.split(' ').next()?.parse().ok()
}
