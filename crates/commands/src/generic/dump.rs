//! DUMP RESTORE RESTORE-ASKING: values in Redis's serialization format, for other servers.
//!
//! ```text
//! little    written, or read, under the lock
//! much      DUMP: from a clone, in steps as the reply is sent
//!           RESTORE: in turns without the lock, before the command runs (again): see `Tx::compute`
//! ```

use crate::prelude::*;
use base::Ms;
use keyspace::{Computation, OfWhen, Pin, Whole};
use rdb::{Dumping, Fault, Restoring};
use values::Value;
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[DUMP, RESTORE, RESTORE_ASKING];

const DUMP: CommandSpec = CommandSpec {
    name: "DUMP",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Generic,
    cost: "O(n), n the bytes of the value",
    since: "2.6.0",
    brief: "Returns the serialized value of a key.",
    answer: "bulk: the bytes; null: the key is absent",
    run: Run::Local(dump),
};

const RESTORE: CommandSpec = CommandSpec {
    name: "RESTORE",
    syntax: "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Dangerous, Flag::PutsString, Flag::RemovesBeforeStoring],
    facts: &[
        Fact::History(&[
            ("3.0.0", "Takes `REPLACE`."),
            ("5.0.0", "Takes `ABSTTL`."),
            ("5.0.0", "Takes `IDLETIME` and `FREQ`."),
        ]),
        Fact::Arguments(&[
            argument("3", "", "", "3.0.0"),
            argument("4", "", "", "5.0.0"),
            argument("5", "", "", "5.0.0"),
            argument("6", "", "", "5.0.0"),
        ]),
    ],
    group: Group::Generic,
    cost: "O(n), n the bytes; O(n log n) for what is found by hash or score",
    since: "2.6.0",
    brief: "Creates a key from the payload of DUMP.",
    answer: "simple: OK; error if the key is taken and not to be replaced, or the bytes are none of DUMP",
    run: Run::Local(restore),
};

const RESTORE_ASKING: CommandSpec = CommandSpec {
    name: "RESTORE-ASKING",
    syntax: "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Dangerous, Flag::PutsString, Flag::Asking, Flag::System, Flag::RemovesBeforeStoring],
    facts: &[
        Fact::History(&[
            ("3.0.0", "Takes `REPLACE`."),
            ("5.0.0", "Takes `ABSTTL`."),
            ("5.0.0", "Takes `IDLETIME` and `FREQ`."),
        ]),
        Fact::Arguments(&[
            argument("3", "", "", "3.0.0"),
            argument("4", "", "", "5.0.0"),
            argument("5", "", "", "5.0.0"),
            argument("6", "", "", "5.0.0"),
        ]),
        Fact::DocsGroup("server"),
    ],
    group: Group::Generic,
    cost: "O(n), n the bytes; O(n log n) for what is found by hash or score",
    since: "3.0.0",
    brief: "Creates a key from DUMP's payload, as nodes of a cluster ask for.",
    answer: "simple: OK; error if the key is taken and not to be replaced, or the bytes are none of DUMP",
    run: Run::Local(restore),
};

/// Steps done under a lock: about 100 µs.
const LOCKED_STEPS_MAX: usize = 2;

fn dump(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let Some(Whole { value, .. }) = tx.whole(key) else {
        reply.null();
        return Ok(());
    };
    if let Value::Queue(queue) = &value {
        if queue.ready_len() == 0 {
            return Err(Failure::text("ERR the queue has nothing ready, and a dumped list cannot be empty"));
        }
        tx.expect_work(queue.returned_len())?;
    }
    let mut dumping = Dumping::new(value.clone());
    if (0..LOCKED_STEPS_MAX).any(|_| dumping.step()) {
        reply.bulk_begin(dumping.bytes_count() as usize);
        while let Some(part) = dumping.take() {
            reply.bulk_part(&part);
        }
        reply.bulk_end();
    } else {
        reply.stream(Box::new(DumpReply { dumping, is_whole: false, value, pin: tx.keyspace().pin(key) }));
    }
    Ok(())
}

/// A dump being made, then sent.
struct DumpReply {
    dumping: Dumping,
    is_whole: bool,
    /// The dumped value, kept to the end: a source is dropped where time does not matter.
    value: Value,
    pin: Pin,
}

