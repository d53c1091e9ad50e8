//! FT.AGGREGATE at work: rows of a scan go through a pipeline, those that need their hashes in batches.
//!
//! ```text
//!   Scan --row--> [ 64 rows wait for their hashes ] --> Pipeline --> PipelineOutput --> records --> reply
//! ```
//!
//! Values of hashes are those of the time when they are read; a key that is gone has none. With a cursor the records of
//! one reply are made only when they are asked for.

use super::query::{HASHES_PER_STEP, QueryStep, TimedHash};
use super::rows::{KEY_NAME, PartRoom, begin_results, end_results, end_row, is_hidden, name_part, schema_field};
use super::{CURSOR_RECORDS, failure};
use crate::failure::Failure;
use base::Ms;
use search::{
    AggregateRecord, AggregateRequest, CursorOptions, Definition, EvaluationError, Field, FieldReader, FieldType,
    Index, OutputStep, Pipeline, PipelineLimits, PipelineOutput, Query, Scan, ScanStep, ScannedRow, SourceField,
    SourceRow, Value, Work, fold, parse_number, parse_query,
};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use values::Hash;
use wire::{More, Reply};

/// The most that LIMIT and MAX may ask for, as in RediSearch.
const RECORDS_MAX: u64 = (1 << 31) - 1;
/// Rows that go into a pipeline in a step, beside the work of the scan.
const ROWS_PER_STEP: usize = 256;
/// Steps of a pipeline's output within one step.
const OUTPUT_STEPS: usize = 8;

/// A request of FT.AGGREGATE, understood.
pub(super) struct AggregatePlan {
    pub(super) request: AggregateRequest,
    query: Query,
    sources: Vec<RowSource>,
    loads_all: bool,
    needs_hashes: bool,
}

/// Where a field of the pipeline's rows comes from.
enum RowSource {
    Key,
    /// A field of the schema; a text is folded as SORTABLE does unless LOAD asks for it.
    Field {
        position: usize,
        is_folded: bool,
    },
    /// Any other field of the hash.
    HashField(Box<[u8]>),
}

impl AggregatePlan {
    pub(super) fn parse(text: &[u8], options: &[&[u8]], definition: &Definition) -> Result<Self, Failure> {
        let request = AggregateRequest::parse(options).map_err(failure)?;
        let query = parse_query(text, definition, &request.query_options()).map_err(failure)?;
        let pipeline = pipeline(&request, 0)?;
        let loads_all = pipeline.loads_all();
        let sources = pipeline.source_fields().iter().map(|field| RowSource::of(field, definition, loads_all));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let needs_hashes = loads_all || sources.iter().any(|source| matches!(source, RowSource::HashField(_)));
        Ok(Self { request, query, sources, loads_all, needs_hashes })
    }

    /// Returns a row with the values that the index and the key give.
    fn row_of_index(&self, row: &ScannedRow<'_>, definition: &Definition) -> SourceRow {
        let raw: Vec<Option<&[u8]>> = row.values().collect();
        let value = |source: &RowSource| match source {
            RowSource::Key => Some(Value::text(row.key())),
            RowSource::Field { position, is_folded } => {
                let raw = raw.get(*position).copied().flatten()?;
                Some(field_value(&definition.fields[*position], raw, *is_folded))
            }
            RowSource::HashField(_) => None,
        };
        SourceRow { values: self.sources.iter().map(value).collect(), others: Vec::new() }
    }

    /// Adds the values that a hash gives.
    fn add_hash(&self, row: &mut SourceRow, hash: &Hash, now: Ms, definition: &Definition) {
        for (source, value) in self.sources.iter().zip(&mut row.values) {
            if let RowSource::HashField(name) = source {
                *value = hash.get(name, now, |pair| Value::text(pair.value));
            }
        }
        if self.loads_all {
            let _ = hash.walk(&mut |pair| {
                if pair.is_live(now) && !is_hidden(definition, pair.field) {
                    row.others.push((pair.field.into(), Value::text(pair.value)));
                }
                ControlFlow::Continue(())
            });
        }
    }
}

impl RowSource {
    fn of(field: &SourceField, definition: &Definition, loads_all: bool) -> Result<Self, Failure> {
        let is_loaded = field.reader == FieldReader::Load;
        let position = match is_loaded {
            true => schema_field(definition, &field.identifier),
            false => definition.field(&field.identifier),
        };
        match position {
            Some(position) => {
                let is_folded = definition.fields[position].is_sorted_folded() && !is_loaded && !loads_all;
                Ok(Self::Field { position, is_folded })
            }
            None if !is_loaded => Err(failure(field.unknown())),
            None if *field.identifier == *KEY_NAME => Ok(Self::Key),
            None => Ok(Self::HashField(field.identifier.clone())),
        }
    }
}

