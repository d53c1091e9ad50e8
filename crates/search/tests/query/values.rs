//! Numbers, circles, missing and empty fields.

use super::*;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

fn number(from: Bound<f64>, to: Bound<f64>) -> Query {
    Query::Number { field: PRICE, from, to }
}

#[test]
fn brackets_are_ranges() {
    for (text, from, to) in [
        ("@price:[200 500]", Included(200.0), Included(500.0)),
        ("@price:[(18 +inf]", Excluded(18.0), Unbounded),
        ("@price:[-inf (10]", Unbounded, Excluded(10.0)),
        ("@price:[-inf  inf]", Unbounded, Unbounded),
        ("@price:[INF -INF]", Included(f64::INFINITY), Included(f64::NEG_INFINITY)),
        ("@price:[(inf (-inf]", Excluded(f64::INFINITY), Excluded(f64::NEG_INFINITY)),
        ("@price:[100 -200]", Included(100.0), Included(-200.0)),
        ("@price:[0.4 (500]", Included(0.4), Excluded(500.0)),
        ("@price:[.1e1 .1e+1]", Included(1.0), Included(1.0)),
        ("@price:[+1e0 +1]", Included(1.0), Included(1.0)),
        ("@price:[-.1 +.1]", Included(-0.1), Included(0.1)),
        ("@price:[-  .1 +  .1]", Included(-0.1), Included(0.1)),
        ("@price:[1.5e+2 1500e-1]", Included(150.0), Included(150.0)),
        ("@price:[270]", Included(270.0), Included(270.0)),
        ("@price: [ 1  2 ]", Included(1.0), Included(2.0)),
    ] {
        assert_eq!(query(text), number(from, to), "{text}");
    }
}

#[test]
fn operators_compare_numbers() {
    for (operator, expected) in [
        ("==", number(Included(3.25), Included(3.25))),
        ("!=", not(number(Included(3.25), Included(3.25)))),
        (">", number(Excluded(3.25), Unbounded)),
        (">=", number(Included(3.25), Unbounded)),
        ("<", number(Unbounded, Excluded(3.25))),
        ("<=", number(Unbounded, Included(3.25))),
    ] {
        for text in [format!("@price{operator}3.25"), format!("@price {operator} +3.25")] {
            assert_eq!(query(&text), expected, "{text}");
        }
        let parameters: [(&[u8], &[u8]); 2] = [(b"p", b"3.25"), (b"n", b"-3.25")];
        assert_eq!(query_with(&format!("@price{operator}$p"), &parameters), expected);
        assert_eq!(query_with(&format!("@price {operator} -$n"), &parameters), expected);
    }
    let expected = Query::Every(vec![number(Included(12.0), Unbounded), number(Unbounded, Excluded(14.0))]);
    assert_eq!(query("@price>=12 @price<14"), expected);
}

#[test]
fn malformed_comparisons_are_refused() {
    for operator in ["==", "!=", ">", ">=", "<", "<="] {
        for operand in ["(105", "+(105", "-(105", "(-105", "(inf", "-(inf", "w", "", "nan", "1x"] {
            let text = format!("@price{operator}{operand}");
            assert!(matches!(parse(&text), Err(QueryError::Syntax { .. })), "{text}");
        }
    }
    for rest in ["! =1", "> =1", "< =1", "= =1", "===1", "!!=1", "!>=1", ">>1", "<<1", "*-"] {
        let text = format!("@price{rest}");
        assert!(matches!(parse(&text), Err(QueryError::Syntax { .. })), "{text}");
    }
}

#[test]
fn parameters_stand_for_numbers() {
    let parameters: [(&[u8], &[u8]); 2] = [(b"min", b"102"), (b"max", b"+inf")];
    assert_eq!(query_with("@price:[$min $max]", &parameters), number(Included(102.0), Unbounded));
    assert_eq!(query_with("@price:[($min (204]", &parameters), number(Excluded(102.0), Excluded(204.0)));
    assert_eq!(query_with("@price:[$min]", &parameters), number(Included(102.0), Included(102.0)));
}

#[test]
fn negated_and_united_numbers_are_parts() {
    let expected = Query::Every(vec![word_in(&[TITLE], "foo"), not(number(Included(100.0), Included(100.0)))]);
    assert_eq!(query("@title:foo -@price:[100 100]"), expected);
    let expected = Query::Any(vec![number(Unbounded, Excluded(10.0)), number(Excluded(20.0), Unbounded)]);
    assert_eq!(query("@price:[-inf (10] | @price:[(20 +inf]"), expected);
}

#[test]
fn circles_are_in_metres() {
    for (unit, metres) in [("m", 1.0), ("km", 1000.0), ("ft", 0.3048), ("mi", 1609.34), ("KM", 1000.0)] {
        let circle = query(&format!("@place:[-122.41 37.77 5 {unit}]"));
        let Query::Circle { field, longitude, latitude, radius_m } = circle else { panic!("{circle:?}") };
        assert_eq!((field, longitude, latitude), (PLACE, -122.41, 37.77));
        assert!((radius_m - 5.0 * metres).abs() < 1e-9);
    }
    let parameters: [(&[u8], &[u8]); 4] =
        [(b"lon", b"29.69465"), (b"lat", b"34.95126"), (b"radius", b"10"), (b"units", b"km")];
    let expected = query("@place:[29.69465 34.95126 10 km]");
    for text in ["@place:[$lon $lat $radius km]", "@place:[29.69465 $lat 10 $units]"] {
        assert_eq!(query_with(text, &parameters), expected);
    }
}

#[test]
fn missing_fields_need_indexmissing() {
    assert_eq!(query("ismissing(@codes)"), Query::Missing { field: CODES });
    assert_eq!(query("-ismissing( @codes )"), not(Query::Missing { field: CODES }));
    assert_eq!(query("foo ISMISSING(@codes)"), Query::Every(vec![word("foo"), Query::Missing { field: CODES }]));
    assert_eq!(query("ismissing"), word("ismissing"));
}

#[test]
fn empty_texts_need_indexempty() {
    let empty = |fields: &[usize]| Query::Text {
        fields: fields.to_vec(),
        term: Term::Exact { word: "".into(), is_verbatim: true },
    };
    let definition = definition_of(vec![text("a1"), Field { indexes_empty: true, ..text("b1") }]);
    let parse = |text: &str| parse_query(text.as_bytes(), &definition, &options());
    for text in ["@b1:\"\"", "@b1:(\"\")", "@b1:''", "@a1|b1:\"\"", "\"\""] {
        assert_eq!(parse(text), Ok(empty(&[1])), "{text}");
    }
    assert_eq!(parse("@b1:(foo \"\")"), Ok(Query::Every(vec![word_in(&[1], "foo"), empty(&[1])])));
    assert_eq!(parse("@a1:\"\""), Err(QueryError::EmptyNotIndexed));
}
