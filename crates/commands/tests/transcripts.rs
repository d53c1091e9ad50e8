//! Every transcript against a keyspace without an engine: in RESP2, in RESP3, and with a restart after each request.
//! And, if asked for (`make transcripts-against-redis`), against redis-server: the one at `BOBBIN_PEER` (`host:port`;
//! **its data is flushed**), or one that the test starts.

use crate::dice;
use crate::socket;
use commands::registry;
use commands::testing::direct::{DATABASES, World};
use commands::testing::transcript::{self, Difference, Step, all, served};
use commands::{Group, Run};
use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::OwnedRequest;
use wire::client::Value;
use wire::resp::Protocol;

#[track_caller]
fn check(new_world: impl Fn() -> World) {
    let shown: Vec<String> =
        all().iter().flat_map(|transcript| transcript::check(transcript, &mut new_world())).collect();
    assert!(shown.is_empty(), "{} differences:\n{}", shown.len(), shown.join("\n"));
}

#[test]
fn transcripts_hold_in_resp2() {
    check(|| World::new(Protocol::Resp2));
}

#[test]
fn transcripts_hold_in_resp3() {
    check(|| World::new(Protocol::Resp3));
}

#[test]
fn transcripts_hold_with_a_restart_after_each_request() {
    check(|| World { restarts: true, ..World::new(Protocol::Resp2) });
}

#[test]
fn transcripts_hold_when_run_speculatively() {
    check(|| World { speculates: true, ..World::new(Protocol::Resp2) });
}

/// Cursors need no server, but a life without restarts.
#[test]
fn cursors_of_searches_hold_in_both_protocols() {
    let served = served();
    let cursors = served.iter().find(|transcript| transcript.name == "served/cursor.t").expect("it is there");
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let shown = transcript::check(cursors, &mut World::new(protocol));
        assert!(shown.is_empty(), "{protocol:?}:\n{}", shown.join("\n"));
    }
}

/// The three reads of a cursor of one record each, then an empty one, as RediSearch's test_cursor has them.
#[test]
fn a_cursor_is_read_to_its_end() {
    let mut world = World::new(Protocol::Resp2);
    let mut ask = |line: &str| {
        let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
        world.call(&words)
    };
    ask("HSET doc1 f1 3 f2 3");
    ask("HSET doc2 f1 3 f2 2 f3 4");
    ask("HSET doc3 f5 4");
    ask("FT.CREATE idx1 PREFIX 1 doc SCHEMA f1 TEXT f2 TEXT");
    let first = ask("FT.AGGREGATE idx1 * LOAD 3 f1 f2 f3 SORTBY 2 @f2 DESC WITHCURSOR COUNT 1").to_string();
    assert_eq!(first, "[[3, [\"f1\", \"3\", \"f2\", \"3\"]], 1]");
    assert_eq!(ask("FT.CURSOR READ idx1 1").to_string(), "[[0, [\"f1\", \"3\", \"f2\", \"2\", \"f3\", \"4\"]], 1]");
    assert_eq!(ask("FT.CURSOR READ idx1 1").to_string(), "[[0, []], 1]");
    assert_eq!(ask("FT.CURSOR READ idx1 1").to_string(), "[[0], 0]");
    assert_eq!(ask("FT.CURSOR READ idx1 1").to_string(), "!Cursor not found");
    ask("FT.AGGREGATE idx1 * WITHCURSOR COUNT 1");
    assert!(ask("FT.CURSOR READ idx1 1 COUNT 2").to_string().ends_with(", [], []], 1]"));
    assert_eq!(ask("FT.CURSOR DEL idx1 1").to_string(), "OK");
    assert_eq!(ask("FT.CURSOR DEL idx1 1").to_string(), "!Cursor does not exist");
}

