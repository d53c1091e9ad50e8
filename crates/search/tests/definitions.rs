//! Declarations: from the words of FT.CREATE and FT.ALTER, to bytes and back.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use search::{
    Definition, DefinitionError, FIELDS_MAX, Field, FieldType, Language, NotDefinition, RowFilter, TEXT_FIELDS_MAX,
};

/// Returns the words of a command.
pub(crate) fn words(text: &str) -> Vec<&[u8]> {
    text.split_whitespace().map(str::as_bytes).collect()
}

/// Returns the index that `FT.CREATE idx` with these words makes.
pub(crate) fn definition(text: &str) -> Definition {
    Definition::parse(b"idx", &words(text)).expect("a declaration")
}

fn error(text: &str) -> String {
    Definition::parse(b"idx", &words(text)).expect_err("no declaration").to_string()
}

fn bytes() -> impl Strategy<Value = Box<[u8]>> {
    vec(any::<u8>(), 0..12).prop_map(Into::into)
}

/// Any language.
pub(crate) fn any_language() -> impl Strategy<Value = Language> {
    const NAMES: [&str; 5] = ["english", "arabic", "chinese", "turkish", "german"];
    proptest::sample::select(&NAMES[..]).prop_map(|name| Language::parse(name.as_bytes()).expect("a language"))
}

fn any_type() -> impl Strategy<Value = FieldType> {
    let weight = any::<f64>().prop_filter("a number", |weight| !weight.is_nan());
    prop_oneof![
        (weight, any::<bool>(), any::<bool>()).prop_map(|(weight, has_no_stems, has_suffix_trie)| FieldType::Text {
            weight,
            has_no_stems,
            has_suffix_trie
        }),
        any::<(u8, bool, bool)>().prop_map(|(separator, is_case_sensitive, has_suffix_trie)| FieldType::Tag {
            separator,
            is_case_sensitive,
            has_suffix_trie
        }),
        Just(FieldType::Numeric),
        Just(FieldType::Geo),
    ]
}

/// Any field with this name in queries.
fn any_field(attribute: Box<[u8]>) -> impl Strategy<Value = Field> {
    (option::of(bytes()), any_type(), any::<[bool; 5]>()).prop_map(move |(identifier, field_type, flags)| {
        let [is_sortable, is_unnormalized, is_indexed, indexes_missing, indexes_empty] = flags;
        let has_words = matches!(field_type, FieldType::Text { .. } | FieldType::Tag { .. });
        Field {
            identifier: identifier.unwrap_or_else(|| attribute.clone()),
            attribute: attribute.clone(),
            is_unnormalized: is_sortable && (is_unnormalized || field_type == FieldType::Numeric),
            field_type,
            is_sortable,
            is_indexed,
            indexes_missing: indexes_missing && is_indexed,
            indexes_empty: indexes_empty && has_words,
        }
    })
}

fn any_filter() -> impl Strategy<Value = RowFilter> {
    "@[a-z]{1,5}( )?[<>](=)?( )?[0-9]{1,3}".prop_map(|text| RowFilter::parse(text.as_bytes()).expect("an expression"))
}

/// Any declaration that FT.CREATE can make.
pub(crate) fn any_definition() -> impl Strategy<Value = Definition> {
    let fields = btree_map(bytes(), Just(()), 1..12)
        .prop_flat_map(|names| names.into_keys().map(any_field).collect::<Vec<_>>())
        .prop_shuffle();
    let names = (bytes(), vec(bytes(), 1..4), option::of(any_filter()), option::of(bytes()), option::of(bytes()));
    let stop_words = btree_map("[a-zäß]{0,8}".prop_map(Box::from), Just(()), 0..5);
    let stop_words = option::of(stop_words.prop_map(|words| words.into_keys().collect()));
    let others = (any_language(), 0.0..=1.0, stop_words, option::of(any::<u64>()), any::<[bool; 6]>());
    (names, others, fields).prop_map(|(names, others, fields)| {
        let (name, prefixes, filter, language_field, score_field) = names;
        let (language, score, stop_words, temporary_s, flags) = others;
        Definition {
            name,
            prefixes,
            filter,
            language,
            language_field,
            score,
            score_field,
            stop_words,
            has_no_offsets: flags[0],
            has_no_highlights: flags[1],
            has_no_field_bits: flags[2],
            has_no_frequencies: flags[3],
            has_many_text_fields: flags[4],
            skips_initial_scan: flags[5],
            temporary_s,
            fields,
        }
    })
}

