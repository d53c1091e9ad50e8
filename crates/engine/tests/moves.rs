//! Connections that move to another worker: when they do, when they stay, and what goes with them.

use crate::support::{Client, World};
use engine::{Destination, Next, Session};
use keyspace::shard_of;
use wire::{Output, OwnedRequest, Ranges};

/// Waits that make a connection go to the home of a shard if nothing else happens.
const WAITS: usize = 4;

/// Sends a pipeline whose first request finds its key's shard held.
fn wait_with(world: &World, client: &mut Client, pipeline: &[u8], key: &str) {
    let keyspace = &world.engine.keyspace;
    let held = keyspace.shard(shard_of(keyspace.hash(key.as_bytes()))).try_write().unwrap();
    client.input = pipeline.to_vec();
    let mut output = Output::new();
    let turn = client.session.run_turn(&client.input, &mut Ranges::new(), &mut output);
    let Next::Slow(slow) = turn.next else { panic!("the shard of {key} is held") };
    drop(held);
    let request_bytes = slow.request_bytes();
    client.finish(slow, &mut output);
    client.input.drain(..request_bytes);
    assert!(output.bytes_pending() > 0);
    client.session.note_written();
}

fn request(line: &str) -> Vec<u8> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let mut bytes = Vec::new();
    wire::resp::request(&mut bytes, OwnedRequest::of(&words).args());
    bytes
}

/// Sends a request five times, the first of which finds the shard of `key` held; returns the replies to the others.
fn wait_with_line(world: &World, client: &mut Client, line: &str, key: &str) -> String {
    wait_with(world, client, &request(line).repeat(5), key);
    let rest = String::from_utf8(std::mem::take(&mut client.input)).unwrap();
    let replies = client.ask(&rest);
    client.session.note_written();
    replies
}

/// Sends five RPUSH, the first of which has to wait.
fn wait(world: &World, client: &mut Client, key: &str) {
    wait_with_line(world, client, &format!("RPUSH {key} x"), key);
}

/// Runs a pipeline.
fn run(client: &mut Client, lines: &[&str]) -> String {
    let replies = client.call_all(lines);
    client.session.note_written();
    replies
}

fn destination_after_waits(world: &World, client: &mut Client, key: &str) -> Option<Destination> {
    // Its worker has room in the journal then, for which a request waits before it tries for a shard.
    run(client, &["RPUSH warm x"]);
    for _ in 1..WAITS {
        wait(world, client, key);
        assert_eq!(client.session.destination(), None);
    }
    wait(world, client, key);
    client.session.destination()
}

fn move_to(world: &World, client: &mut Client, worker: usize) {
    client.worker = world.client_of(worker).worker.clone();
    client.session = Session::arrive(client.worker.clone(), client.session.depart());
}

#[test]
fn a_connection_that_keeps_meeting_others_moves_with_its_state() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None, "the home of the key is where it is");
    let mut client = world.client_of(0);
    run(&mut client, &["HELLO 3", "SELECT 3", "CLIENT SETNAME mover", "CLIENT NO-TOUCH on"]);
    let id = run(&mut client, &["CLIENT ID"]);
    let count = world.engine.clients.count();
    assert_eq!(destination_after_waits(&world, &mut client, "key"), Some(Destination::Worker(1)));
    move_to(&world, &mut client, 1);
    assert_eq!(client.session.destination(), None);
    assert_eq!(run(&mut client, &["CLIENT ID"]), id);
    assert_eq!(run(&mut client, &["LLEN key", "CLIENT GETNAME"]), ":20\r\n$5\r\nmover\r\n");
    assert!(run(&mut client, &["HGETALL none"]).starts_with("%0"), "it still speaks RESP3");
    assert!(run(&mut client, &["INFO stats"]).contains("\r\nmoved_connections:1\r\n"));
    assert_eq!(world.engine.clients.count(), count);
    drop(client);
    assert_eq!(world.engine.clients.count(), count - 1);
}

#[test]
fn a_connection_whose_every_write_has_to_wait_moves_too() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None);
    let mut client = world.client_of(0);
    run(&mut client, &["RPUSH warm x"]);
    // One wait fewer than usual, since no turn without one lies between.
    for _ in 1..WAITS {
        assert_eq!(client.session.destination(), None);
        // The shard is held again before the rest of the pipeline runs.
        wait_with(&world, &mut client, &request("RPUSH key x").repeat(5), "key");
    }
    assert_eq!(client.session.destination(), Some(Destination::Worker(1)));
}

#[test]
fn requests_that_read_or_write_to_others_draw_nobody_by_waiting() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None);
    for lines in [&["RPUSH key x", "LLEN key"][..], &["LMOVE key other LEFT LEFT"]] {
        let mut client = world.client_of(0);
        run(&mut client, &["RPUSH warm x", "RPUSH other x"]);
        for line in lines.iter().cycle().take(100) {
            wait_with(&world, &mut client, &request(line).repeat(5), "key");
            assert_eq!(client.session.destination(), None, "{lines:?}");
        }
    }
}

