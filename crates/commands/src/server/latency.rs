//! LATENCY: slow events, and latency histograms per command.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;
use crate::session::{Session, SlowEvents};
use base::raw_text;
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) const COMMANDS: &[CommandSpec] = &[DOCTOR, GRAPH, HISTOGRAM, HISTORY, LATEST, RESET, LATENCY_HELP];

const LATEST: CommandSpec = CommandSpec {
    name: "LATENCY LATEST",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.13",
    brief: "Returns the latest slow event of each type.",
    answer: "array: of each event name, time in seconds, its milliseconds, and the most milliseconds ever",
    run: Run::Session(|session, _, reply| {
        let latency_monitor = session.latency();
        reply.array(latency_monitor.len());
        for SlowEvents { event, samples, max_ms } in latency_monitor {
            let (at_s, took_ms) = samples.last().copied().unwrap_or_default();
            reply.array(4);
            reply.bulk(event.as_bytes());
            [at_s, took_ms, max_ms].into_iter().for_each(|number| reply.int(number as i64));
        }
        Ok(())
    }),
};

const HISTORY: CommandSpec = CommandSpec {
    name: "LATENCY HISTORY",
    syntax: "event",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.13",
    brief: "Returns the history of one slow event, the longest of each second.",
    answer: "array: pairs of a time in seconds and milliseconds",
    run: Run::Session(|session, args, reply| {
        let samples = samples(session, args.get(2));
        reply.array(samples.len());
        for (at_s, took_ms) in samples {
            reply.array(2);
            reply.int(at_s as i64);
            reply.int(took_ms as i64);
        }
        Ok(())
    }),
};

const GRAPH: CommandSpec = CommandSpec {
    name: "LATENCY GRAPH",
    syntax: "event",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.13",
    brief: "Draws a graph of one slow event.",
    answer: "verbatim: a line for each time, with a bar",
    run: Run::Session(graph),
};

const RESET: CommandSpec = CommandSpec {
    name: "LATENCY RESET",
    syntax: "[event [event ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.13",
    brief: "Resets some or all slow events.",
    answer: "int: events reset",
    run: Run::Session(|session, args, reply| {
        let names: Vec<&[u8]> = args.from(2).iter().collect();
        reply.int(session.latency_reset(&names) as i64);
        Ok(())
    }),
};

const DOCTOR: CommandSpec = CommandSpec {
    name: "LATENCY DOCTOR",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.13",
    brief: "Describes in words what took long.",
    answer: "verbatim: text",
    run: Run::Session(doctor),
};

const HISTOGRAM: CommandSpec = CommandSpec {
    name: "LATENCY HISTOGRAM",
    syntax: "[command [command ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"])],
    group: Group::Server,
    cost: "O(n), n the commands",
    since: "7.0.0",
    brief: "Returns the distribution of the latency of commands.",
    answer: "map: of each command calls, and histogram_usec: calls that took at most so many microseconds",
    run: Run::Session(histogram),
};

const LATENCY_HELP: CommandSpec = help_command("LATENCY HELP", Group::Server, "2.8.13", HELP_FLAGS);

fn samples(session: &dyn Session, event: &[u8]) -> Vec<(u64, u64)> {
    let of_event = session.latency().into_iter().find(|latency_monitor| latency_monitor.event.as_bytes() == event);
    of_event.map_or_else(Vec::new, |latency_monitor| latency_monitor.samples)
}

fn graph(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    const BAR: u64 = 60;
    let samples = samples(session, args.get(2));
    let event = raw_text::from_bytes(args.get(2));
    let Some(most_ms) = samples.iter().map(|(_, took_ms)| *took_ms).max() else {
        return Err(Failure::text(format!("ERR No samples available for event '{event}'")));
    };
    let now_s = session.now_us() / 1_000_000;
    let mut text = format!("{event} - at most {most_ms} ms\n");
    for (at_s, took_ms) in samples {
        let bar = "#".repeat((took_ms * BAR / most_ms.max(1)) as usize);
        let _ = writeln!(text, "{:>8} s ago {took_ms:>7} ms {bar}", now_s.saturating_sub(at_s));
    }
    reply.verbatim("txt", &text);
    Ok(())
}

fn doctor(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    let latency_monitor = session.latency();
    let mut text = String::new();
    for SlowEvents { event, samples, max_ms } in &latency_monitor {
        let sum_ms: u64 = samples.iter().map(|(_, took_ms)| took_ms).sum();
        let mean_ms = sum_ms / (samples.len() as u64).max(1);
        let _ = writeln!(
            text,
            "{event}: {} seconds with spikes, {mean_ms} ms on average, {max_ms} ms at most.",
            samples.len()
        );
    }
    if latency_monitor.is_empty() {
        text.push_str(
            "Nothing took long since LATENCY RESET, or latency-monitor-threshold is 0, which disables recording.\n",
        );
    } else {
        text.push_str(
            "SLOWLOG GET tells which commands took long, INFO stats how long turns, locks and the disk did.\n",
        );
    }
    reply.verbatim("txt", &text);
    Ok(())
}

fn histogram(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut all = session.latency_histograms();
    if args.len() > 2 {
        let asked: BTreeSet<Vec<u8>> = args.from(2).iter().map(<[u8]>::to_ascii_lowercase).collect();
        let is_asked = |name: &str| asked.contains(name.to_ascii_lowercase().as_bytes());
        all.retain(|(name, _)| is_asked(name) || is_asked(name.split('|').next().unwrap_or_default()));
    }
    reply.map(all.len());
    for (name, buckets) in all {
        reply.bulk(name.as_bytes());
        reply.map(2);
        reply.bulk(b"calls");
        reply.int(buckets.last().map_or(0, |(_, calls)| *calls) as i64);
        reply.bulk(b"histogram_usec");
        reply.map(buckets.len());
        for (us, calls) in buckets {
            reply.int(us as i64);
            reply.int(calls as i64);
        }
    }
    Ok(())
}
