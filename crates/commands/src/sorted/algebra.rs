//! ZUNION ZINTER ZDIFF ZINTERCARD, and the first three with a destination: operations on sorted sets, and on sets,
//! whose members have score 1. Little work runs under the locks, much on clones, as for SUNION.

use super::range::put_result;
use super::reply::{MemberFormat, MembersByScoreReply};
use super::score::score_or;
use crate::prelude::*;
use base::raw_text;
use keyspace::{Computation, Pin, WrongType};
use values::set::SetOperation;
use values::sorted::{Aggregate, Asked, Members, SortedAlgebra, SortedLimits, Source};
use values::{Sorted, Value, limits};
use wire::{More, Source as _};

pub(crate) const COMMANDS: &[CommandSpec] = &[ZDIFF, ZDIFFSTORE, ZINTER, ZINTERCARD, ZINTERSTORE, ZUNION, ZUNIONSTORE];

const ZUNION: CommandSpec = CommandSpec {
    name: "ZUNION",
    syntax: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Arguments(&[argument("3", "aggregate", "", "")])],
    group: Group::SortedSet,
    cost: "O(n+m*log(m)), n the members of all, m those of the result",
    since: "6.2.0",
    brief: "Returns the members that any of several sorted sets has.",
    answer: "array: members, the lowest score first; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| show(tx, args, reply, SetOperation::Union, Shape::Returned)),
};

const ZUNIONSTORE: CommandSpec = CommandSpec {
    name: "ZUNIONSTORE",
    syntax: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::counted(2, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[argument("4", "aggregate", "", "")]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "zunionstore")] }]),
    ],
    group: Group::SortedSet,
    cost: "O(n+m*log(m)), n the members of all, m those of the result",
    since: "2.0.0",
    brief: "Stores the members that any of several sorted sets has.",
    answer: "int: members of the result",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, SetOperation::Union)),
};

const ZINTER: CommandSpec = CommandSpec {
    name: "ZINTER",
    syntax: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Arguments(&[argument("3", "aggregate", "", "")])],
    group: Group::SortedSet,
    cost: "O(n*k*log(n)+m*log(m)), n the members of the smallest of k, m those of the result",
    since: "6.2.0",
    brief: "Returns the members that all sorted sets have.",
    answer: "array: members, the lowest score first; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| show(tx, args, reply, SetOperation::Intersection, Shape::Returned)),
};

const ZINTERSTORE: CommandSpec = CommandSpec {
    name: "ZINTERSTORE",
    syntax: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::counted(2, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[argument("4", "aggregate", "", "")]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "zinterstore")] }]),
    ],
    group: Group::SortedSet,
    cost: "O(n*k*log(n)+m*log(m)), n the members of the smallest of k, m those of the result",
    since: "2.0.0",
    brief: "Stores the members that all sorted sets have.",
    answer: "int: members of the result",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, SetOperation::Intersection)),
};

const ZINTERCARD: CommandSpec = CommandSpec {
    name: "ZINTERCARD",
    syntax: "numkeys key [key ...] [LIMIT limit]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(n*k*log(n)), n the members of the smallest of k",
    since: "7.0.0",
    brief: "Counts the members that all sorted sets have.",
    answer: "int: members, with LIMIT at most so many",
    run: Run::Local(|tx, args, reply| show(tx, args, reply, SetOperation::Intersection, Shape::Count)),
};

const ZDIFF: CommandSpec = CommandSpec {
    name: "ZDIFF",
    syntax: "numkeys key [key ...] [WITHSCORES]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(n*k*log(n)+m*log(m)), n the members of the first of k, m those of the result",
    since: "6.2.0",
    brief: "Returns the members of the first sorted set that no other has.",
    answer: "array: members, the lowest score first; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| show(tx, args, reply, SetOperation::Difference, Shape::Returned)),
};

const ZDIFFSTORE: CommandSpec = CommandSpec {
    name: "ZDIFFSTORE",
    syntax: "destination numkeys key [key ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::counted(2, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "zdiffstore")] }])],
    group: Group::SortedSet,
    cost: "O(n*k*log(n)+m*log(m)), n the members of the first of k, m those of the result",
    since: "6.2.0",
    brief: "Stores the members of the first sorted set that no other has.",
    answer: "int: members of the result",
    run: Run::Local(|tx, args, reply| store(tx, args, reply, SetOperation::Difference)),
};

/// The use of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Returned,
    Stored,
    Count,
}

