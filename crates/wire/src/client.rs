//! The client side: reads RESP2 and RESP3 replies.
//!
//! ```text
//!   bytes ──feed──> buffer ──next──> Value
//!                     open: [ %2 with 1 of 4 ] [ *3 with 0 of 3 ]     aggregates not yet whole
//! ```
//!
//! Incomplete aggregates stay open on a stack, so a reply that arrives in pieces is parsed once.

use crate::number::{Double, parse_int};
use base::limits::BULK_BYTES_MAX;
use base::raw_text;
use std::fmt;

/// The maximum nesting depth of aggregates.
pub const DEPTH_MAX: usize = 128;
/// The maximum length of a status, error or number line, in bytes.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The maximum capacity reserved for an aggregate because of its header alone, in values.
const CAPACITY_MAX: u64 = 1024;

/// A reply. Its Display form is one line: `OK`, `!ERR syntax error`, `3`, `"bytes\n"`, `["a", 1]`, `{"k": "v"}`,
/// `null`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A status.
    Simple(String),
    /// An error, with its prefix.
    Error(String),
    /// An integer.
    Int(i64),
    /// Bytes.
    Bulk(Vec<u8>),
    /// No value.
    Null,
    /// A null array; RESP2 only.
    NullArray,
    /// Values in order.
    Array(Vec<Value>),
    /// Pairs in order of arrival.
    Map(Vec<(Value, Value)>),
    /// Unordered values.
    Set(Vec<Value>),
    /// An unsolicited message.
    Push(Vec<Value>),
    /// A double; NaN is unequal to itself.
    Double(f64),
    /// A boolean.
    Boolean(bool),
    /// An integer of any length, in decimal digits.
    BigNumber(String),
    /// Text with its format.
    Verbatim {
        /// Three letters, such as `txt`.
        format: String,
        /// The text.
        text: String,
    },
}

impl Value {
    /// Returns a bulk of these bytes.
    pub fn bulk(bytes: impl AsRef<[u8]>) -> Value {
        Value::Bulk(bytes.as_ref().to_vec())
    }

    /// Returns the bytes of a bulk.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bulk(bytes) = self { Some(bytes) } else { None }
    }

    /// Returns the number of an integer reply.
    pub fn as_int(&self) -> Option<i64> {
        if let Value::Int(value) = self { Some(*value) } else { None }
    }

    /// Returns the elements of an array, set or push.
    pub fn as_slice(&self) -> Option<&[Value]> {
        match self {
            Value::Array(values) | Value::Set(values) | Value::Push(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the text of an error.
    pub fn as_error(&self) -> Option<&str> {
        if let Value::Error(text) = self { Some(text) } else { None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Simple(text) => f.write_str(text),
            Value::Error(text) => write!(f, "!{text}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Bulk(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Value::Null => f.write_str("null"),
            Value::NullArray => f.write_str("null-array"),
            Value::Array(values) => write_list(f, "", values),
            Value::Set(values) => write_list(f, "~", values),
            Value::Push(values) => write_list(f, ">", values),
            Value::Map(pairs) => write_map(f, pairs),
            Value::Double(value) => write!(f, ",{}", String::from_utf8_lossy(Double::new(*value).as_bytes())),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::BigNumber(digits) => write!(f, "({digits}"),
            Value::Verbatim { format, text } => write!(f, "{format}:\"{}\"", text.as_bytes().escape_ascii()),
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, prefix: &str, values: &[Value]) -> fmt::Result {
    write!(f, "{prefix}[")?;
    for (index, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if index > 0 { ", " } else { "" })?;
    }
    f.write_str("]")
}

fn write_map(f: &mut fmt::Formatter<'_>, pairs: &[(Value, Value)]) -> fmt::Result {
    f.write_str("{")?;
    for (index, (key, value)) in pairs.iter().enumerate() {
        write!(f, "{}{key}: {value}", if index > 0 { ", " } else { "" })?;
    }
    f.write_str("}")
}

/// A server's protocol violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyError {
    /// No reply begins with this byte.
    UnknownType(u8),
    /// An invalid length, count or number.
    InvalidNumber(String),
    /// An unterminated line, or aggregates nested too deep.
    TooBig,
    /// Invalid text, or a bulk without its line end.
    Malformed,
}

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplyError::UnknownType(byte) => write!(f, "no reply begins with '{}'", byte.escape_ascii()),
            ReplyError::InvalidNumber(text) => write!(f, "'{text}' is no number in a reply"),
            ReplyError::TooBig => f.write_str("a reply's line is too long, or its nesting too deep"),
            ReplyError::Malformed => f.write_str("a reply is malformed"),
        }
    }
}

