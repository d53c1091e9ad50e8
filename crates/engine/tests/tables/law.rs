//! The law: whatever happens to the keys and the declarations, queries reply what HGETALL of every key says.
//!
//! `BOBBIN_CASES` sets the number of cases.

use super::bench::Bench;
use super::twin::{ALIAS, KEYS, TABLES, Words, alter, create, words};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The largest databases that steps name.
const DATABASES: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Call(Words),
    /// In another database.
    Beside(usize, Words),
    /// In one transaction, with all queries at its end or without.
    Transaction(Vec<Words>, bool),
    /// In one script.
    Script(Vec<Words>),
    /// DUMP of one key, RESTORE to another.
    Dump(String, String),
    /// Some long hash or value.
    Large(String, u8),
    /// Milliseconds pass.
    Pass(u64),
    /// Expired keys are removed.
    Expire,
    /// The background thread puts rows into indexes.
    Index,
    /// A restart, after a checkpoint or not; meanwhile, while shards are still to be loaded, the writes.
    Restart(bool, Option<Vec<Words>>),
    Reload,
    /// An index is dropped with its hashes.
    DropAll(String),
    DeleteBy(String),
}

fn key() -> impl Strategy<Value = String> {
    select(&KEYS[..KEYS.len() - 1]).prop_map(str::to_owned)
}

fn pair() -> impl Strategy<Value = [String; 2]> {
    let of = |name: &'static str, values: &'static [&'static str]| {
        select(values).prop_map(move |value| [name.to_owned(), value.to_owned()])
    };
    prop_oneof![
        4 => of("t", &["red", "blue", "red,green", "Blue", "green , red", ""]),
        4 => of("n", &["1", "2", "3", "5.5", "7", "-7", "10", "3e0"]),
        2 => of("s", &["abc", "xabz", "b", "zzz", "AB", "ab,c"]),
        2 => of("x", &["hello world", "World", "Hello", "a brown fox", ""]),
        2 => of("y", &["0", "1", "2", "3.5"]),
        2 => of("o", &["one", "two", "three"]),
        1 => of("lang", &["english", "german", "klingon"]),
        // A value that is no number: the hash is no row.
        1 => of("n", &["bad", ""]),
        1 => of("u", &["1", "2"]),
    ]
}

fn pairs() -> impl Strategy<Value = Words> {
    vec(pair(), 1..4).prop_map(|pairs| pairs.concat())
}

fn field() -> impl Strategy<Value = &'static str> {
    select(&["t", "n", "s", "x", "y", "o", "lang", "u"][..])
}

/// Fields whose expiry alone changes no more than themselves: `n` decides whether the hash is a row at all, which is
/// decided when the hash changes.
fn fleeting() -> impl Strategy<Value = &'static str> {
    select(&["t", "s", "x", "y", "o", "u"][..])
}

/// Writes of fields of one hash.
fn field_write() -> impl Strategy<Value = Words> {
    let span = 1u64..40;
    prop_oneof![
        8 => (key(), pairs()).prop_map(|(key, pairs)| [words(&format!("HSET {key}")), pairs].concat()),
        1 => (key(), pairs()).prop_map(|(key, pairs)| [words(&format!("HMSET {key}")), pairs].concat()),
        2 => (key(), pair()).prop_map(|(key, pair)| [words(&format!("HSETNX {key}")), pair.to_vec()].concat()),
        3 => (key(), vec(field(), 1..5)).prop_map(|(key, fields)| words(&format!("HDEL {key} {}", fields.join(" ")))),
        2 => (key(), select(&["n", "y", "u"][..])).prop_map(|(key, name)| words(&format!("HINCRBY {key} {name} 3"))),
        2 => (key(), select(&["n", "y", "u"][..])).prop_map(|(key, name)| words(&format!("HINCRBYFLOAT {key} {name} -1.5"))),
        1 => (key(), field()).prop_map(|(key, name)| words(&format!("HGETDEL {key} FIELDS 1 {name}"))),
        3 => (key(), span.clone(), fleeting()).prop_map(|(key, span, name)| words(&format!("HPEXPIRE {key} {span} FIELDS 1 {name}"))),
        1 => (key(), fleeting()).prop_map(|(key, name)| words(&format!("HPEXPIREAT {key} 1 FIELDS 1 {name}"))),
        1 => (key(), fleeting()).prop_map(|(key, name)| words(&format!("HPERSIST {key} FIELDS 1 {name}"))),
        1 => (key(), span.clone(), fleeting()).prop_map(|(key, span, name)| words(&format!("HGETEX {key} PX {span} FIELDS 1 {name}"))),
        1 => (key(), span.clone()).prop_map(|(key, span)| words(&format!("HSETEX {key} PX {span} FIELDS 2 t red o one"))),
        1 => key().prop_map(|key| words(&format!("HSETEX {key} KEEPTTL FIELDS 2 t blue u 1"))),
    ]
}

