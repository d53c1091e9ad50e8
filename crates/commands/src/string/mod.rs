//! Texts.

pub(crate) mod compare;
pub(crate) mod count;
pub(crate) mod get;
pub(crate) mod lcs;
pub(crate) mod many;
mod options;
pub(crate) mod part;
pub(crate) mod set;

use keyspace::Pin;
use kinds::{Text, long_text, text};
use std::ops::Range;
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// Replies a text, or null; `pin` is for its clone, if one is taken.
pub(crate) fn tell(reply: &mut dyn Reply, text: Option<Text<'_>>, pin: impl FnOnce() -> Pin) {
    match text {
        None => reply.null(),
        Some(Text::Int(number)) => reply.bulk_int(number),
        Some(text) => tell_part(reply, text, 0..text.bytes_count(), pin),
    }
}

/// Replies a part of a text. What is more than a short text can be is told from a clone, in steps, once the locks are
/// let go.
fn tell_part(reply: &mut dyn Reply, text: Text<'_>, range: Range<usize>, pin: impl FnOnce() -> Pin) {
    let Text::Long(long) = text else {
        let bytes = text.short(&mut [0; text::DIGITS_MAX]).map(|bytes| reply.bulk(&bytes[range]));
        return bytes.expect("it is not long");
    };
    reply.bulk_begin(range.len());
    if range.len() > text::INLINE_BYTES_MAX {
        return reply.stream(Box::new(RangeReply { part: long.part(range), pin: pin() }));
    }
    long.for_each_piece(range, |piece| reply.bulk_part(piece));
    reply.bulk_end();
}

/// What is told from a clone.
struct RangeReply {
    part: long_text::Part,
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
