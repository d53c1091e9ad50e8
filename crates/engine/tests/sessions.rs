//! Sessions without sockets, over a journal on a disk in memory and a clock that the test moves.

use crate::support::{Client, World, block_on, read};
use base::instant::SetClock;
use engine::{ExpireCycle, Next};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;
use wire::Output;

#[test]
fn incrbyfloat_prints_a_huge_number_in_full() {
    let mut client = World::new(&[]).client();
    let reply = client.call("INCRBYFLOAT number 1e4000");
    assert!(reply.starts_with("$4001\r\n1000"), "{reply}");
}

#[test]
fn flushall_of_many_databases_fits_in_the_journal() {
    let mut client = World::new(&[("databases", "5000")]).client();
    client.call("SET key value");
    assert_eq!(client.call("FLUSHALL"), "+OK\r\n");
    assert_eq!(client.call("GET key"), "$-1\r\n");
}

#[test]
fn commands_in_exec_keep_their_own_journal_room() {
    let world = World::new(&[]);
    let mut client = world.client();
    let value = "x".repeat(10_000);
    for name in ["a", "b", "c", "d"] {
        client.call(&format!("SET {name} {value}"));
    }
    client.call("MULTI");
    for name in ["a", "b", "c", "d"] {
        client.call(&format!("RENAME {name} {name}{name}"));
        client.call(&format!("SET {name} {}", "y".repeat(5_000)));
    }
    assert_eq!(client.call("EXEC"), format!("*8\r\n{}", "+OK\r\n".repeat(8)));
    assert_eq!(client.call("STRLEN dd"), ":10000\r\n");
    assert_eq!(client.call("STRLEN d"), ":5000\r\n");
}

#[test]
fn long_strings_in_exec_are_set_in_order() {
    // A string that is split in one turn, and one that is split in steps.
    for count in [300_000, 3_000_000] {
        long_texts_in_exec(&World::new(&[]), count);
    }
}

fn long_texts_in_exec(world: &World, count: usize) {
    let (mut client, mut other) = (world.client(), world.client());
    let [long, longer] = [("x", 30_000), ("y", count)].map(|(sign, count)| sign.repeat(count));
    client.call(&format!("SET a {long}"));
    client.call("MULTI");
    client.call(&format!("SET b {longer}"));
    client.call("RENAME b c");
    client.call(&format!("MSET a {longer} b {long}"));
    client.call("APPEND a !");
    client.call("SETRANGE c 5 --");
    let lengths = format!(":{}\r\n:{count}\r\n", count + 1);
    assert_eq!(client.call("EXEC"), format!("*5\r\n+OK\r\n+OK\r\n+OK\r\n{lengths}"));
    assert_eq!(other.call("GETRANGE a -3 -1"), "$3\r\nyy!\r\n");
    assert_eq!(other.call("GETRANGE c 4 8"), "$5\r\ny--yy\r\n");
    assert_eq!(other.call("GET b"), format!("$30000\r\n{long}\r\n"));
}

#[test]
fn hello_in_a_retried_exec_affects_only_later_replies() {
    let world = World::new(&[]);
    let mut client = world.client();
    client.call(&format!("SET a {}", "x".repeat(10_000)));
    for line in ["MULTI", "GET none", "HELLO 3", "GET none", "RENAME a b"] {
        client.call(line);
    }
    let reply = client.call("EXEC");
    assert!(reply.starts_with("*4\r\n$-1\r\n%"), "{reply}");
    assert!(reply.ends_with("\r\n_\r\n+OK\r\n"), "{reply}");
}

