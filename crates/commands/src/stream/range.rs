//! XLEN XRANGE XREVRANGE: read a stream by id.

use super::id;
use super::reply::{self, StreamPart};
use crate::prelude::*;
use blocks::Direction;
use values::Stream;

pub(crate) const COMMANDS: &[CommandSpec] = &[XLEN, XRANGE, XREVRANGE];

const XRANGE: CommandSpec = CommandSpec {
    name: "XRANGE",
    syntax: "key start end [COUNT count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("6.2.0", "Ends of the range may be exclusive.")]),
        Fact::Arguments(&[argument("1", "", "string", ""), argument("2", "", "string", "")]),
    ],
    group: Group::Stream,
    cost: "O(log(n)+m), n the entries of the stream, m those told",
    since: "5.0.0",
    brief: "Returns the entries between two ids, included unless after `(`.",
    answer: "array: entries, each an id and an array of fields and values",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Direction::Forward)),
};

const XREVRANGE: CommandSpec = CommandSpec {
    name: "XREVRANGE",
    syntax: "key end start [COUNT count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("6.2.0", "Ends of the range may be exclusive.")]),
        Fact::Arguments(&[argument("1", "", "string", ""), argument("2", "", "string", "")]),
    ],
    group: Group::Stream,
    cost: "O(log(n)+m), n the entries of the stream, m those told",
    since: "5.0.0",
    brief: "Returns the entries between two ids, the newest first.",
    answer: "array: entries, each an id and an array of fields and values",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Direction::Backward)),
};

const XLEN: CommandSpec = CommandSpec {
    name: "XLEN",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Stream,
    cost: "O(1)",
    since: "5.0.0",
    brief: "Returns the number of entries of a stream.",
    answer: "int: entries; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let len = tx.value::<Stream>(args.get(1))?.map_or(0, Stream::len);
        reply.int(len as i64);
        Ok(())
    }),
};

fn range(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, direction: Direction) -> Outcome {
    let (first, second) = (args.get(2), args.get(3));
    let (start, end) = if direction == Direction::Forward { (first, second) } else { (second, first) };
    let (from, to) = (id::start(start)?, id::end(end)?);
    let mut most = None;
    let mut words = args.from(4).iter();
    while let Some(word) = words.next() {
        let count = words.next().filter(|_| parse::is(word, "COUNT")).ok_or(Failure::Syntax)?;
        most = Some(parse::int(count)?.max(0) as u64);
    }
    let keyspace = tx.keyspace();
    let Some(stream) = tx.value::<Stream>(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    if most == Some(0) {
        reply.null_array();
        return Ok(());
    }
    let part = StreamPart { from, to, most: most.unwrap_or(u64::MAX), direction };
    reply::write_part(reply, stream, part, || keyspace.pin(args.get(1)));
    Ok(())
}
