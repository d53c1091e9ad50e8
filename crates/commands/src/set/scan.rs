//! SSCAN: the members of a set in steps.
//!
//! ```text
//! small   all at once, and cursor 0
//! large   in the order of the members' hashes; a cursor is the top 48 bits of the first hash to come
//! ```
//!
//! A step ends only between two prefixes, so a member that stays is returned exactly once in a whole scan, whatever
//! comes and goes.

use crate::element_scan::{ScanOptions, ScanReply};
use crate::generic::scan::{CURSOR_SHIFT, parse_cursor};
use crate::prelude::*;
use std::ops::ControlFlow;
use values::Set;
use values::set::SetForm;

pub(crate) const COMMANDS: &[CommandSpec] = &[SSCAN];

const SSCAN: CommandSpec = CommandSpec {
    name: "SSCAN",
    syntax: "key cursor [MATCH pattern] [COUNT count]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Set,
    cost: "O(log(n)+m) a step, n the members of the set, m those looked at; O(n) in all",
    since: "2.8.0",
    brief: "Iterates over the members of a set with a cursor.",
    answer: "array: the next cursor (0: that was all) and an array of members",
    run: Run::Local(scan),
};

/// The maximum number of members examined per step, whatever COUNT says: about 2 ms with a long pattern.
const LOOKS_MAX: u64 = 16 << 10;
/// The maximum bytes returned per step, not counting the last member.
const BYTES_MAX: usize = 1 << 20;

fn scan(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let cursor = parse_cursor(args.get(2)).ok_or(Failure::text("ERR invalid cursor"))?;
    // As in Redis, options are parsed only if there is something to scan.
    let (next, found) = match tx.set(args.get(1))? {
        Some(set) => step(set, cursor, &ScanOptions::read(args, false)?),
        None => (0, ScanReply::default()),
    };
    found.write(next, reply);
    Ok(())
}

/// Returns the next cursor and the members passed on the way.
fn step(set: &Set, cursor: u64, options: &ScanOptions<'_>) -> (u64, ScanReply) {
    let (mut found, len) = (ScanReply::default(), set.len());
    if set.form() != SetForm::Hashed {
        set.walk(0, len, |member| {
            take(&mut found, member, options);
            ControlFlow::Continue(())
        });
        return (0, found);
    }
    // A cursor we never returned points past the last member.
    if cursor >> (u64::BITS - CURSOR_SHIFT) > 0 {
        return (0, found);
    }
    let (mut looks_left, mut last, mut next) = (options.count.min(LOOKS_MAX), None, 0);
    let from = set.index_of_hash(cursor << CURSOR_SHIFT);
    set.walk_hashed(from, |hash, member| {
        let prefix = hash >> CURSOR_SHIFT;
        if (looks_left == 0 || found.bytes() > BYTES_MAX || options.is_tired()) && last != Some(prefix) {
            next = prefix;
            return ControlFlow::Break(());
        }
        last = Some(prefix);
        looks_left = looks_left.saturating_sub(1);
        take(&mut found, member, options);
        ControlFlow::Continue(())
    });
    (next, found)
}

fn take(found: &mut ScanReply, member: &[u8], options: &ScanOptions<'_>) {
    if options.take(member) {
        found.push(member);
    }
}
