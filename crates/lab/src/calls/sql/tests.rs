//! Calls of SQL to a real MariaDB.

use super::*;
use crate::calls::plan::Calls;
use crate::scenario::PlaceholderValues;
use crate::server::Server;

const LIMIT: Duration = Duration::from_secs(120);
static NEVER: AtomicBool = AtomicBool::new(false);

fn plan(requests: u64, items: u64, calls: &str) -> CallPlan {
    let calls: Calls = toml::from_str(calls).unwrap();
    calls.resolve(PlaceholderValues { requests, items }, None).unwrap()
}

fn calls(server: &Server, requests: u64, items: u64, calls: &str) -> MeasuredCalls {
    super::super::run(plan(requests, items, calls), (server.protocol(), server.protocol_address()), LIMIT, &NEVER)
        .unwrap()
}

fn refused(server: &Server, calls: &str) -> String {
    run(plan(3, 10, calls), server.address(), LIMIT, &NEVER).err().unwrap_or_else(|| panic!("{calls}")).to_string()
}

#[test]
fn statements_that_may_be_refused_end_with_the_first_refusal() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    server.ask("create table once (k int primary key)").unwrap();
    let insert = "until_refused = true\nparties = [{ say = 'insert into once values (1)', connections = 2 }]";
    let measured = calls(&server, 10, 1, insert);
    assert_eq!(measured.calls, 1);
    let refusal = measured.refusal.unwrap();
    assert!(refusal.contains("Duplicate entry"), "{refusal}");
}

#[test]
fn rows_written_are_read_with_their_own_numbers() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    server.ask("create table kv (k char(16) primary key, v mediumblob)").unwrap();
    let put =
        "parties = [{ say = \"insert into kv values ('key:{next:12}', {payload})\", bytes = 10240, connections = 7 }]";
    let measured = calls(&server, 200, 200, put);
    assert_eq!((measured.calls, measured.latency_us.len(), measured.parties[0].0), (200, 200, 200));
    assert_eq!(measured.timeline.iter().map(|second| second.calls).sum::<u64>(), 200);
    assert_eq!(server.ask("select count(*), min(length(v)), max(length(v)) from kv").unwrap(), "200 10240 10240");
    assert_eq!(server.ask("select left(v, 12) from kv where k = 'key:000000000199'").unwrap(), "000000000199");

    let get = "parties = [{ say = \"select v from kv where k = 'key:{random:12}'\", connections = 5,
               expect = { own_bytes = 10240 } }]";
    assert_eq!(calls(&server, 300, 200, get).calls, 300);
    let missing = "parties = [{ say = \"select v from kv where k = 'key:{next:12}'\", connections = 5,
                   expect = 'found_or_nothing' }]";
    assert_eq!(calls(&server, 300, 300, missing).found_nothing, 100);
    let error = run(plan(300, 300, get), server.address(), LIMIT, &NEVER).err().unwrap().to_string();
    assert!(error.contains("was answered with 0 rows") && error.contains("begins with the call's number"), "{error}");
}

#[test]
fn statements_of_a_call_run_in_order() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    server.ask("create table t (k int primary key auto_increment, n bigint)").unwrap();
    let call = "parties = [{ say = 'insert into t (n) values ({next:12}) ; \
                update t set n = n + 1 where k = last_insert_id() ; \
                select n from t where k = last_insert_id() and n = {next:12} + 1', \
                connections = 1, expect = { elements = 1 }, \
                instead = [{ say = 'select 5', percent = 30, expect = { exactly = '5' } }] }]";
    assert_eq!(calls(&server, 100, 1_000_000, call).calls, 100);
    let inserted: u64 = server.ask("select count(*) from t").unwrap().parse().unwrap();
    assert!((1..100).contains(&inserted), "{inserted}");
}

#[test]
fn short_connections_are_counted_by_the_server() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    let connections = || -> u64 {
        let text = server.ask("show global status like 'Connections'").unwrap();
        text.split(' ').next_back().unwrap().parse().unwrap()
    };
    let before = connections();
    calls(
        &server,
        60,
        1,
        "parties = [{ say = 'select 1', connections = 4, expect = 'integer', calls_per_connection = 1 }]",
    );
    // One of them is that of the second question.
    assert_eq!(connections() - before, 61);
    calls(
        &server,
        60,
        1,
        "parties = [{ say = 'select 1', connections = 4, expect = 'integer', calls_per_connection = 60 }]",
    );
    calls(&server, 60, 1, "parties = [{ say = 'do 1', connections = 4 }]");
    assert!(connections() - before < 61 + 10);
}

