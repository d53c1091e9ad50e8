//! Memory that replies under way pin of values that have changed since: counted, reported, and limited.

use crate::support::{Client, World, read};
use engine::close_greatest_pinners;
use std::sync::atomic::Ordering::Relaxed;
use wire::Output;

const ITEMS: usize = 100_000;
/// The content of the list: a little less than its blocks take.
const CONTENT_BYTES: u64 = 16 * ITEMS as u64;
/// Content that a clone keeps: the first 64 KiB are sent at once.
const KEPT_BYTES: u64 = CONTENT_BYTES - (64 << 10);

/// Returns an incompressible item.
fn item(index: usize) -> String {
    let drawn = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..16).map(|at| char::from(33 + (drawn.rotate_left(7 * at) % 94) as u8)).collect()
}

fn fill(client: &mut Client, key: &str) {
    let items: Vec<String> = (0..ITEMS).map(item).collect();
    for part in items.chunks(1000) {
        client.call(&format!("RPUSH {key} {}", part.join(" ")));
    }
}

/// Requests a whole list and reads none of the reply.
fn ask(client: &mut Client, key: &str) -> Output {
    let mut output = Output::new();
    client.send(&[b"LRANGE", key.as_bytes(), b"0", b"-1"], &mut output);
    output
}

fn pinned(client: &Client, output: &Output) -> u64 {
    client.session.note_waiting(output);
    client.session.client().pinned_bytes()
}

/// Returns a field of INFO.
fn info(client: &mut Client, field: &str) -> u64 {
    let reply = client.call("INFO everything");
    let value = reply.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.expect("a field").parse().unwrap()
}

/// Drops values whose drop was deferred.
fn free(world: &World) {
    if let Some(garbage) = world.engine.deferred_drop.receiver() {
        garbage.try_iter().for_each(drop);
    }
}

#[test]
fn a_reader_pins_replaced_blocks_up_to_the_list_size() {
    let world = World::new(&[]);
    let [mut writer, mut reader] = [world.client(), world.client()];
    fill(&mut writer, "list");
    let output = ask(&mut reader, "list");
    assert_eq!(pinned(&reader, &output), 0, "nothing has changed");
    writer.call("RPUSH list more");
    let after_one = pinned(&reader, &output);
    assert!((1..32 << 10).contains(&after_one), "a leaf and its path: {after_one}");
    for index in (0..ITEMS).step_by(100) {
        writer.call(&format!("LSET list {index} 0123456789abcdef"));
    }
    let rewritten = pinned(&reader, &output);
    assert!((KEPT_BYTES..2 * CONTENT_BYTES).contains(&rewritten), "about all of it: {rewritten}");
    for index in (0..ITEMS).step_by(100) {
        writer.call(&format!("LSET list {index} 0123456789ABCDEF"));
    }
    assert_eq!(pinned(&reader, &output), rewritten, "blocks of the list's own are nobody's pin");
    assert_eq!(info(&mut writer, "mem_clients_pinned"), rewritten);
    assert!(info(&mut writer, "mem_clients_normal") > rewritten);
    let line = reader.session.client().line(0);
    let memory = 1024 + output.bytes_pending() as u64 + rewritten;
    assert!(line.contains(&format!("tot-mem={memory} ")), "{line}");
    let reply = read(output);
    assert!(reply.contains(&item(500)), "as it was when it was asked for");
    assert_eq!(pinned(&reader, &Output::new()), 0);
    assert_eq!(info(&mut writer, "mem_clients_pinned"), 0);
}

#[test]
fn a_list_removed_during_a_reply_is_pinned_once_dropped() {
    for removal in ["DEL list", "LTRIM list 1 0", "SET list x", "RENAME other list", "FLUSHALL", "LPOP list 100000"] {
        let world = World::new(&[]);
        let [mut writer, mut reader] = [world.client(), world.client()];
        writer.call("RPUSH other x");
        fill(&mut writer, "list");
        let output = ask(&mut reader, "list");
        writer.call(removal);
        engine::ExpireCycle::new(world.engine.clone()).pass();
        free(&world);
        let bytes = pinned(&reader, &output);
        assert!((KEPT_BYTES..2 * CONTENT_BYTES).contains(&bytes), "{removal}: {bytes}");
    }
}

#[test]
fn removing_a_list_without_readers_pins_nothing() {
    let world = World::new(&[]);
    let [mut writer, mut reader] = [world.client(), world.client()];
    fill(&mut writer, "{tag}other");
    fill(&mut writer, "{tag}list");
    let output = ask(&mut reader, "{tag}list");
    writer.call("DEL {tag}other");
    free(&world);
    assert_eq!(pinned(&reader, &output), 0);
}

#[test]
fn the_largest_pinners_are_closed_until_pins_fit_the_limit() {
    let world = World::new(&[("client-pinned-limit", "2mb")]);
    let mut writer = world.client();
    let mut readers: Vec<Client> = (0..4).map(|_| world.client()).collect();
    fill(&mut writer, "list");
    // Each later reader pins less.
    let mut outputs = Vec::new();
    for (nth, reader) in readers.iter_mut().enumerate() {
        outputs.push(ask(reader, "list"));
        for index in (0..ITEMS / 4).step_by(100) {
            writer.call(&format!("LSET list {} 0123456789abcdef", index + nth * ITEMS / 4));
        }
    }
    let bytes: Vec<u64> = readers.iter().zip(&outputs).map(|(reader, output)| pinned(reader, output)).collect();
    assert!(bytes.is_sorted_by(|a, b| a > b), "{bytes:?}");
    assert_eq!(world.engine.clients.pinned_bytes(), bytes.iter().sum::<u64>());
    let limit = 2 << 20;
    assert!(bytes[0] + bytes[3] <= limit && bytes[0] + bytes[2] + bytes[3] > limit, "{bytes:?}");
    readers[0].session.client().no_evict.store(true, Relaxed);
    let closed = close_greatest_pinners(&world.engine);
    let ids: Vec<u64> = closed.iter().map(|(client, _)| client.id).collect();
    let id = |nth: usize| readers[nth].session.client().id;
    assert_eq!(ids, [id(1), id(2)], "the first asked for NO-EVICT");
    assert!(closed.iter().all(|(client, _)| client.is_closing(None)));
    assert!(close_greatest_pinners(&world.engine).is_empty(), "those that are going are asked once");
    assert_eq!(info(&mut writer, "evicted_clients"), 2);
    for client in &readers {
        world.engine.clients.remove(client.session.client().id);
    }
    assert_eq!(world.engine.clients.pinned_bytes(), 0);
}
