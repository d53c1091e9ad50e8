//! The memcached protocol, text and meta: requests in ([`MemcacheDecoder`]), replies out ([`write`](self::encode)).
//!
//! ```text
//!   set k 5 0 3\r\nabc\r\n        set k 5 0 abc                one request
//!   get a b\r\n                   get a | get b | END          one request a key, and a line that nobody has to run
//!   ms k 3 T60 c\r\nabc\r\n       ms k T60 c abc
//!   mg a2V5 b v\r\n               mg key b v                   a key in base64 is decoded
//! ```
//!
//! MemcacheQ and Kestrel use a subset of these commands for queues ([`Dialect`]).
//!
//! Requests are passed on as arguments, in order of arrival, without a value's length; interpreting them is up to the
//! reader. Syntax errors are answered here, in memcached's wording.

mod base64;
mod decode;
pub(crate) mod encode;
mod number;
mod upkeep;
mod uri;

pub use base64::encode as encode_base64;
pub use decode::{
    Dialect, ITEM_BYTES_MAX, KEY_BYTES_MAX, MemcacheDecoder, MemcacheStep, Own, PASSWORD_BYTES_MAX, Verb,
};
pub use number::{signed, unsigned};
pub use uri::UriEncoded;
