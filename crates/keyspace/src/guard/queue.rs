//! The guard of a queue. A list becomes a queue with the first change.

use crate::effect::{Effect, Items, MessageIds, QueueChange};
use crate::notes::Classes;
use crate::section::{Entry, list_of, queue_of};
use crate::tx::{Abandon, Before, Tx};
use base::{Ms, varint};
use blocks::End;
use values::Queue;
use values::queue::{QueueLimits, Record, State};

/// Maximum bytes of a record, excluding key, ids and messages.
const FIELDS_BYTES_MAX: u64 = 32;
/// Distance of a new queue's ids above all reported ones: room for messages pushed at its left end.
const IDS_APART: u64 = 1024;
/// Due messages that a writer processes along the way.
const DUE_AT_ONCE: u64 = 64;

/// A mutable queue under a key. The key is created with the first message and removed when the queue is empty.
pub struct QueueMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
    event: Option<&'static str>,
}

/// Due messages of a queue, and what happens to them.
#[derive(Debug, Default)]
pub(crate) struct Fallen {
    /// Leases and delays have ended: these become ready.
    ready: Vec<i64>,
    /// Likewise, but tried too often.
    dead: Vec<i64>,
    /// Too old: ids among the returned ones, and the number in the run.
    old: Vec<i64>,
    old_of_run: u64,
}

impl Fallen {
    /// Returns the due messages of `queue`, at most about `most` of each sort.
    pub(crate) fn of(queue: &Queue, now: Ms, most: u64) -> Self {
        let mut fallen = Self::default();
        if queue.next_due().is_none_or(|due_ms| due_ms > now) {
            return fallen;
        }
        for id in queue.due_ids(now, most) {
            let is_dead = queue.held(id, |record| is_spent(queue, &record)).expect("just seen");
            if is_dead { fallen.dead.push(id) } else { fallen.ready.push(id) }
        }
        fallen.ready.sort_unstable();
        fallen.dead.sort_unstable();
        (fallen.old, fallen.old_of_run) = queue.too_old(now, most);
        fallen.old.sort_unstable();
        fallen
    }

    pub(crate) fn ids(&self) -> u64 {
        (self.ready.len() + self.dead.len() + self.old.len()) as u64
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.ids() == 0 && self.old_of_run == 0
    }

    /// Returns an upper bound of its records' bytes.
    pub(crate) fn bytes_max(&self, key_bytes: usize) -> u64 {
        self.ids() * varint::BYTES_MAX as u64 + 5 * (key_bytes as u64 + FIELDS_BYTES_MAX)
    }

    /// Returns the changes, in order.
    pub(crate) fn changes(&self) -> impl Iterator<Item = QueueChange<'_>> {
        let old = QueueChange::Expire { count: self.old_of_run, ids: MessageIds::Slice(&self.old) };
        let ready = QueueChange::Release { ids: MessageIds::Slice(&self.ready) };
        let dead = QueueChange::SetState { state: State::Dead, due_ms: 0, ids: MessageIds::Slice(&self.dead) };
        let all = [
            (self.old_of_run > 0 || !self.old.is_empty(), old),
            (!self.ready.is_empty(), ready),
            (!self.dead.is_empty(), dead),
        ];
        all.into_iter().filter_map(|(is_any, change)| is_any.then_some(change))
    }
}

/// Returns true if a message must not be delivered again.
fn is_spent(queue: &Queue, record: &Record<'_>) -> bool {
    record.state == State::Leased && queue.limits().retries.is_some_and(|retries| record.deliveries > retries)
}

/// The time at which [`QueueMut::release`] makes the messages ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Makes them ready.
    Now,
    /// Makes them ready at that time.
    At(Ms),
}

