//! Rows of terms in the order of a number, of frequent tags or of all rows: a page of them is found by its position.
//!
//! ```text
//! item    | term : u32 | number : u64 | row : u32 | base : u64 | shift : 1 | widths : 2 | entry | entry | ...
//!           '------- head: its last entry -------'                            big-endian, ascending
//! entry   | (number - base) >> shift : 0 to 8 bytes | row : 1 to 4 bytes |    as narrow as the item's entries allow
//! ```
//!
//! A number is an integer that compares as it does. Whole numbers end in zeros, which the shift removes. Items are in
//! the order of their heads, entries of an item in that of their bytes: one is added or removed without the others being
//! decoded.

use super::dictionary::TermNumber;
use super::postings::RowNumber;
use blocks::{BlockList, Digest, Direction, Guide, Summary};
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

/// A number and its row.
pub(crate) type RankedEntry = (u64, RowNumber);

/// Entries of an item at most.
const ENTRIES_MAX: usize = 128;
/// An item of fewer entries is joined with the next one, if both are not nearly full together.
const ENTRIES_MIN: usize = ENTRIES_MAX / 4;
const JOINED_MAX: usize = ENTRIES_MAX * 3 / 4;
const HEAD_BYTES: usize = 16;
/// Bytes before the entries.
const ENTRIES_AT: usize = HEAD_BYTES + 11;
/// Bits of a row in a guide, of the rows below 2^24 or so; greater ones are equal there.
const GUIDE_ROW_BITS: u32 = 10;
const GUIDE_ROW_SHIFT: u32 = 14;

/// The rows of terms by a field's numbers.
#[derive(Clone)]
pub(crate) struct Rankings {
    items: BlockList,
    /// The part of a head that guides through inner nodes.
    guide_key: fn(&[u8]) -> u64,
}

impl Rankings {
    /// Creates one for many terms.
    pub(super) fn of_terms() -> Self {
        Self { items: BlockList::new(), guide_key: term_guide }
    }

    /// Creates one for entries of the greatest term alone, whose guides are without it. With another term, the end of its
    /// items would be looked for by the number zero.
    pub(super) fn of_last_term() -> Self {
        Self { items: BlockList::new(), guide_key: number_guide }
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.items.heap_bytes()
    }

    /// Returns the number of a term's entries. O(log n + items changed or not yet counted).
    pub(crate) fn count(&self, term: TermNumber) -> u64 {
        let mut total = EntryTotal(0);
        let _ = self.items.summarize(&EntryCounts, self.items_of(term), Direction::Forward, &mut total);
        total.0
    }

    /// Returns the number of a term's entries below this one. O(log n + items changed or not yet counted).
    pub(super) fn rank(&self, term: TermNumber, entry: RankedEntry) -> u64 {
        let below = |item: &[u8]| decode(item).partition_point(|own| *own < entry) as u64;
        let own = |item: &[u8]| if term_in(item) == term { below(item) } else { 0 };
        let (at, within) = self.look(&head(term, entry), own);
        let mut total = EntryTotal(within.unwrap_or_default());
        let begin = self.point(&head(term, (0, 0)));
        let _ = self.items.summarize(&EntryCounts, begin..at, Direction::Forward, &mut total);
        total.0
    }

    /// Passes rows of a term in the order of their numbers to `visit`, after the first `skip` of them, until it breaks.
    /// O(log n + rows passed + items changed or not yet counted).
    pub(crate) fn walk(
        &self,
        term: TermNumber,
        skip: u64,
        direction: Direction,
        visit: impl FnMut(RowNumber) -> ControlFlow<()>,
    ) {
        let mut page = RankedPage { skip, direction, visit };
        let _ = self.items.summarize(&EntryCounts, self.items_of(term), direction, &mut page);
    }

    /// Prefetches what adding or removing an entry reads, unless too many rows have its number. O(log n).
    pub(super) fn prefetch(&self, term: TermNumber, entry: RankedEntry) {
        self.items.prefetch(self.guide(&head(term, entry)));
    }

