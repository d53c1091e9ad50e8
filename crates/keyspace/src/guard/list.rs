//! The guard of a list.

use crate::effect::{Effect, Items, ListChange, put_runs};
use crate::notes::Classes;
use crate::search::Finding;
use crate::tx::{Abandon, Before, Tx};
use blocks::{Direction, End};
use std::ops::ControlFlow;
use values::List;

/// Maximum bytes of a removal's record, excluding key and runs.
const FIELDS_BYTES_MAX: u64 = 64;

/// A mutable list under a key. The key is created with the first item and removed with the last.
pub struct ListMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    len: u64,
    before: Before,
    event: Option<&'static str>,
}

impl<'t, 'k> ListMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], len: u64) -> Self {
        Self { tx, key, len, before: if len > 0 { Before::Settled } else { Before::Unknown }, event: None }
    }

    /// Sets the event name of its changes in notifications.
    #[must_use]
    pub fn with_event(self, event: &'static str) -> Self {
        Self { event: Some(event), ..self }
    }

    /// Returns the number of items; 0 if the key is absent (or was removed).
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if it has no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the current list; `None` if it has no items.
    pub fn list(&mut self) -> Option<&List> {
        self.tx.list(self.key).expect("its kind was checked when the guard was made")
    }

    /// Pushes items one by one. O(items).
    pub fn push(&mut self, end: End, items: &[&[u8]]) {
        if !items.is_empty() {
            self.change(ListChange::Push { end, items: Items::Slices(items) });
        }
    }

    /// Removes `count` items from an end and passes each to `visit`, in order of removal.
    pub fn pop(&mut self, end: End, count: u64, mut visit: impl FnMut(&[u8])) {
        let count = count.min(self.len());
        if count == 0 {
            return;
        }
        if let Some(list) = self.list() {
            let (start, direction) = match end {
                End::Head => (0, Direction::Forward),
                End::Tail => (list.len() - count, Direction::Backward),
            };
            let _ = list.walk(start, count, direction, &mut |item: &[u8]| {
                visit(item);
                ControlFlow::Continue(())
            });
        }
        self.change(ListChange::Pop { end, count });
    }

    /// Removes `count` existing items from an end without reading them.
    pub fn discard(&mut self, end: End, count: u64) {
        if count > 0 {
            self.change(ListChange::Pop { end, count });
        }
    }

    /// Replaces the item at `index`, which must exist.
    pub fn set(&mut self, index: u64, item: &[u8]) {
        self.change(ListChange::Put { index, item });
    }

    /// Inserts an item before `index`; the length means at the end.
    pub fn insert(&mut self, index: u64, item: &[u8]) {
        self.change(ListChange::Insert { index, item });
    }

    /// Removes `count` items from `index` on, which must exist.
    pub fn remove(&mut self, index: u64, count: u64) {
        self.change(ListChange::Remove { index, count });
    }

    /// Keeps only `count` items from `start` on, which must exist.
    pub fn keep(&mut self, start: u64, count: u64) {
        let len = self.len();
        let behind = if count == 0 { len } else { len - start - count };
        if behind > 0 {
            self.change(ListChange::Pop { end: End::Tail, count: behind });
        }
        if count > 0 && start > 0 {
            self.change(ListChange::Pop { end: End::Head, count: start });
        }
    }

    /// Removes the items found in the present list. Returns how many. O(1) if prepared, else O(found).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove_found(&mut self, finding: &Finding<'_>) -> Result<u64, Abandon> {
        let found = finding.found();
        if let Finding::Still(search) = finding
            && let Some(prepared) = search.prepared()
        {
            self.tx.need_room(prepared.runs_bytes + self.key.len() as u64 + FIELDS_BYTES_MAX)?;
            self.tx.exchange_list(self.key, found, prepared);
            self.len -= found.items();
        } else if found.runs() == 1 {
            let (index, count) = found.run(0);
            self.tx.need_room(self.key.len() as u64 + FIELDS_BYTES_MAX)?;
            self.change(ListChange::Remove { index, count });
        } else if found.runs() > 1 {
            let mut runs = Vec::new();
            put_runs(&mut runs, found);
            self.tx.need_room((runs.len() + self.key.len()) as u64 + FIELDS_BYTES_MAX)?;
            self.change(ListChange::RemoveMany { count: found.items(), runs: &runs });
        }
        Ok(found.items())
    }

    fn change(&mut self, change: ListChange<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        let event = self.event.map(|event| (Classes::LIST, event));
        self.tx.change_as(self.key, &Effect::List(change), before, event);
        self.len = change.len_after(self.len);
    }
}