fn pipeline(request: &AggregateRequest, seed: u64) -> Result<Pipeline, Failure> {
    Pipeline::new(request, PipelineLimits { records_max: RECORDS_MAX, seed }).map_err(failure)
}

fn field_value(field: &Field, raw: &[u8], is_folded: bool) -> Value {
    if field.field_type == FieldType::Numeric
        && let Some(number) = parse_number(raw)
    {
        return Value::Number(number);
    }
    match str::from_utf8(raw) {
        Ok(text) if is_folded => Value::text(fold(text).as_bytes()),
        _ => Value::text(raw),
    }
}

/// An aggregation in progress.
pub(super) struct AggregateRun {
    plan: Arc<AggregatePlan>,
    now: Ms,
    stage: AggregateStage,
    /// Rows that wait for their hashes.
    waiting: Vec<(Box<[u8]>, SourceRow)>,
    failure: Option<EvaluationError>,
    records: VecDeque<AggregateRecord>,
    records_bytes: usize,
    /// The records of one reply; `None` for all.
    records_count: Option<u64>,
    /// The pipeline's count at the end of the last reply.
    total_before: u64,
    has_begun: bool,
}

enum AggregateStage {
    /// Rows go in.
    Scanning {
        scan: Box<Scan>,
        pipeline: Box<Pipeline>,
        /// True once the pipeline needs no further rows, or there are none.
        is_over: bool,
    },
    /// Records come out.
    Output(Box<PipelineOutput>),
    /// There are no more; with the total.
    Ended(u64),
}

impl AggregateRun {
    pub(super) fn new(plan: Arc<AggregatePlan>, index: Index, now: Ms, seed: u64) -> Result<Self, Failure> {
        let pipeline = Box::new(pipeline(&plan.request, seed)?);
        let language = index.definition().language;
        let scan = Box::new(Scan::new(index, plan.query.clone(), now, language));
        let records_count = plan.request.cursor.map(|cursor| chunk(cursor.records_count));
        Ok(Self {
            plan,
            now,
            stage: AggregateStage::Scanning { scan, pipeline, is_over: false },
            waiting: Vec::new(),
            failure: None,
            records: VecDeque::new(),
            records_bytes: 0,
            records_count,
            total_before: 0,
            has_begun: false,
        })
    }

