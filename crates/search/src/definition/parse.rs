//! FT.CREATE and FT.ALTER: from words to a declaration.
//!
//! ```text
//!   FT.CREATE idx  ON HASH PREFIX 1 doc: ...
//!                  | options, in any order
//!
//!   SCHEMA  title AS t  TEXT  WEIGHT 2 NOSTEM  SORTABLE UNF NOINDEX  price ...
//!           | names     type  | of the type    | of every type       the next field
//! ```
//!
//! The options of a field come in two groups, each in any order. A word of the first group after one of the second
//! is the name of the next field, as in RediSearch.

use super::{Definition, DefinitionError, FIELDS_MAX, Field, FieldType, Language, RowFilter, TEXT_FIELDS_MAX};
use crate::arguments::{ArgumentCursor, BadArgumentReason, is_word};
use crate::text::{fold, shown};
use crate::value::parse_number;

impl Definition {
    /// Parses the words of `FT.CREATE name` after the name.
    pub fn parse(name: &[u8], arguments: &[&[u8]]) -> Result<Self, DefinitionError> {
        let mut definition = Self::new(name);
        let mut cursor = ArgumentCursor::new(arguments);
        loop {
            let option = cursor.next_word().ok_or(DefinitionError::NoSchema)?;
            if is_word(option, "SCHEMA") {
                break;
            }
            definition.take_option(option, &mut cursor)?;
        }
        if cursor.left_count() == 0 {
            return Err(DefinitionError::NoFields);
        }
        definition.take_fields(&mut cursor)?;
        Ok(definition)
    }

    /// Adds the fields that follow `FT.ALTER name`: `[SKIPINITIALSCAN] SCHEMA ADD field ...`. An error changes nothing.
    /// Returns true with SKIPINITIALSCAN: hashes indexed so far are not read again.
    pub fn add_fields(&mut self, arguments: &[&[u8]]) -> Result<bool, DefinitionError> {
        let mut cursor = ArgumentCursor::new(arguments);
        let skips_initial_scan = cursor.take("SKIPINITIALSCAN");
        if !cursor.take("SCHEMA") {
            return Err(DefinitionError::NoAlteredSchema);
        }
        if !cursor.take("ADD") {
            return Err(DefinitionError::UnknownAlteration);
        }
        if cursor.left_count() == 0 {
            return Err(DefinitionError::NoAddedFields);
        }
        let fields_count = self.fields.len();
        self.take_fields(&mut cursor).inspect_err(|_| self.fields.truncate(fields_count))?;
        Ok(skips_initial_scan)
    }

    fn new(name: &[u8]) -> Self {
        Self {
            name: name.into(),
            prefixes: vec![Box::default()],
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
            fields: Vec::new(),
        }
    }

    fn take_option(&mut self, option: &[u8], cursor: &mut ArgumentCursor<'_>) -> Result<(), DefinitionError> {
        match option.to_ascii_uppercase().as_slice() {
            b"ON" => take_key_type(cursor)?,
            b"PREFIX" => {
                let prefixes = cursor.list("PREFIX")?;
                self.prefixes = prefixes.iter().map(|prefix| (*prefix).into()).collect();
                if prefixes.is_empty() {
                    self.prefixes.push(Box::default());
                }
            }
            b"FILTER" => {
                self.filter = Some(RowFilter::parse(cursor.value("FILTER")?)?);
            }
            b"LANGUAGE" => {
                let language = Language::parse(cursor.value("LANGUAGE")?);
                self.language = language.ok_or(DefinitionError::UnknownLanguage)?;
            }
            b"LANGUAGE_FIELD" => self.language_field = Some(cursor.value("LANGUAGE_FIELD")?.into()),
            b"SCORE" => {
                let score = parse_number(cursor.value("SCORE")?).filter(|score| (0.0..=1.0).contains(score));
                self.score = score.ok_or(DefinitionError::InvalidScore)?;
            }
            b"SCORE_FIELD" => self.score_field = Some(cursor.value("SCORE_FIELD")?.into()),
            b"PAYLOAD_FIELD" => return Err(DefinitionError::NotSupported("PAYLOAD_FIELD")),
            b"MAXTEXTFIELDS" => self.has_many_text_fields = true,
            b"TEMPORARY" => self.temporary_s = Some(cursor.integer("TEMPORARY")?),
            b"NOOFFSETS" => self.has_no_offsets = true,
            b"NOHL" => self.has_no_highlights = true,
            b"NOFIELDS" => self.has_no_field_bits = true,
            b"NOFREQS" => self.has_no_frequencies = true,
            b"STOPWORDS" => self.stop_words = Some(take_stop_words(cursor)?),
            b"SKIPINITIALSCAN" => self.skips_initial_scan = true,
            b"INDEXALL" => take_index_all(cursor)?,
            _ => return Err(DefinitionError::UnknownArgument(shown(option))),
        }
        Ok(())
    }

    fn take_fields(&mut self, cursor: &mut ArgumentCursor<'_>) -> Result<(), DefinitionError> {
        let mut text_fields_count = self.fields.iter().filter(|field| field.is_indexed_text()).count();
        while let Some(identifier) = cursor.next_word() {
            if self.fields.len() == FIELDS_MAX {
                return Err(DefinitionError::TooManyFields);
            }
            let mut attribute = identifier;
            if cursor.take("AS") {
                attribute = cursor.next_word().ok_or(DefinitionError::NoValue("AS"))?;
            }
            if self.field(attribute).is_some() {
                return Err(DefinitionError::DuplicateField(shown(attribute)));
            }
            let field = take_field(identifier, attribute, cursor)?;
            text_fields_count += usize::from(field.is_indexed_text());
            if text_fields_count > TEXT_FIELDS_MAX {
                return Err(DefinitionError::TooManyTextFields);
            }
            self.fields.push(field);
        }
        Ok(())
    }
}

