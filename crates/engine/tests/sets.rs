//! Operations on big sets while others change them: stored results and replies show all sources as of one instant.

use crate::support::{Client, Load, START_MS, World, read};
use engine::Next;
use std::collections::BTreeSet;
use std::pin::pin;
use std::task::{Context, Waker};
use wire::Output;

/// Adds these members to a set.
fn fill(client: &mut Client, key: &str, members: std::ops::Range<u32>) {
    let members: Vec<String> = members.map(|member| format!("member:{member}")).collect();
    for part in members.chunks(1000) {
        client.call(&format!("SADD {key} {}", part.join(" ")));
    }
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

fn members(client: &mut Client, key: &str) -> BTreeSet<String> {
    let reply = client.call(&format!("SMEMBERS {key}"));
    reply.split("\r\n").filter(|part| part.starts_with("member:")).map(str::to_owned).collect()
}

fn world() -> World {
    let world = World::new(&[("enable-debug-command", "yes")]);
    let mut client = world.client();
    fill(&mut client, "a", 0..6_000);
    fill(&mut client, "b", 3_000..9_000);
    world
}

#[test]
fn big_set_stores_match_the_plain_operations() {
    for (line, count) in [
        ("SUNIONSTORE to a b", 9_000),
        ("SINTERSTORE to a b", 3_000),
        ("SDIFFSTORE to a b", 3_000),
        ("SUNIONSTORE a a b", 9_000),
    ] {
        let world = world();
        let mut client = world.client();
        let (a, b) = (members(&mut client, "a"), members(&mut client, "b"));
        let expected: BTreeSet<String> = match &line[..5] {
            "SUNIO" => a.union(&b).cloned().collect(),
            "SINTE" => a.intersection(&b).cloned().collect(),
            _ => a.difference(&b).cloned().collect(),
        };
        assert_eq!(run_beside(&mut client, line, || {}), format!(":{count}\r\n"));
        let to = line.split(' ').nth(1).expect("a destination");
        assert_eq!(members(&mut client, to), expected);
        assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
        assert_eq!(members(&mut client, to), expected);
        assert_eq!(members(&mut client, "b"), b);
    }
}

/// The stored result was true at one instant: each step moves a member, so that the union never changes.
#[test]
fn big_set_stores_are_atomic_beside_changes() {
    for line in ["SUNIONSTORE to a b", "SINTERSTORE to a b", "SDIFFSTORE to a b"] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        let (mut moved, mut count) = (0, 0);
        let reply = run_beside(&mut client, line, || {
            other.call(&format!("SMOVE a b member:{moved}"));
            other.call(&format!("SREM b member:{}", 3_000 + moved));
            moved += 1;
            count = match &line[..5] {
                "SUNIO" => 9_000,
                "SINTE" => 3_000 - moved,
                _ => 3_000,
            };
        });
        assert!(moved >= 3, "it was made twice and once more");
        assert_eq!(reply, format!(":{count}\r\n"), "{line}");
        assert_eq!(members(&mut client, "to").len(), count as usize);
    }
}

#[test]
fn sunionstore_sees_a_key_deleted_or_retyped_meanwhile() {
    for (change, expected) in [("DEL b", ":6000\r\n"), ("SET b text", "-WRONGTYPE"), ("SET to text", ":9000\r\n")] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        let reply = run_beside(&mut client, "SUNIONSTORE to a b", || drop(other.call(change)));
        assert!(reply.starts_with(expected), "{change}: {reply}");
    }
}

#[test]
fn exec_with_set_operations_is_atomic() {
    for changes in [false, true] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        client.call("MULTI");
        for line in [
            "SUNIONSTORE to a b",
            "SADD to new",
            "SDIFFSTORE rest to b",
            "SDIFFSTORE rest to b",
            "SCARD to",
            "SINTERCARD 2 to a",
            "SCARD a",
        ] {
            assert_eq!(client.call(line), "+QUEUED\r\n");
        }
        let mut size = 6_000;
        let reply = run_beside(&mut client, "EXEC", || {
            if changes {
                other.call(&format!("SADD a member:{}", 10_000 + size));
                size += 1;
            }
        });
        let more = size - 6_000;
        let (union, rest) = (9_000 + more, 3_001 + more);
        let expected =
            format!("*7\r\n:{union}\r\n:1\r\n:{rest}\r\n:{rest}\r\n:{}\r\n:{size}\r\n:{size}\r\n", union + 1);
        assert_eq!(reply, expected);
        assert_eq!(client.call("SCARD rest"), format!(":{rest}\r\n"));
        assert_eq!(client.call("DEBUG RELOAD"), "+OK\r\n");
        assert_eq!(client.call("SCARD rest"), format!(":{rest}\r\n"));
    }
}

