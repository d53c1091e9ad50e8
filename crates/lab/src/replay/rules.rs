//! The rules of a replay for each command: whether it is played, and how its replies are compared.
//!
//! ```text
//!  words --> skipped, with the reason    SHUTDOWN, AUTH, SUBSCRIBE ...
//!        '-> played, and its replies     the same: all that follow no other rule
//!                                        the same elements in any order: SMEMBERS, HGETALL ...
//!                                        not compared: TIME, SPOP, SCAN ...
//!                                        not compared, not timed: it may wait, as BLPOP does
//! ```

/// The treatment of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rule {
    /// For this reason.
    Skip(&'static str),
    Play(ReplyRule),
}

/// How a reply is compared with that of another server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ReplyRule {
    /// Byte for byte.
    Same,
    /// Groups of so many elements, in any order.
    AnyOrder { group: u8 },
    /// Not at all, for this reason.
    Varies(&'static str),
    /// Not at all: the call may wait for another client's, so that its time and reply depend on when that comes.
    MayWait,
}

const CONTROLS: &str = "it controls the server";
const SECRET: &str = "MONITOR hides its arguments";
const CHANGES_CONNECTION: &str = "it changes what the connection receives";
const ENDS_CONNECTION: &str = "the connection ends by itself after its last call";
const OTHER_SERVER: &str = "it involves another server";

