//! Lines for a shell in which `redis-cli` reaches a server of the test's own, and the console blocks of a document.
//!
//! ```text
//! $ redis-cli RPUSH jobs one two     a line
//! (integer) 2                        its output; `..` stands for anything but an end of line
//! $ redis-cli                        an interactive line: the text after each following prompt is its input
//! 127.0.0.1:6379> PING               # after two spaces: a comment
//! PONG
//! ```

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PROMPT: &str = "127.0.0.1:6379> ";

/// A shell for one server.
pub(crate) struct Shell {
    /// Holds a `redis-cli` that shows what a person would see, of this server.
    folder: TempDir,
    port: u16,
}

impl Shell {
    /// A shell whose `redis-cli` is the one at `path` and talks to `port`; the port is `$PORT`, too.
    pub(crate) fn new(path: &Path, port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("redis-cli");
        // A shell of a test has no terminal: without the flag, redis-cli would leave out types and quotes.
        fs::write(&named, format!("#!/bin/sh\nexec {} --no-raw -p {port} \"$@\"\n", path.display())).unwrap();
        fs::set_permissions(&named, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, port }
    }

    /// Returns the output of a line, from both streams, and its exit code in a line of its own.
    pub(crate) fn run(&self, line: &str, input: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "300", "sh", "-c", &format!("( {line}\n) 2>&1")]);
        command.env("PATH", format!("{}:{path}", self.folder.path().display())).env("PORT", self.port.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        format!("{}-> {}\n", String::from_utf8_lossy(&output.stdout), output.status.code().unwrap_or(-1))
    }
}

/// A line of a document's console, what is typed to it, and what it is shown to answer.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) line: String,
    pub(crate) input: String,
    pub(crate) shown: Vec<String>,
}

/// The console lines of a document, in order.
pub(crate) fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let blocks = document.split("```").skip(1).step_by(2);
    for block in blocks.filter(|block| block.starts_with("\n$ ")) {
        for line in block.lines().skip(1) {
            if let Some(line) = line.strip_prefix("$ ") {
                steps.push(Step { line: line.to_owned(), ..Step::default() });
                continue;
            }
            let step = steps.last_mut().expect("the block begins with a line");
            let text = line.split_once("  #").map_or(line, |(text, _)| text.trim_end());
            match text.strip_prefix(PROMPT) {
                Some(typed) => step.input.push_str(&format!("{typed}\n")),
                None => step.shown.push(text.to_owned()),
            }
        }
    }
    steps
}

/// Returns true if `line` matches `shown`, where `..` stands for anything.
pub(crate) fn is_as_shown(line: &str, shown: &str) -> bool {
    let Some((begin, end)) = shown.split_once("..") else { return line == shown };
    line.len() >= begin.len() + end.len() && line.starts_with(begin) && line.ends_with(end)
}
