//! A full disk: commands that remove data succeed, and then commands that grow.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support;
use crate::support::World;

const DISK_BYTES: u64 = 8 << 20;
/// More content than a record holds, so that leaves have segments of their own.
const LIST_ITEMS: usize = 40;
const ITEM_BYTES: usize = 1000;

fn item(list: usize, number: usize) -> String {
    // Hardly compressible.
    let mut state = (list * LIST_ITEMS + number) as u64;
    let mut text = format!("{list}:{number}:");
    while text.len() < ITEM_BYTES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!("{:016x}", state ^ state >> 31));
    }
    text
}

/// Saves everything, after a round that is under way.
fn save(client: &mut support::Client) {
    let is_other = |reply: &String| reply.contains("in progress");
    let reply = (0..1000).map(|_| client.call("SAVE")).find(|reply| !is_other(reply));
    assert_eq!(reply.as_deref(), Some("+OK\r\n"));
}

fn fill(client: &mut support::Client, from: usize) -> (usize, usize) {
    for list in from.. {
        for number in 0..LIST_ITEMS {
            let reply = client.call(&format!("RPUSH list:{list} {}", item(list, number)));
            if reply.starts_with("-MISCONF ") {
                return (list, number);
            }
            assert_eq!(reply, format!(":{}\r\n", number + 1));
        }
    }
    unreachable!("the disk has an end")
}

#[test]
fn removals_on_a_full_disk_make_room() {
    let world = World::on_small_disk(DISK_BYTES);
    let mut client = world.client();
    let (mut first, (mut last, mut items)) = (0, fill(&mut client, 0));
    assert!(last > 60, "{last} lists fit");
    for _ in 0..3 {
        // Half of the lists are removed, and an item of each other list: so no segment holds removed lists alone.
        let middle = first + (last - first) / 2;
        for list in first..middle {
            assert_eq!(client.call(&format!("DEL list:{list}")), ":1\r\n");
        }
        first = middle;
        for list in middle..last {
            let popped = client.call(&format!("LPOP list:{list}"));
            assert!(popped.starts_with('$'), "{popped}");
        }
        assert_eq!(client.call("SAVE"), "+OK\r\n");
        for list in middle..last {
            assert_eq!(client.call(&format!("LPUSH list:{list} x")), format!(":{LIST_ITEMS}\r\n"));
        }
        for list in first..last {
            let reply = client.call(&format!("LRANGE list:{list} 0 -1"));
            assert!(reply.starts_with(&format!("*{LIST_ITEMS}\r\n$1\r\nx\r\n")), "{list}");
            assert!((1..LIST_ITEMS).all(|number| reply.contains(&item(list, number))), "{list}");
        }
        assert_eq!(client.call(&format!("LLEN list:{last}")), format!(":{items}\r\n"));
        assert_eq!(client.call(&format!("DEL list:{last}")), format!(":{}\r\n", usize::from(items > 0)));
        let before = last;
        (last, items) = fill(&mut client, last);
        assert!(last > before + 20, "{last} lists after {before}");
    }
}

/// A script alone may read on a full disk; a write beside it must not run without room in the journal.
#[test]
fn a_write_beside_a_script_is_refused_on_a_full_disk() {
    let world = World::on_small_disk(DISK_BYTES);
    let mut client = world.client();
    fill(&mut client, 0);
    assert_eq!(client.call("EVAL return(1) 0"), ":1\r\n");
    assert_eq!(client.call("MULTI"), "+OK\r\n");
    assert_eq!(client.call(&format!("SET beside {}", item(0, 0))), "+QUEUED\r\n");
    assert_eq!(client.call("EVAL return(1) 0"), "+QUEUED\r\n");
    let refused = client.call("EXEC");
    assert!(refused.starts_with("-MISCONF "), "{refused}");
    assert_eq!(client.call("GET beside"), "$-1\r\n");
}

/// A round to regain room ends although single leaves are stored in segments of minimal length.
#[test]
fn segments_of_one_short_leaf_are_not_drained_forever() {
    let world = World::on_small_disk(DISK_BYTES);
    let mut client = world.client();
    for list in 0..12 {
        for number in 0..LIST_ITEMS + list {
            client.call(&format!("RPUSH list:{list} {}", item(list, number)));
        }
        assert_eq!(client.call("SAVE"), "+OK\r\n");
    }
    world.disk.leave_free(DISK_BYTES / 64);
    for list in 0..12 {
        assert!(client.call(&format!("RPUSH list:{list} x")).starts_with(':'));
        assert_eq!(client.call("SAVE"), "+OK\r\n");
        assert_eq!(client.call("SAVE"), "+OK\r\n");
    }
}

