//! Commands that search a big list while others change it: their effect is as if they had run alone, at their end. And queries
//! of an index that take too long.

use crate::support::{Client, World, read};
use base::instant::SetClock;
use engine::Next;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;
use wire::Output;

/// More content than is searched under a lock; each seventh element is `x`.
fn fill(client: &mut Client) -> Vec<String> {
    let items: Vec<String> =
        (0..20_000).map(|index| if index % 7 == 0 { "x".to_owned() } else { format!("{index:08}") }).collect();
    for part in items.chunks(1000) {
        client.call(&format!("RPUSH big {}", part.join(" ")));
    }
    items
}

/// Sends a request that searches off the lock, calls `meanwhile` between its turns, and returns the reply.
fn run_beside(client: &mut Client, line: &str, mut meanwhile: impl FnMut()) -> String {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&words, &mut output) else {
        panic!("{line}: it is to be searched off the lock")
    };
    {
        let mut running = pin!(client.session.run_slowly(slow, &client.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        meanwhile();
        while running.as_mut().poll(&mut context).is_pending() {
            meanwhile();
        }
    }
    read(output)
}

#[test]
fn a_query_without_timeout_has_that_of_the_setting() {
    let world = world();
    let mut client = world.client();
    client.call("FT.CREATE rows PREFIX 1 row: SCHEMA n NUMERIC");
    for row in 0..2000 {
        client.call(&format!("HSET row:{row} n {row}"));
    }
    // Each reading of the clock ends a turn, and each turn takes a millisecond.
    let query = |client: &mut Client| {
        let line = "FT.AGGREGATE rows * LOAD 1 @n GROUPBY 0 REDUCE SUM 1 @n AS sum";
        SetClock::ticking(Duration::from_millis(1)).rule(|| run_beside(client, line, || world.advance(1)))
    };
    let sum = "*2\r\n:1\r\n*2\r\n$3\r\nsum\r\n$7\r\n1999000\r\n";
    assert_eq!(query(&mut client), sum);
    assert_eq!(client.call("FT.CONFIG SET TIMEOUT 3"), "+OK\r\n");
    assert_eq!(client.call("CONFIG GET search-timeout"), "*2\r\n$14\r\nsearch-timeout\r\n$1\r\n3\r\n");
    assert_eq!(query(&mut client), "-Timeout limit was reached\r\n");
    let error = client.call("FT.CONFIG SET TIMEOUT soon");
    assert!(error.contains("search-timeout"), "{error}");
    assert_eq!(client.call("CONFIG SET search-timeout 0"), "+OK\r\n");
    assert_eq!(query(&mut client), sum);
}

fn elements(client: &mut Client) -> Vec<String> {
    let reply = client.call("LRANGE big 0 -1");
    reply.split("\r\n").skip(1).filter(|part| !part.is_empty() && !part.starts_with('$')).map(str::to_owned).collect()
}

/// Asserts that a reload from the journal alone gives the same list.
fn assert_durable(client: &mut Client) {
    let before = elements(client);
    assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    assert_eq!(elements(client), before);
}

fn world() -> World {
    World::of_workers(2, &[("enable-debug-command", "yes")])
}

#[test]
fn lrem_of_a_big_list_removes_the_counted_elements() {
    for (count, expected) in [(0, 2858), (5, 5), (-2000, 2000)] {
        let world = world();
        let mut client = world.client();
        let mut items = fill(&mut client);
        let reply = run_beside(&mut client, &format!("LREM big {count} x"), || {});
        assert_eq!(reply, format!(":{expected}\r\n"));
        let mut left = expected;
        if count < 0 {
            items.reverse();
        }
        items.retain(|item| {
            let goes = item == "x" && left > 0;
            left -= usize::from(goes);
            !goes
        });
        if count < 0 {
            items.reverse();
        }
        assert_eq!(elements(&mut client), items);
        assert_durable(&mut client);
    }
}

#[test]
fn lrem_is_atomic_beside_pushes_and_pops() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    let items = fill(&mut client);
    let mut count = items.iter().filter(|item| *item == "x").count();
    let mut popped = 0;
    let reply = run_beside(&mut client, "LREM big 0 x", || {
        other.call("RPUSH big x y x");
        other.call("LPUSH big z x");
        other.call("LSET big 9000 x");
        other.call("RPOP big");
        popped += 1;
        count = elements(&mut other).iter().filter(|item| *item == "x").count();
    });
    assert!(popped >= 2, "it was searched twice");
    assert_eq!(reply, format!(":{count}\r\n"));
    assert!(elements(&mut client).iter().all(|item| item != "x"));
    assert_durable(&mut client);
}

