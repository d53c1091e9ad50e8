//! The replies of one batch, in order, queued for a socket.
//!
//! ```text
//!   pieces   | bytes | bytes | Source | bytes |   then   tail, where replies are written
//!            ^ consumed                    ^ bytes after the source wait until it is done
//! ```
//!
//! Everything before the first source is ready. `fill` runs that source into the piece before it until enough is ready,
//! so a reply of any length occupies about `FILL_BYTES` at a time. A source may have to search before it can write, or
//! write into fresh memory: `fill_some` then returns after each step.

use crate::reply::{BULK_QUEUED_BYTES_MIN, More, SOURCE_STEP_BYTES, Source};
use crate::resp::{Encoder, Protocol};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

/// `Output::fill` stops when this much is ready, in bytes.
const FILL_BYTES: usize = 64 << 10;
/// Capacity of a buffer that sources write into, in bytes: allocated at once, it never moves as it fills.
const ROOM_BYTES: usize = FILL_BYTES + SOURCE_STEP_BYTES;
/// Drained buffers larger than this are freed rather than reused, in bytes.
const BUFFER_KEPT_BYTES_MAX: usize = 256 << 10;
/// Shared bytes from this length on are sent without copying, in bytes.
const SHARED_BYTES_MIN: usize = 8 << 10;
/// Replies appended to others are copied up to this length, in bytes.
const MOVED_BYTES_MAX: usize = 64 << 10;
/// A source that pins at least this much is not dropped inline, in bytes.
const SPENT_BYTES_MIN: u64 = 64 << 10;

/// A queue of replies.
#[derive(Default)]
pub struct Output {
    pieces: VecDeque<Piece>,
    pub(crate) tail: Vec<u8>,
    /// Number of bytes sent of the first piece, or of the tail if there are no pieces.
    consumed: usize,
    /// The buffer of a sent piece, for the next step of a source.
    spare: Vec<u8>,
    beside: Option<Box<Beside>>,
}

/// Rarely used fields.
#[derive(Default)]
struct Beside {
    /// Finished sources that may be the last owners of much memory.
    spent: Vec<Box<dyn Source>>,
    /// See [`crate::Reply::aside`].
    aside: Option<Box<[u8]>>,
}

const _: () = assert!(size_of::<Output>() <= 96);

enum Piece {
    Bytes(Vec<u8>),
    /// Bytes with other owners too.
    Shared(Arc<[u8]>),
    Source(Box<dyn Source>, Protocol),
}

impl Piece {
    /// Returns the bytes that are ready; `None` for a source.
    fn ready(&self) -> Option<&[u8]> {
        match self {
            Piece::Bytes(bytes) => Some(bytes),
            Piece::Shared(bytes) => Some(bytes),
            Piece::Source(..) => None,
        }
    }
}

/// A position in an [`Output`] to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pieces_count: usize,
    tail_bytes: usize,
}

impl Output {
    /// Creates an empty queue, without allocating.
    pub fn new() -> Output {
        Output::default()
    }

