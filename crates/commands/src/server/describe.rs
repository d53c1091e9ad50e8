//! COMMAND INFO and COMMAND DOCS for one command.

use super::syntax::{self, Argument};
use crate::acl;
use crate::parse;
use crate::registry::{self, Lookup};
use crate::spec::{Access, Begin, CommandSpec, Fact, Find, Flag, KeySpec, Varies};
use wire::{Args, Reply};

/// A name known to COMMAND: a command, or a container of subcommands.
#[derive(Clone, Copy)]
pub(super) enum Listed {
    Command(&'static CommandSpec),
    Container(&'static str),
}

/// Returns every command, without subcommands, sorted.
pub(super) fn all() -> Vec<Listed> {
    registry::names().into_iter().filter_map(|name| Listed::of(name.as_bytes())).collect()
}

impl Listed {
    /// Looks up `name` (`get`, `config`, `config|get`).
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        let is_sub = name.contains(&b'|');
        match registry::by_name(name) {
            Lookup::Command(command) => (command.name.contains(' ') == is_sub).then(|| Self::Command(command.spec())),
            Lookup::Container(name) => (!is_sub).then_some(Self::Container(name)),
            Lookup::Unknown => None,
        }
    }

    pub(super) fn name(&self) -> String {
        let name = match self {
            Self::Command(command) => command.name,
            Self::Container(name) => name,
        };
        name.to_ascii_lowercase().replace(' ', "|")
    }

    pub(super) fn command(&self) -> Option<&'static CommandSpec> {
        match self {
            Self::Command(command) => Some(command),
            Self::Container(_) => None,
        }
    }

    pub(super) fn subcommands(&self) -> impl Iterator<Item = Self> + use<> {
        let name = match self {
            Self::Command(command) => command.name,
            Self::Container(name) => name,
        };
        // A subcommand has a space in its name, and no subcommands.
        registry::subcommands(name).into_iter().map(Self::Command)
    }
}

// ---- COMMAND INFO ----

pub(super) fn infos(listed: &[Listed], reply: &mut dyn Reply) {
    reply.array(listed.len());
    listed.iter().for_each(|listed| info(*listed, reply));
}

/// Replies with one command as an array of ten.
pub(super) fn info(listed: Listed, reply: &mut dyn Reply) {
    let command = listed.command();
    let keys = command.map_or(&[][..], |command| command.keys);
    let (first, last, step) = legacy_keys(keys);
    reply.array(10);
    reply.bulk(listed.name().as_bytes());
    // A container takes at least one subcommand.
    reply.int(command.map_or(-2, |command| command.arity.number()));
    words(&command.map_or_else(Vec::new, flags), reply);
    [first, last, step].into_iter().for_each(|number| reply.int(number));
    let categories = command.map_or_else(|| vec!["slow"], acl::categories);
    words(&categories.iter().map(|name| format!("@{name}")).collect::<Vec<_>>(), reply);
    let tips =
        command.and_then(|command| command.fact(|fact| if let Fact::Tips(tips) = fact { Some(tips) } else { None }));
    let tips = tips.unwrap_or_default();
    reply.set(tips.len());
    tips.iter().for_each(|tip| reply.bulk(tip.as_bytes()));
    reply.set(keys.len());
    keys.iter().for_each(|spec| key_spec(spec, reply));
    let subcommands: Vec<Listed> = listed.subcommands().collect();
    match &subcommands[..] {
        [] => reply.set(0),
        some => infos(some, reply),
    }
}

/// Returns the flags of a command, as COMMAND INFO names them.
pub(super) fn flags(command: &CommandSpec) -> Vec<&'static str> {
    let from_access = match command.reported_access() {
        Access::None => &[][..],
        Access::Read => &["readonly"],
        Access::Write { grows: true } => &["write", "denyoom"],
        Access::Write { grows: false } => &["write"],
    };
    let moves = command.keys.iter().any(|spec| !is_plain(spec));
    let derived = [
        (command.may_wait(), "blocking"),
        (moves, "movablekeys"),
        (command.has(Flag::NoAsyncLoading), "no_async_loading"),
    ];
    let own = command.flags.iter().filter_map(|flag| flag_name(*flag));
    from_access
        .iter()
        .copied()
        .chain(derived.into_iter().filter_map(|(is, name)| is.then_some(name)))
        .chain(own)
        .collect()
}

fn flag_name(flag: Flag) -> Option<&'static str> {
    Some(match flag {
        Flag::Fast => "fast",
        Flag::Admin => "admin",
        Flag::NoScript => "noscript",
        Flag::NoMulti => "no_multi",
        Flag::NoAuth => "no_auth",
        Flag::Loading => "loading",
        Flag::Stale => "stale",
        Flag::SkipSlowlog => "skip_slowlog",
        Flag::AllowBusy => "allow_busy",
        Flag::Asking => "asking",
        Flag::PubSub => "pubsub",
        Flag::SkipMonitor => "skip_monitor",
        Flag::NoMandatoryKeys => "no_mandatory_keys",
        // Others are no flags in Redis: categories, documentation, and what the engine asks.
        _ => return None,
    })
}

