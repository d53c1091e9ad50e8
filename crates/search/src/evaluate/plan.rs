//! The plan of a query: what is read for it, and in which order.
//!
//! ```text
//!   @sex:{m} @name:*ming* -@city:{x}          Every
//!                                            /  |   \
//!                          postings of "m" --'  |    '-- Not -- postings of "x"
//!                                            Verified (the whole value contains it)
//!                                               |
//!                                             Every: postings of the grams mi, in, ng
//! ```
//!
//! A plan is asked chunk by chunk, in ascending order: rows of a chunk are a bitmap, which each node restricts. A node
//! can say which chunk may be the next to have rows, so that a rare term skips what a frequent one has.

use super::bitmap::Bitmap;
use super::direct::{Instant, has_stems, text_fits};
use super::leaf::{Collection, GramItems};
use super::pattern::literals;
use crate::index::{Index, Postings, Record, Space, TermNumber, TermType, grams, row_at, term_key};
use crate::query::{Query, Term};
use crate::text::stem;
use std::collections::BTreeSet;
use std::ops::Range;

/// The most grams of a pattern that are looked up, and whose postings are read; others are left to its verification.
const GRAMS_LOOKED_UP_MAX: usize = 64;
const GRAMS_MAX: usize = 6;
/// The work of reading a chunk of postings, and of verifying a row.
const CHUNK_WORK: u64 = 2;
const VERIFY_WORK: u64 = 5;

/// A node of a plan.
pub(crate) enum Node {
    /// Every row.
    All,
    /// No row.
    Nothing,
    /// Rows of a term.
    Postings(Cursor),
    /// Rows that were collected, by the position of the collection.
    Collected(usize),
    /// Rows that match all.
    Every(Vec<Node>),
    /// Rows that match any.
    Any(Vec<Node>),
    /// Rows that do not match.
    Not(Box<Node>),
    /// Rows of a node whose value is like a pattern.
    Verified { candidates: Box<Node>, test: Test },
}

/// The items of a term, and how far they were read.
#[derive(Clone)]
pub(crate) struct Cursor {
    pub(crate) term: TermNumber,
    /// From the one last read on.
    pub(crate) items: Range<u64>,
    /// The chunk last read, with its rows.
    seen: Option<(u32, Box<Bitmap>)>,
}

/// A pattern, and the TEXT field that is looked at.
pub(crate) struct Test {
    field: usize,
    term: Term,
}

/// A plan.
pub(crate) struct Plan {
    pub(crate) root: Node,
    pub(crate) collections: Vec<Collection>,
}

/// What nodes are asked with.
pub(crate) struct Context<'a> {
    pub(crate) index: &'a Index,
    pub(crate) sets: &'a [Collection],
    pub(crate) instant: Instant,
}

impl Plan {
    /// Plans a query. O(nodes x log n).
    pub(crate) fn of(index: &Index, query: &Query, instant: Instant) -> Self {
        let mut planner = Planner { index, instant, collections: Vec::new() };
        let root = planner.node(query);
        Self { root, collections: planner.collections }
    }
}

struct Planner<'a> {
    index: &'a Index,
    instant: Instant,
    collections: Vec<Collection>,
}

