//! CONFIG GET, SET and REWRITE, with Redis's error texts.

use super::current::Current;
use super::draft::{Origin, index_of};
use super::kind::{Voice, Wrong};
use super::setting::{Fact, Mutability, Setting};
use super::table::{FACTS, SETTINGS};
use super::{Settings, SettingsState, file};
use base::disk::FILE_MODE;
use base::glob::{self, Case};
use base::raw_text;
use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// The target of a name in CONFIG.
#[derive(Clone, Copy)]
enum ConfigTarget {
    Setting(&'static Setting, Voice),
    Fact(&'static Fact),
}

impl Settings {
    /// Returns names and values for CONFIG GET: each name that matches any of the glob patterns, once, ignoring case. A
    /// literal name is returned in the spelling of the request. O(patterns x names).
    pub fn get(&self, patterns: &[&[u8]]) -> Vec<(String, String)> {
        let state = self.state();
        let mut found: Vec<(String, String)> = Vec::new();
        for pattern in patterns {
            let plain = !glob::is_pattern(pattern);
            for (name, target) in names().filter(|(name, _)| glob::matches(pattern, name.as_bytes(), Case::Ignored)) {
                let name = if plain { String::from_utf8_lossy(pattern).into_owned() } else { name.to_owned() };
                if !found.iter().any(|(earlier, _)| *earlier == name) {
                    found.push((name, state.show(target)));
                }
            }
        }
        found
    }

    /// CONFIG SET: sets all of the pairs or none.
    ///
    /// # Errors
    /// Returns the error reply, from `ERR` on.
    pub fn set(&self, pairs: &[(&[u8], &[u8])]) -> Result<(), String> {
        let targets = targets(pairs)?;
        let mut state = self.state_mut();
        let mut next = state.clone();
        for ((name, value), target) in pairs.iter().zip(&targets) {
            next.set(*target, value).map_err(|why| failed(name, &why))?;
        }
        self.ask_followers(&state.current, &next.current).map_err(|(name, why)| failed(name.as_bytes(), &why))?;
        *state = next;
        self.published();
        Ok(())
    }

    /// CONFIG REWRITE: writes what CONFIG SET changed to the file that the server was started with, keeping its
    /// comments. Blocks on the disk.
    ///
    /// # Errors
    /// Returns the error reply, from `ERR` on.
    pub fn rewrite(&self) -> Result<(), String> {
        let Some(path) = self.file() else {
            return Err("ERR The server is running without a config file".to_owned());
        };
        let state = self.state().clone();
        let changed = SETTINGS.iter().zip(&state.texts).zip(&state.origins);
        let changed: Vec<(&Setting, String)> = changed
            .filter(|(_, origin)| **origin == Origin::ConfigSet)
            .map(|((setting, text), _)| (setting, setting.kind.show(text, Voice::Own)))
            .collect();
        let content = fs::read_to_string(path).map_err(rewriting)?;
        let content = file::rewrite(&content, &changed)
            .map_err(|(line, what)| format!("ERR Rewriting config file: line {line}: {what}"))?;
        replace(path, &content).map_err(rewriting)
    }
}

impl SettingsState {
    fn show(&self, target: ConfigTarget) -> String {
        match target {
            ConfigTarget::Setting(setting, voice) => setting.kind.show(&self.texts[index_of(setting)], voice),
            ConfigTarget::Fact(fact) => (fact.value)(&self.current).to_owned(),
        }
    }

    fn set(&mut self, target: ConfigTarget, value: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(value).map_err(|_| Wrong::NotText.redis_text())?;
        match target {
            ConfigTarget::Setting(setting, voice) => {
                self.put(setting, text, voice, Origin::ConfigSet).map_err(|wrong| wrong.redis_text())
            }
            ConfigTarget::Fact(fact) if (fact.value)(&self.current).eq_ignore_ascii_case(text) => Ok(()),
            ConfigTarget::Fact(fact) => Err(match ((fact.value)(&self.current), text) {
                ("yes" | "no", text) if !["yes", "no"].iter().any(|word| text.eq_ignore_ascii_case(word)) => {
                    Wrong::Bool.redis_text()
                }
                _ => fact.reason.to_owned(),
            }),
        }
    }
}

/// Returns every name that CONFIG knows, in table order.
fn names() -> impl Iterator<Item = (&'static str, ConfigTarget)> {
    let settings = SETTINGS.iter().flat_map(|setting| {
        setting.config_names().map(move |name| {
            let voice = if setting.redis_names.contains(&name) { Voice::Redis } else { Voice::Own };
            (name, ConfigTarget::Setting(setting, voice))
        })
    });
    settings.chain(FACTS.iter().map(|fact| (fact.redis_name, ConfigTarget::Fact(fact))))
}

/// Returns the targets of the names of CONFIG SET, which must all be known, changeable and distinct.
fn targets(pairs: &[(&[u8], &[u8])]) -> Result<Vec<ConfigTarget>, String> {
    let mut targets: Vec<ConfigTarget> = Vec::with_capacity(pairs.len());
    for (given, _) in pairs {
        let Some((_, target)) = names().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(given)) else {
            let name = raw_text::from_bytes(given.split(|byte| *byte == 0).next().unwrap_or_default());
            return Err(format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'"));
        };
        if let ConfigTarget::Setting(Setting { changes: Mutability::AtStart, .. }, _) = target {
            return Err(failed(given, "can't set immutable config"));
        }
        if targets.iter().any(|earlier| earlier.is(target)) {
            return Err(failed(given, "duplicate parameter"));
        }
        targets.push(target);
    }
    Ok(targets)
}

impl ConfigTarget {
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Setting(left, _), Self::Setting(right, _)) => std::ptr::eq(left, right),
            (Self::Fact(left), Self::Fact(right)) => std::ptr::eq(left, right),
            _ => false,
        }
    }
}

