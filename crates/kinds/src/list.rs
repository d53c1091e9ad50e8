//! The list: a block list, and what Redis would call its encoding.

pub use blocks::BlockList as List;

/// Whether Redis would keep a list of these dimensions in one listpack, under `list-max-listpack-size`.
///
/// A negative limit bounds the bytes (-1: 4 KiB, -2: 8 KiB ... -5: 64 KiB), a positive one the elements.
/// Source: redis.conf of Redis 7.2, `list-max-listpack-size`.
pub fn is_listpack(items_count: u64, content_bytes: u64, limit: i64) -> bool {
    if limit >= 0 {
        return items_count <= limit.max(1) as u64;
    }
    let bytes_max = 4096u64 << (-limit.max(-5) - 1);
    // A listpack spends about two bytes an element and seven on itself.
    content_bytes + 2 * items_count + 7 <= bytes_max
}
