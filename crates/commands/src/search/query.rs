//! FT.SEARCH FT.AGGREGATE FT.TAGVALS: queries over a clone of an index, in steps.
//!
//! ```text
//!   args, declaration --IndexQuery::parse--> IndexQuery --begin(clone)--> QueryRun --step--> More ...
//!                                                          ^    |            |
//!                                         hashes differ:   |    |            +--> Hashes --take_hashes--> step
//!                                         a later clone    '----'            +--> Done --write--> reply
//! ```
//!
//! Fields of the schema come from the index; a hash is asked for where others are wanted.

use super::aggregate_run::{AggregatePlan, AggregateRun};
use super::search_run::{SearchPlan, SearchRun};
use super::tag_run::{TagRun, tag_field};
use super::{failure, words};
use crate::prelude::*;
use crate::spec::{QueryType, SearchVerb};
use base::Ms;
use search::{CursorOptions, Definition, Index, QuerySettings, Work};
use std::sync::Arc;
use values::Hash;
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[SEARCH, AGGREGATE, TAGVALS];

const SEARCH: CommandSpec = CommandSpec {
    name: "FT.SEARCH",
    syntax: "index query [NOCONTENT] [VERBATIM] [NOSTOPWORDS] [WITHSORTKEYS] [FILTER numeric_field min max] [GEOFILTER geo_field longitude latitude radius <m | km | mi | ft>] [INKEYS count key [key ...]] [INFIELDS count field [field ...]] [RETURN count identifier [AS property]] [TIMEOUT timeout] [LANGUAGE language] [SORTBY sortby [ASC | DESC] [WITHCOUNT | WITHOUTCOUNT]] [LIMIT offset num] [PARAMS nargs name value [name value ...]] [DIALECT dialect]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(m) for m rows of the rarest part of the query, and O(n log n) to sort n matches by a text",
    since: "1.0.0",
    brief: "Returns hashes that match a query, page by page.",
    answer: "array: the number of matches, then keys, each with its fields; in RESP3 a map with total_results and results; error: there is no such index, or the query is wrong",
    run: Run::Search(SearchVerb::Query(QueryType::Search)),
};

const AGGREGATE: CommandSpec = CommandSpec {
    name: "FT.AGGREGATE",
    syntax: "index query [VERBATIM] [LOAD count field [field ...]] [TIMEOUT timeout] [GROUPBY nargs property [property ...] [REDUCE function nargs arg [arg ...] [AS name]]] [SORTBY nargs property [ASC | DESC] [MAX num]] [APPLY expression AS name] [LIMIT offset num] [FILTER filter] [WITHCURSOR [COUNT read_size] [MAXIDLE idle_time]] [PARAMS nargs name value [name value ...]] [DIALECT dialect]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the rows that match, and O(n log m) to sort the first m of them",
    since: "1.1.0",
    brief: "Groups, computes, filters and sorts what matches a query.",
    answer: "array: a number, then records, each an array of names and values; in RESP3 a map with total_results and results; error: there is no such index, or the request is wrong",
    run: Run::Search(SearchVerb::Query(QueryType::Aggregate)),
};

const TAGVALS: CommandSpec = CommandSpec {
    name: "FT.TAGVALS",
    syntax: "index field_name",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Dangerous],
    facts: &[],
    group: Group::Search,
    cost: "O(n), n the different tags",
    since: "1.0.0",
    brief: "Returns all tags of a TAG field.",
    answer: "set: the tags, folded; error: there is no such index, no such field, or it is no TAG field",
    run: Run::Search(SearchVerb::Query(QueryType::TagValues)),
};

/// A request, parsed against the declaration of its index.
#[derive(Clone)]
pub struct IndexQuery(QueryPlan);

#[derive(Clone)]
enum QueryPlan {
    Search(Arc<SearchPlan>),
    Aggregate(Arc<AggregatePlan>),
    TagValues(usize),
}

/// A query at work.
pub struct QueryRun(RunningQuery);

enum RunningQuery {
    Search(SearchRun),
    Aggregate(AggregateRun),
    TagValues(TagRun),
}

const fn assert_send<T: Send>() {}
const _: () = assert_send::<QueryRun>();

/// The state of a query after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryStep {
    /// There is more to do.
    More,
    /// It needs the whole hashes of these keys, at most 64, all read at one instant.
    Hashes(Vec<Box<[u8]>>),
    /// The reply can be written.
    Done,
}

/// The hashes that a step asks for at most.
pub(super) const HASHES_PER_STEP: usize = 64;

/// A hash, and the deadline of its key.
pub(super) type TimedHash = (Hash, Option<Ms>);

