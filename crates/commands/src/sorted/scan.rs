//! ZSCAN: the members of a sorted set in steps.
//!
//! Small ones all at once, and cursor 0; large ones in the order of the members' hashes (`values/src/sorted/scan.rs`). A step
//! that has to look at many members goes on from a clone, without the lock.

use crate::element_scan::{ScanOptions, ScanReply};
use crate::generic::scan::parse_cursor;
use crate::prelude::*;
use keyspace::Pin;
use values::sorted::Scan;
use wire::number::Double;
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[ZSCAN];

const ZSCAN: CommandSpec = CommandSpec {
    name: "ZSCAN",
    syntax: "key cursor [MATCH pattern] [COUNT count]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::SortedSet,
    cost: "O(m*log(n)) a step, n the members of the sorted set, m those looked at; where most have one score O(n)",
    since: "2.8.0",
    brief: "Iterates over the members of a sorted set with a cursor.",
    answer: "array: the next cursor (0: that was all) and an array of members and scores",
    run: Run::Local(scan),
};

/// The maximum number of members examined per step, whatever COUNT says.
const LOOKS_MAX: u64 = 4 << 10;

fn scan(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let cursor = parse_cursor(args.get(2)).ok_or(Failure::text("ERR invalid cursor"))?;
    let keyspace = tx.keyspace();
    // As in Redis, options are parsed only if there is something to scan.
    let Some(sorted) = tx.sorted(args.get(1))? else {
        ScanReply::default().write(0, reply);
        return Ok(());
    };
    let options = ScanOptions::read(args, false)?;
    let Some(scan) = sorted.begin_scan(cursor, options.count.min(LOOKS_MAX)) else {
        let mut found = ScanReply::default();
        if !sorted.is_large() {
            sorted.for_each(|score, member| take(&options, score, member, &mut found));
        }
        found.write(0, reply);
        return Ok(());
    };
    let mut scanning =
        Scanning { scan, options: options.own(), found: ScanReply::default(), bytes: sorted.heap_bytes(), pin: None };
    for _ in 0..LOCKED_TURNS {
        if scanning.next(reply) == More::Done {
            return Ok(());
        }
    }
    scanning.pin = Some(keyspace.pin(args.get(1)));
    reply.stream(Box::new(scanning));
    Ok(())
}

fn take(options: &ScanOptions<'_>, score: f64, member: &[u8], found: &mut ScanReply) {
    if options.take(member) {
        found.push(member);
        found.push(Double::new(score).as_bytes());
    }
}

/// Turns run under the lock.
const LOCKED_TURNS: usize = 4;

/// A step that continues from a clone.
struct Scanning {
    scan: Scan,
    options: ScanOptions<'static>,
    found: ScanReply,
    /// The bytes held by the scanned set.
    bytes: u64,
    pin: Option<Pin>,
}

impl Source for Scanning {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let Self { scan, options, found, .. } = self;
        if !scan.turn(&mut |score, member| take(options, score, member, found)) {
            return More::Rest;
        }
        found.write(scan.next().unwrap_or(0), reply);
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.bytes)) + self.found.bytes() as u64
    }
}
