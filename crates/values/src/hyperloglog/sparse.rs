//! Registers as runs of equal ones.
//!
//! ```text
//!   00llllll             l + 1 registers hold nothing
//!   01llllll llllllll    l + 1 registers hold nothing; used from 65 on
//!   1vvvvvll             l + 1 registers hold v + 1
//! ```
//!
//! An element splits the run in which its register lies; then neighbours of one value are joined again, a few from there on.
//! That is what Redis does, so the same elements leave the same bytes.

use super::{Corrupt, HEAD_BYTES, Mark, REGISTERS};
use std::ops::Range;

/// A single run.
pub(super) const EMPTY: [u8; 2] = long_zeros(REGISTERS);

const ZEROS_MAX: usize = 64;
const SAME_MAX: usize = 4;
/// The most a run can say that its registers hold.
const RUN_MAX: u8 = 32;
/// How many runs are looked at to be joined.
const JOINED_MAX: usize = 5;

const fn long_zeros(count: usize) -> [u8; 2] {
    let length = count - 1;
    [0x40 | (length >> 8) as u8, length as u8]
}

fn put_zeros(out: &mut Vec<u8>, count: usize) {
    match count {
        0 => {}
        1..=ZEROS_MAX => out.push(count as u8 - 1),
        count => out.extend(long_zeros(count)),
    }
}

/// Of at most four registers.
fn same(run: u8, count: usize) -> u8 {
    0x80 | (run - 1) << 2 | (count as u8 - 1)
}

/// A run as it lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SparseRun {
    /// How many registers.
    count: usize,
    /// What each holds.
    value: u8,
    /// In how many bytes it is written.
    bytes: usize,
}

/// The run at the front; `None` if that is cut short, or there is none.
fn first(bytes: &[u8]) -> Option<SparseRun> {
    let (&head, rest) = bytes.split_first()?;
    let low = usize::from(head & 63);
    Some(match head >> 6 {
        0 => SparseRun { count: low + 1, value: 0, bytes: 1 },
        1 => SparseRun { count: (low << 8 | usize::from(*rest.first()?)) + 1, value: 0, bytes: 2 },
        _ => SparseRun { count: usize::from(head & 3) + 1, value: (head >> 2 & 31) + 1, bytes: 1 },
    })
}

/// Shows each run: its registers, and what they hold.
pub(super) fn for_each(mut bytes: &[u8], mut visit: impl FnMut(Range<usize>, u8)) -> Result<(), Corrupt> {
    let mut index = 0;
    while !bytes.is_empty() {
        let run = first(bytes).ok_or(Corrupt)?;
        let end = index + run.count;
        if end > REGISTERS {
            return Err(Corrupt);
        }
        visit(index..end, run.value);
        index = end;
        bytes = &bytes[run.bytes..];
    }
    if index == REGISTERS { Ok(()) } else { Err(Corrupt) }
}

/// What came of an element.
pub(super) enum Raised {
    /// It is in, and whether its register did not hold as much before.
    Done(bool),
    /// Runs cannot say it, or not in as many bytes as they may take. Nothing has changed.
    NoRoom,
}

/// Adds an element to a sparse one, head and all.
pub(super) fn raise(bytes: &mut Vec<u8>, mark: Mark, bytes_max: u64) -> Result<Raised, Corrupt> {
    if mark.run > RUN_MAX {
        return Ok(Raised::NoRoom);
    }
    let (mut at, mut start, mut before) = (HEAD_BYTES, 0, None);
    let run = loop {
        let run = first(&bytes[at..]).ok_or(Corrupt)?;
        if mark.index < start + run.count {
            break run;
        }
        before = Some(at);
        start += run.count;
        at += run.bytes;
    };
    if start + run.count > REGISTERS {
        return Err(Corrupt);
    }
    if run.value >= mark.run {
        return Ok(Raised::Done(false));
    }
    let (left, right) = (mark.index - start, start + run.count - mark.index - 1);
    let mut runs = Vec::with_capacity(5);
    if run.value == 0 {
        put_zeros(&mut runs, left);
        runs.push(same(mark.run, 1));
        put_zeros(&mut runs, right);
    } else {
        runs.extend((left > 0).then(|| same(run.value, left)));
        runs.push(same(mark.run, 1));
        runs.extend((right > 0).then(|| same(run.value, right)));
    }
    if runs.len() > run.bytes && (bytes.len() + runs.len() - run.bytes) as u64 > bytes_max {
        return Ok(Raised::NoRoom);
    }
    bytes.splice(at..at + run.bytes, runs);
    join(bytes, before.unwrap_or(HEAD_BYTES));
    Ok(Raised::Done(true))
}

/// Joins neighbours of one value, from `at` on.
fn join(bytes: &mut Vec<u8>, mut at: usize) {
    for _ in 0..JOINED_MAX {
        let Some(run) = first(&bytes[at..]) else { return };
        let next = first(&bytes[at + run.bytes..]).filter(|next| run.value > 0 && next.value == run.value);
        match next.filter(|next| run.count + next.count <= SAME_MAX) {
            Some(next) => {
                bytes[at] = same(run.value, run.count + next.count);
                bytes.remove(at + 1);
            }
            None => at += run.bytes,
        }
    }
}

/// Registers as runs, in as few bytes as can be; `None` if one holds more than a run can say.
pub(super) fn encode(registers: &[u8; REGISTERS]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for run in registers.chunk_by(|one, next| one == next) {
        match run[0] {
            0 => put_zeros(&mut out, run.len()),
            value @ 1..=RUN_MAX => out.extend(run.chunks(SAME_MAX).map(|part| same(value, part.len()))),
            _ => return None,
        }
    }
    Some(out)
}

/// Runs in words: `z:` for short and `Z:` for long ones of nothing, `v:` for a value and how many hold it.
pub(super) fn describe(mut bytes: &[u8]) -> String {
    let mut words = Vec::new();
    while let Some(run) = first(bytes) {
        words.push(match run {
            SparseRun { value: 0, bytes: 1, count } => format!("z:{count}"),
            SparseRun { value: 0, count, .. } => format!("Z:{count}"),
            SparseRun { value, count, .. } => format!("v:{value},{count}"),
        });
        bytes = &bytes[run.bytes..];
    }
    words.join(" ")
}
