//! The engine: the keyspace and all state shared by the threads that serve it.

use crate::auth_failures::AuthFailures;
use crate::checkpoint::orders::{Asked, Orders, Patience, Reason};
use crate::client::Clients;
use crate::counters::{Counters, Errors, Rates, Sample};
use crate::deferred_drop::DeferredDrop;
use crate::flushes::Flushes;
use crate::homes::Homes;
use crate::hooks::Hooks;
use crate::latency_monitor::LatencyMonitor;
use crate::loading::Loading;
use crate::memory::Memory;
use crate::monitors::Monitors;
use crate::offload::OffloadPool;
use crate::pause::Pause;
use crate::prefixes::PrefixMap;
use crate::pubsub::SubscriptionRegistry;
use crate::script::Scripts;
use crate::search::IndexRegistry;
use crate::settings::{Current, Fsync, Settings};
use crate::slowlog::SlowLog;
use crate::tracking::Tracker;
use crate::watchdog::{Report, Watchdog, WatchdogState};
use base::clock::Clock;
use base::hash::KeyHasher;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use base::{Ms, Position};
use journal::{Journal, Level, Policy, Recovery};
use keyspace::{Classes, Keyspace};
use std::sync::Arc;
use std::task::Waker;
use sync::gate::Gate;

/// The server's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum number of threads besides the workers that take shard locks: loaders, housekeeper, checkpointer, and spare
/// ones.
const BACKGROUND_MEMBERS_MAX: usize = 32;

/// The state shared by all threads.
pub struct Engine {
    /// All keys.
    pub keyspace: Keyspace,
    /// The one clock.
    pub clock: Clock,
    /// The gate, which stops access to all shards at once.
    pub gate: Arc<Gate>,
    /// The log of all changes; `None` for a pure cache.
    pub journal: Option<Arc<Journal>>,
    /// Blocked commands and watches.
    pub hooks: Hooks,
    /// Connections.
    pub clients: Clients,
    /// Home workers of shards.
    pub(crate) homes: Homes,
    /// All subscriptions.
    pub(crate) registry: SubscriptionRegistry,
    /// The enabled keyspace notifications: [`Classes::bits`].
    event_classes: AtomicU32,
    /// Settings.
    pub settings: Arc<Settings>,
    /// One set per worker.
    pub counters: Box<[Arc<Counters>]>,
    /// Error replies by word.
    pub errors: Errors,
    /// Recent rates per second.
    pub rates: Rates,
    /// The slow log.
    pub slowlog: SlowLog,
    /// Slow events.
    pub latency_monitor: LatencyMonitor,
    /// The keys that clients may have cached.
    pub(crate) tracker: Tracker,
    /// Pending flushes of the memcached port.
    pub(crate) flushes: Flushes,
    /// Counts of `stats detail`, by key prefix.
    pub(crate) prefixes: PrefixMap,
    /// Wrong passwords.
    pub auth_failures: AuthFailures,
    /// Connections that receive all requests.
    pub(crate) monitors: Monitors,
    /// CLIENT PAUSE.
    pub pause: Pause,
    /// Known scripts, and the long-running ones.
    pub scripts: Scripts,
    /// Live indexes of hashes.
    pub(crate) indexes: IndexRegistry,
    /// The thread that drops big values.
    pub deferred_drop: DeferredDrop,
    /// The threads that run big commands speculatively.
    pub offload: OffloadPool,
    /// Bytes of the clones in frames on their way to the journal: the most that it pins.
    pub journal_clones_bytes: Arc<AtomicU64>,
    /// When the server was ready.
    pub started_ms: Ms,
    /// Forty hexadecimal digits, new at each start.
    pub run_id: String,
    /// The port reported by INFO.
    pub port: AtomicU32,
    /// True if the expire cycle is active (DEBUG SET-ACTIVE-EXPIRE).
    pub active_expire: AtomicBool,
    /// The result of recovery.
    pub recovery: Option<Recovery>,
    /// Requests to the checkpointer, and its status.
    pub checkpoints: Orders,
    /// The shards still to be loaded.
    pub loading: Loading,
    /// The state read by the watchdog.
    pub(crate) watch: WatchdogState,
    members: AtomicU32,
    /// The memory left by its limits.
    pub memory: Memory,
    /// Bytes in use when ready, and the peak since.
    pub startup_bytes: AtomicU64,
    /// See above.
    pub peak_bytes: AtomicU64,
    shutdown: Shutdown,
}