/// Connection and server commands need a session: `tests/session` covers them.
#[test]
fn every_command_has_a_transcript() {
    let mut called = BTreeSet::new();
    for step in all().iter().flat_map(|transcript| &transcript.steps) {
        if let Step::Call { words, .. } = step
            && let registry::Lookup::Command(command) = registry::find(&OwnedRequest::of(words).args())
        {
            called.insert(command.name);
        }
    }
    let commands = registry::commands()
        .filter(|command| !matches!(command.run, Run::Session(_) | Run::Parts { .. } | Run::Engine(_)));
    let missing: Vec<&str> = commands.map(|command| command.name).filter(|name| !called.contains(name)).collect();
    // DEBUG and MEMORY show internals: `tests/session/data.rs` covers them.
    let missing: Vec<&&str> =
        missing.iter().filter(|name| !name.starts_with("DEBUG ") && !name.starts_with("MEMORY ")).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Requests whose replies differ from Redis's on purpose, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("INCRBYFLOAT exact", "a sum is exact here; Redis adds in the machine's long double"),
    (
        "OBJECT ENCODING part",
        "a text that was changed in place is told as if it were written at once; Redis keeps it raw",
    ),
    ("OBJECT REFCOUNT n", "no value is shared here; Redis shares small integers"),
];

fn is_meant(difference: &Difference) -> bool {
    DIFFERENT.iter().any(|(request, _)| difference.request.starts_with(request))
}

