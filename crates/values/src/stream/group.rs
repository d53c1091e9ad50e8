//! Consumer groups and their pending deliveries.
//!
//! ```text
//! group name     | 1 | 0 : 4 | group : 4 | name |                                  group and consumer: their numbers
//! group          | 2 | group : 4 | last id : 16 | entries read + 1, or 0 | name |
//! consumer name  | 3 | group : 4 | consumer : 4 | name |
//! consumer       | 4 | group : 4 | consumer : 4 | seen at | active at + 1, or 0 | name |
//! pending        | 5 | group : 4 | id : 16 | consumer : 4 | delivered at | deliveries |
//! owned          | 6 | group : 4 | consumer : 4 | id : 16 |                          one for each that is pending
//! ```
//!
//! Numbers before the names are big-endian, so that items sort; the others are varints. There are no counters: the
//! number of pending deliveries is the distance between two positions.

use super::Stream;
use super::id::StreamId;
use super::key::{self, CONSUMER, CONSUMER_NAME, GROUP, GROUP_NAME, Key, OWNED, PENDING};
use super::many::ONE_BY_ONE_MAX;
use crate::List;
use base::{Ms, varint};
use blocks::{Direction, End, Runs};
use std::ops::{ControlFlow, Range};

/// A group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number by which its consumers and pending deliveries refer to it.
    pub number: u32,
    /// The last delivered id.
    pub last_id: StreamId,
    /// The number of entries read up to there, if known.
    pub entries_read: Option<u64>,
}

/// A consumer of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// The number by which its deliveries refer to it.
    pub number: u32,
    /// The time of its last request.
    pub seen_ms: Ms,
    /// The time at which it last received an entry.
    pub active_ms: Option<Ms>,
}

/// An unacknowledged delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The id of the entry, which may be deleted.
    pub id: StreamId,
    /// The number of its consumer.
    pub consumer: u32,
    /// The time of the last delivery.
    pub delivered_ms: Ms,
    /// The number of deliveries.
    pub deliveries: u64,
}

/// A smaller part of a group's pending deliveries than this is removed one by one.
const MUCH_SHARE: u64 = 16;

impl Group {
    pub(super) fn item(&self, name: &[u8]) -> Vec<u8> {
        let mut item = Key::tag(GROUP).number(self.number).id(self.last_id).into_item();
        varint::put(&mut item, self.entries_read.map_or(0, |read| read.saturating_add(1)));
        item.extend_from_slice(name);
        item
    }

    /// Decodes a group and its name.
    pub(super) fn of(item: &[u8]) -> Option<(Self, &[u8])> {
        let (&GROUP, mut rest) = item.split_first()? else { return None };
        let (number, last_id) = (key::take_number(&mut rest)?, StreamId::take(&mut rest)?);
        let entries_read = varint::take(&mut rest)?.checked_sub(1);
        Some((Self { number, last_id, entries_read }, rest))
    }
}

impl Consumer {
    pub(super) fn item(&self, group: u32, name: &[u8]) -> Vec<u8> {
        let mut item = Key::tag(CONSUMER).number(group).number(self.number).into_item();
        varint::put(&mut item, self.seen_ms);
        varint::put(&mut item, self.active_ms.map_or(0, |active_ms| active_ms.saturating_add(1)));
        item.extend_from_slice(name);
        item
    }

    /// Decodes the group number, the consumer and its name.
    pub(super) fn of(item: &[u8]) -> Option<(u32, Self, &[u8])> {
        let (&CONSUMER, mut rest) = item.split_first()? else { return None };
        let (group, number) = (key::take_number(&mut rest)?, key::take_number(&mut rest)?);
        let seen_ms = varint::take(&mut rest)?;
        let active_ms = varint::take(&mut rest)?.checked_sub(1);
        Some((group, Self { number, seen_ms, active_ms }, rest))
    }
}

impl Pending {
    pub(super) fn item(&self, group: u32) -> Vec<u8> {
        let mut item = Key::tag(PENDING).number(group).id(self.id).number(self.consumer).into_item();
        varint::put(&mut item, self.delivered_ms);
        varint::put(&mut item, self.deliveries);
        item
    }

    pub(super) fn owned_item(&self, group: u32) -> Vec<u8> {
        Key::tag(OWNED).number(group).number(self.consumer).id(self.id).into_item()
    }

    /// Decodes the group number and the delivery.
    pub(super) fn of(item: &[u8]) -> Option<(u32, Self)> {
        let (&PENDING, mut rest) = item.split_first()? else { return None };
        let (group, id) = (key::take_number(&mut rest)?, StreamId::take(&mut rest)?);
        let consumer = key::take_number(&mut rest)?;
        let (delivered_ms, deliveries) = (varint::take(&mut rest)?, varint::take(&mut rest)?);
        rest.is_empty().then_some((group, Self { id, consumer, delivered_ms, deliveries }))
    }
}

