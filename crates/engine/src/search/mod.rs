//! Live indexes: kept in step with the keys by notes that transactions leave, and given to queries as clones.
//!
//! ```text
//!   transaction, at its end, under all its locks:  rows of the indexed keys it changed, and its position
//!        |                                                       |
//!        |                                            feed of each index      scan, shard by shard, under the
//!        |                                                       |   <------  shard's lock: rows that were there before
//!   a query, the indexer, writers while much waits:    rows --> index         under the index's own lock, in steps
//!                                                                |
//!   a query: all that was fed before it came is in ---> clone, and the position that its reply waits for
//! ```
//!
//! - which indexes there are, as declared in the server's own table: `registry`
//! - one index, its feed and the scan of its table: `live_index`
//! - the rows that a transaction has changed: `changes`
//! - results that FT.CURSOR reads piece by piece: `cursors`
//!
//! Rows of one transaction are one entry of the feed, so a clone has all of them or none. The feed's order is that of
//! the changes of each key, since both are made under the locks of the key's shard; the scan's entries, too. Waiting
//! rows are bounded as the key index's notes are: above the bound, a writer first puts some into the index.

mod changes;
mod cursors;
mod live_index;
mod registry;

pub(crate) use cursors::Cursor;
pub(crate) use live_index::{BackgroundStep, IndexTurn, LiveIndex, row_of};
pub(crate) use registry::IndexRegistry;