impl Planner<'_> {
    fn node(&mut self, query: &Query) -> Node {
        match query {
            Query::All | Query::Optional(_) => Node::All,
            Query::Nothing => Node::Nothing,
            Query::Every(parts) => every(parts.iter().map(|part| self.node(part)).collect()),
            Query::Any(parts) => any(parts.iter().map(|part| self.node(part)).collect()),
            Query::Not(part) => Node::Not(Box::new(self.node(part))),
            Query::Text { fields, term } => any(fields.iter().map(|field| self.text(*field, term)).collect()),
            Query::Tag { field, term } => self.like(*field, term, true),
            Query::Number { field, .. } | Query::Circle { field, .. } if !self.is_indexed(*field) => Node::Nothing,
            Query::Number { field, from, to } => {
                let range = self.index.numbers[*field].range(*from, *to);
                self.collected(Collection::of_numbers(*field, range))
            }
            Query::Circle { field, longitude, latitude, radius_m } => {
                self.collected(Collection::of_circle(self.index, *field, *longitude, *latitude, *radius_m))
            }
            Query::Missing { field } => self.postings(Space::of(*field, TermType::Missing), ""),
        }
    }

    /// Returns false for a field whose numbers are kept for sorting alone.
    fn is_indexed(&self, field: usize) -> bool {
        self.index.definition.fields[field].is_indexed
    }

    fn text(&mut self, field: usize, term: &Term) -> Node {
        let own = self.like(field, term, false);
        match term {
            Term::Exact { word, is_verbatim: false }
                if !word.is_empty() && has_stems(&self.index.definition.fields[field].field_type) =>
            {
                let stem = stem(word, self.instant.language);
                any(vec![own, self.postings(Space::of(field, TermType::Stem), &stem)])
            }
            _ => own,
        }
    }

    /// Rows with a word or tag that is like a term.
    fn like(&mut self, field: usize, term: &Term, is_tag: bool) -> Node {
        let space = Space::of(field, if is_tag { TermType::Tag } else { TermType::Word });
        match term {
            Term::Exact { word, .. } => self.postings(space, word),
            Term::Prefix(start) => self.collected(Collection::of_terms(self.index, space, start, None)),
            // The empty word has no grams.
            Term::Suffix(end) if end.is_empty() => self.collected(Collection::of_terms(self.index, space, "", None)),
            Term::Contains(part) if part.is_empty() && is_tag => {
                self.collected(Collection::of_terms(self.index, space, "", None))
            }
            Term::Contains(part) if part.is_empty() => any(vec![self.beginning(field, ""), self.postings(space, "")]),
            Term::Suffix(part) | Term::Contains(part) if is_tag => self.tags_containing(field, &[part], term),
            Term::Suffix(part) => self.containing(field, &[part], term),
            Term::Contains(part) => self.infix(field, part, term),
            Term::Wildcard(pattern) => self.wildcard(field, pattern, term, is_tag),
            Term::Fuzzy { .. } => self.collected(Collection::of_terms(self.index, space, "", Some(term.clone()))),
        }
    }

    fn wildcard(&mut self, field: usize, pattern: &str, term: &Term, is_tag: bool) -> Node {
        let parts = literals(pattern);
        if parts.is_empty() {
            let space = Space::of(field, if is_tag { TermType::Tag } else { TermType::Word });
            return self.collected(Collection::of_terms(self.index, space, "", Some(term.clone())));
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        if is_tag { self.tags_containing(field, &parts, term) } else { self.containing(field, &parts, term) }
    }

    fn infix(&mut self, field: usize, part: &str, term: &Term) -> Node {
        match part.chars().count() {
            1 => self.beginning(field, part),
            2 => self.postings(Space::of(field, TermType::Gram), part),
            _ => self.containing(field, &[part], term),
        }
    }

    /// Rows with a gram that begins with this single sign, so those that contain it.
    fn beginning(&mut self, field: usize, sign: &str) -> Node {
        self.collected(Collection::of_terms(self.index, Space::of(field, TermType::Gram), sign, None))
    }

    /// Rows with a text that is like a term and contains all parts.
    fn containing(&mut self, field: usize, parts: &[&str], term: &Term) -> Node {
        let Some(grams) = self.rarest_grams(field, parts, &self.index.postings) else { return Node::Nothing };
        let candidates = match (grams.is_empty(), parts.first()) {
            (true, Some(sign)) => self.beginning(field, sign),
            _ => every(
                grams.into_iter().map(|GramItems { gram, items }| Node::Postings(Cursor::new(gram, items))).collect(),
            ),
        };
        Node::Verified { candidates: Box::new(candidates), test: Test { field, term: term.clone() } }
    }

    /// Rows with a tag that is like a term and contains all parts.
    fn tags_containing(&mut self, field: usize, parts: &[&str], term: &Term) -> Node {
        let Some(grams) = self.rarest_grams(field, parts, &self.index.tag_grams) else { return Node::Nothing };
        let sign = parts.first().copied().unwrap_or_default();
        self.collected(Collection::of_tags(self.index, field, term.clone(), grams, sign))
    }

    /// Returns the rarest grams of two signs among those of the parts, the rarest first; `None` if one does not occur.
    fn rarest_grams(&self, field: usize, parts: &[&str], postings: &Postings) -> Option<Vec<GramItems>> {
        let space = Space::of(field, TermType::Gram);
        let pairs = parts.iter().flat_map(|part| grams(part)).filter(|gram| gram.chars().nth(1).is_some());
        let distinct: BTreeSet<&str> = pairs.collect();
        let mut grams = Vec::new();
        for gram in distinct.into_iter().take(GRAMS_LOOKED_UP_MAX) {
            let gram = self.index.dictionary.number(&term_key(space, gram.as_bytes()))?;
            grams.push(GramItems { gram, items: postings.items_of(gram) });
        }
        grams.sort_by_key(|gram| gram.items.end - gram.items.start);
        grams.truncate(GRAMS_MAX);
        Some(grams)
    }

    fn postings(&self, space: Space, term: &str) -> Node {
        let number = self.index.dictionary.number(&term_key(space, term.as_bytes()));
        number.map_or(Node::Nothing, |number| Node::Postings(Cursor::new(number, self.index.postings.items_of(number))))
    }

    fn collected(&mut self, collection: Collection) -> Node {
        if collection.left() == 0 {
            return Node::Nothing;
        }
        self.collections.push(collection);
        Node::Collected(self.collections.len() - 1)
    }
}

/// Joins nodes that must all match, those first that leave the least and cost the least.
fn every(mut nodes: Vec<Node>) -> Node {
    nodes.retain(|node| !matches!(node, Node::All));
    if nodes.iter().any(|node| matches!(node, Node::Nothing)) {
        return Node::Nothing;
    }
    nodes.sort_by_key(Node::rank);
    match nodes.len() {
        0 => Node::All,
        1 => nodes.remove(0),
        _ => Node::Every(nodes),
    }
}

