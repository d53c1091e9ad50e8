//! What a handler of the connection or the server may ask of whoever runs it.
//!
//! `commands` sees no socket, file, clock or thread: this trait is all it knows of them.

use std::sync::Arc;

/// Names and values, as `stats` tells them. A name may be a key.
pub type Facts = Vec<(Vec<u8>, String)>;

/// The events that memcached's `watch` tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemEvent {
    /// An item was looked for.
    Fetch,
    /// An item was put, or was to be.
    Mutation,
    /// An item had to go for want of memory, which none has here.
    Eviction,
}

/// How often keys that begin alike were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixCounts {
    /// Looks.
    pub gets: u64,
    /// Those that found an item.
    pub hits: u64,
    /// Requests to put an item.
    pub sets: u64,
    /// Requests to remove one.
    pub deletes: u64,
}

/// How a checkpoint is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// BGSAVE
    Now,
    /// BGSAVE SCHEDULE
    Later,
    /// BGREWRITEAOF
    Rewrite,
}

/// The connection that a command came by, and the server behind it.
pub trait Session {
    // ---- the connection ----

    /// Its number, never given twice.
    fn id(&self) -> u64;
    /// Its name; empty if it has none.
    fn name(&self) -> String;
    /// Names it.
    fn set_name(&mut self, name: &str);
    /// Notes what library it uses: `None` leaves that part.
    fn set_library(&mut self, name: Option<&str>, version: Option<&str>);
    /// 2 or 3.
    fn protocol(&self) -> u8;
    /// Speaks RESP2 or RESP3 from the next byte on.
    fn set_protocol(&mut self, protocol: u8);
    /// Whether it may run commands.
    fn is_authenticated(&self) -> bool;
    /// Whether the server asks for a password at all.
    fn needs_password(&self) -> bool;
    /// Checks name and password; `true` lets it in.
    fn authenticate(&mut self, user: &[u8], password: &[u8]) -> bool;
    /// How many databases there are.
    fn databases(&self) -> u32;
    /// Uses another database.
    fn select(&mut self, database: u32);
    /// Whether the command is one of a transaction, which EXEC runs.
    fn is_in_transaction(&self) -> bool;
    /// Closes once everything has been written.
    fn quit(&mut self);
    /// As if it had just come: no MULTI, no watches, database 0, RESP2, nobody's name, replies on.
    fn reset(&mut self);
    /// ON, OFF or SKIP (the next reply only).
    fn set_reply_mode(&mut self, mode: ReplyMode);
    /// NO-EVICT, NO-TOUCH.
    fn set_switch(&mut self, switch: Switch, on: bool);
    /// Whether its replies wait as under `fsync always`, whatever the server's policy.
    fn set_durable(&mut self, always: bool);

    // ---- messages ----

    /// Begins to receive the messages of a channel or pattern; nothing if it does already.
    fn subscribe(&mut self, topic: Topic, name: &[u8]);
    /// Receives them no longer.
    fn unsubscribe(&mut self, topic: Topic, name: &[u8]);
    /// The names that the connection has subscribed to: the first so many.
    fn subscriptions(&self, topic: Topic, names_max: usize) -> Vec<Vec<u8>>;
    /// How many subscriptions of the connection are told beside one of `topic`: channels and patterns together, or shard
    /// channels.
    fn subscriptions_count(&self, topic: Topic) -> usize;
    /// Sends a message to a channel; how many subscriptions it reaches.
    fn publish(&mut self, topic: Topic, channel: &[u8], message: &[u8]) -> usize;
    /// Whether so much of patterns is to be looked at for a message to this channel that it is to be sent in parts. O(1).
    fn is_long_way(&self, channel: &[u8]) -> bool;
    /// A part of [`Session::publish`] to a channel: to the channel itself and the first patterns, then to those behind the pattern
    /// `after`. How many subscriptions it reaches, and the last of these patterns if there are more.
    fn publish_part(&mut self, channel: &[u8], message: &[u8], after: Option<&Arc<[u8]>>)
    -> (usize, Option<Arc<[u8]>>);
    /// Channels that anybody has subscribed to, those that match the glob pattern if there is one, of one of the parts over
    /// which they are spread. `None`: there is no part of this number.
    fn channels(&self, topic: Topic, pattern: Option<&[u8]>, part: usize) -> Option<Vec<Vec<u8>>>;
    /// How many channels anybody has subscribed to. O(1).
    fn channels_count(&self, topic: Topic) -> usize;
    /// How many have subscribed to a channel.
    fn subscribers_count(&self, topic: Topic, channel: &[u8]) -> usize;
    /// How many different patterns anybody has subscribed to.
    fn patterns_count(&self) -> usize;
    /// Whether the connection speaks RESP2 and has subscribed, so that replies look like messages.
    fn is_listening(&self) -> bool;

