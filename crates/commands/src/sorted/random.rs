//! ZRANDMEMBER: random members.

use super::reply::MemberFormat;
use crate::draw::{Drawable, RandomDraw};
use crate::prelude::*;
use base::random::Random;
use values::Sorted;

pub(crate) const COMMANDS: &[CommandSpec] = &[ZRANDMEMBER];

const ZRANDMEMBER: CommandSpec = CommandSpec {
    name: "ZRANDMEMBER",
    syntax: "key [count [WITHSCORES]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"]), Fact::Arguments(&[argument("1", "options", "", "")])],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members drawn, n those of the sorted set",
    since: "6.2.0",
    brief: "Returns one or several random members of a sorted set.",
    answer: "bulk: a member, null: the key is absent; with a count array: members, as asked for beside their scores",
    run: Run::Local(random),
};

fn random(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut random = Random::new(tx.random());
    if args.len() == 2 {
        match tx.sorted(args.get(1))? {
            Some(sorted) => {
                sorted.get(random.below(sorted.len()), |_, member| reply.bulk(member));
            }
            None => reply.null(),
        }
        return Ok(());
    }
    let count = parse::int_within(args.get(2), -i64::MAX, i64::MAX)?;
    let form = match args.len() {
        3 => MemberFormat::Member,
        4 if parse::is(args.get(3), "WITHSCORES") => MemberFormat::Scored,
        _ => return Err(Failure::Syntax),
    };
    if form == MemberFormat::Scored && count.unsigned_abs() > (i64::MAX / 2) as u64 {
        return Err(Failure::text("ERR value is out of range"));
    }
    let keyspace = tx.keyspace();
    let Some(sorted) = tx.sorted(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let draw = RandomDraw::of(Ranks { sorted: sorted.clone(), form }, count, random);
    form.begin(reply, draw.left());
    draw.write(reply, || keyspace.pin(args.get(1)));
    Ok(())
}

/// The members of a sorted set, by rank.
struct Ranks {
    sorted: Sorted,
    form: MemberFormat,
}

impl Drawable for Ranks {
    fn places(&self) -> u64 {
        self.sorted.len()
    }

    fn write(&self, place: u64, reply: &mut dyn Reply) -> usize {
        let bytes = self.sorted.get(place, |score, member| {
            self.form.write(reply, score, member);
            member.len()
        });
        bytes.expect("a rank within")
    }

    fn heap_bytes(&self) -> u64 {
        self.sorted.heap_bytes()
    }
}
