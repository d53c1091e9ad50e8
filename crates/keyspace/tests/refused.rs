//! Replay refuses records that no guard can have written, and leaves the key unchanged.

use base::hash::KeyHasher;
use blocks::End;
use keyspace::effect::{HashChange, Items, ListChange};
use keyspace::{DecodeError, Effect, Keyspace, Record, hash_of, list_of, shard_of, string_of};
use std::ops::ControlFlow;
use values::ValueType;

fn keyspace() -> Keyspace {
    Keyspace::new(KeyHasher::new([7; 16]), 2)
}

fn replay(keyspace: &Keyspace, key: &[u8], effect: Effect<'_>) -> Result<(), DecodeError> {
    let mut bytes = Vec::new();
    Record { table: 0, key, effect }.encode(&mut bytes);
    keyspace.replay(&bytes)
}

fn list(change: ListChange<'_>) -> Effect<'_> {
    Effect::List(change)
}

/// A text under `t`, a list of two items under `l`.
fn filled() -> Keyspace {
    let keyspace = keyspace();
    replay(&keyspace, b"t", Effect::StringPut { expires_at_ms: None, bytes: b"text" }).unwrap();
    let items = Items::Slices(&[b"a", b"b"]);
    replay(&keyspace, b"l", list(ListChange::Push { end: End::Tail, items })).unwrap();
    keyspace
}

fn assert_untouched(keyspace: &Keyspace, context: &str) {
    let find = |key: &[u8]| {
        let hash = keyspace.hash(key);
        let shard = keyspace.shard(shard_of(hash)).try_read().unwrap();
        let entry = shard.section(0).and_then(|section| section.find(hash, key))?;
        Some((string_of(entry).map(|text| text.to_vec()), list_of(entry).map(|list| list.len())))
    };
    assert_eq!(find(b"t"), Some((Some(b"text".to_vec()), None)), "{context}");
    assert_eq!(find(b"l"), Some((None, Some(2))), "{context}");
    assert_eq!(find(b"none"), None, "{context}");
}

#[test]
fn misfitting_effects_are_refused_and_change_nothing() {
    let items = Items::Slices(&[b"x"]);
    let cases: [(&[u8], Effect<'_>); 19] = [
        (b"l", Effect::StringAppend(b"x")),
        (b"l", Effect::StringOverwrite { offset: 0, bytes: b"x" }),
        (b"t", Effect::StringOverwrite { offset: 512 << 20, bytes: b"x" }),
        (b"t", Effect::StringOverwrite { offset: u64::MAX, bytes: b"x" }),
        (b"none", Effect::ExpiryPut(1)),
        (b"none", Effect::ExpiryClear),
        (b"t", list(ListChange::Push { end: End::Head, items })),
        (b"l", list(ListChange::Pop { end: End::Head, count: 3 })),
        (b"l", list(ListChange::Pop { end: End::Tail, count: u64::MAX })),
        (b"none", list(ListChange::Pop { end: End::Tail, count: 1 })),
        (b"l", list(ListChange::Put { index: 2, item: b"x" })),
        (b"none", list(ListChange::Insert { index: 1, item: b"x" })),
        (b"l", list(ListChange::Insert { index: 3, item: b"x" })),
        (b"l", list(ListChange::Remove { index: 1, count: 2 })),
        (b"l", list(ListChange::Remove { index: 2, count: u64::MAX })),
        (b"l", list(ListChange::RemoveMany { count: 1, runs: &[2, 1] })),
        (b"l", list(ListChange::RemoveMany { count: 2, runs: &[0, 1, 1, 1] })),
        (b"none", list(ListChange::RemoveMany { count: 1, runs: &[0, 1] })),
        (b"t", list(ListChange::RemoveMany { count: 1, runs: &[0, 1] })),
    ];
    let keyspace = filled();
    for (key, effect) in cases {
        assert_eq!(replay(&keyspace, key, effect), Err(DecodeError::Misfit), "{effect:?}");
        assert_untouched(&keyspace, &format!("{effect:?}"));
    }
}

/// A hash under `h`: `a` has a deadline, `b` has none.
fn with_hash() -> Keyspace {
    let keyspace = filled();
    let pairs = Items::Slices(&[b"a", b"1", b"b", b"2"]);
    replay(&keyspace, b"h", Effect::Hash(HashChange::Put { pairs })).unwrap();
    let expiry = HashChange::ExpiryPut { expires_at_ms: 5, fields: Items::Slices(&[b"a"]) };
    replay(&keyspace, b"h", Effect::Hash(expiry)).unwrap();
    keyspace
}

fn fields(keyspace: &Keyspace) -> Vec<(Vec<u8>, Vec<u8>, Option<u64>)> {
    let hash = keyspace.hash(b"h");
    let shard = keyspace.shard(shard_of(hash)).try_read().unwrap();
    let entry = shard.section(0).and_then(|section| section.find(hash, b"h")).expect("it is there");
    let mut fields = Vec::new();
    let _ = hash_of(entry).expect("a hash").walk(&mut |pair| {
        fields.push((pair.field.to_vec(), pair.value.to_vec(), pair.expires_at_ms));
        ControlFlow::Continue(())
    });
    fields
}

#[test]
fn misfitting_hash_changes_are_refused_and_change_nothing() {
    let keyspace = with_hash();
    let before = fields(&keyspace);
    let (pairs, there, absent) = (Items::Slices(&[b"x", b"y"]), Items::Slices(&[b"a"]), Items::Slices(&[b"a", b"x"]));
    let cases: [(&[u8], HashChange<'_>); 15] = [
        (b"t", HashChange::Put { pairs }),
        (b"l", HashChange::Put { pairs }),
        (b"l", HashChange::PutKeeping { pairs, place: None }),
        (b"l", HashChange::Remove { fields: there }),
        (b"h", HashChange::Remove { fields: absent }),
        (b"none", HashChange::Remove { fields: there }),
        (b"h", HashChange::Expire { count: 2 }),
        (b"h", HashChange::Expire { count: u64::MAX }),
        (b"none", HashChange::Expire { count: 1 }),
        (b"h", HashChange::ExpiryPut { expires_at_ms: 9, fields: absent }),
        (b"none", HashChange::ExpiryPut { expires_at_ms: 9, fields: there }),
        (b"h", HashChange::ExpiryClear { fields: absent }),
        (b"t", HashChange::ExpiryClear { fields: there }),
        (b"none", HashChange::Grow),
        (b"l", HashChange::Grow),
    ];
    for (key, change) in cases {
        assert_eq!(replay(&keyspace, key, Effect::Hash(change)), Err(DecodeError::Misfit), "{change:?}");
        assert_untouched(&keyspace, &format!("{change:?}"));
        assert_eq!(fields(&keyspace), before, "{change:?}");
    }
    for change in [HashChange::Grow, HashChange::Grow, HashChange::Expire { count: 0 }, HashChange::Expire { count: 1 }]
    {
        replay(&keyspace, b"h", Effect::Hash(change)).unwrap();
    }
    assert_eq!(fields(&keyspace), [(b"b".to_vec(), b"2".to_vec(), None)]);
    // As a list does, though a guard records the removal of the key.
    replay(&keyspace, b"h", Effect::Hash(HashChange::Remove { fields: Items::Slices(&[b"b"]) })).unwrap();
    assert_untouched(&keyspace, "the hash has gone");
    assert_eq!(
        keyspace.shard(shard_of(keyspace.hash(b"h"))).try_read().unwrap().section(0).unwrap().expiring_count(),
        0
    );
}

#[test]
fn empty_or_odd_field_lists_are_malformed() {
    let keyspace = with_hash();
    let (none, odd) = (Items::Slices(&[]), Items::Slices(&[b"a", b"b", b"c"]));
    for change in [
        HashChange::Put { pairs: none },
        HashChange::Put { pairs: odd },
        HashChange::PutKeeping { pairs: odd, place: None },
        HashChange::Remove { fields: none },
        HashChange::ExpiryPut { expires_at_ms: 1, fields: none },
        HashChange::ExpiryClear { fields: none },
    ] {
        assert_eq!(replay(&keyspace, b"h", Effect::Hash(change)), Err(DecodeError::Malformed), "{change:?}");
    }
}

#[test]
fn inconsistent_removal_runs_are_malformed() {
    let keyspace = filled();
    let cases: [(u64, &[u8]); 6] =
        [(2, &[0, 1]), (1, &[0, 2]), (0, &[0, 0]), (2, &[0, 1, 0, 1]), (1, &[0, 1, 1]), (1, &[0x80, 0, 1])];
    for (count, runs) in cases {
        let effect = list(ListChange::RemoveMany { count, runs });
        assert_eq!(replay(&keyspace, b"l", effect), Err(DecodeError::Malformed), "{effect:?}");
        assert_untouched(&keyspace, &format!("{effect:?}"));
    }
}

#[test]
fn empty_values_and_trailing_bytes_are_malformed() {
    let keyspace = filled();
    for (kind, encoded) in [
        (ValueType::String, &b"\x01zz"[..]),
        (ValueType::List, b"\x01\x01\x01\x01az"),
        (ValueType::List, b"\x00"),
        (ValueType::Hash, b"\x00"),
    ] {
        let effect = Effect::ValuePut { expires_at_ms: None, kind, encoded };
        assert_eq!(replay(&keyspace, b"t", effect), Err(DecodeError::Malformed), "{effect:?}");
        assert_untouched(&keyspace, &format!("{effect:?}"));
    }
}

#[test]
fn a_map_change_with_a_key_or_table_is_malformed() {
    let effect = Effect::MapPut { database: 0, table: 9 };
    for (table, key) in [(1, &b""[..]), (0, b"k")] {
        let keyspace = keyspace();
        let mut bytes = Vec::new();
        Record { table, key, effect }.encode(&mut bytes);
        assert_eq!(keyspace.replay(&bytes), Err(DecodeError::Malformed));
        assert_eq!(keyspace.map().table(0), 0);
    }
}
