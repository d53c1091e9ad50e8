//! The memory use of a commit and a load is independent of their size. One test in a process of its own, since it
//! measures the peak memory of the process.

use base::disk::{Disk, RealDisk};
use std::io;
use std::path::Path;
use std::sync::Arc;
use store::{Options, ShardRecord, Store};

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

fn write(store: &mut Store, bytes: u64) {
    let mut commit = store.begin(1);
    let record = vec![7; 500];
    let leaf = vec![8; 3000];
    for shard in 0..4 {
        commit.begin_run(shard, true).unwrap();
        for _ in 0..bytes / 8 / 500 {
            commit.record(&record).unwrap();
        }
        let runs = vec![commit.end_run().unwrap()];
        for _ in 0..bytes / 8 / 3000 {
            commit.block(&leaf).unwrap();
        }
        commit.put_shard(ShardRecord { shard, position: bytes, runs, ..ShardRecord::default() });
    }
    commit.finish().unwrap();
    let reader = store.reader();
    for shard in 0..4 {
        let mut count = 0;
        reader
            .visit(shard, &store.shard(shard).runs[0], &mut |record| {
                assert_eq!(record.len(), 500);
                count += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(count, bytes / 8 / 500);
    }
}

#[test]
fn memory_use_is_independent_of_the_commit_size() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let folder: &Path = folder.path();
    let options = || Options { shards: 4, reserve_bytes: 0, ..Options::new(1, 1) };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut store = Store::open(disk, folder, options()).unwrap();
    write(&mut store, 8 << 20);
    let Some(before) = peak_bytes() else {
        println!("skipped: the system does not report the memory of a process");
        return Ok(());
    };
    write(&mut store, 96 << 20);
    let grown = peak_bytes().unwrap_or(u64::MAX) - before;
    assert!(grown < 2 << 20, "a commit twelve times as long takes {grown} bytes more");
    Ok(())
}
