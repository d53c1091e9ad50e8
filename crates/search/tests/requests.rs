//! Options of commands beside their query.

use crate::definitions::{any_word, definition, words};
use proptest::collection::vec;
use proptest::prelude::*;
use search::{
    CircleFilter, CursorRequest, DeleteByRequest, Language, NumberFilter, Query, RequestError, ReturnedField,
    SearchRequest, SortField, deletes_hashes,
};
use std::ops::Bound;

fn request(text: &str) -> SearchRequest {
    SearchRequest::parse(&words(text)).expect("a request")
}

fn error(text: &str) -> String {
    SearchRequest::parse(&words(text)).expect_err("no request").to_string()
}

fn boxed(text: &str) -> Box<[u8]> {
    text.as_bytes().into()
}

#[test]
fn a_plain_search_returns_ten_rows_in_dialect_2() {
    let made = request("");
    assert_eq!(made, SearchRequest::default());
    assert_eq!((made.offset, made.count, made.settings.dialect, made.is_counted), (0, 10, 2, true));
}

#[test]
fn flags_are_read_in_any_case() {
    let made = request("nocontent VERBATIM NoStopWords WITHSORTKEYS WITHOUTCOUNT FORMAT STRING");
    assert!(made.has_no_content && made.is_verbatim && made.keeps_stop_words && made.has_sort_keys);
    assert!(!made.is_counted && request("WITHOUTCOUNT WITHCOUNT").is_counted);
}

#[test]
fn filters_add_up() {
    let made = request("FILTER price (5 +inf GEOFILTER loc 13.4 52.5 2 KM FILTER year -inf 1999");
    let filter = |field, from, to| NumberFilter { field: boxed(field), from, to };
    assert_eq!(
        made.number_filters,
        [
            filter("price", Bound::Excluded(5.0), Bound::Included(f64::INFINITY)),
            filter("year", Bound::Included(f64::NEG_INFINITY), Bound::Included(1999.0)),
        ]
    );
    let circle = CircleFilter { field: boxed("loc"), longitude: 13.4, latitude: 52.5, radius_m: 2000.0 };
    assert_eq!(made.circle_filters, [circle]);
}

#[test]
fn filters_restrict_the_query() {
    let index = definition("SCHEMA t TEXT n NUMERIC p AS g GEO");
    let restricted = |text: &str, query| request(text).restricted(query, &index);
    let number = |from, to| Query::Number { field: 1, from, to };
    let circle = Query::Circle { field: 2, longitude: 13.4, latitude: 52.5, radius_m: 2000.0 };
    assert_eq!(restricted("", Query::All), Ok(Query::All));
    assert_eq!(restricted("FILTER n 1 +inf", Query::All), Ok(number(Bound::Included(1.0), Bound::Unbounded)));
    assert_eq!(
        restricted("FILTER n (1 5 GEOFILTER g 13.4 52.5 2 km", Query::Missing { field: 0 }),
        Ok(Query::Every(vec![Query::Missing { field: 0 }, number(Bound::Excluded(1.0), Bound::Included(5.0)), circle]))
    );
}

/// RediSearch's `applyGlobalFilters`.
#[test]
fn filters_of_other_fields_are_refused_in_published_words() {
    let index = definition("SCHEMA t TEXT n NUMERIC g GEO");
    for (text, expected) in [
        ("FILTER x 1 2", "Unknown Field 'x'"),
        ("FILTER t 1 2", "Field is not a numeric field, field: t"),
        ("GEOFILTER x 1 2 3 km", "Unknown Field, field: x"),
        ("GEOFILTER n 1 2 3 km", "Field is not a geo field, field: n"),
    ] {
        assert_eq!(request(text).restricted(Query::All, &index).unwrap_err().to_string(), expected);
    }
    request(&"FILTER n 1 2 ".repeat(1000));
    assert_eq!(error(&"FILTER n 1 2 ".repeat(1001)), "Request exceeds maximum of 1000 filters");
}

#[test]
fn keys_and_fields_are_limited_to_lists() {
    let made = request("INKEYS 2 a b INFIELDS 1 title");
    assert_eq!(made.query_options().in_fields, Some(&[boxed("title")][..]));
    assert_eq!(made.keys, Some(vec![boxed("a"), boxed("b")]));
    assert_eq!(made.fields, Some(vec![boxed("title")]));
    assert_eq!(request("INKEYS 0").keys, Some(Vec::new()));
    assert_eq!(request("INFIELDS 0").fields, None);
}

