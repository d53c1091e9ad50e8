//! Indexes of a [`World`]: each request builds its index from the hashes that there are, and runs to its end.

use super::direct::World;
use super::dump::hold;
use crate::failure::Failure;
use crate::search::declare::resolve_index;
use crate::search::delete_by::{DELETE_MATCHING, DeleteQuery, delete_matching};
use crate::search::query::{IndexQuery, QueryRun, QueryStep};
use crate::search::tree::write_tree;
use crate::search::{INDEX_CURSORS_MAX, unknown_index};
use crate::spec::{CommandSpec, Run, SearchVerb};
use crate::{DROP_DECLARATION, QUERY_TIMED_OUT};
use base::Ms;
use base::limits::SHARDS;
use keyspace::{INDEXES, Log, Plan, Tx, hash_of, shard_of};
use search::{
    CursorFigures, CursorRequest, Definition, FailureFigures, Index, IndexFigures, Row, Work, deletes_hashes,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use sync::lock::Want;
use values::Hash;
use wire::resp::Encoder;
use wire::{Args, More, Output, OwnedRequest, Reply};

/// Units of work of a step: few, so that queries take several.
const STEP_WORK: u64 = 40;
/// Keys that FT.DELETEBY deletes at once: few.
const DELETED_AT_ONCE: usize = 3;
/// Steps after which a query counts as endless.
const STEPS_MAX: usize = 1_000_000;

/// Cursors by number.
#[derive(Default)]
pub struct Cursors(BTreeMap<u64, QueryRun>);

impl World {
    pub(super) fn search_index(
        &mut self,
        command: &CommandSpec,
        verb: SearchVerb,
        args: &Args,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if verb == SearchVerb::Cursor {
            return self.cursor(args, output);
        }
        let name = args.get(1);
        let Some((_, declaration)) = self.declaration(name) else { return Err(unknown_index(verb, name)) };
        let definition = Arc::new(Definition::decode(&declaration).expect("it was encoded"));
        match verb {
            SearchVerb::Query(query_type) => {
                let query = IndexQuery::parse(query_type, args, &definition)?;
                let run = query.begin(self.index(&definition), self.now, 7)?;
                self.run_query(run, output)
            }
            SearchVerb::Info => {
                let figures = figures(&self.index(&definition));
                write_tree(&figures.describe(&definition), &mut Encoder::new(output, self.protocol));
                Ok(())
            }
            SearchVerb::DeleteBy => {
                let count = self.delete_by(args, &definition)?;
                Encoder::new(output, self.protocol).int(count);
                Ok(())
            }
            SearchVerb::Drop => {
                let options: Vec<&[u8]> = args.from(2).iter().collect();
                if deletes_hashes(&options).map_err(|error| Failure::text(error.to_string()))? {
                    self.delete_by(&OwnedRequest::of(&[b"FT.DELETEBY", name, b"*"]).args(), &definition)?;
                }
                let Run::Local(handler) = DROP_DECLARATION.run else { unreachable!("it is local") };
                assert_eq!(command.name, DROP_DECLARATION.name);
                self.local(&DROP_DECLARATION, handler, &args.slice(0, 2), output, false)
            }
            SearchVerb::Cursor => unreachable!("done above"),
        }
    }

    fn declaration(&self, name: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let (mut plan, mut log) = (Plan::default(), Log::default());
        plan.add_key(&self.keyspace, INDEXES, Want::Read);
        plan.seal();
        let held = plan.try_hold(&self.keyspace).unwrap_or_else(|_| panic!("nobody else is here"));
        resolve_index(&mut Tx::new(&self.keyspace, held, 0, self.now, &mut log, 0), name)
    }

    /// Builds an index of all hashes. Those with a value that is not of its field's type are in none.
    fn index(&self, definition: &Arc<Definition>) -> Index {
        let mut index = Index::new(Arc::clone(definition), *self.keyspace.hasher());
        let mut rows = BTreeMap::new();
        for shard in 0..SHARDS {
            let (mut plan, mut log) = (Plan::default(), Log::default());
            let mut tx = Tx::new(&self.keyspace, hold(&self.keyspace, &mut plan, shard), 0, self.now, &mut log, 0);
            for (_, entry) in tx.section(shard).into_iter().flat_map(|section| section.scan(0)) {
                let Some(hash) = hash_of(entry) else { continue };
                rows.extend(
                    Row::of_hash(definition, entry.key(), hash, entry.expires_at_ms())
                        .map(|row| (entry.key().to_vec(), row)),
                );
            }
        }
        rows.iter().for_each(|(key, row)| _ = index.put(key, Some(row)));
        index
    }

    /// Returns a hash and the deadline of its key.
    fn whole_hash(&self, key: &[u8]) -> Option<(Hash, Option<Ms>)> {
        let (mut plan, mut log) = (Plan::default(), Log::default());
        let held = hold(&self.keyspace, &mut plan, shard_of(self.keyspace.hash(key)));
        let mut tx = Tx::new(&self.keyspace, held, 0, self.now, &mut log, 0);
        let entry = tx.peek(key)?;
        Some((hash_of(entry)?.clone(), entry.expires_at_ms()))
    }

    fn run_query(&mut self, mut run: QueryRun, output: &mut Output) -> Result<(), Failure> {
        self.run_to_end(&mut run)?;
        let number = self.cursors.0.last_key_value().map_or(1, |(last, _)| last + 1);
        self.write_query(number, run, output);
        Ok(())
    }

    fn run_to_end(&self, run: &mut QueryRun) -> Result<(), Failure> {
        for _ in 0..STEPS_MAX {
            let _ = run.heap_bytes();
            match run.step(&mut Work::new(STEP_WORK))? {
                QueryStep::More => {}
                QueryStep::Hashes(keys) => {
                    let hashes = keys.iter().map(|key| self.whole_hash(key)).collect();
                    assert!(run.take_hashes(hashes), "nothing has changed");
                }
                QueryStep::Done => return Ok(()),
            }
        }
        Err(Failure::text(QUERY_TIMED_OUT))
    }

    fn write_query(&mut self, number: u64, mut run: QueryRun, output: &mut Output) {
        let cursor = run.cursor_options().map(|_| if run.has_more() { number } else { 0 });
        while run.write(cursor, &mut Encoder::new(output, self.protocol)) != More::Done {}
        if cursor == Some(number) {
            self.cursors.0.insert(number, run);
        }
    }

    fn cursor(&mut self, args: &Args, output: &mut Output) -> Result<(), Failure> {
        let words: Vec<&[u8]> = args.from(1).iter().collect();
        let request = CursorRequest::parse(&words).map_err(|error| Failure::text(error.to_string()))?;
        match request {
            CursorRequest::Delete { cursor, .. } => {
                self.cursors.0.remove(&cursor).ok_or(Failure::text("Cursor does not exist"))?;
                Encoder::new(output, self.protocol).ok();
            }
            CursorRequest::Read { cursor, count, .. } => {
                let mut run = self.cursors.0.remove(&cursor).ok_or(Failure::text("Cursor not found"))?;
                run.continue_cursor(count);
                self.run_to_end(&mut run)?;
                self.write_query(cursor, run, output);
            }
        }
        Ok(())
    }

    fn delete_by(&mut self, args: &Args, definition: &Arc<Definition>) -> Result<i64, Failure> {
        let mut run = DeleteQuery::parse(args, definition)?.begin(self.index(definition), self.now);
        while !run.step(&mut Work::new(STEP_WORK)) {}
        let Run::Local(handler) = DELETE_MATCHING.run else { unreachable!("it is local") };
        let mut count = 0;
        loop {
            let keys = run.next_keys(DELETED_AT_ONCE);
            if keys.is_empty() {
                return Ok(count);
            }
            let (request, mut output) = (delete_matching(args, &keys), Output::new());
            self.local(&DELETE_MATCHING, handler, &request.args(), &mut output, false)?;
            let reply = super::direct::read(output, self.protocol);
            count += reply.as_int().expect("a count");
        }
    }
}

fn figures(index: &Index) -> IndexFigures {
    IndexFigures {
        size: index.size(),
        indexing_ms: 0.0,
        is_indexing: false,
        indexed_part: 1.0,
        uses_count: 1,
        is_deleting: false,
        failures: FailureFigures::default(),
        field_failures: Vec::new(),
        cursors: CursorFigures { idle_count: 0, total_count: 0, index_max: INDEX_CURSORS_MAX, index_count: 0 },
        dialect_uses: [0; 4],
    }
}
