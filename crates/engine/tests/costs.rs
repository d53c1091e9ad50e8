//! The work of a turn is bounded for every request: at most so many keys looked up, elements passed and bytes compared.
//! Counted, not timed.
//!
//! Each command that takes any number of arguments is called with very many, and each command that compares is called
//! with elements of 1 MB.

#![allow(clippy::unwrap_used, reason = "a test")]
#![cfg(debug_assertions)]

use crate::support::{Client, World};
use base::cost::{self, Counts};
use commands::Arity;
use commands::registry::commands;
use engine::Next;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use wire::{Output, OwnedRequest, Ranges};

/// Arguments of a request.
const ARGUMENTS: usize = 100_000;
/// The bound on one turn.
const BOUND: Counts = Counts { names: 4_096, elements: 8_192, bytes: 16 << 20 };

/// Maximum number of table cells that LCS fills in a turn.
const LCS_CELLS: u64 = 64 << 10;

/// Requests as head, repeated part and tail: `{n}` is the number of the repetition, `{count}` their count. Each request
/// runs on the state that the earlier ones left.
const CASES: &[(&str, &str, &str)] = &[
    ("HELLO 3", "", ""),
    ("WATCH", "watched:{n}", ""),
    ("UNWATCH", "", ""),
    ("WATCH", "watched:{n}", ""),
    ("MULTI", "", ""),
    ("DISCARD", "", ""),
    ("SUBSCRIBE", "channel:{n}", ""),
    ("PSUBSCRIBE", "pattern:{n}*", ""),
    ("SSUBSCRIBE", "shard:{n}", ""),
    ("PUBLISH channel:1 message", "", ""),
    ("PUBSUB NUMSUB", "channel:{n}", ""),
    ("PUBSUB SHARDNUMSUB", "shard:{n}", ""),
    ("PUBSUB CHANNELS", "", ""),
    ("PUBSUB CHANNELS *a*n?[el]*", "", ""),
    ("PUBSUB SHARDCHANNELS", "", ""),
    ("UNSUBSCRIBE", "channel:{n}", ""),
    ("PUNSUBSCRIBE", "", ""),
    ("SUNSUBSCRIBE", "shard:{n}", ""),
    ("SSUBSCRIBE", "shard:{n}", ""),
    ("SUBSCRIBE", "channel:{n}", ""),
    ("UNSUBSCRIBE", "", ""),
    ("RESET", "", ""),
    ("HELLO 3", "", ""),
    ("SCRIPT EXISTS", "{n}00000000000000000000000000000000000000", ""),
    ("COMMAND INFO", "get", ""),
    ("COMMAND DOCS", "get", ""),
    ("CONFIG GET", "*a{n}*", ""),
    ("INFO", "section:{n}", ""),
    ("LATENCY HISTOGRAM", "command:{n}", ""),
    ("LATENCY RESET", "event:{n}", ""),
    ("CLIENT LIST ID", "{n}", ""),
    ("MSET", "key:{n} value", ""),
    ("DEL", "key:{n}", ""),
    ("MSET", "key:{n} value", ""),
    ("UNLINK", "key:{n}", ""),
    ("SADD s", "member:{n}", ""),
    ("SMISMEMBER s", "member:{n}", ""),
    ("SREM s", "member:{n}", ""),
    ("SADD s", "{n}", ""),
    ("SREM s", "{n}", ""),
    ("HSET h", "field:{n} value", ""),
    ("HMSET h", "field:{n} other", ""),
    ("HMGET h", "field:{n}", ""),
    ("HEXPIRE h 100 FIELDS {count}", "field:{n}", ""),
    ("HPEXPIRE h 100000 FIELDS {count}", "field:{n}", ""),
    ("HEXPIREAT h 9999999999 FIELDS {count}", "field:{n}", ""),
    ("HPEXPIREAT h 9999999999000 FIELDS {count}", "field:{n}", ""),
    ("HTTL h FIELDS {count}", "field:{n}", ""),
    ("HPTTL h FIELDS {count}", "field:{n}", ""),
    ("HEXPIRETIME h FIELDS {count}", "field:{n}", ""),
    ("HPEXPIRETIME h FIELDS {count}", "field:{n}", ""),
    ("HPERSIST h FIELDS {count}", "field:{n}", ""),
    ("HGETEX h EX 100 FIELDS {count}", "field:{n}", ""),
    ("HSETEX h EX 100 FIELDS {count}", "field:{n} v", ""),
    ("HGETDEL h FIELDS {count}", "field:{n}", ""),
    ("HSET h", "field:{n} value", ""),
    ("HDEL h", "field:{n}", ""),
    ("ZADD z", "{n} member:{n}", ""),
    ("ZMSCORE z", "member:{n}", ""),
    ("ZREM z", "member:{n}", ""),
    ("GEOADD g", "13.{n} 38.1 member:{n}", ""),
    ("GEOPOS g", "member:{n}", ""),
    ("GEOHASH g", "member:{n}", ""),
    ("RPUSH l", "element:{n}", ""),
    ("LPUSH l", "element:{n}", ""),
    ("RPUSHX l", "element:{n}", ""),
    ("LPUSHX l", "element:{n}", ""),
    ("LREM l 0 element:77", "", ""),
    ("PFADD p", "element:{n}", ""),
    ("BITFIELD b", "SET u8 #{n} 1", ""),
    ("BITFIELD_RO b", "GET u8 #{n}", ""),
    ("XADD long *", "field:{n} value", ""),
    ("XADD x * field value", "", ""),
    ("XGROUP CREATE x g 0", "", ""),
    ("XREADGROUP GROUP g c STREAMS x >", "", ""),
    ("XACK x g", "1700000000000-{n}", ""),
    ("XACKDEL x g IDS {count}", "1700000000000-{n}", ""),
    ("XCLAIM x g c 0", "1700000000000-{n}", ""),
    ("XDEL x", "1700000000000-{n}", ""),
    ("XDELEX x IDS {count}", "1700000000000-{n}", ""),
    ("Q.PUSH q", "message:{n}", ""),
    ("Q.ACK q", "{n}-1", ""),
    ("Q.NACK q", "{n}-1", ""),
    ("Q.BURY q", "{n}-1", ""),
    ("Q.EXTEND q", "{n}-1", ""),
    ("TL.DEFINE t: VALUE ANY UNIQUE", "", ""),
    ("TL.PUSH t:1 TAIL first", "ITEM value:{n}", ""),
    ("TL.HIDE t:1", "value:{n}", ""),
    ("TL.SHOW t:1", "value:{n}", ""),
    ("TL.REM t:1", "value:{n}", ""),
];

