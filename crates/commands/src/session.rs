//! The interface through which connection and server handlers use their runtime.
//!
//! `commands` sees no socket, file, clock or thread: this trait is all it knows of them.

use std::sync::Arc;

/// Names and values, as `stats` reports them. A name may be a key.
pub type Facts = Vec<(Vec<u8>, String)>;

/// The event types of memcached's `watch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemEvent {
    /// A lookup of an item.
    Fetch,
    /// A store of an item, successful or not.
    Mutation,
    /// An eviction for lack of memory, which never happens here.
    Eviction,
}

/// Request counts for keys with a common prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixCounts {
    /// Lookups.
    pub gets: u64,
    /// Lookups that found an item.
    pub hits: u64,
    /// Store requests.
    pub sets: u64,
    /// Delete requests.
    pub deletes: u64,
}

/// The request for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// BGSAVE
    Now,
    /// BGSAVE SCHEDULE
    Later,
    /// BGREWRITEAOF
    Rewrite,
}

/// The connection a command came from, and its server.
pub trait Session {
    // ---- the connection ----

    /// Returns its number, never reused.
    fn id(&self) -> u64;
    /// Returns its name; empty if it has none.
    fn name(&self) -> String;
    /// Sets its name.
    fn set_name(&mut self, name: &str);
    /// Records the client library; `None` leaves that part unchanged.
    fn set_library(&mut self, name: Option<&str>, version: Option<&str>);
    /// Returns 2 or 3.
    fn protocol(&self) -> u8;
    /// Switches to RESP2 or RESP3, from the next byte on.
    fn set_protocol(&mut self, protocol: u8);
    /// Returns true if it may run commands.
    fn is_authenticated(&self) -> bool;
    /// Returns true if the server requires a password.
    fn needs_password(&self) -> bool;
    /// Checks name and password; `true` authenticates the connection.
    fn authenticate(&mut self, user: &[u8], password: &[u8]) -> bool;
    /// Returns the number of databases.
    fn databases(&self) -> u32;
    /// Selects another database.
    fn select(&mut self, database: u32);
    /// Returns true if the command is part of a transaction that EXEC runs.
    fn is_in_transaction(&self) -> bool;
    /// Closes the connection once everything has been written.
    fn quit(&mut self);
    /// Resets to the state of a new connection: no MULTI, no watches, database 0, RESP2, not authenticated, replies on.
    fn reset(&mut self);
    /// Sets ON, OFF or SKIP (the next reply only).
    fn set_reply_mode(&mut self, mode: ReplyMode);
    /// Sets NO-EVICT or NO-TOUCH.
    fn set_switch(&mut self, switch: Switch, on: bool);
    /// Sets whether its replies wait as under `fsync always`, whatever the server's policy.
    fn set_durable(&mut self, always: bool);

    // ---- messages ----

    /// Subscribes to a channel or pattern; does nothing if already subscribed.
    fn subscribe(&mut self, topic: Topic, name: &[u8]);
    /// Unsubscribes.
    fn unsubscribe(&mut self, topic: Topic, name: &[u8]);
    /// Returns the first `names_max` of the connection's subscriptions.
    fn subscriptions(&self, topic: Topic, names_max: usize) -> Vec<Vec<u8>>;
    /// Returns the connection's subscription count as reported with one of `topic`: channels and patterns together, or
    /// shard channels.
    fn subscriptions_count(&self, topic: Topic) -> usize;
    /// Publishes a message to a channel. Returns how many subscriptions it reaches.
    fn publish(&mut self, topic: Topic, channel: &[u8], message: &[u8]) -> usize;
    /// Returns true if a message to this channel has so many patterns to check that it must be sent in parts. O(1).
    fn is_long_way(&self, channel: &[u8]) -> bool;
    /// Runs a part of [`Session::publish`] to a channel: first the channel itself and the first patterns, then the
    /// patterns after `after`. Returns how many subscriptions it reaches, and the last pattern checked if there are
    /// more.
    fn publish_part(&mut self, channel: &[u8], message: &[u8], after: Option<&Arc<[u8]>>)
    -> (usize, Option<Arc<[u8]>>);
    /// Returns the channels with subscribers that match the glob pattern, if given, from one of the parts over which
    /// channels are spread. `None`: no part has this number.
    fn channels(&self, topic: Topic, pattern: Option<&[u8]>, part: usize) -> Option<Vec<Vec<u8>>>;
    /// Returns the number of channels with subscribers. O(1).
    fn channels_count(&self, topic: Topic) -> usize;
    /// Returns the number of a channel's subscribers.
    fn subscribers_count(&self, topic: Topic, channel: &[u8]) -> usize;
    /// Returns the number of distinct subscribed patterns.
    fn patterns_count(&self) -> usize;
    /// Returns true if the connection speaks RESP2 and has subscriptions, so that replies look like messages.
    fn is_listening(&self) -> bool;

