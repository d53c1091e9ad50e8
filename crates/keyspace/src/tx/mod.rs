//! A tx: one command's (or EXEC's) view of the keyspace.
//!
//! It reads at one instant `now`, the same for every shard it holds, and records every change in its [`Log`]. It ends
//! in one of two ways: [`Tx::end`] returns the log to be framed, [`Tx::abandon`] restores every key.

mod asker;
mod changes;
mod expire;
mod indexes;
mod item;
mod off_lock;
mod order;
mod own;
mod reads;
mod room;
mod schemas;
mod shards;
mod speculation;
mod touched;

use crate::effect::{self, Effect, Log, event};
use crate::guard::{Absent, Expiry, HashMut, ListMut, SetMut, SortedMut, StreamMut, StringMut, Whole};
use crate::held::{Held, RetainedLock};
use crate::notes::{Classes, Deed, KeyEvents, Note, Stood};
use crate::off_lock::{OffLockJobs, Sources};
use crate::prebuilt::PrebuiltStrings;
use crate::search::Prepared;
use crate::section::{Entry, Section, Standing, is_live, kind_of, standing, string_of, value_of};
use crate::undo::{OldKey, Undo};
use crate::{Garbage, Keyspace, TableId, shard_of};
use base::random::Random;
use base::{Ms, Position, cost};
use blocks::Runs;
pub use changes::ChangedPart;
pub use indexes::IndexDeclarations;
pub use reads::Reads;
pub use room::MemoryGrant;
pub use schemas::PREFIX_BYTES_MAX;
use speculation::Speculating;
use std::cell::Cell;
use std::sync::Arc;
use table::Fields;
use values::{Collection, Hash, List, LongString, Set, Sorted, Stream, StringValue, Value, ValueType, string};

/// The key holds another type than the command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongType;

/// Why a tx cannot continue: undo it, provide what it needs, run it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abandon {
    /// Its frame needs this many bytes of journal room in all.
    Room(u64),
    /// Work on clones of large values is needed first, without locks.
    Compute(Box<Sources>),
    /// It touches so much that it must first run speculatively, on clones of its keys.
    Speculate,
}

/// Maximum bytes of a recorded removal, excluding its key.
const REMOVE_BYTES_MAX: u64 = 64;
/// Expired fields of one hash that a writer removes along the way.
pub(crate) const FIELDS_AT_ONCE: u64 = 64;

/// See [`Tx::version`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    table: TableId,
    changes: u64,
}

/// One command's view of the keyspace.
pub struct Tx<'k> {
    keyspace: &'k Keyspace,
    held: Held<'k>,
    database: u32,
    table: TableId,
    now: Ms,
    log: &'k mut Log,
    /// Journal room claimed for this tx, in bytes.
    room_bytes: u64,
    rare: Option<Box<RareState>>,
    cuts: Option<&'k PrebuiltStrings>,
    touches: bool,
    /// A script's call is running.
    is_scripted: bool,
    jobs: Option<&'k OffLockJobs>,
    memory: Option<&'k dyn MemoryGrant>,
    is_barred: Option<&'k dyn Fn(usize) -> bool>,
    is_of_several: bool,
    speculating: Speculating,
    look_again_ms: Option<Ms>,
    /// The source of its random numbers; its own if it was not lent one.
    lent_random: Option<&'k Cell<Random>>,
    random: Random,
    notes: Option<Box<KeyEvents>>,
    /// Look-ups that count as reads.
    pub reads: Reads,
    /// Number of keys removed by expiry.
    pub expired: u32,
    /// Journal room, in bytes, that expiry of a single message lacked.
    expiry_room_bytes: u64,
}

