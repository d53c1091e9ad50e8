//! FT.*: queries over live indexes, in turns.
//!
//! ```text
//!   live index --- all that was fed before the request is put in, in turns ---> clone, and its position
//!                                                                                 |
//!   shards of some keys, held together  <--- hashes that the reply shows ---  query, in turns of half a millisecond
//!        |                                                                        |
//!        '-- a row is not that of the clone: the query begins anew                '---> reply, once that position
//!                                                                                       may be seen
//! ```
//!
//! - cursors of FT.AGGREGATE: `cursor`
//! - FT.DELETEBY, FT.DROPINDEX: `delete`
//! - inside MULTI, under the gate: `in_transaction`
//! - the end of temporary indexes: `temporary`

mod cursor;
mod delete;
mod in_transaction;
mod temporary;

use super::gathered_keys::GatherPace;
use super::state::Session;
use crate::executor::Lack;
use crate::search::{IndexTurn, LiveIndex};
use crate::waits::{gate_open, loaded};
use crate::worker::Worker;
use base::primitives::atomic::Ordering::Relaxed;
use base::{Ms, Position};
use commands::registry::Command;
use commands::{
    Failure, INDEX_CURSORS_MAX, IndexQuery, QUERY_TIMED_OUT, QueryRun, QueryStep, QueryType, Run, SearchVerb,
};
use keyspace::{Keyspace, Plan, Tx};
use search::{CursorFigures, Definition, Index, IndexFigures, Work};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use sync::lock::Want;
use values::Hash;
use wire::resp::Encoder;
use wire::{Args, More, Output};

/// Work of a query before others have their turn, in units of some 100 ns.
const WORK_AT_ONCE: u64 = 3_000;
/// Bytes that a query may occupy beside its index.
const QUERY_BYTES_MAX: usize = 256 << 20;
/// Milliseconds for which a query waits for an index that is being built, unless TIMEOUT says otherwise.
const BUILDING_MS: Ms = 1_000;
/// Times that a query begins anew since rows have changed before their hashes were read.
const TRIES_MAX: usize = 100;

/// A request that uses an index.
pub(super) struct SearchCall<'a> {
    worker: &'a Rc<Worker>,
    command: Command,
    verb: SearchVerb,
    args: &'a Args<'a>,
    pace: GatherPace<'a>,
    began_ms: Ms,
    /// Milliseconds that it may take; `None`: however long.
    timeout_ms: Option<Ms>,
    /// The position that its reply has seen, whether it succeeds or fails.
    seen: Position,
}

/// A request that is parsed, and a clone of its index to be asked.
struct Prepared<Q> {
    index: Arc<LiveIndex>,
    query: Q,
    clone: Index,
}

/// A hash as read for a reply, and the deadline of its key.
type ReadHash = Option<(Hash, Option<Ms>)>;