    // ---- all connections ----

    /// Shows the connection all requests of all connections from now on.
    ///
    /// # Errors
    /// The whole error text, inside a transaction.
    fn monitor(&mut self) -> Result<(), String>;
    /// Shows the connection memcached-protocol events of these types from now on.
    ///
    /// # Errors
    /// The whole error text, if there are too many watchers, or inside a transaction.
    fn watch_items(&mut self, events: &[ItemEvent]) -> Result<(), String>;

    /// Returns true if a connection has this number.
    fn has_client(&self, id: u64) -> bool;
    /// Returns how this connection's reads are tracked; `None`: not at all.
    fn tracking(&self) -> Option<Tracking>;
    /// Starts tracking its reads, or changes how they are tracked.
    fn track(&mut self, tracking: Tracking);
    /// Stops tracking.
    fn untrack(&mut self);
    /// Returns a line for each connection that matches `filter`, as CLIENT LIST writes it.
    fn client_lines(&self, filter: &ClientFilter) -> String;
    /// Returns this connection's line.
    fn client_line(&self) -> String;
    /// Closes the connections that match `filter`. Returns how many.
    fn kill(&mut self, filter: &ClientFilter) -> u64;
    /// Ends a blocked client's wait, by timeout or with an error. Returns whether it was blocked.
    fn unblock(&mut self, id: u64, with_error: bool) -> bool;
    /// Ends CLIENT PAUSE.
    fn unpause(&mut self);

    // ---- scripts ----

    /// Returns true if a script of this name, forty hexadecimal digits, is cached.
    fn knows_script(&self, name: &str) -> bool;
    /// Removes all scripts.
    fn flush_scripts(&mut self);
    /// Kills a long-running script or function. The error is the whole text.
    fn kill_script(&mut self, functions: bool) -> Result<(), String>;
    /// Returns the figures of FUNCTION STATS. The error is the whole text.
    fn function_stats(&self) -> Result<FunctionStats, String>;

    // ---- the server ----

    /// Requests a checkpoint. Returns true if it starts at once. The error is the whole text.
    fn begin_checkpoint(&mut self, saving: Saving) -> Result<bool, String>;
    /// Returns when the last checkpoint ended, or the server started.
    fn saved_ms(&self) -> u64;
    /// Returns microseconds since the epoch.
    fn now_us(&self) -> u64;
    /// Returns the settings whose names match any of the glob patterns.
    fn config_get(&self, patterns: &[&[u8]]) -> Vec<(String, String)>;
    /// Changes settings, all or none. The error is the whole text.
    fn config_set(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<(), String>;
    /// Writes the settings back to their file. The error is the whole text.
    fn config_rewrite(&mut self) -> Result<(), String>;
    /// Resets the counters of INFO, except those of the next two.
    fn reset_statistics(&mut self);
    /// Resets the counters of memcached items and the prefix counts.
    fn reset_item_statistics(&mut self);
    /// Resets the counters of the queue port.
    fn reset_queue_statistics(&mut self);
    /// Turns counting of item requests by key prefix on or off.
    fn count_prefixes(&mut self, on: bool);
    /// Returns the counts by prefix, in prefix order. O(prefixes).
    fn prefix_counts(&self) -> Vec<(Vec<u8>, PrefixCounts)>;
    /// Returns these sections of INFO (lower case; none: the default ones).
    fn info(&self, sections: &[String]) -> String;
    /// Returns names and values of `stats` on the memcached port for this topic (none: general). `None`: no such topic.
    fn memcached_facts(&self, topic: &str) -> Option<Facts>;
    /// Likewise for the queue port.
    fn queue_facts(&self, topic: &str) -> Option<Facts>;
    /// Returns the newest entries of the slow log.
    fn slowlog(&self, entries_max: usize) -> Vec<SlowEntry>;
    /// Returns the length of the slow log.
    fn slowlog_len(&self) -> usize;
    /// Clears the slow log.
    fn slowlog_reset(&mut self);
    /// Returns the latency events.
    fn latency(&self) -> Vec<SlowEvents>;
    /// Clears the latency events of these types, or all if none is given. Returns how many types.
    fn latency_reset(&mut self, events: &[&[u8]]) -> usize;
    /// Returns for each command called, named as by COMMAND: microseconds, and how many calls took at most that long.
    fn latency_histograms(&self) -> Vec<(String, Vec<(u64, u64)>)>;
    /// Returns the SHA-256 of the password in hexadecimal digits; `None` if there is none.
    fn password_digest(&self) -> Option<String>;
    /// Returns cryptographically random bytes.
    fn secret_bytes(&mut self, count: usize) -> Vec<u8>;
    /// Returns the figures for MEMORY STATS.
    fn memory(&self) -> MemoryFigures;
    /// Returns true if this connection may use DEBUG.
    fn may_debug(&self) -> bool;
    /// Turns active expiry on or off.
    fn set_active_expire(&mut self, on: bool);
}

/// A subscription type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A channel.
    Channel,
    /// All channels that match a glob pattern.
    Pattern,
    /// A channel of a cluster shard: here a separate namespace.
    Shard,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMode {
    /// Replies are sent.
    On,
    /// No replies are sent.
    Off,
    /// The next reply is skipped.
    Skip,
}

/// CLIENT NO-EVICT, CLIENT NO-TOUCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The connection is not closed to free memory.
    NoEvict,
    /// Its reads do not count as key accesses.
    NoTouch,
}

