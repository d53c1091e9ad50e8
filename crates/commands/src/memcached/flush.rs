//! MC.FLUSH_ALL: its specification, and the command that removes keys. The engine runs it, a few keys at a time.

use super::{BAD_EXPTIME, look};
use crate::prelude::*;
use crate::spec::Verb;
use base::Ms;

pub(crate) const COMMANDS: &[CommandSpec] = &[FLUSH_ALL];

const FLUSH_ALL: CommandSpec = CommandSpec {
    name: "MC.FLUSH_ALL",
    syntax: "[delay]",
    arity: Arity::Between(1, 2),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous, Flag::NoScript, Flag::NoMulti],
    facts: &[Fact::Item(ItemRequest::Flush)],
    group: Group::Memcached,
    cost: "O(n), n the keys of the database; a few at a time",
    since: "bobbin 0.1.0",
    brief: "Deletes all strings of the database, at once or after a delay.",
    answer: "simple: OK",
    run: Run::Engine(Verb::FlushStrings),
};

/// Removes those of some keys that are strings.
pub static REMOVE_TEXTS: CommandSpec = CommandSpec {
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RW DELETE")],
    run: Run::Local(|tx, args, reply| remove_those(tx, args, reply, |tx, key| look(tx, key).is_some())),
    ..FLUSH_ALL
};

/// Removes the matching ones of some keys, and replies with their number.
pub(crate) fn remove_those(
    tx: &mut Tx,
    args: &Args,
    reply: &mut dyn Reply,
    goes: impl Fn(&mut Tx, &[u8]) -> bool,
) -> Outcome {
    let mut removed = 0;
    for key in args.from(1) {
        removed += i64::from(goes(tx, key) && tx.remove(key));
    }
    reply.int(removed);
    Ok(())
}

/// Returns when the strings are to be removed; `None`: at once.
///
/// # Errors
/// If the time is invalid.
pub fn flush_delay(args: &Args<'_>, now: Ms) -> Result<Option<Ms>, Failure> {
    if args.len() < 2 {
        return Ok(None);
    }
    Ok(super::life::Lifetime::of(wire::memcache::signed(args.get(1)).ok_or(BAD_EXPTIME)?, now).until())
}
