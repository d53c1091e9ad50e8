//! One shard's part of one table: entries, deadlines, and the totals reported by INFO.

use crate::TableId;
use crate::cut::{Batch, Marking, Room};
use crate::deadlines::Deadlines;
use crate::effect::extras::altered;
use crate::key_index::IndexDeltas;
use crate::shard::CLIENT_CAS_MIN;
use base::Ms;
use table::{Content, EntryMut, Extras, Fields, NewContent, OwnedContent, Table};
use values::{
    Collection, Hash, List, LongString, Queue, Set, Sorted, Stream, StringValue, Tagged, Value, ValueType, string,
};

/// An entry as the table keeps it.
pub type Entry<'a> = table::Entry<'a, Value>;
/// An entry taken out of its table.
pub type OwnedEntry = table::OwnedEntry<Value>;

/// The entries of one table in one shard.
#[derive(Default)]
pub struct Section {
    table: Table<Value>,
    deadlines: Deadlines,
    /// Number of keys with a deadline.
    expiring_count: usize,
    /// Number of keys that can fall due: those, and those whose elements have deadlines.
    due_count: usize,
    /// Totals of the values beside their entries.
    values: Values,
    /// Large values removed, to be dropped elsewhere.
    garbage: Vec<Value>,
    /// Time of the current change in seconds: new entries count as used then. 0 in a replay, which has no clock.
    now_s: u32,
    /// The highest CAS number that an entry here has or had.
    cas_max: u64,
    /// Marks of changes yet to be stored.
    marking: Marking,
    /// Notes of names added and removed, while there is a key index.
    notes: Option<Box<IndexDeltas>>,
}

/// A value with more bytes than this is not dropped under a lock.
const GARBAGE_BYTES_MIN: u64 = 64 << 10;
/// Outdated hints tolerated, beyond the number of expiring keys, before sweeping.
const OUTDATED_HINTS: usize = 64;

impl Section {
    /// Creates an empty section whose changes set `mark`.
    pub(crate) fn marked(mark: u8) -> Self {
        Self { marking: Marking::new(mark), ..Self::default() }
    }

    /// Starts or stops notes of names added and removed.
    pub(crate) fn set_notes(&mut self, notes: Option<IndexDeltas>) {
        self.notes = notes.map(Box::new);
    }

    /// Returns the notes of names, for reading.
    pub(crate) fn notes_mut(&mut self) -> Option<&mut IndexDeltas> {
        self.notes.as_deref_mut()
    }

    /// Returns a time before which nothing in it falls due.
    pub(crate) fn none_due_before(&self) -> Ms {
        self.deadlines.none_before()
    }

    fn push_due(&mut self, at_ms: Ms, hash: u64) {
        self.deadlines.push(at_ms, hash);
        if let Some(notes) = &self.notes {
            notes.note_due(self.deadlines.none_before());
        }
    }

    #[inline]
    fn note_name(&mut self, name: &[u8], kind: Option<ValueType>) {
        if let Some(notes) = &mut self.notes {
            notes.add(name, kind);
        }
    }

    pub(crate) fn marking(&self) -> &Marking {
        &self.marking
    }

    pub(crate) fn marking_mut(&mut self) -> &mut Marking {
        &mut self.marking
    }

    /// Takes into `batch` what the turn in progress has to write, as far as `room` allows. Returns true when nothing is
    /// left.
    pub(crate) fn take(&mut self, id: TableId, room: &mut Room, batch: &mut Batch) -> bool {
        self.marking.take(id, &mut self.table, room, batch)
    }

    /// Sets the time of the following changes.
    pub(crate) fn set_time(&mut self, now: Ms) {
        self.now_s = (now / 1000) as u32;
    }

    /// Returns the number of keys, including expired ones not yet removed.
    pub fn keys_count(&self) -> usize {
        self.table.len()
    }

    /// Returns the number of keys with a deadline.
    pub fn expiring_count(&self) -> usize {
        self.expiring_count
    }

