//! Values too big for a reply under a lock, scans of all shards, and blocked clients: compared with naive twins.

use commands::registry::{self, Lookup};
use commands::testing::direct::World;
use commands::testing::dump::dump;
use commands::{Run, SweepNext};
use keyspace::{Held, Log, Tx};
use std::collections::{BTreeMap, BTreeSet};
use wire::client::Value;
use wire::resp::{Encoder, Protocol};
use wire::{Output, OwnedRequest};

fn call(world: &mut World, words: &[&str]) -> Value {
    world.call(&words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
}

fn bulks(items: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Value {
    Value::Array(items.into_iter().map(Value::bulk).collect())
}

/// Thirty thousand elements of several lengths, about 300 KB.
fn items() -> Vec<String> {
    (0..30_000).map(|index| format!("{index}{}", "x".repeat(index % 13))).collect()
}

fn world_with(items: &[String]) -> World {
    let mut world = World::new(Protocol::Resp2);
    for part in items.chunks(1_000) {
        let words: Vec<&str> = ["RPUSH", "k"].into_iter().chain(part.iter().map(String::as_str)).collect();
        call(&mut world, &words);
    }
    world
}

#[test]
fn lrange_of_a_long_list_returns_its_elements() {
    let items = items();
    let mut world = world_with(&items);
    assert_eq!(call(&mut world, &["LRANGE", "k", "0", "-1"]), bulks(&items));
    assert_eq!(call(&mut world, &["LRANGE", "k", "5000", "24999"]), bulks(&items[5_000..25_000]));
    assert_eq!(call(&mut world, &["LRANGE", "k", "-300", "-1"]), bulks(&items[29_700..]));
    let same: Vec<String> = (10_000..60_000).map(|number| number.to_string()).collect();
    let mut world = world_with(&same);
    assert_eq!(call(&mut world, &["LRANGE", "k", "3", "-4"]), bulks(&same[3..49_997]));
}

#[test]
fn pops_of_many_elements_return_them_in_order() {
    let items = items();
    let mut world = world_with(&items);
    assert_eq!(call(&mut world, &["LPOP", "k", "12000"]), bulks(&items[..12_000]));
    let from_tail: Vec<&String> = items[15_000..].iter().rev().collect();
    assert_eq!(call(&mut world, &["RPOP", "k", "15000"]), bulks(from_tail));
    assert_eq!(call(&mut world, &["LLEN", "k"]), Value::Int(3_000));
    let rest = Value::Array(vec![Value::bulk("k"), bulks(&items[12_000..15_000])]);
    assert_eq!(call(&mut world, &["LMPOP", "1", "k", "LEFT", "COUNT", "100000"]), rest);
    assert_eq!(call(&mut world, &["EXISTS", "k"]), Value::Int(0));
}

#[test]
fn lpos_and_lrem_match_a_scan_of_a_long_list() {
    let items: Vec<String> = (0..30_000).map(|index| (index % 7).to_string().repeat(5)).collect();
    let mut world = world_with(&items);
    let of = |range: std::ops::Range<usize>, wanted: &str| -> Vec<i64> {
        range.filter(|index| items[*index] == wanted).map(|index| index as i64).collect()
    };
    let indices = |found: &[i64]| Value::Array(found.iter().map(|index| Value::Int(*index)).collect());
    let all = of(0..30_000, "33333");
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "COUNT", "0"]), indices(&all));
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "RANK", "3000"]), Value::Int(all[2_999]));
    let within = of(0..20_000, "33333");
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "COUNT", "0", "MAXLEN", "20000"]), indices(&within));
    let mut last = of(29_900..30_000, "33333");
    last.reverse();
    let from_tail = ["LPOS", "k", "33333", "COUNT", "0", "MAXLEN", "100", "RANK", "-1"];
    assert_eq!(call(&mut world, &from_tail), indices(&last));
    assert_eq!(call(&mut world, &["LPOS", "k", "nothing"]), Value::Null);
    assert_eq!(call(&mut world, &["LPOS", "k", "nothing", "COUNT", "0"]), indices(&[]));
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "RANK", "3000", "COUNT", "5"]), indices(&all[2_999..3_004]));
    let mut back: Vec<i64> = all[..all.len() - 7].to_vec();
    back.reverse();
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "RANK", "-8", "COUNT", "0"]), indices(&back));
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "RANK", "-8"]), Value::Int(back[0]));
    assert_eq!(call(&mut world, &["LPOS", "k", "33333", "RANK", "100000"]), Value::Null);
    assert_eq!(call(&mut world, &["LREM", "k", "0", "33333"]), Value::Int(all.len() as i64));
    let kept: Vec<&String> = items.iter().filter(|item| *item != "33333").collect();
    assert_eq!(call(&mut world, &["LRANGE", "k", "0", "-1"]), bulks(kept));
}

