//! SINTER SINTERCARD SINTERSTORE SUNION SUNIONSTORE SDIFF SDIFFSTORE: set operations.
//!
//! ```text
//! little work      under the locks
//! much, returned   on clones as of one instant, in steps as the reply is sent
//! much, stored     on clones without the locks, before the command runs (again): see `Tx::compute`
//! ```

use super::all::{self, MembersReply};
use crate::prelude::*;
use keyspace::{Computation, Pin, Whole};
use values::set::{SetAlgebra, SetGoal, SetLimits, SetOperation};
use values::{Set, Value};
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[SINTER, SINTERCARD, SINTERSTORE, SUNION, SUNIONSTORE, SDIFF, SDIFFSTORE];

const SINTER: CommandSpec = CommandSpec {
    name: "SINTER",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Set,
    cost: "O(n*m), n the members of the smallest set, m the keys",
    since: "1.0.0",
    brief: "Returns the members that all sets have.",
    answer: "set: the members",
    run: Run::Local(|tx, args, reply| show(tx, args.from(1), reply, SetOperation::Intersection)),
};

const SINTERCARD: CommandSpec = CommandSpec {
    name: "SINTERCARD",
    syntax: "numkeys key [key ...] [LIMIT limit]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Set,
    cost: "O(n*m), n the members of the smallest set, m the keys",
    since: "7.0.0",
    brief: "Counts the members that all sets have.",
    answer: "int: how many there are, or the limit if that is less",
    run: Run::Local(card),
};

const SINTERSTORE: CommandSpec = CommandSpec {
    name: "SINTERSTORE",
    syntax: "destination key [key ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE"), KeySpec::many(2, -1, 1, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SET, "sinterstore")] }])],
    group: Group::Set,
    cost: "O(n*m), n the members of the smallest set, m the keys",
    since: "1.0.0",
    brief: "Stores the members that all sets have.",
    answer: "int: members put; 0: the key is removed",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, SetOperation::Intersection)),
};

const SUNION: CommandSpec = CommandSpec {
    name: "SUNION",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Set,
    cost: "O(n), n the members of all sets",
    since: "1.0.0",
    brief: "Returns the members that any of several sets has.",
    answer: "set: the members",
    run: Run::Local(|tx, args, reply| show(tx, args.from(1), reply, SetOperation::Union)),
};

const SUNIONSTORE: CommandSpec = CommandSpec {
    name: "SUNIONSTORE",
    syntax: "destination key [key ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::many(2, -1, 1, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SET, "sunionstore")] }])],
    group: Group::Set,
    cost: "O(n), n the members of all sets",
    since: "1.0.0",
    brief: "Stores the members that any of several sets has.",
    answer: "int: members put; 0: the key is removed",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, SetOperation::Union)),
};

const SDIFF: CommandSpec = CommandSpec {
    name: "SDIFF",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Set,
    cost: "O(n), n the members of all sets",
    since: "1.0.0",
    brief: "Returns the members of the first set that no other set has.",
    answer: "set: the members",
    run: Run::Local(|tx, args, reply| show(tx, args.from(1), reply, SetOperation::Difference)),
};

const SDIFFSTORE: CommandSpec = CommandSpec {
    name: "SDIFFSTORE",
    syntax: "destination key [key ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::many(2, -1, 1, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SET, "sdiffstore")] }])],
    group: Group::Set,
    cost: "O(n), n the members of all sets",
    since: "1.0.0",
    brief: "Stores the members of the first set that no other set has.",
    answer: "int: members put; 0: the key is removed",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, SetOperation::Difference)),
};

/// Returns the current sets under these keys; an absent one is empty.
fn sets(tx: &mut Tx, keys: Args<'_>) -> Result<Vec<Set>, Failure> {
    keys.iter().map(|key| Ok(tx.set(key)?.cloned().unwrap_or_default())).collect()
}

fn pins(tx: &Tx, keys: Args<'_>, sets: &[Set]) -> Vec<(Pin, u64)> {
    let pins = keys.iter().map(|key| tx.keyspace().pin(key));
    pins.zip(sets.iter().map(Set::heap_bytes)).collect()
}

fn show(tx: &mut Tx, keys: Args<'_>, reply: &mut dyn Reply, operation: SetOperation) -> Outcome {
    let sets = sets(tx, keys)?;
    let pins = pins(tx, keys, &sets);
    begin(reply, SetAlgebra::new(operation, sets, SetGoal::Members), pins);
    Ok(())
}