/// State that few txs have, kept out of the others: a tx is made and dropped for each command.
#[derive(Default)]
struct RareState {
    /// The old entries of the keys, if it can be abandoned after changes.
    undo: Option<Undo>,
    /// The key at which a blocked command is being served.
    serving: Option<Box<[u8]>>,
    /// Tables assigned to databases and taken from them.
    moved: Vec<(u32, TableId)>,
    /// Unchanged keys that count as changed for watches and client-side caches.
    touched: Vec<(TableId, Box<[u8]>)>,
    /// It has declared or removed an index, or another name of one.
    has_changed_indexes: bool,
}

impl RareState {
    #[inline]
    fn undo_of(rare: &mut Option<Box<Self>>) -> Option<&mut Undo> {
        rare.as_mut()?.undo.as_mut()
    }
}

/// The known state of a key before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It is live or absent, or the change overwrites all of it.
    Settled,
    /// It may be present but expired.
    Unknown,
}

impl<'k> Tx<'k> {
    /// Creates a tx on `database` over the shards in `held`, at batch time `now`, recording into the empty `log`.
    /// `room_bytes` is the journal room claimed; `u64::MAX` without a journal.
    #[inline]
    pub fn new(
        keyspace: &'k Keyspace,
        held: Held<'k>,
        database: u32,
        now: Ms,
        log: &'k mut Log,
        room_bytes: u64,
    ) -> Self {
        assert!(log.is_empty());
        let now = held.states().fold(now, |now, state| now.max(state.expired_at_ms()));
        let table = keyspace.map().table(database);
        held.prefetch(table);
        Self {
            keyspace,
            held,
            database,
            table,
            now,
            log,
            room_bytes,
            rare: None,
            cuts: None,
            touches: true,
            is_scripted: false,
            jobs: None,
            memory: None,
            is_barred: None,
            is_of_several: false,
            speculating: Speculating::default(),
            look_again_ms: None,
            lent_random: None,
            random: Random::new(now),
            notes: None,
            reads: Reads::default(),
            expired: 0,
            expiry_room_bytes: 0,
        }
    }

    /// Sets the prebuilt long texts of the request.
    pub fn set_cuts(&mut self, cuts: &'k PrebuiltStrings) {
        self.cuts = Some(cuts);
    }

    /// Returns an argument of the request as a text: cut before the shards were held, if it is long.
    pub fn cut(&self, argument: &[u8]) -> LongString {
        self.cuts.and_then(|cuts| cuts.find(argument)).map_or_else(|| LongString::of(argument), LongString::clone)
    }