/// Returns the indices of the elements that LREM removes, by the definition.
fn removed(items: &[String], count: i64, wanted: &str) -> Vec<usize> {
    let mut found: Vec<usize> = (0..items.len()).filter(|index| items[*index] == wanted).collect();
    let limit = if count == 0 { found.len() } else { found.len().min(count.unsigned_abs() as usize) };
    if count < 0 {
        found.drain(..found.len() - limit);
    }
    found.truncate(limit);
    found
}

#[test]
fn lrem_of_a_long_list_matches_its_definition() {
    let few = |index: usize| index % 3001 == 2;
    let many = |index: usize| index.is_multiple_of(2);
    let neighbours = |index: usize| (5_000..17_000).contains(&index);
    let ends = |index: usize| !(40..29_990).contains(&index);
    let all = |_: usize| true;
    let shapes: [&dyn Fn(usize) -> bool; 5] = [&few, &many, &neighbours, &ends, &all];
    for (shape, is_wanted) in shapes.into_iter().enumerate() {
        for count in [0, -1, 7, -9_000, i64::MIN] {
            let mut items = items();
            (0..items.len()).filter(|index| is_wanted(*index)).for_each(|index| items[index] = "wanted".to_owned());
            let mut world = world_with(&items);
            call(&mut world, &["PEXPIRE", "k", "100000"]);
            let found = removed(&items, count, "wanted");
            let frames_before = world.frames.len();
            let reply = call(&mut world, &["LREM", "k", &count.to_string(), "wanted"]);
            assert_eq!(reply, Value::Int(found.len() as i64), "shape {shape}, count {count}");
            let frame = world.frames[frames_before..].concat();
            assert!(frame.len() < 32 + 2 * found.len() + items.len() / 128, "one effect: {} bytes", frame.len());
            found.iter().rev().for_each(|index| drop(items.remove(*index)));
            assert_eq!(call(&mut world, &["LRANGE", "k", "0", "-1"]), bulks(&items), "shape {shape}, count {count}");
            let ttl = call(&mut world, &["PTTL", "k"]);
            assert_eq!(ttl, Value::Int(if items.is_empty() { -2 } else { 100_000 }));
            assert_eq!(dump(&world.replayed()), dump(&world.keyspace), "shape {shape}, count {count}");
        }
    }
}

#[test]
fn linsert_into_a_long_list_finds_the_first_pivot() {
    let mut items = items();
    items[20_000] = "pivot".to_owned();
    items[25_000] = "pivot".to_owned();
    let mut world = world_with(&items);
    assert_eq!(call(&mut world, &["LINSERT", "k", "BEFORE", "pivot", "before"]), Value::Int(30_001));
    assert_eq!(call(&mut world, &["LINSERT", "k", "AFTER", "pivot", "after"]), Value::Int(30_002));
    assert_eq!(call(&mut world, &["LINSERT", "k", "AFTER", "nothing", "x"]), Value::Int(-1));
    items.insert(20_001, "after".to_owned());
    items.insert(20_000, "before".to_owned());
    assert_eq!(call(&mut world, &["LRANGE", "k", "0", "-1"]), bulks(&items));
    assert_eq!(dump(&world.replayed()), dump(&world.keyspace));
}

