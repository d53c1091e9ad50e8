//! Decodes bytes to requests.
//!
//! ```text
//!   *2\r\n $3\r\nGET\r\n $1\r\nk\r\n        GET "a key"\r\n
//!   count  length bytes                    inline: a line of words
//! ```
//!
//! The plain algorithm reads a count, then that many bulks. If a request is incomplete, the decoder remembers its
//! state: `at` is the first unparsed byte, `scanned` how far the search for a line end has got, `left` the bulks to
//! come, `bulk_bytes` the length of the current one. So no byte is read twice however the input is split, and while a
//! bulk is arriving a step is one comparison.
//!
//! Results depend on the bytes alone, not on how they were split into reads: a line is too long if its first 64 KiB + 1
//! contain no end.

use super::inline;
use crate::http::is_http_line;
use crate::number::parse_int;
use crate::request::{Range, Ranges};
use base::limits::{ARGUMENTS_MAX, BULK_BYTES_MAX, INLINE_BYTES_MAX};

/// The maximum length of a request, in bytes, as Redis's default `client-query-buffer-limit`.
pub const REQUEST_BYTES_MAX: usize = 1 << 30;

/// The limits on one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limits {
    /// Any number of arguments that fits, bulks of 512 MiB.
    #[default]
    Full,
    /// Before authentication: 10 arguments, bulks of 16 KiB, 64 KiB together.
    Unauthenticated,
}

const UNAUTHENTICATED_ARGUMENTS_MAX: i64 = 10;
const UNAUTHENTICATED_BULK_BYTES_MAX: i64 = 16 << 10;
/// Redis would allow ten arguments of that length; no user and password are that long.
const UNAUTHENTICATED_BYTES_MAX: usize = INLINE_BYTES_MAX;

/// The maximum arguments decoded per step: about 60 µs, so that a long request does not delay other connections.
const STEP_ARGUMENTS_MAX: u32 = 4096;

/// Parked ranges up to this capacity are kept unchanged.
const RANGES_PARKED_MIN: usize = 64;
/// From this many ranges on, capacity is reserved for all still to come, at first for a million.
const RANGES_PARKED_MANY: usize = 4096;
const RANGES_AHEAD_MIN: usize = 1 << 20;

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RespStep {
    /// The request is incomplete. Call again with the same input and more appended; or, if `at_least` is no longer than
    /// the input, with the same input: a request of very many arguments takes more than one step.
    NeedMore {
        /// The minimum length of the whole input, in bytes, at which another step can make progress.
        at_least: usize,
    },
    /// A request, its arguments in the `Ranges`.
    Request {
        /// The bytes of input consumed.
        used: usize,
    },
    /// No request: a blank line, or an empty array. No reply is due.
    Empty {
        /// The bytes of input consumed.
        used: usize,
    },
    /// Protocol violation: send the error and close.
    Broken(WireError),
    /// HTTP from a browser, see [`crate::http`]: close without a reply, whatever else has arrived.
    Http,
}

/// A client's protocol violation. Its Display form is Redis's text without the prefix `ERR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says what its text says")]
pub enum WireError {
    InlineTooBig,
    UnbalancedQuotes,
    CountTooBig,
    InvalidCount,
    UnauthenticatedCount,
    LengthTooBig,
    ExpectedBulk { got: u8 },
    InvalidLength,
    UnauthenticatedLength,
    RequestTooBig,
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Protocol error: ")?;
        f.write_str(match self {
            WireError::InlineTooBig => "too big inline request",
            WireError::UnbalancedQuotes => "unbalanced quotes in request",
            WireError::CountTooBig => "too big mbulk count string",
            WireError::InvalidCount => "invalid multibulk length",
            WireError::UnauthenticatedCount => "unauthenticated multibulk length",
            WireError::LengthTooBig => "too big bulk count string",
            WireError::ExpectedBulk { got } => return write!(f, "expected '$', got '{}'", char::from(*got)),
            WireError::InvalidLength => "invalid bulk length",
            WireError::UnauthenticatedLength => "unauthenticated bulk length",
            WireError::RequestTooBig => "too big request",
        })
    }
}

impl std::error::Error for WireError {}

/// Decodes the requests of one connection, one per step.
#[derive(Default)]
pub struct RespDecoder {
    /// The ranges of a half-received request; otherwise empty and unallocated.
    parked: Vec<Range>,
    at: u32,
    scanned: u32,
    left: u32,
    bulk_bytes: Option<u32>,
    limits: Limits,
}

