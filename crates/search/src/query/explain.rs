//! The tree of a query as text, in the layout of FT.EXPLAIN.
//!
//! ```text
//!   INTERSECT {
//!     @title:UNION {
//!       @title:hello
//!       @title:+hello(expanded)
//!     }
//!     NUMERIC {1.000000 <= @price <= inf}
//!   }
//! ```
//!
//! The tree knows less than RediSearch's: queries with one tree have one text. Tags of a field side by side are one
//! `TAG:@field`, a quoted word is a word without expansions, a circle has its radius in metres, and TEXT fields are
//! named unless they are all there are.

use super::{Query, Term};
use crate::definition::{Definition, FieldType};
use crate::text::{is_stemmed, shown, stem};
use std::fmt::Write;
use std::ops::Bound;

/// Spaces of a level.
const INDENT: usize = 2;

/// A text that is being written.
struct Explanation<'a> {
    definition: &'a Definition,
    /// TEXT fields that are indexed: a term in all of them names none.
    text_fields: Vec<usize>,
    text: String,
}

/// Returns the layout of a query.
pub(super) fn explain(query: &Query, definition: &Definition) -> String {
    let fields = definition.fields.iter().enumerate();
    let text_fields = fields.filter(|(_, field)| field.is_indexed_text()).map(|(position, _)| position).collect();
    let mut explanation = Explanation { definition, text_fields, text: String::new() };
    explanation.query(query, 0);
    explanation.text
}

/// Returns the line of an order: `SORTBY {@field by index}`, or `SORTBY {@field of all matching rows}`.
pub(super) fn explain_order(query: &Query, definition: &Definition, field: usize) -> String {
    let by = &definition.fields[field];
    let is_by_index = by.field_type == FieldType::Numeric
        && match query {
            Query::All => true,
            // Rows of a rare tag are few, whatever is done with them.
            Query::Tag { field, term: Term::Exact { .. } } => by.is_sortable && definition.fields[*field].is_indexed,
            _ => false,
        };
    let how = if is_by_index { "by index" } else { "of all matching rows" };
    format!("SORTBY {{@{} {how}}}\n", shown(&by.attribute))
}

