//! HELLO AUTH: protocol negotiation and authentication.

use super::client::name_of;
use crate::prelude::*;
use crate::server::module::write_modules;
use crate::session::Session;

pub(crate) const COMMANDS: &[CommandSpec] = &[HELLO, AUTH];

/// The version of Redis we emulate.
pub const REDIS_VERSION: &str = "7.4.2";

const HELLO: CommandSpec = CommandSpec {
    name: "HELLO",
    syntax: "[protover [AUTH username password] [SETNAME clientname]]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::NoAuth, Flag::AllowBusy, Flag::SetsProtocol],
    facts: &[
        Fact::History(&[("6.2.0", "Needs no version of the protocol: without one it only describes the connection.")]),
        Fact::Arguments(&[argument("0", "arguments", "", "")]),
        Fact::Secret(Secret::HelloOptions),
    ],
    group: Group::Connection,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Selects RESP2 or RESP3, authenticates, names; describes the server.",
    answer: "map: server, version, proto, id, mode, role, modules",
    run: Run::Session(hello),
};

const AUTH: CommandSpec = CommandSpec {
    name: "AUTH",
    syntax: "[username] password",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::NoAuth, Flag::AllowBusy],
    facts: &[
        Fact::History(&[("6.0.0", "Takes a user's name.")]),
        Fact::Arguments(&[argument("0", "", "", "6.0.0")]),
        Fact::Secret(Secret::AllArguments),
    ],
    group: Group::Connection,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Authenticates the connection.",
    answer: "simple: OK",
    run: Run::Session(auth),
};

const WRONG: &str = "WRONGPASS invalid username-password pair or user is disabled.";
const NOT_IN_YET: &str = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> \
     <pass> option can be used to authenticate the client and select the RESP protocol version at the same time";
const NO_PASSWORD: &str = "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
     configuration is correct?";

/// The arguments of HELLO.
#[derive(Default)]
struct Hello<'a> {
    protocol: Option<u8>,
    user: Option<(&'a [u8], &'a [u8])>,
    name: Option<&'a str>,
}

fn hello(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let hello = Hello::parse(args)?;
    if let Some((user, password)) = hello.user
        && !session.authenticate(user, password)
    {
        return Err(Failure::text(WRONG));
    }
    if !session.is_authenticated() {
        return Err(Failure::text(NOT_IN_YET));
    }
    if let Some(name) = hello.name {
        session.set_name(name);
    }
    if let Some(protocol) = hello.protocol {
        session.set_protocol(protocol);
    }
    reply.map(7);
    let mut text = |key: &str, value: &str| {
        reply.bulk(key.as_bytes());
        reply.bulk(value.as_bytes());
    };
    text("server", "redis");
    text("version", REDIS_VERSION);
    reply.bulk(b"proto");
    reply.int(i64::from(session.protocol()));
    reply.bulk(b"id");
    reply.int(session.id() as i64);
    let mut text = |key: &str, value: &str| {
        reply.bulk(key.as_bytes());
        reply.bulk(value.as_bytes());
    };
    text("mode", "standalone");
    text("role", "master");
    reply.bulk(b"modules");
    write_modules(reply);
    Ok(())
}

impl<'a> Hello<'a> {
    fn parse(args: &Args<'a>) -> Result<Self, Failure> {
        let mut hello = Self::default();
        let mut words = args.from(1).iter();
        let Some(version) = words.next() else { return Ok(hello) };
        let version =
            parse::int(version).map_err(|_| Failure::text("ERR Protocol version is not an integer or out of range"))?;
        if !(2..=3).contains(&version) {
            return Err(Failure::text("NOPROTO unsupported protocol version"));
        }
        hello.protocol = Some(version as u8);
        while let Some(word) = words.next() {
            if parse::is(word, "AUTH") && words.len() >= 2 {
                hello.user = words.next().zip(words.next());
            } else if parse::is(word, "SETNAME") && words.len() >= 1 {
                hello.name = words.next().map(name_of).transpose()?;
            } else {
                let word = parse::repeated(word);
                return Err(Failure::text(format!("ERR Syntax error in HELLO option '{word}'")));
            }
        }
        Ok(hello)
    }
}

fn auth(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (user, password) = match args.len() {
        2 if !session.needs_password() => return Err(Failure::text(NO_PASSWORD)),
        2 => (b"default".as_slice(), args.get(1)),
        3 => (args.get(1), args.get(2)),
        _ => return Err(Failure::Syntax),
    };
    if !session.authenticate(user, password) {
        return Err(Failure::text(WRONG));
    }
    reply.ok();
    Ok(())
}
