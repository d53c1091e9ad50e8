//! One shard's part of one table: the entries, their deadlines, and the sums that INFO tells.

use crate::TableId;
use crate::cut::{Batch, Marking, Room};
use crate::deadlines::Deadlines;
use crate::effect::extras::altered;
use crate::key_index::IndexDeltas;
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
    /// Keys with a deadline.
    expiring_count: usize,
    /// Keys that fall due: those, and those with elements that have deadlines.
    due_count: usize,
    /// What the values take beside their entries.
    values: Values,
    /// Big values that left and wait to be dropped elsewhere.
    garbage: Vec<Value>,
    /// When it is changed, in seconds: what is put counts as used then. 0 in a replay, which knows no time.
    now_s: u32,
    /// The greatest number of a version that an entry here has or had.
    cas_max: u64,
    /// What of it the store is to be told.
    marking: Marking,
    /// Which names came and went, while somebody keeps them in order.
    notes: Option<Box<IndexDeltas>>,
}

/// A value with more memory than this is not dropped under a lock, in bytes.
const GARBAGE_BYTES_MIN: u64 = 64 << 10;
/// So many outdated hints lie about, beside as many as keys expire, before they are swept.
const OUTDATED_HINTS: usize = 64;

impl Section {
    /// An empty one, each change of which sets `mark`.
    pub(crate) fn marked(mark: u8) -> Self {
        Self { marking: Marking::new(mark), ..Self::default() }
    }

    /// Has it take notes of the names that come and go, or not any more.
    pub(crate) fn set_notes(&mut self, notes: Option<IndexDeltas>) {
        self.notes = notes.map(Box::new);
    }

    /// The notes taken of names, to read them.
    pub(crate) fn notes_mut(&mut self) -> Option<&mut IndexDeltas> {
        self.notes.as_deref_mut()
    }

    /// Before this nothing of it falls due.
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

    /// Takes into `batch` what the turn under way has to write, as far as `room` allows; whether that was the rest.
    pub(crate) fn take(&mut self, id: TableId, room: &mut Room, batch: &mut Batch) -> bool {
        self.marking.take(id, &mut self.table, room, batch)
    }

    /// Says when what follows happens.
    pub(crate) fn set_time(&mut self, now: Ms) {
        self.now_s = (now / 1000) as u32;
    }

    /// Number of keys, expired ones that nobody met yet included.
    pub fn keys_count(&self) -> usize {
        self.table.len()
    }

    /// Number of keys with a deadline.
    pub fn expiring_count(&self) -> usize {
        self.expiring_count
    }

