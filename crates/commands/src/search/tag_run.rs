//! FT.TAGVALS at work: tags are collected in pieces, then written in pieces.

use super::query::QueryStep;
use super::rows::PartRoom;
use crate::failure::Failure;
use search::{Definition, FieldType, Index};
use wire::{More, Reply};

/// Tags that are collected in a step.
const TAGS_PER_STEP: usize = 512;

/// A list of tags in progress.
pub(super) struct TagRun {
    field: usize,
    index: Index,
    tags: Vec<Box<[u8]>>,
    tags_bytes: usize,
    /// The tags written so far; `None` before the reply has begun.
    written: Option<usize>,
}

/// Returns the position of a TAG field.
pub(super) fn tag_field(name: &[u8], definition: &Definition) -> Result<usize, Failure> {
    let field = definition.field(name).ok_or(Failure::text("No such field"))?;
    let is_tag = matches!(definition.fields[field].field_type, FieldType::Tag { .. });
    if is_tag { Ok(field) } else { Err(Failure::text("Not a tag field")) }
}

impl TagRun {
    pub(super) fn new(field: usize, index: Index) -> Self {
        Self { field, index, tags: Vec::new(), tags_bytes: 0, written: None }
    }

    pub(super) fn step(&mut self) -> QueryStep {
        let found = self.index.tag_values(self.field, self.tags.last().map(|tag| &**tag), TAGS_PER_STEP);
        if found.is_empty() {
            return QueryStep::Done;
        }
        self.tags_bytes += found.iter().map(|tag| tag.len()).sum::<usize>();
        self.tags.extend(found);
        QueryStep::More
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.tags.capacity() * size_of::<Box<[u8]>>() + self.tags_bytes
    }

    pub(super) fn write(&mut self, reply: &mut dyn Reply) -> More {
        let written = self.written.get_or_insert_with(|| {
            reply.set(self.tags.len());
            0
        });
        let mut room = PartRoom::new();
        while let Some(tag) = self.tags.get(*written) {
            if room.is_spent() {
                return More::Follows;
            }
            reply.bulk(tag);
            room.spend(tag.len());
            *written += 1;
        }
        More::Done
    }
}