#[test]
fn linsert_finds_a_pivot_that_comes_and_goes() {
    let world = world();
    let (mut client, mut other) = (world.client_of(0), world.client_of(1));
    fill(&mut client);
    let mut turn = 0;
    let reply = run_beside(&mut client, "LINSERT big AFTER 00010001 new", || {
        turn += 1;
        match turn % 3 {
            0 => other.call("LREM big 1 00010001"),
            1 => other.call("LSET big 4000 00010001"),
            _ => other.call("RPUSH big 00010001"),
        };
    });
    let items = elements(&mut client);
    assert_eq!(reply, format!(":{}\r\n", items.len()));
    let pivot = items.iter().position(|item| item == "00010001").expect("it is pushed faster than removed");
    assert_eq!(items[pivot + 1], "new");
    assert_durable(&mut client);
}

#[test]
fn lrem_sees_a_key_deleted_or_retyped_meanwhile() {
    for (change, expected) in [("DEL big", ":0\r\n"), ("SET big text", "-WRONGTYPE"), ("LTRIM big 1 3", ":0\r\n")] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        fill(&mut client);
        let reply = run_beside(&mut client, "LREM big 0 x", || drop(other.call(change)));
        assert!(reply.starts_with(expected), "{change}: {reply}");
    }
}

#[test]
fn lrem_runs_beside_a_waiter_and_in_an_aborted_exec() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    let count = fill(&mut client).iter().filter(|item| *item == "x").count();
    // It waits for another key of the shard's hooks too, so records are read.
    let mut output = Output::new();
    let Next::Slow(slow) = other.send(&[b"BLPOP", b"none", b"0"], &mut output) else { panic!("nothing is there") };
    assert_eq!(run_beside(&mut client, "LREM big 0 x", || {}), format!(":{count}\r\n"));
    drop(slow);
    client.call("WATCH big");
    let mut third = world.client();
    third.call("RPUSH big x");
    client.call("MULTI");
    client.call("LREM big 0 x");
    assert_eq!(client.call("EXEC"), "*-1\r\n");
}

#[test]
fn exec_with_searches_is_atomic() {
    for changes in [false, true] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        fill(&mut client);
        client.call("MULTI");
        for line in [
            "LREM big 0 x",
            "LINSERT big BEFORE 00010001 x",
            "RPUSH big x",
            "LREM big -1 x",
            "LREM big 3 x",
            "LLEN big",
        ] {
            assert_eq!(client.call(line), "+QUEUED\r\n");
        }
        let mut before = elements(&mut other);
        let reply = run_beside(&mut client, "EXEC", || {
            if changes {
                other.call("LPUSH big x y x");
                before = elements(&mut other);
            }
        });
        let found = before.iter().filter(|item| *item == "x").count();
        let rest = before.len() - found;
        let expected = format!("*6\r\n:{found}\r\n:{}\r\n:{}\r\n:1\r\n:1\r\n:{rest}\r\n", rest + 1, rest + 2);
        assert_eq!(reply, expected);
        before.retain(|item| item != "x");
        assert_eq!(elements(&mut client), before);
        assert_durable(&mut client);
    }
}

/// Each attempt gives the database a new table: a list in it can never be searched off the lock.
#[test]
fn exec_searches_a_list_in_a_database_it_flushed() {
    let world = world();
    let mut client = world.client();
    fill(&mut client);
    let items: Vec<String> = (0..10_000).map(|index| format!("{index:08}")).collect();
    client.call("MULTI");
    client.call("FLUSHDB");
    client.call(&format!("RPUSH big {}", items.join(" ")));
    client.call("LREM big 0 00000007");
    client.call("LINSERT big BEFORE 00000008 new");
    let reply = run_beside(&mut client, "EXEC", || {});
    assert_eq!(reply, "*4\r\n+OK\r\n:10000\r\n:1\r\n:10000\r\n");
    assert_eq!(client.call("LRANGE big 6 8"), "*3\r\n$8\r\n00000006\r\n$3\r\nnew\r\n$8\r\n00000008\r\n");
    assert_durable(&mut client);
}

