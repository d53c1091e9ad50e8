//! Groups of consumers, and what was delivered to them and not yet acknowledged.
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
//! Numbers before the names have their highest byte first, so that items lie in order; the others are varints. Nothing is
//! counted beside the items: how many are pending is the distance between two of them.

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
    /// By which its consumers and what is pending find it.
    pub number: u32,
    /// What was delivered last.
    pub last_id: StreamId,
    /// How many entries were read up to there, if that is known.
    pub entries_read: Option<u64>,
}

/// A consumer of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// By which what it owns finds it.
    pub number: u32,
    /// When it last asked for something.
    pub seen_ms: Ms,
    /// When it last got something.
    pub active_ms: Option<Ms>,
}

/// A delivery that was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Of the entry, which may be gone.
    pub id: StreamId,
    /// The number of whom it was delivered to.
    pub consumer: u32,
    /// When, last.
    pub delivered_ms: Ms,
    /// How often.
    pub deliveries: u64,
}

/// Less than this part of what a group has pending is removed one by one.
const MUCH_SHARE: u64 = 16;

impl Group {
    pub(super) fn item(&self, name: &[u8]) -> Vec<u8> {
        let mut item = Key::tag(GROUP).number(self.number).id(self.last_id).into_item();
        varint::put(&mut item, self.entries_read.map_or(0, |read| read.saturating_add(1)));
        item.extend_from_slice(name);
        item
    }

    /// With its name.
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

    /// With the number of its group, and its name.
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

    /// With the number of its group.
    pub(super) fn of(item: &[u8]) -> Option<(u32, Self)> {
        let (&PENDING, mut rest) = item.split_first()? else { return None };
        let (group, id) = (key::take_number(&mut rest)?, StreamId::take(&mut rest)?);
        let consumer = key::take_number(&mut rest)?;
        let (delivered_ms, deliveries) = (varint::take(&mut rest)?, varint::take(&mut rest)?);
        rest.is_empty().then_some((group, Self { id, consumer, delivered_ms, deliveries }))
    }
}

/// The group, consumer and id of what an item of [`OWNED`] says.
pub(super) fn owned(item: &[u8]) -> Option<(u32, u32, StreamId)> {
    let (&OWNED, mut rest) = item.split_first()? else { return None };
    let (group, consumer) = (key::take_number(&mut rest)?, key::take_number(&mut rest)?);
    let id = StreamId::take(&mut rest)?;
    rest.is_empty().then_some((group, consumer, id))
}

const SOUND: &str = "items are made here or checked";

// ---- looking ----

impl Stream {
    /// How many groups there are. O(log n).
    pub fn groups_count(&self) -> u64 {
        count(&self.range(|| Key::tag(GROUP_NAME)))
    }

    /// All groups in the order of their names. O(groups log n).
    pub fn for_each_group(&self, mut visit: impl FnMut(&[u8], Group)) {
        self.for_each_named(self.range(|| Key::tag(GROUP_NAME)), |number, name| {
            visit(name, self.group_of(number));
        });
    }

    /// A group. O(log n).
    pub fn group(&self, name: &[u8]) -> Option<Group> {
        self.number_of(GROUP_NAME, 0, name).map(|number| self.group_of(number))
    }

    /// How many consumers a group has. O(log n).
    pub fn consumers_count(&self, group: u32) -> u64 {
        count(&self.range(|| Key::tag(CONSUMER_NAME).number(group)))
    }

    /// All consumers of a group in the order of their names. O(consumers log n).
    pub fn for_each_consumer(&self, group: u32, mut visit: impl FnMut(&[u8], Consumer)) {
        self.for_each_named(self.range(|| Key::tag(CONSUMER_NAME).number(group)), |number, name| {
            visit(name, self.consumer_of(group, number, |_, consumer| consumer));
        });
    }

    /// A consumer. O(log n).
    pub fn consumer(&self, group: u32, name: &[u8]) -> Option<Consumer> {
        let number = self.number_of(CONSUMER_NAME, group, name)?;
        Some(self.consumer_of(group, number, |_, consumer| consumer))
    }