#[test]
fn a_pipeline_on_one_key_equals_its_requests_alone() {
    let between = [
        "LRANGE k 0 -1",
        "SET other 1",
        "GET k",
        "LPOP k",
        "SADD k x",
        "BLPOP k 1",
        "BLMOVE k j LEFT RIGHT 1",
        "RENAME k j",
        "RENAME j k",
        "COPY k i",
        "SORT k",
        "MULTI",
        "RPUSH k in",
        "EXEC",
        "WATCH k",
        "UNWATCH",
        "DBSIZE",
        "KEYS *",
        "SCAN 0",
        "MGET k other",
        "MSET other 2 third 3",
        "DEL k",
        "EXPIRE k 100",
        "PERSIST k",
        "OBJECT ENCODING k",
        "SWAPDB 0 1",
        "SELECT 1",
        "SELECT 0",
        "DUMP none",
        "SCRIPT FLUSH",
        "EVAL return{redis.call('rpush',KEYS[1],1),redis.call('dbsize')} 1 k",
        "EVAL return(redis.call('rpush','k',7)) 0",
        "PUBLISH c m",
        "FLUSHALL",
        "HELLO 3",
        "CLIENT REPLY SKIP",
        "NONE",
        "RPUSH k",
    ];
    for lines_between in [2] {
        for between in between {
            let mut lines = vec!["RPUSH k a"; 5];
            (0..lines_between).for_each(|_| lines.extend([between, "RPUSH k b", "LPUSH k c"]));
            lines.extend(["LRANGE k 0 -1", "EXEC", "LLEN k"]);
            let world = World::new(&[]);
            let mut alone = world.client();
            let expected: String = lines.iter().map(|line| alone.call(line)).collect();
            let world = World::new(&[]);
            let (mut client, mut other) = (world.client(), world.client());
            assert_eq!(client.call_all(&lines), expected, "{lines:?}");
            assert!(other.call("LPUSH k d").starts_with([':', '-']), "it is let go after {lines:?}");
        }
    }
}

