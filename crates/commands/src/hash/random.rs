//! HRANDFIELD: tells fields drawn at random.
//!
//! ```text
//! one, or few with or without repetition    drawn by index, and again where one was drawn before or is expired
//! many without repetition                   a walk that takes each with the chance that is left to it
//! ```
//!
//! What is long is told from a clone, in steps, without the lock: a count below 0 knows no bounds.

use crate::prelude::*;
use base::Ms;
use base::random::Random;
use blocks::Direction;
use keyspace::Pin;
use kinds::List;
use kinds::hash::{Pair, pair};
use std::collections::HashSet;
use std::ops::ControlFlow;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[Command] = &[HRANDFIELD];

const HRANDFIELD: Command = Command {
    name: "HRANDFIELD",
    syntax: "key [count [WITHVALUES]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::Hash,
    cost: "O(n), n the fields told",
    since: "6.2.0",
    brief: "Tells one field of a hash, or several, drawn at random.",
    answer: "bulk: a field, null if the key is absent; with a count array: fields, or fields and values",
    run: Run::Local(random),
};

fn random(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (now, seed, keyspace) = (tx.now(), tx.random(), tx.keyspace());
    if args.len() == 2 {
        let Some(hash) = tx.hash(args.get(1))? else {
            reply.null();
            return Ok(());
        };
        let mut draw = Draw::new(hash.items(), 1, false, now, seed, hash.live_len(now), Repeats::No);
        draw.next_pair(|pair| reply.bulk(pair.field));
        return Ok(());
    }
    let (count, with_values) = counts(args)?;
    let Some(hash) = tx.hash(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let live = hash.live_len(now);
    let (count, repeats) = match count {
        count if count < 0 => (count.unsigned_abs(), Repeats::Yes),
        count => ((count as u64).min(live), Repeats::No),
    };
    reply.array(if with_values && !reply.is_resp3() { 2 * count } else { count } as usize);
    let mut draw = Draw::new(hash.items(), count, with_values, now, seed, live, repeats);
    if draw.step(reply) == More::Follows {
        reply.stream(Box::new(Rest { draw, pin: keyspace.pin(args.get(1)) }));
    }
    Ok(())
}

/// Count and whether values are told, of arguments 2 and 3.
fn counts(args: &Args) -> Result<(i64, bool), Failure> {
    let count = parse::int_within(args.get(2), -i64::MAX, i64::MAX)?;
    let with_values = match args.len() {
        3 => false,
        4 if parse::is(args.get(3), "WITHVALUES") => true,
        _ => return Err(Failure::Syntax),
    };
    if with_values && count.unsigned_abs() > (i64::MAX / 2) as u64 {
        return Err(Failure::text("ERR value is out of range"));
    }
    Ok((count, with_values))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Yes,
    No,
}

/// A draw under way.
struct Draw {
    items: List,
    with_values: bool,
    /// As of when.
    now: Ms,
    random: Random,
    /// How many are still to be drawn.
    left: u64,
    way: Way,
}

enum Way {
    /// By index, whatever was drawn before.
    Again,
    /// By index, none of these again.
    Once(HashSet<u64>),
    /// In order, from an index on, of so many that are still to come.
    Walk { at: u64, live_left: u64 },
    /// One of these indices, whatever was drawn before: where most fields are expired.
    Listed(Vec<u64>),
}

/// So many are drawn without repetition by index at most: their indices are kept.
const ONCE_MAX: u64 = 1_000;

impl Draw {
    fn new(items: List, count: u64, with_values: bool, now: Ms, seed: u64, live: u64, repeats: Repeats) -> Self {
        let is_mostly_live = live >= items.len() / 2;
        let way = match repeats {
            Repeats::Yes if is_mostly_live => Way::Again,
            Repeats::Yes => Way::Listed(live_places(&items, now)),
            Repeats::No if is_mostly_live && count <= ONCE_MAX && count <= live / 3 + 1 => Way::Once(HashSet::new()),
            Repeats::No => Way::Walk { at: 0, live_left: live },
        };
        Self { items, with_values, now, random: Random::new(seed), left: count, way }
    }

    /// Shows the next one; there is one.
    fn next_pair<R>(&mut self, show: impl FnOnce(Pair<'_>) -> R) -> R {
        let Self { items, now, random, way, left, .. } = self;
        let is_live = |at| items.get(at, |item| pair(item).is_live(*now)).expect("an index within");
        let at = match way {
            Way::Again => loop {
                let at = random.below(items.len());
                if is_live(at) {
                    break at;
                }
            },
            Way::Once(drawn) => loop {
                let at = random.below(items.len());
                if is_live(at) && drawn.insert(at) {
                    break at;
                }
            },
            Way::Listed(places) => places[random.below(places.len() as u64) as usize],
            Way::Walk { at, live_left } => {
                let _ = items.walk(*at, items.len() - *at, Direction::Forward, &mut |item: &[u8]| {
                    *at += 1;
                    if !pair(item).is_live(*now) {
                        return ControlFlow::Continue(());
                    }
                    let is_taken = random.below(*live_left) < *left;
                    *live_left -= 1;
                    if is_taken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                *at - 1
            }
        };
        *left -= 1;
        items.get(at, |item| show(pair(item))).expect("an index within")
    }

    /// Writes about [`SOURCE_STEP_BYTES`].
    fn step(&mut self, reply: &mut dyn Reply) -> More {
        let (with_values, mut bytes_left) = (self.with_values, SOURCE_STEP_BYTES);
        while self.left > 0 && bytes_left > 0 {
            let bytes = self.next_pair(|pair| {
                if with_values && reply.is_resp3() {
                    reply.array(2);
                }
                reply.bulk(pair.field);
                if with_values {
                    reply.bulk(pair.value);
                }
                pair.field.len() + pair.value.len() + HEADER_BYTES
            });
            bytes_left = bytes_left.saturating_sub(bytes);
        }
        if self.left > 0 { More::Follows } else { More::Done }
    }
}

/// About what headers and the draw take for each field, in bytes.
const HEADER_BYTES: usize = 32;

fn live_places(items: &List, now: Ms) -> Vec<u64> {
    let (mut places, mut at) = (Vec::new(), 0);
    let _ = items.walk(0, items.len(), Direction::Forward, &mut |item: &[u8]| {
        if pair(item).is_live(now) {
            places.push(at);
        }
        at += 1;
        ControlFlow::Continue(())
    });
    places
}

/// What is told from a clone.
struct Rest {
    draw: Draw,
    pin: Pin,
}

impl Source for Rest {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.draw.step(reply)
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.draw.items.heap_bytes())
    }
}