#[test]
fn one_whose_requests_wait_for_another_shard_leaves() {
    let world = World::of_workers(2, &[]);
    let [mut native, mut guest] = [1, 0].map(|index| world.client_of(index));
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None);
    assert_eq!(destination_after_waits(&world, &mut guest, "key"), Some(Destination::Worker(1)));
    move_to(&world, &mut guest, 1);
    run(&mut guest, &["RPUSH warm x"]);
    let leaves = (0..64).any(|_| {
        wait_with(&world, &mut guest, &request("RPUSH another x"), "another");
        guest.session.destination() == Some(Destination::Any)
    });
    assert!(leaves, "each write to another shard takes two away");
}

#[test]
fn insertions_that_read_a_schema_besides_count_as_writes() {
    let world = World::of_workers(2, &[]);
    let [mut native, mut guest] = [1, 0].map(|index| world.client_of(index));
    run(&mut native, &["TL.DEFINE key ATTR kind 4"]);
    for (client, home) in [(&mut native, None), (&mut guest, Some(Destination::Worker(1)))] {
        run(client, &["RPUSH warm x"]);
        for _ in 0..WAITS {
            wait_with_line(&world, client, "TL.INSERT key 0 x kind=1", "key");
        }
        assert_eq!(client.session.destination(), home);
    }
}

#[test]
fn a_memcached_connection_moves_too() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "n"), None);
    let mut client = world.client_of_memcached();
    assert_eq!(client.ask("set n 0 0 1\r\n1\r\n"), "STORED\r\n");
    client.session.note_written();
    for _ in 0..WAITS {
        assert_eq!(client.session.destination(), None);
        wait_with(&world, &mut client, "incr n 1\r\n".repeat(5).as_bytes(), "n");
        let rest = String::from_utf8(std::mem::take(&mut client.input)).unwrap();
        client.ask(&rest);
        client.session.note_written();
    }
    assert_eq!(client.session.destination(), Some(Destination::Worker(1)));
    move_to(&world, &mut client, 1);
    assert_eq!(client.ask("incr n 1\r\nget n\r\n"), "22\r\nVALUE n 0 2\r\n22\r\nEND\r\n");
}

#[test]
fn those_of_one_shard_meet_at_one_home() {
    let world = World::of_workers(3, &[]);
    let [mut first, mut second, mut third, mut other] = [1, 0, 2, 1].map(|index| world.client_of(index));
    assert_eq!(destination_after_waits(&world, &mut first, "key"), None, "its worker becomes the home");
    assert_eq!(destination_after_waits(&world, &mut second, "key"), Some(Destination::Worker(1)));
    assert_eq!(destination_after_waits(&world, &mut third, "key"), Some(Destination::Worker(1)));
    let home = destination_after_waits(&world, &mut other, "another");
    assert_eq!(home, Some(Destination::Worker(0)), "it is the home of no shard yet");
}

const PUSH_TO_BOTH: &str = "redis.call('RPUSH',KEYS[1],'x')redis.call('RPUSH',KEYS[2],'x')return(1)";

/// Sends pipelines of a script, the first of which finds the shard of the second key held.
fn destination_after_scripts(world: &World, client: &mut Client, script: &str) -> Option<Destination> {
    run(client, &["RPUSH warm x"]);
    for _ in 0..WAITS {
        assert_eq!(client.session.destination(), None, "{script}");
        assert_eq!(wait_with_line(world, client, script, "second"), ":1\r\n".repeat(4), "{script}");
    }
    client.session.destination()
}

#[test]
fn scripts_gather_at_the_home_of_their_first_key() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "first"), None);
    let sha1 = run(&mut native, &[&format!("SCRIPT LOAD {PUSH_TO_BOTH}")]).lines().nth(1).unwrap().to_owned();
    for script in [format!("EVAL {PUSH_TO_BOTH} 2 first second"), format!("EVALSHA {sha1} 2 first second")] {
        let mut client = world.client_of(0);
        let destination = destination_after_scripts(&world, &mut client, &script);
        assert_eq!(destination, Some(Destination::Worker(1)), "{script}");
        move_to(&world, &mut client, 1);
        for _ in 0..200 {
            run(&mut client, &[&script, &script, "GET other"]);
            assert_eq!(client.session.destination(), None, "two of three are for the shard");
        }
        let share = share_until_it_leaves(&mut client, "EVAL return(1) 1 other");
        assert!((32..=64).contains(&share), "{share} scripts of another key");
    }
}

#[test]
fn scripts_that_read_or_have_other_first_keys_draw_nobody() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "second"), None);
    let mut client = world.client_of(0);
    assert_eq!(destination_after_scripts(&world, &mut client, "EVAL_RO return(1) 2 first second"), None);
    let mut client = world.client_of(0);
    run(&mut client, &["RPUSH warm x"]);
    for number in 0..2 * WAITS {
        wait_with(&world, &mut client, &request(&format!("EVAL return(1) 2 {number} second")).repeat(5), "second");
        client.input.clear();
        assert_eq!(client.session.destination(), None);
    }
}