    /// Returns true if a key, or an element of one, has a deadline.
    #[inline]
    pub(crate) fn may_expire(&self) -> bool {
        self.due_count > 0
    }

    /// Returns the heap bytes of entries, values and deadlines. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.table.heap_bytes() + self.values.strings_bytes + self.values.others_bytes + self.deadlines.heap_bytes()
    }

    /// Returns the number of string keys and the bytes of memory they take, approximately. O(1).
    pub fn strings(&self) -> (usize, u64) {
        let (keys, strings) = (self.table.len(), self.table.len() - self.values.others_count);
        let entries_bytes = u128::from(self.table.heap_bytes()) * strings as u128 / keys.max(1) as u128;
        (strings, entries_bytes as u64 + self.values.strings_bytes)
    }

    /// Returns the earliest time at which a key may fall due.
    pub fn next_due(&self) -> Option<Ms> {
        self.deadlines.next_due()
    }

    /// Returns the approximate average due time of its keys. O(expiring keys / 100).
    pub fn average_due(&self) -> Option<Ms> {
        self.deadlines.average_due()
    }

    /// Returns the entry of `key`, expired or not.
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<Entry<'_>> {
        self.table.find(hash, key)
    }

    /// See [`Table::prefetch_slots`].
    pub(crate) fn prefetch_slots(&self, hash: u64) {
        self.table.prefetch_slots(hash);
    }

    /// See [`Table::prefetch_entry`].
    pub(crate) fn prefetch_entry(&self, hash: u64) {
        self.table.prefetch_entry(hash);
    }

    /// Iterates over entries in hash order, from `from_hash` on.
    pub fn scan(&self, from_hash: u64) -> impl Iterator<Item = (u64, Entry<'_>)> {
        self.table.scan(from_hash)
    }

    /// Returns a random entry.
    pub fn random(&self, random: u64) -> Option<Entry<'_>> {
        self.table.random(random)
    }

    /// Returns a copy of the entry of `key`, to restore if the tx is abandoned.
    pub(crate) fn copy(&self, hash: u64, key: &[u8]) -> Option<OwnedEntry> {
        self.table.copy(hash, key)
    }

    /// Restores an earlier entry or its absence.
    pub(crate) fn restore(&mut self, hash: u64, key: &[u8], entry: Option<OwnedEntry>) {
        self.remove(hash, key);
        if let Some(mut entry) = entry {
            let (times, added_bytes) = (Times::of(entry.read()), held_bytes(entry.read().content()));
            let kind = kind_of(entry.read());
            self.marking.restoring(&mut entry);
            self.table.put_back(hash, entry);
            self.note_name(key, Some(kind));
            self.values.add(kind, added_bytes);
            self.note_times(hash, Times::default(), times);
        }
    }

    /// Removes a key, if present.
    pub(crate) fn remove(&mut self, hash: u64, key: &[u8]) {
        let Some(entry) = self.table.remove(hash, key) else { return };
        self.note_name(key, None);
        self.note_times(hash, Times::of(entry.read()), Times::default());
        let held_bytes = held_bytes(entry.read().content());
        self.values.remove(kind_of(entry.read()), held_bytes);
        if let Some(entry) = self.marking.removing(hash, entry)
            && held_bytes > 0
            && let OwnedContent::Value(value) = entry.into_content()
        {
            self.let_go(value);
        }
    }

    /// Drops a removed value here, or queues it to be dropped elsewhere if large.
    pub(crate) fn let_go(&mut self, value: Value) {
        if value.heap_bytes() >= GARBAGE_BYTES_MIN {
            self.garbage.push(value);
        }
    }

    pub(crate) fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    /// Takes the large values removed.
    pub(crate) fn take_garbage(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.garbage)
    }

    /// Puts a text under `key`, replacing any value.
    pub(crate) fn put_text(&mut self, hash: u64, key: &[u8], bytes: &[u8], fields: impl Into<Fields>) {
        self.put(hash, key, new_text(bytes), fields.into());
    }

    /// Puts a value under `key`, replacing any value.
    pub(crate) fn put_value(&mut self, hash: u64, key: &[u8], value: Value, fields: impl Into<Fields>) {
        let fields = fields.into();
        let content = match value {
            Value::Text(string) if string.bytes_count() <= string::INLINE_BYTES_MAX => {
                return self.put_text(hash, key, &string.to_vec(0..string.bytes_count()), fields);
            }
            value => NewContent::Value(value),
        };
        self.put(hash, key, content, fields);
    }

    /// Sets `key` to a copied entry, replacing any value; `None` removes it.
    pub(crate) fn put_copy(&mut self, hash: u64, key: &[u8], copy: Option<&OwnedEntry>) {
        let Some(entry) = copy.map(OwnedEntry::read) else { return self.remove(hash, key) };
        let content = match entry.content() {
            Content::Int(number) => NewContent::Int(number),
            Content::Bytes(bytes) => NewContent::Bytes(bytes),
            Content::Value(value) => NewContent::Value(value.clone()),
        };
        self.put(hash, key, content, entry.fields());
    }

    /// Fills in the value of a key that was present without it. Returns the value if the key is gone.
    pub(crate) fn fill(&mut self, hash: u64, key: &[u8], value: Value) -> Option<Value> {
        let Some(mut entry) = self.table.find_mut(hash, key) else { return Some(value) };
        self.values.remove(kind_of(entry.read()), held_bytes(entry.content()));
        self.values.add(value.value_type(), value.heap_bytes());
        let before = Times::of(entry.read());
        let after = before.with(value.next_due());
        entry.set_content(NewContent::Value(value));
        self.note_times(hash, before, after);
        None
    }

    /// Takes out a value that was put.
    pub(crate) fn take_value(&mut self, hash: u64, key: &[u8]) -> Option<Value> {
        let entry = self.table.remove(hash, key)?;
        self.note_name(key, None);
        match entry.into_content() {
            OwnedContent::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Notes that an existing key changes, though not here.
    pub(crate) fn note_change(&mut self, hash: u64, key: &[u8]) {
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            self.marking.changing(hash, &mut entry);
        }
    }

    /// Notes a CAS number in use, unless only a client can have chosen it.
    fn note_cas(&mut self, cas: u64) {
        if cas < CLIENT_CAS_MIN {
            self.cas_max = self.cas_max.max(cas);
        }
    }

    /// Returns the highest CAS number below [`CLIENT_CAS_MIN`] ever in use here, as far as this process knows.
    pub(crate) fn cas_max(&self) -> u64 {
        self.cas_max
    }

    /// Sets the extras of the text under `key`. Returns true if there is one.
    pub(crate) fn set_extras(&mut self, hash: u64, key: &[u8], extras: Extras) -> bool {
        let Some(mut entry) = self.table.find_mut(hash, key) else { return false };
        if kind_of(entry.read()) != ValueType::String {
            return false;
        }
        self.marking.changing(hash, &mut entry);
        entry.set_extras(Some(extras));
        self.note_cas(extras.cas);
        true
    }

    /// Gives the existing text under `key` a new version, also if it is unread.
    pub(crate) fn note_altered(&mut self, hash: u64, key: &[u8]) {
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            alter_extras(&mut entry);
        }
    }

    fn put(&mut self, hash: u64, key: &[u8], content: NewContent<'_, Value>, fields: Fields) {
        let Some(mut entry) = self.table.find_mut(hash, key) else {
            return self.put_new(hash, key, content, fields);
        };
        self.marking.changing(hash, &mut entry);
        // Most often a string is overwritten by one like it; then no total and no deadline changes.
        if fields == Fields::default() && entry.overwrite(&content) {
            return entry.touch(self.now_s);
        }
        let (added_bytes, after, kind) = totals_of(&content, &fields);
        let before = Times::of(entry.read());
        let kind_before = kind_of(entry.read());
        let old = entry.value_mut().map(|value| std::mem::replace(value, Value::List(List::new())));
        entry.set_content(content);
        entry.touch(self.now_s);
        if entry.fields() != fields {
            entry.set_fields(&fields);
        }
        self.note_cas(fields.extras.map_or(0, |extras| extras.cas));
        self.values.remove(kind_before, old.as_ref().map_or(0, Value::heap_bytes));
        if let Some(old) = old {
            self.let_go(old);
        }
        if kind != kind_before {
            self.note_name(key, Some(kind));
        }
        self.values.add(kind, added_bytes);
        self.note_times(hash, before, after);
    }

    fn put_new(&mut self, hash: u64, key: &[u8], content: NewContent<'_, Value>, fields: Fields) {
        let (added_bytes, after, kind) = totals_of(&content, &fields);
        self.note_cas(fields.extras.map_or(0, |extras| extras.cas));
        self.marking.inserted(self.now_s, &mut self.table.insert(hash, key, content, fields));
        self.note_name(key, Some(kind));
        self.values.add(kind, added_bytes);
        self.note_times(hash, Times::default(), after);
    }

    /// Follows deadlines added, moved or removed; call when the table already has them.
    fn note_times(&mut self, hash: u64, before: Times, after: Times) {
        let (old, new) = (before.expires_at_ms, after.expires_at_ms);
        self.expiring_count = self.expiring_count + usize::from(new.is_some()) - usize::from(old.is_some());
        let (old, new) = (before.due_ms, after.due_ms);
        self.due_count = self.due_count + usize::from(new.is_some()) - usize::from(old.is_some());
        if let Some(at_ms) = new
            && old.is_none_or(|old| at_ms < old)
        {
            self.push_due(at_ms, hash);
        }
        // One bucket now and then, so that nobody waits for a full sweep.
        if self.deadlines.hints_count() > 2 * self.due_count + OUTDATED_HINTS {
            self.deadlines.sweep(|prefix| falling_due(&self.table, prefix).map(|(at_ms, _)| at_ms).min());
        }
    }

    /// Makes [`Section::next_expired`] return a key again that it has returned.
    pub(crate) fn note_due(&mut self, hash: u64) {
        self.push_due(0, hash);
    }

    /// Schedules a key that [`Section::next_expired`] returned, if still present, for its next due time.
    pub(crate) fn renew_due(&mut self, hash: u64, key: &[u8]) {
        if let Some(at_ms) = self.table.find(hash, key).and_then(|entry| Times::of(entry).due_ms) {
            self.push_due(at_ms, hash);
        }
    }

    /// Postpones a key until `at_ms`.
    pub(crate) fn put_off_due(&mut self, hash: u64, at_ms: Ms) {
        self.push_due(at_ms, hash);
    }

    /// Marks a key as changed, if present.
    pub(crate) fn mark_changed(&mut self, hash: u64, key: &[u8]) {
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            self.marking.changing(hash, &mut entry);
        }
    }

    /// Sets or clears the deadline of an existing key.
    pub(crate) fn set_expiry(&mut self, hash: u64, key: &[u8], expires_at_ms: Option<Ms>) -> bool {
        let Some(mut entry) = self.table.find_mut(hash, key) else { return false };
        self.marking.changing(hash, &mut entry);
        let before = Times::of(entry.read());
        entry.set_expiry(expires_at_ms);
        let after = Times::of(entry.read());
        self.note_times(hash, before, after);
        true
    }

    /// Runs `change` on the collection under `key`, which is created if absent and removed if left empty. `None` if the
    /// key holds another type.
    pub(crate) fn change<K: Collection, R>(
        &mut self,
        hash: u64,
        key: &[u8],
        change: impl FnOnce(&mut K) -> R,
    ) -> Option<R> {
        let Some(mut entry) = self.table.find_mut(hash, key) else {
            let mut made = K::default();
            let result = change(&mut made);
            if !made.is_empty() {
                self.put(hash, key, NewContent::Value(made.into_value()), Fields::default());
            }
            return Some(result);
        };
        self.marking.changing(hash, &mut entry);
        let before = Times::of(entry.read());
        let expires_at_ms = before.expires_at_ms;
        let value = entry.value_mut()?;
        let held = K::of_mut(value)?;
        let bytes_before = held.heap_bytes();
        let result = change(held);
        let (bytes_after, emptied) = (held.heap_bytes(), held.is_empty());
        let after = Times { expires_at_ms, due_ms: expires_at_ms }.with(value.next_due());
        self.values.others_bytes = self.values.others_bytes + bytes_after - bytes_before;
        self.note_times(hash, before, after);
        if emptied {
            self.remove(hash, key);
        }
        Some(result)
    }

    /// Replaces the value under `key`, of any type, with the result of `turn`. Returns true if there was a value and a
    /// result.
    pub(crate) fn turn(&mut self, hash: u64, key: &[u8], turn: impl FnOnce(&Value) -> Option<Value>) -> bool {
        let Some(entry) = self.table.find(hash, key) else { return false };
        let fields = entry.fields();
        let Content::Value(value) = entry.content() else { return false };
        let Some(turned) = turn(value) else { return false };
        self.put_value(hash, key, turned, fields);
        true
    }

    /// Replaces the collection under `key` with another of the same type; an empty one removes the key.
    pub(crate) fn exchange<K: Collection>(&mut self, hash: u64, key: &[u8], after: K) {
        let old =
            self.change(hash, key, |old: &mut K| std::mem::replace(old, after)).expect("one of its kind is there");
        if old.heap_bytes() >= GARBAGE_BYTES_MIN {
            self.garbage.push(old.into_value());
        }
    }

    /// Appends to the text under `key`, creating it if absent. `None` if the key holds another type.
    pub(crate) fn append_text(&mut self, hash: u64, key: &[u8], bytes: &[u8]) -> Option<()> {
        self.write_text(hash, key, None, bytes)
    }

    /// Overwrites the text under `key` from `offset` on, filling a gap with zeros. `None` if the key holds another
    /// type.
    pub(crate) fn overwrite_text(&mut self, hash: u64, key: &[u8], offset: usize, bytes: &[u8]) -> Option<()> {
        self.write_text(hash, key, Some(offset), bytes)
    }

    /// Writes at an offset, or at the end.
    fn write_text(&mut self, hash: u64, key: &[u8], offset: Option<usize>, bytes: &[u8]) -> Option<()> {
        if let Some(mut entry) = self.table.find_mut(hash, key)
            && let Content::Value(_) = entry.content()
        {
            self.marking.changing(hash, &mut entry);
            let value = entry.value_mut().expect("just seen");
            let Value::Text(string) = value else { return None };
            let bytes_before = string.heap_bytes();
            string.overwrite(offset.unwrap_or(string.bytes_count()), bytes);
            self.values.strings_bytes = self.values.strings_bytes + string.heap_bytes() - bytes_before;
            alter_extras(&mut entry);
            return Some(());
        }
        if let Some(mut entry) = self.table.find_mut(hash, key)
            && let Content::Bytes(old) = entry.content()
            && let (length, offset) = (old.len(), offset.unwrap_or(old.len()))
            && let end = offset + bytes.len()
            && end <= string::INLINE_BYTES_MAX
        {
            self.marking.changing(hash, &mut entry);
            if end > length {
                entry.resize(end);
            }
            entry.bytes_mut().expect("just seen")[offset..end].copy_from_slice(bytes);
            entry.touch(self.now_s);
            alter_extras(&mut entry);
            return Some(());
        }
        let (mut digits, mut old, mut fields) = ([0; string::DIGITS_MAX], &[][..], Fields::default());
        if let Some(entry) = self.table.find(hash, key) {
            fields = Fields { extras: entry.extras().map(altered), ..entry.fields() };
            old = string_of(entry)?.short(&mut digits).expect("what is no value is short");
        }
        let offset = offset.unwrap_or(old.len());
        let end = offset + bytes.len();
        if end > string::INLINE_BYTES_MAX {
            let mut string = LongString::of(old);
            string.overwrite(offset, bytes);
            self.put(hash, key, NewContent::Value(Value::Text(string)), fields);
        } else {
            let mut content = Vec::with_capacity(old.len().max(end));
            content.extend_from_slice(old);
            content.resize(old.len().max(end), 0);
            content[offset..end].copy_from_slice(bytes);
            // An edited text stays bytes, as in Redis, even if it now reads as an integer.
            self.put(hash, key, NewContent::Bytes(&content), fields);
        }
        Some(())
    }

    /// Returns the next key due at `now` and no longer than `key_bytes_max`, if a hint of this section leads to one.
    /// Looks at up to `hints_max` hints.
    pub(crate) fn next_expired(&mut self, now: Ms, key_bytes_max: u64, hints_max: usize) -> Due {
        for _ in 0..hints_max {
            let Some(prefix) = self.deadlines.pop_due(now) else { return Due::Nothing };
            let keys = || falling_due(&self.table, prefix).filter(|(_, key)| key.len() as u64 <= key_bytes_max);
            let due = keys().find(|(at_ms, _)| *at_ms <= now).map(|(_, key)| key.to_vec());
            // A hint may stand for several keys; keep it for the others.
            let next_ms = keys().filter(|(_, key)| due.as_deref() != Some(key)).map(|(at_ms, _)| at_ms).min();
            if let Some(next_ms) = next_ms {
                self.push_due(next_ms, prefix);
            }
            if let Some(key) = due {
                return Due::Key(key);
            }
        }
        Due::More
    }
}