#[test]
fn the_count_of_return_includes_names() {
    let made = request("RETURN 4 a as b c NOCONTENT");
    let field = |identifier, name| ReturnedField { identifier: boxed(identifier), name: boxed(name) };
    assert_eq!(made.returned, Some(vec![field("a", "b"), field("c", "c")]));
}

#[test]
fn return_of_nothing_is_no_content() {
    assert!(request("RETURN 0").has_no_content);
}

#[test]
fn a_sort_goes_up_unless_it_says_desc() {
    for (text, is_descending) in [("price", false), ("@price ASC", false), ("price desc WITHCOUNT", true)] {
        let made = request(&format!("SORTBY {text}"));
        assert_eq!(made.sort, Some(SortField { field: boxed("price"), is_descending }), "{text}");
    }
}

#[test]
fn the_rest_of_the_options_are_read() {
    let made = request("LIMIT 20 5 TIMEOUT 100 PARAMS 4 lon 1 lat 2 DIALECT 3 LANGUAGE Chinese");
    assert_eq!((made.offset, made.count, made.language), (20, 5, Some(Language::Chinese)));
    assert_eq!((made.settings.timeout_ms, made.settings.dialect), (Some(100), 3));
    assert_eq!(made.settings.parameters.get(&b"lat"[..]).map(|value| &**value), Some(&b"2"[..]));
    let made = request("LIMIT 0 0");
    assert_eq!((made.offset, made.count), (0, 0));
    assert_eq!(request("LIMIT 1000000 1000000").count, 1_000_000);
}

