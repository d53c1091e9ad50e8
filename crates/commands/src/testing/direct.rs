//! A keyspace without an engine: no threads, sockets or journal, and a clock that stands still.
//!
//! Every request runs as in the engine, under the locks that its command names and with the journal room that its
//! arguments bound, and leaves its frame in a list. Of the commands that need an engine it supports SELECT, PING and
//! those like FLUSHALL.

use super::dump::hold;
use super::searches::Cursors;
use super::transcript::Endpoint;
use crate::events::events;
use crate::failure::Failure;
use crate::registry::{self, Lookup};
use crate::spec::Group;
use crate::spec::{BeginGather, CommandSpec, Flag, Local, Run, SweepNext};
use base::Ms;
use base::hash::KeyHasher;
use base::limits::SHARDS;
use keyspace::{Abandon, Classes, Held, Keyspace, Log, Named, Note, OffLockJobs, Plan, PrebuiltStrings, Tx, shard_of};
use std::collections::BTreeSet;
use values::LongString;
use wire::client::{Parser, Value};
use wire::resp::{Encoder, Protocol};
use wire::{Args, Output, OwnedRequest, Reply};

/// The start time of a new world.
pub const START_MS: Ms = 1_700_000_000_000;
/// Requests with more arguments than this are gathered, if possible.
const GATHERED_MIN: usize = 3;
/// The number of databases.
pub const DATABASES: u32 = 4;

/// A keyspace, its clock, and its changes.
pub struct World {
    /// The keyspace.
    pub keyspace: Keyspace,
    /// The frames so far, each with the effects of one request.
    pub frames: Vec<Vec<u8>>,
    /// The clock.
    pub now: Ms,
    /// The protocol of replies.
    pub protocol: Protocol,
    /// The current database.
    pub database: u32,
    /// True if the keyspace is rebuilt from the frames after each request.
    pub restarts: bool,
    /// True if each request also runs speculatively on clones, and is replayed.
    pub speculates: bool,
    /// The cursors of FT.AGGREGATE.
    pub cursors: Cursors,
}

impl World {
    /// Creates an empty world.
    pub fn new(protocol: Protocol) -> Self {
        let keyspace = Keyspace::new(KeyHasher::new([7; 16]), DATABASES);
        keyspace.order_at_once();
        Self {
            keyspace,
            frames: Vec::new(),
            now: START_MS,
            protocol,
            database: 0,
            restarts: false,
            speculates: false,
            cursors: Cursors::default(),
        }
    }

    /// Returns a keyspace replayed from the frames alone.
    ///
    /// # Panics
    /// If they cannot be replayed.
    pub fn replayed(&self) -> Keyspace {
        let keyspace = Keyspace::new(*self.keyspace.hasher(), DATABASES);
        self.frames.iter().for_each(|frame| keyspace.replay(frame).expect("what was recorded can be replayed"));
        keyspace.order_at_once();
        keyspace
    }

    /// Returns the reply to a request.
    pub fn call(&mut self, words: &[Vec<u8>]) -> Value {
        let owned = OwnedRequest::of(words);
        let args = owned.args();
        let mut output = Output::new();
        let frames_before = self.frames.len();
        let mark = output.mark();
        if let Err(failure) = self.run(&args, &mut output) {
            assert!(self.frames.len() == frames_before, "{args:?} failed and changed something");
            output.truncate(mark);
            Encoder::new(&mut output, self.protocol).error(&failure.to_string());
        }
        if self.restarts {
            self.keyspace = self.replayed();
        }
        read(output, self.protocol)
    }

