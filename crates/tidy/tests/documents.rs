//! The documents: those that must be there are, and what they point to is too.

use tidy::{assert_none, files, root};

#[test]
fn all_required_documents_exist() {
    let expected = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE",
        "docs/commands.md",
        "docs/compatibility.md",
        "docs/figures.md",
        "docs/memcached.md",
        "docs/operating.md",
        "docs/adr/template.md",
        "docs/formats/block.md",
        "docs/formats/effect.md",
        "docs/formats/frame.md",
        "docs/formats/store.md",
    ];
    let missing = expected.into_iter().filter(|path| !root().join(path).is_file()).map(str::to_owned);
    assert_none("missing:", &missing.collect::<Vec<_>>());
}

#[test]
fn links_in_documents_resolve() {
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is("md")) {
        let folder = root().join(&file.path).parent().expect("a file lies in a folder").to_owned();
        for target in file.text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()) {
            let path = target.split('#').next().unwrap_or_default();
            if !target.contains("://") && !path.is_empty() && !folder.join(path).exists() {
                faults.push(format!("{} points to {target}", file.path));
            }
        }
    }
    assert_none("points to nothing:", &faults);
}

#[test]
fn files_named_in_documents_exist() {
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is("md")) {
        let marked = file.text.split('`').skip(1).step_by(2);
        for path in marked
            .filter(|text| ["crates/", "docs/", "lab/", "scripts/", "fuzz/"].iter().any(|at| text.starts_with(at)))
        {
            let plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-.".contains(&byte));
            if plain && !root().join(path).exists() {
                faults.push(format!("{} names {path}", file.path));
            }
        }
    }
    assert_none("named and not there:", &faults);
}

#[test]
fn decision_records_are_numbered_without_a_gap() {
    let mut numbers: Vec<String> = files()
        .iter()
        .filter_map(|file| file.path.strip_prefix("docs/adr/")?.get(..4).map(str::to_owned))
        .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    numbers.sort();
    let expected: Vec<String> = (1..=numbers.len()).map(|number| format!("{number:04}")).collect();
    assert_eq!(numbers, expected);
}

/// The maximum length of the README: a first visitor should read all of it.
const README_BYTES_MAX: usize = 10 << 10;

#[test]
fn the_readme_is_short() {
    let bytes = std::fs::read(root().join("README.md")).expect("it is there").len();
    assert!(bytes <= README_BYTES_MAX, "README.md has {bytes} bytes, and {README_BYTES_MAX} at most are read at once");
}

/// Read in five minutes.
const ARCHITECTURE_WORDS_MAX: usize = 2_500;

#[test]
fn the_architecture_page_is_short() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let words = text.split_whitespace().count();
    assert!(words <= ARCHITECTURE_WORDS_MAX, "ARCHITECTURE.md has {words} words: details belong to docs/internals");
}

/// The maximum number of figures in the README.
const README_FIGURES_MAX: usize = 10;

#[test]
fn the_readme_has_few_figures() {
    let text = std::fs::read_to_string(root().join("lab/first-page.toml")).expect("it is there");
    let count = text.lines().filter(|line| *line == "[[figure]]").count();
    assert!((1..=README_FIGURES_MAX).contains(&count), "the README shows {count} figures");
}

/// A term that needs an explanation is a candidate for a better name.
const GLOSSARY_TERMS_MAX: usize = 25;

#[test]
fn glossary_terms_are_few_and_used_in_the_code() {
    let text = std::fs::read_to_string(root().join("docs/glossary.md")).expect("it is there");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).skip(1);
    let terms: Vec<&str> = rows.flat_map(|terms| terms.split(", ")).collect();
    assert!(terms.len() <= GLOSSARY_TERMS_MAX, "{} terms", terms.len());
    let files = files();
    let is_used = |term: &str| files.iter().any(|file| file.is("rs") && file.text.contains(term));
    let unused: Vec<String> = terms.iter().filter(|term| !is_used(term)).map(|term| (*term).to_owned()).collect();
    assert_none("no code has these terms:", &unused);
}
