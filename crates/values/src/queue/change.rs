//! Changes to a queue. Each is applied whole or fails without any effect.

use super::index::{self, NEVER};
use super::record::{QueueHead, QueueLimits, Record, Segment, State};
use super::{DEDUP_BYTES_MAX, MESSAGE_BYTES_MAX, Queue, QueueParts, SEGMENT_MS, SOUND};
use crate::List;
use base::Ms;
use blocks::{Direction, End};
use std::ops::{ControlFlow, Range};

/// The change does not fit the queue's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit;

type Fit = Result<(), Misfit>;

fn fit_if(fits: bool) -> Fit {
    if fits { Ok(()) } else { Err(Misfit) }
}

/// Returns the due index's number for a state and its due time.
fn due_number(state: State, due_ms: Ms) -> u64 {
    match state {
        State::Leased | State::Delayed => due_ms,
        State::Buried => NEVER,
        State::Ready | State::Dead => 0,
    }
}

fn is_time(due_ms: Ms) -> bool {
    (1..NEVER).contains(&due_ms)
}

impl Queue {
    fn parts_at(&mut self, at_ms: Ms) -> &mut QueueParts {
        if self.parts.is_none() {
            *self = Self::of_plain(List::new(), at_ms);
        }
        self.parts.as_mut().expect("just made")
    }

