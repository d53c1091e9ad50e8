//! LCS: the longest common subsequence of two texts.
//!
//! The plain table: `lengths[i][j]` is the answer for the first `i` bytes of one and the first `j` of the other.
//! The way back from its end gives the bytes, and the runs in which they lie in both texts, last first. Which of
//! several longest ones that is, is Redis's choice: where both ways are as good, one byte less of the second.
//!
//! ```text
//! cut the texts out --> fill the table --> find the way back --> tell        a step each, or many
//! ```

use crate::prelude::*;
use base::limits::BULK_BYTES_MAX;
use kinds::LongText;
use std::ops::Range;
use wire::{More, Source};

pub(crate) const COMMANDS: &[Command] = &[LCS];

const LCS: Command = Command {
    name: "LCS",
    syntax: "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec { begin: Begin::Index(1), find: Find::Range { last: 1, step: 1 }, flags: "RO ACCESS" }],
    access: Access::Read,
    flags: &[],
    group: Group::String,
    cost: "O(n*m), n and m the lengths of the texts",
    since: "7.0.0",
    brief: "Finds the longest common subsequence of two texts.",
    answer: "bulk: the subsequence; with LEN, int: its length; with IDX, map: matches and len",
    run: Run::Local(lcs),
};

/// Tables with more cells than this are filled once the locks are let go.
const CELLS_LOCKED_MAX: usize = 16 << 10;
/// How many cells are filled, or passed on the way back, in one step: some 100 µs.
const STEP_CELLS: usize = 64 << 10;

/// What is asked, of texts as they are, and the work on it once it has begun.
struct Asked {
    left: LongText,
    right: LongText,
    options: Options,
    work: Option<Work>,
}

/// Texts at hand, and their table.
struct Work {
    left: Vec<u8>,
    right: Vec<u8>,
    /// Row by row; a row for each prefix of `left`, the empty one first.
    lengths: Vec<u32>,
    /// The cell that is filled next.
    next: usize,
    /// How much of both texts the way back has yet to pass.
    way: (usize, usize),
    /// Runs of bytes that are in both, the last first.
    matches: Vec<Match>,
}

#[derive(Clone, Copy)]
struct Options {
    answer: Answer,
    /// Shorter runs are not told.
    match_bytes_min: i64,
    with_match_bytes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Bytes,
    Length,
    Matches,
}

/// A run of bytes that lies in both texts.
struct Match {
    left: Range<usize>,
    right: Range<usize>,
}

fn lcs(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (left, right) = (content(tx, args.get(1))?, content(tx, args.get(2))?);
    let mut asked = Asked { left, right, options: options(args)?, work: None };
    let cells_count = (asked.left.bytes_count() + 1).saturating_mul(asked.right.bytes_count() + 1);
    if cells_count > BULK_BYTES_MAX / size_of::<u32>() {
        let text = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
        return Err(Failure::text(text));
    }
    if cells_count > CELLS_LOCKED_MAX && !tx.grants_memory((cells_count * size_of::<u32>()) as u64) {
        let text = "ERR Insufficient memory, failed allocating transient memory for LCS";
        return Err(Failure::text(text));
    }
    if cells_count > CELLS_LOCKED_MAX {
        reply.stream(Box::new(asked));
    } else {
        while asked.next(reply) == More::Follows {}
    }
    Ok(())
}

fn content(tx: &mut Tx, key: &[u8]) -> Result<LongText, Failure> {
    let not_a_text = |_| Failure::text("ERR The specified keys must contain string values");
    Ok(tx.text(key).map_err(not_a_text)?.map_or_else(LongText::default, |text| text.to_long()))
}

fn options(args: &Args) -> Result<Options, Failure> {
    let mut options = Options { answer: Answer::Bytes, match_bytes_min: 0, with_match_bytes: false };
    let (mut length, mut matches) = (false, false);
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        if parse::is(word, "LEN") {
            length = true;
        } else if parse::is(word, "IDX") {
            matches = true;
        } else if parse::is(word, "WITHMATCHLEN") {
            options.with_match_bytes = true;
        } else if parse::is(word, "MINMATCHLEN") {
            options.match_bytes_min = parse::int(words.next().ok_or(Failure::Syntax)?)?;
        } else {
            return Err(Failure::Syntax);
        }
    }
    options.answer = match (length, matches) {
        (true, true) => {
            return Err(Failure::text("ERR If you want both the length and indexes, please just use IDX."));
        }
        (true, false) => Answer::Length,
        (false, true) => Answer::Matches,
        (false, false) => Answer::Bytes,
    };
    Ok(options)
}

