//! MC.GET MC.GETS MC.GAT MC.GATS: read an item, and optionally set its lifetime.

use super::life::Lifetime;
use super::{BAD_EXPTIME, digits, extras_of, look, note_fetched, versioned, write_value};
use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[GET, GETS, GAT, GATS];

const GET: CommandSpec = CommandSpec {
    name: "MC.GET",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::Get)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns an item with its flags: memcached's get, for one key.",
    answer: "array: the line `VALUE key flags bytes`, the string; null: there is none",
    run: Run::Local(|tx, args, reply| {
        write_item(tx, args.get(1), None, reply);
        Ok(())
    }),
};

const GETS: CommandSpec = CommandSpec {
    name: "MC.GETS",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW ACCESS")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast, Flag::ReportedAsReader],
    facts: &[Fact::Item(ItemRequest::Get)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns an item with flags and version: memcached's gets, for one key.",
    answer: "array: the line `VALUE key flags bytes version`, the string; null: there is none",
    run: Run::Local(|tx, args, reply| {
        let cas = version(tx, args.get(1));
        write_item(tx, args.get(1), cas, reply);
        Ok(())
    }),
};

const GAT: CommandSpec = CommandSpec {
    name: "MC.GAT",
    syntax: "exptime key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RW ACCESS UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::GetAndTouch)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns an item and sets its time to live: memcached's gat.",
    answer: "array: the line `VALUE key flags bytes`, the string; null: there is none",
    run: Run::Local(|tx, args, reply| get_and_touch(tx, args, false, reply)),
};

const GATS: CommandSpec = CommandSpec {
    name: "MC.GATS",
    syntax: "exptime key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RW ACCESS UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Item(ItemRequest::GetAndTouch)],
    group: Group::Memcached,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns an item with its version, sets its time to live: memcached's gats.",
    answer: GETS.answer,
    run: Run::Local(|tx, args, reply| get_and_touch(tx, args, true, reply)),
};

fn get_and_touch(tx: &mut Tx, args: &Args, with_version: bool, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(2);
    let lifetime = Lifetime::read(tx, args.get(1)).ok_or(BAD_EXPTIME)?;
    // Two records may contain the key.
    tx.need_room(2 * key.len() as u64 + 128)?;
    let cas = if with_version { version(tx, key) } else { None };
    if write_item(tx, key, cas, reply) {
        lifetime.set(tx, key);
    }
    Ok(())
}

/// Returns the version of the item under `key`, if there is one.
fn version(tx: &mut Tx<'_>, key: &[u8]) -> Option<u64> {
    let extras = extras_of(tx, key)?;
    Some(versioned(tx, key, extras).cas)
}

/// Replies with the item, and its version if given. Returns whether there is one.
fn write_item(tx: &mut Tx<'_>, key: &[u8], cas: Option<u64>, reply: &mut dyn Reply) -> bool {
    let (keyspace, now, touches) = (tx.keyspace(), tx.now(), tx.touches());
    let Some((item, entry)) = look(tx, key) else {
        reply.null();
        return false;
    };
    note_fetched(entry, now, touches);
    let mut buffers = [itoa::Buffer::new(), itoa::Buffer::new(), itoa::Buffer::new()];
    let [flags, bytes, version] = &mut buffers;
    let flags = digits(u64::from(item.extras.flags), flags);
    let bytes = digits(item.text.bytes_count() as u64, bytes);
    let space: &[u8] = if cas.is_some() { b" " } else { b"" };
    let version = cas.map_or(&b""[..], |cas| digits(cas, version));
    write_value(reply, &[b"VALUE ", key, b" ", flags, b" ", bytes, space, version], item.text, || keyspace.pin(key));
    true
}
