//! The facts that replies have reported, which must therefore hold after a crash.

use crate::record::Record;
use crate::script::Progress;
use std::collections::{BTreeMap, BTreeSet};

/// A key whose values only increase, written by one client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rising {
    /// The greatest value sent.
    pub(crate) sent: u64,
    /// The greatest value that a reply confirmed, to its writer or to any reader.
    pub(crate) confirmed: u64,
}

/// An element of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element {
    /// True if its push was acknowledged.
    pub(crate) pushed: bool,
    /// The client to whose list its move was acknowledged.
    pub(crate) moved_to: Option<usize>,
}

/// Everything that survives a crash.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By key: `reg:N`, `list:N` (its length), `trio:N`.
    pub(crate) rising: BTreeMap<String, Rising>,
    /// By number.
    pub(crate) elements: BTreeMap<u64, Element>,
    /// Keys with a deadline that were reported gone; reset when written again.
    pub(crate) gone: BTreeMap<String, bool>,
    /// The confirmed counts, and the greatest attempted.
    pub(crate) counts: BTreeSet<u64>,
    pub(crate) counts_sent: u64,
    /// Calls that a single order must explain.
    pub(crate) record: Record,
    /// The progress of the world's script.
    pub(crate) script: Progress,
    /// The number of unique words made.
    pub(crate) tokens: u64,
    /// The number of replies sent.
    pub(crate) replies: u64,
    /// The number of error replies among them.
    pub(crate) errors: u64,
    /// The number of connections that have moved to another worker.
    pub(crate) moves: u64,
}

impl Facts {
    pub(crate) fn send(&mut self, key: &str) -> u64 {
        let rising = self.rising.entry(key.to_owned()).or_default();
        rising.sent += 1;
        rising.sent
    }

    pub(crate) fn confirm(&mut self, key: &str, value: u64) {
        let rising = self.rising.entry(key.to_owned()).or_default();
        assert!(value <= rising.sent, "{key} shows {value}, and {} was the last sent", rising.sent);
        rising.confirmed = rising.confirmed.max(value);
    }

    pub(crate) fn count_to(&mut self, number: u64) {
        self.counts_sent = self.counts_sent.max(number);
    }

    /// After a crash: the recovered value is the truth from now on.
    pub(crate) fn settle(&mut self, key: &str, value: u64) {
        let rising = self.rising.entry(key.to_owned()).or_default();
        rising.confirmed = value;
    }
}
