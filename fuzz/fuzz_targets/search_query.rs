//! Foreign queries, over an index with a field of each type: one is refused, or a tree that can be explained and that
//! the same text gives again.
//!
//! ```text
//!   | flags | length of a parameter | parameter | query ... |
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use search::{Definition, Field, FieldType, Language, QueryOptions, QuerySettings, parse_query};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static DEFINITION: LazyLock<Definition> = LazyLock::new(|| Definition {
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
    fields: vec![
        field("t", FieldType::Text { weight: 1.0, has_no_stems: false, has_suffix_trie: false }),
        field("g", FieldType::Tag { separator: b',', is_case_sensitive: false, has_suffix_trie: false }),
        field("n", FieldType::Numeric),
        field("p", FieldType::Geo),
    ],
});

fuzz_target!(|data: &[u8]| {
    let [flags, length, rest @ ..] = data else { return };
    let (parameter, text) = rest.split_at(rest.len().min(usize::from(*length)));
    let parameters = BTreeMap::from([(b"p".as_slice().into(), parameter.into())]);
    let settings = QuerySettings { parameters, ..QuerySettings::default() };
    let in_fields = [b"t".as_slice().into()];
    let options = QueryOptions {
        settings: &settings,
        is_verbatim: flags & 1 != 0,
        keeps_stop_words: flags & 2 != 0,
        in_fields: (flags & 4 != 0).then_some(&in_fields),
    };
    let parsed = parse_query(text, &DEFINITION, &options);
    assert_eq!(parsed, parse_query(text, &DEFINITION, &options));
    match parsed {
        Ok(query) => assert!(query.explain(&DEFINITION).ends_with('\n')),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn field(name: &str, field_type: FieldType) -> Field {
    Field {
        identifier: name.as_bytes().into(),
        attribute: name.as_bytes().into(),
        field_type,
        is_sortable: false,
        is_unnormalized: false,
        is_indexed: true,
        indexes_missing: true,
        indexes_empty: true,
    }
}
