//! CONFIG: the settings of the running server.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;
use crate::session::Session;
use crate::spec::{Parts, all_parts};
use std::collections::{HashSet, VecDeque};
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[GET, SET, REWRITE, RESETSTAT, CONFIG_HELP];

const GET: CommandSpec = CommandSpec {
    name: "CONFIG GET",
    syntax: "parameter [parameter ...]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::History(&[("7.0.0", "Takes several patterns.")])],
    group: Group::Server,
    cost: "O(n), n the settings times the patterns",
    since: "2.0.0",
    brief: "Returns the settings whose names match any of the patterns.",
    answer: "map: name and value",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Getting::new(), session, args, reply),
        is_long: |_, args| args.len() > PATTERNS_MAX,
        begin: || Box::new(Getting::new()),
    },
};

const SET: CommandSpec = CommandSpec {
    name: "CONFIG SET",
    syntax: "parameter value [parameter value ...]",
    arity: Arity::AtLeast(4),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[
        Fact::Tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]),
        Fact::History(&[("7.0.0", "Takes several settings.")]),
        Fact::Secret(Secret::Settings),
    ],
    group: Group::Server,
    cost: "O(n), n the settings given",
    since: "2.0.0",
    brief: "Changes settings: all of them, or none if one is refused.",
    answer: "simple: OK",
    run: Run::Session(set),
};

const REWRITE: CommandSpec = CommandSpec {
    name: "CONFIG REWRITE",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.0",
    brief: "Writes the settings to the server's configuration file.",
    answer: "simple: OK",
    run: Run::Session(|session, _, reply| {
        session.config_rewrite().map_err(Failure::text)?;
        reply.ok();
        Ok(())
    }),
};

const RESETSTAT: CommandSpec = CommandSpec {
    name: "CONFIG RESETSTAT",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Resets the counters of INFO.",
    answer: "simple: OK",
    run: Run::Session(|session, _, reply| {
        session.reset_statistics();
        reply.ok();
        Ok(())
    }),
};

const CONFIG_HELP: CommandSpec = help_command("CONFIG HELP", Group::Server, "5.0.0", HELP_FLAGS);

/// A lookup of settings, in parts.
struct Getting {
    next: usize,
    found: VecDeque<(String, String)>,
    known: HashSet<String>,
    has_begun: bool,
}

/// Patterns per part: each is matched with all names.
const PATTERNS_MAX: usize = 8;
/// Settings returned per part.
const SETTINGS_MAX: usize = 256;

impl Getting {
    fn new() -> Self {
        Self { next: 2, found: VecDeque::new(), known: HashSet::new(), has_begun: false }
    }
}

impl Parts for Getting {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        if self.next < args.len() {
            let end = args.len().min(self.next + PATTERNS_MAX);
            let patterns: Vec<&[u8]> = (self.next..end).map(|at| args.get(at)).collect();
            for (name, value) in session.config_get(&patterns) {
                if self.known.insert(name.clone()) {
                    self.found.push_back((name, value));
                }
            }
            self.next = end;
            return Ok(More::Follows);
        }
        if !self.has_begun {
            reply.map(self.found.len());
            self.has_begun = true;
        }
        for (name, value) in self.found.drain(..self.found.len().min(SETTINGS_MAX)) {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
        Ok(if self.found.is_empty() { More::Done } else { More::Follows })
    }
}

fn set(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let words: Vec<&[u8]> = args.from(2).iter().collect();
    let (pairs, rest) = words.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Failure::Syntax);
    }
    let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|&[name, value]| (name, value)).collect();
    session.config_set(&pairs).map_err(Failure::text)?;
    reply.ok();
    Ok(())
}
