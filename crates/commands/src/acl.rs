//! The access categories of a command, as ACL and COMMAND INFO name them, derived from its specification.

use crate::spec::{Access, CommandSpec, Flag, Group, Run};

/// All of Redis's categories; `COMMAND LIST FILTERBY ACLCAT` and ACL accept no others.
pub const CATEGORIES: &[&str] = &[
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];

/// Returns the categories of `command`, without their `@`.
pub fn categories(command: &CommandSpec) -> Vec<&'static str> {
    let admin = command.has(Flag::Admin);
    let fast = command.has(Flag::Fast);
    let facts = [
        // A script's reads are reported for its inner commands.
        (command.reported_access() == Access::Read && command.group != Group::Scripting, "read"),
        (matches!(command.reported_access(), Access::Write { .. }), "write"),
        (admin || command.has(Flag::AdminCategory), "admin"),
        (command.has(Flag::ConnectionCategory), "connection"),
        (admin || command.has(Flag::Dangerous), "dangerous"),
        (fast, "fast"),
        (!fast, "slow"),
        (command.may_wait(), "blocking"),
    ];
    let from_facts = facts.into_iter().filter_map(|(holds, name)| holds.then_some(name));
    // It works on three types, and is in all three categories.
    let kinds: &[&str] = if command.has(Flag::FollowsNames) { &["set", "sortedset", "list"] } else { &[] };
    let family = family(command).filter(|_| kinds.is_empty());
    let mut names: Vec<&'static str> = kinds.iter().copied().chain(family).chain(from_facts).collect();
    names.sort_by_key(|name| CATEGORIES.iter().position(|known| known == name));
    names
}

fn family(command: &CommandSpec) -> Option<&'static str> {
    match command.group {
        Group::Connection => Some("connection"),
        Group::Generic => Some("keyspace"),
        Group::String | Group::Memcached => Some("string"),
        Group::Bitmap => Some("bitmap"),
        Group::HyperLogLog => Some("hyperloglog"),
        Group::List | Group::Tagged | Group::Queue => Some("list"),
        Group::Search => Some("search"),
        Group::Hash => Some("hash"),
        Group::Set => Some("set"),
        Group::PubSub => command.has(Flag::PubSub).then_some("pubsub"),
        Group::SortedSet => Some("sortedset"),
        Group::Geo => Some("geo"),
        Group::Stream => Some("stream"),
        Group::Transactions => Some("transaction"),
        Group::Scripting => Some("scripting"),
        // Concerns the whole server, but its keys: FLUSHALL, DBSIZE.
        Group::Server
            if command.access != Access::None
                && command.keys.is_empty()
                && !matches!(command.run, Run::Session(_) | Run::Parts { .. }) =>
        {
            Some("keyspace")
        }
        Group::Cluster | Group::Server => None,
    }
}
