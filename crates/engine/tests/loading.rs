//! A start that serves before its shards are loaded. Here a shard is loaded only when a request waits for it, unless
//! the test loads all.

use crate::support::{Client, Load, START_MS, World, read};
use base::disk::Disk;
use engine::{ExpireCycle, Next};
use std::path::Path;
use wire::Output;

const DEBUG: &[(&str, &str)] = &[("enable-debug-command", "yes")];
/// Keys in more shards than are ever locked one by one.
const KEYS: usize = 200;

/// A world with strings and lists in three databases, in the journal alone.
fn filled() -> World {
    let world = World::new(DEBUG);
    let mut client = world.client();
    for database in [0, 3, 5] {
        client.call(&format!("SELECT {database}"));
        for key in 0..KEYS / (1 + database) {
            client.call(&format!("SET key:{key} {database}.{key}"));
        }
        client.call("RPUSH list a b c d e");
    }
    client.call("SWAPDB 3 4");
    world
}

fn saved() -> World {
    let world = filled();
    assert_eq!(world.client().call("SAVE"), "+OK\r\n");
    world
}

/// Restarts the world; each shard is then loaded when a request waits for it.
fn late(world: World) -> World {
    let world = world.restarted(DEBUG, Load::Wanted);
    assert!(world.shards_left() > 64, "shards are still to be loaded");
    world
}

#[test]
fn a_request_loads_only_the_shards_it_needs() {
    for world in [filled(), saved()] {
        let world = late(world);
        let left = world.shards_left();
        let mut client = world.client();
        assert!(client.call("INFO persistence").contains("\r\nloading:0\r\nasync_loading:1\r\nloading_start_time:"));
        assert_eq!(client.call("GET key:7"), "$3\r\n0.7\r\n");
        assert_eq!(client.call("APPEND key:7 !"), ":4\r\n");
        assert_eq!(world.shards_left(), left - 1);
        assert_eq!(client.call("MGET key:8 nothing key:9"), "*3\r\n$3\r\n0.8\r\n$-1\r\n$3\r\n0.9\r\n");
        assert!(world.shards_left() >= left - 4, "no more than it asked for");
        world.load_all();
        assert!(world.shards_left() == 0 && client.call("INFO persistence").contains("async_loading:0\r\nrdb_changes"));
        assert_eq!(client.call("GET key:7"), "$4\r\n0.7!\r\n");
    }
}

#[test]
fn waiting_for_a_shard_to_load_is_no_lock_wait() {
    let world = late(saved());
    let mut client = world.client();
    for key in 0..50 {
        client.call(&format!("INCR key:{key}:n"));
        client.call(&format!("GET key:{key}"));
    }
    assert!(client.call("INFO stats").contains("longest_lock_wait_us:0\r\n"));
}

/// Successive requests while shards are missing.
const SCRIPT: &[&str] = &[
    "DBSIZE",
    "EXISTS key:1 key:2 key:300",
    "RENAME key:3 other",
    "COPY key:4 copy",
    "COPY list list DB 9",
    "LMOVE list other:list LEFT RIGHT",
    "MSETNX key:5 x fresh y",
    "GETDEL key:6",
    "WATCH key:10 key:11",
    "MULTI",
    "SET key:12 multi",
    "LPUSH queue a",
    "GET key:13",
    "SELECT 3",
    "GET key:14",
    "SELECT 0",
    "EXEC",
    "MULTI",
    "DBSIZE",
    "SWAPDB 0 5",
    "DBSIZE",
    "KEYS key:1?",
    "EXEC",
    "DBSIZE",
    "SELECT 4",
    "DBSIZE",
    "TYPE list",
    "MOVE key:20 7",
    "SELECT 5",
    "KEYS *9",
    "SCAN 0 COUNT 30",
    "DEL key:30 key:31 key:32",
    "DBSIZE",
];

#[test]
fn replies_are_the_same_before_and_after_shards_are_loaded() {
    for (make, sweeps) in [(filled as fn() -> World, true), (saved, true), (filled, false), (saved, false)] {
        let disk = make().stopped();
        let whole = World::over(disk.copy(), START_MS, DEBUG, Load::AtOnce);
        let late = World::over(disk, START_MS, DEBUG, Load::Wanted);
        let (mut here, mut there) = (late.client(), whole.client());
        // Keys in more shards than are locked one by one: this request raises the gate.
        let keys: Vec<String> = (0..KEYS).map(|key| format!("key:{key} {key}")).collect();
        let many = format!("MSET {}", keys.join(" "));
        for line in SCRIPT.iter().copied().chain([&*many, "DBSIZE", "KEYS *"]) {
            if sweeps || !(line.starts_with("DBSIZE") || line.starts_with("KEYS") || line.starts_with("SCAN")) {
                assert_eq!(here.call(line), there.call(line), "{line}");
            }
        }
        late.load_all();
        for database in 0..10 {
            for line in [&format!("SELECT {database}"), "DBSIZE", "KEYS *", "DEBUG DIGEST", "LRANGE list 0 -1"] {
                assert_eq!(here.call(line), there.call(line), "{line} in {database}");
            }
        }
        assert_eq!(here.call("SAVE"), "+OK\r\n");
        assert_eq!(here.call("DEBUG RELOAD"), "+OK\r\n");
        assert_eq!(here.call("DEBUG DIGEST"), there.call("DEBUG DIGEST"));
    }
}

