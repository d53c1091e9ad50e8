//! DEBUG: for tests, and only where `enable-debug-command` allows it.

use super::digest::{Digest, DigestSweep};
use crate::generic::object::encoding;
use crate::help::help_command;
use crate::prelude::*;
use crate::session::Session;
use crate::spec::Verb;
use base::Ms;
use base::raw_text;
use keyspace::Entry;
use table::Content;

pub(crate) const COMMANDS: &[CommandSpec] =
    &[SLEEP, OBJECT, SET_ACTIVE_EXPIRE, DIGEST, DIGEST_VALUE, ERROR, RELOAD, DEBUG_HELP];

const SLEEP: CommandSpec = CommandSpec {
    name: "DEBUG SLEEP",
    syntax: "seconds",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Delays the connection for some seconds; others go on.",
    answer: "simple: OK",
    run: Run::Engine(Verb::DebugSleep),
};

const OBJECT: CommandSpec = CommandSpec {
    name: "DEBUG OBJECT",
    syntax: "key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RO")],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns how a value is stored in memory.",
    answer: "simple: name:value pairs; error if the key is absent",
    run: Run::Local(object),
};

const SET_ACTIVE_EXPIRE: CommandSpec = CommandSpec {
    name: "DEBUG SET-ACTIVE-EXPIRE",
    syntax: "<0 | 1>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Turns the background removal of expired keys on or off.",
    answer: "simple: OK",
    run: Run::Session(set_active_expire),
};

const DIGEST: CommandSpec = CommandSpec {
    name: "DEBUG DIGEST",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(n), n all data",
    since: "1.0.0",
    brief: "Computes a digest of all data, independent of the order of keys.",
    answer: "simple: 40 hexadecimal digits, all 0 if there is no key",
    run: Run::Sweep(|_, _| Ok(Box::new(DigestSweep::default()))),
};

const DIGEST_VALUE: CommandSpec = CommandSpec {
    name: "DEBUG DIGEST-VALUE",
    syntax: "[key [key ...]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(2, -1, 1, "RO")],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(n), n what the values hold",
    since: "1.0.0",
    brief: "Computes a digest of each value, independent of its key.",
    answer: "array: 40 hexadecimal digits for each key, all 0 if it is absent",
    run: Run::Local(digest_value),
};

const RELOAD: CommandSpec = CommandSpec {
    name: "DEBUG RELOAD",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(n), n all data; nobody else is served while it is loaded",
    since: "1.0.0",
    brief: "Stores all data and loads it again.",
    answer: "simple: OK",
    run: Run::Engine(Verb::DebugReload),
};

const ERROR: CommandSpec = CommandSpec {
    name: "DEBUG ERROR",
    syntax: "message",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Debug, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns an error with this message.",
    answer: "error: the message",
    run: Run::Session(|_, args, _| Err(Failure::text(raw_text::from_bytes(args.get(2)).into_owned()))),
};

const DEBUG_HELP: CommandSpec = help_command("DEBUG HELP", Group::Server, "1.0.0", SLEEP.flags);

fn set_active_expire(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let on = match args.get(2) {
        b"0" => false,
        b"1" => true,
        _ => return Err(Failure::NotAnInteger),
    };
    session.set_active_expire(on);
    reply.ok();
    Ok(())
}

fn object(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let entry = tx.peek(args.get(2)).ok_or(Failure::NoSuchKey)?;
    reply.simple(&described(entry, now));
    Ok(())
}

fn described(entry: Entry<'_>, now: Ms) -> String {
    let seconds_mask = 0xff_ffff;
    let idle_s = ((now / 1000) as u32).wrapping_sub(entry.touched()) & seconds_mask;
    let serialized_bytes = match entry.content() {
        Content::Value(value) => value.encoded_bytes(),
        Content::Bytes(bytes) => bytes.len() as u64,
        Content::Int(_) => size_of::<i64>() as u64,
    };
    format!(
        "Value at:{:p} refcount:1 encoding:{} serializedlength:{serialized_bytes} lru:{} lru_seconds_idle:{idle_s}",
        entry.key().as_ptr(),
        encoding(entry),
        entry.touched(),
    )
}

fn digest_value(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let keys = args.from(2);
    reply.array(keys.len());
    for key in keys {
        let digest = tx.peek(key).map(Digest::of_value).unwrap_or_default();
        reply.simple(&digest.to_string());
    }
    Ok(())
}
