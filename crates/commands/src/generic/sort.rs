//! SORT SORT_RO: return, or store, elements in order.
//!
//! ```text
//! few elements, no other keys     under the lock
//! many, or other keys, returned   on a clone made at the start, without a lock; other keys are read one by one
//! many, stored                    likewise, and again if the source has changed meanwhile: see `Tx::compute`
//! other keys, stored              on a clone made at the start; the result is stored at one instant
//! ```

use super::sorting::{KeyPattern, SortElements, SortOrder, Sorting};
use crate::prelude::*;
use blocks::Direction;
use keyspace::{OfWhen, Whole};
use std::ops::ControlFlow;
use table::Content;
use values::{List, Value};
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[SORT, SORT_RO];

const SORT: CommandSpec = CommandSpec {
    name: "SORT",
    syntax: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] \
             [STORE destination]",
    arity: Arity::AtLeast(2),
    keys: &[
        KeySpec::one(1, "RO ACCESS"),
        FOLLOWED,
        KeySpec::found(
            Begin::Option { word: "STORE", from: 2, counts: COUNTS, is_reported: false },
            Find::Range { last: 0, step: 1 },
            "OW UPDATE",
        )
        .noted("The key of STORE, which may stand anywhere behind the first."),
    ],
    access: Access::Write { grows: true },
    flags: &[Flag::Dangerous, Flag::FollowsNames],
    facts: &[
        Fact::Arguments(&[
            argument("1", "", "", "").found_by(1),
            argument("3", "", "", "").found_by(1),
            argument("4", "order", "", ""),
            argument("5", "sorting", "", ""),
            argument("6", "", "", "").found_by(2),
        ]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::LIST, "sortstore")] }]),
    ],
    group: Group::Generic,
    cost: "O(n*log(n)+m), n the elements, m those told; keys named by BY and GET are not read at one instant",
    since: "1.0.0",
    brief: "Sorts a list, set or sorted set; returns or stores the result.",
    answer: "array: elements, or with GET what it names, null where there is none; with STORE int: elements stored",
    run: Run::Local(|tx, args, reply| sort(tx, args, reply, true)),
};

const SORT_RO: CommandSpec = CommandSpec {
    name: "SORT_RO",
    syntax: "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS"), FOLLOWED],
    access: Access::Read,
    flags: &[Flag::Dangerous, Flag::FollowsNames],
    facts: &[Fact::Arguments(&[
        argument("1", "", "", "").found_by(1),
        argument("3", "", "", "").found_by(1),
        argument("4", "order", "", ""),
        argument("5", "sorting", "", ""),
    ])],
    group: Group::Generic,
    cost: "O(n*log(n)+m), n the elements, m those told; keys named by BY and GET are not read at one instant",
    since: "7.0.0",
    brief: "Sorts a list, set or sorted set and returns the result.",
    answer: "array: elements, or with GET what it names, null where there is none",
    run: Run::Local(|tx, args, reply| sort(tx, args, reply, false)),
};

/// The keys named by BY and GET.
const FOLLOWED: KeySpec = KeySpec::found(Begin::Unknown, Find::Range { last: 0, step: 1 }, "RO ACCESS")
    .noted("Keys that BY and GET name, made of what the sorted key holds.");

const COUNTS: &[(&str, usize)] = &[("LIMIT", 2), ("STORE", 1), ("BY", 1), ("GET", 1)];

/// The maximum number of elements, and of their bytes, sorted under the lock.
const LOCKED_ELEMENTS_MAX: u64 = 256;
const LOCKED_BYTES_MAX: u64 = 32 << 10;

/// The request, before the elements are known.
struct SortRequest<'a> {
    order: SortOrder,
    offset: i64,
    limit: i64,
    store: Option<&'a [u8]>,
    /// True if a script runs it.
    is_scripted: bool,
}

