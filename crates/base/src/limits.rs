//! Limits that more than one crate obeys.

/// Shards of a keyspace, fixed in the data folder.
pub const SHARDS: usize = 1024;
/// Most databases that can be configured; so many table ids are each the first of one.
pub const DATABASES_MAX: u32 = 65_536;
/// Longest key or value, in bytes (Redis: `proto-max-bulk-len`).
pub const BULK_BYTES_MAX: usize = 512 << 20;
/// Most arguments of one request (Redis).
pub const ARGUMENTS_MAX: usize = i32::MAX as usize;
/// Longest inline request and longest length line, in bytes (Redis).
pub const INLINE_BYTES_MAX: usize = 64 << 10;
/// A leaf block with every header, at most, in bytes.
pub const BLOCK_BYTES_MAX: usize = 4096;
/// Version of the block format (`docs/formats/block.md`): a data folder of another version is refused.
pub const BLOCK_FORMAT: u32 = 1;