fn take_key_type(cursor: &mut ArgumentCursor<'_>) -> Result<(), DefinitionError> {
    match cursor.value("ON")? {
        hash if is_word(hash, "HASH") => Ok(()),
        json if is_word(json, "JSON") => Err(DefinitionError::NotSupported("ON JSON")),
        unknown => Err(DefinitionError::UnknownKeyType(shown(unknown))),
    }
}

fn take_stop_words(cursor: &mut ArgumentCursor<'_>) -> Result<Vec<Box<str>>, DefinitionError> {
    let folded = |word: &&[u8]| match str::from_utf8(word) {
        Ok(word) => Ok(fold(word).into()),
        Err(_) => Err(DefinitionError::InvalidStopWord(shown(word))),
    };
    let mut words = cursor.list("STOPWORDS")?.iter().map(folded).collect::<Result<Vec<Box<str>>, _>>()?;
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

/// Reads how RediSearch keeps the list of all rows, which an index of Bobbin always has.
fn take_index_all(cursor: &mut ArgumentCursor<'_>) -> Result<(), DefinitionError> {
    let value = cursor.value("INDEXALL")?;
    let is_known = is_word(value, "ENABLE") || is_word(value, "DISABLE");
    if is_known { Ok(()) } else { Err(DefinitionError::InvalidIndexAll) }
}

fn take_field(identifier: &[u8], attribute: &[u8], cursor: &mut ArgumentCursor<'_>) -> Result<Field, DefinitionError> {
    let field_type = take_type(attribute, cursor)?;
    let mut field = Field {
        identifier: identifier.into(),
        attribute: attribute.into(),
        field_type,
        is_sortable: false,
        is_unnormalized: false,
        is_indexed: true,
        indexes_missing: false,
        indexes_empty: false,
    };
    while field.takes_type_option(cursor)? {}
    loop {
        if cursor.take("SORTABLE") {
            field.is_sortable = true;
            // A number has no other form.
            field.is_unnormalized |= cursor.take("UNF") || field.field_type == FieldType::Numeric;
        } else if cursor.take("NOINDEX") {
            field.is_indexed = false;
        } else {
            break;
        }
    }
    if field.indexes_missing && !field.is_indexed {
        return Err(DefinitionError::MissingNotIndexed(shown(attribute)));
    }
    Ok(field)
}

fn take_type(attribute: &[u8], cursor: &mut ArgumentCursor<'_>) -> Result<FieldType, DefinitionError> {
    let word = cursor.next_word().ok_or_else(|| DefinitionError::NoType(shown(attribute)))?;
    match word.to_ascii_uppercase().as_slice() {
        b"TEXT" => Ok(FieldType::Text { weight: 1.0, has_no_stems: false, has_suffix_trie: false }),
        b"TAG" => Ok(FieldType::Tag { separator: b',', is_case_sensitive: false, has_suffix_trie: false }),
        b"NUMERIC" => Ok(FieldType::Numeric),
        b"GEO" => Ok(FieldType::Geo),
        b"GEOSHAPE" => Err(DefinitionError::NotSupported("GEOSHAPE")),
        b"VECTOR" => Err(DefinitionError::NotSupported("VECTOR")),
        _ => Err(DefinitionError::UnknownType(shown(attribute))),
    }
}

impl Field {
    /// Reads an option of the field's type. Returns false and reads nothing if the next word is something else.
    fn takes_type_option(&mut self, cursor: &mut ArgumentCursor<'_>) -> Result<bool, DefinitionError> {
        if cursor.take("INDEXMISSING") {
            self.indexes_missing = true;
            return Ok(true);
        }
        match &mut self.field_type {
            FieldType::Text { weight, has_no_stems, has_suffix_trie } => {
                if cursor.take("WEIGHT") {
                    // RediSearch says the same of a missing weight.
                    let number = cursor.next_word().and_then(parse_number);
                    *weight = number.ok_or(BadArgumentReason::NotNumber.of("weight"))?;
                } else if cursor.take("NOSTEM") {
                    *has_no_stems = true;
                } else if cursor.take("PHONETIC") {
                    return Err(DefinitionError::NotSupported("PHONETIC"));
                } else if cursor.take("WITHSUFFIXTRIE") {
                    *has_suffix_trie = true;
                } else if cursor.take("INDEXEMPTY") {
                    self.indexes_empty = true;
                } else {
                    return Ok(false);
                }
            }
            FieldType::Tag { separator, is_case_sensitive, has_suffix_trie } => {
                if cursor.take("SEPARATOR") {
                    let word = cursor.next_word().ok_or(DefinitionError::NoValue("SEPARATOR"))?;
                    let [byte] = word else { return Err(DefinitionError::InvalidSeparator(shown(word))) };
                    *separator = *byte;
                } else if cursor.take("CASESENSITIVE") {
                    *is_case_sensitive = true;
                } else if cursor.take("WITHSUFFIXTRIE") {
                    *has_suffix_trie = true;
                } else if cursor.take("INDEXEMPTY") {
                    self.indexes_empty = true;
                } else {
                    return Ok(false);
                }
            }
            FieldType::Numeric | FieldType::Geo => return Ok(false),
        }
        Ok(true)
    }
}
