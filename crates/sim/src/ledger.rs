//! What the journal holds beside what clients were shown, by positions.
//!
//! ```text
//! frames, in order of positions    |--- durable when the reply left ---|--- frames --- next when the request ran
//!                                                                        none of these may touch a key of the request
//! after a crash                    |--- recovered: a beginning of all frames, to the durable position at least ---|
//! ```
//!
//! So a reply that left too early is found whether or not this crash took back what it told.

use crate::request::Touch;
use base::{Ms, Position};
use journal::History;
use keyspace::{Effect, Record, TableId};

/// A frame as it lies in the journal.
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
            (Touch::Database(_), _) => false,
        })
    }

    fn holds(&self, token: &str) -> bool {
        self.payload.windows(token.len()).any(|bytes| bytes == token.as_bytes())
    }
}

/// A reply that left.
#[derive(Debug)]
struct Shown {
    request: Vec<String>,
    /// Where the next frame began when the request had run.
    seen: Position,
    /// What was durable when the reply left.
    durable: Position,
    touches: Vec<(Touch, TableId)>,
}

/// What one life has shown to its clients.
#[derive(Default)]
pub(crate) struct Ledger {
    shown: Vec<Shown>,
    refused: Vec<String>,
}

impl Ledger {
    /// A reply leaves that must be durable.
    pub(crate) fn show(
        &mut self,
        request: &[String],
        seen: Position,
        durable: Position,
        touches: Vec<(Touch, TableId)>,
    ) {
        if seen > durable {
            self.shown.push(Shown { request: request.to_vec(), seen, durable, touches });
        }
    }

    /// A request was refused before it changed anything, the bytes of these tokens included.
    pub(crate) fn refuse(&mut self, tokens: &[String]) {
        self.refused.extend_from_slice(tokens);
    }

    /// Holds what was shown against all frames that were made.
    pub(crate) fn judge(&self, frames: &[Frame]) {
        for shown in &self.shown {
            let from = frames.partition_point(|frame| frame.end <= shown.durable);
            let until = frames.partition_point(|frame| frame.end <= shown.seen);
            for frame in frames.get(from..until).unwrap_or_default() {
                let early = shown.touches.iter().find(|(touch, table)| frame.changes(touch, *table));
                let (request, position) = (&shown.request, frame.position);
                assert!(early.is_none(), "the reply of {request:?} left before the frame at {position} was durable");
            }
        }
        for token in &self.refused {
            let kept = frames.iter().find(|frame| frame.holds(token));
            assert!(kept.is_none(), "{token} was refused and lies in the journal");
        }
    }
}

/// What a crash may leave: a beginning of these frames, up to a position at least.
pub(crate) struct Past {
    pub(crate) frames: Vec<Frame>,
    pub(crate) kept: Position,
}

impl Past {
    pub(crate) fn judge(&self, recovered: &[Frame]) {
        let times_rise = recovered.windows(2).all(|pair| pair[0].time_ms <= pair[1].time_ms);
        assert!(times_rise, "the times of frames go back");
        let chained = recovered.windows(2).all(|pair| pair[0].end == pair[1].position);
        assert!(chained, "there is a gap between recovered frames");
        let end = recovered.last().map_or(0, |frame| frame.end);
        assert!(end >= self.kept, "recovered up to {end}, and {} was durable", self.kept);
        assert!(recovered.len() <= self.frames.len(), "there are frames that nobody has written");
        let differs = recovered.iter().zip(&self.frames).find(|(there, made)| there != made);
        assert!(differs.is_none(), "a recovered frame is not what was written: {differs:?}");
    }
}
