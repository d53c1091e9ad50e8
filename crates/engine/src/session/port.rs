//! The protocol that a connection speaks, and what it needs to read requests.
//!
//! ```text
//!   bytes --> Port --> Step::Request: a command, run like any other
//!                |---> Step::Done: nothing to run; a line may have been said
//!                '---> Step::NeedMore, Step::Over
//! ```
//!
//! RESP is read here; `memcached.rs` and `memcacheq.rs` have the rules of their protocols.

use super::memcacheq::QueuePort;
use super::{Next, Session};
use commands::registry::Command;
use wire::memcache::MemcacheDecoder;
use wire::resp::{Encoder, Limits, RespDecoder, RespStep};
use wire::{Output, Ranges, Reply};

/// A connection's protocol.
pub(super) enum Port {
    /// Redis'.
    Resp(RespDecoder),
    /// Memcached's text protocol.
    Memcached(Box<MemcacheDecoder>),
    /// MemcacheQ's, in memcached's syntax.
    Queues(Box<QueuePort>),
}

/// The result of one decoding step.
pub(super) enum Step {
    /// A request of this many bytes, and its command if the first word is not its name.
    Request(usize, Option<Command>),
    /// This many bytes are consumed.
    Done(usize),
    /// This many bytes are needed in all.
    NeedMore(usize),
    /// The connection ends.
    Over(Next),
}

impl Port {
    /// Creates the protocol of a Redis client.
    pub(super) fn resp(is_authenticated: bool) -> Self {
        let mut decoder = RespDecoder::new();
        decoder.set_limits(limits(is_authenticated));
        Self::Resp(decoder)
    }

    /// Sets how long requests may be.
    pub(super) fn set_authenticated(&mut self, is_authenticated: bool) {
        match self {
            Self::Resp(decoder) => decoder.set_limits(limits(is_authenticated)),
            Self::Memcached(decoder) => decoder.set_locked(!is_authenticated),
            Self::Queues(queues) => queues.decoder.set_locked(!is_authenticated),
        }
    }

    /// Returns true if it is Redis' protocol.
    #[inline]
    pub(super) fn is_resp(&self) -> bool {
        matches!(self, Self::Resp(_))
    }

    /// Returns the decoder of memcached's syntax, if that is spoken.
    pub(super) fn line_decoder(&mut self) -> Option<&mut MemcacheDecoder> {
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

impl Session {
    /// Decodes the next request of `input`, its arguments into `ranges`.
    #[inline]
    pub(super) fn decode(&mut self, input: &[u8], ranges: &mut Ranges, output: &mut Output) -> Step {
        let Port::Resp(decoder) = &mut self.port else { return self.decode_line(input, ranges, output) };
        match decoder.step(input, ranges) {
            RespStep::Request { used } => Step::Request(used, None),
            RespStep::Empty { used } => Step::Done(used),
            RespStep::NeedMore { at_least } => Step::NeedMore(at_least),
            RespStep::Broken(error) => {
                Encoder::new(output, self.protocol).error(&format!("ERR {error}"));
                self.replies_held += 1;
                Step::Over(Next::Close)
            }
            RespStep::Http => Step::Over(Next::Http),
        }
    }
}
