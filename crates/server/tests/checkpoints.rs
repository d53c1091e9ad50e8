//! Checkpoints of the real binary: saved data survives a crash, the folder shrinks with the data, and a folder that has
//! lost a part is refused.

use crate::support::{Connection, Server, request};
use std::fs;
use std::path::Path;
use wire::client::Value;

const ALWAYS: &[&str] = &["--fsync", "always"];

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let bytes = |entry: fs::DirEntry| {
        let is_folder = entry.file_type().unwrap().is_dir();
        // A file may be given back meanwhile.
        if is_folder { bytes_in(&entry.path()) } else { entry.metadata().map_or(0, |facts| facts.len()) }
    };
    entries.map(bytes).sum()
}

fn simple(text: &str) -> Value {
    Value::Simple(text.to_owned())
}

#[test]
fn saved_and_later_writes_survive_a_crash() {
    let mut server = Server::start(ALWAYS);
    let mut client = server.connect();
    let began = client.call(&["LASTSAVE"]);
    for key in 0..1_000 {
        client.call(&["SET", &format!("key:{key}"), "before"]);
    }
    for _ in 0..50 {
        client.call(&[&["RPUSH", "list"][..], &["an item of some length"; 100]].concat());
    }
    client.call(&["SETRANGE", "text", "100000", "end"]);
    client.call(&["CONFIG", "RESETSTAT"]);
    assert!(server.info("shard_turn_us").starts_with("p50=0.000,"));
    assert_eq!(client.call(&["SAVE"]), simple("OK"));
    assert!(!server.info("shard_turn_us").starts_with("p50=0.000,"), "1,024 shards have been turned");
    assert!(matches!((began, client.call(&["LASTSAVE"])), (Value::Int(began), Value::Int(saved)) if saved >= began));
    assert_eq!(server.info("journal_tail_bytes"), "0");
    assert_eq!(server.info("rdb_changes_since_last_save"), "0");
    assert_eq!(server.info("rdb_last_bgsave_status"), "ok");
    for key in 0..10 {
        client.call(&["SET", &format!("key:{key}"), "after"]);
    }
    client.call(&["DEL", "key:999"]);
    client.call(&["LPOP", "list"]);
    assert_eq!(server.info("rdb_changes_since_last_save"), "12");
    server.kill();
    server.restart();
    assert!(server.log().contains("1002 keys to load, 12 frames to replay"), "{}", server.log());
    let mut client = server.connect();
    assert_eq!(client.call(&["DBSIZE"]), Value::Int(1_001));
    assert_eq!(client.call(&["GET", "key:9"]), Value::Bulk(b"after".to_vec()));
    assert_eq!(client.call(&["GET", "key:10"]), Value::Bulk(b"before".to_vec()));
    assert_eq!(client.call(&["EXISTS", "key:999"]), Value::Int(0));
    assert_eq!(client.call(&["LLEN", "list"]), Value::Int(4_999));
    assert_eq!(client.call(&["STRLEN", "text"]), Value::Int(100_003));
    assert_eq!(client.call(&["GETRANGE", "text", "99999", "-1"]), Value::Bulk(b"\0end".to_vec()));
}

#[test]
fn the_folder_shrinks_with_the_data() {
    let server = Server::start(&["--checkpoint-journal-size", "4mb"]);
    let mut client = server.connect();
    let message = "m".repeat(256);
    let push = request(&[&["LPUSH", "queue"][..], &[message.as_str(); 1_000]].concat());
    let pop = request(&["RPOP", "queue", "1000"]);
    for _ in 0..400 {
        call(&mut client, &push);
    }
    save(&mut client);
    let full = bytes_in(&server.data());
    assert!(full > 100_000_000, "{full} bytes for 400,000 messages of 256");
    for _ in 0..400 {
        call(&mut client, &pop);
    }
    save(&mut client);
    let (_, store) = (client, server.data().join("store"));
    let drained = bytes_in(&store);
    assert!(drained < 20_000_000, "{drained} bytes for no message");
}

/// Stores everything, after the running round.
fn save(client: &mut Connection<std::net::TcpStream>) {
    while client.call(&["SAVE"]) != Value::Simple("OK".to_owned()) {}
}

fn call(client: &mut Connection<std::net::TcpStream>, request: &[u8]) {
    client.send_bytes(request);
    client.reply();
}

#[test]
fn a_folder_without_its_journal_or_store_is_refused() {
    for (lost, expected) in [("journal", "and no journal"), ("store", "was missing: if it was removed, restore it")] {
        let mut server = Server::start(&["--checkpoint-journal-size", "64kb"]);
        let mut client = server.connect();
        let value = "v".repeat(1 << 20);
        for key in 0..20 {
            client.call(&["SET", &format!("key:{key}"), &value]);
        }
        client.call(&["SAVE"]);
        for key in 0..20 {
            client.call(&["SET", &format!("key:{key}"), &value]);
        }
        client.call(&["SAVE"]);
        server.stop();
        fs::remove_dir_all(server.data().join(lost)).unwrap();
        let log = server.try_restart().expect_err("what is lost is missed");
        assert!(log.contains(expected), "{lost}: {log}");
    }
}
