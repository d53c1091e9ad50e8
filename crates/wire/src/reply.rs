//! What a handler may say, whatever the protocol: the [`Reply`] trait, and [`Source`] for replies too long to be
//! written at once.

/// About how much a [`Source`] writes in one step, in bytes.
pub const SOURCE_STEP_BYTES: usize = 32 << 10;
/// Owned bulks from this length on are queued as they are rather than copied, in bytes.
pub(crate) const BULK_QUEUED_BYTES_MIN: usize = 64 << 10;

/// Whether a [`Source`] has more to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// Call again.
    Follows,
    /// That was the last of it.
    Done,
    /// Another step follows, once others have had their turn: this one worked longer than what it wrote tells.
    Rest,
}

/// A reply written in steps, from a clone of the value as it was when the command ran.
pub trait Source: Send {
    /// Writes about [`SOURCE_STEP_BYTES`] (or searches for some 100 µs and writes nothing) and says whether more
    /// follows. Not called again after `Done`.
    fn next(&mut self, reply: &mut dyn Reply) -> More;

    /// How much it keeps in memory that nobody else needs any more, in bytes: its clone's blocks that the value has given
    /// up since.
    fn pinned_bytes(&self) -> u64 {
        0
    }
}

/// Writes one reply. Aggregates announce how many values follow; the caller writes exactly as many.
///
/// What RESP2 has no form for is written in the form Redis uses there: a map as a flat array, a double as a bulk,
/// a boolean as 1 or 0.
pub trait Reply {
    /// A status such as `PONG`: our own text, without CR or LF.
    fn simple(&mut self, text: &str);

    /// The status `OK`.
    fn ok(&mut self) {
        self.simple("OK");
    }

    /// An error, `text` with its prefix: `ERR syntax error`. CR and LF become spaces.
    fn error(&mut self, text: &str);

    /// A whole number.
    fn int(&mut self, value: i64);

    /// Bytes.
    fn bulk(&mut self, bytes: &[u8]);

    /// What the connection is to know of the reply, and the client not.
    fn aside(&mut self, _: &[u8]) {}

    /// Bytes that hold the decimal digits of `value`.
    fn bulk_int(&mut self, value: i64);

    /// Bulks of `width` bytes each, back to back in `bytes`.
    ///
    /// # Panics
    /// If `width` is 0 or does not divide `bytes`.
    fn run(&mut self, width: usize, bytes: &[u8]);

    /// A bulk that may be sent without copying it.
    fn bulk_owned(&mut self, bytes: Vec<u8>) {
        self.bulk(&bytes);
    }

    /// The beginning of a bulk that comes in parts: exactly so many bytes follow, then its end.
    fn bulk_begin(&mut self, bytes_count: usize);

    /// More bytes of a bulk that was begun.
    fn bulk_part(&mut self, bytes: &[u8]);

    /// The end of a bulk that was begun.
    fn bulk_end(&mut self);

    /// No value.
    fn null(&mut self);

    /// No array: RESP2 tells it from no value.
    fn null_array(&mut self);

    /// An array of `count` values, which follow.
    fn array(&mut self, count: usize);

    /// A map of `count` pairs, whose keys and values follow in turn.
    fn map(&mut self, count: usize);

    /// A set of `count` values, which follow.
    fn set(&mut self, count: usize);

    /// A message nobody asked for, of `count` values, which follow.
    fn push(&mut self, count: usize);

    /// A double, written as [`crate::number::Double`] writes it.
    fn double(&mut self, value: f64);

    /// A double, written as `digits`.
    fn double_as(&mut self, value: f64, digits: &str);

    /// A boolean.
    fn boolean(&mut self, value: bool);

    /// A whole number of any length, in decimal digits.
    fn big_number(&mut self, digits: &str);

    /// Text with its format, three letters such as `txt` or `mkd`.
    fn verbatim(&mut self, format: &str, text: &str);

    /// All that `source` will write, in this place. It may be part of an aggregate announced before.
    fn stream(&mut self, source: Box<dyn Source>);

    /// Whether the reader understands RESP3.
    fn is_resp3(&self) -> bool;
}
