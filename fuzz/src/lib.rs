//! What more than one target needs.

pub mod store_world;
