//! INFO TIME ROLE CONFIG SLOWLOG MEMORY STATS BGSAVE LASTSAVE SHUTDOWN DEBUG SET-ACTIVE-EXPIRE.

use crate::fake::Fake;
use commands::{MemoryFigures, SlowEntry, shutdown_arguments, sleep_ms};
use wire::OwnedRequest;

#[test]
fn info_passes_its_sections_on() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("INFO"), "\"\"");
    assert_eq!(fake.call("INFO Server CLIENTS"), "\"server+clients\"");
    assert_eq!(fake.call3("INFO everything"), "txt:\"everything\"");
}

#[test]
fn time_and_role() {
    let mut fake = Fake { now_us: 1_795_235_264_000_654, ..Fake::new() };
    assert_eq!(fake.call("TIME"), "[\"1795235264\", \"654\"]");
    assert_eq!(fake.call("ROLE"), "[\"master\", 0, []]");
}

#[test]
fn config() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("CONFIG GET a b"), "[\"a\", \"1\", \"b\", \"1\"]");
    assert_eq!(fake.call3("CONFIG GET a"), "{\"a\": \"1\"}");
    assert_eq!(fake.call("CONFIG SET a 1 b 2"), "OK");
    assert_eq!(fake.call("CONFIG SET a 1 b"), "!ERR syntax error");
    assert_eq!(fake.call("CONFIG REWRITE"), "OK");
    assert_eq!(fake.call("CONFIG RESETSTAT"), "OK");
    assert_eq!(fake.asked, ["set a 1", "set b 2", "resetstat"]);
    fake.refusal = Some("ERR The server is running without a config file");
    assert_eq!(fake.call("CONFIG REWRITE"), "!ERR The server is running without a config file");
    assert_eq!(fake.call("CONFIG SET a 1"), "!ERR The server is running without a config file");
}

#[test]
fn slowlog() {
    let entry = |id| SlowEntry {
        id,
        at_s: 100,
        took_us: 12_000,
        arguments: vec![b"GET".to_vec(), b"k".to_vec()],
        address: "127.0.0.1:5".to_owned(),
        name: "me".to_owned(),
    };
    let mut fake = Fake { slow: (0..12).rev().map(entry).collect(), ..Fake::new() };
    assert_eq!(fake.call("SLOWLOG GET 1"), "[[11, 100, 12000, [\"GET\", \"k\"], \"127.0.0.1:5\", \"me\"]]");
    assert_eq!(fake.call("SLOWLOG GET").matches("GET").count(), 10);
    assert_eq!(fake.call("SLOWLOG GET -1").matches("GET").count(), 12);
    assert_eq!(fake.call("SLOWLOG GET 0"), "[]");
    assert_eq!(fake.call("SLOWLOG LEN"), "12");
    assert_eq!(fake.call("SLOWLOG RESET"), "OK");
    assert_eq!(fake.call("SLOWLOG LEN"), "0");
    for request in ["SLOWLOG GET -2", "SLOWLOG GET x"] {
        assert_eq!(fake.call(request), "!ERR count should be greater than or equal to -1", "{request}");
    }
    assert_eq!(
        fake.call("SLOWLOG GET 1 2"),
        "!ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."
    );
}

#[test]
fn memory_stats() {
    let figures = MemoryFigures {
        peak_bytes: 400,
        total_bytes: 300,
        startup_bytes: 100,
        clients_bytes: 10,
        dataset_bytes: 150,
        resident_bytes: 600,
        databases: vec![(0, 4, 1)],
        keys_count: 4,
    };
    let mut fake = Fake { figures, ..Fake::new() };
    let stats = fake.call3("MEMORY STATS");
    for part in [
        "\"peak.allocated\": 400",
        "\"total.allocated\": 300",
        "\"startup.allocated\": 100",
        "\"clients.normal\": 10",
        "\"overhead.total\": 150",
        "\"keys.count\": 4",
        "\"keys.bytes-per-key\": 50",
        "\"dataset.bytes\": 150",
        "\"dataset.percentage\": ,75",
        "\"peak.percentage\": ,75",
        "\"fragmentation\": ,2",
        "\"fragmentation.bytes\": 300",
        "\"db.0\": {\"keys.count\": 4, \"expires.count\": 1}",
    ] {
        assert!(stats.contains(part), "{part} in {stats}");
    }
    fake.figures = MemoryFigures::default();
    assert!(fake.call("MEMORY STATS").contains("\"keys.bytes-per-key\", 0"));
}

#[test]
fn checkpoints_begin() {
    for (request, answer) in [
        ("BGSAVE", "Background saving started"),
        ("BGSAVE SCHEDULE", "Background saving scheduled"),
        ("BGREWRITEAOF", "Background append only file rewriting started"),
    ] {
        let mut fake = Fake::new();
        assert_eq!(fake.call(request), answer);
        assert_eq!(fake.asked, ["checkpoint"], "{request}");
        assert_eq!(fake.call(request), "!ERR Background save already in progress", "{request}");
    }
    let mut fake = Fake::new();
    assert_eq!(fake.call("BGSAVE NOW"), "!ERR syntax error");
    assert_eq!(fake.call("LASTSAVE"), "1700000000");
}

#[test]
fn active_expire() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("DEBUG SET-ACTIVE-EXPIRE 0"), "OK");
    assert_eq!(fake.call("DEBUG SET-ACTIVE-EXPIRE 1"), "OK");
    assert_eq!(fake.asked, ["active expire false", "active expire true"]);
    assert_eq!(fake.call("DEBUG SET-ACTIVE-EXPIRE x"), "!ERR value is not an integer or out of range");
}

fn owned(request: &str) -> OwnedRequest {
    OwnedRequest::of(&request.split(' ').collect::<Vec<_>>())
}

#[test]
fn shutdown_arguments_are_checked() {
    let shutdown = |request| shutdown_arguments(&owned(request).args()).map_err(|failure| failure.to_string());
    for request in ["SHUTDOWN", "SHUTDOWN nosave", "SHUTDOWN SAVE NOW FORCE"] {
        assert_eq!(shutdown(request), Ok(()), "{request}");
    }
    for request in ["SHUTDOWN FOO", "SHUTDOWN SAVE NOSAVE", "SHUTDOWN ABORT NOW"] {
        assert_eq!(shutdown(request), Err("ERR syntax error".to_owned()), "{request}");
    }
    assert_eq!(shutdown("SHUTDOWN ABORT"), Err("ERR No shutdown in progress.".to_owned()));
}

#[test]
fn sleep_arguments_are_checked() {
    let sleep = |request| sleep_ms(&owned(request).args()).map_err(|failure| failure.to_string());
    assert_eq!(sleep("DEBUG SLEEP 0"), Ok(0));
    assert_eq!(sleep("DEBUG SLEEP 1.5"), Ok(1_500));
    for request in ["DEBUG SLEEP x", "DEBUG SLEEP -1", "DEBUG SLEEP nan", "DEBUG SLEEP inf"] {
        assert!(sleep(request).is_err(), "{request}");
    }
}