#[test]
fn long_strings_are_read_appended_and_deleted_whole() {
    let text: String = (0..50_000).map(|index| char::from(b'a' + (index % 23) as u8)).collect();
    let text = text.repeat(3);
    let mut world = World::new(Protocol::Resp2);
    call(&mut world, &["SET", "k", &text]);
    assert_eq!(call(&mut world, &["GET", "k"]), Value::bulk(&text));
    assert_eq!(call(&mut world, &["GETRANGE", "k", "10", "-11"]), Value::bulk(&text[10..149_990]));
    assert_eq!(call(&mut world, &["GETRANGE", "k", "100", "200"]), Value::bulk(&text[100..=200]));
    assert_eq!(call(&mut world, &["APPEND", "k", "!"]), Value::Int(150_001));
    assert_eq!(call(&mut world, &["GETDEL", "k"]), Value::bulk(text + "!"));
}

/// Every command that returns a string, at lengths where it is inline, long, streamed, and split at a piece's edge.
#[test]
fn string_commands_agree_at_every_length_boundary() {
    const LENGTHS: [usize; 9] = [16_383, 16_384, 16_385, 20_399, 20_400, 20_401, 65_536, 65_537, 300_000];
    let of =
        |len: usize| -> Vec<u8> { (0..len as u32).map(|at| at.wrapping_mul(0x9e37_79b9).to_be_bytes()[0]).collect() };
    for len in LENGTHS {
        let text = of(len);
        let mut world = World::new(Protocol::Resp2);
        let [key, set] = [b"k".to_vec(), b"SET".to_vec()];
        let expected = Value::bulk(&text);
        world.call(&[set.clone(), key.clone(), text.clone()]);
        assert_eq!(call(&mut world, &["GET", "k"]), expected, "{len}");
        assert_eq!(call(&mut world, &["GETEX", "k", "EX", "100"]), expected, "{len}");
        assert_eq!(
            call(&mut world, &["MGET", "k", "none", "k"]),
            Value::Array(vec![expected.clone(), Value::Null, expected.clone()])
        );
        for from in [0, 1, 4_079, 4_080, 4_081, 8_160, 16_383] {
            for to in [from, from + 1, 4_080, 8_159, len - 2, len - 1] {
                let part = text.get(from..len.min(to + 1)).unwrap_or_default();
                let reply = call(&mut world, &["GETRANGE", "k", &from.to_string(), &to.to_string()]);
                assert_eq!(reply, Value::bulk(part), "{from} to {to} of {len}");
            }
        }
        let other = of(len + 7);
        assert_eq!(world.call(&[set.clone(), key.clone(), other.clone(), b"GET".to_vec()]), expected, "{len}");
        assert_eq!(world.call(&[b"GETSET".to_vec(), key, text]), Value::bulk(other), "{len}");
        assert_eq!(call(&mut world, &["STRLEN", "k"]), Value::Int(len as i64));
        assert_eq!(call(&mut world, &["GETDEL", "k"]), expected, "{len}");
        assert_eq!(call(&mut world, &["GET", "k"]), Value::Null);
        puts_of(&mut world, &of(len), &of(len + 9));
        assert_eq!(dump(&world.keyspace), dump(&world.replayed()));
    }
}