    /// Adds an entry to a term; returns false if the term has it. O(log n).
    pub(crate) fn add(&mut self, term: TermNumber, entry: RankedEntry) -> bool {
        let (at, found) = self.find(term, entry);
        let Some(mut item) = found else {
            self.items.insert(at, &encode(term, &[entry]));
            return true;
        };
        let layout = EntryLayout::of_item(&item);
        if layout.count(&item) < ENTRIES_MAX
            && let Some(bytes) = layout.bytes_of(entry)
        {
            let Err(place) = layout.position(&item, &bytes) else { return false };
            let at_byte = layout.offset(place);
            item.splice(at_byte..at_byte, bytes[..layout.stride()].iter().copied());
            layout.set_head(&mut item);
            self.items.set(at, &item);
            return true;
        }
        let mut entries = decode(&item);
        let Err(place) = entries.binary_search(&entry) else { return false };
        entries.insert(place, entry);
        if entries.len() > ENTRIES_MAX {
            // Numbers that only grow leave full items behind.
            let right = entries.split_off(if place == ENTRIES_MAX { place } else { ENTRIES_MAX / 2 });
            self.items.set(at, &encode(term, &right));
            self.items.insert(at, &encode(term, &entries));
        } else {
            self.items.set(at, &encode(term, &entries));
        }
        true
    }

    /// Removes an entry of a term; returns false if the term has none like it. O(log n).
    pub(crate) fn remove(&mut self, term: TermNumber, entry: RankedEntry) -> bool {
        let (at, Some(mut item)) = self.find(term, entry) else { return false };
        let layout = EntryLayout::of_item(&item);
        let Some(place) = layout.bytes_of(entry).and_then(|bytes| layout.position(&item, &bytes).ok()) else {
            return false;
        };
        item.drain(layout.offset(place)..layout.offset(place + 1));
        match layout.count(&item) {
            0 => self.items.remove(at),
            count if count < ENTRIES_MIN => self.join(term, at, &item),
            _ => {
                layout.set_head(&mut item);
                self.items.set(at, &item);
            }
        }
        true
    }

    /// Sets a short item, together with the next one if both are not nearly full together.
    fn join(&mut self, term: TermNumber, at: u64, item: &[u8]) {
        let mut entries = decode(item);
        let next = |item: &[u8]| (term_in(item) == term).then(|| decode(item));
        if let Some(next) = self.items.get(at + 1, next).flatten()
            && entries.len() + next.len() <= JOINED_MAX
        {
            entries.extend(next);
            self.items.remove(at + 1);
        }
        self.items.set(at, &encode(term, &entries));
    }

    /// Sets the entries of a term that has none, ascending. O(entries + log n).
    pub(crate) fn fill(&mut self, term: TermNumber, entries: &[RankedEntry]) {
        for part in entries.chunks(JOINED_MAX) {
            let at = self.point(&head(term, part[part.len() - 1]));
            self.items.insert(at, &encode(term, part));
        }
    }

    /// Removes all entries of a term. O(entries + log n).
    pub(crate) fn clear(&mut self, term: TermNumber) {
        let items = self.items_of(term);
        self.items.remove_runs(std::iter::once((items.start, items.end - items.start)).filter(|(_, count)| *count > 0));
    }

    /// Returns the item that an entry is in or belongs into, with its position; if the term has none, the position
    /// that its first item is inserted at.
    fn find(&self, term: TermNumber, entry: RankedEntry) -> (u64, Option<Vec<u8>>) {
        let own = |item: &[u8]| (term_in(item) == term).then(|| item.to_vec());
        let (at, found) = self.look(&head(term, entry), own);
        match (found.flatten(), at.checked_sub(1)) {
            (None, Some(before)) => match self.items.get(before, own).flatten() {
                // It follows all entries of the term.
                Some(item) => (before, Some(item)),
                None => (at, None),
            },
            (found, _) => (at, found),
        }
    }

    fn items_of(&self, term: TermNumber) -> Range<u64> {
        let begin = self.point(&head(term, (0, 0)));
        let end = term.checked_add(1).map_or(self.items.len(), |next| self.point(&head(next, (0, 0))));
        begin..end
    }

    fn point(&self, head: &[u8; HEAD_BYTES]) -> u64 {
        self.look(head, |_| ()).0
    }

    /// Returns the position of the first item whose head is this one or a later one, and `visit` of that item.
    fn look<R>(&self, head: &[u8; HEAD_BYTES], visit: impl FnOnce(&[u8]) -> R) -> (u64, Option<R>) {
        self.items.guided_look(0..self.items.len(), self.guide(head), |item| item[..HEAD_BYTES] < head[..], visit)
    }

    fn guide(&self, head: &[u8; HEAD_BYTES]) -> Guide {
        Guide { key: (self.guide_key)(head), key_of: self.guide_key, is_even: false }
    }
}

/// Counts entries.
struct EntryCounts;

