//! HSCAN: the fields of a hash in steps.
//!
//! ```text
//! small   all at once, and cursor 0
//! large   in the order of the fields' hashes; a cursor is the top 48 bits of the first hash to come
//! ```
//!
//! A step ends only between two prefixes, so a field that stays is returned exactly once in a whole scan, whatever
//! comes and goes.

use crate::element_scan::{ScanOptions, ScanReply};
use crate::generic::scan::{CURSOR_SHIFT, parse_cursor};
use crate::prelude::*;
use base::Ms;
use std::ops::ControlFlow;
use values::Hash;
use values::hash::Pair;

pub(crate) const COMMANDS: &[CommandSpec] = &[HSCAN];

const HSCAN: CommandSpec = CommandSpec {
    name: "HSCAN",
    syntax: "key cursor [MATCH pattern] [COUNT count] [NOVALUES]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Hash,
    cost: "O(log(n)+m) a step, n the fields of the hash, m those looked at; O(n) in all",
    since: "2.8.0",
    brief: "Iterates over the fields of a hash with a cursor.",
    answer: "array: the next cursor (0: that was all) and an array of fields and values",
    run: Run::Local(scan),
};

/// The maximum number of fields examined per step, whatever COUNT says: about 2 ms with a long pattern.
const LOOKS_MAX: u64 = 16 << 10;
/// The maximum bytes returned per step, not counting the last field.
const BYTES_MAX: usize = 1 << 20;

fn scan(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let cursor = parse_cursor(args.get(2)).ok_or(Failure::text("ERR invalid cursor"))?;
    // As in Redis, options are parsed only if there is something to scan.
    let (next, found) = match tx.hash(args.get(1))? {
        Some(hash) => step(hash, cursor, &ScanOptions::read(args, true)?, now),
        None => (0, ScanReply::default()),
    };
    found.write(next, reply);
    Ok(())
}

/// Returns the next cursor and the fields passed on the way.
fn step(hash: &Hash, cursor: u64, options: &ScanOptions<'_>, now: Ms) -> (u64, ScanReply) {
    let mut found = ScanReply::default();
    if !hash.is_large() {
        let _ = hash.walk(&mut |pair| {
            take(&mut found, pair, options, now);
            ControlFlow::Continue(())
        });
        return (0, found);
    }
    // A cursor we never returned points past the last field.
    if cursor >> (u64::BITS - CURSOR_SHIFT) > 0 {
        return (0, found);
    }
    let (mut looks_left, mut last, mut next) = (options.count.min(LOOKS_MAX), None, 0);
    let from = hash.place_of_order(cursor << CURSOR_SHIFT);
    let _ = hash.walk_from(from, &mut |pair| {
        let prefix = base::hash::order(pair.field) >> CURSOR_SHIFT;
        if (looks_left == 0 || found.bytes() > BYTES_MAX || options.is_tired()) && last != Some(prefix) {
            next = prefix;
            return ControlFlow::Break(());
        }
        last = Some(prefix);
        looks_left = looks_left.saturating_sub(1);
        take(&mut found, pair, options, now);
        ControlFlow::Continue(())
    });
    (next, found)
}

fn take(found: &mut ScanReply, pair: Pair<'_>, options: &ScanOptions<'_>, now: Ms) {
    if !options.take(pair.field) || !pair.is_live(now) {
        return;
    }
    found.push(pair.field);
    if options.values {
        found.push(pair.value);
    }
}
