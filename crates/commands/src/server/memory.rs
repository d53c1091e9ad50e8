//! MEMORY: the memory usage of a key, and of everything.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;
use crate::session::{MemoryFigures, Session};
use keyspace::Entry;
use table::Content;

pub(crate) const COMMANDS: &[CommandSpec] = &[DOCTOR, MALLOC_STATS, PURGE, USAGE, STATS, MEMORY_HELP];

const USAGE: CommandSpec = CommandSpec {
    name: "MEMORY USAGE",
    syntax: "key [SAMPLES count]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(2, "RO")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Reads(CountedReads::None)],
    group: Group::Server,
    cost: "O(1): sizes are kept, so SAMPLES changes nothing",
    since: "4.0.0",
    brief: "Returns the memory that a key and its value occupy.",
    answer: "int: bytes; null if the key is absent",
    run: Run::Local(usage),
};

const STATS: CommandSpec = CommandSpec {
    name: "MEMORY STATS",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::ReportsKeyCounts],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])],
    group: Group::Server,
    cost: "O(n), n the databases",
    since: "4.0.0",
    brief: "Returns what memory is used for.",
    answer: "map: name and bytes, count or per cent; db.n holds a map of its own",
    run: Run::Session(stats),
};

const DOCTOR: CommandSpec = CommandSpec {
    name: "MEMORY DOCTOR",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])],
    group: Group::Server,
    cost: "O(n), n the databases",
    since: "4.0.0",
    brief: "Describes the state of memory in words.",
    answer: "verbatim: text",
    run: Run::Session(|session, _, reply| {
        reply.verbatim("txt", &advice(&session.memory()));
        Ok(())
    }),
};

const MALLOC_STATS: CommandSpec = CommandSpec {
    name: "MEMORY MALLOC-STATS",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])],
    group: Group::Server,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Returns statistics of the allocator.",
    answer: "verbatim: lines of field:value",
    run: Run::Session(|session, _, reply| {
        let MemoryFigures { total_bytes, resident_bytes, .. } = session.memory();
        reply.verbatim("txt", &format!("allocated:{total_bytes}\nresident:{resident_bytes}\n"));
        Ok(())
    }),
};

const PURGE: CommandSpec = CommandSpec {
    name: "MEMORY PURGE",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"])],
    group: Group::Server,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Asks the allocator to return freed memory to the system.",
    answer: "simple: OK",
    run: Run::Session(|_, _, reply| {
        reply.ok();
        Ok(())
    }),
};

const MEMORY_HELP: CommandSpec = help_command("MEMORY HELP", Group::Server, "4.0.0", HELP_FLAGS);

fn usage(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        let count = words.next().filter(|_| parse::is(word, "SAMPLES")).ok_or(Failure::Syntax)?;
        if parse::int(count)? < 0 {
            return Err(Failure::Syntax);
        }
    }
    match tx.peek(args.get(2)) {
        Some(entry) => reply.int(heap_bytes(entry) as i64),
        None => reply.null(),
    }
    Ok(())
}

fn heap_bytes(entry: Entry<'_>) -> u64 {
    let value_bytes = match entry.content() {
        Content::Value(value) => value.heap_bytes(),
        Content::Bytes(_) | Content::Int(_) => 0,
    };
    entry.heap_bytes() as u64 + value_bytes
}

/// A figure of MEMORY STATS.
enum Figure {
    Count(u64),
    Share(f64),
}

fn stats(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    let memory = session.memory();
    let figures = figures(&memory);
    reply.map(figures.len() + memory.databases.len());
    for (name, figure) in figures {
        reply.bulk(name.as_bytes());
        match figure {
            Figure::Count(count) => reply.int(count as i64),
            Figure::Share(share) => reply.double(share),
        }
    }
    for (number, keys_count, expiring_count) in &memory.databases {
        reply.bulk(format!("db.{number}").as_bytes());
        reply.map(2);
        reply.bulk(b"keys.count");
        reply.int(*keys_count as i64);
        reply.bulk(b"expires.count");
        reply.int(*expiring_count as i64);
    }
    Ok(())
}

/// Returns the figures under Redis's names, as far as they exist here.
fn figures(memory: &MemoryFigures) -> Vec<(&'static str, Figure)> {
    let grown_bytes = memory.total_bytes.saturating_sub(memory.startup_bytes);
    let per_key_bytes = grown_bytes.checked_div(memory.keys_count).unwrap_or(0);
    let overhead_bytes = memory.total_bytes.saturating_sub(memory.dataset_bytes);
    vec![
        ("peak.allocated", Figure::Count(memory.peak_bytes)),
        ("total.allocated", Figure::Count(memory.total_bytes)),
        ("startup.allocated", Figure::Count(memory.startup_bytes)),
        ("replication.backlog", Figure::Count(0)),
        ("clients.slaves", Figure::Count(0)),
        ("clients.normal", Figure::Count(memory.clients_bytes)),
        ("overhead.total", Figure::Count(overhead_bytes)),
        ("keys.count", Figure::Count(memory.keys_count)),
        ("keys.bytes-per-key", Figure::Count(per_key_bytes)),
        ("dataset.bytes", Figure::Count(memory.dataset_bytes)),
        ("dataset.percentage", Figure::Share(percent(memory.dataset_bytes, grown_bytes))),
        ("peak.percentage", Figure::Share(percent(memory.total_bytes, memory.peak_bytes))),
        ("allocator.resident", Figure::Count(memory.resident_bytes)),
        ("fragmentation", Figure::Share(ratio(memory.resident_bytes, memory.total_bytes))),
        ("fragmentation.bytes", Figure::Count(memory.resident_bytes.saturating_sub(memory.total_bytes))),
    ]
}

/// Below this, in bytes, shares are meaningless.
const ADVICE_BYTES_MIN: u64 = 5 << 20;
/// Shares worth mentioning.
const PEAK_RATIO: f64 = 1.5;
const RESIDENT_RATIO: f64 = 1.4;
const CLIENTS_RATIO: f64 = 0.1;

fn advice(memory: &MemoryFigures) -> String {
    if memory.total_bytes < ADVICE_BYTES_MIN {
        return "The server holds too little data for a memory diagnosis.\n".to_owned();
    }
    let mut text = String::new();
    if ratio(memory.peak_bytes, memory.total_bytes) > PEAK_RATIO {
        text.push_str("Much more was in use before: the process may keep some of that for a while.\n");
    }
    if ratio(memory.resident_bytes, memory.total_bytes) > RESIDENT_RATIO {
        text.push_str("Much more is resident than in use: freed pages lie among used ones.\n");
    }
    if ratio(memory.clients_bytes, memory.total_bytes) > CLIENTS_RATIO {
        text.push_str("Clients' buffers hold much: CLIENT LIST tells which, by tot-mem.\n");
    }
    if text.is_empty() {
        text.push_str("No memory problems found.\n");
    }
    text
}

fn percent(part: u64, whole: u64) -> f64 {
    ratio(part, whole) * 100.0
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
