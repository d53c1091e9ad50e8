//! DEL and UNLINK of very many keys: some at a time, with the same result as at once. MSET of very many pairs.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Client, Load, World, read};
use base::random::Random;
use engine::event_loop::Sleep;
use engine::{Next, SuspendedScript, Worker};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use wire::Output;

/// Keys of one request: many more than are removed in one turn.
const KEYS: usize = 3_000;
/// Maximum number of keys removed in one turn.
const TURN_KEYS_MAX: usize = 512;
const DEBUG: &[(&str, &str)] = &[("enable-debug-command", "yes")];

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

fn names(keys: std::ops::Range<usize>) -> String {
    keys.map(|key| format!("key:{key}")).collect::<Vec<_>>().join(" ")
}

fn fill(client: &mut Client, keys: usize) {
    for some in (0..keys).collect::<Vec<_>>().chunks(100) {
        let pairs: Vec<String> = some.iter().map(|key| format!("key:{key} value:{key}")).collect();
        assert_eq!(client.call(&format!("MSET {}", pairs.join(" "))), "+OK\r\n");
    }
}

fn count(client: &mut Client) -> usize {
    client.call("DBSIZE").trim_start_matches(':').trim_end().parse().unwrap()
}

/// Asserts that a reload from the journal alone gives the same data.
fn assert_durable(client: &mut Client) {
    let before = client.call("DEBUG DIGEST");
    assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
    assert_eq!(client.call("DEBUG DIGEST"), before);
}

