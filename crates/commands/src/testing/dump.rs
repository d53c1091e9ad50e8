//! The whole content of a keyspace, for comparison.

use base::limits::SHARDS;
use keyspace::{
    Held, Keyspace, Log, Plan, STALE, Tx, hash_of, list_of, queue_of, set_of, sorted_of, stream_of, string_of,
    tagged_of,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use sync::lock::Want;
use values::tagged::{Filter, LookLimits, Shown};
use values::{Queue, Stream};

/// A key's content: type and encoding, data (a list's elements, a string's extras), deadline in milliseconds.
pub type KeyDump = (&'static str, Vec<Vec<u8>>, Option<u64>);

/// Returns every key of every database, including expired ones. O(all).
pub fn dump(keyspace: &Keyspace) -> BTreeMap<(u32, Vec<u8>), KeyDump> {
    let mut all = BTreeMap::new();
    for shard in 0..SHARDS {
        let (mut plan, mut log) = (Plan::default(), Log::default());
        let mut tx = Tx::new(keyspace, hold(keyspace, &mut plan, shard), 0, 0, &mut log, u64::MAX);
        for database in 0..keyspace.map().databases() {
            tx.use_database(database);
            for (_, entry) in tx.section(shard).into_iter().flat_map(|section| section.scan(0)) {
                all.insert((database, entry.key().to_vec()), show(entry));
            }
        }
    }
    all
}

/// Locks one shard for reading through an empty `plan`.
///
/// # Panics
/// If it is locked already.
pub(super) fn hold<'k>(keyspace: &'k Keyspace, plan: &'k mut Plan, shard: usize) -> Held<'k> {
    plan.add_shard(shard, Want::Read);
    plan.seal();
    plan.try_hold(keyspace).unwrap_or_else(|_| panic!("shard {shard} is held by somebody"))
}

fn show(entry: keyspace::Entry<'_>) -> KeyDump {
    // The complete list of a stream or queue.
    let queue = queue_of(entry).map(Queue::list);
    let lists = [("list", list_of(entry)), ("stream", stream_of(entry).map(Stream::list)), ("queue", queue)];
    if let Some((kind, list)) = lists.into_iter().find_map(|(kind, list)| Some((kind, list?))) {
        let mut items = Vec::new();
        let _ = list.walk(0, list.len(), blocks::Direction::Forward, &mut |item: &[u8]| {
            items.push(item.to_vec());
            ControlFlow::Continue(())
        });
        return (kind, items, entry.expires_at_ms());
    }
    if let Some(set) = set_of(entry) {
        let mut members = Vec::new();
        set.walk(0, set.len(), |member| {
            members.push(member.to_vec());
            ControlFlow::Continue(())
        });
        return (set.form().encoding(), members, entry.expires_at_ms());
    }
    if let Some(hash) = hash_of(entry) {
        let mut items = Vec::new();
        let _ = hash.walk(&mut |pair| {
            items.extend([pair.field.to_vec(), pair.value.to_vec(), format!("{:?}", pair.expires_at_ms).into_bytes()]);
            ControlFlow::Continue(())
        });
        return (hash.encoding(), items, entry.expires_at_ms());
    }
    if let Some(sorted) = sorted_of(entry) {
        let mut items = Vec::new();
        sorted.for_each(|score, member| items.extend([member.to_vec(), format!("{score:?}").into_bytes()]));
        return (sorted.encoding(), items, entry.expires_at_ms());
    }
    if let Some(list) = tagged_of(entry) {
        let mut schema = Vec::new();
        list.schema().encode(&mut schema);
        let mut items = vec![schema];
        let (all, limits) = (Filter::of(Shown::All), LookLimits { skip: 0, chunks: u64::MAX });
        list.walk(0..list.len(), blocks::Direction::Forward, &all, limits, |found| {
            let (mut item, tags) = (Vec::new(), found.tags());
            tags.with(found.value).encode(&mut item);
            items.push(item);
            ControlFlow::Continue(())
        });
        list.check();
        return (list.encoding(), items, entry.expires_at_ms());
    }
    let text = string_of(entry).expect("it is of no other kind");
    let extras = entry.extras().map(|extras| {
        // Signs set by readers are not recorded.
        format!("flags {} cas {} stale {}", extras.flags, extras.cas, extras.signs & STALE).into_bytes()
    });
    (text.encoding(), std::iter::once(text.to_vec()).chain(extras).collect(), entry.expires_at_ms())
}
