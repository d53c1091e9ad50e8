//! The law of claims: no frame is longer than the room claimed for it before its shards were locked. [`World`] asserts
//! that for each request; here are requests with long parts, on values in their small and large forms.
//!
//! A binary of its own, since the limits of small forms are global to the process.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/syntax.rs"]
mod syntax;

use commands::testing::direct::World;
use commands::testing::dump::dump;
use commands::{CommandSpec, Run, registry};
use dice::Dice;
use proptest::prelude::*;
use values::limits::{
    HASH_ENTRIES, HASH_VALUE_BYTES, Limit, SET_ENTRIES, SET_INTEGERS, SET_VALUE_BYTES, SORTED_ENTRIES,
    SORTED_MEMBER_BYTES,
};
use wire::client::Value;
use wire::resp::Protocol;

const LIMITS: &[&Limit] = &[
    &HASH_ENTRIES,
    &HASH_VALUE_BYTES,
    &SET_ENTRIES,
    &SET_INTEGERS,
    &SET_VALUE_BYTES,
    &SORTED_ENTRIES,
    &SORTED_MEMBER_BYTES,
];

/// Commands that a keyspace without an engine can run.
fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    registry::commands().filter(|command| !matches!(command.run, Run::Session(_) | Run::Parts { .. } | Run::Engine(_)))
}

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// An element that is recorded under two keys needs room for two.
#[test]
fn smove_of_a_long_member_fits_its_claim() {
    let mut world = World::new(Protocol::Resp2);
    let long = vec![b'm'; 70_000];
    let members = (0..200).map(|number| if number % 2 == 0 { number.to_string() } else { format!("member {number}") });
    let request = [words("SADD a"), members.map(String::into_bytes).collect(), vec![long.clone()]].concat();
    assert_eq!(world.call(&request), Value::Int(201));
    assert_eq!(world.call(&[words("SMOVE a b"), vec![long.clone()]].concat()), Value::Int(1));
    assert_eq!(world.call(&[words("SMOVE b a"), vec![long]].concat()), Value::Int(1));
    assert_eq!(dump(&world.keyspace), dump(&world.replayed()));
}

/// The key is in two records, and the schema is long.
#[test]
fn a_list_made_over_an_expired_long_key_fits_its_claim() {
    let mut world = World::new(Protocol::Resp2);
    let key = "k".repeat(100);
    let attributes: String = (0..8).map(|number| format!(" ATTR {}{number} 1", "a".repeat(63))).collect();
    assert_eq!(world.call(&words(&format!("TL.DEFINE k{attributes}"))), Value::Simple("OK".to_owned()));
    assert_eq!(world.call(&words(&format!("SET {key} v PX 1"))), Value::Simple("OK".to_owned()));
    world.now += 2;
    assert_eq!(world.call(&words(&format!("TL.CREATE {key}"))), Value::Int(1));
}

/// Requests that fill most keys.
const FILL: &[&str] = &[
    "SADD set a 1 2 3 -7 70000000000",
    "XADD stream 5-1 f v",
    "XGROUP CREATE stream g 0",
    "TL.DEFINE tagged ATTR a 3 ATTR b 2",
    "TL.DEFINE unique ATTR a 3 ATTR b 2 ORDER ATTR a DESC UNIQUE",
    "TL.PUSH tagged TAIL a a=1 ITEM b b=2 ITEM cc ITEM a",
    "Q.PUSH queue a b c",
    "HSET hash f v g 1",
    "HPEXPIRE hash 20 FIELDS 1 f",
    "PEXPIRE set 20",
];

fn cases() -> u32 {
    std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_frame_never_exceeds_its_claim(numbers in prop::collection::vec(any::<u32>(), 500..6000)) {
        let mut world = World::new(Protocol::Resp2);
        let mut dice = Dice::long(&numbers);
        let all: Vec<&CommandSpec> = commands().collect();
        // Most commands are of one group, so that requests meet the results of others.
        let group = all[dice.below(all.len())].group;
        let related: Vec<&CommandSpec> = commands().filter(|command| command.group == group).collect();
        while !dice.is_over() {
            match dice.below(24) {
                0 => LIMITS.iter().for_each(|limit| limit.set([0, 1, 3, 64, 512, u64::MAX][dice.below(6)])),
                1 => drop(world.call(&words(FILL[dice.below(FILL.len())]))),
                2 => world.now += [1, 30, 5_000][dice.below(3)],
                3 => world.speculates = !world.speculates,
                drawn => {
                    let drawn = if drawn < 8 { &all } else { &related };
                    let command = drawn[dice.below(drawn.len())];
                    world.call(&dice.request(command, &Dice::value));
                }
            }
        }
    }
}
