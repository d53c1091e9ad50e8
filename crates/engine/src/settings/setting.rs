//! What a row of the table of settings says.

use super::current::Current;
use super::kind::SettingType;

/// One row: all there is to know about a setting.
pub struct Setting {
    /// Its name: the flag without dashes, the key in the file, a name for CONFIG.
    pub name: &'static str,
    /// The names under which Redis's clients ask CONFIG for it.
    pub redis_names: &'static [&'static str],
    /// What a value may be, and where it is stored.
    pub kind: SettingType,
    /// The value when nothing says otherwise.
    pub default: &'static str,
    /// When it can be changed.
    pub changes: Mutability,
    /// The heading it stands under.
    pub group: SettingGroup,
    /// What it does: a sentence.
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

/// A name of Redis's whose value here is a fact and cannot be set to another.
pub struct Fact {
    /// The name.
    pub redis_name: &'static str,
    /// The value in force.
    pub value: fn(&Current) -> &'static str,
    /// Why it can be no other: a sentence.
    pub reason: &'static str,
}

impl Setting {
    /// The environment variable: `BOBBIN_` and the name in capitals.
    pub fn environment_name(&self) -> String {
        format!("BOBBIN_{}", self.name.to_ascii_uppercase().replace('-', "_"))
    }

    /// Every name that CONFIG knows it by, the own one first.
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
