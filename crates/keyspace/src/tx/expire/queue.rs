//! Due messages of a queue: expired leases and delays, messages too old, and messages tried too often, which move to
//! another key.
//!
//! ```text
//! lease over --> ready
//!            --> dead, if it was tried too often --> the dead-letter key, if it is a list and its shard can be locked
//!                                                --> buried, if the key is of another type or full, or there is none
//! ```
//!
//! Both keys change in one frame. If the other shard is held, we retry a moment later.

use crate::effect::{self, Effect, Items, MessageIds, QueueChange};
use crate::guard::Fallen;
use crate::notes::Stood;
use crate::section::{Entry, Standing, list_of, queue_of, standing};
use crate::tx::{RareState, Tx};
use crate::{TableId, shard_of};
use base::Ms;
use blocks::End;
use values::queue::State;
use values::{List, Queue};

/// Delay before retrying a shard that was held.
const AGAIN_MS: Ms = 20;
/// Maximum bytes of the records of one moved message, excluding keys and message.
const FIELDS_BYTES_MAX: u64 = 256;

/// Location of a queue.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shard: usize,
    pub(super) table: TableId,
    pub(super) database: Option<u32>,
    pub(super) hash: u64,
    pub(super) key: &'a [u8],
}

/// The fate of a dead message.
enum Way {
    /// It moves to the end of a list or queue.
    Moves(Vec<u8>),
    /// It stays.
    Stays,
    /// Not known yet; retry.
    Later,
}

