//! A store over a disk in memory, and a twin that knows what it must hold.

use base::disk::{Disk, FakeDisk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Commit, Keys, MapRecord, Options, Place, Run, ShardRecord, Share, Store, StoreError, block_bytes};

pub(crate) const SHARDS: u32 = 6;

pub(crate) fn folder() -> PathBuf {
    PathBuf::from("/data/store")
}

/// Small sizes, so that segments are rolled and manifests written anew often.
pub(crate) fn options() -> Options {
    Options {
        shards: SHARDS,
        segment_bytes_max: 20_000,
        manifest_bytes_min: 2500,
        reserve_bytes: 8192,
        ..Options::new(77, 1000)
    }
}

pub(crate) fn open(disk: &FakeDisk) -> Result<Store, StoreError> {
    Store::open(Arc::new(disk.clone()), &folder(), options())
}

/// A small generator, so that a seed means the same for ever.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    pub(crate) fn bytes(&mut self, bytes_max: u64) -> Vec<u8> {
        let (tag, bytes) = (self.next() as u8, self.below(bytes_max));
        (0..bytes).map(|index| tag.wrapping_add(index as u8)).collect()
    }
}

pub(crate) fn random(seed: u64) -> Random {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    random.next();
    random
}

/// Returns the number of cases of a heavy test: `BOBBIN_CASES` percent of the usual number.
pub(crate) fn cases(usual: u64) -> u64 {
    let percent = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(100u64);
    (usual * percent / 100).max(1)
}

/// The expected contents of a shard.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TwinShard {
    pub(crate) record: ShardRecord,
    pub(crate) runs: Vec<Vec<Vec<u8>>>,
    pub(crate) blocks: Vec<(Place, Vec<u8>)>,
}

/// The expected contents of a store.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Twin {
    pub(crate) shards: Vec<TwinShard>,
    pub(crate) map: Option<MapRecord>,
}

impl Twin {
    pub(crate) fn new() -> Self {
        let shard = |shard| TwinShard { record: ShardRecord { shard, ..Default::default() }, ..Default::default() };
        Self { shards: (0..SHARDS).map(shard).collect(), map: None }
    }

    /// Compares the records of a store with this; returns the difference as an error.
    pub(crate) fn compare_records(&self, store: &Store) -> Result<(), String> {
        if store.map() != self.map.as_ref() {
            return Err("the map differs".into());
        }
        let differs = self.shards.iter().find(|twin| *store.shard(twin.record.shard) != twin.record);
        differs.map_or(Ok(()), |twin| Err(format!("the record of shard {} differs", twin.record.shard)))
    }

