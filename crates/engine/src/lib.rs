//! Sessions, MULTI, blocking, durability of replies, recovery.
