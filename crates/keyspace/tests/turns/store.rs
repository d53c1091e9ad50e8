//! A naive store: runs of records in memory, and the contents of a shard.

use blocks::{LeafStore, Place, Storing};
use keyspace::{BlockSink, BlockSource, DecodeError, Keyspace, Loading, MapState, ShardState, TableCount, TableId};
use keyspace::{Merge, Turned, ValueChange, hash_of, list_of, named_by, set_of, string_of};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use values::{Value, ValueType};

/// The value of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text(Vec<u8>),
    List(Vec<Vec<u8>>),
    /// OBJECT ENCODING; fields, values and deadlines in stored order.
    Hash(&'static str, Vec<(Vec<u8>, Vec<u8>, Option<u64>)>),
    /// OBJECT ENCODING; members in stored order.
    Set(&'static str, Vec<Vec<u8>>),
}

/// The contents of one shard: by table and key, with deadlines.
pub(crate) type Contents = BTreeMap<(TableId, Vec<u8>), (Content, Option<u64>)>;

/// Returns the contents of the tables of `state` that are alive.
pub(crate) fn contents(state: &ShardState, is_alive: impl Fn(TableId) -> bool) -> Contents {
    let alive = state.sections().filter(|(table, _)| is_alive(*table));
    let entries = alive.flat_map(|(table, section)| section.scan(0).map(move |(_, entry)| (table, entry)));
    let held = entries.map(|(table, entry)| {
        let content = match (list_of(entry), hash_of(entry), set_of(entry)) {
            (Some(list), ..) => Content::List(items(list)),
            (_, Some(hash), _) => Content::Hash(hash.encoding(), fields(hash)),
            (.., Some(set)) => Content::Set(set.form().encoding(), members(set)),
            _ => Content::Text(string_of(entry).unwrap().to_vec()),
        };
        ((table, entry.key().to_vec()), (content, entry.expires_at_ms()))
    });
    held.collect()
}

fn fields(hash: &values::Hash) -> Vec<(Vec<u8>, Vec<u8>, Option<u64>)> {
    let mut fields = Vec::new();
    let _ = hash.walk(&mut |pair| {
        fields.push((pair.field.to_vec(), pair.value.to_vec(), pair.expires_at_ms));
        ControlFlow::Continue(())
    });
    fields
}

fn members(set: &values::Set) -> Vec<Vec<u8>> {
    let mut members = Vec::new();
    set.walk(0, set.len(), |member| {
        members.push(member.to_vec());
        ControlFlow::Continue(())
    });
    members
}

fn items(list: &values::List) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    let _ = list.walk(0, list.len(), blocks::Direction::Forward, &mut |item: &[u8]| {
        items.push(item.to_vec());
        ControlFlow::Continue(())
    });
    items
}

/// Leaves by place. Some values are stored inline in their records; leaves that no shard's last turn names are gone.
#[derive(Default)]
pub(crate) struct Elsewhere {
    leaves: BTreeMap<u64, Vec<u8>>,
    puts: u64,
    next: u64,
    /// The last place before the present put.
    before: u64,
    storing: Option<Storing>,
    /// Values put since the last time these were taken.
    pub(crate) done: Vec<(TableId, Vec<u8>, Value)>,
}

impl Elsewhere {
    /// Removes leaves that are not in `named`.
    pub(crate) fn keep_only(&mut self, named: &BTreeSet<u64>) {
        self.leaves.retain(|place, _| named.contains(place));
    }
}

impl LeafStore for Elsewhere {
    type Error = DecodeError;

    fn keeps(&mut self, place: Place, bytes: u64) -> bool {
        // Some leaves are drained.
        let is_drained = place.number() <= self.before && place.number().wrapping_mul(0x9e37_79b9) & 3 == self.puts & 3;
        !is_drained && self.leaves.get(&place.number()).is_some_and(|leaf| leaf.len() as u64 == bytes)
    }

    fn write(&mut self, leaf: &[u8]) -> Result<Place, DecodeError> {
        self.next += 1;
        self.leaves.insert(self.next, leaf.to_vec());
        Ok(Place::of_number(self.next).unwrap())
    }
}

