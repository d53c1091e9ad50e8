//! Encodes replies, in RESP2, RESP3 or as memcached's lines ([`crate::memcache`]); and requests, for clients.
//!
//! ```text
//!             RESP2               RESP3
//!   null      $-1                 _
//!   map 2     *4                  %2
//!   set 2     *2                  ~2
//!   push 2    *2                  >2
//!   double    $3 1.5              ,1.5
//!   boolean   :1                  #t
//!   big       $3 123              (123
//!   verbatim  $2 hi               =6 txt:hi
//! ```

use crate::number::Double;
use crate::output::Output;
use crate::reply::{Reply, Source};
use crate::request::Args;
use base::cost::{self, Work};
use base::raw_text;
use std::borrow::Cow;
use std::sync::Arc;

/// The protocol of a reply; clients choose RESP2 or RESP3 with `HELLO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Understood by every client.
    #[default]
    Resp2,
    /// With types for maps, sets, doubles, booleans and pushes.
    Resp3,
    /// Lines and values of memcached's protocol.
    Memcache,
}

/// Writes replies into an [`Output`].
pub struct Encoder<'a> {
    output: &'a mut Output,
    protocol: Protocol,
}

impl<'a> Encoder<'a> {
    /// Creates an encoder that appends to `output`.
    pub fn new(output: &'a mut Output, protocol: Protocol) -> Encoder<'a> {
        Encoder { output, protocol }
    }

    /// Sends the result of [`message`].
    pub fn message(&mut self, encoded: &Arc<[u8]>) {
        self.choose(b"*", b">");
        self.output.append_shared(encoded);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.output.tail.extend_from_slice(bytes);
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.output.tail.push(kind);
        self.put(text);
        self.put(b"\r\n");
    }

    #[inline]
    fn header(&mut self, kind: u8, number: usize) {
        cost::count(Work::Elements, 1);
        write_header(&mut self.output.tail, kind, number);
    }

    fn aggregate(&mut self, kind: u8, count: usize, count_flat: usize) {
        match self.protocol {
            Protocol::Resp2 => self.header(b'*', count_flat),
            Protocol::Resp3 => self.header(kind, count),
            Protocol::Memcache => {}
        }
    }

    /// Returns true if it writes memcached lines.
    #[inline]
    fn is_lines(&self) -> bool {
        self.protocol == Protocol::Memcache
    }

    fn plain_line(&mut self, text: &[u8]) {
        self.put(text);
        self.put(b"\r\n");
    }

    fn double_text(&mut self, text: &[u8]) {
        match self.protocol {
            Protocol::Resp2 | Protocol::Memcache => self.bulk(text),
            Protocol::Resp3 => self.line(b',', text),
        }
    }

    fn choose(&mut self, resp2: &[u8], resp3: &[u8]) {
        self.put(match self.protocol {
            Protocol::Resp2 => resp2,
            Protocol::Resp3 => resp3,
            Protocol::Memcache => b"",
        });
    }
}

/// Encodes a message of these bulks for all receivers; only the first byte depends on the protocol.
pub fn message(bulks: &[&[u8]]) -> Arc<[u8]> {
    let mut output = Output::new();
    let mut encoder = Encoder::new(&mut output, Protocol::Resp3);
    encoder.push(bulks.len());
    bulks.iter().for_each(|bulk| encoder.bulk(bulk));
    output.tail[1..].into()
}

/// Returns text for a line, with line ends replaced: it may contain foreign bytes.
fn one_line(text: &str) -> Cow<'_, [u8]> {
    let mut bytes = raw_text::to_bytes(text);
    if memchr::memchr2(b'\r', b'\n', &bytes).is_some() {
        bytes.to_mut().iter_mut().filter(|byte| matches!(byte, b'\r' | b'\n')).for_each(|byte| *byte = b' ');
    }
    bytes
}

