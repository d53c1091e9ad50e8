//! The structures of an index. All are copy-on-write: a clone costs O(fields), and is of one instant.
//!
//! ```text
//!   rows         row number --> record: key, raw values            dictionary   (space, term) --> number
//!   keys         hash of the key --> row number                    postings     (number, chunk) --> rows
//!   numbers      of a field: (number, row), in order               deadlines    (deadline, row), in order
//!   tag grams    (number of a gram, chunk) --> numbers of the tags that have it
//!   ranked tags  of a sortable number: (frequent tag, number, row), in order
//! ```
//!
//! A change of a row reads its record for what it was held under, and touches only the terms that differ. Changes of
//! many rows are sorted by term first: each chunk of a term's rows is written once. Grams of a text lead to rows, those
//! of a tag to the tag, which many rows share.

mod dictionary;
mod hash_row;
mod numbers;
mod postings;
mod ranked_tags;
mod rankings;
mod record;
mod terms;

pub use postings::RowNumber;
pub use record::{Row, RowField};
pub use terms::RowError;

pub(crate) use dictionary::{Dictionary, Space, TermNumber, TermType, term_key};
pub(crate) use numbers::Numbers;
pub(crate) use postings::{CHUNK_ROWS, Postings, Rows, place, row_at};
pub(crate) use ranked_tags::RankedTags;
pub(crate) use record::{Record, RecordField, is_due};
pub(crate) use terms::{folded, grams, number, on_grid, place as geo_place, tags};

use crate::definition::Definition;
use crate::evaluate::ScannedRow;
use base::Ms;
use base::hash::KeyHasher;
use blocks::{BlockList, Direction, End, Guide};
use ranked_tags::{KEPT_ROWS_MIN, RANKED_ROWS_MIN};
use rankings::RankedEntry;
use std::ops::ControlFlow;
use std::sync::Arc;
use terms::RowTerms;

/// Hash bytes of a key: of ten million keys, hardly any two share them.
const HASH_BYTES: usize = 5;

/// An index: rows, and what they are found by.
#[derive(Clone)]
pub struct Index {
    pub(crate) definition: Arc<Definition>,
    rows: BlockList,
    free_rows: BlockList,
    keys: BlockList,
    hasher: KeyHasher,
    pub(crate) dictionary: Dictionary,
    pub(crate) postings: Postings,
    pub(crate) tag_grams: Postings,
    pub(crate) numbers: Vec<Numbers>,
    pub(crate) ranked_tags: RankedTags,
    deadlines: BlockList,
}

/// The size of an index and of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IndexSize {
    /// Rows.
    pub rows: u64,
    /// Row numbers given so far: rows, and those free to be given again.
    pub row_numbers: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Pairs of a deadline and a row.
    pub deadlines: u64,
    /// Pairs of a term and a row.
    pub postings: u64,
    /// Chunks of postings.
    pub posting_chunks: u64,
    /// Heap bytes of the row store.
    pub rows_bytes: u64,
    /// Heap bytes of row numbers by key.
    pub keys_bytes: u64,
    /// Heap bytes of the dictionary.
    pub dictionary_bytes: u64,
    /// Heap bytes of the postings.
    pub postings_bytes: u64,
    /// Heap bytes of numbers in order, of all rows and of those of frequent tags.
    pub numbers_bytes: u64,
}

impl Index {
    /// Creates an index without rows. `hasher` has a secret key, so that nobody can choose keys that collide.
    pub fn new(definition: Arc<Definition>, hasher: KeyHasher) -> Self {
        let numbers = vec![Numbers::new(); definition.fields.len()];
        let ranked_tags = RankedTags::new(&definition);
        Self {
            definition,
            rows: BlockList::new(),
            free_rows: BlockList::new(),
            keys: BlockList::new(),
            hasher,
            dictionary: Dictionary::default(),
            postings: Postings::default(),
            tag_grams: Postings::default(),
            numbers,
            ranked_tags,
            deadlines: BlockList::new(),
        }
    }