const _: () = assert!(size_of::<RespDecoder>() <= 64);

/// Why a pass over the input ended before the request was complete.
enum Pause {
    Short { at_least: usize },
    Broken(WireError),
}

impl From<WireError> for Pause {
    fn from(error: WireError) -> Pause {
        Pause::Broken(error)
    }
}

impl RespDecoder {
    /// Creates a decoder at the start of a request, with full limits.
    pub fn new() -> RespDecoder {
        RespDecoder::default()
    }

    /// Sets the limits from the next step on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Returns the decoder's heap memory in bytes: none between requests.
    pub fn heap_bytes(&self) -> usize {
        self.parked.capacity() * size_of::<Range>()
    }

    /// Decodes the request at the start of `input`, or continues with it.
    ///
    /// After `NeedMore` the next input must begin with the same bytes. After `Request` or `Empty` it begins `used`
    /// bytes later. After `Broken` the decoder must not be used again.
    pub fn step(&mut self, input: &[u8], ranges: &mut Ranges) -> RespStep {
        if self.left == 0 {
            ranges.clear();
            match input.first() {
                None => return RespStep::NeedMore { at_least: 1 },
                Some(b'*') => {}
                Some(_) => return self.step_inline(input, ranges),
            }
        } else {
            ranges.clear();
            if !self.parked.is_empty() {
                ranges.list = std::mem::take(&mut self.parked);
            }
        }
        match self.multibulk(input, &mut ranges.list) {
            Ok(used) => {
                self.at = 0;
                if ranges.list.is_empty() { RespStep::Empty { used } } else { RespStep::Request { used } }
            }
            Err(Pause::Short { at_least }) => {
                if !ranges.list.is_empty() {
                    self.park(&mut ranges.list);
                }
                RespStep::NeedMore { at_least }
            }
            Err(Pause::Broken(error)) => RespStep::Broken(error),
        }
    }

    /// Keeps the ranges found so far, without the spare capacity of longer requests.
    fn park(&mut self, list: &mut Vec<Range>) {
        self.parked = std::mem::take(list);
        if self.parked.capacity() > RANGES_PARKED_MIN && self.parked.len() < RANGES_PARKED_MANY {
            // To twice what is used: the pushes so far pay for growing again.
            self.parked.shrink_to(self.parked.len() * 2);
        }
    }

    /// Continues a multibulk request. Returns its length when complete.
    fn multibulk(&mut self, input: &[u8], list: &mut Vec<Range>) -> Result<usize, Pause> {
        if self.left == 0 {
            let (count, next) = self.count(input)?;
            if count <= 0 {
                return Ok(next);
            }
            self.left = self.checked_count(count)?;
            self.at = next as u32;
        }
        let mut at = self.at as usize;
        let mut left = self.left;
        let step = left.min(STEP_ARGUMENTS_MAX) as usize;
        if list.len() >= RANGES_PARKED_MANY && list.capacity() - list.len() < step {
            // Small growth would move much data often. Unused capacity is never touched.
            list.reserve_exact((left as usize).min(list.len().max(RANGES_AHEAD_MIN)));
        }
        let left_behind = left.saturating_sub(STEP_ARGUMENTS_MAX);
        while left > 0 {
            if left == left_behind {
                (self.at, self.left) = (at as u32, left);
                return Err(Pause::Short { at_least: at });
            }
            match self.bulk(input, at) {
                Ok((range, next)) => {
                    list.push(range);
                    at = next;
                    left -= 1;
                }
                Err(pause) => {
                    self.left = left;
                    return Err(pause);
                }
            }
        }
        self.left = 0;
        Ok(at)
    }

    #[inline]
    fn count(&mut self, input: &[u8]) -> Result<(i64, usize), Pause> {
        if let &[b'*', ones @ b'0'..=b'9', b'\r', _, ..] = input {
            self.scanned = 0;
            return Ok((i64::from(ones - b'0'), 4));
        }
        self.number(input, 0, WireError::CountTooBig, WireError::InvalidCount)
    }

