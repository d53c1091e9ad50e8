//! Arguments for which Redis reports another name, type or version than our syntax line. Facts from `COMMAND DOCS` of
//! Redis 7.0.

/// The reported properties of an argument. Empty fields are taken from the syntax line.
pub(in crate::server) struct PublishedArgument {
    /// Its position among the arguments of its command: `2.1` is the second part of the third.
    pub(in crate::server) at: &'static str,
    pub(in crate::server) name: &'static str,
    pub(in crate::server) kind: &'static str,
    /// The version that introduced the argument, if the command is older.
    pub(in crate::server) since: &'static str,
}

const fn told(at: &'static str, name: &'static str, kind: &'static str, since: &'static str) -> PublishedArgument {
    PublishedArgument { at, name, kind, since }
}

/// Returns the arguments of a command that are reported differently. O(commands that have some).
pub(in crate::server) fn of(command: &str) -> &'static [PublishedArgument] {
    ARGUMENTS.iter().find(|(commands, _)| commands.contains(&command)).map_or(&[], |(_, told)| told)
}

const ARGUMENTS: &[(&[&str], &[PublishedArgument])] = &[
    (&["ACL CAT"], &[told("0", "categoryname", "", "")]),
    (&["ACL LOG", "BITOP"], &[told("0", "operation", "", "")]),
    (&["AUTH"], &[told("0", "", "", "6.0.0")]),
    (&["BGSAVE"], &[told("0", "", "", "3.2.2")]),
    (&["BITCOUNT"], &[told("1", "index", "", ""), told("1.2", "index_unit", "", "7.0.0")]),
    (
        &["BITFIELD"],
        &[
            told("1", "operation", "", ""),
            told("1.1", "write", "", ""),
            told("1.1.1", "write_operation", "", ""),
            told("1.1.1.0.2", "", "integer", ""),
        ],
    ),
    (
        &["BITPOS"],
        &[told("2", "index", "", ""), told("2.1", "end_index", "", ""), told("2.1.1", "index_unit", "", "7.0.0")],
    ),
    (&["BLMOVE", "LMOVE"], &[told("2", "wherefrom", "", ""), told("3", "whereto", "", "")]),
    (&["BLMPOP", "BZMPOP"], &[told("3", "where", "", "")]),
    (&["CLIENT CACHING", "SCRIPT DEBUG"], &[told("0", "mode", "", "")]),
    (&["CLIENT KILL"], &[told("0", "filter", "", ""), told("0.1", "new-format", "", "")]),
    (&["CLIENT LIST"], &[told("0", "", "", "5.0.0"), told("1", "id", "", "6.2.0")]),
    (&["CLIENT NO-EVICT"], &[told("0", "enabled", "", "")]),
    (&["CLIENT PAUSE"], &[told("0", "", "integer", ""), told("1", "mode", "", "6.2.0")]),
    (&["CLIENT TRACKING"], &[told("0", "status", "", "")]),
    (&["CLUSTER FAILOVER"], &[told("0", "options", "", "")]),
    (&["CLUSTER MEET"], &[told("2", "cluster_bus_port", "", "4.0.0")]),
    (&["CLUSTER SETSLOT"], &[told("1", "subcommand", "", "")]),
    (&["COMMAND LIST"], &[told("0", "filterby", "", "")]),
    (&["EXPIRE", "EXPIREAT", "PEXPIRE", "PEXPIREAT"], &[told("2", "condition", "", "7.0.0")]),
    (&["FAILOVER"], &[told("0", "target", "", "")]),
    (
        &["FLUSHALL", "FLUSHDB"],
        &[told("0", "async", "", ""), told("0.0", "", "", "4.0.0"), told("0.1", "", "", "6.2.0")],
    ),
    (&["FUNCTION FLUSH"], &[told("0", "async", "", "")]),
    (&["FUNCTION RESTORE"], &[told("1", "policy", "", "")]),
    (&["GEOADD"], &[told("1", "condition", "", "6.2.0"), told("2", "change", "", "6.2.0")]),
    (&["GEODIST"], &[told("3", "unit", "", "")]),
    (
        &["GEORADIUS"],
        &[
            told("4", "unit", "", ""),
            told("8", "count", "", ""),
            told("8.1", "", "", "6.2.0"),
            told("9", "order", "", ""),
            told("10", "store", "", ""),
        ],
    ),
    (
        &["GEORADIUSBYMEMBER"],
        &[
            told("3", "unit", "", ""),
            told("7", "count", "", ""),
            told("8", "order", "", ""),
            told("9", "store", "", ""),
        ],
    ),
    (&["GEORADIUSBYMEMBER_RO"], &[told("3", "unit", "", ""), told("7", "count", "", ""), told("8", "order", "", "")]),
    (
        &["GEORADIUS_RO"],
        &[
            told("4", "unit", "", ""),
            told("8", "count", "", ""),
            told("8.1", "", "", "6.2.0"),
            told("9", "order", "", ""),
        ],
    ),
    (
        &["GEOSEARCH"],
        &[
            told("1", "from", "", ""),
            told("2", "by", "", ""),
            told("2.0", "circle", "", ""),
            told("2.0.1", "unit", "", ""),
            told("2.1", "box", "", ""),
            told("3", "order", "", ""),
            told("4", "count", "", ""),
        ],
    ),
    (
        &["GEOSEARCHSTORE"],
        &[
            told("2", "from", "", ""),
            told("3", "by", "", ""),
            told("3.0", "circle", "", ""),
            told("3.0.1", "unit", "", ""),
            told("3.1", "box", "", ""),
            told("4", "order", "", ""),
            told("5", "count", "", ""),
        ],
    ),
    (&["GETEX"], &[told("1", "expiration", "", "")]),
    (&["HELLO"], &[told("0", "arguments", "", "")]),
    (&["HINCRBYFLOAT"], &[told("2", "", "double", "")]),
    (&["HRANDFIELD", "ZRANDMEMBER"], &[told("1", "options", "", "")]),
    (&["INCRBYFLOAT"], &[told("1", "", "double", "")]),
    (&["LCS"], &[told("4", "len", "", "")]),
    (&["LINSERT"], &[told("1", "where", "", "")]),
    (&["LMPOP", "ZMPOP"], &[told("2", "where", "", "")]),
    (&["LPOP", "RPOP"], &[told("1", "", "", "6.2.0")]),
    (
        &["MIGRATE"],
        &[
            told("2", "key_or_empty_string", "", ""),
            told("2.1", "empty_string", "", ""),
            told("4", "", "integer", ""),
            told("5", "", "", "3.0.0"),
            told("6", "", "", "3.0.0"),
            told("7", "authentication", "", ""),
            told("7.0", "", "", "4.0.7"),
            told("7.1", "", "", "6.0.0"),
            told("8", "", "", "3.0.6"),
        ],
    ),
    (&["MODULE LOADEX"], &[told("1", "configs", "", ""), told("2", "args", "", "")]),
    (&["PFDEBUG"], &[told("0", "subcommand", "", "")]),
    (
        &["REPLICAOF", "SLAVEOF"],
        &[told("0", "args", "", ""), told("0.0", "host-port", "", ""), told("0.1", "no-one", "", "")],
    ),
    (
        &["RESTORE", "RESTORE-ASKING"],
        &[
            told("3", "", "", "3.0.0"),
            told("4", "", "", "5.0.0"),
            told("5", "", "", "5.0.0"),
            told("6", "", "", "5.0.0"),
        ],
    ),
    (&["SCAN"], &[told("3", "", "", "6.0.0")]),
    (&["SCRIPT FLUSH"], &[told("0", "async", "", "6.2.0")]),
    (
        &["SET"],
        &[
            told("2", "condition", "", "2.6.12"),
            told("3", "", "", "6.2.0"),
            told("4", "expiration", "", ""),
            told("4.0", "", "", "2.6.12"),
            told("4.1", "", "", "2.6.12"),
            told("4.2", "", "", "6.2.0"),
            told("4.3", "", "", "6.2.0"),
            told("4.4", "", "", "6.0.0"),
        ],
    ),
    (&["SETBIT"], &[told("2", "", "integer", "")]),
    (&["SHUTDOWN"], &[told("1", "", "", "7.0.0"), told("2", "", "", "7.0.0"), told("3", "", "", "7.0.0")]),
    (&["SORT", "SORT_RO"], &[told("4", "order", "", ""), told("5", "sorting", "", "")]),
    (&["SPOP"], &[told("1", "", "", "3.2.0")]),
    (&["SRANDMEMBER"], &[told("1", "", "", "2.6.0")]),
    (&["WAIT"], &[told("1", "", "integer", "")]),
    (&["XADD"], &[told("1", "", "", "6.2.0"), told("3", "trim", "", ""), told("4", "id_or_auto", "", "")]),
    (&["XAUTOCLAIM"], &[told("4", "", "string", "")]),
    (&["XCLAIM"], &[told("5", "ms", "", ""), told("10", "id", "", "")]),
    (
        &["XGROUP CREATE"],
        &[
            told("1", "groupname", "", ""),
            told("2", "id", "", ""),
            told("2.1", "new_id", "", ""),
            told("4", "entries_read", "", ""),
        ],
    ),
    (
        &["XGROUP CREATECONSUMER", "XGROUP DELCONSUMER"],
        &[told("1", "groupname", "", ""), told("2", "consumername", "", "")],
    ),
    (&["XGROUP DESTROY", "XINFO CONSUMERS"], &[told("1", "groupname", "", "")]),
    (
        &["XGROUP SETID"],
        &[
            told("1", "groupname", "", ""),
            told("2", "id", "", ""),
            told("2.1", "new_id", "", ""),
            told("3", "entries_read", "", ""),
        ],
    ),
    (&["XINFO STREAM"], &[told("1", "full", "", "")]),
    (
        &["XPENDING"],
        &[
            told("2", "filters", "", ""),
            told("2.0", "", "integer", "6.2.0"),
            told("2.1", "", "string", ""),
            told("2.2", "", "string", ""),
        ],
    ),
    (&["XRANGE", "XREVRANGE"], &[told("1", "", "string", ""), told("2", "", "string", "")]),
    (&["XSETID"], &[told("2", "entries_added", "", "7.0.0"), told("3", "max_deleted_entry_id", "", "7.0.0")]),
    (
        &["ZADD"],
        &[
            told("1", "condition", "", "3.0.2"),
            told("2", "comparison", "", "6.2.0"),
            told("3", "change", "", "3.0.2"),
            told("4", "increment", "", "3.0.2"),
        ],
    ),
    (&["ZCOUNT", "ZREMRANGEBYSCORE", "ZREVRANGEBYSCORE"], &[told("1", "", "double", ""), told("2", "", "double", "")]),
    (&["ZINTER", "ZUNION"], &[told("3", "aggregate", "", "")]),
    (&["ZINTERSTORE", "ZUNIONSTORE"], &[told("4", "aggregate", "", "")]),
    (
        &["ZRANGE"],
        &[
            told("1", "", "string", ""),
            told("2", "", "string", ""),
            told("3", "sortby", "", "6.2.0"),
            told("4", "", "", "6.2.0"),
            told("5", "", "", "6.2.0"),
        ],
    ),
    (&["ZRANGEBYSCORE"], &[told("1", "", "double", ""), told("2", "", "double", ""), told("3", "", "", "2.0.0")]),
    (
        &["ZRANGESTORE"],
        &[
            told("0", "dst", "", ""),
            told("1", "src", "", ""),
            told("2", "min", "string", ""),
            told("3", "max", "string", ""),
            told("4", "sortby", "", ""),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn each_command_is_there_and_once() {
        let names: Vec<&str> = ARGUMENTS.iter().flat_map(|(commands, _)| *commands).copied().collect();
        for name in &names {
            assert!(registry::commands().any(|command| command.name == *name), "{name}");
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
    }
}
