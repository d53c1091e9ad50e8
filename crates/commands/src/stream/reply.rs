//! Replies of entries.
//!
//! ```text
//! few chunks    entries counted under the lock  | up to 64 KiB of them sent there | the rest sent from a clone
//! many          counted in steps, on a clone                                      | all sent from it
//! ```

use super::id;
use crate::prelude::*;
use blocks::Direction;
use keyspace::Pin;
use std::ops::{ControlFlow, Range};
use values::Stream;
use values::stream::{Fields, StreamId};
use wire::{More, SOURCE_STEP_BYTES, Source};

/// The bytes of a reply written under the lock, at most.
const LOCKED_BYTES_MAX: usize = 64 << 10;
/// Chunks counted under the lock, and per step without it.
const CHUNKS_AT_ONCE: u64 = 256;
/// The approximate size of an entry's header, and of a field's, in bytes.
const HEADER_BYTES: usize = 32;
const FIELD_HEADER_BYTES: usize = 8;

/// A range of a stream's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamPart {
    /// The lowest id.
    pub(super) from: StreamId,
    /// The greatest id, inclusive.
    pub(super) to: StreamId,
    /// The maximum number.
    pub(super) most: u64,
    /// The direction of the reply.
    pub(super) direction: Direction,
}

impl StreamPart {
    /// Returns the range from an id on.
    pub(super) fn from(from: StreamId, most: u64) -> Self {
        Self { from, to: StreamId::MAX, most, direction: Direction::Forward }
    }

    /// Returns the range after a replied entry; `None` if it must be empty.
    fn behind(self, last: StreamId, count: u64) -> Option<Self> {
        let most = self.most - count;
        Some(match self.direction {
            Direction::Forward => Self { from: last.next()?, most, ..self },
            Direction::Backward => Self { to: last.before()?, most, ..self },
        })
    }
}

/// Replies with an entry: its id, and its names and values alternately.
pub(super) fn entry(reply: &mut dyn Reply, at: StreamId, fields: Fields<'_>) {
    reply.array(2);
    write_entry_parts(reply, at, fields);
}

fn write_entry_parts(reply: &mut dyn Reply, at: StreamId, fields: Fields<'_>) {
    id::write(reply, at);
    reply.array(2 * fields.count() as usize);
    for (name, value) in fields.iter() {
        reply.bulk(name);
        reply.bulk(value);
    }
}

/// Replies with the entry with this id like [`entry`]. Returns whether it exists.
pub(super) fn entry_of(reply: &mut dyn Reply, stream: &Stream, at: StreamId) -> bool {
    let visit = &mut |at, fields: Fields<'_>| {
        entry(reply, at, fields);
        ControlFlow::Break(())
    };
    stream.walk(at, at, Direction::Forward, visit).is_break()
}

/// Replies with the entries with these ids like [`entry`]; `missing` replies for absent ones.
pub(super) fn entries_of(
    reply: &mut dyn Reply,
    stream: &Stream,
    ids: &[StreamId],
    mut missing: impl FnMut(&mut dyn Reply, StreamId),
) {
    // Ascending ids are looked up together.
    for ids in ids.chunk_by(|id, next| id < next) {
        stream.walk_these(ids, &mut |id, fields| match fields {
            Some(fields) => entry(reply, id, fields),
            None => missing(reply, id),
        });
    }
}

/// Replies with part of a stream as an array; `pin` is for the clone, if it takes one.
pub(super) fn write_part(reply: &mut dyn Reply, stream: &Stream, part: StreamPart, pin: impl FnOnce() -> Pin) {
    let chunks = stream.chunks_between(part.from, part.to);
    let counted = stream.count_up_to(part.from, part.to, part.most, CHUNKS_AT_ONCE);
    let rest = match counted {
        Some(count) => {
            reply.array(count as usize);
            match write_some(reply, stream, StreamPart { most: count, ..part }, LOCKED_BYTES_MAX) {
                Some(rest) => StreamReply::Entries(rest),
                None => return,
            }
        }
        None => StreamReply::Counting { chunks, count: 0, part },
    };
    reply.stream(Box::new(EntriesReply { stream: stream.clone(), state: rest, pin: pin() }));
}

/// The state of a delivery before it was claimed; empty for a new entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) idle_ms: u64,
    pub(super) deliveries: u64,
}

