//! Laws that every data command obeys.
//!
//! [`World`] asserts some of them at every request: a request that fails, or that only reads, records nothing; a frame
//! fits its claim; effects survive their encoding; a handler touches no shard that its command's keys do not name (the
//! keyspace refuses); each key that it changes, and no other, has a keyspace notification. Here are the other laws.

use crate::dice;
use crate::dice::{Dice, is_key, name};
use crate::syntax;
use commands::testing::direct::{DATABASES, World};
use commands::testing::dump::dump;
use commands::{Arity, CommandSpec, Group, Run, registry};
use proptest::prelude::*;
use std::collections::BTreeSet;
use wire::client::Value;
use wire::resp::Protocol;

/// Commands that a keyspace without an engine can run.
fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    registry::commands()
        .filter(|command| !matches!(command.run, Run::Session(_) | Run::Parts { .. } | Run::Engine(_)))
        .filter(|command| {
            matches!(command.group, Group::Generic | Group::Search)
                || is_of_a_kind(command.group)
                || matches!(command.run, Run::Gate(_))
        })
}

/// Returns true if the commands of a group work on keys of one type.
fn is_of_a_kind(group: Group) -> bool {
    !matches!(
        group,
        Group::Cluster
            | Group::Connection
            | Group::Generic
            | Group::Search
            | Group::Server
            | Group::Transactions
            | Group::Scripting
    )
}

/// Returns a request with the fewest arguments, each value made by `value`.
fn plain(command: &CommandSpec, value: &mut dyn FnMut(&str) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut words = name(command);
    syntax::parse(command.syntax).write_least(&mut words, value);
    words
}

fn plain_value(name: &str) -> &'static str {
    match name {
        "flag" => "v",
        "numkeys" | "numfields" | "numids" | "bit" | "value" => "1",
        "timeout" => "0.01",
        "min" | "max" => "(2",
        name if is_key(name) => "k",
        "db" | "index1" | "destination-db" => "1",
        _ => "2",
    }
}

#[test]
fn command_specs_are_presentable() {
    const KEY_FLAGS: &[&str] =
        &["RO", "RW", "OW", "RM", "ACCESS", "UPDATE", "INSERT", "DELETE", "VARIABLE_FLAGS", "NOT_KEY", "INCOMPLETE"];
    let mut names = BTreeSet::new();
    for command in registry::commands() {
        let name = command.name;
        assert!(names.insert(name), "{name} appears twice");
        assert_eq!(name, name.to_ascii_uppercase());
        assert!(command.brief.ends_with('.'), "{name}: a brief is a sentence");
        assert!(command.brief.len() <= 79, "{name}: {} bytes of brief", command.brief.len());
        assert!(command.brief.starts_with(|letter: char| letter.is_ascii_uppercase()), "{name}");
        assert!(!command.answer.is_empty(), "{name}");
        assert!(!command.cost.is_empty(), "{name}");
        let version = command.since.strip_prefix("bobbin ").unwrap_or(command.since);
        assert_eq!(version.split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 3, "{name}: {version}");
        for spec in command.keys.iter().filter(|spec| spec.flags != "not_key") {
            let mut flags = spec.flags.split(' ');
            assert!(["RO", "RW", "OW", "RM"].contains(&flags.next().unwrap()), "{name}: {}", spec.flags);
            assert!(flags.all(|flag| KEY_FLAGS[4..].contains(&flag)), "{name}: {}", spec.flags);
            assert_eq!(spec.flags.starts_with("RO"), spec.want() == sync::lock::Want::Read);
        }
        let writes_keys = command.keys.iter().any(|spec| !spec.flags.starts_with("RO") && spec.flags != "not_key");
        assert!(!writes_keys || command.may_write(), "{name}: its keys are to be written and it does not write");
    }
}

#[test]
fn syntax_and_arity_agree() {
    for command in commands() {
        let syntax = syntax::parse(command.syntax);
        let least = name(command).len() + syntax.least();
        match command.arity {
            Arity::Exactly(count) => assert!(count == least && syntax.is_fixed(), "{}", command.name),
            Arity::AtLeast(count) => assert!(count == least && !syntax.is_fixed(), "{}", command.name),
            Arity::Between(count, most) => assert!(count == least && most > least, "{}", command.name),
        }
    }
}

#[test]
fn too_few_and_too_many_arguments_are_refused() {
    for command in commands() {
        let request = plain(command, &mut |name| plain_value(name).into());
        let wrong =
            format!("ERR wrong number of arguments for '{}'", command.name.to_ascii_lowercase().replace(' ', "|"));
        let refused = |request: &[Vec<u8>]| {
            let reply = World::new(Protocol::Resp2).call(request);
            reply.as_error().is_some_and(|error| error.starts_with(&wrong))
        };
        if request.len() > name(command).len() {
            assert!(refused(&request[..request.len() - 1]), "{}: one too few", command.name);
        }
        if let Arity::Exactly(_) = command.arity {
            let more = [request, vec![b"x".to_vec()]].concat();
            assert!(refused(&more), "{}: one too many", command.name);
        }
    }
}

