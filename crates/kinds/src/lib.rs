//! The values: text and list. Pure.
