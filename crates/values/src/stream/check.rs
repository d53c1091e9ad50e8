//! Validates a list from disk as a stream.

use super::chunk::StreamChunk;
use super::group::{self, Consumer, Group, Pending};
use super::id::StreamId;
use super::key::{self, CHUNK, CONSUMER, CONSUMER_NAME, FOOT, GROUP, GROUP_NAME, OWNED, PENDING};
use super::{Foot, Stream};
use crate::List;
use blocks::Direction;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// The state of the validation.
#[derive(Default)]
struct Seen {
    before: Option<Vec<u8>>,
    /// Group names by number.
    group_names: HashMap<u32, Vec<u8>>,
    groups: HashSet<u32>,
    /// Consumer names by group and number.
    consumer_names: HashMap<(u32, u32), Vec<u8>>,
    consumers: HashSet<(u32, u32)>,
    /// Group, consumer and id of pending deliveries not yet seen as owned.
    pending: HashSet<(u32, u32, StreamId)>,
    entries: u64,
    top_id: StreamId,
    foot: Option<Foot>,
}

impl Seen {
    /// Checks the next item; `None` if it is invalid there.
    fn take(&mut self, item: &[u8]) -> Option<()> {
        let rises = self.before.as_ref().is_none_or(|before| key::rise(before, item));
        (rises && self.foot.is_none()).then_some(())?;
        match *item.first()? {
            GROUP_NAME => {
                let (of, number, name) = key::named(item)?;
                (of == 0 && self.group_names.insert(number, name.to_vec()).is_none()).then_some(())?;
            }
            GROUP => {
                let (group, name) = Group::of(item)?;
                (self.group_names.get(&group.number)? == name && group.item(name) == item).then_some(())?;
                self.groups.insert(group.number).then_some(())?;
            }
            CONSUMER_NAME => {
                let (of, number, name) = key::named(item)?;
                self.groups.contains(&of).then_some(())?;
                self.consumer_names.insert((of, number), name.to_vec()).is_none().then_some(())?;
            }
            CONSUMER => {
                let (of, consumer, name) = Consumer::of(item)?;
                let is_named = self.consumer_names.get(&(of, consumer.number))? == name;
                (is_named && consumer.item(of, name) == item).then_some(())?;
                self.consumers.insert((of, consumer.number)).then_some(())?;
            }
            PENDING => {
                let (of, pending) = Pending::of(item)?;
                self.consumers.contains(&(of, pending.consumer)).then_some(())?;
                let is_after = self.before.as_ref().is_none_or(|before| !same_pending(before, item));
                (is_after && self.pending.insert((of, pending.consumer, pending.id))).then_some(())?;
            }
            OWNED => self.pending.remove(&group::owned(item)?).then_some(())?,
            CHUNK => {
                let chunk = StreamChunk::of(item)?;
                (chunk.first > self.top_id && chunk.is_sound(item)).then_some(())?;
                self.top_id = chunk.last;
                self.entries = self.entries.checked_add(chunk.entries)?;
            }
            FOOT => self.foot = Some(Foot::decode(item).filter(|foot| foot.encode() == item)?),
            _ => return None,
        }
        self.before = Some(item.to_vec());
        Some(())
    }

    fn is_whole(&self) -> bool {
        self.foot.is_some_and(|foot| foot.len == self.entries && foot.last_id >= self.top_id)
            && self.groups.len() == self.group_names.len()
            && self.consumers.len() == self.consumer_names.len()
            && self.pending.is_empty()
    }
}

/// Returns true if two items are the same delivery, of any consumer.
fn same_pending(item: &[u8], next: &[u8]) -> bool {
    item.first() == Some(&PENDING) && item[..key::PENDING_KEY_BYTES] == next[..key::PENDING_KEY_BYTES]
}

impl Stream {
    /// Returns the stream stored in this list; `None` if it is invalid. O(n).
    pub fn of_list(list: List) -> Option<Self> {
        let mut seen = Seen::default();
        let flow = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| match seen.take(item) {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        });
        (flow.is_continue() && seen.is_whole()).then_some(Self { list })
    }
}
