//! Loads that are a library's own tools: a process a command, with the lab's clock around it.
//!
//! ```text
//! input      records.tsv, a line a record                        written before the clock starts, then removed
//! commands   tchmgr importtsv casket.tch records.tsv             one process
//!            tcamgr misc casket.tch getlist key:{next:12}        as many keys as records, 20,000 a process
//!            '--- time, CPU and memory of each process ---'
//! ```
//!
//! What a command prints is thrown away while the clock runs: a reader would take a core from it. Where the number of
//! lines is known, the commands run once more without the clock, and their lines are counted.

use crate::calls::plan::Count;
use crate::calls::{NOISE_BYTES_MIN, noise};
use crate::contents::{below, mixed};
use crate::load::{Outcome, output};
use crate::resp::words;
use crate::scenario::PlaceholderValues;
use crate::scenario::placeholders::{NEXT, RANDOM};
use crate::server::{Server, line_named};
use crate::{LabError, interrupt, io_error};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// A command line has room for so many keys of some dozens of bytes.
const KEYS_A_COMMAND: u64 = 20_000;
const READ_BYTES: usize = 64 * 1024;
/// The exit code of a command that ran too long ([`crate::programs::bounded`]).
const TIMED_OUT: i32 = 124;
/// Seconds that a question may take.
const ASK_LIMIT_S: u64 = 600;

/// Commands of a library's tools, which handle some records together.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tools {
    /// A file that the commands read.
    pub(crate) input: Option<Input>,
    /// Command lines, run one after another in the side's folder. A word with `{next:12}` or `{random:12}` stands for
    /// as many words as there are records, each with its own number; a command that is too long for that is repeated.
    pub(crate) commands: Vec<String>,
    /// The records that all commands handle together; the requests of the case if absent. The rate is in records.
    pub(crate) records: Option<Count>,
    /// Lines that all commands together print for each record. Such commands run twice, and must not change anything.
    pub(crate) lines_per_record: Option<u64>,
}

/// A file of lines.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file's name in the side's folder.
    pub(crate) file: String,
    pub(crate) lines: Count,
    /// A line, with names in braces: `next:12`, the number of the line modulo the items; `random:12`, any number below
    /// the items; `next%7` and `random%7`, such a number below 7 without leading zeros; `text:100`, random letters and
    /// digits.
    pub(crate) line: String,
}

/// A part of a line.
#[derive(Debug, Eq, PartialEq)]
enum Piece {
    Plain(String),
    Next,
    Random,
    NextBelow(u64),
    RandomBelow(u64),
    Text(usize),
}

/// Resources that the processes used.
#[derive(Default)]
struct Usage {
    elapsed: Duration,
    cpu: Duration,
    /// The memory of the greatest process.
    rss_bytes: u64,
}

/// Runs the commands.
///
/// # Errors
/// One cannot be run, fails, or prints another number of lines; or all take longer than `limit`.
pub(crate) fn measure(
    server: &Server,
    tools: &Tools,
    values: PlaceholderValues,
    limit: Duration,
) -> Result<Outcome, LabError> {
    let records = tools.records.as_ref().map_or(Ok(values.requests), |records| records.resolve(values))?;
    let commands: Vec<Vec<String>> =
        tools.commands.iter().flat_map(|line| with_numbers(&values.fill(line), records, values.items)).collect();
    if commands.is_empty() || records == 0 {
        return Err(LabError::Step("tools need a command and records".to_owned()));
    }
    let input = tools.input.as_ref().map(|input| (server.folder().join(&input.file), input));
    if let Some((path, input)) = &input {
        write_lines(path, input, values)?;
    }
    let usage = run_all(server, &commands, limit)?;
    if let Some(lines) = tools.lines_per_record {
        check_lines(server, &commands, limit, lines * records)?;
    }
    if let Some((path, _)) = &input {
        fs::remove_file(path).map_err(io_error(path.display().to_string()))?;
    }
    Ok(Outcome {
        command_line: tools.commands.iter().map(|line| values.fill(line)).collect::<Vec<_>>().join(" ; "),
        requests: records,
        requests_per_s: Some(records as f64 / usage.elapsed.as_secs_f64().max(1e-9)),
        rss_bytes: Some(usage.rss_bytes),
        cpu_us: Some(usage.cpu.as_micros() as u64),
        extra: vec![("processes".to_owned(), commands.len() as f64)],
        ..Outcome::default()
    })
}

