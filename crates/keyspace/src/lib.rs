//! Shards, expiry, the Tx and its guards, effects and their replay.
