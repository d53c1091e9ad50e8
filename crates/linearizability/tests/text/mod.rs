//! Histories written by hand.

use linearizability::{Anomaly, Kind, check, parse};

/// Returns the anomaly of a history, if it has one.
#[track_caller]
pub(crate) fn anomaly(text: &str) -> Option<Anomaly> {
    check(&parse(text).unwrap_or_else(|error| panic!("{error}"))).err()
}

/// The name of what is wrong with a history, if anything is.
#[track_caller]
pub(crate) fn kind(text: &str) -> Option<Kind> {
    anomaly(text).map(|anomaly| anomaly.kind)
}
