//! Pub/Sub: subscribing and publishing.

pub(crate) mod look;
pub(crate) mod publish;
pub(crate) mod subscribe;
