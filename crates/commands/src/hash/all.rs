//! HGETALL HKEYS HVALS: return a whole hash.
//!
//! Up to 64 KiB are written under the lock; more is sent from a clone, 32 KiB at a time, without it.

use crate::prelude::*;
use base::Ms;
use blocks::Direction;
use keyspace::Pin;
use std::ops::ControlFlow;
use values::hash::{Pair, pair};
use values::{Hash, List};
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[HGETALL, HKEYS, HVALS];

const HGETALL: CommandSpec = CommandSpec {
    name: "HGETALL",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Hash,
    cost: "O(n), n the fields of the hash",
    since: "2.0.0",
    brief: "Returns all fields and values of a hash.",
    answer: "map: field and value; empty if the key is absent",
    run: Run::Local(|tx, args, reply| all(tx, args, reply, FieldPart::Both)),
};

const HKEYS: CommandSpec = CommandSpec {
    name: "HKEYS",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Hash,
    cost: "O(n), n the fields of the hash",
    since: "2.0.0",
    brief: "Returns all fields of a hash.",
    answer: "array: the fields; empty if the key is absent",
    run: Run::Local(|tx, args, reply| all(tx, args, reply, FieldPart::Fields)),
};

const HVALS: CommandSpec = CommandSpec {
    name: "HVALS",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Hash,
    cost: "O(n), n the fields of the hash",
    since: "2.0.0",
    brief: "Returns all values of a hash.",
    answer: "array: the values; empty if the key is absent",
    run: Run::Local(|tx, args, reply| all(tx, args, reply, FieldPart::Values)),
};

/// The part of a field that is replied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldPart {
    Fields,
    Values,
    Both,
}

/// The bytes of a reply written under the lock, at most.
const LOCKED_BYTES_MAX: u64 = 64 << 10;
/// The approximate size of the headers of each field, in bytes.
const HEADER_BYTES: u64 = 16;

fn all(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, shown: FieldPart) -> Outcome {
    let (now, keyspace) = (tx.now(), tx.keyspace());
    let hash = tx.hash(args.get(1))?;
    let count = hash.map_or(0, |hash| hash.live_len(now)) as usize;
    if shown == FieldPart::Both {
        reply.map(count);
    } else {
        reply.array(count);
    }
    let Some(hash) = hash else { return Ok(()) };
    if is_long(hash) {
        reply.stream(Box::new(FieldsReply { items: hash.items(), at: 0, shown, now, pin: keyspace.pin(args.get(1)) }));
        return Ok(());
    }
    let _ = hash.walk(&mut |pair| {
        write_pair(reply, pair, shown, now);
        ControlFlow::Continue(())
    });
    Ok(())
}

/// Returns true if a whole hash is too long to be sent under the lock.
pub(super) fn is_long(hash: &Hash) -> bool {
    hash.content_bytes() + hash.len() * HEADER_BYTES > LOCKED_BYTES_MAX
}

fn write_pair(reply: &mut dyn Reply, pair: Pair<'_>, shown: FieldPart, now: Ms) {
    if !pair.is_live(now) {
        return;
    }
    if shown != FieldPart::Values {
        reply.bulk(pair.field);
    }
    if shown != FieldPart::Fields {
        reply.bulk(pair.value);
    }
}

/// A reply written from a clone.
struct FieldsReply {
    items: List,
    /// The next item.
    at: u64,
    shown: FieldPart,
    /// The time at which fields are judged.
    now: Ms,
    pin: Pin,
}

impl Source for FieldsReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let (mut at, mut bytes_left) = (self.at, SOURCE_STEP_BYTES as u64);
        let _ = self.items.walk(at, self.items.len() - at, Direction::Forward, &mut |item: &[u8]| {
            write_pair(reply, pair(item), self.shown, self.now);
            at += 1;
            bytes_left = bytes_left.saturating_sub(item.len() as u64 + HEADER_BYTES);
            if bytes_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.at = at;
        if at < self.items.len() { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.items.heap_bytes())
    }
}
