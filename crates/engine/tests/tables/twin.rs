//! Expected replies of queries, computed from HGETALL of every key, and the declarations that clients were told of.

use std::collections::{BTreeMap, BTreeSet};
use wire::client::Value;

/// The words of a request.
pub(crate) type Words = Vec<String>;
/// The fields of a hash.
pub(crate) type Fields = BTreeMap<String, String>;
/// The hashes of database 0, by key.
pub(crate) type Hashes = BTreeMap<String, Fields>;

/// All keys that tests use. Both indexes have those that begin with `p:1`.
pub(crate) const KEYS: [&str; 10] = ["p:0", "p:1", "p:2", "p:10", "p:11", "p:12", "q:0", "q:1", "r:0", "list"];

/// The indexes.
pub(crate) const TABLES: [&str; 2] = ["all", "some"];
/// The other name that one of them has at times.
pub(crate) const ALIAS: &str = "other";

/// The rows that a page never exceeds.
const PAGE: [&str; 3] = ["LIMIT", "0", "1000"];

pub(crate) fn words(line: &str) -> Words {
    line.split(' ').map(str::to_owned).collect()
}

/// Returns the declaration of an index.
pub(crate) fn create(table: &str) -> Words {
    let schema = "SCHEMA t TAG n NUMERIC SORTABLE s TAG WITHSUFFIXTRIE x TEXT NOSTEM";
    words(&match table {
        "all" => format!("FT.CREATE all ON HASH PREFIX 1 p: {schema}"),
        _ => format!("FT.CREATE some ON HASH PREFIX 2 p:1 q: FILTER @n>=3 LANGUAGE_FIELD lang {schema}"),
    })
}

pub(crate) fn alter(table: &str) -> Words {
    words(&format!("FT.ALTER {table} SCHEMA ADD y NUMERIC"))
}

/// The declarations, as the replies to those who made them say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    /// Indexes, with whether they have the added field.
    pub(crate) tables: BTreeMap<String, bool>,
    pub(crate) alias: Option<String>,
}

impl Declared {
    /// Takes note of a request in database 0, and its reply.
    pub(crate) fn note(&mut self, words: &[String], reply: &Value) {
        if *reply != Value::Simple("OK".into()) {
            return;
        }
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["FT.CREATE", table, ..] => drop(self.tables.insert(table.to_owned(), false)),
            ["FT.ALTER", table, ..] => drop(self.tables.insert(table.to_owned(), true)),
            ["FT.DROPINDEX", table, ..] => {
                self.tables.remove(table);
                self.alias.take_if(|of| *of == table);
            }
            ["FT.ALIASADD" | "FT.ALIASUPDATE", _, table] => self.alias = Some(table.to_owned()),
            ["FT.ALIASDEL", _] => self.alias = None,
            ["FLUSHDB" | "FLUSHALL", ..] => *self = Self::default(),
            _ => {}
        }
    }
}

/// Returns true if a table has this hash.
pub(crate) fn has(table: &str, key: &str, fields: &Fields) -> bool {
    let number = fields.get("n").map(|text| text.parse::<f64>());
    let is_sound = !matches!(number, Some(Err(_)));
    let admits = match table {
        "all" => key.starts_with("p:"),
        _ => {
            let begins = key.starts_with("p:1") || key.starts_with("q:");
            begins && number.is_some_and(|number| number.is_ok_and(|number| number >= 3.0))
        }
    };
    is_sound && admits
}

/// Returns the hashes that a table has.
pub(crate) fn rows(table: &str, hashes: &Hashes) -> Hashes {
    let rows = hashes.iter().filter(|(key, fields)| has(table, key, fields));
    rows.map(|(key, fields)| (key.clone(), fields.clone())).collect()
}

/// The form of a reply, and so its expected content.
#[derive(Clone, Copy, Debug)]
enum Form {
    Keys,
    Count,
    /// Ascending numbers first, or descending ones.
    Ordered {
        is_ascending: bool,
    },
    /// Keys with these fields.
    Returned,
    /// Keys with all fields.
    Whole,
    Groups,
}

/// A query, and which hashes it finds.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) words: Words,
    table: String,
    form: Form,
    finds: fn(&Fields) -> bool,
}

