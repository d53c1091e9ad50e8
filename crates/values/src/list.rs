//! The list: a block list, and the encoding Redis would report for it.

pub use blocks::BlockList as List;

use base::primitives::atomic::{AtomicI64, Ordering::Relaxed};

/// The value of `list-max-listpack-size`: only a name in replies depends on it, so one number for the whole process is
/// enough.
static LISTPACK_LIMIT: AtomicI64 = AtomicI64::new(-2);

/// Sets the value that [`listpack_limit`] returns.
pub fn set_listpack_limit(limit: i64) {
    LISTPACK_LIMIT.store(limit, Relaxed);
}

/// Returns the limit by which `OBJECT ENCODING` distinguishes listpack from quicklist; -2 until set.
fn listpack_limit() -> i64 {
    LISTPACK_LIMIT.load(Relaxed)
}

/// Returns true if Redis would keep a list of this size in one listpack, under `list-max-listpack-size`.
///
/// A negative limit bounds the bytes (-1: 4 KiB, -2: 8 KiB ... -5: 64 KiB), a positive one the elements.
/// Source: redis.conf of Redis 7.2, `list-max-listpack-size`.
fn is_listpack(items_count: u64, content_bytes: u64, limit: i64) -> bool {
    if limit >= 0 {
        return items_count <= limit.max(1) as u64;
    }
    let bytes_max = 4096u64 << (-limit.max(-5) - 1);
    // A listpack spends about two bytes per element plus seven.
    content_bytes + 2 * items_count + 7 <= bytes_max
}

/// Returns the name that `OBJECT ENCODING` replies in Redis for these items.
pub fn encoding(list: &List) -> &'static str {
    encoding_of(list.len(), list.content_bytes())
}

/// Likewise for this number of items and bytes.
pub(crate) fn encoding_of(items_count: u64, content_bytes: u64) -> &'static str {
    if is_listpack(items_count, content_bytes, listpack_limit()) { "listpack" } else { "quicklist" }
}
