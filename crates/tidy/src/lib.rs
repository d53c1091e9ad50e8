//! Tidy: what a reviewer would have to remember, as tests over the files of the repository.
//!
//! It stands outside the rings: nothing imports it, and it imports none of them. The rules are its tests, one file a
//! subject; here is only what reads files.

#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours, wherever they are.
const SKIPPED: [&str; 9] =
    [".git", "target", "node_modules", ".venv", "__pycache__", "artifacts", "corpus", "coverage", "data"];

/// A file of the repository.
#[derive(Debug)]
pub struct File {
    /// Its path from the root, with `/`.
    pub path: String,
    /// Its text; what is not UTF-8 is replaced.
    pub text: String,
}

impl File {
    /// Returns the workspace crate that contains the file, if any.
    pub fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Returns true if the file has this extension.
    pub fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lies in crates/tidy").to_owned()
}

/// All files of the repository, sorted by path.
pub fn files() -> Vec<File> {
    let root = root();
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(files.len() > 100, "the repository was not found");
    files
}

/// All Rust files.
pub fn rust_files() -> Vec<File> {
    let mut files = files();
    files.retain(|file| file.is("rs"));
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
            collect(root, &path, files);
        } else if kind.is_file() {
            let Ok(bytes) = fs::read(&path) else { continue };
            let path = path.strip_prefix(root).expect("it lies below the root").to_string_lossy().replace('\\', "/");
            files.push(File { path, text: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
}

/// A crate's manifest.
pub struct Manifest {
    /// Its folder, from the root.
    pub folder: String,
    /// The crate.
    pub name: String,
    table: toml::Table,
}

impl Manifest {
    /// Returns the dependencies of the crate from all `[KIND]` and `[target.*.KIND]` tables.
    pub fn needs(&self, kind: &str) -> Vec<String> {
        let targets = self.table.get("target").and_then(toml::Value::as_table);
        let of_targets = targets.into_iter().flat_map(|targets| targets.values()).filter_map(toml::Value::as_table);
        let tables = std::iter::once(&self.table).chain(of_targets);
        let needs = tables.filter_map(|table| table.get(kind)?.as_table()).flat_map(|needs| needs.keys().cloned());
        needs.collect()
    }
}

/// The root manifest, read.
pub fn workspace() -> toml::Table {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest is there");
    text.parse::<toml::Table>().expect("the root manifest is TOML")["workspace"]
        .as_table()
        .expect("the root is a workspace")
        .clone()
}

/// The manifests of the workspace's members, in its order.
pub fn manifests() -> Vec<Manifest> {
    let workspace = workspace();
    let members = workspace["members"].as_array().expect("a list of members").iter();
    let read = |member: &toml::Value| {
        let folder = member.as_str().expect("a path");
        let name = folder.strip_prefix("crates/").unwrap_or(folder).to_owned();
        let text = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a member has a manifest");
        Manifest { folder: folder.to_owned(), name, table: text.parse().expect("a manifest is TOML") }
    };
    members.map(read).collect()
}

/// Fails with all of `faults`, if there are any.
pub fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}\n  {}", faults.join("\n  "));
}