    pub(super) fn step(&mut self, work: &mut Work) -> Result<QueryStep, EvaluationError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.take_records();
        if self.is_full() {
            return Ok(QueryStep::Done);
        }
        match &self.stage {
            AggregateStage::Scanning { is_over: false, .. } => self.scan(work)?,
            AggregateStage::Scanning { .. } => self.end_rows(),
            AggregateStage::Output(_) => self.output()?,
            AggregateStage::Ended(_) => return Ok(QueryStep::Done),
        }
        let has_last = matches!(self.stage, AggregateStage::Scanning { is_over: true, .. });
        if self.waiting.len() == HASHES_PER_STEP || has_last && !self.waiting.is_empty() {
            return Ok(QueryStep::Hashes(self.waiting.iter().map(|(key, _)| key.clone()).collect()));
        }
        Ok(QueryStep::More)
    }

    fn is_full(&self) -> bool {
        self.records_count.is_some_and(|count| self.records.len() as u64 >= count)
    }

    /// Takes records that the pipeline has ready before its rows end.
    fn take_records(&mut self) {
        while let AggregateStage::Scanning { pipeline, .. } = &mut self.stage
            && self.records_count.is_none_or(|count| (self.records.len() as u64) < count)
            && let Some(record) = pipeline.take_record()
        {
            self.keep(record);
        }
    }

    fn keep(&mut self, record: AggregateRecord) {
        self.records_bytes += record_bytes(&record);
        self.records.push_back(record);
    }

    /// Passes rows into the pipeline, or into the line of those that wait.
    fn scan(&mut self, work: &mut Work) -> Result<(), EvaluationError> {
        let Self { plan, stage, waiting, .. } = self;
        let AggregateStage::Scanning { scan, pipeline, is_over } = stage else { return Ok(()) };
        let definition = Arc::clone(scan.index().definition());
        let (mut rows_count, mut pushed, mut is_cut) = (0, Ok(ControlFlow::Continue(())), false);
        let scanned = scan.step(work, |row| {
            let source = plan.row_of_index(row, &definition);
            if plan.needs_hashes {
                waiting.push((row.key().into(), source));
            } else {
                pushed = pipeline.push(source);
            }
            rows_count += 1;
            let wants_no_more = !matches!(pushed, Ok(ControlFlow::Continue(())));
            is_cut = wants_no_more || waiting.len() == HASHES_PER_STEP || rows_count == ROWS_PER_STEP;
            if is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        *is_over = pushed?.is_break() || scanned == ScanStep::Done && !is_cut;
        Ok(())
    }

    fn end_rows(&mut self) {
        let stage = std::mem::replace(&mut self.stage, AggregateStage::Ended(0));
        self.stage = match stage {
            AggregateStage::Scanning { pipeline, .. } => AggregateStage::Output(Box::new(pipeline.finish())),
            other => other,
        };
    }

    fn output(&mut self) -> Result<(), EvaluationError> {
        for _ in 0..OUTPUT_STEPS {
            if self.is_full() {
                return Ok(());
            }
            let AggregateStage::Output(output) = &mut self.stage else { return Ok(()) };
            match output.step()? {
                OutputStep::Record(record) => self.keep(record),
                OutputStep::Working => {}
                OutputStep::Done => self.stage = AggregateStage::Ended(output.total()),
            }
        }
        Ok(())
    }

    pub(super) fn take_hashes(&mut self, hashes: Vec<Option<TimedHash>>) {
        let Self { plan, now, stage, waiting, failure, .. } = self;
        let AggregateStage::Scanning { scan, pipeline, is_over } = stage else { return };
        let definition = scan.index().definition();
        for ((_, mut row), hash) in waiting.drain(..).zip(hashes) {
            if let Some((hash, _)) = &hash {
                plan.add_hash(&mut row, hash, *now, definition);
            }
            match pipeline.push(row) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => {
                    *is_over = true;
                    break;
                }
                Err(error) => {
                    *failure = Some(error);
                    break;
                }
            }
        }
        waiting.clear();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let of_stage = match &self.stage {
            AggregateStage::Scanning { scan, pipeline, .. } => scan.heap_bytes() + pipeline.heap_bytes(),
            AggregateStage::Output(output) => output.heap_bytes(),
            AggregateStage::Ended(_) => 0,
        };
        of_stage + self.records.capacity() * size_of::<AggregateRecord>() + self.records_bytes
    }

    fn total(&self) -> u64 {
        let total = match &self.stage {
            AggregateStage::Scanning { pipeline, .. } => pipeline.total(),
            AggregateStage::Output(output) => output.total(),
            AggregateStage::Ended(total) => *total,
        };
        total - self.total_before
    }

    pub(super) fn write(&mut self, cursor: Option<u64>, reply: &mut dyn Reply) -> More {
        if !self.has_begun {
            self.has_begun = true;
            if cursor.is_some() {
                reply.array(2);
            }
            begin_results(reply, self.total(), self.records.len(), 1);
        }
        let mut room = PartRoom::new();
        while let Some(record) = self.records.pop_front() {
            self.records_bytes -= record_bytes(&record);
            write_record(&record, reply, &mut room);
            if room.is_spent() {
                return More::Follows;
            }
        }
        end_results(reply, self.total());
        if let Some(cursor) = cursor {
            reply.int(cursor as i64);
        }
        More::Done
    }

    pub(super) fn cursor_options(&self) -> Option<CursorOptions> {
        self.plan.request.cursor
    }

    pub(super) fn continue_cursor(&mut self, count: Option<u64>) {
        self.total_before += self.total();
        self.has_begun = false;
        if let Some(count) = count {
            self.records_count = Some(chunk(Some(count)));
        }
    }

    pub(super) fn has_more(&self) -> bool {
        !matches!(self.stage, AggregateStage::Ended(_))
    }
}

/// Returns the records of a cursor's reply.
fn chunk(count: Option<u64>) -> u64 {
    count.filter(|count| *count > 0).unwrap_or(CURSOR_RECORDS)
}

fn record_bytes(record: &AggregateRecord) -> usize {
    record.iter().map(|(_, value)| size_of::<Value>() + value.heap_bytes()).sum()
}

fn write_record(record: &AggregateRecord, reply: &mut dyn Reply, room: &mut PartRoom) {
    if reply.is_resp3() {
        reply.map(2);
    }
    name_part(reply, "extra_attributes");
    reply.map(record.iter().count());
    for (name, value) in record.iter() {
        reply.bulk(name);
        room.spend(name.len());
        write_value(value, reply, room);
    }
    end_row(reply);
}

fn write_value(value: &Value, reply: &mut dyn Reply, room: &mut PartRoom) {
    match value {
        Value::Null => reply.null(),
        Value::List(items) => {
            reply.array(items.len());
            items.iter().for_each(|item| write_value(item, reply, room));
        }
        Value::Number(_) | Value::Text(_) => {
            let text = value.as_text().unwrap_or_default();
            room.spend(text.len());
            reply.bulk(&text);
        }
    }
}
