//! LCS: the longest common subsequence of two strings.
//!
//! With `lengths[i][j]` the answer for the first `i` bytes of one and the first `j` of the other, tracing back from the
//! end of that table gives the bytes, and their runs in both strings, last first. Among several longest subsequences
//! we choose as Redis does: on a tie, drop a byte of the second. Tracing back needs only one bit per cell: whether
//! dropping a byte of the first is better; of the lengths only the latest row is kept. Rows run along the longer
//! string, so that they are short.
//!
//! ```text
//! take memory --> copy the strings --> fill the table --> trace back --> reply        one step each, or many
//! ```

use crate::prelude::*;
use base::cost;
use base::limits::BULK_BYTES_MAX;
use keyspace::{Transient, Transients};
use std::ops::Range;
use values::LongString;
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[LCS];

const LCS: CommandSpec = CommandSpec {
    name: "LCS",
    syntax: "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::found(Begin::Index(1), Find::Range { last: 1, step: 1 }, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Arguments(&[argument("4", "len", "", "")])],
    group: Group::String,
    cost: "O(n*m), n and m the lengths of the strings",
    since: "7.0.0",
    brief: "Finds the longest common subsequence of two strings.",
    answer: "bulk: the subsequence; with LEN, int: its length; with IDX, map: matches and len",
    run: Run::Local(lcs),
};

/// Tables with more cells than this are filled without the locks.
const CELLS_LOCKED_MAX: usize = 16 << 10;
/// Cells filled or traced back per step: about 100 µs.
const STEP_CELLS: usize = 64 << 10;
/// Bytes copied out of a string per step.
const STEP_BYTES: usize = 256 << 10;
/// The memory limit for tables and strings of all connections together, in bytes.
const TRANSIENT_BYTES_MAX: u64 = BULK_BYTES_MAX as u64;

const TOO_LARGE: &str = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";

/// A request, with the strings unchanged, and the work in progress once started.
struct LcsRequest {
    left: LongString,
    right: LongString,
    options: LcsOptions,
    transients: Transients,
    work: Option<Work>,
}

/// The copied strings and their table.
struct Work {
    left: Vec<u8>,
    right: Vec<u8>,
    table: Option<LcsTable>,
    /// Lengths of the prefixes of both strings that are still to be traced back.
    way: (usize, usize),
    /// The common runs of bytes, last first.
    matches: Vec<Match>,
    bytes: u64,
    _transient: Transient,
}

/// The length table: its latest row, and a bit for each cell except those of empty prefixes.
struct LcsTable {
    /// True if there is a row for each prefix of the left string, along the right one; else the reverse.
    rows_are_of_left: bool,
    /// The latest row, starting with the empty prefix.
    lengths: Vec<u32>,
    rows_filled: usize,
    /// Row by row: whether dropping a byte of the left string leaves more than one of the right. Empty if not needed.
    is_left_shorter: Vec<u64>,
}

#[derive(Clone, Copy)]
struct LcsOptions {
    answer: Answer,
    /// Shorter runs are not reported.
    match_bytes_min: i64,
    with_match_bytes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Bytes,
    Length,
    Matches,
}

/// A run of bytes common to both strings.
struct Match {
    left: Range<usize>,
    right: Range<usize>,
}

