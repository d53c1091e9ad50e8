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
    keys: &[KeySpec::counted(2, "RW ACCESS UPDATE").noted("What the script does with its keys is not known.")],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Stale, Flag::SkipMonitor, Flag::NoMandatoryKeys],
    facts: &[],
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
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(2, "RW ACCESS UPDATE")],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Stale, Flag::SkipMonitor, Flag::NoMandatoryKeys, Flag::ByDigest],
    facts: &[],
    group: Group::Scripting,
    cost: "that of the script",
    since: "2.6.0",
    brief: "Runs a cached script, named by the SHA-1 of its source.",
    answer: "what the script returns; error NOSCRIPT if it is not known",
    run: Run::Engine(Verb::Eval),
};

const EVAL_RO: CommandSpec = CommandSpec {
    name: "EVAL_RO",
    syntax: "script numkeys [key [key ...]] [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(2, "RO ACCESS")
        .noted("What the script does with its keys is not known, but that it only reads.")],
    access: Access::Read,
    flags: &[Flag::NoScript, Flag::Stale, Flag::SkipMonitor, Flag::NoMandatoryKeys, Flag::ReadOnlyScript],
    facts: &[],
    group: Group::Scripting,
    cost: "that of the script",
    since: "7.0.0",
    brief: "Runs a read-only Lua script.",
    answer: "what the script returns",
    run: Run::Engine(Verb::Eval),
};

const EVALSHA_RO: CommandSpec = CommandSpec {
    name: "EVALSHA_RO",
    syntax: "sha1 numkeys [key [key ...]] [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(2, "RO ACCESS")],
    access: Access::Read,
    flags: &[
        Flag::NoScript,
        Flag::Stale,
        Flag::SkipMonitor,
        Flag::NoMandatoryKeys,
        Flag::ReadOnlyScript,
        Flag::ByDigest,
    ],
    facts: &[],
    group: Group::Scripting,
    cost: "that of the script",
    since: "7.0.0",
    brief: "Runs a cached read-only script, named by the SHA-1 of its source.",
    answer: "what the script returns; error NOSCRIPT if it is not known",
    run: Run::Engine(Verb::Eval),
};

const FCALL: CommandSpec = CommandSpec {
    name: "FCALL",
    syntax: "function numkeys [key [key ...]] [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(2, "RW ACCESS UPDATE").noted("What the function does with its keys is not known.")],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Stale, Flag::SkipMonitor, Flag::NoMandatoryKeys, Flag::CallsFunction],
    facts: &[],
    group: Group::Scripting,
    cost: "that of the function",
    since: "7.0.0",
    brief: "Runs a function of a library atomically.",
    answer: "what the function returns; error if there is none of this name",
    run: Run::Engine(Verb::Eval),
};

const FCALL_RO: CommandSpec = CommandSpec {
    name: "FCALL_RO",
    syntax: "function numkeys [key [key ...]] [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::counted(2, "RO ACCESS")
        .noted("What the function does with its keys is not known, but that it only reads.")],
    access: Access::Read,
    flags: &[
        Flag::NoScript,
        Flag::Stale,
        Flag::SkipMonitor,
        Flag::NoMandatoryKeys,
        Flag::ReadOnlyScript,
        Flag::CallsFunction,
    ],
    facts: &[],
    group: Group::Scripting,
    cost: "that of the function",
    since: "7.0.0",
    brief: "Runs a read-only function of a library.",
    answer: "what the function returns; error if there is none of this name, or it may write",
    run: Run::Engine(Verb::Eval),
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