#[derive(Default)]
struct Shutdown {
    asked: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

/// The parts of a new engine.
pub struct Parts {
    /// The hasher, from the data folder or new.
    pub hasher: KeyHasher,
    /// The one clock.
    pub clock: Clock,
    /// Settings.
    pub settings: Arc<Settings>,
    /// Worker threads.
    pub workers: usize,
}

impl Engine {
    /// Creates an engine over an opened journal (or none) and the keyspace that `loading` fills.
    pub fn new(
        parts: Parts,
        keyspace: Keyspace,
        loading: Loading,
        journal: Option<(Arc<Journal>, Recovery)>,
    ) -> Arc<Self> {
        let (journal, recovery) = journal.unzip();
        let current = parts.settings.current();
        apply_limits(&current);
        keyspace.order().want(current.key_order);
        let drawn = [KeyHasher::random().key(), KeyHasher::random().key()].concat();
        let run_id = drawn.iter().take(20).map(|byte| format!("{byte:02x}")).collect();
        let deferred_drop = DeferredDrop::default();
        let engine = Arc::new(Self {
            started_ms: parts.clock.wall(),
            keyspace,
            clock: parts.clock,
            gate: Arc::new(Gate::new(parts.workers + BACKGROUND_MEMBERS_MAX)),
            journal,
            hooks: Hooks::default(),
            clients: Clients::default(),
            homes: Homes::default(),
            registry: SubscriptionRegistry::new(parts.workers),
            event_classes: AtomicU32::new(current.event_classes.bits()),
            settings: parts.settings,
            // The last set is for background threads.
            counters: (0..=parts.workers).map(|_| Arc::default()).collect(),
            errors: Errors::default(),
            rates: Rates::default(),
            slowlog: SlowLog::default(),
            latency_monitor: LatencyMonitor::default(),
            prefixes: PrefixMap::default(),
            tracker: Tracker::default(),
            flushes: Flushes::default(),
            auth_failures: AuthFailures::default(),
            monitors: Monitors::default(),
            pause: Pause::default(),
            scripts: Scripts::default(),
            indexes: IndexRegistry::new(&deferred_drop),
            deferred_drop,
            offload: OffloadPool::default(),
            journal_clones_bytes: Arc::default(),
            run_id,
            port: AtomicU32::new(u32::from(current.port)),
            active_expire: AtomicBool::new(true),
            recovery,
            checkpoints: Orders::default(),
            loading,
            watch: WatchdogState::new(parts.workers),
            members: AtomicU32::new(0),
            memory: Memory::default(),
            startup_bytes: AtomicU64::new(0),
            peak_bytes: AtomicU64::new(0),
            shutdown: Shutdown::default(),
        });
        engine.follow_settings();
        engine
    }

    /// Applies settings held elsewhere when CONFIG SET changes them.
    fn follow_settings(self: &Arc<Self>) {
        let engine = Arc::downgrade(self);
        self.settings.on_change(Box::new(move |_, current| {
            apply_limits(current);
            let Some(engine) = engine.upgrade() else { return Ok(()) };
            engine.event_classes.store(current.event_classes.bits(), Relaxed);
            engine.keyspace.order().want(current.key_order);
            if let Some(journal) = &engine.journal {
                journal.set_policy(policy_of(current.fsync));
            }
            Ok(())
        }));
    }

    /// Returns the number of workers.
    pub(crate) fn workers(&self) -> usize {
        // The last set of counters is that of all other threads.
        self.counters.len() - 1
    }

    /// Registers one more thread with the gate and returns its membership.
    pub fn member(&self) -> sync::gate::Member {
        self.gate.member(self.members.fetch_add(1, Relaxed) as usize)
    }

    /// Returns the enabled keyspace notifications.
    pub(crate) fn event_classes(&self) -> Classes {
        Classes::of_bits(self.event_classes.load(Relaxed))
    }

    /// Returns true if writers are to help first: more names or rows wait to be put in order than is wanted.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.keyspace.order().is_behind() || self.indexes.is_behind()
    }

    /// Returns true if the changes of every transaction are looked at, with a journal or without.
    #[inline]
    pub(crate) fn reads_changes(&self) -> bool {
        self.tracker.is_used() || self.indexes.is_used()
    }

    /// Returns true if anybody may receive keyspace notifications.
    #[inline]
    pub(crate) fn publishes_events(&self) -> bool {
        self.event_classes().publishes_any() && self.registry.is_used()
    }