fn is_plain(spec: &KeySpec) -> bool {
    matches!((spec.begin, spec.find), (Begin::Index(_), Find::Range { .. }))
}

/// Returns first key, last key and step, for clients older than key specs; zeros if the request must be searched for
/// keys.
fn legacy_keys(specs: &[KeySpec]) -> (i64, i64, i64) {
    let ranges = specs.iter().filter_map(|spec| match (spec.begin, spec.find) {
        (Begin::Index(at), Find::Range { last, step }) => {
            let last = if last >= 0 { at as i64 + last as i64 } else { last as i64 };
            Some((at as i64, last, step as i64))
        }
        _ => None,
    });
    let joined = ranges.reduce(|(first, last, step), (more_first, more_last, _)| {
        let last = if more_last < 0 { more_last } else { last.max(more_last) };
        (first.min(more_first), last, step)
    });
    joined.unwrap_or_default()
}

fn key_spec(spec: &KeySpec, reply: &mut dyn Reply) {
    reply.map(3 + usize::from(!spec.note.is_empty()));
    if !spec.note.is_empty() {
        field("notes", spec.note, reply);
    }
    reply.bulk(b"flags");
    words(&spec_flags(spec.flags), reply);
    reply.bulk(b"begin_search");
    match spec.begin {
        Begin::Index(at) => typed("index", &[("index", at as i64)], reply),
        Begin::Unknown | Begin::Option { is_reported: false, .. } => unknown(reply),
        Begin::Keyword(word, from) | Begin::Option { word, from, .. } => keyword(word, from as i64, reply),
        // Not the last argument itself: a key has to follow.
        Begin::LastOption { word, .. } => keyword(word, -2, reply),
    }
    reply.bulk(b"find_keys");
    match spec.find {
        _ if matches!(spec.begin, Begin::Unknown | Begin::Option { is_reported: false, .. }) => unknown(reply),
        Find::Range { last, step } => {
            typed("range", &[("lastkey", last as i64), ("keystep", step as i64), ("limit", 0)], reply);
        }
        // More than there are: the rest is not keys, and clients are told so.
        Find::Until(_) => typed("range", &[("lastkey", -1), ("keystep", 1), ("limit", 0)], reply),
        Find::FirstHalf => typed("range", &[("lastkey", -1), ("keystep", 1), ("limit", 2)], reply),
        Find::Counted { number_at, first, step } => {
            let facts = [("keynumidx", number_at as i64), ("firstkey", first as i64), ("keystep", step as i64)];
            typed("keynum", &facts, reply);
        }
    }
}

fn keyword(word: &str, from: i64, reply: &mut dyn Reply) {
    reply.map(2);
    field("type", "keyword", reply);
    reply.bulk(b"spec");
    reply.map(2);
    field("keyword", word, reply);
    reply.bulk(b"startfrom");
    reply.int(from);
}

/// Converts `RW INSERT` to `RW`, `insert`.
fn spec_flags(flags: &str) -> Vec<String> {
    let small = |(index, word): (usize, &str)| if index == 0 { word.to_owned() } else { word.to_ascii_lowercase() };
    flags.split(' ').enumerate().map(small).collect()
}

/// Returns flags for what a request does to the keys of `spec`, as Redis reports them. If the spec says that flags vary
/// and not how, its own are returned, without that word.
pub(super) fn key_flags(spec: &KeySpec, request: &Args<'_>) -> Vec<String> {
    const LOOKS: [&str; 5] = ["GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"];
    let looks = |from: usize| request.from(from).iter().any(|word| LOOKS.iter().any(|known| parse::is(word, known)));
    let own = |flags: &'static str| {
        let most = flags.strip_suffix(" VARIABLE_FLAGS").or_else(|| flags.strip_suffix(" INCOMPLETE"));
        most.unwrap_or(flags)
    };
    spec_flags(match spec.varies {
        Varies::Reported(flags) => flags,
        Varies::IfReadsOld { from, reads, blind } => {
            if looks(from) {
                reads
            } else {
                blind
            }
        }
        Varies::UnlessBitfieldWrites(flags) if !writes_bits(request) => flags,
        Varies::UnlessBitfieldWrites(_) | Varies::Never => own(spec.flags),
    })
}

/// Returns true if BITFIELD writes, or cannot be parsed.
fn writes_bits(request: &Args<'_>) -> bool {
    let mut at = 2;
    while at < request.len() {
        let arguments = match request.get(at) {
            word if parse::is(word, "GET") => 2,
            word if parse::is(word, "OVERFLOW") => 1,
            _ => return true,
        };
        at += 1 + arguments;
        if at > request.len() {
            return true;
        }
    }
    false
}

/// For commands whose keys Redis leaves unknown.
fn unknown(reply: &mut dyn Reply) {
    reply.map(2);
    field("type", "unknown", reply);
    reply.bulk(b"spec");
    reply.map(0);
}

