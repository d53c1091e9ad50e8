//! The batch that one step takes from a shard, and its records for the store.
//!
//! Under the lock, short texts are encoded and value roots are cloned; values are encoded after the shard is released.
//! Records are effects ([`crate::effect`]), plus one more form:
//!
//! ```text
//! | 128 to 131 | table : varint | key : bytes | time, in 129 and 131 | extras, from 130 on | kind | form : bytes |
//!                                                                      a value stored elsewhere
//! ```

use crate::TableId;
use crate::cut::marking::SectionTurn;
use crate::effect::extras::{put_extras, take_extras};
use crate::effect::{DecodeError, Effect, Record, put_time, put_whole_head, take, take_bytes, take_name};
use crate::guard::Whole;
use crate::section::{Entry, string_of};
use base::varint;
use blocks::{StoredLeaf, StoredLeaves};
use table::Fields;
use values::{Value, ValueType, string};

/// A record of an external value, without deadline and extras.
pub(crate) const STORED: u8 = 128;
/// Flags added to that number for a deadline and for extras.
const WITH_TIME: u8 = 1;
const WITH_EXTRAS: u8 = 2;
/// Values of at most this many bytes are always stored in their record.
pub const WHOLE_BYTES_MAX: u64 = base::limits::BLOCK_BYTES_MAX as u64;
/// Bytes that a step encodes under the lock, at most, not counting its last entry.
const STEP_BYTES: usize = 64 << 10;

/// Destination of values larger than [`WHOLE_BYTES_MAX`].
pub trait BlockSink {
    /// Its error.
    type Error;

    /// Stores `value` or a part of it, and appends its location to `form`, which is empty before the first part.
    ///
    /// # Errors
    /// The sink's own.
    fn put(&mut self, value: &Value, form: &mut Vec<u8>) -> Result<ValueChange, Self::Error>;

    /// Called when all of `value` is stored; it was the value of `key` in `table` at the turn. The key's current value
    /// may share leaves with it and not know their places: see [`Value::learn_places`] and
    /// [`crate::ShardState::version_beside`].
    fn has_put(&mut self, table: TableId, key: &[u8], value: &Value);
}

/// The outcome of storing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueChange {
    /// The value belongs in its record; nothing was appended.
    Inline,
    /// A part is stored; call again with the same value and form.
    Part,
    /// All of it is stored.
    All,
}

/// Keeps every value in its record.
pub struct Inline;

impl BlockSink for Inline {
    type Error = std::convert::Infallible;

    fn put(&mut self, _: &Value, _: &mut Vec<u8>) -> Result<ValueChange, Self::Error> {
        Ok(ValueChange::Inline)
    }

    fn has_put(&mut self, _: TableId, _: &[u8], _: &Value) {}
}

/// Entries that one step took from a shard. It may be large: encode and drop it without the lock.
#[derive(Default)]
pub struct Batch {
    /// Whole records, and keys of records whose values are kept separately.
    bytes: Vec<u8>,
    taken: Vec<Taken>,
    encoded: Encoded,
    /// Turns of dead sections.
    dead: Vec<SectionTurn>,
}

/// Progress of a batch's encoding.
#[derive(Default)]
struct Encoded {
    /// Number of finished records, and where their bytes end.
    records: usize,
    bytes: usize,
    /// Form of the value being stored.
    form: Vec<u8>,
    record: Vec<u8>,
}

struct Taken {
    /// End of its bytes; they begin at the previous end.
    end: usize,
    value: Option<(TableId, Whole)>,
}

/// The remaining budget of a step.
pub(crate) struct Room {
    entries_max: usize,
    entered: usize,
}

/// Extra cost of an entry that is taken, in entries only looked at.
const TAKEN_COST: usize = 3;

impl Room {
    pub(crate) fn new(entries_max: usize) -> Self {
        Self { entries_max, entered: 0 }
    }

    /// Takes the budget of one entry, if any is left.
    pub(crate) fn enter(&mut self, batch: &Batch) -> bool {
        let used = self.entered + TAKEN_COST * batch.taken.len();
        let has_room = used < self.entries_max && batch.bytes.len() < STEP_BYTES;
        self.entered += usize::from(has_room);
        has_room
    }
}

impl Batch {
    /// Returns true if it holds no record.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Returns the number of records.
    pub fn records_count(&self) -> usize {
        self.taken.len()
    }

    pub(crate) fn put_removal(&mut self, table: TableId, key: &[u8]) {
        self.put_record(&Record { table, key, effect: Effect::Remove });
    }

    pub(crate) fn put(&mut self, table: TableId, entry: Entry<'_>) {
        let mut digits = [0; string::DIGITS_MAX];
        let Fields { expires_at_ms, extras } = entry.fields();
        let string = string_of(entry);
        if let Some(bytes) = string.as_ref().and_then(|string| string.short(&mut digits)) {
            let effect = match extras {
                None => Effect::StringPut { expires_at_ms, bytes },
                Some(extras) => Effect::ItemPut { expires_at_ms, extras, bytes },
            };
            return self.put_record(&Record { table, key: entry.key(), effect });
        }
        self.bytes.extend_from_slice(entry.key());
        self.taken.push(Taken { end: self.bytes.len(), value: Some((table, Whole::of(entry))) });
    }

    fn put_record(&mut self, record: &Record<'_>) {
        record.encode(&mut self.bytes);
        self.taken.push(Taken { end: self.bytes.len(), value: None });
    }