    /// Returns true if nothing is left to send, now or later.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.tail.is_empty()
    }

    /// Returns the bytes held in memory and not yet consumed. O(pieces).
    pub fn bytes_pending(&self) -> usize {
        let queued: usize = self.pieces.iter().filter_map(Piece::ready).map(<[u8]>::len).sum();
        queued + self.tail.len() - self.consumed
    }

    /// Returns the bytes pinned by sources still to run ([`Source::pinned_bytes`]). O(pieces).
    pub fn pinned_bytes(&self) -> u64 {
        let pinned = |piece: &Piece| match piece {
            Piece::Source(source, _) => source.pinned_bytes(),
            Piece::Bytes(_) | Piece::Shared(_) => 0,
        };
        self.pieces.iter().map(pinned).sum()
    }

    /// Returns finished sources whose drop may be slow; `None` if there are none.
    pub fn take_spent(&mut self) -> Option<Vec<Box<dyn Source>>> {
        let spent = std::mem::take(&mut self.beside.as_mut()?.spent);
        (!spent.is_empty()).then_some(spent)
    }

    /// Records reply metadata for the connection.
    pub(crate) fn put_aside(&mut self, text: &[u8]) {
        self.beside.get_or_insert_default().aside = Some(text.into());
    }

    /// Takes the metadata last recorded, if any.
    pub fn take_aside(&mut self) -> Option<Box<[u8]>> {
        self.beside.as_mut()?.aside.take()
    }

    /// Returns the next bytes to send; `None` if none are ready, for want of a reply or of [`Output::fill`].
    pub fn front(&self) -> Option<&[u8]> {
        let front = match self.pieces.front() {
            Some(piece) => piece.ready()?,
            None => &self.tail,
        };
        Some(&front[self.consumed..]).filter(|bytes| !bytes.is_empty())
    }

    /// Fills `slices` with ready bytes, in order, for one vectored write. Returns how many were filled.
    pub fn io_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let ready = self.ready_slices();
        let mut filled = 0;
        for (slot, bytes) in slices.iter_mut().zip(ready) {
            *slot = IoSlice::new(bytes);
            filled += 1;
        }
        filled
    }

    /// Marks the next `count` ready bytes as sent.
    ///
    /// # Panics
    /// If fewer are ready.
    pub fn consume(&mut self, mut count: usize) {
        while let Some(piece) = self.pieces.front() {
            let Some(ready) = piece.ready() else { break };
            let left = ready.len() - self.consumed;
            if count < left {
                self.consumed += count;
                return;
            }
            count -= left;
            self.consumed = 0;
            self.drop_front();
        }
        if count == 0 {
            return;
        }
        assert!(self.pieces.is_empty(), "bytes behind a source cannot have been sent");
        self.consumed += count;
        assert!(self.consumed <= self.tail.len());
        if self.consumed == self.tail.len() {
            self.tail.clear();
            self.consumed = 0;
        }
    }

    /// Runs the sources at the front until 64 KiB are ready or no source is left, however long they search.
    pub fn fill(&mut self) {
        while self.fill_some() {}
    }

    /// Like [`Output::fill`], but stops after a step that searched and wrote little or nothing, or wrote into a fresh
    /// buffer and so caused page faults: `true` then means others may get their turn before it continues.
    pub fn fill_some(&mut self) -> bool {
        loop {
            let ready: usize = self.ready_slices().map(<[u8]>::len).sum();
            if ready >= FILL_BYTES {
                return false;
            }
            let Some(index) = self.pieces.iter().position(|piece| matches!(piece, Piece::Source(..))) else {
                return false;
            };
            if self.run_source(index) {
                return true;
            }
        }
    }

    /// Appends all of `other`. Nothing of `other` may have been sent.
    ///
    /// # Panics
    /// If a part of `other` was sent.
    pub fn append(&mut self, mut other: Output) {
        self.take_from(&mut other);
    }

    /// Like [`Output::append`], but leaves `other` its buffer if possible.
    ///
    /// # Panics
    /// If a part of `other` was sent.
    pub fn take_from(&mut self, other: &mut Output) {
        assert_eq!(other.consumed, 0, "replies that were sent in part stay where they are");
        if let Some(aside) = other.take_aside() {
            self.put_aside(&aside);
        }
        if other.pieces.is_empty() && other.tail.len() <= MOVED_BYTES_MAX {
            self.tail.append(&mut other.tail);
            return;
        }
        if !self.tail.is_empty() {
            self.pieces.push_back(Piece::Bytes(std::mem::take(&mut self.tail)));
        }
        self.pieces.append(&mut other.pieces);
        self.tail = std::mem::take(&mut other.tail);
    }

    /// Returns where the next reply will begin.
    pub fn mark(&self) -> Mark {
        Mark { pieces_count: self.pieces.len(), tail_bytes: self.tail.len() }
    }

    /// Returns the first bytes written since `mark`, with nothing consumed or filled in between; incomplete if they
    /// include a source or a long bulk.
    pub fn since(&self, mark: Mark) -> &[u8] {
        match self.pieces.get(mark.pieces_count) {
            // It is the former tail, unless the tail was empty.
            Some(piece) if mark.tail_bytes > 0 => piece.ready().map_or(&[], |bytes| &bytes[mark.tail_bytes..]),
            Some(piece) => piece.ready().unwrap_or(&[]),
            None => &self.tail[mark.tail_bytes..],
        }
    }

    /// Removes all that was written since `mark`, with nothing consumed or filled in between.
    pub fn truncate(&mut self, mark: Mark) {
        if self.pieces.len() > mark.pieces_count {
            // The first piece since the mark is the former tail, unless the tail was empty.
            let first = self.pieces.drain(mark.pieces_count..).next();
            self.tail = match first {
                Some(Piece::Bytes(bytes)) if mark.tail_bytes > 0 => bytes,
                _ => Vec::new(),
            };
        }
        assert!(self.tail.len() >= mark.tail_bytes);
        self.tail.truncate(mark.tail_bytes);
    }

    /// Removes and returns all that was written since `mark`, with nothing consumed or filled in between, to be
    /// appended later.
    pub fn split_off(&mut self, mark: Mark) -> Output {
        let mut behind = Output::new();
        if self.pieces.len() == mark.pieces_count {
            behind.tail = self.tail.split_off(mark.tail_bytes);
            return behind;
        }
        behind.pieces = self.pieces.split_off(mark.pieces_count);
        behind.tail = std::mem::take(&mut self.tail);
        // The first piece since the mark is the former tail, unless the tail was empty.
        if mark.tail_bytes > 0
            && let Some(Piece::Bytes(mut bytes)) = behind.pieces.pop_front()
        {
            let rest = bytes.split_off(mark.tail_bytes);
            self.tail = bytes;
            if !rest.is_empty() {
                behind.pieces.push_front(Piece::Bytes(rest));
            }
        }
        behind
    }

    /// Provides a buffer for replies. Ignored if there is a better one.
    pub fn give_buffer(&mut self, buffer: Vec<u8>) {
        if self.tail.is_empty() && self.tail.capacity() < buffer.capacity() {
            self.tail = buffer;
            self.tail.clear();
        }
    }

    /// Takes the buffer of a fully sent queue, so that an idle connection holds no memory. `None` while there is
    /// something to send, or if there is no buffer worth keeping.
    pub fn take_buffer(&mut self) -> Option<Vec<u8>> {
        if !self.is_empty() {
            return None;
        }
        let Output { tail, spare, .. } = std::mem::take(self);
        let larger = if spare.capacity() > tail.capacity() { spare } else { tail };
        Some(larger).filter(|buffer| (1..=BUFFER_KEPT_BYTES_MAX).contains(&buffer.capacity()))
    }

    /// Appends raw bytes, such as a request to another server.
    pub fn append_bytes(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
    }

    /// Queues `bytes` without copying if they are worth a piece of their own.
    pub(crate) fn append_owned(&mut self, bytes: Vec<u8>) {
        if bytes.len() < BULK_QUEUED_BYTES_MIN {
            self.tail.extend_from_slice(&bytes);
        } else {
            self.push_piece(Piece::Bytes(bytes));
        }
    }

    /// Queues bytes shared with other outputs: not copied unless that is cheaper.
    pub(crate) fn append_shared(&mut self, bytes: &Arc<[u8]>) {
        if bytes.len() < SHARED_BYTES_MIN {
            self.tail.extend_from_slice(bytes);
        } else {
            self.push_piece(Piece::Shared(bytes.clone()));
        }
    }

    pub(crate) fn append_source(&mut self, source: Box<dyn Source>, protocol: Protocol) {
        self.push_piece(Piece::Source(source, protocol));
    }

    fn push_piece(&mut self, piece: Piece) {
        if !self.tail.is_empty() {
            self.pieces.push_back(Piece::Bytes(std::mem::take(&mut self.tail)));
        }
        self.pieces.push_back(piece);
    }

    fn ready_slices(&self) -> impl Iterator<Item = &[u8]> {
        let queued = self.pieces.iter().map_while(Piece::ready);
        let is_tail_ready = self.pieces.iter().all(|piece| piece.ready().is_some());
        let tail = is_tail_ready.then_some(&self.tail[..]);
        let mut skipped = self.consumed;
        queued.chain(tail).map(move |bytes| &bytes[std::mem::take(&mut skipped)..]).filter(|bytes| !bytes.is_empty())
    }

    /// Runs one step of the source at `index`, into the piece before it if that is short. Returns true if it continues
    /// and has written nothing, or into a fresh buffer.
    fn run_source(&mut self, index: usize) -> bool {
        let mut index = index;
        let mut step = Output::new();
        // Short only: a piece that grew as fast as it is consumed would end up holding the whole reply.
        if index > 0 && matches!(&self.pieces[index - 1], Piece::Bytes(bytes) if bytes.len() < FILL_BYTES) {
            index -= 1;
            step.tail = self.remove_bytes(index);
        } else {
            step.tail = std::mem::take(&mut self.spare);
        }
        let Some(Piece::Source(mut source, protocol)) = self.pieces.remove(index) else {
            unreachable!("`fill` found a source here")
        };
        let is_fresh = step.tail.capacity() < ROOM_BYTES;
        if is_fresh {
            let mut roomy = Vec::with_capacity(ROOM_BYTES);
            roomy.append(&mut step.tail);
            step.tail = roomy;
        }
        let mark = step.mark();
        let more = source.next(&mut Encoder::new(&mut step, protocol));
        let shall_rest = match more {
            More::Follows => is_fresh || step.mark() == mark,
            More::Rest => true,
            More::Done => false,
        };
        if step.tail.is_empty() {
            self.keep_spare(std::mem::take(&mut step.tail));
        }
        match more {
            More::Follows | More::Rest => step.append_source(source, protocol),
            More::Done if source.pinned_bytes() >= SPENT_BYTES_MIN => {
                self.beside.get_or_insert_default().spent.push(source);
                if !step.tail.is_empty() {
                    step.pieces.push_back(Piece::Bytes(step.tail));
                }
            }
            More::Done if step.tail.is_empty() => {}
            More::Done => step.pieces.push_back(Piece::Bytes(step.tail)),
        }
        for piece in step.pieces.into_iter().rev() {
            self.pieces.insert(index, piece);
        }
        shall_rest
    }

    fn remove_bytes(&mut self, index: usize) -> Vec<u8> {
        match self.pieces.remove(index) {
            Some(Piece::Bytes(bytes)) => bytes,
            _ => unreachable!("only asked for a piece of bytes"),
        }
    }

    fn drop_front(&mut self) {
        if let Some(Piece::Bytes(mut bytes)) = self.pieces.pop_front() {
            bytes.clear();
            self.keep_spare(bytes);
        }
    }

    fn keep_spare(&mut self, buffer: Vec<u8>) {
        let room = buffer.capacity();
        if room > self.spare.capacity() && room <= BUFFER_KEPT_BYTES_MAX {
            self.spare = buffer;
        }
    }
}