/// Sends a request and calls `meanwhile` between its turns; drops the request once that returns false. Returns the
/// reply, if any.
fn run_beside(client: &mut Client, line: &str, mut meanwhile: impl FnMut(usize) -> bool) -> Option<String> {
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&words(line), &mut output) else { panic!("it is too much for a turn") };
    {
        let mut running = pin!(client.session.run_slowly(slow, &client.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        let mut turns = 0;
        while running.as_mut().poll(&mut context).is_pending() {
            turns += 1;
            if !meanwhile(turns) {
                return None;
            }
        }
    }
    Some(read(output))
}

#[test]
fn del_yields_after_some_keys_and_counts_each_once() {
    let world = World::new(DEBUG);
    let [mut one, mut other] = [world.client(), world.client()];
    for command in ["DEL", "UNLINK"] {
        fill(&mut one, KEYS);
        one.call("SET other value");
        let (mut left, mut parts) = (KEYS + 1, 0);
        // Every key twice, and some absent keys.
        let line = format!("{command} {} {} {}", names(0..KEYS), names(KEYS..KEYS + 100), names(0..KEYS));
        let reply = run_beside(&mut one, &line, |_| {
            let now = count(&mut other);
            assert!(left - now <= TURN_KEYS_MAX, "{} keys went in one turn", left - now);
            parts += usize::from(now < left && now > 1);
            left = now;
            true
        });
        assert_eq!(reply, Some(format!(":{KEYS}\r\n")));
        assert!(parts >= KEYS / TURN_KEYS_MAX / 2, "{command}: seen in parts {parts} times");
        assert_eq!(count(&mut other), 1);
        assert_durable(&mut one);
    }
}

/// Fills keys of all types, some with a deadline.
fn fill_with_all_kinds(client: &mut Client, random: &mut Random) {
    let items: Vec<String> = (0..300).map(|item| format!("item:{item}")).collect();
    for key in 0..KEYS {
        let big = if random.below(20) == 0 { items.join(" ") } else { "item".to_owned() };
        let scored = big.split(' ').map(|item| format!("1 {item}")).collect::<Vec<_>>().join(" ");
        let line = match random.below(8) {
            0 => format!("SET key:{key} {}", big.replace(' ', ".")),
            1 => format!("SET key:{key} {key}"),
            2 => format!("RPUSH key:{key} {big}"),
            3 => format!("HSET key:{key} {}", scored.replace("1 ", "field ")),
            4 => format!("SADD key:{key} {big}"),
            5 => format!("ZADD key:{key} {scored}"),
            6 => format!("XADD key:{key} 1-1 field value"),
            _ => continue,
        };
        assert!(!client.call(&line).starts_with('-'), "{line}");
        if random.below(5) == 0 {
            client.call(&format!("PEXPIRE key:{key} {}", 1 + random.below(100)));
        }
    }
}

/// Names of random keys, some of them more than once.
fn random_names(random: &mut Random) -> String {
    let keys: Vec<String> = (0..KEYS).map(|_| format!("key:{}", random.below(KEYS as u64 + 200))).collect();
    keys.join(" ")
}

#[test]
fn del_in_parts_equals_del_at_once() {
    for seed in 0..4 {
        let [parts, at_once] = [World::new(DEBUG), World::new(DEBUG)];
        let [mut one, mut other] = [parts.client(), at_once.client()];
        for (world, client) in [(&parts, &mut one), (&at_once, &mut other)] {
            fill_with_all_kinds(client, &mut Random::new(seed));
            world.advance(50);
        }
        assert_eq!(one.call("DEBUG DIGEST"), other.call("DEBUG DIGEST"));
        let line = format!("DEL {}", random_names(&mut Random::new(seed + 100)));
        let in_parts = run_beside(&mut one, &line, |_| true).unwrap();
        other.call("MULTI");
        other.call(&line);
        assert_eq!(other.call("EXEC"), format!("*1\r\n{in_parts}"));
        assert_eq!(count(&mut one), count(&mut other));
        assert_eq!(one.call("DEBUG DIGEST"), other.call("DEBUG DIGEST"));
        assert_durable(&mut one);
    }
}

#[test]
fn del_in_exec_or_a_script_is_atomic() {
    let world = World::new(DEBUG);
    let [mut one, mut other] = [world.client(), world.client()];
    fill(&mut one, KEYS);
    // One frame is one instant, to observers and to a crash.
    let before = frames(&mut other);
    one.call("MULTI");
    one.call(&format!("DEL {}", names(0..KEYS)));
    assert_eq!(one.call("EXEC"), format!("*1\r\n:{KEYS}\r\n"));
    assert_eq!((frames(&mut other), count(&mut other)), (before + 1, 0));
    fill(&mut one, KEYS);
    let script = format!("EVAL return(redis.call('DEL',unpack(KEYS))) {KEYS} {}", names(0..KEYS));
    let before = frames(&mut other);
    assert_eq!(one.call(&script), format!(":{KEYS}\r\n"));
    assert_eq!((frames(&mut other), count(&mut other)), (before + 1, 0));
}

#[test]
fn watches_notifications_and_tracking_cover_every_part() {
    let world = World::new(&[("notify-keyspace-events", "Eg")]);
    let [mut one, mut watcher] = [world.client(), world.client()];
    fill(&mut one, KEYS);
    watcher.call(&format!("WATCH key:{}", KEYS - 1));
    one.call("HELLO 3");
    one.call("CLIENT TRACKING ON");
    for key in [0, KEYS / 2, KEYS - 1] {
        one.call(&format!("GET key:{key}"));
    }
    one.call("SUBSCRIBE __keyevent@0__:del");
    let mut reply = run_beside(&mut one, &format!("DEL {}", names(0..KEYS)), |_| true).unwrap();
    loop {
        let mut output = Output::new();
        one.session.take_messages(&mut output);
        let more = read(output);
        if more.is_empty() {
            break;
        }
        reply.push_str(&more);
    }
    assert!(reply.contains(&format!(":{KEYS}\r\n")), "{}", &reply[..reply.len().min(200)]);
    assert_eq!(reply.matches("__keyevent@0__:del").count(), KEYS);
    for key in [0, KEYS / 2, KEYS - 1] {
        let push = format!("invalidate\r\n*1\r\n${}\r\nkey:{key}\r\n", format!("key:{key}").len());
        assert_eq!(reply.matches(&push).count(), 1, "key:{key}");
    }
    watcher.call("MULTI");
    watcher.call("PING");
    assert_eq!(watcher.call("EXEC"), "*-1\r\n");
}

/// A reader blocked in a stream's group gets an error when the stream is deleted.
#[test]
fn a_blocked_group_reader_fails_when_its_stream_is_deleted() {
    let world = World::new(&[]);
    let [mut one, mut reader] = [world.client(), world.client()];
    fill(&mut one, KEYS);
    one.call("XGROUP CREATE stream g $ MKSTREAM");
    let mut output = Output::new();
    let Next::Slow(slow) = reader.send(&words("XREADGROUP GROUP g alice BLOCK 0 STREAMS stream >"), &mut output) else {
        panic!("there is nothing to read")
    };
    {
        let mut running = pin!(reader.session.run_slowly(slow, &reader.input, &mut output));
        let mut context = Context::from_waker(Waker::noop());
        assert!(running.as_mut().poll(&mut context).is_pending());
        let reply = run_beside(&mut one, &format!("DEL stream {}", names(0..KEYS)), |_| true);
        assert_eq!(reply, Some(format!(":{}\r\n", KEYS + 1)));
        assert!(running.as_mut().poll(&mut context).is_ready());
    }
    assert!(read(output).starts_with("-NOGROUP"));
}

#[test]
fn a_pause_stops_the_remaining_parts() {
    let world = World::new(&[]);
    let [mut one, mut other] = [world.client(), world.client()];
    fill(&mut one, KEYS);
    let (mut paused, mut looks) = (None, 0);
    let reply = run_beside(&mut one, &format!("UNLINK {}", names(0..KEYS)), |_| {
        let left = count(&mut other);
        match paused {
            None if left < KEYS => {
                assert_eq!(other.call("CLIENT PAUSE 1000 WRITE"), "+OK\r\n");
                paused = Some(left);
            }
            Some(paused) if looks < 20 => {
                assert_eq!(left, paused, "nothing is removed during a pause");
                looks += 1;
                if looks == 20 {
                    other.call("CLIENT UNPAUSE");
                }
            }
            _ => {}
        }
        true
    });
    assert_eq!(reply, Some(format!(":{KEYS}\r\n")));
    assert_eq!((looks, count(&mut other)), (20, 0));
}

#[test]
fn a_crash_between_parts_keeps_the_committed_parts() {
    let world = World::new(DEBUG);
    let [mut one, mut other] = [world.client(), world.client()];
    fill(&mut one, KEYS);
    let mut left = KEYS;
    let reply = run_beside(&mut one, &format!("DEL {}", names(0..KEYS)), |_| {
        left = count(&mut other);
        left > KEYS / 2
    });
    assert_eq!(reply, None);
    assert!(left > 0);
    drop((one, other));
    let world = world.restarted(DEBUG, Load::AtOnce);
    let mut one = world.client();
    assert_eq!(count(&mut one), left);
    assert_eq!(one.call(&format!("DEL {}", names(0..KEYS))), format!(":{left}\r\n"));
}

#[test]
fn del_waits_for_shards_that_are_still_loading() {
    let world = World::new(DEBUG);
    let mut client = world.client();
    fill(&mut client, KEYS);
    client.call("SAVE");
    drop(client);
    let world = world.restarted(DEBUG, Load::Wanted);
    assert!(world.shards_left() > 64, "shards are still to be loaded");
    let mut client = world.client();
    assert_eq!(client.call(&format!("DEL {}", names(0..KEYS))), format!(":{KEYS}\r\n"));
    assert_eq!(count(&mut client), 0);
}

#[test]
fn del_of_many_keys_works_on_a_full_disk() {
    let world = World::on_small_disk(8 << 20);
    let mut client = world.client();
    let value = "v".repeat(1000);
    let mut keys = 0;
    while !client.call(&format!("SET key:{keys} {value}{keys}")).starts_with("-MISCONF ") {
        keys += 1;
    }
    assert!(keys > 1000, "{keys} keys fit");
    assert_eq!(client.call(&format!("DEL {}", names(0..keys + 1))), format!(":{keys}\r\n"));
    assert_eq!(count(&mut client), 0);
}

/// INFO counts it as one call.
#[test]
fn del_in_parts_counts_as_one_call() {
    let world = World::new(&[]);
    let mut client = world.client();
    fill(&mut client, KEYS);
    client.call("CONFIG RESETSTAT");
    assert_eq!(client.call(&format!("DEL {}", names(0..KEYS))), format!(":{KEYS}\r\n"));
    let info = client.call("INFO commandstats");
    assert!(info.contains("cmdstat_del:calls=1,"), "{info}");
    assert!(info.contains("rejected_calls=0,failed_calls=0"), "{info}");
}

fn pairs(random: &mut Random, value: &str) -> String {
    let pairs: Vec<String> =
        (0..KEYS).map(|pair| format!("key:{} {value}:{pair}", random.below(KEYS as u64))).collect();
    pairs.join(" ")
}

/// Returns the number of journal frames, after a checkpoint: so no frame is on its way.
fn frames(client: &mut Client) -> u64 {
    assert_eq!(client.call("SAVE"), "+OK\r\n");
    let info = client.call("INFO persistence");
    info.lines().find_map(|line| line.strip_prefix("journal_frames:")).unwrap().parse().unwrap()
}

/// Pairs are sorted by shard, yet the last value of a repeated key stays.
#[test]
fn mset_of_very_many_pairs_equals_mset_in_exec() {
    for seed in 0..3 {
        let [sorted, at_once] = [World::new(DEBUG), World::new(DEBUG)];
        let [mut one, mut other] = [sorted.client(), at_once.client()];
        for (world, client) in [(&sorted, &mut one), (&at_once, &mut other)] {
            fill_with_all_kinds(client, &mut Random::new(seed));
            world.advance(50);
        }
        for line in [
            format!("MSET {}", pairs(&mut Random::new(seed + 7), "value")),
            format!("MSETNX {}", pairs(&mut Random::new(seed + 8), "vain")),
            format!("MSETNX {}", pairs(&mut Random::new(seed + 9), "new").replace("key:", "other:")),
        ] {
            let reply = one.call(&line);
            other.call("MULTI");
            other.call(&line);
            assert_eq!(other.call("EXEC"), format!("*1\r\n{reply}"));
            assert_eq!(one.call("DEBUG DIGEST"), other.call("DEBUG DIGEST"));
        }
        assert_durable(&mut one);
    }
}

#[test]
fn mset_of_very_many_pairs_is_atomic_and_one_frame() {
    let world = World::new(DEBUG);
    let [mut one, mut other] = [world.client(), world.client()];
    let all = (0..KEYS).map(|key| format!("key:{key} value:{key}")).collect::<Vec<_>>().join(" ");
    let before = frames(&mut other);
    let reply = run_beside(&mut one, &format!("MSET {all}"), |_| {
        assert_eq!(count(&mut other), 0, "it is still to come");
        true
    });
    assert_eq!(reply, Some("+OK\r\n".to_owned()));
    assert_eq!(count(&mut other), KEYS);
    assert_eq!(frames(&mut other), before + 1);
    let odd = one.call(&format!("MSET {all} odd"));
    assert_eq!(odd, "-ERR wrong number of arguments for 'mset' command\r\n");
}

/// They wait for the event loop before each turn: if they only woke themselves, it would run many turns before it looks
/// at its sockets.
#[test]
fn long_requests_take_one_turn_between_polls_of_the_sockets() {
    let world = World::of_workers(2, &[]);
    fill(&mut world.client(), KEYS);
    let suspended = SuspendedScript::default();
    let never_polled = Box::new(|_| -> Sleep { Box::pin(std::future::pending()) });
    let worker = Rc::new(Worker::new(world.engine.clone(), 1, never_polled, &suspended));
    let pairs: Vec<String> = (0..KEYS).map(|key| format!("key:{key} new")).collect();
    for command in ["MGET", "EXISTS", "DEL", "MSET"] {
        let mut client = world.client_on(worker.clone());
        let arguments = if command == "MSET" { pairs.join(" ") } else { names(0..KEYS) };
        assert_eq!(
            run_beside(&mut client, &format!("{command} {arguments}"), |turns| turns < 1_000),
            None,
            "{command}"
        );
        assert_eq!(count(&mut world.client()), KEYS, "{command}");
    }
    assert_eq!(world.client().call("GET key:0"), "$7\r\nvalue:0\r\n");
}
