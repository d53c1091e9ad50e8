//! The programs the lab starts: where they are, what version they say, and how a run of one is bounded.

use crate::{LabError, io_error};
use base::programs::on_path;
use serde::{Deserialize, Serialize};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A server the lab knows how to start.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Program {
    /// Bobbin.
    Bobbin,
    /// redis-server.
    Redis,
    /// memcached.
    Memcached,
    /// beanstalkd.
    Beanstalkd,
}

impl Program {
    /// Returns true if the program also speaks Redis's protocol.
    pub(crate) fn speaks_resp(self) -> bool {
        matches!(self, Self::Bobbin | Self::Redis)
    }

    /// Returns the arguments for its port, and for its folder if it has one for all files.
    pub(crate) fn arguments(self, port: u16, folder: &str) -> Vec<String> {
        let port = port.to_string();
        let words: &[&str] = match self {
            Self::Bobbin | Self::Redis => &["--bind", "127.0.0.1", "--port", &port, "--dir", folder],
            Self::Memcached => &["-l", "127.0.0.1", "-p", &port, "-u", "nobody"],
            Self::Beanstalkd => &["-l", "127.0.0.1", "-p", &port],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn version_flag(self) -> &'static str {
        if self == Self::Beanstalkd { "-v" } else { "--version" }
    }
}

/// The paths of all programs.
pub(crate) struct Programs {
    pub(crate) bobbin: PathBuf,
    pub(crate) redis: PathBuf,
    pub(crate) benchmark: PathBuf,
}

impl Programs {
    /// Finds the programs that every run needs; paths given win over `PATH`.
    ///
    /// # Errors
    /// One is missing; the text says how to get it.
    pub(crate) fn find(bobbin: Option<PathBuf>, redis: Option<PathBuf>) -> Result<Self, LabError> {
        let bobbin = bobbin.or_else(bobbin_nearby).ok_or_else(|| {
            LabError::Missing("bobbin is not built: run `make release`, or name it with --bobbin PATH".into())
        })?;
        let redis = redis.map_or_else(|| needed("redis-server"), Ok)?;
        let benchmark = needed("redis-benchmark")?;
        for helper in ["setpriv", "timeout"] {
            needed(helper)?;
        }
        for path in [&bobbin, &redis] {
            if !path.is_file() {
                return Err(LabError::Missing(format!("{}: no such program", path.display())));
            }
        }
        Ok(Self { bobbin, redis, benchmark })
    }

    /// Returns the path of a program.
    ///
    /// # Errors
    /// It is missing; the text says how to get it.
    pub(crate) fn path(&self, program: Program) -> Result<PathBuf, LabError> {
        match program {
            Program::Bobbin => Ok(self.bobbin.clone()),
            Program::Redis => Ok(self.redis.clone()),
            Program::Memcached => needed("memcached"),
            Program::Beanstalkd => needed("beanstalkd"),
        }
    }
}

/// The version a server says it has, whatever words stand around it.
///
/// # Errors
/// It cannot be run, or says none.
pub(crate) fn version(program: Program, path: &Path) -> Result<String, LabError> {
    let (shown, flag) = (path.display(), program.version_flag());
    let output = Command::new(path).arg(flag).output().map_err(io_error(format!("{shown} {flag}")))?;
    version_in(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| LabError::Step(format!("{shown} {flag}: names no version")))
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

fn needed(program: &str) -> Result<PathBuf, LabError> {
    let package = match program {
        "redis-server" | "memcached" | "beanstalkd" => program,
        "redis-benchmark" => "redis-tools",
        "timeout" => "coreutils",
        _ => "util-linux",
    };
    on_path(program).ok_or_else(|| {
        LabError::Missing(format!("{program} is not on PATH: `apt-get install {package}`, or run scripts/setup-tests"))
    })
}

/// The bobbin this very program is part of, or one built beside it, or one on `PATH`.
fn bobbin_nearby() -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    if own.file_stem()? == "bobbin" {
        return Some(own);
    }
    let beside = own.with_file_name("bobbin");
    if beside.is_file() { Some(beside) } else { on_path("bobbin") }
}

fn version_in(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| word.trim_start_matches("v=").trim_start_matches('v'));
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn versions_are_found_among_words() {
        assert_eq!(version_in("Redis server v=7.0.15 sha=0:0 malloc=x").as_deref(), Some("7.0.15"));
        assert_eq!(version_in("bobbin 0.1.0\n").as_deref(), Some("0.1.0"));
        assert_eq!(version_in("no number"), None);
    }

    #[test]
    fn a_command_that_times_out_exits_with_124() {
        let sleep = on_path("sleep").unwrap();
        let status = bounded(&sleep, 1).arg("60").stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(124));
    }
}
