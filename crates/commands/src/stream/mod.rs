//! Streams.

pub(crate) mod add;
pub(crate) mod claim;
pub(crate) mod delete;
pub(crate) mod group;
pub(crate) mod id;
pub(crate) mod info;
pub(crate) mod lag;
pub(crate) mod pending;
pub(crate) mod range;
pub(crate) mod read;
pub(crate) mod references;
pub(crate) mod reply;
pub(crate) mod trim;

use crate::failure::Failure;
use crate::parse;

/// The error for a missing group; `what` completes its text.
fn no_group(what: String) -> Failure {
    Failure::text(format!("NOGROUP {what}"))
}

/// The error for a key without such a group.
fn no_such_group(key: &[u8], group: &[u8]) -> Failure {
    let (group, key) = (parse::repeated(group), parse::repeated(key));
    no_group(format!("No such consumer group '{group}' for key name '{key}'"))
}

/// The error for a missing key or group.
fn no_key_or_group(key: &[u8], group: &[u8]) -> Failure {
    no_group(format!("No such key '{}' or consumer group '{}'", parse::repeated(key), parse::repeated(group)))
}
