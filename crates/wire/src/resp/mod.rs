//! RESP2 and RESP3, the protocol of Redis: requests in ([`RespDecoder`]), replies out ([`Encoder`]).

mod decode;
mod encode;
mod inline;

pub use decode::{Limits, REQUEST_BYTES_MAX, RespDecoder, RespStep, WireError};
pub use encode::{Encoder, Protocol, message, request};