    pub(crate) fn drop_later(&mut self, turn: Option<Box<SectionTurn>>) {
        self.dead.extend(turn.map(|turn| *turn));
    }

    /// Passes each record to `visit`, in order. Large values go to `sink`; returns `false` between the parts of one, to
    /// be called again. Leaves the batch empty when done and after an error.
    ///
    /// # Errors
    /// The first from `sink` or `visit`.
    pub fn encode<S: BlockSink>(
        &mut self,
        sink: &mut S,
        mut visit: impl FnMut(&[u8]) -> Result<(), S::Error>,
    ) -> Result<bool, S::Error> {
        self.dead.clear();
        let done = self.encode_some(sink, &mut visit);
        if !matches!(done, Ok(false)) {
            self.taken.clear();
            self.bytes.clear();
            self.encoded = Encoded::default();
        }
        done
    }

    fn encode_some<S: BlockSink>(
        &mut self,
        sink: &mut S,
        visit: &mut impl FnMut(&[u8]) -> Result<(), S::Error>,
    ) -> Result<bool, S::Error> {
        let Self { bytes, taken, encoded, .. } = self;
        while let Some(Taken { end, value }) = taken.get_mut(encoded.records) {
            let own = &bytes[encoded.bytes..*end];
            match value {
                None => visit(own)?,
                Some((table, whole)) => {
                    if !encoded.put_value(*table, own, whole, sink)? {
                        return Ok(false);
                    }
                    visit(&encoded.record)?;
                    // This may be the last reference to a large value.
                    *value = None;
                }
            }
            (encoded.records, encoded.bytes) = (encoded.records + 1, *end);
        }
        Ok(true)
    }
}

impl Encoded {
    /// Encodes the record of a value. Returns true when complete.
    fn put_value<S: BlockSink>(
        &mut self,
        table: TableId,
        key: &[u8],
        whole: &Whole,
        sink: &mut S,
    ) -> Result<bool, S::Error> {
        let is_big = whole.value.encoded_bytes() > WHOLE_BYTES_MAX;
        let put = if is_big { sink.put(&whole.value, &mut self.form)? } else { ValueChange::Inline };
        self.record.clear();
        match put {
            ValueChange::Part => return Ok(false),
            ValueChange::All => {
                put_stored(&mut self.record, table, key, whole, &self.form);
                sink.has_put(table, key, &whole.value);
            }
            ValueChange::Inline => {
                put_whole_head(&mut self.record, table, key, whole);
                whole.value.encode(&mut self.record);
            }
        }
        self.form.clear();
        Ok(true)
    }
}

fn put_stored(out: &mut Vec<u8>, table: TableId, key: &[u8], whole: &Whole, form: &[u8]) {
    let with = |what: u8, is: bool| if is { what } else { 0 };
    out.push(STORED + with(WITH_TIME, whole.expires_at_ms.is_some()) + with(WITH_EXTRAS, whole.extras.is_some()));
    varint::put(out, u64::from(table));
    varint::put_bytes(out, key);
    put_time(out, whole.expires_at_ms);
    whole.extras.iter().for_each(|extras| put_extras(out, extras));
    out.push(whole.value.value_type().number());
    varint::put_bytes(out, form);
}

/// Returns a record's table and key, and passes each external leaf that it names to `visit`.
///
/// A shard's state names the sum over the newest records of its keys. In-memory places do not give this: values that
/// share nodes share places, and storing one may move what the record of the other still names.
///
/// # Errors
/// If the bytes are not a record.
pub fn named_by(record: &[u8], mut visit: impl FnMut(StoredLeaf)) -> Result<(TableId, &[u8]), DecodeError> {
    let mut input = record;
    let (number, table, key) = take_name(&mut input)?;
    if is_stored(number) {
        let mut form = take_stored(number, &mut input)?.form;
        let mut leaves = StoredLeaves::of(&mut form).map_err(|_| DecodeError::Malformed)?;
        while let Some(leaf) = leaves.take(&mut form).map_err(|_| DecodeError::Malformed)? {
            visit(leaf);
        }
    }
    Ok((table, key))
}

/// Returns true if a record of this number holds an external value.
pub(crate) fn is_stored(number: u8) -> bool {
    number & !(WITH_TIME | WITH_EXTRAS) == STORED
}

/// The part after the name in a record of an external value.
pub(crate) struct Stored<'a> {
    pub(crate) fields: Fields,
    pub(crate) kind: ValueType,
    pub(crate) form: &'a [u8],
}

/// Decodes it from the front of `input`.
pub(crate) fn take_stored<'a>(number: u8, input: &mut &'a [u8]) -> Result<Stored<'a>, DecodeError> {
    let expires_at_ms = if number & WITH_TIME != 0 { Some(take(input)?) } else { None };
    let extras = if number & WITH_EXTRAS != 0 { Some(take_extras(input)?) } else { None };
    let (&kind, rest) = input.split_first().ok_or(DecodeError::Malformed)?;
    *input = rest;
    let kind = ValueType::of_number(kind).ok_or(DecodeError::Malformed)?;
    if extras.is_some() && kind != ValueType::String {
        return Err(DecodeError::Malformed);
    }
    Ok(Stored { fields: Fields { expires_at_ms, extras }, kind, form: take_bytes(input)? })
}
