//! Random query trees. Terms are cut out of the rows' own values, so that they match often.

use super::draw::{PIECES, pick};
use super::twin::{Twin, tags, text};
use proptest::collection::vec;
use proptest::prelude::*;
use search::{FieldType, Query, Term, words};
use std::ops::Bound;

const BOUNDS: [f64; 9] = [-1e3, -1.0, -0.0, 0.0, 0.1, 1.5, 2.0, 1e3, f64::INFINITY];
const CENTERS: [(f64, f64); 10] = [
    (13.36, 38.11),
    (2.3522, 48.8566),
    (179.95, 0.4),
    (-179.9, 0.5),
    (0.0, 0.0),
    (100.0, 84.0),
    (-10.0, 60.0),
    (20.0, -80.0),
    (180.0, 10.0),
    (4.0, 85.0),
];
const RADII_M: [f64; 9] = [0.0, 1.0, 120.0, 20e3, 200e3, 1_000e3, 4_000e3, 9_000e3, 30_000e3];

/// A tree whose leaves are read by the definition and rows at hand.
#[derive(Clone, Debug)]
pub(super) enum QueryDraw {
    All,
    Nothing,
    Every(Vec<QueryDraw>),
    Any(Vec<QueryDraw>),
    Not(Box<QueryDraw>),
    Optional(Box<QueryDraw>),
    Leaf(LeafDraw),
}

#[derive(Clone, Debug)]
pub(super) struct LeafDraw {
    field: u8,
    row: u8,
    form: u8,
    numbers: [u8; 4],
}

pub(super) fn query() -> impl Strategy<Value = QueryDraw> {
    let leaf = prop_oneof![
        1 => Just(QueryDraw::All),
        1 => Just(QueryDraw::Nothing),
        14 => any::<(u8, u8, u8, [u8; 4])>()
            .prop_map(|(field, row, form, numbers)| QueryDraw::Leaf(LeafDraw { field, row, form, numbers })),
    ];
    leaf.prop_recursive(3, 16, 4, |part| {
        prop_oneof![
            3 => vec(part.clone(), 2..5).prop_map(QueryDraw::Every),
            3 => vec(part.clone(), 2..5).prop_map(QueryDraw::Any),
            2 => part.clone().prop_map(|part| QueryDraw::Not(part.into())),
            1 => part.prop_map(|part| QueryDraw::Optional(part.into())),
        ]
    })
}

impl QueryDraw {
    pub(super) fn query(&self, twin: &Twin) -> Query {
        let all = |parts: &[QueryDraw]| parts.iter().map(|part| part.query(twin)).collect();
        match self {
            Self::All => Query::All,
            Self::Nothing => Query::Nothing,
            Self::Every(parts) => Query::Every(all(parts)),
            Self::Any(parts) => Query::Any(all(parts)),
            Self::Not(part) => Query::Not(part.query(twin).into()),
            Self::Optional(part) => Query::Optional(part.query(twin).into()),
            Self::Leaf(leaf) => leaf.query(twin),
        }
    }
}

impl LeafDraw {
    fn query(&self, twin: &Twin) -> Query {
        let fields = &twin.definition.fields;
        let field = usize::from(self.field) % fields.len();
        let [one, two, three, four] = self.numbers;
        if fields[field].indexes_missing && self.form > 230 {
            return Query::Missing { field };
        }
        match fields[field].field_type {
            FieldType::Text { .. } => {
                let is_asked = |at: &usize| {
                    matches!(fields[*at].field_type, FieldType::Text { .. }) && (*at == field || one > 128)
                };
                Query::Text { fields: (0..fields.len()).filter(is_asked).collect(), term: self.text_term(twin, field) }
            }
            FieldType::Tag { is_case_sensitive, .. } => {
                let value = self.value(twin, field);
                let tags = tags(&fields[field], &value);
                let tag = tags.get(usize::from(two) % tags.len().max(1)).cloned().unwrap_or_else(|| {
                    let piece = String::from_utf8_lossy(pick(&PIECES, three)).into_owned();
                    if is_case_sensitive { piece } else { piece.to_lowercase() }
                });
                Query::Tag { field, term: self.term(&tag, &tag) }
            }
            FieldType::Numeric => Query::Number { field, from: bound(one, two), to: bound(three, four) },
            FieldType::Geo => {
                let (longitude, latitude) = pick(&CENTERS, one);
                Query::Circle { field, longitude, latitude, radius_m: pick(&RADII_M, two) }
            }
        }
    }

    fn text_term(&self, twin: &Twin, field: usize) -> Term {
        let text = text(&self.value(twin, field));
        let words: Vec<_> = words(&text).collect();
        let word = words.get(usize::from(self.numbers[1]) % words.len().max(1)).map_or("", |word| word);
        self.term(word, &text)
    }

    /// Returns the value of some row, or that of no row.
    fn value(&self, twin: &Twin, field: usize) -> Vec<u8> {
        let row = twin.rows.values().nth(usize::from(self.row) % twin.rows.len().max(1));
        let value = row.and_then(|row| Twin::value(row, field, 0));
        value.unwrap_or(pick(&PIECES, self.row)).to_vec()
    }

    /// Returns a term that a word is like, or nearly so.
    fn term(&self, word: &str, text: &str) -> Term {
        let [_, _, from, to] = self.numbers;
        let part = |of: &str| part(of, from, to);
        match self.form % 11 {
            0..3 => Term::Exact { word: word.into(), is_verbatim: self.form >= 128 },
            3 => Term::Prefix(part(word).into()),
            4 => Term::Prefix(word.chars().take(usize::from(from) % 4).collect::<String>().into()),
            5 => Term::Suffix(word.chars().skip(usize::from(from) % 5).collect::<String>().into()),
            6 | 7 => Term::Contains(part(text).into()),
            8 | 9 => Term::Wildcard(self.wildcard(word).into()),
            _ => {
                let mut characters: Vec<char> = word.chars().collect();
                if !characters.is_empty() {
                    let at = usize::from(from) % characters.len();
                    match to % 4 {
                        0 => drop(characters.remove(at)),
                        1 => characters[at] = 'z',
                        2 => characters.insert(at, '明'),
                        _ => {}
                    }
                }
                Term::Fuzzy { word: characters.iter().collect::<String>().into(), distance_max: 1 + to / 4 % 3 }
            }
        }
    }

    fn wildcard(&self, word: &str) -> String {
        let bits = u16::from_be_bytes([self.numbers[2], self.numbers[3]]);
        let piece = |(at, character): (usize, char)| match (bits.rotate_left(2 * at as u32) % 8, character) {
            (0, _) => "?".to_owned(),
            (1 | 2, _) => "*".to_owned(),
            (3, _) => String::new(),
            (_, '*' | '?' | '\\') => format!("\\{character}"),
            _ => character.to_string(),
        };
        let pattern: String = word.chars().enumerate().map(piece).collect();
        if bits.is_multiple_of(3) { format!("*{pattern}*") } else { pattern }
    }
}

/// Returns a part of a text, by characters.
fn part(text: &str, from: u8, to: u8) -> String {
    let count = text.chars().count();
    let from = usize::from(from) % count.max(1);
    let len = usize::from(to) % 6;
    text.chars().skip(from).take(len).collect()
}

fn bound(form: u8, at: u8) -> Bound<f64> {
    match form % 5 {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(pick(&BOUNDS, at)),
        _ => Bound::Excluded(pick(&BOUNDS, at)),
    }
}
