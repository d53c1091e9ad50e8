//! Foreign bytes as a frame's payload: replay answers with an error or applies them, and what it leaves is sound.
//!
//! ```text
//!   | record | record | ... |     as docs/formats/effect.md draws them
//! ```
//!
//! A record has one encoding; what is refused has changed nothing; whole or record by record, the state is the same.

#![no_main]

use base::hash::KeyHasher;
use base::limits::SHARDS;
use keyspace::{Effect, Keyspace, Record, Whole, string_of};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use values::Value;

const DATABASES: u32 = 2;
/// Gaps of zeros beyond this only take time.
const OFFSET_MAX: u64 = 1 << 20;
/// More tables than a server would name make a run slow and show nothing new.
const TABLES_MAX: u32 = 8;

thread_local! {
    /// Two keyspaces, used again and again: a thousand shards take longer to make than a frame to replay.
    static PAIR: RefCell<[Keyspace; 2]> = RefCell::new([0, 1].map(|_| Keyspace::new(KeyHasher::new([7; 16]), DATABASES)));
}

fuzz_target!(|data: &[u8]| {
    if !is_sane(data) {
        return;
    }
    PAIR.with_borrow(|[first, second]| {
        [first, second].into_iter().for_each(clear);
        // Whole at once, and record by record until one is refused: the same answer and the same state.
        let whole = first.replay(data);
        let mut rest = data;
        let mut one_by_one = Ok(());
        while !rest.is_empty() && one_by_one.is_ok() {
            let begin = rest;
            one_by_one = match Record::decode(&mut rest) {
                Ok(record) => {
                    let bytes = &begin[..begin.len() - rest.len()];
                    assert_eq!(encoded(&record), bytes, "a record has one encoding");
                    let before = contents(second, &record);
                    let result = second.replay(bytes);
                    assert!(result.is_ok() || contents(second, &record) == before, "what is refused changes nothing");
                    result
                }
                Err(error) => Err(error),
            };
        }
        assert_eq!(whole, one_by_one);
        assert_eq!(check(first), check(second));
    });
});

/// All databases get a table that no record names, so all others are dead.
fn clear(keyspace: &Keyspace) {
    (0..TABLES_MAX).for_each(|database| keyspace.map().put(database, TABLES_MAX));
    (0..SHARDS).for_each(|shard| drop(keyspace.take_dead_sections(shard).expect("nobody else is here")));
}

/// Returns true if the bytes ask for no more memory and time than a run of the fuzzer should take.
fn is_sane(mut payload: &[u8]) -> bool {
    while !payload.is_empty() {
        match Record::decode(&mut payload) {
            Ok(Record { effect: Effect::StringOverwrite { offset, .. }, .. }) if offset > OFFSET_MAX => return false,
            Ok(Record { effect: Effect::MapPut { database, .. }, .. }) if database >= TABLES_MAX => return false,
            Ok(record) if record.table >= TABLES_MAX => return false,
            Ok(_) => {}
            Err(_) => break,
        }
    }
    true
}

fn encoded(record: &Record<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    bytes
}

/// All that the key of `record` holds.
fn contents(keyspace: &Keyspace, record: &Record<'_>) -> Option<Vec<u8>> {
    let hash = keyspace.hash(record.key);
    let shard = keyspace.shard(keyspace::shard_of(hash)).try_read().expect("nobody else is here");
    shard.section(record.table)?.find(hash, record.key).map(bytes_of)
}

fn bytes_of(entry: keyspace::Entry<'_>) -> Vec<u8> {
    let mut bytes = format!("{:?} ", entry.expires_at_ms()).into_bytes();
    match Whole::of(entry).value {
        Value::List(list) => {
            list.check();
            assert!(!list.is_empty(), "no key holds an empty list");
            list.encode(&mut bytes);
        }
        Value::Text(_) => bytes.extend(string_of(entry).expect("a text is a text").to_vec()),
        value => {
            assert!(!value.is_empty(), "no key holds an empty value");
            value.encode(&mut bytes);
            let mut again = &bytes[bytes.len() - value.encoded_bytes() as usize..];
            assert!(Value::decode(value.value_type(), &mut again).is_some(), "{value:?} is not what its kind can be");
        }
    }
    bytes
}

/// Everything in a keyspace, after a look at its sums.
fn check(keyspace: &Keyspace) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for index in 0..SHARDS {
        let shard = keyspace.shard(index).try_read().expect("nobody else is here");
        for table in 0..TABLES_MAX {
            let Some(section) = shard.section(table) else { continue };
            let entries: Vec<_> = section.scan(0).map(|(_, entry)| entry).collect();
            assert_eq!(section.keys_count(), entries.len());
            let expiring = entries.iter().filter(|entry| entry.expires_at_ms().is_some()).count();
            assert_eq!(section.expiring_count(), expiring);
            let mut here: Vec<_> = entries.iter().map(|entry| [entry.key(), &bytes_of(*entry)].concat()).collect();
            here.sort();
            all.append(&mut here);
        }
    }
    all
}
