//! The whole content of a keyspace, for comparison.

use base::limits::SHARDS;
use blocks::Direction;
use keyspace::{Entry, Keyspace, hash_of, list_of, queue_of, set_of, sorted_of, stream_of, string_of};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Maps database and key to content and deadline.
pub(crate) type State = BTreeMap<(u32, Vec<u8>), (Vec<Vec<u8>>, Option<u64>)>;

/// Returns every key of every database, including expired ones; `None` if a shard is locked.
pub(crate) fn state(keyspace: &Keyspace) -> Option<State> {
    let mut all = State::new();
    let map = keyspace.map();
    let databases: BTreeMap<_, _> = (0..map.databases()).map(|database| (map.table(database), database)).collect();
    for shard in 0..SHARDS {
        let shard = keyspace.shard(shard).try_read()?;
        for (table, section) in shard.sections() {
            let Some(database) = databases.get(&table) else { continue };
            for (_, entry) in section.scan(0) {
                all.insert((*database, entry.key().to_vec()), (content(entry), entry.expires_at_ms()));
            }
        }
    }
    Some(all)
}

fn content(entry: Entry<'_>) -> Vec<Vec<u8>> {
    if let Some(text) = string_of(entry) {
        let extras = entry.extras().map(|extras| format!("flags {} cas {}", extras.flags, extras.cas).into_bytes());
        return [b"text".to_vec(), text.to_vec()].into_iter().chain(extras).collect();
    }
    if let Some(set) = set_of(entry) {
        let mut items = vec![set.form().encoding().as_bytes().to_vec()];
        set.walk(0, set.len(), |member| {
            items.push(member.to_vec());
            ControlFlow::Continue(())
        });
        return items;
    }
    if let Some(hash) = hash_of(entry) {
        let mut items = vec![hash.encoding().as_bytes().to_vec()];
        let _ = hash.walk(&mut |pair| {
            items.extend([pair.field.to_vec(), pair.value.to_vec(), format!("{:?}", pair.expires_at_ms).into_bytes()]);
            ControlFlow::Continue(())
        });
        return items;
    }
    if let Some(sorted) = sorted_of(entry) {
        let mut items = vec![sorted.encoding().as_bytes().to_vec()];
        sorted.for_each(|score, member| items.extend([member.to_vec(), format!("{score:?}").into_bytes()]));
        return items;
    }
    let (kind, list) = match (stream_of(entry), queue_of(entry)) {
        // The whole list: its chunks depend on its history, like the form of a set.
        (Some(stream), _) => ("stream", stream.list()),
        (None, Some(queue)) => ("queue", queue.list()),
        (None, None) => ("list", list_of(entry).expect("it is of no other kind")),
    };
    let mut items = vec![kind.as_bytes().to_vec()];
    let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        ControlFlow::Continue(())
    });
    items
}
