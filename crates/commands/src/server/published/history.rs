//! Changes of commands by Redis version, and replacements of deprecated commands. Facts from `COMMAND DOCS` of Redis
//! 7.0.

/// A version, and its change.
pub(in crate::server) type Change = (&'static str, &'static str);

/// Returns the changes of a command, oldest first.
pub(in crate::server) fn of(command: &str) -> &'static [Change] {
    let found = HISTORY.binary_search_by_key(&command, |(name, _)| name);
    found.map_or(&[], |at| HISTORY[at].1)
}

/// Returns since when a command is deprecated, and its replacement.
pub(in crate::server) fn deprecation(command: &str) -> Option<(&'static str, &'static str)> {
    let found = DEPRECATED.binary_search_by_key(&command, |(name, _, _)| name).ok()?;
    Some((DEPRECATED[found].1, DEPRECATED[found].2))
}

/// Returns true if a command is only for servers and their tests.
pub(in crate::server) fn is_of_system(command: &str) -> bool {
    command.split(' ').next() == Some("DEBUG")
        || matches!(command, "PFDEBUG" | "PFSELFTEST" | "REPLCONF" | "RESTORE-ASKING")
}

const EXPIRE_CONDITIONS: &[Change] = &[("7.0.0", "Takes `NX`, `XX`, `GT` and `LT`.")];
const FLUSH_MODES: &[Change] = &[("4.0.0", "Takes `ASYNC`."), ("6.2.0", "Takes `SYNC`.")];
const FRACTIONS: &[Change] = &[("6.0.0", "The timeout may have a fraction.")];
const MANY_ELEMENTS_2_4: &[Change] = &[("2.4.0", "Takes several elements.")];
const MANY_ELEMENTS_4_0: &[Change] = &[("4.0.0", "Takes several elements.")];
const POP_COUNT: &[Change] = &[("6.2.0", "Takes a count.")];
const OPEN_ENDS: &[Change] = &[("6.2.0", "Ends of the range may be exclusive.")];
const RESTORE: &[Change] =
    &[("3.0.0", "Takes `REPLACE`."), ("5.0.0", "Takes `ABSTTL`."), ("5.0.0", "Takes `IDLETIME` and `FREQ`.")];
const TTL: &[Change] = &[("2.8.0", "Replies -2 of an absent key.")];
const UNIT_CASE: &[Change] = &[("7.0.0", "Units may be written in capitals.")];

