//! Live indexes: queries reply what the keys hold, whatever has happened to them.
//!
//! - the law over random steps: `law`
//! - queries while others write: `beside`
//! - the same on several threads: `threads`
//! - replies that wait until what they show is durable: `durability`
//! - a world whose queries are compared with its keys: `bench`
//! - what queries must reply: `twin`

mod bench;
mod beside;
mod durability;
mod law;
mod threads;
mod twin;

use bench::Bench;
use twin::{create, texts, words};
use wire::client::Value;

/// A bench with both indexes.
fn bench() -> Bench {
    let mut bench = Bench::new();
    ["all", "some"].iter().for_each(|table| drop(bench.call(&create(table))));
    bench
}

/// Returns the keys that a query of the index `all` finds, in order of their names.
fn found(bench: &mut Bench, query: &str) -> Vec<String> {
    let line = ["FT.SEARCH", "all", query, "NOCONTENT", "LIMIT", "0", "10000"].map(str::to_owned);
    let Value::Array(items) = bench.call(&line) else { panic!("{query} has an answer") };
    let mut keys = texts(&items[1..]);
    assert_eq!(items[0], Value::Int(keys.len() as i64));
    keys.sort();
    keys
}

#[test]
fn swapdb_exchanges_the_rows_and_keeps_the_indexes() {
    let mut bench = bench();
    bench.must("HSET p:1 n 5 t red");
    bench.call_beside(1, &words("HSET p:2 n 6 t red"));
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:1"]);
    bench.must("SWAPDB 0 1");
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:2"]);
    bench.must("HSET p:10 t red");
    bench.call_beside(1, &words("HSET p:11 t red"));
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:10", "p:2"]);
    bench.compare();
    bench.must("SWAPDB 1 0");
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:1", "p:11"]);
    bench.compare();
}

#[test]
fn two_exchanges_in_one_transaction_are_none() {
    let mut bench = bench();
    bench.must("HSET p:1 t red");
    let all = ["SWAPDB 0 1", "HSET p:2 t red", "SWAPDB 0 1", "HSET p:10 t red"].map(words);
    bench.transact(&all, true);
    assert_eq!(found(&mut bench, "*"), ["p:1", "p:10"]);
    bench.compare();
}

#[test]
fn flushing_database_0_removes_its_indexes_and_no_other_flush_does() {
    for flush in ["FLUSHDB", "FLUSHALL", "FLUSHDB ASYNC"] {
        let mut bench = bench();
        bench.must("HSET p:1 t red");
        bench.call_beside(1, &words("FLUSHDB"));
        assert_eq!(found(&mut bench, "*"), ["p:1"]);
        bench.must(flush);
        assert_eq!(bench.must("FT._LIST"), Value::Array(Vec::new()));
        bench.must("HSET p:2 t red");
        assert!(bench.call(&words("FT.SEARCH all *")).as_error().is_some());
        bench.call(&create("all"));
        assert_eq!(found(&mut bench, "*"), ["p:2"]);
        bench.compare();
    }
}

#[test]
fn an_index_that_is_flushed_and_declared_in_one_transaction_is_empty() {
    let mut bench = bench();
    bench.must("HSET p:1 t red");
    assert_eq!(found(&mut bench, "*"), ["p:1"]);
    bench.transact(&[words("FLUSHDB"), create("all"), words("HSET p:2 t red")], true);
    assert_eq!(found(&mut bench, "*"), ["p:2"]);
    bench.compare();
}

#[test]
fn a_row_renamed_to_another_shard_is_found_there_alone() {
    let mut bench = bench();
    let keyspace = &bench.world().engine.keyspace;
    let shard = |key: &str| keyspace::shard_of(keyspace.hash(key.as_bytes()));
    let there = ["p:1", "p:2", "p:10", "p:11"].into_iter().find(|key| shard(key) != shard("p:0")).unwrap();
    bench.must("HSET p:0 t red n 4");
    bench.must(&format!("HSET {there} t blue"));
    assert_eq!(found(&mut bench, "*").len(), 2);
    bench.must(&format!("RENAME p:0 {there}"));
    assert_eq!(found(&mut bench, "*"), [there]);
    assert_eq!(found(&mut bench, "@t:{red}"), [there]);
    assert!(found(&mut bench, "@t:{blue}").is_empty());
    // Out of the index, and back.
    bench.must(&format!("RENAME {there} r:0"));
    assert!(found(&mut bench, "*").is_empty());
    bench.must("RENAME r:0 p:0");
    assert_eq!(found(&mut bench, "@n:[4 4]"), ["p:0"]);
    bench.compare();
}

#[test]
fn a_restored_hash_is_a_row() {
    let mut bench = bench();
    bench.must("HSET r:0 t red n 4");
    bench.must("HSET p:1 t blue");
    bench.dump("r:0", "p:1");
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:1"]);
    assert!(found(&mut bench, "@t:{blue}").is_empty());
    bench.must("SET p:2 text");
    bench.dump("p:2", "p:1");
    assert!(found(&mut bench, "*").is_empty());
    bench.compare();
}