/// Commands that do more in a turn, and why.
const EXCEPTIONS: &[(&str, &[&str])] = &[
    (
        "they change or show more keys at one instant than run speculatively, each of them under its lock",
        &[
            "MSET",
            "MSETNX",
            "MSETEX",
            "BITOP",
            "PFCOUNT",
            "PFMERGE",
            "SDIFF",
            "SDIFFSTORE",
            "SINTER",
            "SINTERCARD",
            "SINTERSTORE",
            "SUNION",
            "SUNIONSTORE",
            "ZDIFF",
            "ZDIFFSTORE",
            "ZINTER",
            "ZINTERCARD",
            "ZINTERSTORE",
            "ZUNION",
            "ZUNIONSTORE",
            "TL.MINSERT",
        ],
    ),
    (
        "they look for the first of more keys than run speculatively that has something, at one instant",
        &[
            "BLMPOP",
            "BLPOP",
            "BRPOP",
            "LMPOP",
            "BZMPOP",
            "BZPOPMAX",
            "BZPOPMIN",
            "ZMPOP",
            "XREAD",
            "XREADGROUP",
            "Q.RESERVE",
        ],
    ),
    ("they look at one key after the other for 300 µs by the clock", &["EXISTS", "MGET", "TOUCH"]),
    ("a transaction or script is one instant of all that it does", &["EXEC", "EVAL", "EVALSHA", "FCALL"]),
    ("its prefixes are sorted and noted at once: some looks for each", &["CLIENT TRACKING"]),
    (
        "they end the process, wait for ever or speak to another server",
        &["SHUTDOWN", "DEBUG SLEEP", "MIGRATE", "MONITOR"],
    ),
];

fn is_excepted(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(_, names)| names.contains(&name))
}

