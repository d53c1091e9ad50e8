//! The configuration file: TOML, one key per setting, no tables. Rewriting keeps comments, order and spacing.

use super::kind::SettingType;
use super::setting::Setting;
use toml_edit::{Document, DocumentMut, Item, TomlError, Value};

/// One key of the file.
pub(super) struct Entry {
    pub(super) name: String,
    /// Its value in the form of a flag; `None` if it has no such form.
    pub(super) text: Option<String>,
    /// From 1.
    pub(super) line: usize,
}

/// Reads the keys in file order.
///
/// # Errors
/// Bad TOML: the line and what is wrong.
pub(super) fn read(content: &str) -> Result<Vec<Entry>, (usize, String)> {
    let document = Document::parse(content).map_err(|error| explain(content, &error))?;
    let table = document.as_table();
    let entries = table.iter().map(|(name, item)| {
        let start = table.key(name).and_then(|key| key.span()).or_else(|| item.span()).map_or(0, |span| span.start);
        Entry { name: name.to_owned(), text: item_text(item), line: line_at(content, start) }
    });
    Ok(entries.collect())
}

/// Returns `content` with these values set: an existing key keeps its place and comments, others are added at the end.
///
/// # Errors
/// Bad TOML: the line and what is wrong.
pub(super) fn rewrite(content: &str, values: &[(&Setting, String)]) -> Result<String, (usize, String)> {
    let mut document: DocumentMut = content.parse().map_err(|error| explain(content, &error))?;
    for (setting, text) in values {
        let mut value = toml_value(&setting.kind, text);
        match document.get_mut(setting.name).and_then(Item::as_value_mut) {
            Some(old) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => document[setting.name] = Item::Value(value),
        }
    }
    Ok(document.to_string())
}

fn toml_value(kind: &SettingType, text: &str) -> Value {
    match (kind, text.parse::<i64>()) {
        (SettingType::Integer { .. }, Ok(number)) => number.into(),
        _ => text.into(),
    }
}

fn item_text(item: &Item) -> Option<String> {
    let Item::Value(value) = item else { return None };
    match value {
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            Some(texts?.join(" "))
        }
        other => scalar_text(other),
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Boolean(on) => Some(if *on.value() { "yes" } else { "no" }.to_owned()),
        _ => None,
    }
}

fn explain(content: &str, error: &TomlError) -> (usize, String) {
    let start = error.span().map_or(0, |span| span.start);
    (line_at(content, start), error.message().lines().next().unwrap_or("not TOML").to_owned())
}

fn line_at(content: &str, offset: usize) -> usize {
    1 + content.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::find;

    #[test]
    fn every_value_form_is_read_with_its_line() {
        let content = "# a comment\nport = 7000\n\nbind = [\"127.0.0.1\", \"::1\"]\njournal = false\nfsync = \"always\"\n[more]\nx = 1\n";
        let entries = read(content).unwrap();
        let read: Vec<_> =
            entries.iter().map(|entry| (entry.name.as_str(), entry.text.as_deref(), entry.line)).collect();
        let expected = [
            ("port", Some("7000"), 2),
            ("bind", Some("127.0.0.1 ::1"), 4),
            ("journal", Some("no"), 5),
            ("fsync", Some("always"), 6),
            ("more", None, 7),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_toml_error_names_its_line() {
        assert_eq!(read("port = 1\nfsync = = 2\n").err().map(|(line, _)| line), Some(2));
        assert_eq!(read("port = 1\nport = 2\n").err().map(|(line, _)| line), Some(2));
    }

    #[test]
    fn a_rewrite_keeps_unchanged_lines_and_comments() {
        let content = "# ours\nport = 7000 # the office\n\nfsync = \"never\" # for now\n";
        let values = [("fsync", "always"), ("maxclients", "5"), ("proto-max-bulk-len", "1mb")];
        let values = values.map(|(name, text)| (find(name).unwrap(), text.to_owned()));
        let expected = "# ours\nport = 7000 # the office\n\nfsync = \"always\" # for now\nmaxclients = 5\nproto-max-bulk-len = \"1mb\"\n";
        assert_eq!(rewrite(content, &values).unwrap(), expected);
    }
}