    /// What `look` makes of the name of a consumer and of itself. O(log n).
    pub fn consumer_of<R>(&self, group: u32, number: u32, look: impl FnOnce(&[u8], Consumer) -> R) -> R {
        let at = self.point(&Key::tag(CONSUMER).number(group).number(number));
        let look = |item: &[u8]| {
            let (_, consumer, name) = Consumer::of(item).expect(SOUND);
            assert_eq!(consumer.number, number, "{SOUND}");
            look(name, consumer)
        };
        self.list.get(at, look).expect(SOUND)
    }

    /// How many deliveries of a group are pending. O(log n).
    pub fn pending_count(&self, group: u32) -> u64 {
        count(&self.range(|| Key::tag(PENDING).number(group)))
    }

    /// Likewise, of one consumer. O(log n).
    pub fn owned_count(&self, group: u32, consumer: u32) -> u64 {
        count(&self.range(|| Key::tag(OWNED).number(group).number(consumer)))
    }

    /// A delivery that is pending. O(log n).
    pub fn pending(&self, group: u32, id: StreamId) -> Option<Pending> {
        let at = self.point(&Key::tag(PENDING).number(group).id(id));
        let found = self.list.get(at, Pending::of)??;
        Some(found).filter(|(of, pending)| *of == group && pending.id == id).map(|(_, pending)| pending)
    }

    /// Shows what is pending of a group from one id on, until `visit` breaks. O(log n + shown).
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

    /// Shows the ids of what a consumer owns from one on, until `visit` breaks. O(log n + shown).
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

    /// Number and name of each item of a range.
    fn for_each_named(&self, range: Range<u64>, mut visit: impl FnMut(u32, &[u8])) {
        let _ = self.list.walk(range.start, count(&range), Direction::Forward, &mut |item: &[u8]| {
            let (_, number, name) = key::named(item).expect(SOUND);
            visit(number, name);
            ControlFlow::Continue(())
        });
    }

    /// The number that goes by a name.
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

// ---- changing ----

impl Stream {
    /// Makes a group, or says of one what it has read. O(log n).
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

    /// Removes a group and all that belongs to it; gives what went, if it was there. O(log n).
    pub fn remove_group(&mut self, name: &[u8]) -> Option<List> {
        let number = self.number_of(GROUP_NAME, 0, name)?;
        let mut gone = List::new();
        for tag in [OWNED, PENDING, CONSUMER, CONSUMER_NAME, GROUP] {
            gone.append(self.cut(self.range(|| Key::tag(tag).number(number))));
        }
        self.list.remove(self.point(&Key::tag(GROUP_NAME).number(0).name(name)));
        Some(gone)
    }

    /// Makes a consumer of a group, or says of one when it was seen and active; its number. O(log n).
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

    /// Removes a consumer and what it owns; gives what went, if it was there. O(what it owns log n), or where that is much
    /// of what its group has pending, O(that).
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

    /// Has a delivery be pending, whoever had it. O(log n).
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

    /// Takes a delivery off those that are pending; whether it was one. O(log n).
    pub fn drop_pending(&mut self, group: u32, id: StreamId) -> bool {
        let Some(pending) = self.pending(group, id) else { return false };
        self.list.remove(self.point(&Key::tag(OWNED).number(group).number(pending.consumer).id(id)));
        self.list.remove(self.point(&Key::tag(PENDING).number(group).id(id)));
        true
    }

    /// Has all entries behind the group's last one, up to `to`, be pending for a consumer. O(log n + entries), and log n for
    /// each where some are pending already.
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
        // Nothing lies behind them, neither in the group nor among what the consumer owns.
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

    /// A number that no item has of those that begin with `of`: one above all of them, as a rule.
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

    /// Puts an item where another of its key is, or belongs.
    fn put(&mut self, key: &Key, item: &[u8], is_there: bool) {
        let at = self.point(key);
        if is_there {
            self.list.set(at, item);
        } else {
            self.list.insert(at, item);
        }
    }
}
