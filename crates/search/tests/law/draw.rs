//! Random definitions and rows. Draws are plain numbers, which are read by the field at hand, so that they shrink.

use proptest::collection::vec;
use proptest::prelude::*;
use search::{Definition, Field, FieldType, Language, Row, RowField};
use std::sync::Arc;

/// Parts of values: words of one stem, cases, umlauts, ideographs, stop words, bytes that are not UTF-8.
pub(super) const PIECES: [&[u8]; 32] = [
    b"run",
    b"running",
    b"Runs",
    b"shoe",
    b"SHOES",
    b"the",
    b"not",
    b"a",
    b"x",
    b"ab",
    b"Ba",
    b"banana",
    b"Bandana",
    b"can't",
    b"1.5",
    b"*",
    b"a?b",
    b"back\\slash",
    "Straße".as_bytes(),
    "STRASSE".as_bytes(),
    "über".as_bytes(),
    "ÜBER".as_bytes(),
    "häuser".as_bytes(),
    "haus".as_bytes(),
    "明".as_bytes(),
    "明日".as_bytes(),
    "日本語".as_bytes(),
    "ΟΔΟΣ".as_bytes(),
    "İx".as_bytes(),
    b"\xff",
    b"q\xc3",
    b"",
];

const GLUES: [&[u8]; 10] = [b" ", b" ", b",", b", ", b";", b"", b"-", b"\t", b"\\-", b"\\ "];
const NUMBERS: [&str; 14] =
    ["0", "-0", "1", "-1", "1.5", "2", "2", "3", "1e3", "-1e3", "inf", "-inf", "0.1", "123456789"];
const NO_NUMBERS: [&str; 5] = ["", "x", "1x", "nan", "1,2"];
const PLACES: [&str; 16] = [
    "13.361389,38.115556",
    "15.087269,37.502669",
    "2.3522,48.8566",
    "2.3523,48.8567",
    "-0.1276,51.5072",
    "179.9,0.5",
    "-179.9,0.5",
    "0,0",
    "0.001,0",
    "-73.9,40.7",
    "139.7,35.7",
    "10,84.9",
    "-170,84.9",
    "20,-84.9",
    "180,10",
    "5,85.05112878",
];
const NO_PLACES: [&str; 5] = ["", "1", "x,y", "181,0", "0,86"];
const DEADLINES: [u64; 8] = [0, 1, 99, 100, 101, 150, 1_000, u64::MAX];

/// Times that queries are asked at.
pub(super) const TIMES: [u64; 6] = [0, 99, 100, 101, 5_000, u64::MAX];

const LANGUAGES: [Language; 4] = [Language::English, Language::German, Language::Chinese, Language::Turkish];

pub(super) fn pick<T: Copy>(from: &[T], at: impl Into<u64>) -> T {
    from[(at.into() % from.len() as u64) as usize]
}

pub(super) fn language(at: u8) -> Language {
    pick(&LANGUAGES, at)
}

/// A value, before it is known of which type.
#[derive(Clone, Debug)]
pub(super) struct ValueDraw {
    pieces: Vec<(u8, u8)>,
    /// From 240 on of a wrong type.
    soundness: u8,
    /// From 160 on with a deadline.
    deadline: u8,
}

#[derive(Clone, Debug)]
pub(super) struct RowDraw {
    values: Vec<Option<ValueDraw>>,
    deadline: u8,
    language: u8,
}

/// A change of one of a few keys.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) key: u8,
    pub(super) row: Option<RowDraw>,
}

pub(super) fn definition() -> impl Strategy<Value = Arc<Definition>> {
    (vec(field(), 1..6), any::<u8>(), prop::option::of(Just(vec!["run".into(), "明".into()]))).prop_map(
        |(fields, of_language, stop_words)| Arc::new(definition_of(fields, language(of_language), stop_words)),
    )
}

