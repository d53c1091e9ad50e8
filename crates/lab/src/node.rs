//! Loads that are scripts for node: libraries as applications use them.
//!
//! A script gets the server's port and then its words as arguments. It prints a line `name=value` for each figure:
//! `requests`, `requests_per_s`, `p50_ms` and `p99_ms` are a row's own, others become further figures. On any error it
//! exits with a code other than 0.

use crate::load::{Outcome, output};
use crate::programs::bounded;
use crate::resp::words;
use crate::server::Server;
use crate::{LabError, io_error, not_on_path};
use base::programs::on_path;
use std::env;
use std::path::Path;

/// The folder into which `scripts/setup-tests` installs the modules of scripts, unless `NODE_PATH` names another.
const MODULES: &str = "scripts/clients/node_modules";

/// Runs a script that is named first in `line`.
///
/// # Errors
/// It cannot be run, fails, or takes longer than `limit_s`.
pub(crate) fn measure(server: &Server, line: &str, limit_s: u64) -> Result<Outcome, LabError> {
    let missing = || not_on_path("node", "`apt-get install nodejs npm`, or run scripts/setup-tests");
    let node = on_path("node").ok_or_else(missing)?;
    let mut words = words(line).into_iter();
    let script = words.next().ok_or_else(|| LabError::Step("a script for node needs a name".into()))?;
    let mut command = bounded(&node, limit_s);
    if env::var_os("NODE_PATH").is_none() {
        let modules = Path::new(MODULES).canonicalize().map_err(io_error(format!(
            "{MODULES} (scripts/setup-tests makes it, or NODE_PATH says where its like is)"
        )))?;
        command.env("NODE_PATH", modules);
    }
    command.arg(script).arg(server.port().to_string()).args(words);
    let text = output(command, "node")?;
    outcome_in(line, &text).ok_or_else(|| LabError::Step(format!("{script} gave no figures: {}", text.trim())))
}

fn outcome_in(line: &str, text: &str) -> Option<Outcome> {
    let mut outcome = Outcome { command_line: format!("node {line}"), ..Outcome::default() };
    for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
        let value: f64 = value.trim().parse().ok()?;
        match name {
            "requests" => outcome.requests = value as u64,
            "requests_per_s" => outcome.requests_per_s = Some(value),
            "p50_ms" => outcome.p50_ms = Some(value),
            "p99_ms" => outcome.p99_ms = Some(value),
            _ => outcome.extra.push((name.to_owned(), value)),
        }
    }
    (outcome.requests > 0).then_some(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_name() {
        let text = "a word before\nrequests=50\nrequests_per_s=12.5\np99_ms=3\nbatches=7\n";
        let outcome = outcome_in("x.js add", text).unwrap();
        assert_eq!((outcome.requests, outcome.requests_per_s, outcome.p50_ms), (50, Some(12.5), None));
        assert_eq!((outcome.p99_ms, outcome.extra), (Some(3.0), vec![("batches".to_owned(), 7.0)]));
        assert_eq!(outcome.command_line, "node x.js add");
        assert!(outcome_in("x.js", "nothing\n").is_none());
        assert!(outcome_in("x.js", "requests=many\n").is_none());
    }
}