#[test]
fn exec_of_very_many_searches_ends_after_few_attempts() {
    let world = world();
    let mut client = world.client();
    fill(&mut client);
    client.call("MULTI");
    for index in 1..=300 {
        client.call(&format!("LREM big 1 {:08}", 7 * index + 1));
    }
    let mut turns = 0;
    let reply = run_beside(&mut client, "EXEC", || turns += 1);
    assert_eq!(reply, format!("*300\r\n{}", ":1\r\n".repeat(300)));
    assert!(turns < 100, "{turns} turns");
    assert_eq!(client.call("LLEN big"), ":19700\r\n");
    assert_durable(&mut client);
}

/// Two bitmaps of a megabyte.
fn fill_bits(client: &mut Client) {
    for (key, first) in [("a", 3), ("b", 5)] {
        for bit in 0..300 {
            client.call(&format!("SETBIT {key} {} 1", bit * 28_000 + first));
        }
    }
}

/// Asserts that `d` is the result of BITOP on `a` and `b`, and durable.
fn assert_mixed(client: &mut Client, operation: &str) {
    run_beside(client, &format!("BITOP {operation} again a b"), || {});
    assert_ne!(client.call("STRLEN d"), ":0\r\n");
    assert_eq!(client.call("STRLEN d"), client.call("STRLEN again"));
    run_beside(client, "BITOP XOR differ d again", || {});
    assert_eq!(counted(client, "differ"), ":0\r\n", "{operation}");
    let before = counted(client, "d");
    assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    assert_eq!(counted(client, "d"), before);
}

fn counted(client: &mut Client, key: &str) -> String {
    client.call(&format!("BITCOUNT {key}"))
}

#[test]
fn bitop_is_atomic_beside_changes_of_its_sources() {
    for operation in ["OR", "XOR", "AND", "DIFF", "ONE"] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        fill_bits(&mut client);
        let mut turns = 0;
        let reply = run_beside(&mut client, &format!("BITOP {operation} d a b"), || {
            turns += 1;
            other.call(&format!("SETBIT a {} 1", turns * 7_919));
            other.call(&format!("SETBIT b {} 0", turns * 28_000 + 5));
        });
        assert!(turns >= 2, "it was made twice");
        assert_eq!(reply, other.call("STRLEN a"));
        assert_mixed(&mut client, operation);
    }
}

#[test]
fn bitop_sees_sources_replaced_or_retyped_meanwhile() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    fill_bits(&mut client);
    let mut turns = 0;
    run_beside(&mut client, "BITOP OR d a b", || {
        turns += 1;
        match turns % 4 {
            0 => other.call("COPY b a REPLACE"),
            1 => other.call("SETRANGE a 1200000 longer"),
            2 => other.call("SET a short"),
            _ => other.call("DEL a"),
        };
    });
    assert_mixed(&mut client, "OR");
    let reply = run_beside(&mut client, "BITOP OR d a b", || {
        other.call("DEL a");
        other.call("RPUSH a x");
    });
    assert!(reply.starts_with("-WRONGTYPE"), "{reply}");
}

#[test]
fn bitop_writes_to_its_own_source_and_runs_in_exec() {
    let world = world();
    let mut client = world.client();
    fill_bits(&mut client);
    let length = client.call("STRLEN a");
    assert_eq!(run_beside(&mut client, "BITOP NOT a a", || {}), length);
    assert_eq!(client.call("GETBIT a 0"), ":1\r\n");
    client.call("WATCH a");
    for line in ["MULTI", "BITOP NOT a a", "BITOP XOR d a b", "BITOP OR d d b", "BITCOUNT d"] {
        client.call(line);
    }
    let reply = run_beside(&mut client, "EXEC", || {});
    assert_eq!(reply, format!("*4\r\n{length}{0}{0}:600\r\n", client.call("STRLEN b")));
}
