//! The queue: a list whose messages can be leased, delayed, buried and deduplicated, all in one block list.
//!
//! ```text
//! list       | head | segment ... | held ... | returned ... | message | message | message | ...
//!                     of the run    by id      by id          the run: bytes alone, as in a list
//!
//!            push >----------------------------------------------------------> run
//!            push DELAY >---------> held: delayed ----. time, kick
//!                       reserve     held: leased  ----+---> returned            ready: returned, then the run
//!       ack, gone <---------------- held: leased      |
//!                       bury ------> held: buried ----'
//!
//! indices    due    due time and id: 0 if dead, the end of a lease or delay, never if buried
//!            came   arrival time and id of each returned message
//!            dedups hash of the dedup id, and id
//! ```
//!
//! A list becomes a queue in place: a head and one segment are inserted before its items. So a message not yet taken
//! costs only its bytes: its id and arrival time follow from its segment, whose count a push increments. Returned
//! messages go before the run, ordered by id, as do messages that list commands push at the left end. Segments change
//! only at the run's ends. The indices are rebuilt on load.
//!
//! Time changes nothing by itself: a lease ends only by a recorded change.

mod build;
mod change;
mod index;
mod record;

pub use change::Misfit;
pub use record::{QueueLimits, Record, State, unzigzag, zigzag};

use crate::{List, list};
use base::Ms;
use blocks::{Direction, ITEM_BYTES_MAX, Visit};
use record::{QueueHead, Segment, id_of};
use std::fmt;
use std::ops::{ControlFlow, Range};

/// Messages that arrive within this many milliseconds share a segment.
const SEGMENT_MS: Ms = 100;
/// The maximum length of a dedup id, in bytes.
pub const DEDUP_BYTES_MAX: usize = 1024;
/// The maximum length of a message, whatever its metadata, in bytes.
pub const MESSAGE_BYTES_MAX: usize = ITEM_BYTES_MAX - 4096;

const SOUND: &str = "what lies there was made by `encode` or checked";

/// A queue; eight bytes, cloned in O(1). Without messages and limits it does not exist.
#[derive(Clone, Default)]
pub struct Queue {
    parts: Option<Box<QueueParts>>,
}

#[derive(Clone)]
struct QueueParts {
    head: QueueHead,
    list: List,
    due: List,
    came: List,
    dedups: List,
}

/// The figures of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFigures {
    /// Ready messages.
    pub ready: u64,
    /// Leased messages.
    pub leased: u64,
    /// Messages that become ready later.
    pub delayed: u64,
    /// Messages that wait to be kicked.
    pub buried: u64,
    /// Messages with too many deliveries, about to be removed.
    pub dead: u64,
    /// The bytes of all messages.
    pub bytes: u64,
    /// The number of messages ever pushed.
    pub pushed: u64,
    /// The number of acknowledged messages.
    pub acked: u64,
    /// The arrival time of the oldest ready message.
    pub oldest_ms: Option<Ms>,
}

/// A limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The maximum number of messages.
    Len(u64),
    /// The maximum bytes of messages.
    Bytes(u64),
}

/// The position of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In this segment.
    Run(u64),
    /// The record at this position.
    Record(u64),
}

impl Queue {
    /// Converts a list to a queue. O(log n).
    pub fn of_plain(mut list: List, at_ms: Ms) -> Self {
        let count = list.len();
        let mut head = QueueHead::new(at_ms);
        (head.bytes, head.pushed, head.next) = (list.content_bytes(), count, 1i64.saturating_add_unsigned(count));
        if count > 0 {
            let segment = Segment { first: 1, count, came_ms: at_ms, dedup: Vec::new() };
            head.segments = 1;
            list.push(blocks::End::Head, &segment.encode());
        }
        list.push(blocks::End::Head, &head.encode());
        let [due, came, dedups] = [const { List::new() }; 3];
        Self { parts: Some(Box::new(QueueParts { head, list, due, came, dedups })) }
    }

