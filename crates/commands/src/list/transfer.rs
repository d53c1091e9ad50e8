//! LMOVE RPOPLPUSH: pop an element from one list and push it to another, or to the other end of the same.

use super::end;
use super::push::check_room;
use crate::prelude::*;
use blocks::End;
use keyspace::{Classes, ListLike, ListLikeMut};

pub(crate) const COMMANDS: &[CommandSpec] = &[LMOVE, RPOPLPUSH];

const LMOVE: CommandSpec = CommandSpec {
    name: "LMOVE",
    syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::EventsInReverse],
    facts: &[Fact::Arguments(&[argument("2", "wherefrom", "", ""), argument("3", "whereto", "", "")])],
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
    flags: &[Flag::EventsInReverse],
    facts: &[Fact::Deprecated { since: "6.2.0", replaced_by: "`LMOVE` with `RIGHT` and `LEFT`" }],
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

/// Moves an element, or replies null if the source is absent. Each key may be a list or a queue.
pub(super) fn pass(tx: &mut Tx, source: &[u8], target: &[u8], ends: MoveEnds, reply: &mut dyn Reply) -> Outcome {
    let found = tx.list_like(source)?.and_then(|list| {
        let item = list.get_end(ends.from, <[u8]>::to_vec)?;
        Some((item, is_only_item(list), matches!(list, ListLike::Queue(_))))
    });
    let Some((item, is_only, is_queue)) = found else {
        reply.null();
        return Ok(());
    };
    let mut has_queue = is_queue;
    if source != target
        && let Some(list) = tx.list_like(target)?
    {
        check_room(list, &[&item])?;
        has_queue |= matches!(list, ListLike::Queue(_));
    }
    // The target counts twice: if it has expired it is removed first. A queue's record has more fields.
    let fields_bytes = if has_queue { source.len() + 192 } else { 128 };
    tx.need_room((item.len() + source.len() + 2 * target.len() + fields_bytes) as u64)?;
    if source == target && is_only {
        push_back(tx, source, ends, &item, is_queue)?;
    } else {
        tx.list_like_mut(source, Absent::Leave)?.expect("just seen").discard(ends.from, 1);
        tx.list_like_mut(target, Absent::Create)?.expect("is to be made").push(ends.to, &[&item]);
    }
    reply.bulk_owned(item);
    Ok(())
}

/// Returns true if removing one item would remove the key.
fn is_only_item(list: ListLike<'_>) -> bool {
    match list {
        ListLike::List(list) => list.len() == 1,
        ListLike::Queue(queue) => queue.len() == 1,
    }
}

/// Moves the only element of a key to that key again, which is not removed in between: a list keeps its deadline, and a
/// queue its state.
fn push_back(tx: &mut Tx, key: &[u8], ends: MoveEnds, item: &[u8], is_queue: bool) -> Outcome {
    if !is_queue {
        tx.note(key, Classes::LIST, if ends.from == End::Head { "lpop" } else { "rpop" });
    }
    match tx.list_like_mut(key, Absent::Leave)?.expect("just seen") {
        ListLikeMut::List(list) => list.with_event(if ends.to == End::Head { "lpush" } else { "rpush" }).set(0, item),
        ListLikeMut::Queue(mut queue) => {
            queue.push(ends.to, &[item]);
            queue.pop(if ends.to == End::Head { End::Tail } else { End::Head }, 1);
        }
    }
    Ok(())
}
