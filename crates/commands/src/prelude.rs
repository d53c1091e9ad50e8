//! The imports of every command file.

pub(crate) use crate::failure::Failure;
pub(crate) use crate::parse;
pub(crate) use crate::spec::{Access, Arity, Begin, CommandSpec, Find, Flag, Group, KeySpec, Outcome, Run};
pub(crate) use keyspace::{Absent, Expiry, Tx};
pub(crate) use wire::{Args, Reply};
