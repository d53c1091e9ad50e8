//! Common code of HSCAN, SSCAN and ZSCAN: options, and the reply of a step.

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
    /// The approximate number of elements examined per step.
    pub(crate) count: u64,
    /// True if the values of fields are returned.
    pub(crate) values: bool,
    /// The bytes of names and pattern compared so far.
    compared_bytes: Cell<usize>,
}

/// The maximum bytes of names and pattern compared per step, not counting the last name: up to about 400 µs.
const COMPARED_BYTES_MAX: usize = 1 << 20;

impl<'a> ScanOptions<'a> {
    /// Parses the arguments after the cursor. NOVALUES is allowed only if elements may have values.
    ///
    /// # Errors
    /// If an option is unknown, lacks its value, or is out of range.
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

    /// Returns true if an element of this name is to be returned.
    pub(crate) fn take(&self, name: &[u8]) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let (matches, bytes) = glob::matches_counted(pattern, name, Case::Exact);
        self.compared_bytes.set(self.compared_bytes.get() + bytes);
        matches
    }

    /// Returns true if so much has been compared that the step must end.
    pub(crate) fn is_tired(&self) -> bool {
        self.compared_bytes.get() > COMPARED_BYTES_MAX
    }

    /// Returns a copy that outlives the request.
    pub(crate) fn own(self) -> ScanOptions<'static> {
        let Self { pattern, count, values, compared_bytes } = self;
        ScanOptions { pattern: pattern.map(|pattern| Cow::Owned(pattern.into_owned())), count, values, compared_bytes }
    }
}

/// The reply of a step: strings, each after its length.
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

    /// Returns its bytes so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Replies with the next cursor and an array of everything collected.
    pub(crate) fn write(&self, next: u64, reply: &mut dyn Reply) {
        reply.array(2);
        reply.bulk(next.to_string().as_bytes());
        reply.array(self.count);
        let mut rest = &self.bytes[..];
        while let Some(bytes) = varint::take_bytes(&mut rest) {
            reply.bulk(bytes);
        }
    }
}