impl Tx<'_> {
    /// Processes up to `most` due messages. Returns how many; `None` if there is no room for more.
    pub(super) fn expire_queue(&mut self, place: Place<'_>, most: u64) -> Option<u64> {
        let now = self.now;
        let fallen = Fallen::of(self.queue_at(place)?, now, most);
        self.need_expiry_room(place, fallen.bytes_max(place.key.len()))?;
        let (mut done, mut is_later) = (0, false);
        for change in fallen.changes() {
            self.change_queue(place, &change);
            done += 1;
        }
        done += fallen.ids();
        while done < most
            && !is_later
            && let Some(id) = self.queue_at(place).and_then(|queue| queue.dead_ids(1).first().copied())
        {
            match self.way_of(place, id) {
                Way::Moves(target) => {
                    self.move_dead(place, id, &target)?;
                }
                Way::Stays => {
                    self.need_expiry_room(place, place.key.len() as u64 + FIELDS_BYTES_MAX)?;
                    let ids = MessageIds::Slice(&[id]);
                    self.change_queue(place, &QueueChange::SetState { state: State::Buried, due_ms: 0, ids });
                }
                Way::Later => is_later = true,
            }
            done += 1;
        }
        let section = self.held.state_mut(place.shard).section_mut(place.table);
        if is_later {
            section.put_off_due(place.hash, now + AGAIN_MS);
        } else {
            section.renew_due(place.hash, place.key);
        }
        Some(done)
    }

    /// Claims journal room. If there is not enough, the next pass claims as much, and the queue stays due.
    fn need_expiry_room(&mut self, place: Place<'_>, bytes: u64) -> Option<()> {
        if self.need_room(bytes).is_ok() {
            return Some(());
        }
        self.expiry_room_bytes = bytes;
        self.held.state_mut(place.shard).section_mut(place.table).note_due(place.hash);
        None
    }

    /// Returns the journal room that the next step needs, if that was more than available.
    pub fn expiry_room_bytes(&self) -> u64 {
        self.expiry_room_bytes
    }

    fn queue_at(&mut self, place: Place<'_>) -> Option<&Queue> {
        self.held.state(place.shard).section(place.table)?.find(place.hash, place.key).and_then(queue_of)
    }

    fn way_of(&mut self, place: Place<'_>, id: i64) -> Way {
        let Some(queue) = self.queue_at(place) else { return Way::Later };
        let target = queue.limits().dead_letter;
        let bytes = queue.held(id, |record| record.message.len()).expect("it is dead") as u64;
        if target.is_empty() || *target == *place.key {
            return Way::Stays;
        }
        let (hash, now) = (self.held.hash(&target), self.now);
        if !self.extend(shard_of(hash)) {
            return Way::Later;
        }
        let section = self.held.state(shard_of(hash)).section(place.table);
        match section.and_then(|section| section.find(hash, &target)).filter(|entry| is_there(*entry, now)) {
            None => Way::Moves(target.into()),
            // Its value is not loaded yet.
            Some(entry) if is_unread(entry) => Way::Later,
            Some(entry) if list_of(entry).is_some() => Way::Moves(target.into()),
            Some(entry) => match queue_of(entry) {
                Some(other) if other.takes(1, bytes).is_ok() => Way::Moves(target.into()),
                _ => Way::Stays,
            },
        }
    }

    /// Moves a dead message to the end of another key's list; `None` if there is no room.
    fn move_dead(&mut self, place: Place<'_>, id: i64, target: &[u8]) -> Option<()> {
        let now = self.now;
        let message = self.queue_at(place).and_then(|queue| queue.held(id, |record| record.message.to_vec()));
        let message = message.expect("it is dead");
        let names_bytes = 2 * (target.len() + place.key.len());
        let bytes = (message.len() + names_bytes) as u64 + FIELDS_BYTES_MAX;
        self.need_expiry_room(place, bytes)?;
        let hash = self.held.hash(target);
        let there = Place { shard: shard_of(hash), hash, key: target, ..place };
        let found = self.held.state(there.shard).section(there.table).and_then(|section| section.find(hash, target));
        let (is_queue, is_gone) =
            (found.is_some_and(|entry| queue_of(entry).is_some()), found.is_some_and(|entry| !is_there(entry, now)));
        if is_gone {
            self.expired += 1;
            self.change_at(there, &Effect::Remove);
        }
        let (end, messages) = (End::Tail, Items::Slices(&[&message]));
        if is_queue && !is_gone {
            self.change_queue(there, &QueueChange::Push { end, at_ms: now, messages });
        } else {
            self.change_at(there, &Effect::List(crate::effect::ListChange::Push { end, items: messages }));
        }
        self.change_queue(place, &QueueChange::Remove { are_acked: false, ids: MessageIds::Slice(&[id]) });
        Some(())
    }

    fn change_queue(&mut self, place: Place<'_>, change: &QueueChange<'_>) {
        self.change_at(place, &Effect::Queue(*change));
        let section = self.held.state(place.shard).section(place.table);
        let is_gone = section.is_none_or(|section| section.find(place.hash, place.key).is_none());
        if is_gone {
            self.log.record(place.table, place.key, &Effect::Remove);
        }
    }

    fn change_at(&mut self, place: Place<'_>, effect: &Effect<'_>) {
        let Place { shard, table, database, hash, key } = place;
        let now = self.now;
        let section = self.held.state_mut(shard).section_mut(table);
        let stood = Stood::of(section.find(hash, key), now);
        if let Some(undo) = RareState::undo_of(&mut self.rare) {
            undo.note(section, table, hash, key);
        }
        self.log.record(table, key, effect);
        section.set_time(now);
        let applied = self.keyspace.retired_bytes.counting(shard, || effect::apply(section, hash, key, effect));
        applied.expect("it was looked at before");
        let is_there = section.find(hash, key).is_some();
        let (Some(notes), Some(database)) = (&mut self.notes, database) else { return };
        if let Some(event) = effect.event().filter(|_| *effect != Effect::Remove) {
            notes.add_change(database, key, stood, is_there, event);
        } else if *effect == Effect::Remove {
            notes.add_due(database, key, stood);
        }
    }
}

/// Returns true if the entry's value is not loaded yet.
fn is_unread(entry: Entry<'_>) -> bool {
    list_of(entry).is_some_and(List::is_empty) || queue_of(entry).is_some_and(Queue::is_empty)
}

fn is_there(entry: Entry<'_>, now: Ms) -> bool {
    standing(entry, now) != Standing::Gone
}
