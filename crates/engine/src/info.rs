//! INFO: server data for clients, exporters and people, in Redis's format and under Redis's names.

use crate::checkpoint::orders::{CheckpointInfo, Reason, Round};
use crate::client::{LOCAL_RESERVE, locked_clients_max};
use crate::counters::{Counter, Counters};
use crate::engine::{Engine, VERSION};
use crate::latency::{Latency, percentiles_ns};
use crate::watchdog::WatchedThing;
use base::limits::SHARDS;
use base::primitives::atomic::Ordering::Relaxed;
use commands::{MemoryFigures, REDIS_VERSION, SEARCH_VERSION, Topic, registry};
use keyspace::IndexState;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A section: its name, whether plain INFO shows it, and its writer.
type Section = (&'static str, bool, fn(&Engine, &mut String));

const SECTIONS: &[Section] = &[
    ("server", true, server),
    ("clients", true, clients),
    ("memory", true, memory_section),
    ("persistence", true, persistence),
    ("stats", true, stats),
    ("replication", true, replication),
    ("cpu", true, cpu),
    ("modules", true, modules),
    ("commandstats", false, commandstats),
    ("errorstats", true, errorstats),
    ("latencystats", false, latencystats),
    ("cluster", true, |_, out| line(out, "cluster_enabled", 0)),
    ("keyspace", true, keyspace),
];

/// Returns the text of these sections (in lower case); of the default ones if none are named.
pub fn text(engine: &Engine, sections: &[String]) -> String {
    let names: BTreeSet<&str> = sections.iter().map(String::as_str).collect();
    let asked = |name: &str| names.contains(name);
    let everything = asked("all") || asked("everything");
    let mut out = String::new();
    for (name, by_default, write) in SECTIONS {
        if everything || asked(name) || (*by_default && (sections.is_empty() || asked("default"))) {
            if !out.is_empty() {
                out.push_str("\r\n");
            }
            let title = name[..1].to_ascii_uppercase() + &name[1..];
            let title = if *name == "cpu" { "CPU".to_owned() } else { title };
            let _ = write!(out, "# {title}\r\n");
            write(engine, &mut out);
        }
    }
    out
}

fn line(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = write!(out, "{name}:{value}\r\n");
}

fn total(engine: &Engine, counter: impl Fn(&Counters) -> &Counter) -> u64 {
    engine.counters.iter().map(|counters| counter(counters).get()).sum()
}

fn greatest(engine: &Engine, counter: impl Fn(&Counters) -> &Counter) -> u64 {
    engine.counters.iter().map(|counters| counter(counters).get()).max().unwrap_or(0)
}

fn modules(_: &Engine, out: &mut String) {
    let module = format!("name=search,ver={SEARCH_VERSION},api=1,filters=0,usedby=[],using=[],options=[]");
    line(out, "module", module);
}

fn server(engine: &Engine, out: &mut String) {
    let settings = engine.settings.current();
    let up_s = engine.clock.wall().saturating_sub(engine.started_ms) / 1000;
    line(out, "redis_version", REDIS_VERSION);
    line(out, "bobbin_version", VERSION);
    line(out, "redis_mode", "standalone");
    let system = rustix::system::uname();
    let words = [system.sysname(), system.release(), system.machine()].map(std::ffi::CStr::to_string_lossy);
    line(out, "os", words.join(" "));
    line(out, "arch_bits", usize::BITS);
    line(out, "multiplexing_api", "epoll");
    line(out, "process_id", std::process::id());
    line(out, "run_id", &engine.run_id);
    line(out, "tcp_port", engine.port.load(Relaxed));
    line(out, "memcached_port", settings.memcached_port);
    line(out, "queue_port", settings.queue_port);
    line(out, "server_time_usec", engine.clock.wall_us());
    line(out, "uptime_in_seconds", up_s);
    line(out, "uptime_in_days", up_s / 86_400);
    line(out, "hz", 10);
    line(out, "configured_hz", 10);
    line(out, "executable", std::env::current_exe().map_or(String::new(), |path| path.display().to_string()));
    line(out, "config_file", engine.settings.file().map_or(String::new(), |path| path.display().to_string()));
    line(out, "io_threads_active", u8::from(engine.workers() > 1));
    line(out, "threads", engine.workers());
    line(out, "data_folder", if settings.journal { settings.dir.display().to_string() } else { String::new() });
}

fn clients(engine: &Engine, out: &mut String) {
    let all = engine.clients.select(&commands::ClientFilter::default(), 0, 0);
    let blocked = all.iter().filter(|client| client.is_waiting()).count();
    let watching = all.iter().filter(|client| client.watching.load(Relaxed) > 0).count();
    line(out, "connected_clients", all.len());
    line(out, "cluster_connections", 0);
    let maxclients = engine.settings.current().maxclients;
    line(out, "maxclients", maxclients);
    line(out, "maxclients_local_reserve", LOCAL_RESERVE);
    line(out, "maxclients_local_reserve_used", all.len().saturating_sub(maxclients));
    line(out, "unauthenticated_clients", engine.clients.locked_count());
    line(out, "maxclients_unauthenticated", locked_clients_max(maxclients));
    line(out, "client_recent_max_input_buffer", 0);
    line(out, "client_recent_max_output_buffer", 0);
    line(out, "blocked_clients", blocked);
    line(out, "tracking_clients", engine.tracker.figures()[0]);
    line(out, "pubsub_clients", all.iter().filter(|client| client.is_subscribed()).count());
    line(out, "watching_clients", watching);
    line(out, "clients_in_timeout_table", blocked);
    let (waited, waited_for_its_end) = engine.hooks.waited_count();
    line(out, "total_blocking_keys", waited);
    line(out, "total_blocking_keys_on_nokey", waited_for_its_end);
}

/// Returns memory figures; raises the peak.
pub fn memory(engine: &Engine) -> MemoryFigures {
    let sums = engine.sums();
    let dataset_bytes = sums.data_bytes;
    let clients = engine.clients.select(&commands::ClientFilter::default(), 0, 0);
    let clients_bytes: u64 = clients.iter().map(|client| client.memory_bytes()).sum();
    let startup_bytes = engine.startup_bytes.load(Relaxed);
    let total_bytes = startup_bytes + dataset_bytes + clients_bytes + engine.keyspace.order().figures().1;
    let peak_bytes = engine.peak_bytes.fetch_max(total_bytes, Relaxed).max(total_bytes);
    let databases = (0..).zip(sums.databases).filter(|(_, sum)| sum.keys > 0);
    let databases: Vec<_> = databases.map(|(number, sum)| (number, sum.keys, sum.expiring)).collect();
    MemoryFigures {
        peak_bytes,
        total_bytes,
        startup_bytes,
        clients_bytes,
        dataset_bytes,
        resident_bytes: resident_bytes(),
        keys_count: databases.iter().map(|(_, keys, _)| keys).sum(),
        databases,
    }
}

/// Returns the resident memory of this process, in bytes; 0 if the system does not report it.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}

/// Returns the memory of this machine, in bytes.
pub(crate) fn total_system_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    system.totalram as u64 * u64::from(system.mem_unit)
}

