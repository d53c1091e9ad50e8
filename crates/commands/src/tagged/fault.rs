//! Errors, with advice.

use crate::prelude::*;
use base::raw_text;
use values::tagged::{By, Schema};

/// The list is absent, and no schema is defined for its name.
pub(super) fn no_schema() -> Failure {
    Failure::text("ERR there is no schema for this key, give a prefix of it one with TL.DEFINE")
}

/// No attribute has this name.
pub(super) fn no_attribute(name: &[u8]) -> Failure {
    let name = raw_text::from_bytes(name);
    Failure::text(format!("ERR the schema has no attribute '{name}', add it with TL.DEFINE"))
}

/// A number is too large for its attribute.
pub(super) fn too_large(schema: &Schema, attribute: usize) -> Failure {
    let of = &schema.attributes()[attribute];
    let name = String::from_utf8_lossy(&of.name);
    Failure::text(format!("ERR attribute '{name}' has {} bits and holds 0 to {}", of.bits, of.max()))
}

/// A word must be `name=n`.
pub(super) fn no_assignment() -> Failure {
    Failure::text("ERR an attribute is given as name=n, n an integer of 0 or more")
}

/// A word must be a condition.
pub(super) fn no_condition() -> Failure {
    Failure::text(
        "ERR a condition is name=n, name!=n, name<n, name<=n, name>n or name>=n, = and != take several: name=1|4",
    )
}

/// The list cannot hold this value.
pub(super) fn no_value(schema: &Schema, value: &[u8]) -> Failure {
    match (schema.value_bytes(), schema.by()) {
        (Some(bytes), _) if value.len() != bytes as usize => {
            Failure::text(format!("ERR values of this schema have {bytes} bytes, not {}", value.len()))
        }
        (_, By::Value(of)) => Failure::text(format!(
            "ERR lists of this schema are ordered by values of type {}, and this value is not one",
            of.name()
        )),
        _ => Failure::text("ERR the value is too long"),
    }
}

/// The value is in the list already.
pub(super) fn not_unique() -> Failure {
    Failure::text("ERR values of this list are unique and this one is in it, change it with TL.SET or TL.MOVE")
}

/// An ordered list allows no explicit positions.
pub(super) fn is_ordered() -> Failure {
    Failure::text("ERR the list is ordered by its schema, so items cannot be moved")
}

/// Only an ordered list has ranges between two ends.
pub(super) fn is_not_ordered() -> Failure {
    Failure::text("ERR the list is not ordered, define its schema with ORDER VALUE or ORDER ATTR")
}

/// An end of a range is invalid.
pub(super) fn no_end() -> Failure {
    Failure::text("ERR min or max is no value of the list's order, write it as for ZRANGEBYSCORE")
}
