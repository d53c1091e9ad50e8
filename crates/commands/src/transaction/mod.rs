//! Transactions.

pub(crate) mod multi;
