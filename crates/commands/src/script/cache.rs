//! SCRIPT LOAD, EXISTS, FLUSH, KILL, DEBUG and HELP: cached scripts, and the running one.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;
use crate::session::Session;
use crate::spec::{PART_ARGUMENTS, Parts, Verb, all_parts, has_many_arguments};
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[LOAD, EXISTS, FLUSH, KILL, DEBUG, SCRIPT_HELP];

const LOAD: CommandSpec = CommandSpec {
    name: "SCRIPT LOAD",
    syntax: "script",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Stale],
    facts: &[Fact::Tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])],
    group: Group::Scripting,
    cost: "O(n), n the length of the script",
    since: "2.6.0",
    brief: "Compiles and caches a script.",
    answer: "bulk: the SHA-1 by which EVALSHA names it",
    run: Run::Engine(Verb::ScriptLoad),
};

const EXISTS: CommandSpec = CommandSpec {
    name: "SCRIPT EXISTS",
    syntax: "sha1 [sha1 ...]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:agg_logical_and"])],
    group: Group::Scripting,
    cost: "O(n), n the scripts asked about",
    since: "2.6.0",
    brief: "Checks which scripts are cached.",
    answer: "array of ints: 1 for one that is known, 0 for one that is not",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Exists { next: 2 }, session, args, reply),
        is_long: has_many_arguments,
        begin: || Box::new(Exists { next: 2 }),
    },
};

const FLUSH: CommandSpec = CommandSpec {
    name: "SCRIPT FLUSH",
    syntax: "[ASYNC | SYNC]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript],
    facts: &[
        Fact::Tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]),
        Fact::History(&[("6.2.0", "Takes `ASYNC` and `SYNC`.")]),
        Fact::Arguments(&[argument("0", "async", "", "6.2.0")]),
    ],
    group: Group::Scripting,
    cost: "O(n), n the scripts that are known",
    since: "2.6.0",
    brief: "Removes all cached scripts.",
    answer: "simple: OK",
    run: Run::Session(flush),
};

const KILL: CommandSpec = CommandSpec {
    name: "SCRIPT KILL",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::AllowBusy],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:one_succeeded"])],
    group: Group::Scripting,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Ends a long-running script that has changed nothing yet.",
    answer: "simple: OK; error: none runs, or it has changed something",
    run: Run::Session(kill),
};

const DEBUG: CommandSpec = CommandSpec {
    name: "SCRIPT DEBUG",
    syntax: "<YES | SYNC | NO>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript],
    facts: &[Fact::Arguments(&[argument("0", "mode", "", "")])],
    group: Group::Scripting,
    cost: "O(1)",
    since: "3.2.0",
    brief: "Sets the debug mode of scripts; accepts only NO.",
    answer: "simple: OK for NO; error, and the connection is closed",
    run: Run::Session(debug),
};

const SCRIPT_HELP: CommandSpec = help_command("SCRIPT HELP", Group::Scripting, "5.0.0", HELP_FLAGS);

/// A lookup of scripts, in parts.
struct Exists {
    next: usize,
}

/// The length of a name, in hexadecimal digits.
const NAME_BYTES: usize = 40;

impl Parts for Exists {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        if self.next == 2 {
            reply.array(args.len() - 2);
        }
        let end = args.len().min(self.next + PART_ARGUMENTS);
        for at in self.next..end {
            let name = args.get(at);
            let is_known =
                name.len() == NAME_BYTES && session.knows_script(&String::from_utf8_lossy(name).to_ascii_lowercase());
            reply.int(i64::from(is_known));
        }
        self.next = end;
        Ok(if end < args.len() { More::Follows } else { More::Done })
    }
}

fn flush(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let is_known = match args.len() {
        2 => true,
        3 => parse::is(args.get(2), "SYNC") || parse::is(args.get(2), "ASYNC"),
        _ => false,
    };
    if !is_known {
        return Err(Failure::text("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
    }
    session.flush_scripts();
    reply.ok();
    Ok(())
}

fn kill(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    session.kill_script(false).map_err(Failure::text)?;
    reply.ok();
    Ok(())
}

/// redis-cli ignores the reply to YES and SYNC: it then sends the script, which would run normally. So we close the
/// connection before the script arrives.
fn debug(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if session.is_in_transaction() {
        return Err(Failure::text("ERR SCRIPT DEBUG must be called outside a pipeline"));
    }
    match args.get(2) {
        word if parse::is(word, "NO") => {
            reply.ok();
            Ok(())
        }
        word if parse::is(word, "YES") || parse::is(word, "SYNC") => {
            session.quit();
            Err(Failure::text(
                "ERR SCRIPT DEBUG is not supported: this server has no debugger of scripts. The connection is closed, so that \
                 the script does not run outside of a debugger; use EVAL to run it",
            ))
        }
        _ => Err(Failure::text("ERR Use SCRIPT DEBUG YES/SYNC/NO")),
    }
}
