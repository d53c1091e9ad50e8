//! What HSCAN, SSCAN and ZSCAN have in common: their options, and what a step tells.

use crate::prelude::*;
use base::glob::{self, Case};
use base::varint;
use std::borrow::Cow;
use std::cell::Cell;

const COUNT_DEFAULT: u64 = 10;

/// MATCH, COUNT and NOVALUES.
pub(crate) struct ScanOptions<'a> {
    /// `None` matches everything.
    pattern: Option<Cow<'a, [u8]>>,
    /// About how many elements are to be looked at in one step.
    pub(crate) count: u64,
    /// Whether the values of fields are told.
    pub(crate) values: bool,
    /// How many bytes of names and pattern have been looked at.
    compared_bytes: Cell<usize>,
}

/// Bytes of names and pattern that are looked at in one step, but for the last name's: up to some 400 µs.
const COMPARED_BYTES_MAX: usize = 1 << 20;

impl<'a> ScanOptions<'a> {
    /// Reads the arguments behind the cursor. NOVALUES is an option only where elements may have values.
    ///
    /// # Errors
    /// If one is none, lacks its value, or is out of its range.
    pub(crate) fn read(args: &Args<'a>, may_have_values: bool) -> Result<Self, Failure> {
        let mut options = Self { pattern: None, count: COUNT_DEFAULT, values: true, compared_bytes: Cell::new(0) };
        let mut words = args.from(3).iter();
        while let Some(word) = words.next() {
            if may_have_values && parse::is(word, "NOVALUES") {
                options.values = false;
                continue;
            }
            let value = words.next().ok_or(Failure::Syntax)?;
            if parse::is(word, "MATCH") {
                options.pattern = if value == b"*" { None } else { Some(Cow::Borrowed(parse::pattern(value)?)) };
            } else if parse::is(word, "COUNT") {
                let count = parse::int(value)?;
                options.count = u64::try_from(count).ok().filter(|count| *count > 0).ok_or(Failure::Syntax)?;
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }

    /// Whether an element of this name is told.
    pub(crate) fn take(&self, name: &[u8]) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let (matches, bytes) = glob::matches_counted(pattern, name, Case::Exact);
        self.compared_bytes.set(self.compared_bytes.get() + bytes);
        matches
    }

    /// Whether so much has been compared that the step is to end.
    pub(crate) fn is_tired(&self) -> bool {
        self.compared_bytes.get() > COMPARED_BYTES_MAX
    }

    /// The same, for longer than the request is there.
    pub(crate) fn own(self) -> ScanOptions<'static> {
        let Self { pattern, count, values, compared_bytes } = self;
        ScanOptions { pattern: pattern.map(|pattern| Cow::Owned(pattern.into_owned())), count, values, compared_bytes }
    }
}

/// What a step tells: strings, each behind its length.
#[derive(Default)]
pub(crate) struct ScanReply {
    bytes: Vec<u8>,
    count: usize,
}

impl ScanReply {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        varint::put_bytes(&mut self.bytes, bytes);
        self.count += 1;
    }

    /// Bytes that it takes so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Replies the next cursor and an array of all of it.
    pub(crate) fn tell(&self, next: u64, reply: &mut dyn Reply) {
        reply.array(2);
        reply.bulk(next.to_string().as_bytes());
        reply.array(self.count);
        let mut rest = &self.bytes[..];
        while let Some(bytes) = varint::take_bytes(&mut rest) {
            reply.bulk(bytes);
        }
    }
}
