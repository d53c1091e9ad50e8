//! Builds a queue from its untrusted list.

use super::index::{self, NEVER};
use super::record::{QueueHead, Record, Segment, State};
use super::{DEDUP_BYTES_MAX, Queue, QueueParts};
use crate::List;
use blocks::Direction;
use std::ops::ControlFlow;

/// The state of validating a queue.
#[derive(Default)]
struct QueueCheck {
    head: QueueHead,
    nth: u64,
    /// For segments, and for each kind of record: the last id and the one that may follow.
    last: Option<i64>,
    run: u64,
    leased: u64,
    delayed: u64,
    buried: u64,
    dead: u64,
    /// Bytes of all items but the run's messages, and of messages with records.
    beside: u64,
    bytes: u64,
    due: Vec<(u64, i64)>,
    came: Vec<(u64, i64)>,
    dedups: Vec<(u64, i64)>,
}

impl QueueCheck {
    /// Checks the next item after the head; `None` if it is invalid there.
    fn item(&mut self, item: &[u8]) -> Option<()> {
        let (segments, held) = (self.head.segments, self.head.segments + self.head.held);
        if self.nth == segments || self.nth == held {
            self.last = None;
        }
        self.beside = self.beside.checked_add(item.len() as u64)?;
        let ids = self.head.low..self.head.next;
        let (first, last) = if self.nth < segments {
            let segment = Segment::decode(item).filter(|segment| segment.count > 0)?;
            let is_alone = segment.count == 1 || segment.dedup.is_empty();
            self.run = self.run.checked_add(segment.count)?;
            let last = segment.first.checked_add_unsigned(segment.count - 1).filter(|_| is_alone)?;
            self.note_dedup(&segment.dedup, segment.first)?;
            (segment.first, last)
        } else {
            let record = Record::decode(item)?;
            self.bytes = self.bytes.checked_add(record.message.len() as u64)?;
            self.note_dedup(record.dedup, record.id)?;
            self.state(&record, self.nth < held)?;
            (record.id, record.id)
        };
        let rises = self.last.is_none_or(|before| before < first);
        self.last = Some(last);
        self.nth += 1;
        (rises && ids.contains(&first) && ids.contains(&last)).then_some(())
    }

    fn note_dedup(&mut self, dedup: &[u8], id: i64) -> Option<()> {
        if !dedup.is_empty() {
            self.dedups.push((index::hash(dedup), id));
        }
        (dedup.len() <= DEDUP_BYTES_MAX).then_some(())
    }

    fn state(&mut self, record: &Record<'_>, is_held: bool) -> Option<()> {
        let is_time = (1..NEVER).contains(&record.due_ms);
        let (count, number) = match record.state {
            State::Ready => {
                self.came.push((record.came_ms, record.id));
                return (!is_held && record.due_ms == 0).then_some(());
            }
            State::Leased => (&mut self.leased, Some(record.due_ms).filter(|_| is_time)?),
            State::Delayed => (&mut self.delayed, Some(record.due_ms).filter(|_| is_time)?),
            State::Buried => (&mut self.buried, Some(NEVER).filter(|_| record.due_ms == 0)?),
            State::Dead => (&mut self.dead, Some(0).filter(|_| record.due_ms == 0)?),
        };
        *count += 1;
        self.due.push((number, record.id));
        is_held.then_some(())
    }

    /// Returns true if the head agrees with what was found.
    fn is_right(&self, list: &List) -> bool {
        let head = &self.head;
        let items = self.nth + 1;
        let run_bytes = list.content_bytes().checked_sub(self.beside);
        list.len().checked_sub(items) == Some(self.run)
            && (head.leased, head.delayed, head.buried, head.dead)
                == (self.leased, self.delayed, self.buried, self.dead)
            && run_bytes.and_then(|bytes| bytes.checked_add(self.bytes)) == Some(head.bytes)
    }
}

impl Queue {
    /// Returns the queue stored in this list; `None` if it is invalid. O(records log n).
    pub(crate) fn of_list(list: List) -> Option<Self> {
        let (head, head_bytes) =
            list.get(0, |item| QueueHead::decode(item).map(|head| (head, item.len() as u64)))??;
        let beside = head.segments.checked_add(head.held)?.checked_add(head.returned)?;
        if beside >= list.len() || head.low > 1 || head.next < 1 {
            return None;
        }
        let mut check = QueueCheck { head, beside: head_bytes, ..QueueCheck::default() };
        let flow = list.walk(1, beside, Direction::Forward, &mut |item: &[u8]| match check.item(item) {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        });
        if flow.is_break() || !check.is_right(&list) {
            return None;
        }
        let QueueCheck { head, due, came, dedups, .. } = check;
        let [due, came, dedups] = [due, came, dedups].map(index::build);
        let queue = Self { parts: Some(Box::new(QueueParts { head, list, due, came, dedups })) };
        (!queue.is_empty()).then_some(queue)
    }
}
