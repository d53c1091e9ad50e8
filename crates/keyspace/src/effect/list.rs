//! Changes to a list.

use super::items::{Items, take_item};
use super::{DecodeError, take, take_bytes};
use crate::TableId;
use base::varint;
use blocks::{End, Runs};
use values::List;

/// A change to the list under a key, which is created if absent and removed with its last item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange<'a> {
    /// 9 at the head, 10 at the tail. Pushes items, in the order given.
    Push {
        /// The end of the list.
        end: End,
        /// The items.
        items: Items<'a>,
    },
    /// 11 at the head, 12 at the tail. Removes items.
    Pop {
        /// The end of the list.
        end: End,
        /// Number of items.
        count: u64,
    },
    /// 13. Replaces the item at an index.
    Put {
        /// Index from the head, 0 is the first.
        index: u64,
        /// The new item.
        item: &'a [u8],
    },
    /// 14. Inserts an item before the one at an index.
    Insert {
        /// Index from the head; the length means after the last item.
        index: u64,
        /// The new item.
        item: &'a [u8],
    },
    /// 15. Removes a run of items.
    Remove {
        /// Index of the first, from the head.
        index: u64,
        /// Number of items.
        count: u64,
    },
    /// 16. Removes items in many places.
    RemoveMany {
        /// Total number of items.
        count: u64,
        /// Their runs, as written by [`RunWriter`].
        runs: &'a [u8],
    },
}