impl IndexQuery {
    /// Parses a request.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn parse(query_type: QueryType, args: &Args, definition: &Arc<Definition>) -> Result<Self, Failure> {
        let options = words(&args.from(3));
        Ok(Self(match query_type {
            QueryType::Search => QueryPlan::Search(Arc::new(SearchPlan::parse(args.get(2), &options, definition)?)),
            QueryType::Aggregate => {
                QueryPlan::Aggregate(Arc::new(AggregatePlan::parse(args.get(2), &options, definition)?))
            }
            QueryType::TagValues => QueryPlan::TagValues(tag_field(args.get(2), definition)?),
        }))
    }

    fn settings(&self) -> Option<&QuerySettings> {
        match &self.0 {
            QueryPlan::Search(plan) => Some(&plan.request.settings),
            QueryPlan::Aggregate(plan) => Some(&plan.request.settings),
            QueryPlan::TagValues(_) => None,
        }
    }

    /// Returns the milliseconds that it may take: 0 for no limit, `None` for the server's.
    pub fn timeout_ms(&self) -> Option<u64> {
        self.settings()?.timeout_ms
    }

    /// Returns its dialect, 1 to 4.
    pub fn dialect(&self) -> u8 {
        self.settings().map_or(QuerySettings::default().dialect, |settings| settings.dialect)
    }

    /// Begins the query on a clone of its index, whose declaration must be that of the request. O(parts of the query).
    ///
    /// # Errors
    /// Returns what of the request does not fit the index.
    pub fn begin(&self, index: Index, now: Ms, seed: u64) -> Result<QueryRun, Failure> {
        Ok(QueryRun(match &self.0 {
            QueryPlan::Search(plan) => RunningQuery::Search(SearchRun::new(Arc::clone(plan), index, now)),
            QueryPlan::Aggregate(plan) => {
                RunningQuery::Aggregate(AggregateRun::new(Arc::clone(plan), index, now, seed)?)
            }
            QueryPlan::TagValues(field) => RunningQuery::TagValues(TagRun::new(*field, index)),
        }))
    }
}

impl QueryRun {
    /// Continues for as long as there is work left.
    ///
    /// # Errors
    /// Returns why the query fails.
    pub fn step(&mut self, work: &mut Work) -> Result<QueryStep, Failure> {
        match &mut self.0 {
            RunningQuery::Search(run) => Ok(run.step(work)),
            RunningQuery::Aggregate(run) => run.step(work).map_err(failure),
            RunningQuery::TagValues(run) => Ok(run.step()),
        }
    }

    /// Takes the hashes it asked for, in that order, each with the deadline of its key; `None` where there is none.
    /// Returns false if one is not as in the clone of the index: the query is to begin anew on a later clone.
    pub fn take_hashes(&mut self, hashes: Vec<Option<(Hash, Option<Ms>)>>) -> bool {
        match &mut self.0 {
            RunningQuery::Search(run) => run.take_hashes(hashes),
            RunningQuery::Aggregate(run) => {
                run.take_hashes(hashes);
                true
            }
            RunningQuery::TagValues(_) => true,
        }
    }

    /// Returns the bytes that it occupies beside its index, at most or a little less.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            RunningQuery::Search(run) => run.heap_bytes(),
            RunningQuery::Aggregate(run) => run.heap_bytes(),
            RunningQuery::TagValues(run) => run.heap_bytes(),
        }
    }

    /// Writes the next part of the reply. `cursor` is the number of the cursor that gives more records, 0 when there
    /// are no more.
    pub fn write(&mut self, cursor: Option<u64>, reply: &mut dyn Reply) -> More {
        match &mut self.0 {
            RunningQuery::Search(run) => run.write(reply),
            RunningQuery::Aggregate(run) => run.write(cursor, reply),
            RunningQuery::TagValues(run) => run.write(reply),
        }
    }

    /// Returns the options of WITHCURSOR.
    pub fn cursor_options(&self) -> Option<CursorOptions> {
        match &self.0 {
            RunningQuery::Aggregate(run) => run.cursor_options(),
            RunningQuery::Search(_) | RunningQuery::TagValues(_) => None,
        }
    }

    /// Prepares for the next records of a cursor, so many at most; `None` for as many as before.
    pub fn continue_cursor(&mut self, count: Option<u64>) {
        if let RunningQuery::Aggregate(run) = &mut self.0 {
            run.continue_cursor(count);
        }
    }

    /// Returns true if there may be records beyond those that are written.
    pub fn has_more(&self) -> bool {
        matches!(&self.0, RunningQuery::Aggregate(run) if run.has_more())
    }
}
