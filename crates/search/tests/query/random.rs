//! Random bytes, and random trees printed as text and parsed again.

use super::*;
use proptest::prelude::*;
use std::fmt::Write;
use std::ops::Bound;

fn printed_text(fields: &[usize], term: &Term) -> String {
    let names: Vec<&str> = fields.iter().map(|field| ["title", "body"][*field]).collect();
    let term = match term {
        Term::Exact { word, is_verbatim: true } => format!("\"{word}\""),
        Term::Exact { word, is_verbatim: false } => word.to_string(),
        Term::Prefix(text) => format!("{text}*"),
        Term::Suffix(text) => format!("*{text}"),
        Term::Contains(text) => format!("*{text}*"),
        Term::Wildcard(pattern) => format!("w'{}'", pattern.replace('\'', "\\'")),
        Term::Fuzzy { word, distance_max } => {
            let percents = "%".repeat(usize::from(*distance_max));
            format!("{percents}{word}{percents}")
        }
    };
    format!("@{}:{term}", names.join("|"))
}

fn printed_tag(field: usize, term: &Term) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let tag = match term {
        Term::Exact { word, .. } => quoted(word),
        Term::Prefix(text) => format!("{}*", quoted(text)),
        Term::Suffix(text) => format!("*{}", quoted(text)),
        Term::Contains(text) => format!("*{}*", quoted(text)),
        Term::Wildcard(pattern) => format!("w'{}'", pattern.replace('\'', "\\'")),
        Term::Fuzzy { .. } => unreachable!("tags are not fuzzy"),
    };
    format!("@{}:{{{tag}}}", if field == TAGS { "tags" } else { "codes" })
}

fn printed_number(from: &Bound<f64>, to: &Bound<f64>) -> String {
    let end = |bound: &Bound<f64>, infinite: &str| match bound {
        Bound::Included(number) => number.to_string(),
        Bound::Excluded(number) => format!("({number}"),
        Bound::Unbounded => infinite.to_owned(),
    };
    format!("@price:[{} {}]", end(from, "-inf"), end(to, "+inf"))
}

/// Returns a text that parses to a query.
fn printed(query: &Query) -> String {
    let joined = |parts: &[Query], between: &str| {
        let mut text = String::new();
        for (index, part) in parts.iter().enumerate() {
            let _ = write!(text, "{}{}", if index > 0 { between } else { "" }, printed(part));
        }
        format!("({text})")
    };
    match query {
        Query::All => "*".to_owned(),
        Query::Nothing => "$nothing*".to_owned(),
        Query::Every(parts) => joined(parts, " "),
        Query::Any(parts) => joined(parts, "|"),
        Query::Not(part) => format!("-{}", printed(part)),
        Query::Optional(part) => format!("~{}", printed(part)),
        Query::Text { fields, term } => printed_text(fields, term),
        Query::Tag { field, term } => printed_tag(*field, term),
        Query::Number { from, to, .. } => printed_number(from, to),
        Query::Circle { longitude, latitude, radius_m, .. } => {
            format!("@place:[{longitude} {latitude} {radius_m} m]")
        }
        Query::Missing { .. } => "ismissing(@codes)".to_owned(),
    }
}

/// Returns a tree as the parser gives it: flat, and words of negations verbatim.
fn normal(query: Query, is_negated: bool) -> Query {
    match query {
        Query::Every(parts) => {
            let parts = parts.into_iter().map(|part| normal(part, is_negated));
            Query::Every(
                parts.flat_map(|part| if let Query::Every(inner) = part { inner } else { vec![part] }).collect(),
            )
        }
        Query::Any(parts) => {
            let parts = parts.into_iter().map(|part| normal(part, is_negated));
            Query::Any(parts.flat_map(|part| if let Query::Any(inner) = part { inner } else { vec![part] }).collect())
        }
        Query::Not(part) => match normal(*part, true) {
            Query::Not(inner) => *inner,
            part => not(part),
        },
        Query::Optional(part) => match normal(*part, is_negated) {
            part @ Query::Optional(_) => part,
            part => optional(part),
        },
        Query::Text { fields, term: Term::Exact { word, is_verbatim } } => {
            Query::Text { fields, term: Term::Exact { word, is_verbatim: is_verbatim || is_negated } }
        }
        leaf => leaf,
    }
}