    /// Seeds its own random numbers.
    pub fn set_seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }

    /// Lends it a source of random numbers, seeded with a secret.
    pub fn set_random(&mut self, random: &'k Cell<Random>) {
        self.lent_random = Some(random);
    }

    /// Returns a random number. Record the result of what it decides, not the draw.
    pub fn random(&mut self) -> u64 {
        match self.lent_random {
            Some(random) => Random::draw(random),
            None => self.random.next_u64(),
        }
    }

    /// Declares that several commands run in it, all at one instant. A command that finds key names in values then
    /// needs the gate.
    pub fn set_of_several(&mut self) {
        self.is_of_several = true;
    }

    /// From here on, saves each key's old entry on first touch, so that the tx can be abandoned after changes.
    pub fn keep_old(&mut self) {
        self.rare.get_or_insert_default().undo.get_or_insert_default();
    }

    /// Starts taking notes of changes to keys.
    pub fn take_notes(&mut self) {
        self.notes.get_or_insert_default();
    }

    /// Returns true if it takes notes.
    #[inline]
    pub fn is_taking_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// Begins a command, identified by a number of the caller's, and sets whether look-ups of absent keys are noted.
    pub fn begin_command(&mut self, command: u16, misses: bool) {
        if let Some(notes) = &mut self.notes {
            notes.begin_command(command, misses);
        }
    }

    /// Returns the notes so far.
    pub fn notes(&self) -> &[Note] {
        self.notes.as_ref().map_or(&[], |notes| &notes.list)
    }

    /// Returns the instant of this tx.
    pub fn now(&self) -> Ms {
        self.now
    }

    /// Returns the keyspace.
    pub fn keyspace(&self) -> &'k Keyspace {
        self.keyspace
    }

    /// Returns the database in use.
    pub fn database(&self) -> u32 {
        self.database
    }

    /// Switches the database, as SELECT in EXEC or a command with a DB argument does.
    pub fn use_database(&mut self, database: u32) {
        self.database = database;
        self.table = self.keyspace.map().table(database);
    }

    /// Returns the record so far.
    pub fn log(&self) -> &Log {
        self.log
    }

    /// Returns true if it has changed nothing, and has nothing to report.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.log.is_empty() && !self.has_touched() && self.notes().is_empty()
    }

    // ---- reading ----

    /// Returns the live entry of `key`; an expired one counts as absent. Counts as use of the key.
    pub fn entry(&mut self, key: &[u8]) -> Option<Entry<'_>> {
        if self.touches { self.touch(key) } else { self.peek(key) }
    }

    /// As [`Tx::entry`], but counts as use of the key even under CLIENT NO-TOUCH, for TOUCH.
    pub fn touch(&mut self, key: &[u8]) -> Option<Entry<'_>> {
        let now = self.now;
        let entry = self.peek(key)?;
        entry.touch((now / 1000) as u32 & 0xff_ffff);
        Some(entry)
    }

    /// As [`Tx::entry`], but not a use of the key: for commands that ask about the key, not its value.
    pub fn peek(&mut self, key: &[u8]) -> Option<Entry<'_>> {
        cost::count(cost::Work::Names, 1);
        let hash = self.held.hash(key);
        let (now, table) = (self.now, self.table);
        let state = self.held.state(shard_of(hash));
        let found = state.section(table).and_then(|section| section.find(hash, key));
        let standing = found.map_or(Standing::Gone, |entry| standing(entry, now));
        let Some(entry) = found.filter(|_| standing != Standing::Gone) else {
            if found.is_some() {
                state.note_expired(now);
            }
            let is_read = self.reads.note(false);
            if let Some(notes) = self.notes.as_mut().filter(|notes| is_read && notes.misses) {
                notes.add(self.database, key, Deed::Missed);
            }
            return None;
        };
        if standing == Standing::Due {
            state.note_expired(now);
        }
        self.reads.note(true);
        Some(entry)
    }

    /// Returns true if `key` exists.
    pub fn exists(&mut self, key: &[u8]) -> bool {
        self.entry(key).is_some()
    }

    /// Returns the type of `key`, if it exists.
    pub fn value_type(&mut self, key: &[u8]) -> Option<ValueType> {
        self.entry(key).map(kind_of)
    }

    /// Returns the text under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn string(&mut self, key: &[u8]) -> Result<Option<StringValue<'_>>, WrongType> {
        self.entry(key).map(|entry| string_of(entry).ok_or(WrongType)).transpose()
    }

    /// Returns the collection under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn value<K: Collection>(&mut self, key: &[u8]) -> Result<Option<&K>, WrongType> {
        self.entry(key).map(|entry| value_of(entry).ok_or(WrongType)).transpose()
    }

    /// Returns the list under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn list(&mut self, key: &[u8]) -> Result<Option<&List>, WrongType> {
        self.value(key)
    }

    /// Returns the hash under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn hash(&mut self, key: &[u8]) -> Result<Option<&Hash>, WrongType> {
        self.value(key)
    }

    /// Returns the set under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn set(&mut self, key: &[u8]) -> Result<Option<&Set>, WrongType> {
        self.value(key)
    }

    /// Returns the sorted set under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn sorted(&mut self, key: &[u8]) -> Result<Option<&Sorted>, WrongType> {
        self.value(key)
    }

    /// Iterates over the current table's live entries in `shard`, in hash order, from `from_hash` on.
    pub fn scan(&mut self, shard: usize, from_hash: u64) -> impl Iterator<Item = (u64, Entry<'_>)> {
        let (now, table) = (self.now, self.table);
        let section = self.held.state(shard).section(table);
        section
            .into_iter()
            .flat_map(move |section| section.scan(from_hash))
            .filter(move |(_, entry)| is_live(*entry, now))
    }

    /// Returns a version of the current table's content in `shard`: while it is the same and no deadline has passed,
    /// everything read there still holds.
    pub fn version(&mut self, shard: usize) -> Version {
        Version { table: self.table, changes: self.held.state(shard).changes() }
    }

    /// Returns the current table's section in `shard`, expired keys included.
    pub fn section(&mut self, shard: usize) -> Option<&Section> {
        let table = self.table;
        self.held.state(shard).section(table)
    }

    /// Returns true if `key` is in a table that this tx has assigned to `database` or taken from it.
    pub fn is_in_moved(&mut self, database: u32, key: &[u8]) -> bool {
        let (hash, now) = (self.held.hash(key), self.now);
        let state = self.held.state(shard_of(hash));
        let moved = self.rare.iter().flat_map(|rare| &rare.moved);
        let tables = moved.filter(|(of, _)| *of == database).map(|(_, table)| *table);
        let mut sections = tables.filter_map(|table| state.section(table));
        sections.any(|section| section.find(hash, key).is_some_and(|entry| is_live(entry, now)))
    }

    // ---- changing ----

    /// Returns true unless a blocked command is being served that may not look at `key`.
    pub fn may_use(&self, key: &[u8]) -> bool {
        self.serving().is_none_or(|serving| serving == key)
    }

    /// Returns true if a blocked command is being served: it ignores a key of another type instead of failing.
    pub fn is_serving(&self) -> bool {
        self.serving().is_some()
    }

    fn serving(&self) -> Option<&[u8]> {
        self.rare.as_ref()?.serving.as_deref()
    }

    /// Returns the list under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn list_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<ListMut<'t, 'k>>, WrongType> {
        let len = self.list(key)?.map_or(0, List::len);
        Ok((len > 0 || absent == Absent::Create).then(|| ListMut::new(self, key, len)))
    }

    /// Returns the hash under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn hash_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<HashMut<'t, 'k>>, WrongType> {
        let there = self.hash(key)?.is_some();
        Ok((there || absent == Absent::Create).then(|| HashMut::new(self, key, there)))
    }

    /// Returns the set under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn set_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<SetMut<'t, 'k>>, WrongType> {
        let there = self.set(key)?.is_some();
        Ok((there || absent == Absent::Create).then(|| SetMut::new(self, key, there)))
    }

    /// Returns the sorted set under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn sorted_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<SortedMut<'t, 'k>>, WrongType> {
        let there = self.sorted(key)?.is_some();
        Ok((there || absent == Absent::Create).then(|| SortedMut::new(self, key, there)))
    }

    /// Returns the stream under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn stream_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<StreamMut<'t, 'k>>, WrongType> {
        let there = self.value::<Stream>(key)?.is_some();
        Ok((there || absent == Absent::Create).then(|| StreamMut::new(self, key, there)))
    }

    /// Returns the text under `key`, for changes; `None` if it is absent and is not to be created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn string_mut<'t>(&'t mut self, key: &'t [u8], absent: Absent) -> Result<Option<StringMut<'t, 'k>>, WrongType> {
        let there = self.string(key)?.is_some();
        Ok((there || absent == Absent::Create).then(|| StringMut::new(self, key, there)))
    }

    /// Puts a text under `key`, replacing any value.
    pub fn put_string(&mut self, key: &[u8], bytes: &[u8], expiry: Expiry) {
        if bytes.len() > string::INLINE_BYTES_MAX
            && let Some(string) = self.cuts.and_then(|cuts| cuts.find(bytes))
        {
            let expires_at_ms = match expiry {
                Expiry::Keep => self.entry(key).and_then(|entry| entry.expires_at_ms()),
                Expiry::Clear => None,
                Expiry::At(at_ms) => Some(at_ms),
            };
            let put = self.put_long(key, Whole::plain(Value::Text(string.clone()), expires_at_ms));
            put.expect("a command is admitted with its arguments");
            return self.note_deadline(key, expiry);
        }
        let there = if expiry == Expiry::Keep { self.entry(key).map(|entry| entry.fields()) } else { None };
        let effect = match expiry {
            // In memcached's protocol, a put creates a new item.
            Expiry::Keep if let Some(Fields { expires_at_ms, extras: Some(_) }) = there => {
                Effect::StringPut { expires_at_ms, bytes }
            }
            Expiry::Keep if there.is_some() => Effect::StringReplace(bytes),
            Expiry::Keep | Expiry::Clear => Effect::StringPut { expires_at_ms: None, bytes },
            Expiry::At(at_ms) => Effect::StringPut { expires_at_ms: Some(at_ms), bytes },
        };
        self.change(key, &effect, Before::Settled);
        self.note_deadline(key, expiry);
    }

    fn put_long(&mut self, key: &[u8], whole: Whole) -> Result<(), Abandon> {
        self.put_whole_as(self.database, key, &whole, event::TEXT_PUT)
    }

    /// Removes `key`. Returns true if it existed.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        let there = self.exists(key);
        if there {
            self.change(key, &Effect::Remove, Before::Settled);
        }
        there
    }

    /// Sets (or with `None` clears) the deadline of `key`. Returns true if it existed. A past deadline removes the key.
    pub fn set_expiry(&mut self, key: &[u8], expires_at_ms: Option<Ms>) -> bool {
        let there = self.exists(key);
        if there {
            let effect = match expires_at_ms {
                Some(at_ms) if at_ms <= self.now => Effect::Remove,
                Some(at_ms) => Effect::ExpiryPut(at_ms),
                None => Effect::ExpiryClear,
            };
            self.change(key, &effect, Before::Settled);
        }
        there
    }

    /// Returns a copy of the whole value of `key`, with its deadline. O(1), except for short texts.
    pub fn whole(&mut self, key: &[u8]) -> Option<Whole> {
        self.entry(key).map(Whole::of)
    }

    /// Puts a whole value under `key` of `database`, replacing any value.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put_whole(&mut self, database: u32, key: &[u8], whole: &Whole) -> Result<(), Abandon> {
        self.put_whole_as(database, key, whole, event::WHOLE)
    }

    fn put_whole_as(
        &mut self,
        database: u32,
        key: &[u8],
        whole: &Whole,
        event: (Classes, &'static str),
    ) -> Result<(), Abandon> {
        self.need_room(whole.effect_bytes_max() + key.len() as u64)?;
        let (hash, table, now) = (self.held.hash(key), self.keyspace.map().table(database), self.now);
        let stood = self.stood(table, hash, key);
        let section = self.held.state_mut(shard_of(hash)).section_mut(table);
        if let Some(undo) = RareState::undo_of(&mut self.rare) {
            undo.note(section, table, hash, key);
        }
        self.log.record_whole(table, key, whole);
        section.set_time(now);
        self.keyspace.retired_bytes.counting(shard_of(hash), || effect::apply_whole(section, hash, key, whole));
        if let Some(notes) = &mut self.notes {
            notes.add_change(database, key, stood, true, event);
        }
        Ok(())
    }

    /// Assigns `table` to `database` (SWAPDB, FLUSHDB, FLUSHALL). Only under the gate.
    pub fn put_map(&mut self, database: u32, table: TableId) {
        assert!(self.held.is_gated());
        let map = self.keyspace.map();
        if let Some(undo) = RareState::undo_of(&mut self.rare) {
            undo.maps.push((database, map.table(database)));
        }
        self.log.record(0, b"", &Effect::MapPut { database, table });
        self.rare.get_or_insert_default().moved.extend([(database, map.table(database)), (database, table)]);
        map.put(database, table);
        self.use_database(self.database);
    }

    /// Records and applies a change. With `Before::Unknown`, first removes the key if it has expired.
    pub(crate) fn change(&mut self, key: &[u8], effect: &Effect<'_>, before: Before) {
        self.change_as(key, effect, before, None);
    }

    /// As [`Tx::change`]; the effect's event is `event`, if given.
    pub(crate) fn change_as(
        &mut self,
        key: &[u8],
        effect: &Effect<'_>,
        before: Before,
        event: Option<(Classes, &'static str)>,
    ) {
        cost::count(cost::Work::Names, 1);
        let hash = self.held.hash(key);
        let shard = shard_of(hash);
        let (table, now) = (self.table, self.now);
        let stood = self.stood(table, hash, key);
        let section = self.held.state_mut(shard).section_mut(table);
        if let Some(undo) = RareState::undo_of(&mut self.rare) {
            undo.note(section, table, hash, key);
        }
        if before == Before::Unknown && section.find(hash, key).is_some_and(|entry| !is_live(entry, now)) {
            self.expired += 1;
            self.log.record(table, key, &Effect::Remove);
            self.keyspace.retired_bytes.counting(shard, || section.remove(hash, key));
        }
        self.log.record(table, key, effect);
        section.set_time(now);
        let applied = self.keyspace.retired_bytes.counting(shard, || effect::apply(section, hash, key, effect));
        applied.expect("a guard records only what fits");
        if self.notes.is_some()
            && let Some(own) = effect.event()
        {
            self.note_change(hash, key, stood, event.unwrap_or(own));
        }
    }

    /// Records again that a key is gone, for readers that have not read its value.
    pub(crate) fn record_gone(&mut self, key: &[u8]) {
        self.log.record(self.table, key, &Effect::Remove);
    }

    /// Returns a key's state before a change, if notes are taken.
    #[inline]
    fn stood(&mut self, table: TableId, hash: u64, key: &[u8]) -> Stood {
        if self.notes.is_some() { self.stood_for_note(table, hash, key) } else { Stood::There }
    }

    fn stood_for_note(&mut self, table: TableId, hash: u64, key: &[u8]) -> Stood {
        let now = self.now;
        let found = self.held.state(shard_of(hash)).section(table).and_then(|section| section.find(hash, key));
        Stood::of(found, now)
    }

    #[cold]
    fn note_change(&mut self, hash: u64, key: &[u8], stood: Stood, event: (Classes, &'static str)) {
        let (table, database) = (self.table, self.database);
        let section = self.held.state(shard_of(hash)).section(table);
        let is_there = section.is_some_and(|section| section.find(hash, key).is_some());
        self.notes.as_mut().expect("asked by the caller").add_change(database, key, stood, is_there, event);
    }

    /// Notes a deadline put with a value as an event of its own.
    fn note_deadline(&mut self, key: &[u8], expiry: Expiry) {
        if let (Some(notes), Expiry::At(_)) = (&mut self.notes, expiry) {
            let (class, name) = event::EXPIRY_PUT;
            notes.add(self.database, key, Deed::Changed(class, name));
        }
    }

    /// Applies a prepared removal to the list, which is unchanged.
    pub(crate) fn exchange_list(&mut self, key: &[u8], found: &Arc<Runs>, prepared: &Prepared) {
        let record = |log: &mut Log, table| log.record_removal(table, key, found, prepared.runs_bytes);
        self.exchange(key, prepared.after.clone(), record, (Classes::LIST, event::LIST_REMOVE));
    }

    /// Replaces the collection with one made from its present state, and records the change.
    pub(crate) fn exchange<K: Collection>(
        &mut self,
        key: &[u8],
        after: K,
        record: impl FnOnce(&mut Log, TableId),
        event: (Classes, &'static str),
    ) {
        let hash = self.held.hash(key);
        let (table, now) = (self.table, self.now);
        let section = self.held.state_mut(shard_of(hash)).section_mut(table);
        if let Some(undo) = RareState::undo_of(&mut self.rare) {
            undo.note(section, table, hash, key);
        }
        record(self.log, table);
        section.set_time(now);
        self.keyspace.retired_bytes.counting(shard_of(hash), || section.exchange(hash, key, after));
        if self.notes.is_some() {
            self.note_change(hash, key, Stood::There, event);
        }
    }

    // ---- serving blocked commands, ending ----

    /// Runs `serve` for a blocked command of `database` that waits for `key` and is served by this tx.
    pub fn serve<R>(&mut self, database: u32, key: &[u8], serve: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.database;
        self.use_database(database);
        self.rare.get_or_insert_default().serving = Some(key.into());
        let result = serve(self);
        self.rare.get_or_insert_default().serving = None;
        self.use_database(before);
        result
    }

    /// Returns true if it has changed the map of databases.
    pub fn map_changed(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| !rare.moved.is_empty())
    }

    /// Returns the highest position seen by this tx: its reply may be sent once everything below is durable.
    pub fn seen(&self) -> Position {
        self.held.states().fold(self.keyspace.map().last(), |seen, state| seen.max(state.last()))
    }

    /// Stamps `end`, the position after this tx's frame, on every shard that it changed, while it holds them.
    pub fn stamp(&mut self, end: Position) {
        self.held.changed_mut().for_each(|(_, state)| state.stamp(end));
        if self.map_changed() {
            self.keyspace.map().stamp(end);
        }
    }

    /// Publishes what can be known without their locks of its shards held for writing; their release does it otherwise.
    pub fn publish_summaries(&self) {
        self.held.publish();
    }

    /// Takes large removed values, to be dropped by a background thread once the shards are released.
    pub fn take_garbage(&mut self) -> Vec<Garbage<Value>> {
        if !self.held.states().any(|state| state.has_garbage()) {
            return Vec::new();
        }
        let retired_bytes = &self.keyspace.retired_bytes;
        let changed = self.held.changed_mut();
        changed
            .flat_map(|(shard, state)| state.take_garbage().map(move |value| Garbage::new(value, shard, retired_bytes)))
            .collect()
    }

    /// Releases the shards and ends the tx; its log can still be read, and must be cleared.
    pub fn end(self) -> &'k mut Log {
        self.log
    }

    /// As [`Tx::end`], but in place, since moving a tx takes long: nothing else may be asked of it afterwards.
    #[inline]
    pub fn release(&mut self) -> &mut Log {
        self.held.release();
        self.log
    }

    /// As [`Tx::release`], but keeps the shard for another tx, if it is the only one and held exclusively.
    #[inline]
    pub fn release_retaining<'w>(&mut self, keyspace: &'w Keyspace) -> (&mut Log, Option<RetainedLock<'w>>) {
        let kept = self.held.keep(keyspace);
        (self.log, kept)
    }

    /// Restores every key, releases the shards and leaves the log empty. Without [`Tx::keep_old`] only a tx that
    /// changed nothing may be abandoned.
    pub fn abandon(mut self) {
        let undo = self.rare.as_mut().and_then(|rare| rare.undo.take());
        assert!(undo.is_some() || self.log.is_empty(), "abandoned after a change without its old entries");
        let mut undo = undo.unwrap_or_default();
        for OldKey { table, hash, key, entry } in undo.take_keys() {
            self.held.state_mut(shard_of(hash)).section_mut(table).restore(hash, &key, entry);
        }
        for (database, table) in undo.maps.into_iter().rev() {
            self.keyspace.map().put(database, table);
        }
        self.log.clear();
    }
}
