//! KEYRANGE DELRANGE: names in byte order, while `key-order` maintains it.
//!
//! ```text
//! the order of names --> a page of names --> their shards are held --> existing keys are returned, or removed
//!        ^                                                                   |
//!        '---------------------- after the last name ------------------------'
//! ```
//!
//! Changes made before the request are visible. The reply is not atomic: a name that exists throughout is visited
//! exactly once, one that comes or goes meanwhile at most once, and each appears in order. In transactions and scripts
//! it is atomic.

use super::names::Names;
use crate::prelude::*;
use crate::registry::Command;
use crate::sorted::score::lex_bound;
use blocks::Direction;
use keyspace::{IndexState, Page, Span, kind_of};
use values::ValueType;
use values::sorted::Bound;
use wire::OwnedRequest;

pub(crate) const COMMANDS: &[CommandSpec] = &[KEYRANGE, DELRANGE];

const KEYRANGE: CommandSpec = CommandSpec {
    name: "KEYRANGE",
    syntax: "start end [REV] [LIMIT count] [TYPE type]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Dangerous, Flag::NoMisses],
    facts: &[],
    group: Group::Generic,
    cost: "O(log n + m), n the keys of the database, m those told",
    since: "bobbin 0.1.0",
    brief: "Returns keys in the order of their names, from one bound to another.",
    answer: "array: the keys; with REV the last one first, and `start` is the greater bound. Needs `key-order yes`",
    run: Run::Range { at_once, begin: |args| NameRange::of(args, false) },
};

const DELRANGE: CommandSpec = CommandSpec {
    name: "DELRANGE",
    syntax: "start end [LIMIT count] [TYPE type]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous],
    facts: &[],
    group: Group::Generic,
    cost: "O(log n + m), n the keys of the database, m those removed",
    since: "bobbin 0.1.0",
    brief: "Deletes keys by name, from one bound to another.",
    answer: "int: keys removed, some at a time. Needs `key-order yes`",
    run: Run::Range { at_once, begin: |args| NameRange::of(args, true) },
};

/// Runs for the keys of one page; in place of the name it takes the required type, or an empty word.
static REMOVE_SOME: CommandSpec = CommandSpec {
    keys: &[KeySpec::many(1, -1, 1, "RM DELETE")],
    run: Run::Local(|tx, args, reply| {
        let kind = Some(args.name()).filter(|kind| !kind.is_empty());
        let removed = args.from(1).iter().filter(|key| has_kind(tx, key, kind) && tx.remove(key)).count();
        reply.int(removed as i64);
        Ok(())
    }),
    ..DELRANGE
};

/// Names processed per locking of their shards.
const LOOKED_AT: usize = 128;
/// Keys removed per frame.
const REMOVED_AT_ONCE: usize = 64;
/// The maximum size of a removal in a frame, beside the name.
const REMOVAL_BYTES: usize = 64;

/// A scan over the names of a database.
pub struct NameRange {
    span: Span,
    /// Number of matching keys that may still be visited.
    left: u64,
    kind: Option<Vec<u8>>,
    removes: bool,
    removed: u64,
    names: Names,
}

impl NameRange {
    fn of(args: &Args, removes: bool) -> Result<Self, Failure> {
        let (mut direction, mut left, mut kind) = (Direction::Forward, u64::MAX, None);
        let mut words = args.from(3).iter();
        while let Some(word) = words.next() {
            if parse::is(word, "REV") && !removes {
                direction = Direction::Backward;
            } else if parse::is(word, "LIMIT") {
                let count = words.next().ok_or(Failure::Syntax)?;
                left = parse::int_or(count, 0, i64::MAX, "ERR LIMIT can't be negative")? as u64;
            } else if parse::is(word, "TYPE") {
                kind = Some(words.next().ok_or(Failure::Syntax)?.to_vec());
            } else {
                return Err(Failure::Syntax);
            }
        }
        let (start, end) = (args.get(1), args.get(2));
        let (least, most) = if direction == Direction::Backward { (end, start) } else { (start, end) };
        // The ends are reversed.
        if least == b"+" || most == b"-" {
            left = 0;
        }
        let span = Span { least: bound(least)?, most: bound(most)?, direction };
        Ok(Self { span, left, kind, removes, removed: 0, names: Names::default() })
    }

