//! Registers as runs of equal ones.
//!
//! ```text
//!   00llllll             l + 1 registers hold nothing
//!   01llllll llllllll    l + 1 registers hold nothing; used from 65 on
//!   1vvvvvll             l + 1 registers hold v + 1
//! ```
//!
//! An element splits the run of its register; then neighbours of equal value are joined again, within a few runs. Redis
//! does the same, so the same elements yield the same bytes.

use super::{Corrupt, HEAD_BYTES, Mark, REGISTERS};
use std::ops::Range;

/// A single run.
pub(super) const EMPTY: [u8; 2] = long_zeros(REGISTERS);

const ZEROS_MAX: usize = 64;
const SAME_MAX: usize = 4;
/// The maximum register value of a run.
const RUN_MAX: u8 = 32;
/// The number of runs examined for joining.
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

/// Returns a run of at most four registers.
fn same(run: u8, count: usize) -> u8 {
    0x80 | (run - 1) << 2 | (count as u8 - 1)
}

/// A decoded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SparseRun {
    /// The number of registers.
    count: usize,
    /// The value of each.
    value: u8,
    /// The encoded length.
    bytes: usize,
}

/// Returns the first run; `None` if it is truncated or missing.
fn first(bytes: &[u8]) -> Option<SparseRun> {
    let (&head, rest) = bytes.split_first()?;
    let low = usize::from(head & 63);
    Some(match head >> 6 {
        0 => SparseRun { count: low + 1, value: 0, bytes: 1 },
        1 => SparseRun { count: (low << 8 | usize::from(*rest.first()?)) + 1, value: 0, bytes: 2 },
        _ => SparseRun { count: usize::from(head & 3) + 1, value: (head >> 2 & 31) + 1, bytes: 1 },
    })
}

/// Visits each run with its registers and their value.
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

/// The result of adding an element.
pub(super) enum Raised {
    /// Added; whether its register was lower before.
    Done(bool),
    /// Runs cannot represent it, or not within the length limit. Nothing has changed.
    NoRoom,
}

/// Adds an element to a sparse one, given with its header.
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

/// Joins neighbours of equal value, from `at` on.
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

/// Encodes registers as runs, as short as possible; `None` if a value is too large for a run.
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

/// Describes the runs: `z:` for short and `Z:` for long empty ones, `v:` for a value and its count.
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