impl Digest for EntryCounts {
    fn id(&self) -> u64 {
        1
    }

    fn words_count(&self) -> usize {
        1
    }

    fn add(&self, item: &[u8], words: &mut [u64]) {
        words[0] += entries_count(item);
    }

    fn join(&self, words: &mut [u64], more: &[u64]) {
        words[0] += more[0];
    }
}

struct EntryTotal(u64);

impl Summary for EntryTotal {
    fn passes(&mut self, words: &[u64], _: u64) -> bool {
        self.0 += words[0];
        true
    }

    fn item(&mut self, _: u64, item: &[u8]) -> ControlFlow<()> {
        self.0 += entries_count(item);
        ControlFlow::Continue(())
    }
}

/// A walk that first skips entries.
struct RankedPage<F> {
    skip: u64,
    direction: Direction,
    visit: F,
}

impl<F: FnMut(RowNumber) -> ControlFlow<()>> RankedPage<F> {
    /// Returns true if all these entries are skipped.
    fn skips(&mut self, count: u64) -> bool {
        let is_skipped = count <= self.skip;
        if is_skipped {
            self.skip -= count;
        }
        is_skipped
    }
}

impl<F: FnMut(RowNumber) -> ControlFlow<()>> Summary for RankedPage<F> {
    fn passes(&mut self, words: &[u64], _: u64) -> bool {
        self.skips(words[0])
    }

    fn item(&mut self, _: u64, item: &[u8]) -> ControlFlow<()> {
        if self.skips(entries_count(item)) {
            return ControlFlow::Continue(());
        }
        let skip = std::mem::take(&mut self.skip) as usize;
        let entries = decode(item);
        match self.direction {
            Direction::Forward => entries.iter().skip(skip).try_for_each(|(_, row)| (self.visit)(*row)),
            Direction::Backward => entries.iter().rev().skip(skip).try_for_each(|(_, row)| (self.visit)(*row)),
        }
    }
}

fn head(term: TermNumber, (number, row): RankedEntry) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&term.to_be_bytes());
    head[4..12].copy_from_slice(&number.to_be_bytes());
    head[12..].copy_from_slice(&row.to_be_bytes());
    head
}

/// Returns the guide of entries of many terms.
///
/// ```text
///   0 | term : 21 bits | number : 32 bits | row : 10 bits |       terms below 2^21
///   1 | term : 32 bits | number : 31 bits |                       others
/// ```
fn term_guide(item: &[u8]) -> u64 {
    const SHORT_TERMS_END: u64 = 1 << 21;
    match u64::from(term_in(item)) {
        term @ 0..SHORT_TERMS_END => term << 42 | with_row(number_in(item) >> 22, is_round(item, 32), row_in(item)),
        term => 1 << 63 | term << 31 | number_in(item) >> 33,
    }
}

/// Returns the guide of entries of one term: 54 bits of the number, 10 of the row.
fn number_guide(item: &[u8]) -> u64 {
    with_row(number_in(item), is_round(item, GUIDE_ROW_BITS), row_in(item))
}

/// Returns true if the last `bits` bits of an item's number are zeros, as those of small whole numbers are.
fn is_round(item: &[u8], bits: u32) -> bool {
    number_in(item).trailing_zeros() >= bits
}

/// Replaces the last bits of a number by those of its row. Many rows may have one round number: then their rows guide.
/// Other numbers with the same first bits are greater than the round one, whatever the row.
fn with_row(number: u64, is_round: bool, row: RowNumber) -> u64 {
    const ROW_MAX: u64 = (1 << GUIDE_ROW_BITS) - 1;
    let row = if is_round { u64::from(row >> GUIDE_ROW_SHIFT).min(ROW_MAX - 1) } else { ROW_MAX };
    number & !ROW_MAX | row
}

fn number_in(item: &[u8]) -> u64 {
    u64::from_be_bytes(*item[4..].first_chunk().expect("an item has a head"))
}

fn row_in(item: &[u8]) -> RowNumber {
    super::row_in(&item[12..HEAD_BYTES])
}

fn term_in(item: &[u8]) -> TermNumber {
    TermNumber::from_be_bytes(*item.first_chunk().expect("an item has a head"))
}

/// The form of the entries of an item.
struct EntryLayout {
    base: u64,
    shift: u8,
    number_bytes: u8,
    row_bytes: u8,
}

/// An entry's bytes; zeros follow.
type EntryBytes = [u8; 12];

