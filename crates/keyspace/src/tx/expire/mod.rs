//! Expiry of keys, hash fields and queue messages, in batches.

mod queue;

use super::{REMOVE_BYTES_MAX, RareState, Tx};
use crate::TableId;
use crate::effect::{self, Effect, HashChange};
use crate::notes::Stood;
use crate::section::{Due, Entry, is_live, next_due, value_of};
use base::Ms;
use queue::Place;
use values::Hash;

/// Hints examined per key that expires.
const HINTS_MAX: usize = 8;

impl Tx<'_> {
    /// Returns a time up to which `key` exists if it is not changed, before its own expiry and the expiry of any of its
    /// elements; `None` if it is absent.
    pub fn lasts_until(&mut self, key: &[u8]) -> Option<Ms> {
        let entry = self.entry(key)?;
        Some(entry.expires_at_ms().into_iter().chain(next_due(entry)).min().unwrap_or(Ms::MAX))
    }

    /// Expires up to `keys_max` keys or hash fields of `table` in `shard`, and makes as many queue messages ready, or
    /// removes them. Returns true if more may be due.
    pub fn expire(&mut self, shard: usize, table: TableId, keys_max: usize) -> bool {
        self.table = table;
        let now = self.now;
        let map = self.keyspace.map();
        let database = (0..map.databases()).find(|database| map.table(*database) == table);
        // A name too long for any pass is removed when a writer meets it.
        let key_bytes_max = self.room_bytes.saturating_sub(REMOVE_BYTES_MAX);
        let mut left = keys_max as u64;
        while left > 0 {
            left -= 1;
            match self.held.state_mut(shard).section_mut(table).next_expired(now, key_bytes_max, HINTS_MAX) {
                Due::Key(key) if self.is_queue(&key) => {
                    let hash = self.held.hash(&key);
                    let place = Place { shard, table, database, hash, key: &key };
                    let Some(done) = self.expire_queue(place, left + 1) else { return true };
                    left = (left + 1).saturating_sub(done.max(1));
                }
                Due::Key(key) => {
                    let hash = self.held.hash(&key);
                    let has_room = self.need_room(key.len() as u64 + REMOVE_BYTES_MAX).is_ok();
                    let section = self.held.state_mut(shard).section_mut(table);
                    if !has_room {
                        section.note_due(hash);
                        return true;
                    }
                    let entry = section.find(hash, &key).expect("just found");
                    let (effect, stood) = (due_effect(entry, now, left + 1), Stood::of(Some(entry), now));
                    if let Effect::Hash(HashChange::Expire { count }) = effect {
                        left = left + 1 - count;
                    }
                    if let Some(undo) = RareState::undo_of(&mut self.rare) {
                        undo.note(section, table, hash, &key);
                    }
                    self.log.record(table, &key, &effect);
                    let applied =
                        self.keyspace.retired_bytes.counting(shard, || effect::apply(section, hash, &key, &effect));
                    applied.expect("it was there");
                    section.renew_due(hash, &key);
                    self.expired += u32::from(effect == Effect::Remove);
                    if let (Some(notes), Some(database)) = (&mut self.notes, database) {
                        notes.add_due(database, &key, stood);
                    }
                }
                Due::More => {}
                Due::Nothing => return self.none_is_due(shard),
            }
        }
        true
    }
}

/// Returns the effect for an entry that has fallen due: removes it, or up to `fields_max` of its fields.
fn due_effect<'a>(entry: Entry<'_>, now: Ms, fields_max: u64) -> Effect<'a> {
    match value_of::<Hash>(entry).filter(|_| is_live(entry, now)) {
        Some(hash) => Effect::Hash(HashChange::Expire { count: hash.expired_count(now).min(fields_max) }),
        None => Effect::Remove,
    }
}