    /// Returns true if a reply that has seen `position` may be sent under the policy in force, or under `always`: once
    /// everything below survives a crash of the process, or of the machine.
    pub fn may_leave(&self, position: Position, always: bool) -> bool {
        let Some(journal) = &self.journal else { return true };
        // In that canary build, replies are sent before the changes they confirm are written: the history test must
        // find it.
        let is_early = cfg!(bobbin_canary = "early-reply") && !always && journal.level() == Level::Written;
        is_early || position <= journal.reached(if always { Level::Durable } else { journal.level() })
    }

    /// Asks the server to stop.
    pub fn shut_down(&self) {
        self.shutdown.asked.store(true, Relaxed);
        let wakers = std::mem::take(&mut *self.shutdown.wakers.lock().expect("no holder panics"));
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns true if the server was asked to stop; otherwise registers `waker` for that.
    pub fn is_shutting_down(&self, waker: Option<&Waker>) -> bool {
        if let Some(waker) = waker {
            self.shutdown.wakers.lock().expect("no holder panics").push(waker.clone());
        }
        self.shutdown.asked.load(Relaxed)
    }

    /// Adds a sample to the rates; called a few times a second.
    pub fn sample(&self) {
        let sum = |counter: fn(&Counters) -> u64| self.counters.iter().map(|counters| counter(counters)).sum();
        let sample = Sample {
            commands: sum(|counters| counters.commands.get()),
            input_bytes: sum(|counters| counters.input_bytes.get()),
            output_bytes: sum(|counters| counters.output_bytes.get()),
        };
        self.rates.add(self.clock.now(), sample);
    }

    /// CONFIG RESETSTAT.
    pub fn reset_statistics(&self) {
        self.counters.iter().for_each(|counters| counters.reset());
        self.errors.reset();
        self.watch.reset();
        self.auth_failures.reset_total();
    }

    /// `stats reset` of the memcached port.
    pub(crate) fn reset_item_statistics(&self) {
        self.counters.iter().for_each(|counters| counters.reset_items());
        self.prefixes.clear();
    }

    /// Requests a checkpoint; returns the number of its round.
    ///
    /// # Errors
    /// Returns the full error text if one is already requested or running, or there is nowhere to keep it.
    pub(crate) fn begin_checkpoint(&self, reason: Reason, patience: Patience) -> Result<Asked, String> {
        if self.journal.is_none() {
            return Err("ERR there is nowhere to save to: the journal is off".into());
        }
        self.checkpoints.ask(reason, patience).map_err(Into::into)
    }

    /// Returns the number of the journal's frames beyond the store: those found at the start and those written since.
    pub(crate) fn frames(&self) -> u64 {
        let written = self.journal.as_ref().map_or(0, |journal| journal.statistics().frames);
        written + self.recovery.as_ref().map_or(0, |recovery| recovery.frames)
    }

    /// Returns the number of changes that no checkpoint holds, one per frame; frames on their way to the journal may be
    /// missing.
    pub(crate) fn changes_unsaved(&self) -> u64 {
        let Some(journal) = &self.journal else {
            return self.counters.iter().map(|counters| counters.changes.get()).sum();
        };
        let next = journal.next();
        let (position, frames) = self.checkpoints.status().saved;
        if next == position { 0 } else { self.frames().saturating_sub(frames).max(1) }
    }

    /// Counts a shard hold by a background thread.
    pub(crate) fn note_background_hold(&self, held_ns: u64) {
        let counters = self.background_counters();
        counters.longest_lock_hold_us.raise(held_ns / 1000);
        counters.lock_holds.add(held_ns);
    }

    /// Counts a background hold again as one in which a checkpoint turned the shard.
    pub(crate) fn note_shard_turn(&self, held_ns: u64) {
        let counters = self.background_counters();
        counters.longest_shard_turn_us.raise(held_ns / 1000);
        counters.shard_turns.add(held_ns);
    }

    /// Records an event that held others up for `took_ms` milliseconds, if it reaches the LATENCY threshold.
    pub(crate) fn note_spike(&self, event: &'static str, took_ms: u64) {
        let threshold_ms = self.settings.current().latency_monitor_ms;
        if threshold_ms > 0 && took_ms >= threshold_ms {
            self.latency_monitor.note(event, self.clock.wall() / 1000, took_ms);
        }
    }

    /// Looks at all operations in progress, counts those newly too old, and returns those to be logged.
    pub fn look_after(&self, watchdog: &mut Watchdog) -> Vec<Report> {
        self.watch.look(watchdog, self.gate.is_raised())
    }

    fn background_counters(&self) -> &Counters {
        self.counters.last().expect("there is one for background threads")
    }

    /// Sums up all shards, looking at each once; skips a shard that is held for writing. For a shard still to be
    /// loaded, counts its stored keys. O(shards).
    pub fn sums(&self) -> Sums {
        let map = self.keyspace.map();
        let tables: Vec<_> = (0..map.databases()).map(|database| map.table(database)).collect();
        let mut sums = Sums { data_bytes: 0, databases: vec![KeysSum::default(); tables.len()] };
        for (number, shard) in (0..base::limits::SHARDS).map(|number| (number, self.keyspace.shard(number))) {
            if shard.is_shut() {
                for (table, sum) in tables.iter().zip(&mut sums.databases) {
                    let known = self.loading.known(number, *table);
                    sum.add(known.keys, known.expiring, None);
                    sum.strings += known.keys;
                }
                continue;
            }
            let Some(state) = shard.try_read() else { continue };
            sums.data_bytes += state.heap_bytes();
            for (table, section) in state.sections() {
                if let Some(database) = tables.iter().position(|named| *named == table) {
                    let (keys, expiring) = (section.keys_count() as u64, section.expiring_count() as u64);
                    let sum = &mut sums.databases[database];
                    sum.add(keys, expiring, section.average_due());
                    let (strings, strings_bytes) = section.strings();
                    sum.strings += strings as u64;
                    sum.strings_bytes += strings_bytes;
                }
            }
        }
        sums
    }
}

/// Totals over all shards.
pub struct Sums {
    /// Memory of all keys, values and tables, in bytes.
    pub data_bytes: u64,
    /// Totals of each database.
    pub databases: Vec<KeysSum>,
}

/// Key statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeysSum {
    /// All keys, including expired ones not yet removed.
    pub keys: u64,
    /// Keys with a deadline.
    pub expiring: u64,
    /// Keys that hold strings; in a shard still to be loaded, all keys are taken for strings.
    pub strings: u64,
    /// Approximate memory of the strings in memory, in bytes.
    pub strings_bytes: u64,
    /// The weighted sum of approximate deadlines in memory, each times its shard's number of expiring keys.
    dues_ms: u128,
    /// Expiring keys in memory.
    dues: u64,
}