fn leaves() -> impl Strategy<Value = Query> {
    // No stop word begins with x, and no such text is a number.
    let word = "x[a-z0-9_é]{0,6}".prop_map(String::into_boxed_str);
    let pattern = "x[a-z?* ']{0,6}".prop_map(String::into_boxed_str);
    let label = "[ -~é]{1,8}".prop_map(String::into_boxed_str);
    let fields = prop::sample::select(vec![vec![TITLE], vec![BODY], vec![TITLE, BODY]]);
    let texts =
        (word, pattern.clone(), any::<bool>(), 0..6, 1..=3u8).prop_map(|(word, pattern, flag, kind, distance_max)| {
            match kind {
                0 => Term::Prefix(word),
                1 => Term::Suffix(word),
                2 => Term::Contains(word),
                3 => Term::Wildcard(pattern),
                4 => Term::Fuzzy { word, distance_max },
                _ => Term::Exact { word, is_verbatim: flag },
            }
        });
    let tags = (label, pattern, 0..5).prop_map(|(label, pattern, kind)| match kind {
        0 => Term::Prefix(label),
        1 => Term::Suffix(label),
        2 => Term::Contains(label),
        3 => Term::Wildcard(pattern),
        _ => Term::Exact { word: label, is_verbatim: true },
    });
    let end = || {
        (-1e9..1e9, any::<bool>()).prop_map(|(number, flag)| match flag {
            true => Bound::Included(number),
            false => Bound::Excluded(number),
        })
    };
    prop_oneof![
        (fields, texts).prop_map(|(fields, term)| Query::Text { fields, term }),
        tags.prop_map(|term| Query::Tag { field: CODES, term }),
        (end(), prop_oneof![end(), Just(Bound::Unbounded)]).prop_map(|(from, to)| Query::Number {
            field: PRICE,
            from,
            to
        }),
        (-180.0..180.0, -90.0..90.0, 0.1..1e6).prop_map(|(longitude, latitude, radius_m)| Query::Circle {
            field: PLACE,
            longitude,
            latitude,
            radius_m
        }),
        Just(Query::Missing { field: CODES }),
        Just(Query::Nothing),
    ]
}

fn trees() -> impl Strategy<Value = Query> {
    leaves().prop_recursive(6, 64, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..5).prop_map(Query::Every),
            prop::collection::vec(inner.clone(), 2..5).prop_map(Query::Any),
            inner.clone().prop_map(not),
            inner.prop_map(optional),
        ]
    })
}

/// Returns texts made of pieces that mean something.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "@title",
        "@price",
        "@tags",
        "@place",
        "@codes",
        ":",
        "|",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "-",
        "~",
        "*",
        "%",
        "w'",
        "'",
        "\"",
        "\\",
        "$p",
        "$",
        "=>",
        "$weight",
        ";",
        "1",
        "inf",
        "km",
        "==",
        ">",
        "foo",
        "the",
        " ",
        ",",
        "é",
        "小",
        "ismissing(",
        "\0",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

const PARAMETERS: &[(&[u8], &[u8])] = &[(b"p", b"5"), (b"nothing", b"")];

proptest! {
    #[test]
    fn any_bytes_are_a_query_or_an_error(text: Vec<u8>) {
        if let Ok(query) = parse_query(&text, &definition(), &settings_with(PARAMETERS).query_options()) {
            query.explain(&definition());
        }
    }

    #[test]
    fn any_pieces_are_a_query_or_an_error(text in pieces()) {
        if let Ok(query) = parse_query(text.as_bytes(), &definition(), &settings_with(PARAMETERS).query_options()) {
            query.explain(&definition());
        }
    }

    #[test]
    fn printed_tree_parses_to_itself(tree in trees()) {
        let tree = normal(tree, false);
        let text = printed(&tree);
        let parsed = parse_query(text.as_bytes(), &definition(), &settings_with(PARAMETERS).query_options());
        prop_assert_eq!(parsed, Ok(tree), "{}", text);
    }
}
