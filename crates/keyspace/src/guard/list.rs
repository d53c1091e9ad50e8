//! The guard of a list.

use crate::effect::{Effect, Items, ListChange, put_runs};
use crate::notes::Classes;
use crate::search::Finding;
use crate::tx::{Abandon, Before, Tx};
use blocks::{Direction, End};
use std::ops::ControlFlow;
use values::List;

/// What a record of a removal has beside key and runs, in bytes at most.
const FIELDS_BYTES_MAX: u64 = 64;

/// A list under a key, to be changed. The key comes with the first item and goes with the last.
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

    /// Gives what it does a name of its own, for those who are told of it.
    #[must_use]
    pub fn told_as(self, event: &'static str) -> Self {
        Self { event: Some(event), ..self }
    }

    /// Number of items; 0 if the key is not there (any more).
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The list as it is now; `None` if it has no items.
    pub fn list(&mut self) -> Option<&List> {
        self.tx.list(self.key).expect("its kind was checked when the guard was made")
    }

    /// Pushes items one after the other. O(items).
    pub fn push(&mut self, end: End, items: &[&[u8]]) {
        if !items.is_empty() {
            self.change(ListChange::Push { end, items: Items::Slices(items) });
        }
    }

    /// Takes `count` items off an end and shows each to `visit`, in the order in which they leave.
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

    /// Takes `count` items off an end, which must be there, without a look at them.
    pub fn discard(&mut self, end: End, count: u64) {
        if count > 0 {
            self.change(ListChange::Pop { end, count });
        }
    }

    /// Puts another item at `index`, which must be there.
    pub fn set(&mut self, index: u64, item: &[u8]) {
        self.change(ListChange::Put { index, item });
    }

    /// Inserts an item before `index`; the length means behind the last.
    pub fn insert(&mut self, index: u64, item: &[u8]) {
        self.change(ListChange::Insert { index, item });
    }

    /// Removes `count` items from `index` on, which must be there.
    pub fn remove(&mut self, index: u64, count: u64) {
        self.change(ListChange::Remove { index, count });
    }

    /// Keeps `count` items from `start` on, which must be there.
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

    /// Removes what was found in the list as it is; how many items that are. O(1) if it was prepared, else O(found).
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
