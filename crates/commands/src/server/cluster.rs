//! CLUSTER ASKING READONLY READWRITE: the replies of a server outside any cluster.

use crate::prelude::*;
use crate::session::Session;

pub(crate) const COMMANDS: &[CommandSpec] = &[
    ASKING,
    READONLY,
    READWRITE,
    part("CLUSTER HELP", "", Arity::Exactly(2), &[Flag::Loading, Flag::Stale], &[], "5.0.0"),
    part("CLUSTER ADDSLOTS", "slot [slot ...]", Arity::AtLeast(3), CHANGES, &[], "3.0.0"),
    part(
        "CLUSTER ADDSLOTSRANGE",
        "start-slot end-slot [start-slot end-slot ...]",
        Arity::AtLeast(4),
        CHANGES,
        &[],
        "7.0.0",
    ),
    part(
        "CLUSTER BUMPEPOCH",
        "",
        Arity::Exactly(2),
        &[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading],
        &[NONDETERMINISTIC],
        "3.0.0",
    ),
    part("CLUSTER COUNT-FAILURE-REPORTS", "node-id", Arity::Exactly(3), MANAGES, VARIES, "3.0.0"),
    part("CLUSTER COUNTKEYSINSLOT", "slot", Arity::Exactly(3), READS, &[], "3.0.0"),
    part("CLUSTER DELSLOTS", "slot [slot ...]", Arity::AtLeast(3), CHANGES, &[], "3.0.0"),
    part(
        "CLUSTER DELSLOTSRANGE",
        "start-slot end-slot [start-slot end-slot ...]",
        Arity::AtLeast(4),
        CHANGES,
        &[],
        "7.0.0",
    ),
    part(
        "CLUSTER FAILOVER",
        "[FORCE | TAKEOVER]",
        Arity::AtLeast(2),
        &[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading],
        &[Fact::Arguments(&[argument("0", "options", "", "")])],
        "3.0.0",
    ),
    part("CLUSTER FLUSHSLOTS", "", Arity::Exactly(2), CHANGES, &[], "3.0.0"),
    part("CLUSTER FORGET", "node-id", Arity::Exactly(3), CHANGES, &[], "3.0.0"),
    part("CLUSTER GETKEYSINSLOT", "slot count", Arity::Exactly(4), READS, VARIES, "3.0.0"),
    part("CLUSTER INFO", "", Arity::Exactly(2), READS, VARIES, "3.0.0"),
    part("CLUSTER KEYSLOT", "key", Arity::Exactly(3), READS, &[], "3.0.0"),
    part("CLUSTER LINKS", "", Arity::Exactly(2), READS, VARIES, "7.0.0"),
    part(
        "CLUSTER MEET",
        "ip port [cluster-bus-port]",
        Arity::AtLeast(4),
        &[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading],
        &[
            Fact::History(&[("4.0.0", "Takes the port of the cluster's bus.")]),
            Fact::Arguments(&[argument("2", "cluster_bus_port", "", "4.0.0")]),
        ],
        "3.0.0",
    ),
    part("CLUSTER MYID", "", Arity::Exactly(2), READS, &[], "3.0.0"),
    part("CLUSTER MYSHARDID", "", Arity::Exactly(2), READS, &[], "7.2.0"),
    part("CLUSTER NODES", "", Arity::Exactly(2), READS, VARIES, "3.0.0"),
    part("CLUSTER REPLICAS", "node-id", Arity::Exactly(3), MANAGES, VARIES, "5.0.0"),
    part("CLUSTER REPLICATE", "node-id", Arity::Exactly(3), CHANGES, &[], "3.0.0"),
    part("CLUSTER RESET", "[HARD | SOFT]", Arity::AtLeast(2), RESETS, &[], "3.0.0"),
    part("CLUSTER SAVECONFIG", "", Arity::Exactly(2), CHANGES, &[], "3.0.0"),
    part("CLUSTER SET-CONFIG-EPOCH", "config-epoch", Arity::Exactly(3), CHANGES, &[], "3.0.0"),
    part(
        "CLUSTER SETSLOT",
        "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>",
        Arity::AtLeast(4),
        &[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading],
        &[Fact::Arguments(&[argument("1", "subcommand", "", "")])],
        "3.0.0",
    ),
    part("CLUSTER SHARDS", "", Arity::Exactly(2), READS, VARIES, "7.0.0"),
    part(
        "CLUSTER SLAVES",
        "node-id",
        Arity::Exactly(3),
        &[Flag::Admin, Flag::Stale],
        &[NONDETERMINISTIC, Fact::Deprecated { since: "5.0.0", replaced_by: "`CLUSTER REPLICAS`" }],
        "3.0.0",
    ),
    part(
        "CLUSTER SLOT-STATS",
        "<SLOTSRANGE start-slot end-slot | ORDERBY metric [LIMIT limit] [ASC | DESC]>",
        Arity::AtLeast(4),
        SLOT_STATS,
        &[],
        "8.2.0",
    ),
    part(
        "CLUSTER SLOTS",
        "",
        Arity::Exactly(2),
        &[Flag::Stale],
        &[
            NONDETERMINISTIC,
            Fact::History(&[("4.0.0", "Shows the ids of nodes."), ("7.0.0", "Shows further facts of the network.")]),
            Fact::Deprecated { since: "7.0.0", replaced_by: "`CLUSTER SHARDS`" },
        ],
        "3.0.0",
    ),
];

const NONDETERMINISTIC: Fact = Fact::Tips(&["nondeterministic_output"]);
const VARIES: &[Fact] = &[NONDETERMINISTIC];
const READS: &[Flag] = &[Flag::Stale];
const SLOT_STATS: &[Flag] = &[Flag::Loading, Flag::Stale];
const MANAGES: &[Flag] = &[Flag::Admin, Flag::Stale];
const CHANGES: &[Flag] = &[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading];
const RESETS: &[Flag] = &[Flag::Admin, Flag::NoScript, Flag::Stale];

/// Returns a subcommand: all reply alike.
const fn part(
    name: &'static str,
    syntax: &'static str,
    arity: Arity,
    flags: &'static [Flag],
    facts: &'static [Fact],
    since: &'static str,
) -> CommandSpec {
    CommandSpec {
        name,
        syntax,
        arity,
        keys: &[],
        access: Access::None,
        flags,
        facts,
        group: Group::Cluster,
        cost: "O(1)",
        since,
        brief: "Manages a cluster; there is none, so most of its commands fail.",
        answer: "error: always",
        run: Run::Session(no_cluster),
    }
}

const ASKING: CommandSpec = CommandSpec {
    name: "ASKING",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Fast, Flag::ConnectionCategory],
    facts: &[],
    group: Group::Cluster,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Announces a redirected cluster command; there is no cluster.",
    answer: "error: always",
    run: Run::Session(no_cluster),
};

const READONLY: CommandSpec = CommandSpec {
    name: "READONLY",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast, Flag::ConnectionCategory],
    facts: &[],
    group: Group::Cluster,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Allows reads of a cluster's replica; there is no cluster.",
    answer: "error: always",
    run: Run::Session(no_cluster),
};

const READWRITE: CommandSpec = CommandSpec {
    name: "READWRITE",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast, Flag::ConnectionCategory],
    facts: &[],
    group: Group::Cluster,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Ends READONLY; there is no cluster.",
    answer: "error: always",
    run: Run::Session(no_cluster),
};

fn no_cluster(_: &mut dyn Session, _: &Args, _: &mut dyn Reply) -> Outcome {
    Err(Failure::text("ERR This instance has cluster support disabled"))
}