#[test]
fn counts_come_from_the_store_unless_the_journal_has_more() {
    let world = saved();
    world.client().call("SET key:0 changed");
    let world = late(world);
    let left = world.shards_left();
    let mut client = world.client();
    assert_eq!(client.call("DBSIZE"), format!(":{}\r\n", KEYS + 1));
    assert_eq!(world.shards_left(), left - 1, "one shard has changed since");
    let keyspace = client.call("INFO keyspace");
    assert!(keyspace.contains(&format!("db0:keys={},", KEYS + 1)), "{keyspace}");
    assert!(keyspace.contains("db4:keys=51,") && !keyspace.contains("db3:"), "{keyspace}");
    let drawn = client.call("RANDOMKEY");
    assert!(drawn.contains("key:") || drawn.contains("list"), "{drawn}");
    assert!(world.shards_left() >= left - 2, "one shard is drawn");
    client.call("SELECT 1");
    assert_eq!(client.call("RANDOMKEY"), "$-1\r\n");
}

#[test]
fn randomkey_returns_only_existing_keys() {
    // All keys of database 1 but one have been removed since they were stored.
    let world = World::new(DEBUG);
    let mut client = world.client();
    client.call("SELECT 1");
    (0..KEYS).for_each(|key| drop(client.call(&format!("SET {key} value"))));
    client.call("SAVE");
    (0..KEYS).filter(|key| *key != 77).for_each(|key| drop(client.call(&format!("DEL {key}"))));
    drop(client);
    let world = late(world);
    let mut client = world.client();
    client.call("SELECT 1");
    for _ in 0..20 {
        assert_eq!(client.call("RANDOMKEY"), "$2\r\n77\r\n");
    }
    client.call("DEL 77");
    assert_eq!(client.call("RANDOMKEY"), "$-1\r\n");
    assert_eq!(client.call("DBSIZE"), ":0\r\n");
}

#[test]
fn flush_and_swap_load_the_shard_of_indexes_at_most_and_drop_dead_keys() {
    for make in [filled as fn() -> World, saved] {
        let mut world = late(make());
        let left = world.shards_left();
        let mut client = world.client();
        assert_eq!(client.call("SWAPDB 4 5"), "+OK\r\n");
        assert_eq!(client.call("FLUSHDB"), "+OK\r\n");
        assert_eq!(client.call("DBSIZE"), ":0\r\n");
        // FLUSHDB removes the declarations of indexes, too, which lie in one shard.
        assert!(world.shards_left() + 1 >= left, "{} of {left}", world.shards_left());
        client.call("SET key:1 new");
        for is_restarted in [false, true] {
            if is_restarted {
                drop(client);
                world = world.restarted(DEBUG, Load::Wanted);
                client = world.client();
            }
            world.load_all();
            assert_eq!(client.call("KEYS *"), "*1\r\n$5\r\nkey:1\r\n");
            let keyspace = client.call("INFO keyspace");
            assert!(keyspace.contains("db0:keys=1,") && keyspace.contains("db4:keys=34,"), "{keyspace}");
            assert!(keyspace.contains("db5:keys=51,"), "{keyspace}");
        }
        client.call("FLUSHALL");
        drop(client);
        world = world.restarted(DEBUG, Load::Wanted);
        world.load_all();
        assert!(!world.client().call("INFO keyspace").contains("db"));
    }
}

/// Returns true if a change of some KB is admitted at once.
fn admits(client: &mut Client) -> bool {
    let value = vec![b'x'; 4096];
    !matches!(client.send(&[b"SET", b"key:1", &value], &mut Output::new()), Next::Slow(_))
}

#[test]
fn writers_wait_for_neither_old_tail_nor_first_checkpoint_round() {
    const LIMIT: u64 = 3 * (64 << 10);
    const SMALL: &[(&str, &str)] = &[("checkpoint-journal-size", "64kb")];
    let world = World::new(&[]);
    let mut client = world.client();
    (0..200).for_each(|key| drop(client.call_bytes(&[b"SET", format!("{key}").as_bytes(), &[b'x'; 4096]])));
    drop(client);
    let world = world.restarted(SMALL, Load::Wanted);
    let mut client = world.client();
    // The limit counts from here on: the key below may be in a shard that is already loaded.
    client.rest();
    let journal = world.engine.journal.clone().unwrap();
    let tail = |from| journal.tail_bytes(from);
    let (found, from) = (journal.next(), journal.released());
    assert!(tail(from) > 2 * LIMIT);
    assert_eq!(client.call("GET key:1"), "$-1\r\n");
    while tail(found) < LIMIT {
        client.call_bytes(&[b"SET", b"key:1", &[b'x'; 4096]]);
    }
    assert!(!admits(&mut client), "so far ahead they may be until then");
    world.load_all();
    client.rest();
    let rounds = world.engine.checkpoints.status().rounds;
    assert!(admits(&mut client), "{rounds} rounds have ended");
    while world.engine.checkpoints.status().rounds == 0 {
        client.rest();
        std::thread::yield_now();
    }
    client.rest();
    let stored = journal.next();
    for _ in 0..1_000 {
        if !admits(&mut client) {
            break;
        }
    }
    assert!(tail(stored) < 2 * LIMIT, "what a start found counts no more: {}", tail(stored));
}