#[test]
fn a_waiter_is_served_amid_a_pipeline() {
    let world = World::new(&[]);
    let (mut waiting, mut client) = (world.client(), world.client());
    let mut output = Output::new();
    let Next::Slow(slow) = waiting.send(&[b"BLPOP", b"k", b"0"], &mut output) else { panic!("it waits") };
    {
        let mut run = pin!(waiting.session.run_slowly(slow, &waiting.input, &mut output));
        assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(client.call_all(&["LPOP k"; 3]), "$-1\r\n".repeat(3));
        assert_eq!(client.call_all(&["RPUSH k a", "RPUSH k b", "RPUSH k c", "LLEN k"]), ":1\r\n:1\r\n:2\r\n:2\r\n");
        assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
    assert_eq!(read(output), "*2\r\n$1\r\nk\r\n$1\r\na\r\n");
}

#[test]
fn rpoplpush_replaces_an_expired_destination_list() {
    let world = World::new(&[]);
    let mut client = world.client();
    let target = "t".repeat(500);
    client.call(&format!("RPUSH source {}", "x".repeat(5_000)));
    client.call(&format!("RPUSH {target} old"));
    client.call(&format!("PEXPIRE {target} 1"));
    world.advance(2);
    assert!(client.call(&format!("RPOPLPUSH source {target}")).starts_with("$5000\r\n"));
    assert_eq!(client.call(&format!("LLEN {target}")), ":1\r\n");
}

#[test]
fn a_client_gone_before_its_wait_begins_is_not_served() {
    let world = World::new(&[]);
    let (mut blocked, mut pusher) = (world.client(), world.client());
    let next = blocked.send(&[b"BLPOP", b"queue", b"0"], &mut Output::new());
    assert!(matches!(next, Next::Slow(_)));
    drop(next);
    assert_eq!(pusher.call("RPUSH queue element"), ":1\r\n");
    assert_eq!(pusher.call("LLEN queue"), ":1\r\n");
}

#[test]
fn a_delayed_command_waits_for_a_pause_begun_meanwhile() {
    let world = World::new(&[]);
    let (mut writer, mut other) = (world.client(), world.client());
    let paused = writer.client_slow(&world);
    assert_eq!(other.call("CLIENT PAUSE 50 WRITE"), "+OK\r\n");
    let mut output = Output::new();
    let mut running = Box::pin(writer.session.run_slowly(paused, &writer.input, &mut output));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10 {
        assert!(running.as_mut().poll(&mut context).is_pending());
    }
    world.advance(51);
    block_on(running);
    assert_eq!(read(output), "+OK\r\n");
}

#[test]
fn waiters_for_another_type_are_skipped_and_keep_their_position() {
    let world = World::new(&[]);
    let (mut list, mut sorted, mut writer) = (world.client(), world.client(), world.client());
    let (mut list_output, mut sorted_output) = (Output::new(), Output::new());
    let mut context = Context::from_waker(Waker::noop());
    let Next::Slow(slow) = list.send(&[b"BLPOP", b"k", b"0"], &mut list_output) else { panic!("nothing is there") };
    let mut list_wait = Box::pin(list.session.run_slowly(slow, &list.input, &mut list_output));
    assert!(list_wait.as_mut().poll(&mut context).is_pending());
    let Next::Slow(slow) = sorted.send(&[b"BZPOPMAX", b"k", b"0"], &mut sorted_output) else { panic!("likewise") };
    let mut sorted_wait = Box::pin(sorted.session.run_slowly(slow, &sorted.input, &mut sorted_output));
    assert!(sorted_wait.as_mut().poll(&mut context).is_pending());
    assert_eq!(writer.call("ZADD k 1 low 2 high"), ":2\r\n");
    assert!(sorted_wait.as_mut().poll(&mut context).is_ready());
    assert!(list_wait.as_mut().poll(&mut context).is_pending());
    assert_eq!(writer.call("ZPOPMAX k"), "*2\r\n$3\r\nlow\r\n$1\r\n1\r\n");
    assert_eq!(writer.call("RPUSH k item"), ":1\r\n");
    assert!(list_wait.as_mut().poll(&mut context).is_ready());
    drop((list_wait, sorted_wait));
    assert_eq!(read(sorted_output), "*3\r\n$1\r\nk\r\n$4\r\nhigh\r\n$1\r\n2\r\n");
    assert_eq!(read(list_output), "*2\r\n$1\r\nk\r\n$4\r\nitem\r\n");
}

impl Client {
    /// A write that cannot run at once.
    fn client_slow(&mut self, world: &World) -> Box<engine::Slow> {
        let keyspace = &world.engine.keyspace;
        let _held = keyspace.shard(keyspace::shard_of(keyspace.hash(b"key"))).try_write().unwrap();
        match self.send(&[b"SET", b"key", b"value"], &mut Output::new()) {
            Next::Slow(slow) => slow,
            _ => panic!("its shard was held"),
        }
    }
}

#[test]
fn the_queue_of_multi_is_bounded() {
    let world = World::new(&[("client-query-buffer-limit", "1mb")]);
    let mut client = world.client();
    client.call("MULTI");
    let line = format!("SET key {}", "x".repeat(300_000));
    for _ in 0..3 {
        assert_eq!(client.call(&line), "+QUEUED\r\n");
    }
    assert!(client.call(&line).starts_with("-ERR the transaction"));
    assert!(client.session.is_closing());
}

#[test]
fn expired_keys_beyond_one_pass_go_with_the_next() {
    let world = World::new(&[]);
    let mut client = world.client();
    let keyspace = &world.engine.keyspace;
    let shard_of = |key: &str| keyspace::shard_of(keyspace.hash(key.as_bytes()));
    let long = |at: usize| format!("{at}{}", "k".repeat(70_000));
    let first = shard_of(&long(0));
    let keys: Vec<String> = (0..).map(long).filter(|key| shard_of(key) == first).take(4).collect();
    for key in &keys {
        client.call(&format!("SET {key} value PX 1"));
    }
    world.advance(5_000);
    let mut expire_cycle = ExpireCycle::new(world.engine.clone());
    while expire_cycle.pass() {}
    assert_eq!(world.engine.sums().databases[0].keys, 0);
}

#[test]
fn latency_records_a_long_expire_cycle() {
    let world = World::new(&[("latency-monitor-threshold", "2")]);
    let mut client = world.client();
    let mut expire_after = |step: Duration| {
        client.call("SET key value PX 1");
        world.advance(5_000);
        let mut expire_cycle = ExpireCycle::new(world.engine.clone());
        SetClock::ticking(step).rule(|| expire_cycle.pass());
        assert_eq!(world.engine.sums().databases[0].keys, 0);
        client.call("LATENCY HISTORY expire-cycle")
    };
    assert_eq!(expire_after(Duration::ZERO), "*0\r\n");
    let history = expire_after(Duration::from_millis(2));
    assert!(history.starts_with("*1\r\n*2\r\n:"), "{history}");
    let latest = client.call("LATENCY LATEST");
    assert!(latest.contains("$12\r\nexpire-cycle\r\n"), "{latest}");
}

#[test]
fn a_deadline_survives_an_abandoned_transaction() {
    let world = World::new(&[]);
    let mut client = world.client();
    for _ in 0..6 {
        client.call(&format!("APPEND long {}", "v".repeat(60_000)));
    }
    client.call("RPUSH k a");
    // As many expiry hints as are kept before they are rebuilt.
    (0..66).for_each(|_| drop(client.call("EXPIRE k 1000")));
    client.call("MULTI");
    client.call("RPUSH k x");
    client.call("COPY long longer");
    client.call("EXEC");
    assert_eq!(client.call("LLEN k"), ":2\r\n");
    world.advance(2_000_000);
    let mut expire_cycle = ExpireCycle::new(world.engine.clone());
    while expire_cycle.pass() {}
    assert_eq!(world.engine.sums().databases[0].expiring, 0, "no key with a deadline is left");
}

#[test]
fn flush_and_swap_mark_watches_only_of_existing_keys() {
    let world = World::new(&[]);
    let (mut watcher, mut other) = (world.client(), world.client());
    other.call("SET here value");
    let mut is_marked = |keys: &str, change: &str| {
        watcher.call(&format!("WATCH {keys}"));
        assert_eq!(other.call(change), "+OK\r\n");
        watcher.call("MULTI");
        watcher.call("PING");
        watcher.call("EXEC") == "*-1\r\n"
    };
    assert!(!is_marked("absent", "FLUSHDB"));
    assert!(!is_marked("here", "FLUSHALL"), "an earlier flush has removed it");
    assert!(!is_marked("here", "SET else value"));
    assert!(is_marked("else", "SWAPDB 0 1"));
    assert!(is_marked("else", "SWAPDB 0 1"), "it comes back");
    assert!(!is_marked("here absent", "SWAPDB 0 1"));
    assert!(!is_marked("else", "FLUSHDB"), "it lies in the other database");
    assert!(is_marked("else", "SWAPDB 0 1"));
    assert!(is_marked("absent else", "FLUSHALL"));
    let mut third = world.client();
    third.call("SELECT 1");
    third.call("SET namesake value");
    assert!(!is_marked("namesake", "FLUSHALL"), "it was there in another database alone");
}

#[test]
fn a_failed_reload_leaves_all_keys_unchanged() {
    let world = World::new(&[("enable-debug-command", "yes")]);
    let mut client = world.client();
    client.call("SET key value");
    client.call("RPUSH list a b c");
    assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    client.call("RPUSH list d");
    world.disk.fail_next_read();
    let reply = client.call("DEBUG RELOAD");
    assert!(reply.starts_with("-ERR the data cannot be read back"), "{reply}");
    for _ in 0..2 {
        assert_eq!(client.call("GET key"), "$5\r\nvalue\r\n");
        assert_eq!(client.call("LLEN list"), ":4\r\n");
        assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    }
}

impl Client {
    /// Pushes `items_count` items of twelve bytes.
    fn push_many(&mut self, key: &str, items_count: u64) {
        for from in (0..items_count).step_by(1_000) {
            let items = (from..items_count.min(from + 1_000)).map(|item| format!("{item:012}"));
            self.call(&format!("RPUSH {key} {}", items.collect::<Vec<_>>().join(" ")));
        }
    }
}

#[test]
fn whole_values_are_journaled_as_of_their_command() {
    let world = World::new(&[("enable-debug-command", "yes")]);
    let mut client = world.client();
    client.push_many("long", 200_000);
    client.call(&format!("SET text {}", "t".repeat(300_000)));
    client.call("EXPIRE text 5000");
    for line in [
        "MULTI",
        "COPY long copy",
        "LPUSH copy head",
        "COPY copy third",
        "RPOP copy 150000",
        "RENAME long other",
        "RPUSH other tail",
        "COPY text copied",
        "APPEND copied more",
        "MOVE third 1",
    ] {
        client.call(line);
    }
    assert!(client.call("EXEC").starts_with("*9\r\n:1\r\n:200001\r\n:1\r\n*150000\r\n"));
    let digest = client.call("DEBUG DIGEST");
    for _ in 0..2 {
        assert_eq!(client.call("LLEN copy"), ":50001\r\n");
        assert_eq!(client.call("LLEN other"), ":200001\r\n");
        assert_eq!(client.call("LINDEX copy -1"), format!("$12\r\n{:012}\r\n", 49_999));
        assert_eq!(client.call("STRLEN copied"), ":300004\r\n");
        assert_eq!(client.call("EXISTS long third"), ":0\r\n");
        client.call("SELECT 1");
        assert_eq!(client.call("LRANGE third 0 0"), "*1\r\n$4\r\nhead\r\n");
        assert_eq!(client.call("LLEN third"), ":200001\r\n");
        client.call("SELECT 0");
        assert_eq!(client.call("DEBUG DIGEST"), digest);
        assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    }
}

#[test]
fn copied_and_renamed_lists_mark_watches_and_serve_waiters() {
    let world = World::new(&[]);
    let (mut blocked, mut watcher, mut other) = (world.client(), world.client(), world.client());
    other.push_many("long", 20_000);
    watcher.call("WATCH third");
    let mut reply = Output::new();
    let Next::Slow(slow) = blocked.send(&[b"BLMPOP", b"0", b"1", b"copy", b"LEFT", b"COUNT", b"15000"], &mut reply)
    else {
        panic!("there is nothing yet")
    };
    assert_eq!(other.call("COPY long copy"), ":1\r\n");
    assert_eq!(other.call("LLEN copy"), ":5000\r\n");
    block_on(blocked.session.run_slowly(slow, &blocked.input, &mut reply));
    assert!(read(reply).starts_with("*2\r\n$4\r\ncopy\r\n*15000\r\n"));
    assert_eq!(other.call("RENAME copy third"), "+OK\r\n");
    watcher.call("MULTI");
    watcher.call("PING");
    assert_eq!(watcher.call("EXEC"), "*-1\r\n");
}

/// Runs MGET of `keys_count` keys, all of which another client sets again, at once, between the turns of the MGET.
fn look_while_all_are_put(keys_count: usize, puts_max: usize) -> (String, usize) {
    let world = World::of_workers(2, &[]);
    let (mut reader, mut writer) = (world.client_of(0), world.client_of(1));
    let names: Vec<String> = (0..keys_count).map(|key| format!("key:{key}")).collect();
    let mut put = |value: usize| {
        let pairs: Vec<String> = names.iter().map(|name| format!("{name} {value}")).collect();
        assert_eq!(writer.call(&format!("MSET {}", pairs.join(" "))), "+OK\r\n");
    };
    put(0);
    let mut words: Vec<&[u8]> = vec![b"MGET"];
    words.extend(names.iter().map(|name| name.as_bytes()));
    let mut output = Output::new();
    let Next::Slow(slow) = reader.send(&words, &mut output) else { panic!("so many keys are gathered") };
    let mut puts = 0;
    {
        let mut running = pin!(reader.session.run_slowly(slow, &reader.input, &mut output));
        while running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            if puts < puts_max {
                puts += 1;
                put(puts);
            }
        }
    }
    (read(output), puts)
}

