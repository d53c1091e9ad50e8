//! Memory that is short, as reported by a meter of the test: growing commands are refused in each protocol, others run.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Client, Load, World};
use engine::Next;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wire::Output;

const MB: u64 = 1 << 20;
const LIMIT_BYTES: u64 = 1024 * MB;
const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

/// A world whose used memory is set by the test.
fn limited() -> (World, Client, Arc<AtomicU64>) {
    let world = World::new(&[]);
    let used_bytes = world.limit_memory(LIMIT_BYTES);
    let client = world.client();
    (world, client, used_bytes)
}

/// Makes memory short, and makes the worker notice.
fn exhaust(world: &World, client: &mut Client, used_bytes: &AtomicU64) {
    used_bytes.store(LIMIT_BYTES - 10 * MB, Relaxed);
    world.engine.memory.look();
    let long = "x".repeat(100_000);
    assert_eq!(client.call(&format!("SET exhausted {long}")), OOM);
}

fn ease(world: &World, used_bytes: &AtomicU64) {
    used_bytes.store(0, Relaxed);
    world.engine.memory.look();
}

#[test]
fn commands_that_grow_are_refused_and_others_run() {
    let (world, mut client, used_bytes) = limited();
    for line in ["SET kept value", "SET number 1", "HSET hash field value", "SADD set a b", "ZADD sorted 1 a"] {
        assert!(!client.call(line).starts_with('-'), "{line}");
    }
    client.call("RPUSH list a b c d");
    exhaust(&world, &mut client, &used_bytes);
    for line in [
        "SET kept other",
        "SETEX kept 10 other",
        "APPEND kept x",
        "INCR number",
        "RPUSH list e",
        "LSET list 0 x",
        "LMOVE list other LEFT LEFT",
        "HSET hash field other",
        "SADD set c",
        "ZADD sorted 2 b",
        "XADD stream * field value",
        "COPY kept other",
        "SUNIONSTORE other set",
        "SETRANGE kept 0 x",
        "BITFIELD kept SET u8 0 1",
        "PFADD loglog a",
        "GEOADD places 1 1 a",
        "Q.PUSH queue message",
        "MSET a 1 b 2",
    ] {
        assert_eq!(client.call(line), OOM, "{line}");
    }
    for (line, reply) in [
        ("GET kept", "$5\r\nvalue\r\n"),
        ("LPOP list", "$1\r\na\r\n"),
        ("LTRIM list 0 1", "+OK\r\n"),
        ("EXPIRE set 100", ":1\r\n"),
        ("HDEL hash field", ":1\r\n"),
        ("ZREM sorted a", ":1\r\n"),
        ("DEL number list", ":2\r\n"),
        ("UNLINK set", ":1\r\n"),
        ("DBSIZE", ":1\r\n"),
        ("PUBLISH channel text", ":0\r\n"),
    ] {
        assert_eq!(client.call(line), reply, "{line}");
    }
    ease(&world, &used_bytes);
    assert_eq!(client.call("SET kept other"), "+OK\r\n");
    let memory = client.call("INFO memory");
    assert!(memory.contains("memory_hard_limit:1073741824\r\nmemory_hard_limit_source:a test\r\n"), "{memory}");
    assert!(memory.contains("oom_refusals:20\r\n"), "{memory}");
    assert!(client.call("INFO errorstats").contains("errorstat_OOM:count=20\r\n"));
}

