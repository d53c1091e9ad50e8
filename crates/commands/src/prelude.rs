//! The imports of every command file.

pub(crate) use crate::failure::Failure;
pub(crate) use crate::parse;
pub(crate) use crate::spec::{
    Access, Arity, Begin, CommandSpec, CountedReads, EventRule, Fact, Find, Flag, Group, ItemRequest, KeySpec,
    MessageRequest, Outcome, Run, Secret, Varies, argument,
};
pub(crate) use keyspace::{Absent, Classes, Expiry, Tx};
pub(crate) use wire::{Args, Reply};