/// Commands of a type that accept keys of another, and why.
const ANY_KIND: &[(&str, &str)] = &[
    ("SET", "overwrites whatever is there"),
    ("SETEX", "overwrites whatever is there"),
    ("PSETEX", "overwrites whatever is there"),
    ("MSET", "overwrites whatever is there"),
    ("MSETEX", "overwrites whatever is there"),
    ("DELEX", "removes whatever is there, unless it compares"),
    ("SETNX", "asks only whether the key is there"),
    ("MSETNX", "asks only whether the keys are there"),
    ("MGET", "replies null for what is no text"),
    ("LCS", "has an error of its own"),
    ("TL.DEFINE", "is about no key"),
    ("TL.SCHEMA", "is about no key"),
    ("TL.UNDEFINE", "is about no key"),
];

/// Returns true if a command of a type accepts keys of another.
fn minds_no_kind(command: &CommandSpec) -> bool {
    // A key of another type is a miss for memcached, and no queue for readers of the queue port.
    let is_miss = command.group == Group::Memcached || (command.name.starts_with("MQ.") && command.name != "MQ.SET");
    is_miss || ANY_KIND.iter().any(|(name, _)| *name == command.name)
}

#[test]
fn a_key_of_another_type_is_refused() {
    for command in commands().filter(|command| is_of_a_kind(command.group)) {
        let mut world = World::new(Protocol::Resp2);
        let of_texts = matches!(command.group, Group::String | Group::Bitmap | Group::HyperLogLog);
        let fill: &[&[u8]] = if of_texts { &[b"RPUSH", b"k", b"a"] } else { &[b"SET", b"k", b"a"] };
        world.call(&fill.iter().map(|word| word.to_vec()).collect::<Vec<_>>());
        let before = dump(&world.keyspace);
        let request = plain(command, &mut |name| plain_value(name).into());
        let reply = world.call(&request);
        let refused = reply.as_error().is_some_and(|error| error.starts_with("WRONGTYPE "));
        let minds = !minds_no_kind(command);
        assert_eq!(refused, minds, "{}: {reply}", command.name);
        if minds {
            assert_eq!(dump(&world.keyspace), before, "{}", command.name);
        }
    }
}

/// Time that passes between two requests, in milliseconds.
const STEPS_MS: &[u64] = &[0, 0, 0, 1, 10, 500, 5_000];

