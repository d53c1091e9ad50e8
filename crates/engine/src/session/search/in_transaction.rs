//! Commands on indexes inside MULTI: under the gate, at once, on a clone that has the transaction's own changes too.

use super::{QUERY_BYTES_MAX, WORK_AT_ONCE, live_hash};
use crate::search::row_of;
use crate::session::state::Session;
use crate::worker::Worker;
use base::Ms;
use base::hash::KeyHasher;
use base::limits::SHARDS;
use commands::{
    DELETE_MATCHING, DROP_DECLARATION, DeleteQuery, Failure, IndexQuery, Local, Outcome, QUERY_TIMED_OUT, QueryStep,
    QueryType, Run, SearchVerb,
};
use keyspace::{ChangedPart, Tx};
use search::{Definition, Index, Row, Work, deletes_hashes};
use std::rc::Rc;
use std::sync::Arc;
use wire::{Args, More, Reply};

/// Milliseconds that the queries of a transaction may take together, while they hold up everybody.
const GATED_MS: Ms = 5_000;
/// Keys that are looked at for an index that is not built yet.
const SCANNED_MAX: usize = 100_000;
/// Rows that are put into a clone between two looks at the clock.
const ROWS_A_LOOK: usize = 64;
/// Rows that FT.DELETEBY removes at most.
const DELETED_MAX: u64 = 1_000;

impl Session {
    /// Runs a command that uses an index in a transaction that holds the gate.
    pub(in crate::session) fn search_in_transaction(
        &mut self,
        worker: &Rc<Worker>,
        verb: SearchVerb,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Outcome {
        let before = tx.database();
        tx.use_database(0);
        let outcome = match verb {
            SearchVerb::Query(query_type) => self.query_in_transaction(worker, query_type, args, tx, reply),
            SearchVerb::DeleteBy => self.delete_in_transaction(worker, args, tx, reply),
            SearchVerb::Drop => drop_in_transaction(args, tx, reply),
            SearchVerb::Cursor | SearchVerb::Info => {
                Err(Failure::text("ERR this command is not allowed inside a transaction"))
            }
        };
        tx.use_database(before);
        outcome
    }

    fn query_in_transaction(
        &mut self,
        worker: &Rc<Worker>,
        query_type: QueryType,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Outcome {
        let verb = SearchVerb::Query(query_type);
        let mut time = self.gated_time(worker);
        let (definition, index) = self.index_in_transaction(&time, verb, args, tx)?;
        let query = IndexQuery::parse(query_type, args, &definition)?;
        time.shorten(query.timeout_ms());
        let mut run = query.begin(index, tx.now(), worker.random())?;
        if run.cursor_options().is_some() {
            return Err(Failure::text("ERR WITHCURSOR is not allowed inside a transaction"));
        }
        loop {
            match run.step(&mut Work::new(WORK_AT_ONCE))? {
                QueryStep::Done => break,
                QueryStep::More => {}
                QueryStep::Hashes(keys) => {
                    let hashes = keys.iter().map(|key| live_hash(tx, key)).collect();
                    if !run.take_hashes(hashes) {
                        return Err(Failure::text("ERR a row has changed, though nobody else runs"));
                    }
                }
            }
            time.check(run.heap_bytes())?;
        }
        while run.write(None, reply) != More::Done {}
        Ok(())
    }

    fn delete_in_transaction(
        &mut self,
        worker: &Rc<Worker>,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Outcome {
        let mut time = self.gated_time(worker);
        let (definition, index) = self.index_in_transaction(&time, SearchVerb::DeleteBy, args, tx)?;
        let query = DeleteQuery::parse(args, &definition)?;
        time.shorten(query.timeout_ms());
        let mut run = query.begin(index, tx.now());
        while !run.step(&mut Work::new(WORK_AT_ONCE)) {
            time.check(run.heap_bytes())?;
        }
        if run.total() > DELETED_MAX {
            return Err(Failure::text(format!(
                "ERR {} rows match: inside MULTI at most {DELETED_MAX} are deleted",
                run.total()
            )));
        }
        let keys = run.next_keys(DELETED_MAX as usize);
        if keys.is_empty() {
            reply.int(0);
            return Ok(());
        }
        let request = commands::delete_matching(args, &keys);
        handler(&DELETE_MATCHING.run)(tx, &request.args(), reply)
    }

    /// Returns what is left of the time of the transaction's queries.
    fn gated_time<'a>(&mut self, worker: &'a Worker) -> GatedTime<'a> {
        let now = worker.engine.clock.now();
        let outbox = self.outbox.get_or_insert_default();
        GatedTime { worker, ends_ms: *outbox.queries_end_ms.get_or_insert(now.saturating_add(GATED_MS)) }
    }

    /// Returns the index that a request names, with the changes of the transaction.
    fn index_in_transaction(
        &mut self,
        time: &GatedTime<'_>,
        verb: SearchVerb,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Arc<Definition>, Index), Failure> {
        let (name, declaration) =
            commands::resolve_index(tx, args.get(1)).ok_or_else(|| commands::unknown_index(verb, args.get(1)))?;
        let table = tx.keyspace().map().table(0);
        let live = time.worker.engine.indexes.current().find(&name).cloned();
        if let Some(live) = live.filter(|live| live.is_of(&declaration, table))
            && let Some((mut index, position)) = live.up_to_date(tx.keyspace())
        {
            self.saw(position);
            let admits = |key: &[u8]| live.definition.admits(key).then_some(ChangedPart::Whole);
            for (nth, (key, _)) in tx.changed_keys(table, |key, _| admits(key)).into_iter().enumerate() {
                time.check_now_and_then(nth)?;
                let row = row_under(tx, &live.definition, &key);
                // A row that cannot be indexed is not found, as outside.
                let _ = index.put(&key, row.as_ref());
            }
            return Ok((live.definition.clone(), *index));
        }
        let definition = Definition::decode(&declaration).map_err(|_| commands::unknown_index(verb, args.get(1)))?;
        self.scanned(time, Arc::new(definition), tx)
    }

    /// Returns an index made of all keys as they are.
    fn scanned(
        &mut self,
        time: &GatedTime<'_>,
        definition: Arc<Definition>,
        tx: &mut Tx<'_>,
    ) -> Result<(Arc<Definition>, Index), Failure> {
        let mut index = Index::new(definition.clone(), KeyHasher::random());
        let mut left = SCANNED_MAX;
        for shard in 0..SHARDS {
            let Some(section) = tx.section(shard) else { continue };
            left = left.checked_sub(section.keys_count()).ok_or(Failure::text(
                "ERR the index is being built, and there are too many keys to read them inside a transaction",
            ))?;
            for (nth, (_, entry)) in section.scan(0).enumerate() {
                time.check_now_and_then(nth)?;
                if let Some(row) = row_of(&definition, entry) {
                    let _ = index.put(entry.key(), Some(&row));
                }
            }
        }
        self.saw(tx.seen());
        Ok((definition, index))
    }
}

/// The time and memory that a query may take while it holds up everybody.
struct GatedTime<'a> {
    worker: &'a Worker,
    ends_ms: Ms,
}

