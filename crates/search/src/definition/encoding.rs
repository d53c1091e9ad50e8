//! The bytes of a declaration, in the store and in the journal; `docs/formats/search.md` draws them.
//!
//! ```text
//! | format : 1 | name | flags | prefixes | language : 1 | score : 8 | what flags announce | fields |
//! ```
//!
//! Numbers are varints unless a width is shown.

use super::{Definition, FIELDS_MAX, Field, FieldType, Language, RowFilter, TEXT_FIELDS_MAX};
use base::varint;
use std::collections::BTreeSet;

const FORMAT: u64 = 1;

const NO_OFFSETS: u64 = 1;
const NO_HIGHLIGHTS: u64 = 1 << 1;
const NO_FIELD_BITS: u64 = 1 << 2;
const NO_FREQUENCIES: u64 = 1 << 3;
const MANY_TEXT_FIELDS: u64 = 1 << 4;
const SKIPS_SCAN: u64 = 1 << 5;
const FILTER: u64 = 1 << 6;
const LANGUAGE_FIELD: u64 = 1 << 7;
const SCORE_FIELD: u64 = 1 << 8;
const STOP_WORDS: u64 = 1 << 9;
const TEMPORARY: u64 = 1 << 10;
const FLAGS: u64 = (1 << 11) - 1;

const ALIAS: u64 = 1;
const SORTABLE: u64 = 1 << 1;
const UNNORMALIZED: u64 = 1 << 2;
const NOT_INDEXED: u64 = 1 << 3;
const MISSING: u64 = 1 << 4;
const EMPTY: u64 = 1 << 5;
/// NOSTEM of a TEXT field, CASESENSITIVE of a TAG field.
const AS_WRITTEN: u64 = 1 << 6;
const SUFFIX_TRIE: u64 = 1 << 7;
/// The flags of a field of words or tags alone.
const FLAGS_OF_WORDS: u64 = EMPTY | AS_WRITTEN | SUFFIX_TRIE;
const FIELD_FLAGS: u64 = (1 << 8) - 1;

const TEXT: u8 = 0;
const TAG: u8 = 1;
const NUMERIC: u8 = 2;
const GEO: u8 = 3;

/// Bytes that are no declaration of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the declaration of an index")]
pub struct NotDefinition;

impl Definition {
    /// Appends the declaration's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, FORMAT);
        varint::put_bytes(out, &self.name);
        varint::put(out, self.flags());
        put_list(out, self.prefixes.iter().map(|prefix| &**prefix));
        out.push(self.language.number());
        out.extend_from_slice(&self.score.to_le_bytes());
        let filter = self.filter.as_ref().map(RowFilter::text);
        for bytes in [filter, self.language_field.as_deref(), self.score_field.as_deref()].into_iter().flatten() {
            varint::put_bytes(out, bytes);
        }
        if let Some(words) = &self.stop_words {
            put_list(out, words.iter().map(|word| word.as_bytes()));
        }
        if let Some(seconds) = self.temporary_s {
            varint::put(out, seconds);
        }
        varint::put(out, self.fields.len() as u64);
        for field in &self.fields {
            field.encode(out);
        }
    }

    /// Decodes a declaration from all of these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, NotDefinition> {
        let mut input = bytes;
        let definition = Self::take(&mut input).filter(|definition| input.is_empty() && definition.is_sound());
        definition.ok_or(NotDefinition)
    }

    fn flags(&self) -> u64 {
        [
            (self.has_no_offsets, NO_OFFSETS),
            (self.has_no_highlights, NO_HIGHLIGHTS),
            (self.has_no_field_bits, NO_FIELD_BITS),
            (self.has_no_frequencies, NO_FREQUENCIES),
            (self.has_many_text_fields, MANY_TEXT_FIELDS),
            (self.skips_initial_scan, SKIPS_SCAN),
            (self.filter.is_some(), FILTER),
            (self.language_field.is_some(), LANGUAGE_FIELD),
            (self.score_field.is_some(), SCORE_FIELD),
            (self.stop_words.is_some(), STOP_WORDS),
            (self.temporary_s.is_some(), TEMPORARY),
        ]
        .into_iter()
        .map(|(is_set, flag)| if is_set { flag } else { 0 })
        .sum()
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        if varint::take(input)? != FORMAT {
            return None;
        }
        let name = varint::take_bytes(input)?.into();
        let flags = varint::take(input).filter(|flags| *flags <= FLAGS)?;
        let has = |flag: u64| flags & flag != 0;
        let prefixes = take_list(input, |prefix| Some(prefix.into()))?;
        let language = Language::of_number(take_byte(input)?)?;
        let score = take_number(input)?;
        let mut optional = |flag| match has(flag) {
            true => varint::take_bytes(input).map(|bytes| Some(Box::<[u8]>::from(bytes))),
            false => Some(None),
        };
        let filter = optional(FILTER)?.map(|text| RowFilter::parse(&text)).transpose().ok()?;
        let (language_field, score_field) = (optional(LANGUAGE_FIELD)?, optional(SCORE_FIELD)?);
        let stop_words = match has(STOP_WORDS) {
            true => Some(take_list(input, |word| str::from_utf8(word).ok().map(Box::from))?),
            false => None,
        };
        let temporary_s = if has(TEMPORARY) { Some(varint::take(input)?) } else { None };
        let fields_count = varint::take(input).filter(|count| *count <= FIELDS_MAX as u64)?;
        let fields = (0..fields_count).map(|_| Field::take(input)).collect::<Option<_>>()?;
        Some(Self {
            name,
            prefixes,
            filter,
            language,
            language_field,
            score,
            score_field,
            stop_words,
            has_no_offsets: has(NO_OFFSETS),
            has_no_highlights: has(NO_HIGHLIGHTS),
            has_no_field_bits: has(NO_FIELD_BITS),
            has_no_frequencies: has(NO_FREQUENCIES),
            has_many_text_fields: has(MANY_TEXT_FIELDS),
            skips_initial_scan: has(SKIPS_SCAN),
            temporary_s,
            fields,
        })
    }

    /// Returns true if FT.CREATE could declare it.
    fn is_sound(&self) -> bool {
        let attributes: BTreeSet<_> = self.fields.iter().map(|field| &field.attribute).collect();
        let text_fields_count = self.fields.iter().filter(|field| field.is_indexed_text()).count();
        !self.prefixes.is_empty()
            && (0.0..=1.0).contains(&self.score)
            && self.score.is_sign_positive()
            && !self.fields.is_empty()
            && attributes.len() == self.fields.len()
            && text_fields_count <= TEXT_FIELDS_MAX
            && self.stop_words.as_ref().is_none_or(|words| words.is_sorted_by(|left, right| left < right))
    }
}

