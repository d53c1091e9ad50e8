//! The protocol of memcached, text and meta: requests in ([`MemcacheDecoder`]), replies out ([`write`](self::encode)).
//!
//! ```text
//!   set k 5 0 3\r\nabc\r\n        set k 5 0 abc                one request
//!   get a b\r\n                   get a | get b | END          one request a key, and a line that nobody has to run
//!   ms k 3 T60 c\r\nabc\r\n       ms k T60 c abc
//!   mg a2V5 b v\r\n               mg key b v                   a key in base64 is decoded
//! ```
//!
//! MemcacheQ and Kestrel speak of queues in the same words, if fewer ([`Dialect`]).
//!
//! What is asked is told as arguments, in the order in which they came, without the length of a value; what they mean is
//! the reader's business. Errors of syntax are answered here, in memcached's words.

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
