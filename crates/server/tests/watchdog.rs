//! The watchdog of the real binary: long turns and lock holds are logged while they last, and counted.

use crate::support::{Server, request};
use wire::client::Value;

/// So little that a transaction of some work is long on any machine.
const THRESHOLD: (&str, &str) = ("BOBBIN_TEST_WATCHDOG_MS", "10");
const ITEMS: usize = 6_000;
/// Searches of all items in one transaction, each too short to run on a clone: some 200 ms.
const SEARCHES: usize = 40_000;
/// The maximum number of tries: on a busy machine the watchdog may not run during the transaction.
const ROUNDS_MAX: usize = 100;

fn watched() -> Server {
    let mut server = Server::start(&[]);
    server.stop();
    server.restart_with(&[THRESHOLD]);
    server
}

#[test]
fn the_watchdog_names_a_long_transaction_without_its_arguments() {
    let server = watched();
    let mut client = server.connect();
    let items = (0..ITEMS).map(|item| format!("item:{item}"));
    client.call(&["RPUSH".to_owned(), "secret".to_owned()].into_iter().chain(items).collect::<Vec<_>>());
    assert_eq!(client.call(&["LLEN", "secret"]), Value::Int(ITEMS as i64));
    let searches = request(&["LPOS", "secret", "nowhere"]).repeat(SEARCHES);
    let transaction = [request(&["MULTI"]), searches, request(&["EXEC"])].concat();
    let named = |what: &str| {
        let log = server.log();
        log.lines().find(|line| line.contains(what) && line.ends_with(": EXEC")).map(str::to_owned)
    };
    for what in ["has been in one turn for ", "has held shard locks for "] {
        let line = (0..ROUNDS_MAX).find_map(|_| {
            client.send_bytes(&transaction);
            (0..SEARCHES + 2).for_each(|_| drop(client.reply()));
            named(what)
        });
        let line = line.unwrap_or_else(|| panic!("{what}: {}", server.log()));
        assert!(line.contains("worker 0 ") || line.contains("worker 1 "), "{line}");
        assert!(!line.contains("secret") && !line.contains("nowhere"), "{line}");
    }
    for field in ["watchdog_long_turns", "watchdog_long_lock_holds"] {
        assert_ne!(server.info(field), "0", "{field}");
    }
    for field in ["oldest_turn_us", "watchdog_long_journal_waits", "watchdog_long_gate_holds"] {
        assert!(server.info(field).parse::<u64>().is_ok(), "{field}");
    }
}

#[test]
fn the_watchdog_names_a_script_that_holds_locks() {
    let server = watched();
    let mut client = server.connect();
    client.send(&["EVAL", "redis.call('SET', KEYS[1], 'x') while true do end", "1", "secret"]);
    server.wait_for_log("runs a script that has held shard locks for ");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("runs a script that")).expect("it was waited for");
    assert!(line.ends_with(": EVAL") && !line.contains("secret"), "{line}");
}
