//! A start that serves before everything is loaded: the real binary is killed with many keys, and loads slowly after
//! its restart, so that it loads little besides the requested shards.

use crate::support::{Connection, Server, request};
use rustix::process::Signal;
use std::fs;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use wire::client::Value;

const KEYS: usize = 200_000;
const LISTS: usize = 40;
const ITEMS: usize = 1_000;
const SLOWED: (&str, &str) = ("BOBBIN_TEST_LOADER_REST_MS", "100");
/// The number of changes after the checkpoint.
const CHANGED: usize = 50;

fn value(key: usize) -> Value {
    Value::Bulk(format!("value {key}").into_bytes())
}

/// Sends all at once and reads as many replies.
fn pipeline(client: &mut Connection<TcpStream>, requests: impl Iterator<Item = Vec<u8>>) {
    let requests: Vec<_> = requests.collect();
    for some in requests.chunks(5_000) {
        client.send_bytes(&some.concat());
        some.iter().for_each(|_| drop(client.reply()));
    }
}

/// A server with many keys, most of them stored and some in the journal alone, that was killed.
fn killed() -> Server {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    pipeline(&mut client, (0..KEYS).map(|key| request(&["SET", &format!("key:{key}"), &format!("value {key}")])));
    let items: Vec<String> = (0..ITEMS).map(|item| format!("item {item} of some length")).collect();
    for list in 0..LISTS {
        let key = format!("list:{list}");
        let words: Vec<&str> = ["RPUSH", &key].into_iter().chain(items.iter().map(String::as_str)).collect();
        client.call(&words);
    }
    assert_eq!(client.call(&["SAVE"]), Value::Simple("OK".into()));
    for key in 0..CHANGED {
        client.call(&["APPEND", &format!("key:{key}"), "!"]);
    }
    server.kill();
    server
}

fn is_loading(server: &Server) -> bool {
    assert_eq!(server.info("loading"), "0", "clients that wait for the end of a load would wait for nothing");
    server.info("async_loading") == "1"
}