impl<'a> ListChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Push { end: End::Head, .. } => 9,
            Self::Push { end: End::Tail, .. } => 10,
            Self::Pop { end: End::Head, .. } => 11,
            Self::Pop { end: End::Tail, .. } => 12,
            Self::Put { .. } => 13,
            Self::Insert { .. } => 14,
            Self::Remove { .. } => 15,
            Self::RemoveMany { .. } => 16,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Push { items, .. } => items.encode(out),
            Self::Pop { count, .. } => varint::put(out, count),
            Self::Put { index, item } | Self::Insert { index, item } => {
                varint::put(out, index);
                varint::put_bytes(out, item);
            }
            Self::Remove { index, count } => {
                varint::put(out, index);
                varint::put(out, count);
            }
            Self::RemoveMany { count, runs } => {
                varint::put(out, count);
                varint::put_bytes(out, runs);
            }
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            9 => Self::Push { end: End::Head, items: Items::decode(input)? },
            10 => Self::Push { end: End::Tail, items: Items::decode(input)? },
            11 => Self::Pop { end: End::Head, count: take(input)? },
            12 => Self::Pop { end: End::Tail, count: take(input)? },
            13 => Self::Put { index: take(input)?, item: take_item(input)? },
            14 => Self::Insert { index: take(input)?, item: take_item(input)? },
            15 => Self::Remove { index: take(input)?, count: take(input)? },
            16 => Self::RemoveMany { count: take(input)?, runs: take_bytes(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Returns the length of a list of `len` items after this change.
    pub(crate) fn len_after(&self, len: u64) -> u64 {
        match *self {
            Self::Push { items, .. } => len + items.count(),
            Self::Pop { count, .. } | Self::Remove { count, .. } | Self::RemoveMany { count, .. } => len - count,
            Self::Put { .. } => len,
            Self::Insert { .. } => len + 1,
        }
    }

    /// As [`ListChange::len_after`], for a list not loaded; `None` if `len` is too short.
    pub(crate) fn len_after_checked(&self, len: u64) -> Option<u64> {
        let fits = match *self {
            Self::Push { .. } => true,
            Self::Pop { count, .. } | Self::RemoveMany { count, .. } => count <= len,
            Self::Put { index, .. } => index < len,
            Self::Insert { index, .. } => index <= len,
            Self::Remove { index, count } => index.checked_add(count).is_some_and(|end| end <= len),
        };
        fits.then(|| self.len_after(len))
    }

    /// Changes `list`; a change that does not fit its length is a misfit and changes nothing.
    pub(super) fn apply(&self, list: &mut List) -> Result<(), DecodeError> {
        let len = list.len();
        let end = match *self {
            Self::RemoveMany { count, runs } => check_runs(runs, count)?,
            _ => 0,
        };
        if end > len || self.len_after_checked(len).is_none() {
            return Err(DecodeError::Misfit);
        }
        match *self {
            Self::Push { end, items } => items.iter().for_each(|item| list.push(end, item)),
            Self::Pop { end: End::Head, count } => list.trim(count, len - count),
            Self::Pop { end: End::Tail, count } => list.trim(0, len - count),
            Self::Put { index, item } => list.set(index, item),
            Self::Insert { index, item } => list.insert(index, item),
            Self::Remove { index, count: 1 } => list.remove(index),
            Self::Remove { index, count } => {
                let mut rest = list.split_off(index);
                rest.trim(count, rest.len() - count);
                list.append(rest);
            }
            Self::RemoveMany { runs, .. } => list.remove_runs(RunReader::new(runs)),
        }
        Ok(())
    }
}

/// Writes ascending, non-adjacent runs, each as two varints: the gap since the previous run (or the head), and the
/// number of items.
#[derive(Default)]
pub struct RunWriter {
    end: u64,
}

impl RunWriter {
    /// Appends a run of first index and count.
    pub fn put(&mut self, out: &mut Vec<u8>, run: (u64, u64)) {
        varint::put(out, self.gap(run));
        varint::put(out, run.1);
    }

    /// Returns the bytes that [`RunWriter::put`] would append.
    pub fn encoded_bytes(&mut self, run: (u64, u64)) -> usize {
        varint::encoded_bytes(self.gap(run)) + varint::encoded_bytes(run.1)
    }

    fn gap(&mut self, (start, count): (u64, u64)) -> u64 {
        let gap = start - self.end;
        self.end = start + count;
        gap
    }
}

/// Appends all of `runs`, lowest first.
pub(crate) fn put_runs(out: &mut Vec<u8>, runs: &Runs) {
    let mut writer = RunWriter::default();
    (0..runs.runs()).for_each(|at| writer.put(out, runs.rising(at)));
}

/// Appends the start of a record of number 16, up to its `runs_bytes` of runs.
pub(super) fn put_removal_head(out: &mut Vec<u8>, table: TableId, key: &[u8], count: u64, runs_bytes: u64) {
    out.push(16);
    varint::put(out, u64::from(table));
    varint::put_bytes(out, key);
    varint::put(out, count);
    varint::put(out, runs_bytes);
}

/// Runs as written by [`RunWriter`]; check them first.
#[derive(Clone)]
pub(super) struct RunReader<'a> {
    input: &'a [u8],
    end: u64,
}

impl<'a> RunReader<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self { input, end: 0 }
    }

    /// Returns the next run, if the rest begins with a valid one.
    fn run(&mut self) -> Result<(u64, u64), DecodeError> {
        let (gap, count) = (take(&mut self.input)?, take(&mut self.input)?);
        let start = self.end.checked_add(gap).ok_or(DecodeError::Misfit)?;
        let is_apart = gap > 0 || self.end == 0;
        self.end = start.checked_add(count).ok_or(DecodeError::Misfit)?;
        if is_apart && count > 0 { Ok((start, count)) } else { Err(DecodeError::Malformed) }
    }
}

impl Iterator for RunReader<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        (!self.input.is_empty()).then(|| self.run().expect("checked before"))
    }
}

/// Returns the end of the last run, if these are valid runs of `count` items in all.
pub(super) fn check_runs(runs: &[u8], count: u64) -> Result<u64, DecodeError> {
    let (mut reader, mut left) = (RunReader::new(runs), count);
    while !reader.input.is_empty() {
        left = left.checked_sub(reader.run()?.1).ok_or(DecodeError::Malformed)?;
    }
    if left == 0 { Ok(reader.end) } else { Err(DecodeError::Malformed) }
}