fn encoded(definition: &Definition) -> Vec<u8> {
    let mut bytes = Vec::new();
    definition.encode(&mut bytes);
    bytes
}

#[test]
fn options_left_out_have_the_documented_defaults() {
    let made = definition("SCHEMA title TEXT");
    assert_eq!(made.prefixes, [Box::from(&b""[..])]);
    assert_eq!((made.language, made.score), (Language::English, 1.0));
    assert_eq!((made.stop_words, made.temporary_s, made.filter), (None, None, None));
    let [field] = &made.fields[..] else { panic!("one field") };
    assert_eq!(field.field_type, FieldType::Text { weight: 1.0, has_no_stems: false, has_suffix_trie: false });
    assert!(field.is_indexed && !field.is_sortable && *field.attribute == *b"title");
}

#[test]
fn options_of_an_index_are_read_in_any_order() {
    let made = definition(
        "stopwords 2 Tlv summer ON hash NOFREQS SCORE_FIELD s SCORE 0.5 LANGUAGE FRENCH LANGUAGE_FIELD l nohl \
         PREFIX 2 author:details: book:details: FILTER @age>16 MAXTEXTFIELDS TEMPORARY 60 NOOFFSETS NOFIELDS \
         SKIPINITIALSCAN INDEXALL enable SCHEMA a TAG",
    );
    assert_eq!(made.prefixes, [Box::from(&b"author:details:"[..]), Box::from(&b"book:details:"[..])]);
    assert_eq!(made.filter.as_ref().map(RowFilter::text), Some(&b"@age>16"[..]));
    assert_eq!((made.language, made.language_field.as_deref()), (Language::French, Some(&b"l"[..])));
    assert_eq!((made.score, made.score_field.as_deref()), (0.5, Some(&b"s"[..])));
    assert_eq!(made.stop_words, Some(vec!["summer".into(), "tlv".into()]));
    assert_eq!(made.temporary_s, Some(60));
    assert!(made.has_no_frequencies && made.has_no_highlights && made.has_many_text_fields);
    assert!(made.has_no_offsets && made.has_no_field_bits && made.skips_initial_scan);
}

#[test]
fn no_prefix_admits_every_key_and_no_stop_word_stops_none() {
    let made = definition("PREFIX 0 STOPWORDS 0 SCHEMA a TAG");
    assert!(made.admits(b"anything"));
    assert_eq!(made.stop_words, Some(Vec::new()));
}

#[test]
fn one_hash_field_is_indexed_under_two_names() {
    let made = definition("SCHEMA sku AS sku_text TEXT sku AS sku_tag TAG SORTABLE");
    assert_eq!((made.field(b"sku_text"), made.field(b"sku_tag"), made.field(b"sku")), (Some(0), Some(1), None));
    assert!(made.fields.iter().all(|field| *field.identifier == *b"sku"));
}

#[test]
fn options_of_a_type_are_read_in_any_order() {
    let made = definition(
        "SCHEMA t text INDEXMISSING nostem WEIGHT 2.5 INDEXEMPTY WITHSUFFIXTRIE other TEXT \
         c TAG CASESENSITIVE INDEXEMPTY SEPARATOR ; WITHSUFFIXTRIE SORTABLE UNF g GEO INDEXMISSING \
         p NUMERIC NOINDEX SORTABLE",
    );
    let [text, _, tag, geo, number] = &made.fields[..] else { panic!("five fields") };
    assert_eq!(text.field_type, FieldType::Text { weight: 2.5, has_no_stems: true, has_suffix_trie: true });
    assert!(text.indexes_missing && text.indexes_empty && !text.is_sortable);
    assert_eq!(tag.field_type, FieldType::Tag { separator: b';', is_case_sensitive: true, has_suffix_trie: true });
    assert!(tag.is_sortable && tag.is_unnormalized && tag.indexes_empty);
    assert!(geo.indexes_missing);
    assert!(number.is_sortable && number.is_unnormalized && !number.is_indexed);
}