/// Writes of whole keys.
fn key_write() -> impl Strategy<Value = Words> {
    let span = 1u64..40;
    prop_oneof![
        3 => (key(), span).prop_map(|(key, span)| words(&format!("PEXPIRE {key} {span}"))),
        1 => key().prop_map(|key| words(&format!("PERSIST {key}"))),
        1 => key().prop_map(|key| words(&format!("EXPIREAT {key} 1"))),
        2 => key().prop_map(|key| words(&format!("DEL {key}"))),
        1 => (key(), key()).prop_map(|(key, other)| words(&format!("UNLINK {key} {other}"))),
        3 => (key(), key()).prop_map(|(key, other)| words(&format!("RENAME {key} {other}"))),
        1 => (key(), key()).prop_map(|(key, other)| words(&format!("RENAMENX {key} {other}"))),
        2 => (key(), key()).prop_map(|(key, other)| words(&format!("COPY {key} {other} REPLACE"))),
        1 => (key(), key()).prop_map(|(key, other)| words(&format!("COPY {key} {other} DB 1 REPLACE"))),
        1 => key().prop_map(|key| words(&format!("MOVE {key} 1"))),
        1 => key().prop_map(|key| words(&format!("SET {key} text"))),
        1 => key().prop_map(|key| words(&format!("LPUSH {key} 3 1 2"))),
        1 => Just(words("RPUSH list 3 1 2")),
        1 => key().prop_map(|key| words(&format!("SORT list STORE {key}"))),
        1 => (key(), key()).prop_map(|(key, other)| words(&format!("SUNIONSTORE {key} {other}"))),
        1 => key().prop_map(|key| words(&format!("GETDEL {key}"))),
    ]
}

fn declaration() -> impl Strategy<Value = Words> {
    let table = || select(&TABLES[..]);
    prop_oneof![
        6 => table().prop_map(create),
        2 => table().prop_map(alter),
        1 => table().prop_map(|table| words(&format!("FT.DROPINDEX {table}"))),
        1 => table().prop_map(|table| words(&format!("FT.ALIASADD {ALIAS} {table}"))),
        1 => table().prop_map(|table| words(&format!("FT.ALIASUPDATE {ALIAS} {table}"))),
        1 => Just(words(&format!("FT.ALIASDEL {ALIAS}"))),
    ]
}

fn database_write() -> impl Strategy<Value = Words> {
    prop_oneof![
        3 => Just(words("SWAPDB 0 1")),
        1 => Just(words("SWAPDB 1 2")),
        1 => Just(words("FLUSHDB")),
        1 => Just(words("FLUSHALL")),
    ]
}

fn write() -> impl Strategy<Value = Words> {
    prop_oneof![10 => field_write(), 6 => key_write(), 2 => declaration(), 1 => database_write()]
}

