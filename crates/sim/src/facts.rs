//! What clients were told, and what must follow from it after a crash.

use crate::record::Record;
use crate::script::Progress;
use std::collections::{BTreeMap, BTreeSet};

/// A key whose values only rise, written by one client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rising {
    /// The greatest value sent.
    pub(crate) sent: u64,
    /// The greatest value of which a reply said that it is there, to its writer or to any reader.
    pub(crate) told: u64,
}

/// An element of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element {
    /// Its push was acknowledged.
    pub(crate) pushed: bool,
    /// Its move to this client's list was acknowledged.
    pub(crate) moved_to: Option<usize>,
}

/// Everything that outlives a crash.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By key: `reg:N`, `list:N` (its length), `trio:N`.
    pub(crate) rising: BTreeMap<String, Rising>,
    /// By number.
    pub(crate) elements: BTreeMap<u64, Element>,
    /// Keys with a deadline that were told to be gone, by key; taken back when written again.
    pub(crate) gone: BTreeMap<String, bool>,
    /// Numbers up to which somebody was told to have counted, and the greatest that was tried.
    pub(crate) counts: BTreeSet<u64>,
    pub(crate) counts_sent: u64,
    /// Calls of which one order must explain all.
    pub(crate) record: Record,
    /// How far the script of the world has got.
    pub(crate) script: Progress,
    /// Unique words made.
    pub(crate) tokens: u64,
    /// Replies that left.
    pub(crate) replies: u64,
    /// Error replies among them.
    pub(crate) errors: u64,
}

impl Facts {
    pub(crate) fn send(&mut self, key: &str) -> u64 {
        let rising = self.rising.entry(key.to_owned()).or_default();
        rising.sent += 1;
        rising.sent
    }

    pub(crate) fn told(&mut self, key: &str, value: u64) {
        let rising = self.rising.entry(key.to_owned()).or_default();
        assert!(value <= rising.sent, "{key} shows {value}, and {} was the last sent", rising.sent);
        rising.told = rising.told.max(value);
    }

    pub(crate) fn count_to(&mut self, number: u64) {
        self.counts_sent = self.counts_sent.max(number);
    }

    /// After a crash: the value that is there is the truth from now on.
    pub(crate) fn settle(&mut self, key: &str, value: u64) {
        let rising = self.rising.entry(key.to_owned()).or_default();
        rising.told = value;
    }
}
