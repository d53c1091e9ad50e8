//! GEOADD: adds members at coordinates.

use super::argument;
use crate::prelude::*;
use crate::sorted::add::{Conditions, put};
use values::geo::{Cell, STEPS_MAX};

pub(crate) const COMMANDS: &[CommandSpec] = &[GEOADD];

const GEOADD: CommandSpec = CommandSpec {
    name: "GEOADD",
    syntax: "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::History(&[("6.2.0", "Takes `CH`, `NX` and `XX`.")]),
        Fact::Arguments(&[argument("1", "condition", "", "6.2.0"), argument("2", "change", "", "6.2.0")]),
    ],
    group: Group::Geo,
    cost: "O(m*log(n)), m the members given, n those of the sorted set",
    since: "3.2.0",
    brief: "Adds members with coordinates, creating the sorted set if absent.",
    answer: "int: members added, with CH moved ones too",
    run: Run::Local(add),
};

fn add(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (mut conditions, mut counts_changed) = (Conditions::default(), false);
    let mut at = 2;
    while at < args.len() {
        let word = args.get(at);
        match () {
            () if parse::is(word, "NX") => conditions.only_new = true,
            () if parse::is(word, "XX") => conditions.only_there = true,
            () if parse::is(word, "CH") => counts_changed = true,
            () => break,
        }
        at += 1;
    }
    let given = args.len() - at;
    if given == 0 || !given.is_multiple_of(3) || (conditions.only_new && conditions.only_there) {
        return Err(Failure::Syntax);
    }
    let mut members = Vec::with_capacity(given / 3);
    for at in (at..args.len()).step_by(3) {
        let cell = Cell::of(argument::place(args, at)?, STEPS_MAX);
        members.push((cell.score(), args.get(at + 2)));
    }
    let (added, changed) = put(tx, args.get(1), &members, conditions)?;
    reply.int(if counts_changed { added + changed } else { added });
    Ok(())
}
