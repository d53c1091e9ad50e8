//! RENAME RENAMENX COPY MOVE: copy or move a value to another key or database.
//!
//! An effect names one key, so a moved value is put whole and then removed from its source.

use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[RENAME, RENAMENX, COPY, MOVE];

const RENAME: CommandSpec = CommandSpec {
    name: "RENAME",
    syntax: "key newkey",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::EventsInReverse, Flag::RemovesBeforeStoring],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "del", events: &[(Classes::GENERIC, "rename_from")] },
        EventRule { instead_of: "restore", events: &[(Classes::GENERIC, "rename_to")] },
    ])],
    group: Group::Generic,
    cost: "O(n), n the bytes of the value",
    since: "1.0.0",
    brief: "Renames a key, replacing whatever has the new name.",
    answer: "simple: OK",
    run: Run::Local(|tx, args, reply| {
        let (key, new_key) = (args.get(1), args.get(2));
        if !tx.exists(key) {
            return Err(Failure::NoSuchKey);
        }
        if key != new_key {
            put_over(tx, tx.database(), key, new_key)?;
            tx.remove(key);
        }
        reply.ok();
        Ok(())
    }),
};

const RENAMENX: CommandSpec = CommandSpec {
    name: "RENAMENX",
    syntax: "key newkey",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "OW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::EventsInReverse, Flag::RemovesBeforeStoring],
    facts: &[
        Fact::History(&[("3.2.0", "Two equal names are no error.")]),
        Fact::Events(&[
            EventRule { instead_of: "del", events: &[(Classes::GENERIC, "rename_from")] },
            EventRule { instead_of: "restore", events: &[(Classes::GENERIC, "rename_to")] },
        ]),
    ],
    group: Group::Generic,
    cost: "O(n), n the bytes of the value",
    since: "1.0.0",
    brief: "Renames a key unless the new name is taken.",
    answer: "int: 1 if it was renamed, 0 if the new name is taken",
    run: Run::Local(|tx, args, reply| {
        let (key, new_key) = (args.get(1), args.get(2));
        if !tx.exists(key) {
            return Err(Failure::NoSuchKey);
        }
        let free = !tx.exists(new_key);
        if free {
            put_over(tx, tx.database(), key, new_key)?;
            tx.remove(key);
        }
        reply.int(i64::from(free));
        Ok(())
    }),
};

const COPY: CommandSpec = CommandSpec {
    name: "COPY",
    syntax: "source destination [DB destination-db] [REPLACE]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS"), KeySpec::one(2, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::RemovesBeforeStoring],
    facts: &[Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::GENERIC, "copy_to")] }])],
    group: Group::Generic,
    cost: "O(n), n the bytes of the value",
    since: "6.2.0",
    brief: "Copies the value and deadline of a key to another key.",
    answer: "int: 1 if it was copied, 0 if the source is absent or the destination is taken",
    run: Run::Local(copy),
};

const MOVE: CommandSpec = CommandSpec {
    name: "MOVE",
    syntax: "key db",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::EventsInReverse, Flag::RemovesBeforeStoring],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "del", events: &[(Classes::GENERIC, "move_from")] },
        EventRule { instead_of: "restore", events: &[(Classes::GENERIC, "move_to")] },
    ])],
    group: Group::Generic,
    cost: "O(n), n the bytes of the value",
    since: "1.0.0",
    brief: "Moves a key to another database.",
    answer: "int: 1 if it was moved, 0 if it is absent here or present there",
    run: Run::Local(|tx, args, reply| {
        let key = args.get(1);
        let database = parse::database(args.get(2), tx.keyspace().map().databases())?;
        if database == tx.database() {
            return Err(same());
        }
        let moves = tx.exists(key) && !exists_in(tx, database, key);
        if moves {
            put_over(tx, database, key, key)?;
            tx.remove(key);
        }
        reply.int(i64::from(moves));
        Ok(())
    }),
};

fn copy(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, new_key) = (args.get(1), args.get(2));
    let (mut database, mut replace) = (tx.database(), false);
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        if parse::is(word, "REPLACE") {
            replace = true;
        } else if parse::is(word, "DB") {
            let number = words.next().ok_or(Failure::Syntax)?;
            database = parse::database(number, tx.keyspace().map().databases())?;
        } else {
            return Err(Failure::Syntax);
        }
    }
    if database == tx.database() && key == new_key {
        return Err(same());
    }
    let copies = tx.exists(key) && (replace || !exists_in(tx, database, new_key));
    if copies {
        put_over(tx, database, key, new_key)?;
    }
    reply.int(i64::from(copies));
    Ok(())
}

/// Stores the value of `key`, which exists, under `new_key` of `database`.
fn put_over(tx: &mut Tx, database: u32, key: &[u8], new_key: &[u8]) -> Outcome {
    let whole = tx.whole(key).expect("the caller has looked");
    // The removal after it must fit too.
    tx.need_room(whole.effect_bytes_max() + (key.len() + new_key.len()) as u64 + 64)?;
    Ok(tx.put_whole(database, new_key, &whole)?)
}

fn exists_in(tx: &mut Tx, database: u32, key: &[u8]) -> bool {
    let here = tx.database();
    tx.use_database(database);
    let there = tx.exists(key);
    tx.use_database(here);
    there
}

fn same() -> Failure {
    Failure::text("ERR source and destination objects are the same")
}
