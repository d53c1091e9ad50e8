//! MC.MS: stores an item in any of memcached's modes.

use super::flag::RequestFlags;
use super::life::Lifetime;
use super::store::{Mode, StoreRequest, StoreResult, put};
use super::write_line;
use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[MS];

const MS: CommandSpec = CommandSpec {
    name: "MC.MS",
    syntax: "key [flag ...] value",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[Fact::Item(ItemRequest::MetaStore)],
    group: Group::Memcached,
    cost: "O(1), and O(n) for n bytes of an item that the string is added to",
    since: "bobbin 0.1.0",
    brief: "Stores an item: memcached's ms, its flags before the value.",
    answer: "bulk: HD, NS, EX or NF, and what flags ask for; null: silence was asked for",
    run: Run::Local(meta_set),
};

fn meta_set(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, value_at) = (args.get(1), args.len() - 1);
    let asked = RequestFlags::read(tx, args.slice(2, value_at).iter())?;
    let with_version = asked.has_any(b"c");
    let cas = match asked.version {
        Some(version) => version,
        None if with_version => tx.next_cas(key),
        None => 0,
    };
    let order = StoreRequest {
        mode: mode(&asked)?,
        value: args.get(value_at),
        flags: asked.client_flags,
        lifetime: asked.lifetime.unwrap_or(Lifetime::Ever),
        compared: asked.compared,
        may_be_stale: asked.stale,
        binary_key: asked.binary_key,
        cas,
        made: asked.vivified,
    };
    let code: &[u8] = match put(tx, key, &order)? {
        StoreResult::Yes if asked.quiet => {
            reply.null();
            return Ok(());
        }
        StoreResult::Yes => b"HD",
        StoreResult::No => b"NS",
        StoreResult::Exists => b"EX",
        StoreResult::NotFound => b"NF",
    };
    let mut line = smallvec::SmallVec::from_slice(code);
    for flag in asked.iter() {
        match flag[0] {
            b'c' => {
                let version = if code == b"HD" { cas } else { 0 };
                line.extend_from_slice(b" c");
                line.extend_from_slice(itoa::Buffer::new().format(version).as_bytes());
            }
            b's' => {
                line.extend_from_slice(b" s");
                line.extend_from_slice(itoa::Buffer::new().format(order.value.len()).as_bytes());
            }
            _ => asked.echo(&mut line, flag, key),
        }
    }
    write_line(reply, &[&line]);
    Ok(())
}

fn mode(asked: &RequestFlags<'_>) -> Result<Mode, Failure> {
    Ok(match asked.mode.map(|mode| mode.to_ascii_uppercase()) {
        None | Some(b'S') => Mode::Set,
        Some(b'E') => Mode::Add,
        Some(b'R') => Mode::Replace,
        Some(b'A') => Mode::Append,
        Some(b'P') => Mode::Prepend,
        Some(_) => return Err(Failure::text("CLIENT_ERROR invalid mode for ms M token")),
    })
}
