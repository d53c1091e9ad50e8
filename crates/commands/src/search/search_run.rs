//! FT.SEARCH at work: rows are found, then their hashes are fetched if the index does not have all that is returned.
//!
//! ```text
//!   Search --> row numbers --> 64 hashes at a time, each compared with its row --> reply, row by row
//! ```

use super::failure;
use super::query::{HASHES_PER_STEP, QueryStep, TimedHash};
use super::rows::{
    KEY_NAME, PartRoom, begin_results, end_results, end_row, exact_digits, is_hidden, name_part, schema_field,
};
use crate::failure::Failure;
use base::Ms;
use blocks::Direction;
use search::{
    Definition, FieldType, Found, Index, Query, ReturnedField, Row, Search, SearchOrder, SearchPage, SearchRequest,
    SortField, Work, fold, parse_number, parse_query,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use values::Hash;
use wire::{More, Reply};

/// A request of FT.SEARCH, understood.
pub(super) struct SearchPlan {
    pub(super) request: SearchRequest,
    query: Query,
    order: Option<SearchOrder>,
    columns: Columns,
}

/// The fields that are returned of each row.
enum Columns {
    /// None: only keys are.
    None,
    /// All fields of the hash.
    All,
    /// These, by their names in the reply.
    Named(Vec<(Box<[u8]>, Column)>),
}

enum Column {
    Key,
    /// A field of the schema.
    Field(usize),
    /// Any other field of the hash.
    HashField(Box<[u8]>),
}

/// A search in progress.
pub(super) struct SearchRun {
    plan: Arc<SearchPlan>,
    index: Index,
    now: Ms,
    /// None once all rows are found.
    search: Option<Box<Search>>,
    found: Found,
    /// The hashes of the first rows.
    hashes: Vec<Hash>,
    written: WrittenRows,
}

/// The part of the reply that is written.
#[derive(Default)]
struct WrittenRows {
    has_begun: bool,
    rows_count: usize,
    /// Fields of the next row's hash that are passed; `None` before the row has begun.
    fields_count: Option<u64>,
}

impl SearchPlan {
    pub(super) fn parse(text: &[u8], options: &[&[u8]], definition: &Definition) -> Result<Self, Failure> {
        let request = SearchRequest::parse(options).map_err(failure)?;
        let query = parse_query(text, definition, &request.query_options()).map_err(failure)?;
        let query = request.restricted(query, definition).map_err(failure)?;
        let order = request.sort.as_ref().map(|sort| order(sort, definition)).transpose()?;
        let columns = match &request.returned {
            _ if request.has_no_content || request.count == 0 => Columns::None,
            None => Columns::All,
            Some(returned) => Columns::Named(columns(returned, definition)),
        };
        Ok(Self { request, query, order, columns })
    }

    fn needs_hashes(&self) -> bool {
        match &self.columns {
            Columns::None => false,
            Columns::All => true,
            Columns::Named(columns) => columns.iter().any(|(_, column)| matches!(column, Column::HashField(_))),
        }
    }

    fn page(&self) -> SearchPage {
        SearchPage {
            order: self.order,
            offset: self.request.offset,
            count: self.request.count,
            in_keys: self.request.keys.as_ref().map(|keys| keys.iter().cloned().collect()),
            skips_total: !self.request.is_counted,
        }
    }

    /// Returns the values of a row in RESP2.
    fn elements(&self) -> usize {
        1 + usize::from(self.request.has_sort_keys) + usize::from(!matches!(self.columns, Columns::None))
    }
}

fn order(sort: &SortField, definition: &Definition) -> Result<SearchOrder, Failure> {
    let unknown = || {
        let name = base::raw_text::from_bytes(&sort.field);
        Failure::text(format!("Property `{name}` not loaded nor in schema"))
    };
    let field = definition.field(&sort.field).ok_or_else(unknown)?;
    let direction = if sort.is_descending { Direction::Backward } else { Direction::Forward };
    Ok(SearchOrder { field, direction })
}

/// Returns the columns of RETURN; of several with one name, the first.
fn columns(returned: &[ReturnedField], definition: &Definition) -> Vec<(Box<[u8]>, Column)> {
    let mut columns: Vec<(Box<[u8]>, Column)> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for field in returned.iter().filter(|field| names.insert(&*field.name)) {
        let column = match schema_field(definition, &field.identifier) {
            Some(position) => Column::Field(position),
            None if *field.identifier == *KEY_NAME => Column::Key,
            None => Column::HashField(field.identifier.clone()),
        };
        columns.push((field.name.clone(), column));
    }
    columns
}

impl SearchRun {
    pub(super) fn new(plan: Arc<SearchPlan>, index: Index, now: Ms) -> Self {
        let language = plan.request.language.unwrap_or(index.definition().language);
        let search = Search::new(index.clone(), plan.query.clone(), now, language, plan.page());
        let (found, written) = (Found::default(), WrittenRows::default());
        Self { plan, index, now, search: Some(Box::new(search)), found, hashes: Vec::new(), written }
    }

    pub(super) fn step(&mut self, work: &mut Work) -> QueryStep {
        if let Some(search) = &mut self.search {
            let Some(found) = search.step(work) else { return QueryStep::More };
            self.found = found;
            self.search = None;
        }
        if self.plan.needs_hashes() && self.hashes.len() < self.found.rows.len() {
            return QueryStep::Hashes(self.next_keys());
        }
        QueryStep::Done
    }

    /// Returns the keys of the next rows whose hashes are missing.
    fn next_keys(&self) -> Vec<Box<[u8]>> {
        let rows = self.found.rows.iter().skip(self.hashes.len()).take(HASHES_PER_STEP);
        rows.filter_map(|row| self.index.row(*row, self.now, |row| row.key().into())).collect()
    }

    pub(super) fn take_hashes(&mut self, hashes: Vec<Option<TimedHash>>) -> bool {
        let keys = self.next_keys();
        for (key, hash) in keys.iter().zip(hashes) {
            let Some((hash, expires_at_ms)) = hash else { return false };
            let row = Row::of_hash(self.index.definition(), key, &hash, expires_at_ms);
            if row.is_none() || row != self.index.raw_row(key) {
                return false;
            }
            self.hashes.push(hash);
        }
        true
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.search.as_ref().map_or(0, |search| search.heap_bytes())
            + self.found.rows.capacity() * size_of::<search::RowNumber>()
            + self.hashes.capacity() * size_of::<Hash>()
    }

    pub(super) fn write(&mut self, reply: &mut dyn Reply) -> More {
        if !self.written.has_begun {
            self.written.has_begun = true;
            begin_results(reply, self.found.total, self.found.rows.len(), self.plan.elements());
        }
        let mut room = PartRoom::new();
        while self.written.rows_count < self.found.rows.len() {
            if room.is_spent() {
                return More::Follows;
            }
            if self.write_row(reply, &mut room) {
                self.written.rows_count += 1;
                self.written.fields_count = None;
            }
        }
        end_results(reply, self.found.total);
        More::Done
    }

    /// Writes the next row, or a part of it. Returns true once the row is complete.
    fn write_row(&mut self, reply: &mut dyn Reply, room: &mut PartRoom) -> bool {
        if self.written.fields_count.is_none() {
            self.begin_row(reply, room);
            self.written.fields_count = Some(0);
        }
        let is_complete = match &self.plan.columns {
            Columns::All => self.write_hash(reply, room),
            Columns::None | Columns::Named(_) => true,
        };
        if is_complete {
            end_row(reply);
        }
        is_complete
    }

    /// Writes the row's key, its sort key, and its fields, if they are not all of the hash.
    fn begin_row(&self, reply: &mut dyn Reply, room: &mut PartRoom) {
        let plan = &self.plan;
        if reply.is_resp3() {
            reply.map(plan.elements() + 1);
        }
        let at = self.written.rows_count;
        let written = self.index.row(self.found.rows[at], self.now, |row| {
            name_part(reply, "id");
            reply.bulk(row.key());
            room.spend(row.key().len());
            if plan.request.has_sort_keys {
                name_part(reply, "sortkey");
                let value = plan.order.and_then(|order| Some((order.field, row.values().nth(order.field)??)));
                match value.and_then(|(field, value)| self.sort_key(field, value)) {
                    Some(key) => reply.bulk(&key),
                    None => reply.null(),
                }
            }
            if let Columns::Named(columns) = &plan.columns {
                name_part(reply, "extra_attributes");
                let values: Vec<Option<&[u8]>> = row.values().collect();
                self.write_columns(columns, row.key(), &values, reply, room);
            }
        });
        assert!(written.is_some(), "a found row is in the clone and has not expired at its time");
        if let Columns::All = plan.columns {
            name_part(reply, "extra_attributes");
            reply.map(self.shown_fields(&self.hashes[at]) as usize);
        }
    }

    /// Returns a value that rows are sorted by: a number after `#`, a text after `$`.
    fn sort_key(&self, field: usize, value: &[u8]) -> Option<Vec<u8>> {
        let field = &self.index.definition().fields[field];
        if field.field_type == FieldType::Numeric {
            return parse_number(value).map(|number| format!("#{}", exact_digits(number)).into_bytes());
        }
        match str::from_utf8(value) {
            Ok(text) if field.is_sorted_folded() => Some(format!("${}", fold(text)).into_bytes()),
            _ => Some([b"$", value].concat()),
        }
    }

    fn write_columns(
        &self,
        columns: &[(Box<[u8]>, Column)],
        key: &[u8],
        values: &[Option<&[u8]>],
        reply: &mut dyn Reply,
        room: &mut PartRoom,
    ) {
        let hash = self.hashes.get(self.written.rows_count);
        let value = |column: &Column, write: &mut dyn FnMut(&[u8])| match column {
            Column::Key => write(key),
            Column::Field(field) => values.get(*field).copied().flatten().into_iter().for_each(write),
            Column::HashField(name) => {
                hash.and_then(|hash| hash.get(name, self.now, |pair| write(pair.value))).unwrap_or_default();
            }
        };
        let mut count = 0;
        columns.iter().for_each(|(_, column)| value(column, &mut |_| count += 1));
        reply.map(count);
        for (name, column) in columns {
            value(column, &mut |value| {
                reply.bulk(name);
                reply.bulk(value);
                room.spend(name.len() + value.len());
            });
        }
    }

    /// Returns the number of fields of a hash that are returned.
    fn shown_fields(&self, hash: &Hash) -> u64 {
        let definition = self.index.definition();
        let mut hidden: Vec<&[u8]> =
            [&definition.language_field, &definition.score_field].into_iter().flatten().map(|name| &**name).collect();
        hidden.dedup();
        let hidden = hidden.into_iter().filter(|name| hash.get(name, self.now, |_| ()).is_some());
        hash.live_len(self.now) - hidden.count() as u64
    }

    /// Writes fields of the row's hash. Returns true once all are written.
    fn write_hash(&mut self, reply: &mut dyn Reply, room: &mut PartRoom) -> bool {
        let hash = &self.hashes[self.written.rows_count];
        let passed = self.written.fields_count.get_or_insert_default();
        let definition = self.index.definition();
        let flow = hash.walk_from(*passed, &mut |pair| {
            if room.is_spent() {
                return ControlFlow::Break(());
            }
            *passed += 1;
            if pair.is_live(self.now) && !is_hidden(definition, pair.field) {
                reply.bulk(pair.field);
                reply.bulk(pair.value);
                room.spend(pair.field.len() + pair.value.len());
            }
            ControlFlow::Continue(())
        });
        flow.is_continue()
    }
}