fn memory_section(engine: &Engine, out: &mut String) {
    let figures = memory(engine);
    line(out, "used_memory", figures.total_bytes);
    line(out, "used_memory_human", human(figures.total_bytes));
    line(out, "used_memory_rss", figures.resident_bytes);
    line(out, "used_memory_rss_human", human(figures.resident_bytes));
    line(out, "used_memory_peak", figures.peak_bytes);
    line(out, "used_memory_peak_human", human(figures.peak_bytes));
    line(out, "used_memory_overhead", figures.total_bytes - figures.dataset_bytes);
    line(out, "used_memory_startup", figures.startup_bytes);
    line(out, "used_memory_dataset", figures.dataset_bytes);
    let machines_bytes = total(engine, |counters| &counters.script_memory_bytes);
    line(out, "used_memory_vm_total", machines_bytes);
    line(out, "used_memory_vm_total_human", human(machines_bytes));
    line(out, "script_memory_max", engine.settings.current().script_memory_bytes_max);
    let (scripts_count, scripts_bytes) = engine.scripts.count();
    line(out, "used_memory_scripts_eval", scripts_bytes);
    line(out, "number_of_cached_scripts", scripts_count);
    let libraries = engine.scripts.library_counts();
    line(out, "number_of_functions", libraries.functions);
    line(out, "number_of_libraries", libraries.libraries);
    line(out, "used_memory_functions", libraries.bytes);
    line(out, "used_memory_scripts", scripts_bytes + libraries.bytes);
    line(out, "used_memory_scripts_human", human((scripts_bytes + libraries.bytes) as u64));
    let system_bytes = total_system_bytes();
    line(out, "total_system_memory", system_bytes);
    line(out, "total_system_memory_human", human(system_bytes));
    line(out, "maxmemory", 0);
    line(out, "maxmemory_human", "0B");
    line(out, "maxmemory_policy", "noeviction");
    line(
        out,
        "mem_fragmentation_ratio",
        format_args!("{:.2}", figures.resident_bytes as f64 / figures.total_bytes.max(1) as f64),
    );
    line(out, "mem_clients_normal", figures.clients_bytes);
    line(out, "mem_clients_pinned", engine.clients.pinned_bytes());
    line(out, "mem_journal_pinned", engine.journal_clones_bytes.load(Relaxed));
    line(out, "mem_allocator", "jemalloc");
    hard_limit(engine, out);
}

