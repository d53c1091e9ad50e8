//! A worker's memo of scripts it has run, which saves their SHA-1 and the shared lookup.

use super::{Script, Scripts};
use std::collections::HashMap;

/// Maximum number of entries; beyond, all are dropped.
const SCRIPTS_MAX: usize = 256;
/// Longer texts are not remembered, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The key that leads to a script.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum By {
    /// Its source text.
    Text,
    /// Its name.
    Name,
}

/// Scripts by hash of their texts and names.
#[derive(Default)]
pub(crate) struct Memo {
    /// [`Scripts::losses`] when it was last used.
    losses: u64,
    by_hash: HashMap<(By, u64), Remembered>,
}

struct Remembered {
    text: Box<[u8]>,
    script: Script,
}

impl Memo {
    /// Returns the script that `text` led to before, given its hash.
    pub(crate) fn find(&mut self, scripts: &Scripts, by: By, hash: u64, text: &[u8]) -> Option<Script> {
        let losses = scripts.losses();
        if self.losses != losses {
            self.losses = losses;
            self.by_hash.clear();
        }
        let known = self.by_hash.get(&(by, hash))?;
        (*known.text == *text).then(|| known.script.clone())
    }

    /// Remembers the script for `text`; call [`Memo::find`] just before.
    pub(crate) fn add(&mut self, by: By, hash: u64, text: &[u8], script: &Script) {
        if text.len() > TEXT_BYTES_MAX {
            return;
        }
        if self.by_hash.len() == SCRIPTS_MAX {
            self.by_hash.clear();
        }
        self.by_hash.insert((by, hash), Remembered { text: text.into(), script: script.clone() });
    }
}
