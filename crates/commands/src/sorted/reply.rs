//! Replies of members and scores.
//!
//! ```text
//!             RESP2                       RESP3
//!   scores    [m, "1", n, "2"]            [[m, 1.0], [n, 2.0]]
//!   else      [m, n]                      [m, n]
//! ```
//!
//! Replies of probably up to 64 KiB are written under the lock, longer ones from a clone.

use crate::prelude::*;
use blocks::Direction;
use keyspace::Pin;
use std::ops::ControlFlow;
use values::Sorted;
use wire::{More, SOURCE_STEP_BYTES, Source};

/// The bytes of a reply written under the lock, at most.
const LOCKED_BYTES_MAX: usize = 64 << 10;
/// The approximate size of a member's header, and of a score, in bytes.
const HEADER_BYTES: usize = 8;
const SCORE_BYTES: usize = 24;

/// A part of a sorted set: `count` members from `start` on; backward, the last comes first.
#[derive(Clone, Copy)]
pub(super) struct SortedPart {
    pub(super) start: u64,
    pub(super) count: u64,
    pub(super) direction: Direction,
    pub(super) form: MemberFormat,
}

/// The format of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberFormat {
    /// The member alone.
    Member,
    /// The member and its score: consecutive in RESP2, a pair in RESP3.
    Scored,
    /// A pair of the member and its score.
    Pair,
}

impl MemberFormat {
    /// Begins an array of `count` members.
    pub(super) fn begin(self, reply: &mut dyn Reply, count: u64) {
        let is_flat = self == Self::Scored && !reply.is_resp3();
        reply.array(count as usize * if is_flat { 2 } else { 1 });
    }

    pub(super) fn write(self, reply: &mut dyn Reply, score: f64, member: &[u8]) {
        if self == Self::Pair || (self == Self::Scored && reply.is_resp3()) {
            reply.array(2);
        }
        reply.bulk(member);
        if self != Self::Member {
            reply.double(score);
        }
    }

    fn bytes(self, member_bytes: usize) -> usize {
        member_bytes + HEADER_BYTES + if self == Self::Member { 0 } else { SCORE_BYTES }
    }
}

/// Replies with part of a sorted set as an array; `pin` is for the clone, if it takes one.
pub(super) fn write_part(reply: &mut dyn Reply, sorted: &Sorted, part: SortedPart, pin: impl FnOnce() -> Pin) {
    part.form.begin(reply, part.count);
    let member_bytes = sorted.content_bytes() / sorted.len().max(1);
    let is_long = part.count.saturating_mul(part.form.bytes(member_bytes as usize) as u64) > LOCKED_BYTES_MAX as u64;
    let rest = if is_long { part } else { write_some(reply, sorted, part, LOCKED_BYTES_MAX) };
    if rest.count > 0 {
        // Only the replied part is kept and pinned.
        let sorted = sorted.slice(rest.start, rest.count);
        reply.stream(Box::new(MembersByScoreReply { sorted, part: SortedPart { start: 0, ..rest }, pin: Some(pin()) }));
    }
}

/// Writes about `bytes_max` of `part` and returns the rest.
fn write_some(reply: &mut dyn Reply, sorted: &Sorted, part: SortedPart, bytes_max: usize) -> SortedPart {
    let (mut written, mut bytes_left) = (0, bytes_max);
    let _ = sorted.walk(part.start, part.count, part.direction, &mut |score, member| {
        part.form.write(reply, score, member);
        written += 1;
        bytes_left = bytes_left.saturating_sub(part.form.bytes(member.len()));
        if bytes_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match part.direction {
        Direction::Forward => SortedPart { start: part.start + written, count: part.count - written, ..part },
        Direction::Backward => SortedPart { count: part.count - written, ..part },
    }
}

/// A reply written from a clone.
pub(super) struct MembersByScoreReply {
    sorted: Sorted,
    part: SortedPart,
    /// None if it is not shared.
    pin: Option<Pin>,
}

impl MembersByScoreReply {
    /// Replies with a whole set that is not shared.
    pub(super) fn own(sorted: Sorted, form: MemberFormat) -> Self {
        let part = SortedPart { start: 0, count: sorted.len(), direction: Direction::Forward, form };
        Self { sorted, part, pin: None }
    }
}

impl Source for MembersByScoreReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.part = write_some(reply, &self.sorted, self.part, SOURCE_STEP_BYTES);
        if self.part.count > 0 { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        let heap_bytes = self.sorted.heap_bytes();
        self.pin.as_ref().map_or(heap_bytes, |pin| pin.bytes(heap_bytes))
    }
}