    // ---- all connections ----

    /// Shows the connection from now on what all connections ask for.
    ///
    /// # Errors
    /// The whole text, inside a transaction.
    fn monitor(&mut self) -> Result<(), String>;
    /// Shows the connection from now on what clients of memcached's protocol do, of these kinds.
    ///
    /// # Errors
    /// The whole text, if too many are shown that, or inside a transaction.
    fn watch_items(&mut self, events: &[ItemEvent]) -> Result<(), String>;

    /// Whether there is a connection of this number.
    fn has_client(&self, id: u64) -> bool;
    /// How what this connection reads is tracked; `None`: it is not.
    fn tracking(&self) -> Option<Tracking>;
    /// Tracks what it reads from now on, or goes on to in another way.
    fn track(&mut self, tracking: Tracking);
    /// Tracks it no more.
    fn untrack(&mut self);
    /// A line for each that `filter` names, as CLIENT LIST writes it.
    fn client_lines(&self, filter: &ClientFilter) -> String;
    /// The line of this one.
    fn client_line(&self) -> String;
    /// Closes those that `filter` names; how many.
    fn kill(&mut self, filter: &ClientFilter) -> u64;
    /// Ends the wait of a blocked one, by time-out or with an error; whether it was blocked.
    fn unblock(&mut self, id: u64, with_error: bool) -> bool;
    /// Ends CLIENT PAUSE.
    fn unpause(&mut self);

    // ---- scripts ----

    /// Whether a script of this name, forty hexadecimal digits, is known.
    fn knows_script(&self, name: &str) -> bool;
    /// Forgets all scripts.
    fn flush_scripts(&mut self);
    /// Ends a script that runs long, or a function. The error is the whole text.
    fn kill_script(&mut self, functions: bool) -> Result<(), String>;
    /// What FUNCTION STATS tells. The error is the whole text.
    fn function_stats(&self) -> Result<FunctionStats, String>;

    // ---- the server ----

    /// Has a checkpoint made; whether nothing comes before it. The error is the whole text.
    fn begin_checkpoint(&mut self, saving: Saving) -> Result<bool, String>;
    /// When the last checkpoint ended, or the server started.
    fn saved_ms(&self) -> u64;
    /// Microseconds since the epoch.
    fn now_us(&self) -> u64;
    /// Settings whose names match any of the glob patterns.
    fn config_get(&self, patterns: &[&[u8]]) -> Vec<(String, String)>;
    /// Changes settings, all or none. The error is the whole text.
    fn config_set(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<(), String>;
    /// Writes the settings to the file they came from. The error is the whole text.
    fn config_rewrite(&mut self) -> Result<(), String>;
    /// Sets the counters that INFO tells to zero, but for those of the next two.
    fn reset_statistics(&mut self);
    /// Sets the counters of memcached's items to zero, and forgets what was counted of prefixes.
    fn reset_item_statistics(&mut self);
    /// Sets the counters of the queue port to zero.
    fn reset_queue_statistics(&mut self);
    /// Counts requests for items by the prefixes of their keys from now on, or no longer.
    fn count_prefixes(&mut self, on: bool);
    /// Counts by prefix, in the order of prefixes. O(prefixes).
    fn prefix_counts(&self) -> Vec<(Vec<u8>, PrefixCounts)>;
    /// What INFO tells of these sections (lower case; none: the default ones).
    fn info(&self, sections: &[String]) -> String;
    /// What `stats` of the memcached port tells of this topic (none: of all in general): names and values. `None`: there is no
    /// such topic.
    fn memcached_facts(&self, topic: &str) -> Option<Facts>;
    /// Likewise, of the queue port.
    fn queue_facts(&self, topic: &str) -> Option<Facts>;
    /// The newest entries of the slow log.
    fn slowlog(&self, entries_max: usize) -> Vec<SlowEntry>;
    /// How many entries it has.
    fn slowlog_len(&self) -> usize;
    /// Empties it.
    fn slowlog_reset(&mut self);
    /// What took long.
    fn latency(&self) -> Vec<SlowEvents>;
    /// Forgets what took long, of these kinds of event, or all if none is named; how many kinds.
    fn latency_reset(&mut self, events: &[&[u8]]) -> usize;
    /// Of each command that was called, as COMMAND names it: microseconds, and how many calls took at most so long.
    fn latency_histograms(&self) -> Vec<(String, Vec<(u64, u64)>)>;
    /// The SHA-256 of the password in hexadecimal digits; `None` if there is none.
    fn password_digest(&self) -> Option<String>;
    /// Bytes that nobody can guess.
    fn secret_bytes(&mut self, count: usize) -> Vec<u8>;
    /// Figures for MEMORY STATS.
    fn memory(&self) -> MemoryFigures;
    /// Whether DEBUG is allowed to this connection.
    fn may_debug(&self) -> bool;
    /// Switches the pass that removes expired keys.
    fn set_active_expire(&mut self, on: bool);
}

/// What may be subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A channel.
    Channel,
    /// All channels that match a glob pattern.
    Pattern,
    /// A channel of its shard of a cluster: here a name space of its own.
    Shard,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMode {
    /// Replies are sent.
    On,
    /// None is.
    Off,
    /// The next one is not.
    Skip,
}

/// CLIENT NO-EVICT, CLIENT NO-TOUCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The connection is not closed to save memory.
    NoEvict,
    /// Its reads do not count as use of a key.
    NoTouch,
}