fn card(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let keys_count = parse::int_or(args.get(1), 1, i64::MAX, "ERR numkeys should be greater than 0")? as usize;
    if keys_count > args.len() - 2 {
        return Err(Failure::text("ERR Number of keys can't be greater than number of args"));
    }
    let (keys, options) = (args.slice(2, 2 + keys_count), args.from(2 + keys_count));
    let mut limit = 0;
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let value = words.next().filter(|_| parse::is(word, "LIMIT")).ok_or(Failure::Syntax)?;
        limit = parse::int_or(value, 0, i64::MAX, "ERR LIMIT can't be negative")? as u64;
    }
    let sets = sets(tx, keys)?;
    let pins = pins(tx, keys, &sets);
    let goal = SetGoal::Count(if limit == 0 { u64::MAX } else { limit });
    begin(reply, SetAlgebra::new(SetOperation::Intersection, sets, goal), pins);
    Ok(())
}

fn store(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, operation: SetOperation) -> Outcome {
    let (key, sources) = (args.get(1), args.from(2));
    let (sets, goal) = (sets(tx, sources)?, SetGoal::Stored(SetLimits::now()));
    let algebra = SetAlgebra::new(operation, sets.clone(), goal);
    let result = if is_little(&algebra) {
        SetStoring(algebra).finished()
    } else {
        let words: Vec<&[u8]> = args.iter().collect();
        let values = sets.into_iter().map(|set| Some(set).filter(|set| !set.is_empty()).map(Value::Set)).collect();
        tx.compute(&words, values, move |values| {
            let sets = values.into_iter().map(|value| match value {
                Some(Value::Set(set)) => set,
                _ => Set::new(),
            });
            Box::new(SetStoring(SetAlgebra::new(operation, sets.collect(), goal)))
        })?
    };
    let count = match &result {
        Some(Value::Set(set)) => set.len(),
        _ => 0,
    };
    if let Some(value) = result {
        tx.put_whole(tx.database(), key, &Whole::plain(value, None))?;
    } else {
        tx.remove(key);
    }
    reply.int(count as i64);
    Ok(())
}

/// Set lookups done under the locks, at most: about 300 µs.
const LOCKED_LOOKS_MAX: u64 = 512;
/// Bytes of members copied there, at most.
const LOCKED_BYTES_MAX: u64 = 64 << 10;

fn is_little(algebra: &SetAlgebra) -> bool {
    algebra.looks() <= LOCKED_LOOKS_MAX && algebra.content_bytes() <= LOCKED_BYTES_MAX
}

struct SetStoring(SetAlgebra);

impl SetStoring {
    fn finished(mut self) -> Option<Value> {
        while !self.step() {}
        self.result()
    }
}

impl Computation for SetStoring {
    fn step(&mut self) -> bool {
        self.0.step()
    }

    fn result(&self) -> Option<Value> {
        Some(self.0.result()).filter(|set| !set.is_empty()).map(|set| Value::Set(set.clone()))
    }
}

/// Replies with the result: here, or after the locks are released.
fn begin(reply: &mut dyn Reply, algebra: SetAlgebra, pins: Vec<(Pin, u64)>) {
    let shared_bytes = algebra.result().heap_bytes();
    let mut source = SetAlgebraReply { algebra, pins, shared_bytes, members: None };
    if is_little(&source.algebra) {
        while !source.algebra.step() {}
        let result = source.algebra.result();
        if source.algebra.is_counted() {
            reply.int(source.algebra.count() as i64);
        } else if result.content_bytes() <= LOCKED_BYTES_MAX {
            reply.set(result.len() as usize);
            all::write_small(reply, result);
        } else {
            // A large set with few removals or additions.
            reply.stream(Box::new(source));
        }
    } else {
        reply.stream(Box::new(source));
    }
}

/// An operation in progress, then its result, which is sent.
struct SetAlgebraReply {
    algebra: SetAlgebra,
    /// Pins of the source sets, and the bytes each holds.
    pins: Vec<(Pin, u64)>,
    /// The part of the result shared with a source, in bytes.
    shared_bytes: u64,
    /// `None` during the operation.
    members: Option<MembersReply>,
}

impl Source for SetAlgebraReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if let Some(members) = &mut self.members {
            return members.next(reply);
        }
        if !self.algebra.step() {
            return More::Follows;
        }
        if self.algebra.is_counted() {
            reply.int(self.algebra.count() as i64);
            return More::Done;
        }
        let set = self.algebra.result().clone();
        reply.set(set.len() as usize);
        if set.is_empty() {
            return More::Done;
        }
        self.members = Some(MembersReply { set, at: 0, pin: None });
        More::Follows
    }

    /// Returns the memory of sources no longer used by their keys, and of the result.
    fn pinned_bytes(&self) -> u64 {
        let sources: u64 = self.pins.iter().map(|(pin, bytes)| pin.bytes(*bytes)).sum();
        sources + self.algebra.result().heap_bytes().saturating_sub(self.shared_bytes)
    }
}