const SKIPPED: &[(&str, &[&str])] = &[
    (CONTROLS, &["SHUTDOWN", "DEBUG", "MODULE", "ACL", "CLUSTER", "SENTINEL", "SAVE", "LATENCY"]),
    (OTHER_SERVER, &["REPLICAOF", "SLAVEOF", "FAILOVER", "MIGRATE", "PSYNC", "SYNC", "REPLCONF"]),
    (SECRET, &["AUTH", "HELLO"]),
    (
        CHANGES_CONNECTION,
        &["MONITOR", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"],
    ),
    (ENDS_CONNECTION, &["QUIT"]),
];

const RANDOM: &str = "the server draws at random";
const CLOCK: &str = "the time is in the reply";
const STATE: &str = "the state of the server is in the reply";
const ANY_CURSOR: &str = "each server has its own cursors";
const OWN_FORM: &str = "each server has its own form";

const VARYING: &[(&str, &[&str])] = &[
    (RANDOM, &["RANDOMKEY", "SRANDMEMBER", "SPOP", "HRANDFIELD", "ZRANDMEMBER"]),
    (CLOCK, &["TIME", "LASTSAVE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "HTTL", "HPTTL"]),
    (STATE, &["INFO", "ROLE", "SLOWLOG", "COMMAND", "CONFIG", "CLIENT", "LOLWUT", "BGSAVE", "BGREWRITEAOF"]),
    (ANY_CURSOR, &["SCAN", "SSCAN", "HSCAN", "ZSCAN"]),
    (OWN_FORM, &["DUMP", "OBJECT", "MEMORY"]),
];

const ANY_ORDER: &[&str] = &[
    "SMEMBERS",
    "KEYS",
    "HKEYS",
    "HVALS",
    "SINTER",
    "SUNION",
    "SDIFF",
    "GEORADIUS",
    "GEORADIUS_RO",
    "GEORADIUSBYMEMBER",
    "GEORADIUSBYMEMBER_RO",
    "GEOSEARCH",
    "PUBSUB",
];

const WAITING: &[&str] =
    &["BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "WAIT", "WAITAOF"];

/// Commands whose replies have the ids that a server gave to entries of streams.
const WITH_STREAM_IDS: &[&str] = &[
    "XRANGE",
    "XREVRANGE",
    "XREAD",
    "XREADGROUP",
    "XPENDING",
    "XCLAIM",
    "XAUTOCLAIM",
    "XINFO",
    "XACK",
    "XDEL",
    "XTRIM",
];

/// Returns the name of a command in capital letters; bytes that are no signs are escaped.
pub(super) fn name_of(words: &[Vec<u8>]) -> String {
    words.first().map_or_else(String::new, |word| word.to_ascii_uppercase().escape_ascii().to_string())
}

/// Returns what is done with a call of the command `name`.
pub(super) fn rule_of(name: &str, words: &[Vec<u8>]) -> Rule {
    let argument = |place: usize| words.get(place).map(|word| word.to_ascii_uppercase()).unwrap_or_default();
    let has = |word: &str| words.iter().skip(1).any(|other| other.eq_ignore_ascii_case(word.as_bytes()));
    if let Some(reason) = reason_in(SKIPPED, name) {
        return Rule::Skip(reason);
    }
    match (name, argument(1).as_slice()) {
        ("CONFIG", b"GET") => {}
        ("CONFIG", _) | ("SCRIPT" | "FUNCTION", b"KILL") | ("SCRIPT", b"DEBUG") => return Rule::Skip(CONTROLS),
        ("CLIENT", b"KILL" | b"PAUSE" | b"UNPAUSE" | b"UNBLOCK" | b"NO-EVICT") => return Rule::Skip(CONTROLS),
        ("CLIENT", b"REPLY" | b"TRACKING" | b"CACHING") => return Rule::Skip(CHANGES_CONNECTION),
        _ => {}
    }
    Rule::Play(match name {
        _ if WAITING.contains(&name) => ReplyRule::MayWait,
        "XREAD" | "XREADGROUP" if has("BLOCK") => ReplyRule::MayWait,
        "XADD" if has("*") => ReplyRule::Varies(CLOCK),
        "HGETALL" => ReplyRule::AnyOrder { group: 2 },
        _ if ANY_ORDER.contains(&name) => ReplyRule::AnyOrder { group: 1 },
        _ => reason_in(VARYING, name).map_or(ReplyRule::Same, ReplyRule::Varies),
    })
}

/// Returns true if the call makes the server give an id to an entry of a stream.
pub(super) fn gives_stream_id(name: &str, check: ReplyRule) -> bool {
    name == "XADD" && check != ReplyRule::Same
}

/// Returns how a command's replies are compared after servers have given ids of their own to entries of streams.
pub(super) fn check_with_stream_ids(name: &str, check: ReplyRule) -> ReplyRule {
    if check == ReplyRule::Same && WITH_STREAM_IDS.contains(&name) { ReplyRule::Varies(CLOCK) } else { check }
}

/// Returns how the reply of EXEC is compared, which holds the replies of the calls since MULTI.
pub(super) fn check_of_exec(checks: &[ReplyRule]) -> ReplyRule {
    match checks.iter().find(|check| **check != ReplyRule::Same) {
        None => ReplyRule::Same,
        Some(ReplyRule::Varies(reason)) => ReplyRule::Varies(reason),
        Some(_) => ReplyRule::Varies("a reply within has any order"),
    }
}

fn reason_in(table: &[(&'static str, &[&str])], name: &str) -> Option<&'static str> {
    table.iter().find(|(_, names)| names.contains(&name)).map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(line: &str) -> Rule {
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        rule_of(&name_of(&words), &words)
    }

    #[test]
    fn dangerous_commands_are_skipped() {
        for line in ["shutdown nosave", "DEBUG sleep 1", "replicaof no one", "slaveof a 1", "CONFIG set save x"] {
            assert!(matches!(rule(line), Rule::Skip(_)), "{line}");
        }
        for line in ["AUTH (redacted)", "hello 3", "MONITOR", "subscribe a", "CLIENT REPLY OFF", "client kill a:1"] {
            assert!(matches!(rule(line), Rule::Skip(_)), "{line}");
        }
    }

    #[test]
    fn plain_commands_are_compared_byte_for_byte() {
        for line in
            ["get a", "FLUSHALL", "MULTI", "EVAL x 0", "SELECT 1", "XADD s 1-1 a b", "script load x", "nonsense"]
        {
            assert_eq!(rule(line), Rule::Play(ReplyRule::Same), "{line}");
        }
    }

    #[test]
    fn replies_that_differ_by_nature_are_not_compared() {
        for line in ["TIME", "info", "RANDOMKEY", "srandmember s", "SPOP s", "LASTSAVE", "CLIENT id", "scan 0"] {
            assert!(matches!(rule(line), Rule::Play(ReplyRule::Varies(_))), "{line}");
        }
        assert!(matches!(rule("XADD s * a b"), Rule::Play(ReplyRule::Varies(_))));
        assert!(matches!(rule("CONFIG GET save"), Rule::Play(ReplyRule::Varies(_))));
    }

    #[test]
    fn unordered_replies_are_compared_as_sets() {
        assert_eq!(rule("smembers s"), Rule::Play(ReplyRule::AnyOrder { group: 1 }));
        assert_eq!(rule("HGETALL h"), Rule::Play(ReplyRule::AnyOrder { group: 2 }));
    }

    #[test]
    fn commands_that_block_may_wait() {
        for line in ["BLPOP l 0", "bzmpop 0 1 z MIN", "XREAD block 0 STREAMS s $", "WAIT 1 0"] {
            assert_eq!(rule(line), Rule::Play(ReplyRule::MayWait), "{line}");
        }
        assert_eq!(rule("XREAD STREAMS s 0"), Rule::Play(ReplyRule::Same));
    }

    #[test]
    fn exec_is_compared_as_its_calls_are() {
        assert_eq!(check_of_exec(&[ReplyRule::Same, ReplyRule::Same]), ReplyRule::Same);
        assert_eq!(check_of_exec(&[ReplyRule::Same, ReplyRule::Varies(CLOCK)]), ReplyRule::Varies(CLOCK));
        assert!(matches!(check_of_exec(&[ReplyRule::AnyOrder { group: 1 }]), ReplyRule::Varies(_)));
    }

    #[test]
    fn no_command_has_two_rules() {
        let tables = SKIPPED.iter().chain(VARYING).flat_map(|(_, names)| *names);
        let mut names: Vec<&str> = tables.chain(ANY_ORDER).chain(WAITING).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