impl<'a> SortRequest<'a> {
    fn of(args: &Args<'a>, may_store: bool) -> Result<Self, Failure> {
        let order = SortOrder {
            is_own: false,
            direction: Direction::Forward,
            by_bytes: false,
            by: None,
            gets: Vec::new(),
            start: 0,
            count: 0,
            is_stored: false,
        };
        let mut asked = Self { order, offset: 0, limit: -1, store: None, is_scripted: false };
        let mut at = 2;
        while at < args.len() {
            let (word, left) = (args.get(at), args.len() - at - 1);
            let is = |name| parse::is(word, name);
            match () {
                () if is("ASC") => asked.order.direction = Direction::Forward,
                () if is("DESC") => asked.order.direction = Direction::Backward,
                () if is("ALPHA") => asked.order.by_bytes = true,
                () if is("LIMIT") && left >= 2 => {
                    asked.offset = parse::int(args.get(at + 1))?;
                    asked.limit = parse::int(args.get(at + 2))?;
                    at += 2;
                }
                () if may_store && is("STORE") && left >= 1 => {
                    asked.store = Some(args.get(at + 1));
                    at += 1;
                }
                () if is("BY") && left >= 1 => {
                    let pattern = args.get(at + 1);
                    // A BY pattern without `*` disables sorting for good.
                    asked.order.is_own |= !pattern.contains(&b'*');
                    asked.order.by = Some(KeyPattern::of(pattern));
                    at += 1;
                }
                () if is("GET") && left >= 1 => {
                    asked.order.gets.push(KeyPattern::of(args.get(at + 1)));
                    at += 1;
                }
                () => return Err(Failure::Syntax),
            }
            at += 1;
        }
        asked.order.is_stored = asked.store.is_some();
        Ok(asked)
    }

    /// Returns the sort order for these elements.
    fn order(&self, elements: &SortElements) -> SortOrder {
        let mut order = self.order.clone();
        let len = elements.len();
        order.start = u64::try_from(self.offset).unwrap_or(0).min(len);
        order.count = u64::try_from(self.limit).unwrap_or(u64::MAX).min(len - order.start);
        if order.is_own {
            order.by = None;
        }
        // A stored result, or a script's, must be deterministic, whatever order a set has.
        if order.is_own && (order.is_stored || self.is_scripted) && matches!(elements, SortElements::Set(_)) {
            (order.is_own, order.by_bytes) = (false, true);
        }
        order
    }
}

/// Returns the value under `key`, if it can be sorted.
fn source(tx: &mut Tx, key: &[u8]) -> Result<Option<Value>, Failure> {
    Ok(match tx.entry(key).map(|entry| entry.content()) {
        None => None,
        Some(Content::Value(value @ (Value::List(_) | Value::Set(_) | Value::Sorted(_)))) => Some(value.clone()),
        Some(_) => return Err(Failure::WrongType),
    })
}

fn sort(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, may_store: bool) -> Outcome {
    let asked = SortRequest { is_scripted: tx.is_scripted(), ..SortRequest::of(args, may_store)? };
    let source = source(tx, args.get(1))?;
    let elements = source.clone().and_then(SortElements::of).unwrap_or(SortElements::List(List::new()));
    let order = asked.order(&elements);
    let follows_names = order.follows_names() && elements.len() > 0;
    let is_little = elements.len() <= LOCKED_ELEMENTS_MAX && elements.content_bytes() <= LOCKED_BYTES_MAX;
    let made = if is_little && !follows_names {
        Sorting::new(elements, order).finish()
    } else {
        let words: Vec<&[u8]> = args.iter().collect();
        // A reply reflects the start of the sort, like any reply from a clone.
        let of_when = match asked.store {
            _ if follows_names => OfWhen::Followed,
            None => OfWhen::Then,
            Some(_) => OfWhen::Now,
        };
        let made = tx.try_compute(of_when, &words, vec![source], move |values| {
            let elements = values.into_iter().flatten().find_map(SortElements::of);
            Box::new(Sorting::new(elements.unwrap_or(SortElements::List(List::new())), order.clone()))
        })?;
        made.map(|made| match made {
            Some(Value::List(list)) => list,
            _ => List::new(),
        })
    };
    let list = made.map_err(Failure::text)?;
    match asked.store {
        Some(key) => put(tx, key, list, reply),
        None => {
            reply.array(list.len() as usize);
            let mut rest = SortReply { list, at: 0 };
            if rest.next(reply) == More::Follows {
                reply.stream(Box::new(rest));
            }
            Ok(())
        }
    }
}

fn put(tx: &mut Tx, key: &[u8], list: List, reply: &mut dyn Reply) -> Outcome {
    let len = list.len();
    if list.is_empty() {
        tx.remove(key);
    } else {
        tx.put_whole(tx.database(), key, &Whole::plain(Value::List(list), None))?;
    }
    reply.int(len as i64);
    Ok(())
}

/// An unshared result, sent in steps: each existing element is prefixed with a marker byte; an empty item is null.
struct SortReply {
    list: List,
    at: u64,
}

impl Source for SortReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let (mut bytes, at) = (0, &mut self.at);
        let _ = self.list.walk(*at, self.list.len() - *at, Direction::Forward, &mut |item: &[u8]| {
            match item.split_first() {
                Some((_, bytes)) => reply.bulk(bytes),
                None => reply.null(),
            }
            *at += 1;
            bytes += item.len() + 8;
            if bytes < SOURCE_STEP_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if self.at < self.list.len() { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        self.list.heap_bytes()
    }
}
