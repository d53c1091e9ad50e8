//! FT.INFO: what clients read is there, with the type that they expect.
//!
//! Expected names and types are those that redis-py, node-redis and Jedis read, and that RediSearch's own tests
//! compare.

use crate::definitions::{any_definition, definition};
use proptest::prelude::*;
use search::{CursorFigures, Definition, FailureFigures, IndexFigures, IndexSize, Reply};

fn no_figures() -> IndexFigures {
    IndexFigures {
        size: IndexSize::default(),
        indexing_ms: 0.0,
        is_indexing: false,
        indexed_part: 1.0,
        uses_count: 1,
        is_deleting: false,
        failures: FailureFigures::default(),
        field_failures: Vec::new(),
        cursors: CursorFigures { idle_count: 0, total_count: 0, index_max: 128, index_count: 0 },
        dialect_uses: [0; 4],
    }
}

fn value<'a>(reply: &'a Reply, name: &str) -> &'a Reply {
    let Reply::Pairs(pairs) = reply else { panic!("pairs") };
    let mut found = pairs.iter().filter(|(known, _)| *known == name);
    let (_, value) = found.next().unwrap_or_else(|| panic!("{name} is there"));
    assert!(found.next().is_none(), "{name} is there once");
    value
}

fn text(text: &str) -> Reply {
    Reply::Text(text.as_bytes().into())
}

fn list(words: &[&str]) -> Reply {
    Reply::List(words.iter().map(|word| text(word)).collect())
}

fn is_nan(reply: &Reply) -> bool {
    matches!(reply, Reply::Number(number) if number.is_nan())
}

fn no_failures() -> Reply {
    Reply::Pairs(vec![
        ("indexing failures", Reply::Integer(0)),
        ("last indexing error", text("N/A")),
        ("last indexing error key", text("N/A")),
    ])
}

fn first_attribute(definition: &Definition) -> Reply {
    let reply = no_figures().describe(definition);
    let Reply::List(attributes) = value(&reply, "attributes") else { panic!("a list") };
    attributes[0].clone()
}

#[test]
fn a_new_index_is_described_as_redis_7_4_does() {
    let reply = no_figures().describe(&definition("SCHEMA field TEXT"));
    assert_eq!(value(&reply, "index_name"), &text("idx"));
    assert_eq!(value(&reply, "index_options"), &Reply::List(Vec::new()));
    let rule = vec![("key_type", text("HASH")), ("prefixes", list(&[""])), ("default_score", Reply::Number(1.0))];
    assert_eq!(value(&reply, "index_definition"), &Reply::Pairs(rule));
    for (name, expected) in [
        ("num_docs", 0),
        ("max_doc_id", 0),
        ("num_terms", 0),
        ("num_records", 0),
        ("total_inverted_index_blocks", 0),
        ("hash_indexing_failures", 0),
        ("indexing", 0),
        ("number_of_uses", 1),
        ("cleaning", 0),
    ] {
        assert_eq!(value(&reply, name), &Reply::Integer(expected), "{name}");
    }
    for (name, expected) in [
        ("inverted_sz_mb", 0.0),
        ("vector_index_sz_mb", 0.0),
        ("offset_vectors_sz_mb", 0.0),
        ("doc_table_size_mb", 0.0),
        ("sortable_values_size_mb", 0.0),
        ("key_table_size_mb", 0.0),
        ("tag_overhead_sz_mb", 0.0),
        ("text_overhead_sz_mb", 0.0),
        ("total_index_memory_sz_mb", 0.0),
        ("geoshapes_sz_mb", 0.0),
        ("total_indexing_time", 0.0),
        ("percent_indexed", 1.0),
    ] {
        assert_eq!(value(&reply, name), &Reply::Number(expected), "{name}");
    }
    for name in ["records_per_doc_avg", "bytes_per_record_avg", "offsets_per_term_avg", "offset_bits_per_record_avg"] {
        assert!(is_nan(value(&reply, name)), "{name}");
    }
}

