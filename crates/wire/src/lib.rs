//! Protocol codecs without sockets. Knows no command.
//!
//! ```text
//!   bytes in ──> resp::Decoder, memcache::Decoder ──> Ranges ──> Args ──> a handler
//!                                                                           │ dyn Reply
//!   bytes out <── Output <── resp::Encoder, which writes memcached's lines too ┘
//!                   ^ pieces: | bytes | Source | bytes ... |
//! ```
//!
//! A handler sees [`Args`] and [`Reply`] only, so another protocol is another decoder and another `Reply`. [`client`]
//! is the client side, for tests, the laboratory and everything that calls a server.

#![forbid(unsafe_code)]

pub mod client;
pub mod http;
pub mod memcache;
pub mod number;
mod output;
mod reply;
mod reply_value;
mod request;
pub mod resp;

pub use output::{Mark, Output};
pub use reply::{More, Reply, SOURCE_STEP_BYTES, Source};
pub use reply_value::ReplyValue;
pub use request::{Args, ArgsIter, Copying, OwnedRequest, Ranges, Selection, Words};
