//! Reads the pieces of a payload one by one: strings, scores, deadlines, however they are packed.
//!
//! ```text
//!   payload   | type | count | string, score | string, score | ...       one layer
//!             | type | string: | entry | entry | ... |                   an entry at a time
//!             | type | count | node: | entry | ... | node: | ... |
//! ```

use crate::Fault;
use crate::lzf::Unpacking;
use crate::number::{Text, score, take, take_length, take_spelled_score, take_text};
use crate::packed::{Cursor, Entry, Form};
use crate::types;
use std::ops::Range;
use values::string::{DIGITS_MAX, format_int};

/// The cost of a piece beyond its bytes, in bytes.
const PIECE_BYTES: usize = 256;
/// The tags of a list node that is a single element, and of a packed one.
const NODE_PLAIN: u64 = 1;
pub(crate) const NODE_PACKED: u64 = 2;

/// One part of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A string.
    Text,
    /// A string that packs several pieces.
    Packed(Form),
    /// A packed string after a 2, or a single element after a 1.
    Node,
    /// A score, as digits or as a double.
    SpelledScore,
    Score,
    /// The deadline of the field that follows.
    Deadline,
}

/// A piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    /// Bytes.
    Text(&'a [u8]),
    /// An integer, as the string that spells it.
    Integer(i64),
    /// A score.
    Score(f64),
    /// A field's deadline in milliseconds, or 0 for none.
    Deadline(u64),
}

impl Piece<'_> {
    /// Applies `visit` to its bytes.
    pub(crate) fn with_text<R>(self, visit: impl FnOnce(&[u8]) -> R) -> Result<R, Fault> {
        match self {
            Self::Text(text) => Ok(visit(text)),
            Self::Integer(number) => Ok(visit(format_int(number, &mut [0; DIGITS_MAX]))),
            Self::Score(_) | Self::Deadline(_) => Err(Fault::Malformed),
        }
    }

    /// Converts it to a score.
    pub(crate) fn to_score(self) -> Result<f64, Fault> {
        match self {
            Self::Score(score) => Ok(score),
            Self::Integer(number) => Ok(number as f64),
            Self::Text(digits) => score(digits),
            Self::Deadline(_) => Err(Fault::Malformed),
        }
    }

    /// Converts it to a deadline.
    pub(crate) fn to_deadline(self) -> Result<u64, Fault> {
        match self {
            Self::Deadline(at_ms) => Ok(at_ms),
            Self::Integer(number) => u64::try_from(number).map_err(|_| Fault::Malformed),
            Self::Text(_) | Self::Score(_) => Err(Fault::Malformed),
        }
    }
}

/// The location of a piece.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// In the payload.
    Range(Range<usize>),
    /// In the current packed string.
    Inside(Range<usize>),
    /// In the buffer last unpacked.
    Unpacked,
    Integer(i64),
    Score(f64),
    Deadline(u64),
}

/// The result of advancing a feed.
pub(crate) enum FeedState {
    /// A piece.
    Piece(Found),
    /// The byte limit was reached; there is more.
    Pause,
    /// No more pieces.
    End,
}

/// The pieces of one payload.
pub(crate) struct Feed {
    bytes: Vec<u8>,
    at: usize,
    /// The end of the value, in bytes.
    end: usize,
    parts: &'static [Part],
    part: usize,
    elements_left: u64,
    deadline_base: u64,
    unpacking: Option<Unpacking>,
    unpacked: Vec<u8>,
    /// The packing of the current string, if it holds other pieces.
    opens: Option<Form>,
    inside: Option<Inside>,
}

/// The packed string being read.
struct Inside {
    bytes: Place,
    cursor: Cursor,
}

enum Place {
    Payload(Range<usize>),
    Own(Vec<u8>),
}

impl Place {
    fn of<'a>(&'a self, payload: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Payload(range) => &payload[range.clone()],
            Self::Own(bytes) => bytes,
        }
    }
}

/// The result of starting a part.
enum Begun {
    /// A part.
    Found(Found),
    /// A compressed string, to be unpacked further.
    Unpacking,
    End,
}

impl Feed {
    /// Opens a payload whose footer begins at `end` and is valid. Returns its type and its pieces.
    pub(crate) fn open(bytes: Vec<u8>, end: usize) -> Result<(u8, Self), Fault> {
        let mut at = 0;
        let body = &bytes[..end];
        let [kind] = take(body, &mut at)?;
        let parts: &[Part] = match kind {
            types::TEXT | types::LIST | types::SET => &[Part::Text],
            types::SORTED_SPELLED => &[Part::Text, Part::SpelledScore],
            types::SORTED => &[Part::Text, Part::Score],
            types::HASH => &[Part::Text, Part::Text],
            types::HASH_TIMED => &[Part::Deadline, Part::Text, Part::Text],
            types::HASH_ZIPMAP => &[Part::Packed(Form::Zipmap)],
            types::LIST_ZIPLIST | types::SORTED_ZIPLIST | types::HASH_ZIPLIST | types::LIST_OF_ZIPLISTS => {
                &[Part::Packed(Form::Ziplist)]
            }
            types::SET_INTSET => &[Part::Packed(Form::Intset)],
            types::HASH_LISTPACK | types::SORTED_LISTPACK | types::SET_LISTPACK | types::HASH_TIMED_LISTPACK => {
                &[Part::Packed(Form::Listpack)]
            }
            types::LIST_OF_NODES => &[Part::Node],
            _ => return Err(Fault::Malformed),
        };
        let is_timed = matches!(kind, types::HASH_TIMED | types::HASH_TIMED_LISTPACK);
        let deadline_base = if is_timed { u64::from_le_bytes(take(body, &mut at)?) } else { 0 };
        let is_one = kind == types::TEXT || matches!(parts, [Part::Packed(_)]) && kind != types::LIST_OF_ZIPLISTS;
        let elements_left = if is_one { 1 } else { take_length(body, &mut at)? };
        let feed = Self {
            at,
            end,
            parts,
            part: 0,
            elements_left,
            deadline_base,
            unpacking: None,
            unpacked: Vec::new(),
            opens: None,
            inside: None,
            bytes,
        };
        Ok((kind, feed))
    }