impl<'t, 'k> QueueMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown }, event: None }
    }

    /// Sets the event name of its changes in notifications.
    #[must_use]
    pub fn with_event(self, event: &'static str) -> Self {
        Self { event: Some(event), ..self }
    }

    /// Runs `look` on the current queue, or on what the list will become; on an empty queue if the key is absent.
    pub fn look<R>(&mut self, look: impl FnOnce(&Queue) -> R) -> R {
        let now = self.tx.now();
        match self.tx.raw_entry(self.key).filter(|_| self.before == Before::Settled) {
            Some(entry) => look_at(entry, now, look),
            None => look(&Queue::default()),
        }
    }

    /// Makes due messages ready, a few dozen at a time, and drops those too old. Require the room given by
    /// [`QueueMut::settling`] first.
    pub fn settle(&mut self) {
        let now = self.tx.now();
        let fallen = self.look(|queue| Fallen::of(queue, now, DUE_AT_ONCE));
        let event = self.event.take();
        fallen.changes().for_each(|change| self.change(change));
        self.event = event;
    }

    /// Returns whether there is something to settle, and an upper bound of the journal bytes of [`QueueMut::settle`]
    /// and [`QueueMut::reserve`].
    pub fn settling(&mut self) -> (bool, u64) {
        let now = self.tx.now();
        let fallen = self.look(|queue| Fallen::of(queue, now, DUE_AT_ONCE));
        let settling_bytes = if fallen.is_nothing() { 0 } else { fallen.bytes_max(self.key.len()) };
        (!fallen.is_nothing(), settling_bytes + 3 * (self.key.len() as u64 + FIELDS_BYTES_MAX))
    }

    /// Returns the bytes of [`QueueMut::settling`].
    pub fn settling_bytes(&mut self) -> u64 {
        self.settling().1
    }

    /// Turns a list into a queue, so that the ids reported of it stay valid. [`QueueMut::settling`] includes that.
    pub fn begin(&mut self) {
        if self.is_plain() {
            let at_ms = self.tx.now();
            self.tx.change(self.key, &Effect::Queue(QueueChange::Turn { at_ms }), Before::Settled);
            self.choose_ids();
        }
    }

    fn is_plain(&mut self) -> bool {
        self.before == Before::Settled && self.tx.raw_entry(self.key).is_some_and(|entry| list_of(entry).is_some())
    }

    /// Requires room for a change of `bytes` that may create a queue, which is more than a command's estimate.
    ///
    /// # Errors
    /// If that is more than is claimed.
    pub fn expect_coming(&mut self, bytes: u64) -> Result<(), Abandon> {
        if self.before == Before::Unknown || self.is_plain() { self.need_room(bytes, 4) } else { Ok(()) }
    }

    /// See [`Tx::expect_work`].
    ///
    /// # Errors
    /// If there is so much that the command must first run speculatively.
    pub fn expect_work(&self, elements: u64) -> Result<(), Abandon> {
        self.tx.expect_work(elements)
    }

    /// Pushes messages at an end, one by one.
    pub fn push(&mut self, end: End, messages: &[&[u8]]) {
        if !messages.is_empty() {
            let at_ms = self.tx.now();
            self.change(QueueChange::Push { end, at_ms, messages: Items::Slices(messages) });
        }
    }

    /// Pushes messages at the tail, ready at `due_ms` unless 0, and deduplicated by `dedup` unless empty. Each has its
    /// own record.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn push_each(&mut self, due_ms: Ms, dedup: &[u8], messages: &[&[u8]]) -> Result<(), Abandon> {
        let (at_ms, count) = (self.tx.now(), messages.len() as u64);
        let bytes = messages.iter().map(|message| (message.len() + dedup.len()) as u64).sum::<u64>();
        self.need_room(bytes + count * FIELDS_BYTES_MAX, count + 3)?;
        for message in messages {
            self.change(QueueChange::PushOne { at_ms, due_ms, dedup, message });
        }
        Ok(())
    }

    /// Leases the first `count` messages, which are ready, until `due_ms`.
    pub fn reserve(&mut self, count: u64, due_ms: Ms) {
        self.change(QueueChange::Reserve { count, due_ms });
    }

    /// Removes `count` ready messages from an end.
    pub fn pop(&mut self, end: End, count: u64) {
        if count > 0 {
            self.change(QueueChange::Pop { end, count });
        }
    }

    /// Removes held messages, with ascending ids, as work done.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn acknowledge(&mut self, ids: &[i64]) -> Result<(), Abandon> {
        self.with_ids(ids, QueueChange::Remove { are_acked: true, ids: MessageIds::Slice(ids) })
    }

    /// Ends the leases of messages with ascending ids; those tried too often become dead.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn release(&mut self, ids: &[i64], ending: Ending) -> Result<(), Abandon> {
        let is_spent = |queue: &Queue, id| queue.held(id, |record| is_spent(queue, &record)) == Some(true);
        let (dead, alive): (Vec<i64>, Vec<i64>) = self.look(|queue| ids.iter().partition(|id| is_spent(queue, **id)));
        self.need_room((ids.len() * varint::BYTES_MAX) as u64, 4)?;
        let alive_ids = MessageIds::Slice(&alive);
        if !alive.is_empty() {
            self.change(match ending {
                Ending::Now => QueueChange::Release { ids: alive_ids },
                Ending::At(due_ms) => QueueChange::SetState { state: State::Delayed, due_ms, ids: alive_ids },
            });
        }
        if !dead.is_empty() {
            self.change(QueueChange::SetState { state: State::Dead, due_ms: 0, ids: MessageIds::Slice(&dead) });
        }
        Ok(())
    }

    /// Makes messages with ascending ids ready, however often they were tried.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn kick(&mut self, ids: &[i64]) -> Result<(), Abandon> {
        self.with_ids(ids, QueueChange::Release { ids: MessageIds::Slice(ids) })
    }

    /// Extends the leases of messages with ascending ids to `due_ms`.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn extend(&mut self, ids: &[i64], due_ms: Ms) -> Result<(), Abandon> {
        let ids_of_record = MessageIds::Slice(ids);
        self.with_ids(ids, QueueChange::SetState { state: State::Leased, due_ms, ids: ids_of_record })
    }

    /// Buries messages with ascending ids until they are kicked.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn bury(&mut self, ids: &[i64]) -> Result<(), Abandon> {
        let ids_of_record = MessageIds::Slice(ids);
        self.with_ids(ids, QueueChange::SetState { state: State::Buried, due_ms: 0, ids: ids_of_record })
    }

    /// Sets the limits.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn limit(&mut self, limits: &QueueLimits) -> Result<(), Abandon> {
        let (mut encoded, at_ms) = (Vec::new(), self.tx.now());
        limits.encode(&mut encoded);
        // The record also keeps earlier limits: a dead-letter key may be longer than the request.
        self.need_room(encoded.len() as u64, 4)?;
        self.change(QueueChange::Limit { at_ms, limits: &encoded });
        Ok(())
    }

    /// Turns the queue into a list of the ready messages; none may be held. Without ready messages the key is removed.
    pub fn turn_back(&mut self) {
        let count = self.look(Queue::ready_len);
        if count > 0 {
            self.change(QueueChange::TurnBack { count });
        } else {
            self.tx.change_as(self.key, &Effect::Remove, Before::Settled, Some((Classes::LIST, "q.drop")));
        }
    }

    fn with_ids(&mut self, ids: &[i64], change: QueueChange<'_>) -> Result<(), Abandon> {
        if !ids.is_empty() {
            self.need_room((ids.len() * varint::BYTES_MAX) as u64, 2)?;
            self.change(change);
        }
        Ok(())
    }

    fn need_room(&self, bytes: u64, records: u64) -> Result<(), Abandon> {
        self.tx.need_room(bytes + records * (self.key.len() as u64 + FIELDS_BYTES_MAX))
    }

    fn change(&mut self, change: QueueChange<'_>) {
        self.begin();
        let before = std::mem::replace(&mut self.before, Before::Settled);
        let event = self.event.map(|event| (Classes::LIST, event));
        self.tx.change_as(self.key, &Effect::Queue(change), before, event);
        if change.may_empty() && self.tx.raw_entry(self.key).is_none() {
            self.tx.record_gone(self.key);
            self.before = Before::Unknown;
        } else if before == Before::Unknown {
            self.choose_ids();
        } else if change.gives_ids() {
            self.note_ids();
        }
    }

    /// Gives a new queue ids that no queue has reported before, say one removed within this millisecond.
    fn choose_ids(&mut self) {
        let (least, base) = (self.tx.keyspace().reported_ids_end().saturating_add(IDS_APART), self.look(Queue::base));
        if base < least {
            self.tx.change(self.key, &Effect::Queue(QueueChange::Base { base: least }), Before::Settled);
        }
        self.note_ids();
    }

    fn note_ids(&mut self) {
        let end = self.look(Queue::next_public_id);
        self.tx.keyspace().note_reported_ids(end);
    }
}

