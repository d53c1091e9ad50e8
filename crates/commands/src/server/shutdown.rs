//! SHUTDOWN SAVE BGSAVE BGREWRITEAOF: the end, and what stands in the place of dumps.

use crate::prelude::*;
use crate::row::Verb;
use crate::session::Session;

pub(crate) const COMMANDS: &[Command] = &[SHUTDOWN, SAVE, BGSAVE, BGREWRITEAOF];

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
    cost: "O(1)",
    brief: "Says what keeps the data: there are no dumps.",
    answer: "error: always",
    run: Run::Session(no_dump),
    ..SHUTDOWN
};

const BGSAVE: Command = Command {
    name: "BGSAVE",
    syntax: "[SCHEDULE]",
    arity: Arity::AtLeast(1),
    flags: &[Flag::Admin, Flag::NoScript],
    ..SAVE
};

const BGREWRITEAOF: Command = Command { name: "BGREWRITEAOF", syntax: "", arity: Arity::Exactly(1), ..BGSAVE };

fn no_dump(_: &mut dyn Session, _: &Args, _: &mut dyn Reply) -> Outcome {
    Err(Failure::text(
        "ERR there are no dumps to write: the journal in the data folder keeps every write as it is made, see INFO \
         persistence",
    ))
}