const HISTORY: &[(&str, &[Change])] = &[
    ("ACL GETUSER", &[("6.2.0", "Lists patterns of channels."), ("7.0.0", "Lists selectors, and patterns as rules.")]),
    ("ACL SETUSER", &[("6.2.0", "Takes patterns of channels."), ("7.0.0", "Takes selectors, and rights for keys.")]),
    ("AUTH", &[("6.0.0", "Takes a user's name.")]),
    ("BGSAVE", &[("3.2.2", "Takes `SCHEDULE`.")]),
    ("BITCOUNT", &[("7.0.0", "Takes `BYTE` and `BIT`.")]),
    ("BITPOS", &[("7.0.0", "Takes `BYTE` and `BIT`.")]),
    ("BLPOP", FRACTIONS),
    ("BRPOP", FRACTIONS),
    ("BRPOPLPUSH", FRACTIONS),
    ("BZPOPMAX", FRACTIONS),
    ("BZPOPMIN", FRACTIONS),
    (
        "CLIENT KILL",
        &[
            ("2.8.12", "Takes filters."),
            ("2.8.12", "Takes `ID`."),
            ("3.2.0", "Takes `TYPE master`."),
            ("5.0.0", "Takes `TYPE replica`, and `slave` for the same."),
            ("6.2.0", "Takes `LADDR`."),
        ],
    ),
    (
        "CLIENT LIST",
        &[
            ("2.8.12", "Shows `id`."),
            ("5.0.0", "Takes `TYPE`."),
            ("6.0.0", "Shows `user`."),
            ("6.2.0", "Takes `ID`, and shows `argv-mem`, `tot-mem`, `laddr` and `redir`."),
            ("7.0.0", "Shows `resp`, `multi-mem`, `rbs` and `rbp`."),
            ("7.0.3", "Shows `ssub`."),
        ],
    ),
    ("CLIENT PAUSE", &[("6.2.0", "Takes a mode, of which `WRITE` is new.")]),
    ("CLUSTER MEET", &[("4.0.0", "Takes the port of the cluster's bus.")]),
    ("CLUSTER SLOTS", &[("4.0.0", "Shows the ids of nodes."), ("7.0.0", "Shows further facts of the network.")]),
    ("COMMAND INFO", &[("7.0.0", "Returns all commands if none is named.")]),
    ("CONFIG GET", &[("7.0.0", "Takes several patterns.")]),
    ("CONFIG SET", &[("7.0.0", "Takes several settings.")]),
    ("EXISTS", &[("3.0.3", "Takes several keys.")]),
    ("EXPIRE", EXPIRE_CONDITIONS),
    ("EXPIREAT", EXPIRE_CONDITIONS),
    ("FLUSHALL", FLUSH_MODES),
    ("FLUSHDB", FLUSH_MODES),
    ("GEOADD", &[("6.2.0", "Takes `CH`, `NX` and `XX`.")]),
    ("GEORADIUS", &[("6.2.0", "Takes `ANY` behind `COUNT`."), ("7.0.0", "Units may be written in capitals.")]),
    ("GEORADIUSBYMEMBER", UNIT_CASE),
    ("GEORADIUS_RO", &[("6.2.0", "Takes `ANY` behind `COUNT`.")]),
    ("GEOSEARCH", UNIT_CASE),
    ("GEOSEARCHSTORE", UNIT_CASE),
    ("HDEL", &[("2.4.0", "Takes several fields.")]),
    ("HELLO", &[("6.2.0", "Needs no version of the protocol: without one it only describes the connection.")]),
    ("HSET", &[("4.0.0", "Takes several fields and values.")]),
    ("INFO", &[("7.0.0", "Takes several sections.")]),
    ("LPOP", POP_COUNT),
    ("LPUSH", MANY_ELEMENTS_2_4),
    ("LPUSHX", MANY_ELEMENTS_4_0),
    (
        "MIGRATE",
        &[
            ("3.0.0", "Takes `COPY` and `REPLACE`."),
            ("3.0.6", "Takes `KEYS`."),
            ("4.0.7", "Takes `AUTH`."),
            ("6.0.0", "Takes `AUTH2`."),
        ],
    ),
    ("PEXPIRE", EXPIRE_CONDITIONS),
    ("PEXPIREAT", EXPIRE_CONDITIONS),
    ("PTTL", TTL),
    ("RENAMENX", &[("3.2.0", "Two equal names are no error.")]),
    ("RESTORE", RESTORE),
    ("RESTORE-ASKING", RESTORE),
    ("RPOP", POP_COUNT),
    ("RPUSH", MANY_ELEMENTS_2_4),
    ("RPUSHX", MANY_ELEMENTS_4_0),
    ("SADD", &[("2.4.0", "Takes several members.")]),
    ("SCAN", &[("6.0.0", "Takes `TYPE`.")]),
    ("SCRIPT FLUSH", &[("6.2.0", "Takes `ASYNC` and `SYNC`.")]),
    (
        "SET",
        &[
            ("2.6.12", "Takes `EX`, `PX`, `NX` and `XX`."),
            ("6.0.0", "Takes `KEEPTTL`."),
            ("6.2.0", "Takes `GET`, `EXAT` and `PXAT`."),
            ("7.0.0", "Takes `NX` together with `GET`."),
        ],
    ),
    ("SHUTDOWN", &[("7.0.0", "Takes `NOW`, `FORCE` and `ABORT`.")]),
    ("SLOWLOG GET", &[("4.0.0", "Shows address, port and name of the client.")]),
    ("SPOP", &[("3.2.0", "Takes a count.")]),
    ("SRANDMEMBER", &[("2.6.0", "Takes a count.")]),
    ("SREM", &[("2.4.0", "Takes several members.")]),
    ("TTL", TTL),
    (
        "XADD",
        &[
            ("6.2.0", "Takes `NOMKSTREAM`, `MINID` and `LIMIT`."),
            ("7.0.0", "Takes an id of which only the time is given."),
        ],
    ),
    ("XAUTOCLAIM", &[("7.0.0", "Returns the ids of entries that were deleted, too.")]),
    ("XGROUP CREATE", &[("7.0.0", "Takes `ENTRIESREAD`.")]),
    ("XGROUP SETID", &[("7.0.0", "Takes `ENTRIESREAD`.")]),
    ("XINFO GROUPS", &[("7.0.0", "Shows `entries-read` and `lag`.")]),
    (
        "XINFO STREAM",
        &[
            ("6.0.0", "Takes `FULL`."),
            (
                "7.0.0",
                "Shows `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag`.",
            ),
        ],
    ),
    ("XPENDING", &[("6.2.0", "Takes `IDLE`, and ends that are exclusive.")]),
    ("XRANGE", OPEN_ENDS),
    ("XREVRANGE", OPEN_ENDS),
    ("XSETID", &[("7.0.0", "Takes `ENTRIESADDED` and `MAXDELETEDID`.")]),
    ("XTRIM", &[("6.2.0", "Takes `MINID` and `LIMIT`.")]),
    (
        "ZADD",
        &[
            ("2.4.0", "Takes several members."),
            ("3.0.2", "Takes `XX`, `NX`, `CH` and `INCR`."),
            ("6.2.0", "Takes `GT` and `LT`."),
        ],
    ),
    ("ZRANGE", &[("6.2.0", "Takes `REV`, `BYSCORE`, `BYLEX` and `LIMIT`.")]),
    ("ZRANGEBYSCORE", &[("2.0.0", "Takes `WITHSCORES`.")]),
    ("ZREM", &[("2.4.0", "Takes several members.")]),
    ("ZREVRANGEBYSCORE", &[("2.1.6", "Ends of the range may be exclusive.")]),
];