/// Runs `look` on the queue in an entry, or on what its list would become.
fn look_at<R>(entry: Entry<'_>, now: Ms, look: impl FnOnce(&Queue) -> R) -> R {
    match (queue_of(entry), list_of(entry)) {
        (Some(queue), _) => look(queue),
        (None, Some(list)) => look(&Queue::of_plain(list.clone(), now)),
        (None, None) => look(&Queue::default()),
    }
}

impl<'k> Tx<'k> {
    /// Returns the queue under `key`, or a list that becomes one, for changes; `None` if it is absent and is not to be
    /// created.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn queue_mut<'t>(
        &'t mut self,
        key: &'t [u8],
        absent: crate::Absent,
    ) -> Result<Option<QueueMut<'t, 'k>>, crate::WrongType> {
        let is_either = |entry: Entry<'_>| queue_of(entry).is_some() || list_of(entry).is_some();
        let there = match self.entry(key).map(is_either) {
            Some(true) => true,
            Some(false) => return Err(crate::WrongType),
            None => false,
        };
        Ok((there || absent == crate::Absent::Create).then(|| QueueMut::new(self, key, there)))
    }

    /// Runs `look` on the queue under `key`, or on what a list there would become; `None` if it is absent.
    ///
    /// # Errors
    /// If it holds another type.
    pub fn look_at_queue<R>(
        &mut self,
        key: &[u8],
        look: impl FnOnce(&Queue) -> R,
    ) -> Result<Option<R>, crate::WrongType> {
        let now = self.now();
        let Some(entry) = self.entry(key) else { return Ok(None) };
        match queue_of(entry).is_some() || list_of(entry).is_some() {
            true => Ok(Some(look_at(entry, now, look))),
            false => Err(crate::WrongType),
        }
    }

    /// Returns true if a live queue is under `key`; not a use of the key.
    pub fn is_queue(&mut self, key: &[u8]) -> bool {
        let now = self.now();
        let entry = self.raw_entry(key).filter(|entry| crate::section::is_live(*entry, now));
        entry.is_some_and(|entry| queue_of(entry).is_some())
    }
}
