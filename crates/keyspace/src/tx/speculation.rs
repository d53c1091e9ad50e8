//! Requests of a command that touches very much to run speculatively, without locks.

use super::{Abandon, RareState, Tx};
use crate::effect::Log;
use crate::notes::Note;
use crate::section::{Entry, OwnedEntry};
use crate::speculation::Snapshot;
use crate::{TableId, shard_of};

/// Maximum elements touched under the locks, at a microsecond or two each.
const ELEMENTS_MAX: u64 = 1024;

/// A tx's mode of speculation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Speculating {
    /// All work is done under its locks, however much.
    #[default]
    Never,
    /// Large work must run speculatively first.
    First,
    /// It is a speculative run.
    Now,
}

impl Tx<'_> {
    /// Makes large work run speculatively; by default it is done at once.
    pub fn set_speculating(&mut self) {
        self.speculating = Speculating::First;
    }

    /// Marks it as a speculative run.
    pub(crate) fn set_speculation(&mut self) {
        self.speculating = Speculating::Now;
    }

    /// Declares how many elements the command is about to touch, or how many arguments it has; call before any change.
    ///
    /// # Errors
    /// If there are so many that it must run speculatively first.
    pub fn expect_work(&self, elements: u64) -> Result<(), Abandon> {
        match self.speculating {
            Speculating::First if elements > ELEMENTS_MAX && !self.is_serving() => Err(Abandon::Speculate),
            _ => Ok(()),
        }
    }

    /// Returns clones of these keys for a speculative run of the command; counts as use of them.
    pub fn snapshot<'a>(&mut self, keys: impl Iterator<Item = &'a [u8]>) -> Snapshot {
        let mut copies: Vec<(Box<[u8]>, Option<OwnedEntry>)> = Vec::new();
        let mut cas = 0;
        let (now_s, touches) = ((self.now / 1000) as u32 & 0xff_ffff, self.touches);
        for key in keys {
            if copies.iter().all(|(other, _)| **other != *key) {
                let entry = self.raw_entry(key);
                entry.filter(|_| touches).inspect(|entry| entry.touch(now_s));
                copies.push((key.into(), entry.map(|entry| entry.copy_out())));
                cas = self.cas_max(key).max(cas);
            }
        }
        let schemas = self.copy_of_schemas();
        Snapshot::of(self, self.keyspace, copies, schemas, cas)
    }

    /// Returns the table of the database in use.
    pub(crate) fn table(&self) -> TableId {
        self.table
    }

    /// Returns the entry of `key`, expired or not, without marking it as used.
    pub(crate) fn raw_entry(&mut self, key: &[u8]) -> Option<Entry<'_>> {
        let (hash, table) = (self.held.hash(key), self.table);
        self.held.state(shard_of(hash)).section(table)?.find(hash, key)
    }

    /// Replaces the entry of `key`; [`Tx::adopt`] adds the record of it.
    pub(crate) fn exchange_entry(&mut self, key: &[u8], after: Option<&OwnedEntry>) {
        let hash = self.held.hash(key);
        let (table, now) = (self.table, self.now);
        let section = self.held.state_mut(shard_of(hash)).section_mut(table);
        if let Some(undo) = RareState::undo_of(&mut self.rare) {
            undo.note(section, table, hash, key);
        }
        section.set_time(now);
        self.keyspace.retired_bytes.counting(shard_of(hash), || section.put_copy(hash, key, after));
    }

    /// Takes over the record and notes of changes already made.
    pub(crate) fn adopt(&mut self, log: &mut Log, notes: Vec<Note>) {
        self.log.adopt(log);
        if let Some(own) = &mut self.notes {
            own.list.extend(notes);
        }
    }
}
