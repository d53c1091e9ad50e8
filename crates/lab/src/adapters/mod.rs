//! The servers that the lab can start. Each has a file here; another one needs a file and its line in [`ALL`].
//!
//! ```text
//!  scenario: program = "redis"  -->  Program  -->  Adapter   program on PATH, remedy, version
//!                                                    |       arguments for port, folder and durability
//!                                                    '-----> the protocol in which it is asked
//! ```

mod beanstalkd;
mod bobbin;
mod dragonfly;
mod garnet;
mod keydb;
mod kvrocks;
mod ledisdb;
mod mariadb;
mod memcached;
mod memcacheq;
mod redis;
mod ssdb;
mod tokyocabinet;
mod valkey;

use crate::protocol::Protocol;
use crate::{LabError, io_error, not_on_path};
use base::programs::on_path;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All adapters.
static ALL: &[&dyn Adapter] = &[
    &bobbin::Bobbin,
    &redis::Redis,
    &valkey::Valkey,
    &keydb::KeyDb,
    &dragonfly::Dragonfly,
    &kvrocks::Kvrocks,
    &garnet::Garnet,
    &ssdb::Ssdb,
    &ledisdb::LedisDb,
    &memcached::Memcached,
    &memcacheq::MemcacheQ,
    &beanstalkd::Beanstalkd,
    &mariadb::MariaDb,
    &tokyocabinet::TokyoCabinet,
];

/// How the lab starts and asks one kind of server.
pub(crate) trait Adapter: Sync {
    /// The name in scenarios.
    fn name(&self) -> &'static str;

    /// The program's name on PATH.
    fn program(&self) -> &'static str;

    /// Other names under which it may be on PATH.
    fn other_programs(&self) -> &'static [&'static str] {
        &[]
    }

    /// How to get it.
    fn remedy(&self) -> String;

    /// The arguments for its port on loopback, and for its folder.
    fn arguments(&self, port: u16, folder: &str) -> Vec<String>;

    /// Further arguments, which the page of a run shows because they decide figures. Flags of a scenario come after.
    fn settings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The arguments for a durability; absent if it has nothing of the kind.
    fn durability(&self, fsync: Fsync) -> Option<Vec<String>>;

    /// The data that a power failure leaves with a durability, in words.
    fn durability_words(&self, fsync: Fsync) -> String {
        fsync.name().to_owned()
    }

    /// False for a library: there is no process to start, and its own tools are its only load.
    fn is_server(&self) -> bool {
        true
    }

    /// The protocol in which it is asked, and driven unless a scenario says otherwise.
    fn protocol(&self) -> Protocol {
        Protocol::Resp
    }

    /// The argument with which it prints its version.
    fn version_flag(&self) -> &'static str {
        "--version"
    }

    /// Makes what it needs in its folder before it starts.
    ///
    /// # Errors
    /// It cannot be made.
    fn prepare_folder(&self, path: &Path, folder: &Path, port: u16) -> Result<(), LabError> {
        let _ = (path, folder, port);
        Ok(())
    }

    /// False if no test of the lab ran it against its server: the page says so.
    fn is_tried(&self) -> bool {
        true
    }
}

/// When a server syncs what it has acknowledged to the disk.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fsync {
    /// It keeps nothing.
    None,
    /// Once a second.
    Everysec,
    /// Before each reply.
    Always,
}

impl Fsync {
    /// The name, as in scenarios.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Everysec => "everysec",
            Self::Always => "always",
        }
    }
}

/// A kind of server, by its name in scenarios.
#[derive(Clone, Copy)]
pub(crate) struct Program(&'static dyn Adapter);

impl Program {
    /// Returns the kind of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|adapter| adapter.name() == name).map(|adapter| Self(*adapter))
    }

    /// Returns true if it is Bobbin.
    pub(crate) fn is_bobbin(self) -> bool {
        self.name() == "bobbin"
    }

    /// Returns true if it speaks Redis's protocol, whatever it is driven with.
    pub(crate) fn speaks_resp(self) -> bool {
        self.protocol() == Protocol::Resp
    }

    /// Returns the arguments for a durability.
    ///
    /// # Errors
    /// The server has nothing of the kind.
    pub(crate) fn durability_flags(self, fsync: Fsync) -> Result<Vec<String>, LabError> {
        let missing = || LabError::Step(format!("{} has no durability `{}`", self.program(), fsync.name()));
        self.durability(fsync).ok_or_else(missing)
    }

    /// Returns the program's path.
    ///
    /// # Errors
    /// It is not on PATH; the text says how to get it.
    pub(crate) fn find(self) -> Result<PathBuf, LabError> {
        let missing = || not_on_path(self.program(), self.remedy());
        let names = [self.program()].into_iter().chain(self.other_programs().iter().copied());
        names.filter_map(on_path).next().ok_or_else(missing)
    }

    /// Returns the version that it says it has, whatever words are around it.
    ///
    /// # Errors
    /// It cannot be run.
    pub(crate) fn version(self, path: &Path) -> Result<String, LabError> {
        let (shown, flag) = (path.display(), self.version_flag());
        let output = Command::new(path).arg(flag).output().map_err(io_error(format!("{shown} {flag}")))?;
        let text = [output.stdout, output.stderr].concat();
        let named = version_in(&String::from_utf8_lossy(&text));
        Ok(named.unwrap_or_else(|| "of unknown version".to_owned()))
    }
}

impl Deref for Program {
    type Target = dyn Adapter;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Serialize for Program {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Program {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = || ALL.iter().map(|adapter| adapter.name()).collect::<Vec<_>>().join(", ");
        Self::named(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("no adapter `{name}`; there are {}", known())))
    }
}

/// Returns arguments as owned strings.
fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}

/// Returns the remedy for a package of Debian.
fn debian(package: &str) -> String {
    format!("`apt-get install {package}`")
}

fn version_in(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| word.trim_start_matches("v=").trim_start_matches('v'));
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_among_words() {
        assert_eq!(version_in("Redis server v=7.0.15 sha=0:0 malloc=x").as_deref(), Some("7.0.15"));
        assert_eq!(version_in("bobbin 0.1.0\n").as_deref(), Some("0.1.0"));
        assert_eq!(version_in("no number"), None);
    }

    #[test]
    fn adapters_have_different_names() {
        let mut names: Vec<&str> = ALL.iter().map(|adapter| adapter.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