/// Decodes group, consumer and id of an [`OWNED`] item.
pub(super) fn owned(item: &[u8]) -> Option<(u32, u32, StreamId)> {
    let (&OWNED, mut rest) = item.split_first()? else { return None };
    let (group, consumer) = (key::take_number(&mut rest)?, key::take_number(&mut rest)?);
    let id = StreamId::take(&mut rest)?;
    rest.is_empty().then_some((group, consumer, id))
}

const SOUND: &str = "items are made here or checked";

// ---- lookups ----

impl Stream {
    /// Returns the number of groups. O(log n).
    pub fn groups_count(&self) -> u64 {
        count(&self.range(|| Key::tag(GROUP_NAME)))
    }

    /// Visits all groups in name order. O(groups log n).
    pub fn for_each_group(&self, mut visit: impl FnMut(&[u8], Group)) {
        self.for_each_named(self.range(|| Key::tag(GROUP_NAME)), |number, name| {
            visit(name, self.group_of(number));
        });
    }

    /// Returns a group. O(log n).
    pub fn group(&self, name: &[u8]) -> Option<Group> {
        self.number_of(GROUP_NAME, 0, name).map(|number| self.group_of(number))
    }

    /// Returns the number of a group's consumers. O(log n).
    pub fn consumers_count(&self, group: u32) -> u64 {
        count(&self.range(|| Key::tag(CONSUMER_NAME).number(group)))
    }

    /// Visits a group's consumers in name order. O(consumers log n).
    pub fn for_each_consumer(&self, group: u32, mut visit: impl FnMut(&[u8], Consumer)) {
        self.for_each_named(self.range(|| Key::tag(CONSUMER_NAME).number(group)), |number, name| {
            visit(name, self.consumer_of(group, number, |_, consumer| consumer));
        });
    }

    /// Returns a consumer. O(log n).
    pub fn consumer(&self, group: u32, name: &[u8]) -> Option<Consumer> {
        let number = self.number_of(CONSUMER_NAME, group, name)?;
        Some(self.consumer_of(group, number, |_, consumer| consumer))
    }

    /// Applies `look` to a consumer and its name. O(log n).
    pub fn consumer_of<R>(&self, group: u32, number: u32, look: impl FnOnce(&[u8], Consumer) -> R) -> R {
        let at = self.point(&Key::tag(CONSUMER).number(group).number(number));
        let look = |item: &[u8]| {
            let (_, consumer, name) = Consumer::of(item).expect(SOUND);
            assert_eq!(consumer.number, number, "{SOUND}");
            look(name, consumer)
        };
        self.list.get(at, look).expect(SOUND)
    }

    /// Returns the number of a group's pending deliveries. O(log n).
    pub fn pending_count(&self, group: u32) -> u64 {
        count(&self.range(|| Key::tag(PENDING).number(group)))
    }

    /// Likewise for one consumer. O(log n).
    pub fn owned_count(&self, group: u32, consumer: u32) -> u64 {
        count(&self.range(|| Key::tag(OWNED).number(group).number(consumer)))
    }

    /// Returns a pending delivery. O(log n).
    pub fn pending(&self, group: u32, id: StreamId) -> Option<Pending> {
        let at = self.point(&Key::tag(PENDING).number(group).id(id));
        let found = self.list.get(at, Pending::of)??;
        Some(found).filter(|(of, pending)| *of == group && pending.id == id).map(|(_, pending)| pending)
    }

    /// Visits a group's pending deliveries from one id on, until `visit` breaks. O(log n + visited).
    pub fn walk_pending(
        &self,
        group: u32,
        from: StreamId,
        direction: Direction,
        visit: &mut impl FnMut(Pending) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let start = self.point(&Key::tag(PENDING).number(group).id(from));
        let end = self.point(&Key::tag(PENDING).number(group).behind());
        self.list.walk(start, end - start, direction, &mut |item: &[u8]| visit(Pending::of(item).expect(SOUND).1))
    }

