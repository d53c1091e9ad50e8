//! Payloads of tagged lists, specific to Bobbin: the items of its blocks. Redis rejects the type.

use crate::number::{put_length, take, take_length, take_range};
use crate::{Fault, types};
use blocks::Direction;
use std::ops::ControlFlow;
use values::Value;
use values::tagged::{Tagged, TaggedBuilder};

/// Bytes read or written per step: about 50 µs.
const STEP_BYTES: usize = 32 << 10;

/// Appends items from `at` on. Returns the next index.
pub(crate) fn put_items(out: &mut Vec<u8>, list: &Tagged, at: u64) -> u64 {
    let (items, begin, mut next) = (list.list(), out.len(), at);
    let _ = items.walk(at, items.len() - at, Direction::Forward, &mut |item: &[u8]| {
        put_length(out, item.len() as u64);
        out.extend_from_slice(item);
        next += 1;
        if out.len() - begin < STEP_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    next
}

/// A list being read.
pub(crate) struct TaggedReading {
    bytes: Vec<u8>,
    at: usize,
    /// The end of the value.
    end: usize,
    left: u64,
    building: TaggedBuilder,
    list: Option<Tagged>,
}

impl TaggedReading {
    /// Opens a payload whose footer begins at `end` and is valid.
    pub(crate) fn open(bytes: Vec<u8>, end: usize) -> Result<Self, Fault> {
        let mut at = 0;
        let [kind] = take(&bytes[..end], &mut at)?;
        debug_assert!(kind == types::TAGGED);
        let left = take_length(&bytes[..end], &mut at)?;
        Ok(Self { at, end, left, building: TaggedBuilder::default(), list: None, bytes })
    }

    /// Runs one step. Returns true when all is read.
    pub(crate) fn step(&mut self) -> Result<bool, Fault> {
        let begin = self.at;
        while self.left > 0 && self.at - begin < STEP_BYTES {
            let bytes = &self.bytes[..self.end];
            let length = take_length(bytes, &mut self.at)?;
            let range = take_range(bytes, &mut self.at, length)?;
            if range.is_empty() || !self.building.add(&bytes[range]) {
                return Err(Fault::Malformed);
            }
            self.left -= 1;
        }
        if self.left > 0 {
            return Ok(false);
        }
        self.list = self.building.finish().filter(|_| self.at == self.end);
        if self.list.is_some() { Ok(true) } else { Err(Fault::Malformed) }
    }

    /// Returns the list.
    pub(crate) fn finish(&mut self) -> Value {
        Value::Tagged(self.list.clone().unwrap_or_default())
    }
}
