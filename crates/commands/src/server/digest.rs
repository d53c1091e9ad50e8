//! DEBUG DIGEST: 160 bits that are equal for equal data.
//!
//! ```text
//! value   state = H(state, piece) over its pieces in order        H: three keyed hashes side by side
//! key     H(value, database, key)
//! all     the xor of the keys: their order means nothing
//! ```
//!
//! Only the presence of a deadline counts; its time is not part of the data.

use crate::failure::Failure;
use crate::spec::{Outcome, Sweep, SweepNext};
use base::Ms;
use base::hash::KeyHasher;
use blocks::Direction;
use keyspace::{Entry, Tx, string_of};
use std::fmt;
use std::ops::{BitXorAssign, ControlFlow};
use table::Content;
use values::Value;
use values::stream::StreamId;
use values::tagged::{Filter, LookLimits, Shown};
use wire::Reply;

/// A digest; zero for no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest([u64; 3]);

impl Digest {
    /// Returns the digest of an entry's value, whatever its key.
    pub(super) fn of_value(entry: Entry<'_>) -> Self {
        let mut mixer = Mixer::default();
        if let Some(text) = string_of(entry) {
            mixer.add(b"text");
            text.for_each_piece(|piece| mixer.add(piece));
        } else if let Content::Value(value) = entry.content() {
            mixer.add(value.value_type().name().as_bytes());
            mixer.add_value(value);
        }
        mixer.add_deadline(entry.expires_at_ms());
        mixer.state
    }

    /// Returns the digest of an entry of `database`, including its key.
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

/// Hashes pieces one after another.
struct Mixer {
    hashers: [KeyHasher; 3],
    state: Digest,
    /// The bytes to hash next: the state, then the piece.
    scratch: Vec<u8>,
}

impl Default for Mixer {
    fn default() -> Self {
        // Fixed keys: digests of two servers are compared.
        let hashers = [1, 2, 3].map(|number| KeyHasher::new([number; 16]));
        Self { hashers, state: Digest::default(), scratch: Vec::new() }
    }
}

impl Mixer {
    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Text(text) => text.for_each_piece(0..text.bytes_count(), |piece| self.add(piece)),
            Value::List(list) => {
                let _ = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
                    self.add(item);
                    ControlFlow::Continue(())
                });
            }
            Value::Set(set) => {
                // Nor does the order of members.
                let mut members = Digest::default();
                set.walk(0, set.len(), |member| {
                    let mut mixer = Self::default();
                    mixer.add(member);
                    members ^= mixer.state;
                    ControlFlow::Continue(())
                });
                members.0.iter().for_each(|part| self.add(&part.to_le_bytes()));
            }
            Value::Stream(stream) => {
                // The visible entries; their chunks are not part of the data.
                let all = (StreamId::MIN, StreamId::MAX);
                let _ = stream.walk(all.0, all.1, Direction::Forward, &mut |id, fields| {
                    self.add(id.to_string().as_bytes());
                    fields.iter().for_each(|(name, value)| {
                        self.add(name);
                        self.add(value);
                    });
                    ControlFlow::Continue(())
                });
            }
            Value::Tagged(list) => {
                let (all, limits) = (Filter::of(Shown::All), LookLimits { skip: 0, chunks: u64::MAX });
                let _ = list.walk(0..list.len(), Direction::Forward, &all, limits, |found| {
                    let (mut item, tags) = (Vec::new(), found.tags());
                    tags.with(found.value).encode(&mut item);
                    self.add(&item);
                    ControlFlow::Continue(())
                });
            }
            Value::Queue(queue) => {
                // The ready messages as for a list, then the held ones; lease ends are not part of the data.
                let _ = queue.walk_ready(0, queue.ready_len(), Direction::Forward, &mut |message: &[u8]| {
                    self.add(message);
                    ControlFlow::Continue(())
                });
                let _ = queue.walk_held(&mut |record| {
                    self.add(&[record.state.number()]);
                    self.add(record.message);
                    ControlFlow::Continue(())
                });
            }
            Value::Sorted(sorted) => sorted.for_each(|score, member| {
                self.add(&score.to_bits().to_le_bytes());
                self.add(member);
            }),
            Value::Hash(hash) => {
                // The order of fields means nothing.
                let mut fields = Digest::default();
                let _ = hash.walk(&mut |pair| {
                    let mut mixer = Self::default();
                    mixer.add(pair.field);
                    mixer.add(pair.value);
                    mixer.add_deadline(pair.expires_at_ms);
                    fields ^= mixer.state;
                    ControlFlow::Continue(())
                });
                fields.0.iter().for_each(|part| self.add(&part.to_le_bytes()));
            }
        }
    }

    fn add_deadline(&mut self, expires_at_ms: Option<Ms>) {
        if expires_at_ms.is_some() {
            self.add(b"deadline");
        }
    }

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
    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        let before = tx.database();
        for database in 0..tx.keyspace().map().databases() {
            tx.use_database(database);
            for (_, entry) in tx.scan(shard, 0) {
                self.digest ^= Digest::of_entry(database, entry);
            }
        }
        tx.use_database(before);
        SweepNext::Next
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        reply.simple(&self.digest.to_string());
        Ok::<(), Failure>(())
    }
}