#[test]
fn a_client_that_waits_at_a_key_of_a_script_is_no_contention() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "first"), None);
    let (mut client, mut waiting) = (world.client_of(0), world.client_of(1));
    run(&mut client, &["RPUSH warm x"]);
    let mut output = Output::new();
    let Next::Slow(slow) = waiting.send(&[b"BLPOP", b"second", b"0"], &mut output) else { panic!("it waits") };
    waiting.poll_slowly_once(slow, &mut output, |is_waiting| {
        assert!(is_waiting);
        for _ in 0..2 * WAITS {
            run(&mut client, &["EVAL redis.call('SET','second','x')return(1) 1 first"; 5]);
            assert_eq!(client.session.destination(), None);
        }
    });
}

#[test]
fn one_whose_requests_go_elsewhere_leaves() {
    let world = World::of_workers(2, &[]);
    let mut guest = world.client_of(0);
    assert_eq!(destination_after_waits(&world, &mut guest, "key"), None);
    for _ in 0..200 {
        run(&mut guest, &["RPUSH key x", "RPUSH key x", "GET other"]);
        assert_eq!(guest.session.destination(), None, "two of three are for the shard");
    }
    let share = share_until_it_leaves(&mut guest, "GET other");
    assert!((32..=64).contains(&share), "{share} other requests");
    guest.session.stay();
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None, "the shard had no home any more");
}

/// Returns the number of requests to another key after which a guest leaves.
fn share_until_it_leaves(guest: &mut Client, request: &str) -> usize {
    (1..=100)
        .find(|_| {
            run(guest, &[request]);
            guest.session.destination() == Some(Destination::Any)
        })
        .expect("it leaves")
}

#[test]
fn mixed_requests_draw_nobody_at_any_time() {
    let world = World::of_workers(2, &[]);
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None);
    let asked = |client: &mut Client, why: &str| {
        client.session.note_written();
        assert_eq!(client.session.destination(), None, "{why}");
    };
    let new_client = || {
        let mut client = world.client_of(0);
        run(&mut client, &["RPUSH key x", "SET text x"]);
        client
    };
    let mut client = new_client();
    for _ in 0..200 {
        wait_with(&world, &mut client, &request("RPUSH key x"), "key");
        asked(&mut client, "no pipeline");
        run(&mut client, &["RPUSH key x"]);
    }
    let mut client = new_client();
    for _ in 0..200 {
        let pipeline = [request("RPUSH key x"), request("GET text")].concat().repeat(4);
        wait_with(&world, &mut client, &pipeline, "key");
        asked(&mut client, "half of its requests read, just after a wait");
        let rest = String::from_utf8(std::mem::take(&mut client.input)).unwrap();
        client.ask(&rest);
        asked(&mut client, "half of its requests read");
    }
    let mut client = new_client();
    for _ in 0..200 {
        wait_with(&world, &mut client, &request("GET text").repeat(5), "text");
        client.input.clear();
        asked(&mut client, "readers share a shard");
    }
    let mut client = new_client();
    for _ in 0..200 {
        wait(&world, &mut client, "key");
        asked(&mut client, "two shards in turn");
        wait(&world, &mut client, "other");
        asked(&mut client, "two shards in turn");
    }
    let mut client = new_client();
    for _ in 0..20 {
        // It is known for writing to another shard.
        wait(&world, &mut client, "other");
        (0..20).for_each(|_| drop(run(&mut client, &["RPUSH other x"; 5])));
        for _ in 0..WAITS {
            let pipeline = [request("RPUSH key x"), request("GET text")].concat().repeat(4);
            wait_with(&world, &mut client, &pipeline, "key");
            client.input.clear();
            asked(&mut client, "half of its requests read, and it wrote to another shard before");
            run(&mut client, &["RPUSH key x", "GET text", "GET text"]);
            asked(&mut client, "half of its requests read, and it wrote to another shard before");
        }
        (0..80).for_each(|_| drop(run(&mut client, &["PING"])));
    }
    let mut client = new_client();
    for _ in 0..20 {
        wait(&world, &mut client, "key");
        for _ in 0..20 {
            run(&mut client, &["RPUSH key x"; 5]);
            asked(&mut client, "a wait now and then");
        }
    }
}

#[test]
fn connections_with_state_on_their_worker_stay() {
    let world = World::of_workers(2, &[]);
    let states = ["SUBSCRIBE news", "PSUBSCRIBE n*", "WATCH seen", "CLIENT TRACKING on", "PING"];
    let mut native = world.client_of(1);
    assert_eq!(destination_after_waits(&world, &mut native, "key"), None);
    for state in states {
        let mut client = world.client_of(0);
        run(&mut client, &["HELLO 3", state]);
        let destination = destination_after_waits(&world, &mut client, "key");
        assert_eq!(destination.is_some(), state == "PING", "{state}");
    }
    let world = World::of_workers(1, &[]);
    assert_eq!(destination_after_waits(&world, &mut world.client(), "key"), None, "there is no other worker");
}
