//! SHUTDOWN SAVE BGSAVE BGREWRITEAOF LASTSAVE: the end, and checkpoints.

use crate::prelude::*;
use crate::row::Verb;
use crate::session::Session;

pub(crate) const COMMANDS: &[Command] = &[SHUTDOWN, SAVE, BGSAVE, BGREWRITEAOF, LASTSAVE];

const SHUTDOWN: Command = Command {
    name: "SHUTDOWN",
    syntax: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::NoMulti, Flag::AllowBusy],
    group: Group::Server,
    cost: "O(1); what is written and not yet on disk is synced first",
    since: "1.0.0",
    brief: "Ends the server after a last sync, whichever option is given.",
    answer: "nothing: the connection closes; error: if it cannot end",
    run: Run::Engine(Verb::Shutdown),
};

const SAVE: Command = Command {
    name: "SAVE",
    syntax: "",
    arity: Arity::Exactly(1),
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoMulti],
    cost: "O(what has changed since the last checkpoint); other clients go on",
    brief: "Makes a checkpoint, and waits for its end.",
    answer: "OK; error: one is under way, the journal is off, or it failed",
    run: Run::Engine(Verb::Save),
    ..SHUTDOWN
};

const BGSAVE: Command = Command {
    name: "BGSAVE",
    syntax: "[SCHEDULE]",
    arity: Arity::AtLeast(1),
    flags: &[Flag::Admin, Flag::NoScript],
    cost: "O(1); the checkpoint is made beside other work",
    brief: "Begins a checkpoint.",
    answer: "Background saving started; error: one is under way, or the journal is off",
    run: Run::Session(begin_save),
    ..SAVE
};

const BGREWRITEAOF: Command = Command {
    name: "BGREWRITEAOF",
    syntax: "",
    arity: Arity::Exactly(1),
    brief: "Begins a checkpoint, after which the journal below it is given back.",
    answer: "Background append only file rewriting started; error: as BGSAVE",
    run: Run::Session(begin_rewrite),
    ..BGSAVE
};

const LASTSAVE: Command = Command {
    name: "LASTSAVE",
    syntax: "",
    arity: Arity::Exactly(1),
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast, Flag::Dangerous],
    cost: "O(1)",
    brief: "Tells when the last checkpoint ended; before that, when the server started.",
    answer: "int: seconds since the epoch",
    run: Run::Session(last_save),
    ..SAVE
};

fn begin_save(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.len() > 2 || args.len() == 2 && !parse::is(args.get(1), "SCHEDULE") {
        return Err(Failure::Syntax);
    }
    session.begin_checkpoint().map_err(Failure::text)?;
    reply.simple("Background saving started");
    Ok(())
}

fn begin_rewrite(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    session.begin_checkpoint().map_err(Failure::text)?;
    reply.simple("Background append only file rewriting started");
    Ok(())
}

fn last_save(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    reply.int((session.saved_ms() / 1000) as i64);
    Ok(())
}
