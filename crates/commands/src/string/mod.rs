//! Texts.

pub(crate) mod count;
pub(crate) mod get;
pub(crate) mod lcs;
pub(crate) mod many;
mod options;
pub(crate) mod part;
pub(crate) mod set;

use kinds::{Text, long_text, text};
use std::ops::Range;
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// Replies a text, or null.
fn tell(reply: &mut dyn Reply, text: Option<Text<'_>>) {
    match text {
        None => reply.null(),
        Some(Text::Int(number)) => reply.bulk_int(number),
        Some(text) => tell_part(reply, text, 0..text.bytes_count()),
    }
}

/// Replies a part of a text. What is more than a short text can be is told from a clone, in steps, once the locks are
/// let go.
fn tell_part(reply: &mut dyn Reply, text: Text<'_>, range: Range<usize>) {
    let Text::Long(long) = text else {
        let bytes = text.short(&mut [0; text::DIGITS_MAX]).map(|bytes| reply.bulk(&bytes[range]));
        return bytes.expect("it is not long");
    };
    reply.bulk_begin(range.len());
    if range.len() > text::INLINE_BYTES_MAX {
        return reply.stream(Box::new(Rest(long.part(range))));
    }
    long.for_each_piece(range, |piece| reply.bulk_part(piece));
    reply.bulk_end();
}

/// What is told from a clone.
struct Rest(long_text::Part);

impl Source for Rest {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.0.take(SOURCE_STEP_BYTES, |piece| reply.bulk_part(piece));
        if self.0.bytes_count() > 0 {
            return More::Follows;
        }
        reply.bulk_end();
        More::Done
    }
}
