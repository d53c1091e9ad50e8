//! EXPIRE PEXPIRE EXPIREAT PEXPIREAT: set the deadline of a key.
//!
//! The four differ in unit and base; a past deadline removes the key.

use crate::prelude::*;
use base::Ms;
use parse::Unit;

pub(crate) const COMMANDS: &[CommandSpec] = &[EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT];

const EXPIRE: CommandSpec = CommandSpec {
    name: "EXPIRE",
    syntax: "key seconds [NX | XX | GT | LT]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `NX`, `XX`, `GT` and `LT`.")]),
        Fact::Arguments(&[argument("2", "condition", "", "7.0.0")]),
    ],
    group: Group::Generic,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Sets a key's time to live, in seconds.",
    answer: "int: 1 if the deadline was set, 0 if the key is absent or the condition does not hold",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Seconds, DeadlineBase::Now)),
};

const PEXPIRE: CommandSpec = CommandSpec {
    name: "PEXPIRE",
    syntax: "key milliseconds [NX | XX | GT | LT]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `NX`, `XX`, `GT` and `LT`.")]),
        Fact::Arguments(&[argument("2", "condition", "", "7.0.0")]),
    ],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Sets a key's time to live, in milliseconds.",
    answer: "int: 1 if the deadline was set, 0 if the key is absent or the condition does not hold",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Milliseconds, DeadlineBase::Now)),
};

const EXPIREAT: CommandSpec = CommandSpec {
    name: "EXPIREAT",
    syntax: "key unix-time-seconds [NX | XX | GT | LT]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `NX`, `XX`, `GT` and `LT`.")]),
        Fact::Arguments(&[argument("2", "condition", "", "7.0.0")]),
    ],
    group: Group::Generic,
    cost: "O(1)",
    since: "1.2.0",
    brief: "Sets a key's expiration time, in seconds since the epoch.",
    answer: "int: 1 if the deadline was set, 0 if the key is absent or the condition does not hold",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Seconds, DeadlineBase::Epoch)),
};

const PEXPIREAT: CommandSpec = CommandSpec {
    name: "PEXPIREAT",
    syntax: "key unix-time-milliseconds [NX | XX | GT | LT]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `NX`, `XX`, `GT` and `LT`.")]),
        Fact::Arguments(&[argument("2", "condition", "", "7.0.0")]),
    ],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Sets a key's expiration time, in milliseconds since the epoch.",
    answer: "int: 1 if the deadline was set, 0 if the key is absent or the condition does not hold",
    run: Run::Local(|tx, args, reply| expire(tx, args, reply, Unit::Milliseconds, DeadlineBase::Epoch)),
};

/// The time from which a given deadline counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeadlineBase {
    /// The time of the command.
    Now,
    /// The Unix epoch.
    Epoch,
}

/// The condition for replacing a deadline. No deadline counts as infinite.
#[derive(Clone, Copy, Default)]
struct DeadlineCondition {
    none: bool,
    some: bool,
    later: bool,
    earlier: bool,
}

fn expire(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, unit: Unit, from: DeadlineBase) -> Outcome {
    let condition = condition(args)?;
    let number = parse::int(args.get(2))?;
    let base = if from == DeadlineBase::Now { tx.now() as i64 } else { 0 };
    // Only a sum that overflows is refused: a negative one has passed.
    let at_ms = unit.ms(number).and_then(|ms| ms.checked_add(base)).ok_or_else(|| Failure::expire_time(args))?;
    let at_ms = Ms::try_from(at_ms).unwrap_or(0);
    let before = tx.peek(args.get(1)).map(|entry| entry.expires_at_ms());
    let holds = before.is_some_and(|before| condition.holds(before, at_ms));
    if holds {
        tx.set_expiry(args.get(1), Some(at_ms));
    }
    reply.int(i64::from(holds));
    Ok(())
}

fn condition(args: &Args) -> Result<DeadlineCondition, Failure> {
    let mut condition = DeadlineCondition::default();
    for word in args.from(3) {
        let part = match word {
            word if parse::is(word, "NX") => &mut condition.none,
            word if parse::is(word, "XX") => &mut condition.some,
            word if parse::is(word, "GT") => &mut condition.later,
            word if parse::is(word, "LT") => &mut condition.earlier,
            word => return Err(Failure::text(format!("ERR Unsupported option {}", parse::repeated(word)))),
        };
        *part = true;
    }
    if condition.none && (condition.some || condition.later || condition.earlier) {
        let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
        return Err(Failure::text(text));
    }
    if condition.later && condition.earlier {
        return Err(Failure::text("ERR GT and LT options at the same time are not compatible"));
    }
    Ok(condition)
}

impl DeadlineCondition {
    fn holds(self, before: Option<Ms>, after: Ms) -> bool {
        (!self.none || before.is_none())
            && (!self.some || before.is_some())
            && (!self.later || before.is_some_and(|before| after > before))
            && (!self.earlier || before.is_none_or(|before| after < before))
    }
}
