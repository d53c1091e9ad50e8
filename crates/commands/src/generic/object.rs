//! OBJECT ENCODING FREQ IDLETIME REFCOUNT HELP: Redis's view of how a value is stored.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;
use keyspace::{Entry, string_of};
use table::Content;

pub(crate) const COMMANDS: &[CommandSpec] =
    &[ENCODING, FREQ, help_command("OBJECT HELP", Group::Generic, "6.2.0", HELP_FLAGS), IDLETIME, REFCOUNT];

const ENCODING: CommandSpec = CommandSpec {
    name: "OBJECT ENCODING",
    syntax: "key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RO")],
    access: Access::Read,
    flags: &[Flag::NoMisses],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.2.3",
    brief: "Returns the encoding that Redis would use for a value.",
    answer: "bulk: int, embstr, raw, listpack, quicklist, ...; null: the key is absent",
    run: Run::Local(|tx, args, reply| {
        match tx.peek(args.get(2)).map(encoding) {
            Some(encoding) => reply.bulk(encoding.as_bytes()),
            None => reply.null(),
        }
        Ok(())
    }),
};

/// Returns the encoding Redis would use for an entry.
pub(crate) fn encoding(entry: Entry<'_>) -> &'static str {
    match entry.content() {
        Content::Value(value) => value.encoding(),
        _ => string_of(entry).expect("what is no value is a text").encoding(),
    }
}

const FREQ: CommandSpec = CommandSpec {
    name: "OBJECT FREQ",
    syntax: "key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RO")],
    access: Access::Read,
    flags: &[Flag::NoMisses],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Generic,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Returns how often a key is used; Bobbin does not count, so it fails.",
    answer: "an error, since no policy counts uses; null: the key is absent",
    run: Run::Local(|tx, args, reply| {
        if tx.peek(args.get(2)).is_none() {
            reply.null();
            return Ok(());
        }
        Err(Failure::text(
            "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when \
             switching between policies at runtime LRU and LFU data will take some time to adjust.",
        ))
    }),
};

const IDLETIME: CommandSpec = CommandSpec {
    name: "OBJECT IDLETIME",
    syntax: "key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RO")],
    access: Access::Read,
    flags: &[Flag::NoMisses],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.2.3",
    brief: "Returns the seconds since a key was last used.",
    answer: "int: seconds; null: the key is absent",
    run: Run::Local(|tx, args, reply| {
        let now_s = (tx.now() / 1000) as u32;
        match tx.peek(args.get(2)).map(|entry| entry.touched()) {
            // The access time has 24 bits of seconds; 0 means none yet.
            Some(0) => reply.int(0),
            Some(touched_s) => reply.int(i64::from(now_s.wrapping_sub(touched_s) & 0xff_ffff)),
            None => reply.null(),
        }
        Ok(())
    }),
};

const REFCOUNT: CommandSpec = CommandSpec {
    name: "OBJECT REFCOUNT",
    syntax: "key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RO")],
    access: Access::Read,
    flags: &[Flag::NoMisses],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.2.3",
    brief: "Returns how many keys share a value, which is 1.",
    answer: "int: 1; null: the key is absent",
    run: Run::Local(|tx, args, reply| {
        match tx.peek(args.get(2)) {
            Some(_) => reply.int(1),
            None => reply.null(),
        }
        Ok(())
    }),
};
