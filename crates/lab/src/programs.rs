//! The programs that the lab starts: where they are, and how a run of one is bounded.

use crate::adapters::Program;
use crate::{LabError, not_on_path};
use base::programs::on_path;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs that the user names instead of those on PATH.
#[derive(Default)]
pub(crate) struct Programs {
    pub(crate) bobbin: Option<PathBuf>,
    pub(crate) redis: Option<PathBuf>,
}

impl Programs {
    /// Returns the path of a server.
    ///
    /// # Errors
    /// It is missing; the text says how to get it.
    pub(crate) fn path(&self, program: Program) -> Result<PathBuf, LabError> {
        let named = match program.name() {
            "bobbin" => self.bobbin.clone().or_else(bobbin_nearby),
            "redis" => self.redis.clone(),
            _ => None,
        };
        match named {
            Some(path) if path.is_file() => Ok(path),
            Some(path) => Err(LabError::Step(format!("{}: no such program", path.display()))),
            None => program.find(),
        }
    }
}

/// Returns the path of redis-benchmark.
///
/// # Errors
/// It is missing; the text says how to get it.
pub(crate) fn benchmark() -> Result<PathBuf, LabError> {
    needed("redis-benchmark", "redis-tools")
}

/// Returns once it is sure that every program by which others are started is there.
///
/// # Errors
/// One is missing; the text says how to get it.
pub(crate) fn check_helpers() -> Result<(), LabError> {
    needed("setpriv", "util-linux")?;
    needed("timeout", "coreutils").map(drop)
}

/// A command that ends with this process, whatever ends it.
///
/// The kernel keeps the promise (parent death signal), so it holds for a panic, Ctrl-C and SIGKILL alike. It watches
/// the *thread* that starts the command: start from one that lives as long as the work.
pub(crate) fn tied(program: impl AsRef<std::ffi::OsStr>, signal: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", signal, "--"]).arg(program);
    command
}

/// A tied command that is ended after `limit_s` seconds, with exit code 124.
pub(crate) fn bounded(program: &Path, limit_s: u64) -> Command {
    let mut command = tied("timeout", "TERM");
    command.arg("--kill-after=5").arg(limit_s.to_string()).arg(program);
    command
}

fn needed(program: &str, package: &str) -> Result<PathBuf, LabError> {
    on_path(program).ok_or_else(|| not_on_path(program, format!("`apt-get install {package}`")))
}

/// The bobbin that was built beside this program.
fn bobbin_nearby() -> Option<PathBuf> {
    let beside = env::current_exe().ok()?.with_file_name("bobbin");
    beside.is_file().then_some(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_command_that_times_out_exits_with_124() {
        let sleep = on_path("sleep").unwrap();
        let status = bounded(&sleep, 1).arg("60").stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(124));
    }
}