    /// Returns true if it has neither messages nor limits. O(1).
    pub fn is_empty(&self) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.len() == 0 && parts.head.limits == QueueLimits::default())
    }

    /// Returns the number of messages in any state. O(1).
    pub fn len(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.len())
    }

    /// Returns the number of ready messages. O(1).
    pub fn ready_len(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.ready_len())
    }

    /// Returns the number of ready messages with records: the first ones, returned or pushed at the left end. O(1).
    pub fn returned_len(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.head.returned)
    }

    /// Returns the number of held messages: leased, delayed, buried or dead. O(1).
    pub fn held_len(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.head.held)
    }

    /// Returns the bytes of all messages. O(1).
    pub fn message_bytes(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.head.bytes)
    }

    /// Returns its figures. O(log n).
    pub fn figures(&self) -> QueueFigures {
        let Some(parts) = &self.parts else { return QueueFigures::default() };
        let head = &parts.head;
        let oldest_ms = index::first(&parts.came).map(|(came_ms, _)| came_ms).into_iter();
        QueueFigures {
            ready: parts.ready_len(),
            leased: head.leased,
            delayed: head.delayed,
            buried: head.buried,
            dead: head.dead,
            bytes: head.bytes,
            pushed: head.pushed,
            acked: head.acked,
            oldest_ms: oldest_ms.chain(parts.segment(0).map(|segment| segment.came_ms)).min(),
        }
    }

    /// Returns its limits.
    pub fn limits(&self) -> QueueLimits {
        self.parts.as_ref().map_or_else(QueueLimits::default, |parts| parts.head.limits.clone())
    }

    /// Checks whether `count` more messages of `bytes` bytes in total are within its limits.
    ///
    /// # Errors
    /// The limit that would be exceeded.
    pub fn takes(&self, count: u64, bytes: u64) -> Result<(), Full> {
        let Some(parts) = &self.parts else { return Ok(()) };
        let QueueLimits { len_max, bytes_max, .. } = parts.head.limits;
        if len_max > 0 && parts.len().saturating_add(count) > len_max {
            return Err(Full::Len(len_max));
        }
        if bytes_max > 0 && parts.head.bytes.saturating_add(bytes) > bytes_max {
            return Err(Full::Bytes(bytes_max));
        }
        Ok(())
    }

    /// Returns the offset between internal and client-visible ids.
    pub fn base(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.head.base)
    }

    /// Returns the client-visible id.
    pub fn public_id(&self, id: i64) -> u64 {
        self.base().wrapping_add_signed(id)
    }

    /// Returns the internal id of a client-visible one.
    pub fn internal_id(&self, public: u64) -> i64 {
        public.wrapping_sub(self.base()) as i64
    }

    /// Returns the client-visible id of the next message at the right end.
    pub fn next_public_id(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| self.public_id(parts.head.next))
    }

    /// Returns true if it has a message with this dedup id. O(log n).
    pub fn has_dedup(&self, dedup: &[u8]) -> bool {
        let Some(parts) = &self.parts else { return false };
        let hash = index::hash(dedup);
        let range = index::below(&parts.dedups, hash)..parts.dedups.len();
        let (mut at, mut is_there) = (range.start, false);
        while let Some((number, id)) = index::get(&parts.dedups, at)
            && number == hash
            && !is_there
        {
            is_there = parts.dedup_is(id, dedup);
            at += 1;
        }
        is_there
    }

    /// Applies `visit` to a held message. O(log n).
    pub fn held<R>(&self, id: i64, visit: impl FnOnce(Record<'_>) -> R) -> Option<R> {
        let parts = self.parts.as_ref()?;
        let at = parts.find_in(&parts.held(), id)?;
        parts.list.get(at, |item| visit(Record::decode(item).expect(SOUND)))
    }

    /// Returns the earliest due time of the queue. O(log n).
    pub fn next_due(&self) -> Option<Ms> {
        let parts = self.parts.as_ref()?;
        let due = index::first(&parts.due).map(|(due_ms, _)| due_ms).filter(|due_ms| *due_ms != index::NEVER);
        let old = parts.oldest_end_ms();
        due.into_iter().chain(old).min()
    }

    /// Returns when the next lease or delay ends. O(log n).
    pub fn next_return(&self) -> Option<Ms> {
        let parts = self.parts.as_ref()?;
        index::get(&parts.due, parts.head.dead).map(|(due_ms, _)| due_ms).filter(|due_ms| *due_ms != index::NEVER)
    }

    /// Returns the first messages whose lease or delay has ended, at most `most`. O(log n + most).
    pub fn due_ids(&self, now: Ms, most: u64) -> Vec<i64> {
        let Some(parts) = &self.parts else { return Vec::new() };
        let start = parts.head.dead;
        let end = index::below(&parts.due, now.saturating_add(1)).max(start);
        index::ids(&parts.due, start..end.min(start + most))
    }

    /// Returns the first dead messages.
    pub fn dead_ids(&self, most: u64) -> Vec<i64> {
        let Some(parts) = &self.parts else { return Vec::new() };
        index::ids(&parts.due, 0..parts.head.dead.min(most))
    }

    /// Returns the first buried messages.
    pub fn buried_ids(&self, most: u64) -> Vec<i64> {
        let Some(parts) = &self.parts else { return Vec::new() };
        let start = parts.due.len() - parts.head.buried;
        index::ids(&parts.due, start..start + parts.head.buried.min(most))
    }

    /// Returns the ready messages that are too old: ids of returned ones, at most `most`, and how many of the run's
    /// first messages, from at most as many segments. O(log n + most).
    pub fn too_old(&self, now: Ms, most: u64) -> (Vec<i64>, u64) {
        let Some(parts) = self.parts.as_ref().filter(|parts| parts.head.limits.ttl_ms > 0) else {
            return (Vec::new(), 0);
        };
        let Some(latest) = now.checked_sub(parts.head.limits.ttl_ms) else { return (Vec::new(), 0) };
        let end = index::below(&parts.came, latest.saturating_add(1));
        let ids = index::ids(&parts.came, 0..end.min(most));
        let mut count = 0;
        for at in 0..parts.head.segments.min(most) {
            match parts.segment(at) {
                Some(segment) if segment.came_ms.saturating_add(SEGMENT_MS) <= latest => count += segment.count,
                _ => break,
            }
        }
        (ids, count)
    }

    /// Visits `count` ready messages from `start` on: forward from there, backward from the last of them.
    pub fn walk_ready(&self, start: u64, count: u64, direction: Direction, visit: &mut impl Visit) -> ControlFlow<()> {
        let Some(parts) = &self.parts else { return ControlFlow::Continue(()) };
        let (end, returned) = (start + count, parts.head.returned);
        assert!(end <= parts.ready_len());
        let first = parts.returned().start;
        let (records, run) = (start.min(returned)..end.min(returned), start.max(returned)..end.max(returned));
        let mut ways = [(records, true), (run, false)];
        if direction == Direction::Backward {
            ways.reverse();
        }
        for (range, is_records) in ways {
            let (at, count) = (first + range.start, range.end - range.start);
            if is_records {
                parts.list.walk(at, count, direction, &mut |item: &[u8]| {
                    visit.item(Record::decode(item).expect(SOUND).message)
                })?;
            } else {
                parts.list.walk(at, count, direction, visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Applies `visit` to the ready message at a position; `None` if there is none. O(log n).
    pub fn ready_at<R>(&self, index: u64, visit: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let parts = self.parts.as_ref().filter(|parts| index < parts.ready_len())?;
        let at = parts.returned().start + index;
        parts.list.get(at, |item| match index < parts.head.returned {
            true => visit(Record::decode(item).expect(SOUND).message),
            false => visit(item),
        })
    }

    /// Visits the first ready messages with their metadata, until `visit` breaks. O(log n) each.
    pub fn walk_records(&self, visit: &mut impl FnMut(Record<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let Some(parts) = &self.parts else { return ControlFlow::Continue(()) };
        let (records, run) = (parts.returned(), parts.run());
        parts.list.walk(records.start, parts.head.returned, Direction::Forward, &mut |item: &[u8]| {
            visit(Record::decode(item).expect(SOUND))
        })?;
        let (mut segments, mut nth) = (0, 0);
        let mut segment = parts.segment(0);
        parts.list.walk(run.start, run.end - run.start, Direction::Forward, &mut |message: &[u8]| {
            let of = segment.as_ref().expect(SOUND);
            let id = of.first.saturating_add_unsigned(nth);
            let flow = visit(of.record(id, message));
            nth += 1;
            if nth == of.count {
                (segments, nth) = (segments + 1, 0);
                segment = parts.segment(segments);
            }
            flow
        })
    }

    /// Visits the held messages in id order, until `visit` breaks.
    pub fn walk_held(&self, visit: &mut impl FnMut(Record<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let Some(parts) = &self.parts else { return ControlFlow::Continue(()) };
        let held = parts.held();
        parts.list.walk(held.start, parts.head.held, Direction::Forward, &mut |item: &[u8]| {
            visit(Record::decode(item).expect(SOUND))
        })
    }

    /// Returns the name that `OBJECT ENCODING` replies in Redis for a list of the ready messages.
    pub fn encoding(&self) -> &'static str {
        list::encoding_of(self.ready_len(), self.message_bytes())
    }

    /// Returns its heap memory in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| {
            let lists = [&parts.list, &parts.due, &parts.came, &parts.dedups];
            size_of::<QueueParts>() as u64 + lists.map(List::heap_bytes).iter().sum::<u64>()
        })
    }

    /// Returns the stored blocks.
    pub fn list(&self) -> &List {
        const NONE: &List = &List::new();
        self.parts.as_ref().map_or(NONE, |parts| &parts.list)
    }

    /// Returns true if the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.list().shares_root_with(other.list())
    }
}

impl Segment {
    /// Returns one of its messages with its metadata.
    fn record<'a>(&'a self, id: i64, message: &'a [u8]) -> Record<'a> {
        let (state, came_ms) = (State::Ready, self.came_ms);
        Record { id, state, due_ms: 0, deliveries: 0, came_ms, dedup: &self.dedup, message }
    }

    fn contains(&self, id: i64) -> bool {
        id >= self.first && id.abs_diff(self.first) < self.count
    }
}

impl QueueParts {
    fn segments(&self) -> Range<u64> {
        1..1 + self.head.segments
    }

    fn held(&self) -> Range<u64> {
        let start = self.segments().end;
        start..start + self.head.held
    }

    fn returned(&self) -> Range<u64> {
        let start = self.held().end;
        start..start + self.head.returned
    }

    fn run(&self) -> Range<u64> {
        self.returned().end..self.list.len()
    }

    fn ready_len(&self) -> u64 {
        self.list.len() - self.held().end
    }

    fn len(&self) -> u64 {
        self.list.len() - self.segments().end
    }

    fn segment(&self, nth: u64) -> Option<Segment> {
        if nth >= self.head.segments {
            return None;
        }
        self.list.get(1 + nth, |item| Segment::decode(item).expect(SOUND))
    }

    /// Returns when the oldest ready message becomes too old.
    fn oldest_end_ms(&self) -> Option<Ms> {
        let ttl_ms = Some(self.head.limits.ttl_ms).filter(|ttl_ms| *ttl_ms > 0)?;
        let returned = index::first(&self.came).map(|(came_ms, _)| came_ms);
        let run = self.segment(0).map(|segment| segment.came_ms.saturating_add(SEGMENT_MS));
        returned.into_iter().chain(run).min().map(|came_ms| came_ms.saturating_add(ttl_ms))
    }

    /// Returns the position of an id's record within this range, or its insertion point.
    fn point(&self, range: &Range<u64>, id: i64) -> u64 {
        let is_behind = |mut item: &[u8]| id_of(&mut item).expect(SOUND) < id;
        // Usually it is after all others.
        if range.is_empty() || self.list.get(range.end - 1, is_behind) == Some(true) {
            return range.end;
        }
        self.list.partition_point_within(range.clone(), |mut item| id_of(&mut item).expect(SOUND) < id)
    }

    fn find_in(&self, range: &Range<u64>, id: i64) -> Option<u64> {
        let at = self.point(range, id);
        let is_it = |mut item: &[u8]| id_of(&mut item) == Some(id);
        (at < range.end && self.list.get(at, is_it) == Some(true)).then_some(at)
    }

    fn find(&self, id: i64) -> Option<Place> {
        let record = [self.held(), self.returned()].into_iter().find_map(|range| self.find_in(&range, id));
        let segment = || {
            let segments = self.segments();
            let behind = |mut item: &[u8]| id_of(&mut item).expect(SOUND) <= id;
            let nth = (self.list.partition_point_within(segments, behind) - 1).checked_sub(1)?;
            self.segment(nth).filter(|segment| segment.contains(id)).map(|_| nth)
        };
        record.map(Place::Record).or_else(|| segment().map(Place::Run))
    }

    fn dedup_is(&self, id: i64, dedup: &[u8]) -> bool {
        match self.find(id) {
            Some(Place::Run(nth)) => self.segment(nth).is_some_and(|segment| segment.dedup == dedup),
            Some(Place::Record(at)) => {
                self.list.get(at, |item| Record::decode(item).expect(SOUND).dedup == dedup) == Some(true)
            }
            None => false,
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Queue({:?}, {} bytes)", self.figures(), self.heap_bytes())
    }
}
