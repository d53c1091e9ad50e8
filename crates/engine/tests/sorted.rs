//! Operations on big sorted sets while others change them: stored results and replies show all sources as of one
//! instant.

use crate::support::{Client, World, read};
use engine::Next;
use std::pin::pin;
use std::task::{Context, Waker};
use wire::Output;

/// Adds these members to a sorted set, each with its number as its score.
fn fill(client: &mut Client, key: &str, members: std::ops::Range<u32>) {
    let members: Vec<String> = members.map(|member| format!("{member} member:{member}")).collect();
    for part in members.chunks(1000) {
        client.call(&format!("ZADD {key} {}", part.join(" ")));
    }
}

fn world() -> World {
    let world = World::new(&[("enable-debug-command", "yes")]);
    let mut client = world.client();
    fill(&mut client, "a", 0..6_000);
    fill(&mut client, "b", 3_000..9_000);
    world
}

/// Sends a request that works off the locks, calls `meanwhile` between its turns, and returns the reply.
fn run_beside(client: &mut Client, line: &str, mut meanwhile: impl FnMut()) -> String {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let mut output = Output::new();
    let Next::Slow(slow) = client.send(&words, &mut output) else {
        panic!("{line}: it is to be worked on off the locks")
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
fn big_sorted_set_stores_have_the_expected_members() {
    for (line, count, first, last) in [
        ("ZUNIONSTORE to 2 a b", 9_000, "member:0", "8999"),
        ("ZUNIONSTORE to 2 a b WEIGHTS 1 10 AGGREGATE MIN", 9_000, "member:0", "89990"),
        ("ZINTERSTORE to 2 a b", 3_000, "member:3000", "11998"),
        ("ZDIFFSTORE to 2 a b", 3_000, "member:0", "2999"),
        ("ZRANGESTORE to a 1000 (5000 BYSCORE", 4_000, "member:1000", "4999"),
        ("ZUNIONSTORE a 2 a b AGGREGATE MAX", 9_000, "member:0", "8999"),
    ] {
        let world = world();
        let mut client = world.client();
        assert_eq!(run_beside(&mut client, line, || {}), format!(":{count}\r\n"), "{line}");
        let to = line.split(' ').nth(1).expect("a destination");
        let (lowest, highest) = (format!("ZRANGE {to} 0 0"), format!("ZRANGE {to} -1 -1 WITHSCORES"));
        let replies = [client.call(&lowest), client.call(&highest)];
        assert!(replies[0].contains(first), "{line}: {replies:?}");
        // The highest sum of the first line is at a member of both sets.
        assert!(
            line == "ZUNIONSTORE to 2 a b" || replies[1].contains(&format!("\r\n{last}\r\n")),
            "{line}: {replies:?}"
        );
        let digest = client.call("DEBUG DIGEST");
        assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
        assert_eq!(client.call("DEBUG DIGEST"), digest, "{line}");
        assert_eq!(client.call("ZCARD b"), ":6000\r\n");
    }
}

/// The stored result was true at one instant: each step moves a member from `a` to `b`.
#[test]
fn big_sorted_set_stores_are_atomic_beside_changes() {
    for line in ["ZUNIONSTORE to 2 a b", "ZINTERSTORE to 2 a b", "ZDIFFSTORE to 2 a b"] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        let (mut moved, mut count) = (0, 0);
        let reply = run_beside(&mut client, line, || {
            other.call(&format!("ZREM a member:{moved}"));
            other.call(&format!("ZADD b 1 member:{moved}"));
            moved += 1;
            count = match &line[..5] {
                "ZUNIO" => 9_000,
                "ZINTE" => 3_000,
                _ => 3_000 - moved,
            };
        });
        assert!(moved >= 3, "it was made twice and once more");
        assert_eq!(reply, format!(":{count}\r\n"), "{line}");
        assert_eq!(client.call("ZCARD to"), format!(":{count}\r\n"), "{line}");
    }
}

#[test]
fn zunionstore_sees_a_key_deleted_or_retyped_meanwhile() {
    for (change, expected) in
        [("DEL b", ":6000\r\n"), ("SET b text", "-WRONGTYPE"), ("SET to text", ":9000\r\n"), ("ZADD b 7 new", ":9001")]
    {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        let reply = run_beside(&mut client, "ZUNIONSTORE to 2 a b", || drop(other.call(change)));
        assert!(reply.starts_with(expected), "{change}: {reply}");
    }
}

/// A reply is computed as it is sent, from clones of the sorted sets made when the command ran.
#[test]
fn a_reply_shows_the_sets_as_of_its_command() {
    for (line, count) in [("ZUNION 2 a b", 9_000), ("ZINTER 2 a b", 3_000), ("ZDIFF 2 a b", 3_000)] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut output = Output::new();
        assert!(matches!(client.send(&words, &mut output), Next::Input(_)), "{line}");
        other.call("DEL a");
        let gone: Vec<String> = (3_000..9_000).step_by(20).map(|member| format!("member:{member}")).collect();
        other.call(&format!("ZREM b {}", gone.join(" ")));
        assert!(output.pinned_bytes() > 50_000, "what is gone is kept for the reply alone");
        let reply = read(output);
        assert!(reply.starts_with(&format!("*{count}\r\n")), "{line}");
        assert_eq!(reply.matches("member:").count(), count, "{line}");
    }
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    let mut output = Output::new();
    assert!(matches!(client.send(&[b"ZINTERCARD", b"2", b"a", b"b"], &mut output), Next::Input(_)));
    other.call("DEL a");
    assert_eq!(read(output), ":3000\r\n");
}
