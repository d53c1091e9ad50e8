//! Declarations of the indexes of searches, and their other names, which belong to the server.
//!
//! ```text
//! the hash INDEXES    i name --> declaration, encoded by `search`        a other name --> name
//! ```

use super::{Abandon, RareState, Tx};
use crate::guard::{Absent, FieldExpiry};
use crate::map::{INDEXES, OF_SERVER};
use crate::section::value_of;
use crate::{Keyspace, shard_of};
use base::Position;
use std::ops::ControlFlow;
use values::Hash;

/// The first byte of a field of [`INDEXES`].
#[derive(Clone, Copy)]
enum Declared {
    Index = b'i' as isize,
    Alias = b'a' as isize,
}

impl Declared {
    fn field(self, name: &[u8]) -> Vec<u8> {
        [&[self as u8], name].concat()
    }
}

/// All indexes and their other names, each in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexDeclarations {
    /// Names and declarations.
    pub indexes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Other names, each with the name of its index.
    pub aliases: Vec<(Vec<u8>, Vec<u8>)>,
}

impl IndexDeclarations {
    fn of(hash: Option<&Hash>) -> Self {
        let mut all = Self::default();
        let Some(hash) = hash else { return all };
        let _ = hash.walk(&mut |pair| {
            let of_type = match pair.field.split_first() {
                Some((&first, name)) if first == Declared::Index as u8 => Some((&mut all.indexes, name)),
                Some((&first, name)) if first == Declared::Alias as u8 => Some((&mut all.aliases, name)),
                _ => None,
            };
            if let Some((list, name)) = of_type {
                list.push((name.to_vec(), pair.value.to_vec()));
            }
            ControlFlow::Continue(())
        });
        all.indexes.sort_unstable();
        all.aliases.sort_unstable();
        all
    }
}

impl Keyspace {
    /// Returns all indexes that are declared, and the position of the last change that may concern them; `None` if the
    /// shard is held. All is loaded.
    pub fn index_declarations(&self) -> Option<(IndexDeclarations, Position)> {
        let hash = self.hash(INDEXES);
        let state = self.shard(shard_of(hash)).try_read()?;
        let entry = state.section(OF_SERVER).and_then(|section| section.find(hash, INDEXES));
        Some((IndexDeclarations::of(entry.and_then(value_of)), state.last()))
    }
}

impl Tx<'_> {
    /// Returns the declaration of the index of this name. The command must hold [`INDEXES`], as for the following ones.
    pub fn index(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        self.declared(Declared::Index, name)
    }

    /// Returns all that is declared. O(n log n).
    pub fn index_declarations(&mut self) -> IndexDeclarations {
        self.of_server(|tx| IndexDeclarations::of(tx.hash(INDEXES).ok().flatten()))
    }

    /// Declares an index, in place of another of the name.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put_index(&mut self, name: &[u8], declaration: &[u8]) -> Result<(), Abandon> {
        self.declare(Declared::Index, name, declaration)
    }

    /// Removes an index. Returns true if it was declared.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove_index(&mut self, name: &[u8]) -> Result<bool, Abandon> {
        self.remove_declared(Declared::Index, name)
    }

    /// Returns the name of the index that also has this name.
    pub fn index_alias(&mut self, alias: &[u8]) -> Option<Vec<u8>> {
        self.declared(Declared::Alias, alias)
    }

    /// Gives an index another name.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put_index_alias(&mut self, alias: &[u8], name: &[u8]) -> Result<(), Abandon> {
        self.declare(Declared::Alias, alias, name)
    }

    /// Removes another name. Returns true if an index had it.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove_index_alias(&mut self, alias: &[u8]) -> Result<bool, Abandon> {
        self.remove_declared(Declared::Alias, alias)
    }

    /// Removes all indexes and their other names.
    pub fn remove_indexes(&mut self) {
        let are_removed = self.of_server(|tx| tx.remove(INDEXES));
        if are_removed {
            self.mark_indexes_changed();
        }
    }

    /// Returns true if it has declared or removed an index or another name of one.
    pub fn has_changed_indexes(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.has_changed_indexes)
    }

    fn mark_indexes_changed(&mut self) {
        self.rare.get_or_insert_with(Box::<RareState>::default).has_changed_indexes = true;
    }

    fn declared(&mut self, declared: Declared, name: &[u8]) -> Option<Vec<u8>> {
        let (now, field) = (self.now, declared.field(name));
        self.of_server(|tx| tx.hash(INDEXES).ok()??.get(&field, now, |pair| pair.value.to_vec()))
    }

    fn declare(&mut self, declared: Declared, name: &[u8], value: &[u8]) -> Result<(), Abandon> {
        let field = declared.field(name);
        self.of_server(|tx| match tx.hash_mut(INDEXES, Absent::Create) {
            Ok(Some(mut indexes)) => indexes.put(&[&field, value], FieldExpiry::Clear).map(drop),
            _ => unreachable!("nothing else lies under the server's own name"),
        })?;
        self.mark_indexes_changed();
        Ok(())
    }

    fn remove_declared(&mut self, declared: Declared, name: &[u8]) -> Result<bool, Abandon> {
        let field = declared.field(name);
        let is_removed = self.of_server(|tx| match tx.hash_mut(INDEXES, Absent::Leave) {
            Ok(Some(mut indexes)) => indexes.remove(&[&field]).map(|count| count > 0),
            _ => Ok(false),
        })?;
        if is_removed {
            self.mark_indexes_changed();
        }
        Ok(is_removed)
    }
}