    /// Returns which names to show it next, and how many at most; `None` if it needs no more.
    pub fn wants(&self) -> Option<(&Span, usize)> {
        let at_once = if self.removes { REMOVED_AT_ONCE } else { LOOKED_AT };
        (self.left > 0).then(|| (&self.span, at_once.min(usize::try_from(self.left).unwrap_or(usize::MAX))))
    }

    /// Moves past a page; an empty page ends the scan.
    pub fn pass(&mut self, page: &Page) {
        match page.iter().next_back() {
            Some(last) => self.span.pass(last),
            None => self.left = 0,
        }
    }

    /// Returns true if a key of this type matches.
    pub fn takes(&self, kind: ValueType) -> bool {
        self.kind.as_deref().is_none_or(|wanted| parse::is(wanted, kind.name()))
    }

    /// Returns true if a key exists and matches. Its shard must be locked.
    pub fn fits(&self, tx: &mut Tx, name: &[u8]) -> bool {
        has_kind(tx, name, self.kind.as_deref())
    }

    /// Adds a matching name.
    pub fn take(&mut self, name: &[u8]) {
        self.names.push(name);
        self.left -= 1;
    }

    /// Returns the command, as a part of `command`, that removes the existing keys of a page; `None` if names are only
    /// listed.
    pub fn removal(&self, command: &Command, page: &Page) -> Option<(Command, OwnedRequest)> {
        let words: Vec<&[u8]> = std::iter::once(self.kind.as_deref().unwrap_or_default()).chain(page.iter()).collect();
        self.removes.then(|| (command.part(&REMOVE_SOME), OwnedRequest::of(&words)))
    }

    /// Records that `count` keys of a page were removed.
    pub fn removed(&mut self, count: u64) {
        self.removed += count;
        self.left -= count;
    }

    /// Writes the reply.
    pub fn finish(self, reply: &mut dyn Reply) {
        if self.removes {
            reply.int(self.removed as i64);
        } else {
            self.names.write(reply);
        }
    }
}

fn bound(argument: &[u8]) -> Result<Bound<Vec<u8>>, Failure> {
    Ok(match lex_bound(argument)? {
        Bound::None => Bound::None,
        Bound::Including(name) => Bound::Including(name.to_vec()),
        Bound::Excluding(name) => Bound::Excluding(name.to_vec()),
    })
}

fn has_kind(tx: &mut Tx, name: &[u8], kind: Option<&[u8]>) -> bool {
    tx.peek(name).is_some_and(|entry| kind.is_none_or(|kind| parse::is(kind, kind_of(entry).name())))
}

/// Returns why there is no range of names.
pub fn no_order(state: IndexState) -> Failure {
    match state {
        IndexState::Building(percent) => {
            Failure::text(format!("ERR the order of names is being built: {percent} % done"))
        }
        IndexState::Off | IndexState::On => {
            Failure::text("ERR there is no order of names: CONFIG SET key-order yes has it built and kept")
        }
    }
}

fn at_once(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut range = NameRange::of(args, parse::is(args.name(), DELRANGE.name))?;
    let mut found: Vec<Box<[u8]>> = Vec::new();
    while let Some((span, count)) = range.wants() {
        let page = tx.order_page(span, count).map_err(no_order)?;
        range.pass(&page);
        if range.removes {
            let before = found.len();
            found.extend(page.iter().filter(|name| has_kind(tx, name, range.kind.as_deref())).map(Box::from));
            range.removed((found.len() - before) as u64);
        } else {
            page.iter().for_each(|name| {
                if range.fits(tx, name) {
                    range.take(name);
                }
            });
        }
    }
    let bytes: usize = found.iter().map(|name| name.len() + REMOVAL_BYTES).sum();
    if range.removes && !found.is_empty() {
        tx.need_room(bytes as u64)?;
        found.iter().for_each(|name| assert!(tx.remove(name), "it is there"));
    }
    range.finish(reply);
    Ok(())
}
