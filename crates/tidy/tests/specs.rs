//! Specifications of commands: each names what clients see, and nothing else knows a command by its name.

use tidy::{assert_none, rust_files};

/// The fields that COMMAND, COMMAND DOCS and the manual report.
const REPORTED: &[&str] =
    &["name", "syntax", "arity", "keys", "access", "flags", "facts", "group", "cost", "since", "brief", "answer"];

/// Lines that compare a command's name on purpose: a fault that is built in, and a twin of the server in tests.
const COMPARES: &[&str] =
    &["crates/engine/src/session/attempt.rs: Run::Local(handler) if command.name == \"LPOP\" => {"];

#[test]
fn a_specification_names_every_field_that_clients_see() {
    let mut faults = Vec::new();
    for file in rust_files().iter().filter(|file| file.path.starts_with("crates/commands/src/")) {
        for spec in file.text.split("const ").skip(1).filter(|spec| spec.contains(": CommandSpec = CommandSpec {")) {
            let Some((head, rest)) = spec.split_once(": CommandSpec = CommandSpec {") else { continue };
            let body = rest.split("\n};").next().unwrap_or_default();
            if head.contains(char::is_whitespace) {
                continue;
            }
            let is_named = |field: &str| body.contains(&format!("\n    {field}:"));
            let missing: Vec<&str> = REPORTED.iter().copied().filter(|field| !is_named(field)).collect();
            if !missing.is_empty() {
                faults.push(format!("{}: {head} lacks {}", file.path, missing.join(", ")));
            }
        }
    }
    assert_none("inheriting with `..` hides what clients see:", &faults);
}

#[test]
fn commands_are_distinguished_by_their_specification_not_their_name() {
    let forms = [
        "command.name == \"",
        "command.name != \"",
        "match command.name",
        "matches!(command.name",
        "command.name.starts_with(\"",
        "command.name.ends_with(\"",
    ];
    let mut faults = Vec::new();
    for file in rust_files() {
        let is_ours = file.path.starts_with("crates/engine/src/") || file.path.starts_with("crates/commands/src/");
        if !is_ours || file.path.contains("/testing/") || file.path.ends_with("tests.rs") {
            continue;
        }
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| forms.iter().any(|form| line.contains(form))) {
            let fault = format!("{}: {}", file.path, line.trim());
            if !COMPARES.contains(&fault.as_str()) {
                faults.push(fault);
            }
        }
    }
    assert_none("a fact of a command is a flag of its specification:", &faults);
}
