//! Connections that are paced: those that grow data, however they do it, and nobody else.

use crate::support::{Client, World};
use engine::Next;
use journal::{Journal, Policy};
use std::sync::Arc;
use wire::Output;

/// So long that no share grows by what a turn writes while the test runs.
const LEFT_US: u64 = 36_000_000_000;
const VALUE_BYTES: usize = 100_000;
/// Bytes between the goal and the bound behind it.
const ROOM_BYTES: u64 = 10 << 20;

/// Paces writers of `world`, which may write next to nothing more.
fn pace(world: &World) {
    let journal = journal(world);
    journal.set_tail_limit(journal.tail_bytes(journal.released()) + ROOM_BYTES);
    journal.pace_tail(Some((journal.next() + 1000, LEFT_US)));
}

fn journal(world: &World) -> &Arc<Journal> {
    world.engine.journal.as_ref().unwrap()
}

/// Returns true if the connection's next turn has to wait.
fn is_paced(client: &mut Client) -> bool {
    match client.send(&[b"GET", b"small"], &mut Output::new()) {
        Next::Paced(_) => true,
        Next::Input(_) => false,
        _ => panic!("a read waits for nothing else"),
    }
}

#[test]
fn whoever_grows_data_is_paced_and_nobody_else() {
    let world = World::new(&[]);
    // No sync sets a goal of its own.
    journal(&world).set_policy(Policy::Never);
    let library =
        "#!lua name=puts\nredis.register_function('put',function(k,a)return(redis.call('set','big',a[1]))end)";
    assert_eq!(world.client().call_bytes(&[b"FUNCTION", b"LOAD", library.as_bytes()]), "$4\r\nputs\r\n");
    let value = "v".repeat(VALUE_BYTES);
    let set = format!("SET big {value}");
    let exec: &[&str] = &["MULTI", &set, "EXEC"];
    let eval = format!("EVAL return(redis.call('set','big','{value}')) 0");
    let call = format!("FCALL put 0 {value}");
    let queued_eval: &[&str] = &["MULTI", &eval, "EXEC"];
    let growing: [&[&str]; 5] = [&[&set], exec, &[&eval], queued_eval, &[&call]];
    for lines in growing {
        journal(&world).pace_tail(None);
        let (mut writer, mut other) = (world.client(), world.client());
        writer.call("SET small s");
        pace(&world);
        assert!(!is_paced(&mut writer), "it has written nothing since");
        for line in lines {
            assert!(!writer.call(line).starts_with('-'), "{line:.40}");
        }
        assert!(is_paced(&mut writer), "{:.40}", lines[0]);
        assert!(!is_paced(&mut other), "others are not");
        other.call("DEL big");
        assert!(!is_paced(&mut other), "nor are those that remove");
        journal(&world).pace_tail(None);
        assert!(!is_paced(&mut writer), "without a goal nobody is");
    }
    world.stopped();
}
