//! Checks the imports between crates, the crates that may have unsafe code, and that every dependency is used.

use tidy::{assert_none, files, manifests, rust_files, workspace};

/// The crates in ring order, and the crates of the workspace that each imports. A new edge is rare: it gets a line here
/// and a record of the decision in `docs/adr/`.
const EDGES: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("testing", &["base"]),
    ("blocks", &["base"]),
    ("table", &["base"]),
    ("sync", &["base"]),
    ("values", &["base", "blocks"]),
    ("search", &["base", "blocks", "values"]),
    ("wire", &["base"]),
    ("rdb", &["base", "blocks", "values"]),
    ("lua", &["base", "sync", "wire"]),
    ("journal", &["base", "sync"]),
    ("store", &["base"]),
    ("keyspace", &["base", "blocks", "sync", "table", "values"]),
    ("commands", &["base", "blocks", "keyspace", "rdb", "search", "sync", "table", "values", "wire"]),
    (
        "engine",
        &["base", "blocks", "commands", "journal", "keyspace", "lua", "search", "store", "sync", "values", "wire"],
    ),
    ("linearizability", &[]),
    ("sim", &["base", "blocks", "engine", "journal", "keyspace", "linearizability", "store", "wire"]),
    ("lab", &["base"]),
    ("server", &["base", "commands", "engine", "journal", "keyspace", "store", "sync", "wire"]),
    ("benches", &[]),
    ("tidy", &[]),
];

/// The crates whose laws run under AddressSanitizer; all others forbid unsafe code.
const UNSAFE: [&str; 3] = ["blocks", "table", "sync"];
/// Two files besides: what the engine of scripts calls, by its interface for C (docs/adr/0019).
const UNSAFE_FILES: [&str; 2] = ["crates/lua/src/direct.rs", "crates/lua/src/interrupt.rs"];

/// The crates through which requests pass. (The atomics of `table` lie in entries, at an address; it notes their writes.)
const COUNTED: [&str; 8] = ["blocks", "sync", "values", "search", "journal", "keyspace", "commands", "engine"];

#[test]
fn crates_import_exactly_the_listed_crates_above_them() {
    let manifests = manifests();
    let order: Vec<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    let listed: Vec<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(order, listed, "the workspace's members and the list of edges, in ring order");
    let mut faults = Vec::new();
    for (at, manifest) in manifests.iter().enumerate() {
        let is_ours = |need: &String| listed.contains(&need.as_str());
        let mut imports: Vec<String> = manifest.needs("dependencies").into_iter().filter(is_ours).collect();
        imports.sort();
        if imports != EDGES[at].1 {
            faults.push(format!("{} imports {imports:?}, listed is {:?}", manifest.name, EDGES[at].1));
        }
        let tested = manifest.needs("dev-dependencies").into_iter().filter(is_ours);
        // A crate may test itself with a feature on.
        let tested = tested.filter(|import| *import != manifest.name);
        for import in imports.into_iter().chain(tested) {
            if !order[..at].contains(&import.as_str()) {
                faults.push(format!("{} imports {import}, which is not above it", manifest.name));
            }
        }
    }
    assert_none("crates import what stands above them, as listed:", &faults);
}

#[test]
fn unsafe_code_is_forbidden_except_in_listed_files() {
    let mut faults = Vec::new();
    for file in rust_files() {
        let name = file.crate_name().or(file.path.starts_with("benches/").then_some("benches"));
        let Some(name) = name.filter(|name| !UNSAFE.contains(name)) else { continue };
        let is_root = file.path.ends_with("src/lib.rs") || file.path.ends_with("src/main.rs");
        let level = if name == "lua" { "#![deny(unsafe_code)]" } else { "#![forbid(unsafe_code)]" };
        if is_root && !file.text.contains(level) {
            faults.push(format!("{} lacks {level}", file.path));
        }
        // Tests and benches are crates of their own, which the attribute does not reach.
        let begins = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"];
        if name != "tidy"
            && !UNSAFE_FILES.contains(&&*file.path)
            && begins.iter().any(|begin| file.text.contains(begin))
        {
            faults.push(format!("{} holds unsafe code", file.path));
        }
    }
    assert_none("unsafe code lives in blocks, table, sync and two files of lua alone:", &faults);
}

#[test]
fn atomics_and_locks_of_the_request_path_come_from_one_module() {
    let is_counted = |path: &str| COUNTED.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")));
    let mut faults = Vec::new();
    for file in rust_files().iter().filter(|file| is_counted(&file.path)) {
        let is_other = |line: &str| ["atomic", "Mutex", "RwLock"].iter().any(|word| line.contains(word));
        let lines = file.text.lines().filter(|line| line.contains("std::sync") && is_other(line));
        faults.extend(lines.map(|line| format!("{}: {}", file.path, line.trim())));
    }
    assert_none("atomics and locks come from base::primitives, which can count them:", &faults);
}

#[test]
fn every_dependency_is_used_by_the_crate_that_names_it() {
    let files = rust_files();
    let mut faults = Vec::new();
    for manifest in manifests() {
        let in_crate = format!("{}/", manifest.folder);
        let in_source = format!("{in_crate}src/");
        for (kind, place) in [("dependencies", &in_source), ("dev-dependencies", &in_crate)] {
            let texts = || files.iter().filter(|file| file.path.starts_with(place.as_str())).map(|file| &file.text);
            for need in manifest.needs(kind) {
                let name = need.replace('-', "_");
                let own = format!("{}::", need);
                let used = texts().any(|text| {
                    text.contains(&format!("{name}::")) || text.contains(&own) || text.contains(&format!("use {name};"))
                });
                if !used {
                    faults.push(format!("{} names {need} under {kind} and does not use it", manifest.name));
                }
            }
        }
    }
    assert_none("a dependency that nobody uses goes:", &faults);
}

#[test]
fn every_workspace_dependency_is_used_by_a_crate() {
    let shared = workspace();
    let shared = shared["dependencies"].as_table().expect("a table of dependencies");
    let manifests = manifests();
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let used: Vec<String> = manifests.iter().flat_map(|crate_| kinds.map(|kind| crate_.needs(kind)).concat()).collect();
    // The crates at the end of the order are imported by nobody.
    let idle = shared.keys().filter(|name| !used.contains(name) && !EDGES.iter().any(|(of_ours, _)| of_ours == name));
    assert_none("a dependency that no crate names goes:", &idle.cloned().collect::<Vec<_>>());
}

#[test]
fn dependencies_come_from_the_public_registries() {
    let mut faults = Vec::new();
    for file in files() {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let (begin, public) = match name {
            "Cargo.lock" => ("source = \"", "registry+https://github.com/rust-lang/crates.io-index"),
            "package-lock.json" => ("\"resolved\": \"", "https://registry.npmjs.org/"),
            _ => continue,
        };
        let sources = file.text.lines().filter_map(|line| line.trim().strip_prefix(begin));
        faults.extend(sources.filter(|from| !from.starts_with(public)).map(|from| format!("{}: {from}", file.path)));
    }
    for file in files() {
        let is_cargo_config = file.path.ends_with(".cargo/config.toml");
        let only_environment = file.text.lines().filter(|line| line.starts_with('[')).all(|line| line == "[env]");
        if is_cargo_config && !only_environment || file.path.ends_with(".npmrc") || file.path.ends_with("pip.conf") {
            faults.push(format!("{} sets where packages come from", file.path));
        }
        if file.path.ends_with("requirements.txt") && file.text.contains("index-url") {
            faults.push(format!("{} names an index", file.path));
        }
    }
    assert_none("packages come from the public registries:", &faults);
}