/// Waits until everything is loaded.
fn load(server: &Server) {
    // KEYS needs all shards.
    assert_eq!(server.connect().call(&["KEYS", "none"]), Value::Array(Vec::new()));
    // The loader counts its last shard after it has opened it.
    let began = Instant::now();
    while is_loading(server) {
        assert!(began.elapsed() < Duration::from_secs(20), "{}", server.log());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn replies_are_correct_while_shards_are_loading() {
    let mut server = killed();
    server.restart_with(&[SLOWED]);
    let mut client = server.connect();
    let log = server.log();
    let is_logged = ["keys to load, ", " frames to replay"].iter().all(|text| log.contains(text));
    assert!(is_loading(&server) && is_logged, "{log}");
    assert!(server.info("loading_eta_seconds").parse::<u64>().unwrap() > 0);
    assert_eq!(client.call(&["GET", "key:7"]), Value::Bulk(b"value 7!".to_vec()));
    assert_eq!(client.call(&["DBSIZE"]), Value::Int((KEYS + LISTS) as i64));
    for key in (0..KEYS).step_by(KEYS / 50).skip(1) {
        assert_eq!(client.call(&["GET", &format!("key:{key}")]), value(key));
    }
    assert_eq!(client.call(&["LLEN", "list:3"]), Value::Int(ITEMS as i64));
    assert_eq!(client.call(&["LINDEX", "list:4", "-1"]), Value::Bulk(b"item 999 of some length".to_vec()));
    assert_eq!(client.call(&["RENAME", "list:5", "list:renamed"]), Value::Simple("OK".into()));
    assert_eq!(client.call(&["MGET", "key:199999", "no", "key:100000"]).to_string().matches("value").count(), 2);
    assert!(matches!(client.call(&["RANDOMKEY"]), Value::Bulk(_)));
    client.call(&["MULTI"]);
    client.call(&["INCR", "count"]);
    client.call(&["APPEND", "key:60001", "!"]);
    assert_eq!(client.call(&["EXEC"]), Value::Array(vec![Value::Int(1), Value::Int(12)]));
    assert!(is_loading(&server), "it was slowed down");
    // A pipeline over many shards, from another connection.
    let mut other = server.connect();
    other.send_bytes(&(0..200).flat_map(|key| request(&["GET", &format!("key:{}", 1_000 + key)])).collect::<Vec<_>>());
    for key in 0..200 {
        assert_eq!(other.reply(), value(1_000 + key));
    }
    assert!(is_loading(&server));
    server.stop();
    server.restart();
    load(&server);
    let mut client = server.connect();
    assert_eq!(client.call(&["DBSIZE"]), Value::Int((KEYS + LISTS + 1) as i64));
    assert_eq!(client.call(&["GET", "key:60001"]), Value::Bulk(b"value 60001!".to_vec()));
    assert_eq!(client.call(&["LLEN", "list:renamed"]), Value::Int(ITEMS as i64));
    server.stop();
    assert!(server.log().contains("everything is loaded"), "{}", server.log());
}

#[test]
fn a_stop_or_kill_during_loading_loses_nothing() {
    let mut server = killed();
    let mut changed = CHANGED;
    for signal in [Signal::TERM, Signal::KILL, Signal::TERM, Signal::KILL] {
        server.restart_with(&[SLOWED]);
        let mut client = server.connect();
        for _ in 0..20 {
            let key = format!("key:{changed}");
            assert_eq!(
                client.call(&["APPEND", &key, "!"]),
                Value::Int(value(changed).as_bytes().unwrap().len() as i64 + 1)
            );
            changed += 1;
        }
        // A client waits for all shards.
        let mut waiting = server.connect();
        waiting.send(&["KEYS", "*"]);
        assert!(is_loading(&server));
        server.signal(signal);
        let code = server.wait().code();
        assert_eq!(code, (signal == Signal::TERM).then_some(0), "{}", server.log());
    }
    server.restart();
    load(&server);
    let mut client = server.connect();
    assert_eq!(client.call(&["DBSIZE"]), Value::Int((KEYS + LISTS) as i64));
    for key in 0..changed {
        assert_eq!(client.call(&["GET", &format!("key:{key}")]), Value::Bulk(format!("value {key}!").into_bytes()));
    }
    assert_eq!(client.call(&["GET", &format!("key:{changed}")]), value(changed));
}

#[test]
fn a_flush_during_loading_is_permanent() {
    for signal in [Signal::TERM, Signal::KILL] {
        let mut server = killed();
        server.restart_with(&[SLOWED]);
        let mut client = server.connect();
        assert_eq!(client.call(&["FLUSHALL"]), Value::Simple("OK".into()));
        assert_eq!(client.call(&["DBSIZE"]), Value::Int(0));
        assert_eq!(client.call(&["SET", "key:1", "new"]), Value::Simple("OK".into()));
        assert!(is_loading(&server));
        server.signal(signal);
        server.wait();
        server.restart();
        load(&server);
        let mut client = server.connect();
        assert_eq!(client.call(&["KEYS", "*"]), Value::Array(vec![Value::Bulk(b"key:1".to_vec())]));
        assert_eq!(client.call(&["SAVE"]), Value::Simple("OK".into()));
        server.kill();
        server.restart();
        assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int(1));
    }
}

#[test]
fn a_server_with_300_threads_loads_all_keys() {
    let mut server = killed();
    server.restart_with(&[("BOBBIN_THREADS", "300")]);
    load(&server);
    assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int((KEYS + LISTS) as i64));
}

#[test]
fn damage_found_during_loading_stops_the_server() {
    let mut server = killed();
    let store = server.data().join("store");
    let names = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let runs = names.filter(|path| path.extension().is_some_and(|end| end == "runs")).min().unwrap();
    let mut bytes = fs::read(&runs).unwrap();
    let at = bytes.windows(6).position(|some| some == b"list:7").unwrap();
    bytes[at] ^= 1;
    fs::write(&runs, bytes).unwrap();
    server.restart_with(&[SLOWED]);
    let mut client = server.connect();
    assert_eq!(client.call(&["SET", "new", "value"]), Value::Simple("OK".into()), "its shard is whole");
    client.send(&["LLEN", "list:7"]);
    assert_eq!(client.try_reply(), None, "nobody is answered from a shard that is damaged");
    assert_eq!(server.wait().code(), Some(2));
    let (name, log) = (runs.file_name().unwrap().to_string_lossy().into_owned(), server.log());
    assert!(log.contains(&name) && log.contains("Restore") && log.contains("--repair"), "{log}");
}