#[test]
fn transactions_are_aborted_on_oom_as_in_redis() {
    let (world, mut client, used_bytes) = limited();
    client.call("SET kept value");
    exhaust(&world, &mut client, &used_bytes);
    assert_eq!(client.call("MULTI"), "+OK\r\n");
    assert_eq!(client.call("SET kept other"), OOM);
    assert_eq!(client.call("EXEC"), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    ease(&world, &used_bytes);
    assert_eq!(client.call_all(&["MULTI", "SET kept other", "GET kept"]), "+OK\r\n+QUEUED\r\n+QUEUED\r\n");
    let mut other = world.client();
    exhaust(&world, &mut other, &used_bytes);
    let aborted = format!("-EXECABORT Transaction discarded because of: {}", &OOM[1..]);
    assert_eq!(client.call("EXEC"), aborted);
    assert_eq!(client.call("GET kept"), "$5\r\nvalue\r\n");
    assert_eq!(client.call("EXEC"), "-ERR EXEC without MULTI\r\n");
    ease(&world, &used_bytes);
    client.call_all(&["MULTI", "GET kept", "DEL kept"]);
    exhaust(&world, &mut other, &used_bytes);
    assert_eq!(client.call("EXEC"), "*2\r\n$5\r\nvalue\r\n:1\r\n");
}

#[test]
fn a_script_gets_oom_only_from_growing_commands() {
    let (world, mut client, used_bytes) = limited();
    client.call_all(&["SET kept value", "SET doomed value"]);
    exhaust(&world, &mut client, &used_bytes);
    let mut eval = |script: &str| client.call_bytes(&[b"EVAL", script.as_bytes(), b"0"]);
    assert_eq!(eval("return redis.call('GET', 'kept')"), "$5\r\nvalue\r\n");
    assert_eq!(eval("return redis.call('DEL', 'doomed')"), ":1\r\n");
    let reply = eval("return redis.call('SET', 'kept', 'other')");
    assert!(reply.starts_with("-OOM command not allowed when used memory > 'maxmemory'. script: "), "{reply}");
    assert_eq!(eval("return redis.pcall('SET', 'kept', 'other').err"), format!("${}\r\n{}", OOM.len() - 3, &OOM[1..]));
    assert_eq!(client.call("GET kept"), "$5\r\nvalue\r\n");
}

#[test]
fn memcached_and_queue_ports_report_oom_in_their_protocol() {
    let (world, mut client, used_bytes) = limited();
    let (mut items, mut queues) = (world.client_of_memcached(), world.client_of_queues());
    assert_eq!(items.ask("set kept 0 0 1\r\n1\r\n"), "STORED\r\n");
    assert_eq!(queues.ask("set queue 0 0 1\r\nx\r\n"), "STORED\r\n");
    exhaust(&world, &mut client, &used_bytes);
    assert_eq!(items.ask("set kept 0 0 1\r\n2\r\n"), "SERVER_ERROR out of memory storing object\r\n");
    assert_eq!(items.ask("ms other 1\r\nx\r\n"), "SERVER_ERROR out of memory storing object\r\n");
    assert_eq!(items.ask("incr kept 1\r\n"), "SERVER_ERROR out of memory\r\n");
    assert_eq!(queues.ask("set queue 0 0 1\r\ny\r\n"), "SERVER_ERROR out of memory storing object\r\n");
    assert_eq!(items.ask("get kept\r\n"), "VALUE kept 0 1\r\n1\r\nEND\r\n");
    assert_eq!(items.ask("delete kept\r\n"), "DELETED\r\n");
    assert_eq!(queues.ask("get queue\r\n"), "VALUE queue 0 1\r\nx\r\nEND\r\n");
}

/// The request is short, and the value that it makes is long.
#[test]
fn a_far_offset_counts_the_bytes_before_it() {
    let (world, mut client, used_bytes) = limited();
    used_bytes.store(LIMIT_BYTES - 164 * MB, Relaxed);
    world.engine.memory.look();
    client.call("SET small x");
    for line in ["SETRANGE far 300000000 x", "SETBIT far 2400000000 1", "BITFIELD far SET u8 2400000000 1"] {
        assert_eq!(client.call(line), OOM, "{line}");
    }
    assert_eq!(client.call("EXISTS far"), ":0\r\n");
    assert_eq!(client.call("SETRANGE small 30000 x"), ":30001\r\n");
}

#[test]
fn a_long_string_is_refused_when_it_does_not_fit() {
    let (world, mut client, used_bytes) = limited();
    used_bytes.store(LIMIT_BYTES - 65 * MB, Relaxed);
    world.engine.memory.look();
    let long = vec![b'x'; 2 << 20];
    assert_eq!(client.call_bytes(&[b"SET", b"long", &long]), OOM);
    assert_eq!(client.call("STRLEN long"), ":0\r\n");
    ease(&world, &used_bytes);
    assert_eq!(client.call_bytes(&[b"SET", b"long", &long]), "+OK\r\n");
}

#[test]
fn many_pairs_with_a_long_string_are_refused_when_they_do_not_fit() {
    let (world, mut client, used_bytes) = limited();
    used_bytes.store(LIMIT_BYTES - 65 * MB, Relaxed);
    world.engine.memory.look();
    let long = vec![b'x'; 2 << 20];
    let keys: Vec<String> = (0..200).map(|key| format!("key:{key}")).collect();
    let pairs = keys.iter().flat_map(|key| [key.as_bytes(), if key == "key:7" { &long } else { b"value" }]);
    let request: Vec<&[u8]> = std::iter::once(&b"MSET"[..]).chain(pairs).collect();
    assert_eq!(client.call_bytes(&request), OOM);
    assert_eq!(client.call("EXISTS key:1 key:7"), ":0\r\n");
    ease(&world, &used_bytes);
    assert_eq!(client.call_bytes(&request), "+OK\r\n");
    assert_eq!(client.call("STRLEN key:7"), format!(":{}\r\n", long.len()));
}

/// Data that does not fit is not loaded; keys in it are answered at once, and it is loaded once there is room.
#[test]
fn loading_halts_at_the_memory_limit_and_resumes_with_room() {
    let world = World::new(&[]);
    let mut client = world.client();
    for key in 0..100 {
        assert_eq!(client.call(&format!("SET key:{key} value")), "+OK\r\n");
    }
    assert_eq!(client.call("SAVE"), "+OK\r\n");
    let world = world.restarted(&[], Load::Wanted);
    let mut client = world.client();
    assert_eq!(client.call("GET key:1"), "$5\r\nvalue\r\n");
    let used_bytes = world.limit_memory(LIMIT_BYTES);
    used_bytes.store(LIMIT_BYTES, Relaxed);
    world.engine.memory.look();
    assert_eq!(client.call("GET key:1"), "$5\r\nvalue\r\n");
    let left = world.shards_left();
    let absent = (0..100).map(|key| client.call(&format!("GET key:{key}")));
    let refusals = absent.filter(|reply| reply.starts_with("-OOM the key is not loaded")).count();
    assert!(refusals > 80, "{refusals} of 100 keys");
    assert!(world.engine.loading.is_halted());
    assert_eq!(world.shards_left(), left);
    assert!(client.call("INFO persistence").contains("loading_waits_for_memory:1\r\n"));
    assert!(client.call("KEYS *").starts_with("-OOM "));
    assert_eq!(client.call("DBSIZE"), ":100\r\n");
    assert_eq!(client.call("DEL key:1"), ":1\r\n");
    ease(&world, &used_bytes);
    let mut again = (0..100).map(|_| {
        client.rest();
        client.call("GET key:2")
    });
    assert!(again.any(|reply| reply == "$5\r\nvalue\r\n"), "a loader looks again");
}

/// A future that an async function takes by value and pins is stored twice; it was 22 KB that way.
#[test]
fn a_request_that_waits_takes_little_memory() {
    let world = World::new(&[]);
    let (mut client, mut output) = (world.client(), Output::new());
    let Next::Slow(slow) = client.send(&[b"BLPOP".as_slice(), b"queue", b"0"], &mut output) else { panic!("it waits") };
    let bytes = size_of_val(&client.session.run_slowly(slow, &client.input, &mut output));
    assert!(bytes < 4 << 10, "{bytes} bytes");
}
