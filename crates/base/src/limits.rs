//! Limits shared by several crates.

/// Number of shards of a keyspace, fixed in the data folder.
pub const SHARDS: usize = 1024;
/// Maximum number of databases; this many table ids are each the first table of one.
pub const DATABASES_MAX: u32 = 65_536;
/// Maximum key or value, in bytes (Redis: `proto-max-bulk-len`).
pub const BULK_BYTES_MAX: usize = 512 << 20;
/// Maximum arguments of one request (Redis).
pub const ARGUMENTS_MAX: usize = i32::MAX as usize;
/// Maximum inline request or length line, in bytes (Redis).
pub const INLINE_BYTES_MAX: usize = 64 << 10;
/// Maximum leaf block with every header, in bytes.
pub const BLOCK_BYTES_MAX: usize = 4096;
/// Version of the block format (`docs/formats/block.md`): a data folder of another version is refused.
pub const BLOCK_FORMAT: u32 = 1;