/// A reply is computed as it is sent, from clones of the sets made when the command ran.
#[test]
fn a_reply_shows_the_sets_as_of_its_command() {
    for (line, count) in [("SUNION a b", 9_000), ("SINTER a b", 3_000), ("SDIFF a b", 3_000)] {
        let world = world();
        let (mut client, mut other) = (world.client(), world.client());
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut output = Output::new();
        assert!(matches!(client.send(&words, &mut output), Next::Input(_)), "{line}");
        assert!(output.pinned_bytes() < 1000, "nothing has changed yet");
        other.call("DEL a");
        fill(&mut other, "b", 20_000..20_100);
        assert!(output.pinned_bytes() > 50_000, "what is gone is kept for the reply alone");
        let reply = read(output);
        assert!(reply.starts_with(&format!("*{count}\r\n")), "{line}");
        assert_eq!(reply.matches("member:").count(), count, "{line}");
    }
}

/// A set of more than a megabyte is read after its shard: later changes in the journal are kept for it.
#[test]
fn a_large_set_loaded_late_includes_its_journal_changes() {
    const DEBUG: &[(&str, &str)] = &[("enable-debug-command", "yes")];
    let world = World::new(DEBUG);
    let mut client = world.client();
    fill(&mut client, "set", 0..100_000);
    client.call(&format!("SADD small {}", (0..200).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")));
    assert_eq!(client.call("SAVE"), "+OK\r\n");
    for line in [
        "SADD set more 17",
        "SREM set member:5 member:6 nothing",
        "SPOP set 3",
        "SPOP set 5000",
        "SPOP set",
        "SADD small x",
    ] {
        client.call(line);
    }
    let (len, digest) = (client.call("SCARD set"), client.call("DEBUG DIGEST"));
    assert_eq!(len, ":94996\r\n");
    // Popped members are random.
    let members = client.call("SMISMEMBER set more member:5");
    drop(client);
    let disk = world.stopped();
    for load in [Load::AtOnce, Load::Wanted] {
        let world = World::over(disk.copy(), START_MS, DEBUG, load);
        let mut client = world.client();
        assert_eq!(client.call("SCARD set"), len);
        assert_eq!(client.call("SMISMEMBER set more member:5"), members);
        assert_eq!(client.call("OBJECT ENCODING small"), "$9\r\nhashtable\r\n");
        assert_eq!(client.call("DEBUG DIGEST"), digest);
    }
}

/// A count of two billion takes no memory: members are drawn only as the reply is read.
#[test]
fn an_unbounded_srandmember_is_generated_as_it_is_read() {
    let world = world();
    let mut client = world.client();
    for key in ["a", "few"] {
        client.call("SADD few x yy");
        let mut output = Output::new();
        assert!(matches!(client.send(&[b"SRANDMEMBER", key.as_bytes(), b"-2147483648"], &mut output), Next::Input(_)));
        for _ in 0..100 {
            output.fill();
            assert!(output.bytes_pending() < 1 << 20);
            let count = output.front().expect("there is more").len();
            output.consume(count);
        }
    }
}

/// A scan returns every member that exists throughout, while others are added and removed.
#[test]
fn sscan_returns_every_member_that_stays() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    let (mut cursor, mut found, mut steps) = ("0".to_owned(), BTreeSet::new(), 0);
    loop {
        let reply = client.call(&format!("SSCAN a {cursor} COUNT 50"));
        let mut parts = reply.split("\r\n");
        cursor = parts.nth(2).expect("a cursor").to_owned();
        found.extend(parts.filter(|part| part.starts_with("member:")).map(str::to_owned));
        if cursor == "0" {
            break;
        }
        other.call(&format!("SADD a new:{steps} new:{}", steps * 31));
        other.call(&format!("SREM a new:{} member:{}", steps / 2, 5_000 + steps));
        steps += 1;
    }
    assert!(steps > 100);
    assert!((0..5_000).all(|member| found.contains(&format!("member:{member}"))));
}
