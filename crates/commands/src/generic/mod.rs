//! Keys of any type, and whole databases.

pub(crate) mod database;
pub(crate) mod delete;
pub(crate) mod dump;
pub(crate) mod expire;
pub(crate) mod inspect;
pub(crate) mod migrate;
pub(crate) mod names;
pub(crate) mod object;
pub(crate) mod place;
pub(crate) mod range;
pub(crate) mod scan;
pub(crate) mod sort;
mod sorting;
pub(crate) mod time_left;
