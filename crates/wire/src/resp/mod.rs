//! RESP2 and RESP3, the protocol of Redis: requests in ([`Decoder`]), replies out ([`Encoder`]).

mod decode;
mod encode;
mod inline;

pub use decode::{Decoder, Limits, REQUEST_BYTES_MAX, Step, WireError};
pub use encode::{Encoder, Protocol, message, request};
