//! A reply kept as a value, to be read in this process rather than by a client.
//!
//! ```text
//!   map(1) bulk(k) array(2) int(1) int(2)   -->   {"k": [1, 2]}
//!          open: [ map, 1 of 2 ] [ array, 1 of 2 ]         as a client's parser keeps them
//! ```

use crate::client::{Open, Value, place};
use crate::number::Double;
use crate::reply::{More, Reply, Source};
use crate::resp::Protocol;
use base::raw_text;

/// One reply as a client using `protocol` would read it.
pub struct ReplyValue {
    protocol: Protocol,
    open: Vec<Open>,
    /// The bulk being received in parts.
    bulk: Vec<u8>,
    whole: Option<Value>,
    /// The bytes left; `None` once exceeded.
    room_bytes: Option<usize>,
}

impl ReplyValue {
    /// Creates an empty one. Beyond `bytes_max` of memory, the rest of a reply is dropped.
    pub fn new(protocol: Protocol, bytes_max: usize) -> Self {
        Self { protocol, open: Vec::new(), bulk: Vec::new(), whole: None, room_bytes: Some(bytes_max) }
    }

    /// Returns the reply; `None` if it is incomplete.
    pub fn into_value(self) -> Option<Value> {
        self.whole
    }

    /// Returns true if it exceeded its limit.
    pub fn is_too_long(&self) -> bool {
        self.room_bytes.is_none()
    }

    /// Reserves `bytes`. Returns whether they were left.
    #[inline]
    fn takes(&mut self, bytes: usize) -> bool {
        self.room_bytes = self.room_bytes.and_then(|room| room.checked_sub(bytes));
        self.room_bytes.is_some()
    }

    #[inline]
    fn put(&mut self, value: Value) {
        // The bytes of a bulk are reserved earlier.
        if !self.takes(size_of::<Value>()) {
            return;
        }
        if let Some(value) = place(&mut self.open, value) {
            self.whole = Some(value);
        }
    }

    fn begin(&mut self, kind: u8, count: usize) {
        if self.is_too_long() {
            return;
        }
        let open = Open::new(kind, count as u64);
        if count > 0 {
            self.open.push(open);
        } else if let Some(value) = open.close() {
            self.put(value);
        }
    }

    fn speaks_resp3(&self) -> bool {
        self.protocol == Protocol::Resp3
    }
}

/// Replaces line ends, as for errors and numbers on the wire.
fn one_line(text: &str) -> String {
    if text.contains(['\r', '\n']) { text.replace(['\r', '\n'], " ") } else { text.to_owned() }
}

impl Reply for ReplyValue {
    fn simple(&mut self, text: &str) {
        self.put(Value::Simple(text.to_owned()));
    }

    fn error(&mut self, text: &str) {
        self.put(Value::Error(one_line(text)));
    }

    fn int(&mut self, value: i64) {
        self.put(Value::Int(value));
    }

    fn bulk(&mut self, bytes: &[u8]) {
        if self.takes(bytes.len()) {
            self.put(Value::Bulk(bytes.to_vec()));
        }
    }

    fn bulk_int(&mut self, value: i64) {
        self.bulk(itoa::Buffer::new().format(value).as_bytes());
    }

    fn run(&mut self, width: usize, bytes: &[u8]) {
        assert!(width > 0 && bytes.len().is_multiple_of(width));
        bytes.chunks_exact(width).for_each(|item| self.bulk(item));
    }

    fn bulk_owned(&mut self, bytes: Vec<u8>) {
        if self.takes(bytes.len()) {
            self.put(Value::Bulk(bytes));
        }
    }

    fn bulk_begin(&mut self, bytes_count: usize) {
        if self.takes(bytes_count) {
            self.bulk = Vec::with_capacity(bytes_count);
        }
    }

    fn bulk_part(&mut self, bytes: &[u8]) {
        if !self.is_too_long() {
            self.bulk.extend_from_slice(bytes);
        }
    }

    fn bulk_end(&mut self) {
        let bytes = std::mem::take(&mut self.bulk);
        self.put(Value::Bulk(bytes));
    }

    fn null(&mut self) {
        self.put(Value::Null);
    }

    fn null_array(&mut self) {
        self.put(if self.speaks_resp3() { Value::Null } else { Value::NullArray });
    }

    fn array(&mut self, count: usize) {
        self.begin(b'*', count);
    }

    fn map(&mut self, count: usize) {
        self.begin(if self.speaks_resp3() { b'%' } else { b'*' }, 2 * count);
    }

    fn set(&mut self, count: usize) {
        self.begin(if self.speaks_resp3() { b'~' } else { b'*' }, count);
    }

    fn push(&mut self, count: usize) {
        self.begin(if self.speaks_resp3() { b'>' } else { b'*' }, count);
    }

    fn double(&mut self, value: f64) {
        if self.speaks_resp3() {
            self.put(Value::Double(value));
        } else {
            self.bulk(Double::new(value).as_bytes());
        }
    }

    fn double_as(&mut self, value: f64, digits: &str) {
        if self.speaks_resp3() {
            self.put(Value::Double(value));
        } else {
            self.bulk(digits.as_bytes());
        }
    }

    fn boolean(&mut self, value: bool) {
        self.put(if self.speaks_resp3() { Value::Boolean(value) } else { Value::Int(i64::from(value)) });
    }

    fn big_number(&mut self, digits: &str) {
        if self.speaks_resp3() {
            self.put(Value::BigNumber(digits.to_owned()));
        } else {
            self.bulk(digits.as_bytes());
        }
    }

    fn verbatim(&mut self, format: &str, text: &str) {
        if self.speaks_resp3() {
            self.put(Value::Verbatim { format: format.to_owned(), text: text.to_owned() });
        } else {
            self.bulk(&raw_text::to_bytes(text));
        }
    }

    fn stream(&mut self, mut source: Box<dyn Source>) {
        while source.next(self) != More::Done && !self.is_too_long() {}
    }

    fn is_resp3(&self) -> bool {
        self.speaks_resp3()
    }
}