#[test]
fn bad_options_are_refused_in_published_words() {
    for (text, expected) in [
        ("LANGUAGE", "Bad arguments for LANGUAGE: Expected an argument, but none provided"),
        ("LANGUAGE nosuch", "No such language"),
        ("RETURN", "Bad arguments for RETURN: Expected an argument, but none provided"),
        ("RETURN -1", "Bad arguments for RETURN: Value is outside acceptable bounds"),
        ("RETURN abc", "Bad arguments for RETURN: Could not convert argument to expected type"),
        ("RETURN 1", "Bad arguments for RETURN: Expected an argument, but none provided"),
        ("RETURN 2 a AS b", "RETURN path AS name - must be accompanied with NAME"),
        ("RETURN 3 a AS AS", "Alias for RETURN cannot be `AS`"),
        ("INKEYS 2 p80:1", "Bad arguments for INKEYS: Expected an argument, but none provided"),
        ("INKEYS abc", "Bad arguments for INKEYS: Could not convert argument to expected type"),
        ("INFIELDS", "Bad arguments for INFIELDS: Expected an argument, but none provided"),
        ("PARAMS", "Bad arguments for PARAMS: Expected an argument, but none provided"),
        ("PARAMS -1", "Bad arguments for PARAMS: Value is outside acceptable bounds"),
        ("PARAMS 0", "Parameters must be specified in PARAM VALUE pairs"),
        ("PARAMS 1 foo", "Parameters must be specified in PARAM VALUE pairs"),
        ("PARAMS 2 a b PARAMS 2 c d", "Multiple PARAMS are not allowed. Parameters can be defined only once"),
        ("PARAMS 4 a b a c", "Duplicate parameter `a`"),
        ("DIALECT", "Need an argument for DIALECT"),
        ("DIALECT 0", "DIALECT requires a non negative integer >=1 and <= 4"),
        ("DIALECT 5", "DIALECT requires a non negative integer >=1 and <= 4"),
        ("TIMEOUT", "Need argument for TIMEOUT"),
        ("TIMEOUT abc", "TIMEOUT requires a non negative integer"),
        ("TIMEOUT -1", "TIMEOUT requires a non negative integer"),
        ("SORTBY", "Bad SORTBY arguments"),
        ("SORTBY t1 SORTBY t3", "Multiple SORTBY steps are not allowed"),
        ("LIMIT 1", "LIMIT requires two arguments"),
        ("LIMIT -1 10", "LIMIT needs two numeric arguments"),
        ("LIMIT foo 10", "LIMIT needs two numeric arguments"),
        ("LIMIT 5 0", "The `offset` of the LIMIT must be 0 when `num` is 0"),
        ("LIMIT 0 1000001", "LIMIT exceeds maximum of 1000000"),
        ("LIMIT 1000001 1", "OFFSET exceeds maximum of 1000000"),
        ("FORMAT", "Need an argument for FORMAT"),
        ("FORMAT XPAND", "FORMAT XPAND is not supported"),
        ("FORMAT EXPAND", "EXPAND format is only supported with JSON"),
        ("MSORTBY score", "Unknown argument `MSORTBY` at position 1 for <main>"),
        ("LIMIT 0 1 LOAD", "Unknown argument `LOAD` at position 4 for <main>"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn bad_filters_are_refused_in_published_words() {
    for (text, expected) in [
        ("FILTER n", "FILTER requires 3 arguments"),
        ("FILTER n a b", "Bad lower range: a"),
        ("FILTER n 1 x", "Bad upper range: x"),
        ("GEOFILTER loc 1 2 3", "GEOFILTER requires 5 arguments"),
        ("GEOFILTER loc a 2 3 km", "Bad arguments for <lon>: Could not convert argument to expected type"),
        ("GEOFILTER loc 1 b 3 km", "Bad arguments for <lat>: Could not convert argument to expected type"),
        ("GEOFILTER loc 1 2 c km", "Bad arguments for <radius>: Could not convert argument to expected type"),
        ("GEOFILTER loc 1 2 3 xx", "Unknown distance unit xx"),
        ("GEOFILTER loc 181 0 1 km", "Invalid GeoFilter lat/lon"),
        ("GEOFILTER loc 0 91 1 km", "Invalid GeoFilter lat/lon"),
        ("GEOFILTER loc 0 0 -1 km", "Invalid GeoFilter radius"),
        ("GEOFILTER loc 0 0 inf km", "Invalid GeoFilter radius"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn options_that_bobbin_lacks_are_refused_by_name() {
    for option in [
        "WITHSCORES",
        "WITHPAYLOADS",
        "SUMMARIZE",
        "HIGHLIGHT",
        "SLOP",
        "INORDER",
        "EXPANDER",
        "SCORER",
        "EXPLAINSCORE",
        "PAYLOAD",
    ] {
        assert_eq!(error(&option.to_lowercase()), format!("{option} is not supported yet"));
    }
}

#[test]
fn a_cursor_is_read_or_deleted() {
    let index = boxed("idx");
    let read = |text| CursorRequest::parse(&words(text));
    assert_eq!(read("read idx 7"), Ok(CursorRequest::Read { index: index.clone(), cursor: 7, count: None }));
    assert_eq!(
        read("READ idx 7 COUNT 100"),
        Ok(CursorRequest::Read { index: index.clone(), cursor: 7, count: Some(100) })
    );
    assert_eq!(
        read("READ idx 7 COUNT -1"),
        Ok(CursorRequest::Read { index: index.clone(), cursor: 7, count: Some(u64::MAX) })
    );
    assert_eq!(read("DEL idx 7"), Ok(CursorRequest::Delete { index, cursor: 7 }));
    for (text, expected) in [
        ("READ idx 7 COUNT xyz", "Bad value for COUNT: `xyz`"),
        ("READ idx x", "Bad cursor ID"),
        ("FOO idx 7", "Unknown subcommand"),
        ("READ idx", "ERR wrong number of arguments for 'FT.CURSOR' command"),
    ] {
        assert_eq!(read(text).expect_err("an error").to_string(), expected, "{text}");
    }
}

#[test]
fn only_dd_deletes_hashes() {
    assert_eq!(deletes_hashes(&[]), Ok(false));
    assert_eq!(deletes_hashes(&words("dd")), Ok(true));
    assert_eq!(deletes_hashes(&words("DE")), Err(RequestError::UnknownFlag));
    assert_eq!(RequestError::UnknownFlag.to_string(), "Unknown argument");
}

#[test]
fn a_deletion_by_query_takes_parameters_dialect_and_timeout() {
    let made = DeleteByRequest::parse(&words("PARAMS 2 a b TIMEOUT 0 DIALECT 2")).expect("a request");
    assert_eq!((made.settings.parameters.len(), made.settings.timeout_ms), (1, Some(0)));
    assert!(DeleteByRequest::parse(&words("LIMIT 0 1")).is_err());
}

#[test]
fn long_words_are_shown_in_part() {
    assert!(error(&"x".repeat(1 << 20)).len() < 400);
}

proptest! {
    #[test]
    fn any_words_are_a_request_or_refused(made in vec(any_word(), 0..20)) {
        let arguments: Vec<&[u8]> = made.iter().map(Vec::as_slice).collect();
        let _ = (SearchRequest::parse(&arguments), CursorRequest::parse(&arguments));
        let _ = (DeleteByRequest::parse(&arguments), deletes_hashes(&arguments));
    }
}