pub(super) fn definition_of(fields: Vec<Field>, language: Language, stop_words: Option<Vec<Box<str>>>) -> Definition {
    Definition {
        name: b"index"[..].into(),
        prefixes: vec![b""[..].into()],
        filter: None,
        language,
        language_field: None,
        score: 1.0,
        score_field: None,
        stop_words,
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

prop_compose! {
    fn field()(field_type in 0u8..8, flags: u16) -> Field {
        let is = |bit: u16| flags & 1 << bit != 0;
        let is_indexed = !(is(0) && is(1) && is(2));
        field_of(FieldDraw {
            field_type: match field_type {
                0..3 => FieldType::Text { weight: 1.0, has_no_stems: is(3), has_suffix_trie: false },
                3..6 => FieldType::Tag {
                    separator: pick(b",,; ", flags >> 12),
                    is_case_sensitive: is(4),
                    has_suffix_trie: false,
                },
                6 => FieldType::Numeric,
                _ => FieldType::Geo,
            },
            is_indexed,
            is_sortable: is(5) || !is_indexed,
            is_unnormalized: is(6),
            indexes_missing: is(7),
            indexes_empty: is(8),
        })
    }
}

/// The options of a field that tests vary.
pub(super) struct FieldDraw {
    pub(super) field_type: FieldType,
    pub(super) is_indexed: bool,
    pub(super) is_sortable: bool,
    pub(super) is_unnormalized: bool,
    pub(super) indexes_missing: bool,
    pub(super) indexes_empty: bool,
}

pub(super) fn field_of(draw: FieldDraw) -> Field {
    Field {
        identifier: b"f"[..].into(),
        attribute: b"f"[..].into(),
        field_type: draw.field_type,
        is_sortable: draw.is_sortable,
        is_unnormalized: draw.is_unnormalized,
        is_indexed: draw.is_indexed,
        indexes_missing: draw.indexes_missing,
        indexes_empty: draw.indexes_empty,
    }
}

pub(super) fn changes(count: usize) -> impl Strategy<Value = Vec<Change>> {
    let row = prop::option::weighted(0.8, row());
    vec((0u8..24, row).prop_map(|(key, row)| Change { key, row }), 1..count)
}

prop_compose! {
    fn row()(values in vec(prop::option::weighted(0.85, value()), 0..7), deadline: u8, language: u8) -> RowDraw {
        RowDraw { values, deadline, language }
    }
}

prop_compose! {
    fn value()(pieces in vec(any::<(u8, u8)>(), 0..5), soundness: u8, deadline: u8) -> ValueDraw {
        ValueDraw { pieces, soundness, deadline }
    }
}

impl RowDraw {
    /// Reads it as a row of these fields; it may have fewer values.
    pub(super) fn row(&self, definition: &Definition) -> Row {
        let values = definition.fields.iter().zip(&self.values);
        let fields = values.map(|(field, value)| {
            value.as_ref().map(|value| RowField {
                value: value.bytes(&field.field_type).into(),
                expires_at_ms: deadline(value.deadline, 160),
            })
        });
        Row {
            expires_at_ms: deadline(self.deadline, 200),
            language: (self.language > 128).then(|| language(self.language)),
            fields: fields.collect(),
        }
    }
}

impl ValueDraw {
    fn bytes(&self, field_type: &FieldType) -> Vec<u8> {
        let (piece, glue) = self.pieces.first().copied().unwrap_or_default();
        let is_sound = self.soundness < 240;
        match field_type {
            FieldType::Numeric => pick(if is_sound { &NUMBERS } else { &NO_NUMBERS[..] }, piece ^ glue).into(),
            FieldType::Geo => pick(if is_sound { &PLACES } else { &NO_PLACES[..] }, piece ^ glue).into(),
            _ => self
                .pieces
                .iter()
                .flat_map(|(piece, glue)| [pick(&PIECES, *piece), pick(&GLUES, *glue)].concat())
                .collect(),
        }
    }
}

fn deadline(draw: u8, from: u8) -> Option<u64> {
    draw.checked_sub(from).map(|at| pick(&DEADLINES, at))
}