    /// Returns its definition.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// Sets the row of a key, or removes it. O(bytes of the values + terms that differ x log n), in one go: a caller
    /// bounds the values, of which all words and pairs of characters are indexed. A text of 1 MiB has some 100,000
    /// words.
    ///
    /// # Errors
    /// A value is not of its field's type; the key has no row then.
    pub fn put(&mut self, key: &[u8], row: Option<&Row>) -> Result<(), RowError> {
        let mut result = Ok(());
        self.put_all([(key, row)], |_, error| result = Err(error));
        result
    }

    /// Sets or removes the rows of keys, one after the other. Keys with a value that is not of its field's type go to
    /// `refuse`, and have no row then. O(terms that differ, log n).
    pub fn put_all<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (&'a [u8], Option<&'a Row>)>,
        mut refuse: impl FnMut(&[u8], RowError),
    ) {
        let mut changes = Vec::new();
        for (key, row) in rows {
            let (key_at, old) = self.find_record(key, |record| record.to_row());
            if let (Some((_, old)), Some(row)) = (&old, row)
                && old == row
            {
                continue;
            }
            let old_row = old.as_ref().map(|(_, row)| row);
            let new = match row.map(|row| RowTerms::of(&self.definition, row, old_row)).transpose() {
                Ok(terms) => row.zip(terms),
                Err(error) => {
                    refuse(key, error);
                    None
                }
            };
            match (old, new) {
                (None, None) => {}
                (None, Some((row, terms))) => self.insert(key, key_at, (row, terms), &mut changes),
                (Some((number, old)), Some((row, terms))) => {
                    self.replace(number, key, (&old, row), terms, &mut changes);
                }
                (Some((number, old)), None) => self.remove(number, key_at, &old, &mut changes),
            }
        }
        self.change_terms(changes);
    }

    /// Returns the number of rows. O(1).
    pub fn len(&self) -> u64 {
        self.rows.len() - self.free_rows.len()
    }

    /// Returns true if there are no rows. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its size. O(fields).
    pub fn size(&self) -> IndexSize {
        IndexSize {
            rows: self.len(),
            row_numbers: self.rows.len(),
            terms: self.dictionary.len(),
            deadlines: self.deadlines.len(),
            postings: self.postings.rows_count(),
            posting_chunks: self.postings.len(),
            rows_bytes: self.rows.heap_bytes() + self.free_rows.heap_bytes() + self.deadlines.heap_bytes(),
            keys_bytes: self.keys.heap_bytes(),
            dictionary_bytes: self.dictionary.heap_bytes(),
            postings_bytes: self.postings.heap_bytes() + self.tag_grams.heap_bytes(),
            numbers_bytes: self.numbers.iter().map(Numbers::heap_bytes).sum::<u64>() + self.ranked_tags.heap_bytes(),
        }
    }

    /// Returns the row number of a key. O(log n).
    pub fn row_number(&self, key: &[u8]) -> Option<RowNumber> {
        Some(self.find_record(key, |_| ()).1?.0)
    }

    /// Returns the row of a key as it was set, expired or not. O(log n + bytes).
    pub fn raw_row(&self, key: &[u8]) -> Option<Row> {
        Some(self.find_record(key, |record| record.to_row()).1?.1)
    }

    /// Returns `look` of a row that a search found; `None` if the number is free or the row has expired. O(log n).
    pub fn row<R>(&self, row: RowNumber, now: Ms, look: impl FnOnce(&ScannedRow<'_>) -> R) -> Option<R> {
        let live =
            |record: &Record<'_>| (!is_due(record.expires_at_ms, now)).then(|| look(&ScannedRow::new(record, now)));
        self.record(row, live).flatten()
    }

    /// Returns up to `tags_max` tags of a TAG field, folded and in the order of their bytes, the first of them that
    /// follows `after`. They are those of all rows that the index has, expired or not. O(log n + tags).
    pub fn tag_values(&self, field: usize, after: Option<&[u8]>, tags_max: usize) -> Vec<Box<[u8]>> {
        let space = Space::of(field, TermType::Tag);
        let mut within = self.dictionary.beginning_with(space, b"");
        if let Some(after) = after {
            within.start = self.dictionary.behind(space, after);
        }
        let mut tags = Vec::new();
        within.end = within.end.min(within.start.saturating_add(tags_max as u64));
        self.dictionary.walk(within, |tag, _| {
            tags.push(tag.into());
            ControlFlow::Continue(())
        });
        tags
    }

    /// Returns `look` of a row's record; `None` if the number is free. O(log n).
    pub(crate) fn record<R>(&self, row: RowNumber, look: impl FnOnce(&Record<'_>) -> R) -> Option<R> {
        self.rows.get(u64::from(row), |bytes| Record::of(bytes).map(|record| look(&record))).flatten()
    }

    /// Passes the records of rows from `row` on to `visit`, `None` for free ones, until it breaks. O(log n + rows).
    pub(crate) fn walk_rows(
        &self,
        row: RowNumber,
        count: u64,
        mut visit: impl FnMut(Option<&Record<'_>>) -> ControlFlow<()>,
    ) {
        let from = u64::from(row).min(self.rows.len());
        let count = count.min(self.rows.len() - from);
        let _ = self.rows.walk(from, count, Direction::Forward, &mut |bytes: &[u8]| visit(Record::of(bytes).as_ref()));
    }

    /// Returns the number of row numbers given so far. O(1).
    pub(crate) fn row_numbers(&self) -> u64 {
        self.rows.len()
    }

    /// Passes the rows of deadlines due at `now` to `visit`, from this deadline on, until it breaks: once for the key
    /// and for each time that fields expire at. O(log n + due).
    pub(crate) fn walk_due_rows(&self, from: u64, now: Ms, mut visit: impl FnMut(RowNumber) -> ControlFlow<()>) {
        let count = self.deadlines.len() - from;
        let _ = self.deadlines.walk(from, count, Direction::Forward, &mut |item: &[u8]| {
            let (at_ms, row) = deadline_in(item);
            if is_due(Some(at_ms), now) { visit(row) } else { ControlFlow::Break(()) }
        });
    }

    /// Adds a row whose key belongs at this position of the keys.
    fn insert(&mut self, key: &[u8], key_at: u64, (row, terms): (&Row, RowTerms), changes: &mut Vec<TermChange>) {
        let record = record::encode(key, row);
        let mut number = self.rows.len() as RowNumber;
        if self.free_rows.pop(End::Tail, |free| number = row_in(free)) {
            self.rows.set(u64::from(number), &record);
        } else {
            self.rows.push(End::Tail, &record);
        }
        self.keys.insert(key_at, &[&self.hash(key)[..], &number.to_be_bytes()].concat());
        changes.extend(terms.keys.into_iter().map(|key| TermChange { key, row: number, is_added: true }));
        terms.numbers.iter().for_each(|(field, value)| self.numbers[*field].add(*value, number));
        self.ranked_tags.change(&self.definition, number, (None, Some(row)));
        self.set_deadlines(number, None, Some(row));
    }

    /// Replaces a row; `terms` are those of the new one in the fields that differ.
    fn replace(
        &mut self,
        number: RowNumber,
        key: &[u8],
        (old, row): (&Row, &Row),
        terms: RowTerms,
        changes: &mut Vec<TermChange>,
    ) {
        let old_terms = self.indexed_terms(old, Some(row));
        for (field, value) in old_terms.numbers.iter().chain(&terms.numbers) {
            self.numbers[*field].prefetch(*value, number);
        }
        self.rows.set(u64::from(number), &record::encode(key, row));
        let change = |key: &Vec<u8>, is_added| TermChange { key: key.clone(), row: number, is_added };
        changes.extend(difference(&old_terms.keys, &terms.keys).map(|key| change(key, false)));
        changes.extend(difference(&terms.keys, &old_terms.keys).map(|key| change(key, true)));
        for (field, value) in old_terms.numbers.iter().filter(|old| !terms.has_number(**old)) {
            self.numbers[*field].remove(*value, number);
        }
        for (field, value) in terms.numbers.iter().filter(|new| !old_terms.has_number(**new)) {
            self.numbers[*field].add(*value, number);
        }
        self.ranked_tags.change(&self.definition, number, (Some(old), Some(row)));
        self.set_deadlines(number, Some(old), Some(row));
    }

    fn remove(&mut self, number: RowNumber, key_at: u64, old: &Row, changes: &mut Vec<TermChange>) {
        let terms = self.indexed_terms(old, None);
        changes.extend(terms.keys.into_iter().map(|key| TermChange { key, row: number, is_added: false }));
        terms.numbers.iter().for_each(|(field, value)| self.numbers[*field].remove(*value, number));
        self.ranked_tags.change(&self.definition, number, (Some(old), None));
        self.set_deadlines(number, Some(old), None);
        self.keys.remove(key_at);
        self.rows.set(u64::from(number), b"");
        self.free_rows.push(End::Tail, &number.to_be_bytes());
    }

    fn indexed_terms(&self, row: &Row, other: Option<&Row>) -> RowTerms {
        RowTerms::of(&self.definition, row, other).expect("it was indexed")
    }

    /// Makes changes of terms; of several of one term and row, only the last.
    fn change_terms(&mut self, mut changes: Vec<TermChange>) {
        changes.sort_by(|one, other| (&one.key, one.row).cmp(&(&other.key, other.row)));
        for of_term in changes.chunk_by(|one, other| one.key == other.key) {
            let key = &of_term[0].key;
            let is_added = of_term.iter().any(|change| change.is_added);
            let term = if is_added { Some(self.add_term(key)) } else { self.dictionary.number(key) };
            let Some(term) = term else { continue };
            let mut lost_chunk = false;
            for of_chunk in of_term.chunk_by(|one, other| place(one.row).0 == place(other.row).0) {
                let of_rows = of_chunk.chunk_by(|one, other| one.row == other.row).filter_map(<[TermChange]>::last);
                let places = of_rows.map(|change| (place(change.row).1, change.is_added));
                lost_chunk |= self.postings.change(term, place(of_chunk[0].row).0, places);
            }
            let may_be_empty = lost_chunk || is_added && of_term.iter().any(|change| !change.is_added);
            if may_be_empty && self.postings.items_of(term).is_empty() {
                self.remove_term(key, term);
            } else if dictionary::is_tag(key) && of_term.iter().any(|change| is_sampled(change.row)) {
                self.rank_if_frequent(key, term);
            }
        }
    }

    /// Returns the number of a term; a new tag is noted under its grams.
    fn add_term(&mut self, key: &[u8]) -> TermNumber {
        let (number, is_new) = self.dictionary.number_or_add(key);
        if is_new {
            for gram in dictionary::tag_gram_keys(key) {
                let (gram, _) = self.dictionary.number_or_add(&gram);
                let (chunk, place) = place(number);
                self.tag_grams.change(gram, chunk, [(place, true)]);
            }
        }
        number
    }

    fn remove_term(&mut self, key: &[u8], number: TermNumber) {
        self.ranked_tags.end(key);
        for gram in dictionary::tag_gram_keys(key) {
            let gram_number = self.dictionary.number(&gram).expect("it was added with the tag");
            let (chunk, place) = place(number);
            if self.tag_grams.change(gram_number, chunk, [(place, false)])
                && self.tag_grams.items_of(gram_number).is_empty()
            {
                self.dictionary.remove(&gram);
            }
        }
        self.dictionary.remove(key);
    }

    /// Begins to rank a tag that has become frequent, or ends to rank one that is rare. O(log n), or O(rows).
    fn rank_if_frequent(&mut self, key: &[u8], term: TermNumber) {
        if self.ranked_tags.fields().next().is_none() {
            return;
        }
        let items = self.postings.items_of(term);
        let (rows_count, is_ranked) = (self.postings.count(items.clone()), self.ranked_tags.has(key));
        if is_ranked && rows_count < KEPT_ROWS_MIN {
            self.ranked_tags.end(key);
        } else if !is_ranked && rows_count >= RANKED_ROWS_MIN {
            let mut rows = Vec::new();
            self.postings.walk(items, |chunk, of_chunk| {
                of_chunk.for_each(|place| rows.push(row_at(chunk, place)));
                ControlFlow::Continue(())
            });
            let entries: Vec<_> = self.ranked_tags.fields().map(|field| self.ranked_entries(&rows, field)).collect();
            self.ranked_tags.begin(key, term, &entries);
        }
    }

    /// Returns the numbers of a field of these rows, ascending.
    fn ranked_entries(&self, rows: &[RowNumber], field: usize) -> Vec<RankedEntry> {
        let number = |row: RowNumber| {
            self.record(row, |record| record.raw_value(field).and_then(ranked_tags::number_of)).flatten()
        };
        let mut entries: Vec<_> = rows.iter().filter_map(|row| Some((number(*row)?, *row))).collect();
        entries.sort_unstable();
        entries
    }

    /// Returns the position of a key's entry, or its insertion point, and its row number with `look` of its record.
    /// O(log n).
    fn find_record<R>(&self, key: &[u8], look: impl Fn(&Record<'_>) -> R) -> (u64, Option<(RowNumber, R)>) {
        let hash = self.hash(key);
        let guide = Guide { key: hash_number(&hash), key_of: |item| hash_number(&item[..HASH_BYTES]), is_even: true };
        let own = |item: &[u8]| (item[..HASH_BYTES] == hash[..]).then(|| row_in(&item[HASH_BYTES..]));
        let is_before = |item: &[u8]| item[..HASH_BYTES] < hash[..];
        let (mut at, mut found) = self.keys.guided_look(0..self.keys.len(), guide, is_before, own);
        while let Some(row) = found.flatten() {
            let looked = self.record(row, |record| (record.key == key).then(|| look(record)));
            if let Some(looked) = looked.flatten() {
                return (at, Some((row, looked)));
            }
            at += 1;
            found = self.keys.get(at, own);
        }
        (at, None)
    }

    fn hash(&self, key: &[u8]) -> [u8; HASH_BYTES] {
        let bytes = self.hasher.hash(key).to_be_bytes();
        std::array::from_fn(|at| bytes[at])
    }

    fn set_deadlines(&mut self, number: RowNumber, old: Option<&Row>, new: Option<&Row>) {
        let (old, new) = (old.map(deadlines_of).unwrap_or_default(), new.map(deadlines_of).unwrap_or_default());
        for at_ms in difference(&old, &new) {
            let (at, item) = self.find_deadline(*at_ms, number);
            let is_there = self.deadlines.get(at, |other| *other == item[..]) == Some(true);
            debug_assert!(is_there, "a row's deadlines are kept");
            if is_there {
                self.deadlines.remove(at);
            }
        }
        for at_ms in difference(&new, &old) {
            let (at, item) = self.find_deadline(*at_ms, number);
            self.deadlines.insert(at, &item);
        }
    }

    fn find_deadline(&self, at_ms: Ms, row: RowNumber) -> (u64, Vec<u8>) {
        let item = [&at_ms.to_be_bytes()[..], &row.to_be_bytes()].concat();
        let guide = Guide { key: at_ms, key_of: |item| deadline_in(item).0, is_even: false };
        (self.deadlines.guided_point(0..self.deadlines.len(), guide, |other| *other < item[..]), item)
    }
}

/// A row that a term gains or loses.
struct TermChange {
    key: Vec<u8>,
    row: RowNumber,
    is_added: bool,
}

/// Returns true for one row of 64: when its tags change, their rows are counted.
fn is_sampled(row: RowNumber) -> bool {
    row.wrapping_mul(0x9e37_79b1) >> 26 == 0
}

/// Returns the distinct deadlines of a row, ascending.
fn deadlines_of(row: &Row) -> Vec<Ms> {
    let fields = row.fields.iter().flatten().filter_map(|field| field.expires_at_ms);
    let mut deadlines: Vec<Ms> = row.expires_at_ms.into_iter().chain(fields).collect();
    deadlines.sort_unstable();
    deadlines.dedup();
    deadlines
}

/// Returns the items of `one` that are not in `other`; both ascend.
fn difference<'a, T: Ord>(one: &'a [T], other: &'a [T]) -> impl Iterator<Item = &'a T> {
    one.iter().filter(|item| other.binary_search(item).is_err())
}

fn hash_number(hash: &[u8]) -> u64 {
    hash.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn row_in(bytes: &[u8]) -> RowNumber {
    RowNumber::from_be_bytes(bytes.try_into().expect("a row number has four bytes"))
}

fn deadline_in(item: &[u8]) -> (Ms, RowNumber) {
    let (at_ms, row) = item.split_at(8);
    (Ms::from_be_bytes(at_ms.try_into().expect("eight bytes")), row_in(row))
}