#[test]
fn declarations_of_clients_are_read() {
    // Commands of redis-py, node-redis and Jedis with every option that they have.
    for text in [
        "ON HASH PREFIX 1 p: LANGUAGE_FIELD l LANGUAGE English SCORE_FIELD s SCORE 1.0 MAXTEXTFIELDS TEMPORARY 5 \
         NOOFFSETS NOHL NOFIELDS NOFREQS SKIPINITIALSCAN STOPWORDS 1 a SCHEMA t AS u TEXT WEIGHT 1.0 NOSTEM \
         WITHSUFFIXTRIE INDEXMISSING INDEXEMPTY SORTABLE n NUMERIC NOINDEX SORTABLE g TAG SEPARATOR , \
         CASESENSITIVE INDEXEMPTY",
        "SCHEMA t TEXT INDEXMISSING NOSTEM WEIGHT 1 WITHSUFFIXTRIE INDEXEMPTY SORTABLE UNF g TAG INDEXMISSING \
         SEPARATOR ; CASESENSITIVE WITHSUFFIXTRIE INDEXEMPTY SORTABLE m AS n NUMERIC INDEXMISSING SORTABLE",
        "SCHEMA t TEXT WEIGHT 2.0 NOSTEM WITHSUFFIXTRIE SORTABLE UNF NOINDEX g TAG SEPARATOR | SORTABLE NOINDEX",
    ] {
        definition(text);
    }
}

#[test]
fn an_option_of_the_type_after_sortable_is_a_field() {
    assert_eq!(error("SCHEMA t TEXT SORTABLE WITHSUFFIXTRIE"), "Field `WITHSUFFIXTRIE` does not have a type");
    assert_eq!(definition("SCHEMA t TEXT SORTABLE NOSTEM TAG").fields.len(), 2);
}

