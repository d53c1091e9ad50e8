//! Rows of hashes: what is admitted, which values are read, and which changes concern an index.

use base::Ms;
use search::{Definition, Language, Row, RowField};
use values::Hash;
use values::hash::Pair;

fn definition(words: &str) -> Definition {
    let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
    Definition::parse(b"idx", &words).unwrap()
}

fn hash(fields: &[(&str, &str)]) -> Hash {
    let mut hash = Hash::default();
    for (field, value) in fields {
        hash.put(Pair { field: field.as_bytes(), value: value.as_bytes(), expires_at_ms: None });
    }
    hash
}

fn field(value: &str, expires_at_ms: Option<Ms>) -> Option<RowField> {
    Some(RowField { value: value.as_bytes().into(), expires_at_ms })
}

/// Returns true if an index with these options takes the hash.
fn is_admitted(options: &str, key: &str, fields: &[(&str, &str)]) -> bool {
    let definition = definition(&format!("{options} SCHEMA name AS n TEXT age NUMERIC"));
    Row::of_hash(&definition, key.as_bytes(), &hash(fields), None).is_some()
}

#[test]
fn a_row_has_the_values_of_the_declared_fields_with_all_deadlines() {
    let definition = definition("SCHEMA name AS n TEXT age NUMERIC city TAG");
    let mut hash = hash(&[("age", "x"), ("other", "1"), ("n", "2")]);
    hash.put(Pair { field: b"name", value: b"\xff", expires_at_ms: Some(1) });
    let row = Row::of_hash(&definition, b"k", &hash, Some(7)).unwrap();
    assert_eq!(row.expires_at_ms, Some(7));
    let name = Some(RowField { value: b"\xff"[..].into(), expires_at_ms: Some(1) });
    assert_eq!(row.fields, [name, field("x", None), None]);
    // A large hash is in another order.
    hash.grow();
    assert_eq!(Row::of_hash(&definition, b"k", &hash, Some(7)), Some(row));
}

#[test]
fn prefixes_decide_by_the_name_of_the_key() {
    let options = "PREFIX 2 a: b:";
    assert!(is_admitted(options, "a:1", &[]) && is_admitted(options, "b:", &[]));
    assert!(!is_admitted(options, "c:1", &[]) && !is_admitted(options, "a", &[]));
}

/// The filter by age is from the documentation of FT.CREATE, that by the key from RediSearch's test_rules.py.
#[test]
fn a_filter_decides_by_any_field_and_by_the_name_of_the_key() {
    let by_age = "FILTER @age>16";
    assert!(is_admitted(by_age, "k", &[("age", "17")]));
    assert!(!is_admitted(by_age, "k", &[("age", "16")]));
    assert!(!is_admitted(by_age, "k", &[("name", "without")]));
    let by_key = "FILTER startswith(@__key,'thing:')";
    assert!(is_admitted(by_key, "thing:bar", &[]));
    assert!(!is_admitted(by_key, "other:bar", &[]));
    let by_other = "FILTER @other=='1'";
    assert!(is_admitted(by_other, "k", &[("other", "1")]));
    assert!(!is_admitted(by_other, "k", &[("name", "1")]));
    for by_name in ["FILTER @name=='x'", "FILTER @n=='x'"] {
        assert!(is_admitted(by_name, "k", &[("name", "x")]), "{by_name}");
        assert!(!is_admitted(by_name, "k", &[("n", "x")]), "{by_name}: an attribute stands for its identifier");
    }
}

#[test]
fn a_hash_names_the_language_of_its_texts() {
    let definition = definition("LANGUAGE_FIELD lang SCHEMA name TEXT");
    let language = |fields: &[(&str, &str)]| Row::of_hash(&definition, b"k", &hash(fields), None).unwrap().language;
    assert_eq!(language(&[("lang", "German")]), Some(Language::German));
    assert_eq!(language(&[("lang", "klingon")]), None);
    assert_eq!(language(&[("language", "german")]), None);
}

#[test]
fn changes_of_fields_that_an_index_reads_concern_it() {
    let plain = definition("LANGUAGE_FIELD lang SCORE_FIELD score SCHEMA name AS n TEXT");
    for (field, is_read) in [("name", true), ("lang", true), ("score", true), ("n", false), ("nam", false)] {
        assert_eq!(plain.concerns(field.as_bytes()), is_read, "{field}");
    }
    assert!(definition("FILTER @age>16 SCHEMA name TEXT").concerns(b"anything"));
}

#[test]
fn a_declaration_whose_filter_is_no_expression_is_refused() {
    let mut bytes = Vec::new();
    definition("FILTER @age>16 SCHEMA name TEXT").encode(&mut bytes);
    assert!(Definition::decode(&bytes).is_ok());
    let at = bytes.windows(7).position(|part| part == b"@age>16").unwrap();
    bytes[at + 5] = b'(';
    assert!(Definition::decode(&bytes).is_err());
}
