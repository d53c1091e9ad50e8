//! From a hash to its row: values as they are in the hash, expired or not, with their deadlines.
//!
//! ```text
//!   key, hash --prefixes, FILTER--> admitted --> language, values of the declared fields --> Row
//! ```

use super::record::{Row, RowField};
use crate::definition::{Definition, Language, RowFilter};
use crate::value::Value;
use base::Ms;
use values::Hash;

/// The name by which FILTER reads the name of the key, unless the hash has such a field.
const KEY_NAME: &[u8] = b"__key";

impl Row {
    /// Returns the row of a hash in an index of this definition; `None` if the index does not admit it. A language that
    /// is unknown counts as none. O(prefixes + bytes of the values), and the work of FILTER.
    pub fn of_hash(definition: &Definition, key: &[u8], hash: &Hash, expires_at_ms: Option<Ms>) -> Option<Self> {
        if !definition.admits(key) {
            return None;
        }
        if definition.filter.as_ref().is_some_and(|filter| !satisfies(filter, definition, key, hash)) {
            return None;
        }
        let language_field = definition.language_field.as_deref();
        let language = language_field.and_then(|field| hash.get(field, EVER, |pair| Language::parse(pair.value))?);
        let field = |name: &[u8]| {
            hash.get(name, EVER, |pair| RowField { value: pair.value.into(), expires_at_ms: pair.expires_at_ms })
        };
        let fields = definition.fields.iter().map(|declared| field(&declared.identifier)).collect();
        // A hash ends with its last field, too.
        let expires_at_ms = expires_at_ms.into_iter().chain(hash.spent_at_ms()).min();
        Some(Self { expires_at_ms, language, fields })
    }
}

/// A time at which no field has expired, except one whose deadline is 0: that one is live at no time.
const EVER: Ms = 0;

/// Evaluates a filter. As in RediSearch, a name is that of the first declared field with this attribute or identifier,
/// or else that of any field of the hash; and values are texts, of whatever type the field is.
fn satisfies(filter: &RowFilter, definition: &Definition, key: &[u8], hash: &Hash) -> bool {
    filter.expression().admits(&mut |name| {
        let declared = definition.fields.iter().find(|field| *field.attribute == *name || *field.identifier == *name);
        let identifier = declared.map_or(name, |field| &field.identifier);
        let value = hash.get(identifier, EVER, |pair| Value::text(pair.value));
        value.or_else(|| (identifier == KEY_NAME).then(|| Value::text(key)))
    })
}
