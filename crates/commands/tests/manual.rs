//! `docs/commands.md` is generated from the command specs. `BLESS=1 cargo test -p commands --test tests manual`
//! rewrites it.

use commands::{CommandSpec, Group, categories, registry};
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
    (Group::Search, "Indexes of hashes"),
    (Group::Transactions, "Transactions"),
    (Group::Scripting, "Scripts"),
    (Group::Memcached, "What the memcached port calls"),
    (Group::Cluster, "Clusters"),
    (Group::Server, "The server"),
];

const HEAD: &str = "# Commands

Every command that Bobbin knows. This page is made from the table that the server itself runs by; `COMMAND DOCS` tells
the same to clients. Options, errors and forms of reply are those of Redis 7.4.

In a syntax line capitals are typed as they are, small letters stand for values, `[]` may be left out, `<>` may not,
`|` divides choices and `...` repeats. A reply is named by its type in RESP3: in RESP2 a map is a flat array, a set an
array, verbatim text and a double are bulks.

";

fn rows_of(group: Group) -> Vec<&'static CommandSpec> {
    let mut commands: Vec<_> = registry::commands().filter(|command| command.group == group).collect();
    commands.sort_unstable_by_key(|command| command.name);
    commands
}

fn anchor(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "-").replace('.', "")
}

fn since(command: &CommandSpec) -> String {
    match command.since.strip_prefix("bobbin ") {
        Some(version) => format!("Bobbin {version}"),
        None if command.group == Group::Search => format!("RediSearch {}", command.since),
        None => format!("Redis {}", command.since),
    }
}

fn manual() -> String {
    let mut page = HEAD.to_owned();
    for (group, title) in GROUPS {
        let links: Vec<String> =
            rows_of(*group).iter().map(|command| format!("[{}](#{})", command.name, anchor(command.name))).collect();
        writeln!(page, "**{title}**: {}\n", links.join(", ")).unwrap();
    }
    for (group, title) in GROUPS {
        writeln!(page, "## {title}\n").unwrap();
        rows_of(*group).into_iter().for_each(|command| add_command(&mut page, command));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn add_command(page: &mut String, command: &CommandSpec) {
    writeln!(page, "### {}\n", command.name).unwrap();
    writeln!(page, "`{}`\n", format!("{} {}", command.name, command.syntax).trim_end()).unwrap();
    writeln!(page, "{}\n", command.brief).unwrap();
    writeln!(page, "- Reply: {}", command.answer).unwrap();
    writeln!(page, "- Cost: {}", command.cost).unwrap();
    let categories: Vec<String> = categories(command).iter().map(|name| format!("@{name}")).collect();
    writeln!(page, "- Since {}; {}\n", since(command), categories.join(" ")).unwrap();
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
        "docs/commands.md is old, first at {differs:?}: BLESS=1 cargo test -p commands --test tests manual"
    );
}

#[test]
fn every_manual_entry_is_presentable() {
    let mut names = std::collections::HashSet::new();
    for command in registry::commands() {
        assert!(names.insert(command.name), "{} appears twice", command.name);
        assert_eq!(command.name, command.name.to_ascii_uppercase());
        assert!(command.brief.ends_with('.'), "{}: the brief is a sentence", command.name);
        assert!(command.brief.len() <= 100, "{}: the brief is brief", command.name);
        assert!(
            !command.answer.is_empty() && !command.answer.ends_with('.'),
            "{}: the answer is no sentence",
            command.name
        );
        assert!(!command.cost.is_empty() && !command.cost.ends_with('.'), "{}: the cost is no sentence", command.name);
        assert_eq!(command.syntax, command.syntax.trim(), "{}", command.name);
        let balance = |open, close| command.syntax.matches(open).count() == command.syntax.matches(close).count();
        assert!(balance('[', ']') && balance('<', '>'), "{}: brackets", command.name);
        let since = command.since.strip_prefix("bobbin ").unwrap_or(command.since);
        assert!(since.split('.').all(|part| part.parse::<u32>().is_ok()), "{}: {since} is no version", command.name);
    }
}
