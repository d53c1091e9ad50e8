//! Sessions, MULTI, blocking, durability of replies, recovery.

pub mod settings;