/// Returns true if a row is found.
type Finder = fn(&Fields) -> bool;

/// Returns the queries that a table must answer.
pub(crate) fn questions(table: &str, has_added: bool) -> Vec<Question> {
    let finders: [(&str, Finder); 10] = [
        ("*", |_| true),
        ("@t:{red}", |fields| has_tag(fields, &["red"])),
        ("@t:{green|blue}", |fields| has_tag(fields, &["green", "blue"])),
        ("-@t:{red}", |fields| !has_tag(fields, &["red"])),
        ("@n:[2 (7]", |fields| number(fields, "n").is_some_and(|n| (2.0..7.0).contains(&n))),
        ("@s:{ab*}", |fields| field(fields, "s").to_lowercase().starts_with("ab")),
        ("@s:{*b*}", |fields| field(fields, "s").to_lowercase().contains('b')),
        ("world", |fields| has_word(fields, "world")),
        ("@x:hello -@n:[5 inf]", |fields| {
            has_word(fields, "hello") && number(fields, "n").is_none_or(|number| number < 5.0)
        }),
        ("@y:[1 3]", |fields| number(fields, "y").is_some_and(|y| (1.0..=3.0).contains(&y))),
    ];
    let finders = &finders[..if has_added { 10 } else { 9 }];
    let question = |line: &[&str], form, finds| {
        let words = line.iter().map(|word| (*word).to_owned()).collect();
        Question { words, table: table.to_owned(), form, finds }
    };
    let mut all: Vec<Question> = finders
        .iter()
        .map(|(query, finds)| {
            question(&[&["FT.SEARCH", table, query, "NOCONTENT"], &PAGE[..]].concat(), Form::Keys, *finds)
        })
        .collect();
    let all_rows = |_: &Fields| true;
    all.push(question(&["FT.SEARCH", table, "@t:{red}", "LIMIT", "0", "0"], Form::Count, finders[1].1));
    for (word, is_ascending) in [("ASC", true), ("DESC", false)] {
        let line = [&["FT.SEARCH", table, "*", "SORTBY", "n", word, "NOCONTENT"], &PAGE[..]].concat();
        all.push(question(&line, Form::Ordered { is_ascending }, all_rows));
    }
    let line = [&["FT.SEARCH", table, "*", "RETURN", "3", "n", "t", "o"], &PAGE[..]].concat();
    all.push(question(&line, Form::Returned, all_rows));
    all.push(question(&[&["FT.SEARCH", table, "-@t:{blue}"], &PAGE[..]].concat(), Form::Whole, |fields| {
        !has_tag(fields, &["blue"])
    }));
    let line = ["FT.AGGREGATE", table, "*", "GROUPBY", "1", "@t", "REDUCE", "COUNT", "0", "AS", "c"];
    all.push(question(&line, Form::Groups, all_rows));
    all
}

fn field<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).map_or("", String::as_str)
}

fn number(fields: &Fields, name: &str) -> Option<f64> {
    fields.get(name)?.parse().ok()
}

fn has_tag(fields: &Fields, tags: &[&str]) -> bool {
    field(fields, "t").to_lowercase().split(',').any(|tag| tags.contains(&tag.trim()))
}

fn has_word(fields: &Fields, word: &str) -> bool {
    field(fields, "x").to_lowercase().split_whitespace().any(|other| other == word)
}

impl Question {
    pub(crate) fn table(&self) -> &str {
        &self.table
    }

    /// Returns the rows that it must find.
    pub(crate) fn expected(&self, hashes: &Hashes) -> Hashes {
        let mut rows = rows(&self.table, hashes);
        rows.retain(|_, fields| (self.finds)(fields));
        rows
    }