fn failed(name: &[u8], why: &str) -> String {
    format!("ERR CONFIG SET failed (possibly related to argument '{}') - {why}", raw_text::from_bytes(name))
}

fn rewriting(error: io::Error) -> String {
    format!("ERR Rewriting config file: {error}")
}

/// Writes beside the file and renames, so that a crash leaves either the old or the new content, complete.
fn replace(path: &Path, content: &str) -> io::Result<()> {
    // The file itself is replaced, not a link to it.
    let path = fs::canonicalize(path)?;
    let mut beside = path.clone().into_os_string();
    beside.push(".new");
    // It may contain the password before it also has the old file's permissions.
    let mut file = fs::File::options().write(true).create(true).truncate(true).mode(FILE_MODE).open(&beside)?;
    file.set_permissions(fs::metadata(&path)?.permissions())?;
    io::Write::write_all(&mut file, content.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, &path)?;
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

/// Refuses a change by naming the setting and the reason.
pub type Refusal = (&'static str, String);

/// A follower, called before a change is published with the settings before and after it. Whatever it does for the
/// change it must undo when called with these swapped. It must not call the settings.
pub type OnChange = Box<dyn Fn(&Current, &Current) -> Result<(), Refusal> + Send + Sync>;

impl Settings {
    /// Calls `follower` before every change by CONFIG SET, after earlier followers.
    pub fn on_change(&self, follower: OnChange) {
        self.followers().push(follower);
    }

    fn ask_followers(&self, before: &Arc<Current>, after: &Arc<Current>) -> Result<(), Refusal> {
        let followers = self.followers();
        for (index, follower) in followers.iter().enumerate() {
            if let Err(refusal) = follower(before, after) {
                for earlier in &followers[..index] {
                    // Back to what was in force a moment ago.
                    let _ = earlier(after, before);
                }
                return Err(refusal);
            }
        }
        Ok(())
    }
}
