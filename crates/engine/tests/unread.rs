//! Large values that are read after their shards. Here a shard or value is loaded only when a request waits for it,
//! unless the test loads all.

use crate::support::{Load, START_MS, World, read};
use base::disk::Disk;
use engine::{ExpireCycle, Next};
use keyspace::shard_of;
use std::path::Path;
use wire::Output;

const DEBUG: &[(&str, &str)] = &[("enable-debug-command", "yes")];
const ITEMS: usize = 1_500;

/// Returns a key in the shard of `other`.
fn near(world: &World, other: &str) -> String {
    let shard = |key: &str| shard_of(world.engine.keyspace.hash(key.as_bytes()));
    (0..).map(|number| format!("near:{number}")).find(|key| shard(key) == shard(other)).unwrap()
}

/// A world with lists and a string of more than a megabyte, each with a small key in its shard, all saved.
fn filled() -> World {
    let world = World::new(DEBUG);
    let mut client = world.client();
    let items: Vec<String> = (0..ITEMS).map(|item| format!("{item:01000}")).collect();
    for list in ["list", "other", "third"] {
        client.call(&format!("RPUSH {list} {}", items.join(" ")));
        client.call(&format!("SET {} small", near(&world, list)));
    }
    client.call(&format!("SET text {}", "0123456789".repeat(150_000)));
    client.call(&format!("SET {} small", near(&world, "text")));
    client.call("COPY list list DB 3");
    assert_eq!(client.call("SAVE"), "+OK\r\n");
    drop(client);
    world
}

/// Changes that only the journal has.
const TAIL: &[&str] = &[
    "LPUSH list first",
    "RPOP list 20",
    "LREM list 0 first",
    "APPEND text end",
    "SETRANGE text 3 other",
    "PEXPIRE text 100000",
    "RENAME third fourth",
    "LTRIM other 5 7",
    "RPUSH other more",
];

fn values_left(world: &World) -> usize {
    world.engine.loading.progress().values_left
}

/// Loads the shard of each of `keys`, and no large value.
fn open(world: &World, keys: &[&str]) {
    for key in keys {
        assert_eq!(world.client().call(&format!("GET {}", near(world, key))), "$5\r\nsmall\r\n");
    }
}

#[test]
fn small_keys_are_served_while_large_values_are_unread() {
    let world = filled().restarted(DEBUG, Load::Wanted);
    let mut client = world.client();
    open(&world, &["list"]);
    assert_eq!(values_left(&world), 2, "of two databases");
    assert!(client.call("INFO persistence").contains("\r\nasync_loading:1\r\n"));
    assert!(client.call("INFO persistence").contains("\r\nloading_values_left:2\r\n"));
    assert_eq!(client.call("DBSIZE"), ":8\r\n");
    assert_eq!(client.call("SCAN 0 COUNT 1000 TYPE list").matches("list").count(), 1);
    assert_eq!(client.call("KEYS *").matches('$').count(), 8);
    assert_eq!(values_left(&world), 5, "all shards are loaded, and no large value");
    assert_ne!(client.call("RANDOMKEY"), "$-1\r\n");
    assert_eq!((client.call("LLEN list"), values_left(&world)), (format!(":{ITEMS}\r\n"), 3));
    assert_eq!((client.call("STRLEN text"), values_left(&world)), (":1500000\r\n".to_owned(), 2));
    world.load_all();
    assert_eq!((world.shards_left(), values_left(&world)), (0, 0));
    assert!(client.call("INFO persistence").contains("\r\nasync_loading:0\r\n"));
}

/// Successive requests while values are unread.
const SCRIPT: &[&str] = &[
    "DBSIZE",
    "LINDEX list 0",
    "EXISTS other",
    "TTL text",
    "GETRANGE text 0 10",
    "RENAME fourth fifth",
    "MULTI",
    "LLEN fifth",
    "SELECT 3",
    "LPOP list",
    "SELECT 0",
    "DBSIZE",
    "EXEC",
    "LMOVE list other LEFT RIGHT",
    "LRANGE other 0 -1",
    "DEL text",
    "SWAPDB 0 3",
    "LLEN list",
    "SWAPDB 0 3",
    "PERSIST list",
    "DBSIZE",
];