/// A redis-server; one that the test started ends with it.
struct Peer {
    process: Option<Child>,
    address: String,
    /// Tests that flush a server's data take turns.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Peer {
    fn find() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(address) = std::env::var("BOBBIN_PEER") {
            return Self { process: None, address, _turn: turn };
        }
        let port = base::programs::free_port().unwrap();
        let process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server can be started; or name another with BOBBIN_PEER=host:port");
        let address = format!("127.0.0.1:{port}");
        let tries = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            socket::Socket::connect(&address, false).is_ok()
        });
        assert!(tries, "redis-server answers");
        Self { process: Some(process), address, _turn: turn }
    }

    fn version(&self) -> Vec<u32> {
        let mut socket = socket::Socket::connect(&self.address, false).unwrap();
        let info = socket.ask(&[b"INFO".to_vec(), b"server".to_vec()]).unwrap();
        let info = String::from_utf8_lossy(info.as_bytes().unwrap()).into_owned();
        let line = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap();
        numbers(line)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn numbers(version: &str) -> Vec<u32> {
    let version = version.split(' ').next().unwrap_or_default();
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn transcripts_hold_against_redis() {
    let peer = Peer::find();
    let version = peer.version();
    let is_newer = |since: &str| numbers(since) > version;
    let mut differences = Vec::new();
    for is_resp3 in [false, true] {
        let mut socket = socket::Socket::connect(&peer.address, is_resp3).unwrap();
        for transcript in all().into_iter().chain(served()) {
            socket.ask(&[b"FLUSHALL".to_vec()]).unwrap();
            socket.ask(&[b"SELECT".to_vec(), b"0".to_vec()]).unwrap();
            differences.extend(transcript::run(&transcript, &mut socket, is_newer));
        }
    }
    for transcript in all().into_iter().chain(served()) {
        for step in &transcript.steps {
            if let Step::Call { line, since: Some(since), .. } = step
                && is_newer(since)
            {
                println!("left out  {}:{line}, since {since}", transcript.name);
            }
        }
    }
    for difference in differences.iter().filter(|difference| is_meant(difference)) {
        println!("as meant  {difference}");
    }
    let others: Vec<String> =
        differences.iter().filter(|difference| !is_meant(difference)).map(ToString::to_string).collect();
    println!("{} other differences from redis-server {version:?}", others.len());
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// Commands left out of the random comparison, and why.
const NOT_AT_RANDOM: &[(&str, &str)] = &[
    ("INCRBYFLOAT", "sums differ from the machine's long double in the last places"),
    ("HINCRBYFLOAT", "likewise"),
    ("HRANDFIELD", "random"),
    ("HSCAN", "Redis 7.0 knows no NOVALUES"),
    ("OBJECT ENCODING", "a text that was appended to is never embstr in Redis; lists have new encodings since 7.2"),
    ("OBJECT REFCOUNT", "Redis shares small integers"),
    ("RANDOMKEY", "random"),
    ("SORT", "a set has an order of its own; see sorts_against_redis"),
    ("SORT_RO", "likewise"),
    ("SPOP", "random"),
    ("SRANDMEMBER", "random"),
    ("ZINCRBY", "Redis 7.0 spells large doubles in another way"),
    ("ZRANDMEMBER", "random"),
    ("ZRANK", "Redis 7.0 knows no WITHSCORE"),
    ("ZREMRANGEBYLEX", "where scores differ nobody says what is removed"),
    ("ZREVRANK", "likewise"),
];

/// First words of requests that are newer than some servers.
const NEWER: &[(&str, &str)] = &[("BITOP", "DIFF"), ("BITOP", "DIFF1"), ("BITOP", "ANDOR"), ("BITOP", "ONE")];

/// Options that are newer than some servers.
const NEWER_WORDS: &[&str] = &["ACKED", "CLAIM", "DELREF", "IFDEQ", "IFDNE", "IFEQ", "IFNE", "KEEPREF"];

/// Returns a value whose effect does not depend on the hundredths of a second that a request takes.
fn timeless(dice: &mut dice::Dice<'_>, name: &str) -> Vec<u8> {
    let words: &[&str] = match name {
        "seconds" => &["100000", "200000", "0", "-1", "9223372036854775807", "x"],
        "milliseconds" => &["100000000", "200000000", "0", "-1", "9223372036854775807", "x"],
        "unix-time-seconds" => &["33177117420", "33177117421", "1", "0", "-1", "x"],
        "unix-time-milliseconds" => &["33177117420000", "33177117421500", "1", "0", "-1", "x"],
        "timeout" => &["0.001", "-1", "x"],
        "cursor" => &["0", "x"],
        "count" => &["0", "1", "-1", "2", "5", "1000", "9223372036854775807", "x"],
        "rank" => &["0", "1", "-1", "2", "-2", "9223372036854775807", "x"],
        "db" | "destination-db" | "index1" | "index2" => &["0", "1", "2", "3", "99", "x"],
        name => return dice.value(name),
    };
    words[dice.below(words.len())].into()
}

/// Returns true if replies are equal except for the order of keys and a few seconds.
fn alike(command: &str, words: &[Vec<u8>], ours: &Value, theirs: &Value) -> bool {
    match (command, ours, theirs) {
        // The same time to live, given twice, is longer by the time between the requests.
        ("EXPIRE" | "PEXPIRE", Value::Int(_), Value::Int(_)) if words.iter().any(|word| is_comparing(word)) => true,
        // Before 7.2 Redis looked the key up first.
        ("BITCOUNT" | "BITPOS", Value::Error(_), Value::Int(0 | -1) | Value::Error(_)) => true,
        // Steps may be of different lengths.
        ("SCAN", Value::Array(ours), Value::Array(theirs)) if ours[0] != theirs[0] => true,
        ("KEYS" | "SCAN", Value::Array(ours), Value::Array(theirs)) => {
            let nested = || ours.iter().zip(theirs).all(|(one, other)| alike(command, words, one, other));
            ours.len() == theirs.len() && (sorted(ours) == sorted(theirs) || (command == "SCAN" && nested()))
        }
        // Since 7.2 it names the command.
        ("XREAD" | "XREADGROUP", Value::Error(ours), Value::Error(theirs)) if ours.contains("Unbalanced") => {
            theirs.contains("Unbalanced")
        }
        // The compression differs; another test restores the payloads of each server on the other.
        ("DUMP", Value::Bulk(_), Value::Bulk(_)) => true,
        // Many elements have an order of their own.
        ("HKEYS" | "HVALS" | "HGETALL", Value::Array(ours), Value::Array(theirs)) => sorted(ours) == sorted(theirs),
        ("SMEMBERS" | "SINTER" | "SUNION" | "SDIFF", Value::Array(ours), Value::Array(theirs))
        | (_, Value::Set(ours), Value::Set(theirs)) => sorted(ours) == sorted(theirs),
        // Both return small ones at once.
        ("SSCAN", Value::Array(ours), Value::Array(theirs)) => match (&ours[..], &theirs[..]) {
            ([cursor, Value::Array(ours)], [other, Value::Array(theirs)]) => {
                cursor == other && sorted(ours) == sorted(theirs)
            }
            _ => false,
        },
        ("HGETALL", Value::Map(ours), Value::Map(theirs)) => {
            let shown = |pairs: &[(Value, Value)]| {
                let mut shown: Vec<_> = pairs.iter().map(|(field, value)| format!("{field} {value}")).collect();
                shown.sort_unstable();
                shown
            };
            shown(ours) == shown(theirs)
        }
        ("TTL" | "PTTL" | "EXPIRETIME" | "PEXPIRETIME" | "OBJECT IDLETIME", Value::Int(ours), Value::Int(theirs)) => {
            ours == theirs || (*ours >= 0 && *theirs >= 0 && (ours - theirs).abs() <= 60_000)
        }
        _ => ours == theirs,
    }
}

fn sorted(values: &[Value]) -> Vec<String> {
    let mut shown: Vec<String> = values.iter().map(ToString::to_string).collect();
    shown.sort_unstable();
    shown
}

fn is_comparing(word: &[u8]) -> bool {
    [&b"GT"[..], b"LT"].iter().any(|option| word.eq_ignore_ascii_case(option))
}

/// Random requests to both servers; `BOBBIN_CASES` is the number of sequences.
#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn random_requests_agree_against_redis() {
    let peer = Peer::find();
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(50);
    let version = peer.version();
    let commands: Vec<_> = registry::commands()
        .filter(|command| !command.since.starts_with("bobbin") && numbers(command.since) <= version)
        .filter(|command| {
            let elsewhere = [Group::Cluster, Group::Connection, Group::Server, Group::Transactions, Group::Scripting];
            !elsewhere.contains(&command.group) || matches!(command.run, Run::Gate(_))
        })
        .filter(|command| !matches!(command.run, Run::Session(_) | Run::Parts { .. } | Run::Engine(_)))
        .filter(|command| !NOT_AT_RANDOM.iter().any(|(name, _)| *name == command.name))
        .collect();
    for seed in 0..cases {
        let protocol = if seed % 2 == 0 { Protocol::Resp2 } else { Protocol::Resp3 };
        let mut world = World::new(protocol);
        world.now = wall_ms();
        let mut redis = socket::Socket::connect(&peer.address, protocol == Protocol::Resp3).unwrap();
        redis.ask(&[b"FLUSHALL".to_vec()]).unwrap();
        let numbers = dice::numbers(seed, 1_500);
        let mut dice = dice::Dice::new(&numbers);
        let mut asked = Vec::new();
        while !dice.is_over() {
            if dice.below(12) == 0 {
                world.database = dice.below(DATABASES as usize) as u32;
                redis.ask(&[b"SELECT".to_vec(), world.database.to_string().into_bytes()]).unwrap();
            }
            let command = commands[dice.below(commands.len())];
            let words = dice.request(command, &timeless);
            if NEWER.iter().any(|(name, word)| command.name == *name && words[1] == word.as_bytes()) {
                continue;
            }
            // No request waits here, and each server has its own clock.
            let is_timed =
                |word: &Vec<u8>| word.eq_ignore_ascii_case(b"BLOCK") || word == b"*" || word.ends_with(b"-*");
            let is_newer = |word: &Vec<u8>| {
                (command.name == "XREAD" && word == b"+") || NEWER_WORDS.iter().any(|newer| word == newer.as_bytes())
            };
            if (command.group == Group::Stream && words.iter().any(is_timed)) || words.iter().any(is_newer) {
                continue;
            }
            let shown: Vec<String> = words.iter().map(|word| word.escape_ascii().to_string()).collect();
            asked.push(shown.join(" "));
            let ours = world.call(&words);
            let theirs = redis.ask(&words).unwrap_or_else(|error| panic!("seed {seed}: {error} after {asked:?}"));
            let last = asked.len().saturating_sub(12);
            let tail: Vec<String> = asked[last..].iter().map(|line| line.chars().take(200).collect()).collect();
            assert!(
                alike(command.name, &words, &ours, &theirs),
                "seed {seed}: ours {ours}, theirs {theirs}, after\n{}",
                tail.join("\n")
            );
        }
    }
}

/// Lists that are searched off the lock: positions, insertions and removals agree with Redis.
#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn searches_of_big_lists_agree_against_redis() {
    let peer = Peer::find();
    let mut redis = socket::Socket::connect(&peer.address, false).unwrap();
    for seed in 0..8 {
        let mut world = World::new(Protocol::Resp2);
        redis.ask(&[b"FLUSHALL".to_vec()]).unwrap();
        let numbers = dice::numbers(1_000 + seed, 100_000);
        let mut dice = dice::Dice::new(&numbers);
        // Few distinct elements, or many.
        let kinds = [3, 200, 20_000][seed as usize % 3];
        let mut both = |words: Vec<String>| {
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            let (ours, theirs) = (world.call(&words), redis.ask(&words).unwrap());
            let shown: Vec<_> = words.iter().take(7).map(|word| word.escape_ascii().to_string()).collect();
            assert!(ours == theirs, "seed {seed}, {}", shown.join(" "));
        };
        let element = |dice: &mut dice::Dice<'_>| format!("element:{}", dice.below(kinds));
        for _ in 0..20 {
            let elements = (0..1_000).map(|_| element(&mut dice));
            both(["RPUSH", "k"].map(str::to_owned).into_iter().chain(elements).collect());
        }
        for _ in 0..100 {
            let element = element(&mut dice);
            let count: i64 = [0, 1, 2, 100, 3_000][dice.below(5)] * [1, -1][dice.below(2)];
            let line = match dice.below(6) {
                0 => format!("LREM k {count} {element}"),
                1 => format!("LINSERT k BEFORE {element} {element}"),
                2 => format!("LINSERT k AFTER {element} new:{count}"),
                3 => format!("LPOS k {element} RANK {}", if count == 0 { 1 } else { count }),
                4 => format!("LPOS k {element} COUNT {} MAXLEN {}", count.unsigned_abs(), dice.below(30_000)),
                _ => format!("LPOS k {element} COUNT 0 RANK -{} MAXLEN {}", 1 + dice.below(50), dice.below(30_000)),
            };
            both(line.split(' ').map(str::to_owned).collect());
        }
        both(["LRANGE", "k", "0", "-1"].map(str::to_owned).to_vec());
    }
}

/// Areas of all sizes everywhere, in small and large sets: members and distances agree with Redis.
#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn geo_searches_agree_against_redis() {
    let peer = Peer::find();
    for seed in 0..6 {
        let protocol = if seed % 2 == 0 { Protocol::Resp2 } else { Protocol::Resp3 };
        let mut redis = socket::Socket::connect(&peer.address, protocol == Protocol::Resp3).unwrap();
        let mut world = World::new(protocol);
        redis.ask(&[b"FLUSHALL".to_vec()]).unwrap();
        let numbers = dice::numbers(3_000 + seed, 60_000);
        let mut dice = dice::Dice::new(&numbers);
        let mut both = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
            let (ours, theirs) = (world.call(&words), redis.ask(&words).unwrap());
            assert!(ours == theirs, "seed {seed}, {line}: {ours:.300}, {theirs:.300}");
        };
        // Some places within a town, most anywhere.
        let place = |dice: &mut dice::Dice<'_>| {
            let (within, scale) = [(100_000, 1e6), (8_000_000, 1e5), (35_000_000, 2e5)][dice.below(3)];
            let mut degree = || (dice.below(2 * within) as f64 - within as f64) / scale;
            let (longitude, latitude) = (degree(), degree());
            format!("{:.6} {:.6}", longitude.clamp(-180.0, 180.0), (latitude / 2.0).clamp(-85.0, 85.0))
        };
        for member in 0..[100, 4_000][seed as usize % 2] {
            both(&format!("GEOADD g {} place:{member}", place(&mut dice)));
        }
        for _ in 0..400 {
            let (member, other) = (dice.below(4_000), dice.below(100));
            let center = match dice.below(2) {
                0 => format!("FROMMEMBER place:{other}"),
                _ => format!("FROMLONLAT {}", place(&mut dice)),
            };
            let mut length = || format!("{}", dice.below(1_000) as f64 * [0.001, 0.1, 1.0, 20.0][dice.below(4)]);
            let form = match member % 2 {
                0 => format!("BYRADIUS {} km", length()),
                _ => format!("BYBOX {} {} mi", length(), length()),
            };
            let order = ["", " ASC", " DESC", " COUNT 7", " COUNT 7 ANY", " ASC COUNT 20 ANY", " DESC COUNT 300"]
                [dice.below(7)];
            both(&format!("GEOSEARCH g {center} {form}{order} WITHDIST WITHHASH WITHCOORD"));
            both(&format!("GEOSEARCHSTORE s g {center} {form}{order}{}", ["", " STOREDIST"][dice.below(2)]));
            both("ZRANGE s 0 -1");
            both(&format!("GEODIST g place:{member} place:{other} ft"));
        }
    }
}

