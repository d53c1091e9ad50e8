//! Runs of scenario files: the folder of results, peers that are missing, interrupts.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use testing::program_or_skip;

const SCENARIO: &str = r#"
    what = "Two lists"
    [[side]]
    label = "one"
    program = "redis"
    fsync = "none"
    [[side]]
    label = "other"
    program = "redis"
    fsync = "none"
    cannot = { length = "it is not asked to" }
    [[side]]
    label = "nowhere"
    program = "garnet"
    fsync = "none"
    [columns]
    what = "items"
    name = "{items}"
    words = { items = [10, 20] }
    [[table]]
    name = "few"
    what = "one client"
    words = { clients = "1" }
    [[table]]
    name = "many"
    what = "three clients"
    words = { clients = "3" }
    [[published]]
    system = "old"
    table = "few"
    cases = { push = [5.0, nan] }
    [[case]]
    name = "push"
    what = "items put at the head"
    requests = 40
    load.calls = { parties = [{ say = "LPUSH list {next:12}", connections = "{clients}", expect = "integer" }] }
    check = { command = "EXISTS list", answer = "1" }
    [[case]]
    name = "length"
    what = "the length asked for"
    tables = ["many"]
    requests = 30
    prepare = [{ grow = { say = "LPUSH list {next:12}", length = "LLEN list", count = "200" } }]
    load.calls = { parties = [{ say = "LLEN list", connections = "{clients}", expect = { exactly = "200" } }] }
    check = { command = "LLEN list", answer = "200" }
"#;

/// A folder with the scenario in it.
fn folder_with(scenario: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lists.toml"), scenario).unwrap();
    folder
}

