//! Reading a shard out of the store: records, applied in order to an empty shard, beside the one that is in use.

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

/// Where values lie that do not lie in their records: the other side of a [`BlockSink`](super::BlockSink).
pub trait BlockSource {
    /// Why it failed.
    type Error;

    /// The value of `value_type` that was put with `form`.
    ///
    /// # Errors
    /// The source's own; also if `form` is none.
    fn get(&mut self, kind: ValueType, form: &[u8]) -> Result<Value, Self::Error>;
}

impl BlockSource for super::Inline {
    type Error = DecodeError;

    fn get(&mut self, _: ValueType, _: &[u8]) -> Result<Value, DecodeError> {
        Err(DecodeError::Malformed)
    }
}

/// A record that cannot be of the shard's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError<E> {
    /// Its bytes are none.
    #[error("a stored record is malformed: {0}")]
    Record(#[from] DecodeError),
    /// An effect that says less than what a key holds.
    #[error("a stored record changes a key instead of saying what it holds")]
    Change,
    /// Its key belongs elsewhere.
    #[error("a stored record is of a key of shard {0}")]
    Misplaced(usize),
    /// Its value could not be had, or is of another kind than it says.
    #[error("the value of a stored record: {0}")]
    Value(E),
    /// The value is of another kind than its record says, or has nothing in it.
    #[error("the value of a stored record is not what the record says")]
    WrongValue,
    /// What the journal has of it beyond the record is no change of such a value.
    #[error("the journal does not fit the value of a stored record: {0}")]
    Misfit(DecodeError),
}

/// A shard that is being read. Whoever reads it needs no lock until [`Loading::end`].
///
/// First all [`Loading::record`]s, then [`Loading::settle`] (or [`Loading::settle_small`]), then what the journal has
/// beyond: [`Loading::replay`].
pub struct Loading<'k> {
    keyspace: &'k Keyspace,
    alive: &'k Alive,
    shard: usize,
    state: ShardState,
    /// Values that lie elsewhere, by table and key: had only when no later record can take their place, since what a
    /// record names that counts no more may be gone.
    elsewhere: BTreeMap<(TableId, Box<[u8]>), Elsewhere>,
    /// Values that are had later. Their keys are there, with kind and deadline, and stand for nothing.
    unread: BTreeMap<(TableId, Box<[u8]>), Unread>,
}

/// What a record says of a value that lies elsewhere.
struct Elsewhere {
    hash: u64,
    fields: Fields,
    kind: ValueType,
    form: Box<[u8]>,
}

impl Keyspace {
    /// Nothing is in it yet, and everything is still to be loaded: whoever wants a shard waits until it is opened for what
    /// was read of it. Changes are marked, since there is a store.
    pub fn shut(&mut self) {
        self.keep_marks();
        self.shards.iter_mut().for_each(ShardLock::shut);
    }

    /// Begins to read `shard`, of which what lies in tables that are not `alive` is passed over.
    pub fn load<'k>(&'k self, shard: usize, alive: &'k Alive) -> Loading<'k> {
        let mut state = ShardState::default();
        state.begin_marks(PRESENT);
        Loading { keyspace: self, alive, shard, state, elsewhere: BTreeMap::new(), unread: BTreeMap::new() }
    }
}

impl Loading<'_> {
    /// Applies one record. Records of a base come first, then those of the deltas, the oldest first. Those of tables that
    /// are dead are passed over.
    ///
    /// # Errors
    /// If the bytes are no record of this shard.
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

    /// Has the values that lie elsewhere from `source`: there are no more records. What is applied from here on counts as
    /// changed.
    ///
    /// # Errors
    /// If `source` fails, or gives something else than a record says.
    pub fn settle<S: BlockSource>(&mut self, source: &mut S) -> Result<(), LoadError<S::Error>> {
        self.settle_small(source, u64::MAX)
    }

    /// As [`Loading::settle`], but for values of more than `bytes_max` bytes of content: these are left unread, and are to
    /// be had from [`Loading::take_unread`].
    ///
    /// # Errors
    /// If `source` fails, or gives something else than a record says.
    pub fn settle_small<S: BlockSource>(&mut self, source: &mut S, bytes_max: u64) -> Result<(), LoadError<S::Error>> {
        for ((table, key), elsewhere) in std::mem::take(&mut self.elsewhere) {
            let Elsewhere { hash, fields, kind, form } = &elsewhere;
            // What is no form is found out by reading it.
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

    /// The values that were left unread, all of which are to be put in their places behind the shard itself.
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

    /// As [`Loading::settle`], for a repair: values that cannot be had are left out. Their tables and keys.
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

    /// As [`Loading::replay`], for a repair: what does not fit what is there is left out, and so are changes to keys that
    /// are `lost`, until they are put or removed whole. How many effects were.
    ///
    /// # Errors
    /// If the bytes are no effects of this version.
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

    /// Applies effects of the journal that the store does not know, one after another, as they lie in frames.
    ///
    /// # Errors
    /// If the bytes are no effects of this version on keys of this shard.
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

    /// Whether nothing is left to be done here of an effect, since it is kept for when the value of its key is read. One
    /// that tells the whole value is not, and then there is nothing to be read any more.
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

    /// The keys of each table, to be held against what the store says when all is settled; those without keys left out.
    pub fn tables(&self) -> Vec<TableCount> {
        self.state.tables_of(|table| self.alive.contains(table))
    }

    /// Puts what was read into `state`, the shard's own, which has no keys. O(tables).
    pub fn end(self, state: &mut ShardState) {
        assert!(self.elsewhere.is_empty() && self.unread.is_empty(), "values are settled before, or taken");
        assert!(state.turning().mark & PARITIES == EVEN, "a shard is read once, before its first turn");
        assert!(state.sections().next().is_none(), "a shard is read once, before its first change");
        state.adopt(self.state);
    }
}

/// Whether an effect says all that its key holds.
fn is_whole(effect: &Effect<'_>) -> bool {
    matches!(effect, Effect::Remove | Effect::StringPut { .. } | Effect::ItemPut { .. } | Effect::ValuePut { .. })
}

/// What `source` has under `form`, if that is a value of `value_type`.
pub(super) fn get<S: BlockSource>(source: &mut S, kind: ValueType, form: &[u8]) -> Result<Value, LoadError<S::Error>> {
    let value = source.get(kind, form).map_err(LoadError::Value)?;
    if value.value_type() == kind && !value.is_empty() { Ok(value) } else { Err(LoadError::WrongValue) }
}
