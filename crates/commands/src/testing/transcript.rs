//! Transcripts: requests with their documented replies, as text.
//!
//! ```text
//! # a remark
//! > LPUSH k a "b c"          =2            a request and, after two blanks or more, its reply
//! > LRANGE k 0 -1                          or in the lines below it
//! =["b c",
//!   "a"]
//! +30                                      thirty milliseconds pass
//! since: 7.2 redis.io/commands/lpush       the requests up to the next empty line are newer than some servers
//! ```

use super::pattern::{ReplyPattern, unquote};
use base::Ms;
use std::fmt;
use std::path::Path;
use wire::client::Value;

/// A parsed transcript.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Its file name.
    pub name: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// A request and its reply.
    Call {
        /// The line number, from 1.
        line: usize,
        /// The request.
        words: Vec<Vec<u8>>,
        /// The reply.
        expected: ReplyPattern,
        /// The version that introduced it, and where that is documented.
        since: Option<String>,
    },
    /// Time passes.
    Advance(Ms),
}

/// An interface that takes requests.
pub trait Endpoint {
    /// Returns the reply to a request.
    fn call(&mut self, words: &[Vec<u8>]) -> Value;
    /// Advances the time by `ms` milliseconds.
    fn advance(&mut self, ms: Ms);
    /// Returns true if replies are RESP3.
    fn is_resp3(&self) -> bool;
}

/// An unexpected reply.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Transcript and line.
    pub at: String,
    /// The request.
    pub request: String,
    /// The expected reply.
    pub expected: ReplyPattern,
    /// The actual reply.
    pub found: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}\n  expected {:?}\n  found    {}", self.at, self.request, self.expected, self.found)
    }
}

/// Runs the steps, except those whose `since` makes `skip` return true.
pub fn run(transcript: &Transcript, endpoint: &mut dyn Endpoint, skip: impl Fn(&str) -> bool) -> Vec<Difference> {
    let mut differences = Vec::new();
    for step in &transcript.steps {
        match step {
            Step::Advance(ms) => endpoint.advance(*ms),
            Step::Call { since: Some(since), .. } if skip(since) => {}
            Step::Call { line, words, expected, .. } => {
                let found = endpoint.call(words);
                if !expected.fits(&found, endpoint.is_resp3()) {
                    let request: Vec<String> = words.iter().map(|word| word.escape_ascii().to_string()).collect();
                    let at = format!("{}:{line}", transcript.name);
                    differences.push(Difference { at, request: request.join(" "), expected: expected.clone(), found });
                }
            }
        }
    }
    differences
}

/// Runs all steps, and returns each difference as text.
pub fn check(transcript: &Transcript, endpoint: &mut dyn Endpoint) -> Vec<String> {
    run(transcript, endpoint, |_| false).iter().map(ToString::to_string).collect()
}

/// Returns all transcripts of this crate, which every command runner must pass.
///
/// # Panics
/// If one cannot be read.
pub fn all() -> Vec<Transcript> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let kinds = ["bitmap", "generic", "geo", "hash", "hyperloglog", "list", "set", "sorted", "stream", "string"];
    load(&root, &[&kinds[..], &["memcached", "queue", "search", "tagged"]].concat())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns those that need a server: for sessions, or for a life without restarts.
///
/// # Panics
/// If one cannot be read.
pub fn served() -> Vec<Transcript> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    load(&root, &["served"]).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads all transcripts (`*.t`) in the folders `groups` of `root`, in name order.
///
/// # Errors
/// The file that cannot be read, or the invalid line.
pub fn load(root: &Path, groups: &[&str]) -> Result<Vec<Transcript>, String> {
    let mut transcripts = Vec::new();
    for group in groups {
        let folder = root.join(group);
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort_unstable();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "t")) {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
            transcripts.push(parse(&name, &text)?);
        }
    }
    Ok(transcripts)
}

/// Parses a transcript.
///
/// # Errors
/// The invalid line, and why.
pub fn parse(name: &str, text: &str) -> Result<Transcript, String> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    let mut steps = Vec::new();
    let mut since = None;
    while let Some((line, text)) = lines.next() {
        if text.is_empty() {
            since = None;
        } else if let Some(request) = text.strip_prefix("> ") {
            let (request, mut reply) = split(request);
            while let Some((_, more)) = lines.next_if(|(_, next)| continues(&reply, next)) {
                reply.push_str(more);
            }
            let words = words(request).ok_or_else(|| format!("{name}:{line}: a request is broken"))?;
            let expected =
                ReplyPattern::parse(&reply).ok_or_else(|| format!("{name}:{line}: no reply is like {reply:?}"))?;
            steps.push(Step::Call { line, words, expected, since: since.clone() });
        } else if let Some(ms) = text.strip_prefix('+') {
            steps.push(Step::Advance(ms.parse().map_err(|_| format!("{name}:{line}: not a time"))?));
        } else if let Some(version) = text.strip_prefix("since: ") {
            since = Some(version.to_owned());
        } else if !text.starts_with('#') {
            return Err(format!("{name}:{line}: neither request, reply nor remark"));
        }
    }
    Ok(Transcript { name: name.to_owned(), steps })
}

fn continues(reply: &str, line: &str) -> bool {
    if reply.is_empty() { line.starts_with(['=', '!']) } else { line.starts_with(' ') }
}

/// Splits a line into request and reply; the reply is empty if it follows on the next lines.
fn split(text: &str) -> (&str, String) {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b' ' if !quoted && text[at..].starts_with("  ") => return (&text[..at], text[at..].trim().to_owned()),
            _ => {}
        }
    }
    (text, String::new())
}

fn words(text: &str) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if rest.starts_with('"') {
            let (bytes, rest_bytes) = unquote(rest)?;
            words.push(bytes);
            rest = rest[rest.len() - rest_bytes..].trim_start();
        } else {
            let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
            words.push(word.as_bytes().to_vec());
            rest = behind.trim_start();
        }
    }
    (!words.is_empty()).then_some(words)
}