#[test]
fn a_client_waiting_for_a_load_counts_as_waiting() {
    let world = late(saved());
    let mut client = world.client();
    for words in [&[&b"GET"[..], b"key:1"][..], &[b"KEYS", b"*"]] {
        let mut output = Output::new();
        let Next::Slow(slow) = client.send(words, &mut output) else { panic!("it is still to be loaded") };
        assert!(!client.is_waiting());
        client.poll_slowly_once(slow, &mut output, |is_waiting| assert!(is_waiting));
        assert!(!client.is_waiting() && read(output).is_empty(), "it was dropped");
    }
}

#[test]
fn exec_requests_all_its_shards_before_raising_the_gate() {
    let world = late(saved());
    let mut client = world.client();
    client.call("MULTI");
    (0..20).for_each(|key| drop(client.call(&format!("GET key:{key}"))));
    client.call("SWAPDB 0 5");
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&[b"EXEC"], &mut output) else { panic!("they are still to be loaded") };
    client.poll_slowly_once(slow, &mut output, |_| {});
    assert!(world.engine.loading.progress().shards_wanted >= 10, "all are asked for at once");
    assert!(client.call("EXEC").starts_with("*21\r\n$3\r\n0.0\r\n"));
}

#[test]
fn no_load_begins_after_a_stop() {
    let world = late(saved());
    let left = world.shards_left();
    world.engine.loading.stop();
    world.load_all();
    assert_eq!(world.shards_left(), left);
}

#[test]
fn a_save_waits_until_all_shards_are_loaded() {
    let world = late(saved());
    let mut client = world.client();
    client.call("SET key:1 changed");
    assert_eq!(client.call("BGSAVE"), "+Background saving started\r\n");
    assert!(client.call("INFO persistence").contains("checkpoint_rounds:0\r\n"));
    world.load_all();
    // The checkpointer runs while this request waits.
    client.call("DEBUG RELOAD");
    assert!(client.call("INFO persistence").contains("rdb_last_bgsave_status:ok\r\n"));
    assert_eq!(client.call("GET key:1"), "$7\r\nchanged\r\n");
}

#[test]
fn keys_expired_before_loading_are_absent_and_their_removal_journaled() {
    let world = World::new(DEBUG);
    let mut client = world.client();
    (0..100).for_each(|key| drop(client.call(&format!("SET key:{key} value PX 1000"))));
    client.call("SET stays value");
    client.call("SAVE");
    drop(client);
    world.advance(5_000);
    let world = late(world);
    let mut client = world.client();
    let mut expire_cycle = ExpireCycle::new(world.engine.clone());
    expire_cycle.pass();
    assert!(client.call("INFO stats").contains("expired_keys:0\r\n"), "nothing is loaded yet");
    assert_eq!(client.call("GET key:1"), "$-1\r\n");
    let end = world.engine.journal.as_ref().unwrap().next();
    expire_cycle.pass();
    assert!(world.engine.journal.as_ref().unwrap().next() > end, "its removal is journaled");
    world.load_all();
    while client.call("DBSIZE") != ":1\r\n" {
        expire_cycle.pass();
    }
    assert!(client.call("INFO stats").contains("expired_keys:100\r\n"));
    assert_eq!(client.call("KEYS *"), "*1\r\n$5\r\nstays\r\n");
}

#[test]
fn an_unreadable_shard_shuts_the_server_down_without_a_reply() {
    let world = saved();
    let disk = world.stopped();
    let folder = Path::new("/data/store");
    let runs = disk.list(folder).unwrap().into_iter().find(|name| name.ends_with(".runs")).unwrap();
    let mut file = disk.open(&folder.join(&runs)).unwrap();
    let mut bytes = vec![0; file.bytes().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    let at = bytes.windows(4).position(|four| four == b"list").unwrap();
    file.write_at(b"L", at as u64).unwrap();
    drop(file);
    let world = World::over(disk, START_MS, DEBUG, Load::Wanted);
    let mut client = world.client();
    assert_eq!(client.call("PING"), "+PONG\r\n");
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&[b"LLEN", b"list"], &mut output) else { panic!("its shard is missing") };
    client.try_slowly(slow, &mut output);
    let fault = world.engine.loading.fault().expect("it was found out");
    assert!(fault.contains(&runs) && fault.contains("Restore"), "{fault}");
    assert!(world.engine.is_shutting_down(None) && read(output).is_empty());
    let log_buffer = world.engine.journal.as_ref().unwrap().log_buffer();
    assert!(log_buffer.try_admit(10, journal::Purpose::Shrink).is_err(), "no change is admitted any more");
    assert_eq!(client.call("PING"), "+PONG\r\n");
}
