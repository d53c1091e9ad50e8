//! The lag of a group: computed where possible, and unknown if entries were deleted in between.

use values::Stream;
use values::stream::{Foot, Group, StreamId};

/// The figures of a stream needed to compute a reader's progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    foot: Foot,
    /// The first entry's id, or the minimum.
    first_id: StreamId,
}

impl Progress {
    pub(super) fn of(stream: &Stream) -> Self {
        Self { foot: stream.foot(), first_id: stream.first_id().unwrap_or_default() }
    }

    /// Returns true if entries may have been deleted from `start` on.
    fn has_gaps(&self, start: StreamId) -> bool {
        let deleted_id = self.foot.deleted_id;
        self.foot.len > 0 && deleted_id != StreamId::MIN && self.first_id <= deleted_id && start <= deleted_id
    }

    /// Returns how many entries were ever added up to `id`, if known.
    fn entries_up_to(&self, id: StreamId) -> Option<u64> {
        let Foot { len, last_id, deleted_id, added } = self.foot;
        if added == 0 {
            return Some(0);
        }
        if (len == 0 && id <= last_id) || id == last_id {
            return Some(added);
        }
        if id > last_id {
            return None;
        }
        let has_no_gaps = deleted_id == StreamId::MIN || deleted_id < self.first_id;
        match id.cmp(&self.first_id) {
            std::cmp::Ordering::Less if has_no_gaps => Some(added.saturating_sub(len)),
            std::cmp::Ordering::Equal if has_no_gaps => Some(added.saturating_sub(len) + 1),
            _ => None,
        }
    }

    /// Returns how many entries a group has still to read, if known.
    pub(super) fn lag(&self, group: &Group) -> Option<i64> {
        let added = self.foot.added as i64;
        if added == 0 {
            return Some(0);
        }
        match group.entries_read {
            Some(read) if !self.has_gaps(group.last_id) => Some(added.wrapping_sub(read as i64)),
            _ => self.entries_up_to(group.last_id).map(|read| added.wrapping_sub(read as i64)),
        }
    }

    /// Returns the number of entries read after a group reads the entry `id`.
    pub(super) fn after_reading(&self, entries_read: Option<u64>, id: StreamId) -> Option<u64> {
        match entries_read {
            Some(read) if !self.has_gaps(id) => Some(read.saturating_add(1)),
            _ if self.foot.added > 0 => self.entries_up_to(id),
            read => read,
        }
    }
}