#[test]
fn replies_are_the_same_before_and_after_values_are_loaded() {
    for from in 0..SCRIPT.len() {
        let world = filled();
        TAIL.iter().for_each(|line| drop(world.client().call(line)));
        let disk = world.stopped();
        let whole = World::over(disk.copy(), START_MS, DEBUG, Load::AtOnce);
        let late = World::over(disk, START_MS, DEBUG, Load::Wanted);
        open(&late, &["list", "other", "text"]);
        assert!(values_left(&late) >= 3);
        let (mut here, mut there) = (late.client(), whole.client());
        let is_over = |line: &&&str| **line == "EXEC";
        // Not from the middle of a transaction.
        let before = SCRIPT[..from].iter().filter(is_over).count();
        if SCRIPT[..from].contains(&"MULTI") && before == 0 {
            continue;
        }
        for line in &SCRIPT[from..] {
            assert_eq!(here.call(line), there.call(line), "{line}, from {from} on");
        }
        let keys: Vec<String> = (0..300).map(|key| format!("key:{key}")).collect();
        for line in [&format!("MGET text list {}", keys.join(" ")), "DEBUG DIGEST", "KEYS *"] {
            assert_eq!(here.call(line), there.call(line), "{line}");
        }
        late.load_all();
        assert_eq!(here.call("DEBUG DIGEST"), there.call("DEBUG DIGEST"));
        assert_eq!(here.call("SAVE"), "+OK\r\n");
        assert_eq!(here.call("DEBUG RELOAD"), "+OK\r\n");
        assert_eq!(here.call("DEBUG DIGEST"), there.call("DEBUG DIGEST"));
    }
}

#[test]
fn a_value_flushed_unread_does_not_reappear() {
    let mut world = filled().restarted(DEBUG, Load::Wanted);
    open(&world, &["list", "text"]);
    assert!(values_left(&world) >= 3);
    assert_eq!(world.client().call("FLUSHALL"), "+OK\r\n");
    assert_eq!(world.client().call("DBSIZE"), ":0\r\n");
    for _ in 0..2 {
        world.load_all();
        assert_eq!(values_left(&world), 0);
        assert_eq!(world.client().call("KEYS *"), "*0\r\n");
        world = world.restarted(DEBUG, Load::Wanted);
    }
}

#[test]
fn an_expired_value_is_removed_unread() {
    let world = filled();
    world.client().call("PEXPIRE list 1000");
    let world = world.restarted(DEBUG, Load::Wanted);
    open(&world, &["list"]);
    world.advance(5_000);
    let mut expire_cycle = ExpireCycle::new(world.engine.clone());
    expire_cycle.pass();
    expire_cycle.pass();
    assert!(world.client().call("INFO stats").contains("expired_keys:1\r\n"));
    assert_eq!((world.client().call("DBSIZE"), values_left(&world)), (":7\r\n".to_owned(), 2));
    assert_eq!(world.client().call("RPUSH list new"), ":1\r\n");
    world.load_all();
    assert_eq!(world.client().call("LRANGE list 0 -1"), "*1\r\n$3\r\nnew\r\n");
}

#[test]
fn an_unreadable_value_shuts_the_server_down_without_a_reply() {
    let disk = filled().stopped();
    let folder = Path::new("/data/store");
    for name in disk.list(folder).unwrap().into_iter().filter(|name| name.ends_with(".blocks")) {
        let mut file = disk.open(&folder.join(name)).unwrap();
        for at in (4_096..file.bytes().unwrap()).step_by(512) {
            file.write_at(b"damage", at).unwrap();
        }
    }
    let world = World::over(disk, START_MS, DEBUG, Load::Wanted);
    open(&world, &["list"]);
    let mut client = world.client();
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&[b"LLEN", b"list"], &mut output) else { panic!("it is unread") };
    client.try_slowly(slow, &mut output);
    let fault = world.engine.loading.fault().expect("it was found out");
    assert!(fault.contains(".blocks") && fault.contains("Restore"), "{fault}");
    assert!(world.engine.is_shutting_down(None) && read(output).is_empty());
}