/// Replies with claimed entries, then with `part`, whose `most` is its exact length: each with its previous state.
/// `pin` is for the clone, if it takes one.
pub(super) fn write_deliveries(
    reply: &mut dyn Reply,
    stream: &Stream,
    claimed: Vec<(StreamId, Before)>,
    part: Option<StreamPart>,
    pin: impl FnOnce() -> Pin,
) {
    reply.array(claimed.len() + part.map_or(0, |part| part.most as usize));
    let mut deliveries = Deliveries { stream: stream.clone(), claimed: claimed.into_iter(), part, pin: None };
    if !deliveries.write(reply, LOCKED_BYTES_MAX) {
        deliveries.pin = Some(pin());
        reply.stream(Box::new(deliveries));
    }
}

/// The rest of the reply of [`write_deliveries`].
struct Deliveries {
    stream: Stream,
    claimed: std::vec::IntoIter<(StreamId, Before)>,
    part: Option<StreamPart>,
    pin: Option<Pin>,
}

impl Deliveries {
    /// Writes about `bytes_max`. Returns true when done.
    fn write(&mut self, reply: &mut dyn Reply, bytes_max: usize) -> bool {
        let Self { stream, claimed, part, .. } = self;
        let mut bytes = 0;
        let mut write_one = |at, fields: Fields<'_>, before: Before| {
            reply.array(4);
            write_entry_parts(reply, at, fields);
            reply.int(before.idle_ms as i64);
            reply.int(before.deliveries as i64);
            bytes += entry_bytes(fields);
            if bytes >= bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        for (at, before) in claimed.by_ref() {
            let mut flow = ControlFlow::Continue(());
            let _ = stream.walk(at, at, Direction::Forward, &mut |at, fields| {
                flow = write_one(at, fields, before);
                ControlFlow::Break(())
            });
            if flow.is_break() {
                return false;
            }
        }
        let Some(rest) = part.filter(|rest| rest.most > 0) else { return true };
        let (mut last, mut written) = (StreamId::MIN, 0);
        let _ = stream.walk(rest.from, rest.to, rest.direction, &mut |at, fields| {
            (last, written) = (at, written + 1);
            let flow = write_one(at, fields, Before::default());
            if written == rest.most { ControlFlow::Break(()) } else { flow }
        });
        *part = rest.behind(last, written);
        part.is_none_or(|rest| rest.most == 0)
    }
}

impl Source for Deliveries {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if self.write(reply, SOURCE_STEP_BYTES) { More::Done } else { More::Follows }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.stream.heap_bytes()))
    }
}

/// Returns the approximate size of an entry in a reply.
fn entry_bytes(fields: Fields<'_>) -> usize {
    fields.bytes() + HEADER_BYTES + 2 * FIELD_HEADER_BYTES * fields.count() as usize
}

/// Writes about `bytes_max` of `part`, and returns the rest.
fn write_some(reply: &mut dyn Reply, stream: &Stream, part: StreamPart, bytes_max: usize) -> Option<StreamPart> {
    if part.most == 0 {
        return None;
    }
    let (mut last, mut written, mut bytes) = (StreamId::MIN, 0, 0);
    let _ = stream.walk(part.from, part.to, part.direction, &mut |at, fields| {
        entry(reply, at, fields);
        (last, written) = (at, written + 1);
        bytes += entry_bytes(fields);
        if written == part.most || bytes >= bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    part.behind(last, written).filter(|rest| rest.most > 0)
}

enum StreamReply {
    Counting { chunks: Range<u64>, count: u64, part: StreamPart },
    Entries(StreamPart),
}

/// A reply written from a clone.
struct EntriesReply {
    stream: Stream,
    state: StreamReply,
    pin: Pin,
}

impl Source for EntriesReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        match &mut self.state {
            StreamReply::Counting { chunks, count, part } if !chunks.is_empty() && *count < part.most => {
                let step = chunks.start..chunks.end.min(chunks.start + CHUNKS_AT_ONCE);
                *count += self.stream.count_in(step.clone(), part.from, part.to);
                chunks.start = step.end;
                More::Follows
            }
            StreamReply::Counting { count, part, .. } => {
                let most = part.most.min(*count);
                reply.array(most as usize);
                self.state = StreamReply::Entries(StreamPart { most, ..*part });
                if most > 0 { More::Follows } else { More::Done }
            }
            StreamReply::Entries(part) => match write_some(reply, &self.stream, *part, SOURCE_STEP_BYTES) {
                Some(rest) => {
                    *part = rest;
                    More::Follows
                }
                None => More::Done,
            },
        }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.stream.heap_bytes())
    }
}