/// Returns the members under a key; none if it is absent.
fn members(tx: &mut Tx, key: &[u8]) -> Result<Members, Failure> {
    match tx.sorted(key) {
        Ok(sorted) => Ok(Members::Sorted(sorted.cloned().unwrap_or_default())),
        Err(WrongType) => Ok(Members::Set(tx.set(key)?.cloned().unwrap_or_default())),
    }
}

/// A parsed request.
struct Request {
    asked: Asked,
    sources: Vec<Source>,
    /// Pins of the sources, with the bytes each holds.
    pins: Vec<(Pin, u64)>,
    with_scores: bool,
}

impl Request {
    /// Parses `numkeys key [key ...]` from argument `at` on, reads the keys, and parses the options after them.
    fn of(tx: &mut Tx, args: &Args, at: usize, operation: SetOperation, shape: Shape) -> Result<Self, Failure> {
        let keys_count = parse::int(args.get(at))?;
        if keys_count < 1 {
            let name = raw_text::from_bytes(args.name()).to_ascii_lowercase();
            return Err(Failure::text(format!("ERR at least 1 input key is needed for '{name}' command")));
        }
        let end = at.saturating_add(1).saturating_add(keys_count as usize);
        if end > args.len() {
            return Err(Failure::Syntax);
        }
        let (mut sources, mut pins) = (Vec::new(), Vec::new());
        for key in args.slice(at + 1, end) {
            let source = Source { members: members(tx, key)?, weight: 1.0 };
            pins.push((tx.keyspace().pin(key), source.members.heap_bytes()));
            sources.push(source);
        }
        let is_counted = shape == Shape::Count;
        let asked = Asked { operation, aggregate: Aggregate::Sum, count_max: u64::MAX, is_counted };
        let mut request = Self { asked, sources, pins, with_scores: false };
        request.read_options(args.from(end), shape)?;
        Ok(request)
    }

    fn read_options(&mut self, words: Args<'_>, shape: Shape) -> Result<(), Failure> {
        let has_scores = self.asked.operation != SetOperation::Difference && shape != Shape::Count;
        let mut at = 0;
        while at < words.len() {
            let (word, left) = (words.get(at), words.len() - at);
            match () {
                () if has_scores && left > self.sources.len() && parse::is(word, "WEIGHTS") => {
                    for source in &mut self.sources {
                        at += 1;
                        source.weight = score_or(words.get(at), "ERR weight value is not a float")?;
                    }
                }
                () if has_scores && left >= 2 && parse::is(word, "AGGREGATE") => {
                    at += 1;
                    self.asked.aggregate = match words.get(at) {
                        word if parse::is(word, "SUM") => Aggregate::Sum,
                        word if parse::is(word, "MIN") => Aggregate::Min,
                        word if parse::is(word, "MAX") => Aggregate::Max,
                        _ => return Err(Failure::Syntax),
                    };
                }
                () if shape == Shape::Returned && parse::is(word, "WITHSCORES") => self.with_scores = true,
                () if shape == Shape::Count && left >= 2 && parse::is(word, "LIMIT") => {
                    at += 1;
                    let limit = parse::int_or(words.get(at), 0, i64::MAX, "ERR LIMIT can't be negative")?;
                    self.asked.count_max = if limit == 0 { u64::MAX } else { limit as u64 };
                }
                () => return Err(Failure::Syntax),
            }
            at += 1;
        }
        Ok(())
    }

    fn algebra(&self) -> SortedAlgebra {
        SortedAlgebra::new(self.asked, self.sources.clone(), limits())
    }
}

fn limits() -> SortedLimits {
    SortedLimits { entries: limits::SORTED_ENTRIES.get(), member_bytes: limits::SORTED_MEMBER_BYTES.get() }
}

/// Source lookups done under the locks, at most: about 300 µs.
const LOCKED_LOOKS_MAX: u64 = 256;
/// Bytes of members copied there, at most.
const LOCKED_BYTES_MAX: u64 = 32 << 10;

fn is_little(algebra: &SortedAlgebra) -> bool {
    algebra.looks() <= LOCKED_LOOKS_MAX && algebra.content_bytes() <= LOCKED_BYTES_MAX
}

fn show(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, operation: SetOperation, shape: Shape) -> Outcome {
    let request = Request::of(tx, args, 1, operation, shape)?;
    let mut source = Box::new(SortedAlgebraReply {
        algebra: request.algebra(),
        pins: request.pins,
        shown: match shape {
            Shape::Count => None,
            _ if request.with_scores => Some(MemberFormat::Scored),
            _ => Some(MemberFormat::Member),
        },
        rest: None,
    });
    if !is_little(&source.algebra) || source.next(reply) == More::Follows {
        reply.stream(source);
    }
    Ok(())
}

