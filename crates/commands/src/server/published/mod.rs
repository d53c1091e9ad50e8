//! Facts that Redis publishes about its commands and clients read, though they mean nothing to this server: cluster
//! tips, the flag `no_async_loading`, documentation groups, notes on key specs, argument names, and changes by version.

pub(super) mod arguments;
pub(super) mod history;

use crate::spec::CommandSpec;

/// Tips and their commands; <https://redis.io/docs/latest/develop/reference/command-tips/> explains them.
const TIPS: &[(&[&str], &[&str])] = &[
    (&["nondeterministic_output"], NONDETERMINISTIC),
    (&["nondeterministic_output_order"], IN_ANY_ORDER),
    (
        &["request_policy:all_nodes", "response_policy:all_succeeded"],
        &["CONFIG SET", "LATENCY RESET", "SCRIPT FLUSH", "SCRIPT LOAD", "SLOWLOG RESET"],
    ),
    (
        &["request_policy:all_shards", "response_policy:all_succeeded"],
        &[
            "FLUSHALL",
            "FLUSHDB",
            "FUNCTION DELETE",
            "FUNCTION FLUSH",
            "FUNCTION LOAD",
            "FUNCTION RESTORE",
            "MEMORY PURGE",
            "PING",
        ],
    ),
    (&["request_policy:all_shards", "response_policy:one_succeeded"], &["FUNCTION KILL", "SCRIPT KILL"]),
    (&["request_policy:all_shards", "response_policy:agg_sum"], &["DBSIZE"]),
    (&["request_policy:all_shards", "response_policy:agg_min"], &["WAIT"]),
    (&["request_policy:all_shards", "response_policy:agg_logical_and"], &["SCRIPT EXISTS"]),
    (&["request_policy:multi_shard", "response_policy:agg_sum"], &["DEL", "EXISTS", "TOUCH", "UNLINK"]),
    (&["request_policy:multi_shard"], &["MGET"]),
    (&["request_policy:multi_shard", "response_policy:all_succeeded"], &["MSET"]),
    (&["request_policy:multi_shard", "response_policy:agg_min"], &["MSETNX"]),
    (
        &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        &["FUNCTION STATS", "INFO", "MEMORY DOCTOR", "MEMORY MALLOC-STATS", "MEMORY STATS"],
    ),
    (
        &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
        &["LATENCY DOCTOR", "LATENCY GRAPH", "LATENCY HISTOGRAM", "LATENCY HISTORY", "LATENCY LATEST"],
    ),
    (&["request_policy:all_shards", "nondeterministic_output_order"], &["KEYS"]),
    (&["request_policy:all_shards", "nondeterministic_output"], &["RANDOMKEY"]),
    (&["nondeterministic_output", "request_policy:special"], &["SCAN"]),
    (&["request_policy:all_nodes", "nondeterministic_output"], &["SLOWLOG GET"]),
    (&["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"], &["SLOWLOG LEN"]),
];

/// Commands whose reply may differ on another server, or later.
const NONDETERMINISTIC: &[&str] = &[
    "CLIENT INFO",
    "CLIENT LIST",
    "CLUSTER BUMPEPOCH",
    "CLUSTER COUNT-FAILURE-REPORTS",
    "CLUSTER GETKEYSINSLOT",
    "CLUSTER INFO",
    "CLUSTER LINKS",
    "CLUSTER NODES",
    "CLUSTER REPLICAS",
    "CLUSTER SHARDS",
    "CLUSTER SLAVES",
    "CLUSTER SLOTS",
    "DUMP",
    "HRANDFIELD",
    "HSCAN",
    "LASTSAVE",
    "MIGRATE",
    "OBJECT ENCODING",
    "OBJECT FREQ",
    "OBJECT IDLETIME",
    "OBJECT REFCOUNT",
    "PTTL",
    "SPOP",
    "SRANDMEMBER",
    "SSCAN",
    "TIME",
    "TTL",
    "XADD",
    "XAUTOCLAIM",
    "XCLAIM",
    "XINFO CONSUMERS",
    "XPENDING",
    "XTRIM",
    "ZRANDMEMBER",
    "ZSCAN",
];