    fn run(&mut self, args: &Args, output: &mut Output) -> Result<(), Failure> {
        let Lookup::Command(command) = registry::find(args) else {
            return Err(Failure::text("ERR unknown command"));
        };
        let command = command.spec();
        if !command.arity.allows(args.len()) {
            let name = command.reported_name();
            return Err(Failure::text(format!("ERR wrong number of arguments for '{name}' command")));
        }
        match command.run {
            Run::Local(handler) => self.local(command, handler, args, output, false),
            Run::Gather { at_once, begin } => {
                if args.len() > GATHERED_MIN {
                    return self.gather(begin, args, output);
                }
                self.local(command, at_once, args, output, false)
            }
            Run::Gate(handler) | Run::Range { at_once: handler, .. } => {
                self.local(command, handler, args, output, true)
            }
            Run::Blocking { try_now, .. } => match self.local(command, try_now, args, output, false) {
                // Its changes stay.
                Err(Failure::Nothing) => {
                    Encoder::new(output, self.protocol).null_array();
                    Ok(())
                }
                outcome => outcome,
            },
            Run::Sweep(begin) => {
                let mut sweep = begin(args, 0x1234_5678_9abc_def0)?;
                let mut shard = sweep.first_shard();
                while shard < SHARDS {
                    let (mut plan, mut log) = (Plan::default(), Log::default());
                    let held = hold(&self.keyspace, &mut plan, shard);
                    let walk =
                        sweep.visit(&mut Tx::new(&self.keyspace, held, self.database, self.now, &mut log, 0), shard);
                    assert!(log.is_empty(), "{}: a sweep changes nothing", command.name);
                    match walk {
                        SweepNext::Next => shard += 1,
                        SweepNext::Again => {}
                        SweepNext::Over => break,
                    }
                }
                sweep.finish(&mut Encoder::new(output, self.protocol))
            }
            Run::Search(verb) => self.search_index(command, verb, args, output),
            Run::Session(_) | Run::Parts { .. } | Run::Engine(_) => self.session(command, args, output),
        }
    }

    /// Runs like the engine with very many keys, without concurrent changes.
    fn gather(&mut self, begin: BeginGather, args: &Args, output: &mut Output) -> Result<(), Failure> {
        let mut gather = begin(args);
        (1..args.len()).for_each(|_| gather.expect());
        for at in 1..args.len() {
            let (mut plan, mut log) = (Plan::default(), Log::default());
            let held = hold(&self.keyspace, &mut plan, shard_of(self.keyspace.hash(args.get(at))));
            gather.look(&mut Tx::new(&self.keyspace, held, self.database, self.now, &mut log, 0), at, args.get(at));
        }
        gather.finish(&mut Encoder::new(output, self.protocol));
        Ok(())
    }

    fn session(&mut self, command: &CommandSpec, args: &Args, output: &mut Output) -> Result<(), Failure> {
        if command.name != "SELECT" {
            return Err(Failure::text("ERR not without an engine"));
        }
        self.database = crate::parse::database(args.get(1), DATABASES)?;
        Encoder::new(output, self.protocol).ok();
        Ok(())
    }

    /// Runs a handler, again with more room or a search if it asks for them.
    pub(super) fn local(
        &mut self,
        command: &CommandSpec,
        handler: Local,
        args: &Args,
        output: &mut Output,
        gate: bool,
    ) -> Result<(), Failure> {
        let mut room_bytes = command.frame_bytes_max(args);
        let mut searches = OffLockJobs::default();
        loop {
            let mark = output.mark();
            match self.attempt(command, handler, args, output, gate, room_bytes, &searches) {
                Err(Failure::Abandon(Abandon::Room(bytes))) => {
                    assert!(bytes > room_bytes);
                    room_bytes = bytes;
                    output.truncate(mark);
                }
                Err(Failure::Abandon(Abandon::Compute(wanted))) => {
                    assert!(searches.begin(*wanted).is_none(), "nobody else changes the list");
                    self.search(&mut searches);
                    output.truncate(mark);
                }
                outcome => return outcome,
            }
        }
    }