fn step() -> impl Strategy<Value = Step> {
    let in_scripts = || prop_oneof![3 => field_write(), 1 => key_write()];
    let table = || select(&TABLES[..]).prop_map(str::to_owned);
    prop_oneof![
        24 => write().prop_map(Step::Call),
        3 => (1..DATABASES, prop_oneof![4 => field_write(), 1 => key_write(), 1 => Just(words("FLUSHDB"))])
            .prop_map(|(database, words)| Step::Beside(database, words)),
        6 => (vec(write(), 1..6), any::<bool>()).prop_map(|(all, asks)| Step::Transaction(all, asks)),
        2 => vec(in_scripts(), 1..4).prop_map(Step::Script),
        2 => (key(), key()).prop_map(|(from, to)| Step::Dump(from, to)),
        2 => (key(), any::<u8>()).prop_map(|(key, form)| Step::Large(key, form)),
        4 => (1u64..40).prop_map(Step::Pass),
        2 => Just(Step::Expire),
        2 => Just(Step::Index),
        1 => (any::<bool>(), prop::option::of(vec(field_write(), 0..3)))
            .prop_map(|(is_saved, meanwhile)| Step::Restart(is_saved, meanwhile)),
        1 => Just(Step::Reload),
        1 => table().prop_map(Step::DropAll),
        1 => table().prop_map(Step::DeleteBy),
    ]
}

/// Steps, each with whether all is compared after it.
fn steps() -> impl Strategy<Value = Vec<(Step, bool)>> {
    vec((step(), prop::bool::weighted(0.4)), 1..60)
}

fn cases(count: u32) -> ProptestConfig {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

fn apply(bench: &mut Bench, step: &Step) {
    match step {
        Step::Call(words) => drop(bench.call(words)),
        Step::Beside(database, words) => bench.call_beside(*database, words),
        Step::Transaction(all, asks) => bench.transact(all, *asks),
        Step::Script(all) => bench.run_script(all),
        Step::Dump(from, to) => bench.dump(from, to),
        Step::Large(key, form) => large(key, *form).iter().for_each(|words| drop(bench.call(words))),
        Step::Pass(ms) => bench.pass(*ms),
        Step::Expire => bench.expire(),
        Step::Index => bench.index(),
        Step::Restart(is_saved, meanwhile) => bench.restart(*is_saved, meanwhile.as_deref()),
        Step::Reload => bench.reload(),
        Step::DropAll(table) => bench.drop_all(table),
        Step::DeleteBy(table) => bench.delete_by(table, "@t:{red}"),
    }
}

/// Returns requests that make a hash large, in fields or in bytes.
fn large(key: &str, form: u8) -> Vec<Words> {
    let many: Words = (0..300).flat_map(|at| [format!("many:{at}"), "value".to_owned()]).collect();
    let hset = |pairs: &[&str]| [&["HSET", key], pairs].concat().iter().map(|word| (*word).to_owned()).collect();
    match form % 5 {
        0 => vec![[words(&format!("HSET {key}")), many].concat()],
        1 => vec![[words(&format!("HSET {key} t red")), many].concat()],
        2 => vec![hset(&["o", &"long ".repeat(20_000)])],
        3 => vec![hset(&["x", &"hello brown fox ".repeat(6_000), "n", "4"])],
        _ => vec![hset(&["o", &"x".repeat(100_000), "t", "blue"]), words(&format!("COPY {key} p:11 REPLACE"))],
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn queries_reply_what_the_keys_say(steps in steps()) {
        obey(Bench::new(), &steps);
    }

    #[test]
    fn queries_reply_what_the_keys_say_without_a_journal(steps in steps()) {
        obey(Bench::without_journal(), &steps);
    }
}

fn obey(mut bench: Bench, steps: &[(Step, bool)]) {
    TABLES.iter().for_each(|table| drop(bench.call(&create(table))));
    for (step, compares) in steps {
        apply(&mut bench, step);
        if *compares {
            bench.compare();
        }
    }
    bench.compare();
    bench.restart(false, None);
    bench.compare();
}