fn typed(kind: &str, numbers: &[(&str, i64)], reply: &mut dyn Reply) {
    reply.map(2);
    field("type", kind, reply);
    reply.bulk(b"spec");
    reply.map(numbers.len());
    for (name, number) in numbers {
        reply.bulk(name.as_bytes());
        reply.int(*number);
    }
}

fn field(name: &str, value: &str, reply: &mut dyn Reply) {
    reply.bulk(name.as_bytes());
    reply.bulk(value.as_bytes());
}

/// Replies with words as a set of statuses.
pub(super) fn words<T: AsRef<str>>(words: &[T], reply: &mut dyn Reply) {
    reply.set(words.len());
    words.iter().for_each(|word| reply.simple(word.as_ref()));
}

// ---- COMMAND DOCS ----

pub(super) fn docs(listed: &[Listed], reply: &mut dyn Reply) {
    reply.map(listed.len());
    listed.iter().for_each(|listed| named_doc(*listed, reply));
}

/// Replies with a name and its documentation.
pub(super) fn named_doc(listed: Listed, reply: &mut dyn Reply) {
    reply.bulk(listed.name().as_bytes());
    doc(listed, reply);
}

fn doc(listed: Listed, reply: &mut dyn Reply) {
    let subcommands: Vec<Listed> = listed.subcommands().collect();
    let command = listed.command();
    let arguments = command.map_or_else(Vec::new, syntax::arguments);
    // A container has no command of its own: it is as old as its oldest subcommand.
    let oldest = || subcommands.iter().filter_map(Listed::command).min_by_key(|command| version(command.since));
    let model = command.or_else(oldest).expect("a name leads to commands");
    let history =
        command.and_then(|command| command.fact(|fact| if let Fact::History(all) = fact { Some(all) } else { None }));
    let history = history.unwrap_or_default();
    let deprecation = command.and_then(|command| {
        command.fact(|fact| match fact {
            Fact::Deprecated { since, replaced_by } => Some((since, replaced_by)),
            _ => None,
        })
    });
    let flags = [(deprecation.is_some(), "deprecated"), (model.has(Flag::System), "syscmd")];
    let flags: Vec<&str> = flags.into_iter().filter_map(|(is, flag)| is.then_some(flag)).collect();
    let is_deprecated = deprecation.is_some();
    let has = [
        !flags.is_empty(),
        is_deprecated,
        is_deprecated,
        !history.is_empty(),
        !arguments.is_empty(),
        !subcommands.is_empty(),
    ];
    reply.map(4 + has.into_iter().filter(|has| *has).count());
    let (summary, cost) = match listed {
        Listed::Command(command) => (command.brief, command.cost),
        Listed::Container(_) => ("Groups subcommands.", "that of the subcommand"),
    };
    let group = model.fact(|fact| if let Fact::DocsGroup(group) = fact { Some(group) } else { None });
    field("summary", summary, reply);
    field("since", model.since, reply);
    field("group", group.unwrap_or(model.group.name()), reply);
    field("complexity", cost, reply);
    if !flags.is_empty() {
        reply.bulk(b"doc_flags");
        words(&flags, reply);
    }
    if let Some((since, instead)) = deprecation {
        field("deprecated_since", since, reply);
        field("replaced_by", instead, reply);
    }
    if !history.is_empty() {
        reply.bulk(b"history");
        reply.set(history.len());
        for (since, change) in history {
            reply.array(2);
            reply.bulk(since.as_bytes());
            reply.bulk(change.as_bytes());
        }
    }
    if !arguments.is_empty() {
        reply.bulk(b"arguments");
        arguments_reply(&arguments, reply);
    }
    if !subcommands.is_empty() {
        reply.bulk(b"subcommands");
        docs(&subcommands, reply);
    }
}

/// Parses `2.4.0`; anything but a Redis version sorts last.
fn version(since: &str) -> Vec<u32> {
    since.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

fn arguments_reply(arguments: &[Argument], reply: &mut dyn Reply) {
    reply.array(arguments.len());
    arguments.iter().for_each(|argument| argument_reply(argument, reply));
}

fn argument_reply(argument: &Argument, reply: &mut dyn Reply) {
    let flags = [
        (argument.is_optional, "optional"),
        (argument.is_multiple, "multiple"),
        (argument.repeats_token, "multiple_token"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter_map(|(is, name)| is.then_some(name)).collect();
    let has = [
        argument.key_spec.is_some(),
        argument.token.is_some(),
        !argument.since.is_empty(),
        !flags.is_empty(),
        !argument.parts.is_empty(),
    ];
    reply.map(2 + has.into_iter().filter(|has| *has).count());
    field("name", &argument.name, reply);
    field("type", argument.kind, reply);
    if let Some(index) = argument.key_spec {
        reply.bulk(b"key_spec_index");
        reply.int(index as i64);
    }
    if let Some(token) = &argument.token {
        field("token", token, reply);
    }
    if !argument.since.is_empty() {
        field("since", argument.since, reply);
    }
    if !flags.is_empty() {
        reply.bulk(b"flags");
        words(&flags, reply);
    }
    if !argument.parts.is_empty() {
        reply.bulk(b"arguments");
        arguments_reply(&argument.parts, reply);
    }
}