impl std::error::Error for ReplyError {}

/// Reads one connection's replies.
#[derive(Default)]
pub struct Parser {
    buffer: Vec<u8>,
    /// The first unparsed byte of `buffer`.
    at: usize,
    /// The offset up to which no line end was found.
    scanned: usize,
    open: Vec<Open>,
}

/// An aggregate whose values have not all arrived.
pub(crate) struct Open {
    kind: u8,
    left: u64,
    values: Vec<Value>,
}

/// The item at the front of the buffer.
enum Item {
    Value(Value),
    Aggregate(Open),
}

impl Parser {
    /// Creates a parser at the start of a reply.
    pub fn new() -> Parser {
        Parser::default()
    }

    /// Adds received bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.at > self.buffer.len() / 2 {
            self.buffer.drain(..self.at);
            self.scanned = self.scanned.saturating_sub(self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete reply; `None` until more bytes arrive. Attributes are read and dropped.
    ///
    /// # Errors
    /// If the bytes are no valid reply; the parser is then unusable.
    pub fn next_value(&mut self) -> Result<Option<Value>, ReplyError> {
        while let Some(item) = self.item()? {
            let whole = match item {
                Item::Value(value) => place(&mut self.open, value),
                Item::Aggregate(open) if open.left > 0 => {
                    if self.open.len() == DEPTH_MAX {
                        return Err(ReplyError::TooBig);
                    }
                    self.open.push(open);
                    None
                }
                Item::Aggregate(open) => open.close().and_then(|value| place(&mut self.open, value)),
            };
            if whole.is_some() {
                return Ok(whole);
            }
        }
        Ok(None)
    }

    fn item(&mut self) -> Result<Option<Item>, ReplyError> {
        let Some((line, next)) = self.line()? else { return Ok(None) };
        let Some((&kind, text)) = self.buffer[line].split_first() else { return Err(ReplyError::Malformed) };
        let item = match kind {
            b'$' | b'=' | b'!' if text != b"-1" => {
                let length = parse_int(text).filter(|length| (0..=BULK_BYTES_MAX as i64).contains(length));
                let length = length.ok_or_else(|| invalid(text))? as usize;
                return self.bulk(kind, next, length);
            }
            b'*' | b'%' | b'~' | b'>' | b'|' if text != b"-1" => Item::Aggregate(Open::of(kind, text)?),
            _ => Item::Value(leaf(kind, text)?),
        };
        self.advance(next);
        Ok(Some(item))
    }

    /// Returns the bulk whose bytes begin at `start`.
    fn bulk(&mut self, kind: u8, start: usize, length: usize) -> Result<Option<Item>, ReplyError> {
        let end = start + length;
        let Some(line_end) = self.buffer.get(end..end + 2) else { return Ok(None) };
        if line_end != b"\r\n" {
            return Err(ReplyError::Malformed);
        }
        let bytes = &self.buffer[start..end];
        let value = match kind {
            b'$' => Value::Bulk(bytes.to_vec()),
            b'!' => Value::Error(raw_text::from_bytes(bytes).into_owned()),
            _ => verbatim(bytes)?,
        };
        self.advance(end + 2);
        Ok(Some(Item::Value(value)))
    }

    /// Returns the line at the front, without its end, and where the next begins.
    fn line(&mut self) -> Result<Option<(std::ops::Range<usize>, usize)>, ReplyError> {
        let from = self.at.max(self.scanned);
        let Some(found) = memchr::memchr(b'\n', &self.buffer[from..]) else {
            self.scanned = self.buffer.len();
            return if self.scanned - self.at > LINE_BYTES_MAX { Err(ReplyError::TooBig) } else { Ok(None) };
        };
        let end = from + found;
        // An incomplete bulk: the next call finds its header at once.
        self.scanned = end;
        match self.buffer[self.at..end].last() {
            Some(b'\r') => Ok(Some((self.at..end - 1, end + 1))),
            _ => Err(ReplyError::Malformed),
        }
    }

    fn advance(&mut self, at: usize) {
        self.at = at;
        self.scanned = at;
    }
}

impl Open {
    fn of(kind: u8, text: &[u8]) -> Result<Open, ReplyError> {
        let count = parse_int(text).and_then(|count| u32::try_from(count).ok()).ok_or_else(|| invalid(text))?;
        let left = if matches!(kind, b'%' | b'|') { u64::from(count) * 2 } else { u64::from(count) };
        Ok(Open::new(kind, left))
    }

