//! Parses ids: `ms-seq`, `ms`, `ms-*`, `-` and `+`.

use crate::prelude::*;
use values::stream::StreamId;

/// Longer ids are invalid.
const TEXT_BYTES_MAX: usize = 127;

fn invalid() -> Failure {
    Failure::text("ERR Invalid stream ID specified as stream command argument")
}

/// Parses an integer without a sign, except `+`.
fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

fn parts(text: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let at = text.iter().position(|byte| *byte == b'-');
    let (ms, seq) = at.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    Some((number(ms)?, seq))
}

/// Parses an id; without a sequence number it gets `missing`.
pub(super) fn strict(text: &[u8], missing: u64) -> Result<StreamId, Failure> {
    let (ms, seq) = parts(text).ok_or_else(invalid)?;
    let seq = seq.map_or(Some(missing), number).ok_or_else(invalid)?;
    Ok(StreamId { ms, seq })
}

/// Likewise, or an end: `-` is the least, `+` the greatest.
pub(super) fn loose(text: &[u8], missing: u64) -> Result<StreamId, Failure> {
    match text {
        b"-" => Ok(StreamId::MIN),
        b"+" => Ok(StreamId::MAX),
        text => strict(text, missing),
    }
}

/// The id of an entry to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedId {
    /// Any.
    Any,
    /// Any within this millisecond.
    Within(u64),
    /// Exactly this one.
    This(StreamId),
}

/// Parses XADD's id argument, except for `*`.
pub(super) fn wanted(text: &[u8]) -> Result<RequestedId, Failure> {
    match parts(text) {
        Some((ms, Some(b"*"))) => Ok(RequestedId::Within(ms)),
        _ => strict(text, 0).map(RequestedId::This),
    }
}

/// Parses all of `args`.
pub(super) fn all(args: Args<'_>) -> Result<Vec<StreamId>, Failure> {
    args.iter().map(|text| strict(text, 0)).collect()
}

/// Parses the lower end of an interval.
pub(super) fn start(text: &[u8]) -> Result<StreamId, Failure> {
    match text {
        [b'(', rest @ ..] if !rest.is_empty() => {
            strict(rest, 0)?.next().ok_or(Failure::text("ERR invalid start ID for the interval"))
        }
        text => loose(text, 0),
    }
}

/// Parses the upper end of an interval.
pub(super) fn end(text: &[u8]) -> Result<StreamId, Failure> {
    match text {
        [b'(', rest @ ..] if !rest.is_empty() => {
            strict(rest, u64::MAX)?.before().ok_or(Failure::text("ERR invalid end ID for the interval"))
        }
        text => loose(text, u64::MAX),
    }
}

/// Replies with an id.
pub(super) fn write(reply: &mut dyn Reply, id: StreamId) {
    reply.bulk(id.to_string().as_bytes());
}