/// Only requested shards are loaded.
const STOPPED: (&str, &str) = ("BOBBIN_TEST_LOADER_REST_MS", "3600000");
/// Items of one list of some 50 MB.
const LARGE_ITEMS: usize = 50_000;

fn large_item(item: usize) -> String {
    format!("{item:01000}")
}

#[test]
fn a_large_list_is_loaded_after_its_shards_other_keys() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    for first in (0..LARGE_ITEMS).step_by(1_000) {
        let items: Vec<String> = (first..first + 1_000).map(large_item).collect();
        let words: Vec<&str> = ["RPUSH", "large"].into_iter().chain(items.iter().map(String::as_str)).collect();
        client.call(&words);
    }
    // Some of them are in its shard.
    pipeline(&mut client, (0..5_000).map(|key| request(&["SET", &format!("key:{key}"), &format!("value {key}")])));
    assert_eq!(client.call(&["SAVE"]), Value::Simple("OK".into()));
    client.call(&["LPUSH", "large", "first"]);
    client.call(&["RPOP", "large"]);
    server.kill();
    let mut popped = 1;
    for signal in [Signal::KILL, Signal::TERM, Signal::KILL] {
        server.restart_with(&[STOPPED]);
        let mut client = server.connect();
        for key in 0..5_000 {
            assert_eq!(client.call(&["GET", &format!("key:{key}")]), value(key));
        }
        assert_eq!(client.call(&["DBSIZE"]), Value::Int(5_001));
        assert_eq!(
            client.call(&["SCAN", "0", "COUNT", "9999", "TYPE", "list"]).to_string().matches("large").count(),
            1
        );
        assert_eq!(server.info("loading_values_left"), "1", "{}", server.log());
        let last = LARGE_ITEMS - popped;
        let expected = ["first".to_owned(), large_item(0)].map(|item| Value::Bulk(item.into_bytes()));
        assert_eq!(client.call(&["LRANGE", "large", "0", "1"]), Value::Array(expected.into()));
        assert!(!is_loading(&server));
        assert_eq!(client.call(&["LLEN", "large"]), Value::Int(last as i64 + 1));
        assert_eq!(client.call(&["RPOP", "large"]), Value::Bulk(large_item(last - 1).into_bytes()));
        popped += 1;
        server.signal(signal);
        server.wait();
    }
    server.restart_with(&[STOPPED]);
    let mut client = server.connect();
    // A client waits for it when the server ends.
    client.call(&["GET", "key:1"]);
    client.send(&["LINDEX", "large", "7"]);
    server.signal(Signal::KILL);
    server.wait();
    server.restart_with(&[STOPPED]);
    let mut client = server.connect();
    assert_eq!(client.call(&["EXPIRE", "large", "1000"]), Value::Int(1));
    assert_eq!(client.call(&["RENAME", "large", "renamed"]), Value::Simple("OK".into()));
    server.kill();
    server.restart_with(&[STOPPED]);
    let mut client = server.connect();
    assert_eq!(client.call(&["LLEN", "large"]), Value::Int(0));
    assert_eq!(client.call(&["LLEN", "renamed"]), Value::Int((LARGE_ITEMS - popped + 1) as i64));
    assert!(matches!(client.call(&["TTL", "renamed"]), Value::Int(1..=1000)));
    assert_eq!(client.call(&["DEL", "renamed"]), Value::Int(1));
    server.kill();
    server.restart();
    load(&server);
    assert_eq!(server.connect().call(&["DBSIZE"]), Value::Int(5_000));
}
