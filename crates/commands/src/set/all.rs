//! SMEMBERS, and replies with all members of a set.
//!
//! Up to 64 KiB are written under the lock; more is sent from a clone, 32 KiB at a time, without it.

use crate::prelude::*;
use keyspace::Pin;
use std::ops::ControlFlow;
use values::Set;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[SMEMBERS];

const SMEMBERS: CommandSpec = CommandSpec {
    name: "SMEMBERS",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Set,
    cost: "O(n), n the members of the set",
    since: "1.0.0",
    brief: "Returns all members of a set.",
    answer: "set: the members; empty if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let keyspace = tx.keyspace();
        let Some(set) = tx.set(args.get(1))? else {
            reply.set(0);
            return Ok(());
        };
        reply.set(set.len() as usize);
        write_members(reply, set, || keyspace.pin(args.get(1)));
        Ok(())
    }),
};

/// The bytes of a reply written under the lock, at most.
const LOCKED_BYTES_MAX: u64 = 64 << 10;
/// The approximate size of a member's header, in bytes.
const HEADER_BYTES: u64 = 8;

/// Writes all members, after the array header; `pin` is for the clone, if it takes one.
pub(super) fn write_members(reply: &mut dyn Reply, set: &Set, pin: impl FnOnce() -> Pin) {
    if set.content_bytes() + set.len() * HEADER_BYTES > LOCKED_BYTES_MAX {
        reply.stream(Box::new(MembersReply { set: set.clone(), at: 0, pin: Some(pin()) }));
    } else {
        write_small(reply, set);
    }
}

/// Writes all members of a small set, after the array header.
pub(super) fn write_small(reply: &mut dyn Reply, set: &Set) {
    set.walk(0, set.len(), |member| {
        reply.bulk(member);
        ControlFlow::Continue(())
    });
}

/// A reply with the members of a set.
pub(super) struct MembersReply {
    pub(super) set: Set,
    /// The next member.
    pub(super) at: u64,
    /// The pin, if the set belongs to a key.
    pub(super) pin: Option<Pin>,
}

impl Source for MembersReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let (len, mut bytes_left) = (self.set.len(), SOURCE_STEP_BYTES as u64);
        let mut at = self.at;
        self.set.walk(at, len - at, |member| {
            reply.bulk(member);
            at += 1;
            bytes_left = bytes_left.saturating_sub(member.len() as u64 + HEADER_BYTES);
            if bytes_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.at = at;
        if at < len { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        let heap_bytes = self.set.heap_bytes();
        self.pin.as_ref().map_or(heap_bytes, |pin| pin.bytes(heap_bytes))
    }
}
