//! SORT of a long list by the values of other keys, while other clients change both.

use crate::support::{Client, World, read};
use engine::Next;
use std::pin::pin;
use std::task::{Context, Waker};
use wire::Output;

/// Elements of the list; each has a weight.
const COUNT: u32 = 3_000;

fn world() -> World {
    let world = World::new(&[]);
    let mut client = world.client();
    for part in (0..COUNT).collect::<Vec<_>>().chunks(500) {
        let elements: Vec<String> = part.iter().map(u32::to_string).collect();
        let weights: Vec<String> = part.iter().map(|at| format!("w:{at} {}", COUNT - at)).collect();
        client.call(&format!("RPUSH list {}", elements.join(" ")));
        client.call(&format!("MSET {}", weights.join(" ")));
    }
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
fn sort_in_a_transaction_is_atomic() {
    let world = world();
    let mut client = world.client();
    client.call("MULTI");
    client.call("SET w:7 -1");
    client.call("SORT list BY w:* LIMIT 0 2 GET # GET w:*");
    client.call("SORT list BY w:* LIMIT 0 2 STORE to");
    client.call("LRANGE to 0 -1");
    let reply = client.call("EXEC");
    let expected =
        "*4\r\n+OK\r\n*4\r\n$1\r\n7\r\n$2\r\n-1\r\n$4\r\n2999\r\n$1\r\n1\r\n:2\r\n*2\r\n$1\r\n7\r\n$4\r\n2999\r\n";
    assert_eq!(reply, expected);
}

#[test]
fn sort_by_other_keys_uses_their_weights() {
    let world = world();
    let mut client = world.client();
    let reply = client.call("SORT list BY w:* LIMIT 0 3");
    assert_eq!(reply, "*3\r\n$4\r\n2999\r\n$4\r\n2998\r\n$4\r\n2997\r\n");
    assert_eq!(client.call("SORT list BY w:* DESC STORE to"), format!(":{COUNT}\r\n"));
    assert_eq!(client.call("LRANGE to 0 1"), "*2\r\n$1\r\n0\r\n$1\r\n1\r\n");
}

#[test]
fn sort_store_uses_one_snapshot_of_the_list() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    let mut pushed = 0;
    let stored = run_beside(&mut client, "SORT list DESC STORE to", || {
        if pushed < 40 {
            pushed += 1;
            other.call(&format!("RPUSH list {}", COUNT + pushed));
        }
    });
    let len = client.call("LLEN to");
    assert_eq!(stored, len);
    let first = client.call("LINDEX to 0");
    // The count and the largest element are of the same instant.
    let count: u32 = stored.trim_matches([':', '\r', '\n']).parse().unwrap();
    let greatest = if count == COUNT { COUNT - 1 } else { count };
    assert_eq!(first, format!("$4\r\n{greatest}\r\n"));
}

#[test]
fn sort_of_an_always_changing_list_uses_a_snapshot() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client());
    let reply = run_beside(&mut client, "SORT list BY w:* LIMIT 0 1 GET #", || {
        other.call("RPUSH list 1");
    });
    assert_eq!(reply, "*1\r\n$4\r\n2999\r\n");
}