#[test]
fn expired_keys_are_not_found_before_they_are_removed() {
    let mut bench = bench();
    bench.must("HSET p:1 t red");
    bench.must("HSET p:2 t red");
    bench.must("PEXPIRE p:1 10");
    assert_eq!(found(&mut bench, "*"), ["p:1", "p:2"]);
    bench.pass(9);
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:1", "p:2"]);
    bench.pass(1);
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:2"]);
    assert_eq!(found(&mut bench, "*"), ["p:2"]);
    bench.compare();
    bench.expire();
    bench.compare();
    bench.must("HSET p:1 n 1");
    assert_eq!(found(&mut bench, "*"), ["p:1", "p:2"]);
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:2"]);
    bench.compare();
}

#[test]
fn expired_fields_are_not_found_before_they_are_removed() {
    let mut bench = bench();
    bench.must("HSET p:1 t red s abc");
    bench.must("HPEXPIRE p:1 10 FIELDS 1 t");
    assert_eq!(found(&mut bench, "@t:{red}"), ["p:1"]);
    bench.pass(10);
    assert!(found(&mut bench, "@t:{red}").is_empty());
    assert_eq!(found(&mut bench, "-@t:{red}"), ["p:1"]);
    bench.compare();
    bench.expire();
    bench.compare();
}

#[test]
fn a_hash_whose_fields_have_all_expired_is_no_row() {
    let mut bench = bench();
    bench.must("HSET p:1 t red o one");
    bench.must("HPEXPIRE p:1 10 FIELDS 2 t o");
    bench.pass(10);
    assert_eq!(bench.must("EXISTS p:1"), Value::Int(0));
    bench.compare();
    assert!(found(&mut bench, "*").is_empty());
    // A field beside those of the index brings it back.
    bench.must("HSET p:1 u 1");
    assert_eq!(found(&mut bench, "*"), ["p:1"]);
    bench.compare();
    // It also lives as long as one field that no index has.
    bench.must("HSET p:2 t red");
    bench.must("HPEXPIRE p:2 10 FIELDS 1 t");
    bench.must("HSET p:2 u 1");
    bench.pass(10);
    assert_eq!(found(&mut bench, "*"), ["p:1", "p:2"]);
    bench.compare();
}

#[test]
fn indexes_are_found_again_after_a_restart() {
    for (is_saved, meanwhile) in
        [(false, None), (true, None), (true, Some(["HSET p:2 t red", "HDEL p:1 t"].map(words)))]
    {
        let mut bench = bench();
        bench.must("HSET p:1 t red n 1");
        bench.must("HSET q:0 t red n 10");
        bench.must("FT.ALIASADD other some");
        bench.call(&twin::alter("all"));
        bench.restart(is_saved, meanwhile.as_ref().map(|all| &all[..]));
        bench.compare();
        let expected = if meanwhile.is_some() { "p:2" } else { "p:1" };
        assert_eq!(found(&mut bench, "@t:{red}"), [expected]);
        bench.must("FT.DROPINDEX some");
        bench.restart(is_saved, None);
        bench.compare();
    }
}

#[test]
fn a_query_in_multi_sees_the_writes_before_it() {
    let mut bench = bench();
    bench.must("HSET p:1 t red");
    bench.must("MULTI");
    for line in [
        "HSET p:2 t red",
        "FT.SEARCH all @t:{red} LIMIT 0 0",
        "DEL p:1",
        "FT.SEARCH all @t:{red} NOCONTENT",
        "FT.DELETEBY all @t:{red}",
        "FT.SEARCH all * NOCONTENT",
        "FT.DROPINDEX all",
        "FT.SEARCH all *",
    ] {
        assert_eq!(bench.call(&words(line)), Value::Simple("QUEUED".into()), "{line}");
    }
    let Value::Array(replies) = bench.must("EXEC") else { panic!("it is executed") };
    assert_eq!(replies[1], Value::Array(vec![Value::Int(2)]));
    assert_eq!(replies[3], Value::Array(vec![Value::Int(1), Value::bulk("p:2")]));
    assert_eq!(replies[4], Value::Int(1));
    assert_eq!(replies[5], Value::Array(vec![Value::Int(0)]));
    assert!(replies[7].as_error().is_some());
    assert_eq!(bench.must("EXISTS p:2"), Value::Int(0));
}

/// Adds so many rows with the tag `red`.
fn fill(bench: &mut Bench, rows: usize) {
    for at in 0..rows {
        bench.must(&format!("HSET p:{at} t red n {at}"));
    }
}

#[test]
fn deletions_of_more_than_a_thousand_rows_are_refused_in_multi() {
    let mut bench = bench();
    fill(&mut bench, 1001);
    let in_multi = |bench: &mut Bench| {
        bench.must("MULTI");
        bench.must("FT.DELETEBY all @t:{red}");
        let Value::Array(mut replies) = bench.must("EXEC") else { panic!("it is executed") };
        replies.remove(0)
    };
    assert!(in_multi(&mut bench).as_error().is_some());
    assert_eq!(found(&mut bench, "*").len(), 1001);
    bench.must("DEL p:1000");
    assert_eq!(in_multi(&mut bench), Value::Int(1000));
    assert!(found(&mut bench, "*").is_empty());
    fill(&mut bench, 1001);
    assert_eq!(bench.call(&["FT.DELETEBY", "all", "@n:[500 inf]"].map(str::to_owned)), Value::Int(501));
    assert_eq!(found(&mut bench, "*").len(), 500);
    bench.restart(false, None);
    assert_eq!(found(&mut bench, "*").len(), 500);
}