/// Runs a command and returns what it prints; ` | NAME` after it selects the value of one line.
///
/// # Errors
/// It cannot be run, fails, or prints no such line.
pub(crate) fn ask(server: &Server, question: &str) -> Result<String, LabError> {
    let (line, name) = question.split_once(" | ").unwrap_or((question, ""));
    let words = words(line);
    let (program, arguments) = words.split_first().ok_or_else(|| LabError::Step("an empty command".to_owned()))?;
    let mut command = server.tool(program, ASK_LIMIT_S)?;
    command.args(arguments);
    let failed = |error: &dyn std::fmt::Display| LabError::Step(format!("{line}: {error}; {}", server.last_words()));
    let text = output(command, program).map_err(|error| failed(&error))?;
    line_named(name, text.trim_end().to_owned()).map_err(|error| failed(&error))
}

/// Returns the commands that a line stands for: one, or as many as the numbers in a word need.
fn with_numbers(line: &str, records: u64, items: u64) -> Vec<Vec<String>> {
    let words = words(line);
    let items = items.max(1);
    let is_numbered = |word: &str| word.contains(NEXT) || word.contains(RANDOM);
    let numbered = |word: &str, number: u64| {
        let word = word.replace(NEXT, &format!("{:012}", number % items));
        word.replace(RANDOM, &format!("{:012}", below(mixed(number), items)))
    };
    let command = |numbers: std::ops::Range<u64>| {
        let of_word = |word: &&str| match is_numbered(word) {
            true => numbers.clone().map(|number| numbered(word, number)).collect(),
            false => vec![(*word).to_owned()],
        };
        words.iter().flat_map(of_word).collect()
    };
    if !words.iter().any(|word| is_numbered(word)) {
        return vec![command(0..0)];
    }
    let begins = (0..records).step_by(KEYS_A_COMMAND as usize);
    begins.map(|begin| command(begin..records.min(begin + KEYS_A_COMMAND))).collect()
}

fn run_all(server: &Server, commands: &[Vec<String>], limit: Duration) -> Result<Usage, LabError> {
    let mut usage = Usage::default();
    for words in commands {
        let rest = limit.saturating_sub(usage.elapsed);
        let begin = Instant::now();
        let mut child = server.tool(&words[0], rest.as_secs().max(1))?;
        let child = child.args(&words[1..]).stdout(Stdio::null()).spawn().map_err(io_error(&words[0]))?;
        let ended = interrupt::Ended::on_interrupt(child.id());
        let used = child.wait4().map_err(io_error("wait4"))?;
        usage.elapsed += begin.elapsed();
        drop(ended);
        check_status(server, words, used.status)?;
        usage.cpu += used.rusage.utime + used.rusage.stime;
        usage.rss_bytes = usage.rss_bytes.max(used.rusage.maxrss);
    }
    Ok(usage)
}

/// Runs the commands without a clock and counts what they print.
fn check_lines(server: &Server, commands: &[Vec<String>], limit: Duration, expected: u64) -> Result<(), LabError> {
    let mut lines = 0;
    for words in commands {
        let mut command = server.tool(&words[0], limit.as_secs().max(1))?;
        let mut child = command.args(&words[1..]).stdout(Stdio::piped()).spawn().map_err(io_error(&words[0]))?;
        let ended = interrupt::Ended::on_interrupt(child.id());
        let printed = child.stdout.take().expect("a pipe");
        lines += count_lines(printed).map_err(io_error(&words[0]))?;
        let status = child.wait().map_err(io_error("wait"))?;
        drop(ended);
        check_status(server, words, status)?;
    }
    if lines != expected {
        return Err(LabError::Step(format!("`{}` printed {lines} lines, expected {expected}", shown(&commands[0]))));
    }
    Ok(())
}

fn count_lines(mut from: impl Read) -> io::Result<u64> {
    let mut room = vec![0; READ_BYTES];
    let mut lines = 0;
    loop {
        match from.read(&mut room)? {
            0 => return Ok(lines),
            bytes => lines += room[..bytes].iter().filter(|byte| **byte == b'\n').count() as u64,
        }
    }
}

fn check_status(server: &Server, words: &[String], status: ExitStatus) -> Result<(), LabError> {
    match status.code() {
        Some(0) => Ok(()),
        Some(TIMED_OUT) => Err(LabError::Step(format!("`{}` did not end in time", shown(words)))),
        _ => Err(LabError::Step(format!("`{}`: {status}; {}", shown(words), server.last_words()))),
    }
}

