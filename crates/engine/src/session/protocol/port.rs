//! The protocol that a connection speaks, and what it needs to read requests.
//!
//! ```text
//!   bytes --> Port --> Step::Request: a command, run like any other
//!                |---> Step::Done: nothing to run; a line may have been said
//!                '---> Step::NeedMore, Step::Close, Step::Http
//! ```
//!
//! RESP is read here; `memcached.rs` and `memcacheq.rs` have the rules of their protocols.

use commands::registry::Command;
use std::collections::VecDeque;
use wire::memcache::MemcacheDecoder;
use wire::resp::{Limits, RespDecoder};

/// A connection's protocol.
pub(in crate::session) enum Port {
    /// Redis'.
    Resp(RespDecoder),
    /// Memcached's text protocol.
    Memcached(Box<MemcacheDecoder>),
    /// MemcacheQ's, in memcached's syntax.
    Queues(Box<QueuePort>),
}

/// The state of a connection of this port.
pub(in crate::session) struct QueuePort {
    pub(in crate::session) decoder: MemcacheDecoder,
    /// The remaining steps of the last request.
    pub(in crate::session) steps: VecDeque<QueueRequest>,
    /// The queue of the current request.
    pub(in crate::session) key: Vec<u8>,
}

/// A request as words.
pub(in crate::session) struct QueueRequest {
    pub(in crate::session) command: Command,
    pub(in crate::session) words: Vec<Box<[u8]>>,
}

/// The result of one decoding step.
pub(in crate::session) enum Step {
    /// A request of this many bytes, and its command if the first word is not its name.
    Request(usize, Option<Command>),
    /// This many bytes are consumed.
    Done(usize),
    /// This many bytes are needed in all.
    NeedMore(usize),
    /// The connection ends.
    Close,
    /// A browser is speaking HTTP.
    Http,
}

impl Port {
    /// Creates the protocol of a Redis client.
    pub(in crate::session) fn resp(is_authenticated: bool) -> Self {
        let mut decoder = RespDecoder::new();
        decoder.set_limits(limits(is_authenticated));
        Self::Resp(decoder)
    }

    /// Sets how long requests may be.
    pub(in crate::session) fn set_authenticated(&mut self, is_authenticated: bool) {
        match self {
            Self::Resp(decoder) => decoder.set_limits(limits(is_authenticated)),
            Self::Memcached(decoder) => decoder.set_locked(!is_authenticated),
            Self::Queues(queues) => queues.decoder.set_locked(!is_authenticated),
        }
    }

    /// Returns true if it is Redis' protocol.
    #[inline]
    pub(in crate::session) fn is_resp(&self) -> bool {
        matches!(self, Self::Resp(_))
    }

    /// Returns the decoder of memcached's syntax, if that is spoken.
    pub(in crate::session) fn line_decoder(&mut self) -> Option<&mut MemcacheDecoder> {
        match self {
            Self::Resp(_) => None,
            Self::Memcached(decoder) => Some(decoder),
            Self::Queues(queues) => Some(&mut queues.decoder),
        }
    }
}

fn limits(is_authenticated: bool) -> Limits {
    if is_authenticated { Limits::Full } else { Limits::Unauthenticated }
}
