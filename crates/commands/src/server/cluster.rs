//! CLUSTER ASKING READONLY READWRITE: the replies of a server outside any cluster.

use crate::prelude::*;
use crate::session::Session;

pub(crate) const COMMANDS: &[CommandSpec] = &[
    ASKING,
    READONLY,
    READWRITE,
    part("CLUSTER HELP", "", Arity::Exactly(2), &[Flag::Loading, Flag::Stale], "5.0.0"),
    part("CLUSTER ADDSLOTS", "slot [slot ...]", Arity::AtLeast(3), MANAGES, "3.0.0"),
    part("CLUSTER ADDSLOTSRANGE", "start-slot end-slot [start-slot end-slot ...]", Arity::AtLeast(4), MANAGES, "7.0.0"),
    part("CLUSTER BUMPEPOCH", "", Arity::Exactly(2), MANAGES, "3.0.0"),
    part("CLUSTER COUNT-FAILURE-REPORTS", "node-id", Arity::Exactly(3), MANAGES, "3.0.0"),
    part("CLUSTER COUNTKEYSINSLOT", "slot", Arity::Exactly(3), TELLS, "3.0.0"),
    part("CLUSTER DELSLOTS", "slot [slot ...]", Arity::AtLeast(3), MANAGES, "3.0.0"),
    part("CLUSTER DELSLOTSRANGE", "start-slot end-slot [start-slot end-slot ...]", Arity::AtLeast(4), MANAGES, "7.0.0"),
    part("CLUSTER FAILOVER", "[FORCE | TAKEOVER]", Arity::AtLeast(2), MANAGES, "3.0.0"),
    part("CLUSTER FLUSHSLOTS", "", Arity::Exactly(2), MANAGES, "3.0.0"),
    part("CLUSTER FORGET", "node-id", Arity::Exactly(3), MANAGES, "3.0.0"),
    part("CLUSTER GETKEYSINSLOT", "slot count", Arity::Exactly(4), TELLS, "3.0.0"),
    part("CLUSTER INFO", "", Arity::Exactly(2), TELLS, "3.0.0"),
    part("CLUSTER KEYSLOT", "key", Arity::Exactly(3), TELLS, "3.0.0"),
    part("CLUSTER LINKS", "", Arity::Exactly(2), TELLS, "7.0.0"),
    part("CLUSTER MEET", "ip port [cluster-bus-port]", Arity::AtLeast(4), MANAGES, "3.0.0"),
    part("CLUSTER MYID", "", Arity::Exactly(2), TELLS, "3.0.0"),
    part("CLUSTER MYSHARDID", "", Arity::Exactly(2), TELLS, "7.2.0"),
    part("CLUSTER NODES", "", Arity::Exactly(2), TELLS, "3.0.0"),
    part("CLUSTER REPLICAS", "node-id", Arity::Exactly(3), MANAGES, "5.0.0"),
    part("CLUSTER REPLICATE", "node-id", Arity::Exactly(3), MANAGES, "3.0.0"),
    part("CLUSTER RESET", "[HARD | SOFT]", Arity::AtLeast(2), RESETS, "3.0.0"),
    part("CLUSTER SAVECONFIG", "", Arity::Exactly(2), MANAGES, "3.0.0"),
    part("CLUSTER SET-CONFIG-EPOCH", "config-epoch", Arity::Exactly(3), MANAGES, "3.0.0"),
    part(
        "CLUSTER SETSLOT",
        "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>",
        Arity::AtLeast(4),
        MANAGES,
        "3.0.0",
    ),
    part("CLUSTER SHARDS", "", Arity::Exactly(2), TELLS, "7.0.0"),
    part("CLUSTER SLAVES", "node-id", Arity::Exactly(3), MANAGES, "3.0.0"),
    part(
        "CLUSTER SLOT-STATS",
        "<SLOTSRANGE start-slot end-slot | ORDERBY metric [LIMIT limit] [ASC | DESC]>",
        Arity::AtLeast(4),
        SLOT_STATS,
        "8.2.0",
    ),
    part("CLUSTER SLOTS", "", Arity::Exactly(2), TELLS, "3.0.0"),
];

const TELLS: &[Flag] = &[Flag::Stale];
const SLOT_STATS: &[Flag] = &[Flag::Loading, Flag::Stale];
const MANAGES: &[Flag] = &[Flag::Admin, Flag::Stale];
const RESETS: &[Flag] = &[Flag::Admin, Flag::NoScript, Flag::Stale];

/// Returns a subcommand: all reply alike.
const fn part(
    name: &'static str,
    syntax: &'static str,
    arity: Arity,
    flags: &'static [Flag],
    since: &'static str,
) -> CommandSpec {
    CommandSpec {
        name,
        syntax,
        arity,
        flags,
        group: Group::Server,
        since,
        brief: "Manages a cluster; there is none, so most of its commands fail.",
        ..ASKING
    }
}

const ASKING: CommandSpec = CommandSpec {
    name: "ASKING",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Fast],
    group: Group::Connection,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Announces a redirected cluster command; there is no cluster.",
    answer: "error: always",
    run: Run::Session(no_cluster),
};

const READONLY: CommandSpec = CommandSpec {
    name: "READONLY",
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast],
    brief: "Allows reads of a cluster's replica; there is no cluster.",
    ..ASKING
};

const READWRITE: CommandSpec =
    CommandSpec { name: "READWRITE", brief: "Ends READONLY; there is no cluster.", ..READONLY };

fn no_cluster(_: &mut dyn Session, _: &Args, _: &mut dyn Reply) -> Outcome {
    Err(Failure::text("ERR This instance has cluster support disabled"))
}