impl SearchCall<'_> {
    fn now(&self) -> Ms {
        self.worker.engine.clock.now()
    }

    fn took_ms(&self) -> Ms {
        self.now().saturating_sub(self.began_ms)
    }

    /// Lets others have their turn.
    ///
    /// # Errors
    /// If its time is up.
    async fn rest(&mut self) -> Result<(), Failure> {
        if self.timeout_ms.is_some_and(|timeout_ms| self.took_ms() >= timeout_ms) {
            return Err(Failure::text(QUERY_TIMED_OUT));
        }
        self.pace.rest().await;
        Ok(())
    }

    /// Returns the index that the request names.
    async fn index(&mut self, name: &[u8]) -> Result<Arc<LiveIndex>, Failure> {
        let engine = &self.worker.engine;
        self.pace.wait(loaded(engine)).await;
        loop {
            match self.worker.member.enter().map(|_inside| engine.indexes.open(&engine.keyspace)) {
                Some(true) => break,
                Some(false) => self.rest().await?,
                None => self.pace.wait(gate_open(&engine.gate)).await,
            }
        }
        let current = engine.indexes.current();
        // That there is no such index may be taken back, too.
        self.seen = self.seen.max(current.position());
        let index = current.find(name).cloned().ok_or_else(|| commands::unknown_index(self.verb, name))?;
        index.uses.fetch_add(1, Relaxed);
        index.used_ms.store(self.now(), Relaxed);
        Ok(index)
    }

    /// Parses a request by the declaration of the index that has this name, and returns a clone of the index with all
    /// that was fed before.
    async fn prepare<Q>(
        &mut self,
        name: &[u8],
        parse: impl Fn(&Arc<Definition>) -> Result<(Q, Option<Ms>), Failure>,
    ) -> Result<Prepared<Q>, Failure> {
        loop {
            let index = self.index(name).await?;
            let (query, timeout_ms) = parse(&index.definition)?;
            self.timeout_ms = self.worker.query_timeout_ms(timeout_ms);
            let patience_ms = timeout_ms.filter(|timeout_ms| *timeout_ms > 0).unwrap_or(BUILDING_MS);
            if let Some(clone) = self.snapshot(name, &index, patience_ms).await? {
                return Ok(Prepared { index, query, clone });
            }
        }
    }

    /// Returns a clone of the index with all that was fed before; `None` if the name has another index by then, since
    /// one that is no longer declared is fed no more.
    async fn snapshot(
        &mut self,
        name: &[u8],
        index: &Arc<LiveIndex>,
        patience_ms: Ms,
    ) -> Result<Option<Index>, Failure> {
        let engine = &self.worker.engine;
        let is_current = || engine.indexes.current().find(name).is_some_and(|current| Arc::ptr_eq(current, index));
        let mut fed = index.fed_count();
        loop {
            let was_built = index.is_built();
            match self.worker.member.enter().map(|_inside| index.turn(&engine.keyspace, fed)) {
                Some(IndexTurn::Ready(clone, position)) => {
                    self.seen = self.seen.max(position);
                    return Ok(is_current().then_some(*clone));
                }
                _ if !is_current() => return Ok(None),
                Some(IndexTurn::Again | IndexTurn::Held) => {}
                Some(IndexTurn::Locked) => self.pace.wait(self.worker.sleep(1)).await,
                None => self.pace.wait(gate_open(&engine.gate)).await,
            }
            if !was_built {
                // The rows of the scan are in once it is over.
                fed = index.fed_count();
                if self.took_ms() >= patience_ms && !index.is_built() {
                    let percent = (100.0 * index.built_part()) as u64;
                    return Err(Failure::text(format!(
                        "ERR the index is being built, {percent} % of the keys are read: ask again, or with a longer TIMEOUT"
                    )));
                }
            }
            self.rest().await?;
        }
    }
}

impl Session {
    /// Runs a command that uses an index. Returns the time for which it ran.
    pub(super) async fn search(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        let Run::Search(verb) = command.run else { unreachable!("asked for a command that uses an index") };
        let (mark, began_ms) = (output.mark(), worker.engine.clock.now());
        let pace = GatherPace::begin(worker);
        let mut call = SearchCall { worker, command, verb, args, pace, began_ms, timeout_ms: None, seen: 0 };
        let result = match verb {
            SearchVerb::Query(query_type) => self.answer_query(&mut call, query_type, output).await,
            SearchVerb::Cursor => self.use_cursor(&mut call, output).await,
            SearchVerb::Info => self.describe_index(&mut call, output).await,
            SearchVerb::DeleteBy => self.delete_by(&mut call, output).await,
            SearchVerb::Drop => self.drop_index(&mut call, output).await,
        };
        if let Err(failure) = result {
            output.truncate(mark);
            self.fail(worker, Some(command), &failure, output);
        }
        self.saw(call.seen);
        self.hide_unreadable(worker, call.seen, mark, output);
        call.pace.took()
    }

    /// Answers FT.SEARCH, FT.AGGREGATE or FT.TAGVALS.
    async fn answer_query(
        &mut self,
        call: &mut SearchCall<'_>,
        query_type: QueryType,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (name, args) = (call.args.get(1), *call.args);
        let parse = |definition: &Arc<Definition>| {
            let query = IndexQuery::parse(query_type, &args, definition)?;
            let timeout_ms = query.timeout_ms();
            Ok((query, timeout_ms))
        };
        for try_at in 0..TRIES_MAX {
            let Prepared { index, query, clone } = call.prepare(name, parse).await?;
            if try_at == 0
                && let Some(uses) = index.dialect_uses.get(usize::from(query.dialect()).wrapping_sub(1))
            {
                uses.fetch_add(1, Relaxed);
            }
            let mut run = query.begin(clone, call.now(), call.worker.random())?;
            if self.run_query(call, &mut run).await? {
                return self.write_query(call, &index, run, output).await;
            }
        }
        Err(Failure::text(
            "ERR the rows of the page change faster than they can be read: name the fields of the index with RETURN",
        ))
    }

