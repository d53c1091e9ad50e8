//! Planning of a query in steps: from its text's tree to the nodes of a plan.
//!
//! ```text
//!   tasks     Every of 2 | Not | Node (a query) | Node (a query)      the last one is next
//!   done      node | node | ...                                       a task's parts are the last of them
//! ```
//!
//! The parser makes no empty `Suffix` or `Contains`; they are planned all the same, as the empty word has no grams.

use super::cursor::Cursor;
use super::leaf::{Collection, Context, Source};
use super::pattern::{TermPattern, literals};
use super::plan::{Node, NodeNumber, Plan, Test};
use super::tag_search::{GramItems, TagSearch};
use super::work::{TERM_WORK, Work};
use crate::definition::Language;
use crate::index::{Index, Postings, Space, TermType, grams, term_key};
use crate::query::{Query, Term};
use crate::text::stem;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use values::geo::Coordinates;

/// Pairs of characters of a pattern that are considered, those of them that are looked up, and those whose postings are
/// read; others are left to the comparison of values.
const PAIRS_MAX: usize = 1_024;
const GRAMS_LOOKED_UP_MAX: usize = 16;
const GRAMS_MAX: usize = 6;
/// Terms of a union from which on their rows are collected: a union asks each of its nodes for each chunk.
const UNION_TERMS_MAX: usize = 16;
/// The work of finding the places in a circle, and parts of a union or intersection that are joined per unit of work.
const CIRCLE_WORK: u64 = 40;
const PARTS_PER_WORK: usize = 4;

/// A plan being made.
pub(crate) struct Planner {
    plan: Plan,
    tasks: Vec<Task>,
    done: Vec<NodeNumber>,
    language: Language,
    /// Heap bytes of the query.
    query_bytes: usize,
}

enum Task {
    Node(Query),
    Text {
        field: usize,
        pattern: Arc<TermPattern>,
    },
    /// Joins this many nodes.
    Every(usize),
    Any(usize),
    Not,
}

impl Planner {
    /// Begins to plan a query, of which only these keys are wanted if any are named. O(parts + keys), little for each.
    pub(crate) fn new(query: Query, language: Language, keys: Option<Vec<Box<[u8]>>>) -> Self {
        let query_bytes =
            query_bytes(&query) + keys.iter().flatten().map(|key| key.len() + size_of_val(key)).sum::<usize>();
        let mut planner = Self { plan: Plan::new(), tasks: Vec::new(), done: Vec::new(), language, query_bytes };
        if let Some(keys) = keys {
            let keys = planner.collected(Source::of_keys(keys));
            planner.done.push(keys);
            planner.tasks.push(Task::Every(2));
        }
        planner.tasks.push(Task::Node(query));
        planner
    }