/// Joins nodes of which one must match.
fn any(mut nodes: Vec<Node>) -> Node {
    nodes.retain(|node| !matches!(node, Node::Nothing));
    if nodes.iter().any(|node| matches!(node, Node::All)) {
        return Node::All;
    }
    match nodes.len() {
        0 => Node::Nothing,
        1 => nodes.remove(0),
        _ => Node::Any(nodes),
    }
}

impl Node {
    /// Returns where it goes among the parts of a conjunction.
    fn rank(&self) -> (u8, u64) {
        match self {
            Self::Postings(cursor) => (0, cursor.items.end - cursor.items.start),
            Self::Verified { .. } => (3, 0),
            Self::Not(_) => (2, 0),
            _ => (1, 0),
        }
    }

    /// Returns the first chunk from `from` on that may have rows. Chunks never go back.
    pub(crate) fn next_chunk(&mut self, context: &Context<'_>, from: u32) -> Option<u32> {
        match self {
            Self::All | Self::Not(_) => Some(from),
            Self::Nothing => None,
            Self::Postings(cursor) => cursor.next_chunk(context.index, from),
            Self::Collected(at) => context.sets[*at].rows.next_chunk(from),
            Self::Every(parts) => {
                let mut chunk = from;
                for part in parts {
                    chunk = part.next_chunk(context, chunk)?;
                }
                Some(chunk)
            }
            Self::Any(parts) => parts.iter_mut().filter_map(|part| part.next_chunk(context, from)).min(),
            Self::Verified { candidates, .. } => candidates.next_chunk(context, from),
        }
    }

    /// Keeps those of a chunk's rows that match.
    pub(crate) fn restrict(&mut self, context: &Context<'_>, chunk: u32, rows: &mut Bitmap, work: &mut u64) {
        if rows.is_empty() {
            return;
        }
        match self {
            Self::All => {}
            Self::Nothing => rows.clear(),
            Self::Postings(cursor) => {
                *work = work.saturating_sub(CHUNK_WORK);
                cursor.restrict(context.index, chunk, rows);
            }
            Self::Collected(at) => match context.sets[*at].rows.chunk(chunk) {
                Some(own) => rows.intersect(own),
                None => rows.clear(),
            },
            Self::Every(parts) => parts.iter_mut().for_each(|part| part.restrict(context, chunk, rows, work)),
            Self::Any(parts) => {
                let mut all = Bitmap::EMPTY;
                for part in parts {
                    let mut own = rows.clone();
                    part.restrict(context, chunk, &mut own, work);
                    all.unite(&own);
                }
                *rows = all;
            }
            Self::Not(part) => {
                let mut own = rows.clone();
                part.restrict(context, chunk, &mut own, work);
                rows.subtract(&own);
            }
            Self::Verified { candidates, test } => {
                candidates.restrict(context, chunk, rows, work);
                for place in rows.clone().places() {
                    *work = work.saturating_sub(VERIFY_WORK);
                    let fits = |record: &Record<'_>| test.fits(context, record);
                    if context.index.record(row_at(chunk, place), fits) != Some(true) {
                        rows.remove(place);
                    }
                }
            }
        }
    }
}

impl Cursor {
    pub(crate) fn new(term: TermNumber, items: Range<u64>) -> Self {
        Self { term, items, seen: None }
    }

    /// Returns the first chunk from `from` on with rows.
    fn next_chunk(&mut self, index: &Index, from: u32) -> Option<u32> {
        self.chunk_from(index, from).map(|(chunk, _)| *chunk)
    }

    /// Keeps those of a chunk's rows that have the term.
    fn restrict(&mut self, index: &Index, chunk: u32, rows: &mut Bitmap) {
        match self.chunk_from(index, chunk) {
            Some((at, own)) if *at == chunk => rows.intersect(own),
            _ => rows.clear(),
        }
    }

    /// Returns the first chunk from `from` on, with its rows.
    pub(crate) fn chunk_from(&mut self, index: &Index, from: u32) -> Option<&(u32, Box<Bitmap>)> {
        if self.seen.as_ref().is_none_or(|(chunk, _)| *chunk < from) {
            let mut rows = self.seen.take().map_or_else(|| Box::new(Bitmap::EMPTY), |(_, rows)| rows);
            let (at, chunk) = index.postings.look(self.items.clone(), self.term, from, &mut rows);
            self.items.start = at;
            self.seen = chunk.map(|chunk| (chunk, rows));
        }
        self.seen.as_ref()
    }
}

impl Test {
    fn fits(&self, context: &Context<'_>, record: &Record<'_>) -> bool {
        let value = record.value(self.field, 0);
        value.is_some_and(|value| {
            text_fits(&context.index.definition, (self.field, value), &self.term, record, context.instant)
        })
    }
}
