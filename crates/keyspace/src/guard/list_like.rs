//! The values that list commands work on: a list, or the ready messages of a queue.
//!
//! ```text
//! LPOP, LRANGE, LMOVE, ...  ->  ListLike, ListLikeMut  ->  a list, all its items
//!                                                      ->  a queue, its ready messages
//! LSET, LREM, LTRIM, ...    ->  a list only: messages keep their positions
//! ```

use super::{Absent, ListMut, QueueMut};
use crate::WrongType;
use crate::section::{list_of, queue_of};
use crate::tx::Tx;
use blocks::{Direction, End};
use std::ops::ControlFlow;
use values::queue::Full;
use values::{List, Queue};

/// A list, or a queue.
#[derive(Clone, Copy)]
pub enum ListLike<'t> {
    /// A list.
    List(&'t List),
    /// A queue: its items are the ready messages.
    Queue(&'t Queue),
}

impl ListLike<'_> {
    /// Returns the number of items. O(1).
    pub fn len(&self) -> u64 {
        match self {
            Self::List(list) => list.len(),
            Self::Queue(queue) => queue.ready_len(),
        }
    }

    /// Returns true if it has no items; a queue then still has held messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Applies `look` to the item at `index`; `None` if there is none. O(log n).
    pub fn get<R>(&self, index: u64, look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        match self {
            Self::List(list) => list.get(index, look),
            Self::Queue(queue) => queue.ready_at(index, look),
        }
    }

    /// Applies `look` to the item at an end; `None` if there is none. O(log n).
    pub fn get_end<R>(&self, end: End, look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let last = self.len().checked_sub(1)?;
        self.get(if end == End::Head { 0 } else { last }, look)
    }

    /// Returns the number of elements that removing `count` items works on one by one: see [`Tx::expect_work`]. O(1).
    pub fn removal_work(&self, count: u64) -> u64 {
        match self {
            Self::List(_) => 0,
            Self::Queue(queue) => queue.returned_len().min(count),
        }
    }

    /// Checks whether `count` more items of `bytes` bytes in total are within its limits.
    ///
    /// # Errors
    /// The limit of the queue that would be exceeded.
    pub fn admits(&self, count: u64, bytes: u64) -> Result<(), Full> {
        match self {
            Self::List(_) => Ok(()),
            Self::Queue(queue) => queue.takes(count, bytes),
        }
    }
}

/// A list or a queue, for changes.
pub enum ListLikeMut<'t, 'k> {
    /// A list.
    List(ListMut<'t, 'k>),
    /// A queue.
    Queue(QueueMut<'t, 'k>),
}

impl ListLikeMut<'_, '_> {
    /// Pushes items one by one; a queue must admit them ([`ListLike::admits`]). O(items).
    pub fn push(&mut self, end: End, items: &[&[u8]]) {
        match self {
            Self::List(list) => list.push(end, items),
            Self::Queue(queue) => queue.push(end, items),
        }
    }

    /// Removes up to `count` items from an end and passes each to `visit`, in order of removal.
    pub fn pop(&mut self, end: End, count: u64, mut visit: impl FnMut(&[u8])) {
        match self {
            Self::List(list) => list.pop(end, count, visit),
            Self::Queue(queue) => {
                let count = queue.look(|queue| {
                    let len = queue.ready_len();
                    let count = count.min(len);
                    let (start, direction) = match end {
                        End::Head => (0, Direction::Forward),
                        End::Tail => (len - count, Direction::Backward),
                    };
                    let _ = queue.walk_ready(start, count, direction, &mut |item: &[u8]| {
                        visit(item);
                        ControlFlow::Continue(())
                    });
                    count
                });
                queue.pop(end, count);
            }
        }
    }

    /// Removes `count` existing items from an end without reading them.
    pub fn discard(&mut self, end: End, count: u64) {
        match self {
            Self::List(list) => list.discard(end, count),
            Self::Queue(queue) => queue.pop(end, count),
        }
    }
}

impl<'k> Tx<'k> {
    /// Returns the list or queue under `key`.
    ///
    /// # Errors
    /// If it holds another type.
    #[inline]
    pub fn list_like(&mut self, key: &[u8]) -> Result<Option<ListLike<'_>>, WrongType> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let queue = || queue_of(entry).map(ListLike::Queue);
        list_of(entry).map(ListLike::List).or_else(queue).map(Some).ok_or(WrongType)
    }

    /// Returns the list or queue under `key`, for changes; if it is absent, a list to be created, or `None`.
    ///
    /// # Errors
    /// If it holds another type.
    #[inline]
    pub fn list_like_mut<'t>(
        &'t mut self,
        key: &'t [u8],
        absent: Absent,
    ) -> Result<Option<ListLikeMut<'t, 'k>>, WrongType> {
        let len = match self.list_like(key)? {
            Some(ListLike::Queue(_)) => return Ok(Some(ListLikeMut::Queue(QueueMut::new(self, key, true)))),
            Some(ListLike::List(list)) => list.len(),
            None if absent == Absent::Leave => return Ok(None),
            None => 0,
        };
        Ok(Some(ListLikeMut::List(ListMut::new(self, key, len))))
    }
}
