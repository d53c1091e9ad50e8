//! Headers, lengths, leftovers: what each file of the repository must be like.

use std::collections::BTreeMap;
use tidy::{File, assert_none, files, rust_files};

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 100;
/// The way of a request, from its bytes to its reply, is read most: its functions are shorter.
const REQUEST_FUNCTION_LINES_MAX: usize = 60;
const REQUEST_FOLDERS: [&str; 2] = ["crates/engine/src/session/", "crates/engine/src/executor/"];

/// Functions that are longer, and how long they may be: a number here may only become smaller.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];

#[test]
fn every_module_begins_with_a_doc_comment() {
    let opens = |file: &File| file.text.starts_with("//! ") || file.text.starts_with("#![no_main]\n//! ");
    let faults = rust_files().into_iter().filter(|file| !opens(file)).map(|file| file.path);
    assert_none("the first line of a module begins with `//! `:", &faults.collect::<Vec<_>>());
}

#[test]
fn files_and_functions_are_short() {
    let mut faults = Vec::new();
    let mut long = BTreeMap::new();
    for file in rust_files() {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            faults.push(format!("{} has {lines} lines", file.path));
        }
        let is_on_the_way = REQUEST_FOLDERS.iter().any(|folder| file.path.starts_with(folder));
        for (name, lines) in functions(&file.text) {
            if lines > FUNCTION_LINES_MAX {
                long.insert(format!("{}::{name}", file.path), lines);
            } else if is_on_the_way && lines > REQUEST_FUNCTION_LINES_MAX {
                faults.push(format!("{}::{name} has {lines} lines, on the way of a request", file.path));
            }
        }
    }
    for (name, lines) in &long {
        let allowed =
            LONG_FUNCTIONS.iter().find(|(listed, _)| listed == name).map_or(FUNCTION_LINES_MAX, |(_, at)| *at);
        if *lines > allowed {
            faults.push(format!("{name} has {lines} lines, {allowed} are allowed"));
        } else if *lines < allowed {
            faults.push(format!("{name} has shrunk to {lines} lines: note that in the list"));
        }
    }
    let gone = LONG_FUNCTIONS.iter().filter(|(name, _)| !long.contains_key(*name));
    faults.extend(gone.map(|(name, _)| format!("{name} is short or gone: take it off the list")));
    assert_none("files and functions stay short:", &faults);
}

/// Type names that a crate has twice, outside of tests: this list may only become shorter.
const TYPES_TWICE: &[(&str, &str)] = &[];

#[test]
fn no_type_name_occurs_twice_in_a_crate() {
    let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for file in rust_files() {
        let Some((crate_name, inside)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if inside.ends_with("tests.rs") {
            continue;
        }
        // Types in a test module within the file are indented.
        for name in file.text.lines().filter_map(type_name) {
            places.entry((crate_name.to_owned(), name.to_owned())).or_default().push(inside.to_owned());
        }
    }
    let twice = |(crate_name, name): &(String, String)| TYPES_TWICE.contains(&(crate_name.as_str(), name.as_str()));
    let mut faults: Vec<String> = places
        .iter()
        .filter(|(key, files)| files.len() > 1 && !twice(key))
        .map(|((crate_name, name), files)| format!("{crate_name} has {name} in {}", files.join(", ")))
        .collect();
    let is_there = |(crate_name, name): &(&str, &str)| {
        places.get(&((*crate_name).to_owned(), (*name).to_owned())).is_some_and(|files| files.len() > 1)
    };
    let gone = TYPES_TWICE.iter().filter(|key| !is_there(key));
    faults.extend(gone.map(|(crate_name, name)| format!("{crate_name} has {name} once: take it off the list")));
    assert_none("one noun for one idea:", &faults);
}

/// The type that a line defines which is not indented.
fn type_name(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let keywords = ["struct ", "enum ", "trait ", "type ", "union "];
    let name = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    Some(name.split(|byte: char| !byte.is_alphanumeric()).next().unwrap_or_default())
}

/// Names and lengths in lines, of code that rustfmt has laid out: a function ends where its indentation comes back.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (begin, line) in lines.iter().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        let Some(name) = function_name(line.trim_start()) else { continue };
        let ends = |line: &&str| line.starts_with(&" ".repeat(indentation)) && line[indentation..].starts_with('}');
        if line.ends_with(['}', ';']) {
            continue;
        }
        let length = lines[begin + 1..].iter().position(ends).map_or(0, |end| end + 2);
        found.push((name.to_owned(), length));
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let words = ["pub", "const", "async", "unsafe", "extern"];
    let is_head = before.split_whitespace().all(|word| words.iter().any(|known| word.starts_with(known)));
    let name = after.split(['(', '<']).next()?;
    (is_head && !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()))
        .then_some(name)
}

