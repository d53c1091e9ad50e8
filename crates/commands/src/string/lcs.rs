//! LCS: the longest common subsequence of two texts.
//!
//! The plain table: `lengths[i][j]` is the answer for the first `i` bytes of one and the first `j` of the other.
//! The way back from its end gives the bytes, and the runs in which they lie in both texts, last first. Which of
//! several longest ones that is, is Redis's choice: where both ways are as good, one byte less of the second.

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

/// What is asked, of texts as they are.
struct Asked {
    left: LongText,
    right: LongText,
    options: Options,
}

/// What is asked, of texts at hand.
struct Question {
    left: Vec<u8>,
    right: Vec<u8>,
    options: Options,
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
    let asked = Asked { left, right, options: options(args)? };
    let cells_count = (asked.left.bytes_count() + 1).saturating_mul(asked.right.bytes_count() + 1);
    if cells_count > BULK_BYTES_MAX / size_of::<u32>() {
        let text = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
        return Err(Failure::text(text));
    }
    if cells_count > CELLS_LOCKED_MAX {
        reply.stream(Box::new(asked));
    } else {
        asked.question().answer(reply);
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
        self.question().answer(reply);
        More::Done
    }
}

impl Asked {
    fn question(&self) -> Question {
        let [left, right] = [&self.left, &self.right].map(|text| text.to_vec(0..text.bytes_count()));
        Question { left, right, options: self.options }
    }
}

impl Question {
    fn cells_count(&self) -> usize {
        (self.left.len() + 1).saturating_mul(self.right.len() + 1)
    }

    fn answer(&self, reply: &mut dyn Reply) {
        let lengths = self.lengths();
        let length = *lengths.last().expect("at least one cell");
        if self.options.answer == Answer::Length {
            return reply.int(i64::from(length));
        }
        let matches = self.matches(&lengths);
        if self.options.answer == Answer::Matches {
            return self.tell_matches(&matches, length, reply);
        }
        let bytes: Vec<u8> = matches.iter().rev().flat_map(|found| &self.left[found.left.clone()]).copied().collect();
        assert!(bytes.len() == length as usize);
        reply.bulk_owned(bytes);
    }

    /// The table, row by row; a row for each prefix of `left`, the empty one first.
    fn lengths(&self) -> Vec<u32> {
        let width = self.right.len() + 1;
        let mut lengths = vec![0; self.cells_count()];
        for (row, left) in self.left.iter().enumerate() {
            let (above, below) = lengths.split_at_mut((row + 1) * width);
            let above = &above[row * width..];
            for (column, right) in self.right.iter().enumerate() {
                below[column + 1] =
                    if left == right { above[column] + 1 } else { above[column + 1].max(below[column]) };
            }
        }
        lengths
    }

    /// The way back from the end of the table: runs of bytes that are in both, the last first.
    fn matches(&self, lengths: &[u32]) -> Vec<Match> {
        let width = self.right.len() + 1;
        let mut matches: Vec<Match> = Vec::new();
        let (mut i, mut j) = (self.left.len(), self.right.len());
        while i > 0 && j > 0 {
            if self.left[i - 1] == self.right[j - 1] {
                (i, j) = (i - 1, j - 1);
                match matches.last_mut() {
                    Some(last) if last.left.start == i + 1 && last.right.start == j + 1 => {
                        (last.left.start, last.right.start) = (i, j);
                    }
                    _ => matches.push(Match { left: i..i + 1, right: j..j + 1 }),
                }
            } else if lengths[(i - 1) * width + j] > lengths[i * width + j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        matches
    }

    fn tell_matches(&self, matches: &[Match], length: u32, reply: &mut dyn Reply) {
        let told: Vec<&Match> =
            matches.iter().filter(|found| found.left.len() as i64 >= self.options.match_bytes_min).collect();
        reply.map(2);
        reply.bulk(b"matches");
        reply.array(told.len());
        for found in told {
            reply.array(if self.options.with_match_bytes { 3 } else { 2 });
            for range in [&found.left, &found.right] {
                reply.array(2);
                reply.int(range.start as i64);
                reply.int(range.end as i64 - 1);
            }
            if self.options.with_match_bytes {
                reply.int(found.left.len() as i64);
            }
        }
        reply.bulk(b"len");
        reply.int(i64::from(length));
    }
}