    /// Returns a bound of its heap bytes. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.query_bytes + self.plan.heap_bytes()
    }

    /// Plans for as long as there is work left; returns the plan once it is complete.
    pub(crate) fn step(&mut self, context: &Context<'_>, work: &mut Work) -> Option<Plan> {
        while !work.is_spent() {
            work.spend(1);
            let Some(task) = self.tasks.pop() else {
                let mut plan = std::mem::replace(&mut self.plan, Plan::new());
                plan.root = self.done.pop().unwrap_or(Plan::NOTHING);
                plan.heap_bytes_max += self.query_bytes;
                return Some(plan);
            };
            let node = match task {
                Task::Node(query) => match self.begin(query, context, work) {
                    Some(node) => node,
                    None => continue,
                },
                Task::Text { field, pattern } => self.text(context.index, field, &pattern, work),
                Task::Every(count) => {
                    let parts = self.last_done(count, work);
                    self.every(parts)
                }
                Task::Any(count) => {
                    let parts = self.last_done(count, work);
                    self.any(parts)
                }
                Task::Not => {
                    let part = self.done.pop().unwrap_or(Plan::NOTHING);
                    self.push(Node::Not(part))
                }
            };
            self.done.push(node);
        }
        None
    }

    fn last_done(&mut self, count: usize, work: &mut Work) -> Vec<NodeNumber> {
        work.spend((count / PARTS_PER_WORK) as u64);
        self.done.split_off(self.done.len() - count)
    }

    /// Returns the node of a leaf; of other queries, the parts become tasks.
    fn begin(&mut self, query: Query, context: &Context<'_>, work: &mut Work) -> Option<NodeNumber> {
        let index = context.index;
        Some(match query {
            Query::All | Query::Optional(_) => Plan::ALL,
            Query::Nothing => Plan::NOTHING,
            Query::Every(parts) => return self.begin_parts(Task::Every(parts.len()), parts, work),
            Query::Any(parts) => return self.begin_parts(Task::Any(parts.len()), parts, work),
            Query::Not(part) => return self.begin_parts(Task::Not, vec![*part], work),
            Query::Text { mut fields, term } => {
                fields.retain(|field| index.definition.fields[*field].is_indexed);
                let pattern = self.pattern(term, work);
                self.tasks.push(Task::Any(fields.len()));
                let texts = fields.into_iter().map(|field| Task::Text { field, pattern: Arc::clone(&pattern) });
                self.tasks.extend(texts);
                return None;
            }
            // A field that is not indexed is there to sort by alone.
            Query::Number { field, .. } | Query::Circle { field, .. } | Query::Tag { field, .. }
                if !index.definition.fields[field].is_indexed =>
            {
                Plan::NOTHING
            }
            Query::Tag { field, term } => {
                let pattern = self.pattern(term, work);
                self.like(index, field, &pattern, true, work)
            }
            Query::Number { field, from, to } => {
                work.spend(TERM_WORK);
                self.numbers(context, field, index.numbers[field].range(from, to))
            }
            Query::Circle { field, longitude, latitude, radius_m } => {
                work.spend(CIRCLE_WORK);
                self.collected(Source::of_circle(index, field, Coordinates { longitude, latitude }, radius_m))
            }
            Query::Missing { field } => {
                let absent = self.postings(index, (None, Space::of(field, TermType::Missing)), "", work);
                match context.expired.of_field(field) {
                    Some(_) => {
                        let expired = self.push(Node::Expired(field));
                        self.any(vec![absent, expired])
                    }
                    None => absent,
                }
            }
        })
    }

    /// Plans the rows with a number at these positions. If every row has one, the lesser part of them is collected: those
    /// rows, or all others.
    fn numbers(&mut self, context: &Context<'_>, field: usize, range: Range<u64>) -> NodeNumber {
        let count = context.index.numbers[field].len();
        if count < context.index.len() || range.end - range.start <= count / 2 {
            return self.collected(Source::of_numbers(field, range));
        }
        let others = [0..range.start, range.end..count];
        let mut others: Vec<_> = others.map(|range| self.collected(Source::of_numbers(field, range))).into();
        if context.expired.of_field(field).is_some() {
            others.push(self.push(Node::Expired(field)));
        }
        match self.any(others) {
            Plan::NOTHING => Plan::ALL,
            others => self.push(Node::Not(others)),
        }
    }

    fn begin_parts(&mut self, join: Task, parts: Vec<Query>, work: &mut Work) -> Option<NodeNumber> {
        work.spend((parts.len() / PARTS_PER_WORK) as u64);
        self.tasks.push(join);
        self.tasks.extend(parts.into_iter().map(Task::Node));
        None
    }

    fn pattern(&mut self, term: Term, work: &mut Work) -> Arc<TermPattern> {
        work.spend_text(term.heap_bytes());
        let pattern = TermPattern::of(term);
        self.plan.heap_bytes_max += pattern.heap_bytes();
        Arc::new(pattern)
    }

    fn text(&mut self, index: &Index, field: usize, pattern: &Arc<TermPattern>, work: &mut Work) -> NodeNumber {
        let own = self.like(index, field, pattern, false, work);
        let has_stems = index.definition.fields[field].field_type.has_stems();
        match &pattern.term {
            Term::Exact { word, is_verbatim: false } if has_stems && !word.is_empty() => {
                let stem = stem(word, self.language);
                let stems = self.postings(index, (Some(field), Space::of(field, TermType::Stem)), &stem, work);
                self.any(vec![own, stems])
            }
            _ => own,
        }
    }

    /// Plans the rows with a word or tag that is like a term.
    fn like(
        &mut self,
        index: &Index,
        field: usize,
        pattern: &Arc<TermPattern>,
        is_tag: bool,
        work: &mut Work,
    ) -> NodeNumber {
        let space = Space::of(field, if is_tag { TermType::Tag } else { TermType::Word });
        match &pattern.term {
            Term::Exact { word, .. } => self.postings(index, (Some(field), space), word, work),
            Term::Prefix(start) => self.terms(index, (field, space), start, None, work),
            Term::Suffix(end) if end.is_empty() => self.terms(index, (field, space), "", None, work),
            Term::Contains(part) if part.is_empty() && is_tag => self.terms(index, (field, space), "", None, work),
            Term::Contains(part) if part.is_empty() => {
                let parts =
                    vec![self.beginning(index, field, "", work), self.postings(index, (Some(field), space), "", work)];
                self.any(parts)
            }
            Term::Suffix(part) | Term::Contains(part) if is_tag => {
                self.tags_containing(index, field, &[part], pattern, work)
            }
            Term::Suffix(part) => self.containing(index, field, &[part], pattern, work),
            Term::Contains(part) => match part.chars().take(3).count() {
                1 => self.beginning(index, field, part, work),
                2 => self.postings(index, (Some(field), Space::of(field, TermType::Gram)), part, work),
                _ => self.containing(index, field, &[part], pattern, work),
            },
            Term::Wildcard(text) => {
                let parts = literals(text);
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                match (parts.is_empty(), is_tag) {
                    (true, _) => self.terms(index, (field, space), "", Some(Arc::clone(pattern)), work),
                    (false, true) => self.tags_containing(index, field, &parts, pattern, work),
                    (false, false) => self.containing(index, field, &parts, pattern, work),
                }
            }
            Term::Fuzzy { .. } => self.terms(index, (field, space), "", Some(Arc::clone(pattern)), work),
        }
    }

    /// Plans the rows with a gram that begins with this single character, so those that contain it.
    fn beginning(&mut self, index: &Index, field: usize, character: &str, work: &mut Work) -> NodeNumber {
        self.terms(index, (field, Space::of(field, TermType::Gram)), character, None, work)
    }

    fn terms(
        &mut self,
        index: &Index,
        (field, space): (usize, Space),
        prefix: &str,
        pattern: Option<Arc<TermPattern>>,
        work: &mut Work,
    ) -> NodeNumber {
        work.spend(TERM_WORK);
        self.collected(Source::of_terms(index, (field, space), prefix, pattern))
    }

    /// Plans the rows with a text that is like a term and contains all parts.
    fn containing(
        &mut self,
        index: &Index,
        field: usize,
        parts: &[&str],
        pattern: &Arc<TermPattern>,
        work: &mut Work,
    ) -> NodeNumber {
        let Some(grams) = rarest_grams(index, &index.postings, field, parts, work) else { return Plan::NOTHING };
        let candidates = match (grams.is_empty(), parts.first()) {
            (true, Some(character)) => self.beginning(index, field, character, work),
            _ => {
                let cursors = grams.into_iter().map(|gram| Cursor::new(Some(field), gram.gram, gram.items));
                let nodes = cursors.map(|cursor| self.push(Node::Postings(cursor))).collect();
                self.every(nodes)
            }
        };
        self.push(Node::Verified { candidates, test: Test { field, pattern: Arc::clone(pattern) } })
    }

    /// Plans the rows with a tag that is like a term and contains all parts.
    fn tags_containing(
        &mut self,
        index: &Index,
        field: usize,
        parts: &[&str],
        pattern: &Arc<TermPattern>,
        work: &mut Work,
    ) -> NodeNumber {
        let Some(grams) = rarest_grams(index, &index.tag_grams, field, parts, work) else { return Plan::NOTHING };
        let start = parts.first().copied().unwrap_or_default();
        let search = TagSearch::new(index, field, Arc::clone(pattern), grams, start);
        self.collected(Source::of_tags(field, search))
    }

    fn postings(
        &mut self,
        index: &Index,
        (field, space): (Option<usize>, Space),
        term: &str,
        work: &mut Work,
    ) -> NodeNumber {
        work.spend(TERM_WORK);
        match index.dictionary.number(&term_key(space, term.as_bytes())) {
            Some(number) => self.push(Node::Postings(Cursor::new(field, number, index.postings.items_of(number)))),
            None => Plan::NOTHING,
        }
    }

    fn collected(&mut self, source: Source) -> NodeNumber {
        if source.is_empty() {
            return Plan::NOTHING;
        }
        self.push(Node::Collected(Collection::of(vec![source]).into()))
    }

    fn push(&mut self, node: Node) -> NodeNumber {
        let heap_bytes = match &node {
            Node::Postings(_) => Cursor::HEAP_BYTES_MAX,
            Node::Collected(_) => size_of::<Collection>() + size_of::<Source>(),
            Node::Every(parts) | Node::Any(parts) => size_of_val(&**parts),
            _ => 0,
        };
        // A vector of nodes grows to twice its length.
        self.plan.heap_bytes_max += heap_bytes + 2 * size_of::<Node>();
        self.plan.nodes.push(node);
        self.plan.nodes.len() as NodeNumber - 1
    }

    /// Joins nodes that must all match.
    fn every(&mut self, mut parts: Vec<NodeNumber>) -> NodeNumber {
        parts.retain(|part| *part != Plan::ALL);
        if parts.contains(&Plan::NOTHING) {
            return Plan::NOTHING;
        }
        parts.sort_by_cached_key(|part| self.plan.node(*part).rank());
        match parts[..] {
            [] => Plan::ALL,
            [part] => part,
            _ => self.push(Node::Every(parts.into())),
        }
    }

    /// Joins nodes of which one must match.
    fn any(&mut self, mut parts: Vec<NodeNumber>) -> NodeNumber {
        parts.retain(|part| *part != Plan::NOTHING);
        if parts.contains(&Plan::ALL) {
            return Plan::ALL;
        }
        if parts.len() > 1 {
            self.collect_leaves(&mut parts);
        }
        match parts[..] {
            [] => Plan::NOTHING,
            [part] => part,
            _ => self.push(Node::Any(parts.into())),
        }
    }

    /// Joins the leaves of a union that are collected, and the terms if there are many.
    fn collect_leaves(&mut self, parts: &mut Vec<NodeNumber>) {
        let terms = parts.iter().filter(|part| matches!(self.plan.node(**part), Node::Postings(_))).count();
        let mut sources = Vec::new();
        parts.retain(|part| {
            let node = self.plan.node_mut(*part);
            match node {
                Node::Collected(collection) => sources.append(&mut collection.sources),
                Node::Postings(cursor) if terms > UNION_TERMS_MAX => {
                    sources.push(Source::of_postings(cursor.field, cursor.items.clone()));
                }
                _ => return true,
            }
            *node = Node::Nothing;
            false
        });
        if !sources.is_empty() {
            self.plan.heap_bytes_max += size_of_val(&sources[..]);
            parts.push(self.push(Node::Collected(Collection::of(sources).into())));
        }
    }
}

