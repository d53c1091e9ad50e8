//! The table of settings: one row each, every field compulsory.
//!
//! The command line, the environment, the file, CONFIG and `bobbin config` are made from these rows. A row that has no
//! effect does not belong here.

use super::current::{DebugCommand, Fsync, LogFormat, LogLevel, Secret};
use super::kind::{SettingType, Word};
use super::setting::Mutability::{Anytime, AtStart};
use super::setting::{Fact, Setting, SettingGroup};
use base::limits::{BULK_BYTES_MAX, DATABASES_MAX};
use std::path::PathBuf;

/// Returns the row of this name, if there is one.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Returns the name in the table that a misspelt one may mean: one of Redis's, or one at most two letters away.
pub fn nearest(name: &str) -> Option<&'static str> {
    let by_redis = SETTINGS.iter().find(|setting| setting.redis_names.contains(&name));
    by_redis.map(|setting| setting.name).or_else(|| {
        let distances = SETTINGS.iter().map(|setting| (distance(name, setting.name), setting.name));
        distances.filter(|(letters, _)| *letters <= 2).min().map(|(_, nearest)| nearest)
    })
}

/// Returns the number of letters to insert, drop or replace to turn one name into the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (dropped, left) in from.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = dropped + 1;
        for (column, right) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

const fn word(own: &'static str) -> Word {
    Word { own, redis: own }
}

const MIB: u64 = 1 << 20;

