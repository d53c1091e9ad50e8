//! HELP for every command with subcommands, generated from the specifications; and errors for misused subcommands.

use crate::prelude::*;
use crate::registry;
use crate::session::Session;

/// Returns the HELP subcommand of a container: all of them work alike.
pub(crate) const fn help_command(
    name: &'static str,
    group: Group,
    since: &'static str,
    flags: &'static [Flag],
) -> CommandSpec {
    CommandSpec {
        name,
        syntax: "",
        arity: Arity::Exactly(2),
        keys: &[],
        access: Access::None,
        flags,
        facts: &[],
        group,
        cost: "O(1)",
        since,
        brief: "Lists the subcommands.",
        answer: "array: lines of text",
        run: Run::Session(help),
    }
}

/// The flags of most HELP subcommands.
pub(crate) const HELP_FLAGS: &[Flag] = &[Flag::Loading, Flag::Stale];

fn help(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let container = String::from_utf8_lossy(args.name()).to_ascii_uppercase();
    let mut commands = registry::subcommands(&container);
    commands.sort_unstable_by_key(|command| command.name);
    reply.array(1 + 2 * commands.len());
    reply.simple(&format!("{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    for command in commands {
        let usage = command.name.split_once(' ').map_or(command.name, |(_, usage)| usage);
        reply.simple(format!("{usage} {}", command.syntax).trim_end());
        reply.simple(&format!("    {}", command.brief));
    }
    Ok(())
}

/// Returns the error for a known subcommand with too many arguments, in the words Redis uses if its own arity is "at
/// least".
pub(crate) fn wrong_count(args: &Args<'_>) -> Failure {
    let container = String::from_utf8_lossy(args.name()).to_ascii_uppercase();
    let given = crate::parse::repeated(args.get(1));
    Failure::text(format!("ERR unknown subcommand or wrong number of arguments for '{given}'. Try {container} HELP."))
}