/// An operation in progress, then its result, which is sent.
struct SortedAlgebraReply {
    algebra: SortedAlgebra,
    /// Pins of the sources, and the bytes each holds.
    pins: Vec<(Pin, u64)>,
    /// The format of members; `None`: only their number is returned.
    shown: Option<MemberFormat>,
    /// The rest of the result; `None` during the operation.
    rest: Option<MembersByScoreReply>,
}

impl wire::Source for SortedAlgebraReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if let Some(rest) = &mut self.rest {
            return rest.next(reply);
        }
        // Little work is done after a few steps.
        while !self.algebra.step() {
            if !is_little(&self.algebra) {
                return More::Follows;
            }
        }
        let Some(form) = self.shown else {
            reply.int(self.algebra.count() as i64);
            return More::Done;
        };
        let result = self.algebra.result().clone();
        form.begin(reply, result.len());
        if result.is_empty() {
            return More::Done;
        }
        self.rest.insert(MembersByScoreReply::own(result, form)).next(reply)
    }

    /// Returns the memory of sources no longer used by their keys, and of the result.
    fn pinned_bytes(&self) -> u64 {
        self.pins.iter().map(|(pin, bytes)| pin.bytes(*bytes)).sum::<u64>() + self.algebra.heap_bytes()
    }
}

fn store(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, operation: SetOperation) -> Outcome {
    let request = Request::of(tx, args, 2, operation, Shape::Stored)?;
    let algebra = request.algebra();
    let result = if is_little(&algebra) {
        algebra.run()
    } else {
        let words: Vec<&[u8]> = args.iter().collect();
        let values = request.sources.iter().map(|source| value(&source.members)).collect();
        let (asked, weights) = (request.asked, request.sources.iter().map(|source| source.weight).collect::<Vec<_>>());
        combined(tx, &words, values, move |values| {
            let members = values.into_iter().map(|value| match value {
                Some(Value::Sorted(sorted)) => Members::Sorted(sorted),
                Some(Value::Set(set)) => Members::Set(set),
                _ => Members::Sorted(Sorted::default()),
            });
            let sources = members.zip(&weights).map(|(members, weight)| Source { members, weight: *weight });
            SortedAlgebra::new(asked, sources.collect(), limits())
        })?
    };
    put_result(tx, args.get(1), result, reply)
}

/// Runs an operation on big values without locks and returns the result.
pub(super) fn combined(
    tx: &mut Tx,
    words: &[&[u8]],
    values: Vec<Option<Value>>,
    begin: impl Fn(Vec<Option<Value>>) -> SortedAlgebra + Send + Sync + 'static,
) -> Result<Sorted, Failure> {
    let made = tx.compute(words, values, move |values| Box::new(SortedStoring(begin(values))))?;
    Ok(made.and_then(sorted_of).unwrap_or_default())
}

pub(super) fn sorted_of(value: Value) -> Option<Sorted> {
    match value {
        Value::Sorted(sorted) => Some(sorted),
        _ => None,
    }
}

/// Copies a slice into a set of its own, in steps.
pub(super) fn copy(slice: Sorted) -> SortedAlgebra {
    let asked =
        Asked { operation: SetOperation::Union, aggregate: Aggregate::Sum, count_max: u64::MAX, is_counted: false };
    SortedAlgebra::new(asked, vec![Source { members: Members::Sorted(slice), weight: 1.0 }], limits())
}

/// Returns true if `count` members of it can be copied under the locks.
pub(super) fn is_little_to_copy(sorted: &Sorted, count: u64) -> bool {
    let member_bytes = sorted.content_bytes() / sorted.len().max(1);
    count <= LOCKED_LOOKS_MAX && count * member_bytes <= LOCKED_BYTES_MAX
}

fn value(members: &Members) -> Option<Value> {
    let value = match members {
        Members::Sorted(sorted) => Value::Sorted(sorted.clone()),
        Members::Set(set) => Value::Set(set.clone()),
    };
    (!members.is_empty()).then_some(value)
}

struct SortedStoring(SortedAlgebra);

impl Computation for SortedStoring {
    fn step(&mut self) -> bool {
        self.0.step()
    }

    fn result(&self) -> Option<Value> {
        Some(self.0.result()).filter(|sorted| !sorted.is_empty()).map(|sorted| Value::Sorted(sorted.clone()))
    }
}
