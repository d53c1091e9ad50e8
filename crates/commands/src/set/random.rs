//! SRANDMEMBER SPOP: random members, drawn by position in the set's order.
//!
//! For many members, we take those that follow a random one: the order is by hash.

use super::all;
use crate::draw::{Drawable, RandomDraw, places};
use crate::prelude::*;
use base::random::Random;
use values::Set;
use values::set::SetForm;

pub(crate) const COMMANDS: &[CommandSpec] = &[SRANDMEMBER, SPOP];

const SRANDMEMBER: CommandSpec = CommandSpec {
    name: "SRANDMEMBER",
    syntax: "key [count]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[("2.6.0", "Takes a count.")]),
        Fact::Arguments(&[argument("1", "", "", "2.6.0")]),
    ],
    group: Group::Set,
    cost: "O(n), n the members told",
    since: "1.0.0",
    brief: "Returns one or several random members of a set.",
    answer: "bulk: a member, null if the key is absent; with a count array: members, below 0 also one more than once",
    run: Run::Local(random),
};

const SPOP: CommandSpec = CommandSpec {
    name: "SPOP",
    syntax: "key [count]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[("3.2.0", "Takes a count.")]),
        Fact::Arguments(&[argument("1", "", "", "3.2.0")]),
        Fact::Events(&[
            EventRule { instead_of: "srem", events: &[(Classes::SET, "spop")] },
            EventRule { instead_of: "del", events: &[(Classes::SET, "spop"), (Classes::GENERIC, "del")] },
        ]),
    ],
    group: Group::Set,
    cost: "O(n), n the members taken",
    since: "1.0.0",
    brief: "Removes and returns one or several random members of a set.",
    answer: "bulk: a member, null if the key is absent; with a count set: members",
    run: Run::Local(pop),
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
        all::write_members(reply, set, pin);
        return Ok(());
    }
    let draw = RandomDraw::of(MembersByIndex(set.clone()), count, random);
    reply.array(draw.left() as usize);
    draw.write(reply, pin);
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
        all::write_members(reply, set, pin);
        tx.remove(key);
        return Ok(());
    }
    let (draw, runs) = taken(set, count, random);
    draw.write(reply, pin);
    tx.set_mut(key, Absent::Leave)?.expect("just seen").remove_at(&runs)?;
    Ok(())
}

/// The maximum number taken from random positions: about 900 µs under the lock.
const PLACES_TAKEN_MAX: u64 = 256;

/// Selects `count` members to remove from a set that has more, and returns the runs of their positions.
fn taken(set: &Set, count: u64, mut random: Random) -> (RandomDraw<MembersByIndex>, Vec<(u64, u64)>) {
    let (len, members) = (set.len(), MembersByIndex(set.clone()));
    if count <= PLACES_TAKEN_MAX || set.form() != SetForm::Hashed {
        let places = places(&members, count, &mut random);
        let runs = places.chunk_by(|one, next| one + 1 == *next).map(|run| (run[0], run.len() as u64)).collect();
        return (RandomDraw::these(members, places, random), runs);
    }
    let first = random.below(len);
    let runs = match (first + count).checked_sub(len) {
        None | Some(0) => vec![(first, count)],
        Some(around) => vec![(0, around), (first, len - first)],
    };
    (RandomDraw::around(members, first, count, random), runs)
}

/// The members of a set, by position.
struct MembersByIndex(Set);

impl Drawable for MembersByIndex {
    fn places(&self) -> u64 {
        self.0.len()
    }

    fn write(&self, place: u64, reply: &mut dyn Reply) -> usize {
        let bytes = self.0.get(place, |member| {
            reply.bulk(member);
            member.len()
        });
        bytes.expect("a place within")
    }

    fn heap_bytes(&self) -> u64 {
        self.0.heap_bytes()
    }
}