/// Runs every command that sets whole strings.
fn puts_of(world: &mut World, text: &[u8], other: &[u8]) {
    let mut put = |words: &[&[u8]]| world.call(&words.iter().map(|word| word.to_vec()).collect::<Vec<_>>());
    let ok = Value::Simple("OK".to_owned());
    assert_eq!(put(&[b"MSET", b"a", text, b"b", b"short", b"c", other]), ok);
    assert_eq!(put(&[b"MGET", b"a", b"b", b"c"]), bulks([text, b"short", other]));
    assert_eq!(put(&[b"SETNX", b"a", other]), Value::Int(0));
    assert_eq!(put(&[b"SETNX", b"d", other]), Value::Int(1));
    assert_eq!(put(&[b"MSETNX", b"e", text, b"f", text]), Value::Int(1));
    assert_eq!(put(&[b"SETEX", b"a", b"1000", other]), ok);
    assert_eq!(put(&[b"SET", b"a", text, b"KEEPTTL"]), ok);
    assert_eq!(put(&[b"TTL", b"a"]), Value::Int(1000));
    assert_eq!(put(&[b"SET", b"b", text, b"KEEPTTL", b"XX"]), ok);
    assert_eq!(put(&[b"TTL", b"b"]), Value::Int(-1));
    assert_eq!(put(&[b"SET", b"a", text, b"PX", b"5000"]), ok);
    assert_eq!(put(&[b"PTTL", b"a"]), Value::Int(5000));
    assert_eq!(put(&[b"SET", b"a", other]), ok);
    assert_eq!(put(&[b"TTL", b"a"]), Value::Int(-1));
    assert_eq!(put(&[b"APPEND", b"a", b"!"]), Value::Int(other.len() as i64 + 1));
    let longer = [other, b"!"].concat();
    assert_eq!(put(&[b"MGET", b"a", b"b", b"c", b"d", b"e"]), bulks([&longer, text, other, other, text]));
}

#[test]
fn a_reply_shows_the_string_as_of_its_command() {
    let world = World::new(Protocol::Resp2);
    let mut outputs = Vec::new();
    for (words, expected) in [
        (["SETRANGE", "k", "200000", "first"], None),
        (["GETRANGE", "k", "0", "-1"], Some("first")),
        (["SETRANGE", "k", "200000", "later"], None),
        (["GETRANGE", "k", "0", "-1"], Some("later")),
        (["SETRANGE", "k", "10", "longer"], None),
    ] {
        let request = OwnedRequest::of(&words);
        let Lookup::Command(command) = registry::find(&request.args()) else { panic!("a command") };
        let Run::Local(handler) = command.run else { panic!("a local command") };
        let mut log = Log::default();
        let mut tx = Tx::new(&world.keyspace, Held::under_gate(&world.keyspace), 0, world.now, &mut log, u64::MAX);
        let mut output = Output::new();
        handler(&mut tx, &request.args(), &mut Encoder::new(&mut output, Protocol::Resp2)).unwrap();
        tx.end().clear();
        outputs.extend(expected.map(|end| (output, end)));
    }
    for (mut output, end) in outputs {
        let mut parser = wire::client::Parser::new();
        output.fill();
        while let Some(bytes) = output.front() {
            parser.feed(bytes);
            let count = bytes.len();
            output.consume(count);
            output.fill();
        }
        let value = parser.next_value().unwrap().unwrap();
        let (zeros, rest) = value.as_bytes().unwrap().split_at(200_000);
        assert!(zeros.iter().all(|byte| *byte == 0));
        assert_eq!(rest, end.as_bytes());
    }
}

/// Returns the length of a longest common subsequence, by the definition, a row at a time.
fn common_length(left: &[u8], right: &[u8]) -> i64 {
    let mut command = vec![0; right.len() + 1];
    for one in left {
        let mut diagonal = 0;
        for (column, other) in right.iter().enumerate() {
            let above = command[column + 1];
            command[column + 1] = if one == other { diagonal + 1 } else { above.max(command[column]) };
            diagonal = above;
        }
    }
    command[right.len()]
}

