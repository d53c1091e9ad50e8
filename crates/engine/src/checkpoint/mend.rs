//! A repair's checkpoint: some shards, whole, as of the journal's end, in one commit. Nothing else runs.

use super::sink::Sink;
use super::usage::Usage;
use super::writing::keys;
use base::{Ms, Position};
use keyspace::{Batch, CutStep, Keyspace, STEP_ENTRIES, ShardState, TurnMemory};
use std::cell::RefCell;
use store::{Commit, MapRecord, ShardRecord, Store, StoreError};

/// Commits to `store` the whole contents of `shards` in `keyspace`, replacing their stored state, and the map. `end` is
/// the end of the journal, which is durable up to there.
///
/// # Errors
/// Returns the disk's error; the store is then unchanged.
///
/// # Panics
/// Panics if another holder has one of the shards.
pub fn store_shards(
    store: &mut Store,
    keyspace: &Keyspace,
    shards: &[usize],
    end: Position,
    now_ms: Ms,
) -> Result<(), StoreError> {
    let commit = RefCell::new(store.begin(now_ms));
    for &shard in shards {
        let mut state = keyspace.shard(shard).try_write().expect("a repair is alone with the keyspace");
        let record = write(&commit, keyspace, shard, &mut state, end)?;
        commit.borrow_mut().put_shard(record);
    }
    let mut commit = commit.into_inner();
    let map = keyspace.map().state();
    commit.put_map(MapRecord { position: end, tables: map.changed, next_table: map.next });
    commit.finish()
}

fn write(
    commit: &RefCell<Commit<'_>>,
    keyspace: &Keyspace,
    shard: usize,
    state: &mut ShardState,
    end: Position,
) -> Result<ShardRecord, StoreError> {
    let turned = state.turn(keyspace, true, &mut TurnMemory::default(), || end).expect("no turn was abandoned");
    let tables: Vec<_> = turned.tables.iter().map(keys).collect();
    let shard_record = ShardRecord { shard: shard as u32, position: end, tables, ..ShardRecord::default() };
    if shard_record.tables.is_empty() {
        return Ok(shard_record);
    }
    commit.borrow_mut().begin_run(shard as u32, true)?;
    let mut usage = Usage::default();
    loop {
        let mut batch = Batch::default();
        let step = state.take(keyspace, STEP_ENTRIES, &mut batch);
        let mut sink = Sink::new(commit, &[]);
        let mut put = |record: &[u8]| {
            usage.apply(record).expect("a record that was just encoded");
            commit.borrow_mut().record(record)
        };
        while !batch.encode(&mut sink, &mut put)? {}
        if step != CutStep::More {
            break;
        }
    }
    let runs = vec![commit.borrow_mut().end_run()?];
    Ok(ShardRecord { runs, blocks: usage.shares(|table| keyspace.map().names(table)), ..shard_record })
}
