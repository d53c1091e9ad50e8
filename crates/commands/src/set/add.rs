//! SADD SREM SMOVE: add, remove and move members.

use crate::prelude::*;
use smallvec::SmallVec;

pub(crate) const COMMANDS: &[CommandSpec] = &[SADD, SREM, SMOVE];

const SADD: CommandSpec = CommandSpec {
    name: "SADD",
    syntax: "key member [member ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("2.4.0", "Takes several members.")])],
    group: Group::Set,
    cost: "O(n), n the members named",
    since: "1.0.0",
    brief: "Adds members to a set, creating it if absent.",
    answer: "int: how many were not there",
    run: Run::Local(|tx, args, reply| {
        let members: SmallVec<[&[u8]; 8]> = args.from(2).iter().collect();
        let mut set = tx.set_mut(args.get(1), Absent::Create)?.expect("is to be made");
        reply.int(set.add(&members)? as i64);
        Ok(())
    }),
};

const SREM: CommandSpec = CommandSpec {
    name: "SREM",
    syntax: "key member [member ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("2.4.0", "Takes several members.")]),
        Fact::Events(&[EventRule { instead_of: "del", events: &[(Classes::SET, "srem"), (Classes::GENERIC, "del")] }]),
    ],
    group: Group::Set,
    cost: "O(n), n the members named",
    since: "1.0.0",
    brief: "Removes members of a set, and the set with its last member.",
    answer: "int: how many were there",
    run: Run::Local(|tx, args, reply| {
        let members: SmallVec<[&[u8]; 8]> = args.from(2).iter().collect();
        let removed_count = match tx.set_mut(args.get(1), Absent::Leave)? {
            Some(mut set) => set.remove(&members),
            None => 0,
        };
        reply.int(removed_count as i64);
        Ok(())
    }),
};

const SMOVE: CommandSpec = CommandSpec {
    name: "SMOVE",
    syntax: "source destination member",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast, Flag::EventsInReverse],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::SET, "srem"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Set,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Moves a member from one set to another.",
    answer: "int: 1; 0: it is no member of the source",
    run: Run::Local(smove),
};

fn smove(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (source, destination, member) = (args.get(1), args.get(2), args.get(3));
    let is_member = match tx.value_type(source) {
        // As in Redis, the other key is then not looked at.
        None => false,
        Some(_) => {
            tx.set(destination)?;
            tx.set(source)?.is_some_and(|set| set.contains(member))
        }
    };
    if is_member && source != destination {
        // There is a record with the member for each key.
        tx.need_room((2 * member.len() + 2 * source.len() + 2 * destination.len() + 192) as u64)?;
        tx.set_mut(destination, Absent::Create)?.expect("is to be made").add(&[member])?;
        tx.set_mut(source, Absent::Leave)?.expect("just seen").remove(&[member]);
    }
    reply.int(i64::from(is_member));
    Ok(())
}