#[test]
fn mget_of_many_keys_is_a_snapshot() {
    for (keys_count, puts_max) in [(300, 1), (300, usize::MAX), (3_000, 1), (3_000, 2), (3_000, usize::MAX)] {
        let (reply, puts) = look_while_all_are_put(keys_count, puts_max);
        assert!(puts > 0, "somebody else had a turn");
        let digits = puts.to_string();
        let elements = format!("${}\r\n{digits}\r\n", digits.len()).repeat(keys_count);
        assert_eq!(reply, format!("*{keys_count}\r\n{elements}"), "{keys_count} keys, put {puts} times");
    }
}

#[test]
fn exists_of_many_keys_reflects_changes_made_meanwhile() {
    for change in ["expire", "SWAPDB 0 1", "FLUSHALL", "DEL key:7"] {
        let world = World::new(&[]);
        let (mut reader, mut other) = (world.client(), world.client());
        let mut words: Vec<Vec<u8>> = vec![b"EXISTS".to_vec()];
        for key in 0..2_000 {
            other.call(&format!("SET key:{key} value{}", if key % 2 == 0 { " PX 50" } else { "" }));
            words.push(format!("key:{key}").into_bytes());
        }
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let mut output = Output::new();
        let Next::Slow(slow) = reader.send(&words, &mut output) else { panic!("so many keys are gathered") };
        let mut running = Box::pin(reader.session.run_slowly(slow, &reader.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        let mut changes = 0;
        while running.as_mut().poll(&mut context).is_pending() {
            // The last look comes after a rest, so a change in every rest comes before it.
            match change {
                "expire" => world.advance(60),
                "SWAPDB 0 1" if changes > 0 => {}
                line => drop(other.call(line)),
            }
            changes += 1;
        }
        drop(running);
        let expected = match change {
            "expire" => 1_000,
            "DEL key:7" => 1_999,
            _ => 0,
        };
        assert_eq!(read(output), format!(":{expected}\r\n"), "{change}, {changes} times");
    }
}

/// Under CLIENT NO-TOUCH only TOUCH counts as a use of a key.
#[test]
fn only_touch_counts_as_use_under_no_touch() {
    let world = World::new(&[]);
    let mut client = world.client();
    client.call("SET key value");
    assert_eq!(client.call("CLIENT NO-TOUCH on"), "+OK\r\n");
    world.advance(10_000);
    client.call("GET key");
    assert_eq!(client.call("OBJECT IDLETIME key"), ":10\r\n");
    assert_eq!(client.call("TOUCH key"), ":1\r\n");
    assert_eq!(client.call("OBJECT IDLETIME key"), ":0\r\n");
}