impl BlockSink for Elsewhere {
    type Error = DecodeError;

    fn put(&mut self, value: &Value, form: &mut Vec<u8>) -> Result<ValueChange, DecodeError> {
        let begun = self.storing.take();
        if begun.is_none() {
            self.puts += 1;
            self.before = self.next;
            if self.puts.is_multiple_of(3) || value.is_one_leaf() {
                return Ok(ValueChange::Inline);
            }
        }
        let mut storing = begun.unwrap_or_else(|| value.storing(form));
        if storing.step(5_000, self, form)? {
            return Ok(ValueChange::All);
        }
        self.storing = Some(storing);
        Ok(ValueChange::Part)
    }

    fn has_put(&mut self, table: TableId, key: &[u8], value: &Value) {
        self.done.push((table, key.to_vec(), value.clone()));
    }
}

impl BlockSource for Elsewhere {
    type Error = DecodeError;

    fn get(&mut self, kind: ValueType, mut form: &[u8]) -> Result<Value, DecodeError> {
        let read = &mut |place: Place, _| self.leaves.get(&place.number()).ok_or(DecodeError::Malformed);
        Value::of_stored(kind, &mut form, read).map_err(|_| DecodeError::Malformed)
    }
}

/// The stored runs of one shard.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) position: u64,
    pub(crate) tables: Vec<TableCount>,
    /// The base, if there is one, and deltas.
    pub(crate) runs: Vec<Vec<Vec<u8>>>,
    pub(crate) has_base: bool,
}

impl Stored {
    /// Commits a turn. A delta is useless without a base.
    pub(crate) fn commit(&mut self, turned: Turned, records: Vec<Vec<u8>>) {
        (self.position, self.tables) = (turned.position, turned.tables);
        if turned.is_whole {
            self.runs.clear();
            self.has_base = true;
        }
        assert!(self.has_base);
        if !turned.is_unchanged {
            self.runs.push(records);
        }
    }

    /// Returns the leaves of its values: those that the newest record of each key names.
    pub(crate) fn named(&self) -> BTreeSet<u64> {
        let mut by_key = BTreeMap::new();
        for record in self.runs.iter().flatten() {
            let mut leaves = Vec::new();
            let (table, key) = named_by(record, |leaf| leaves.push(leaf.place.number())).unwrap();
            by_key.insert((table, key), leaves);
        }
        by_key.into_values().flatten().collect()
    }

    /// Joins all deltas.
    pub(crate) fn merge(&mut self) {
        if self.runs.len() > 2 {
            let mut merge = Merge::default();
            self.runs.drain(1..).flatten().for_each(|record| merge.add(&record).unwrap());
            let mut joined = Vec::new();
            merge
                .finish(|record| {
                    joined.push(record.to_vec());
                    Ok::<_, DecodeError>(())
                })
                .unwrap();
            let names: BTreeSet<_> = joined.iter().map(|record| name(record)).collect();
            assert_eq!(names.len(), joined.len(), "a key has one record");
            self.runs.push(joined);
        }
    }

    /// Reads all runs; values of more than `bytes_max` bytes are left unread.
    pub(crate) fn load(&self, loading: &mut Loading<'_>, elsewhere: &mut Elsewhere, bytes_max: u64) {
        self.runs.iter().flatten().for_each(|record| loading.record::<DecodeError>(record).unwrap());
        loading.settle_small(elsewhere, bytes_max).unwrap();
    }
}

/// Returns the table and key of a record.
pub(crate) fn name(record: &[u8]) -> (TableId, Vec<u8>) {
    let mut input = &record[1..];
    let table = base::varint::take(&mut input).unwrap();
    (table as TableId, base::varint::take_bytes(&mut input).unwrap().to_vec())
}

/// The stored state of all shards and the map.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) shards: BTreeMap<usize, Stored>,
    pub(crate) map: Option<(u64, MapState)>,
    pub(crate) elsewhere: Elsewhere,
}

/// Returns the contents of the tables of `state` that `keyspace` names.
pub(crate) fn named(keyspace: &Keyspace, state: &ShardState) -> Contents {
    contents(state, |table| keyspace.map().names(table))
}
