//! The settings as the server reads them: typed, one field per table row.

use super::targets::Targets;
use keyspace::Classes;
use sha2::Digest;
use std::fmt;
use std::path::PathBuf;

/// All settings in force. A snapshot: a change makes a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Current {
    /// Addresses to listen on; one with a leading `-` is skipped if the machine lacks it.
    pub bind: Vec<String>,
    /// TCP port, 0 for none.
    pub port: u16,
    /// TCP port for memcached's protocol, 0 for none.
    pub memcached_port: u16,
    /// TCP port for MemcacheQ's protocol, 0 for none.
    pub queue_port: u16,
    /// Database of the queue port's queues.
    pub queue_database: u32,
    /// Database of the memcached port.
    pub memcached_database: u32,
    /// Longest value that the memcached port accepts, in bytes.
    pub memcached_item_bytes_max: u64,
    /// Path of the unix socket, if one is wanted.
    pub unixsocket: Option<PathBuf>,
    /// Likewise, for memcached's protocol.
    pub memcached_unixsocket: Option<PathBuf>,
    /// Likewise, for MemcacheQ's.
    pub queue_unixsocket: Option<PathBuf>,
    /// Permission bits of unix sockets; `None` leaves them to the umask.
    pub unixsocket_mode: Option<u32>,
    /// Connections that may wait for `accept`.
    pub tcp_backlog: u32,
    /// Seconds of silence before the kernel probes a peer, 0 for never.
    pub tcp_keepalive_s: u32,
    /// Seconds after which an idle client is disconnected, 0 for never.
    pub timeout_s: u32,
    /// The data folder; unused with the journal off.
    pub dir: PathBuf,
    /// True if writes are journaled.
    pub journal: bool,
    /// When the journal is synced.
    pub fsync: Fsync,
    /// True if an order of names is maintained.
    pub key_order: bool,
    /// The number of databases.
    pub databases: u32,
    /// Worker threads, 0 for one per core.
    pub threads: usize,
    /// Maximum number of clients at once.
    pub maxclients: usize,
    /// Password of the default user, if one is required.
    pub requirepass: Option<Secret>,
    /// Seconds within which a connection must give the password, 0 for no bound.
    pub authentication_timeout_s: u32,
    /// Servers to which MIGRATE may connect.
    pub migrate_targets: Targets,
    /// Clients that may call DEBUG.
    pub debug_command: DebugCommand,
    /// Limits on pending output, by client class.
    pub output_limits: OutputLimits,
    /// `checkpoint-journal-size`, in bytes.
    pub checkpoint_journal_bytes: u64,
    /// Maximum bytes that clients' replies in progress may pin together; 0 for as many as the memory allows.
    pub pinned_bytes_max: u64,
    /// `memory-hard-limit`, in bytes; 0 for none besides those of the system.
    pub memory_bytes_max: u64,
    /// Maximum bytes of unread requests of one client.
    pub query_buffer_bytes_max: u64,
    /// Longest argument of a request, in bytes.
    pub bulk_bytes_max: u64,
    /// Size up to which OBJECT ENCODING calls a list a listpack: items, or if negative a size class.
    pub list_listpack_size: i32,
    /// Maximum number of fields of a hash in small form.
    pub hash_listpack_entries: u64,
    /// Longest field or value of a hash in small form, in bytes.
    pub hash_listpack_value_bytes: u64,
    /// Maximum number of members of a set of integers in small form.
    pub set_intset_entries: u64,
    /// Maximum number of members of any other set in small form.
    pub set_listpack_entries: u64,
    /// Longest member of such a set in small form, in bytes.
    pub set_listpack_value_bytes: u64,
    /// Length in bytes above which a sparse HyperLogLog turns dense.
    pub hll_sparse_bytes_max: u64,
    /// Enabled keyspace notifications.
    pub event_classes: Classes,
    /// Maximum number of members of a sorted set in small form.
    pub zset_listpack_entries: u64,
    /// Longest member of a sorted set in small form, in bytes.
    pub zset_listpack_value_bytes: u64,
    /// Approximate maximum bytes of a chunk of a stream; 0: no bound.
    pub stream_node_bytes: u64,
    /// Maximum number of entries of a chunk of a stream; 0: no bound.
    pub stream_node_entries: u64,
    /// Form of the log lines.
    pub log_format: LogFormat,
    /// Lowest severity that is logged.
    pub log_level: LogLevel,
    /// Microseconds from which a command enters the slow log; `None`: none does.
    pub slowlog_slower_than_us: Option<u64>,
    /// Maximum bytes that the scripts and functions of one worker take.
    pub script_memory_bytes_max: u64,
    /// Milliseconds that a script runs before others get the busy error; 0 for no limit.
    pub busy_reply_threshold_ms: u64,
    /// Milliseconds that a query without TIMEOUT may take; 0 for no limit.
    pub search_timeout_ms: u64,
    /// Entries that the slow log keeps.
    pub slowlog_entries_max: u64,
    /// Milliseconds from which a command counts as a latency spike; 0: none does.
    pub latency_monitor_ms: u64,
    /// Maximum number of keys remembered as cached by clients; 0: no bound.
    pub tracking_keys_max: u64,
}

/// When the journal is synced, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// Before any reply that a crash could take back.
    Always,
    /// Once a second.
    #[default]
    Everysec,
    /// When the system chooses.
    Never,
}

/// Clients that may call DEBUG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DebugCommand {
    /// Nobody.
    #[default]
    No,
    /// Clients on this machine.
    Local,
    /// Everybody.
    Yes,
}

/// Form of the log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Lowest severity that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Failures only.
    Error,
    /// And possible causes of failures.
    Warn,
    /// And what an operator should know.
    #[default]
    Info,
    /// And each connection.
    Debug,
    /// And each step.
    Trace,
}

/// Limits on the pending output of a client, by its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimits {
    /// Ordinary clients.
    pub normal: OutputLimit,
    /// Replicas.
    pub replica: OutputLimit,
    /// Clients with subscriptions.
    pub pubsub: OutputLimit,
}

/// One bound: the client is cut off at once above `hard_bytes`, or after `soft_s` seconds above `soft_bytes`.
/// Zero bytes stand for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimit {
    /// Cut off at once above this.
    pub hard_bytes: u64,
    /// Cut off when above this for `soft_s` without a break.
    pub soft_bytes: u64,
    /// Maximum time the soft bound may be exceeded, in seconds.
    pub soft_s: u32,
}

/// A text that appears in no log and no debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Compares in a time that reveals nothing but the length.
    pub fn matches(&self, given: &[u8]) -> bool {
        let differences = self.0.bytes().zip(given).fold(0, |sum, (mine, theirs)| sum | (mine ^ theirs));
        self.0.len() == given.len() && differences == 0
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// Returns its SHA-256 in hexadecimal digits.
    pub fn digest(&self) -> String {
        sha2::Sha256::digest(&self.0).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_matches_itself_and_is_not_shown() {
        let secret = Secret::new("opener");
        assert!(secret.matches(b"opener"));
        for other in ["", "open", "openers", "Opener"] {
            assert!(!secret.matches(other.as_bytes()), "{other}");
        }
        assert_eq!(format!("{secret:?}"), "********");
        assert_eq!(Secret::new("abc").digest(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
