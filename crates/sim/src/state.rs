//! All that a keyspace holds, to be compared.

use base::limits::SHARDS;
use blocks::Direction;
use keyspace::{Entry, Keyspace, list_of, text_of};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Database and key to content and deadline.
pub(crate) type State = BTreeMap<(u32, Vec<u8>), (Vec<Vec<u8>>, Option<u64>)>;

/// Every key of every database, expired ones included; `None` if somebody holds a shard.
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
    let Some(list) = list_of(entry) else {
        return vec![b"text".to_vec(), text_of(entry).expect("an entry is a list or a text").to_vec()];
    };
    let mut items = vec![b"list".to_vec()];
    let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        ControlFlow::Continue(())
    });
    items
}