/// The tracking state of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// The connection notified in its place; 0: none.
    pub redirect: u64,
    /// True if it is notified of all changes of keys with its prefixes, read or not.
    pub is_broadcast: bool,
    /// The tracked reads.
    pub when: TrackWhen,
    /// True if its own changes are left out.
    pub no_loop: bool,
    /// The key prefixes; only for broadcast.
    pub prefixes: Vec<Vec<u8>>,
    /// True if CLIENT CACHING was sent.
    pub is_caching_said: bool,
    /// True if the redirect connection is gone.
    pub is_broken: bool,
}

/// The tracked reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrackWhen {
    /// All.
    #[default]
    Always,
    /// Those that CLIENT CACHING YES announces.
    OptIn,
    /// All but those that CLIENT CACHING NO announces.
    OptOut,
}

/// A filter for connections; all given parts must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFilter {
    /// Any of these numbers, in order, if given.
    pub ids: Vec<u64>,
    /// `normal`, `pubsub`, `master`, `replica`.
    pub kind: Option<String>,
    /// The remote address, `host:port`.
    pub address: Option<String>,
    /// The local address.
    pub local_address: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// The minimum age, in seconds.
    pub age_s_min: Option<u64>,
    /// True if the calling connection is left out.
    pub skip_me: bool,
}

/// An entry of the slow log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowEntry {
    /// The sequence number.
    pub id: u64,
    /// The time it ended, in seconds since the epoch.
    pub at_s: u64,
    /// The duration, in microseconds.
    pub took_us: u64,
    /// Its arguments, shortened.
    pub arguments: Vec<Vec<u8>>,
    /// The client's address.
    pub address: String,
    /// The connection's name.
    pub name: String,
}

/// Latency events of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowEvents {
    /// The type: `command`, or `fast-command` for commands that are normally fast.
    pub event: String,
    /// The time, in seconds since the epoch, and the maximum of that second, in milliseconds; oldest first.
    pub samples: Vec<(u64, u64)>,
    /// The overall maximum, in milliseconds.
    pub max_ms: u64,
}

/// The figures of FUNCTION STATS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionStats {
    /// The long-running function.
    pub running: Option<RunningFunction>,
    /// The number of libraries.
    pub libraries_count: usize,
    /// The number of functions in them.
    pub functions_count: usize,
}

/// A long-running function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningFunction {
    /// Its name.
    pub name: String,
    /// The request that called it.
    pub command: Vec<Vec<u8>>,
    /// Its running time so far, in milliseconds.
    pub took_ms: u64,
}

/// The figures of MEMORY STATS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFigures {
    /// Peak usage, in bytes.
    pub peak_bytes: u64,
    /// Current usage, in bytes.
    pub total_bytes: u64,
    /// Usage when the server was ready, in bytes.
    pub startup_bytes: u64,
    /// Usage by client buffers, in bytes.
    pub clients_bytes: u64,
    /// Usage by the data, in bytes.
    pub dataset_bytes: u64,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// For each database: number, keys, keys with a deadline.
    pub databases: Vec<(u32, u64, u64)>,
    /// The number of all keys.
    pub keys_count: u64,
}
