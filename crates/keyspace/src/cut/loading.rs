//! Loads a shard from the store: applies records in order to an empty shard, beside the one in use.

use super::TableCount;
use super::marking::{EVEN, PARITIES, PRESENT};
use super::records::{Stored, is_stored, take_stored};
use super::tail::Alive;
use super::unread::Unread;
use crate::effect::{self, DecodeError, Effect, Record, take_name};
use crate::shard::ShardState;
use crate::{Keyspace, TableId, shard_of};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use sync::lock::ShardLock;
use table::Fields;
use values::{Value, ValueType};

/// Source of values stored outside their records: the counterpart of [`BlockSink`](super::BlockSink).
pub trait BlockSource {
    /// Its error.
    type Error;

    /// Returns the value of `value_type` that was put with `form`.
    ///
    /// # Errors
    /// The source's own; also if `form` is malformed.
    fn get(&mut self, kind: ValueType, form: &[u8]) -> Result<Value, Self::Error>;
}

impl BlockSource for super::Inline {
    type Error = DecodeError;

    fn get(&mut self, _: ValueType, _: &[u8]) -> Result<Value, DecodeError> {
        Err(DecodeError::Malformed)
    }
}

/// A record that cannot belong to the shard's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError<E> {
    /// The bytes are not a record.
    #[error("a stored record is malformed: {0}")]
    Record(#[from] DecodeError),
    /// An effect that does not give the key's whole value.
    #[error("a stored record contains a change instead of a whole value")]
    Change,
    /// The key belongs to another shard.
    #[error("the key of a stored record belongs to shard {0}")]
    Misplaced(usize),
    /// The value could not be read.
    #[error("a stored value cannot be read: {0}")]
    Value(E),
    /// The value has another type than the record states, or is empty.
    #[error("the value of a stored record is empty or of another type than the record says")]
    WrongValue,
    /// A later journal effect does not apply to a value of this type.
    #[error("a journal effect does not apply to the value of a stored record: {0}")]
    Misfit(DecodeError),
}

/// A shard being loaded. Needs no lock until [`Loading::end`].
///
/// Call order: all [`Loading::record`]s, then [`Loading::settle`] (or [`Loading::settle_small`]), then
/// [`Loading::replay`] for the rest of the journal.
pub struct Loading<'k> {
    keyspace: &'k Keyspace,
    alive: &'k Alive,
    shard: usize,
    state: ShardState,
    /// External values, by table and key. Read only after all records: a superseded record may name storage that is
    /// gone.
    elsewhere: BTreeMap<(TableId, Box<[u8]>), Elsewhere>,
    /// Values to be read later. Their keys are present with type and deadline, but hold placeholders.
    unread: BTreeMap<(TableId, Box<[u8]>), Unread>,
}

/// A record's description of an external value.
struct Elsewhere {
    hash: u64,
    fields: Fields,
    kind: ValueType,
    form: Box<[u8]>,
}

impl Keyspace {
    /// Shuts all shards of the empty keyspace: everything is still to be loaded, and users of a shard wait until it is
    /// opened. Turns change marking on, since there is a store.
    pub fn shut(&mut self) {
        self.keep_marks();
        self.shards.iter_mut().for_each(ShardLock::shut);
    }

    /// Begins to load `shard`, skipping tables that are not `alive`.
    pub fn load<'k>(&'k self, shard: usize, alive: &'k Alive) -> Loading<'k> {
        let mut state = ShardState::default();
        state.begin_marks(PRESENT);
        Loading { keyspace: self, alive, shard, state, elsewhere: BTreeMap::new(), unread: BTreeMap::new() }
    }
}

