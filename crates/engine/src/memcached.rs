//! `stats` of the memcached port. Facts without a counterpart here, such as slabs and evictions, are reported as zero.

use crate::counters::{Counters, ItemCount};
use crate::engine::{Engine, VERSION};
use crate::info;
use base::primitives::atomic::Ordering::Relaxed;
use commands::{Facts, MEMCACHED_VERSION};
use std::fmt::Display;

/// Returns the names and values of a topic; `None` if there is no such topic.
pub(crate) fn facts(engine: &Engine, topic: &str) -> Option<Facts> {
    let mut facts = Facts::new();
    match topic {
        "" => general(engine, &mut facts),
        "settings" => settings(engine, &mut facts),
        "items" => items(engine, &mut facts),
        "slabs" => slabs(engine, &mut facts),
        "sizes" => add(&mut facts, "sizes_status", "disabled"),
        "conns" => connections(engine, &mut facts),
        _ => return None,
    }
    Some(facts)
}

pub(crate) fn add(facts: &mut Facts, name: impl Display, value: impl Display) {
    facts.push((name.to_string().into_bytes(), value.to_string()));
}

pub(crate) fn total(engine: &Engine, counter: impl Fn(&Counters) -> u64) -> u64 {
    engine.counters.iter().map(|counters| counter(counters)).sum()
}

/// Returns the memory that items may take, in bytes: the limit, or all of the machine's. Nothing is evicted.
fn bytes_max(engine: &Engine) -> u64 {
    engine.memory.limit_bytes().unwrap_or_else(info::total_system_bytes)
}

/// Returns the number of items and their approximate bytes: the strings of the port's database.
fn items_sum(engine: &Engine) -> (u64, u64) {
    let database = engine.settings.current().memcached_database as usize;
    engine.sums().databases.get(database).map_or((0, 0), |sum| (sum.strings, sum.strings_bytes))
}

/// Adds the server facts common to both line-protocol ports.
pub(crate) fn of_server(engine: &Engine, facts: &mut Facts, version: &str) {
    let now_s = engine.clock.wall() / 1000;
    let (user_s, system_s) = info::cpu_seconds();
    add(facts, "pid", std::process::id());
    add(facts, "uptime", now_s.saturating_sub(engine.started_ms / 1000));
    add(facts, "time", now_s);
    add(facts, "version", version);
    add(facts, "bobbin_version", VERSION);
    add(facts, "pointer_size", usize::BITS);
    add(facts, "rusage_user", format_args!("{user_s:.6}"));
    add(facts, "rusage_system", format_args!("{system_s:.6}"));
    add(facts, "max_connections", engine.settings.current().maxclients);
    add(facts, "curr_connections", engine.clients.count());
    add(facts, "total_connections", total(engine, |counters| counters.connections.get()));
    add(facts, "rejected_connections", total(engine, |counters| counters.refused.get()));
    add(facts, "connection_structures", engine.clients.count());
    add(facts, "bytes_read", total(engine, |counters| counters.input_bytes.get()));
    add(facts, "bytes_written", total(engine, |counters| counters.output_bytes.get()));
    add(facts, "threads", engine.workers());
}

fn general(engine: &Engine, facts: &mut Facts) {
    of_server(engine, facts, MEMCACHED_VERSION);
    for (at, name) in ItemCount::NAMES.iter().enumerate() {
        add(facts, name, total(engine, |counters| counters.items[at].get()));
    }
    // A late get finds nothing: an expired item does not exist.
    add(facts, "get_expired", 0);
    // Nor does a flushed one.
    add(facts, "get_flushed", 0);
    add(facts, "limit_maxbytes", bytes_max(engine));
    add(facts, "accepting_conns", 1);
    add(facts, "listen_disabled_num", 0);
    add(facts, "conn_yields", 0);
    add(facts, "hash_is_expanding", 0);
    add(facts, "slab_reassign_running", 0);
    add(facts, "slabs_moved", 0);
    let (items, bytes) = items_sum(engine);
    add(facts, "bytes", bytes);
    add(facts, "curr_items", items);
    add(facts, "expired_unfetched", 0);
    add(facts, "evicted_unfetched", 0);
    add(facts, "evictions", 0);
    add(facts, "reclaimed", total(engine, |counters| counters.expired.get()));
}

fn settings(engine: &Engine, facts: &mut Facts) {
    let current = engine.settings.current();
    let yes_no = |is: bool| if is { "yes" } else { "no" };
    add(facts, "maxbytes", bytes_max(engine));
    add(facts, "maxconns", current.maxclients);
    add(facts, "tcpport", current.memcached_port);
    add(facts, "udpport", 0);
    add(facts, "inter", current.bind.join(","));
    add(facts, "verbosity", 0);
    add(facts, "oldest", 0);
    add(facts, "evictions", "off");
    add(facts, "domain_socket", "NULL");
    add(facts, "shutdown_command", "no");
    add(facts, "num_threads", engine.workers());
    add(facts, "stat_key_prefix", ":");
    add(facts, "detail_enabled", yes_no(engine.prefixes.is_on()));
    add(facts, "cas_enabled", "yes");
    add(facts, "tcp_backlog", current.tcp_backlog);
    add(facts, "binding_protocol", "ascii");
    add(facts, "auth_enabled_sasl", "no");
    add(facts, "auth_enabled_ascii", yes_no(current.requirepass.is_some()));
    add(facts, "item_size_max", current.memcached_item_bytes_max);
    add(facts, "maxconns_fast", "yes");
    add(facts, "flush_enabled", "yes");
    add(facts, "dump_enabled", "yes");
    add(facts, "lru_crawler", "no");
    add(facts, "lru_maintainer_thread", "no");
    add(facts, "idle_timeout", current.timeout_s);
    add(facts, "database", current.memcached_database);
}

/// Adds the single class.
fn items(engine: &Engine, facts: &mut Facts) {
    let (items, _) = items_sum(engine);
    if items == 0 {
        return;
    }
    add(facts, "items:1:number", items);
    for name in ["age", "evicted", "evicted_nonzero", "evicted_time", "outofmemory", "tailrepairs", "reclaimed"] {
        add(facts, format!("items:1:{name}"), 0);
    }
}

fn slabs(engine: &Engine, facts: &mut Facts) {
    let (_, bytes) = items_sum(engine);
    add(facts, "active_slabs", 0);
    add(facts, "total_malloced", bytes);
}

fn connections(engine: &Engine, facts: &mut Facts) {
    let now = engine.clock.now();
    for client in engine.clients.select(&commands::ClientFilter::default(), 0, now) {
        let id = client.id;
        add(facts, format!("{id}:addr"), format!("tcp:{}", client.address));
        add(facts, format!("{id}:listen_addr"), format!("tcp:{}", client.local_address));
        add(facts, format!("{id}:state"), "conn_read");
        add(facts, format!("{id}:secs_since_last_cmd"), now.saturating_sub(client.last_ms.load(Relaxed)) / 1000);
    }
}