/// Totals of the values beside the entries.
#[derive(Default)]
struct Values {
    /// Memory of long strings.
    strings_bytes: u64,
    /// Number of non-string keys.
    others_count: usize,
    /// Memory of their values.
    others_bytes: u64,
}

impl Values {
    #[inline]
    fn add(&mut self, kind: ValueType, bytes: u64) {
        if kind == ValueType::String {
            self.strings_bytes += bytes;
        } else {
            self.others_count += 1;
            self.others_bytes += bytes;
        }
    }

    #[inline]
    fn remove(&mut self, kind: ValueType, bytes: u64) {
        if kind == ValueType::String {
            self.strings_bytes -= bytes;
        } else {
            self.others_count -= 1;
            self.others_bytes -= bytes;
        }
    }
}

/// Gives an entry's text a new version.
fn alter_extras(entry: &mut EntryMut<'_, Value>) {
    if let Some(extras) = entry.read().extras()
        && extras != altered(extras)
    {
        entry.set_extras(Some(altered(extras)));
    }
}

/// When a key expires, and when it or one of its elements falls due.
#[derive(Clone, Copy, Default)]
struct Times {
    expires_at_ms: Option<Ms>,
    due_ms: Option<Ms>,
}

impl Times {
    fn of(entry: Entry<'_>) -> Self {
        let expires_at_ms = entry.expires_at_ms();
        Self { expires_at_ms, due_ms: expires_at_ms }.with(next_due(entry))
    }

