//! Specifications of commands: each names what clients see, and nothing else knows a command by its name.

use tidy::{assert_none, rust_files};

/// The fields that COMMAND, COMMAND DOCS and the manual report.
const REPORTED: &[&str] =
    &["name", "syntax", "arity", "keys", "access", "flags", "facts", "group", "cost", "since", "brief", "answer"];

/// A line that compares a command's name on purpose: a fault that canaries build in.
const CANARY: &str =
    "crates/engine/src/session/attempt.rs: RequestWay::Transaction(handler) if command.name == \"LPOP\" => {";

#[test]
fn a_specification_names_every_field_that_clients_see() {
    let mut faults = Vec::new();
    for file in rust_files().iter().filter(|file| file.path.starts_with("crates/commands/src/")) {
        // Parts of commands, which are static, are reported as the whole.
        for (at, _) in file.text.match_indices("CommandSpec {\n") {
            let before = file.text[..at].rsplit(';').next().unwrap_or_default();
            let literal = &file.text[at..];
            let end = literal.find("\n}").or(literal.find("\n    }")).unwrap_or(literal.len());
            let body = &literal[..end];
            let is_type = before.ends_with("-> ") || before.ends_with('&') || before.ends_with("impl ");
            if is_type || before.contains("static ") || before.contains("struct ") {
                continue;
            }
            let names = |field: &str| {
                body.lines().any(|line| line.trim_start().trim_end_matches(',').split(':').next() == Some(field))
            };
            let missing: Vec<&str> = REPORTED.iter().copied().filter(|field| !names(field)).collect();
            if !missing.is_empty() {
                let head = before.lines().last().unwrap_or_default().trim();
                faults.push(format!("{}: {head} lacks {}", file.path, missing.join(", ")));
            }
        }
        for line in file.text.lines().filter(|line| line.contains("CommandSpec { ") && line.contains(" ..")) {
            let is_part = file
                .text
                .contains(&format!("static {}", line.trim_start_matches("pub ").trim_start_matches("static ")));
            if !is_part {
                faults.push(format!("{}: {}", file.path, line.trim()));
            }
        }
    }
    assert_none("inheriting with `..` hides what clients see:", &faults);
}

#[test]
fn commands_are_distinguished_by_their_specification_not_their_name() {
    let forms = [
        ".name == \"",
        ".name != \"",
        "match command.name",
        "matches!(command.name",
        "matches!(self.name",
        "command.name ==",
        "command.name.starts_with(\"",
        "command.name.ends_with(\"",
        "spec.name",
        "self.name.starts_with(\"",
        "self.name.ends_with(\"",
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
            if fault != CANARY {
                faults.push(fault);
            }
        }
    }
    assert_none("a fact of a command is a flag of its specification:", &faults);
}
