//! A reply of names, of any number.

use crate::chunked_buffer::Pieces;
use base::varint;
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// Names, each after its length.
#[derive(Default)]
pub(crate) struct Names {
    pieces: Pieces,
    count: usize,
    /// Bytes of the first piece that have been sent.
    sent_bytes: usize,
}

impl Names {
    /// Reserves memory for a visit's names, once there are any.
    pub(crate) fn prepare(&mut self) {
        if self.count > 0 {
            self.pieces.prepare();
        }
    }

    pub(crate) fn push(&mut self, name: &[u8]) {
        let bytes = varint::encoded_bytes(name.len() as u64) + name.len();
        varint::put_bytes(self.pieces.room(bytes), name);
        self.count += 1;
    }

    /// Replies with an array, in steps if it is long.
    pub(crate) fn write(mut self, reply: &mut dyn Reply) {
        reply.array(self.count);
        if self.next(reply) == More::Follows {
            reply.stream(Box::new(self));
        }
    }
}

impl Source for Names {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let mut left_bytes = SOURCE_STEP_BYTES;
        while let Some(piece) = self.pieces.front() {
            let mut rest = &piece[self.sent_bytes..];
            while left_bytes > 0
                && let Some(name) = varint::take_bytes(&mut rest)
            {
                reply.bulk(name);
                left_bytes = left_bytes.saturating_sub(name.len() + HEADER_BYTES);
            }
            self.sent_bytes = piece.len() - rest.len();
            if !rest.is_empty() {
                return More::Follows;
            }
            self.pieces.drop_front();
            self.sent_bytes = 0;
        }
        More::Done
    }
}

/// The approximate size of a name's header, in bytes.
const HEADER_BYTES: usize = 8;