/// Writes the memory limit of the process; 0 if there is none.
fn hard_limit(engine: &Engine, out: &mut String) {
    let status = engine.memory.status();
    line(out, "memory_hard_limit", status.as_ref().map_or(0, |status| status.limit.bytes));
    if let Some(status) = status {
        line(out, "memory_hard_limit_source", &status.limit.source);
        line(out, "memory_hard_limit_refuses_at", status.limit.refuse_at_bytes());
        line(out, "memory_hard_limit_used", status.used_bytes);
        line(out, "memory_hard_limit_room", status.room_bytes);
    }
    line(out, "oom_refusals", engine.memory.refusals());
}

/// Formats a number of bytes for people as Redis does.
fn human(bytes: u64) -> String {
    let bytes_f = bytes as f64;
    match bytes.checked_ilog2().unwrap_or(0) / 10 {
        0 => format!("{bytes}B"),
        1 => format!("{:.2}K", bytes_f / 1024.0),
        2 => format!("{:.2}M", bytes_f / f64::from(1 << 20)),
        _ => format!("{:.2}G", bytes_f / f64::from(1 << 30)),
    }
}

fn persistence(engine: &Engine, out: &mut String) {
    loading(engine, out);
    let checkpoint = engine.checkpoints.status();
    let seconds = |round: &Round, until_ms: u64| until_ms.saturating_sub(round.began_ms) / 1000;
    let is_failed = checkpoint.last.as_ref().is_some_and(|ended| ended.fault.is_some());
    let is_rewriting = checkpoint.round.is_some_and(|round| round.reason == Reason::Rewrite);
    line(out, "rdb_changes_since_last_save", engine.changes_unsaved());
    line(out, "rdb_bgsave_in_progress", u8::from(checkpoint.round.is_some() && !is_rewriting));
    line(out, "rdb_last_save_time", checkpoint.saved_ms.max(engine.started_ms) / 1000);
    line(out, "rdb_last_bgsave_status", if is_failed { "err" } else { "ok" });
    let last_s = checkpoint.last.as_ref().map_or(-1, |ended| seconds(&ended.round, ended.ended_ms) as i64);
    line(out, "rdb_last_bgsave_time_sec", last_s);
    let now_s = checkpoint.round.as_ref().map_or(-1, |round| seconds(round, engine.clock.now()) as i64);
    line(out, "rdb_current_bgsave_time_sec", now_s);
    let Some(journal) = &engine.journal else {
        line(out, "aof_enabled", 0);
        line(out, "aof_last_write_status", "ok");
        return;
    };
    let statistics = journal.statistics();
    let status = if statistics.poisoned.is_some() || statistics.full { "err" } else { "ok" };
    line(out, "aof_enabled", 1);
    line(out, "aof_rewrite_in_progress", u8::from(is_rewriting));
    line(out, "aof_rewrite_scheduled", u8::from(checkpoint.rewrites_next));
    line(out, "aof_last_rewrite_time_sec", last_s);
    line(out, "aof_last_bgrewrite_status", if is_failed { "err" } else { "ok" });
    line(out, "aof_last_write_status", status);
    line(out, "aof_current_size", statistics.file_bytes);
    line(out, "aof_base_size", checkpoint.stored.statistics.live_bytes);
    line(out, "aof_pending_bio_fsync", 0);
    line(out, "journal_position", journal.next());
    line(out, "journal_written", journal.written());
    line(out, "journal_durable", journal.durable());
    line(out, "journal_history", format_args!("{:016x}", journal.history().0));
    line(out, "journal_frames", statistics.frames);
    line(out, "journal_bytes", statistics.bytes);
    line(out, "journal_writes", statistics.writes);
    line(out, "journal_syncs", statistics.syncs);
    line(out, "journal_worker_syncs", statistics.worker_syncs);
    line(out, "journal_last_sync_us", statistics.sync_us_last);
    line(out, "journal_longest_sync_us", statistics.sync_us_max);
    line(out, "journal_segments", statistics.segments);
    line(out, "journal_spares", statistics.spares);
    line(out, "journal_file_bytes", statistics.file_bytes);
    line(out, "journal_tail_bytes", statistics.tail_bytes);
    line(out, "journal_recycled", statistics.recycled);
    line(out, "journal_removed", statistics.removed);
    line(out, "journal_full", u8::from(statistics.full));
    line(out, "journal_paced", u8::from(journal.is_paced()));
    line(out, "journal_poisoned", statistics.poisoned.unwrap_or_default().replace(['\r', '\n'], " "));
    checkpoints(&checkpoint, engine.clock.now(), out);
    if let Some(recovery) = &engine.recovery {
        line(out, "recovered_frames", recovery.frames);
        line(out, "recovered_after_clean_stop", u8::from(recovery.clean_stop));
        line(out, "recovered_torn_bytes", recovery.torn.as_ref().map_or(0, |torn| torn.bytes));
    }
}

