//! The hash: fields with values, some with their own deadlines, all in one block list.
//!
//! ```text
//! list    | head | due | due | ... | item | item | item | ...
//!
//! head    | form | dues : varint, if there are any |
//! due     | deadline : u64 | order of the field : u64 |      big-endian, ascending: the earliest deadline is first
//! item    | 2 x length of the field : varint | field | value |
//!         | 2 x length of the field + 1 : varint | field | deadline : varint | value |
//!
//! form 0  small: items in insertion order
//! form 1  likewise; a field has or had a deadline
//! form 2  large: items in the order of (hash of the field, field), `base::hash::order`
//! ```
//!
//! Lookups are O(log n), except in small hashes, which are scanned. Removing the last field also removes the head: an
//! empty hash is an empty list.

use crate::List;
use base::{Ms, hash, varint};
use blocks::{Cursor, Direction, End, Guide, ITEM_BYTES_MAX};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::fmt;
use std::ops::{ControlFlow, Range};

/// A hash; eight bytes, cloned in O(1). Expired fields stay until [`Hash::expire`] removes them; methods that take the
/// time ignore them.
#[derive(Clone, Default)]
pub struct Hash {
    list: List,
}

/// A field, its value and its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// Its name.
    pub field: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
    /// Its deadline.
    pub expires_at_ms: Option<Ms>,
}

/// Bytes of an item up to which making one allocates nothing.
const ITEM_BYTES_USUAL: usize = 128;

/// The maximum size of a field and its value together, in bytes.
pub const PAIR_BYTES_MAX: usize = ITEM_BYTES_MAX - 2 * varint::BYTES_MAX;

impl Pair<'_> {
    /// Returns true if it has not expired.
    pub fn is_live(&self, now: Ms) -> bool {
        self.expires_at_ms.is_none_or(|at_ms| at_ms > now)
    }

    fn encode(&self) -> SmallVec<[u8; ITEM_BYTES_USUAL]> {
        let mut item = SmallVec::with_capacity(self.field.len() + self.value.len() + 2 * varint::BYTES_MAX);
        varint::put(&mut item, self.field.len() as u64 * 2 + u64::from(self.expires_at_ms.is_some()));
        item.extend_from_slice(self.field);
        if let Some(at_ms) = self.expires_at_ms {
            varint::put(&mut item, at_ms);
        }
        item.extend_from_slice(self.value);
        item
    }
}

/// Decodes an item of [`Hash::items`].
pub fn pair(item: &[u8]) -> Pair<'_> {
    checked_pair(item).expect("items are made by `encode` or checked")
}

fn checked_pair(mut item: &[u8]) -> Option<Pair<'_>> {
    let head = varint::take(&mut item)?;
    let (field, mut value) = item.split_at_checked(usize::try_from(head / 2).ok()?)?;
    let expires_at_ms = if head % 2 == 1 { Some(varint::take(&mut value)?) } else { None };
    Some(Pair { field, value, expires_at_ms })
}

/// Rejects most items whose field is not `field`: by the length and the last byte, since names often share a prefix.
#[inline]
fn may_have(field: &[u8]) -> impl Fn(&[u8]) -> bool {
    let len = field.len();
    let last = field.last().copied().unwrap_or_default();
    // The head of a short field is one byte, whose lowest bit says whether there is a deadline.
    let is_short = (1..64).contains(&len);
    move |item| !is_short || (item.len() > len && usize::from(item[0] >> 1) == len && item[len] == last)
}

/// The result of [`Hash::figures`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashFigures {
    /// The number of unexpired fields.
    pub live_len: u64,
    /// The number of expired fields.
    pub expired_count: u64,
    /// See [`Hash::is_large`].
    pub is_large: bool,
    /// True if any of its fields has a deadline.
    pub has_deadlines: bool,
}

