//! Every scenario, as small as it can be, against Bobbin and the peers that are installed: each runs, and each reply is
//! as expected.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use testing::{program_or_skip, skip};

const TEST: &str = "lab::scenarios";
/// Scenarios run side by side, for most of the time a server starts or waits.
const SIDE_BY_SIDE: usize = 4;

/// Runs a scenario. Absent if it succeeds.
fn failure(root: &Path, scenario: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bobbin-lab"));
    command.current_dir(root).args(["run", scenario, "--tiny", "--out"]).arg(folder.path());
    let output = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let page = fs::read_dir(folder.path()).unwrap().any(|entry| entry.unwrap().path().join("report.html").exists());
    (!output.status.success() || !page).then(|| format!("{scenario}:\n{text}"))
}

#[test]
fn every_scenario_runs_with_expected_replies() {
    let peers = ["redis-server", "redis-benchmark", "memcached", "mariadbd", "beanstalkd", "tchmgr", "node"];
    if peers.map(|peer| program_or_skip(TEST, peer)).contains(&None) {
        return;
    }
    if !Path::new(env!("CARGO_BIN_EXE_bobbin-lab")).with_file_name("bobbin").exists() {
        skip(TEST, "there is no bobbin beside bobbin-lab (cargo build -p server)");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let files = fs::read_dir(root.join("lab/scenarios")).unwrap().map(|entry| entry.unwrap().path());
    let scenarios = files.filter(|file| file.extension().is_some_and(|extension| extension == "toml"));
    let mut scenarios: Vec<String> =
        scenarios.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    scenarios.sort_unstable();
    assert!(!scenarios.is_empty());
    let (left, failures) = (Mutex::new(scenarios), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(scenario) = { left.lock().unwrap().pop() } {
                    let failure = failure(&root, &scenario);
                    failures.lock().unwrap().extend(failure);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
