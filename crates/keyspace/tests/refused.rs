//! Records that no guard can have written are refused by replay, and leave the key as it was.

use base::hash::KeyHasher;
use blocks::End;
use keyspace::effect::{Items, ListChange};
use keyspace::{DecodeError, Effect, Keyspace, Record, list_of, shard_of, text_of};
use kinds::Kind;

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
    replay(&keyspace, b"t", Effect::TextPut { expires_at_ms: None, bytes: b"text" }).unwrap();
    let items = Items::Slices(&[b"a", b"b"]);
    replay(&keyspace, b"l", list(ListChange::Push { end: End::Tail, items })).unwrap();
    keyspace
}

fn assert_untouched(keyspace: &Keyspace, context: &str) {
    let find = |key: &[u8]| {
        let hash = keyspace.hash(key);
        let shard = keyspace.shard(shard_of(hash)).try_read().unwrap();
        let entry = shard.section(0).and_then(|section| section.find(hash, key))?;
        Some((text_of(entry).map(|text| text.to_vec()), list_of(entry).map(|list| list.len())))
    };
    assert_eq!(find(b"t"), Some((Some(b"text".to_vec()), None)), "{context}");
    assert_eq!(find(b"l"), Some((None, Some(2))), "{context}");
    assert_eq!(find(b"none"), None, "{context}");
}

#[test]
fn what_does_not_fit_the_value_is_a_misfit_and_changes_nothing() {
    let items = Items::Slices(&[b"x"]);
    let cases: [(&[u8], Effect<'_>); 19] = [
        (b"l", Effect::TextAppend(b"x")),
        (b"l", Effect::TextOverwrite { offset: 0, bytes: b"x" }),
        (b"t", Effect::TextOverwrite { offset: 512 << 20, bytes: b"x" }),
        (b"t", Effect::TextOverwrite { offset: u64::MAX, bytes: b"x" }),
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

#[test]
fn runs_that_are_none_are_malformed() {
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
fn a_value_with_anything_behind_it_is_malformed() {
    let keyspace = filled();
    for (kind, encoded) in [(Kind::Text, &b"\x01zz"[..]), (Kind::List, b"\x01\x01\x01\x01az"), (Kind::List, b"\x00")] {
        let effect = Effect::ValuePut { expires_at_ms: None, kind, encoded };
        assert_eq!(replay(&keyspace, b"t", effect), Err(DecodeError::Malformed), "{effect:?}");
        assert_untouched(&keyspace, &format!("{effect:?}"));
    }
}

#[test]
fn a_change_of_the_map_names_no_key() {
    let effect = Effect::MapPut { database: 0, table: 9 };
    for (table, key) in [(1, &b""[..]), (0, b"k")] {
        let keyspace = keyspace();
        let mut bytes = Vec::new();
        Record { table, key, effect }.encode(&mut bytes);
        assert_eq!(keyspace.replay(&bytes), Err(DecodeError::Malformed));
        assert_eq!(keyspace.map().table(0), 0);
    }
}