impl EntryLayout {
    /// Returns the narrowest one for these entries, ascending.
    fn of(entries: &[RankedEntry]) -> Self {
        let base = entries[0].0;
        let differences = entries.iter().fold(0, |all, (number, _)| all | (number - base));
        let rows = entries.iter().fold(0, |all, (_, row)| all | row);
        // All numbers are equal if there is no difference.
        let shift = differences.trailing_zeros() % u64::BITS;
        let bytes = |bits: u32| bits.div_ceil(8) as u8;
        let number_bytes = bytes(u64::BITS - (differences >> shift).leading_zeros());
        let row_bytes = bytes(RowNumber::BITS - rows.leading_zeros()).max(1);
        Self { base, shift: shift as u8, number_bytes, row_bytes }
    }

    fn of_item(item: &[u8]) -> Self {
        let base = u64::from_be_bytes(*item[HEAD_BYTES..].first_chunk().expect("an item has a layout"));
        let [shift, number_bytes, row_bytes] = *item[HEAD_BYTES + 8..].first_chunk().expect("an item has a layout");
        Self { base, shift, number_bytes, row_bytes }
    }

    fn stride(&self) -> usize {
        usize::from(self.number_bytes + self.row_bytes)
    }

    fn offset(&self, place: usize) -> usize {
        ENTRIES_AT + place * self.stride()
    }

    fn count(&self, item: &[u8]) -> usize {
        (item.len() - ENTRIES_AT) / self.stride()
    }

    /// Returns the bytes of an entry, if there are some for it.
    fn bytes_of(&self, (number, row): RankedEntry) -> Option<EntryBytes> {
        let difference = number.checked_sub(self.base)?;
        let shifted = difference >> self.shift;
        let (numbers, rows) = (shifted.to_be_bytes(), row.to_be_bytes());
        let (number_zeros, number_own) = numbers.split_at(8 - usize::from(self.number_bytes));
        let (row_zeros, row_own) = rows.split_at(4 - usize::from(self.row_bytes));
        let fits = shifted << self.shift == difference && number_zeros.iter().chain(row_zeros).all(|byte| *byte == 0);
        let mut bytes = EntryBytes::default();
        bytes[..number_own.len()].copy_from_slice(number_own);
        bytes[number_own.len()..][..row_own.len()].copy_from_slice(row_own);
        fits.then_some(bytes)
    }

    fn entry(&self, bytes: &[u8]) -> RankedEntry {
        let read = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let (number, row) = bytes.split_at(usize::from(self.number_bytes));
        (self.base + (read(number) << self.shift), read(row) as RowNumber)
    }

    /// Returns the place of an entry, or that which it is inserted at. O(log entries).
    fn position(&self, item: &[u8], bytes: &EntryBytes) -> Result<usize, usize> {
        let wanted = &bytes[..self.stride()];
        let (mut from, mut to) = (0, self.count(item));
        while from < to {
            let middle = from.midpoint(to);
            match item[self.offset(middle)..self.offset(middle + 1)].cmp(wanted) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => to = middle,
            }
        }
        Err(from)
    }

    /// Sets the head to the last entry.
    fn set_head(&self, item: &mut [u8]) {
        let last = self.entry(&item[item.len() - self.stride()..]);
        let head = head(term_in(item), last);
        item[..HEAD_BYTES].copy_from_slice(&head);
    }
}

/// Encodes entries: at least one, ascending.
fn encode(term: TermNumber, entries: &[RankedEntry]) -> Vec<u8> {
    let layout = EntryLayout::of(entries);
    let mut item = Vec::with_capacity(layout.offset(entries.len()));
    item.extend_from_slice(&head(term, entries[entries.len() - 1]));
    item.extend_from_slice(&layout.base.to_be_bytes());
    item.extend_from_slice(&[layout.shift, layout.number_bytes, layout.row_bytes]);
    for entry in entries {
        let bytes = layout.bytes_of(*entry).expect("the layout is that of all entries");
        item.extend_from_slice(&bytes[..layout.stride()]);
    }
    item
}

fn decode(item: &[u8]) -> Vec<RankedEntry> {
    let layout = EntryLayout::of_item(item);
    item[ENTRIES_AT..].chunks_exact(layout.stride()).map(|bytes| layout.entry(bytes)).collect()
}

