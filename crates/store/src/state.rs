//! The committed state: a record per shard, the map of tables, and the segments that they name.

use base::{Ms, Position};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// Location of a block: segment (from 1 on) and offset in its file, packed into a non-zero number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(NonZeroU64);

impl Place {
    /// Returns the place at `offset` of `segment`; `None` for segment 0, which does not exist.
    pub fn new(segment: u32, offset: u32) -> Option<Self> {
        Self::of_number(u64::from(segment) << 32 | u64::from(offset))
    }

    /// Converts back from [`Self::number`].
    pub fn of_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).filter(|number| number.get() >> 32 != 0).map(Self)
    }

    /// Returns the place as a number.
    pub fn number(self) -> NonZeroU64 {
        self.0
    }

    /// Returns its segment.
    pub fn segment(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    /// Returns its offset in the segment's file.
    pub fn offset(self) -> u32 {
        self.0.get() as u32
    }
}

/// A sequence of records, in pages back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its segment.
    pub segment: u32,
    /// Offset of its first page.
    pub offset: u64,
    /// Bytes of its pages.
    pub bytes: u64,
    /// Records in it.
    pub records: u64,
    /// The checksum of its pages' checksums.
    pub crc: u32,
    /// True if it is the shard's whole content; false if it has only the changes.
    pub is_base: bool,
}

/// A shard's key counts for one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The table.
    pub table: u32,
    /// Number of keys.
    pub keys: u64,
    /// Number of keys with a deadline.
    pub expiring: u64,
}

/// One shard's use of a block segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The block segment.
    pub segment: u32,
    /// The sum of [`crate::block_bytes`] over the blocks that the shard's values name.
    pub bytes: u64,
}

/// The stored state of one shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardRecord {
    /// The shard.
    pub shard: u32,
    /// It contains everything below this journal position, and nothing beyond.
    pub position: Position,
    /// Its tables.
    pub tables: Vec<Keys>,
    /// Its runs, applied in this order. Only the first may be a base.
    pub runs: Vec<Run>,
    /// The block segments that its values name.
    pub blocks: Vec<Share>,
}

/// The table of each database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapRecord {
    /// The journal position of this state.
    pub position: Position,
    /// Pairs of database and table.
    pub tables: Vec<(u32, u32)>,
    /// The first table never used.
    pub next_table: u32,
}

/// The contents of a segment. The numbers are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SegmentKind {
    /// Pages of records.
    Runs = 1,
    /// Blocks.
    Blocks = 2,
}

impl SegmentKind {
    pub(crate) fn of(number: u8) -> Option<Self> {
        [Self::Runs, Self::Blocks].into_iter().find(|&kind| kind as u8 == number)
    }
}

/// A committed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentRecord {
    pub(crate) number: u32,
    pub(crate) kind: SegmentKind,
    /// Bytes of its file.
    pub(crate) bytes: u64,
    pub(crate) created_ms: Ms,
}

/// The changes of one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) next_segment: u32,
    pub(crate) segments: Vec<SegmentRecord>,
    pub(crate) map: Option<MapRecord>,
    pub(crate) shards: Vec<ShardChange>,
}

/// One commit's change to a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShardChange {
    Put(ShardRecord),
    /// Only its position.
    Moved(u32, Position),
}

/// The whole committed state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// Number of the last commit.
    pub(crate) commit: u64,
    /// The lowest segment number such that it and all above were never used.
    pub(crate) next_segment: u32,
    pub(crate) shards: Vec<ShardRecord>,
    pub(crate) map: Option<MapRecord>,
    /// Segments that some shard names, and dead ones until [`Self::forget_dead`].
    pub(crate) segments: BTreeMap<u32, SegmentRecord>,
}

impl State {
    pub(crate) fn new(shards: u32) -> Self {
        let shards = (0..shards).map(|shard| ShardRecord { shard, ..ShardRecord::default() }).collect();
        Self { commit: 0, next_segment: 1, shards, map: None, segments: BTreeMap::new() }
    }