/// The beginning of a command, which may have thousands of keys.
fn shown(words: &[String]) -> String {
    let rest = if words.len() > 8 { " ..." } else { "" };
    format!("{}{rest}", words[..words.len().min(8)].join(" "))
}

/// Writes the lines and waits until the disk has them, so that this work is not going on when the clock starts.
fn write_lines(path: &Path, input: &Input, values: PlaceholderValues) -> Result<(), LabError> {
    let pieces = pieces(&values.fill(&input.line))?;
    let lines = input.lines.resolve(values)?;
    let noise = noise(0);
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        (0..lines).try_for_each(|line| write_line(&mut out, &pieces, line, values.items.max(1), &noise))?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    write().map_err(io_error(path.display().to_string()))
}

fn write_line(out: &mut impl Write, pieces: &[Piece], line: u64, items: u64, noise: &[u8]) -> io::Result<()> {
    for (place, piece) in (0_u64..).zip(pieces) {
        let drawn = |bound| below(mixed(mixed(line).wrapping_add(place)), bound);
        match piece {
            Piece::Plain(text) => out.write_all(text.as_bytes())?,
            Piece::Next => write!(out, "{:012}", line % items)?,
            Piece::Random => write!(out, "{:012}", below(mixed(line), items))?,
            Piece::NextBelow(bound) => write!(out, "{}", line % bound)?,
            Piece::RandomBelow(bound) => write!(out, "{}", drawn(*bound))?,
            Piece::Text(bytes) => {
                let begin = drawn((noise.len() - bytes) as u64 + 1) as usize;
                out.write_all(&noise[begin..begin + bytes])?;
            }
        }
    }
    out.write_all(b"\n")
}

/// Returns the pieces of a line.
///
/// # Errors
/// A name in it is unknown.
fn pieces(line: &str) -> Result<Vec<Piece>, LabError> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((plain, after)) = rest.split_once('{') {
        let unknown = || LabError::Step(format!("`{line}` has an unknown name in braces"));
        let (name, after) = after.split_once('}').ok_or_else(unknown)?;
        if !plain.is_empty() {
            pieces.push(Piece::Plain(plain.to_owned()));
        }
        pieces.push(piece(name).ok_or_else(unknown)?);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Plain(rest.to_owned()));
    }
    Ok(pieces)
}

