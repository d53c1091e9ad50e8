//! TL.MOVE: moves an item of a tagged list.

use super::{fault, insert, view};
use crate::prelude::*;
use values::tagged::By;

pub(crate) const COMMANDS: &[CommandSpec] = &[MOVE];

const MOVE: CommandSpec = CommandSpec {
    name: "TL.MOVE",
    syntax: "key value pos",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Moves the first item with a value, and its attributes, to a position.",
    answer: "int: 1: it is there; 0: there is no such item; error: the list is ordered",
    run: Run::Local(move_item),
};

fn move_item(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, value) = (args.get(1), args.get(2));
    let Some(list) = view::list(tx, key)? else {
        parse::int(args.get(3))?;
        reply.int(0);
        return Ok(());
    };
    let pos = parse::int(args.get(3))?;
    if list.schema().by() != By::Position {
        return Err(fault::is_ordered());
    }
    view::expect_search(tx, &list)?;
    let (found, to) = (list.find(value), insert::position(pos, list.len().saturating_sub(1)));
    drop(list);
    if let Some(from) = found.filter(|from| *from != to) {
        tx.tagged_mut(key, Absent::Leave)?.expect("just seen").move_item(from, to);
    }
    reply.int(i64::from(found.is_some()));
    Ok(())
}