    /// Applies a commit; else returns how it contradicts the state, which is then half changed.
    pub(crate) fn apply(&mut self, change: Change) -> Result<(), String> {
        if change.next_segment < self.next_segment {
            return Err("the next segment number decreases".into());
        }
        for segment in change.segments {
            let is_new = self.segments.insert(segment.number, segment).is_none();
            if !is_new || segment.number == 0 || segment.number >= change.next_segment {
                return Err(format!("segment {} is not new", segment.number));
            }
        }
        self.next_segment = change.next_segment;
        if let Some(map) = change.map {
            self.map = Some(map);
        }
        for shard in change.shards {
            match shard {
                ShardChange::Put(record) => self.put(record)?,
                ShardChange::Moved(shard, position) => self.record_mut(shard, position)?.position = position,
            }
        }
        Ok(())
    }

    fn put(&mut self, record: ShardRecord) -> Result<(), String> {
        self.misfit(&record).map_or(Ok(()), |why| Err(format!("shard {}: {why}", record.shard)))?;
        let slot = self.record_mut(record.shard, record.position)?;
        *slot = record;
        Ok(())
    }

    /// Returns what in a shard's record contradicts the segments.
    pub(crate) fn misfit(&self, record: &ShardRecord) -> Option<String> {
        for (index, run) in record.runs.iter().enumerate() {
            let end = run.offset.checked_add(run.bytes);
            let fits = |segment: &&SegmentRecord| {
                segment.kind == SegmentKind::Runs && end.is_some_and(|end| end <= segment.bytes)
            };
            if self.segments.get(&run.segment).filter(fits).is_none() {
                return Some(format!("a run is not within segment {}", run.segment));
            }
            if run.is_base && index > 0 {
                return Some("a base follows another run".into());
            }
        }
        let is_blocks = |number: u32| self.segments.get(&number).is_some_and(|it| it.kind == SegmentKind::Blocks);
        let strange = record.blocks.iter().find(|share| !is_blocks(share.segment))?;
        Some(format!("{} is no block segment", strange.segment))
    }

    fn record_mut(&mut self, shard: u32, position: Position) -> Result<&mut ShardRecord, String> {
        let record = self.shards.get_mut(shard as usize).ok_or_else(|| format!("there is no shard {shard}"))?;
        if position < record.position {
            return Err(format!("the position of shard {shard} decreases"));
        }
        Ok(record)
    }

    /// Returns the whole state as a change from nothing.
    pub(crate) fn whole(&self) -> Change {
        let is_set = |record: &&ShardRecord| **record != ShardRecord { shard: record.shard, ..ShardRecord::default() };
        Change {
            next_segment: self.next_segment,
            segments: self.segments.values().copied().collect(),
            map: self.map.clone(),
            shards: self.shards.iter().filter(is_set).cloned().map(ShardChange::Put).collect(),
        }
    }

    /// Returns the bytes named by shards, by segment. A block shared by two values counts twice.
    pub(crate) fn live_bytes(&self) -> BTreeMap<u32, u64> {
        let mut live = BTreeMap::<u32, u64>::new();
        for record in &self.shards {
            let runs = record.runs.iter().map(|run| (run.segment, run.bytes));
            for (segment, bytes) in runs.chain(record.blocks.iter().map(|share| (share.segment, share.bytes))) {
                let sum = live.entry(segment).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
        live
    }

    /// Drops the segments that no shard names, and returns them.
    pub(crate) fn forget_dead(&mut self) -> Vec<SegmentRecord> {
        let live = self.live_bytes();
        let dead: Vec<_> = self.segments.values().filter(|it| !live.contains_key(&it.number)).copied().collect();
        self.segments.retain(|number, _| live.contains_key(number));
        dead
    }

    pub(crate) fn least_position(&self) -> Position {
        let of_map = self.map.as_ref().map_or(0, |map| map.position);
        self.shards.iter().map(|record| record.position).fold(of_map, Position::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_converts_to_one_number_and_back() {
        let place = Place::new(7, 0xffff_fff0).expect("segment 7");
        assert_eq!((place.segment(), place.offset()), (7, 0xffff_fff0));
        assert_eq!(Place::of_number(place.number().get()), Some(place));
        assert_eq!((Place::new(0, 9), Place::of_number(9)), (None, None));
    }
}
