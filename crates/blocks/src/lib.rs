//! The counted copy-on-write B+tree of packed blocks, and its leaf codecs. Pure.
//!
//! ```text
//!   BlockList ── 8 bytes: nothing, or one counted pointer
//!       │
//!       ▼                       a small list is one leaf and nothing else
//!     inner  | 340 ● | 340 ● | 340 ● | ... up to 64 children, each with its item count
//!                ▼       ▼       ▼
//!              leaf    leaf    leaf     one allocation each, at most 4,096 bytes with its head
//! ```
//!
//! - the head of a node and the counted pointer to it: `node`
//! - a leaf's layout and how one is built or changed in place: `leaf`, read through `view`
//! - children, counts and sums: `inner`
//! - operations that descend and rebalance on the way up: `tree`, `walk`
//! - a position as the way down to it: `cursor`; positions in an ordered list: `ordered`
//! - skipping by sums of items: `summary`
//! - long operations in steps over a clone: `search`, `removal`; where a clone has changed since: `diff`
//! - bytes that only clones keep alive: `retired`
//! - encoding for journal, store and wire: `codec`
//! - leaves stored one by one, and their places: `stored`, `place`
//!
//! This crate has no locks, clocks, files or global state, and no reference into a block outlives a visitor's call, so
//! that a block can be packed without callers noticing.

mod check;
mod codec;
mod cursor;
mod diff;
mod inner;
mod leaf;
mod list;
mod node;
mod ordered;
mod pack;
mod packing_policy;
mod place;
mod removal;
mod retired;
mod runs;
mod search;
mod stored;
mod summary;
mod tree;
mod view;
mod walk;

pub use codec::DecodeError;
pub use cursor::Cursor;
pub use leaf::{ITEM_BYTES_MAX, LEAF_BYTES_MAX};
pub use list::BlockList;
pub use ordered::Guide;
pub use pack::{PackedItems, UnpackedItems, pack_items};
pub use place::Place;
pub use removal::Removal;
pub use retired::counting_retired;
pub use runs::Runs;
pub use search::Search;
pub use stored::{LeafStore, StoredError, StoredLeaf, StoredLeaves, Storing, leaf_counts};
pub use summary::{Digest, Summary};
pub use walk::Visit;

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Before the first item.
    Head,
    /// After the last item.
    Tail,
}

/// Direction of a visit or search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From lower to higher indices.
    Forward,
    /// From higher to lower indices.
    Backward,
}