/// A shard without room does not keep the others from being written.
#[test]
fn a_shard_without_room_does_not_block_others() {
    let world = World::on_small_disk(DISK_BYTES);
    let mut client = world.client();
    // No key has been written before, and none of the large ones fits.
    for large in 0..6 {
        let text: String = (0..40).map(|number| item(large, number)).collect();
        assert_eq!(client.call(&format!("SET large:{large} {}", text.repeat(8))), "+OK\r\n");
    }
    for small in 0..1000 {
        assert_eq!(client.call(&format!("SET small:{small} x")), "+OK\r\n");
    }
    world.disk.leave_free(DISK_BYTES / 64);
    assert!(client.call("SAVE").starts_with("-ERR"));
    let stored = world.engine.checkpoints.status().stored;
    assert!(stored.statistics.live_bytes > 0, "{stored:?}");
}

/// Little data is stored although other files leave little room on a large disk.
#[test]
fn little_data_needs_little_room() {
    let world = World::on_small_disk(2 << 30);
    let mut client = world.client();
    assert_eq!(client.call("SET key value"), "+OK\r\n");
    world.disk.leave_free(4 << 20);
    save(&mut client);
    assert_eq!(client.call("DEL key"), ":1\r\n");
    save(&mut client);
}

/// Bases are not rewritten for a segment that stays because other shards have deltas in it: that would take room and
/// free none.
#[test]
fn a_drained_segment_is_emptied_of_other_shards_deltas() {
    let world = World::on_small_disk(2 * DISK_BYTES);
    let mut client = world.client();
    let keys: Vec<(usize, String)> = (0..6000).map(|number| (number, format!("key:{number}"))).collect();
    let shard = |key: &str| keyspace::shard_of(world.engine.keyspace.hash(key.as_bytes()));
    let mut set = |(number, key): &(usize, String), turn: usize| {
        let reply = client.call(&format!("SET {key} {}", &item(*number, turn)[..700]));
        assert_eq!(reply, "+OK\r\n");
    };
    keys.iter().for_each(|key| set(key, 0));
    save(&mut world.client());
    // Half of the shards are written whole, the others as deltas.
    let mut seen = std::collections::BTreeSet::new();
    for key in &keys {
        if shard(&key.1) % 2 == 1 || seen.insert(shard(&key.1)) {
            set(key, 1);
        }
    }
    save(&mut world.client());
    let before = world.engine.checkpoints.status().stored.statistics;
    // A segment of the journal that is removed only now leaves so much room that nothing has to be drained: once more.
    let mut rounds = (2..12).map(|turn| {
        world.disk.leave_free(DISK_BYTES / 32);
        set(&keys[0], turn);
        save(&mut world.client());
        world.engine.checkpoints.status().stored.statistics
    });
    let is_drained = |bytes: u64| before.disk_bytes.saturating_sub(bytes) > DISK_BYTES / 8;
    let after = rounds.find(|after| is_drained(after.disk_bytes)).expect("segments are drained for lack of room");
    let written_bytes = after.bytes_written - before.bytes_written;
    let given_back_bytes = before.disk_bytes - after.disk_bytes;
    assert!(4 * written_bytes < 5 * given_back_bytes, "{written_bytes} bytes written: {before:?}, {after:?}");
}

#[test]
fn leases_are_extended_and_released_on_a_full_disk() {
    let world = World::on_small_disk(DISK_BYTES);
    let (mut client, mut queue_client) = (world.client(), world.client_of_queues());
    for queue in 0..20 {
        client.call(&format!("RPUSH q{queue} work"));
        assert_eq!(
            queue_client.ask(&format!("get q{queue}/open\r\n")),
            format!("VALUE q{queue} 0 4\r\nwork\r\nEND\r\n")
        );
    }
    fill(&mut client, 0);
    // For an hour without room.
    for _ in 0..3_600 / 5 {
        world.advance(5_000);
        world.extend_leases();
    }
    assert!(!queue_client.session.client().is_closing(None));
    for queue in 0..20 {
        assert_eq!(client.call(&format!("LLEN q{queue}")), ":0\r\n");
        assert_eq!(queue_client.ask(&format!("get q{queue}/close\r\n")), "END\r\n");
        assert_eq!(client.call(&format!("EXISTS q{queue}")), ":0\r\n");
    }
}
