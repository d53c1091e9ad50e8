//! Times the store on a real disk: `cargo bench -p benches --bench store`, or `cargo bench -p benches --bench store -- MEGABYTES`.
//!
//! ```text
//! half records of 124 bytes, half blocks of 4,000, shard by shard, in commits of 32 MB --> open --> read --> blocks at random
//! ```
//!
//! Each block is read twice: with its file in the page cache, and after the file was dropped from the cache, so that
//! the disk is read.

use base::clock::thread_cpu_us;
use base::disk::RealDisk;
use rustix::fs::{Advice, fadvise};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Options, Place, ShardRecord, Share, Store, block_bytes};

const RECORD_BYTES: u64 = 124;
const BLOCK_BYTES: usize = 4000;
const COMMIT_BYTES: u64 = 32 << 20;
/// Blocks read between two drops of the page cache.
const READS_A_ROUND: u64 = 50;

fn main() {
    // `cargo test --all-targets` runs this too, without `--bench`: then a small store shows that it works.
    let usual = if std::env::args().any(|text| text == "--bench") { 1024 } else { 16 };
    let megabytes: u64 = std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(usual);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on the disk");
    let mut store = open(folder.path());
    let places = write(&mut store, megabytes << 20);
    store.close().expect("the folder is ours");

    let begun = Instant::now();
    let store = open(folder.path());
    println!("open                        {:>9.1} ms", ms(begun.elapsed()));
    read_runs(&store);
    let reads = (places.len() as u64).min(20_000);
    read_blocks("block, from the page cache", &store, &places, reads, None);
    read_blocks("block, from the disk", &store, &places, reads.min(5_000), Some(folder.path()));
}

fn open(folder: &Path) -> Store {
    Store::open(Arc::new(RealDisk), folder, Options::new(1, 1)).expect("the folder is ours")
}

/// Writes this much, shard by shard; returns the places of all blocks.
fn write(store: &mut Store, bytes: u64) -> Vec<Place> {
    let shards = base::limits::SHARDS as u32;
    let (records, blocks) =
        (bytes / 2 / u64::from(shards) / RECORD_BYTES, (bytes / 2 / u64::from(shards) / 4096).max(1));
    let (begun, begun_us, memory) = (Instant::now(), thread_cpu_us(), peak_bytes());
    let (mut places, mut longest, mut shard) = (Vec::new(), Duration::ZERO, 0);
    let (mut commits, mut record, mut block) = (0, [7; RECORD_BYTES as usize], vec![8; BLOCK_BYTES]);
    while shard < shards {
        let begun = Instant::now();
        let mut commit = store.begin(1);
        while shard < shards && commit.bytes() < COMMIT_BYTES {
            commit.begin_run(shard, true).expect("no run is open");
            for number in 0..records {
                record[..8].copy_from_slice(&number.to_le_bytes());
                commit.record(&record).expect("room on the disk");
            }
            let runs = vec![commit.end_run().expect("room on the disk")];
            let own: Vec<Place> = (0..blocks)
                .map(|number| {
                    block[..8].copy_from_slice(&number.to_le_bytes());
                    commit.block(&block).expect("room on the disk")
                })
                .collect();
            let shares = shares(&own);
            commit.put_shard(ShardRecord { shard, position: 1, runs, blocks: shares, ..ShardRecord::default() });
            places.extend(own);
            shard += 1;
        }
        commit.finish().expect("room on the disk");
        commits += 1;
        longest = longest.max(begun.elapsed());
    }
    let (took, cpu_us) = (begun.elapsed(), thread_cpu_us() - begun_us);
    println!(
        "commits of 32 MB            {:>9.1} ms each, longest {:.1} ms",
        ms(took) / f64::from(commits),
        ms(longest)
    );
    println!("written                     {:>9.1} MB/s", bytes as f64 / 1e6 / took.as_secs_f64());
    println!("CPU, a kilobyte             {:>9.1} ns", cpu_us as f64 * 1000.0 / (bytes >> 10) as f64);
    println!("memory above that before    {:>9.1} MiB", (peak_bytes() - memory) as f64 / f64::from(1 << 20));
    println!("on disk, for a byte         {:>9.3}", store.statistics().disk_bytes as f64 / bytes as f64);
    places
}

fn shares(places: &[Place]) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for place in places {
        match shares.last_mut().filter(|share| share.segment == place.segment()) {
            Some(share) => share.bytes += block_bytes(BLOCK_BYTES),
            None => shares.push(Share { segment: place.segment(), bytes: block_bytes(BLOCK_BYTES) }),
        }
    }
    shares
}

fn read_runs(store: &Store) {
    let (begun, begun_us) = (Instant::now(), thread_cpu_us());
    let (reader, mut records) = (store.reader(), 0_u64);
    for shard in 0..base::limits::SHARDS as u32 {
        for run in &store.shard(shard).runs {
            let count = &mut |_: &[u8]| {
                records += 1;
                Ok(())
            };
            reader.visit(shard, run, count).expect("what was written is there");
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("runs read                   {:>9.1} MB/s", (records * RECORD_BYTES) as f64 / 1e6 / seconds);
    println!("CPU, a record read          {:>9.1} ns", (thread_cpu_us() - begun_us) as f64 * 1000.0 / records as f64);
}

/// Reads blocks at random; if there is a `folder`, its files are forgotten by the page cache before.
fn read_blocks(name: &str, store: &Store, places: &[Place], reads: u64, folder: Option<&Path>) {
    let reader = store.reader();
    let mut took_ns: Vec<u64> = (0..reads)
        .map(|number| {
            if let Some(folder) = folder.filter(|_| number.is_multiple_of(READS_A_ROUND)) {
                forget(folder);
            }
            let place = places[(mixed(number) % places.len() as u64) as usize];
            let begun = Instant::now();
            reader.block(place, BLOCK_BYTES).expect("what was written is there");
            begun.elapsed().as_nanos() as u64
        })
        .collect();
    took_ns.sort_unstable();
    let us = |hundredths: usize| took_ns[(took_ns.len() - 1) * hundredths / 100] as f64 / 1000.0;
    println!("{name:27} {:>9.1} us, p99 {:.1} us, longest {:.1} us", us(50), us(99), us(100));
}

fn forget(folder: &Path) {
    for entry in fs::read_dir(folder).expect("the folder is ours") {
        let file = File::open(entry.expect("the folder is ours").path()).expect("the folder is ours");
        fadvise(&file, 0, None, Advice::DontNeed).expect("a file of ours");
    }
}

/// Returns the peak memory of this process in bytes; 0 if the system does not report it.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).map_or(0, |kib: u64| kib << 10)
}

/// A number without pattern, the same in each run.
fn mixed(value: u64) -> u64 {
    let mixed = (value + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