    /// Returns the bulk at `at`, or what is left of it to read, and where the next one begins.
    #[inline]
    fn bulk(&mut self, input: &[u8], at: usize) -> Result<(Range, usize), Pause> {
        let (length, start) = match self.bulk_bytes.take() {
            Some(length) => (length as usize, self.at as usize),
            None => self.bulk_header(input, at)?,
        };
        let end = start + length + 2;
        if input.len() < end {
            self.at = start as u32;
            self.bulk_bytes = Some(length as u32);
            return Err(Pause::Short { at_least: end });
        }
        Ok((Range::new(start, length), end))
    }

    #[inline]
    fn bulk_header(&mut self, input: &[u8], at: usize) -> Result<(usize, usize), Pause> {
        // Most lengths have one or two digits: no search for a line end is needed.
        if let Some(&[b'$', ones @ b'0'..=b'9', b'\r', _]) = input.get(at..at + 4) {
            self.scanned = 0;
            return Ok((usize::from(ones - b'0'), at + 4));
        }
        if let Some(&[b'$', tens @ b'1'..=b'9', ones @ b'0'..=b'9', b'\r', _]) = input.get(at..at + 5) {
            self.scanned = 0;
            return Ok((usize::from(tens - b'0') * 10 + usize::from(ones - b'0'), at + 5));
        }
        let (length, start) = self.number(input, at, WireError::LengthTooBig, WireError::InvalidLength)?;
        Ok((self.checked_length(length, start)?, start))
    }

    /// Returns the number in the line at `at`, after its first byte, and where the next line begins.
    fn number(
        &mut self,
        input: &[u8],
        at: usize,
        too_big: WireError,
        invalid: WireError,
    ) -> Result<(i64, usize), Pause> {
        let from = at.max(self.scanned as usize);
        let limit = input.len().min(at + INLINE_BYTES_MAX + 1);
        let Some(found) = memchr::memchr(b'\r', &input[from..limit]) else {
            if limit - at > INLINE_BYTES_MAX {
                return Err(too_big.into());
            }
            return Err(self.pause_in_line(input, at, limit));
        };
        let end = from + found;
        if input.len() < end + 2 {
            return Err(self.pause_in_line(input, at, end));
        }
        self.scanned = 0;
        if input[at] != b'$' && at > 0 {
            return Err(WireError::ExpectedBulk { got: input[at] }.into());
        }
        Ok((parse_int(&input[at + 1..end]).ok_or(invalid)?, end + 2))
    }

    fn pause_in_line(&mut self, input: &[u8], at: usize, scanned: usize) -> Pause {
        self.at = at as u32;
        self.scanned = scanned as u32;
        Pause::Short { at_least: input.len() + 1 }
    }

    fn checked_count(&self, count: i64) -> Result<u32, WireError> {
        if count > ARGUMENTS_MAX as i64 {
            return Err(WireError::InvalidCount);
        }
        if self.limits == Limits::Unauthenticated && count > UNAUTHENTICATED_ARGUMENTS_MAX {
            return Err(WireError::UnauthenticatedCount);
        }
        Ok(count as u32)
    }

    fn checked_length(&self, length: i64, start: usize) -> Result<usize, WireError> {
        if !(0..=BULK_BYTES_MAX as i64).contains(&length) {
            return Err(WireError::InvalidLength);
        }
        let is_large = length > UNAUTHENTICATED_BULK_BYTES_MAX || start + length as usize > UNAUTHENTICATED_BYTES_MAX;
        if self.limits == Limits::Unauthenticated && is_large {
            return Err(WireError::UnauthenticatedLength);
        }
        if start + length as usize + 2 > REQUEST_BYTES_MAX {
            return Err(WireError::RequestTooBig);
        }
        Ok(length as usize)
    }

    fn step_inline(&mut self, input: &[u8], ranges: &mut Ranges) -> RespStep {
        let from = self.scanned as usize;
        let limit = input.len().min(INLINE_BYTES_MAX + 1);
        let Some(found) = memchr::memchr(b'\n', &input[from..limit]) else {
            if limit > INLINE_BYTES_MAX {
                return RespStep::Broken(WireError::InlineTooBig);
            }
            self.scanned = limit as u32;
            return RespStep::NeedMore { at_least: limit + 1 };
        };
        self.scanned = 0;
        let (line, used) = (&input[..from + found], from + found + 1);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if is_http_line(line) {
            return RespStep::Http;
        }
        match inline::split(line, ranges) {
            Err(error) => RespStep::Broken(error),
            Ok(()) if ranges.list.is_empty() => RespStep::Empty { used },
            Ok(()) => RespStep::Request { used },
        }
    }
}
