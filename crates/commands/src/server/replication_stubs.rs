//! REPLICAOF SLAVEOF SYNC PSYNC REPLCONF FAILOVER WAIT WAITAOF: the replies of a server without replicas.

use crate::prelude::*;
use crate::session::Session;
use crate::spec::Verb;

pub(crate) const COMMANDS: &[CommandSpec] = &[FAILOVER, PSYNC, REPLCONF, REPLICAOF, SLAVEOF, SYNC, WAIT, WAITAOF];

const WAIT: CommandSpec = CommandSpec {
    name: "WAIT",
    syntax: "numreplicas timeout",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Waits],
    facts: &[
        Fact::Tips(&["request_policy:all_shards", "response_policy:agg_min"]),
        Fact::Arguments(&[argument("1", "", "integer", "")]),
        Fact::DocsGroup("generic"),
    ],
    group: Group::Connection,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Returns how many replicas have the last write, which is 0.",
    answer: "int: 0",
    run: Run::Session(|_, args, reply| {
        parse::int(args.get(1))?;
        let timeout = "ERR timeout is not an integer or out of range";
        if parse::int_or(args.get(2), i64::MIN, i64::MAX, timeout)? < 0 {
            return Err(Failure::text("ERR timeout is negative"));
        }
        reply.int(0);
        Ok(())
    }),
};

const WAITAOF: CommandSpec = CommandSpec {
    name: "WAITAOF",
    syntax: "numlocal numreplicas timeout",
    arity: Arity::Exactly(4),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Waits],
    facts: &[Fact::DocsGroup("generic")],
    group: Group::Connection,
    cost: "O(1)",
    since: "7.2.0",
    brief: "Waits until the connection's writes are on disk; there are no replicas.",
    answer: "array: 1 if it is on disk, 0 if the time was up before; 0 replicas",
    run: Run::Engine(Verb::WaitDisk),
};

const REPLICAOF: CommandSpec = CommandSpec {
    name: "REPLICAOF",
    syntax: "<host port | NO ONE>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Stale, Flag::NoAsyncLoading],
    facts: &[Fact::Arguments(&[
        argument("0", "args", "", ""),
        argument("0.0", "host-port", "", ""),
        argument("0.1", "no-one", "", ""),
    ])],
    group: Group::Server,
    cost: "O(1)",
    since: "5.0.0",
    brief: "Makes the server a replica; only NO ONE is accepted.",
    answer: "simple: OK, for NO ONE",
    run: Run::Session(replica_of),
};

const SLAVEOF: CommandSpec = CommandSpec {
    name: "SLAVEOF",
    syntax: "<host port | NO ONE>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Stale, Flag::NoAsyncLoading],
    facts: &[
        Fact::Deprecated { since: "5.0.0", replaced_by: "`REPLICAOF`" },
        Fact::Arguments(&[
            argument("0", "args", "", ""),
            argument("0.0", "host-port", "", ""),
            argument("0.1", "no-one", "", ""),
        ]),
    ],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Makes the server a replica; only NO ONE is accepted.",
    answer: "simple: OK, for NO ONE",
    run: Run::Session(replica_of),
};

const SYNC: CommandSpec = CommandSpec {
    name: "SYNC",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoMulti, Flag::NoAsyncLoading],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Starts replication; there is none, so it fails.",
    answer: "error: always",
    run: Run::Session(|_, _, _| Err(no_replication())),
};

const PSYNC: CommandSpec = CommandSpec {
    name: "PSYNC",
    syntax: "replicationid offset",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoMulti, Flag::NoAsyncLoading],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.0",
    brief: "Starts or continues replication; there is none, so it fails.",
    answer: "error: always",
    ..SYNC
};

const REPLCONF: CommandSpec = CommandSpec {
    name: "REPLCONF",
    syntax: "[option value ...]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::AllowBusy, Flag::System],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Configures replication; there is none, so it fails.",
    answer: "error: always",
    ..SYNC
};

const FAILOVER: CommandSpec = CommandSpec {
    name: "FAILOVER",
    syntax: "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Stale],
    facts: &[Fact::Arguments(&[argument("0", "target", "", "")])],
    group: Group::Server,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Hands over to a replica; there are none, so it fails.",
    answer: "error: always",
    run: Run::Session(|_, args, _| {
        let words = args.from(1);
        let is_abort = words.len() == 1 && parse::is(args.get(1), "ABORT");
        let known = |word: &[u8]| ["TO", "FORCE", "ABORT", "TIMEOUT"].iter().any(|name| parse::is(word, name));
        if !words.is_empty() && !(known(args.get(1)) && (is_abort || words.len() > 1)) {
            return Err(Failure::Syntax);
        }
        Err(Failure::text(if is_abort {
            "ERR No failover in progress."
        } else {
            "ERR FAILOVER requires connected replicas."
        }))
    }),
};

fn replica_of(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if parse::is(args.get(1), "NO") && parse::is(args.get(2), "ONE") {
        reply.ok();
        return Ok(());
    }
    parse::int_or(args.get(2), 0, 65_535, "ERR Invalid master port")?;
    Err(no_replication())
}

fn no_replication() -> Failure {
    Failure::text("ERR replication is not supported: this server is always a master")
}
