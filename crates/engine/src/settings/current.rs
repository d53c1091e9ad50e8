//! The settings as the server reads them: typed, one field a row of the table.

use super::targets::Targets;
use keyspace::Classes;
use sha2::Digest;
use std::fmt;
use std::path::PathBuf;

/// Every setting in force. A snapshot: a change makes a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Current {
    /// Addresses to listen on; a leading `-` says that one the machine lacks is skipped.
    pub bind: Vec<String>,
    /// TCP port, 0 for none.
    pub port: u16,
    /// TCP port of the memcached port, 0 for none.
    pub memcached_port: u16,
    /// Likewise, of the queue port.
    pub queue_port: u16,
    /// Database in which its clients find their queues.
    pub queue_database: u32,
    /// Its database.
    pub memcached_database: u32,
    /// Longest value that it takes, in bytes.
    pub memcached_item_bytes_max: u64,
    /// Path of the unix socket, if one is wanted.
    pub unixsocket: Option<PathBuf>,
    /// Likewise, where memcached's protocol is spoken.
    pub memcached_unixsocket: Option<PathBuf>,
    /// Likewise, where MemcacheQ's is.
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
    /// Whether writes are journaled.
    pub journal: bool,
    /// When the journal is synced.
    pub fsync: Fsync,
    /// Whether names are kept in order.
    pub key_order: bool,
    /// How many databases there are.
    pub databases: u32,
    /// Worker threads, 0 for one per core.
    pub threads: usize,
    /// Most clients at once.
    pub maxclients: usize,
    /// Password of the default user, if one is asked for.
    pub requirepass: Option<Secret>,
    /// Seconds in which a connection must give the password, 0 for no bound.
    pub authentication_timeout_s: u32,
    /// Servers to which MIGRATE may connect.
    pub migrate_targets: Targets,
    /// Who may call DEBUG.
    pub debug_command: DebugCommand,
    /// Output that may wait for a client, by its class.
    pub output_limits: OutputLimits,
    /// `checkpoint-journal-size`, in bytes.
    pub checkpoint_journal_bytes: u64,
    /// Most bytes that clients' replies under way may pin together; 0 for as many as the memory allows.
    pub pinned_bytes_max: u64,
    /// `memory-hard-limit`, in bytes; 0 for none beside those of the system.
    pub memory_bytes_max: u64,
    /// Most bytes of unread requests of one client.
    pub query_buffer_bytes_max: u64,
    /// Longest argument of a request, in bytes.
    pub bulk_bytes_max: u64,
    /// Up to which size OBJECT ENCODING calls a list a listpack: items, or when negative a size class.
    pub list_listpack_size: i32,
    /// Most fields of a hash in small form.
    pub hash_listpack_entries: u64,
    /// Longest field or value of a hash in small form, in bytes.
    pub hash_listpack_value_bytes: u64,
    /// Most members of a set of integers in small form.
    pub set_intset_entries: u64,
    /// Most members of any other set in small form.
    pub set_listpack_entries: u64,
    /// Longest member of such a set, in bytes.
    pub set_listpack_value_bytes: u64,
    /// A sparse HyperLogLog that would be longer turns dense, in bytes.
    pub hll_sparse_bytes_max: u64,
    /// Which keyspace notifications are made.
    pub event_classes: Classes,
    /// Most members of a sorted set in small form.
    pub zset_listpack_entries: u64,
    /// Longest member of a sorted set in small form, in bytes.
    pub zset_listpack_value_bytes: u64,
    /// About how long a chunk of a stream grows, in bytes; 0: no matter how long.
    pub stream_node_bytes: u64,
    /// Most entries of a chunk of a stream; 0: no matter how many.
    pub stream_node_entries: u64,
    /// Form of the log lines.
    pub log_format: LogFormat,
    /// Least severity that is logged.
    pub log_level: LogLevel,
    /// Commands that take at least as many microseconds enter the slow log; `None`: none do.
    pub slowlog_slower_than_us: Option<u64>,
    /// Most bytes that the scripts and functions of one worker take.
    pub script_memory_bytes_max: u64,
    /// For so long a script runs before others hear that it is busy; 0 for ever.
    pub busy_reply_threshold_ms: u64,
    /// Entries that the slow log keeps.
    pub slowlog_entries_max: u64,
    /// Commands that take at least as many milliseconds are noted as spikes of latency; 0: none is.
    pub latency_monitor_ms: u64,
    /// Keys that are remembered as kept by clients; 0: no bound.
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
    /// When the system pleases.
    Never,
}

/// Who may call DEBUG.
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
    /// One JSON object a line.
    Json,
}

/// Least severity that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Failures only.
    Error,
    /// And what may become one.
    Warn,
    /// And what an operator wants to know.
    #[default]
    Info,
    /// And each connection.
    Debug,
    /// And each step.
    Trace,
}

/// Bounds on the output waiting for a client, by its class.
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
    /// Cut off when above this for `soft_s` on end.
    pub soft_bytes: u64,
    /// How long the soft bound may be exceeded, in seconds.
    pub soft_s: u32,
}

/// A text that no log and no debug output shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text`.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Compares in a time that tells nothing but the length.
    pub fn matches(&self, given: &[u8]) -> bool {
        let differences = self.0.bytes().zip(given).fold(0, |sum, (mine, theirs)| sum | (mine ^ theirs));
        self.0.len() == given.len() && differences == 0
    }

    /// How long it is, in bytes.
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// Its SHA-256, in hexadecimal digits.
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