    /// Creates an aggregate of type `kind` that expects `left` values.
    pub(crate) fn new(kind: u8, left: u64) -> Open {
        Open { kind, left, values: Vec::with_capacity(left.min(CAPACITY_MAX) as usize) }
    }

    /// Returns the complete value; `None` for an attribute.
    pub(crate) fn close(self) -> Option<Value> {
        Some(match self.kind {
            b'%' => Value::Map(pairs(self.values)),
            b'~' => Value::Set(self.values),
            b'>' => Value::Push(self.values),
            b'|' => return None,
            _ => Value::Array(self.values),
        })
    }
}

/// Adds `value` to the innermost aggregate; returns the reply if that completes it.
pub(crate) fn place(aggregates: &mut Vec<Open>, value: Value) -> Option<Value> {
    let mut value = value;
    while let Some(mut open) = aggregates.pop() {
        open.values.push(value);
        open.left -= 1;
        if open.left > 0 {
            aggregates.push(open);
            return None;
        }
        value = open.close()?;
    }
    Some(value)
}

fn pairs(values: Vec<Value>) -> Vec<(Value, Value)> {
    let mut values = values.into_iter();
    std::iter::from_fn(|| Some((values.next()?, values.next()?))).collect()
}

fn leaf(kind: u8, text: &[u8]) -> Result<Value, ReplyError> {
    Ok(match (kind, text) {
        (b'+', _) => Value::Simple(raw_text::from_bytes(text).into_owned()),
        (b'-', _) => Value::Error(raw_text::from_bytes(text).into_owned()),
        (b':', _) => Value::Int(parse_int(text).ok_or_else(|| invalid(text))?),
        (b'_', b"") | (b'$', b"-1") => Value::Null,
        (b'*', b"-1") => Value::NullArray,
        (b',', _) => Value::Double(text_of(text)?.parse().map_err(|_| invalid(text))?),
        (b'#', b"t") => Value::Boolean(true),
        (b'#', b"f") => Value::Boolean(false),
        (b'(', _) => Value::BigNumber(big_number(text)?),
        (b'_' | b'#' | b'$' | b'*' | b'%' | b'~' | b'>' | b'|' | b'=' | b'!', _) => return Err(ReplyError::Malformed),
        _ => return Err(ReplyError::UnknownType(kind)),
    })
}

fn big_number(text: &[u8]) -> Result<String, ReplyError> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(invalid(text));
    }
    text_of(text)
}

fn verbatim(bytes: &[u8]) -> Result<Value, ReplyError> {
    let text = |bytes: &[u8]| raw_text::from_bytes(bytes).into_owned();
    match bytes.split_at_checked(3) {
        Some((format, [b':', rest @ ..])) => Ok(Value::Verbatim { format: text(format), text: text(rest) }),
        _ => Err(ReplyError::Malformed),
    }
}

fn text_of(bytes: &[u8]) -> Result<String, ReplyError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| ReplyError::Malformed)
}

fn invalid(text: &[u8]) -> ReplyError {
    ReplyError::InvalidNumber(text[..text.len().min(64)].escape_ascii().to_string())
}
