//! Scripts against the real binary: long ones, while other clients, also on the same worker, get BUSY, and scripts that
//! use undeclared keys.

use crate::support::{Connection, Server};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use wire::client::Value;

type Client = Connection<TcpStream>;

const LONG: &str = "while true do end";
const ONE_WORKER: &[&str] = &["--threads", "1", "--busy-reply-threshold", "100"];
const BUSY: &str = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

/// Asks until the reply says that the server is busy.
#[track_caller]
fn wait_busy(client: &mut Client) {
    let began = Instant::now();
    while client.call(&["GET", "other"]).as_error() != Some(BUSY) {
        assert!(began.elapsed() < Duration::from_secs(20), "never busy");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_long_script_frees_its_worker_and_can_be_killed() {
    let server = Server::start(ONE_WORKER);
    let (mut caller, mut other) = (server.connect(), server.connect());
    caller.send(&["EVAL", LONG, "1", "key"]);
    wait_busy(&mut other);
    assert_eq!(other.call(&["PING"]).as_error(), Some(BUSY));
    assert_eq!(other.call(&["EVAL", "return 1", "0"]).as_error(), Some(BUSY));
    assert_eq!(other.call(&["SHUTDOWN"]).as_error(), Some(BUSY));
    assert_eq!(other.call(&["MULTI"]).to_string(), "OK");
    assert_eq!(other.call(&["GET", "x"]).as_error(), Some(BUSY));
    assert_eq!(other.call(&["DISCARD"]).to_string(), "OK");
    assert_eq!(other.call(&["SCRIPT", "KILL"]).to_string(), "OK");
    let reply = caller.reply().to_string();
    assert!(reply.starts_with("!ERR Script killed by user with SCRIPT KILL... script: "), "{reply}");
    assert!(reply.ends_with(", on @user_script:1."), "{reply}");
    assert_eq!(other.call(&["GET", "key"]).to_string(), "null");
    assert_eq!(caller.call(&["EVAL", "return 1", "0"]).to_string(), "1");
    assert!(other.call(&["SCRIPT", "KILL"]).as_error().is_some_and(|text| text.starts_with("NOTBUSY")));
}

/// As redis-server 7.0.15 counts them.
#[test]
fn script_errors_are_counted_once_and_fail_the_script() {
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    client.call(&["SET", "k", "text"]);
    let scripts = [
        ("return redis.error_reply('My Err')", "errorstat_My", 1, ""),
        ("return {err='FOO bar'}", "errorstat_FOO", 1, ""),
        ("return {1,redis.error_reply('NEST x')}", "errorstat_NEST", 1, ""),
        ("return redis.pcall('get')", "errorstat_ERR", 1, "get calls=0 rejected_calls=1,failed_calls=0"),
        ("return redis.call('get')", "errorstat_ERR", 1, "get calls=0 rejected_calls=1,failed_calls=0"),
        ("return redis.call('subscribe','x')", "errorstat_ERR", 1, "subscribe calls=0 rejected_calls=1,failed_calls=0"),
        ("return redis.pcall('nosuch')", "errorstat_ERR", 1, ""),
        (
            "return redis.call('lpush',KEYS[1],1)",
            "errorstat_WRONGTYPE",
            1,
            "lpush calls=1 rejected_calls=0,failed_calls=1",
        ),
        (
            "return redis.pcall('lpush',KEYS[1],1)",
            "errorstat_WRONGTYPE",
            1,
            "lpush calls=1 rejected_calls=0,failed_calls=1",
        ),
        (
            "error(redis.pcall('lpush',KEYS[1],1))",
            "errorstat_WRONGTYPE",
            1,
            "lpush calls=1 rejected_calls=0,failed_calls=1",
        ),
        ("return {1,redis.pcall('lpush',KEYS[1],1)}", "errorstat_WRONGTYPE", 1, ""),
        ("return {err=redis.pcall('lpush',KEYS[1],1).err}", "errorstat_WRONGTYPE", 2, ""),
        ("error('boom')", "errorstat_ERR", 1, ""),
        (
            "#!lua flags=no-writes\nreturn redis.call('set',KEYS[1],1)",
            "errorstat_ERR",
            1,
            "set calls=0 rejected_calls=1,failed_calls=0",
        ),
    ];
    for (script, error, count, inner) in scripts {
        client.call(&["CONFIG", "RESETSTAT"]);
        client.call(&["EVAL", script, "1", "k"]);
        assert_eq!(server.info(error), format!("count={count}"), "{script}");
        assert_eq!(server.info("total_error_replies"), count.to_string(), "{script}");
        for stats in ["eval calls=1 rejected_calls=0,failed_calls=1", inner].iter().filter(|stats| !stats.is_empty()) {
            let [name, calls, ends] = stats.split(' ').collect::<Vec<_>>()[..] else { panic!("three words") };
            let counted = server.info(&format!("cmdstat_{name}"));
            assert!(counted.starts_with(&format!("{calls},")) && counted.ends_with(ends), "{script}: {name} {counted}");
        }
    }
    client.call(&["CONFIG", "RESETSTAT"]);
    assert_eq!(client.call(&["EVAL", "redis.pcall('lpush',KEYS[1],1) return 1", "1", "k"]).to_string(), "1");
    assert!(server.info("cmdstat_eval").ends_with("failed_calls=0"));
    assert_eq!(server.info("errorstat_WRONGTYPE"), "count=1");
}

#[test]
fn a_script_that_catches_all_errors_can_be_killed() {
    let server = Server::start(ONE_WORKER);
    let (mut caller, mut other) = (server.connect(), server.connect());
    caller.send(&["EVAL", "while true do pcall(function() while true do redis.pcall('get', 'x') end end) end", "0"]);
    wait_busy(&mut other);
    assert_eq!(other.call(&["SCRIPT", "KILL"]).to_string(), "OK");
    assert!(caller.reply().as_error().is_some());
}

#[test]
fn a_script_that_wrote_ends_only_with_the_server() {
    let mut server = Server::start(ONE_WORKER);
    let (mut caller, mut other) = (server.connect(), server.connect());
    caller.send(&["EVAL", "redis.call('set', 'half', 1) while true do end", "0"]);
    wait_busy(&mut other);
    let reply = other.call(&["SCRIPT", "KILL"]).to_string();
    assert!(reply.starts_with("!UNKILLABLE Sorry the script already executed write commands"), "{reply}");
    other.send(&["SHUTDOWN", "NOSAVE"]);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    server.restart();
    assert_eq!(server.connect().call(&["EXISTS", "half"]).to_string(), "0");
}

#[test]
fn clients_waiting_for_the_gate_or_keys_get_busy() {
    let long = "redis.log(redis.LOG_WARNING, 'it holds what it needs') while true do end";
    for script in [long, &format!("redis.call('keys', '*') {long}")] {
        let server = Server::start(&["--busy-reply-threshold", "300"]);
        let (mut caller, mut other) = (server.connect(), server.connect());
        let mut waiting: Vec<Client> = (0..4).map(|_| server.connect()).collect();
        other.call(&["SET", "key", "value"]);
        caller.send(&["EVAL", script, "1", "key"]);
        let began = Instant::now();
        while !server.log().contains("it holds what it needs") {
            assert!(began.elapsed() < Duration::from_secs(20), "{}", server.log());
            thread::sleep(Duration::from_millis(5));
        }
        for (client, request) in waiting.iter_mut().zip([
            &["GET", "key"][..],
            &["FLUSHALL"],
            &["EVAL", "return 1", "1", "key"],
            &["KEYS", "*"],
        ]) {
            client.send(request);
        }
        let replies: Vec<String> = waiting.iter_mut().map(|client| client.reply().to_string()).collect();
        assert!(replies.iter().all(|reply| reply.starts_with("!BUSY")), "{replies:?}");
        wait_busy(&mut other);
        assert_eq!(other.call(&["SCRIPT", "KILL"]).to_string(), "OK");
        assert!(caller.reply().as_error().is_some());
        assert_eq!(other.call(&["FLUSHALL"]).to_string(), "OK");
    }
}

/// Short scripts run in place; long ones are undone there and run again, and neither writes nor log entries are made
/// twice. With a journal a script is also undone to reserve room.
#[test]
fn a_script_found_to_be_long_takes_effect_once() {
    let server = Server::start(&["--threads", "1", "--journal", "off"]);
    let mut client = server.connect();
    let script = "redis.log(redis.LOG_WARNING, 'adds ' .. ARGV[1]) \
                  for i = 1, tonumber(ARGV[1]) do redis.call('incr', KEYS[1]) end return redis.call('get', KEYS[1])";
    let mut sum = 0;
    for count in [10, 20_000, 11, 12, 30_000] {
        sum += count;
        let reply = client.call(&["EVAL", script, "1", "number", &count.to_string()]).to_string();
        assert_eq!(reply, format!("\"{sum}\""));
        // What is logged later has come: so has all that was logged before.
        let mark = format!("has added {count}");
        client.call(&["EVAL", "redis.log(redis.LOG_WARNING, ARGV[1])", "0", &mark]);
        server.wait_for_log(&mark);
        assert_eq!(server.log().matches(&format!(": adds {count}")).count(), 1, "{}", server.log());
    }
}

#[test]
fn a_script_finishes_after_its_client_disconnects() {
    let server = Server::start(&[]);
    let mut caller = server.connect();
    let script = "for i = 1, 3000000 do local x = i % 7 end redis.call('set', KEYS[1], 'done')";
    caller.send(&["EVAL", script, "1", "key"]);
    thread::sleep(Duration::from_millis(20));
    drop(caller);
    let mut other = server.connect();
    let began = Instant::now();
    while other.call(&["GET", "key"]).to_string() != "\"done\"" {
        assert!(began.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn writes_to_undeclared_keys_are_atomic() {
    let server = Server::start(&[]);
    // Moves one from a key that only the script knows to another, many times.
    let script = "local n = tonumber(ARGV[1]) \
                  for i = 1, 8 do redis.call('incrby', 'from' .. (n * 7 + i) % 40, -1) \
                  redis.call('incrby', 'to' .. (n * 11 + i) % 40, 1) end return 1";
    let sum = "local s = 0 for i = 0, 39 do for _, name in ipairs({'from', 'to'}) do \
               s = s + (tonumber(redis.call('get', name .. i) or 0) or 0) end end return s";
    thread::scope(|scope| {
        for writer in 0..3 {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.connect();
                for turn in 0..150 {
                    let number = (writer * 1000 + turn).to_string();
                    assert_eq!(client.call(&["EVAL", script, "0", &number]).to_string(), "1");
                }
            });
        }
        scope.spawn(|| {
            let mut client = server.connect();
            for _ in 0..100 {
                assert_eq!(client.call(&["EVAL", sum, "0"]).to_string(), "0");
            }
        });
    });
    let mut client = server.connect();
    let total = "local s = 0 for i = 0, 39 do s = s + tonumber(redis.call('get', 'to' .. i) or 0) end return s";
    assert_eq!(client.call(&["EVAL", total, "0"]).to_string(), "3600");
}

#[test]
fn writes_of_scripts_survive_a_crash() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    let script =
        "for i = 1, 100 do redis.call('rpush', KEYS[1], i) end redis.call('set', 'text', string.rep('x', 100000))";
    client.call(&["EVAL", script, "1", "list"]);
    server.kill();
    server.restart();
    let mut client = server.connect();
    assert_eq!(client.call(&["LLEN", "list"]).to_string(), "100");
    assert_eq!(client.call(&["STRLEN", "text"]).to_string(), "100000");
}

#[test]
fn a_blocked_client_is_served_after_the_whole_script() {
    let server = Server::start(&[]);
    let (mut waiter, mut other) = (server.connect(), server.connect());
    waiter.send(&["BLPOP", "queue", "0"]);
    thread::sleep(Duration::from_millis(50));
    let script =
        "redis.call('rpush', KEYS[1], 'a') redis.call('lpush', KEYS[1], 'b') return redis.call('llen', KEYS[1])";
    assert_eq!(other.call(&["EVAL", script, "1", "queue"]).to_string(), "2");
    assert_eq!(waiter.reply().to_string(), "[\"queue\", \"b\"]");
}

/// Returns a library of one function, which returns `answer`.
fn library(name: &str, function: &str, answer: u32) -> String {
    format!("#!lua name={name}\nredis.register_function('{function}', function() return {answer} end)")
}

#[test]
fn libraries_survive_crashes_and_flushes_and_are_not_keys() {
    let mut server = Server::start(&["--fsync", "always", "--threads", "2"]);
    let mut client = server.connect();
    assert_eq!(client.call(&["FUNCTION", "LOAD", &library("first", "one", 1)]).to_string(), "\"first\"");
    assert_eq!(client.call(&["FUNCTION", "LOAD", &library("second", "two", 2)]).to_string(), "\"second\"");
    server.kill();
    server.restart();
    let mut client = server.connect();
    assert_eq!(client.call(&["FCALL", "two", "0"]).to_string(), "2");
    assert_eq!(client.call(&["SAVE"]).to_string(), "OK");
    assert_eq!(client.call(&["FUNCTION", "LOAD", "REPLACE", &library("first", "one", 3)]).to_string(), "\"first\"");
    assert_eq!(client.call(&["FUNCTION", "DELETE", "second"]).to_string(), "OK");
    assert_eq!(client.call(&["FLUSHALL"]).to_string(), "OK");
    assert_eq!(client.call(&["SWAPDB", "0", "1"]).to_string(), "OK");
    server.kill();
    server.restart();
    // Whichever worker serves them.
    for mut client in [server.connect(), server.connect(), server.connect()] {
        assert_eq!(client.call(&["FCALL", "one", "0"]).to_string(), "3");
        assert_eq!(client.call(&["FCALL", "two", "0"]).as_error(), Some("ERR Function not found"));
        assert_eq!(client.call(&["DBSIZE"]).to_string(), "0");
        assert_eq!(client.call(&["KEYS", "*"]).to_string(), "[]");
        assert_eq!(client.call(&["SCAN", "0"]).to_string(), "[\"0\", []]");
        assert!(!client.call(&["INFO", "keyspace"]).to_string().contains("keys="));
    }
    server.stop();
    server.restart();
    let mut client = server.connect();
    assert_eq!(client.call(&["FCALL", "one", "0"]).to_string(), "3");
    assert_eq!(client.call(&["FUNCTION", "FLUSH"]).to_string(), "OK");
    server.kill();
    server.restart();
    assert_eq!(server.connect().call(&["FUNCTION", "LIST"]).to_string(), "[]");
}

#[test]
fn libraries_are_counted_after_a_restart() {
    let mut server = Server::start(&["--fsync", "always"]);
    server.connect().call(&["FUNCTION", "LOAD", &library("first", "one", 1)]);
    server.kill();
    server.restart();
    let mut client = server.connect();
    let began = Instant::now();
    loop {
        let reply = client.call(&["FUNCTION", "STATS"]).to_string();
        if reply.contains("\"libraries_count\", 1, \"functions_count\", 1") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{reply}");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(client.call(&["INFO", "memory"]).to_string().contains("number_of_functions:1"));
}

#[test]
fn all_workers_run_the_latest_library() {
    let server = Server::start(&["--threads", "2"]);
    let mut clients: Vec<Client> = (0..6).map(|_| server.connect()).collect();
    for answer in 0..20 {
        let loader = answer as usize % clients.len();
        let reply = clients[loader].call(&["FUNCTION", "LOAD", "REPLACE", &library("it", "answer", answer)]);
        assert_eq!(reply.to_string(), "\"it\"");
        for client in &mut clients {
            assert_eq!(client.call(&["FCALL", "answer", "0"]).to_string(), answer.to_string());
        }
    }
}

#[test]
fn a_long_function_does_not_run_for_the_rest_of_its_transaction() {
    let server = Server::start(ONE_WORKER);
    let mut client = server.connect();
    let code = "#!lua name=long\nredis.register_function('long', function() local n = 0 \
                for i = 1, 3000000 do n = n + i % 7 end return 1 end)";
    assert_eq!(client.call(&["FUNCTION", "LOAD", code]).to_string(), "\"long\"");
    client.call(&["MULTI"]);
    client.call(&["FCALL", "long", "0"]);
    client.call(&["FUNCTION", "STATS"]);
    let reply = client.call(&["EXEC"]).to_string();
    assert!(reply.starts_with("[1, [\"running_script\", null, "), "{reply}");
}

#[test]
fn a_long_function_reports_busy_and_can_be_killed() {
    const BUSY: &str = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
    let mut server = Server::start(ONE_WORKER);
    let (mut caller, mut other) = (server.connect(), server.connect());
    let code = "#!lua name=long\nredis.register_function('forever', function() while true do end end) \
                redis.register_function('writes', function() redis.call('set', 'half', 1) while true do end end)";
    assert_eq!(other.call(&["FUNCTION", "LOAD", code]).to_string(), "\"long\"");
    let wait = |other: &mut Client| {
        let began = Instant::now();
        while other.call(&["GET", "other"]).as_error() != Some(BUSY) {
            assert!(began.elapsed() < Duration::from_secs(20), "never busy");
            thread::sleep(Duration::from_millis(5));
        }
    };
    caller.send(&["FCALL", "forever", "1", "key", "word"]);
    wait(&mut other);
    assert_eq!(other.call(&["SCRIPT", "KILL"]).as_error(), Some(BUSY));
    assert_eq!(other.call(&["FUNCTION", "LIST"]).as_error(), Some(BUSY));
    assert_eq!(other.call(&["FCALL", "forever", "0"]).as_error(), Some(BUSY));
    let reply = other.call(&["FUNCTION", "STATS"]).to_string();
    let command =
        "\"name\", \"forever\", \"command\", [\"FCALL\", \"forever\", \"1\", \"key\", \"word\"], \"duration_ms\"";
    assert!(reply.contains(command), "{reply}");
    assert_eq!(other.call(&["FUNCTION", "KILL"]).to_string(), "OK");
    let reply = caller.reply().to_string();
    assert_eq!(reply, "!ERR Script killed by user with SCRIPT KILL... script: forever, on @user_function:2.");
    caller.send(&["FCALL_RO", "writes", "0"]);
    assert!(caller.reply().as_error().is_some_and(|text| text.starts_with("ERR Can not execute a script with write")));
    caller.send(&["FCALL", "writes", "0"]);
    wait(&mut other);
    assert!(other.call(&["FUNCTION", "KILL"]).as_error().is_some_and(|text| text.starts_with("UNKILLABLE ")));
    other.send(&["SHUTDOWN", "NOSAVE"]);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

fn text(text: &str) -> Value {
    Value::Bulk(text.into())
}

/// CLIENT PAUSE WRITE holds scripts without the flag no-writes; alone, in EXEC and as functions.
#[test]
fn client_pause_write_does_not_hold_read_only_scripts() {
    const READS: &str = "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])";
    const MAY_WRITE: &str = "return 1";
    let server = Server::start(&[]);
    let (mut reader, mut other) = (server.connect(), server.connect());
    let library = "#!lua name=l\nredis.register_function{function_name='f', callback=function() return 7 end, flags={'no-writes'}}";
    assert_eq!(other.call(&["FUNCTION", "LOAD", library]), text("l"));
    assert_eq!(other.call(&["SET", "key", "value"]).to_string(), "OK");
    assert_eq!(other.call(&["CLIENT", "PAUSE", "1000000", "WRITE"]).to_string(), "OK");
    assert_eq!(reader.call(&["EVAL", READS, "1", "key"]), text("value"));
    assert_eq!(reader.call(&["EVAL_RO", "return redis.call('GET', KEYS[1])", "1", "key"]), text("value"));
    assert_eq!(reader.call(&["FCALL", "f", "0"]), Value::Int(7));
    reader.call(&["MULTI"]);
    reader.call(&["EVAL", READS, "1", "key"]);
    assert_eq!(reader.call(&["EXEC"]), Value::Array(vec![text("value")]));

    let (mut alone, mut in_exec) = (server.connect(), server.connect());
    alone.send(&["EVAL", MAY_WRITE, "0"]);
    in_exec.call(&["MULTI"]);
    in_exec.call(&["EVAL", MAY_WRITE, "0"]);
    in_exec.send(&["EXEC"]);
    server.wait_for_info("blocked_clients", "2");
    other.call(&["CLIENT", "UNPAUSE"]);
    assert_eq!(alone.reply(), Value::Int(1));
    assert_eq!(in_exec.reply(), Value::Array(vec![Value::Int(1)]));
}

/// A reply has the entries of a table, not those of its metatable; and a set is sorted by bytes for a script.
#[test]
fn script_replies_ignore_metatables_and_sets_are_sorted() {
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    let asks = "return setmetatable({}, {__index = function() redis.call('SET', 'x', '1') end})";
    assert_eq!(client.call(&["EVAL", asks, "0"]), Value::Array(vec![]));
    assert_eq!(client.call(&["GET", "x"]), Value::Null);
    assert_eq!(server.info("rdb_changes_since_last_save"), "0");
    client.call(&["SADD", "set", "d", "a", "aa", "c", "b"]);
    let sorted = client.call(&["EVAL", "return redis.call('SORT', KEYS[1], 'BY', '_')", "1", "set"]);
    assert_eq!(sorted, Value::Array(["a", "aa", "b", "c", "d"].map(text).to_vec()));
    assert_eq!(server.info("rdb_changes_since_last_save"), "1");
}