const DEPRECATED: &[(&str, &str, &str)] = &[
    ("BRPOPLPUSH", "6.2.0", "`BLMOVE` with `RIGHT` and `LEFT`"),
    ("CLUSTER SLAVES", "5.0.0", "`CLUSTER REPLICAS`"),
    ("CLUSTER SLOTS", "7.0.0", "`CLUSTER SHARDS`"),
    ("GEORADIUS", "6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`"),
    ("GEORADIUSBYMEMBER", "6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`"),
    ("GEORADIUSBYMEMBER_RO", "6.2.0", "`GEOSEARCH` with `BYRADIUS` and `FROMMEMBER`"),
    ("GEORADIUS_RO", "6.2.0", "`GEOSEARCH` with `BYRADIUS`"),
    ("GETSET", "6.2.0", "`SET` with `GET`"),
    ("HMSET", "4.0.0", "`HSET` with several fields"),
    ("RPOPLPUSH", "6.2.0", "`LMOVE` with `RIGHT` and `LEFT`"),
    ("SLAVEOF", "5.0.0", "`REPLICAOF`"),
    ("SUBSTR", "2.0.0", "`GETRANGE`"),
    ("ZRANGEBYLEX", "6.2.0", "`ZRANGE` with `BYLEX`"),
    ("ZRANGEBYSCORE", "6.2.0", "`ZRANGE` with `BYSCORE`"),
    ("ZREVRANGE", "6.2.0", "`ZRANGE` with `REV`"),
    ("ZREVRANGEBYLEX", "6.2.0", "`ZRANGE` with `REV` and `BYLEX`"),
    ("ZREVRANGEBYSCORE", "6.2.0", "`ZRANGE` with `REV` and `BYSCORE`"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_order() {
        assert!(HISTORY.is_sorted_by_key(|(name, _)| name));
        assert!(DEPRECATED.is_sorted_by_key(|(name, _, _)| name));
    }
}
