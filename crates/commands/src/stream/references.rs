//! KEEPREF DELREF ACKED: the treatment of pending deliveries of removed entries.

use crate::parse;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Group, Kept, StreamId, Trim};

/// The treatment of pending deliveries by a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum References {
    /// They are kept, although their entries are gone.
    #[default]
    Keep,
    /// They are removed, in all groups.
    Remove,
    /// Entries that a group has pending, or has still to read, are not removed.
    Acknowledged,
}

impl References {
    /// Parses a word; `None` if it is another.
    pub(super) fn of(word: &[u8]) -> Option<Self> {
        let known = [("KEEPREF", Self::Keep), ("DELREF", Self::Remove), ("ACKED", Self::Acknowledged)];
        known.into_iter().find(|(name, _)| parse::is(word, name)).map(|(_, references)| references)
    }
}

/// A group's pending deliveries of some entries.
pub(super) struct Held {
    pub(super) group: Vec<u8>,
    pub(super) ids: Vec<StreamId>,
}

fn groups(stream: &Stream) -> Vec<(Vec<u8>, Group)> {
    let mut groups = Vec::new();
    stream.for_each_group(|name, group| groups.push((name.to_vec(), group)));
    groups
}

/// Returns the groups' pending deliveries of these ascending ids.
pub(super) fn held(stream: &Stream, ids: &[StreamId]) -> Vec<Held> {
    let of_group = |(group, state): (Vec<u8>, Group)| {
        let pending = stream.pending_of(state.number, ids);
        Held { group, ids: pending.into_iter().flatten().map(|pending| pending.id).collect() }
    };
    groups(stream).into_iter().map(of_group).filter(|held| !held.ids.is_empty()).collect()
}

/// Returns which of these ascending ids some group has pending, or has still to read, ignoring those that `but` marks
/// as done.
pub(super) fn are_needed(stream: &Stream, ids: &[StreamId], but: Option<u32>) -> Vec<bool> {
    let mut needed = vec![false; ids.len()];
    for (_, group) in groups(stream) {
        let pending = stream.pending_of(group.number, ids);
        for ((id, pending), needed) in ids.iter().zip(pending).zip(&mut needed) {
            *needed |= *id > group.last_id || (pending.is_some() && but != Some(group.number));
        }
    }
    needed
}

/// Entries examined together.
const LOOKS_AT_ONCE: usize = 128;

/// Returns the entries removed by a trim of those that no group needs: as many as usual, as far as there are enough.
pub(super) fn trimmed(stream: &Stream, how: Trim) -> Vec<StreamId> {
    let count = stream.trim_count(how);
    // For a contiguous range, entries that stay are not replaced by later ones.
    let mut looks = if how.whole || matches!(how.kept, Kept::From(_)) { count } else { u64::MAX };
    let read_up_to = groups(stream).iter().map(|(_, group)| group.last_id).min().unwrap_or(StreamId::MAX);
    let (mut gone, mut from) = (Vec::new(), Some(StreamId::MIN));
    while let Some(start) = from.take().filter(|_| looks > 0 && (gone.len() as u64) < count) {
        let mut ids = Vec::new();
        let _ = stream.walk(start, read_up_to, blocks::Direction::Forward, &mut |id, _| {
            ids.push(id);
            looks -= 1;
            if ids.len() < LOOKS_AT_ONCE && looks > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let needed = are_needed(stream, &ids, None);
        let room = (count as usize).saturating_sub(gone.len());
        gone.extend(ids.iter().zip(needed).filter(|(_, needed)| !needed).map(|(id, _)| *id).take(room));
        from = ids.last().filter(|_| ids.len() == LOOKS_AT_ONCE).and_then(|last| last.next());
    }
    gone
}

/// Returns the first `count` entries.
pub(super) fn first(stream: &Stream, count: u64) -> Vec<StreamId> {
    let mut ids = Vec::new();
    let _ = stream.walk(StreamId::MIN, StreamId::MAX, blocks::Direction::Forward, &mut |id, _| {
        if ids.len() as u64 == count {
            return ControlFlow::Break(());
        }
        ids.push(id);
        ControlFlow::Continue(())
    });
    ids
}
