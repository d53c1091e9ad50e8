//! Commands of tagged lists: lists whose items carry attributes, paged and counted by them.
//!
//! ```text
//! TL.DEFINE prefix ...    the schema of new lists under names with that prefix; an existing list keeps its own
//! words of a request      -- conditions --> Asked -- schema --> Filter -- values::Tagged --> items
//! ```

mod conditions;
pub(crate) mod count;
pub(crate) mod create;
pub(crate) mod drop;
mod fault;
pub(crate) mod insert;
pub(crate) mod lookup;
pub(crate) mod mark;
pub(crate) mod place;
pub(crate) mod range;
pub(crate) mod remove;
pub(crate) mod schema;
mod view;
