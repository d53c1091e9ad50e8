//! Gathers what is to be loaded: the stored data, and the journal beyond it, sorted by shard.

use super::Loading;
use super::contents::ShardContents;
use base::limits::SHARDS;
use keyspace::{CutTail, Keyspace, MapState};
use store::Store;

/// Reads the journal for [`Loading`].
pub struct Gathering<'k> {
    keyspace: &'k Keyspace,
    tail: CutTail,
    effects: Vec<Effects>,
    /// The number of frames so far.
    pub frames: u64,
}

impl<'k> Gathering<'k> {
    /// Prepares to gather what `store` lacks, for a `keyspace` that is shut ([`Keyspace::shut`]) and gets the stored
    /// map.
    pub fn new(keyspace: &'k Keyspace, store: &Store) -> Self {
        let map_from = store.map().map_or(0, |map| {
            keyspace.map().restore(&MapState { changed: map.tables.clone(), next: map.next_table });
            map.position
        });
        let shards_from = (0..SHARDS as u32).map(|shard| store.shard(shard).position).collect();
        let tail = CutTail::new(map_from, shards_from);
        Self { keyspace, tail, effects: (0..SHARDS).map(|_| Effects::default()).collect(), frames: 0 }
    }

    /// Returns all that is to be loaded. Shards without any data are open from now on.
    pub fn finish(self, store: &Store) -> Loading {
        let contents = (0..).zip(self.effects).map(|(shard, effects)| {
            let record = store.shard(shard).clone();
            ShardContents { record, effects }
        });
        Loading::new(self.keyspace, store.reader(), contents)
    }
}

impl journal::Replay for Gathering<'_> {
    fn frame(&mut self, frame: journal::Frame<'_>) -> Result<(), String> {
        self.frames += 1;
        let Self { keyspace, tail, effects, .. } = self;
        let note = |shard: usize, effect: &[u8]| effects[shard].push(effect);
        tail.split(keyspace, frame.position, frame.payload, note).map_err(|error| error.to_string())
    }
}

/// Effects on one shard, in order: in pieces, since a doubling buffer takes twice its contents.
#[derive(Default)]
pub(super) struct Effects {
    pieces: Vec<Vec<u8>>,
}

/// Bytes of a shard's first piece; each further one is twice as long, up to the maximum.
const PIECE_BYTES_MIN: usize = 1 << 10;
const PIECE_BYTES_MAX: usize = 32 << 10;

impl Effects {
    #[inline]
    fn push(&mut self, effect: &[u8]) {
        match self.pieces.last_mut() {
            Some(piece) if piece.capacity() - piece.len() >= effect.len() => piece.extend_from_slice(effect),
            _ => self.begin_piece(effect),
        }
    }

    #[cold]
    fn begin_piece(&mut self, effect: &[u8]) {
        let bytes = self.pieces.last().map_or(PIECE_BYTES_MIN, |piece| (2 * piece.capacity()).min(PIECE_BYTES_MAX));
        let mut piece = Vec::with_capacity(bytes.max(effect.len()));
        piece.extend_from_slice(effect);
        self.pieces.push(piece);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the pieces, each of whole effects.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(Vec::as_slice)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }
}