impl Loading<'_> {
    /// Applies one record; skips dead tables. Base records come first, then delta records, oldest first.
    ///
    /// # Errors
    /// If the bytes are not a record of this shard.
    pub fn record<E>(&mut self, record: &[u8]) -> Result<(), LoadError<E>> {
        if record.first().is_some_and(|number| is_stored(*number)) {
            return self.stored(record);
        }
        let mut input = record;
        let Record { table, key, effect } = Record::decode(&mut input)?;
        if !input.is_empty() {
            return Err(DecodeError::Malformed.into());
        }
        if !is_whole(&effect) {
            return Err(LoadError::Change);
        }
        let hash = self.hash(key)?;
        if self.alive.contains(table) {
            if !self.elsewhere.is_empty() {
                self.elsewhere.remove(&(table, key.into()));
            }
            self.apply(table, hash, key, &effect)?;
        }
        Ok(())
    }

    fn apply(&mut self, table: TableId, hash: u64, key: &[u8], effect: &Effect<'_>) -> Result<(), DecodeError> {
        let section = self.state.section_mut(table);
        effect::apply(section, hash, key, effect)?;
        section.take_garbage();
        Ok(())
    }

    fn stored<E>(&mut self, mut record: &[u8]) -> Result<(), LoadError<E>> {
        let (number, table, key) = take_name(&mut record)?;
        let Stored { fields, kind, form } = take_stored(number, &mut record)?;
        if !record.is_empty() {
            return Err(DecodeError::Malformed.into());
        }
        let hash = self.hash(key)?;
        if self.alive.contains(table) {
            self.apply(table, hash, key, &Effect::Remove)?;
            let elsewhere = Elsewhere { hash, fields, kind, form: form.into() };
            self.elsewhere.insert((table, key.into()), elsewhere);
        }
        Ok(())
    }

    /// Reads the external values from `source`; no records may follow. Everything applied from here on counts as
    /// changed.
    ///
    /// # Errors
    /// If `source` fails, or returns something other than the record states.
    pub fn settle<S: BlockSource>(&mut self, source: &mut S) -> Result<(), LoadError<S::Error>> {
        self.settle_small(source, u64::MAX)
    }

    /// As [`Loading::settle`], but leaves values of more than `bytes_max` content bytes unread; get those from
    /// [`Loading::take_unread`].
    ///
    /// # Errors
    /// If `source` fails, or returns something other than the record states.
    pub fn settle_small<S: BlockSource>(&mut self, source: &mut S, bytes_max: u64) -> Result<(), LoadError<S::Error>> {
        for ((table, key), elsewhere) in std::mem::take(&mut self.elsewhere) {
            let Elsewhere { hash, fields, kind, form } = &elsewhere;
            // A malformed form is detected by reading it.
            match Unread::of(table, &key, *hash, *kind, form).filter(|unread| unread.content_bytes() > bytes_max) {
                Some(unread) => {
                    let nothing = Value::nothing(*kind);
                    self.state.section_mut(table).put_value(*hash, &key, nothing, *fields);
                    self.unread.insert((table, key), unread);
                }
                None => self.put(table, &key, &elsewhere, source)?,
            }
        }
        self.state.begin_marks(EVEN);
        Ok(())
    }

    /// Takes the values left unread; the caller must put all of them in place after the shard itself.
    pub fn take_unread(&mut self) -> Vec<Unread> {
        std::mem::take(&mut self.unread).into_values().collect()
    }

    fn put<S: BlockSource>(
        &mut self,
        table: TableId,
        key: &[u8],
        elsewhere: &Elsewhere,
        source: &mut S,
    ) -> Result<(), LoadError<S::Error>> {
        let Elsewhere { hash, fields, kind, form } = elsewhere;
        let value = get(source, *kind, form)?;
        self.state.section_mut(table).put_value(*hash, key, value, *fields);
        Ok(())
    }

    /// As [`Loading::settle`], for a repair: skips unreadable values and returns their tables and keys.
    pub fn settle_rest<S: BlockSource>(&mut self, source: &mut S) -> HashSet<(TableId, Box<[u8]>)> {
        let mut lost = HashSet::new();
        for ((table, key), elsewhere) in std::mem::take(&mut self.elsewhere) {
            if self.put(table, &key, &elsewhere, source).is_err() {
                lost.insert((table, key));
            }
        }
        self.state.begin_marks(EVEN);
        lost
    }

    /// As [`Loading::replay`], for a repair: skips effects that do not fit the loaded state, and changes to `lost` keys
    /// until these are put or removed whole. Returns the number skipped.
    ///
    /// # Errors
    /// If the bytes are not effects of this version.
    pub fn replay_rest(
        &mut self,
        mut effects: &[u8],
        lost: &mut HashSet<(TableId, Box<[u8]>)>,
    ) -> Result<u64, DecodeError> {
        let mut left_out = 0;
        while !effects.is_empty() {
            let Record { table, key, effect } = Record::decode(&mut effects)?;
            if !self.alive.contains(table) {
                continue;
            }
            if is_whole(&effect) {
                lost.remove(&(table, key.into()));
            }
            let is_lost = !lost.is_empty() && lost.contains(&(table, key.into()));
            let fits = !is_lost && self.apply(table, self.keyspace.hash(key), key, &effect).is_ok();
            left_out += u64::from(!fits);
        }
        Ok(left_out)
    }

    /// Applies journal effects that the store lacks, in the order and encoding of the frames.
    ///
    /// # Errors
    /// If the bytes are not effects of this version on keys of this shard.
    pub fn replay(&mut self, mut effects: &[u8]) -> Result<(), DecodeError> {
        while !effects.is_empty() {
            let before = effects;
            let Record { table, key, effect } = Record::decode(&mut effects)?;
            if !self.alive.contains(table) {
                continue;
            }
            let hash = self.keyspace.hash(key);
            let bytes = &before[..before.len() - effects.len()];
            if self.unread.is_empty() || !self.keep(table, hash, key, &effect, bytes)? {
                self.apply(table, hash, key, &effect)?;
            }
        }
        Ok(())
    }

    /// Returns true if the effect needs no further work here because it is kept until its key's value is read. An
    /// effect that gives the whole value is not kept, and makes the read unnecessary.
    fn keep(
        &mut self,
        table: TableId,
        hash: u64,
        key: &[u8],
        effect: &Effect<'_>,
        bytes: &[u8],
    ) -> Result<bool, DecodeError> {
        let Entry::Occupied(mut unread) = self.unread.entry((table, key.into())) else { return Ok(false) };
        match effect {
            Effect::ExpiryPut(_) | Effect::ExpiryClear | Effect::ExtrasPut(_) => return Ok(false),
            Effect::List(_)
            | Effect::Hash(_)
            | Effect::Set(_)
            | Effect::Sorted(_)
            | Effect::Stream(_)
            | Effect::Tagged(_)
            | Effect::Queue(_)
            | Effect::StringAppend(_)
            | Effect::StringOverwrite { .. } => {}
            _ => {
                unread.remove();
                return Ok(false);
            }
        }
        if unread.get_mut().keep(effect, bytes)? {
            self.state.section_mut(table).note_change(hash, key);
            self.state.section_mut(table).note_altered(hash, key);
        } else {
            unread.remove();
            self.apply(table, hash, key, &Effect::Remove)?;
        }
        Ok(true)
    }

    fn hash<E>(&self, key: &[u8]) -> Result<u64, LoadError<E>> {
        let hash = self.keyspace.hash(key);
        if shard_of(hash) == self.shard { Ok(hash) } else { Err(LoadError::Misplaced(shard_of(hash))) }
    }

    /// Returns the non-zero key counts by table, to compare with the store's after settling.
    pub fn tables(&self) -> Vec<TableCount> {
        self.state.tables_of(|table| self.alive.contains(table))
    }

    /// Moves the loaded state into `state`, the shard's own, which has no keys. O(tables).
    pub fn end(self, state: &mut ShardState) {
        assert!(self.elsewhere.is_empty() && self.unread.is_empty(), "values are settled before, or taken");
        assert!(state.turning().mark & PARITIES == EVEN, "a shard is read once, before its first turn");
        assert!(state.sections().next().is_none(), "a shard is read once, before its first change");
        state.adopt(self.state);
    }
}

/// Returns true if an effect gives its key's whole value.
fn is_whole(effect: &Effect<'_>) -> bool {
    matches!(effect, Effect::Remove | Effect::StringPut { .. } | Effect::ItemPut { .. } | Effect::ValuePut { .. })
}

/// Reads the value under `form` from `source`, and checks that it is of type `kind` and not empty.
pub(super) fn get<S: BlockSource>(source: &mut S, kind: ValueType, form: &[u8]) -> Result<Value, LoadError<S::Error>> {
    let value = source.get(kind, form).map_err(LoadError::Value)?;
    if value.value_type() == kind && !value.is_empty() { Ok(value) } else { Err(LoadError::WrongValue) }
}
