//! SHUTDOWN SAVE BGSAVE BGREWRITEAOF LASTSAVE: shutdown and checkpoints.

use crate::prelude::*;
use crate::session::{Saving, Session};
use crate::spec::Verb;

pub(crate) const COMMANDS: &[CommandSpec] = &[SHUTDOWN, SAVE, BGSAVE, BGREWRITEAOF, LASTSAVE];

const SHUTDOWN: CommandSpec = CommandSpec {
    name: "SHUTDOWN",
    syntax: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::NoMulti, Flag::AllowBusy],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `NOW`, `FORCE` and `ABORT`.")]),
        Fact::Arguments(&[
            argument("1", "", "", "7.0.0"),
            argument("2", "", "", "7.0.0"),
            argument("3", "", "", "7.0.0"),
        ]),
    ],
    group: Group::Server,
    cost: "O(1); what is written and not yet on disk is synced first",
    since: "1.0.0",
    brief: "Stops the server after a last sync, whichever option is given.",
    answer: "nothing: the connection closes; error: if it cannot end",
    run: Run::Engine(Verb::Shutdown),
};

const SAVE: CommandSpec = CommandSpec {
    name: "SAVE",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoMulti, Flag::NoAsyncLoading],
    facts: &[],
    group: Group::Server,
    cost: "O(what has changed since the last checkpoint); other clients go on",
    since: "1.0.0",
    brief: "Makes a checkpoint and waits for its end.",
    answer: "OK; error: one is under way, the journal is off, or it failed",
    run: Run::Engine(Verb::Save),
};

const BGSAVE: CommandSpec = CommandSpec {
    name: "BGSAVE",
    syntax: "[SCHEDULE]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoAsyncLoading],
    facts: &[Fact::History(&[("3.2.2", "Takes `SCHEDULE`.")]), Fact::Arguments(&[argument("0", "", "", "3.2.2")])],
    group: Group::Server,
    cost: "O(1); the checkpoint is made beside other work",
    since: "1.0.0",
    brief: "Starts a checkpoint in the background.",
    answer: "Background saving started, or scheduled in MULTI or, with SCHEDULE, behind a BGREWRITEAOF; error: one is under \
        way, or the journal is off",
    run: Run::Session(begin_save),
};

const BGREWRITEAOF: CommandSpec = CommandSpec {
    name: "BGREWRITEAOF",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoAsyncLoading],
    facts: &[],
    group: Group::Server,
    cost: "O(1); the checkpoint is made beside other work",
    since: "1.0.0",
    brief: "Starts a checkpoint, which shortens the journal.",
    answer: "Background append only file rewriting started, or scheduled behind a BGSAVE or in MULTI; error: one is \
        under way, or the journal is off",
    run: Run::Session(begin_rewrite),
};

const LASTSAVE: CommandSpec = CommandSpec {
    name: "LASTSAVE",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast, Flag::Dangerous, Flag::AdminCategory],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns the time of the last checkpoint, or of the start.",
    answer: "int: seconds since the epoch",
    run: Run::Session(last_save),
};

fn begin_save(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let saving = match args.len() {
        1 => Saving::Now,
        2 if parse::is(args.get(1), "SCHEDULE") => Saving::Later,
        _ => return Err(Failure::Syntax),
    };
    let is_next = session.begin_checkpoint(saving).map_err(Failure::text)?;
    reply.simple(if is_next { "Background saving started" } else { "Background saving scheduled" });
    Ok(())
}

fn begin_rewrite(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    let is_next = session.begin_checkpoint(Saving::Rewrite).map_err(Failure::text)?;
    let how = if is_next { "started" } else { "scheduled" };
    reply.simple(&format!("Background append only file rewriting {how}"));
    Ok(())
}

fn last_save(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    reply.int((session.saved_ms() / 1000) as i64);
    Ok(())
}