/// Where a field is, or would be. Valid until the hash changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// The position of its item in the list.
    at: Cursor,
    /// Its deadline, if it exists.
    found: Option<Option<Ms>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashForm {
    Small,
    SmallTimed,
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HashHead {
    form: HashForm,
    dues: u64,
}

impl HashHead {
    fn encode(self) -> Vec<u8> {
        let mut head = vec![self.form as u8];
        if self.dues > 0 {
            varint::put(&mut head, self.dues);
        }
        head
    }

    fn decode(mut head: &[u8]) -> Option<Self> {
        let (form, rest) = head.split_first()?;
        head = rest;
        let form = match form {
            0 => HashForm::Small,
            1 => HashForm::SmallTimed,
            2 => HashForm::Large,
            _ => return None,
        };
        let dues = if head.is_empty() { 0 } else { varint::take(&mut head).filter(|dues| *dues > 0)? };
        let is_sound = head.is_empty() && dues < u64::MAX && (dues == 0 || form != HashForm::Small);
        is_sound.then_some(Self { form, dues })
    }

    /// Returns the positions of the dues in the list.
    fn dues(self) -> Range<u64> {
        1..1 + self.dues
    }

    /// Returns the position of the first item.
    fn start(self) -> u64 {
        1 + self.dues
    }
}

const DUE_BYTES: usize = 16;

fn due(at_ms: Ms, order: u64) -> [u8; DUE_BYTES] {
    (u128::from(at_ms) << 64 | u128::from(order)).to_be_bytes()
}

fn due_parts(due: &[u8]) -> (Ms, u64) {
    let whole = u128::from_be_bytes(due.try_into().expect("a due has sixteen bytes"));
    ((whole >> 64) as u64, whole as u64)
}

fn order(item: &[u8]) -> (u64, &[u8]) {
    let field = pair(item).field;
    (hash::order(field), field)
}

/// Filters most fields of a large hash by this hash order.
fn by_order(order: u64) -> Guide {
    Guide { key: order, key_of: |item| self::order(item).0, is_even: true }
}

// ---- lookups ----

impl Hash {
    fn head(&self) -> HashHead {
        let head = self.list.get(0, |head| HashHead::decode(head).expect("heads are made by `encode` or checked"));
        head.unwrap_or(HashHead { form: HashForm::Small, dues: 0 })
    }

    /// Returns the number of fields, expired ones included. O(log n).
    pub fn len(&self) -> u64 {
        self.list.len().saturating_sub(self.head().start())
    }

    /// Returns the number of fields and of what is kept beside them: while no deadline comes or goes, it grows by as
    /// many as the fields. O(1).
    pub fn items_len(&self) -> u64 {
        self.list.len()
    }

    /// Returns true if it has no fields. O(1).
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of unexpired fields. O(log n).
    pub fn live_len(&self, now: Ms) -> u64 {
        self.len() - self.expired_count(now)
    }

    /// Returns the number of expired fields. O(log n).
    pub fn expired_count(&self, now: Ms) -> u64 {
        self.expired_within(self.head(), now)
    }

    fn expired_within(&self, head: HashHead, now: Ms) -> u64 {
        let dues = head.dues();
        if dues.is_empty() {
            return 0;
        }
        self.list.partition_point_within(dues.clone(), |due| due_parts(due).0 <= now) - dues.start
    }

    /// Returns the figures that a writer needs, at once. O(log n).
    pub fn figures(&self, now: Ms) -> HashFigures {
        let head = self.head();
        let len = self.list.len().saturating_sub(head.start());
        let expired_count = self.expired_within(head, now);
        let (is_large, has_deadlines) = (head.form == HashForm::Large, head.dues > 0);
        HashFigures { live_len: len - expired_count, expired_count, is_large, has_deadlines }
    }

    /// Returns the earliest deadline of its fields, if any. O(log n).
    pub fn next_due(&self) -> Option<Ms> {
        if self.head().dues == 0 { None } else { self.list.get(1, |due| due_parts(due).0) }
    }

    /// Returns true if it has fields and all have expired. O(log n).
    pub fn is_spent(&self, now: Ms) -> bool {
        self.spent_at_ms().is_some_and(|at_ms| at_ms <= now)
    }

    /// Returns when the last of its fields expires, if it has fields and all of them do. O(log n).
    pub fn spent_at_ms(&self) -> Option<Ms> {
        let head = self.head();
        let is_all = head.dues > 0 && self.list.len() == head.start() + head.dues;
        is_all.then(|| self.list.get(head.dues, |due| due_parts(due).0).expect("dues are there"))
    }

    /// Returns the deadline of a field, passed or not, if the field exists. O(log n), in a small hash O(n).
    pub fn expires_at_ms(&self, field: &[u8]) -> Option<Option<Ms>> {
        self.place(field).found
    }

    /// Applies `visit` to an unexpired field; `None` if there is none. O(log n), in a small hash O(n).
    pub fn get<R>(&self, field: &[u8], now: Ms, visit: impl FnOnce(Pair<'_>) -> R) -> Option<R> {
        self.find(field, now, visit).1
    }

    /// Returns its items in order, to be read by [`pair`]. O(log n).
    pub fn items(&self) -> List {
        let mut items = self.list.clone();
        if !self.is_empty() {
            items.trim(self.head().start(), self.len());
        }
        items
    }

    /// Visits all fields in order, expired ones included, until `visit` breaks.
    pub fn walk(&self, visit: &mut impl FnMut(Pair<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.walk_from(0, visit)
    }

    /// Like [`Hash::walk`], from the field at `at` on.
    pub fn walk_from(&self, at: u64, visit: &mut impl FnMut(Pair<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.is_empty() {
            return ControlFlow::Continue(());
        }
        let from = self.head().start() + at;
        self.list.walk(from, self.list.len() - from, Direction::Forward, &mut |item: &[u8]| visit(pair(item)))
    }

    /// Returns the position of the first field of a large hash whose hash is at least `order`. O(log n).
    pub fn place_of_order(&self, order: u64) -> u64 {
        assert!(self.is_large());
        let start = self.head().start();
        let is_before = |item: &[u8]| self::order(item).0 < order;
        self.list.guided_point(start..self.list.len(), by_order(order), is_before) - start
    }

    /// Returns true if its fields are ordered by hash. O(log n).
    pub fn is_large(&self) -> bool {
        self.head().form == HashForm::Large
    }

    /// Returns the name that `OBJECT ENCODING` replies in Redis for these contents.
    pub fn encoding(&self) -> &'static str {
        match self.head().form {
            HashForm::Small => "listpack",
            HashForm::SmallTimed => "listpackex",
            HashForm::Large => "hashtable",
        }
    }

    /// Returns true if the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.list.shares_root_with(&other.list)
    }

    /// Returns its heap memory in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.list.heap_bytes()
    }

    /// Returns roughly the bytes of its fields and values. O(1).
    pub fn content_bytes(&self) -> u64 {
        self.list.content_bytes()
    }

    pub(crate) fn list(&self) -> &List {
        &self.list
    }

    /// Returns the place of a field, for [`Hash::put_keeping_at`], and `visit` of it if it has not expired. Cost as of
    /// [`Hash::get`].
    pub fn find<R>(&self, field: &[u8], now: Ms, visit: impl FnOnce(Pair<'_>) -> R) -> (FieldPlace, Option<R>) {
        let visit = |pair: Pair<'_>| (pair.expires_at_ms, pair.is_live(now).then(|| visit(pair)));
        match self.look(self.head(), field, visit) {
            Ok((at, (expires_at_ms, seen))) => (FieldPlace { at, found: Some(expires_at_ms) }, seen),
            Err(at) => (FieldPlace { at, found: None }, None),
        }
    }

    fn place(&self, field: &[u8]) -> FieldPlace {
        self.find(field, 0, |_| ()).0
    }

    /// Returns the position of a field's item and the result of `visit` on it; or the insertion point.
    fn look<R>(&self, head: HashHead, field: &[u8], visit: impl FnOnce(Pair<'_>) -> R) -> Result<(Cursor, R), Cursor> {
        let (start, end) = (head.start(), self.list.len());
        if head.form == HashForm::Large {
            let key = (hash::order(field), field);
            let visit_it = |item: &[u8]| {
                let pair = pair(item);
                (pair.field == field).then(|| visit(pair))
            };
            let (at, seen) =
                self.list.find_cursor(start..end, Some(by_order(key.0)), |item| order(item) < key, visit_it);
            return seen.flatten().map(|seen| (at, seen)).ok_or(at);
        }
        if self.is_empty() {
            return Err(self.list.cursor(0));
        }
        let (mut at, mut visit, mut seen) = (start, Some(visit), None);
        let may_be = may_have(field);
        let _ = self.list.walk(start, end - start, Direction::Forward, &mut |item: &[u8]| {
            if may_be(item) && pair(item).field == field {
                seen = visit.take().map(|visit| visit(pair(item)));
                return ControlFlow::Break(());
            }
            at += 1;
            ControlFlow::Continue(())
        });
        let at = self.list.cursor(at);
        seen.map(|seen| (at, seen)).ok_or(at)
    }
}

// ---- changes ----

impl Hash {
    /// Sets a field's value and deadline. Returns true if the field is new. O(log n), in a small hash O(n).
    pub fn put(&mut self, pair: Pair<'_>) -> bool {
        self.put_at(pair, &self.place(pair.field))
    }

    /// Sets a field's value; a deadline stays. Returns true if the field is new. O(log n), in a small hash O(n).
    pub fn put_keeping(&mut self, field: &[u8], value: &[u8]) -> bool {
        self.put_keeping_at(field, value, &self.place(field))
    }

    /// As [`Hash::put_keeping`], where [`Hash::find`] returned `place`. Saves a lookup.
    pub fn put_keeping_at(&mut self, field: &[u8], value: &[u8], place: &FieldPlace) -> bool {
        self.put_at(Pair { field, value, expires_at_ms: place.found.flatten() }, place)
    }

    fn put_at(&mut self, pair: Pair<'_>, place: &FieldPlace) -> bool {
        let mut at = place.at;
        if self.is_empty() {
            self.list.push(End::Tail, &HashHead { form: HashForm::Small, dues: 0 }.encode());
            at = self.list.cursor(1);
        }
        let item = pair.encode();
        match place.found {
            Some(_) => self.list.set_at(at, &item),
            None => self.list.insert_at(at, &item),
        }
        self.follow(pair.field, place.found.flatten(), pair.expires_at_ms);
        place.found.is_none()
    }

    /// Sets or clears the deadline of a field. Returns true if the field exists.
    pub fn set_expiry(&mut self, field: &[u8], expires_at_ms: Option<Ms>) -> bool {
        let encode = |pair: Pair<'_>| (pair.expires_at_ms, Pair { expires_at_ms, ..pair }.encode());
        let Ok((at, (old, item))) = self.look(self.head(), field, encode) else { return false };
        self.list.set_at(at, &item);
        self.follow(field, old, expires_at_ms);
        true
    }

    /// Removes a field. Returns true if it existed.
    pub fn remove(&mut self, field: &[u8]) -> bool {
        let FieldPlace { at, found: Some(expires_at_ms) } = self.place(field) else { return false };
        self.list.remove_at(at);
        self.follow(field, expires_at_ms, None);
        self.drop_head();
        true
    }

    /// Removes the `count` fields with the earliest deadlines; returns `false` and does nothing if fewer have
    /// deadlines.
    pub fn expire(&mut self, count: u64) -> bool {
        if self.head().dues < count {
            return false;
        }
        for _ in 0..count {
            let (at_ms, order) = self.list.get(1, due_parts).expect("so many are there");
            let at = self.find_due(at_ms, order);
            self.list.remove(at);
            self.list.remove(1);
            self.set_dues(|dues| dues - 1);
        }
        self.drop_head();
        true
    }

    /// Switches to large form, with fields ordered by hash. O(n log n). No effect on a large hash.
    pub fn grow(&mut self) {
        let head = self.head();
        if self.is_empty() || head.form == HashForm::Large {
            return;
        }
        let mut items = Vec::with_capacity(self.len() as usize);
        let (start, len) = (head.start(), self.len());
        let _ = self.list.walk(start, len, Direction::Forward, &mut |item: &[u8]| {
            items.push((order(item).0, item.to_vec()));
            ControlFlow::Continue(())
        });
        items.sort_unstable_by(|(left, left_item), (right, right_item)| {
            (left, pair(left_item).field).cmp(&(right, pair(right_item).field))
        });
        self.list.trim(0, start);
        self.list.set(0, &HashHead { form: HashForm::Large, ..head }.encode());
        items.iter().for_each(|(_, item)| self.list.push(End::Tail, item));
    }

    /// Returns the position of the item of a due.
    fn find_due(&self, at_ms: Ms, due_order: u64) -> u64 {
        let head = self.head();
        let (start, end) = (head.start(), self.list.len());
        let mut at = match head.form {
            HashForm::Large => {
                let is_before = |item: &[u8]| order(item).0 < due_order;
                self.list.guided_point(start..end, by_order(due_order), is_before)
            }
            _ => start,
        };
        let flow = self.list.walk(at, end - at, Direction::Forward, &mut |item: &[u8]| {
            if pair(item).expires_at_ms == Some(at_ms) && order(item).0 == due_order {
                return ControlFlow::Break(());
            }
            at += 1;
            ControlFlow::Continue(())
        });
        assert!(flow.is_break(), "a due has its item");
        at
    }

    /// Updates the dues after a deadline was added, moved or removed.
    fn follow(&mut self, field: &[u8], old: Option<Ms>, new: Option<Ms>) {
        if old == new {
            return;
        }
        let order = hash::order(field);
        if let Some(at_ms) = old {
            let (due, dues) = (due(at_ms, order), self.head().dues());
            let at = self.list.partition_point_within(dues, |other| *other < due[..]);
            self.list.remove(at);
            self.set_dues(|dues| dues - 1);
        }
        if let Some(at_ms) = new {
            let (due, dues) = (due(at_ms, order), self.head().dues());
            let at = self.list.partition_point_within(dues, |other| *other < due[..]);
            self.list.insert(at, &due);
            self.set_dues(|dues| dues + 1);
        }
    }

    fn set_dues(&mut self, change: impl FnOnce(u64) -> u64) {
        let HashHead { form, dues } = self.head();
        let form = if form == HashForm::Small { HashForm::SmallTimed } else { form };
        self.list.set(0, &HashHead { form, dues: change(dues) }.encode());
    }

    /// Removes the head if there are no fields.
    fn drop_head(&mut self) {
        if self.list.len() == 1 {
            self.list = List::new();
        }
    }

    /// Returns the hash in this list; `None` if it is invalid. O(n log n).
    pub(crate) fn of_list(list: List) -> Option<Self> {
        let head = list.get(0, HashHead::decode)??;
        let len = list.len().checked_sub(head.start()).filter(|len| *len > 0)?;
        let mut check = HashCheck { head, ..HashCheck::default() };
        let flow = list.walk(1, head.dues + len, Direction::Forward, &mut |item: &[u8]| match check.item(item) {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        });
        check.expected.sort_unstable();
        (flow.is_continue() && check.dues == check.expected).then_some(Self { list })
    }
}

/// The state of validating a hash.
struct HashCheck {
    head: HashHead,
    /// The dues as stored, and as the items require.
    dues: Vec<(Ms, u64)>,
    expected: Vec<(Ms, u64)>,
    /// In a large hash: the last field.
    last: Option<(u64, Vec<u8>)>,
    /// In a small hash: all fields.
    fields: HashSet<Vec<u8>>,
}

impl Default for HashCheck {
    fn default() -> Self {
        let head = HashHead { form: HashForm::Small, dues: 0 };
        Self { head, dues: Vec::new(), expected: Vec::new(), last: None, fields: HashSet::new() }
    }
}

impl HashCheck {
    /// Checks the next due or item; `None` if it is invalid there.
    fn item(&mut self, item: &[u8]) -> Option<()> {
        if (self.dues.len() as u64) < self.head.dues {
            let due = (item.len() == DUE_BYTES).then(|| due_parts(item))?;
            self.dues.push(due);
            return Some(());
        }
        let pair = checked_pair(item).filter(|pair| pair.field.len() + pair.value.len() <= PAIR_BYTES_MAX)?;
        let order = hash::order(pair.field);
        if let Some(at_ms) = pair.expires_at_ms {
            self.expected.push((at_ms, order));
        }
        if self.head.form != HashForm::Large {
            return self.fields.insert(pair.field.to_vec()).then_some(());
        }
        let is_behind = self.last.as_ref().is_none_or(|(last, field)| (*last, &field[..]) < (order, pair.field));
        self.last = Some((order, pair.field.to_vec()));
        is_behind.then_some(())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Hash({:?}, {} fields, {} bytes)", self.head(), self.len(), self.heap_bytes())
    }
}