/// Random options, on few and many elements.
#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn sorts_against_redis() {
    let peer = Peer::find();
    for seed in 0..20 {
        let protocol = if seed % 2 == 0 { Protocol::Resp2 } else { Protocol::Resp3 };
        let mut redis = socket::Socket::connect(&peer.address, protocol == Protocol::Resp3).unwrap();
        let mut world = World::new(protocol);
        redis.ask(&[b"FLUSHALL".to_vec()]).unwrap();
        let numbers = dice::numbers(4_000 + seed, 60_000);
        let mut dice = dice::Dice::new(&numbers);
        let mut both = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
            let (ours, theirs) = (world.call(&words), redis.ask(&words).unwrap());
            assert!(ours == theirs, "seed {seed}, {line}: {ours:.300}, {theirs:.300}");
        };
        let count = [5, 60, 700][seed as usize % 3];
        let element = |dice: &mut dice::Dice<'_>| match dice.below(40) {
            0 if seed < 10 => format!("x{}", dice.below(9)),
            1 => format!("{}.5", dice.below(count)),
            2 => format!("-{}", dice.below(count)),
            3 => format!("{}e2", dice.below(count)),
            _ => dice.below(2 * count).to_string(),
        };
        for at in 0..count {
            let one = element(&mut dice);
            both(&format!("RPUSH list {one}"));
            both(&format!("SADD set {one}"));
            both(&format!("ZADD zset {at} {one}"));
            if dice.below(3) > 0 {
                both(&format!("SET w:{one} {}", element(&mut dice)));
                both(&format!("HSET h:{one} f {} g {at}", element(&mut dice)));
            }
        }
        both("RPUSH w:1 a");
        for _ in 0..300 {
            let source = ["list", "set", "zset", "none", "w:2"][dice.below(5)];
            let mut line = format!("SORT {source}");
            let is_own = dice.below(6) == 0 && source != "set";
            let mut is_tied = false;
            match dice.below(4) {
                _ if is_own => line += " BY nosort",
                0 => line += " BY w:*",
                1 => line += " BY h:*->f",
                2 => {
                    is_tied = dice.below(2) == 0;
                    line += if is_tied { " BY h:*->f ALPHA" } else { " BY none:*" };
                }
                _ => {}
            }
            if dice.below(3) == 0 && !line.contains("BY h") {
                is_tied |= line.contains(":*");
                line += " ALPHA";
            }
            line += ["", " ASC", " DESC"][dice.below(3)];
            // Elements with equal weights have any order if only a part is sorted, or if they come from a hash table.
            if is_tied {
                line = line.replace(" set", " list").replace(" zset", " list");
            } else {
                line +=
                    ["", "", " LIMIT 0 3", " LIMIT 2 10", " LIMIT -1 5", " LIMIT 900 1", " LIMIT 1 -1"][dice.below(7)];
            }
            for _ in 0..dice.below(3) {
                line += [" GET #", " GET w:*", " GET h:*->f", " GET h:*->g", " GET fixed", " GET h:*->"][dice.below(6)];
            }
            both(&line);
            both(&line.replace("SORT", "SORT_RO"));
            both(&format!("{line} STORE s"));
            both("LRANGE s 0 -1");
        }
    }
}