impl KeysSum {
    fn add(&mut self, keys: u64, expiring: u64, average_due: Option<Ms>) {
        (self.keys, self.expiring) = (self.keys + keys, self.expiring + expiring);
        if let Some(due_ms) = average_due {
            self.dues_ms += u128::from(due_ms) * u128::from(expiring);
            self.dues += expiring;
        }
    }

    /// Returns the approximate average time to live of expiring keys, in milliseconds.
    pub fn average_left_ms(&self, now: Ms) -> Ms {
        self.dues_ms.checked_div(u128::from(self.dues)).map_or(0, |due_ms| (due_ms as Ms).saturating_sub(now))
    }
}

/// Passes the size limits in the settings on to the values.
fn apply_limits(current: &Current) {
    values::list::set_listpack_limit(i64::from(current.list_listpack_size));
    values::limits::HASH_ENTRIES.set(current.hash_listpack_entries);
    values::limits::SET_INTEGERS.set(current.set_intset_entries);
    values::limits::SET_ENTRIES.set(current.set_listpack_entries);
    values::limits::SET_VALUE_BYTES.set(current.set_listpack_value_bytes);
    values::limits::HASH_VALUE_BYTES.set(current.hash_listpack_value_bytes);
    values::limits::HLL_SPARSE_BYTES.set(current.hll_sparse_bytes_max);
    values::limits::SORTED_ENTRIES.set(current.zset_listpack_entries);
    values::limits::SORTED_MEMBER_BYTES.set(current.zset_listpack_value_bytes);
    values::limits::ITEM_BYTES.set(current.memcached_item_bytes_max);
    values::limits::STREAM_NODE_BYTES.set(current.stream_node_bytes);
    values::limits::STREAM_NODE_ENTRIES.set(current.stream_node_entries);
}

/// Returns the journal's policy for a setting.
pub fn policy_of(fsync: Fsync) -> Policy {
    match fsync {
        Fsync::Always => Policy::Always,
        Fsync::Everysec => Policy::EverySec,
        Fsync::Never => Policy::Never,
    }
}