#[test]
fn dropping_an_index_with_its_hashes_leaves_what_it_does_not_have() {
    let mut bench = bench();
    for line in ["HSET p:10 n 4", "HSET p:11 n 1", "HSET q:0 n 9", "SET p:12 text", "HSET r:0 n 5"] {
        bench.must(line);
    }
    bench.must("FT.DROPINDEX some DD");
    assert_eq!(bench.must("EXISTS p:10 q:0"), Value::Int(0));
    assert_eq!(bench.must("EXISTS p:11 p:12 r:0"), Value::Int(3));
    bench.call(&words("FT.DROPINDEX some"));
    bench.compare();
}

/// Returns the records of a reply with a cursor, and its number.
fn records(reply: Value) -> (Vec<String>, u64) {
    let Value::Array(parts) = reply else { panic!("{reply:?} has no cursor") };
    let (Value::Array(items), Value::Int(cursor)) = (&parts[0], &parts[1]) else { panic!("{parts:?}") };
    let record = |item: &Value| match item {
        Value::Array(pair) => texts(pair).remove(1),
        _ => panic!("{item:?} is no record"),
    };
    (items[1..].iter().map(record).collect(), *cursor as u64)
}

const WITH_CURSOR: &str = "FT.AGGREGATE all * LOAD 1 @n WITHCURSOR COUNT 3";

#[test]
fn a_cursor_gives_each_row_of_its_moment_once() {
    let mut bench = bench();
    fill(&mut bench, 10);
    let (mut all, mut cursor) = records(bench.must(WITH_CURSOR));
    let mut pages = 1;
    while cursor != 0 {
        // Rows that change meanwhile are as they were.
        bench.must(&format!("HSET p:{} n 77", 10 - pages));
        bench.must(&format!("HSET p:new:{pages} n 99"));
        let (mut more, next) = records(bench.must(&format!("FT.CURSOR READ all {cursor}")));
        assert!(more.len() <= 3);
        all.append(&mut more);
        (cursor, pages) = (next, pages + 1);
    }
    assert!(pages >= 4);
    all.sort();
    assert_eq!(all, (0..10).map(|at| at.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_cursor_ends_when_deleted_or_unread_for_its_time() {
    let mut bench = bench();
    fill(&mut bench, 10);
    let (_, cursor) = records(bench.must(WITH_CURSOR));
    let read = words(&format!("FT.CURSOR READ all {cursor}"));
    bench.must(&format!("FT.CURSOR DEL all {cursor}"));
    assert!(bench.call(&read).as_error().is_some());
    let (_, cursor) = records(bench.must(&format!("{WITH_CURSOR} MAXIDLE 50")));
    let read = words(&format!("FT.CURSOR READ all {cursor} COUNT 1"));
    for _ in 0..3 {
        bench.pass(30);
        bench.index();
        let (page, _) = records(bench.call(&read));
        assert_eq!(page.len(), 1, "reading begins its time anew");
    }
    bench.pass(51);
    bench.index();
    assert!(bench.call(&read).as_error().is_some());
    // Another index' name finds none either.
    let (_, cursor) = records(bench.must(WITH_CURSOR));
    assert!(bench.call(&words(&format!("FT.CURSOR READ some {cursor}"))).as_error().is_some());
    bench.must(&format!("FT.CURSOR READ all {cursor}"));
}

#[test]
fn an_index_has_128_cursors_at_most() {
    let mut bench = bench();
    fill(&mut bench, 10);
    let mut cursors: Vec<u64> = (0..128).map(|_| records(bench.must(WITH_CURSOR)).1).collect();
    assert!(bench.call(&words(WITH_CURSOR)).as_error().is_some());
    bench.must(&format!("FT.CURSOR DEL all {}", cursors.remove(7)));
    cursors.push(records(bench.must(WITH_CURSOR)).1);
    cursors.sort_unstable();
    cursors.dedup();
    assert_eq!(cursors.len(), 128, "no two have one number");
}

#[test]
fn a_temporary_index_ends_with_its_hashes_once_nobody_uses_it() {
    let mut bench = Bench::new();
    bench.must("FT.CREATE brief TEMPORARY 10 PREFIX 1 tmp: SCHEMA t TAG");
    bench.must("HSET tmp:1 t red");
    for use_it in ["FT.SEARCH brief * LIMIT 0 0", "HSET tmp:2 t blue", "FT.TAGVALS brief t"] {
        bench.pass(6_000);
        bench.world().drop_unused_indexes();
        bench.must(use_it);
    }
    bench.pass(11_000);
    bench.world().drop_unused_indexes();
    assert_eq!(bench.must("EXISTS tmp:1 tmp:2"), Value::Int(0));
    assert_eq!(bench.must("FT._LIST"), Value::Array(Vec::new()));
}
