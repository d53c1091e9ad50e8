//! The settings: one table defines the flags, the environment, the file, CONFIG and `bobbin config`.
//!
//! ```text
//! table row --- default < file < BOBBIN_NAME < --name        Draft: gathered before the start
//!                                   |
//!                                Settings <--- CONFIG SET    shared: values with their origin
//!                                   |
//!                          Arc<Current> ---> Reader          typed: one a worker, one atomic load a batch
//! ```

mod change;
mod current;
mod draft;
mod file;
mod kind;
mod setting;
mod table;
mod targets;

pub use change::{OnChange, Refusal};
pub use current::{Current, DebugCommand, Fsync, LogFormat, LogLevel, OutputLimit, OutputLimits, Secret};
pub use draft::{Draft, Mistake, Origin};
pub use kind::{SettingType, Voice, Word, Wrong};
pub use setting::{Fact, Mutability, Setting, SettingGroup};
pub use table::{FACTS, SETTINGS, find, nearest};
pub use targets::Targets;

use base::primitives::atomic::{AtomicU64, Ordering};
use base::primitives::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// Every setting with its origin, shared by all threads and changed by CONFIG SET.
pub struct Settings {
    state: RwLock<SettingsState>,
    /// Counts the changes, so that a reader reads `state` only after one.
    changes: AtomicU64,
    followers: Mutex<Vec<OnChange>>,
    file: Option<PathBuf>,
}

/// Canonical values and their origins, each at the index of its row.
#[derive(Clone)]
struct SettingsState {
    current: Arc<Current>,
    texts: Vec<String>,
    origins: Vec<Origin>,
}

/// One setting as `bobbin config` shows it.
pub struct ShownSetting {
    /// Its row.
    pub setting: &'static Setting,
    /// Its value, masked if secret.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
}

impl Settings {
    fn new(state: SettingsState, file: Option<PathBuf>) -> Self {
        Self { state: RwLock::new(state), changes: AtomicU64::new(0), followers: Mutex::default(), file }
    }

    /// Returns the snapshot in force. Takes a lock briefly; frequent readers keep a [`Reader`].
    pub fn current(&self) -> Arc<Current> {
        self.state().current.clone()
    }

    /// Returns a reader for one thread.
    pub fn reader(self: &Arc<Self>) -> Reader {
        let seen = self.changes.load(Ordering::Acquire);
        Reader { current: self.current(), seen, settings: self.clone() }
    }

    /// Returns every setting, in table order.
    pub fn shown(&self) -> Vec<ShownSetting> {
        let state = self.state();
        let rows = SETTINGS.iter().zip(&state.texts).zip(&state.origins);
        rows.map(|((setting, text), origin)| ShownSetting { setting, value: masked(setting, text), origin: *origin })
            .collect()
    }

    /// Returns the configuration file that the server was started with.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Adjusts `maxclients` to what the system allows. Calls no follower.
    pub fn fit_maxclients(&self, count: usize) {
        let setting = find("maxclients").expect("maxclients is a row");
        let fitted = self.state_mut().put(setting, &count.max(1).to_string(), Voice::Own, Origin::System);
        assert!(fitted.is_ok(), "a count that the system allows is within the bounds");
        self.published();
    }

    fn published(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    // No holder of these locks leaves a partial state, so a panic elsewhere changes nothing.
    fn state(&self) -> RwLockReadGuard<'_, SettingsState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, SettingsState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn followers(&self) -> MutexGuard<'_, Vec<OnChange>> {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn masked(setting: &Setting, text: &str) -> String {
    if setting.kind.is_secret() && !text.is_empty() {
        "********".to_owned()
    } else {
        setting.kind.show(text, Voice::Own)
    }
}

/// One thread's view of the settings, kept up to date at the cost of one atomic load.
pub struct Reader {
    settings: Arc<Settings>,
    seen: u64,
    current: Arc<Current>,
}

impl Reader {
    /// Returns the snapshot in force; call it once per batch.
    pub fn current(&mut self) -> &Arc<Current> {
        let changes = self.settings.changes.load(Ordering::Acquire);
        if changes != self.seen {
            // The count is at most older than the snapshot: then the next call reads it once more.
            self.current = self.settings.current();
            self.seen = changes;
        }
        &self.current
    }
}

#[cfg(test)]
mod tests;
