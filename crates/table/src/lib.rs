//! A shard's hash table, in hash order, and the packed entry. Pure.