    /// Pushes messages one by one to an end, with this arrival time. O(messages), at the left end times log n.
    ///
    /// # Errors
    /// If ids run out, or a message is too long.
    pub fn push<'a>(&mut self, end: End, at_ms: Ms, messages: impl Iterator<Item = &'a [u8]> + Clone) -> Fit {
        let (mut count, mut bytes) = (0u64, 0u64);
        for message in messages.clone() {
            fit_if(message.len() <= MESSAGE_BYTES_MAX)?;
            (count, bytes) = (count + 1, bytes + message.len() as u64);
        }
        let head = self.parts.as_ref().map_or_else(|| QueueHead::new(at_ms), |parts| parts.head.clone());
        let next = head.next.checked_add_unsigned(count).ok_or(Misfit)?;
        head.low.checked_sub_unsigned(count).ok_or(Misfit)?;
        let (bytes, pushed) = (head.bytes.checked_add(bytes).ok_or(Misfit)?, head.pushed.saturating_add(count));
        if count == 0 {
            return Ok(());
        }
        let parts = self.parts_at(at_ms);
        (parts.head.bytes, parts.head.pushed) = (bytes, pushed);
        match end {
            End::Tail => {
                messages.for_each(|message| parts.list.push(End::Tail, message));
                parts.add_to_run(at_ms, count, b"");
                parts.head.next = next;
            }
            End::Head => messages.for_each(|message| parts.push_left(at_ms, message)),
        }
        parts.put_head();
        Ok(())
    }

    /// Pushes one message to the right end: delayed until `due_ms`, if not 0, and with a dedup id, if not empty. O(log
    /// n).
    ///
    /// # Errors
    /// If ids run out, or something is too long.
    pub fn push_one(&mut self, at_ms: Ms, due_ms: Ms, dedup: &[u8], message: &[u8]) -> Fit {
        fit_if(message.len() <= MESSAGE_BYTES_MAX && dedup.len() <= DEDUP_BYTES_MAX && due_ms < NEVER)?;
        let head = self.parts.as_ref().map_or_else(|| QueueHead::new(at_ms), |parts| parts.head.clone());
        let id = head.next;
        let next = id.checked_add(1).ok_or(Misfit)?;
        let bytes = head.bytes.checked_add(message.len() as u64).ok_or(Misfit)?;
        let parts = self.parts_at(at_ms);
        if due_ms > 0 {
            parts.hold(Record { id, state: State::Delayed, due_ms, deliveries: 0, came_ms: at_ms, dedup, message });
        } else {
            parts.list.push(End::Tail, message);
            parts.add_to_run(at_ms, 1, dedup);
        }
        if !dedup.is_empty() {
            index::add(&mut parts.dedups, index::hash(dedup), id);
        }
        (parts.head.next, parts.head.bytes) = (next, bytes);
        parts.head.pushed = parts.head.pushed.saturating_add(1);
        parts.put_head();
        Ok(())
    }

    /// Leases the first `count` ready messages until `due_ms`. O(count log n).
    ///
    /// # Errors
    /// If there are fewer.
    pub fn reserve(&mut self, count: u64, due_ms: Ms) -> Fit {
        fit_if(count > 0 && count <= self.ready_len() && is_time(due_ms))?;
        let parts = self.parts.as_mut().ok_or(Misfit)?;
        for _ in 0..count {
            parts.lease_first(due_ms);
        }
        parts.put_head();
        Ok(())
    }

    /// Removes `count` ready messages from an end. O(log n + records and segments removed).
    ///
    /// # Errors
    /// If there are fewer.
    pub fn pop(&mut self, end: End, count: u64) -> Fit {
        fit_if(count > 0 && count <= self.ready_len())?;
        let parts = self.parts.as_mut().ok_or(Misfit)?;
        let (returned, run) = (parts.head.returned, parts.run());
        let run_len = run.end - run.start;
        match end {
            End::Head => {
                let records = count.min(returned);
                parts.cut_returned(0..records);
                parts.cut_run(End::Head, count - records);
            }
            End::Tail => {
                let messages = count.min(run_len);
                parts.cut_run(End::Tail, messages);
                parts.cut_returned(returned - (count - messages)..returned);
            }
        }
        parts.put_head();
        Ok(())
    }

    /// Removes held messages for good, and counts them as acknowledged or not. The ids must ascend. O(ids log n).
    ///
    /// # Errors
    /// If one is not held.
    pub fn remove(&mut self, ids: &[i64], are_acked: bool) -> Fit {
        let parts = self.parts_of(ids)?;
        for id in ids {
            parts.drop_held(*id);
        }
        if are_acked {
            parts.head.acked = parts.head.acked.saturating_add(ids.len() as u64);
        }
        parts.put_head();
        Ok(())
    }

    /// Makes held messages ready again. The ids must ascend. O(ids log n).
    ///
    /// # Errors
    /// If one is not held.
    pub fn release(&mut self, ids: &[i64]) -> Fit {
        let parts = self.parts_of(ids)?;
        for id in ids {
            let item = parts.take_held(*id);
            let record = Record { state: State::Ready, due_ms: 0, ..Record::decode(&item).expect(SOUND) };
            parts.give_back(record);
        }
        parts.put_head();
        Ok(())
    }

    /// Sets the state of held messages, until `due_ms` if it ends by itself. The ids must ascend. O(ids log n).
    ///
    /// # Errors
    /// If one is not held, or the state is not one of held messages.
    pub fn set_state(&mut self, ids: &[i64], state: State, due_ms: Ms) -> Fit {
        fit_if(state != State::Ready && (if state.is_timed() { is_time(due_ms) } else { due_ms == 0 }))?;
        let parts = self.parts_of(ids)?;
        for id in ids {
            let at = parts.find_in(&parts.held(), *id).expect("just seen");
            let item = parts.list.get(at, <[u8]>::to_vec).expect("just found");
            let old = Record::decode(&item).expect(SOUND);
            parts.uncount(&old);
            let new = Record { state, due_ms, ..old };
            parts.count(&new);
            parts.list.set(at, &new.encode());
        }
        parts.put_head();
        Ok(())
    }

    /// Removes ready messages: returned ones by ascending ids, and the first `count` of the run. O((ids + segments) log
    /// n).
    ///
    /// # Errors
    /// If one does not exist.
    pub fn expire(&mut self, ids: &[i64], count: u64) -> Fit {
        let parts = self.parts.as_mut().ok_or(Misfit)?;
        let (run, returned) = (parts.run(), parts.returned());
        fit_if(ids.is_sorted_by(|a, b| a < b) && count <= run.end - run.start && ids.len() as u64 + count > 0)?;
        fit_if(ids.iter().all(|id| parts.find_in(&returned, *id).is_some()))?;
        for id in ids {
            let returned = parts.returned();
            let nth = parts.find_in(&returned, *id).expect("just seen") - returned.start;
            parts.cut_returned(nth..nth + 1);
        }
        parts.cut_run(End::Head, count);
        parts.put_head();
        Ok(())
    }

    /// Sets limits.
    pub fn limit(&mut self, at_ms: Ms, limits: QueueLimits) {
        let parts = self.parts_at(at_ms);
        parts.head.limits = limits;
        parts.put_head();
    }

    /// Sets the offset of client-visible ids.
    ///
    /// # Errors
    /// If the queue has neither messages nor limits.
    pub fn set_base(&mut self, base: u64) -> Fit {
        let parts = self.parts.as_mut().ok_or(Misfit)?;
        parts.head.base = base;
        parts.put_head();
        Ok(())
    }

    /// Returns the ready messages as a list. O(log n + returned messages).
    ///
    /// # Errors
    /// If messages are held, which would be lost.
    pub fn to_plain(&self) -> Result<List, Misfit> {
        fit_if(self.held_len() == 0)?;
        Ok(self.ready_list())
    }

    /// Returns the ready messages as a list. O(log n + returned messages).
    pub fn ready_list(&self) -> List {
        let Some(parts) = &self.parts else { return List::new() };
        let (run, records) = (parts.run(), parts.returned());
        let mut list = parts.list.clone();
        list.trim(run.start, run.end - run.start);
        let _ = parts.list.walk(records.start, parts.head.returned, Direction::Backward, &mut |item: &[u8]| {
            list.push(End::Head, Record::decode(item).expect(SOUND).message);
            ControlFlow::Continue(())
        });
        list
    }

    /// Returns the queue's parts if these ids ascend, are not empty, and are all held.
    fn parts_of(&mut self, ids: &[i64]) -> Result<&mut QueueParts, Misfit> {
        let parts = self.parts.as_mut().ok_or(Misfit)?;
        let held = parts.held();
        fit_if(!ids.is_empty() && ids.is_sorted_by(|a, b| a < b))?;
        fit_if(ids.iter().all(|id| parts.find_in(&held, *id).is_some()))?;
        Ok(parts)
    }
}

