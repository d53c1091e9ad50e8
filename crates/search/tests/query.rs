//! The query language: published examples of RediSearch's pages and tests, errors, limits, random queries.

mod errors;
mod explain;
mod random;
mod tags;
mod texts;
mod values;

use search::{
    Definition, Field, FieldType, Language, Query, QueryError, QueryOptions, QuerySettings, Term, parse_query,
};
use std::collections::BTreeMap;

pub(crate) const TITLE: usize = 0;
pub(crate) const BODY: usize = 1;
pub(crate) const PRICE: usize = 2;
pub(crate) const PLACE: usize = 3;
pub(crate) const TAGS: usize = 4;
pub(crate) const CODES: usize = 5;

/// Returns the options of a query that has none.
pub(crate) fn options() -> QueryOptions<'static> {
    static SETTINGS: QuerySettings = QuerySettings { parameters: BTreeMap::new(), dialect: 2, timeout_ms: None };
    SETTINGS.query_options()
}

/// Returns settings with parameters.
pub(crate) fn settings_with(parameters: &[(&[u8], &[u8])]) -> QuerySettings {
    let parameters = parameters.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    QuerySettings { parameters: parameters.collect(), ..QuerySettings::default() }
}

/// Returns an index of `title`, `body` (TEXT), `price` (NUMERIC), `place` (GEO), `tags`, `codes` (TAG) and more.
pub(crate) fn definition() -> Definition {
    definition_of(vec![
        text("title"),
        text("body"),
        field("price", FieldType::Numeric),
        field("place", FieldType::Geo),
        tag("tags", false),
        Field { indexes_empty: true, indexes_missing: true, ..tag("codes", true) },
        Field { is_indexed: false, ..text("hidden") },
    ])
}

/// Returns an index of these fields.
pub(crate) fn definition_of(fields: Vec<Field>) -> Definition {
    Definition {
        name: b"index".as_slice().into(),
        prefixes: vec![b"".as_slice().into()],
        filter: None,
        language: Language::English,
        language_field: None,
        score: 1.0,
        score_field: None,
        stop_words: None,
        has_no_offsets: false,
        has_no_highlights: false,
        has_no_field_bits: false,
        has_no_frequencies: false,
        has_many_text_fields: false,
        skips_initial_scan: false,
        temporary_s: None,
        fields,
    }
}

pub(crate) fn text(name: &str) -> Field {
    field(name, FieldType::Text { weight: 1.0, has_no_stems: false, has_suffix_trie: false })
}

pub(crate) fn tag(name: &str, is_case_sensitive: bool) -> Field {
    field(name, FieldType::Tag { separator: b',', is_case_sensitive, has_suffix_trie: false })
}

pub(crate) fn field(name: &str, field_type: FieldType) -> Field {
    Field {
        identifier: name.as_bytes().into(),
        attribute: name.as_bytes().into(),
        field_type,
        is_sortable: false,
        is_unnormalized: false,
        is_indexed: true,
        indexes_missing: false,
        indexes_empty: false,
    }
}

/// Parses a query without options over [`definition`].
pub(crate) fn parse(text: &str) -> Result<Query, QueryError> {
    parse_query(text.as_bytes(), &definition(), &options())
}

/// Returns the query of a text that is one.
pub(crate) fn query(text: &str) -> Query {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns the query of a text with parameters.
pub(crate) fn query_with(text: &str, parameters: &[(&[u8], &[u8])]) -> Query {
    let settings = settings_with(parameters);
    parse_query(text.as_bytes(), &definition(), &settings.query_options())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns a word in all TEXT fields of [`definition`].
pub(crate) fn word(word: &str) -> Query {
    word_in(&[TITLE, BODY], word)
}

pub(crate) fn word_in(fields: &[usize], word: &str) -> Query {
    Query::Text { fields: fields.to_vec(), term: Term::Exact { word: word.into(), is_verbatim: false } }
}

pub(crate) fn verbatim(word: &str) -> Query {
    term(Term::Exact { word: word.into(), is_verbatim: true })
}

pub(crate) fn term(term: Term) -> Query {
    Query::Text { fields: vec![TITLE, BODY], term }
}

pub(crate) fn tagged(field: usize, tag: &str) -> Query {
    Query::Tag { field, term: Term::Exact { word: tag.into(), is_verbatim: true } }
}

pub(crate) fn not(query: Query) -> Query {
    Query::Not(Box::new(query))
}

pub(crate) fn optional(query: Query) -> Query {
    Query::Optional(Box::new(query))
}