    /// Returns the announced number of remaining elements, for a single layer.
    pub(crate) fn elements_left(&self) -> u64 {
        self.elements_left
    }

    /// Finds the next piece while `bytes_left` lasts, and deducts the bytes read.
    pub(crate) fn next(&mut self, bytes_left: &mut usize) -> Result<FeedState, Fault> {
        loop {
            if *bytes_left == 0 {
                return Ok(FeedState::Pause);
            }
            *bytes_left = bytes_left.saturating_sub(PIECE_BYTES);
            if let Some(inside) = &mut self.inside {
                let bytes = inside.bytes.of(&self.bytes);
                match inside.cursor.next(bytes)? {
                    Some(Entry::Integer(number)) => return Ok(FeedState::Piece(Found::Integer(number))),
                    Some(Entry::Bytes(range)) => {
                        *bytes_left = bytes_left.saturating_sub(range.len());
                        return Ok(FeedState::Piece(Found::Inside(range)));
                    }
                    None => self.inside = None,
                }
                continue;
            }
            let found = match self.begin(bytes_left)? {
                Begun::Found(found) => found,
                Begun::Unpacking => continue,
                Begun::End => return Ok(FeedState::End),
            };
            if let Some(found) = self.enter(found)? {
                if let Found::Range(range) = &found {
                    *bytes_left = bytes_left.saturating_sub(range.len());
                }
                return Ok(FeedState::Piece(found));
            }
        }
    }

    /// Reads the next part of the payload, or some of it.
    fn begin(&mut self, bytes_left: &mut usize) -> Result<Begun, Fault> {
        if let Some(unpacking) = &mut self.unpacking {
            if !unpacking.step(&self.bytes, std::mem::take(bytes_left))? {
                return Ok(Begun::Unpacking);
            }
            self.unpacked = self.unpacking.take().expect("just seen").into_text();
            return Ok(Begun::Found(Found::Unpacked));
        }
        if self.part == 0 {
            let Some(left) = self.elements_left.checked_sub(1) else { return Ok(Begun::End) };
            self.elements_left = left;
        }
        let (body, at) = (&self.bytes[..self.end], &mut self.at);
        self.opens = match self.parts[self.part] {
            Part::SpelledScore => return Ok(Begun::Found(Found::Score(take_spelled_score(body, at)?))),
            Part::Score => {
                let score = f64::from_le_bytes(take(body, at)?);
                return if score.is_nan() { Err(Fault::Malformed) } else { Ok(Begun::Found(Found::Score(score))) };
            }
            Part::Deadline => {
                let behind = take_length(body, at)?.checked_sub(1);
                let at_ms = behind.map_or(Some(0), |behind| behind.checked_add(self.deadline_base));
                return Ok(Begun::Found(Found::Deadline(at_ms.ok_or(Fault::Malformed)?)));
            }
            Part::Node => match take_length(body, at)? {
                NODE_PLAIN => None,
                NODE_PACKED => Some(Form::Listpack),
                _ => return Err(Fault::Malformed),
            },
            Part::Packed(form) => Some(form),
            Part::Text => None,
        };
        Ok(match take_text(body, at)? {
            Text::Plain(range) => Begun::Found(Found::Range(range)),
            Text::Integer(number) => Begun::Found(Found::Integer(number)),
            Text::Packed(range, length) => {
                self.unpacking = Some(Unpacking::new(range, length)?);
                Begun::Unpacking
            }
        })
    }

    /// Opens a string that packs others; any other part is a piece.
    fn enter(&mut self, found: Found) -> Result<Option<Found>, Fault> {
        self.part = (self.part + 1) % self.parts.len();
        let Some(form) = self.opens.take() else { return Ok(Some(found)) };
        let bytes = match found {
            Found::Range(range) => Place::Payload(range),
            Found::Unpacked => Place::Own(std::mem::take(&mut self.unpacked)),
            _ => return Err(Fault::Malformed),
        };
        let cursor = Cursor::open(form, bytes.of(&self.bytes))?;
        self.inside = Some(Inside { bytes, cursor });
        Ok(None)
    }

    /// Returns the piece found last.
    pub(crate) fn get(&self, found: &Found) -> Piece<'_> {
        match found {
            Found::Range(range) => Piece::Text(&self.bytes[range.clone()]),
            Found::Inside(range) => {
                let inside = self.inside.as_ref().expect("it is open until the next is looked for");
                Piece::Text(&inside.bytes.of(&self.bytes)[range.clone()])
            }
            Found::Unpacked => Piece::Text(&self.unpacked),
            Found::Integer(number) => Piece::Integer(*number),
            Found::Score(score) => Piece::Score(*score),
            Found::Deadline(at_ms) => Piece::Deadline(*at_ms),
        }
    }
}
