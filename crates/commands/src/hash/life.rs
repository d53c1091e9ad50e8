//! HGETDEL HGETEX HSETEX: get or set values, and remove the fields or set their deadlines, atomically.

use super::get::write_value;
use super::{NO_COUNT, fields, instant};
use crate::prelude::*;
use base::Ms;
use keyspace::FieldExpiry;
use parse::Unit;
use smallvec::SmallVec;
use std::collections::HashSet;

pub(crate) const COMMANDS: &[CommandSpec] = &[HGETDEL, HGETEX, HSETEX];

const HGETDEL: CommandSpec = CommandSpec {
    name: "HGETDEL",
    syntax: "key FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::HASH, "hdel"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "8.0.0",
    brief: "Returns the values of fields of a hash and deletes the fields.",
    answer: "array: for each field its value, or null if there is none",
    run: Run::Local(get_and_remove),
};

const HGETEX: CommandSpec = CommandSpec {
    name: "HGETEX",
    syntax: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] \
             FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::HASH, "hdel"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "8.0.0",
    brief: "Returns the values of fields and sets or clears their deadlines.",
    answer: "array: for each field its value, or null if there is none",
    run: Run::Local(get_and_expire),
};

const HSETEX: CommandSpec = CommandSpec {
    name: "HSETEX",
    syntax: "key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | \
             KEEPTTL] FIELDS numfields field value [field value ...]",
    arity: Arity::AtLeast(6),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::HASH, "hdel"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "8.0.0",
    brief: "Sets fields of a hash, and sets, keeps or clears their deadlines.",
    answer: "int: 1 if all were put, 0 if the condition does not hold",
    run: Run::Local(set),
};

/// The time options, their units, and whether they are relative to now.
const TIMES: [(&str, Unit, bool); 4] = [
    ("EX", Unit::Seconds, true),
    ("PX", Unit::Milliseconds, true),
    ("EXAT", Unit::Seconds, false),
    ("PXAT", Unit::Milliseconds, false),
];

/// Reads the instant from argument `at` and the next; `None` if it is no such option.
fn time(args: &Args, at: usize, now: Ms) -> Result<Option<Ms>, Failure> {
    let Some((_, unit, from_now)) = TIMES.iter().find(|(word, ..)| parse::is(args.get(at), word)) else {
        return Ok(None);
    };
    if at + 1 >= args.len() {
        return Err(Failure::text("ERR missing expire time"));
    }
    instant(args, args.get(at + 1), *unit, if *from_now { now } else { 0 }).map(Some)
}

/// Replies with the values of `fields`; returns those present, each once.
fn write_values<'a>(tx: &mut Tx, key: &[u8], fields: Args<'a>, is_taken: bool, reply: &mut dyn Reply) -> Vec<&'a [u8]> {
    let now = tx.now();
    let hash = tx.hash(key).expect("its kind was checked");
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    reply.array(fields.len());
    for field in fields {
        let is_gone = is_taken && seen.contains(field);
        write_value(hash.filter(|_| !is_gone), field, now, reply);
        if hash.is_some_and(|hash| hash.get(field, now, |_| ()).is_some()) && seen.insert(field) {
            found.push(field);
        }
    }
    found
}

fn get_and_remove(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    tx.hash(key)?;
    let found = write_values(tx, key, fields(args, 2, NO_COUNT)?, true, reply);
    if let Some(mut hash) = tx.hash_mut(key, Absent::Leave)? {
        hash.remove(&found)?;
    }
    Ok(())
}

fn get_and_expire(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, now) = (args.get(1), tx.now());
    tx.hash(key)?;
    let until = time(args, 2, now)?;
    let persists = parse::is(args.get(2), "PERSIST");
    let fields_at = 2 + 2 * usize::from(until.is_some()) + usize::from(persists);
    let fields = fields(args, fields_at, NO_COUNT)?;
    let is_past = until.is_some_and(|at_ms| at_ms <= now);
    let mut found = write_values(tx, key, fields, is_past, reply);
    let Some(mut hash) = tx.hash_mut(key, Absent::Leave)? else { return Ok(()) };
    if is_past {
        hash.remove(&found)?;
    } else if until.is_some() {
        hash.set_expiry(&found, until)?;
    } else if persists {
        let there = hash.hash().expect("just seen");
        found.retain(|field| there.expires_at_ms(field).flatten().is_some());
        hash.set_expiry(&found, None)?;
    }
    Ok(())
}

/// The parameters of HSETEX.
struct Put<'a> {
    /// FXX: only if all fields are there (true); FNX: only if none is (false).
    only_if: Option<bool>,
    expiry: FieldExpiry,
    pairs: SmallVec<[&'a [u8]; 8]>,
}

fn put_of<'a>(args: &Args<'a>, now: Ms) -> Result<Put<'a>, Failure> {
    let (mut only_if, mut expiry, mut at) = (None, FieldExpiry::Clear, 2);
    while at < args.len() {
        let word = args.get(at);
        let condition = [("FXX", true), ("FNX", false)].into_iter().find(|(name, _)| parse::is(word, name));
        if parse::is(word, "FIELDS") {
            return Ok(Put { only_if, expiry, pairs: pairs(args, at)? });
        } else if let Some((_, all)) = condition {
            if only_if.replace(all).is_some() {
                return Err(Failure::text("ERR Only one of FXX or FNX arguments can be specified"));
            }
        } else if parse::is(word, "KEEPTTL") || TIMES.iter().any(|(name, ..)| parse::is(word, name)) {
            if expiry != FieldExpiry::Clear {
                let text = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
                return Err(Failure::text(text));
            }
            expiry = time(args, at, now)?.map_or(FieldExpiry::Keep, FieldExpiry::At);
            at += usize::from(expiry != FieldExpiry::Keep);
        } else {
            return Err(Failure::text(format!("ERR unknown argument: {}", parse::repeated(word))));
        }
        at += 1;
    }
    Err(Failure::arity(args))
}

/// Reads the pairs of `FIELDS numfields field value [field value ...]` from argument `at` on.
fn pairs<'a>(args: &Args<'a>, at: usize) -> Result<SmallVec<[&'a [u8]; 8]>, Failure> {
    if at + 3 >= args.len() {
        return Err(Failure::arity(args));
    }
    let count = parse::int_or(args.get(at + 1), 1, i64::from(i32::MAX), "ERR invalid number of fields")?;
    let pairs = args.from(at + 2);
    if pairs.len() != 2 * count as usize {
        return Err(Failure::arity(args));
    }
    Ok(pairs.iter().collect())
}

fn set(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, now) = (args.get(1), tx.now());
    let Put { only_if, expiry, pairs } = put_of(args, now)?;
    let mut hash = tx.hash_mut(key, Absent::Create)?.expect("is to be made");
    let fields = || pairs.iter().step_by(2).copied();
    let there = hash.hash();
    let is_there = |field| there.is_some_and(|hash| hash.get(field, now, |_| ()).is_some());
    let holds = only_if.is_none_or(|all| fields().all(|field| is_there(field) == all));
    if holds {
        let changed = match expiry {
            // Fields set with a past deadline are removed at once.
            FieldExpiry::At(at_ms) if at_ms <= now => hash.remove(&fields().collect::<Vec<_>>()),
            expiry => hash.put(&pairs, expiry),
        };
        changed?;
    }
    reply.int(i64::from(holds));
    Ok(())
}