#[test]
fn statistics_of_a_new_index_have_published_names() {
    let reply = no_figures().describe(&definition("SCHEMA f1 TEXT f2 AS g TAG"));
    let garbage = value(&reply, "gc_stats");
    for name in ["bytes_collected", "total_ms_run", "total_cycles", "last_run_time_ms"] {
        assert_eq!(value(garbage, name), &Reply::Number(0.0), "{name}");
    }
    assert!(is_nan(value(garbage, "average_cycle_time_ms")));
    let cursors = [("global_idle", 0), ("global_total", 0), ("index_capacity", 128), ("index_total", 0)];
    let pairs = |pairs: &[(&'static str, u64)]| {
        Reply::Pairs(pairs.iter().map(|(name, count)| (*name, Reply::Integer(*count))).collect())
    };
    assert_eq!(value(&reply, "cursor_stats"), &pairs(&cursors));
    let dialects = [("dialect_1", 0), ("dialect_2", 0), ("dialect_3", 0), ("dialect_4", 0)];
    assert_eq!(value(&reply, "dialect_stats"), &pairs(&dialects));
    assert_eq!(value(&reply, "Index Errors"), &no_failures());
    let Reply::List(fields) = value(&reply, "field statistics") else { panic!("a list") };
    assert_eq!(value(&fields[1], "identifier"), &text("f2"));
    assert_eq!(value(&fields[1], "attribute"), &text("g"));
    assert_eq!(value(&fields[1], "Index Errors"), &no_failures());
}

#[test]
fn options_of_the_index_are_described() {
    let reply = no_figures().describe(&definition(
        "NOFIELDS PREFIX 2 a: b: FILTER @a>1 LANGUAGE french LANGUAGE_FIELD l SCORE 0.5 SCORE_FIELD s \
         STOPWORDS 2 tlv summer SCHEMA t TEXT",
    ));
    assert_eq!(value(&reply, "index_options"), &list(&["NOFIELDS"]));
    assert_eq!(value(&reply, "stopwords_list"), &list(&["summer", "tlv"]));
    let rule = value(&reply, "index_definition");
    assert_eq!(value(rule, "prefixes"), &list(&["a:", "b:"]));
    assert_eq!(value(rule, "filter"), &text("@a>1"));
    assert_eq!(value(rule, "default_language"), &text("french"));
    assert_eq!(value(rule, "language_field"), &text("l"));
    assert_eq!(value(rule, "default_score"), &Reply::Number(0.5));
    assert_eq!(value(rule, "score_field"), &text("s"));
}

#[test]
fn flags_of_a_field_follow_its_pairs() {
    let names = |name| [("identifier", text(name)), ("attribute", text(name))];
    let flagged = |name, more: Vec<(&'static str, Reply)>, flags: &[&'static str]| Reply::Flagged {
        pairs: names(name).into_iter().chain(more).collect(),
        flags: flags.to_vec(),
    };
    for (schema, expected) in [
        ("t TEXT", flagged("t", vec![("type", text("TEXT")), ("WEIGHT", Reply::Number(1.0))], &[])),
        ("n NUMERIC", flagged("n", vec![("type", text("NUMERIC"))], &[])),
        ("n NUMERIC SORTABLE", flagged("n", vec![("type", text("NUMERIC"))], &["SORTABLE", "UNF"])),
        ("n NUMERIC SORTABLE NOINDEX", flagged("n", vec![("type", text("NUMERIC"))], &["SORTABLE", "UNF", "NOINDEX"])),
        (
            "g TAG SEPARATOR ; CASESENSITIVE SORTABLE",
            flagged("g", vec![("type", text("TAG")), ("SEPARATOR", text(";"))], &["SORTABLE", "CASESENSITIVE"]),
        ),
    ] {
        assert_eq!(first_attribute(&definition(&format!("SCHEMA {schema}"))), expected, "{schema}");
    }
}

#[test]
fn figures_are_counted_in_megabytes_and_averages() {
    let failures = FailureFigures { count: 2, last: Some(("bad number".into(), b"doc1"[..].into())) };
    let figures = IndexFigures {
        size: IndexSize { rows: 4, postings: 8, postings_bytes: 1 << 20, rows_bytes: 1 << 19, ..IndexSize::default() },
        is_indexing: true,
        indexed_part: 0.25,
        failures: failures.clone(),
        field_failures: vec![failures],
        ..no_figures()
    };
    let reply = figures.describe(&definition("SCHEMA n NUMERIC m NUMERIC"));
    assert_eq!(value(&reply, "inverted_sz_mb"), &Reply::Number(1.0));
    assert_eq!(value(&reply, "total_index_memory_sz_mb"), &Reply::Number(1.5));
    assert_eq!(value(&reply, "records_per_doc_avg"), &Reply::Number(2.0));
    assert_eq!(value(&reply, "indexing"), &Reply::Integer(1));
    assert_eq!(value(&reply, "percent_indexed"), &Reply::Number(0.25));
    let errors = value(&reply, "Index Errors");
    assert_eq!(value(errors, "indexing failures"), &Reply::Integer(2));
    assert_eq!(value(errors, "last indexing error"), &text("bad number"));
    assert_eq!(value(errors, "last indexing error key"), &text("doc1"));
    let Reply::List(fields) = value(&reply, "field statistics") else { panic!("a list") };
    assert_eq!(value(&fields[0], "Index Errors"), errors);
    assert_eq!(value(&fields[1], "Index Errors"), &no_failures());
}

proptest! {
    #[test]
    fn every_declaration_is_described(made in any_definition()) {
        let reply = no_figures().describe(&made);
        let Reply::List(attributes) = value(&reply, "attributes") else { panic!("a list") };
        prop_assert_eq!(attributes.len(), made.fields.len());
    }
}
