//! Every transcript against a keyspace without an engine: in RESP2, in RESP3, and with a restart after each request.

use commands::Run;
use commands::table;
use commands::testing::direct::World;
use commands::testing::transcript::{self, Step, Transcript};
use std::collections::BTreeSet;
use std::path::Path;
use wire::OwnedRequest;
use wire::resp::Protocol;

const GROUPS: &[&str] = &["generic", "list", "string"];

fn all() -> Vec<Transcript> {
    transcript::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), GROUPS).unwrap()
}

#[track_caller]
fn check(new_world: impl Fn() -> World) {
    let mut differences = Vec::new();
    for transcript in all() {
        differences.extend(transcript::run(&transcript, &mut new_world(), |_| false));
    }
    let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{} differences:\n{}", shown.len(), shown.join("\n"));
}

#[test]
fn in_resp2() {
    check(|| World::new(Protocol::Resp2));
}

#[test]
fn in_resp3() {
    check(|| World::new(Protocol::Resp3));
}

#[test]
fn restarted_after_each_request() {
    check(|| World { restarts: true, ..World::new(Protocol::Resp2) });
}

/// Those of the connection and the server need a session: `tests/session` has them.
#[test]
fn every_row_has_a_transcript() {
    let mut called = BTreeSet::new();
    for step in all().iter().flat_map(|transcript| &transcript.steps) {
        if let Step::Call { words, .. } = step
            && let table::Found::Command(row) = table::find(&OwnedRequest::of(words).args())
        {
            called.insert(row.name);
        }
    }
    let rows = table::rows().filter(|row| !matches!(row.run, Run::Session(_) | Run::Engine(_)));
    let missing: Vec<&str> = rows.map(|row| row.name).filter(|name| !called.contains(name)).collect();
    // DEBUG and MEMORY tell of the inside: `tests/session/data.rs` has them.
    let missing: Vec<&&str> =
        missing.iter().filter(|name| !name.starts_with("DEBUG ") && !name.starts_with("MEMORY ")).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
