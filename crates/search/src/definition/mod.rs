//! The declaration of FT.CREATE: which hashes an index takes, and which of their fields.
//!
//! - from the words of a command: `parse`
//! - to and from bytes of the store and the journal: `encoding`
//! - the expression that hashes must satisfy: `filter`

mod encoding;
mod error;
mod filter;
mod parse;

pub use encoding::NotDefinition;
pub use error::DefinitionError;
pub use filter::RowFilter;

/// The maximum number of fields.
pub const FIELDS_MAX: usize = 1024;
/// The maximum number of TEXT fields that are indexed, with MAXTEXTFIELDS or without.
pub const TEXT_FIELDS_MAX: usize = 128;

use crate::text::DEFAULT_STOP_WORDS;

/// The declaration of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Box<[u8]>,
    /// Beginnings of names of keys that belong to it; one empty prefix admits every key.
    pub prefixes: Vec<Box<[u8]>>,
    /// The FILTER that a hash must satisfy.
    pub filter: Option<RowFilter>,
    /// The language of texts whose hash names none.
    pub language: Language,
    /// The hash field that names the language of its texts.
    pub language_field: Option<Box<[u8]>>,
    /// The score of hashes that name none.
    pub score: f64,
    /// The hash field that holds the score.
    pub score_field: Option<Box<[u8]>>,
    /// Words that texts are indexed without: folded, ascending, each once. `None` for the default list.
    pub stop_words: Option<Vec<Box<str>>>,
    /// True with NOOFFSETS.
    pub has_no_offsets: bool,
    /// True with NOHL.
    pub has_no_highlights: bool,
    /// True with NOFIELDS.
    pub has_no_field_bits: bool,
    /// True with NOFREQS.
    pub has_no_frequencies: bool,
    /// True with MAXTEXTFIELDS.
    pub has_many_text_fields: bool,
    /// True with SKIPINITIALSCAN.
    pub skips_initial_scan: bool,
    /// Seconds without a query after which it is dropped.
    pub temporary_s: Option<u64>,
    /// Its fields, in the order declared.
    pub fields: Vec<Field>,
}

/// An indexed field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name in the hash.
    pub identifier: Box<[u8]>,
    /// Its name in queries: AS, or the identifier.
    pub attribute: Box<[u8]>,
    /// Its type.
    pub field_type: FieldType,
    /// True with SORTABLE.
    pub is_sortable: bool,
    /// True with UNF: sorted by the bytes as they stand, not folded.
    pub is_unnormalized: bool,
    /// False with NOINDEX.
    pub is_indexed: bool,
    /// True with INDEXMISSING: `ismissing(@field)` can be asked.
    pub indexes_missing: bool,
    /// True with INDEXEMPTY: empty values can be asked for.
    pub indexes_empty: bool,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldType {
    /// Words.
    Text {
        /// Its weight in scores.
        weight: f64,
        /// True with NOSTEM.
        has_no_stems: bool,
        /// True with WITHSUFFIXTRIE.
        has_suffix_trie: bool,
    },
    /// Values between separators.
    Tag {
        /// The separator.
        separator: u8,
        /// True with CASESENSITIVE.
        is_case_sensitive: bool,
        /// True with WITHSUFFIXTRIE.
        has_suffix_trie: bool,
    },
    /// A number.
    Numeric,
    /// Longitude and latitude, between them a comma.
    Geo,
}

/// A language of texts. Texts of all languages are segmented; words are stemmed too, except those of Chinese and Greek.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "names of languages")]
pub enum Language {
    Arabic,
    Chinese,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// Languages by the names that FT.CREATE takes.
const LANGUAGES: [(&str, Language); 19] = [
    ("arabic", Language::Arabic),
    ("chinese", Language::Chinese),
    ("danish", Language::Danish),
    ("dutch", Language::Dutch),
    ("english", Language::English),
    ("finnish", Language::Finnish),
    ("french", Language::French),
    ("german", Language::German),
    ("greek", Language::Greek),
    ("hungarian", Language::Hungarian),
    ("italian", Language::Italian),
    ("norwegian", Language::Norwegian),
    ("portuguese", Language::Portuguese),
    ("romanian", Language::Romanian),
    ("russian", Language::Russian),
    ("spanish", Language::Spanish),
    ("swedish", Language::Swedish),
    ("tamil", Language::Tamil),
    ("turkish", Language::Turkish),
];

impl Language {
    /// Parses its name, in any case.
    pub fn parse(name: &[u8]) -> Option<Self> {
        LANGUAGES.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name)).map(|(_, language)| *language)
    }

    /// Returns its number in stored forms.
    pub(crate) fn number(self) -> u8 {
        LANGUAGES.iter().position(|(_, known)| *known == self).expect("every language has a name") as u8
    }

    /// Returns the language with this number.
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        LANGUAGES.get(usize::from(number)).map(|(_, language)| *language)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        LANGUAGES.iter().find(|(_, known)| *known == self).expect("every language has a name").0
    }
}

impl Definition {
    /// Returns the position of the field with this name in queries. O(fields).
    pub fn field(&self, attribute: &[u8]) -> Option<usize> {
        self.fields.iter().position(|field| *field.attribute == *attribute)
    }

    /// Returns true if texts are indexed without this folded word. O(log stop words).
    pub fn is_stop_word(&self, word: &str) -> bool {
        match &self.stop_words {
            Some(words) => words.binary_search_by(|stop| (**stop).cmp(word)).is_ok(),
            None => DEFAULT_STOP_WORDS.binary_search(&word).is_ok(),
        }
    }

    /// Returns true if a key of this name may belong to it.
    pub fn admits(&self, key: &[u8]) -> bool {
        self.prefixes.iter().any(|prefix| key.starts_with(prefix))
    }

    /// Returns true if a change of this field of a hash may change its row, or whether it has one. O(fields).
    pub fn concerns(&self, field: &[u8]) -> bool {
        self.filter.is_some()
            || [&self.language_field, &self.score_field].into_iter().flatten().any(|name| **name == *field)
            || self.fields.iter().any(|declared| *declared.identifier == *field)
    }
}

impl FieldType {
    /// Returns true if the words of such a field are indexed by their stems too.
    pub(crate) fn has_stems(&self) -> bool {
        matches!(self, Self::Text { has_no_stems: false, .. })
    }
}

impl Field {
    /// Returns true if texts are ordered by their bytes as they stand: with UNF, and tags with CASESENSITIVE.
    pub fn is_ordered_as_stored(&self) -> bool {
        self.is_unnormalized || matches!(self.field_type, FieldType::Tag { is_case_sensitive: true, .. })
    }

    /// Returns true if the values that are kept for sorting are folded.
    pub fn is_sorted_folded(&self) -> bool {
        self.is_sortable && !self.is_ordered_as_stored()
    }

    /// Returns true if its words are indexed.
    pub(crate) fn is_indexed_text(&self) -> bool {
        self.is_indexed && matches!(self.field_type, FieldType::Text { .. })
    }
}