#[test]
fn lcs_of_long_strings_is_a_longest_common_subsequence() {
    let left: Vec<u8> = (0..700u32).map(|index| b'a' + (index * index % 7) as u8).collect();
    let right: Vec<u8> = (0..900u32).map(|index| b'a' + (index * 31 % 11 % 7) as u8).collect();
    let mut world = World::new(Protocol::Resp2);
    world.call(&[b"SET".to_vec(), b"l".to_vec(), left.clone()]);
    world.call(&[b"SET".to_vec(), b"r".to_vec(), right.clone()]);
    let length = common_length(&left, &right);
    assert_eq!(call(&mut world, &["LCS", "l", "r", "LEN"]), Value::Int(length));
    let common = call(&mut world, &["LCS", "l", "r"]);
    let common = common.as_bytes().unwrap();
    assert_eq!(common.len() as i64, length);
    for text in [&left, &right] {
        let mut rest = text.iter();
        assert!(common.iter().all(|byte| rest.any(|other| other == byte)), "it is a subsequence of both");
    }
}

fn scan(world: &mut World, cursor: &str, count: usize) -> (String, Vec<String>) {
    let reply = call(world, &["SCAN", cursor, "COUNT", &count.to_string()]);
    let text = |value: &Value| String::from_utf8(value.as_bytes().unwrap().to_vec()).unwrap();
    let parts = reply.as_slice().unwrap();
    (text(&parts[0]), parts[1].as_slice().unwrap().iter().map(text).collect())
}