/// For each type that grows large: the request that fills it, later changes, a query, and its reply.
const KINDS: &[(&str, &[&str], &str, &str)] = &[
    ("HSET k {n} {v}", &["HDEL k 7", "HSET k new 1"], "HMGET k 7 new", "*2\r\n$-1\r\n$1\r\n1\r\n"),
    ("SADD k {v}", &["SADD k new"], "SISMEMBER k new", ":1\r\n"),
    ("ZADD k {n} {v}", &["ZADD k 3000 new"], "ZRANK k new", ":700\r\n"),
    ("XADD k 1-{n} f {v}", &["XADD k 2-0 f new", "XDEL k 1-7", "XGROUP CREATE k g 0"], "XLEN k", ":700\r\n"),
    ("TL.INSERT k -1 {v}", &["TL.INSERT k 0 new a=3", "TL.HIDE k new"], "TL.COUNT k WHERE a=3", "*2\r\n:0\r\n:1\r\n"),
    ("RPUSH k {v}", &["LPUSH k new", "RPOP k"], "LINDEX k 0", "$3\r\nnew\r\n"),
    ("Q.PUSH k {v}", &["LPUSH k new", "Q.RESERVE k COUNT 2", "Q.PUSH k last ID x"], "LINDEX k -1", "$4\r\nlast\r\n"),
    ("RPUSH k {v}", &["Q.RESERVE k", "LPUSH k new", "RPOP k"], "LINDEX k 0", "$3\r\nnew\r\n"),
    ("Q.PUSH k {v}", &["Q.DROP k", "LPUSH k new", "LTRIM k 0 9", "LSET k 0 set"], "LINDEX k 0", "$3\r\nset\r\n"),
    ("APPEND k {v}", &["APPEND k new", "SETRANGE k 0 old"], "GETRANGE k 0 2", "$3\r\nold\r\n"),
];

#[test]
fn journal_changes_to_an_unread_value_are_kept_until_read() {
    for (fill, changes, question, answer) in KINDS {
        let world = World::new(DEBUG);
        let mut client = world.client();
        if fill.starts_with("TL.") {
            assert_eq!(client.call("TL.DEFINE k ATTR a 4 UNIQUE"), "+OK\r\n");
        }
        for number in 1..=700 {
            let reply =
                client.call(&fill.replace("{n}", &number.to_string()).replace("{v}", &format!("{number:02000}")));
            assert!(!reply.starts_with('-'), "{fill}: {reply}");
        }
        client.call(&format!("SET {} small", near(&world, "k")));
        assert_eq!(client.call("SAVE"), "+OK\r\n");
        for change in *changes {
            let reply = client.call(change);
            assert!(!reply.starts_with('-'), "{change}: {reply}");
        }
        assert_eq!(client.call(question), *answer, "{fill}");
        let digest = client.call("DEBUG DIGEST");
        drop(client);
        let world = world.restarted(DEBUG, Load::Wanted);
        open(&world, &["k"]);
        assert_eq!(values_left(&world), 1, "{fill}");
        let mut client = world.client();
        assert_eq!(client.call(question), *answer, "{fill}");
        assert_eq!(client.call("DEBUG DIGEST"), digest, "{fill}");
    }
}

/// Its last message is popped, and another queue is created under its key.
#[test]
fn a_queue_consumed_while_unread_is_gone() {
    let world = World::new(DEBUG);
    let mut client = world.client();
    (0..700).for_each(|number| drop(client.call(&format!("Q.PUSH k {number:02000}"))));
    client.call(&format!("SET {} small", near(&world, "k")));
    assert_eq!(client.call("SAVE"), "+OK\r\n");
    (0..4).for_each(|_| drop(client.call("LPOP k 200")));
    assert_eq!(client.call("EXISTS k"), ":0\r\n");
    client.call("Q.PUSH k new");
    drop(client);
    let world = world.restarted(DEBUG, Load::Wanted);
    open(&world, &["k"]);
    assert_eq!(values_left(&world), 0);
    assert_eq!(world.client().call("LRANGE k 0 -1"), "*1\r\n$3\r\nnew\r\n");
}

/// A message out of retries waits until its destination list is read.
#[test]
fn a_dead_letter_waits_until_its_unread_list_is_read() {
    let world = World::new(DEBUG);
    let mut client = world.client();
    (0..700).for_each(|number| drop(client.call(&format!("RPUSH dead {number:02000}"))));
    client.call(&format!("SET {} small", near(&world, "dead")));
    assert_eq!(client.call("SAVE"), "+OK\r\n");
    client.call("Q.LIMIT q RETRIES 0 DEADLETTER dead");
    client.call("Q.PUSH q work");
    client.call("Q.RESERVE q LEASE 100");
    drop(client);
    let world = world.restarted(DEBUG, Load::Wanted);
    open(&world, &["dead"]);
    assert!(world.client().call("Q.INFO q").contains("leased\r\n:1\r\n"));
    let mut expire_cycle = ExpireCycle::new(world.engine.clone());
    for unread in [1, 0] {
        assert_eq!(values_left(&world), unread);
        world.advance(5_000);
        let _ = (0..10).any(|_| !expire_cycle.pass());
        let info = world.client().call("Q.INFO q");
        assert!(info.contains(&format!("dead\r\n:{unread}\r\n")), "{info}");
        world.load_all();
    }
    assert_eq!(world.client().call("LLEN dead"), ":701\r\n");
    assert_eq!(world.client().call("RPOP dead"), "$4\r\nwork\r\n");
}
