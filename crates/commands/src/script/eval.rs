//! EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO: run a script, or a library function, as one command. The engine runs
//! them; here are their specifications.

use crate::prelude::*;
use crate::spec::Verb;
use wire::Args;

pub(crate) const COMMANDS: &[CommandSpec] = &[EVAL, EVALSHA, EVAL_RO, EVALSHA_RO, FCALL, FCALL_RO];

const EVAL: CommandSpec = CommandSpec {
    name: "EVAL",
    syntax: "script numkeys [key [key ...]] [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(2, "RW ACCESS UPDATE")],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Stale, Flag::SkipMonitor, Flag::NoMandatoryKeys],
    group: Group::Scripting,
    cost: "that of the script",
    since: "2.6.0",
    brief: "Runs a Lua script atomically.",
    answer: "what the script returns",
    run: Run::Engine(Verb::Eval),
};

const EVALSHA: CommandSpec = CommandSpec {
    name: "EVALSHA",
    syntax: "sha1 numkeys [key [key ...]] [arg [arg ...]]",
    brief: "Runs a cached script, named by the SHA-1 of its source.",
    answer: "what the script returns; error NOSCRIPT if it is not known",
    ..EVAL
};

const EVAL_RO: CommandSpec = CommandSpec {
    name: "EVAL_RO",
    keys: &[KeySpec::counted(2, "RO ACCESS")],
    access: Access::Read,
    since: "7.0.0",
    brief: "Runs a read-only Lua script.",
    ..EVAL
};

const EVALSHA_RO: CommandSpec = CommandSpec {
    name: "EVALSHA_RO",
    syntax: "sha1 numkeys [key [key ...]] [arg [arg ...]]",
    brief: "Runs a cached read-only script, named by the SHA-1 of its source.",
    answer: "what the script returns; error NOSCRIPT if it is not known",
    ..EVAL_RO
};

const FCALL: CommandSpec = CommandSpec {
    name: "FCALL",
    syntax: "function numkeys [key [key ...]] [arg [arg ...]]",
    cost: "that of the function",
    since: "7.0.0",
    brief: "Runs a function of a library atomically.",
    answer: "what the function returns; error if there is none of this name",
    ..EVAL
};

const FCALL_RO: CommandSpec = CommandSpec {
    name: "FCALL_RO",
    syntax: "function numkeys [key [key ...]] [arg [arg ...]]",
    cost: "that of the function",
    brief: "Runs a read-only function of a library.",
    answer: "what the function returns; error if there is none of this name, or it may write",
    ..EVAL_RO
};

/// Returns how many of the arguments after the number of keys are keys.
///
/// # Errors
/// If it is not a number, negative, or too large.
pub fn keys_count(args: &Args<'_>, is_function: bool) -> Result<usize, Failure> {
    let none = || if is_function { Failure::text("ERR Bad number of keys provided") } else { Failure::NotAnInteger };
    let count = values::string::parse_int(args.get(2)).ok_or_else(none)?;
    if count > (args.len() - 3) as i64 {
        return Err(Failure::text("ERR Number of keys can't be greater than number of args"));
    }
    usize::try_from(count).map_err(|_| Failure::text("ERR Number of keys can't be negative"))
}