#[test]
fn scan_returns_each_key_that_stays_exactly_once() {
    for count in [1, 10, 500, 100_000] {
        let mut world = World::new(Protocol::Resp2);
        let keys_count = if count == 1 { 300 } else { 5_000 };
        let stay: BTreeSet<String> = (0..keys_count).map(|index| format!("stays:{index}")).collect();
        for key in &stay {
            call(&mut world, &["SET", key, "v"]);
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let (mut cursor, mut steps_count) = ("0".to_owned(), 0);
        loop {
            let (next, keys) = scan(&mut world, &cursor, count);
            keys.into_iter().for_each(|key| *seen.entry(key).or_default() += 1);
            assert!(next.parse::<i64>().is_ok(), "a cursor fits a signed number");
            cursor = next;
            if cursor == "0" {
                break;
            }
            steps_count += 1;
            // Other keys are added and removed between the steps.
            call(&mut world, &["SET", &format!("comes:{steps_count}"), "v"]);
            call(&mut world, &["DEL", &format!("comes:{}", steps_count / 2)]);
        }
        assert!(stay.iter().all(|key| seen.get(key) == Some(&1)), "in steps of {count}");
        assert!(steps_count <= 2 * (keys_count + steps_count) / count, "{steps_count} steps of {count}");
    }
}

#[test]
fn keys_returns_all_of_very_many_names() {
    let mut world = World::new(Protocol::Resp2);
    let keys: Vec<String> = (0..9_000).map(|index| format!("a rather long name of a key:{index}")).collect();
    for key in &keys {
        call(&mut world, &["SET", key, "v"]);
    }
    let reply = call(&mut world, &["KEYS", "*"]);
    let found: BTreeSet<&[u8]> = reply.as_slice().unwrap().iter().map(|key| key.as_bytes().unwrap()).collect();
    assert_eq!(found, keys.iter().map(|key| key.as_bytes()).collect());
    assert_eq!(call(&mut world, &["DBSIZE"]), Value::Int(9_000));
}

/// Returns the key that RANDOMKEY draws for `random`.
fn draw(world: &World, random: u64) -> Value {
    let request = OwnedRequest::of(&["RANDOMKEY"]);
    let Lookup::Command(command) = registry::find(&request.args()) else { panic!("a command") };
    let Run::Sweep(begin) = command.run else { panic!("a sweep") };
    let mut sweep = begin(&request.args(), random).unwrap();
    let held = Held::under_gate(&world.keyspace);
    let mut log = Log::default();
    let mut tx = Tx::new(&world.keyspace, held, 0, world.now, &mut log, 0);
    for shard in sweep.first_shard()..base::limits::SHARDS {
        assert_eq!(sweep.visit(&mut tx, shard), SweepNext::Next, "one look at each shard is enough for a draw");
    }
    tx.end();
    let mut output = Output::new();
    sweep.finish(&mut Encoder::new(&mut output, Protocol::Resp2)).unwrap();
    let mut parser = wire::client::Parser::new();
    parser.feed(output.front().unwrap());
    parser.next_value().unwrap().unwrap()
}

#[test]
fn randomkey_draws_live_keys_about_equally_often() {
    let mut world = World::new(Protocol::Resp2);
    assert_eq!(draw(&world, 1), Value::Null);
    for index in 0..8 {
        call(&mut world, &["SET", &format!("k{index}"), "v"]);
    }
    call(&mut world, &["SET", "gone", "v", "PX", "1"]);
    world.now += 5;
    let mut drawn: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    for random in 0..800_u64 {
        *drawn
            .entry(draw(&world, random.wrapping_mul(0x1234_5678_9abc_def1)).as_bytes().unwrap().to_vec())
            .or_default() += 1;
    }
    assert_eq!(drawn.len(), 8, "each is drawn, the expired one never");
    // A hundred each are expected; forty is more than six standard deviations away.
    assert!(drawn.values().all(|times| (40..=160).contains(times)), "{drawn:?}");
}

/// Returns the reply to a blocked request when `key` is served.
fn serve(world: &World, words: &[&str], key: &str) -> Result<Value, commands::Failure> {
    let request = OwnedRequest::of(words);
    let args = request.args();
    let Lookup::Command(command) = registry::find(&args) else { panic!("a command") };
    let Run::Blocking { try_now, .. } = command.run else { panic!("a blocking command") };
    let held = Held::under_gate(&world.keyspace);
    let mut log = Log::default();
    let mut tx = Tx::new(&world.keyspace, held, 0, world.now, &mut log, u64::MAX);
    let mut output = Output::new();
    let outcome = tx.serve(0, key.as_bytes(), |tx| try_now(tx, &args, &mut Encoder::new(&mut output, Protocol::Resp2)));
    tx.end();
    outcome?;
    let mut parser = wire::client::Parser::new();
    parser.feed(output.front().unwrap());
    Ok(parser.next_value().unwrap().unwrap())
}

#[test]
fn a_blocked_client_is_served_only_from_the_signalled_key() {
    let mut world = World::new(Protocol::Resp2);
    call(&mut world, &["RPUSH", "a", "1", "2"]);
    call(&mut world, &["RPUSH", "b", "3", "4"]);
    call(&mut world, &["SET", "s", "v"]);
    let pair = |key: &str, item: &str| Ok(bulks([key, item]));
    let nothing = Err(commands::Failure::Nothing);
    assert_eq!(serve(&world, &["BLPOP", "a", "b", "0"], "b"), pair("b", "3"));
    assert_eq!(serve(&world, &["BRPOP", "a", "b", "0"], "a"), pair("a", "2"));
    assert_eq!(serve(&world, &["BLPOP", "s", "b", "0"], "b"), pair("b", "4"));
    assert_eq!(serve(&world, &["BLPOP", "b", "0"], "b"), nothing);
    // A key of another type does not serve a client that waits for a list.
    assert_eq!(serve(&world, &["BLPOP", "s", "0"], "s"), nothing);
    assert_eq!(serve(&world, &["BLMPOP", "0", "2", "s", "a", "LEFT"], "s"), nothing);
    assert_eq!(serve(&world, &["BLMOVE", "s", "a", "LEFT", "LEFT", "0"], "s"), nothing);
    // But a destination of another type is an error, and the element stays.
    let wrong = Err(commands::Failure::WrongType);
    assert_eq!(serve(&world, &["BLMOVE", "a", "s", "LEFT", "LEFT", "0"], "a"), wrong);
    assert_eq!(serve(&world, &["BRPOPLPUSH", "a", "c", "0"], "a"), Ok(Value::bulk("1")));
    assert_eq!(call(&mut world, &["LRANGE", "c", "0", "-1"]), bulks(["1"]));
    assert_eq!(call(&mut world, &["EXISTS", "a"]), Value::Int(0));
}