/// Returns the rarest grams of two characters among those of the parts, the rarest first; `None` if one does not occur.
fn rarest_grams(
    index: &Index,
    postings: &Postings,
    field: usize,
    parts: &[&str],
    work: &mut Work,
) -> Option<Vec<GramItems>> {
    let space = Space::of(field, TermType::Gram);
    let pairs = parts.iter().flat_map(|part| grams(part)).filter(|gram| gram.chars().nth(1).is_some());
    let distinct: BTreeSet<&str> = pairs.take(PAIRS_MAX).collect();
    let mut grams = Vec::new();
    for gram in distinct.into_iter().take(GRAMS_LOOKED_UP_MAX) {
        work.spend(TERM_WORK);
        let gram = index.dictionary.number(&term_key(space, gram.as_bytes()))?;
        grams.push(GramItems { gram, items: postings.items_of(gram) });
    }
    grams.sort_by_key(|gram| gram.items.end - gram.items.start);
    grams.truncate(GRAMS_MAX);
    Some(grams)
}

/// Returns the heap bytes of a query. O(parts).
fn query_bytes(query: &Query) -> usize {
    let all = |parts: &[Query]| parts.iter().map(|part| size_of::<Query>() + query_bytes(part)).sum();
    match query {
        Query::Every(parts) | Query::Any(parts) => all(parts),
        Query::Not(part) | Query::Optional(part) => all(std::slice::from_ref(part)),
        Query::Text { fields, term } => size_of_val(&fields[..]) + term.heap_bytes(),
        Query::Tag { term, .. } => term.heap_bytes(),
        _ => 0,
    }
}
