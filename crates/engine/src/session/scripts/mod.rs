//! Scripts, functions and their libraries: the requests of a session that need a Lua machine.

pub(super) mod catalogue;
pub(super) mod host;
pub(super) mod library;
pub(super) mod library_list;
pub(super) mod script;
