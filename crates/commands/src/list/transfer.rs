//! LMOVE RPOPLPUSH: pop an element from one list and push it to another, or to the other end of the same.

use super::end;
use crate::prelude::*;
use crate::queue::as_list;
use blocks::End;
use keyspace::Classes;

pub(crate) const COMMANDS: &[CommandSpec] = &[LMOVE, RPOPLPUSH];

const LMOVE: CommandSpec = CommandSpec {
    name: "LMOVE",
    syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[
        Flag::Arguments(&[argument("2", "wherefrom", "", ""), argument("3", "whereto", "", "")]),
        Flag::EventsInReverse,
    ],
    group: Group::List,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Moves an element from one end of a list to an end of another.",
    answer: "bulk: the element; null: the source is absent",
    run: Run::Local(|tx, args, reply| {
        let ends = MoveEnds { from: end(args.get(3))?, to: end(args.get(4))? };
        pass(tx, args.get(1), args.get(2), ends, reply)
    }),
};

const RPOPLPUSH: CommandSpec = CommandSpec {
    name: "RPOPLPUSH",
    syntax: "source destination",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[
        Flag::Deprecated { since: "6.2.0", replaced_by: "`LMOVE` with `RIGHT` and `LEFT`" },
        Flag::EventsInReverse,
    ],
    group: Group::List,
    cost: "O(1)",
    since: "1.2.0",
    brief: "Moves the last element of a list to the head of another.",
    answer: "bulk: the element; null: the source is absent",
    run: Run::Local(|tx, args, reply| pass(tx, args.get(1), args.get(2), MoveEnds::TAIL_TO_HEAD, reply)),
};

/// The end popped from, and the end pushed to.
#[derive(Clone, Copy)]
pub(crate) struct MoveEnds {
    pub(crate) from: End,
    pub(crate) to: End,
}

impl MoveEnds {
    pub(super) const TAIL_TO_HEAD: Self = Self { from: End::Tail, to: End::Head };
}

/// Moves an element, or replies null if the source is absent.
pub(super) fn pass(tx: &mut Tx, source: &[u8], target: &[u8], ends: MoveEnds, reply: &mut dyn Reply) -> Outcome {
    let list = match tx.list(source) {
        Ok(Some(list)) => list,
        Ok(None) => {
            reply.null();
            return Ok(());
        }
        Err(_) => {
            as_list::expect_queue(tx, source)?;
            return as_list::pass(tx, source, target, ends, reply);
        }
    };
    let len = list.len();
    let index = if ends.from == End::Head { 0 } else { len - 1 };
    let item = list.get(index, <[u8]>::to_vec).expect("a list in a table is not empty");
    if tx.list(target).is_err() {
        as_list::expect_queue(tx, target)?;
        return as_list::pass(tx, source, target, ends, reply);
    }
    // The target counts twice: if it has expired it is removed first.
    tx.need_room((item.len() + source.len() + 2 * target.len() + 128) as u64)?;
    if source != target || len > 1 {
        tx.list_mut(source, Absent::Leave)?.expect("just seen").discard(ends.from, 1);
        tx.list_mut(target, Absent::Create)?.expect("is to be made").push(ends.to, &[&item]);
    } else {
        // Back to where it was: a one-element list keeps its deadline.
        tx.note(source, Classes::LIST, if ends.from == End::Head { "lpop" } else { "rpop" });
        let list = tx.list_mut(source, Absent::Leave)?.expect("just seen");
        list.told_as(if ends.to == End::Head { "lpush" } else { "rpush" }).set(0, &item);
    }
    reply.bulk_owned(item);
    Ok(())
}
