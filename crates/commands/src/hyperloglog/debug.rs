//! PFDEBUG PFSELFTEST: the internals of a HyperLogLog.

use super::{corrupt, read, write};
use crate::prelude::*;
use values::hyperloglog::{Encoding, HyperLogLog, Mark};

pub(crate) const COMMANDS: &[CommandSpec] = &[PFDEBUG, PFSELFTEST];

const PFDEBUG: CommandSpec = CommandSpec {
    name: "PFDEBUG",
    syntax: "<GETREG | DECODE | ENCODING | TODENSE> key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RW ACCESS")],
    access: Access::Write { grows: true },
    flags: &[Flag::Admin, Flag::System],
    facts: &[Fact::Arguments(&[argument("0", "subcommand", "", "")])],
    group: Group::HyperLogLog,
    cost: "O(1)",
    since: "2.8.9",
    brief: "Returns how a HyperLogLog is encoded, or converts it to dense.",
    answer: "GETREG: array of ints; DECODE: bulk; ENCODING: simple; TODENSE: int, 1 if it was sparse",
    run: Run::Local(pfdebug),
};

const PFSELFTEST: CommandSpec = CommandSpec {
    name: "PFSELFTEST",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::System],
    facts: &[],
    group: Group::HyperLogLog,
    cost: "O(1)",
    since: "2.8.9",
    brief: "Compares HyperLogLogs of both encodings after the same elements.",
    answer: "simple: OK",
    run: Run::Session(|_, _, reply| selftest(reply)),
};

fn pfdebug(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (word, key) = (args.get(1), args.get(2));
    let before = read(tx, key)?.ok_or(Failure::text("ERR The specified key does not exist"))?;
    let make_dense = |tx: &mut Tx| {
        let mut after = before.clone();
        after.make_dense().map_err(corrupt)?;
        write(tx, key, Some(&before), &after)
    };
    if parse::is(word, "GETREG") {
        let registers = before.to_registers().map_err(corrupt)?;
        make_dense(tx)?;
        reply.array(registers.as_slice().len());
        registers.as_slice().iter().for_each(|register| reply.int(i64::from(*register)));
    } else if parse::is(word, "DECODE") {
        let runs = before.describe().ok_or(Failure::text("ERR HLL encoding is not sparse"))?;
        reply.bulk(runs.as_bytes());
    } else if parse::is(word, "ENCODING") {
        reply.simple(if before.encoding() == Encoding::Dense { "dense" } else { "sparse" });
    } else if parse::is(word, "TODENSE") {
        make_dense(tx)?;
        reply.int(i64::from(before.encoding() == Encoding::Sparse));
    } else {
        return Err(Failure::text(format!("ERR Unknown PFDEBUG subcommand '{}'", parse::repeated(word))));
    }
    Ok(())
}

/// The number of elements in the self-test.
const TESTED: u64 = 2_000;

fn selftest(reply: &mut dyn Reply) -> Outcome {
    let failed = |what: &str| Failure::text(format!("ERR TESTFAILED {what}"));
    let (mut sparse, mut dense) = (HyperLogLog::new(), HyperLogLog::new());
    dense.make_dense().map_err(corrupt)?;
    for number in 0..TESTED {
        let mark = Mark::of(&number.to_le_bytes());
        let raised = [&mut sparse, &mut dense].map(|one| one.add(mark, u64::MAX).map_err(corrupt));
        if raised[0] != raised[1] {
            return Err(failed("the two encodings disagree about an element"));
        }
    }
    let counts = [&sparse, &dense].map(|one| one.count().map_err(corrupt));
    let [Ok(one), Ok(other)] = counts else { return Err(failed("registers that were just written are corrupt")) };
    if one != other || one.abs_diff(TESTED) > TESTED / 20 {
        return Err(failed(&format!("{TESTED} elements were estimated as {one} and {other}")));
    }
    reply.ok();
    Ok(())
}
