//! Queries while others write: a transaction is seen whole or not at all.

use super::bench::Bench;
use super::twin::{create, texts};
use crate::support::{Client, World, read};
use engine::Next;
use std::pin::pin;
use std::task::{Context, Waker};
use wire::Output;
use wire::client::{Parser, Value};

const ROWS: usize = 300;

/// Sends a query, and calls `meanwhile` with the number of the turn between its turns. Returns the reply.
fn run_beside(client: &mut Client, words: &[&str], mut meanwhile: impl FnMut(usize)) -> Value {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&words, &mut output) else { panic!("a query runs in turns") };
    {
        let mut running = pin!(client.session.run_slowly(slow, &client.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        let mut turn = 0;
        meanwhile(turn);
        while running.as_mut().poll(&mut context).is_pending() {
            turn += 1;
            meanwhile(turn);
        }
    }
    let mut parser = Parser::new();
    parser.feed(read(output).as_bytes());
    parser.next_value().unwrap().unwrap()
}

/// Gives all rows one tag, in one transaction.
fn paint(client: &mut Client, tag: &str) {
    client.call("MULTI");
    (0..ROWS).for_each(|at| drop(client.call(&format!("HSET p:{at} t {tag} n {at}"))));
    assert!(client.call("EXEC").starts_with('*'));
}

fn total(reply: &Value) -> i64 {
    match reply {
        Value::Array(items) => match items[0] {
            Value::Int(total) => total,
            _ => panic!("{items:?} begin with no number"),
        },
        _ => panic!("{reply:?} is no answer"),
    }
}

#[test]
fn a_transaction_of_another_worker_is_seen_whole() {
    let world = World::of_workers(2, &[]);
    let (mut reader, mut writer) = (world.client_of(0), world.client_of(1));
    reader.call_bytes(&create("all").iter().map(String::as_bytes).collect::<Vec<_>>());
    paint(&mut writer, "red");
    let mut seen = [0, 0];
    for round in 0..20 {
        let query = ["FT.SEARCH", "all", "@t:{red}", "LIMIT", "0", "1000"];
        let reply = run_beside(&mut reader, &query, |turn| {
            // Each time at another turn of the query, and back at once in some rounds.
            if turn == round {
                paint(&mut writer, "blue");
            }
            if turn == round + 1 && round % 3 == 0 {
                paint(&mut writer, "red");
            }
        });
        let count = total(&reply);
        assert!(count == 0 || count == ROWS as i64, "{count} of {ROWS} rows are red");
        seen[usize::from(count == 0)] += 1;
        let Value::Array(items) = &reply else { panic!("it is an answer") };
        for fields in items[1..].iter().skip(1).step_by(2) {
            let Value::Array(fields) = fields else { panic!("{fields:?} are no fields") };
            assert_eq!(texts(&fields[..2]), ["t", "red"], "a row shows what it was found by");
        }
        paint(&mut writer, "red");
    }
    assert!(seen[0] > 0, "some saw the rows before");
}

#[test]
fn an_index_that_is_being_built_sees_transactions_whole() {
    for round in 0..12 {
        let world = World::of_workers(2, &[]);
        let (mut reader, mut writer) = (world.client_of(0), world.client_of(1));
        paint(&mut writer, "red");
        reader.call_bytes(&create("all").iter().map(String::as_bytes).collect::<Vec<_>>());
        let mut painted = 0;
        let query = ["FT.SEARCH", "all", "@t:{red}", "LIMIT", "0", "0"];
        let reply = run_beside(&mut reader, &query, |turn| {
            if turn >= round && turn % 2 == 1 && painted < 5 {
                painted += 1;
                paint(&mut writer, if painted % 2 == 1 { "blue" } else { "red" });
            }
        });
        let count = total(&reply);
        assert!(count == 0 || count == ROWS as i64, "{count} of {ROWS} rows are red");
    }
}

#[test]
fn a_query_ends_however_much_is_written() {
    let world = World::of_workers(2, &[]);
    let (mut reader, mut writer) = (world.client_of(0), world.client_of(1));
    reader.call_bytes(&create("all").iter().map(String::as_bytes).collect::<Vec<_>>());
    paint(&mut writer, "red");
    reader.call("FT.SEARCH all *");
    for round in 0..10 {
        let query = ["FT.SEARCH", "all", "*", "LIMIT", "0", "0"];
        let reply = run_beside(&mut reader, &query, |turn| {
            assert!(turn < 100, "round {round}: the query does not end");
            paint(&mut writer, "red");
        });
        assert_eq!(total(&reply), ROWS as i64);
    }
}

#[test]
fn a_query_whose_index_is_replaced_is_answered_by_its_successor() {
    for change in ["FT.ALTER all SCHEMA ADD y NUMERIC", "SWAPDB 0 1"] {
        for replaced_at in 0..4 {
            let world = World::of_workers(2, &[]);
            let (mut reader, mut writer) = (world.client_of(0), world.client_of(1));
            paint(&mut writer, "red");
            reader.call_bytes(&create("all").iter().map(String::as_bytes).collect::<Vec<_>>());
            reader.call("FT.SEARCH all *");
            let reply = run_beside(&mut reader, &["FT.SEARCH", "all", "*", "LIMIT", "0", "1000"], |turn| {
                if turn == replaced_at {
                    writer.call(change);
                    paint(&mut writer, "blue");
                }
            });
            let Value::Array(items) = &reply else { panic!("{change} at turn {replaced_at}: {reply:?}") };
            assert_eq!(items.len(), 1 + 2 * ROWS, "{change} at turn {replaced_at}");
        }
    }
}

#[test]
fn a_query_whose_index_is_replaced_while_it_is_built_sees_transactions_whole() {
    for round in 0..16 {
        let world = World::of_workers(2, &[]);
        let (mut reader, mut writer) = (world.client_of(0), world.client_of(1));
        paint(&mut writer, "red");
        reader.call_bytes(&create("all").iter().map(String::as_bytes).collect::<Vec<_>>());
        let query = ["FT.SEARCH", "all", "@t:{red}", "LIMIT", "0", "0"];
        let reply = run_beside(&mut reader, &query, |turn| {
            if turn == round {
                writer.call("FT.ALTER all SCHEMA ADD y NUMERIC");
                paint(&mut writer, "blue");
            }
        });
        let count = total(&reply);
        assert!(count == 0 || count == ROWS as i64, "replaced at turn {round}: {count} of {ROWS} rows are red");
    }
}

/// Adds long values and no query. Returns the number of writes that ran at once, between two that helped.
#[test]
fn writers_help_when_many_rows_wait() {
    let mut bench = Bench::new();
    bench.call(&create("all"));
    // The index is open once it was used.
    bench.compare();
    let (mut at_once, mut most, mut helped) = (0, 0, 0);
    for at in 0..2_000 {
        let (key, value) = (format!("p:{at}"), format!("{:01000}", at));
        let mut output = Output::new();
        match bench.client.send(&[b"HSET", key.as_bytes(), b"s", value.as_bytes()], &mut output) {
            Next::Slow(slow) => {
                let mut running = pin!(bench.client.session.run_slowly(slow, &bench.client.input, &mut output));
                let mut context = Context::from_waker(Waker::noop());
                while running.as_mut().poll(&mut context).is_pending() {}
                (helped, at_once) = (helped + 1, 0);
            }
            _ => at_once += 1,
        }
        most = most.max(at_once);
    }
    // A row counts for more than its value, and 128 KiB may wait.
    assert!(most <= 130, "{most} rows of 1,000 bytes wait");
    assert!(helped >= 2_000 / 131, "{helped} writers helped");
}