    /// Runs a query until its reply can be written. Returns false if it has to begin anew.
    ///
    /// # Errors
    /// Its time is up, or it needs too much memory.
    async fn run_query(&mut self, call: &mut SearchCall<'_>, run: &mut QueryRun) -> Result<bool, Failure> {
        loop {
            match run.step(&mut Work::new(WORK_AT_ONCE))? {
                QueryStep::Done => return Ok(true),
                QueryStep::More => {}
                QueryStep::Hashes(keys) => {
                    let (hashes, position) = self.read_hashes(call, &keys).await?;
                    call.seen = call.seen.max(position);
                    if !run.take_hashes(hashes) {
                        return Ok(false);
                    }
                }
            }
            if run.heap_bytes() > QUERY_BYTES_MAX {
                return Err(Failure::text(format!(
                    "ERR the query needs more than {} MiB of memory: ask for fewer rows or fields",
                    QUERY_BYTES_MAX >> 20
                )));
            }
            call.rest().await?;
        }
    }

    /// Reads the hashes under some keys at one instant.
    async fn read_hashes(
        &mut self,
        call: &mut SearchCall<'_>,
        keys: &[Box<[u8]>],
    ) -> Result<(Vec<ReadHash>, Position), Failure> {
        let (worker, engine) = (call.worker, &*call.worker.engine);
        loop {
            let add = |keyspace: &Keyspace, plan: &mut Plan| {
                keys.iter().for_each(|key| plan.add_shard(keyspace::shard_of(keyspace.hash(key)), Want::Read));
            };
            let look = |tx: &mut Tx<'_>| keys.iter().map(|key| live_hash(tx, key)).collect();
            let read = worker.member.enter().map(|_inside| worker.executor.look(None, (0, call.now()), add, look));
            match read {
                Some(Ok(read)) => return Ok(read),
                Some(Err(Lack::Locked(shard, want) | Lack::Unloaded(shard, want))) => {
                    call.pace.wait(async { drop(self.park(engine, shard, want).await) }).await;
                }
                Some(Err(_)) => unreachable!("a look at loaded keys lacks nothing else"),
                None => call.pace.wait(gate_open(&engine.gate)).await,
            }
            call.rest().await?;
        }
    }

    /// Writes the reply of a query, part by part; of one with a cursor, the first records.
    async fn write_query(
        &mut self,
        call: &mut SearchCall<'_>,
        index: &LiveIndex,
        run: QueryRun,
        output: &mut Output,
    ) -> Result<(), Failure> {
        match run.cursor_options() {
            Some(options) => {
                let name = index.definition.name.clone();
                self.begin_cursor(call, name, (run, options), output).await
            }
            None => {
                self.write_run(call, run, None, output).await;
                Ok(())
            }
        }
    }

    /// Writes what a query has to reply. Returns the query.
    async fn write_run(
        &mut self,
        call: &mut SearchCall<'_>,
        mut run: QueryRun,
        cursor: Option<u64>,
        output: &mut Output,
    ) -> QueryRun {
        while run.write(cursor, &mut Encoder::new(output, self.protocol)) != More::Done {
            call.pace.rest_if_due().await;
        }
        run
    }

    /// FT.INFO
    async fn describe_index(&mut self, call: &mut SearchCall<'_>, output: &mut Output) -> Result<(), Failure> {
        let name = call.args.get(1);
        let index = loop {
            let index = call.index(name).await?;
            if !index.is_built() || call.snapshot(name, &index, BUILDING_MS).await?.is_some() {
                break index;
            }
        };
        let live = loop {
            match index.figures() {
                Some(figures) => break figures,
                None => call.rest().await?,
            }
        };
        let engine = &call.worker.engine;
        let (index_count, total_count) = engine.indexes.cursors().counts(&index.definition.name);
        let figures = IndexFigures {
            size: live.size,
            indexing_ms: live.indexing_ns as f64 / 1e6,
            is_indexing: !index.is_built(),
            indexed_part: index.built_part(),
            uses_count: index.uses.load(Relaxed),
            is_deleting: false,
            failures: live.failures,
            field_failures: Vec::new(),
            cursors: CursorFigures { idle_count: total_count, total_count, index_max: INDEX_CURSORS_MAX, index_count },
            dialect_uses: std::array::from_fn(|at| index.dialect_uses[at].load(Relaxed)),
        };
        commands::write_tree(&figures.describe(&index.definition), &mut Encoder::new(output, self.protocol));
        call.seen = call.seen.max(live.position);
        Ok(())
    }
}

/// Returns the hash under a key, unless it expired, with the deadline of the key.
fn live_hash(tx: &mut Tx<'_>, key: &[u8]) -> ReadHash {
    let (table, now) = (tx.keyspace().map().table(0), tx.now());
    let (hash, expires_at_ms) = tx.raw_hash(table, key)?;
    expires_at_ms.is_none_or(|at_ms| at_ms > now).then(|| (hash.clone(), expires_at_ms))
}
