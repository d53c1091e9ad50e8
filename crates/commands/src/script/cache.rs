//! SCRIPT LOAD, EXISTS, FLUSH, KILL, DEBUG and HELP: the scripts that are known, and the one that runs.

use crate::help::HELP;
use crate::prelude::*;
use crate::row::Verb;
use crate::session::Session;

pub(crate) const COMMANDS: &[Command] = &[LOAD, EXISTS, FLUSH, KILL, DEBUG, SCRIPT_HELP];

const LOAD: Command = Command {
    name: "SCRIPT LOAD",
    syntax: "script",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Stale],
    group: Group::Scripting,
    cost: "O(n), n the length of the script",
    since: "2.6.0",
    brief: "Compiles a script and keeps it until SCRIPT FLUSH.",
    answer: "bulk: the SHA-1 by which EVALSHA names it",
    run: Run::Engine(Verb::ScriptLoad),
};

const EXISTS: Command = Command {
    name: "SCRIPT EXISTS",
    syntax: "sha1 [sha1 ...]",
    arity: Arity::AtLeast(3),
    flags: &[Flag::NoScript],
    cost: "O(n), n the scripts asked about",
    brief: "Tells which scripts are known.",
    answer: "array of ints: 1 for one that is known, 0 for one that is not",
    run: Run::Session(exists),
    ..LOAD
};

const FLUSH: Command = Command {
    name: "SCRIPT FLUSH",
    syntax: "[ASYNC | SYNC]",
    arity: Arity::AtLeast(2),
    flags: &[Flag::NoScript],
    cost: "O(n), n the scripts that are known",
    brief: "Forgets all scripts.",
    answer: "simple: OK",
    run: Run::Session(flush),
    ..LOAD
};

const KILL: Command = Command {
    name: "SCRIPT KILL",
    syntax: "",
    arity: Arity::Exactly(2),
    flags: &[Flag::NoScript, Flag::AllowBusy],
    cost: "O(1)",
    brief: "Ends a script that runs long and has changed nothing yet.",
    answer: "simple: OK; error: none runs, or it has changed something",
    run: Run::Session(kill),
    ..LOAD
};

const DEBUG: Command = Command {
    name: "SCRIPT DEBUG",
    syntax: "<YES | SYNC | NO>",
    arity: Arity::Exactly(3),
    flags: &[Flag::NoScript],
    cost: "O(1)",
    since: "3.2.0",
    brief: "Refuses all but NO: there is no debugger of scripts.",
    answer: "simple: OK for NO; error",
    run: Run::Session(debug),
    ..LOAD
};

const SCRIPT_HELP: Command = Command { name: "SCRIPT HELP", group: Group::Scripting, ..HELP };

fn exists(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    reply.array(args.len() - 2);
    for name in args.from(2).iter() {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        reply.int(i64::from(session.knows_script(&name)));
    }
    Ok(())
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

fn debug(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    match args.get(2) {
        word if parse::is(word, "NO") => reply.ok(),
        word if parse::is(word, "YES") || parse::is(word, "SYNC") => {
            return Err(Failure::text("ERR there is no debugger of scripts here"));
        }
        _ => return Err(Failure::text("ERR Use SCRIPT DEBUG YES/SYNC/NO")),
    }
    Ok(())
}
