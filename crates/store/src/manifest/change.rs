//! The payload of a manifest record: one commit's changes, in varints.
//!
//! ```text
//! next segment
//! segments : count, each  | number | kind : u8 | bytes | created ms |
//! map      : u8, if 1     | position | next table | count, each  | database | table |
//! shards   : count, each  | shard | 0 : u8 | position |                                     only the position moved
//!                         | shard | 1 : u8 | position | tables | runs | blocks |
//!   tables : count, each  | table | keys | keys with a deadline |
//!   runs   : count, each  | segment | offset | bytes | records | crc : 4 bytes | is base : u8 |
//!   blocks : count, each  | segment | bytes |
//! ```

use crate::state::{Change, Keys, MapRecord, Run, SegmentKind, SegmentRecord, ShardChange, ShardRecord, Share};
use base::varint;

pub(crate) fn encode(change: &Change) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, [u64::from(change.next_segment), change.segments.len() as u64]);
    for segment in &change.segments {
        put(&mut out, [u64::from(segment.number)]);
        out.push(segment.kind as u8);
        put(&mut out, [segment.bytes, segment.created_ms]);
    }
    out.push(u8::from(change.map.is_some()));
    if let Some(map) = &change.map {
        put(&mut out, [map.position, u64::from(map.next_table), map.tables.len() as u64]);
        for &(database, table) in &map.tables {
            put(&mut out, [u64::from(database), u64::from(table)]);
        }
    }
    put(&mut out, [change.shards.len() as u64]);
    for shard in &change.shards {
        match shard {
            ShardChange::Moved(shard, position) => {
                put(&mut out, [u64::from(*shard)]);
                out.push(0);
                put(&mut out, [*position]);
            }
            ShardChange::Put(record) => put_shard(&mut out, record),
        }
    }
    out
}

fn put_shard(out: &mut Vec<u8>, record: &ShardRecord) {
    put(out, [u64::from(record.shard)]);
    out.push(1);
    put(out, [record.position, record.tables.len() as u64]);
    for keys in &record.tables {
        put(out, [u64::from(keys.table), keys.keys, keys.expiring]);
    }
    put(out, [record.runs.len() as u64]);
    for run in &record.runs {
        put(out, [u64::from(run.segment), run.offset, run.bytes, run.records]);
        out.extend_from_slice(&run.crc.to_le_bytes());
        out.push(u8::from(run.is_base));
    }
    put(out, [record.blocks.len() as u64]);
    for share in &record.blocks {
        put(out, [u64::from(share.segment), share.bytes]);
    }
}

fn put<const N: usize>(out: &mut Vec<u8>, numbers: [u64; N]) {
    numbers.into_iter().for_each(|number| varint::put(out, number));
}

/// Decodes the output of [`encode`]. `None` for anything else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Change> {
    let mut fields = Fields(bytes);
    let next_segment = fields.small()?;
    let segments = fields.many(|fields| {
        let (number, kind) = (fields.small()?, SegmentKind::of(fields.byte()?)?);
        Some(SegmentRecord { number, kind, bytes: fields.number()?, created_ms: fields.number()? })
    })?;
    let map = if fields.flag()? { Some(fields.map()?) } else { None };
    let shards = fields.many(Fields::shard)?;
    fields.0.is_empty().then_some(Change { next_segment, segments, map, shards })
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number(&mut self) -> Option<u64> {
        varint::take(&mut self.0)
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn crc(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Takes the stated number of elements; each takes bytes, so a false count fails where the bytes end.
    fn many<T>(&mut self, mut take: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(take(self)?);
        }
        Some(items)
    }

    fn map(&mut self) -> Option<MapRecord> {
        let (position, next_table) = (self.number()?, self.small()?);
        let tables = self.many(|fields| Some((fields.small()?, fields.small()?)))?;
        Some(MapRecord { position, tables, next_table })
    }

    fn shard(&mut self) -> Option<ShardChange> {
        let (shard, is_put, position) = (self.small()?, self.flag()?, self.number()?);
        if !is_put {
            return Some(ShardChange::Moved(shard, position));
        }
        let tables = self
            .many(|fields| Some(Keys { table: fields.small()?, keys: fields.number()?, expiring: fields.number()? }))?;
        let runs = self.many(Fields::run)?;
        let blocks = self.many(|fields| Some(Share { segment: fields.small()?, bytes: fields.number()? }))?;
        Some(ShardChange::Put(ShardRecord { shard, position, tables, runs, blocks }))
    }

    fn run(&mut self) -> Option<Run> {
        let (segment, offset, bytes, records) = (self.small()?, self.number()?, self.number()?, self.number()?);
        Some(Run { segment, offset, bytes, records, crc: self.crc()?, is_base: self.flag()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change() -> Change {
        let run = Run { segment: 3, offset: 40, bytes: 300, records: 2, crc: 0x0403_0201, is_base: true };
        let record = ShardRecord {
            shard: 5,
            position: 200,
            tables: vec![Keys { table: 1, keys: 2, expiring: 1 }],
            runs: vec![run],
            blocks: vec![Share { segment: 4, bytes: 99 }],
        };
        Change {
            next_segment: 5,
            segments: vec![SegmentRecord { number: 3, kind: SegmentKind::Runs, bytes: 400, created_ms: 7 }],
            map: Some(MapRecord { position: 9, tables: vec![(0, 1)], next_table: 2 }),
            shards: vec![ShardChange::Put(record), ShardChange::Moved(6, 201)],
        }
    }

    #[test]
    fn a_commit_has_its_published_bytes() {
        let bytes = encode(&change());
        let published = [
            &[5, 1, 3, 1, 0x90, 3, 7][..],
            &[1, 9, 2, 1, 0, 1],
            &[2, 5, 1, 0xc8, 1],
            &[1, 1, 2, 1],
            &[1, 3, 40, 0xac, 2, 2, 1, 2, 3, 4, 1],
            &[1, 4, 99],
            &[6, 0, 0xc9, 1],
        ];
        assert_eq!(bytes, published.concat());
        assert_eq!(decode(&bytes), Some(change()));
    }

    #[test]
    fn truncated_changes_and_trailing_bytes_are_rejected() {
        let bytes = encode(&change());
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end]), None, "{end}");
        }
        assert_eq!(decode(&[&bytes[..], &[0]].concat()), None);
        // Counts without matching bytes.
        assert_eq!(decode(&[5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), None);
    }
}
