//! Every error, and the limits.

use super::*;
use search::{QUERY_DEPTH_MAX, QUERY_PARTS_MAX, QUERY_WILDCARD_BYTES_MAX};

fn error(text: &str) -> String {
    match parse(text) {
        Ok(query) => panic!("{text}: {query:?}"),
        Err(error) => error.to_string(),
    }
}

fn error_with(text: &str, parameters: &[(&[u8], &[u8])]) -> String {
    parse_query(text.as_bytes(), &definition(), &settings_with(parameters).query_options()).unwrap_err().to_string()
}

#[test]
fn syntax_errors_name_place_and_last_word() {
    let definition = definition_of(vec![field("n", FieldType::Numeric)]);
    let error_n = |text: &str| parse_query(text.as_bytes(), &definition, &options()).unwrap_err().to_string();
    assert_eq!(error_n("@n:[(3456]"), "Syntax error at offset 9 near 3456");
    assert_eq!(error_n("@n:[((3456]"), "Syntax error at offset 5 near n");
    assert_eq!(error_n("@n:[((10 20]"), "Syntax error at offset 5 near n");
    assert_eq!(error("(foo"), "Syntax error at offset 4 near foo");
    assert_eq!(error("@price:[1 foo]"), "Syntax error at offset 10 near foo");
    assert_eq!(error(")"), "Syntax error at offset 0 near ");
}

#[test]
fn long_words_in_errors_are_cut() {
    let text = format!("{}:", "x".repeat(1000));
    assert_eq!(error(&text), format!("Syntax error at offset 1000 near {}", "x".repeat(64)));
}

#[test]
fn unknown_fields_are_refused() {
    assert_eq!(error("@heading:Redis"), "Unknown field at offset 0 near heading");
    assert_eq!(error("foo @title|heading:Redis"), "Unknown field at offset 11 near heading");
    assert_eq!(error("foo @heading:[1 2]"), "Unknown field at offset 4 near heading");
    assert_eq!(error("@heading:{a}"), "Unknown field at offset 0 near heading");
    assert_eq!(error("@heading>5"), "Unknown field at offset 0 near heading");
    assert_eq!(error("ismissing(@heading)"), "Unknown field at offset 10 near heading");
    assert_eq!(error("@Title:Redis"), "Unknown field at offset 0 near Title");
}

#[test]
fn fields_of_another_type_are_refused() {
    assert_eq!(error("foo @tags:bar"), "Expected a TEXT field at offset 4 near tags");
    assert_eq!(error("@price|title:bar"), "Expected a TEXT field at offset 0 near price");
    assert_eq!(error("@title:{bar}"), "Expected a TAG field at offset 0 near title");
    assert_eq!(error("@title:[1 2]"), "Expected a NUMERIC field at offset 0 near title");
    assert_eq!(error("@place==1"), "Expected a NUMERIC field at offset 0 near place");
    assert_eq!(error("@price:[1 2 3 km]"), "Expected a GEO field at offset 0 near price");
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let parameters: [(&[u8], &[u8]); 3] = [(b"rapido", b"bad"), (b"units", b"badm"), (b"bytes", b"\xff")];
    let error = |text| error_with(text, &parameters);
    assert_eq!(error("@place:[29.69465 34.95126 $rapida $units]"), "No such parameter `rapida`");
    assert_eq!(error("$rapida"), "No such parameter `rapida`");
    assert_eq!(error("@tags:{$rapida}"), "No such parameter `rapida`");
    assert_eq!(error("w'$rapida'"), "No such parameter `rapida`");
    let message = "Invalid numeric value (bad) for parameter `rapido`";
    assert_eq!(error("@place:[29.69465 34.95126 $rapido m]"), message);
    assert_eq!(error("@price==$rapido"), message);
    assert_eq!(error("@place:[29.69465 34.95126 5 $units]"), "Invalid GeoFilter unit");
    assert_eq!(error("$bytes"), "Query is not valid UTF-8");
}

#[test]
fn circles_that_are_none_are_refused() {
    assert_eq!(error("@place:[29 34 200 100]"), "Invalid GeoFilter unit");
    assert_eq!(error("@place:[1.23 4.56 10 \"\"]"), "Invalid GeoFilter unit");
    assert_eq!(error("@place:[190.65 -100.65 30 ft]"), "Invalid GeoFilter lat/lon");
    assert_eq!(error("@place:[50 50 0 m]"), "Invalid GeoFilter radius");
    assert_eq!(error("@place:[50 50 -1 ft]"), "Invalid GeoFilter radius");
    assert_eq!(error("@place:[50 50 inf ft]"), "Invalid GeoFilter radius");
    assert_eq!(error("@place:[(50 50 1 ft]"), "Syntax error at offset 15 near 1");
}