impl Source for Asked {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let [left, right] = [&self.left, &self.right];
        let work = self.work.get_or_insert_with(|| Work::new(left, right));
        if !work.fill() || (self.options.answer != Answer::Length && !work.find_way()) {
            return More::Follows;
        }
        work.answer(self.options, reply);
        More::Done
    }
}

impl Work {
    fn new(left: &LongText, right: &LongText) -> Self {
        let [left, right] = [left, right].map(|text| text.to_vec(0..text.bytes_count()));
        let lengths = vec![0; (left.len() + 1) * (right.len() + 1)];
        let (next, way) = (right.len() + 1, (left.len(), right.len()));
        Self { left, right, lengths, next, way, matches: Vec::new() }
    }

    /// A step of the table; whether it is full.
    fn fill(&mut self) -> bool {
        let width = self.right.len() + 1;
        let mut cells_left = STEP_CELLS;
        while cells_left > 0 && self.next < self.lengths.len() {
            let (row, from) = (self.next / width, self.next % width);
            let (above, below) = self.lengths.split_at_mut(row * width);
            let above = &above[(row - 1) * width..];
            let byte = self.left[row - 1];
            let to = width.min(from + cells_left);
            // The first of a row stays 0.
            for column in from.max(1)..to {
                below[column] = if byte == self.right[column - 1] {
                    above[column - 1] + 1
                } else {
                    above[column].max(below[column - 1])
                };
            }
            self.next += to - from;
            cells_left -= to - from;
        }
        self.next >= self.lengths.len()
    }

    /// A step of the way back from the end of the table; whether it has come to the start of a text.
    fn find_way(&mut self) -> bool {
        let width = self.right.len() + 1;
        let (mut i, mut j) = self.way;
        for _ in 0..STEP_CELLS {
            if i == 0 || j == 0 {
                break;
            }
            if self.left[i - 1] == self.right[j - 1] {
                (i, j) = (i - 1, j - 1);
                match self.matches.last_mut() {
                    Some(last) if last.left.start == i + 1 && last.right.start == j + 1 => {
                        (last.left.start, last.right.start) = (i, j);
                    }
                    _ => self.matches.push(Match { left: i..i + 1, right: j..j + 1 }),
                }
            } else if self.lengths[(i - 1) * width + j] > self.lengths[i * width + j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        self.way = (i, j);
        i == 0 || j == 0
    }

    fn answer(&self, options: Options, reply: &mut dyn Reply) {
        let length = *self.lengths.last().expect("at least one cell");
        match options.answer {
            Answer::Length => reply.int(i64::from(length)),
            Answer::Matches => self.tell_matches(length, options, reply),
            Answer::Bytes => {
                let runs = self.matches.iter().rev();
                let bytes: Vec<u8> = runs.flat_map(|found| &self.left[found.left.clone()]).copied().collect();
                assert!(bytes.len() == length as usize);
                reply.bulk_owned(bytes);
            }
        }
    }

    fn tell_matches(&self, length: u32, options: Options, reply: &mut dyn Reply) {
        let told: Vec<&Match> =
            self.matches.iter().filter(|found| found.left.len() as i64 >= options.match_bytes_min).collect();
        reply.map(2);
        reply.bulk(b"matches");
        reply.array(told.len());
        for found in told {
            reply.array(if options.with_match_bytes { 3 } else { 2 });
            for range in [&found.left, &found.right] {
                reply.array(2);
                reply.int(range.start as i64);
                reply.int(range.end as i64 - 1);
            }
            if options.with_match_bytes {
                reply.int(found.left.len() as i64);
            }
        }
        reply.bulk(b"len");
        reply.int(i64::from(length));
    }
}