#[test]
fn bad_options_of_an_index_are_refused_in_published_words() {
    for (text, expected) in [
        ("PREFIX", "Bad arguments for PREFIX: Expected an argument, but none provided"),
        ("PREFIX SCHEMA t TEXT", "Bad arguments for PREFIX: Could not convert argument to expected type"),
        ("PREFIX -1 SCHEMA t TEXT", "Bad arguments for PREFIX: Value is outside acceptable bounds"),
        ("PREFIX 9 a: SCHEMA t TEXT", "Bad arguments for PREFIX: Expected an argument, but none provided"),
        ("ON LIST SCHEMA t TEXT", "Invalid rule type: LIST"),
        ("ON JSON SCHEMA $.t AS t TEXT", "ON JSON is not supported yet"),
        ("LANGUAGE", "Bad arguments for LANGUAGE: Expected an argument, but none provided"),
        ("LANGUAGE klingon SCHEMA t TEXT", "Invalid language"),
        ("SCORE 1.5 SCHEMA t TEXT", "Invalid score"),
        ("SCORE -0.1 SCHEMA t TEXT", "Invalid score"),
        ("SCORE abc SCHEMA t TEXT", "Invalid score"),
        ("SCORE inf SCHEMA t TEXT", "Invalid score"),
        ("SCORE", "Bad arguments for SCORE: Expected an argument, but none provided"),
        ("INDEXALL FOO SCHEMA t TEXT", "Invalid argument for `INDEXALL`, use ENABLE/DISABLE"),
        ("INDEXALL", "Bad arguments for INDEXALL: Expected an argument, but none provided"),
        ("FILTER", "Bad arguments for FILTER: Expected an argument, but none provided"),
        ("FILTER aSCHEMA foo text", "Unknown symbol 'aSCHEMA'"),
        ("FILTER unexisting_function(1) SCHEMA t TEXT", "Unknown function name 'unexisting_function'"),
        ("FILTER @price++ SCHEMA t TEXT", "Syntax error at offset 7 near '+'"),
        ("LANGUAGE_FIELD", "Bad arguments for LANGUAGE_FIELD: Expected an argument, but none provided"),
        ("SCORE_FIELD", "Bad arguments for SCORE_FIELD: Expected an argument, but none provided"),
        ("PREFIX 1 p:", "No schema found"),
        ("BOGUS SCHEMA t TEXT", "Unknown argument `BOGUS`"),
        ("PAYLOAD_FIELD p SCHEMA t TEXT", "PAYLOAD_FIELD is not supported yet"),
        ("STOPWORDS 0 SCHEMA", "Fields arguments are missing"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn bad_fields_are_refused_in_published_words() {
    for (text, expected) in [
        ("t", "Field `t` does not have a type"),
        ("t FOO", "Invalid field type for field `t`"),
        ("t AS", "AS requires an argument"),
        ("t AS TEXT", "Field `TEXT` does not have a type"),
        ("t TEXT t TEXT", "Duplicate field in schema - t"),
        ("a AS t TEXT t TAG", "Duplicate field in schema - t"),
        ("t TEXT WEIGHT", "Bad arguments for weight: Could not convert argument to expected type"),
        ("t TEXT WEIGHT abc", "Bad arguments for weight: Could not convert argument to expected type"),
        ("t TEXT WEIGHT nan", "Bad arguments for weight: Could not convert argument to expected type"),
        ("t TAG SEPARATOR", "SEPARATOR requires an argument"),
        ("t TAG SEPARATOR ab", "Tag separator must be a single character. Got `ab`"),
        ("t TEXT PHONETIC dm:en", "PHONETIC is not supported yet"),
        ("t GEOSHAPE", "GEOSHAPE is not supported yet"),
        ("t VECTOR FLAT 6", "VECTOR is not supported yet"),
        ("t TEXT INDEXMISSING NOINDEX", "'Field cannot be defined with both `NOINDEX` and `INDEXMISSING` `t` '"),
    ] {
        assert_eq!(error(&format!("SCHEMA {text}")), expected, "{text}");
    }
}

#[test]
fn weights_may_be_zero_negative_and_infinite() {
    for weight in ["0", "-1", "inf"] {
        definition(&format!("SCHEMA t TEXT WEIGHT {weight}"));
    }
}

#[test]
fn stop_words_are_found_in_whatever_order_they_are_declared() {
    let made = definition("STOPWORDS 6 Tlv summer a Ähre tlv b SCHEMA t TEXT");
    assert!(["a", "b", "summer", "tlv", "ähre"].iter().all(|word| made.is_stop_word(word)));
    assert!(!["", "aa", "the", "Tlv"].iter().any(|word| made.is_stop_word(word)));
    let default = definition("SCHEMA t TEXT");
    assert!(["a", "is", "the", "their", "with"].iter().all(|word| default.is_stop_word(word)));
    assert!(!default.is_stop_word("summer"));
}

#[test]
fn stop_words_that_are_not_text_are_refused() {
    let made = Definition::parse(b"idx", &[b"STOPWORDS", b"1", b"\xff", b"SCHEMA", b"t", b"TEXT"]);
    assert!(matches!(made, Err(DefinitionError::InvalidStopWord(_))));
}

#[test]
fn fields_above_the_limits_are_refused() {
    let schema = |count: usize, of_type: &str| {
        (0..count).fold("SCHEMA".to_owned(), |text, number| format!("{text} f{number} {of_type}"))
    };
    assert_eq!(definition(&schema(FIELDS_MAX, "TAG")).fields.len(), FIELDS_MAX);
    assert_eq!(error(&schema(FIELDS_MAX + 1, "TAG")), "Schema is limited to 1024 fields");
    assert_eq!(definition(&schema(TEXT_FIELDS_MAX, "TEXT")).fields.len(), TEXT_FIELDS_MAX);
    assert_eq!(error(&schema(TEXT_FIELDS_MAX + 1, "TEXT")), "Too many TEXT fields in schema");
    definition(&schema(TEXT_FIELDS_MAX + 1, "TEXT NOINDEX"));
}

#[test]
fn added_fields_follow_those_there() {
    let mut made = definition("SCHEMA a TEXT");
    assert_eq!(made.add_fields(&words("SCHEMA ADD b TAG c NUMERIC SORTABLE")), Ok(false));
    assert_eq!(made.add_fields(&words("SKIPINITIALSCAN SCHEMA ADD d GEO")), Ok(true));
    assert_eq!(made, definition("SCHEMA a TEXT b TAG c NUMERIC SORTABLE d GEO"));
}

#[test]
fn a_refused_alteration_changes_nothing() {
    let before = definition("SCHEMA t TEXT");
    for (text, expected) in [
        ("FOO ADD x TEXT", "ALTER must be followed by SCHEMA"),
        ("SCHEMA FOO x TEXT", "Unknown action passed to ALTER SCHEMA"),
        ("SKIPINITIALSCAN SCHEMA ADD", "No fields provided"),
        ("SCHEMA ADD x TEXT t TEXT", "Duplicate field in schema - t"),
        ("SCHEMA ADD x FOO", "Invalid field type for field `x`"),
    ] {
        let mut made = before.clone();
        assert_eq!(made.add_fields(&words(text)).expect_err("an error").to_string(), expected, "{text}");
        assert_eq!(made, before, "{text}");
    }
}

#[test]
fn bytes_of_a_declaration_are_frozen() {
    let made = definition(
        "PREFIX 1 d: FILTER @f NOHL SCORE 0.5 STOPWORDS 1 a TEMPORARY 200 SCHEMA t AS u TEXT WEIGHT 1 NOSTEM n NUMERIC \
         SORTABLE g TAG SEPARATOR ;",
    );
    let mut expected = vec![1, 3, b'i', b'd', b'x', 0xc2, 0x0c, 1, 2, b'd', b':', 4];
    expected.extend(0.5f64.to_le_bytes());
    expected.extend([2, b'@', b'f', 1, 1, b'a', 0xc8, 1, 3]);
    expected.extend([1, b't', 0x41, 1, b'u', 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    expected.extend([1, b'n', 6, 2, 1, b'g', 0, 1, b';']);
    assert_eq!(encoded(&made), expected);
}

#[test]
fn declarations_cut_short_or_too_long_are_refused() {
    let bytes = encoded(&definition("FILTER @f STOPWORDS 1 a SCHEMA t AS u TEXT g TAG"));
    assert!(Definition::decode(&bytes).is_ok());
    for length in 0..bytes.len() {
        assert_eq!(Definition::decode(&bytes[..length]), Err(NotDefinition), "{length}");
    }
    assert_eq!(Definition::decode(&[&bytes[..], b"\0"].concat()), Err(NotDefinition));
}

#[test]
fn declarations_that_no_command_makes_are_refused() {
    let sound = definition("SCHEMA a TEXT b GEO");
    let refused = |change: &dyn Fn(&mut Definition)| {
        let mut made = sound.clone();
        change(&mut made);
        assert_eq!(Definition::decode(&encoded(&made)), Err(NotDefinition), "{made:?}");
    };
    refused(&|made| made.prefixes.clear());
    refused(&|made| made.score = f64::NAN);
    refused(&|made| made.score = -0.0);
    refused(&|made| made.fields.clear());
    refused(&|made| made.stop_words = Some(vec!["b".into(), "a".into()]));
    refused(&|made| made.stop_words = Some(vec!["a".into(), "a".into()]));
    refused(&|made| made.fields[1].attribute = made.fields[0].attribute.clone());
    refused(&|made| made.fields[1].indexes_empty = true);
    refused(&|made| made.fields[0].is_unnormalized = true);
    refused(&|made| made.fields = vec![made.fields[0].clone(); FIELDS_MAX + 1]);
}

/// Any word that a client may send, more often one that means something.
pub(crate) fn any_word() -> impl Strategy<Value = Vec<u8>> {
    const KNOWN: &str = "ON HASH PREFIX 0 1 2 FILTER LANGUAGE english SCORE 0.5 -1 STOPWORDS TEMPORARY SCHEMA AS \
        TEXT TAG NUMERIC GEO WEIGHT SEPARATOR , SORTABLE UNF NOINDEX INDEXMISSING INDEXEMPTY WITHSUFFIXTRIE ADD a b c \
        NOCONTENT GEOFILTER km INKEYS INFIELDS RETURN SORTBY DESC LIMIT TIMEOUT PARAMS DIALECT COUNT READ DEL FORMAT";
    let known: Vec<_> = KNOWN.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
    prop_oneof![6 => proptest::sample::select(known), 1 => vec(any::<u8>(), 0..6)]
}

proptest! {
    #[test]
    fn a_decoded_declaration_is_the_encoded_one(made in any_definition()) {
        prop_assert_eq!(Definition::decode(&encoded(&made)), Ok(made));
    }

    #[test]
    fn bytes_have_at_most_one_meaning(made in any_definition(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = encoded(&made);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(other) = Definition::decode(&bytes) {
            prop_assert_eq!(encoded(&other), bytes);
        }
    }

    #[test]
    fn any_words_are_read_or_refused(made in vec(any_word(), 0..30)) {
        let arguments: Vec<&[u8]> = made.iter().map(Vec::as_slice).collect();
        let fields = [&[&b"SCHEMA"[..]], &arguments[..]].concat();
        for arguments in [&arguments, &fields] {
            if let Ok(mut made) = Definition::parse(b"idx", arguments) {
                prop_assert_eq!(Definition::decode(&encoded(&made)), Ok(made.clone()));
                let _ = made.add_fields(arguments);
            }
        }
    }
}