impl Field {
    fn encode(&self, out: &mut Vec<u8>) {
        varint::put_bytes(out, &self.identifier);
        varint::put(out, self.flags());
        if self.attribute != self.identifier {
            varint::put_bytes(out, &self.attribute);
        }
        match self.field_type {
            FieldType::Text { weight, .. } => {
                out.push(TEXT);
                out.extend_from_slice(&weight.to_le_bytes());
            }
            FieldType::Tag { separator, .. } => out.extend_from_slice(&[TAG, separator]),
            FieldType::Numeric => out.push(NUMERIC),
            FieldType::Geo => out.push(GEO),
        }
    }

    fn flags(&self) -> u64 {
        let (is_as_written, has_trie) = match self.field_type {
            FieldType::Text { has_no_stems, has_suffix_trie, .. } => (has_no_stems, has_suffix_trie),
            FieldType::Tag { is_case_sensitive, has_suffix_trie, .. } => (is_case_sensitive, has_suffix_trie),
            FieldType::Numeric | FieldType::Geo => (false, false),
        };
        [
            (self.attribute != self.identifier, ALIAS),
            (self.is_sortable, SORTABLE),
            (self.is_unnormalized, UNNORMALIZED),
            (!self.is_indexed, NOT_INDEXED),
            (self.indexes_missing, MISSING),
            (self.indexes_empty, EMPTY),
            (is_as_written, AS_WRITTEN),
            (has_trie, SUFFIX_TRIE),
        ]
        .into_iter()
        .map(|(is_set, flag)| if is_set { flag } else { 0 })
        .sum()
    }

    fn take(input: &mut &[u8]) -> Option<Self> {
        let identifier: Box<[u8]> = varint::take_bytes(input)?.into();
        let flags = varint::take(input).filter(|flags| *flags <= FIELD_FLAGS)?;
        let has = |flag: u64| flags & flag != 0;
        let attribute = match has(ALIAS) {
            true => Box::from(varint::take_bytes(input).filter(|alias| **alias != *identifier)?),
            false => identifier.clone(),
        };
        let (as_written, has_suffix_trie) = (has(AS_WRITTEN), has(SUFFIX_TRIE));
        let field_type = match take_byte(input)? {
            TEXT => {
                let weight = take_number(input).filter(|weight| !weight.is_nan())?;
                FieldType::Text { weight, has_no_stems: as_written, has_suffix_trie }
            }
            TAG => FieldType::Tag { separator: take_byte(input)?, is_case_sensitive: as_written, has_suffix_trie },
            NUMERIC if !has(FLAGS_OF_WORDS) => FieldType::Numeric,
            GEO if !has(FLAGS_OF_WORDS) => FieldType::Geo,
            _ => return None,
        };
        let is_possible = has(SORTABLE) || !has(UNNORMALIZED);
        let is_numeric_sound = field_type != FieldType::Numeric || has(SORTABLE) == has(UNNORMALIZED);
        let field = Self {
            identifier,
            attribute,
            field_type,
            is_sortable: has(SORTABLE),
            is_unnormalized: has(UNNORMALIZED),
            is_indexed: !has(NOT_INDEXED),
            indexes_missing: has(MISSING),
            indexes_empty: has(EMPTY),
        };
        (is_possible && is_numeric_sound && (field.is_indexed || !field.indexes_missing)).then_some(field)
    }
}

fn put_list<'a>(out: &mut Vec<u8>, list: impl ExactSizeIterator<Item = &'a [u8]>) {
    varint::put(out, list.len() as u64);
    list.for_each(|bytes| varint::put_bytes(out, bytes));
}

/// Decodes a list. It grows as it is read: its length is only claimed.
fn take_list<T>(input: &mut &[u8], mut item: impl FnMut(&[u8]) -> Option<T>) -> Option<Vec<T>> {
    let mut list = Vec::new();
    for _ in 0..varint::take(input)? {
        list.push(item(varint::take_bytes(input)?)?);
    }
    Some(list)
}

fn take_number(input: &mut &[u8]) -> Option<f64> {
    let (bytes, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(f64::from_le_bytes(*bytes))
}

fn take_byte(input: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = input.split_first()?;
    *input = rest;
    Some(*byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_languages_are_frozen() {
        let names: Vec<_> = (0..=u8::MAX).map_while(Language::of_number).map(Language::name).collect();
        assert_eq!(names[..4], ["arabic", "chinese", "danish", "dutch"]);
        assert_eq!(names[4..10], ["english", "finnish", "french", "german", "greek", "hungarian"]);
        assert_eq!(names[10..14], ["italian", "norwegian", "portuguese", "romanian"]);
        assert_eq!(names[14..], ["russian", "spanish", "swedish", "tamil", "turkish"]);
    }
}