#[test]
fn a_time_limit_ends_calls_that_then_count() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    let measured = calls(
        &server,
        0,
        1,
        "parties = [{ say = 'select sleep(2)', connections = 2, expect = 'integer' }]\nseconds = 1",
    );
    assert_eq!(measured.calls, 2);
    // Two connections with a call of two seconds each.
    assert!(measured.elapsed >= Duration::from_secs(2), "{:?}", measured.elapsed);
    let slow = "parties = [{ say = 'select sleep(0.2)', connections = 1, expect = 'integer' }]";
    let error = run(plan(1000, 1, slow), server.address(), Duration::from_millis(300), &NEVER).err().unwrap();
    assert!(error.to_string().contains("of 1000 calls in time"), "{error}");
    let stop = AtomicBool::new(true);
    assert_eq!(run(plan(1000, 1, slow), server.address(), LIMIT, &stop).unwrap().calls, 0);
}

#[test]
fn paced_calls_are_all_made() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    let paced = "parties = [{ say = 'select 1', connections = 3, expect = 'integer' },
                            { say = 'do 1', connections = 2 }]\npace_per_s = 400";
    let measured = calls(&server, 50, 1, paced);
    assert_eq!(measured.parties.iter().map(|(calls, _)| *calls).collect::<Vec<_>>(), [50, 50]);
    // The last call is not made before it is due.
    assert!(measured.elapsed >= Duration::from_micros(99 * 2500), "{:?}", measured.elapsed);
}

#[test]
fn replies_that_are_not_expected_are_refused() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    let party = |say: &str, expect: &str| {
        refused(&server, &format!("parties = [{{ say = \"{say}\", connections = 1, expect = {expect} }}]"))
    };
    for (say, expect, words) in [
        ("select 1", "'ok'", "expected success"),
        ("do 1", "'integer'", "expected an integer"),
        ("select 'x'", "'integer'", "expected an integer"),
        ("select null", "'integer'", "expected an integer"),
        ("select 12", "{ exactly = '1' }", "expected exactly `1`"),
        ("select seq from seq_1_to_99", "{ elements = 100 }", "99 rows"),
        ("select 'ab'", "{ bulk_bytes = 3 }", "a value of 3 bytes"),
        ("select 'abc' from seq_1_to_2", "{ bulk_bytes = 3 }", "a value of 3 bytes"),
        ("select rand() from seq_1_to_3", "{ same_elements = 3 }", "the same 3 elements"),
        ("select nothing", "'any'", "`select nothing`: ERROR 1054"),
        ("do 1", "'found_or_nothing'", "a value or nothing"),
    ] {
        let error = party(say, expect);
        assert!(error.contains(words), "{say}: {error}");
    }
    let same = "parties = [{ say = 'select seq from seq_1_to_3', connections = 2, expect = { same_elements = 3 } }]";
    assert_eq!(calls(&server, 20, 1, same).calls, 20);
    assert!(refused(&server, "parties = [{ say = 'do 1', connections = 1, bytes = 3 }]").contains("needs both"));
    assert!(refused(&server, "parties = [{ say = 'do {payload}', connections = 1 }]").contains("needs both"));
    assert!(refused(&server, "parties = [{ say = 'do 1', connections = 1, pipeline = 2 }]").contains("no pipelines"));
}

#[test]
fn a_consumer_waits_for_rows_of_a_producer() {
    let Some((_data, server)) = Server::of_adapter("lab::calls::sql", "mariadb") else { return };
    server.ask("create table q (id int primary key auto_increment, v varchar(300))").unwrap();
    let both = "parties = [{ say = 'insert into q (v) values ({payload})', bytes = 256, connections = 2 },
                           { say = 'delete from q order by id limit 1 returning v', connections = 2,
                             expect = { bulk_bytes = 256 } }]";
    assert_eq!(calls(&server, 100, 1, both).calls, 200);
    assert_eq!(server.ask("select count(*) from q").unwrap(), "0");
}
