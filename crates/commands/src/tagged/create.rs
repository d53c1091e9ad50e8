//! TL.CREATE: creates a tagged list that exists without items.

use super::{fault, view};
use crate::prelude::*;
use values::Tagged;

pub(crate) const COMMANDS: &[CommandSpec] = &[CREATE];

const CREATE: CommandSpec = CommandSpec {
    name: "TL.CREATE",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Creates an empty tagged list, which stays when its last item goes.",
    answer: "int: 1: it is made; 0: it is there, and stays from now on; error: there is no schema",
    run: Run::Local(create),
};

fn create(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    tx.value::<Tagged>(key)?;
    let (schema, is_made, is_lasting) = match view::list(tx, key)? {
        Some(list) => ((**list.schema()).clone(), false, list.is_lasting()),
        None => (tx.schema_of(key).ok_or_else(fault::no_schema)?, true, false),
    };
    if !is_lasting {
        tx.tagged_mut(key, Absent::Create)?.expect("it is made").keep(&schema)?;
    }
    reply.int(i64::from(is_made));
    Ok(())
}