    /// Adds an element that falls due at `next_due`.
    fn with(self, next_due: Option<Ms>) -> Self {
        let due_ms = self.due_ms.into_iter().chain(next_due).min();
        Self { due_ms, ..self }
    }
}

/// Returns the due times and names of the keys that a hint stands for.
fn falling_due(table: &Table<Value>, prefix: u64) -> impl Iterator<Item = (Ms, &[u8])> {
    let keys = table.scan(prefix).take_while(move |(hash, _)| *hash == prefix);
    keys.filter_map(|(_, entry)| Some((Times::of(entry).due_ms?, entry.key())))
}

/// Returns when an element of an entry next falls due.
pub(crate) fn next_due(entry: Entry<'_>) -> Option<Ms> {
    match entry.content() {
        Content::Value(value) => value.next_due(),
        _ => None,
    }
}

/// Returns true if the entry is live at `now`.
pub(crate) fn is_live(entry: Entry<'_>, now: Ms) -> bool {
    standing(entry, now) != Standing::Gone
}

/// State of an entry at some time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Live, with all of its elements.
    Whole,
    /// Live; an element has expired.
    Due,
    /// Expired, or all of its elements have.
    Gone,
}

#[inline]
pub(crate) fn standing(entry: Entry<'_>, now: Ms) -> Standing {
    if entry.expires_at_ms().is_some_and(|at_ms| at_ms <= now) {
        return Standing::Gone;
    }
    match entry.value() {
        Some(value) if value.next_due().is_some_and(|at_ms| at_ms <= now) => match value.is_spent(now) {
            true => Standing::Gone,
            false => Standing::Due,
        },
        _ => Standing::Whole,
    }
}