    /// Bytes of memory of entries, values and deadlines. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.table.heap_bytes() + self.values.strings_bytes + self.values.others_bytes + self.deadlines.heap_bytes()
    }

    /// Number of keys that hold a string, and about the memory that they take, in bytes. O(1).
    pub fn strings(&self) -> (usize, u64) {
        let (keys, strings) = (self.table.len(), self.table.len() - self.values.others_count);
        let entries_bytes = u128::from(self.table.heap_bytes()) * strings as u128 / keys.max(1) as u128;
        (strings, entries_bytes as u64 + self.values.strings_bytes)
    }

    /// When the next key may fall due.
    pub fn next_due(&self) -> Option<Ms> {
        self.deadlines.next_due()
    }

    /// About when its keys fall due, on average. O(keys that do / 100).
    pub fn average_due(&self) -> Option<Ms> {
        self.deadlines.average_due()
    }

    /// The entry of `key`, expired or not.
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

    /// Entries in the order of their hashes, from `from_hash` on.
    pub fn scan(&self, from_hash: u64) -> impl Iterator<Item = (u64, Entry<'_>)> {
        self.table.scan(from_hash)
    }

    /// Some entry.
    pub fn random(&self, random: u64) -> Option<Entry<'_>> {
        self.table.random(random)
    }

    /// A copy of the entry of `key`, to put it back if the tx is abandoned.
    pub(crate) fn copy(&self, hash: u64, key: &[u8]) -> Option<OwnedEntry> {
        self.table.copy(hash, key)
    }

    /// Puts an entry (or its absence) back as it was.
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

    /// Removes a key, if it is there.
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

    /// Drops a value that left, here or where there is time for it.
    pub(crate) fn let_go(&mut self, value: Value) {
        if value.heap_bytes() >= GARBAGE_BYTES_MIN {
            self.garbage.push(value);
        }
    }

    pub(crate) fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    /// Takes the big values that left.
    pub(crate) fn take_garbage(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.garbage)
    }

    /// Puts a text under `key`, whatever was there.
    pub(crate) fn put_text(&mut self, hash: u64, key: &[u8], bytes: &[u8], fields: impl Into<Fields>) {
        self.put(hash, key, new_text(bytes), fields.into());
    }

    /// Puts a value under `key`, whatever was there.
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

    /// Has `key` hold what a copy says, whatever was there; without one it is removed.
    pub(crate) fn put_copy(&mut self, hash: u64, key: &[u8], copy: Option<&OwnedEntry>) {
        let Some(entry) = copy.map(OwnedEntry::read) else { return self.remove(hash, key) };
        let content = match entry.content() {
            Content::Int(number) => NewContent::Int(number),
            Content::Bytes(bytes) => NewContent::Bytes(bytes),
            Content::Value(value) => NewContent::Value(value.clone()),
        };
        self.put(hash, key, content, entry.fields());
    }

    /// Gives a key its value that has stood there without it. The value comes back if the key is gone.
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

    /// Takes a value out again that was put.
    pub(crate) fn take_value(&mut self, hash: u64, key: &[u8]) -> Option<Value> {
        let entry = self.table.remove(hash, key)?;
        self.note_name(key, None);
        match entry.into_content() {
            OwnedContent::Value(value) => Some(value),
            _ => None,
        }
    }

    /// A key that is there changes, though not here.
    pub(crate) fn note_change(&mut self, hash: u64, key: &[u8]) {
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            self.marking.changing(hash, &mut entry);
        }
    }

    /// The greatest number of a version that was ever given here, as far as this process knows.
    pub(crate) fn cas_max(&self) -> u64 {
        self.cas_max
    }

    /// Gives the text under `key` these extras; whether there is one.
    pub(crate) fn set_extras(&mut self, hash: u64, key: &[u8], extras: Extras) -> bool {
        let Some(mut entry) = self.table.find_mut(hash, key) else { return false };
        if kind_of(entry.read()) != ValueType::String {
            return false;
        }
        self.marking.changing(hash, &mut entry);
        entry.set_extras(Some(extras));
        self.cas_max = self.cas_max.max(extras.cas);
        true
    }

    /// The text under `key`, which is there, is another version, here or where it lies unread.
    pub(crate) fn note_altered(&mut self, hash: u64, key: &[u8]) {
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            alter_extras(&mut entry);
        }
    }

    fn put(&mut self, hash: u64, key: &[u8], content: NewContent<'_, Value>, fields: Fields) {
        let expires_at_ms = fields.expires_at_ms;
        self.cas_max = self.cas_max.max(fields.extras.map_or(0, |extras| extras.cas));
        let (added_bytes, next_due, kind) = match &content {
            NewContent::Value(value) => (value.heap_bytes(), value.next_due(), value.value_type()),
            _ => (0, None, ValueType::String),
        };
        let after = Times { expires_at_ms, due_ms: expires_at_ms }.with(next_due);
        let mut before = Times::default();
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            self.marking.changing(hash, &mut entry);
            before = Times::of(entry.read());
            let kind_before = kind_of(entry.read());
            let old = entry.value_mut().map(|value| std::mem::replace(value, Value::List(List::new())));
            entry.set_content(content);
            entry.touch(self.now_s);
            if entry.fields() != fields {
                entry.set_fields(&fields);
            }
            self.values.remove(kind_before, old.as_ref().map_or(0, Value::heap_bytes));
            if let Some(old) = old {
                self.let_go(old);
            }
            if kind != kind_before {
                self.note_name(key, Some(kind));
            }
        } else {
            self.marking.inserted(self.now_s, &mut self.table.insert(hash, key, content, fields));
            self.note_name(key, Some(kind));
        }
        self.values.add(kind, added_bytes);
        self.note_times(hash, before, after);
    }

    /// Follows deadlines that came, moved or went; to be called when the table has them.
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
        // Now and then a bucket, so that nobody waits for all of them.
        if self.deadlines.hints_count() > 2 * self.due_count + OUTDATED_HINTS {
            self.deadlines.sweep(|prefix| falling_due(&self.table, prefix).map(|(at_ms, _)| at_ms).min());
        }
    }

    /// Has a key that [`Section::next_expired`] gave be given again.
    pub(crate) fn note_due(&mut self, hash: u64) {
        self.push_due(0, hash);
    }

    /// Has a key that [`Section::next_expired`] gave, and that is still there, be given when it falls due next.
    pub(crate) fn renew_due(&mut self, hash: u64, key: &[u8]) {
        if let Some(at_ms) = self.table.find(hash, key).and_then(|entry| Times::of(entry).due_ms) {
            self.push_due(at_ms, hash);
        }
    }

    /// Has a key be given not before then.
    pub(crate) fn put_off_due(&mut self, hash: u64, at_ms: Ms) {
        self.push_due(at_ms, hash);
    }

    /// Marks a key as changed, if it is there.
    pub(crate) fn mark_changed(&mut self, hash: u64, key: &[u8]) {
        if let Some(mut entry) = self.table.find_mut(hash, key) {
            self.marking.changing(hash, &mut entry);
        }
    }

    /// Sets or clears the deadline of a key that is there.
    pub(crate) fn set_expiry(&mut self, hash: u64, key: &[u8], expires_at_ms: Option<Ms>) -> bool {
        let Some(mut entry) = self.table.find_mut(hash, key) else { return false };
        self.marking.changing(hash, &mut entry);
        let before = Times::of(entry.read());
        entry.set_expiry(expires_at_ms);
        let after = Times::of(entry.read());
        self.note_times(hash, before, after);
        true
    }

    /// Runs `change` on the collection under `key`, which is made if absent and removed if `change` leaves it empty.
    /// `None` if another kind is there.
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

    /// Puts what `cut` makes of the value under `key` in its place, of whatever kind; whether there was something, and it
    /// made something of it.
    pub(crate) fn turn(&mut self, hash: u64, key: &[u8], turn: impl FnOnce(&Value) -> Option<Value>) -> bool {
        let Some(entry) = self.table.find(hash, key) else { return false };
        let fields = entry.fields();
        let Content::Value(value) = entry.content() else { return false };
        let Some(turned) = turn(value) else { return false };
        self.put_value(hash, key, turned, fields);
        true
    }

    /// Puts another collection of the same kind in the place of the one under `key`; an empty one removes the key.
    pub(crate) fn exchange<K: Collection>(&mut self, hash: u64, key: &[u8], after: K) {
        let old =
            self.change(hash, key, |old: &mut K| std::mem::replace(old, after)).expect("one of its kind is there");
        if old.heap_bytes() >= GARBAGE_BYTES_MIN {
            self.garbage.push(old.into_value());
        }
    }

    /// Appends to the text under `key`, which is made if absent. `None` if another kind is there.
    pub(crate) fn append_text(&mut self, hash: u64, key: &[u8], bytes: &[u8]) -> Option<()> {
        self.write_text(hash, key, None, bytes)
    }

    /// Overwrites the text under `key` from `offset` on, filling a gap with zeros. `None` if another kind is there.
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
            // An edited text stays bytes, as in Redis, even if it now spells an integer.
            self.put(hash, key, NewContent::Bytes(&content), fields);
        }
        Some(())
    }

    /// The next key that has fallen due at `now` and is no longer than `key_bytes_max`, if any of this section's hints
    /// leads to one. Looks at up to `hints_max` hints.
    pub(crate) fn next_expired(&mut self, now: Ms, key_bytes_max: u64, hints_max: usize) -> Due {
        for _ in 0..hints_max {
            let Some(prefix) = self.deadlines.pop_due(now) else { return Due::Nothing };
            let keys = || falling_due(&self.table, prefix).filter(|(_, key)| key.len() as u64 <= key_bytes_max);
            let due = keys().find(|(at_ms, _)| *at_ms <= now).map(|(_, key)| key.to_vec());
            // One hint may mean several keys; it goes on for the others.
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

/// Sums of what stands beside the entries.
#[derive(Default)]
struct Values {
    /// Memory of long strings.
    strings_bytes: u64,
    /// Keys that hold something else than a string.
    others_count: usize,
    /// Memory of that.
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

/// An entry's text is another version.
fn alter_extras(entry: &mut EntryMut<'_, Value>) {
    if let Some(extras) = entry.read().extras()
        && extras != altered(extras)
    {
        entry.set_extras(Some(altered(extras)));
    }
}

/// When a key expires, and when it or an element of it falls due.
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

    /// The same with an element that falls due then.
    fn with(self, next_due: Option<Ms>) -> Self {
        let due_ms = self.due_ms.into_iter().chain(next_due).min();
        Self { due_ms, ..self }
    }
}

/// When each of the keys falls due that a hint means, and their names.
fn falling_due(table: &Table<Value>, prefix: u64) -> impl Iterator<Item = (Ms, &[u8])> {
    let keys = table.scan(prefix).take_while(move |(hash, _)| *hash == prefix);
    keys.filter_map(|(_, entry)| Some((Times::of(entry).due_ms?, entry.key())))
}

/// When an element of an entry falls due next.
pub(crate) fn next_due(entry: Entry<'_>) -> Option<Ms> {
    match entry.content() {
        Content::Value(value) => value.next_due(),
        _ => None,
    }
}

/// Whether an entry is there for those who look at `now`.
pub(crate) fn is_live(entry: Entry<'_>, now: Ms) -> bool {
    standing(entry, now) != Standing::Gone
}

/// How an entry stands to those who look at some time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is there, and so are all of its elements.
    Whole,
    /// It is there; the time of an element has come.
    Due,
    /// Its time has come, or that of all of its elements.
    Gone,
}

#[inline]
pub(crate) fn standing(entry: Entry<'_>, now: Ms) -> Standing {
    if entry.expires_at_ms().is_some_and(|at_ms| at_ms <= now) {
        return Standing::Gone;
    }
    match entry.content() {
        Content::Value(value) if value.next_due().is_some_and(|at_ms| at_ms <= now) => match value.is_spent(now) {
            true => Standing::Gone,
            false => Standing::Due,
        },
        _ => Standing::Whole,
    }
}

/// What [`Section::next_expired`] found.
pub(crate) enum Due {
    /// The name of a key whose deadline has passed.
    Key(Vec<u8>),
    /// Only outdated hints so far; there may be more.
    More,
    /// Nothing more is due.
    Nothing,
}

/// The kind of an entry.
pub fn kind_of(entry: Entry<'_>) -> ValueType {
    match entry.content() {
        Content::Bytes(_) | Content::Int(_) => ValueType::String,
        Content::Value(value) => value.value_type(),
    }
}

/// The text of an entry; `None` if it is of another kind.
pub fn string_of(entry: Entry<'_>) -> Option<StringValue<'_>> {
    match entry.content() {
        Content::Bytes(bytes) => Some(StringValue::Bytes(bytes)),
        Content::Int(number) => Some(StringValue::Int(number)),
        Content::Value(Value::Text(string)) => Some(StringValue::Long(string)),
        Content::Value(_) => None,
    }
}

/// The collection of an entry; `None` if it is of another kind.
pub fn value_of<K: Collection>(entry: Entry<'_>) -> Option<&K> {
    match entry.content() {
        Content::Value(value) => K::of(value),
        _ => None,
    }
}

/// The list of an entry; `None` if it is of another kind.
pub fn list_of(entry: Entry<'_>) -> Option<&List> {
    value_of(entry)
}

/// The set of an entry; `None` if it is of another kind.
pub fn set_of(entry: Entry<'_>) -> Option<&Set> {
    value_of(entry)
}

/// The hash of an entry; `None` if it is of another kind.
pub fn hash_of(entry: Entry<'_>) -> Option<&Hash> {
    value_of(entry)
}

/// The sorted set of an entry; `None` if it is of another kind.
pub fn sorted_of(entry: Entry<'_>) -> Option<&Sorted> {
    value_of(entry)
}

/// The stream of an entry; `None` if it is of another kind.
pub fn stream_of(entry: Entry<'_>) -> Option<&Stream> {
    value_of(entry)
}

/// The tagged list of an entry; `None` if it is of another kind.
pub fn tagged_of(entry: Entry<'_>) -> Option<&Tagged> {
    value_of(entry)
}

/// The queue of an entry; `None` if it is of another kind.
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
