//! The row of a hash in an index: its key, and the raw values of the indexed fields.
//!
//! ```text
//! record   | head : 1 byte | deadline : varint, if there is one | key : bytes | field 0 | field 1 | ... |
//! head     | has a deadline : 1 bit | language + 1, or 0 : 7 bits |
//! bytes    | length : varint | bytes |
//! field    | 0 |                                          absent
//!          | 2 x length + 1 : varint | bytes |            without a deadline of its own
//!          | 2 x length + 2 : varint | deadline : varint | bytes |
//! ```
//!
//! An empty record is a free row. A record may have fewer fields than its index: the others are absent.

use crate::definition::Language;
use base::{Ms, varint};

/// The indexed part of a hash.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The deadline of the key.
    pub expires_at_ms: Option<Ms>,
    /// The language that the hash names.
    pub language: Option<Language>,
    /// The raw values, by the position of the field.
    pub fields: Vec<Option<RowField>>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct RowField {
    /// The raw value.
    pub value: Box<[u8]>,
    /// The deadline of the field.
    pub expires_at_ms: Option<Ms>,
}

impl Row {
    /// Returns the raw value of a field, expired or not.
    pub(crate) fn value(&self, field: usize) -> Option<&[u8]> {
        Some(&self.fields.get(field)?.as_ref()?.value)
    }
}

/// A record, decoded in place.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) expires_at_ms: Option<Ms>,
    pub(crate) language: Option<Language>,
    pub(crate) key: &'a [u8],
    fields: &'a [u8],
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecordField<'a> {
    pub(crate) value: &'a [u8],
    pub(crate) expires_at_ms: Option<Ms>,
}

/// The bit of a record's head.
const HAS_DEADLINE: u8 = 1 << 7;

/// Returns true if a deadline has come.
pub(crate) fn is_due(expires_at_ms: Option<Ms>, now: Ms) -> bool {
    expires_at_ms.is_some_and(|at_ms| at_ms <= now)
}

/// Encodes a record. O(bytes).
pub(crate) fn encode(key: &[u8], row: &Row) -> Vec<u8> {
    let mut record =
        Vec::with_capacity(16 + key.len() + row.fields.iter().flatten().map(|f| f.value.len() + 4).sum::<usize>());
    let head = row.language.map_or(0, |language| language.number() + 1);
    record.push(if row.expires_at_ms.is_some() { head | HAS_DEADLINE } else { head });
    if let Some(at_ms) = row.expires_at_ms {
        varint::put(&mut record, at_ms);
    }
    varint::put(&mut record, key.len() as u64);
    record.extend_from_slice(key);
    for field in &row.fields {
        let Some(field) = field else {
            record.push(0);
            continue;
        };
        varint::put(&mut record, 2 * field.value.len() as u64 + 1 + u64::from(field.expires_at_ms.is_some()));
        if let Some(at_ms) = field.expires_at_ms {
            varint::put(&mut record, at_ms);
        }
        record.extend_from_slice(&field.value);
    }
    record
}

impl<'a> Record<'a> {
    /// Decodes a record; `None` for that of a free row.
    pub(crate) fn of(mut bytes: &'a [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let head = split(&mut bytes, 1)[0];
        let expires_at_ms = (head & HAS_DEADLINE != 0).then(|| take(&mut bytes));
        let len = take(&mut bytes);
        let key = split(&mut bytes, len as usize);
        let language = (head & !HAS_DEADLINE).checked_sub(1).and_then(Language::of_number);
        Some(Self { expires_at_ms, language, key, fields: bytes })
    }

    /// Returns its fields in order, `None` where the hash has none. O(1) each.
    pub(crate) fn fields(&self) -> impl Iterator<Item = Option<RecordField<'a>>> + use<'a> {
        let mut rest = self.fields;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let head = take(&mut rest);
            if head == 0 {
                return Some(None);
            }
            let expires_at_ms = head.is_multiple_of(2).then(|| take(&mut rest));
            let value = split(&mut rest, ((head - 1) / 2) as usize);
            Some(Some(RecordField { value, expires_at_ms }))
        })
    }

    /// Returns the value of a field, unless it expired. O(fields before it).
    pub(crate) fn value(&self, field: usize, now: Ms) -> Option<&'a [u8]> {
        let field = self.fields().nth(field)??;
        (!is_due(field.expires_at_ms, now)).then_some(field.value)
    }

    /// Returns the value of a field, expired or not. O(fields before it).
    pub(crate) fn raw_value(&self, field: usize) -> Option<&'a [u8]> {
        Some(self.fields().nth(field)??.value)
    }

    /// Returns the number of its bytes, or a little less.
    pub(crate) fn bytes_count(&self) -> usize {
        self.key.len() + self.fields.len()
    }

    /// Returns it as a row of its own. O(bytes).
    pub(crate) fn to_row(&self) -> Row {
        let own = |field: RecordField<'_>| RowField { value: field.value.into(), expires_at_ms: field.expires_at_ms };
        Row {
            expires_at_ms: self.expires_at_ms,
            language: self.language,
            fields: self.fields().map(|field| field.map(own)).collect(),
        }
    }
}

fn take(bytes: &mut &[u8]) -> u64 {
    varint::take(bytes).expect("records are made by `encode`")
}

fn split<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (part, rest) = bytes.split_at(len);
    *bytes = rest;
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_deadline() -> impl Strategy<Value = Option<Ms>> {
        prop_oneof![Just(None), Just(Some(0)), Just(Some(Ms::MAX)), any::<Ms>().prop_map(Some)]
    }

    prop_compose! {
        fn any_field()(
            value in prop::collection::vec(any::<u8>(), 0..300),
            expires_at_ms in any_deadline(),
        ) -> RowField {
            RowField { value: value.into(), expires_at_ms }
        }
    }

    proptest! {
        #[test]
        fn a_record_decodes_to_its_row(
            key in prop::collection::vec(any::<u8>(), 0..300),
            expires_at_ms in any_deadline(),
            language in prop::option::of(0u8..19),
            fields in prop::collection::vec(prop::option::of(any_field()), 0..6),
        ) {
            let language = language.and_then(Language::of_number);
            let row = Row { expires_at_ms, language, fields };
            let bytes = encode(&key, &row);
            let record = Record::of(&bytes).unwrap();
            prop_assert_eq!(record.key, &*key);
            prop_assert_eq!(record.to_row(), row);
        }
    }
}