/// Reports loading as Redis does when it serves meanwhile: a client that waits for `loading` may begin at once.
fn loading(engine: &Engine, out: &mut String) {
    let is_loading = !engine.loading.is_over();
    line(out, "loading", 0);
    line(out, "async_loading", u8::from(is_loading));
    if !is_loading {
        return;
    }
    let progress = engine.loading.progress();
    let took_ms = engine.clock.wall().saturating_sub(engine.started_ms);
    let (done, total) = (progress.bytes_done, progress.bytes_total.max(1));
    let eta_s = (u128::from(took_ms) * u128::from(total.saturating_sub(done)) / u128::from(done.max(1))).div_ceil(1000);
    line(out, "loading_start_time", engine.started_ms / 1000);
    line(out, "loading_total_bytes", progress.bytes_total);
    line(out, "loading_loaded_bytes", done);
    line(out, "loading_loaded_perc", format_args!("{:.2}", done as f64 * 100.0 / total as f64));
    line(out, "loading_eta_seconds", if done == 0 { 1 } else { eta_s });
    line(out, "loading_shards_left", progress.shards_left);
    line(out, "loading_values_left", progress.values_left);
    line(out, "loading_waits_for_memory", u8::from(engine.loading.is_halted()));
}

fn checkpoints(checkpoint: &CheckpointInfo, now: u64, out: &mut String) {
    let stored = &checkpoint.stored.statistics;
    line(out, "checkpoint_position", checkpoint.stored.position);
    line(out, "checkpoint_rounds", checkpoint.rounds);
    if let Some(round) = &checkpoint.round {
        let took_ms = now.saturating_sub(round.began_ms);
        let left = SHARDS - round.shards_done;
        line(out, "checkpoint_reason", round.reason.word());
        line(out, "checkpoint_progress_percent", round.shards_done * 100 / SHARDS);
        line(out, "checkpoint_eta_seconds", took_ms * left as u64 / round.shards_done.max(1) as u64 / 1000);
    }
    if let Some(ended) = &checkpoint.last {
        line(out, "checkpoint_last_reason", ended.round.reason.word());
        line(out, "checkpoint_last_ms", ended.ended_ms.saturating_sub(ended.round.began_ms));
        line(out, "checkpoint_last_bytes", ended.round.bytes);
        line(out, "checkpoint_last_fault", ended.fault.as_deref().unwrap_or_default().replace(['\r', '\n'], " "));
    }
    line(out, "store_disk_bytes", stored.disk_bytes);
    line(out, "store_live_bytes", stored.live_bytes);
    line(out, "store_segments", stored.segments);
    line(out, "store_commits", stored.commits);
    line(out, "store_commits_failed", stored.commits_failed);
    line(out, "store_bytes_written", stored.bytes_written);
}

