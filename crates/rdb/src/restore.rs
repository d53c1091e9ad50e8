//! Converts a payload to a value, in steps.

use crate::Fault;
use crate::build::Building;
use crate::feed::{Feed, FeedState, Found};
use crate::footer::{self, Checksum};
use crate::stream::StreamReading;
use crate::{tagged, types};
use values::long_string::Part;
use values::{LongString, Value};

/// Bytes read per step: about 50 µs.
const STEP_BYTES: usize = 32 << 10;

/// A restore in progress.
pub struct Restoring {
    stage: Stage,
}

enum Stage {
    /// Copies the payload into one buffer and computes its checksum.
    Gathering {
        rest: Part,
        bytes: Vec<u8>,
        checksum: Checksum,
    },
    Building {
        feed: Feed,
        building: Building,
        found: Option<Found>,
    },
    Streaming(Box<StreamReading>),
    Tagging(Box<tagged::TaggedReading>),
    /// Also holds what is no longer needed: a big value should be dropped by a thread that has time.
    Done {
        result: Result<Value, Fault>,
        _spent: Option<Spent>,
    },
}

/// The reader and its input.
#[expect(clippy::large_enum_variant, reason = "it takes the place of a stage that is as large")]
enum Spent {
    #[expect(dead_code, reason = "it is kept to be dropped")]
    Elements(Feed, Building),
    #[expect(dead_code, reason = "it is kept to be dropped")]
    Stream(Box<StreamReading>),
    #[expect(dead_code, reason = "it is kept to be dropped")]
    Tagged(Box<tagged::TaggedReading>),
}

impl Restoring {
    /// Starts to restore a payload. O(1) except for allocating its memory at once.
    pub fn new(payload: &LongString) -> Self {
        let length = payload.bytes_count();
        let (rest, bytes) = (payload.part(0..length), Vec::with_capacity(length));
        Self { stage: Stage::Gathering { rest, bytes, checksum: Checksum::default() } }
    }

    /// Starts to restore a short payload. O(n).
    pub fn of(payload: &[u8]) -> Self {
        let mut checksum = Checksum::default();
        checksum.add(&payload[..footer::summed_bytes(payload.len())]);
        Self { stage: opened(payload.to_vec(), checksum) }
    }

    /// Runs for about 50 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        match &mut self.stage {
            Stage::Gathering { rest, bytes, checksum } => {
                let begin = bytes.len();
                let summed = footer::summed_bytes(begin + rest.bytes_count());
                rest.take(STEP_BYTES, |piece| bytes.extend_from_slice(piece));
                checksum.add(&bytes[begin.min(summed)..bytes.len().min(summed)]);
                if rest.bytes_count() == 0 {
                    self.stage = opened(std::mem::take(bytes), std::mem::take(checksum));
                }
            }
            Stage::Building { feed, building, found } => {
                let is_whole = build(feed, building, found);
                if is_whole != Ok(false) {
                    self.end(is_whole.map(drop));
                }
            }
            Stage::Streaming(reading) => {
                let is_whole = reading.step();
                if is_whole != Ok(false) {
                    self.end(is_whole.map(drop));
                }
            }
            Stage::Tagging(reading) => {
                let is_whole = reading.step();
                if is_whole != Ok(false) {
                    self.end(is_whole.map(drop));
                }
            }
            Stage::Done { .. } => {}
        }
        matches!(self.stage, Stage::Done { .. })
    }

    /// Ends the building, at the end of the payload or on an error.
    fn end(&mut self, read: Result<(), Fault>) {
        let before = std::mem::replace(&mut self.stage, Stage::Done { result: Err(Fault::Malformed), _spent: None });
        let (result, spent) = match before {
            Stage::Building { feed, building, .. } => {
                (read.and_then(|()| building.finish()), Spent::Elements(feed, building))
            }
            Stage::Streaming(reading) => (read.map(|()| reading.finish()), Spent::Stream(reading)),
            Stage::Tagging(mut reading) => (read.map(|()| reading.finish()), Spent::Tagged(reading)),
            Stage::Gathering { .. } | Stage::Done { .. } => return,
        };
        self.stage = Stage::Done { result, _spent: Some(spent) };
    }

    /// Returns the result.
    ///
    /// # Errors
    /// If the payload is invalid.
    ///
    /// # Panics
    /// If it is not done.
    pub fn result(&self) -> Result<Value, Fault> {
        match &self.stage {
            Stage::Done { result, .. } => result.clone(),
            _ => panic!("asked before it was over"),
        }
    }
}

fn opened(bytes: Vec<u8>, checksum: Checksum) -> Stage {
    let end = match footer::check(&bytes, checksum) {
        Ok(end) => end,
        Err(fault) => return Stage::Done { result: Err(fault), _spent: None },
    };
    if matches!(bytes.first(), Some(&(types::STREAM_1 | types::STREAM_2 | types::STREAM_3))) {
        return match StreamReading::open(bytes, end) {
            Ok(reading) => Stage::Streaming(Box::new(reading)),
            Err(fault) => Stage::Done { result: Err(fault), _spent: None },
        };
    }
    if bytes.first() == Some(&types::TAGGED) {
        return match tagged::TaggedReading::open(bytes, end) {
            Ok(reading) => Stage::Tagging(Box::new(reading)),
            Err(fault) => Stage::Done { result: Err(fault), _spent: None },
        };
    }
    match Feed::open(bytes, end) {
        Ok((kind, feed)) => {
            let building = Building::new(kind, feed.elements_left());
            Stage::Building { feed, building, found: None }
        }
        Err(fault) => Stage::Done { result: Err(fault), _spent: None },
    }
}

/// Returns true if all pieces are added.
fn build(feed: &mut Feed, building: &mut Building, found: &mut Option<Found>) -> Result<bool, Fault> {
    let mut bytes_left = STEP_BYTES;
    loop {
        // A piece that was only partly consumed last time.
        let piece = match found.take() {
            Some(found) => found,
            None => match feed.next(&mut bytes_left)? {
                FeedState::Piece(found) => found,
                FeedState::Pause => return Ok(false),
                FeedState::End => return Ok(true),
            },
        };
        if !building.add(feed.get(&piece))? {
            *found = Some(piece);
            return Ok(false);
        }
    }
}
