//! ACL: there is one user, `default`, who may do everything.

use crate::acl::{CATEGORIES, categories};
use crate::help::{HELP_FLAGS, help_command, wrong_count};
use crate::prelude::*;
use crate::registry::{self, Lookup};
use crate::session::Session;
use base::raw_text;

pub(crate) const COMMANDS: &[CommandSpec] =
    &[CAT, DELUSER, DRYRUN, GENPASS, GETUSER, LIST, LOAD, LOG, SAVE, SETUSER, USERS, WHOAMI, ACL_HELP];

const WHOAMI: CommandSpec = CommandSpec {
    name: "ACL WHOAMI",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Returns the user of the connection.",
    answer: "bulk: default",
    run: Run::Session(|_, _, reply| {
        reply.bulk(USER);
        Ok(())
    }),
};

const CAT: CommandSpec = CommandSpec {
    name: "ACL CAT",
    syntax: "[category]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Arguments(&[argument("0", "categoryname", "", "")])],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Lists the categories of commands, or the commands of one.",
    answer: "array: names",
    run: Run::Session(cat),
};

const GENPASS: CommandSpec = CommandSpec {
    name: "ACL GENPASS",
    syntax: "[bits]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Generates a password of 256 random bits, or of a number of bits.",
    answer: "bulk: hexadecimal digits",
    run: Run::Session(make_password),
};

const USERS: CommandSpec = CommandSpec {
    name: "ACL USERS",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Lists the names of users; `default` is the only one.",
    answer: "array: names",
    run: Run::Session(|_, _, reply| {
        reply.array(1);
        reply.bulk(USER);
        Ok(())
    }),
};

const LIST: CommandSpec = CommandSpec {
    name: "ACL LIST",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Lists the rules of all users.",
    answer: "array: lines as ACL SETUSER takes them",
    run: Run::Session(|session, _, reply| {
        let secret = session.password_digest().map_or("nopass".to_owned(), |digest| format!("#{digest}"));
        reply.array(1);
        reply.bulk(format!("user default on {secret} ~* &* +@all").as_bytes());
        Ok(())
    }),
};

const GETUSER: CommandSpec = CommandSpec {
    name: "ACL GETUSER",
    syntax: "username",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::History(&[
        ("6.2.0", "Lists patterns of channels."),
        ("7.0.0", "Lists selectors, and patterns as rules."),
    ])],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Returns what a user may do.",
    answer: "map: flags, passwords, commands, keys, channels, selectors; null if there is no such user",
    run: Run::Session(user),
};

const SETUSER: CommandSpec = CommandSpec {
    name: "ACL SETUSER",
    syntax: "username [rule [rule ...]]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[
        Fact::History(&[("6.2.0", "Takes patterns of channels."), ("7.0.0", "Takes selectors, and rights for keys.")]),
        Fact::Secret(Secret::Rules),
    ],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Sets a user's rules; accepts only those that `default` has.",
    answer: "simple: OK; error for what would change anything",
    run: Run::Session(set_user),
};

const DELUSER: CommandSpec = CommandSpec {
    name: "ACL DELUSER",
    syntax: "username [username ...]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Deletes users; none can be deleted.",
    answer: "int: 0; error for default",
    run: Run::Session(|_, args, reply| {
        if args.from(2).iter().any(|name| name == USER) {
            return Err(Failure::text("ERR The 'default' user cannot be removed"));
        }
        reply.int(0);
        Ok(())
    }),
};

const DRYRUN: CommandSpec = CommandSpec {
    name: "ACL DRYRUN",
    syntax: "username command [arg [arg ...]]",
    arity: Arity::AtLeast(4),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Simulates a command as a user, without running it.",
    answer: "simple: OK",
    run: Run::Session(dry_run),
};

const LOG: CommandSpec = CommandSpec {
    name: "ACL LOG",
    syntax: "[count | RESET]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[Fact::Arguments(&[argument("0", "operation", "", "")])],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Lists commands that users were denied; none ever is.",
    answer: "array: empty; simple: OK, for RESET",
    run: Run::Session(log),
};

const LOAD: CommandSpec = CommandSpec {
    name: "ACL LOAD",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Reloads users from a file; there is none, so it fails.",
    answer: "error: always",
    run: Run::Session(no_file),
};