impl QueueParts {
    fn put_head(&mut self) {
        let head = self.head.encode();
        self.list.set(0, &head);
    }

    /// Assigns the next ids to `count` messages at the run's end.
    fn add_to_run(&mut self, at_ms: Ms, count: u64, dedup: &[u8]) {
        let last = self.head.segments.checked_sub(1).and_then(|nth| self.segment(nth));
        let joins = |last: &Segment| {
            let is_next = last.first.saturating_add_unsigned(last.count) == self.head.next;
            let is_plain = last.dedup.is_empty() && dedup.is_empty();
            is_next && is_plain && at_ms.saturating_sub(last.came_ms) < SEGMENT_MS
        };
        if let Some(last) = last.filter(joins) {
            let segment = Segment { count: last.count + count, ..last };
            self.list.set(self.head.segments, &segment.encode());
        } else {
            let segment = Segment { first: self.head.next, count, came_ms: at_ms, dedup: dedup.to_vec() };
            self.list.insert(1 + self.head.segments, &segment.encode());
            self.head.segments += 1;
        }
    }

    fn push_left(&mut self, at_ms: Ms, message: &[u8]) {
        self.head.low -= 1;
        let id = self.head.low;
        self.give_back(Record {
            id,
            state: State::Ready,
            due_ms: 0,
            deliveries: 0,
            came_ms: at_ms,
            dedup: b"",
            message,
        });
    }

    /// Inserts a record among the returned ones.
    fn give_back(&mut self, record: Record<'_>) {
        let at = self.point(&self.returned(), record.id);
        self.list.insert(at, &record.encode());
        self.head.returned += 1;
        index::add(&mut self.came, record.came_ms, record.id);
    }

    /// Inserts a record among the held ones.
    fn hold(&mut self, record: Record<'_>) {
        let at = self.point(&self.held(), record.id);
        self.list.insert(at, &record.encode());
        self.head.held += 1;
        self.count(&record);
    }

    fn count(&mut self, record: &Record<'_>) {
        *self.head.count_mut(record.state).expect("it is held") += 1;
        index::add(&mut self.due, due_number(record.state, record.due_ms), record.id);
    }

