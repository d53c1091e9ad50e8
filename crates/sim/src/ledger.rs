//! Checks the journal against the replies that clients saw, by positions.
//!
//! ```text
//! frames, in order of positions    |--- safe when the reply left ------|--- frames --- next when the request ran
//!                                                                        none of these may touch a key of the request
//! after a crash     |-- the store --|--- recovered: as all frames were, to the durable position at least ---|
//! ```
//!
//! So a reply that left too early is detected whether or not this crash lost what it reported.

use crate::request::{TOKEN, Touch};
use base::{Ms, Position};
use journal::History;
use keyspace::{Effect, INDEXES, Keyspace, OF_SERVER, Record, TableId, shard_of};
use std::collections::HashSet;

/// A journal frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) position: Position,
    pub(crate) end: Position,
    pub(crate) time_ms: Ms,
    pub(crate) history: History,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn of(frame: &journal::Frame<'_>) -> Self {
        let journal::Frame { position, end, time_ms, history, payload } = *frame;
        Self { position, end, time_ms, history, payload: payload.to_vec() }
    }

    fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let mut rest = &self.payload[..];
        std::iter::from_fn(move || {
            (!rest.is_empty()).then(|| Record::decode(&mut rest).expect("a frame of ours holds effects"))
        })
    }

    fn changes(&self, touch: &Touch, table: TableId) -> bool {
        self.records().any(|record| match (touch, record.effect) {
            (Touch::Key(database, _) | Touch::Database(database), Effect::MapPut { database: changed, .. }) => {
                *database == changed
            }
            (Touch::Key(_, key), _) => record.table == table && record.key == key.as_bytes(),
            (Touch::Indexes, _) => record.table == OF_SERVER && record.key == INDEXES,
            (Touch::Database(_), _) => false,
        })
    }

    fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        tokens(&self.payload)
    }
}

/// Returns the tokens in `bytes`, up to the point that ends their numbers.
fn tokens(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let at = rest.iter().position(|byte| *byte == TOKEN.as_bytes()[0])?;
            rest = &rest[at..];
            let digits =
                rest.strip_prefix(TOKEN.as_bytes()).and_then(|text| text.iter().position(|byte| *byte == b'.'));
            let Some(digits) = digits else {
                rest = &rest[1..];
                continue;
            };
            let (token, after) = rest.split_at(TOKEN.len() + digits);
            rest = after;
            return Some(token);
        }
    })
}

/// A reply that left.
#[derive(Debug)]
struct Shown {
    request: Vec<String>,
    /// The journal's end when the request had run.
    seen: Position,
    /// The durable position when the reply left, or the written one if the policy allows that.
    safe: Position,
    touches: Vec<(Touch, TableId)>,
}

/// The replies one life has sent.
#[derive(Default)]
pub(crate) struct Ledger {
    shown: Vec<Shown>,
    refused: Vec<String>,
}

impl Ledger {
    /// Records a reply that leaves; all frames it has seen must be below `safe`.
    pub(crate) fn show(&mut self, request: &[String], seen: Position, safe: Position, touches: Vec<(Touch, TableId)>) {
        if seen > safe {
            self.shown.push(Shown { request: request.to_vec(), seen, safe, touches });
        }
    }

    /// Records a request that was refused before it changed anything, including the bytes of these tokens.
    pub(crate) fn refuse(&mut self, tokens: &[String]) {
        self.refused.extend_from_slice(tokens);
    }

    /// Checks the replies against all frames.
    pub(crate) fn judge(&self, frames: &[Frame]) {
        for shown in &self.shown {
            let from = frames.partition_point(|frame| frame.end <= shown.safe);
            let until = frames.partition_point(|frame| frame.end <= shown.seen);
            for frame in frames.get(from..until).unwrap_or_default() {
                let early = shown.touches.iter().find(|(touch, table)| frame.changes(touch, *table));
                let (request, position) = (&shown.request, frame.position);
                assert!(early.is_none(), "the reply of {request:?} left before the frame at {position} was safe");
            }
        }
        let kept: HashSet<&[u8]> = frames.iter().flat_map(Frame::tokens).collect();
        for token in &self.refused {
            let head = tokens(token.as_bytes()).next().expect("a token has its number in it");
            assert!(!kept.contains(head), "{token} was refused and lies in the journal");
        }
    }
}

/// All frames of a world so far, including those the journal has released; and what must survive a crash.
#[derive(Default)]
pub(crate) struct Past {
    frames: Vec<Frame>,
    /// The minimum position that recovery must reach.
    kept: Position,
}

impl Past {
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Returns their end.
    pub(crate) fn end(&self) -> Position {
        self.frames.last().map_or(0, |frame| frame.end)
    }

    /// Adds frames made since.
    pub(crate) fn add(&mut self, frames: impl IntoIterator<Item = Frame>) {
        let end = self.end();
        self.frames.extend(frames.into_iter().filter(|frame| frame.position >= end));
    }

    /// Marks the added frames as those found by a crash.
    pub(crate) fn keep(&mut self, kept: Position) {
        self.kept = kept;
    }

    /// Checks that the frames `recovered` from `from` on were written there, and that none is missing that must be
    /// kept; from now on they are the truth. The store covers everything below `from`.
    pub(crate) fn judge(&mut self, from: Position, recovered: &[Frame]) {
        let times_rise = recovered.windows(2).all(|pair| pair[0].time_ms <= pair[1].time_ms);
        assert!(times_rise, "the times of frames go back");
        let chained = recovered.windows(2).all(|pair| pair[0].end == pair[1].position);
        assert!(chained, "there is a gap between recovered frames");
        let begin = recovered.first().map_or(from, |frame| frame.position);
        assert_eq!(begin, from, "recovery begins elsewhere than where the store ends");
        let end = recovered.last().map_or(from, |frame| frame.end);
        assert!(end >= self.kept, "recovered up to {end}, and {} was durable", self.kept);
        let stored = self.frames.partition_point(|frame| frame.end <= from);
        let stored_end = stored.checked_sub(1).map_or(0, |last| self.frames[last].end);
        assert_eq!(stored_end, from, "the store's least position lies within a frame");
        let tail = &self.frames[stored..];
        assert!(recovered.len() <= tail.len(), "there are frames that nobody has written");
        let differs = recovered.iter().zip(tail).find(|(there, made)| there != made);
        assert!(differs.is_none(), "a recovered frame is not what was written: {differs:?}");
        self.frames.truncate(stored + recovered.len());
    }
}

/// Replays `frames` into a keyspace like `like`: each shard up to its position in `shards_until`, and the map.
pub(crate) fn replayed(
    frames: &[Frame],
    like: &Keyspace,
    shards_until: impl Fn(usize) -> Position,
    map_until: Position,
) -> Keyspace {
    let made = like.empty_like();
    for frame in frames {
        let (mut rest, mut wanted) = (&frame.payload[..], Vec::new());
        while !rest.is_empty() {
            let before = rest;
            let record = Record::decode(&mut rest).expect("a frame of ours holds effects");
            let until = match record.effect {
                Effect::MapPut { .. } => map_until,
                _ => shards_until(shard_of(like.hash(record.key))),
            };
            if frame.position < until {
                wanted.extend_from_slice(&before[..before.len() - rest.len()]);
            }
        }
        made.replay(&wanted).expect("a frame of ours is replayed");
    }
    made
}
