//! Compares COMMAND INFO of every command with Redis's.

use crate::session::fake::Fake;
use commands::registry;
use wire::client::Value;
use wire::resp::Protocol;

const PUBLISHED: &str = include_str!("facts.txt");

/// Commands whose facts differ on purpose, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("client|maint_notifications", "of a later Redis than the published facts"),
    ("debug", "its subcommands are commands of their own here; the flags are theirs"),
    ("move", WHOLE),
    ("rename", WHOLE),
    ("renamenx", WHOLE),
    ("xreadgroup", "what it delivers is noted in the stream, so it writes its keys"),
];

const WHOLE: &str = "the journal takes the value whole, so a full disk refuses it";

/// Commands of Redis that are missing here, and why.
const ABSENT: &[(&str, &str)] = &[];

fn text(value: &Value) -> String {
    match value {
        Value::Simple(text) => text.clone(),
        Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.to_string(),
    }
}

fn sorted(values: &Value) -> String {
    let mut words: Vec<String> = values.as_slice().unwrap().iter().map(|word| text(word).replace('@', "")).collect();
    words.sort_unstable();
    words.join(" ")
}

fn in_order(values: &Value) -> String {
    let words: Vec<String> = values.as_slice().unwrap().iter().map(|word| text(word).replace('@', "")).collect();
    words.join(" ")
}

fn spec(spec: &Value) -> String {
    let field = |map: &Value, index: usize| map.as_slice().unwrap()[2 * index + 1].clone();
    let has_note = text(&spec.as_slice().unwrap()[0]) == "notes";
    // The wording of a note may differ; only its presence is compared.
    let note = if has_note { " noted" } else { "" };
    let spec = &Value::Array(spec.as_slice().unwrap()[if has_note { 2 } else { 0 }..].to_vec());
    let (flags, begin, find) = (field(spec, 0), field(spec, 1), field(spec, 2));
    let mut flags: Vec<String> = flags.as_slice().unwrap().iter().map(text).collect();
    flags[1..].sort_unstable();
    if text(&field(&begin, 0)) == "unknown" {
        return format!("{} unknown{note}", flags.join(" "));
    }
    let (find_kind, find) = (text(&field(&find, 0)), field(&find, 1));
    let begin = field(&field(&begin, 1), 0);
    format!("{} at {begin} {find_kind} {} {}{note}", flags.join(" "), field(&find, 0), field(&find, 1))
}

/// Appends a line in the file's format for COMMAND INFO's array of ten, and one for each subcommand.
fn add_lines(info: &Value, lines: &mut Vec<String>) {
    let fields = info.as_slice().unwrap();
    let keys: Vec<String> = fields[8].as_slice().unwrap().iter().map(spec).collect();
    let line = format!(
        "{} | {} | {} | {} {} {} | {} | {} | {}",
        text(&fields[0]),
        fields[1],
        sorted(&fields[2]),
        fields[3],
        fields[4],
        fields[5],
        in_order(&fields[6]),
        keys.join(", "),
        in_order(&fields[7])
    );
    lines.push(line.trim_end().to_owned());
    fields[9].as_slice().unwrap().iter().for_each(|sub| add_lines(sub, lines));
}

fn lines() -> Vec<String> {
    let all = Fake::new().value(Protocol::Resp2, "COMMAND").unwrap();
    let mut lines = Vec::new();
    all.as_slice().unwrap().iter().for_each(|info| add_lines(info, &mut lines));
    lines
}

fn name_of(line: &str) -> &str {
    line.split(' ').next().unwrap()
}

/// Returns true if Redis does not have the command.
fn is_ours(name: &str) -> bool {
    registry::commands().any(|command| command.reported_name() == name && command.since.starts_with("bobbin "))
}

#[test]
fn every_published_command_has_a_spec_or_a_reason() {
    let lines = lines();
    for published in PUBLISHED.lines().filter(|line| !line.starts_with('#')).map(name_of) {
        let is_absent = ABSENT.iter().any(|(name, _)| *name == published);
        let is_here = lines.iter().any(|line| name_of(line) == published);
        assert_ne!(is_here, is_absent, "{published}");
    }
}

/// Returns true if redis-server has the command only with a module, which the published facts lack.
fn is_of_module(name: &str) -> bool {
    name.starts_with("ft.")
}

#[test]
fn command_specs_agree_with_redis() {
    let mut wrong = Vec::new();
    for line in &lines() {
        let name = name_of(line);
        if is_ours(name)
            || name.starts_with("debug|")
            || is_of_module(name)
            || DIFFERENT.iter().any(|(known, _)| *known == name)
        {
            continue;
        }
        let published = PUBLISHED.lines().find(|line| name_of(line) == name);
        match published {
            Some(published) if published == line => {}
            Some(published) => wrong.push(format!("ours:  {line}\nRedis: {published}")),
            None => wrong.push(format!("{name} is not among the published facts")),
        }
    }
    assert!(wrong.is_empty(), "{} commands differ:\n{}", wrong.len(), wrong.join("\n"));
}
