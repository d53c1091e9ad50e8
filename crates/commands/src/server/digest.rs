//! What DEBUG DIGEST tells: 160 bits that are equal for equal data.
//!
//! ```text
//! value   state = H(state, piece) over its pieces in order        H: three keyed hashes side by side
//! key     H(value, database, key)
//! all     the xor of the keys: their order means nothing
//! ```
//!
//! A deadline counts by being there; when it falls due is not part of the data.

use crate::failure::Failure;
use crate::row::{Outcome, Sweep, Walk};
use base::hash::KeyHasher;
use blocks::Direction;
use keyspace::{Entry, Tx, list_of, text_of};
use std::fmt;
use std::ops::{BitXorAssign, ControlFlow};
use wire::Reply;

/// A digest; of nothing it is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest([u64; 3]);

impl Digest {
    /// Of what an entry holds, whatever its key.
    pub(super) fn of_value(entry: Entry<'_>) -> Self {
        let mut mixer = Mixer::default();
        if let Some(text) = text_of(entry) {
            mixer.add(b"text");
            text.for_each_piece(|piece| mixer.add(piece));
        } else if let Some(list) = list_of(entry) {
            mixer.add(b"list");
            let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
                mixer.add(item);
                ControlFlow::Continue(())
            });
        }
        if entry.expires_at_ms().is_some() {
            mixer.add(b"deadline");
        }
        mixer.state
    }

    /// Of an entry of `database`, its key included.
    fn of_entry(database: u32, entry: Entry<'_>) -> Self {
        let mut mixer = Mixer { state: Self::of_value(entry), ..Mixer::default() };
        mixer.add(&database.to_le_bytes());
        mixer.add(entry.key());
        mixer.state
    }
}

impl BitXorAssign for Digest {
    fn bitxor_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, other)| *mine ^= other);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third] = self.0;
        write!(to, "{first:016x}{second:016x}{:08x}", third as u32)
    }
}

/// Takes pieces one after another.
struct Mixer {
    hashers: [KeyHasher; 3],
    state: Digest,
    /// What is hashed next: the state, then the piece.
    scratch: Vec<u8>,
}

impl Default for Mixer {
    fn default() -> Self {
        // Fixed: the digests of two servers are compared.
        let hashers = [1, 2, 3].map(|number| KeyHasher::new([number; 16]));
        Self { hashers, state: Digest::default(), scratch: Vec::new() }
    }
}

impl Mixer {
    fn add(&mut self, piece: &[u8]) {
        self.scratch.clear();
        self.state.0.iter().for_each(|part| self.scratch.extend_from_slice(&part.to_le_bytes()));
        self.scratch.extend_from_slice(piece);
        self.state = Digest(self.hashers.map(|hasher| hasher.hash(&self.scratch)));
    }
}

/// DEBUG DIGEST: every database of every shard.
#[derive(Default)]
pub(super) struct DigestSweep {
    digest: Digest,
}

impl Sweep for DigestSweep {
    fn visit(&mut self, tx: &mut Tx, shard: usize) -> Walk {
        let before = tx.database();
        for database in 0..tx.keyspace().map().databases() {
            tx.use_database(database);
            for (_, entry) in tx.scan(shard, 0) {
                self.digest ^= Digest::of_entry(database, entry);
            }
        }
        tx.use_database(before);
        Walk::Next
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        reply.simple(&self.digest.to_string());
        Ok::<(), Failure>(())
    }
}