#[test]
fn functions_are_measured_from_head_to_closing_brace() {
    let text =
        "impl A {\n    pub(crate) fn long<T>(\n        a: T,\n    ) -> T {\n        a\n    }\n\n    fn one() {}\n}\n";
    assert_eq!(functions(text), [("long".to_owned(), 5)]);
}

#[test]
fn every_module_file_is_reached() {
    let files = rust_files();
    let is_source = |file: &&File| file.path.contains("/src/") || file.path.contains("/tests/");
    let sources: Vec<&File> = files.iter().filter(is_source).collect();
    let mut faults = Vec::new();
    for file in &sources {
        let (folder, name) = file.path.rsplit_once('/').expect("a file lies in a folder");
        if matches!(name, "lib.rs" | "main.rs") {
            continue;
        }
        let (folder, module) = match name {
            "mod.rs" => folder.rsplit_once('/').expect("a module's folder lies in another"),
            _ => (folder, name.trim_end_matches(".rs")),
        };
        let parents = [
            format!("{folder}.rs"),
            format!("{folder}/mod.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        let names_it = |text: &str| text.lines().any(|line| line.trim().ends_with(&format!("mod {module};")));
        let is_module = sources.iter().any(|parent| parents.contains(&parent.path) && names_it(&parent.text));
        let is_shared = || files.iter().any(|other| other.text.contains(&format!("/{module}.rs\"]\nmod {module};")));
        let is_reached =
            is_module || is_test_binary(folder, module) || file.path.contains("/tests/support/") && is_shared();
        if !is_reached {
            faults.push(file.path.clone());
        }
    }
    assert_none("files that no module names are dead:", &faults);
}

/// Returns true if the file of a module is a test binary of its own.
fn is_test_binary(folder: &str, module: &str) -> bool {
    let Some(crate_path) = folder.strip_suffix("/tests") else { return false };
    let manifest = std::fs::read_to_string(tidy::root().join(crate_path).join("Cargo.toml")).unwrap_or_default();
    !manifest.contains("autotests = false") || manifest.contains(&format!("[[test]]\nname = \"{module}\"\n"))
}

#[test]
fn no_unfinished_markers_remain() {
    // Put together here, so that this file is none of its own findings.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let begins = [concat!("dbg", "!("), concat!("todo", "!("), concat!("unimplemented", "!(")];
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| is_ours(file)) {
        for (at, line) in file.text.lines().enumerate() {
            let mut parts = line.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
            if parts.any(|part| words.contains(&part))
                || (file.is("rs") && begins.iter().any(|text| line.contains(text)))
            {
                faults.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    assert_none("left over:", &faults);
}

#[test]
fn no_machine_specific_path_occurs() {
    let places = [concat!("/wo", "rk/"), concat!("/tmp/", "bobbin"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| is_ours(file)) {
        for (at, line) in file.text.lines().enumerate() {
            if places.iter().any(|place| line.contains(place)) {
                faults.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    assert_none("paths of a machine:", &faults);
}

/// Returns true if a person of this project wrote the file: not for lock files and data.
fn is_ours(file: &File) -> bool {
    let extensions = ["rs", "toml", "md", "sh", "py", "js", "c", "t", "yml"];
    let bare = !file.path.rsplit('/').next().unwrap_or_default().contains('.');
    bare || extensions.iter().any(|extension| file.is(extension))
}

#[test]
fn a_module_with_submodules_is_a_mod_rs_file() {
    let paths: Vec<String> = rust_files().into_iter().map(|file| file.path).collect();
    let has_parts = |path: &&String| {
        let folder = format!("{}/", path.trim_end_matches(".rs"));
        paths.iter().any(|other| other.starts_with(&folder))
    };
    let faults: Vec<String> = paths.iter().filter(|path| path.contains("/src/")).filter(has_parts).cloned().collect();
    assert_none("`x/mod.rs`, not `x.rs` beside `x/`:", &faults);
}
