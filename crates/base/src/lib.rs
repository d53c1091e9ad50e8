//! Foundations of every other crate, free of domain terms: ids, clock, hashing, variable-length integers, checksums,
//! limits and the [`disk::Disk`] trait.

#![forbid(unsafe_code)]

pub mod clock;
pub mod cost;
pub mod disk;
pub mod glob;
pub mod hash;
pub mod instant;
pub mod limits;
pub mod primitives;
pub mod programs;
pub mod random;
pub mod raw_text;
pub mod varint;

/// Milliseconds: since the Unix epoch for an instant, plain for a span.
pub type Ms = u64;

/// A count of frame bytes since the journal began.
///
/// A shard's position is the one *after* its last frame: everything below it is needed to see the shard's state.
pub type Position = u64;

/// Returns the CRC-32C (Castagnoli) of `bytes`, continuing from `seed` (0 to begin).
pub fn checksum(seed: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(seed, bytes)
}
