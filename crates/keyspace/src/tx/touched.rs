//! Keys reported to watches and client-side caches although no record names them, and their events.

use super::{Before, Tx};
use crate::effect::{Effect, Named, event};
use crate::notes::{Classes, Deed};

impl Tx<'_> {
    /// Notes an event of an unchanged key.
    pub fn note(&mut self, key: &[u8], class: Classes, name: &'static str) {
        if let Some(notes) = &mut self.notes {
            notes.add(self.database, key, Deed::Changed(class, name));
        }
    }

    /// As [`Self::note`], for an unchanged key that counts as changed.
    pub fn note_touched(&mut self, key: &[u8], class: Classes, name: &'static str) {
        self.note(key, class, name);
        self.mark_touched(key);
    }

    /// Marks a key as changed for watches and client-side caches, whatever happens to it.
    pub fn mark_touched(&mut self, key: &[u8]) {
        self.rare.get_or_insert_default().touched.push((self.table, key.into()));
    }

    /// Returns the keys that count as changed for watches and client-side caches.
    pub fn touched(&self) -> impl Iterator<Item = Named<'_>> {
        let rare = self.rare.iter().flat_map(|rare| &rare.touched);
        self.log.touched().chain(rare.map(|(table, key)| Named::Key(*table, key)))
    }

    /// Takes the keys that count as changed though no record may name them, all of this database.
    pub fn take_touched(&mut self) -> Vec<Box<[u8]>> {
        let rare = self.rare.iter_mut().flat_map(|rare| std::mem::take(&mut rare.touched));
        rare.map(|(_, key)| key).collect()
    }

    /// Returns true if a key that no record names counts as changed.
    pub fn has_touched(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| !rare.touched.is_empty())
    }

    /// Puts a text whose deadline has passed: `key` ends up absent, and both events are noted.
    pub fn put_expired(&mut self, key: &[u8]) {
        let (set, deadline) = (event::TEXT_PUT, event::EXPIRY_PUT);
        self.note_touched(key, set.0, set.1);
        self.note(key, deadline.0, deadline.1);
        if self.exists(key) {
            let notes = self.notes.take();
            self.change(key, &Effect::Remove, Before::Settled);
            self.notes = notes;
        }
        self.expired += 1;
        self.note(key, Classes::EXPIRED, "expired");
    }
}