/// Tables that are filled in many steps: wide, high and square ones.
#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn lcs_of_long_strings_agrees_against_redis() {
    let peer = Peer::find();
    let mut redis = socket::Socket::connect(&peer.address, false).unwrap();
    redis.ask(&[b"FLUSHALL".to_vec()]).unwrap();
    let mut world = World::new(Protocol::Resp2);
    let numbers = dice::numbers(77, 400_000);
    let mut dice = dice::Dice::new(&numbers);
    for (left, right) in [(900, 700), (1, 70_000), (70_000, 1), (70_000, 0), (3, 60_000), (300, 2_000)] {
        let mut text = |count| (0..count).map(|_| b'a' + dice.below(4) as u8).collect::<Vec<u8>>();
        let words = [b"MSET".to_vec(), b"l".to_vec(), text(left), b"r".to_vec(), text(right)];
        assert_eq!(world.call(&words), redis.ask(&words).unwrap());
        for line in ["LCS l r", "LCS l r LEN", "LCS l r IDX WITHMATCHLEN", "LCS r l IDX MINMATCHLEN 3"] {
            let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
            assert!(world.call(&words) == redis.ask(&words).unwrap(), "{line} of {left} and {right} bytes");
        }
    }
}

/// Sums of ordinary numbers equal Redis's except for the rounding of its long double: with 64 bits, less than a
/// billionth of a billionth of the largest of the three numbers.
#[test]
#[ignore = "needs redis-server: make transcripts-against-redis"]
fn float_sums_agree_against_redis() {
    let peer = Peer::find();
    let mut redis = socket::Socket::connect(&peer.address, false).unwrap();
    let mut world = World::new(Protocol::Resp2);
    let numbers = dice::numbers(1, 60_000);
    let mut dice = dice::Dice::new(&numbers);
    let (mut equal_count, mut close_count) = (0, 0);
    while !dice.is_over() {
        let [one, other] = [ordinary(&mut dice), ordinary(&mut dice)];
        let words = |text: &str| -> Vec<Vec<u8>> { text.split(' ').map(Into::into).collect() };
        let (set, add) = (words(&format!("SET sum {one}")), words(&format!("INCRBYFLOAT sum {other}")));
        let _ = (world.call(&set), redis.ask(&set).unwrap());
        let (ours, theirs) = (world.call(&add), redis.ask(&add).unwrap());
        if ours == theirs {
            equal_count += 1;
            continue;
        }
        close_count += 1;
        let greatest =
            [&one, &other].into_iter().map(|text| scaled(text)).fold(scaled_of(&ours), |max, next| max.max(next.abs()));
        let apart = (scaled_of(&ours) - scaled_of(&theirs)).abs();
        assert!(apart <= greatest.abs() / 1_000_000_000_000_000_000 + 1, "{one} + {other}: {ours}, {theirs}");
    }
    println!("{equal_count} sums equal, {close_count} differ in what the long double adds");
}

/// Returns a number of up to six digits before the point and up to four after it.
fn ordinary(dice: &mut dice::Dice<'_>) -> String {
    let places = dice.below(5);
    let sign = ["", "-"][dice.below(2)];
    let whole = dice.below(1_000_000);
    let part = dice.below(10_usize.pow(places as u32));
    if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0places$}") }
}

fn scaled_of(reply: &Value) -> i128 {
    scaled(std::str::from_utf8(reply.as_bytes().unwrap()).unwrap())
}

/// Returns a decimal number in units of its seventeenth place.
fn scaled(text: &str) -> i128 {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let magnitude: i128 = format!("{whole}{part:0<17}").parse().unwrap();
    if negative { -magnitude } else { magnitude }
}

fn wall_ms() -> u64 {
    (base::clock::system_wall_time())()
}
