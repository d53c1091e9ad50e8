//! The protocol-independent reply interface: the [`Reply`] trait, and [`Source`] for replies too long to be written at
//! once.

/// Approximate bytes that a [`Source`] writes per step.
pub const SOURCE_STEP_BYTES: usize = 32 << 10;
/// Owned bulks from this length on are queued without copying, in bytes.
pub(crate) const BULK_QUEUED_BYTES_MIN: usize = 64 << 10;

/// The state of a [`Source`] after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// More follows: call again.
    Follows,
    /// Complete.
    Done,
    /// More follows, but others get their turn first: this step took longer than its output suggests.
    Rest,
}

/// A reply written in steps, from a snapshot of the value when the command ran.
pub trait Source: Send {
    /// Writes about [`SOURCE_STEP_BYTES`] (or searches for about 100 µs and writes nothing) and returns whether more
    /// follows. Not called again after `Done`.
    fn next(&mut self, reply: &mut dyn Reply) -> More;

    /// Returns the bytes it alone keeps in memory: blocks of its clone that the value no longer uses.
    fn pinned_bytes(&self) -> u64 {
        0
    }
}

/// Writes one reply. Aggregates announce the number of values that follow; the caller writes exactly that many.
///
/// Types that RESP2 lacks are written as Redis does: a map as a flat array, a double as a bulk, a boolean as 1 or 0.
pub trait Reply {
    /// Writes a status such as `PONG`: our own text, without CR or LF.
    fn simple(&mut self, text: &str);

    /// Writes the status `OK`.
    fn ok(&mut self) {
        self.simple("OK");
    }

    /// Writes an error, `text` with its prefix: `ERR syntax error`. CR and LF become spaces.
    fn error(&mut self, text: &str);

    /// Writes an integer.
    fn int(&mut self, value: i64);

    /// Writes a bulk.
    fn bulk(&mut self, bytes: &[u8]);

    /// Records reply metadata for the connection, not sent to the client.
    fn aside(&mut self, _: &[u8]) {}

    /// Writes the decimal digits of `value` as a bulk.
    fn bulk_int(&mut self, value: i64);

    /// Writes bulks of `width` bytes each, concatenated in `bytes`.
    ///
    /// # Panics
    /// If `width` is 0 or does not divide `bytes`.
    fn run(&mut self, width: usize, bytes: &[u8]);

    /// Writes a bulk that may be sent without copying it.
    fn bulk_owned(&mut self, bytes: Vec<u8>) {
        self.bulk(&bytes);
    }

    /// Begins a bulk written in parts: exactly `bytes_count` bytes follow, then its end.
    fn bulk_begin(&mut self, bytes_count: usize);

    /// Writes more bytes of a begun bulk.
    fn bulk_part(&mut self, bytes: &[u8]);

    /// Ends a begun bulk.
    fn bulk_end(&mut self);

    /// Writes null.
    fn null(&mut self);

    /// Writes a null array, which RESP2 distinguishes from null.
    fn null_array(&mut self);

    /// Begins an array of `count` values, which follow.
    fn array(&mut self, count: usize);

    /// Begins a map of `count` pairs, whose keys and values follow alternately.
    fn map(&mut self, count: usize);

    /// Begins a set of `count` values, which follow.
    fn set(&mut self, count: usize);

    /// Begins an unsolicited message of `count` values, which follow.
    fn push(&mut self, count: usize);

    /// Writes a double, formatted by [`crate::number::Double`].
    fn double(&mut self, value: f64);

    /// Writes a double, formatted as `digits`.
    fn double_as(&mut self, value: f64, digits: &str);

    /// Writes a boolean.
    fn boolean(&mut self, value: bool);

    /// Writes an integer of any length, in decimal digits.
    fn big_number(&mut self, digits: &str);

    /// Writes text with its format, three letters such as `txt` or `mkd`.
    fn verbatim(&mut self, format: &str, text: &str);

    /// Writes the output of `source` here. It may be part of an aggregate announced before.
    fn stream(&mut self, source: Box<dyn Source>);

    /// Returns true if the reader understands RESP3.
    fn is_resp3(&self) -> bool;
}