impl Source for DumpReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if !self.is_whole {
            self.is_whole = self.dumping.step();
            if self.is_whole {
                reply.bulk_begin(self.dumping.bytes_count() as usize);
            }
            return More::Follows;
        }
        let Some(part) = self.dumping.take() else {
            reply.bulk_end();
            return More::Done;
        };
        reply.bulk_part(&part);
        More::Follows
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.value.heap_bytes()) + self.dumping.bytes_count()
    }
}

/// The options of RESTORE.
#[derive(Default)]
struct RestoreOptions {
    replace: bool,
    is_absolute: bool,
    idle_s: Option<i64>,
    frequency: Option<i64>,
}

impl RestoreOptions {
    fn parse(words: Args<'_>) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let has_value = words.len() > 0;
            if parse::is(word, "REPLACE") {
                options.replace = true;
            } else if parse::is(word, "ABSTTL") {
                options.is_absolute = true;
            } else if parse::is(word, "IDLETIME") && has_value && options.frequency.is_none() {
                let text = "ERR Invalid IDLETIME value, must be >= 0";
                options.idle_s = Some(number(words.next(), 0..=i64::MAX, text)?);
            } else if parse::is(word, "FREQ") && has_value && options.idle_s.is_none() {
                let text = "ERR Invalid FREQ value, must be >= 0 and <= 255";
                options.frequency = Some(number(words.next(), 0..=255, text)?);
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
}

fn number(word: Option<&[u8]>, within: std::ops::RangeInclusive<i64>, otherwise: &'static str) -> Result<i64, Failure> {
    let number = parse::int(word.unwrap_or_default())?;
    if within.contains(&number) { Ok(number) } else { Err(Failure::text(otherwise)) }
}

fn restore(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, payload) = (args.get(1), args.get(3));
    let options = RestoreOptions::parse(args.from(4))?;
    let is_there = tx.exists(key);
    if is_there && !options.replace {
        return Err(Failure::text("BUSYKEY Target key name already exists."));
    }
    let ttl_ms = number(Some(args.get(2)), 0..=i64::MAX, "ERR Invalid TTL value, must be >= 0")?;
    let value = read(tx, key, payload)?;
    // As in Redis, a time that overflows has passed.
    let until_ms = if options.is_absolute { ttl_ms } else { ttl_ms.wrapping_add(tx.now() as i64) };
    let expires_at_ms = Some(until_ms).filter(|_| ttl_ms > 0).map(|until_ms| until_ms.max(0) as Ms);
    if expires_at_ms.is_some_and(|at_ms| at_ms <= tx.now()) {
        tx.remove(key);
    } else {
        tx.put_whole(tx.database(), key, &Whole::plain(value, expires_at_ms))?;
        if let Some(idle_s) = options.idle_s {
            note_idle(tx, key, idle_s as u64);
        }
    }
    reply.ok();
    Ok(())
}

/// Returns the value of a payload.
fn read(tx: &mut Tx, key: &[u8], payload: &[u8]) -> Result<Value, Failure> {
    let text = tx.cut(payload);
    let mut restoring = Restoring::new(&text);
    if (0..LOCKED_STEPS_MAX).any(|_| restoring.step()) {
        return restoring.result().map_err(refused);
    }
    // The address of the bytes distinguishes them from another RESTORE in the same EXEC.
    let place = (payload.as_ptr().addr() as u64).to_le_bytes();
    let length = (payload.len() as u64).to_le_bytes();
    let made = tx.try_compute(OfWhen::Now, &[b"RESTORE", key, &place, &length], Vec::new(), move |_| {
        Box::new(Reading(Restoring::new(&text)))
    })?;
    made.map_err(Failure::text).map(|value| value.expect("a payload without a fault has a value"))
}

fn refused(fault: Fault) -> Failure {
    Failure::text(words(fault))
}

fn words(fault: Fault) -> &'static str {
    match fault {
        Fault::Footer => "ERR DUMP payload version or checksum are wrong",
        Fault::Malformed => "ERR Bad data format",
    }
}

/// A payload being read without a lock.
struct Reading(Restoring);

impl Computation for Reading {
    fn step(&mut self) -> bool {
        self.0.step()
    }

    fn result(&self) -> Option<Value> {
        self.0.result().ok()
    }

    fn fault(&self) -> Option<&'static str> {
        self.0.result().err().map(words)
    }
}

/// Sets how long ago a key was last used.
fn note_idle(tx: &mut Tx, key: &[u8], idle_s: u64) {
    let at_s = (tx.now() / 1000).saturating_sub(idle_s).max(1);
    if let Some(entry) = tx.peek(key) {
        entry.touch(at_s as u32 & 0xff_ffff);
    }
}