fn words(case: (&str, &str, &str)) -> Vec<Vec<u8>> {
    let (head, each, tail) = case;
    let per_repeat = each.split_whitespace().count();
    let count = ARGUMENTS.checked_div(per_repeat).unwrap_or(0);
    let split = |text: &str| text.split_whitespace().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    let mut words = split(&head.replace("{count}", &count.to_string()));
    (0..count).for_each(|nth| words.extend(split(&each.replace("{n}", &nth.to_string()))));
    words.extend(split(tail));
    words
}

/// Runs a request; returns the reply, and the largest counts of a turn.
fn run(client: &mut Client, words: &[Vec<u8>]) -> (String, Counts) {
    let (reply, most, _) = run_in_turns(client, words);
    (reply, most)
}

/// Like [`run`], but also returns the number of turns, not counting those in which the reply was sent.
fn run_in_turns(client: &mut Client, words: &[Vec<u8>]) -> (String, Counts, usize) {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let mut input = Vec::new();
    wire::resp::request(&mut input, OwnedRequest::of(&words).args());
    let (mut most, mut output, mut ranges, mut turns) = (Counts::default(), Output::new(), Ranges::new(), 0);
    let worker = client.worker.clone();
    let mut listening = pin!(worker.listen());
    cost::take();
    loop {
        turns += 1;
        let turn = client.session.run_turn(&input, &mut ranges, &mut output);
        most = most.max(cost::take());
        input.drain(..turn.used);
        match turn.next {
            Next::Again => {}
            Next::Slow(slow) => {
                let mut running = pin!(client.session.run_slowly(slow, &input, &mut output));
                let mut context = Context::from_waker(Waker::noop());
                while running.as_mut().poll(&mut context).is_pending() {
                    most = most.max(cost::take());
                    turns += 1;
                    thread::yield_now();
                    // Scripts and library commands continue here.
                    assert!(listening.as_mut().poll(&mut context).is_pending());
                    most = most.max(cost::take());
                }
                most = most.max(cost::take());
                break;
            }
            _ => break,
        }
    }
    let mut reply = String::new();
    loop {
        while output.fill_some() {
            most = most.max(cost::take());
        }
        most = most.max(cost::take());
        let Some(front) = output.front() else { break };
        let count = front.len();
        if reply.is_empty() {
            reply = String::from_utf8_lossy(&front[..count.min(80)]).into_owned();
        }
        output.consume(count);
    }
    (reply, most, turns)
}

fn is_within(counts: Counts) -> bool {
    counts.max(BOUND) == BOUND
}

fn world() -> World {
    let world = World::new(&[]);
    // Speculative runs are made by another thread, which delays no turn.
    let jobs = world.engine.offload.receiver().unwrap();
    thread::spawn(move || jobs.iter().for_each(|job| job()));
    world
}

/// Requests with names of 1 MB, and with patterns whose cost was once the product of both lengths.
fn long_requests() -> Vec<Vec<Vec<u8>>> {
    let name = |nth: usize| format!("{}{nth:08}", "a".repeat(1 << 20)).into_bytes();
    let word = |text: &str| text.as_bytes().to_vec();
    let pattern = format!("*{}b", "a".repeat(200_000)).into_bytes();
    let wild = format!("*{}b*", "a?".repeat(100)).into_bytes();
    let mut requests = Vec::new();
    for nth in 0..40 {
        requests.push(vec![word("SET"), name(nth), word("value")]);
        requests.push(vec![word("HSET"), word("long-h"), name(nth), word("value")]);
        requests.push(vec![word("SADD"), word("long-s"), name(nth)]);
        requests.push(vec![word("ZADD"), word("long-z"), word("1"), name(nth)]);
    }
    for pattern in [pattern, wild] {
        requests.push(vec![word("KEYS"), pattern.clone()]);
        requests.push(vec![word("SCAN"), word("0"), word("MATCH"), pattern.clone(), word("COUNT"), word("1000")]);
        for (scan, key) in [("HSCAN", "long-h"), ("SSCAN", "long-s"), ("ZSCAN", "long-z")] {
            let options = [word("MATCH"), pattern.clone(), word("COUNT"), word("1000")];
            requests.push([vec![word(scan), word(key), word("0")], options.to_vec()].concat());
        }
        requests.push(vec![word("PSUBSCRIBE"), pattern.clone()]);
        requests.push(vec![word("PUNSUBSCRIBE")]);
        requests.push(vec![word("HELLO"), word("3")]);
        requests.push(vec![word("PUBSUB"), word("CHANNELS"), pattern]);
    }
    let [left, right] = ["left", "right"].map(|key| vec![word("SET"), word(key), word(&"ab".repeat(5_500))]);
    requests.extend([left, right]);
    for options in ["", "LEN", "IDX"] {
        requests.push(format!("LCS left right {options}").split_whitespace().map(word).collect());
    }
    requests
}