#[test]
fn fields_without_missing_or_empty_values_are_refused() {
    assert_eq!(error("ismissing(@title)"), "'ismissing' requires field 'title' to be defined with 'INDEXMISSING'");
    let message = "Use `INDEXEMPTY` in field creation in order to index and query for empty strings";
    assert_eq!(error("@title:\"\""), message);
    assert_eq!(error("@tags:{\"\"}"), message);
}

#[test]
fn attributes_that_do_not_fit_are_refused() {
    assert_eq!(error("foo => {$great: 0.5}"), "Invalid attribute great");
    assert_eq!(error("foo => {$weight: -0.5}"), "Invalid value (-0.5) for `weight`");
    assert_eq!(error("@tags:{abc}=>{$weight:\"\"}"), "Invalid value () for `weight`");
    assert_eq!(error_with("foo=>{$weight:$p}", &[(b"p", b"")]), "Invalid value () for `weight`");
    assert_eq!(error("@tags:{abc}=>{$inorder:\"\"}"), "Invalid value () for `inorder`");
    assert_eq!(error("@tags:{abc}=>{$slop:\"\"}"), "Invalid value () for `slop`");
    assert_eq!(error("foo => {$phonetic: maybe}"), "Invalid value (maybe) for `phonetic`");
    assert_eq!(error("foo => {$phonetic: true}"), "field does not support phonetics");
}

#[test]
fn what_is_left_out_says_so() {
    assert_eq!(error("\"hello world\""), "phrases are not supported yet");
    assert_eq!(error("@title:\"hello-world\""), "phrases are not supported yet");
    assert_eq!(error("(foo bar) => {$slop: 1}"), "$slop and $inorder are not supported yet");
    assert_eq!(error("(foo bar) => {$inorder: true}"), "$slop and $inorder are not supported yet");
    assert_eq!(error("*=>[KNN 10 @vec $BLOB]"), "vector queries are not supported yet");
    assert_eq!(error("@v:[VECTOR_RANGE 0.5 $query_vec]"), "vector queries are not supported yet");
    assert_eq!(error("@g:[WITHIN $poly]"), "GEOSHAPE queries are not supported yet");
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let error = parse_query(b"foo \xff", &definition(), &options()).unwrap_err();
    assert_eq!(error.to_string(), "Query is not valid UTF-8");
}

#[test]
fn wildcard_patterns_stop_at_the_limit() {
    let pattern = |length: usize| format!("{}*", "?".repeat(length - 1));
    let (longest, longer) = (pattern(QUERY_WILDCARD_BYTES_MAX), pattern(QUERY_WILDCARD_BYTES_MAX + 1));
    for scope in ["", "@title:", "@tags:"] {
        let written = |pattern: &str| match scope {
            "@tags:" => format!("@tags:{{w'{pattern}'}}"),
            scope => format!("{scope}w'{pattern}'"),
        };
        query(&written(&longest));
        assert_eq!(error(&written(&longer)), "Wildcard pattern exceeds maximum of 1000 bytes");
        let message = error_with(&written("$p"), &[(b"p", longer.as_bytes())]);
        assert_eq!(message, "Wildcard pattern exceeds maximum of 1000 bytes");
    }
}

#[test]
fn nesting_stops_at_the_limit() {
    let nested = |depth: usize| format!("{}foo{}", "(".repeat(depth), ")".repeat(depth));
    query(&nested(84));
    query(&nested(QUERY_DEPTH_MAX - 1));
    for text in [nested(200), "-".repeat(100_000), "~(".repeat(100_000), nested(QUERY_DEPTH_MAX)] {
        assert_eq!(error(&text), "Parser stack overflow.");
    }
    let deep = format!("{}foo{}", "(bar|(foo ".repeat(60), "))".repeat(60));
    query(&deep);
}

#[test]
fn parts_stop_at_the_limit() {
    let tags = |count: usize| format!("@tags:{{{}}}", vec!["a"; count].join("|"));
    // The field and what stands for it are two parts.
    query(&tags(QUERY_PARTS_MAX - 2));
    let message = format!("Query has more than {QUERY_PARTS_MAX} parts");
    assert_eq!(error(&tags(QUERY_PARTS_MAX - 1)), message);
    assert_eq!(error(&"foo ".repeat(QUERY_PARTS_MAX)), message);
    assert_eq!(error(&"-(".repeat(60).repeat(2000)), "Parser stack overflow.");
    let parameter = "foo ".repeat(QUERY_PARTS_MAX);
    assert_eq!(error_with("$p", &[(b"p", parameter.as_bytes())]), message);
    assert_eq!(error(&format!("@{}:foo", vec!["title"; QUERY_PARTS_MAX].join("|"))), message);
    let long = "x".repeat(1_000_000);
    query_with("$p*", &[(b"p", long.as_bytes())]);
    assert_eq!(error_with(&"$p* ".repeat(100), &[(b"p", long.as_bytes())]), message);
}