fn stats(engine: &Engine, out: &mut String) {
    let rates = engine.rates.per_second();
    line(out, "total_connections_received", total(engine, |c| &c.connections));
    line(out, "total_commands_processed", total(engine, |c| &c.commands));
    line(out, "instantaneous_ops_per_sec", rates.commands);
    line(out, "total_net_input_bytes", total(engine, |c| &c.input_bytes));
    line(out, "total_net_output_bytes", total(engine, |c| &c.output_bytes));
    line(out, "instantaneous_input_kbps", format_args!("{:.2}", rates.input_bytes as f64 / 1024.0));
    line(out, "instantaneous_output_kbps", format_args!("{:.2}", rates.output_bytes as f64 / 1024.0));
    line(out, "moved_connections", total(engine, |c| &c.moves));
    line(out, "rejected_connections", total(engine, |c| &c.refused));
    line(out, "acl_access_denied_auth", engine.auth_failures.total());
    line(out, "authentication_timeouts", total(engine, |c| &c.passwords_late));
    line(out, "http_connections_closed", total(engine, |c| &c.http));
    line(out, "expired_keys", total(engine, |c| &c.expired));
    line(out, "dropped_tagged_lists", total(engine, |c| &c.dropped));
    line(out, "evicted_keys", 0);
    line(out, "evicted_clients", total(engine, |c| &c.evicted));
    line(out, "keyspace_hits", total(engine, |c| &c.hits));
    line(out, "keyspace_misses", total(engine, |c| &c.misses));
    line(out, "pubsub_channels", engine.registry.names_count(Topic::Channel));
    line(out, "pubsub_patterns", engine.registry.names_count(Topic::Pattern));
    line(out, "pubsubshard_channels", engine.registry.names_count(Topic::Shard));
    line(out, "latest_fork_usec", 0);
    let [_, keys, items, prefixes] = engine.tracker.figures();
    line(out, "tracking_total_keys", keys);
    line(out, "tracking_total_items", items);
    line(out, "tracking_total_prefixes", prefixes);
    line(out, "total_forks", 0);
    key_order(engine, out);
    line(out, "total_error_replies", total(engine, |c| &c.errors));
    line(out, "client_output_buffer_limit_disconnections", total(engine, |c| &c.slow_readers));
    line(out, "oldest_turn_us", engine.watch.oldest_turn_us());
    let count = |what| engine.watch.count(what);
    line(out, "watchdog_long_turns", count(WatchedThing::Turn));
    line(out, "watchdog_long_lock_holds", count(WatchedThing::LockHold) + count(WatchedThing::ScriptHold));
    line(out, "watchdog_long_journal_waits", count(WatchedThing::JournalWait));
    line(out, "watchdog_long_gate_holds", count(WatchedThing::Gate));
    line(out, "longest_turn_us", greatest(engine, |c| &c.longest_turn_us));
    line(out, "longest_lock_hold_us", greatest(engine, |c| &c.longest_lock_hold_us));
    line(out, "longest_lock_wait_us", greatest(engine, |c| &c.longest_lock_wait_us));
    line(out, "longest_shard_turn_us", greatest(engine, |c| &c.longest_shard_turn_us));
    let durable_wait_us = engine.journal.as_ref().map_or(0, |journal| journal.statistics().longest_durable_wait_us);
    line(out, "longest_durable_wait_us", durable_wait_us);
    percentiles(engine, out, "turn_us", |c| &c.turns);
    percentiles(engine, out, "lock_hold_us", |c| &c.lock_holds);
    percentiles(engine, out, "lock_wait_us", |c| &c.lock_waits);
    percentiles(engine, out, "shard_turn_us", |c| &c.shard_turns);
}

fn key_order(engine: &Engine, out: &mut String) {
    let (count, bytes) = engine.keyspace.order().figures();
    let (word, percent) = match engine.keyspace.order().state() {
        IndexState::Off => ("off", 0),
        IndexState::Building(percent) => ("building", percent),
        IndexState::On => ("on", 100),
    };
    line(out, "key_order", word);
    line(out, "key_order_progress_percent", percent);
    line(out, "key_order_names", count);
    line(out, "key_order_bytes", bytes);
    line(out, "key_order_backlog_bytes", engine.keyspace.order().backlog_bytes());
}