const SAVE: CommandSpec = CommandSpec {
    name: "ACL SAVE",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Saves users to a file; there is none, so it fails.",
    answer: "error: always",
    run: Run::Session(no_file),
};

const ACL_HELP: CommandSpec = help_command("ACL HELP", Group::Server, "6.0.0", HELP_FLAGS);

/// The only user.
const USER: &[u8] = b"default";

fn cat(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let names: Vec<String> = match args.len() {
        2 => CATEGORIES.iter().map(|name| (*name).to_owned()).collect(),
        3 => {
            let asked = args.get(2);
            let Some(category) = CATEGORIES.iter().find(|name| parse::is(asked, name)) else {
                let asked = raw_text::from_bytes(asked);
                return Err(Failure::text(format!("ERR Unknown category '{asked}'")));
            };
            let commands = registry::commands().filter(|command| categories(command).contains(category));
            commands.map(|command| command.reported_name()).collect()
        }
        _ => return Err(wrong_count(args)),
    };
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name.as_bytes()));
    Ok(())
}

fn make_password(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    const BITS_MAX: i64 = 4096;
    let refused =
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096";
    let bits = match args.len() {
        2 => 256,
        3 => parse::int_or(args.get(2), i64::MIN, i64::MAX, "ERR value is not an integer or out of range")?,
        _ => return Err(wrong_count(args)),
    };
    if !(1..=BITS_MAX).contains(&bits) {
        return Err(Failure::text(refused));
    }
    let digits_count = (bits as usize).div_ceil(4);
    let bytes = session.secret_bytes(digits_count.div_ceil(2));
    let mut digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(digits_count);
    reply.bulk(digits.as_bytes());
    Ok(())
}

fn user(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.get(2) != USER {
        reply.null();
        return Ok(());
    }
    let digest = session.password_digest();
    let flags: &[&str] = if digest.is_some() { &["on"] } else { &["on", "nopass"] };
    reply.map(6);
    reply.bulk(b"flags");
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"passwords");
    reply.array(digest.iter().len());
    digest.iter().for_each(|digest| reply.bulk(digest.as_bytes()));
    for (name, rules) in [("commands", "+@all"), ("keys", "~*"), ("channels", "&*")] {
        reply.bulk(name.as_bytes());
        reply.bulk(rules.as_bytes());
    }
    reply.bulk(b"selectors");
    reply.array(0);
    Ok(())
}

fn set_user(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    const SO_ALREADY: [&str; 7] = ["on", "~*", "allkeys", "&*", "allchannels", "+@all", "allcommands"];
    if args.get(2).iter().any(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return Err(Failure::text("ERR Usernames can't contain spaces or null characters"));
    }
    let is_so = |rule: &[u8]| {
        SO_ALREADY.iter().any(|known| parse::is(rule, known))
            || (parse::is(rule, "nopass") && !session.needs_password())
    };
    if args.get(2) != USER || !args.from(3).iter().all(is_so) {
        let text = "ERR there is one user, 'default', who may do everything; CONFIG SET requirepass sets its password";
        return Err(Failure::text(text));
    }
    reply.ok();
    Ok(())
}

fn dry_run(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let name = raw_text::from_bytes(args.get(2));
    if args.get(2) != USER {
        return Err(Failure::text(format!("ERR User '{name}' not found")));
    }
    let request = args.from(3);
    let asked = raw_text::from_bytes(args.get(3));
    let Lookup::Command(command) = registry::find(&request) else {
        return Err(Failure::text(format!("ERR Command '{asked}' not found")));
    };
    if !command.arity.allows(request.len()) {
        let name = command.reported_name();
        return Err(Failure::text(format!("ERR wrong number of arguments for '{name}' command")));
    }
    reply.ok();
    Ok(())
}

fn log(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    match args.len() {
        2 => {}
        3 if parse::is(args.get(2), "RESET") => {
            reply.ok();
            return Ok(());
        }
        3 => drop(parse::int(args.get(2))?),
        _ => return Err(wrong_count(args)),
    }
    reply.array(0);
    Ok(())
}

fn no_file(_: &mut dyn Session, _: &Args, _: &mut dyn Reply) -> Outcome {
    Err(Failure::text(
        "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER \
         command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store \
         users in the Redis configuration.",
    ))
}
