//! The row type of the settings table.

use super::current::Current;
use super::kind::SettingType;

/// One row: everything about a setting.
pub struct Setting {
    /// Its name: the flag without dashes, the key in the file, a name for CONFIG.
    pub name: &'static str,
    /// The names under which Redis clients ask CONFIG for it.
    pub redis_names: &'static [&'static str],
    /// The valid values, and the field that stores one.
    pub kind: SettingType,
    /// The value when nothing says otherwise.
    pub default: &'static str,
    /// When it can be changed.
    pub changes: Mutability,
    /// The heading it is listed under.
    pub group: SettingGroup,
    /// Its effect: a sentence.
    pub help: &'static str,
}

/// When a setting can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutability {
    /// By flag, environment or file, before the start.
    AtStart,
    /// Also by CONFIG SET.
    Anytime,
}

/// A heading in help texts, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is its own heading")]
pub enum SettingGroup {
    Network,
    Data,
    Security,
    Limits,
    Logging,
}

/// A name of Redis's with a fixed value here.
pub struct Fact {
    /// The name.
    pub redis_name: &'static str,
    /// The value in force.
    pub value: fn(&Current) -> &'static str,
    /// Why the value is fixed: a sentence.
    pub reason: &'static str,
}

impl Setting {
    /// Returns the environment variable: `BOBBIN_` and the name in capitals.
    pub fn environment_name(&self) -> String {
        format!("BOBBIN_{}", self.name.to_ascii_uppercase().replace('-', "_"))
    }

    /// Returns every name that CONFIG knows it by, its own first.
    pub fn config_names(&self) -> impl Iterator<Item = &'static str> {
        let own = self.name;
        std::iter::once(own).chain(self.redis_names.iter().copied().filter(move |name| *name != own))
    }
}

impl SettingGroup {
    /// The heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Network => "Network",
            Self::Data => "Data",
            Self::Security => "Security",
            Self::Limits => "Limits",
            Self::Logging => "Logging",
        }
    }
}