    /// Visits the ids that a consumer owns from one on, until `visit` breaks. O(log n + visited).
    pub fn walk_owned(
        &self,
        group: u32,
        consumer: u32,
        from: StreamId,
        visit: &mut impl FnMut(StreamId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let start = self.point(&Key::tag(OWNED).number(group).number(consumer).id(from));
        let end = self.point(&Key::tag(OWNED).number(group).number(consumer).behind());
        let mut visit = |item: &[u8]| visit(owned(item).expect(SOUND).2);
        self.list.walk(start, end - start, Direction::Forward, &mut visit)
    }

    fn group_of(&self, number: u32) -> Group {
        let at = self.point(&Key::tag(GROUP).number(number));
        self.list.get(at, |item| Group::of(item).expect(SOUND).0).expect(SOUND)
    }

    /// Visits number and name of each item of a range.
    fn for_each_named(&self, range: Range<u64>, mut visit: impl FnMut(u32, &[u8])) {
        let _ = self.list.walk(range.start, count(&range), Direction::Forward, &mut |item: &[u8]| {
            let (_, number, name) = key::named(item).expect(SOUND);
            visit(number, name);
            ControlFlow::Continue(())
        });
    }

    /// Returns the number for a name.
    fn number_of(&self, tag: u8, of: u32, name: &[u8]) -> Option<u32> {
        let at = self.point(&Key::tag(tag).number(of).name(name));
        let found = |item: &[u8]| {
            let (found_of, number, found) = key::named(item)?;
            (item[0] == tag && found_of == of && found == name).then_some(number)
        };
        self.list.get(at, found)?
    }
}

fn count(range: &Range<u64>) -> u64 {
    range.end - range.start
}

// ---- changes ----

impl Stream {
    /// Creates a group, or updates what it has read. O(log n).
    pub fn put_group(&mut self, name: &[u8], last_id: StreamId, entries_read: Option<u64>) {
        if self.is_empty() {
            self.set(StreamId::MIN, StreamId::MIN, 0);
        }
        let old = self.number_of(GROUP_NAME, 0, name);
        let number = old.unwrap_or_else(|| {
            let number = self.free_number(&|| Key::tag(GROUP), |item| Group::of(item).map(|(group, _)| group.number));
            self.insert(&Key::tag(GROUP_NAME).number(0).name(name), &key::name_item(GROUP_NAME, 0, name, number));
            number
        });
        let item = Group { number, last_id, entries_read }.item(name);
        self.put(&Key::tag(GROUP).number(number), &item, old.is_some());
    }

    /// Removes a group with all its items and returns them, if it existed. O(log n).
    pub fn remove_group(&mut self, name: &[u8]) -> Option<List> {
        let number = self.number_of(GROUP_NAME, 0, name)?;
        let mut gone = List::new();
        for tag in [OWNED, PENDING, CONSUMER, CONSUMER_NAME, GROUP] {
            gone.append(self.cut(self.range(|| Key::tag(tag).number(number))));
        }
        self.list.remove(self.point(&Key::tag(GROUP_NAME).number(0).name(name)));
        Some(gone)
    }

    /// Creates a consumer, or updates when it was seen and active. Returns its number. O(log n).
    pub fn put_consumer(&mut self, group: u32, name: &[u8], seen_ms: Ms, active_ms: Option<Ms>) -> u32 {
        let old = self.number_of(CONSUMER_NAME, group, name);
        let number = old.unwrap_or_else(|| {
            let of = || Key::tag(CONSUMER).number(group);
            let number = self.free_number(&of, |item| Consumer::of(item).map(|(_, consumer, _)| consumer.number));
            let item = key::name_item(CONSUMER_NAME, group, name, number);
            self.insert(&Key::tag(CONSUMER_NAME).number(group).name(name), &item);
            number
        });
        let item = Consumer { number, seen_ms, active_ms }.item(group, name);
        self.put(&Key::tag(CONSUMER).number(group).number(number), &item, old.is_some());
        number
    }

    /// Removes a consumer with all its items and returns them, if it existed. O(owned log n), or O(pending of the
    /// group) if it owns a large part of that.
    pub fn remove_consumer(&mut self, group: u32, name: &[u8]) -> Option<List> {
        let number = self.number_of(CONSUMER_NAME, group, name)?;
        let mut gone = self.cut(self.range(|| Key::tag(OWNED).number(group).number(number)));
        let pending = self.range(|| Key::tag(PENDING).number(group));
        if gone.len() == count(&pending) {
            gone.append(self.cut(pending));
        } else if gone.len() < count(&pending) / MUCH_SHARE {
            let mut ids = Vec::new();
            let _ = gone.walk(0, gone.len(), Direction::Forward, &mut |item: &[u8]| {
                ids.push(owned(item).expect(SOUND).2);
                ControlFlow::Continue(())
            });
            ids.iter().for_each(|id| self.list.remove(self.point(&Key::tag(PENDING).number(group).id(*id))));
        } else {
            let (mut runs, mut at) = (Runs::default(), pending.start);
            let _ = self.list.walk(pending.start, count(&pending), Direction::Forward, &mut |item: &[u8]| {
                if Pending::of(item).expect(SOUND).1.consumer == number {
                    runs.add(at, 1);
                }
                at += 1;
                ControlFlow::Continue(())
            });
            self.list.remove_runs((0..runs.runs()).map(|nth| runs.run(nth)));
        }
        self.list.remove(self.point(&Key::tag(CONSUMER).number(group).number(number)));
        self.list.remove(self.point(&Key::tag(CONSUMER_NAME).number(group).name(name)));
        Some(gone)
    }