fn lcs(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (left, right) = (content(tx, args.get(1))?, content(tx, args.get(2))?);
    let transients = tx.keyspace().transients().clone();
    let mut asked = LcsRequest { left, right, options: options(args)?, transients, work: None };
    let cells_count = (asked.left.bytes_count() + 1).saturating_mul(asked.right.bytes_count() + 1);
    if cells_count > BULK_BYTES_MAX / size_of::<u32>() {
        return Err(Failure::text(TOO_LARGE));
    }
    let needs_way = asked.options.answer != Answer::Length;
    let table_bytes = LcsTable::bytes(asked.left.bytes_count(), asked.right.bytes_count(), needs_way);
    if cells_count > CELLS_LOCKED_MAX && !tx.grants_memory(table_bytes as u64) {
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

fn content(tx: &mut Tx, key: &[u8]) -> Result<LongString, Failure> {
    let not_a_text = |_| Failure::text("ERR The specified keys must contain string values");
    Ok(tx.string(key).map_err(not_a_text)?.map_or_else(LongString::default, |text| text.to_long()))
}

fn options(args: &Args) -> Result<LcsOptions, Failure> {
    let mut options = LcsOptions { answer: Answer::Bytes, match_bytes_min: 0, with_match_bytes: false };
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

impl Source for LcsRequest {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let needs_way = self.options.answer != Answer::Length;
        if self.work.is_none() {
            self.work = Work::begin(&self.left, &self.right, needs_way, &self.transients);
        }
        let Some(work) = &mut self.work else {
            reply.error(TOO_LARGE);
            return More::Done;
        };
        if !work.cut(&self.left, &self.right) || !work.fill(needs_way) || (needs_way && !work.find_way()) {
            return More::Follows;
        }
        work.answer(self.options, reply);
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.work.as_ref().map_or(0, |work| work.bytes)
    }
}

impl LcsTable {
    /// Creates a table for strings of these lengths, in bytes.
    fn new(left_bytes: usize, right_bytes: usize, needs_way: bool) -> Self {
        let (columns, cells_count) = (left_bytes.min(right_bytes), left_bytes * right_bytes);
        Self {
            rows_are_of_left: left_bytes >= right_bytes,
            lengths: vec![0; columns + 1],
            rows_filled: 0,
            is_left_shorter: if needs_way { vec![0; cells_count.div_ceil(64)] } else { Vec::new() },
        }
    }

    /// Returns the bytes that [`LcsTable::new`] allocates.
    fn bytes(left_bytes: usize, right_bytes: usize, needs_way: bool) -> usize {
        let bits = if needs_way { left_bytes * right_bytes } else { 0 };
        (left_bytes.min(right_bytes) + 1) * size_of::<u32>() + bits.div_ceil(64) * size_of::<u64>()
    }

    /// Fills the next row, whose prefix ends with `byte`.
    fn fill_row(&mut self, byte: u8, along: &[u8]) {
        let (first_bit, needs_way) = (self.rows_filled * along.len(), !self.is_left_shorter.is_empty());
        let (mut above_before, mut before) = (0, 0);
        for (column, other) in along.iter().enumerate() {
            let above = self.lengths[column + 1];
            let length = if byte == *other { above_before + 1 } else { above.max(before) };
            let is_left_shorter = if self.rows_are_of_left { above > before } else { before > above };
            if needs_way && is_left_shorter {
                let bit = first_bit + column;
                self.is_left_shorter[bit / 64] |= 1 << (bit % 64);
            }
            self.lengths[column + 1] = length;
            (above_before, before) = (above, length);
        }
        self.rows_filled += 1;
    }

    /// Returns true if dropping a byte of the left string leaves more than one of the right, with `i` and `j` bytes
    /// left.
    fn is_left_shorter(&self, i: usize, j: usize) -> bool {
        let columns = self.lengths.len() - 1;
        let bit = if self.rows_are_of_left { (i - 1) * columns + j - 1 } else { (j - 1) * columns + i - 1 };
        self.is_left_shorter[bit / 64] >> (bit % 64) & 1 == 1
    }
}

impl Work {
    /// Returns `None` if all connections together would use too much memory.
    fn begin(left: &LongString, right: &LongString, needs_way: bool, transients: &Transients) -> Option<Self> {
        let (left_bytes, right_bytes) = (left.bytes_count(), right.bytes_count());
        let bytes = (left_bytes + right_bytes + LcsTable::bytes(left_bytes, right_bytes, needs_way)) as u64;
        let transient = transients.take(bytes, TRANSIENT_BYTES_MAX)?;
        Some(Self {
            left: Vec::with_capacity(left_bytes),
            right: Vec::with_capacity(right_bytes),
            table: None,
            way: (left_bytes, right_bytes),
            matches: Vec::new(),
            bytes,
            _transient: transient,
        })
    }

    /// Copies one step of the strings. Returns true when done.
    fn cut(&mut self, left: &LongString, right: &LongString) -> bool {
        for (bytes, text) in [(&mut self.left, left), (&mut self.right, right)] {
            if bytes.len() < text.bytes_count() {
                let end = text.bytes_count().min(bytes.len() + STEP_BYTES);
                cost::count(cost::Work::Bytes, end - bytes.len());
                bytes.append(&mut text.to_vec(bytes.len()..end));
                if end < text.bytes_count() {
                    return false;
                }
            }
        }
        true
    }

    /// Fills one step of the table. Returns true when it is full.
    fn fill(&mut self, needs_way: bool) -> bool {
        let Self { left, right, table, .. } = self;
        let table = table.get_or_insert_with(|| LcsTable::new(left.len(), right.len(), needs_way));
        let (rows, along) = if table.rows_are_of_left { (left, right) } else { (right, left) };
        if along.is_empty() {
            return true;
        }
        let end = rows.len().min(table.rows_filled + (STEP_CELLS / along.len()).max(1));
        cost::count(cost::Work::Elements, (end - table.rows_filled) * along.len());
        for byte in &rows[table.rows_filled..end] {
            table.fill_row(*byte, along);
        }
        end == rows.len()
    }

    /// Traces back one step from the end of the table. Returns true at the start of a string.
    fn find_way(&mut self) -> bool {
        let table = self.table.as_ref().expect("filled before");
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
            } else if table.is_left_shorter(i, j) {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        self.way = (i, j);
        i == 0 || j == 0
    }

    fn answer(&self, options: LcsOptions, reply: &mut dyn Reply) {
        let table = self.table.as_ref().expect("filled before");
        let length = *table.lengths.last().expect("at least one cell");
        match options.answer {
            Answer::Length => reply.int(i64::from(length)),
            Answer::Matches => self.write_matches(length, options, reply),
            Answer::Bytes => {
                let runs = self.matches.iter().rev();
                let bytes: Vec<u8> = runs.flat_map(|found| &self.left[found.left.clone()]).copied().collect();
                assert!(bytes.len() == length as usize);
                reply.bulk_owned(bytes);
            }
        }
    }

    fn write_matches(&self, length: u32, options: LcsOptions, reply: &mut dyn Reply) {
        let matches: Vec<&Match> =
            self.matches.iter().filter(|found| found.left.len() as i64 >= options.match_bytes_min).collect();
        reply.map(2);
        reply.bulk(b"matches");
        reply.array(matches.len());
        for found in matches {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The ranges of a run common to both strings.
    type Same = (Range<usize>, Range<usize>);

    /// Redis's plain table and traceback: runs of both strings, last first.
    fn plain_way(left: &[u8], right: &[u8]) -> (u32, Vec<Same>) {
        let mut lengths = vec![vec![0u32; right.len() + 1]; left.len() + 1];
        for (i, one) in left.iter().enumerate() {
            for (j, other) in right.iter().enumerate() {
                let longest = lengths[i][j + 1].max(lengths[i + 1][j]);
                lengths[i + 1][j + 1] = if one == other { lengths[i][j] + 1 } else { longest };
            }
        }
        let (mut i, mut j, mut runs) = (left.len(), right.len(), Vec::<Same>::new());
        while i > 0 && j > 0 {
            if left[i - 1] == right[j - 1] {
                (i, j) = (i - 1, j - 1);
                match runs.last_mut() {
                    Some((one, other)) if one.start == i + 1 && other.start == j + 1 => {
                        (one.start, other.start) = (i, j);
                    }
                    _ => runs.push((i..i + 1, j..j + 1)),
                }
            } else if lengths[i - 1][j] > lengths[i][j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        (lengths[left.len()][right.len()], runs)
    }

    fn worked(left: &[u8], right: &[u8], needs_way: bool) -> Work {
        let [one, other] = [left, right].map(LongString::of);
        let mut work = Work::begin(&one, &other, needs_way, &Transients::default()).expect("little is enough");
        while !work.cut(&one, &other) {}
        while !work.fill(needs_way) {}
        while needs_way && !work.find_way() {}
        work
    }

    fn text(bytes_max: usize) -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(proptest::sample::select(b"abcd".to_vec()), 0..bytes_max)
    }

    proptest! {
        #[test]
        fn lcs_chooses_the_same_subsequence_as_the_plain_table((left, right) in prop_oneof![
            (text(90), text(90)), (text(5), text(400)), (text(400), text(5)),
        ]) {
            let (length, runs) = plain_way(&left, &right);
            let work = worked(&left, &right, true);
            let found: Vec<_> = work.matches.iter().map(|found| (found.left.clone(), found.right.clone())).collect();
            prop_assert_eq!(found, runs);
            prop_assert_eq!(work.table.as_ref().unwrap().lengths.last(), Some(&length));
            let short = worked(&left, &right, false);
            let short_length = short.table.and_then(|table| table.lengths.last().copied());
            prop_assert_eq!(short_length, Some(length));
        }
    }

    #[test]
    fn lcs_takes_one_bit_per_cell_or_none_for_len() {
        let text = vec![b'a'; 11_000];
        let cells_count = (text.len() * text.len()) as u64;
        let bytes = worked(&text, &text, true).bytes;
        assert!(bytes <= cells_count / 8 + 100_000, "{bytes} bytes");
        assert!(worked(&text, &text, false).bytes <= 100_000);
    }

    #[test]
    fn concurrent_lcs_requests_share_one_memory_limit() {
        let (text, transients) = (LongString::of(&vec![b'a'; 11_000]), Transients::default());
        let works: Vec<Work> = (0..1_000).map_while(|_| Work::begin(&text, &text, true, &transients)).collect();
        assert!((10..100).contains(&works.len()), "{} at a time", works.len());
        assert!(transients.bytes() <= TRANSIENT_BYTES_MAX);
        let options = LcsOptions { answer: Answer::Bytes, match_bytes_min: 0, with_match_bytes: false };
        let (left, right) = (text.clone(), text.clone());
        let mut asked = LcsRequest { left, right, options, transients: transients.clone(), work: None };
        let mut output = wire::Output::new();
        assert!(asked.next(&mut wire::resp::Encoder::new(&mut output, wire::resp::Protocol::Resp2)) == More::Done);
        assert_eq!(output.front(), Some(format!("-{TOO_LARGE}\r\n").as_bytes()));
        drop(works);
        assert_eq!(transients.bytes(), 0);
    }

    #[test]
    fn each_lcs_step_stays_within_its_bound() {
        for (left_bytes, right_bytes) in [(11_000, 11_000), (3, 20 << 20), (20 << 20, 3)] {
            let [left, right] = [left_bytes, right_bytes].map(|bytes| LongString::of(&vec![b'a'; bytes]));
            let mut work = Work::begin(&left, &right, true, &Transients::default()).unwrap();
            let mut most = cost::Counts::default();
            cost::take();
            loop {
                let is_over = work.cut(&left, &right) && work.fill(true);
                most = most.max(cost::take());
                if is_over {
                    break;
                }
            }
            assert!(most.elements <= STEP_CELLS as u64 && most.bytes <= 2 * STEP_BYTES as u64, "{most:?}");
        }
    }
}
