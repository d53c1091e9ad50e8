//! SRANDMEMBER SPOP: members drawn at random, by their places in the order of the set.
//!
//! ```text
//! with repetition      each by itself
//! few, without         their places first, in a random order
//! many, without        told:  a walk over all places that takes each with the chance that is left to it
//!                      taken: the places that follow a random one: their order is that of hashes
//! ```
//!
//! What is long is told from a clone, in steps, without the lock: a count below 0 knows no bounds.

use super::all;
use crate::prelude::*;
use base::random::Random;
use keyspace::Pin;
use kinds::Set;
use kinds::set::SetForm;
use std::collections::HashSet;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[Command] = &[SRANDMEMBER, SPOP];

const SRANDMEMBER: Command = Command {
    name: "SRANDMEMBER",
    syntax: "key [count]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::Set,
    cost: "O(n), n the members told",
    since: "1.0.0",
    brief: "Tells one member of a set, or several, drawn at random.",
    answer: "bulk: a member, null if the key is absent; with a count array: members, below 0 also one more than once",
    run: Run::Local(random),
};

const SPOP: Command = Command {
    name: "SPOP",
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    cost: "O(n), n the members taken",
    brief: "Takes one member of a set, or several, drawn at random.",
    answer: "bulk: a member, null if the key is absent; with a count set: members",
    run: Run::Local(pop),
    ..SRANDMEMBER
};

fn random(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (mut random, keyspace) = (Random::new(tx.random()), tx.keyspace());
    if args.len() == 2 {
        let set = tx.set(args.get(1))?;
        if set.and_then(|set| set.get(random.below(set.len()), |member| reply.bulk(member))).is_none() {
            reply.null();
        }
        return Ok(());
    }
    if args.len() > 3 {
        return Err(Failure::Syntax);
    }
    let count = parse::int_within(args.get(2), -i64::MAX, i64::MAX)?;
    let Some(set) = tx.set(args.get(1))?.filter(|_| count != 0) else {
        reply.array(0);
        return Ok(());
    };
    let pin = || keyspace.pin(args.get(1));
    if count > 0 && count as u64 >= set.len() {
        reply.array(set.len() as usize);
        all::tell(reply, set, pin);
        return Ok(());
    }
    let way = if count < 0 { Way::Again } else { Way::once(set.len(), count as u64, &mut random) };
    let left = count.unsigned_abs();
    reply.array(left as usize);
    Draw { set: set.clone(), random, left, way, pin: None }.tell(reply, pin);
    Ok(())
}

fn pop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (mut random, keyspace, key) = (Random::new(tx.random()), tx.keyspace(), args.get(1));
    if args.len() == 2 {
        let Some(set) = tx.set(key)? else {
            reply.null();
            return Ok(());
        };
        let place = random.below(set.len());
        set.get(place, |member| reply.bulk(member));
        tx.set_mut(key, Absent::Leave)?.expect("just seen").remove_at(&[(place, 1)])?;
        return Ok(());
    }
    if args.len() > 3 {
        return Err(Failure::Syntax);
    }
    let count = parse::count(args.get(2))?;
    let Some(set) = tx.set(key)?.filter(|_| count > 0) else {
        reply.set(0);
        return Ok(());
    };
    let pin = || keyspace.pin(key);
    let count = count.min(set.len());
    reply.set(count as usize);
    if count == set.len() {
        all::tell(reply, set, pin);
        tx.remove(key);
        return Ok(());
    }
    let (way, runs) = taken(set, count, &mut random);
    Draw { set: set.clone(), random, left: count, way, pin: None }.tell(reply, pin);
    tx.set_mut(key, Absent::Leave)?.expect("just seen").remove_at(&runs)?;
    Ok(())
}

/// Which `count` members are taken of a set that has more.
fn taken(set: &Set, count: u64, random: &mut Random) -> (Way, Vec<(u64, u64)>) {
    let len = set.len();
    if count <= PLACES_MAX || set.form() != SetForm::Hashed {
        let places = places(len, count, random);
        let runs = places.chunk_by(|one, next| one + 1 == *next).map(|run| (run[0], run.len() as u64)).collect();
        return (Way::These { places, at: 0 }, runs);
    }
    let first = random.below(len);
    let runs = match (first + count).checked_sub(len) {
        None | Some(0) => vec![(first, count)],
        Some(around) => vec![(0, around), (first, len - first)],
    };
    (Way::Around { at: first }, runs)
}

/// So many different places, in their order, of `len`, which are more.
fn places(len: u64, count: u64, random: &mut Random) -> Vec<u64> {
    if count > len / 8 {
        let mut walk = Way::Walk { at: 0 };
        return (0..count).map(|drawn| walk.next(len, count - drawn, random)).collect();
    }
    let mut drawn = HashSet::with_capacity(count as usize);
    while (drawn.len() as u64) < count {
        drawn.insert(random.below(len));
    }
    let mut places: Vec<u64> = drawn.into_iter().collect();
    places.sort_unstable();
    places
}

enum Way {
    /// Whatever was drawn before.
    Again,
    /// These places.
    These { places: Vec<u64>, at: usize },
    /// Some of those from one on.
    Walk { at: u64 },
    /// Those from one on; the first follows the last.
    Around { at: u64 },
}

/// So many places are drawn before the first is told, at most.
const PLACES_MAX: u64 = 1_000;

impl Way {
    /// To draw `count` of `len`, which are more, each once.
    fn once(len: u64, count: u64, random: &mut Random) -> Self {
        if count > PLACES_MAX {
            return Self::Walk { at: 0 };
        }
        let mut places = places(len, count, random);
        for last in (1..places.len()).rev() {
            places.swap(last, random.below(last as u64 + 1) as usize);
        }
        Self::These { places, at: 0 }
    }

    /// The place of the next of `left`.
    fn next(&mut self, len: u64, left: u64, random: &mut Random) -> u64 {
        match self {
            Self::Again => random.below(len),
            Self::These { places, at } => {
                *at += 1;
                places[*at - 1]
            }
            Self::Around { at } => {
                let place = *at;
                *at = if place + 1 == len { 0 } else { place + 1 };
                place
            }
            Self::Walk { at } => loop {
                *at += 1;
                if random.below(len - (*at - 1)) < left {
                    return *at - 1;
                }
            },
        }
    }
}

/// A draw under way.
struct Draw {
    set: Set,
    random: Random,
    /// How many are still to be told.
    left: u64,
    way: Way,
    pin: Option<Pin>,
}

/// About what header and draw take for each member, in bytes.
const HEADER_BYTES: usize = 32;

impl Draw {
    /// Begins to tell, under the lock; the rest follows without it.
    fn tell(mut self, reply: &mut dyn Reply, pin: impl FnOnce() -> Pin) {
        if self.next(reply) == More::Follows {
            self.pin = Some(pin());
            reply.stream(Box::new(self));
        }
    }
}

impl Source for Draw {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let Self { set, random, left, way, .. } = self;
        let (len, mut bytes_left) = (set.len(), SOURCE_STEP_BYTES);
        while *left > 0 && bytes_left > 0 {
            let place = way.next(len, *left, random);
            *left -= 1;
            let bytes = set.get(place, |member| {
                reply.bulk(member);
                member.len()
            });
            bytes_left = bytes_left.saturating_sub(bytes.expect("a place within") + HEADER_BYTES);
        }
        if *left > 0 { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.set.heap_bytes()))
    }
}