impl Explanation<'_> {
    fn query(&mut self, query: &Query, depth: usize) {
        match query {
            Query::All => self.line(depth, "<WILDCARD>"),
            Query::Nothing => self.line(depth, "<empty>"),
            Query::Every(parts) => self.group(depth, query, "INTERSECT {", parts),
            Query::Any(parts) => self.union(depth, query, parts),
            Query::Not(part) => self.group(depth, query, "NOT{", std::slice::from_ref(&**part)),
            Query::Optional(part) => self.group(depth, query, "OPTIONAL{", std::slice::from_ref(&**part)),
            Query::Text { fields, term } => self.text(depth, fields, term),
            Query::Tag { .. } => self.tags(depth, std::slice::from_ref(query)),
            Query::Number { field, from, to } => {
                let name = self.name(*field);
                self.line(depth, &number(&name, *from, *to));
            }
            Query::Circle { field, longitude, latitude, radius_m } => {
                let name = self.name(*field);
                self.line(depth, &format!("GEO {name}:{{{longitude:.6},{latitude:.6} --> {radius_m:.6} m}}"));
            }
            Query::Missing { field } => {
                let name = self.name(*field);
                self.line(depth, &format!("ISMISSING{{{name}}}"));
            }
        }
    }

    fn group(&mut self, depth: usize, query: &Query, head: &str, parts: &[Query]) {
        let scope = fields_of(query).map(|fields| self.scope(fields)).unwrap_or_default();
        self.line(depth, &format!("{scope}{head}"));
        for part in parts {
            self.query(part, depth + 1);
        }
        self.line(depth, "}");
    }

    /// Writes a union, in which tags of a field that follow each other are one part.
    fn union(&mut self, depth: usize, query: &Query, parts: &[Query]) {
        let runs: Vec<&[Query]> =
            parts.chunk_by(|a, b| tag_field(a).is_some() && tag_field(a) == tag_field(b)).collect();
        if let [run] = runs[..]
            && run.len() > 1
        {
            return self.tags(depth, run);
        }
        let scope = fields_of(query).map(|fields| self.scope(fields)).unwrap_or_default();
        self.line(depth, &format!("{scope}UNION {{"));
        for run in runs {
            match run {
                [part] => self.query(part, depth + 1),
                run => self.tags(depth + 1, run),
            }
        }
        self.line(depth, "}");
    }

    /// Writes tags of one field.
    fn tags(&mut self, depth: usize, tags: &[Query]) {
        let Some(field) = tags.first().and_then(tag_field) else { return };
        let name = self.name(field);
        self.line(depth, &format!("TAG:@{name} {{"));
        for tag in tags {
            if let Query::Tag { term, .. } = tag {
                self.line(depth + 1, &term_text(term));
            }
        }
        self.line(depth, "}");
    }

    fn text(&mut self, depth: usize, fields: &[usize], term: &Term) {
        let scope = self.scope(fields);
        let has_stems = |field: &usize| self.definition.fields[*field].field_type.has_stems();
        let is_expanded = is_stemmed(self.definition.language) && fields.iter().any(has_stems);
        match term {
            Term::Exact { word, is_verbatim: false } if is_expanded => {
                let stem = stem(word, self.definition.language);
                self.line(depth, &format!("{scope}UNION {{"));
                self.line(depth + 1, &format!("{scope}{word}"));
                self.line(depth + 1, &format!("{scope}+{stem}(expanded)"));
                if *stem != **word {
                    self.line(depth + 1, &format!("{scope}{stem}(expanded)"));
                }
                self.line(depth, "}");
            }
            term => self.line(depth, &format!("{scope}{}", term_text(term))),
        }
    }

    /// Returns the fields before a term: none if they are all there are.
    fn scope(&self, fields: &[usize]) -> String {
        if fields == self.text_fields {
            return String::new();
        }
        let names: Vec<Box<str>> = fields.iter().map(|field| self.name(*field)).collect();
        format!("@{}:", names.join("|"))
    }

    /// Returns the beginning of a field's name: many terms repeat it.
    fn name(&self, field: usize) -> Box<str> {
        shown(&self.definition.fields[field].attribute)
    }

    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "{:1$}{line}", "", depth * INDENT);
    }
}

fn tag_field(query: &Query) -> Option<usize> {
    match query {
        Query::Tag { field, .. } => Some(*field),
        _ => None,
    }
}

/// Returns the TEXT fields that all of a query looks into.
fn fields_of(query: &Query) -> Option<&[usize]> {
    match query {
        Query::Text { fields, .. } => Some(fields),
        Query::Not(part) | Query::Optional(part) => fields_of(part),
        Query::Every(parts) | Query::Any(parts) => {
            let (first, rest) = parts.split_first()?;
            let fields = fields_of(first)?;
            rest.iter().all(|part| fields_of(part) == Some(fields)).then_some(fields)
        }
        _ => None,
    }
}

fn term_text(term: &Term) -> String {
    match term {
        Term::Exact { word, .. } if word.is_empty() => "\"\"".to_owned(),
        Term::Exact { word, .. } => word.to_string(),
        Term::Prefix(text) => format!("PREFIX{{{text}*}}"),
        Term::Suffix(text) => format!("SUFFIX{{*{text}}}"),
        Term::Contains(text) => format!("INFIX{{*{text}*}}"),
        Term::Wildcard(pattern) => format!("WILDCARD{{{pattern}}}"),
        Term::Fuzzy { word, .. } => format!("FUZZY{{{word}}}"),
    }
}

fn number(name: &str, from: Bound<f64>, to: Bound<f64>) -> String {
    let end = |bound, infinite| match bound {
        Bound::Included(number) => (number, "<="),
        Bound::Excluded(number) => (number, "<"),
        Bound::Unbounded => (infinite, "<="),
    };
    let (least, after) = end(from, f64::NEG_INFINITY);
    let (greatest, before) = end(to, f64::INFINITY);
    format!("NUMERIC {{{least:.6} {after} @{name} {before} {greatest:.6}}}")
}