impl GatedTime<'_> {
    /// Ends it after this many milliseconds, if it does not end before.
    fn shorten(&mut self, timeout_ms: Option<Ms>) {
        if let Some(timeout_ms) = self.worker.query_timeout_ms(timeout_ms) {
            self.ends_ms = self.ends_ms.min(self.worker.engine.clock.now().saturating_add(timeout_ms));
        }
    }

    fn check_now_and_then(&self, nth: usize) -> Result<(), Failure> {
        if nth.is_multiple_of(ROWS_A_LOOK) { self.check(0) } else { Ok(()) }
    }

    fn check(&self, heap_bytes: usize) -> Result<(), Failure> {
        if self.worker.engine.clock.now() >= self.ends_ms {
            return Err(Failure::text(QUERY_TIMED_OUT));
        }
        if heap_bytes > QUERY_BYTES_MAX {
            return Err(Failure::text("ERR the query needs too much memory: ask for fewer rows or fields"));
        }
        Ok(())
    }
}

/// FT.DROPINDEX, without DD.
fn drop_in_transaction(args: &Args<'_>, tx: &mut Tx<'_>, reply: &mut dyn Reply) -> Outcome {
    let words: Vec<&[u8]> = args.from(2).iter().collect();
    if deletes_hashes(&words).map_err(|error| Failure::text(error.to_string()))? {
        return Err(Failure::text("ERR DD is not allowed inside a transaction: use FT.DELETEBY before"));
    }
    handler(&DROP_DECLARATION.run)(tx, args, reply)
}

fn handler(run: &Run) -> Local {
    match run {
        Run::Local(handler) => *handler,
        _ => unreachable!("these parts run on their keys"),
    }
}

fn row_under(tx: &mut Tx<'_>, definition: &Definition, key: &[u8]) -> Option<Row> {
    let table = tx.keyspace().map().table(0);
    let (hash, expires_at_ms) = tx.raw_hash(table, key)?;
    Row::of_hash(definition, key, hash, expires_at_ms)
}