/// The rows, by group.
pub static SETTINGS: &[Setting] = &[
    Setting {
        name: "bind",
        redis_names: &["bind"],
        kind: SettingType::Addresses { set: |current, addresses| current.bind = addresses },
        default: "127.0.0.1 -::1",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Addresses to listen on; '*' is every one, a leading '-' skips one this machine lacks.",
    },
    Setting {
        name: "port",
        redis_names: &["port"],
        kind: SettingType::Integer { unit: "", min: 0, max: 65_535, set: |current, port| current.port = port as u16 },
        default: "6379",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "TCP port to listen on, 0 for none.",
    },
    Setting {
        name: "memcached-port",
        redis_names: &[],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: 65_535,
            set: |current, port| current.memcached_port = port as u16,
        },
        default: "11211",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "TCP port on which memcached's protocol is spoken, 0 for none.",
    },
    Setting {
        name: "queue-port",
        redis_names: &[],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: 65_535,
            set: |current, port| current.queue_port = port as u16,
        },
        default: "22201",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "TCP port on which MemcacheQ's and Kestrel's protocol is spoken, 0 for none.",
    },
    Setting {
        name: "unixsocket",
        redis_names: &["unixsocket"],
        kind: SettingType::Path {
            optional: true,
            set: |current, path| current.unixsocket = (!path.is_empty()).then(|| PathBuf::from(path)),
        },
        default: "",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Path of a unix socket to listen on as well.",
    },
    Setting {
        name: "memcached-unixsocket",
        redis_names: &[],
        kind: SettingType::Path {
            optional: true,
            set: |current, path| current.memcached_unixsocket = (!path.is_empty()).then(|| PathBuf::from(path)),
        },
        default: "",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Path of a unix socket on which memcached's protocol is spoken.",
    },
    Setting {
        name: "queue-unixsocket",
        redis_names: &[],
        kind: SettingType::Path {
            optional: true,
            set: |current, path| current.queue_unixsocket = (!path.is_empty()).then(|| PathBuf::from(path)),
        },
        default: "",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Path of a unix socket on which MemcacheQ's and Kestrel's protocol is spoken.",
    },
    Setting {
        name: "unixsocketperm",
        redis_names: &["unixsocketperm"],
        kind: SettingType::Mode { set: |current, mode| current.unixsocket_mode = (mode != 0).then_some(mode) },
        default: "700",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Permissions of unix sockets, 0 to leave them to the umask.",
    },
    Setting {
        name: "tcp-backlog",
        redis_names: &["tcp-backlog"],
        kind: SettingType::Integer {
            unit: "connections",
            min: 0,
            max: i32::MAX as i64,
            set: |current, count| current.tcp_backlog = count as u32,
        },
        default: "511",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Connections that may wait to be accepted.",
    },
    Setting {
        name: "tcp-keepalive",
        redis_names: &["tcp-keepalive"],
        kind: SettingType::Integer {
            unit: "seconds",
            min: 0,
            max: i32::MAX as i64,
            set: |current, seconds| current.tcp_keepalive_s = seconds as u32,
        },
        default: "300",
        changes: Anytime,
        group: SettingGroup::Network,
        help: "Silence after which the system probes whether a new client's peer is alive, 0 for never.",
    },
    Setting {
        name: "timeout",
        redis_names: &["timeout"],
        kind: SettingType::Integer {
            unit: "seconds",
            min: 0,
            max: i32::MAX as i64,
            set: |current, seconds| current.timeout_s = seconds as u32,
        },
        default: "0",
        changes: Anytime,
        group: SettingGroup::Network,
        help: "Disconnects clients after this much idle time, 0 for never.",
    },
    Setting {
        name: "threads",
        redis_names: &[],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: 1_024,
            set: |current, count| current.threads = count as usize,
        },
        default: "0",
        changes: AtStart,
        group: SettingGroup::Network,
        help: "Worker threads, 0 for one per core.",
    },
    Setting {
        name: "dir",
        redis_names: &["dir"],
        kind: SettingType::Path { optional: false, set: |current, path| current.dir = PathBuf::from(path) },
        default: "./bobbin-data",
        changes: AtStart,
        group: SettingGroup::Data,
        help: "The data folder, made if absent; one Bobbin at a time may use it.",
    },
    Setting {
        name: "journal",
        redis_names: &[],
        kind: SettingType::Bool { set: |current, on| current.journal = on },
        default: "on",
        changes: AtStart,
        group: SettingGroup::Data,
        help: "Journals writes to the data folder; off makes a pure cache that keeps nothing.",
    },
    Setting {
        name: "fsync",
        redis_names: &["appendfsync"],
        kind: SettingType::Choice {
            words: &[word("always"), word("everysec"), Word { own: "never", redis: "no" }],
            set: |current, at| current.fsync = [Fsync::Always, Fsync::Everysec, Fsync::Never][at],
        },
        default: "everysec",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "When writes are synced to disk: always before the reply, once a second, or when the OS flushes.",
    },
    Setting {
        name: "checkpoint-journal-size",
        redis_names: &[],
        kind: SettingType::Bytes {
            min: 64 << 10,
            max: 1 << 40,
            set: |current, bytes| current.checkpoint_journal_bytes = bytes,
        },
        default: "256mb",
        changes: Anytime,
        group: SettingGroup::Data,
        // At most an eighth of the file system; writers wait at three times as much, not counting what a start found
        // until it is stored.
        help: "Journal beyond the last checkpoint that begins the next one; it bounds what a restart replays.",
    },
    Setting {
        name: "key-order",
        redis_names: &["key-order"],
        kind: SettingType::Bool { set: |current, on| current.key_order = on },
        default: "off",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Keeps the names of keys in order too, for KEYRANGE and DELRANGE; built in the background if turned on.",
    },
    Setting {
        name: "memcached-db",
        redis_names: &[],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: DATABASES_MAX as i64 - 1,
            set: |current, database| current.memcached_database = database as u32,
        },
        default: "0",
        changes: AtStart,
        group: SettingGroup::Data,
        help: "Database in which clients of memcached's protocol find their items.",
    },
    Setting {
        name: "queue-db",
        redis_names: &[],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: DATABASES_MAX as i64 - 1,
            set: |current, database| current.queue_database = database as u32,
        },
        default: "0",
        changes: AtStart,
        group: SettingGroup::Data,
        help: "Database in which clients of MemcacheQ's protocol find their queues.",
    },
    Setting {
        name: "databases",
        redis_names: &["databases"],
        kind: SettingType::Integer {
            unit: "",
            min: 1,
            max: DATABASES_MAX as i64,
            set: |current, count| current.databases = count as u32,
        },
        default: "16",
        changes: AtStart,
        group: SettingGroup::Data,
        help: "Databases that SELECT can choose from.",
    },
    Setting {
        name: "list-max-listpack-size",
        redis_names: &["list-max-listpack-size", "list-max-ziplist-size"],
        kind: SettingType::Integer {
            unit: "",
            min: i32::MIN as i64,
            max: i32::MAX as i64,
            set: |current, size| current.list_listpack_size = size as i32,
        },
        default: "-2",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum list size that OBJECT ENCODING reports as listpack: items, or -1 to -5 for 4 to 64 KB.",
    },
    Setting {
        name: "hash-max-listpack-entries",
        redis_names: &["hash-max-listpack-entries", "hash-max-ziplist-entries"],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: i64::MAX,
            set: |current, count| current.hash_listpack_entries = count as u64,
        },
        default: "512",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum number of fields of a hash stored compactly, in insertion order.",
    },
    Setting {
        name: "hash-max-listpack-value",
        redis_names: &["hash-max-listpack-value", "hash-max-ziplist-value"],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.hash_listpack_value_bytes = bytes,
        },
        default: "64",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum length of a field or value in a hash stored compactly.",
    },
    Setting {
        name: "set-max-intset-entries",
        redis_names: &["set-max-intset-entries"],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: i64::MAX,
            set: |current, count| current.set_intset_entries = count as u64,
        },
        default: "512",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum number of members of a set of integers stored compactly, in numeric order.",
    },
    Setting {
        name: "set-max-listpack-entries",
        redis_names: &["set-max-listpack-entries"],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: i64::MAX,
            set: |current, count| current.set_listpack_entries = count as u64,
        },
        default: "128",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum number of members of any other set stored compactly, in insertion order.",
    },
    Setting {
        name: "set-max-listpack-value",
        redis_names: &["set-max-listpack-value"],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.set_listpack_value_bytes = bytes,
        },
        default: "64",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum length of a member of a set stored compactly, in insertion order.",
    },
    Setting {
        name: "hll-sparse-max-bytes",
        redis_names: &["hll-sparse-max-bytes"],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.hll_sparse_bytes_max = bytes,
        },
        default: "3000",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum length of a sparse HyperLogLog; a longer one is converted to dense.",
    },
    Setting {
        name: "notify-keyspace-events",
        redis_names: &["notify-keyspace-events"],
        kind: SettingType::Events { set: |current, classes| current.event_classes = classes },
        default: "",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Keyspace notifications to publish: letters as in Redis, such as AKE; none if empty.",
    },
    Setting {
        name: "zset-max-listpack-entries",
        redis_names: &["zset-max-listpack-entries", "zset-max-ziplist-entries"],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: i64::MAX,
            set: |current, count| current.zset_listpack_entries = count as u64,
        },
        default: "128",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum number of members of a sorted set stored compactly, without an index of its members.",
    },
    Setting {
        name: "zset-max-listpack-value",
        redis_names: &["zset-max-listpack-value", "zset-max-ziplist-value"],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.zset_listpack_value_bytes = bytes,
        },
        default: "64",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum length of a member of a sorted set stored compactly.",
    },
    Setting {
        name: "stream-node-max-bytes",
        redis_names: &["stream-node-max-bytes"],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.stream_node_bytes = bytes,
        },
        default: "4kb",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Approximate maximum bytes of a stream chunk; trimming with ~ removes whole chunks; 0 for no bound.",
    },
    Setting {
        name: "stream-node-max-entries",
        redis_names: &["stream-node-max-entries"],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: i64::MAX,
            set: |current, count| current.stream_node_entries = count as u64,
        },
        default: "100",
        changes: Anytime,
        group: SettingGroup::Data,
        help: "Maximum number of entries of a stream chunk, 0 for no bound.",
    },
    Setting {
        name: "requirepass",
        redis_names: &["requirepass"],
        kind: SettingType::Secret {
            set: |current, text| current.requirepass = (!text.is_empty()).then(|| Secret::new(text)),
        },
        default: "",
        changes: Anytime,
        group: SettingGroup::Security,
        help: "Password that clients must give; better set by the environment or the file than in sight of 'ps'.",
    },
    Setting {
        name: "authentication-timeout",
        redis_names: &[],
        kind: SettingType::Integer {
            unit: "seconds",
            min: 0,
            max: i32::MAX as i64,
            set: |current, seconds| current.authentication_timeout_s = seconds as u32,
        },
        default: "10",
        changes: Anytime,
        group: SettingGroup::Security,
        help: "Time limit to authenticate, 0 for none.",
    },
    Setting {
        name: "migrate-targets",
        redis_names: &[],
        kind: SettingType::Targets { set: |current, targets| current.migrate_targets = targets },
        default: "",
        changes: AtStart,
        group: SettingGroup::Security,
        help: "Servers to which MIGRATE may connect: host or host:port, '*' as in a glob; none if empty.",
    },
    Setting {
        name: "enable-debug-command",
        redis_names: &["enable-debug-command"],
        kind: SettingType::Choice {
            words: &[word("no"), word("local"), word("yes")],
            set: |current, at| current.debug_command = [DebugCommand::No, DebugCommand::Local, DebugCommand::Yes][at],
        },
        default: "no",
        changes: AtStart,
        group: SettingGroup::Security,
        help: "Who may call DEBUG: nobody, clients on this machine, or everybody.",
    },
    Setting {
        name: "maxclients",
        redis_names: &["maxclients"],
        kind: SettingType::Integer {
            unit: "clients",
            min: 1,
            max: u32::MAX as i64,
            set: |current, count| current.maxclients = count as usize,
        },
        default: "10000",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Maximum number of connected clients.",
    },
    Setting {
        name: "client-output-buffer-limit",
        redis_names: &["client-output-buffer-limit"],
        kind: SettingType::BufferLimits { of: |current| &mut current.output_limits },
        // Redis leaves normal clients unbounded, so one slow reader can fill the memory. A gigabyte holds the largest
        // single reply (a value of 512 MiB) twice. There is no soft bound: a client may take its time over a reply it
        // asked for.
        default: "normal 1gb 0 0 replica 256mb 64mb 60 pubsub 32mb 8mb 60",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Disconnects slow readers: class, hard limit, soft limit and its seconds, for each class.",
    },
    Setting {
        name: "client-pinned-limit",
        redis_names: &[],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.pinned_bytes_max = bytes,
        },
        default: "0",
        changes: Anytime,
        group: SettingGroup::Limits,
        // 256 MB, or an eighth of the memory if that is more.
        help: "Maximum bytes of changed values kept for unread replies of all clients; 0 to derive it from the memory.",
    },
    Setting {
        name: "memory-hard-limit",
        redis_names: &[],
        kind: SettingType::Bytes {
            min: 0,
            max: i64::MAX as u64,
            set: |current, bytes| current.memory_bytes_max = bytes,
        },
        default: "0",
        changes: AtStart,
        group: SettingGroup::Limits,
        help: "Memory the process may take before it refuses to grow; 0 obeys the limits of the system alone.",
    },
    Setting {
        name: "memcached-item-size-max",
        redis_names: &[],
        kind: SettingType::Bytes {
            min: 1024,
            max: BULK_BYTES_MAX as u64,
            set: |current, bytes| current.memcached_item_bytes_max = bytes,
        },
        default: "1mb",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Longest value that a client of memcached's protocol may put.",
    },
    Setting {
        name: "client-query-buffer-limit",
        redis_names: &["client-query-buffer-limit"],
        kind: SettingType::Bytes {
            min: MIB,
            max: i64::MAX as u64,
            set: |current, bytes| current.query_buffer_bytes_max = bytes,
        },
        default: "1gb",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Maximum bytes of unprocessed requests of one client.",
    },
    Setting {
        name: "proto-max-bulk-len",
        redis_names: &["proto-max-bulk-len"],
        kind: SettingType::Bytes {
            min: MIB,
            max: BULK_BYTES_MAX as u64,
            set: |current, bytes| current.bulk_bytes_max = bytes,
        },
        default: "512mb",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Longest single argument of a request.",
    },
    Setting {
        name: "script-memory-max",
        redis_names: &[],
        kind: SettingType::Bytes {
            min: 4 * MIB,
            max: i64::MAX as u64,
            set: |current, bytes| current.script_memory_bytes_max = bytes,
        },
        default: "256mb",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Maximum bytes that scripts and functions take on each worker thread; one that needs more fails.",
    },
    Setting {
        name: "busy-reply-threshold",
        redis_names: &["busy-reply-threshold", "lua-time-limit"],
        kind: SettingType::Integer {
            unit: "milliseconds",
            min: 0,
            max: i64::MAX,
            set: |current, ms| current.busy_reply_threshold_ms = ms as u64,
        },
        default: "5000",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "How long a script runs before other clients hear that the server is busy, 0 for ever.",
    },
    Setting {
        name: "search-timeout",
        redis_names: &["search-timeout"],
        kind: SettingType::Integer {
            unit: "milliseconds",
            min: 0,
            max: i64::MAX,
            set: |current, ms| current.search_timeout_ms = ms as u64,
        },
        default: "0",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "How long FT.SEARCH, FT.AGGREGATE, or FT.DELETEBY to find its rows, may take without TIMEOUT; 0 for ever.",
    },
    Setting {
        name: "tracking-table-max-keys",
        redis_names: &["tracking-table-max-keys"],
        kind: SettingType::Integer {
            unit: "",
            min: 0,
            max: i64::MAX,
            set: |current, keys| current.tracking_keys_max = keys as u64,
        },
        default: "1000000",
        changes: Anytime,
        group: SettingGroup::Limits,
        help: "Maximum number of keys tracked for client-side caching, 0 for no bound.",
    },
    Setting {
        name: "log-format",
        redis_names: &[],
        kind: SettingType::Choice {
            words: &[word("text"), word("json")],
            set: |current, at| current.log_format = [LogFormat::Text, LogFormat::Json][at],
        },
        default: "text",
        changes: AtStart,
        group: SettingGroup::Logging,
        help: "Log lines for people, or one JSON object a line.",
    },
    Setting {
        name: "log-level",
        redis_names: &["loglevel"],
        kind: SettingType::Choice {
            words: &[
                word("error"),
                Word { own: "warn", redis: "warning" },
                Word { own: "info", redis: "notice" },
                Word { own: "debug", redis: "verbose" },
                Word { own: "trace", redis: "debug" },
            ],
            set: |current, at| {
                let levels = [LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace];
                current.log_level = levels[at];
            },
        },
        default: "info",
        changes: Anytime,
        group: SettingGroup::Logging,
        help: "Least severity that is logged.",
    },
    Setting {
        name: "slowlog-log-slower-than",
        redis_names: &["slowlog-log-slower-than"],
        kind: SettingType::Integer {
            unit: "microseconds",
            min: -1,
            max: i64::MAX,
            set: |current, us| current.slowlog_slower_than_us = u64::try_from(us).ok(),
        },
        default: "10000",
        changes: Anytime,
        group: SettingGroup::Logging,
        help: "Minimum duration of commands logged in the slow log; 0 logs all, -1 none.",
    },
    Setting {
        name: "slowlog-max-len",
        redis_names: &["slowlog-max-len"],
        kind: SettingType::Integer {
            unit: "entries",
            min: 0,
            max: i64::MAX,
            set: |current, count| current.slowlog_entries_max = count as u64,
        },
        default: "128",
        changes: Anytime,
        group: SettingGroup::Logging,
        help: "Entries that the slow log keeps.",
    },
    Setting {
        name: "latency-monitor-threshold",
        redis_names: &["latency-monitor-threshold"],
        kind: SettingType::Integer {
            unit: "milliseconds",
            min: 0,
            max: i64::MAX,
            set: |current, ms| current.latency_monitor_ms = ms as u64,
        },
        default: "0",
        changes: Anytime,
        group: SettingGroup::Logging,
        help: "Minimum duration of events recorded by LATENCY, 0 to record none.",
    },
];

/// Names that clients ask CONFIG for, with fixed values.
pub static FACTS: &[Fact] = &[
    Fact {
        redis_name: "appendonly",
        value: |current| if current.journal { "yes" } else { "no" },
        reason: "The journal is turned on or off at start: bobbin --journal on|off.",
    },
    Fact { redis_name: "cluster-enabled", value: |_| "no", reason: "There is no cluster mode." },
    Fact {
        redis_name: "maxmemory",
        value: |_| "0",
        reason: "Nothing is evicted; the only value is 0, see memory-hard-limit.",
    },
    Fact {
        redis_name: "maxmemory-policy",
        value: |_| "noeviction",
        reason: "Nothing is evicted; the only value is noeviction.",
    },
    Fact {
        redis_name: "protected-mode",
        value: |_| "yes",
        reason: "Protected mode is always on: without a password only this machine is served.",
    },
    Fact {
        redis_name: "save",
        value: |_| "",
        reason: "Checkpoints are made when the journal has grown, not by a schedule; the only value is the empty one.",
    },
];

#[cfg(test)]
mod tests;
