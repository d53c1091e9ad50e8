//! HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT: set deadlines of fields.
//!
//! The four differ in unit and base; a past deadline removes the field.

use super::{fields, instant};
use crate::generic::expire::DeadlineBase;
use crate::prelude::*;
use base::Ms;
use parse::Unit;
use std::collections::HashSet;
use values::Hash;

pub(crate) const COMMANDS: &[CommandSpec] = &[HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT];

const HEXPIRE: CommandSpec = CommandSpec {
    name: "HEXPIRE",
    syntax: "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
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
    since: "7.4.0",
    brief: "Sets the time to live of fields of a hash, in seconds.",
    answer: "array: for each field 1 if the deadline was set, 0 if the condition does not hold, 2 if the field was removed \
             since the time has passed, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Seconds, DeadlineBase::Now)),
};

const HPEXPIRE: CommandSpec = CommandSpec {
    name: "HPEXPIRE",
    syntax: "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
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
    since: "7.4.0",
    brief: "Sets the time to live of fields of a hash, in milliseconds.",
    answer: "array: for each field 1 if the deadline was set, 0 if the condition does not hold, 2 if the field was removed \
             since the time has passed, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Milliseconds, DeadlineBase::Now)),
};

const HEXPIREAT: CommandSpec = CommandSpec {
    name: "HEXPIREAT",
    syntax: "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
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
    since: "7.4.0",
    brief: "Sets the expiration time of fields, in seconds since the epoch.",
    answer: "array: for each field 1 if the deadline was set, 0 if the condition does not hold, 2 if the field was removed \
             since the time has passed, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Seconds, DeadlineBase::Epoch)),
};

const HPEXPIREAT: CommandSpec = CommandSpec {
    name: "HPEXPIREAT",
    syntax: "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
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
    since: "7.4.0",
    brief: "Sets the expiration time of fields, in milliseconds since the epoch.",
    answer: "array: for each field 1 if the deadline was set, 0 if the condition does not hold, 2 if the field was removed \
             since the time has passed, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Milliseconds, DeadlineBase::Epoch)),
};

/// The condition for replacing a deadline. No deadline counts as infinite.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldDeadlineCondition {
    Always,
    None,
    Some,
    Later,
    Earlier,
}

impl FieldDeadlineCondition {
    /// Parses `word` as a condition.
    fn of(word: &[u8]) -> Option<Self> {
        let words = [("NX", Self::None), ("XX", Self::Some), ("GT", Self::Later), ("LT", Self::Earlier)];
        words.into_iter().find(|(name, _)| parse::is(word, name)).map(|(_, condition)| condition)
    }

    fn holds(self, before: Option<Ms>, after: Ms) -> bool {
        match self {
            Self::Always => true,
            Self::None => before.is_none(),
            Self::Some => before.is_some(),
            Self::Later => before.is_some_and(|before| after > before),
            Self::Earlier => before.is_none_or(|before| after < before),
        }
    }
}

fn expire(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, unit: Unit, from: DeadlineBase) -> Outcome {
    let (key, now) = (args.get(1), tx.now());
    let there = tx.hash(key)?.is_some();
    let at_ms = instant(args, args.get(2), unit, if from == DeadlineBase::Now { now } else { 0 })?;
    let condition = FieldDeadlineCondition::of(args.get(3));
    let fields_at = if condition.is_some() { 4 } else { 3 };
    let fields = fields(args, fields_at, "ERR Parameter `numFields` should be greater than 0")?;
    if !there {
        reply.array(fields.len());
        fields.iter().for_each(|_| reply.int(-2));
        return Ok(());
    }
    let mut hash = tx.hash_mut(key, Absent::Leave)?.expect("just seen");
    let (codes, chosen) = choose(hash.hash().expect("just seen"), fields, condition, at_ms, now);
    if at_ms <= now {
        hash.remove(&chosen)?;
    } else {
        hash.set_expiry(&chosen, Some(at_ms))?;
    }
    reply.array(codes.len());
    codes.iter().for_each(|code| reply.int(*code));
    Ok(())
}

/// Returns the reply for each field, and the fields that meet the condition. A repeated field has its new state.
fn choose<'a>(
    hash: &Hash,
    fields: Args<'a>,
    condition: Option<FieldDeadlineCondition>,
    at_ms: Ms,
    now: Ms,
) -> (Vec<i64>, Vec<&'a [u8]>) {
    let condition = condition.unwrap_or(FieldDeadlineCondition::Always);
    let (mut seen, mut chosen) = (HashSet::new(), Vec::new());
    let codes = fields.iter().map(|field| {
        let before = match hash.get(field, now, |pair| pair.expires_at_ms) {
            _ if seen.contains(field) && at_ms <= now => None,
            Some(_) if seen.contains(field) => Some(Some(at_ms)),
            before => before,
        };
        let Some(before) = before else { return -2 };
        if !condition.holds(before, at_ms) {
            return 0;
        }
        if seen.insert(field) {
            chosen.push(field);
        }
        if at_ms <= now { 2 } else { 1 }
    });
    (codes.collect(), chosen)
}
