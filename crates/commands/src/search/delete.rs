//! FT.DEL: deletes a hash.

use super::declare::resolve_index;
use super::{failure, words};
use crate::prelude::*;
use search::deletes_hashes;
use values::ValueType;

pub(crate) const COMMANDS: &[CommandSpec] = &[DEL];

const DEL: CommandSpec = CommandSpec {
    name: "FT.DEL",
    syntax: "index key [DD]",
    arity: Arity::Between(3, 4),
    keys: &[KeySpec::one(2, "RM DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Deletes a hash of database 0, with DD or without.",
    answer: "int: 1 if there was such a hash, else 0; error: there is no such index",
    run: Run::Local(delete),
};

/// The error of deletions in other databases, which no index has.
pub(super) const OTHER_DATABASE: &str = "Cannot delete from index on db != 0";

fn delete(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    resolve_index(tx, args.get(1)).ok_or(Failure::text("Unknown Index name"))?;
    deletes_hashes(&words(&args.from(3))).map_err(failure)?;
    if tx.database() != 0 {
        return Err(Failure::text(OTHER_DATABASE));
    }
    let key = args.get(2);
    let is_hash = tx.value_type(key) == Some(ValueType::Hash);
    reply.int(i64::from(is_hash && tx.remove(key)));
    Ok(())
}
