//! Tagged lists in a tx, and the schemas of new ones, which belong to the server.

use super::{Abandon, Tx, WrongType};
use crate::guard::{Absent, FieldExpiry, TaggedMut};
use crate::map::SCHEMAS;
use crate::section::OwnedEntry;
use std::ops::ControlFlow;
use sync::lock::Want;
use values::Tagged;
use values::tagged::Schema;

/// Maximum bytes of a prefix with a schema.
pub const PREFIX_BYTES_MAX: usize = 255;

impl<'k> Tx<'k> {
    /// Returns the tagged list under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn tagged_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<TaggedMut<'t, 'k>>, WrongType> {
        let there = self.value::<Tagged>(key)?.is_some();
        Ok((there || absent == Absent::Create).then(|| TaggedMut::new(self, key, there)))
    }

    /// Returns the schema of new lists under `name`: the one with the longest matching prefix. The command must hold
    /// the schemas.
    pub fn schema_of(&mut self, name: &[u8]) -> Option<Schema> {
        let mut found: Option<(usize, Schema)> = None;
        self.for_each_schema(|prefix, encoded| {
            if name.starts_with(prefix) && found.as_ref().is_none_or(|(length, _)| prefix.len() > *length) {
                found = Schema::decode(encoded).map(|schema| (prefix.len(), schema));
            }
        });
        found.map(|(_, schema)| schema)
    }

    /// Returns the schema of exactly this prefix.
    pub fn schema(&mut self, prefix: &[u8]) -> Option<Schema> {
        let mut found = None;
        self.for_each_schema(|other, encoded| {
            if other == prefix {
                found = Schema::decode(encoded);
            }
        });
        found
    }

    /// Returns every prefix with its schema, by name.
    pub fn schemas(&mut self) -> Vec<(Vec<u8>, Schema)> {
        let mut all = Vec::new();
        self.for_each_schema(|prefix, encoded| all.extend(Schema::decode(encoded).map(|of| (prefix.to_vec(), of))));
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    fn for_each_schema(&mut self, mut visit: impl FnMut(&[u8], &[u8])) {
        self.of_server(|tx| {
            if let Ok(Some(schemas)) = tx.hash(SCHEMAS) {
                let _ = schemas.walk(&mut |pair| {
                    visit(pair.field, pair.value);
                    ControlFlow::Continue(())
                });
            }
        });
    }

    /// Sets the schema of a prefix.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put_schema(&mut self, prefix: &[u8], schema: &Schema) -> Result<(), Abandon> {
        let mut encoded = Vec::new();
        schema.encode(&mut encoded);
        self.of_server(|tx| match tx.hash_mut(SCHEMAS, Absent::Create) {
            Ok(Some(mut schemas)) => schemas.put(&[prefix, &encoded], FieldExpiry::Clear).map(drop),
            _ => unreachable!("nothing else lies under the server's own name"),
        })
    }

    /// Removes the schema of a prefix. Returns true if it had one.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove_schema(&mut self, prefix: &[u8]) -> Result<bool, Abandon> {
        self.of_server(|tx| match tx.hash_mut(SCHEMAS, Absent::Leave) {
            Ok(Some(mut schemas)) => schemas.remove(&[prefix]).map(|count| count > 0),
            _ => Ok(false),
        })
    }

    /// Returns a copy of all schemas, if the command holds them.
    pub(crate) fn copy_of_schemas(&mut self) -> Option<OwnedEntry> {
        if !self.holds(SCHEMAS, Want::Read) {
            return None;
        }
        self.of_server(|tx| tx.raw_entry(SCHEMAS).map(|entry| entry.copy_out()))
    }
}