    /// Makes a delivery pending; a previous owner loses it. O(log n).
    pub fn put_pending(&mut self, group: u32, pending: Pending) {
        let old = self.pending(group, pending.id);
        self.put(&Key::tag(PENDING).number(group).id(pending.id), &pending.item(group), old.is_some());
        if old.is_none_or(|old| old.consumer != pending.consumer) {
            let owned = |consumer| Key::tag(OWNED).number(group).number(consumer).id(pending.id);
            if let Some(old) = old {
                self.list.remove(self.point(&owned(old.consumer)));
            }
            self.insert(&owned(pending.consumer), &pending.owned_item(group));
        }
    }

    /// Removes a pending delivery. Returns true if it existed. O(log n).
    pub fn drop_pending(&mut self, group: u32, id: StreamId) -> bool {
        let Some(pending) = self.pending(group, id) else { return false };
        self.list.remove(self.point(&Key::tag(OWNED).number(group).number(pending.consumer).id(id)));
        self.list.remove(self.point(&Key::tag(PENDING).number(group).id(id)));
        true
    }

    /// Makes all entries after the group's last one, up to `to`, pending for a consumer. O(log n + entries), plus log n
    /// for each if some are pending already.
    pub fn deliver(&mut self, group: &Group, consumer: u32, to: StreamId, delivered_ms: Ms) {
        let Some(from) = group.last_id.next() else { return };
        let mut pendings = Vec::new();
        let _ = self.walk(from, to, Direction::Forward, &mut |id, _| {
            pendings.push(Pending { id, consumer, delivered_ms, deliveries: 1 });
            ControlFlow::Continue(())
        });
        let number = group.number;
        let has_later = self.walk_pending(number, from, Direction::Forward, &mut |_| ControlFlow::Break(())).is_break();
        if has_later {
            let ids: Vec<StreamId> = pendings.iter().map(|pending| pending.id).collect();
            let make = |id, _| Pending { id, consumer, delivered_ms, deliveries: 1 };
            drop(self.put_pending_of(number, &ids, make));
            return;
        }
        // Nothing follows them, neither in the group nor among what the consumer owns.
        let owned_key = Key::tag(OWNED).number(number).number(consumer).behind();
        self.put_behind(&owned_key, &pendings, |pending| pending.owned_item(number));
        self.put_behind(&Key::tag(PENDING).number(number).behind(), &pendings, |pending| pending.item(number));
    }

    fn put_behind(&mut self, key: &Key, pendings: &[Pending], item: impl Fn(&Pending) -> Vec<u8>) {
        let at = self.point(key);
        if pendings.len() <= ONE_BY_ONE_MAX {
            let items = pendings.iter().map(item);
            return (at..).zip(items).for_each(|(at, item)| self.list.insert(at, &item));
        }
        let mut items = List::new();
        pendings.iter().for_each(|pending| items.push(End::Tail, &item(pending)));
        let rest = self.list.split_off(at);
        self.list.append(items);
        self.list.append(rest);
    }

    /// Returns a number unused by the items that begin with `of`: usually one above all of them.
    fn free_number(&self, of: &dyn Fn() -> Key, number: impl Fn(&[u8]) -> Option<u32>) -> u32 {
        let range = self.range(of);
        let Some(last) = range.end.checked_sub(1).filter(|last| range.contains(last)) else { return 0 };
        let last = self.list.get(last, |item| number(item).expect(SOUND)).expect(SOUND);
        last.checked_add(1).unwrap_or_else(|| {
            let mut free = 0;
            let _ = self.list.walk(range.start, count(&range), Direction::Forward, &mut |item: &[u8]| {
                if number(item) != Some(free) {
                    return ControlFlow::Break(());
                }
                free += 1;
                ControlFlow::Continue(())
            });
            free
        })
    }

    fn insert(&mut self, key: &Key, item: &[u8]) {
        self.list.insert(self.point(key), item);
    }

    /// Inserts an item, or replaces the one with its key.
    fn put(&mut self, key: &Key, item: &[u8], is_there: bool) {
        let at = self.point(key);
        if is_there {
            self.list.set(at, item);
        } else {
            self.list.insert(at, item);
        }
    }
}