    /// Asserts that `reply` is right for these hashes.
    pub(crate) fn check(&self, reply: &Value, hashes: &Hashes) {
        let mut rows = self.expected(hashes);
        let Value::Array(items) = reply else { panic!("{:?}: {reply:?}, not {rows:?}", self.words) };
        let total = &items[0];
        if !matches!(self.form, Form::Groups) {
            assert_eq!(*total, Value::Int(rows.len() as i64), "{:?}: {reply:?}, not {rows:?}", self.words);
        }
        match self.form {
            Form::Count => assert_eq!(items.len(), 1, "{:?}", self.words),
            Form::Keys => {
                let (found, expected) = (texts(&items[1..]), rows.keys().cloned().collect::<Vec<_>>());
                assert_eq!(sorted(found), expected, "{:?}", self.words);
            }
            Form::Ordered { is_ascending } => {
                let found = texts(&items[1..]);
                let numbers: Vec<Option<f64>> = found.iter().map(|key| number(&rows[key], "n")).collect();
                // Rows without a number come last, both ways.
                let is_ordered = numbers.windows(2).all(|pair| match (pair[0], pair[1]) {
                    (Some(one), Some(other)) => {
                        if is_ascending {
                            one <= other
                        } else {
                            one >= other
                        }
                    }
                    (None, Some(_)) => false,
                    (_, None) => true,
                });
                assert!(is_ordered, "{:?}: {found:?} by {numbers:?}", self.words);
                assert_eq!(sorted(found), rows.keys().cloned().collect::<Vec<_>>(), "{:?}", self.words);
            }
            Form::Returned => {
                for fields in rows.values_mut() {
                    fields.retain(|name, _| ["n", "t", "o"].contains(&name.as_str()));
                }
                assert_eq!(hashes_of(&items[1..]), rows, "{:?}", self.words);
            }
            Form::Whole => {
                // The field that names a language is not shown.
                let is_shown = |name: &String| self.table == "all" || name != "lang";
                rows.values_mut().for_each(|fields| fields.retain(|name, _| is_shown(name)));
                assert_eq!(hashes_of(&items[1..]), rows, "{:?}", self.words);
            }
            Form::Groups => self.check_groups(&items[1..], &rows),
        }
    }

    fn check_groups(&self, items: &[Value], rows: &Hashes) {
        let mut expected: BTreeMap<Option<String>, u64> = BTreeMap::new();
        for fields in rows.values() {
            *expected.entry(fields.get("t").cloned()).or_default() += 1;
        }
        let mut found = BTreeMap::new();
        for item in items {
            let Value::Array(pair) = item else { panic!("{:?}: {item:?}", self.words) };
            let count = texts(&pair[3..])[0].parse().expect("a count is a number");
            let tag = (pair[1] != Value::Null).then(|| texts(&pair[1..2]).remove(0));
            assert_eq!(found.insert(tag, count), None, "{:?}: a group is there twice", self.words);
        }
        assert_eq!(found, expected, "{:?}", self.words);
    }
}

fn sorted(mut found: Vec<String>) -> Vec<String> {
    found.sort();
    found
}

/// Returns bulk strings as texts.
pub(crate) fn texts(items: &[Value]) -> Vec<String> {
    let text = |item: &Value| String::from_utf8_lossy(item.as_bytes().expect("it is a text")).into_owned();
    items.iter().map(text).collect()
}

/// Returns names and values in turn as a map.
pub(crate) fn fields_of(items: &[Value]) -> Fields {
    let flat = texts(items);
    flat.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// Returns keys and lists of fields in turn as hashes.
fn hashes_of(items: &[Value]) -> Hashes {
    let pairs = items.chunks(2).map(|pair| {
        let Value::Array(fields) = &pair[1] else { panic!("{pair:?} are no key and fields") };
        (texts(&pair[..1]).remove(0), fields_of(fields))
    });
    let hashes: Hashes = pairs.collect();
    assert_eq!(hashes.len() * 2, items.len(), "a key is there twice");
    hashes
}

/// Returns what the replies to HGETALL of all keys say. A key of another type is no hash.
pub(crate) fn hashes_read(replies: &[Value]) -> Hashes {
    let pairs = KEYS.iter().zip(replies).filter_map(|(key, reply)| match reply {
        Value::Array(items) if !items.is_empty() => Some(((*key).to_owned(), fields_of(items))),
        _ => None,
    });
    pairs.collect()
}

/// Asserts that FT._LIST replied with these indexes.
pub(crate) fn check_list(reply: &Value, declared: &Declared) {
    let (Value::Array(names) | Value::Set(names)) = reply else { panic!("FT._LIST: {reply:?}") };
    let names: BTreeSet<String> = texts(names).into_iter().collect();
    assert_eq!(names, declared.tables.keys().cloned().collect(), "the declared indexes");
}