/// Runs a request of any of these commands, and asserts that the keyspace equals the replay of its frames. Returns the
/// command, whether it succeeded, and whether it changed something.
fn step(
    world: &mut World,
    copy: &keyspace::Keyspace,
    dice: &mut Dice<'_>,
    commands: &[&'static CommandSpec],
) -> (&'static str, bool, bool) {
    let command = commands[dice.below(commands.len())];
    let words = dice.request(command, &Dice::value);
    world.now += STEPS_MS[dice.below(STEPS_MS.len())];
    if dice.below(12) == 0 {
        world.database = dice.below(DATABASES as usize) as u32;
    }
    world.protocol = if dice.below(2) == 0 { Protocol::Resp2 } else { Protocol::Resp3 };
    let frames_before = world.frames.len();
    let reply = world.call(&words);
    learn(dice, command, &reply);
    assert!(!matches!(reply, Value::Error(ref text) if text.contains("internal")), "{words:?}: {reply}");
    world.frames[frames_before..].iter().for_each(|frame| copy.replay(frame).unwrap());
    let changed = world.frames.len() > frames_before;
    if changed {
        assert_eq!(dump(&world.keyspace), dump(copy), "{}", command.name);
    }
    (command.name, reply.as_error().is_none(), changed)
}

/// Remembers the receipts of leased messages, so that later requests can name them.
fn learn(dice: &mut Dice<'_>, command: &CommandSpec, reply: &Value) {
    let Value::Array(parts) = reply else { return };
    let (true, [_, Value::Array(leased)]) = (command.name == "Q.RESERVE", &parts[..]) else { return };
    let receipts = leased.iter().filter_map(|message| match message {
        Value::Array(parts) if let Value::Bulk(receipt) = &parts[0] => Some(receipt.clone()),
        _ => None,
    });
    dice.receipts.extend(receipts);
    let old = dice.receipts.len().saturating_sub(4);
    dice.receipts.drain(..old);
}

/// States that random requests rarely reach, since each request needs the previous one, with no flush in between.
const PREPARED: &[&str] = &[
    "DEL stream",
    "XADD stream 1-0 f v",
    "XGROUP CREATE stream g 0",
    "XREADGROUP GROUP g h STREAMS stream >",
    "DEL tagged ordered unique",
    "TL.UNDEFINE tagged",
    "TL.UNDEFINE ordered",
    "TL.UNDEFINE unique",
    "TL.DEFINE tagged ATTR a 3 ATTR b 2",
    "TL.DEFINE ordered ATTR a 3 ATTR b 2 ORDER VALUE bytes",
    "TL.DEFINE unique ATTR a 3 ATTR b 2 ORDER ATTR a DESC UNIQUE",
    "TL.PUSH tagged TAIL a a=1 ITEM b b=2 ITEM cc ITEM a",
    "TL.PUSH ordered TAIL a a=1 ITEM b b=2 ITEM cc ITEM a",
    "TL.PUSH unique TAIL a a=1 ITEM b b=2 ITEM cc ITEM 12 a=3",
    "DEL queue",
    "Q.PUSH queue a b c",
    "SELECT 0",
    "DEL hash",
    "HSET hash f a",
    "FT.DROPINDEX index",
    "FT.CREATE index SCHEMA f TAG",
    "FT.AGGREGATE index * WITHCURSOR COUNT 1",
];

fn prepare(world: &mut World, copy: &keyspace::Keyspace) {
    let frames_before = world.frames.len();
    for request in PREPARED {
        world.call(&request.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>());
    }
    world.frames[frames_before..].iter().for_each(|frame| copy.replay(frame).unwrap());
}

/// The law below is useful only if its requests have effects.
#[test]
fn random_requests_reach_every_command() {
    let numbers = dice::numbers(1, 4_000_000);
    let mut world = World::new(Protocol::Resp2);
    let copy = world.replayed();
    let mut dice = Dice::new(&numbers);
    let all: Vec<&CommandSpec> = commands().collect();
    let mut never_succeeded: BTreeSet<&str> =
        commands().map(|command| command.name).filter(|name| *name != "OBJECT FREQ").collect();
    let mut never_changed: BTreeSet<&str> =
        commands().filter(|command| command.writes()).map(|command| command.name).collect();
    while !(dice.is_over() || never_succeeded.is_empty() && never_changed.is_empty()) {
        if dice.below(100) == 0 {
            prepare(&mut world, &copy);
        }
        // Every other request is of a command that has not succeeded, or not changed anything, yet.
        let is_left =
            |command: &&CommandSpec| never_succeeded.contains(command.name) || never_changed.contains(command.name);
        let left: Vec<&CommandSpec> = all.iter().copied().filter(is_left).collect();
        let drawn = if dice.below(2) == 0 { &all } else { &left };
        let (name, ok, writes) = step(&mut world, &copy, &mut dice, drawn);
        if ok {
            never_succeeded.remove(name);
        }
        if writes {
            never_changed.remove(name);
        }
    }
    assert!(never_succeeded.is_empty(), "never succeeded: {never_succeeded:?}");
    assert!(never_changed.is_empty(), "never changed anything: {never_changed:?}");
}

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(96)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn state_equals_the_replay_of_its_effects(numbers in prop::collection::vec(any::<u32>(), 200..1200)) {
        let mut world = World::new(Protocol::Resp2);
        let copy = world.replayed();
        let mut dice = Dice::new(&numbers);
        let all: Vec<&CommandSpec> = commands().collect();
        while !dice.is_over() {
            step(&mut world, &copy, &mut dice, &all);
        }
        prop_assert_eq!(dump(&world.keyspace), dump(&world.replayed()));
    }

    /// Any command may run speculatively here, not only those that touch very much.
    #[test]
    fn a_speculative_run_equals_a_direct_run(
        numbers in prop::collection::vec(any::<u32>(), 200..1200),
    ) {
        let mut worlds = [World::new(Protocol::Resp2), World { speculates: true, ..World::new(Protocol::Resp2) }];
        let mut dice = Dice::new(&numbers);
        // Their replies show that clones do not count as uses.
        let usage_commands = ["OBJECT IDLETIME", "MC.ME", "MC.METADUMP"];
        let all: Vec<&CommandSpec> = commands().filter(|command| !usage_commands.contains(&command.name)).collect();
        while !dice.is_over() {
            let command = all[dice.below(all.len())];
            let mut words = dice.request(command, &Dice::value);
            words.retain(|word| command.group != Group::Memcached || !matches!(&word[..], b"h" | b"l"));
            let step_ms = STEPS_MS[dice.below(STEPS_MS.len())];
            let [one, other] = worlds.each_mut().map(|world| {
                world.now += step_ms;
                let reply = world.call(&words);
                (reply, world.frames.len())
            });
            prop_assert_eq!(one, other, "{:?}", words);
        }
        let states = worlds.each_ref().map(|world| dump(&world.keyspace));
        prop_assert_eq!(&states[0], &states[1]);
        prop_assert_eq!(&states[1], &dump(&worlds[1].replayed()));
    }
}