#[test]
fn requests_with_1_mb_names_stay_within_the_turn_bound() {
    let world = world();
    let mut client = world.client();
    client.call("HELLO 3");
    let mut faults = Vec::new();
    for request in long_requests() {
        let (reply, most) = run(&mut client, &request);
        if most.bytes > BOUND.bytes || most.elements > LCS_CELLS || reply.starts_with('-') {
            faults.push(format!("{}: {most:?} {reply}", String::from_utf8_lossy(&request[0])));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_change_during_a_long_watch_aborts_the_transaction() {
    let world = world();
    let [mut one, mut other] = [world.client(), world.client()];
    let request = words(("WATCH", "key:{n}", ""));
    let request: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
    let mut output = Output::new();
    let Next::Slow(slow) = one.send(&request, &mut output) else { panic!("it is too much for a turn") };
    {
        let mut running = pin!(one.session.run_slowly(slow, &one.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            assert!(running.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(other.call("SET key:0 changed"), "+OK\r\n", "others go on meanwhile");
        while running.as_mut().poll(&mut context).is_pending() {}
    }
    one.input.clear();
    assert_eq!(one.call_all(&["MULTI", "SET mine 1", "EXEC"]), "+OK\r\n+QUEUED\r\n*-1\r\n");
    assert_eq!(one.call_all(&["MULTI", "SET mine 1", "EXEC"]), "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
}

#[test]
fn expiry_of_a_watched_key_aborts_unless_it_was_absent() {
    let world = world();
    let mut client = world.client();
    client.call("SET lasting value");
    client.call("SET fleeting value PX 500");
    client.call("HSET hash lasting 1 fleeting 2");
    client.call("HPEXPIRE hash 500 FIELDS 1 fleeting");
    client.call("HSET spent fleeting 2");
    client.call("HPEXPIRE spent 700 FIELDS 1 fleeting");
    let mut exec = |key: &str, ms: u64| {
        client.call(&format!("WATCH lasting missing {key}"));
        world.advance(ms);
        client.call_all(&["MULTI", "PING", "EXEC"]).ends_with("PONG\r\n")
    };
    assert!(exec("fleeting", 100) && !exec("fleeting", 450));
    assert!(exec("hash", 10) && !exec("spent", 200) && exec("spent", 1_000));
}

#[test]
fn watches_and_subscriptions_of_a_closed_client_end_in_turns() {
    let world = world();
    let [mut client, mut other] = [world.client(), world.client()];
    run(&mut client, &words(("WATCH", "watched:{n}", "")));
    run(&mut client, &words(("SUBSCRIBE", "channel:{n}", "")));
    run(&mut client, &words(("PSUBSCRIBE", "pattern:{n}", "")));
    assert_eq!(other.call("PUBLISH channel:77 text"), ":1\r\n");
    cost::take();
    drop(client);
    let mut most = cost::take();
    assert_eq!(world.engine.hooks.used_shards().count(), 1024);
    let mut listening = pin!(world.worker.listen());
    let mut turns = 0;
    while world.engine.hooks.used_shards().count() > 0 || other.call("PUBSUB NUMPAT") != ":0\r\n" {
        cost::take();
        assert!(listening.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        most = most.max(cost::take());
        turns += 1;
        assert!(turns < 10 * ARGUMENTS, "it comes to an end");
    }
    assert!(turns > 100 && is_within(most), "{turns} turns, {most:?}");
    assert_eq!(other.call("PUBLISH channel:77 text"), ":0\r\n");
    assert_eq!(other.call("PUBSUB CHANNELS"), "*0\r\n");
}

#[test]
fn requests_with_very_many_arguments_stay_within_the_turn_bound() {
    let world = world();
    let mut client = world.client();
    let mut faults = Vec::new();
    for case in CASES {
        let (reply, most) = run(&mut client, &words(*case));
        // Excepted requests fill the keys that others work on.
        if !(is_within(most) || is_excepted(case.0)) || reply.starts_with('-') {
            faults.push(format!("{}: {most:?} {reply}", case.0));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Libraries of a payload.
const LIBRARIES: usize = 5_000;

#[test]
fn requests_on_very_many_libraries_stay_within_the_turn_bound() {
    let world = world();
    let mut client = world.client();
    client.call("HELLO 3");
    let source =
        |nth: usize| format!("#!lua name=l{nth}\nredis.register_function('f{nth}', function() return {nth} end)");
    let sources: Vec<String> = (0..LIBRARIES).map(source).collect();
    let payload = rdb::dump_libraries(sources.iter().map(String::as_bytes));
    let word = |text: &str| text.as_bytes().to_vec();
    let restore = |policy| vec![word("FUNCTION"), word("RESTORE"), payload.clone(), word(policy)];
    let split = |text: &str| text.split_whitespace().map(word).collect::<Vec<_>>();
    // True if it takes turns before its reply is sent.
    let requests = [
        (restore("APPEND"), true),
        (split("FCALL f4999 0"), false),
        (split("FUNCTION LIST"), true),
        (split("FUNCTION LIST WITHCODE"), true),
        (split("FUNCTION LIST LIBRARYNAME *77* WITHCODE"), true),
        (split("FUNCTION DUMP"), false),
        (restore("REPLACE"), true),
        (restore("FLUSH"), true),
        (split("FUNCTION DELETE l17"), false),
        (split("FUNCTION FLUSH"), false),
    ];
    let mut faults = Vec::new();
    for (request, takes_turns) in &requests {
        let (reply, most, turns) = run_in_turns(&mut client, request);
        if !is_within(most) || reply.starts_with('-') || *takes_turns && turns < LIBRARIES / 1_000 {
            let name: Vec<_> =
                request.iter().map(|word| String::from_utf8_lossy(&word[..word.len().min(20)])).collect();
            faults.push(format!("{}: {turns} turns, {most:?} {reply}", name.join(" ")));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_command_stays_within_the_turn_bound_on_meaningless_arguments() {
    let is_case = |name: &str| CASES.iter().any(|(head, ..)| format!("{head} ").starts_with(&format!("{name} ")));
    let world = world();
    let mut faults = Vec::new();
    for command in commands().filter(|command| matches!(command.arity, Arity::AtLeast(_))) {
        if is_case(command.name) || is_excepted(command.name) {
            continue;
        }
        let mut client = world.client();
        let (_, most) = run(&mut client, &words((&format!("{} key", command.name), "{n}", "")));
        if !is_within(most) {
            faults.push(format!("{}: {most:?}", command.name));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn patterns_that_need_superlinear_time_are_refused_everywhere() {
    let world = world();
    let mut client = world.client();
    let pattern = format!("*{}*", "?".repeat(257));
    client.call_all(&["HELLO 3", "HSET h f v", "SADD s m", "ZADD z 1 m"]);
    for request in [
        "KEYS {}",
        "SCAN 0 MATCH {}",
        "HSCAN h 0 MATCH {}",
        "SSCAN s 0 MATCH {}",
        "ZSCAN z 0 MATCH {}",
        "PSUBSCRIBE first {}",
        "PUBSUB CHANNELS {}",
        "PUBSUB SHARDCHANNELS {}",
        "FUNCTION LIST LIBRARYNAME {}",
    ] {
        let reply = client.call(&request.replace("{}", &pattern));
        assert!(reply.starts_with("-ERR the pattern is too costly: "), "{request} {reply}");
    }
    assert_eq!(client.call("PUBSUB NUMPAT"), ":0\r\n", "none was subscribed to");
    assert_eq!(client.call(&format!("KEYS *{}*", "?".repeat(256))), "*0\r\n");
    assert_eq!(client.call(&format!("PUNSUBSCRIBE {pattern}")).lines().last(), Some(":0"));
}

#[test]
fn each_exception_is_a_command() {
    let all: Vec<&str> = commands().map(|command| command.name).collect();
    let excepted = EXCEPTIONS.iter().flat_map(|(_, names)| *names);
    let unknown: Vec<_> = excepted.filter(|name| !all.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
