//! Strings.

pub(crate) mod compare;
pub(crate) mod count;
pub(crate) mod get;
pub(crate) mod lcs;
pub(crate) mod many;
mod options;
pub(crate) mod part;
pub(crate) mod set;

use keyspace::Pin;
use std::ops::Range;
use values::{StringValue, long_string, string};
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// Replies with a string, or null; `pin` is for its clone, if it takes one.
pub(crate) fn write_string(reply: &mut dyn Reply, string: Option<StringValue<'_>>, pin: impl FnOnce() -> Pin) {
    match string {
        None => reply.null(),
        Some(StringValue::Int(number)) => reply.bulk_int(number),
        Some(string) => write_part(reply, string, 0..string.bytes_count(), pin),
    }
}

/// Replies with part of a string. More than a short string can hold is sent from a clone, in steps, after the locks are
/// released.
fn write_part(reply: &mut dyn Reply, string: StringValue<'_>, range: Range<usize>, pin: impl FnOnce() -> Pin) {
    let StringValue::Long(long) = string else {
        let bytes = string.short(&mut [0; string::DIGITS_MAX]).map(|bytes| reply.bulk(&bytes[range]));
        return bytes.expect("it is not long");
    };
    reply.bulk_begin(range.len());
    if range.len() > string::INLINE_BYTES_MAX {
        return reply.stream(Box::new(RangeReply { part: long.part(range), pin: pin() }));
    }
    long.for_each_piece(range, |piece| reply.bulk_part(piece));
    reply.bulk_end();
}

/// A reply written from a clone.
struct RangeReply {
    part: long_string::Part,
    pin: Pin,
}

impl Source for RangeReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.part.take(SOURCE_STEP_BYTES, |piece| reply.bulk_part(piece));
        if self.part.bytes_count() > 0 {
            return More::Follows;
        }
        reply.bulk_end();
        More::Done
    }
    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.part.heap_bytes())
    }
}