/// The result of [`Section::next_expired`].
pub(crate) enum Due {
    /// The name of an expired key.
    Key(Vec<u8>),
    /// Only outdated hints so far; there may be more keys.
    More,
    /// Nothing more is due.
    Nothing,
}

/// Returns the type of an entry's value.
pub fn kind_of(entry: Entry<'_>) -> ValueType {
    match entry.content() {
        Content::Bytes(_) | Content::Int(_) => ValueType::String,
        Content::Value(value) => value.value_type(),
    }
}

/// Returns the bytes, times and type of what is about to be put.
fn totals_of(content: &NewContent<'_, Value>, fields: &Fields) -> (u64, Times, ValueType) {
    let (added_bytes, next_due, kind) = match content {
        NewContent::Value(value) => (value.heap_bytes(), value.next_due(), value.value_type()),
        _ => (0, None, ValueType::String),
    };
    let times = Times { expires_at_ms: fields.expires_at_ms, due_ms: fields.expires_at_ms };
    (added_bytes, times.with(next_due), kind)
}

/// Returns the text of an entry; `None` if it has another type.
#[inline]
pub fn string_of(entry: Entry<'_>) -> Option<StringValue<'_>> {
    match entry.content() {
        Content::Bytes(bytes) => Some(StringValue::Bytes(bytes)),
        Content::Int(number) => Some(StringValue::Int(number)),
        Content::Value(Value::Text(string)) => Some(StringValue::Long(string)),
        Content::Value(_) => None,
    }
}

/// Returns the collection of an entry; `None` if it has another type.
pub fn value_of<K: Collection>(entry: Entry<'_>) -> Option<&K> {
    entry.value().and_then(K::of)
}

/// Returns the list of an entry; `None` if it has another type.
pub fn list_of(entry: Entry<'_>) -> Option<&List> {
    value_of(entry)
}

/// Returns the set of an entry; `None` if it has another type.
pub fn set_of(entry: Entry<'_>) -> Option<&Set> {
    value_of(entry)
}

/// Returns the hash of an entry; `None` if it has another type.
pub fn hash_of(entry: Entry<'_>) -> Option<&Hash> {
    value_of(entry)
}

/// Returns the sorted set of an entry; `None` if it has another type.
pub fn sorted_of(entry: Entry<'_>) -> Option<&Sorted> {
    value_of(entry)
}

/// Returns the stream of an entry; `None` if it has another type.
pub fn stream_of(entry: Entry<'_>) -> Option<&Stream> {
    value_of(entry)
}

/// Returns the tagged list of an entry; `None` if it has another type.
pub fn tagged_of(entry: Entry<'_>) -> Option<&Tagged> {
    value_of(entry)
}

/// Returns the queue of an entry; `None` if it has another type.
pub fn queue_of(entry: Entry<'_>) -> Option<&Queue> {
    value_of(entry)
}

fn new_text(bytes: &[u8]) -> NewContent<'_, Value> {
    if let Some(number) = string::parse_int(bytes) {
        NewContent::Int(number)
    } else if bytes.len() <= string::INLINE_BYTES_MAX {
        NewContent::Bytes(bytes)
    } else {
        NewContent::Value(Value::Text(LongString::of(bytes)))
    }
}

fn held_bytes(content: Content<'_, Value>) -> u64 {
    match content {
        Content::Value(value) => value.heap_bytes(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
