//! ZSCAN: the members of a sorted set in steps.
//!
//! Small ones all at once, and cursor 0; large ones in the order of the members' hashes (`kinds/src/sorted/scan.rs`).

use crate::element_scan::{Options, Told};
use crate::generic::scan::parse_cursor;
use crate::prelude::*;
use wire::number::Double;

pub(crate) const COMMANDS: &[Command] = &[ZSCAN];

const ZSCAN: Command = Command {
    name: "ZSCAN",
    syntax: "key cursor [MATCH pattern] [COUNT count]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::SortedSet,
    cost: "O(m*log(n)) a step, n the members of the sorted set, m those looked at; where most have one score O(n)",
    since: "2.8.0",
    brief: "Tells the members of a sorted set in steps, and the cursor with which to go on.",
    answer: "array: the next cursor (0: that was all) and an array of members and scores",
    run: Run::Local(scan),
};

/// Members looked at in one step, at most, whatever COUNT says.
const LOOKS_MAX: u64 = 4 << 10;

fn scan(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let cursor = parse_cursor(args.get(2)).ok_or(Failure::text("ERR invalid cursor"))?;
    let (mut next, mut told) = (None, Told::default());
    // As in Redis, options are looked at only if there is something to scan.
    if let Some(sorted) = tx.sorted(args.get(1))? {
        let options = Options::read(args, false)?;
        next = sorted.scan(cursor, options.count.min(LOOKS_MAX), |score, member| {
            if options.take(member) {
                told.push(member);
                told.push(Double::new(score).as_bytes());
            }
        });
    }
    told.tell(next.unwrap_or(0), reply);
    Ok(())
}
