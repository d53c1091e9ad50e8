//! Function libraries in a state that no request produces.

use crate::support::{START_MS, World};
use keyspace::{Absent, FieldExpiry, LIBRARIES, Log, Plan, Tx};
use std::sync::{Arc, Mutex};
use sync::lock::Want;

/// Puts arbitrary sources into the hash from which a start loads libraries.
fn put(world: &World, pairs: &[&[u8]]) {
    let keyspace = &world.engine.keyspace;
    let mut plan = Plan::default();
    plan.add_key(keyspace, LIBRARIES, Want::Write);
    plan.seal();
    let mut log = Log::default();
    let held = plan.try_hold(keyspace).unwrap();
    let mut tx = Tx::new(keyspace, held, 0, START_MS, &mut log, u64::MAX);
    tx.of_server(|tx| {
        let mut libraries = tx.hash_mut(LIBRARIES, Absent::Create).unwrap().unwrap();
        libraries.put(pairs, FieldExpiry::Clear).unwrap();
    });
    tx.end().clear();
}

#[test]
fn an_unloadable_library_is_logged_and_the_others_run() {
    let world = World::new(&[]);
    let logged = Arc::new(Mutex::new(Vec::new()));
    let log = logged.clone();
    world.engine.scripts.set_logger(Box::new(move |level, text| log.lock().unwrap().push(format!("{level} {text}"))));
    put(
        &world,
        &[
            b"broken",
            b"#!lua name=broken\nredis.register_function('f', function(",
            b"none",
            b"\xff\x00",
            b"good",
            b"#!lua name=good\nredis.register_function('seven', function() return 7 end)",
        ],
    );
    let mut client = world.client();
    for _ in 0..2 {
        assert_eq!(client.call("FCALL seven 0"), ":7\r\n");
        assert_eq!(client.call("FCALL f 0"), "-ERR Function not found\r\n");
    }
    assert!(client.call("FUNCTION STATS").contains("libraries_count\r\n:3\r\n"));
    let mut logged = logged.lock().unwrap();
    logged.sort_unstable();
    assert_eq!(logged.len(), 2, "{logged:?}");
    assert!(logged[0].starts_with("3 function library broken cannot be loaded: ERR Error compiling"), "{logged:?}");
    assert!(logged[1].contains("ERR Missing library metadata"), "{logged:?}");
    // It can be deleted like any other.
    assert_eq!(client.call("FUNCTION DELETE broken"), "+OK\r\n");
    assert_eq!(client.call("FUNCTION DELETE none"), "+OK\r\n");
    assert!(client.call("FUNCTION STATS").contains("libraries_count\r\n:1\r\n"));
}