fn entries_count(item: &[u8]) -> u64 {
    EntryLayout::of_item(item).count(item) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::numbers::ordered;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn walked(rankings: &Rankings, term: TermNumber, skip: u64, direction: Direction, most: usize) -> Vec<RowNumber> {
        let mut rows = Vec::new();
        rankings.walk(term, skip, direction, |row| {
            rows.push(row);
            if rows.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        rows
    }

    fn check(rankings: &Rankings, twin: &BTreeSet<(TermNumber, u64, RowNumber)>) {
        for term in 0..4 {
            let rows: Vec<_> = twin.iter().filter(|(own, ..)| *own == term).map(|(.., row)| *row).collect();
            assert_eq!(rankings.count(term), rows.len() as u64);
            for (number, row) in [0, 1 << 63, ordered(3.0), ordered(7.0), u64::MAX].into_iter().zip([0, 7, 20, 50, 3]) {
                let below = twin.range((term, 0, 0)..(term, number, row)).count() as u64;
                assert_eq!(rankings.rank(term, (number, row)), below);
            }
            for skip in [0, 1, 100, rows.len() / 2, rows.len(), rows.len() + 1] {
                let forward: Vec<_> = rows.iter().skip(skip).take(150).copied().collect();
                assert_eq!(walked(rankings, term, skip as u64, Direction::Forward, 150), forward);
                let backward: Vec<_> = rows.iter().rev().skip(skip).take(150).copied().collect();
                assert_eq!(walked(rankings, term, skip as u64, Direction::Backward, 150), backward);
            }
        }
    }

    fn any_entry() -> impl Strategy<Value = (TermNumber, u64, RowNumber)> {
        let term = prop_oneof![0u32..3, (1u32 << 21) - 3..(1 << 21) + 3, Just(TermNumber::MAX)];
        let number = prop_oneof![
            (0u32..5).prop_map(|number| ordered(f64::from(number))),
            (0u64..3, 0u32..64, 0u64..3).prop_map(|(high, shift, low)| (high << shift).wrapping_add(low)),
            any::<u64>(),
        ];
        let row = prop_oneof![0u32..3, (0u32..32).prop_map(|bit| 1 << bit), any::<u32>(), Just(RowNumber::MAX)];
        (term, number, row)
    }

    proptest! {
        #[test]
        fn a_guide_is_never_less_than_that_of_an_earlier_entry(entries in [any_entry(), any_entry()]) {
            let mut entries = entries;
            entries.sort_unstable();
            let heads = entries.map(|(term, number, row)| head(term, (number, row)));
            prop_assert!(term_guide(&heads[0]) <= term_guide(&heads[1]));
            if entries[0].0 == entries[1].0 {
                prop_assert!(number_guide(&heads[0]) <= number_guide(&heads[1]));
            }
        }
    }

    #[test]
    fn the_guides_of_many_rows_of_one_number_differ() {
        for row in (0..16_000_000).step_by(200_000) {
            let guides = [row, row + 200_000].map(|row| head(7, (ordered(996.0), row))).map(|head| term_guide(&head));
            assert!(guides[0] < guides[1], "row {row}");
        }
    }

    const NUMBERS: [f64; 8] = [f64::NEG_INFINITY, -1e300, -3.0, -0.5, 0.0, 0.1, 1e15, f64::INFINITY];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

        /// Removals come in runs, so that items become short and are joined.
        #[test]
        fn entries_are_those_of_a_sorted_set(
            changes in prop::collection::vec((0u32..4, 0usize..40, any::<bool>(), 1u32..200), 1..60),
            growth in 1u64..20,
        ) {
            let (mut rankings, mut twin) = (Rankings::of_terms(), BTreeSet::new());
            let number = |at: usize| ordered(NUMBERS.get(at).copied().unwrap_or(at as f64 * growth as f64));
            for (turn, (term, at, is_added, count)) in changes.into_iter().enumerate() {
                for nth in 0..count {
                    let entry = (number((at + nth as usize) % 40), nth.wrapping_mul(2_654_435_769) % 50 * (1 + nth % 3));
                    let own = (term, entry.0, entry.1);
                    if is_added {
                        assert_eq!(rankings.add(term, entry), twin.insert(own));
                    } else {
                        assert_eq!(rankings.remove(term, entry), twin.remove(&own));
                    }
                }
                if turn % 20 == 19 {
                    rankings.clear(term);
                    let own: Vec<_> = twin.iter().filter(|(own, ..)| *own == term).map(|(_, a, b)| (*a, *b)).collect();
                    rankings.fill(term, &own);
                }
            }
            check(&rankings, &twin);
        }
    }
}