/// Commands whose reply has no meaningful order.
const IN_ANY_ORDER: &[&str] = &[
    "COMMAND",
    "COMMAND DOCS",
    "COMMAND INFO",
    "COMMAND LIST",
    "FUNCTION LIST",
    "HGETALL",
    "HKEYS",
    "HVALS",
    "MODULE LIST",
    "SDIFF",
    "SINTER",
    "SMEMBERS",
    "SUNION",
];

/// Commands that Redis refuses while loading asynchronously.
const NO_ASYNC_LOADING: &[&str] = &[
    "BGREWRITEAOF",
    "BGSAVE",
    "CLUSTER ADDSLOTS",
    "CLUSTER ADDSLOTSRANGE",
    "CLUSTER BUMPEPOCH",
    "CLUSTER DELSLOTS",
    "CLUSTER DELSLOTSRANGE",
    "CLUSTER FAILOVER",
    "CLUSTER FLUSHSLOTS",
    "CLUSTER FORGET",
    "CLUSTER MEET",
    "CLUSTER REPLICATE",
    "CLUSTER SAVECONFIG",
    "CLUSTER SET-CONFIG-EPOCH",
    "CLUSTER SETSLOT",
    "MODULE LOAD",
    "MODULE LOADEX",
    "MODULE UNLOAD",
    "PSYNC",
    "REPLICAOF",
    "SAVE",
    "SLAVEOF",
    "SYNC",
];

/// Notes on one of a command's key specs, counted from 0.
const NOTES: &[(&str, usize, &str)] = &[
    ("BITFIELD", 0, "Reads with GET, writes with SET and INCRBY."),
    ("EVAL", 0, "What the script does with its keys is not known."),
    ("EVAL_RO", 0, "What the script does with its keys is not known, but that it only reads."),
    ("FCALL", 0, "What the function does with its keys is not known."),
    ("FCALL_RO", 0, "What the function does with its keys is not known, but that it only reads."),
    ("GETEX", 0, "Writes the key's deadline."),
    ("PFCOUNT", 0, "Writes the count that it has made into the value."),
    ("SET", 0, "Reads the old value with GET."),
    ("SORT", 1, "Keys that BY and GET name, made of what the sorted key holds."),
    ("SORT", 2, "The key of STORE, which may stand anywhere behind the first."),
    ("SORT_RO", 1, "Keys that BY and GET name, made of what the sorted key holds."),
    ("XADD", 0, "Also removes entries, where it trims."),
];

/// Returns Redis's documentation group of a command, if it differs from the one implied by its access categories.
pub(super) fn group(command: &CommandSpec) -> &'static str {
    match command.name {
        "ASKING" | "READONLY" | "READWRITE" => "cluster",
        "WAIT" | "WAITAOF" => "generic",
        "RESTORE-ASKING" => "server",
        name if name.starts_with("CLUSTER ") => "cluster",
        _ => command.group.name(),
    }
}

/// Returns the tips of a command. O(commands that have some).
pub(super) fn tips(command: &CommandSpec) -> &'static [&'static str] {
    TIPS.iter().find(|(_, names)| names.contains(&command.name)).map_or(&[], |(tips, _)| tips)
}

/// Returns true if a command has the flag `no_async_loading`.
pub(super) fn is_no_async_loading(command: &CommandSpec) -> bool {
    NO_ASYNC_LOADING.contains(&command.name)
}

/// Returns the note on the key spec with this index, if there is one.
pub(super) fn note(command: &str, spec: usize) -> Option<&'static str> {
    NOTES.iter().find(|(name, index, _)| (*name, *index) == (command, spec)).map(|(_, _, note)| *note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn every_command_that_is_named_is_there() {
        let noted = NOTES.iter().map(|(name, _, _)| name);
        for name in TIPS.iter().flat_map(|(_, names)| *names).chain(NO_ASYNC_LOADING).chain(noted) {
            assert!(registry::commands().any(|command| command.name == *name), "{name}");
        }
        for (name, index, _) in NOTES {
            assert!(
                registry::commands().any(|command| command.name == *name && *index < command.keys.len()),
                "{name} {index}"
            );
        }
    }
}