fn lab(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bobbin-lab"));
    command.current_dir(folder).args(arguments);
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The only folder of results.
fn results_folder(folder: &Path) -> PathBuf {
    let mut folders = fs::read_dir(folder.join("lab-results")).unwrap().map(|entry| entry.unwrap().path());
    let only = folders.next().unwrap();
    assert!(folders.next().is_none());
    only
}

fn results(folder: &Path) -> Value {
    let text = fs::read_to_string(results_folder(folder).join("results.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The cells of a case of a table: side, column, number of turns, reason for a failure.
fn cells(results: &Value, table: usize, case: usize) -> Vec<(String, u64, usize, Option<String>)> {
    let cells = results["scenarios"][0]["tables"][table]["rows"][case]["cells"].as_array().unwrap();
    let of = |cell: &Value| {
        let failure = cell["failure"].as_str().map(str::to_owned);
        let turns = cell["turns"].as_array().unwrap().len();
        (cell["side"].as_str().unwrap().to_owned(), cell["column"].as_u64().unwrap(), turns, failure)
    };
    let mut cells: Vec<_> = cells.iter().map(of).collect();
    cells.sort();
    cells
}

#[test]
fn a_run_leaves_every_cell_in_its_folder() {
    let Some(_) = program_or_skip("lab::runs", "redis-server") else { return };
    let folder = folder_with(SCENARIO);
    let output = lab(folder.path(), &["run", "lists.toml", "--turns", "2"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let results = results(folder.path());
    let measured = |side: &str, column: u64| (side.to_owned(), column, 2, None);
    let all = vec![measured("one", 0), measured("one", 1), measured("other", 0), measured("other", 1)];
    assert_eq!(cells(&results, 0, 0), all);
    assert_eq!(cells(&results, 1, 0), all);
    let refused = |column| ("other".to_owned(), column, 0, Some("it is not asked to".to_owned()));
    assert_eq!(cells(&results, 1, 1), [measured("one", 0), measured("one", 1), refused(0), refused(1)]);
    let rows = fs::read_to_string(results_folder(folder.path()).join("results.csv")).unwrap();
    // A header, then two turns of ten cells.
    assert_eq!(rows.lines().count(), 1 + 2 * 10);
    assert!(rows.contains(",lists/many/length@20,") || rows.contains("lists/many/length@20"), "{rows}");
    let published = &results["scenarios"][0]["tables"][0]["rows"][0]["published"];
    assert_eq!(published.as_array().unwrap().len(), 1, "{published}");
    let page = fs::read_to_string(results_folder(folder.path()).join("report.html")).unwrap();
    assert!(page.contains("tems put at the head"));
    assert!(!results_folder(folder.path()).join("data").exists());
}

#[test]
fn a_missing_peer_is_named_with_its_remedy() {
    let Some(_) = program_or_skip("lab::runs", "redis-server") else { return };
    let folder = folder_with(SCENARIO);
    let output = lab(folder.path(), &["run", "lists.toml", "--only", "few", "--turns", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let absent = &results(folder.path())["absent"];
    assert_eq!(absent.as_array().unwrap().len(), 1);
    assert_eq!(absent[0]["label"], "nowhere");
    assert_eq!(absent[0]["reason"], "garnet-server is not on PATH");
    assert!(absent[0]["remedy"].as_str().unwrap().contains("dotnet tool install"));
}

#[test]
fn a_wrong_reply_fails_the_cell_and_the_run() {
    let Some(_) = program_or_skip("lab::runs", "redis-server") else { return };
    let folder = folder_with(&SCENARIO.replace("exactly = \"200\"", "exactly = \"201\""));
    let output = lab(folder.path(), &["run", "lists.toml", "--turns", "1"]).output().unwrap();
    assert!(!output.status.success());
    let results = results(folder.path());
    let (_, _, turns, failure) = cells(&results, 1, 1).swap_remove(0);
    assert_eq!(turns, 0);
    assert!(failure.unwrap().contains("201"));
    assert_eq!(cells(&results, 1, 0).len(), 4);
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let Some(_) = program_or_skip("lab::runs", "redis-server") else { return };
    // The second case would take ten minutes.
    let scenario = SCENARIO
        .replace("requests = 30\n", "")
        .replace("expect = { exactly = \"200\" } }] }", "expect = { exactly = \"200\" } }], seconds = 600 }");
    let folder = folder_with(&scenario);
    let mut child = lab(folder.path(), &["run", "lists.toml", "--turns", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Both tables' first case is done; the endless one follows.
    let measured = lines.by_ref().map(Result::unwrap).filter(|line| line.starts_with("lists/")).take(2).count();
    assert_eq!(measured, 2);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    lines.for_each(drop);
    child.wait().unwrap();
    let results = results(folder.path());
    assert_eq!(results["is_partial"], true);
    assert_eq!(cells(&results, 0, 0), [("one".to_owned(), 0, 1, None)]);
    assert_eq!(processes_in(folder.path()), 0);
}

/// The number of processes whose command line names the folder.
fn processes_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap().display().to_string();
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&folder)).count()
}

#[test]
fn a_running_server_is_measured_with_flush_only() {
    let folder = folder_with(SCENARIO);
    let output = lab(folder.path(), &["run", "lists.toml", "--peer", "redis=127.0.0.1:1"]).output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output).contains("--flush"), "{}", text(&output));
    assert!(!folder.path().join("lab-results").exists());
}

#[test]
fn another_durability_leaves_sides_without_a_choice() {
    let Some(_) = program_or_skip("lab::runs", "redis-server") else { return };
    let fixed = SCENARIO.replacen("fsync = \"none\"", "durability = \"its own\"\n    flags = [\"--save\", \"\"]", 1);
    let folder = folder_with(&fixed);
    let output = lab(folder.path(), &["run", "lists.toml", "--turns", "1", "--durability", "always"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let sides = results(folder.path())["sides"].clone();
    assert_eq!((&sides[0]["durability"], &sides[0]["settings"]), (&"its own".into(), &"redis-server --save ''".into()));
    assert!(sides[1]["settings"].as_str().unwrap().ends_with("--appendfsync always"), "{sides}");
}

#[test]
fn without_a_command_reports_and_scenarios_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let output = lab(folder.path(), &[]).output().unwrap();
    let text = text(&output);
    assert!(output.status.success());
    assert!(text.contains("memlink") && text.contains("lrange-places"), "{text}");
}

#[test]
fn an_unknown_name_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = lab(folder.path(), &["run", "nonsense"]).output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output).contains("nonsense"), "{}", text(&output));
    assert!(!folder.path().join("lab-results").exists());
}
