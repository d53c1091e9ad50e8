//! Bulk operations on very many entries or deliveries: by chunk and by range rather than one by one.
//!
//! ```text
//!   range     | item | item | item | item |           cut out and merged with the changes, in the same order
//!   changes          | put  |      | del  | put |
//!   merged    | item | put  | item |      | put |     put in its place as a whole
//! ```

use super::Stream;
use super::chunk::Fields;
use super::group::Pending;
use super::id::StreamId;
use super::key::{Key, OWNED, OWNED_KEY_BYTES, PENDING, PENDING_KEY_BYTES};
use crate::List;
use blocks::{Direction, End};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// Above this many deliveries at once, their items are built separately and inserted as a whole.
pub(super) const ONE_BY_ONE_MAX: usize = 64;
/// A smaller part of a range than this is changed item by item.
const MUCH_SHARE: u64 = 16;

/// An item with the same key becomes these bytes, or is removed.
type Change = (Vec<u8>, bool);

impl Stream {
    /// Visits the entries with these ascending ids, each with its id; `None` for a missing one. O(ids log n), or if
    /// many are in one chunk, O(its entries).
    pub fn walk_these(&self, ids: &[StreamId], visit: &mut impl FnMut(StreamId, Option<Fields<'_>>)) {
        let (chunks, mut rest) = (self.chunks(), ids);
        while let Some(&first) = rest.first() {
            let shown = self.chunk_of(&chunks, first).map_or(0, |at| {
                self.chunk_at(at, |chunk| {
                    let within = &rest[..rest.partition_point(|id| *id <= chunk.last)];
                    let mut entries = chunk.iter().peekable();
                    for &id in within {
                        while entries.next_if(|(other, _)| *other < id).is_some() {}
                        visit(id, entries.next_if(|(other, _)| *other == id).map(|(_, fields)| fields));
                    }
                    within.len()
                })
            });
            if shown == 0 {
                visit(first, None);
            }
            rest = &rest[shown.max(1)..];
        }
    }

    /// Returns how many of these ascending ids are entries. Cost as of [`Stream::walk_these`].
    pub fn count_of(&self, ids: &[StreamId]) -> u64 {
        let mut count = 0;
        self.walk_these(ids, &mut |_, fields| count += u64::from(fields.is_some()));
        count
    }

    /// Removes the entries with these ascending ids. Returns how many existed. Cost as of [`Stream::walk_these`].
    pub fn delete_these(&mut self, ids: &[StreamId]) -> u64 {
        let (mut rest, mut count, mut deleted_id) = (ids, 0, StreamId::MIN);
        while let Some(&first) = rest.first() {
            let found = self.chunk_of(&self.chunks(), first).map(|at| {
                self.chunk_at(at, |chunk| {
                    let within = &rest[..rest.partition_point(|id| *id <= chunk.last)];
                    let mut left = within;
                    let mut goes = |id| {
                        left = &left[left.partition_point(|other| *other < id)..];
                        left.first() == Some(&id)
                    };
                    let gone = chunk.iter().map(|(id, _)| id).filter(|id| goes(*id)).collect::<Vec<_>>();
                    let without = (!gone.is_empty()).then(|| chunk.without(|id| gone.binary_search(&id).is_ok()));
                    (at, within.len(), gone, without)
                })
            });
            let Some((at, within, gone, without)) = found else {
                rest = &rest[1..];
                continue;
            };
            if let Some(without) = without {
                self.exchange_chunk(at, without);
                count += gone.len() as u64;
                deleted_id = gone.last().copied().unwrap_or(deleted_id);
            }
            rest = &rest[within.max(1)..];
        }
        if count > 0 {
            self.change_foot(|foot| {
                foot.len -= count;
                foot.deleted_id = foot.deleted_id.max(deleted_id);
            });
        }
        count
    }

    /// Returns the pending deliveries of these ascending ids; `None` for one that is not pending. O(ids log n), or if
    /// they are close together, O(those between them).
    pub fn pending_of(&self, group: u32, ids: &[StreamId]) -> Vec<Option<Pending>> {
        let point = |id: &StreamId| self.point(&Key::tag(PENDING).number(group).id(*id));
        let between = match ids {
            [first, .., last] if ids.len() > ONE_BY_ONE_MAX && StreamId::rise(ids) => Some(point(last) - point(first)),
            _ => None,
        };
        if between.is_none_or(|between| between > ids.len() as u64 * MUCH_SHARE) {
            return ids.iter().map(|id| self.pending(group, *id)).collect();
        }
        let mut found = Vec::with_capacity(ids.len());
        let _ = self.walk_pending(group, ids[0], Direction::Forward, &mut |pending| {
            while ids.get(found.len()).is_some_and(|id| *id < pending.id) {
                found.push(None);
            }
            if ids.get(found.len()) == Some(&pending.id) {
                found.push(Some(pending));
            }
            if found.len() < ids.len() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found.resize(ids.len(), None);
        found
    }

    /// Makes deliveries of these ids pending for a consumer; previous owners lose them. `make` derives each delivery
    /// from the previous one, if any. Returns the removed items. O(ids log n), or if the ids ascend and are a large
    /// part of those pending, O(pending).
    pub fn put_pending_of(
        &mut self,
        group: u32,
        ids: &[StreamId],
        make: impl Fn(StreamId, Option<Pending>) -> Pending,
    ) -> List {
        if !self.is_much(group, ids) {
            for &id in ids {
                let old = self.pending(group, id);
                self.put_pending(group, make(id, old));
            }
            return List::new();
        }
        let olds = self.pending_of(group, ids);
        let news: Vec<Pending> = ids.iter().zip(&olds).map(|(id, old)| make(*id, *old)).collect();
        let mut owners: BTreeMap<u32, Vec<Change>> = BTreeMap::new();
        for (old, new) in
            olds.into_iter().zip(&news).filter(|(old, new)| old.is_none_or(|old| old.consumer != new.consumer))
        {
            if let Some(old) = old {
                owners.entry(old.consumer).or_default().push((old.owned_item(group), false));
            }
            owners.entry(new.consumer).or_default().push((new.owned_item(group), true));
        }
        let changes = news.iter().map(|new| (new.item(group), true));
        let mut gone = self.merge(self.range(|| Key::tag(PENDING).number(group)), PENDING_KEY_BYTES, changes);
        gone.append(self.merge_owned(group, owners));
        gone
    }

    /// Removes the pending deliveries of these ascending ids and returns the removed items; `None`, without any change,
    /// if one is not pending. O(ids log n), or if they are a large part of those pending, O(pending).
    pub fn drop_pending_of(&mut self, group: u32, ids: &[StreamId]) -> Option<List> {
        let olds: Vec<Pending> = self.pending_of(group, ids).into_iter().collect::<Option<_>>()?;
        if !self.is_much(group, ids) {
            ids.iter().for_each(|id| assert!(self.drop_pending(group, *id), "it was there"));
            return Some(List::new());
        }
        let mut owners: BTreeMap<u32, Vec<Change>> = BTreeMap::new();
        for old in &olds {
            owners.entry(old.consumer).or_default().push((old.owned_item(group), false));
        }
        let changes = olds.iter().map(|old| (old.item(group), false));
        let mut gone = self.merge(self.range(|| Key::tag(PENDING).number(group)), PENDING_KEY_BYTES, changes);
        gone.append(self.merge_owned(group, owners));
        Some(gone)
    }

    /// Returns true if merging these ids into all pending deliveries is better than one by one.
    fn is_much(&self, group: u32, ids: &[StreamId]) -> bool {
        ids.len() > ONE_BY_ONE_MAX && StreamId::rise(ids) && ids.len() as u64 > self.pending_count(group) / MUCH_SHARE
    }

    /// Changes the deliveries that some consumers own.
    fn merge_owned(&mut self, group: u32, owners: BTreeMap<u32, Vec<Change>>) -> List {
        let mut gone = List::new();
        for (consumer, changes) in owners {
            let range = self.range(|| Key::tag(OWNED).number(group).number(consumer));
            gone.append(self.merge(range, OWNED_KEY_BYTES, changes.into_iter()));
        }
        gone
    }

    /// Applies changes to a range of items whose sort key is their first `key_bytes` bytes. Returns the previous items.
    fn merge(&mut self, range: Range<u64>, key_bytes: usize, changes: impl Iterator<Item = Change>) -> List {
        let (start, gone, mut merged) = (range.start, self.cut(range), List::new());
        let mut changes = changes.peekable();
        let _ = gone.walk(0, gone.len(), Direction::Forward, &mut |item: &[u8]| {
            let key = &item[..key_bytes];
            while let Some((new, _)) = changes.next_if(|(change, _)| change[..key_bytes] < *key) {
                merged.push(End::Tail, &new);
            }
            match changes.next_if(|(change, _)| change[..key_bytes] == *key) {
                Some((new, true)) => merged.push(End::Tail, &new),
                Some((_, false)) => {}
                None => merged.push(End::Tail, item),
            }
            ControlFlow::Continue(())
        });
        changes.for_each(|(new, _)| merged.push(End::Tail, &new));
        let rest = self.list.split_off(start);
        self.list.append(merged);
        self.list.append(rest);
        gone
    }
}
