//! LPOS: finds an element.

use super::plain;
use crate::prelude::*;
use blocks::{Direction, Search};
use keyspace::Pin;
use std::ops::Range;
use values::List;
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[LPOS];

const LPOS: CommandSpec = CommandSpec {
    name: "LPOS",
    syntax: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::List,
    cost: "O(n), n the elements compared",
    since: "6.0.6",
    brief: "Finds the indices of elements equal to one.",
    answer: "int: the index; null: there is none; with COUNT, array: the indices",
    run: Run::Local(lpos),
};

/// Lists with more content than this, in bytes, are searched without a lock.
pub(super) const LOCKED_BYTES_MAX: u64 = 64 << 10;
/// Bytes searched per step: about 50 µs.
const STEP_BYTES: u64 = 256 << 10;
/// Indices replied per step.
const STEP_INDICES: usize = 4096;

#[derive(Clone, Copy)]
struct PositionOptions {
    direction: Direction,
    /// Matches to skip before the first that counts.
    skip: u64,
    /// `None`: only the first, not in an array. 0: all.
    count: Option<u64>,
    /// The maximum number of elements compared; 0: all.
    compared_max: u64,
}

fn lpos(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let options = options(args)?;
    let keyspace = tx.keyspace();
    let Some(list) = plain(tx, args.get(1))? else {
        match options.count {
            Some(_) => reply.array(0),
            None => reply.null(),
        }
        return Ok(());
    };
    let mut finding = Finding::new(list, args.get(2), options);
    if list.content_bytes() > LOCKED_BYTES_MAX {
        finding.pin = Some(keyspace.pin(args.get(1)));
        reply.stream(Box::new(finding));
    } else {
        while finding.next(reply) == More::Follows {}
    }
    Ok(())
}

fn options(args: &Args) -> Result<PositionOptions, Failure> {
    let mut options = PositionOptions { direction: Direction::Forward, skip: 0, count: None, compared_max: 0 };
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Failure::Syntax)?;
        if parse::is(word, "RANK") {
            let rank = parse::int_within(value, -i64::MAX, i64::MAX)?;
            let zero = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
                        negative to start from the end of the list";
            options.skip = rank.unsigned_abs().checked_sub(1).ok_or(Failure::text(zero))?;
            options.direction = if rank < 0 { Direction::Backward } else { Direction::Forward };
        } else if parse::is(word, "COUNT") {
            options.count = Some(parse::int_or(value, 0, i64::MAX, "ERR COUNT can't be negative")? as u64);
        } else if parse::is(word, "MAXLEN") {
            options.compared_max = parse::int_or(value, 0, i64::MAX, "ERR MAXLEN can't be negative")? as u64;
        } else {
            return Err(Failure::Syntax);
        }
    }
    Ok(options)
}

/// Returns the part of a list that is compared, and its start.
fn compared(list: &List, options: PositionOptions) -> (List, u64) {
    let PositionOptions { direction, compared_max, .. } = options;
    if compared_max == 0 || compared_max >= list.len() {
        return (list.clone(), 0);
    }
    let start = if direction == Direction::Forward { 0 } else { list.len() - compared_max };
    let mut part = list.clone();
    part.trim(start, compared_max);
    (part, start)
}

/// An LPOS in progress: it searches, then replies. Steps of a big list run without the locks.
struct Finding {
    search: Search,
    /// The start of the searched part.
    offset: u64,
    options: PositionOptions,
    /// `None` while searching.
    positions: Option<PositionsReply>,
    /// Set once it continues without the locks.
    pin: Option<Pin>,
}

struct PositionsReply {
    /// Indices still to be skipped.
    skip: u64,
    /// The rest of the current run.
    run: Range<u64>,
    /// The next run.
    next: usize,
}

impl Finding {
    fn new(list: &List, element: &[u8], options: PositionOptions) -> Self {
        let (part, offset) = compared(list, options);
        let count = match options.count {
            None => 1,
            Some(0) => u64::MAX,
            Some(count) => count,
        };
        let search = Search::new(part, element, options.direction, options.skip.saturating_add(count));
        Self { search, offset, options, positions: None, pin: None }
    }

    /// Writes the number of indices that follow.
    fn begin(&self, reply: &mut dyn Reply) -> PositionsReply {
        let PositionOptions { skip, count, .. } = self.options;
        let indices_count = self.search.found().items().saturating_sub(skip);
        match count {
            Some(_) => reply.array(indices_count as usize),
            None if indices_count == 0 => reply.null(),
            None => {}
        }
        let next = if indices_count > 0 { 0 } else { self.search.found().runs() };
        PositionsReply { skip, run: 0..0, next }
    }

    /// Writes a part of the result.
    fn write(&self, positions: &mut PositionsReply, reply: &mut dyn Reply) -> More {
        let direction = self.options.direction;
        for _ in 0..STEP_INDICES {
            let PositionsReply { skip, run, next } = positions;
            if run.is_empty() {
                if *next == self.search.found().runs() {
                    return More::Done;
                }
                *run = self.run(*next);
                *next += 1;
            }
            let skipped = (run.end - run.start).min(*skip);
            *skip -= skipped;
            let index = match direction {
                Direction::Forward => run.nth(skipped as usize),
                Direction::Backward => run.nth_back(skipped as usize),
            };
            if let Some(index) = index {
                reply.int(index as i64);
            }
        }
        More::Follows
    }

    fn run(&self, at: usize) -> Range<u64> {
        let (start, count) = self.search.found().run(at);
        start + self.offset..start + self.offset + count
    }
}

impl Source for Finding {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let mut positions = match self.positions.take() {
            Some(positions) => positions,
            None if self.search.step(STEP_BYTES) => self.begin(reply),
            None => return More::Follows,
        };
        let more = self.write(&mut positions, reply);
        self.positions = Some(positions);
        more
    }
    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.search.list().heap_bytes()))
    }
}
