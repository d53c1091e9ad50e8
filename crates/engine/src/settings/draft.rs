//! The settings being gathered: defaults, overridden by file, environment and flags in turn.

use super::current::Current;
use super::file;
use super::kind::{Voice, Wrong};
use super::setting::Setting;
use super::table::{SETTINGS, nearest};
use super::{Settings, SettingsState};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The built-in default.
    Default,
    /// The configuration file.
    File {
        /// The line of its key, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment,
    /// A flag of the command line.
    Flag,
    /// CONFIG SET.
    ConfigSet,
    /// Adjusted at start to what the system allows.
    System,
}

/// An error in the configuration, with its place: one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake(pub(super) String);

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mistake {}

/// Settings being gathered, the weakest origin first: later values override earlier ones.
pub struct Draft {
    state: SettingsState,
    file: Option<PathBuf>,
}

impl Default for Draft {
    fn default() -> Self {
        Self::new()
    }
}

impl Draft {
    /// Creates a draft of the defaults.
    pub fn new() -> Self {
        let mut current = Current::default();
        let defaults = SETTINGS.iter().map(|setting| setting.kind.read(setting.default, Voice::Own, &mut current));
        let texts = defaults.map(|text| text.expect("every default is a value of its kind")).collect();
        let origins = vec![Origin::Default; SETTINGS.len()];
        Self { state: SettingsState { current: current.into(), texts, origins }, file: None }
    }

    /// Applies the TOML file `path`, which contains `content`.
    ///
    /// # Errors
    /// Returns, with the line: bad TOML, an unknown key, an invalid value.
    pub fn put_file(&mut self, path: &Path, content: &str) -> Result<(), Mistake> {
        let place = |line: usize| format!("{} line {line}", path.display());
        for entry in file::read(content).map_err(|(line, what)| Mistake(format!("{}: {what}", place(line))))? {
            let place = format!("{}: {}", place(entry.line), entry.name);
            let setting = super::find(&entry.name).ok_or_else(|| unknown(&place, &entry.name))?;
            let text =
                entry.text.ok_or_else(|| mistake(&place, setting, "must be one text, number or on/off", None))?;
            self.put(&place, setting, &text, Origin::File { line: entry.line })?;
        }
        self.file = Some(path.to_owned());
        Ok(())
    }

    /// Applies the environment variables. An empty one counts as not set.
    ///
    /// # Errors
    /// Returns an invalid value.
    pub fn put_environment(&mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<(), Mistake> {
        for setting in SETTINGS {
            let name = setting.environment_name();
            if let Some(text) = variable(&name).filter(|text| !text.is_empty()) {
                let text = text.to_str().ok_or_else(|| mistake(&name, setting, &Wrong::NotText.to_string(), None))?;
                self.put(&name, setting, text, Origin::Environment)?;
            }
        }
        Ok(())
    }

    /// Applies one flag.
    ///
    /// # Errors
    /// Returns an invalid value.
    pub fn put_flag(&mut self, setting: &'static Setting, text: &str) -> Result<(), Mistake> {
        self.put(&format!("--{}", setting.name), setting, text, Origin::Flag)
    }

    fn put(&mut self, place: &str, setting: &'static Setting, text: &str, origin: Origin) -> Result<(), Mistake> {
        let read = self.state.put(setting, text, Voice::Own, origin);
        read.map_err(|wrong| mistake(place, setting, &wrong.to_string(), (wrong != Wrong::Empty).then_some(text)))
    }

    /// Returns the settings, ready to be shared.
    pub fn finish(self) -> Settings {
        Settings::new(self.state, self.file)
    }
}

impl SettingsState {
    /// Applies one value; changes nothing on an error.
    pub(super) fn put(
        &mut self,
        setting: &'static Setting,
        text: &str,
        voice: Voice,
        origin: Origin,
    ) -> Result<(), Wrong> {
        let mut next = Current::clone(&self.current);
        let canonical = setting.kind.read(text, voice, &mut next)?;
        let index = index_of(setting);
        self.current = next.into();
        self.texts[index] = canonical;
        self.origins[index] = origin;
        Ok(())
    }
}

pub(super) fn index_of(setting: &'static Setting) -> usize {
    SETTINGS.iter().position(|row| std::ptr::eq(row, setting)).expect("a setting is a row of the table")
}

fn mistake(place: &str, setting: &Setting, what: &str, given: Option<&str>) -> Mistake {
    match given {
        Some(text) if !setting.kind.is_secret() => Mistake(format!("{place}: {what}, not {text:?}")),
        _ => Mistake(format!("{place}: {what}")),
    }
}

fn unknown(place: &str, name: &str) -> Mistake {
    match nearest(name) {
        Some(nearest) => Mistake(format!("{place}: no such setting; did you mean {nearest}?")),
        None => Mistake(format!("{place}: no such setting; 'bobbin config' lists them all")),
    }
}
