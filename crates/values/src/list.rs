//! The list: a block list, and what Redis would call its encoding.

pub use blocks::BlockList as List;

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// What `list-max-listpack-size` is: a name in replies hangs on it and nothing else, so one number for the whole
/// process is enough.
static LISTPACK_LIMIT: AtomicI64 = AtomicI64::new(-2);

/// Tells [`listpack_limit`] what the setting is now.
pub fn set_listpack_limit(limit: i64) {
    LISTPACK_LIMIT.store(limit, Relaxed);
}

/// The limit by which `OBJECT ENCODING` tells a listpack from a quicklist; -2 until somebody sets it.
fn listpack_limit() -> i64 {
    LISTPACK_LIMIT.load(Relaxed)
}

/// Whether Redis would keep a list of these dimensions in one listpack, under `list-max-listpack-size`.
///
/// A negative limit bounds the bytes (-1: 4 KiB, -2: 8 KiB ... -5: 64 KiB), a positive one the elements.
/// Source: redis.conf of Redis 7.2, `list-max-listpack-size`.
fn is_listpack(items_count: u64, content_bytes: u64, limit: i64) -> bool {
    if limit >= 0 {
        return items_count <= limit.max(1) as u64;
    }
    let bytes_max = 4096u64 << (-limit.max(-5) - 1);
    // A listpack spends about two bytes an element and seven on itself.
    content_bytes + 2 * items_count + 7 <= bytes_max
}

/// The name that `OBJECT ENCODING` replies in Redis for these items.
pub fn encoding(list: &List) -> &'static str {
    encoding_of(list.len(), list.content_bytes())
}

/// The same for so many items of so many bytes.
pub(crate) fn encoding_of(items_count: u64, content_bytes: u64) -> &'static str {
    if is_listpack(items_count, content_bytes, listpack_limit()) { "listpack" } else { "quicklist" }
}