fn replication(engine: &Engine, out: &mut String) {
    line(out, "role", "master");
    line(out, "connected_slaves", 0);
    line(out, "master_failover_state", "no-failover");
    line(out, "master_replid", &engine.run_id);
    line(out, "master_replid2", "0".repeat(40));
    line(out, "master_repl_offset", engine.journal.as_ref().map_or(0, |journal| journal.next()));
    line(out, "second_repl_offset", -1);
    line(out, "repl_backlog_active", 0);
    line(out, "repl_backlog_size", 0);
}

fn cpu(_: &Engine, out: &mut String) {
    let (user_s, system_s) = cpu_seconds();
    line(out, "used_cpu_sys", format_args!("{system_s:.6}"));
    line(out, "used_cpu_user", format_args!("{user_s:.6}"));
    line(out, "used_cpu_sys_children", "0.000000");
    line(out, "used_cpu_user_children", "0.000000");
}

/// Returns the CPU time of this process in user and system mode, in seconds.
pub(crate) fn cpu_seconds() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in brackets, may contain anything: count fields from the closing bracket.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let seconds = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0) / 100.0;
    (seconds(11), seconds(12))
}

fn commandstats(engine: &Engine, out: &mut String) {
    for (index, command) in registry::commands().enumerate() {
        let sum = |counter: fn(&crate::counters::CommandCounters) -> &Counter| {
            engine.counters.iter().map(|counters| counter(&counters.by_command[index]).get()).sum::<u64>()
        };
        let (calls, took_ns) = (sum(|command| &command.calls), sum(|command| &command.took_ns));
        let (failed, rejected) = (sum(|command| &command.failed), sum(|command| &command.rejected));
        if calls + rejected == 0 {
            continue;
        }
        let name = command.reported_name();
        let took_us = took_ns as f64 / 1000.0;
        let each_us = if calls == 0 { 0.0 } else { took_us / calls as f64 };
        let value = format!(
            "calls={calls},usec={took_us:.0},usec_per_call={each_us:.2},rejected_calls={rejected},failed_calls={failed}"
        );
        line(out, &format!("cmdstat_{name}"), value);
    }
}

fn latencystats(engine: &Engine, out: &mut String) {
    for (index, command) in registry::commands().enumerate() {
        let all = engine.counters.iter().map(|counters| &counters.by_command[index].latency);
        if let Some(value) = percentiles_us(all) {
            let name = command.reported_name();
            line(out, &format!("latency_percentiles_usec_{name}"), value);
        }
    }
}

fn percentiles(engine: &Engine, out: &mut String, name: &str, of: fn(&Counters) -> &Latency) {
    let value = percentiles_us(engine.counters.iter().map(|counters| of(counters)));
    line(out, name, value.unwrap_or_else(|| "p50=0.000,p99=0.000,p99.9=0.000".to_owned()));
}

fn percentiles_us<'a>(all: impl Iterator<Item = &'a Latency>) -> Option<String> {
    let [p50, p99, p999] = percentiles_ns(all, [0.5, 0.99, 0.999])?.map(|ns| ns as f64 / 1000.0);
    Some(format!("p50={p50:.3},p99={p99:.3},p99.9={p999:.3}"))
}

fn errorstats(engine: &Engine, out: &mut String) {
    for (prefix, count) in engine.errors.counts() {
        // As in Redis, so that a script's word cannot imitate another line.
        let prefix = prefix.replace(['#', ':', '\n', '\r'], "_");
        line(out, &format!("errorstat_{prefix}"), format_args!("count={count}"));
    }
}

fn keyspace(engine: &Engine, out: &mut String) {
    for (database, sum) in engine.sums().databases.into_iter().enumerate() {
        if sum.keys > 0 {
            let (keys, expiring, left_ms) = (sum.keys, sum.expiring, sum.average_left_ms(engine.clock.now()));
            let figures = format_args!("keys={keys},expires={expiring},avg_ttl={left_ms},subexpiry=0");
            line(out, &format!("db{database}"), figures);
        }
    }
}
