//! FT.DELETEBY: deletes hashes that match a query.
//!
//! ```text
//!   query over a clone of the index --> row numbers --> 64 keys at a time --> under their locks: those that match still
//!                                                                             are removed, in one frame
//! ```
//!
//! It is not atomic: a hash that begins to match meanwhile may stay, one that no longer matches stays.

use super::declare::definition_of;
use super::delete::OTHER_DATABASE;
use super::{failure, words};
use crate::prelude::*;
use crate::spec::SearchVerb;
use base::{Ms, varint};
use keyspace::hash_of;
use search::{
    Definition, DeleteByRequest, Index, Query, Row, RowNumber, Scan, ScanStep, Search, SearchPage, Work, parse_query,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use wire::OwnedRequest;

pub(crate) const COMMANDS: &[CommandSpec] = &[DELETEBY];

const DELETEBY: CommandSpec = CommandSpec {
    name: "FT.DELETEBY",
    syntax: "index query [PARAMS nargs name value [name value ...]] [TIMEOUT timeout] [DIALECT dialect]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous],
    facts: &[],
    group: Group::Search,
    cost: "that of the query, and O(n), n the hashes that match",
    since: "bobbin 0.1.0",
    brief: "Deletes the hashes that match a query.",
    answer: "int: hashes deleted, some at a time; error: there is no such index, or the query is wrong",
    run: Run::Search(SearchVerb::DeleteBy),
};

/// Deletes those of its keys whose hash still matches. In place of the name it takes the index and the request.
pub static DELETE_MATCHING: CommandSpec = CommandSpec { keys: ALL_KEYS, run: Run::Local(delete_some), ..DELETEBY };

const ALL_KEYS: &[KeySpec] = &[KeySpec::many(1, -1, 1, "RM DELETE")];

/// The maximum size of a removal in a frame, beside the name.
const REMOVAL_BYTES: usize = 64;
/// Units of work of a step of the query over a few rows.
const STEP_WORK: u64 = 1000;

/// Returns the request of [`DELETE_MATCHING`] for some keys that the query of FT.DELETEBY found.
pub fn delete_matching(args: &Args, keys: &[Box<[u8]>]) -> OwnedRequest {
    let mut name = Vec::new();
    args.from(1).iter().for_each(|word| varint::put_bytes(&mut name, word));
    let words: Vec<&[u8]> = std::iter::once(&name[..]).chain(keys.iter().map(|key| &**key)).collect();
    OwnedRequest::of(&words)
}

/// Returns the words that [`delete_matching`] has joined.
fn joined_words(mut name: &[u8]) -> Option<Vec<&[u8]>> {
    let mut words = Vec::new();
    while !name.is_empty() {
        words.push(varint::take_bytes(&mut name)?);
    }
    Some(words)
}

fn delete_some(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if tx.database() != 0 {
        return Err(Failure::text(OTHER_DATABASE));
    }
    let joined = joined_words(args.name()).ok_or(Failure::Syntax)?;
    let [index, text, options @ ..] = &joined[..] else { return Err(Failure::Syntax) };
    let (_, definition) = definition_of(tx, index).ok_or(Failure::text("Unknown Index name"))?;
    let definition = Arc::new(definition);
    let query = DeleteQuery::of_words(text, options, &definition)?;
    let matching = matching_keys(tx, &args.from(1), &definition, query.query);
    tx.need_room(matching.iter().map(|key| key.len() + REMOVAL_BYTES).sum::<usize>() as u64)?;
    matching.iter().for_each(|key| assert!(tx.remove(key), "it is there"));
    reply.int(matching.len() as i64);
    Ok(())
}

/// Returns those of the keys whose hashes match a query: they are put into an index of their own, which is searched.
fn matching_keys(tx: &mut Tx, keys: &Args, definition: &Arc<Definition>, query: Query) -> Vec<Box<[u8]>> {
    let mut index = Index::new(Arc::clone(definition), *tx.keyspace().hasher());
    for key in keys.iter() {
        let row = tx.peek(key).and_then(|entry| {
            let hash = hash_of(entry)?;
            Row::of_hash(definition, key, hash, entry.expires_at_ms())
        });
        // A hash that the index cannot take is in no index, and does not match.
        let _ = index.put(key, row.as_ref());
    }
    let mut scan = Scan::new(index, query, tx.now(), definition.language);
    let mut matching = Vec::new();
    let mut visit = |row: &search::ScannedRow<'_>| {
        matching.push(row.key().into());
        ControlFlow::Continue(())
    };
    while scan.step(&mut Work::new(STEP_WORK), &mut visit) == ScanStep::More {}
    matching
}

/// A request of FT.DELETEBY, parsed against the declaration of its index.
#[derive(Clone)]
pub struct DeleteQuery {
    request: DeleteByRequest,
    query: Query,
}

/// The query of FT.DELETEBY at work.
pub struct DeleteRun {
    search: Search,
    /// A clone for the keys of the rows.
    index: Index,
    now: Ms,
    rows: Vec<RowNumber>,
    /// Rows whose keys are returned.
    passed: usize,
}

impl DeleteQuery {
    /// Parses a request.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn parse(args: &Args, definition: &Arc<Definition>) -> Result<Self, Failure> {
        Self::of_words(args.get(2), &words(&args.from(3)), definition)
    }

    fn of_words(text: &[u8], options: &[&[u8]], definition: &Definition) -> Result<Self, Failure> {
        let request = DeleteByRequest::parse(options).map_err(failure)?;
        let query = parse_query(text, definition, &request.settings.query_options()).map_err(failure)?;
        Ok(Self { request, query })
    }

    /// Returns the milliseconds that it may take: 0 for no limit, `None` for the server's.
    pub fn timeout_ms(&self) -> Option<u64> {
        self.request.settings.timeout_ms
    }

    /// Returns its dialect, 1 to 4.
    pub fn dialect(&self) -> u8 {
        self.request.settings.dialect
    }

    /// Begins the query on a clone of its index.
    pub fn begin(&self, index: Index, now: Ms) -> DeleteRun {
        let page = SearchPage { count: u64::MAX, ..SearchPage::default() };
        let language = index.definition().language;
        let search = Search::new(index.clone(), self.query.clone(), now, language, page);
        DeleteRun { search, index, now, rows: Vec::new(), passed: 0 }
    }
}

impl DeleteRun {
    /// Searches for as long as there is work left. Returns true once all matches are found.
    pub fn step(&mut self, work: &mut Work) -> bool {
        let Some(found) = self.search.step(work) else { return false };
        self.rows = found.rows;
        true
    }

    /// Returns the number of matches.
    pub fn total(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Returns the next keys that match, so many at most; none at the end.
    pub fn next_keys(&mut self, max: usize) -> Vec<Box<[u8]>> {
        let rows = &self.rows[self.passed..];
        let rows = &rows[..rows.len().min(max)];
        self.passed += rows.len();
        rows.iter().filter_map(|row| self.index.row(*row, self.now, |row| row.key().into())).collect()
    }

    /// Returns the bytes that it occupies beside its index.
    pub fn heap_bytes(&self) -> usize {
        self.search.heap_bytes() + self.rows.capacity() * size_of::<RowNumber>()
    }
}