    /// Runs the jobs on clones, and shows them the keys they request.
    fn search(&self, searches: &mut OffLockJobs) {
        loop {
            let shard = searches.wants().map(|key| shard_of(self.keyspace.hash(key)));
            if let Some(shard) = shard {
                let (mut plan, mut log) = (Plan::default(), Log::default());
                let held = hold(&self.keyspace, &mut plan, shard);
                searches.look(&mut Tx::new(&self.keyspace, held, self.database, self.now, &mut log, 0));
            } else if searches.step() {
                return;
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what an attempt of the engine gathers in a struct")]
    fn attempt(
        &mut self,
        command: &CommandSpec,
        handler: Local,
        args: &Args,
        output: &mut Output,
        gate: bool,
        room_bytes: u64,
        searches: &OffLockJobs,
    ) -> Result<(), Failure> {
        let (mut plan, mut log, mut cuts) = (Plan::default(), Log::default(), PrebuiltStrings::default());
        command.long_texts(args).for_each(|text| cuts.add(text, LongString::of(text)));
        command.plan(args, &self.keyspace, &mut plan);
        plan.seal();
        let held = if gate {
            Held::under_gate(&self.keyspace)
        } else {
            plan.try_hold(&self.keyspace).unwrap_or_else(|_| panic!("{}: nobody else is here", command.name))
        };
        let mut tx = Tx::new(&self.keyspace, held, self.database, self.now, &mut log, room_bytes);
        tx.set_cuts(&cuts);
        tx.set_jobs(searches);
        tx.take_notes();
        let index = registry::commands().position(|known| known.name == command.name).expect("a command of the table");
        tx.begin_command(index as u16, crate::events::reports_misses(command));
        let outcome = if self.speculates && !gate && command.keeps_to_its_keys() {
            speculated(&mut tx, (command, index as u16), args, |tx| {
                handler(tx, args, &mut Encoder::new(output, self.protocol))
            })
        } else {
            handler(&mut tx, args, &mut Encoder::new(output, self.protocol))
        };
        let (notes, touched) = (tx.notes().to_vec(), tx.take_touched());
        let log = tx.end();
        if !command.has(Flag::ReportedAsReader) {
            assert_changes_notified(log, &touched, &notes, command, args);
        }
        let frame = log.payload_mut().to_vec();
        let may_change = matches!(outcome, Ok(()) | Err(Failure::Nothing));
        assert!(frame.is_empty() || may_change, "{args:?} failed and changed something");
        assert!(frame.is_empty() || command.writes(), "{args:?} changed something and is no write");
        assert!(frame.len() as u64 <= room_bytes, "{args:?} took {} bytes and asked for {room_bytes}", frame.len());
        let (mut rest, mut again) = (&frame[..], Vec::new());
        while !rest.is_empty() {
            keyspace::Record::decode(&mut rest).expect("what was recorded can be read").encode(&mut again);
        }
        assert!(again == frame, "{args:?} left a frame that is read as another");
        if !frame.is_empty() {
            self.frames.push(frame);
        }
        outcome
    }
}

/// Runs a handler speculatively, then replays the result.
fn speculated(
    tx: &mut Tx<'_>,
    (command, index): (&CommandSpec, u16),
    args: &Args<'_>,
    run: impl FnOnce(&mut Tx<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut keys = Vec::new();
    command.for_each_key(args, |key, _| keys.push(key));
    let (outcome, speculation) = tx.snapshot(keys.into_iter()).speculate(
        |keyspace, plan| command.plan(args, keyspace, plan),
        |tx| {
            tx.begin_command(index, crate::events::reports_misses(command));
            run(tx)
        },
    );
    assert!(speculation.is_true(tx), "{args:?}: nobody has changed anything");
    tx.need_room(speculation.payload_bytes())?;
    tx.commit(speculation);
    outcome
}

/// Asserts that notes exist for exactly the keys that were changed or count as changed.
fn assert_changes_notified(log: &Log, touched: &[Box<[u8]>], notes: &[Note], command: &CommandSpec, args: &Args<'_>) {
    let events = events(notes);
    let notified: BTreeSet<&[u8]> =
        events.iter().filter(|event| event.class != Classes::MISSED).map(|event| event.key).collect();
    let changed = log.named_from(0).filter_map(|named| match named {
        Named::Key(_, key) => Some(key),
        Named::Database(_) => None,
    });
    let changed = changed.chain(touched.iter().map(|key| &**key)).collect();
    if matches!(command.group, Group::Stream | Group::Memcached) {
        // Redis does not notify about group readers, nor about versions or staleness of items.
        assert!(notified.is_subset(&changed), "{args:?}: keys notified, and not changed");
    } else {
        assert_eq!(notified, changed, "{args:?}: keys notified, and keys changed");
    }
}

impl Endpoint for World {
    fn call(&mut self, words: &[Vec<u8>]) -> Value {
        World::call(self, words)
    }

    fn advance(&mut self, ms: Ms) {
        self.now += ms;
    }

    fn is_resp3(&self) -> bool {
        self.protocol == Protocol::Resp3
    }
}

/// Returns the one reply in `output`.
pub(super) fn read(mut output: Output, protocol: Protocol) -> Value {
    let mut parser = Parser::new();
    loop {
        output.fill();
        let Some(bytes) = output.front() else { break };
        let count = bytes.len();
        parser.feed(bytes);
        output.consume(count);
    }
    assert!(output.is_empty());
    let value = parser.next_value().expect("replies are well formed").expect("a reply");
    assert_eq!(parser.next_value(), Ok(None), "one reply, in {protocol:?}");
    value
}
