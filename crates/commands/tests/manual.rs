//! `docs/commands.md` is made from the rows. `BLESS=1 cargo test -p commands --test manual` writes it anew.

use commands::{Command, Group, categories, table};
use std::fmt::Write;
use std::path::Path;

const GROUPS: &[(Group, &str)] = &[
    (Group::Connection, "The connection"),
    (Group::Generic, "Keys of any kind"),
    (Group::String, "Strings"),
    (Group::Bitmap, "Bitmaps"),
    (Group::HyperLogLog, "HyperLogLogs"),
    (Group::List, "Lists"),
    (Group::Hash, "Hashes"),
    (Group::Set, "Sets"),
    (Group::SortedSet, "Sorted sets"),
    (Group::Geo, "Places"),
    (Group::Stream, "Streams"),
    (Group::Tagged, "Tagged lists"),
    (Group::Queue, "Queues"),
    (Group::Transactions, "Transactions"),
    (Group::Scripting, "Scripts"),
    (Group::Memcached, "What the memcached door calls"),
    (Group::Server, "The server"),
];

const HEAD: &str = "# Commands

Every command that Bobbin knows. This page is made from the table that the server itself runs by; `COMMAND DOCS` tells
the same to clients. Options, errors and forms of reply are those of Redis 7.4.

In a syntax line capitals are typed as they are, small letters stand for values, `[]` may be left out, `<>` may not,
`|` divides choices and `...` repeats. A reply is named by its type in RESP3: in RESP2 a map is a flat array, a set an
array, verbatim text and a double are bulks.

";

fn rows_of(group: Group) -> Vec<&'static Command> {
    let mut rows: Vec<_> = table::rows().filter(|row| row.group == group).collect();
    rows.sort_unstable_by_key(|row| row.name);
    rows
}

fn anchor(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "-").replace('.', "")
}

fn since(version: &str) -> String {
    match version.strip_prefix("bobbin ") {
        Some(version) => format!("Bobbin {version}"),
        None => format!("Redis {version}"),
    }
}

fn manual() -> String {
    let mut page = HEAD.to_owned();
    for (group, title) in GROUPS {
        let links: Vec<String> =
            rows_of(*group).iter().map(|row| format!("[{}](#{})", row.name, anchor(row.name))).collect();
        writeln!(page, "**{title}**: {}\n", links.join(", ")).unwrap();
    }
    for (group, title) in GROUPS {
        writeln!(page, "## {title}\n").unwrap();
        rows_of(*group).into_iter().for_each(|row| add_row(&mut page, row));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn add_row(page: &mut String, row: &Command) {
    writeln!(page, "### {}\n", row.name).unwrap();
    writeln!(page, "`{}`\n", format!("{} {}", row.name, row.syntax).trim_end()).unwrap();
    writeln!(page, "{}\n", row.brief).unwrap();
    writeln!(page, "- Reply: {}", row.answer).unwrap();
    writeln!(page, "- Cost: {}", row.cost).unwrap();
    let categories: Vec<String> = categories(row).iter().map(|name| format!("@{name}")).collect();
    writeln!(page, "- Since {}; {}\n", since(row.since), categories.join(" ")).unwrap();
}

#[test]
fn the_manual_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let manual = manual();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &manual).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(manual.lines()).find(|(written, made)| written != made);
    assert!(
        written == manual,
        "docs/commands.md is old, first at {differs:?}: BLESS=1 cargo test -p commands --test manual"
    );
}

#[test]
fn every_row_is_presentable() {
    let mut names = std::collections::HashSet::new();
    for row in table::rows() {
        assert!(names.insert(row.name), "{} appears twice", row.name);
        assert_eq!(row.name, row.name.to_ascii_uppercase());
        assert!(row.brief.ends_with('.'), "{}: the brief is a sentence", row.name);
        assert!(row.brief.len() <= 100, "{}: the brief is brief", row.name);
        assert!(!row.answer.is_empty() && !row.answer.ends_with('.'), "{}: the answer is no sentence", row.name);
        assert!(!row.cost.is_empty() && !row.cost.ends_with('.'), "{}: the cost is no sentence", row.name);
        assert_eq!(row.syntax, row.syntax.trim(), "{}", row.name);
        let balance = |open, close| row.syntax.matches(open).count() == row.syntax.matches(close).count();
        assert!(balance('[', ']') && balance('<', '>'), "{}: brackets", row.name);
        let since = row.since.strip_prefix("bobbin ").unwrap_or(row.since);
        assert!(since.split('.').all(|part| part.parse::<u32>().is_ok()), "{}: {since} is no version", row.name);
    }
}
