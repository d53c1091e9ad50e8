//! Foreign arguments of every command: a request is answered, with an error or not, and the state equals its frames'
//! replay.
//!
//! ```text
//!   | number 2 | number 2 | ... |     choices, as the laws of every command draw theirs: command, syntax, values
//! ```
//!
//! Besides values that fit a name there are others: arbitrary bytes, unusual numbers, and requests that are too short
//! or too long. `World` checks each request alone: the effects it records and its reply.

#![no_main]

#[allow(dead_code, reason = "the laws of every command use the rest")]
#[path = "../../crates/commands/tests/support/dice.rs"]
mod dice;
#[allow(dead_code, reason = "the laws of every command use the rest")]
#[path = "../../crates/commands/tests/support/syntax.rs"]
mod syntax;

use commands::testing::direct::{DATABASES, World};
use commands::testing::dump::dump;
use commands::{CommandSpec, Group, Run, registry};
use dice::Dice;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use wire::client::Value;
use wire::resp::Protocol;

/// Many more only take time: what they leave is there from the first hundred on.
const REQUESTS_MAX: usize = 200;

const NUMBERS: &[&str] = &[
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "-0",
    "+1",
    "01",
    " 1",
    "1 ",
    "0x10",
    "1e3",
    "1e308",
    "-1e309",
    "nan",
    "-nan",
    "infinity",
    "1.7976931348623157e308",
    "5e-324",
    "1.5",
    ".5",
    "1-",
    "0-0-0",
    "18446744073709551615-18446744073709551615",
    "",
    "\0",
    "-",
    "(",
    "[",
    "#",
    "=",
];

/// Commands that a keyspace without an engine can run.
fn commands() -> &'static [&'static CommandSpec] {
    static ROWS: OnceLock<Vec<&CommandSpec>> = OnceLock::new();
    let kept = |command: &&CommandSpec| {
        !matches!(command.run, Run::Session(_) | Run::Engine(_))
            && (!matches!(command.group, Group::Connection | Group::Server | Group::Transactions | Group::Scripting)
                || matches!(command.run, Run::Gate(_)))
    };
    ROWS.get_or_init(|| registry::commands().filter(kept).collect())
}

fn value(dice: &mut Dice<'_>, name: &str) -> Vec<u8> {
    match dice.below(8) {
        0 => NUMBERS[dice.below(NUMBERS.len())].into(),
        1 => (0..dice.below(12)).map(|_| dice.below(256) as u8).collect(),
        _ => dice.value(name),
    }
}

fuzz_target!(|data: &[u8]| {
    let numbers: Vec<u32> =
        data.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]]))).collect();
    let mut dice = Dice::new(&numbers);
    let mut world = World::new(Protocol::Resp2);
    for _ in 0..REQUESTS_MAX {
        if dice.is_over() {
            break;
        }
        let command = commands()[dice.below(commands().len())];
        let mut words = dice.request(command, &value);
        match dice.below(16) {
            0 => words.truncate(1 + dice.below(words.len())),
            1 => words.push(value(&mut dice, "value")),
            _ => {}
        }
        world.now += [0, 0, 1, 500, 5_000][dice.below(5)];
        world.database = dice.below(DATABASES as usize) as u32;
        world.protocol = if dice.below(2) == 0 { Protocol::Resp2 } else { Protocol::Resp3 };
        let reply = world.call(&words);
        assert!(!matches!(reply, Value::Error(ref text) if text.contains("internal")), "{words:?}: {reply}");
    }
    assert_eq!(dump(&world.keyspace), dump(&world.replayed()));
});