/// How a connection's reads are tracked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// The connection that is told in place of it; 0: none.
    pub redirect: u64,
    /// It is told of all changes of keys with its prefixes, whatever it reads.
    pub is_broadcast: bool,
    /// Which reads count.
    pub when: TrackWhen,
    /// It is not told of its own changes.
    pub no_loop: bool,
    /// What keys begin with; only if it is a broadcast.
    pub prefixes: Vec<Vec<u8>>,
    /// CLIENT CACHING was said.
    pub is_caching_said: bool,
    /// The connection that was to be told is gone.
    pub is_broken: bool,
}

/// Which reads are tracked.
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

/// Which connections; every part given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFilter {
    /// One of these numbers, which are in order, if any are given.
    pub ids: Vec<u64>,
    /// `normal`, `pubsub`, `master`, `replica`.
    pub kind: Option<String>,
    /// Address of the other side, `host:port`.
    pub address: Option<String>,
    /// Address of this side.
    pub local_address: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Older than this, in seconds.
    pub age_s_min: Option<u64>,
    /// Whether the asking connection itself is left out.
    pub skip_me: bool,
}

/// An entry of the slow log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowEntry {
    /// Counts up.
    pub id: u64,
    /// When it ended, in seconds since the epoch.
    pub at_s: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// Its arguments, shortened.
    pub arguments: Vec<Vec<u8>>,
    /// The other side's address.
    pub address: String,
    /// The connection's name.
    pub name: String,
}

/// Events of one kind that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowEvents {
    /// What kind: `command`, or `fast-command` of those that are quick as a rule.
    pub event: String,
    /// When, in seconds since the epoch, and how long the longest of that second took, in milliseconds; the oldest first.
    pub samples: Vec<(u64, u64)>,
    /// The longest of all, in milliseconds.
    pub max_ms: u64,
}

/// What FUNCTION STATS tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionStats {
    /// The function that runs long.
    pub running: Option<RunningFunction>,
    /// How many libraries there are.
    pub libraries_count: usize,
    /// How many functions they have.
    pub functions_count: usize,
}

/// A function that runs long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningFunction {
    /// Its name.
    pub name: String,
    /// The request that called it.
    pub command: Vec<Vec<u8>>,
    /// For how long it has run, in milliseconds.
    pub took_ms: u64,
}

/// What MEMORY STATS tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFigures {
    /// The most used so far, in bytes.
    pub peak_bytes: u64,
    /// In use now, in bytes.
    pub total_bytes: u64,
    /// In use when the server was ready, in bytes.
    pub startup_bytes: u64,
    /// By clients' buffers, in bytes.
    pub clients_bytes: u64,
    /// By the data, in bytes.
    pub dataset_bytes: u64,
    /// Resident, in bytes.
    pub resident_bytes: u64,
    /// By tables of each database: number, keys, keys with a deadline.
    pub databases: Vec<(u32, u64, u64)>,
    /// All keys.
    pub keys_count: u64,
}
