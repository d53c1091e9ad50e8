//! Scripts known by name, however many there are.
//!
//! They are stored in 256 maps, by the first byte of their names, so growing never rehashes much at once.

use base::primitives::atomic::{AtomicBool, Ordering::Relaxed};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Scripts kept from EVAL; those from SCRIPT LOAD stay until SCRIPT FLUSH.
const EVALUATED_MAX: usize = 500;
const MAPS: usize = 256;

/// One script.
#[derive(Clone)]
pub(crate) struct Script {
    /// Forty hexadecimal digits.
    pub(crate) name: Arc<str>,
    /// The source without its first line.
    pub(crate) source: Arc<[u8]>,
    /// The flags of its first line, if there are any.
    pub(crate) flags: Option<lua::Flags>,
    /// It took too long in place when it last ran.
    is_long: Arc<AtomicBool>,
}

impl Script {
    pub(crate) fn new(name: &str, header: &lua::Header<'_>) -> Self {
        Self { name: name.into(), source: header.code.into(), flags: header.flags, is_long: Arc::default() }
    }

    pub(crate) fn is_long(&self) -> bool {
        self.is_long.load(Relaxed)
    }

    pub(crate) fn set_long(&self, is_long: bool) {
        if self.is_long() != is_long {
            self.is_long.store(is_long, Relaxed);
        }
    }
}

/// All known scripts.
pub(crate) struct KnownScripts {
    /// By the first two digits of their names.
    maps: Vec<HashMap<Arc<str>, Script>>,
    /// Those from EVAL only, the oldest first.
    evaluated: VecDeque<Arc<str>>,
    count: usize,
    /// The bytes of their sources.
    bytes: usize,
}

impl Default for KnownScripts {
    fn default() -> Self {
        Self { maps: (0..MAPS).map(|_| HashMap::new()).collect(), evaluated: VecDeque::new(), count: 0, bytes: 0 }
    }
}

/// Returns the map of a name; an invalid name also gets one.
fn map_of(name: &str) -> usize {
    name.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or_default().into()
}

impl KnownScripts {
    pub(crate) fn find(&self, name: &str) -> Option<&Script> {
        self.maps[map_of(name)].get(name)
    }

    /// Keeps a script. Returns true if another one was dropped.
    pub(crate) fn keep(&mut self, script: &Script, was_loaded: bool) -> bool {
        let is_known = self.find(&script.name).is_some();
        if !is_known {
            self.maps[map_of(&script.name)].insert(script.name.clone(), script.clone());
            self.count += 1;
            self.bytes += script.source.len();
        }
        if was_loaded {
            self.evaluated.retain(|name| *name != script.name);
        } else if !is_known {
            self.evaluated.push_back(script.name.clone());
        }
        if self.evaluated.len() <= EVALUATED_MAX {
            return false;
        }
        let oldest = self.evaluated.pop_front().and_then(|oldest| self.maps[map_of(&oldest)].remove(&oldest));
        self.count -= usize::from(oldest.is_some());
        self.bytes -= oldest.as_ref().map_or(0, |script| script.source.len());
        oldest.is_some()
    }

    /// Returns their number and the bytes of their sources. O(1).
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.count, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(nth: usize) -> Script {
        let source = format!("return {nth:06}");
        let header = lua::header(source.as_bytes()).expect("there is no first line");
        Script::new(&lua::name_of(source.as_bytes()), &header)
    }

    #[test]
    fn loaded_scripts_stay_and_evaluated_ones_are_bounded() {
        let mut known = KnownScripts::default();
        for nth in 0..3_000 {
            let (is_third, is_late) = (nth % 3 == 0, nth >= 3 * EVALUATED_MAX / 2);
            let lost = known.keep(&script(nth), is_third);
            assert!(!lost || !is_third && is_late, "{nth}");
            // A script from EVAL stays too, once it is loaded.
            if nth == 1_000 {
                assert!(!known.keep(&script(700), true) && !known.keep(&script(700), false));
            }
        }
        let kept = (0..3_000).filter(|nth| known.find(&script(*nth).name).is_some());
        let kept: Vec<usize> = kept.collect();
        let is_kept = |nth: &usize| nth.is_multiple_of(3) || *nth == 700 || *nth >= 3_000 - 3 * EVALUATED_MAX / 2;
        assert_eq!(kept, (0..3_000).filter(is_kept).collect::<Vec<_>>());
        assert_eq!(known.count(), (kept.len(), kept.len() * "return 000000".len()));
        assert!(known.find("").is_none() && known.find("\u{fc}berall").is_none() && known.find("zz").is_none());
    }
}