    /// Compares the contents of a store with this; returns the difference as an error.
    pub(crate) fn compare(&self, store: &Store) -> Result<(), String> {
        self.compare_records(store)?;
        let reader = store.reader();
        for twin in &self.shards {
            let index = twin.record.shard;
            for (run, records) in twin.record.runs.iter().zip(&twin.runs) {
                let found = records_of(&reader, index, run).map_err(|error| error.to_string())?;
                if found != *records {
                    return Err(format!("a run of shard {index} differs"));
                }
            }
            for (place, bytes) in &twin.blocks {
                let found = reader.block(*place, bytes.len()).map_err(|error| error.to_string())?;
                if found != *bytes {
                    return Err(format!("the block at {place:?} differs"));
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn records_of(reader: &store::Reader, shard: u32, run: &Run) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut records = Vec::new();
    reader.visit(shard, run, &mut |record| {
        records.push(record.to_vec());
        Ok(())
    })?;
    Ok(records)
}

/// Writes a commit of a few shards; returns the expected contents once it is finished.
pub(crate) fn fill(commit: &mut Commit<'_>, twin: &Twin, random: &mut Random) -> Result<Twin, StoreError> {
    let mut twin = twin.clone();
    for _ in 0..=random.below(3) {
        let index = random.below(u64::from(SHARDS)) as usize;
        let shard = &mut twin.shards[index];
        shard.record.position += 1 + random.below(1000);
        if random.below(4) != 0 {
            change(commit, shard, random)?;
        }
        commit.put_shard(shard.record.clone());
    }
    if random.below(4) == 0 {
        let position = twin.map.as_ref().map_or(0, |map| map.position) + random.below(50);
        let tables = (0..random.below(4)).map(|database| (database as u32, random.below(90) as u32)).collect();
        let map = MapRecord { position, tables, next_table: 90 };
        commit.put_map(map.clone());
        twin.map = Some(map);
    }
    Ok(twin)
}

fn change(commit: &mut Commit<'_>, shard: &mut TwinShard, random: &mut Random) -> Result<(), StoreError> {
    let is_base = shard.runs.is_empty() || random.below(3) == 0 || shard.runs.len() > 5;
    if is_base {
        *shard = TwinShard {
            record: ShardRecord { runs: vec![], blocks: vec![], tables: vec![], ..shard.record.clone() },
            ..TwinShard::default()
        };
    }
    // Removes some values, with the blocks that they named.
    let kept = random.below(shard.blocks.len() as u64 + 1) as usize;
    shard.blocks.truncate(kept);
    for _ in 0..random.below(4) {
        let bytes = random.bytes(3000);
        let place = commit.block(&bytes)?;
        assert!(commit.alive().contains(place.segment()));
        shard.blocks.push((place, bytes));
    }
    let mut shares = BTreeMap::<u32, u64>::new();
    for (place, bytes) in &shard.blocks {
        *shares.entry(place.segment()).or_default() += block_bytes(bytes.len());
    }
    shard.record.blocks = shares.into_iter().map(|(segment, bytes)| Share { segment, bytes }).collect();
    let records = records(random);
    commit.begin_run(shard.record.shard, is_base)?;
    for record in &records {
        commit.record(record)?;
    }
    shard.record.runs.push(commit.end_run()?);
    shard.record.tables = vec![Keys { table: 0, keys: random.below(99), expiring: 3 }];
    shard.runs.push(records);
    Ok(())
}

fn records(random: &mut Random) -> Vec<Vec<u8>> {
    let count = random.below(12);
    let bytes_max = |random: &mut Random| match random.below(12) {
        0 => 40_000,
        1 | 2 => 6000,
        _ => 90,
    };
    (0..count)
        .map(|_| {
            let bytes_max = bytes_max(random);
            random.bytes(bytes_max)
        })
        .collect()
}

/// Makes one commit; returns the expected contents.
pub(crate) fn commit(store: &mut Store, twin: &Twin, random: &mut Random) -> Result<Twin, StoreError> {
    let mut commit = store.begin(2000);
    let twin = fill(&mut commit, twin, random)?;
    commit.finish()?;
    Ok(twin)
}

/// A store after some commits, with its twin.
pub(crate) fn grown(disk: &FakeDisk, random: &mut Random, commits: u64) -> (Store, Twin) {
    let mut store = open(disk).expect("a store");
    let mut twin = Twin::new();
    for _ in 0..commits {
        twin = commit(&mut store, &twin, random).expect("a commit");
    }
    (store, twin)
}

pub(crate) fn files(disk: &FakeDisk) -> Vec<PathBuf> {
    disk.list(&folder()).expect("the folder").into_iter().map(|name| folder().join(name)).collect()
}

pub(crate) fn bytes_of(disk: &FakeDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path).expect("the file");
    let mut bytes = vec![0; file.bytes().expect("a length") as usize];
    file.read_at(&mut bytes, 0).expect("its bytes");
    bytes
}

pub(crate) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name")
}

pub(crate) fn is_segment(path: &Path) -> bool {
    let name = name_of(path);
    name.len() == "0000000001.runs".len() && name.ends_with(".runs")
        || name.len() == "0000000001.blocks".len() && name.ends_with(".blocks")
}

/// Asserts that a check reports no damage.
pub(crate) fn assert_whole(disk: &FakeDisk, context: &str) {
    let report = store::check(disk, &folder(), options(), &mut |_, _| {}).expect("a report");
    assert_eq!(report.damages, [], "{context}");
    assert_eq!(report.notes, [] as [String; 0], "{context}");
}
