//! HSET HMSET HSETNX: set fields.

use crate::prelude::*;
use keyspace::FieldExpiry;
use smallvec::SmallVec;

pub(crate) const COMMANDS: &[CommandSpec] = &[HSET, HMSET, HSETNX];

const HSET: CommandSpec = CommandSpec {
    name: "HSET",
    syntax: "key field value [field value ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("4.0.0", "Takes several fields and values.")])],
    group: Group::Hash,
    cost: "O(n), n the fields put",
    since: "2.0.0",
    brief: "Sets fields of a hash, creating the hash if absent.",
    answer: "int: how many of the fields are new",
    run: Run::Local(|tx, args, reply| {
        let new_count = set(tx, args)?;
        reply.int(new_count as i64);
        Ok(())
    }),
};

const HMSET: CommandSpec = CommandSpec {
    name: "HMSET",
    syntax: "key field value [field value ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Deprecated { since: "4.0.0", replaced_by: "`HSET` with several fields" }],
    group: Group::Hash,
    cost: "O(n), n the fields put",
    since: "2.0.0",
    brief: "Sets fields of a hash, as HSET does.",
    answer: "simple: OK",
    run: Run::Local(|tx, args, reply| {
        set(tx, args)?;
        reply.ok();
        Ok(())
    }),
};

const HSETNX: CommandSpec = CommandSpec {
    name: "HSETNX",
    syntax: "key field value",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Sets a field of a hash unless it exists.",
    answer: "int: 1 if it was put, 0 if the field was there",
    run: Run::Local(|tx, args, reply| {
        let (now, field) = (tx.now(), args.get(2));
        let mut hash = tx.hash_mut(args.get(1), Absent::Create)?.expect("is to be made");
        let there = hash.hash().is_some_and(|hash| hash.get(field, now, |_| ()).is_some());
        if !there {
            hash.put(&[field, args.get(3)], FieldExpiry::Clear)?;
        }
        reply.int(i64::from(!there));
        Ok(())
    }),
};

/// Sets the pairs from argument 2 on. Returns how many fields are new.
fn set(tx: &mut Tx, args: &Args) -> Result<u64, Failure> {
    if !args.len().is_multiple_of(2) {
        return Err(Failure::arity(args));
    }
    let pairs: SmallVec<[&[u8]; 8]> = args.from(2).iter().collect();
    let mut hash = tx.hash_mut(args.get(1), Absent::Create)?.expect("is to be made");
    Ok(hash.put(&pairs, FieldExpiry::Clear)?)
}