fn piece(name: &str) -> Option<Piece> {
    let bound = |digits: &str| digits.parse().ok().filter(|bound| *bound > 0);
    match name {
        "next:12" => Some(Piece::Next),
        "random:12" => Some(Piece::Random),
        _ if name.starts_with("next%") => bound(&name["next%".len()..]).map(Piece::NextBelow),
        _ if name.starts_with("random%") => bound(&name["random%".len()..]).map(Piece::RandomBelow),
        _ => name.strip_prefix("text:")?.parse().ok().filter(|bytes| *bytes <= NOISE_BYTES_MIN).map(Piece::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: PlaceholderValues = PlaceholderValues { requests: 300, items: 300 };
    const LIMIT: Duration = Duration::from_secs(300);

    fn library() -> Option<(tempfile::TempDir, Server)> {
        Server::of_adapter("lab::tools", "tokyocabinet")
    }

    fn tools(text: &str) -> Tools {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn records_are_imported_and_read_by_key() {
        let Some((_data, server)) = library() else { return };
        for (manager, file) in [("tchmgr", "casket.tch"), ("tcbmgr", "casket.tcb")] {
            server.ask(&format!("{manager} create {file}")).unwrap();
            let put = format!(
                "input = {{ file = 'in.tsv', lines = '{{items}}', line = \"key:{{next:12}}\\t{{text:100}}\" }}
                 commands = ['{manager} importtsv {file} in.tsv']"
            );
            let outcome = measure(&server, &tools(&put), VALUES, LIMIT).unwrap();
            assert_eq!(outcome.requests, 300);
            assert!(outcome.rss_bytes.unwrap() > 0 && outcome.requests_per_s.unwrap() > 0.0);
            assert_eq!(server.ask(&format!("{manager} inform {file} | record number")).unwrap(), "300");
            assert_eq!(server.ask(&format!("{manager} get {file} key:000000000299")).unwrap().len(), 100);
            assert!(!server.folder().join("in.tsv").exists());

            let get = format!("commands = ['tcamgr misc {file} getlist key:{{next:12}}']\nlines_per_record = 2");
            measure(&server, &tools(&get), VALUES, LIMIT).unwrap();
            let more = PlaceholderValues { requests: 301, items: 301 };
            let error = measure(&server, &tools(&get), more, LIMIT).err().unwrap().to_string();
            assert!(error.contains("printed 600 lines, expected 602"), "{error}");
        }
    }

    #[test]
    fn a_table_is_searched_by_its_columns() {
        let Some((_data, server)) = library() else { return };
        let put = "input = { file = 'in.tsv', lines = 300, line = \"{next:12}\\tsex\\t{next%2}\\tcity\\t{random%30}\" }
                   commands = ['tctmgr create table.tct', 'tctmgr importtsv table.tct in.tsv',
                               'tctmgr setindex table.tct sex']";
        measure(&server, &tools(put), VALUES, LIMIT).unwrap();
        assert_eq!(server.ask("tctmgr search table.tct sex STREQ 1").unwrap().lines().count(), 150);
        let search = "commands = ['tctmgr search -bt 7 -m 20 table.tct sex STREQ 1 city STREQ 3']\nrecords = 7";
        assert_eq!(measure(&server, &tools(search), VALUES, LIMIT).unwrap().requests, 7);
    }

    #[test]
    fn a_library_has_no_process_of_its_own() {
        let Some((data, server)) = library() else { return };
        assert_eq!(server.pid(), None);
        assert!(server.own_pid().is_err());
        let side = toml::from_str("label = 'l'\nprogram = 'tokyocabinet'").unwrap();
        let running = Server::running(&side, server.address(), data.path()).err().unwrap();
        assert!(running.to_string().contains("is a library"), "{running}");
        drop(server);
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_failed_command_is_an_error_with_its_words() {
        let Some((_data, server)) = library() else { return };
        let failed = |text: &str| measure(&server, &tools(text), VALUES, LIMIT).err().unwrap().to_string();
        let error = failed("commands = ['tchmgr importtsv a.tch no-such.tsv']");
        assert!(error.contains("tchmgr importtsv"), "{error}");
        let error = failed("commands = ['tchmgr list missing.tch']");
        assert!(error.contains("missing.tch") && error.contains("the server said: "), "{error}");
        assert!(failed("commands = ['no-such-tool']").contains("not on PATH"));
        assert!(failed("commands = []").contains("need a command"));
        assert!(server.ask("tchmgr version | no such line").is_err());
    }

    #[test]
    fn a_word_with_a_number_stands_for_many() {
        let commands = with_numbers("get k:{next:12} end", 3, 2);
        assert_eq!(commands, [["get", "k:000000000000", "k:000000000001", "k:000000000000", "end"]]);
        assert_eq!(with_numbers("list -pv", 3, 2), [["list", "-pv"]]);
        let commands = with_numbers("get {random:12}", 2 * KEYS_A_COMMAND + 1, 1);
        let lengths: Vec<usize> = commands.iter().map(Vec::len).collect();
        assert_eq!(lengths, [KEYS_A_COMMAND as usize + 1, KEYS_A_COMMAND as usize + 1, 2]);
    }

    #[test]
    fn lines_have_numbers_and_texts_of_their_own() {
        let pieces = pieces("{next:12}\t{random:12}\t{next%3}\t{random%3}\t{text:20}.").unwrap();
        let noise: Vec<u8> = (0..100).map(|sign| b'0' + sign % 10).collect();
        let mut out = Vec::new();
        (0..200).for_each(|line| write_line(&mut out, &pieces, line, 150, &noise).unwrap());
        let text = String::from_utf8(out).unwrap();
        for (number, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields[0], format!("{:012}", number % 150));
            assert!(fields[1].len() == 12 && fields[1].parse::<u64>().unwrap() < 150);
            assert_eq!(fields[2], (number % 3).to_string());
            assert!(["0", "1", "2"].contains(&fields[3]));
            assert!(fields[4].len() == 21 && fields[4].ends_with('.'));
        }
        for unknown in ["{items}", "{next%0}", "{text:-1}", "{text:99999999}", "{"] {
            assert!(super::pieces(unknown).is_err(), "{unknown}");
        }
    }
}
