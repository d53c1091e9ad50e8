//! FT.ALIASADD FT.ALIASUPDATE FT.ALIASDEL: other names of indexes.

use super::declare::INDEXES_MAX;
use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[ALIASADD, ALIASUPDATE, ALIASDEL];

const ALIASADD: CommandSpec = CommandSpec {
    name: "FT.ALIASADD",
    syntax: "alias index",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n log n), n the aliases",
    since: "1.0.0",
    brief: "Gives an index another name.",
    answer: "simple: OK; error: the name is taken, or there is no such index",
    run: Run::Local(|tx, args, reply| {
        if tx.index_alias(args.get(1)).is_some() {
            target(tx, args)?;
            return Err(Failure::text("Alias already exists"));
        }
        set_alias(tx, args, reply)
    }),
};

const ALIASUPDATE: CommandSpec = CommandSpec {
    name: "FT.ALIASUPDATE",
    syntax: "alias index",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n log n), n the aliases",
    since: "1.0.0",
    brief: "Gives an index another name, and takes it from the one that had it.",
    answer: "simple: OK; error: the name is taken, or there is no such index",
    run: Run::Local(set_alias),
};

const ALIASDEL: CommandSpec = CommandSpec {
    name: "FT.ALIASDEL",
    syntax: "alias",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Removes another name of an index.",
    answer: "simple: OK; error: there is no such alias",
    run: Run::Local(|tx, args, reply| {
        if !tx.remove_index_alias(args.get(1))? {
            let is_index = tx.index(args.get(1)).is_some();
            let text = if is_index { "Alias does not belong to provided spec" } else { "Alias does not exist" };
            return Err(Failure::text(text));
        }
        reply.ok();
        Ok(())
    }),
};

/// Returns the name of the index that gets a name.
fn target<'a>(tx: &mut Tx, args: &Args<'a>) -> Result<&'a [u8], Failure> {
    let index = args.get(2);
    let text = "Unknown index name (or name is an alias itself)";
    if tx.index(index).is_some() { Ok(index) } else { Err(Failure::text(text)) }
}

fn set_alias(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (alias, index) = (args.get(1), target(tx, args)?);
    if tx.index(alias).is_some() {
        return Err(Failure::text("Alias conflicts with an existing index name"));
    }
    if tx.index_alias(alias).is_none() && tx.index_declarations().aliases.len() >= INDEXES_MAX {
        return Err(Failure::text(format!("ERR there are {INDEXES_MAX} aliases already, FT.ALIASDEL one first")));
    }
    tx.put_index_alias(alias, index)?;
    reply.ok();
    Ok(())
}