    fn uncount(&mut self, record: &Record<'_>) {
        *self.head.count_mut(record.state).expect("it is held") -= 1;
        index::remove(&mut self.due, due_number(record.state, record.due_ms), record.id);
    }

    fn lease_first(&mut self, due_ms: Ms) {
        let at = self.returned().start;
        let item = self.list.get(at, <[u8]>::to_vec).expect("something is ready");
        let segment;
        let record = if self.head.returned > 0 {
            let record = Record::decode(&item).expect(SOUND);
            self.list.remove(at);
            self.head.returned -= 1;
            index::remove(&mut self.came, record.came_ms, record.id);
            record
        } else {
            segment = self.segment(0).expect(SOUND);
            self.list.remove(at);
            self.shorten(0, &segment, End::Head, 1);
            segment.record(segment.first, &item)
        };
        self.hold(Record { state: State::Leased, due_ms, deliveries: record.deliveries.saturating_add(1), ..record });
    }

    /// Removes a held record and returns it.
    fn take_held(&mut self, id: i64) -> Vec<u8> {
        let at = self.find_in(&self.held(), id).expect("asked before");
        let item = self.list.get(at, <[u8]>::to_vec).expect("just found");
        self.list.remove(at);
        self.head.held -= 1;
        self.uncount(&Record::decode(&item).expect(SOUND));
        item
    }

    fn drop_held(&mut self, id: i64) {
        let item = self.take_held(id);
        self.forget(&Record::decode(&item).expect(SOUND));
    }

    /// Updates counters and indices after a message is gone.
    fn forget(&mut self, record: &Record<'_>) {
        self.head.bytes -= record.message.len() as u64;
        self.forget_dedup(record.dedup, record.id);
    }

    fn forget_dedup(&mut self, dedup: &[u8], id: i64) {
        if !dedup.is_empty() {
            index::remove(&mut self.dedups, index::hash(dedup), id);
        }
    }

    /// Removes returned records, by positions among these.
    fn cut_returned(&mut self, range: Range<u64>) {
        let (start, count) = (self.returned().start + range.start, range.end - range.start);
        let cut = self.cut(start, count);
        self.head.returned -= count;
        let _ = cut.walk(0, count, Direction::Forward, &mut |item: &[u8]| {
            let record = Record::decode(item).expect(SOUND);
            index::remove(&mut self.came, record.came_ms, record.id);
            self.forget(&record);
            ControlFlow::Continue(())
        });
    }

    /// Removes messages at an end of the run.
    fn cut_run(&mut self, end: End, count: u64) {
        if count == 0 {
            return;
        }
        let run = self.run();
        let cut = self.cut(if end == End::Head { run.start } else { run.end - count }, count);
        self.head.bytes -= cut.content_bytes();
        let mut left = count;
        while left > 0 {
            let nth = if end == End::Head { 0 } else { self.head.segments - 1 };
            let segment = self.segment(nth).expect(SOUND);
            let taken = segment.count.min(left);
            self.shorten(nth, &segment, end, taken);
            // A segment with a dedup id is a single message.
            self.forget_dedup(&segment.dedup, segment.first);
            left -= taken;
        }
    }

    /// Removes ids from an end of the given segment, and the segment itself once it is empty.
    fn shorten(&mut self, nth: u64, segment: &Segment, end: End, count: u64) {
        if segment.count == count {
            self.list.remove(1 + nth);
            self.head.segments -= 1;
            return;
        }
        let first = if end == End::Head { segment.first.saturating_add_unsigned(count) } else { segment.first };
        let (count, dedup) = (segment.count - count, segment.dedup.clone());
        self.list.set(1 + nth, &Segment { first, count, came_ms: segment.came_ms, dedup }.encode());
    }

    /// Removes items from the list and returns them. O(log n).
    fn cut(&mut self, start: u64, count: u64) -> List {
        if count == 0 {
            return List::new();
        }
        let mut cut = self.list.split_off(start);
        let rest = cut.split_off(count);
        self.list.append(rest);
        cut
    }
}