impl Reply for Encoder<'_> {
    fn simple(&mut self, text: &str) {
        debug_assert!(!text.contains(['\r', '\n']));
        if self.is_lines() {
            return self.plain_line(text.as_bytes());
        }
        self.line(b'+', &one_line(text));
    }

    fn aside(&mut self, text: &[u8]) {
        self.output.put_aside(text);
    }

    fn ok(&mut self) {
        self.put(if self.is_lines() { b"OK\r\n" } else { b"+OK\r\n" });
    }

    fn error(&mut self, text: &str) {
        if self.is_lines() {
            return crate::memcache::encode::error(&mut self.output.tail, text);
        }
        self.line(b'-', &one_line(text));
    }

    fn int(&mut self, value: i64) {
        if self.is_lines() {
            return self.plain_line(itoa::Buffer::new().format(value).as_bytes());
        }
        cost::count(Work::Elements, 1);
        if let digit @ 0..=9 = value {
            return self.put(&[b':', b'0' + digit as u8, b'\r', b'\n']);
        }
        self.line(b':', itoa::Buffer::new().format(value).as_bytes());
    }

    fn bulk(&mut self, bytes: &[u8]) {
        self.output.tail.reserve(bytes.len() + HEADER_BYTES_MAX + 2);
        self.bulk_begin(bytes.len());
        self.put(bytes);
        self.put(b"\r\n");
    }

    fn bulk_int(&mut self, value: i64) {
        self.bulk(itoa::Buffer::new().format(value).as_bytes());
    }

    fn run(&mut self, width: usize, bytes: &[u8]) {
        assert!(width > 0);
        assert!(bytes.len().is_multiple_of(width));
        match width {
            _ if self.is_lines() => bytes.chunks_exact(width).for_each(|item| self.bulk(item)),
            0..=8 => write_run::<8>(&mut self.output.tail, width, bytes),
            9..=16 => write_run::<16>(&mut self.output.tail, width, bytes),
            17..=32 => write_run::<32>(&mut self.output.tail, width, bytes),
            33..=64 => write_run::<64>(&mut self.output.tail, width, bytes),
            _ => bytes.chunks_exact(width).for_each(|item| self.bulk(item)),
        }
    }

    fn bulk_owned(&mut self, bytes: Vec<u8>) {
        self.bulk_begin(bytes.len());
        self.output.append_owned(bytes);
        self.put(b"\r\n");
    }

    #[inline]
    fn bulk_begin(&mut self, bytes_count: usize) {
        if !self.is_lines() {
            self.header(b'$', bytes_count);
        }
    }

    fn bulk_part(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }

    fn bulk_end(&mut self) {
        self.put(b"\r\n");
    }

    fn null(&mut self) {
        self.choose(b"$-1\r\n", b"_\r\n");
    }

    fn null_array(&mut self) {
        self.choose(b"*-1\r\n", b"_\r\n");
    }

    fn array(&mut self, count: usize) {
        self.aggregate(b'*', count, count);
    }

    fn map(&mut self, count: usize) {
        self.aggregate(b'%', count, count * 2);
    }

    fn set(&mut self, count: usize) {
        self.aggregate(b'~', count, count);
    }

    fn push(&mut self, count: usize) {
        self.aggregate(b'>', count, count);
    }

    fn double(&mut self, value: f64) {
        self.double_text(Double::new(value).as_bytes());
    }

    fn double_as(&mut self, _: f64, digits: &str) {
        self.double_text(digits.as_bytes());
    }

    fn boolean(&mut self, value: bool) {
        if self.is_lines() {
            return self.int(i64::from(value));
        }
        if value {
            self.choose(b":1\r\n", b"#t\r\n");
        } else {
            self.choose(b":0\r\n", b"#f\r\n");
        }
    }

    fn big_number(&mut self, digits: &str) {
        match self.protocol {
            Protocol::Resp2 | Protocol::Memcache => self.bulk(&raw_text::to_bytes(digits)),
            Protocol::Resp3 => self.line(b'(', &one_line(digits)),
        }
    }

    fn verbatim(&mut self, format: &str, text: &str) {
        let text = raw_text::to_bytes(text);
        if self.protocol != Protocol::Resp3 {
            return self.bulk(&text);
        }
        // Three bytes, whatever format a script gives.
        let mut head = [b' ', b' ', b' ', b':'];
        let format = raw_text::to_bytes(format);
        head[..3].iter_mut().zip(format.iter()).for_each(|(place, byte)| *place = *byte);
        self.header(b'=', text.len() + head.len());
        self.put(&head);
        self.put(&text);
        self.put(b"\r\n");
    }

    fn stream(&mut self, source: Box<dyn Source>) {
        self.output.append_source(source, self.protocol);
    }

    fn is_resp3(&self) -> bool {
        self.protocol == Protocol::Resp3
    }
}

/// A type byte, 20 digits, a line end.
const HEADER_BYTES_MAX: usize = 23;

#[inline]
fn write_header(out: &mut Vec<u8>, kind: u8, number: usize) {
    let (tens, ones) = ((number / 10) as u8, (number % 10) as u8);
    if number < 10 {
        out.extend_from_slice(&[kind, b'0' + ones, b'\r', b'\n']);
    } else if number < 100 {
        out.extend_from_slice(&[kind, b'0' + tens, b'0' + ones, b'\r', b'\n']);
    } else {
        out.push(kind);
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes bulks of `width <= WIDE` bytes each.
///
/// Between two items there is always the same `\r\n$w\r\n`. Both are copied in blocks of a fixed size, which compile to
/// plain moves; excess bytes are overwritten by the next copy or cut off at the end.
fn write_run<const WIDE: usize>(out: &mut Vec<u8>, width: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    write_header(out, b'$', width);
    let (between, between_bytes) = between(width);
    let mut at = out.len();
    out.resize(at + bytes.len() / width * (width + between_bytes) + WIDE, 0);
    for from in (0..bytes.len()).step_by(width) {
        if let Some(block) = bytes.get(from..from + WIDE) {
            out[at..at + WIDE].copy_from_slice(block);
        } else {
            out[at..at + width].copy_from_slice(&bytes[from..from + width]);
        }
        at += width;
        out[at..at + 8].copy_from_slice(&between);
        at += between_bytes;
    }
    out.truncate(at - between_bytes + 2);
}

/// Returns a line end and the header of a bulk of `width < 100` bytes, and the length of both.
fn between(width: usize) -> ([u8; 8], usize) {
    let (tens, ones) = (b'0' + (width / 10) as u8, b'0' + (width % 10) as u8);
    if width < 10 {
        ([b'\r', b'\n', b'$', ones, b'\r', b'\n', 0, 0], 6)
    } else {
        ([b'\r', b'\n', b'$', tens, ones, b'\r', b'\n', 0], 7)
    }
}

/// Appends a request as clients send it.
pub fn request(out: &mut Vec<u8>, arguments: Args<'_>) {
    write_header(out, b'*', arguments.len());
    for argument in arguments {
        write_header(out, b'$', argument.len());
        out.extend_from_slice(argument);
        out.extend_from_slice(b"\r\n");
    }
}
