//! Scenarios as they are read, with the words of sides, tables and columns.

use super::*;
use crate::messages::MESSAGE_BYTES_MIN;
use std::collections::BTreeSet;

fn ours() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/scenarios");
    Scenario::read_all(&folder).unwrap()
}

#[test]
fn every_scenario_is_valid() {
    let scenarios = ours();
    assert!(!scenarios.is_empty());
    for scenario in &scenarios {
        let mut names = BTreeSet::new();
        for case in &scenario.cases {
            assert!(names.insert(&case.name), "{}/{} is there twice", scenario.name, case.name);
            let tables = scenario.tables();
            let mut tables = tables.iter().filter(|table| case.is_in(table)).peekable();
            assert!(tables.peek().is_some(), "{}/{} is in no table", scenario.name, case.name);
            for table in tables {
                for side in scenario.sides.iter().filter(|side| !side.cannot.contains_key(&case.name)) {
                    for column in 0..scenario.columns.count() {
                        assert_valid(scenario, case, side, table, column);
                    }
                }
            }
        }
    }
}

fn assert_valid(scenario: &Scenario, case: &Case, side: &Side, table: &Table, column: usize) {
    let place = format!("{}/{} of {}", scenario.name, case.name, side.label);
    let own = scenario.case_for(case, side, table, column).unwrap();
    let counts = scenario.counts(case, column).unwrap();
    let prepare = scenario.prepare_for(side, column).unwrap();
    for step in prepare.iter().chain(&own.prepare) {
        assert_loads(step, counts, &place);
    }
    let filled = counts.fill(&format!("{:?} {:?}", own.load, own.check));
    assert!(!filled.contains("{middle"), "{place}: an unknown placeholder");
    assert_load(scenario, &own.load, counts, &place);
    if let Some(times) = &case.target.times {
        assert!(scenario.cases.iter().any(|it| it.name == times.case), "{place}: no case to compare with");
    }
    assert!(!own.check.command.is_empty(), "{place}: nothing is checked");
}

fn assert_loads(step: &Prepare, counts: PlaceholderValues, place: &str) {
    match step {
        Prepare::Command(_) | Prepare::Checkpoint(_) | Prepare::Until { .. } => {}
        Prepare::OwnSteps => panic!("{place}: a side has no steps"),
        Prepare::Board(Board { count, .. })
        | Prepare::Strings { count, .. }
        | Prepare::List { count, .. }
        | Prepare::Names { count, .. }
        | Prepare::Grow { count, .. }
        | Prepare::Data { count, .. } => {
            assert!(counts.number(count).unwrap() > 0, "{place} loads nothing");
        }
    }
}

fn assert_load(scenario: &Scenario, load: &Load, counts: PlaceholderValues, place: &str) {
    match load {
        Load::Memory { count, marks_percent, from_percent, .. } => {
            counts.number(count).unwrap();
            assert!(marks_percent.iter().all(|mark| mark > from_percent), "{place}: marks are above the first");
            assert!(!marks_percent.is_empty() && marks_percent.is_sorted(), "{place}: marks rise");
        }
        Load::Writes(writes) | Load::Restart { writes, .. } => {
            counts.number(&writes.keys).unwrap();
            assert!(writes.connections > 0 && writes.pipeline > 0, "{place} writes nothing");
        }
        Load::Node(line) => {
            let script = line.split(' ').next().unwrap_or_default();
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            assert!(root.join(script).is_file(), "{place}: there is no {script}");
        }
        Load::Messages(work) => {
            let counts = [work.channels, work.listeners, work.publishers, work.pipeline];
            let all_present = counts.iter().all(|count| *count > 0) && work.publishers < 10_000;
            assert!(all_present, "{place}: nobody is there");
            assert!(work.message_bytes >= MESSAGE_BYTES_MIN, "{place}: messages too short to be told apart");
        }
        Load::Steps(steps) => {
            assert!(scenario.items > 0 && !steps.is_empty(), "{place}: a side has no steps");
        }
        Load::Tools(work) => assert!(!work.commands.is_empty(), "{place} runs nothing"),
        _ => {}
    }
}

#[test]
fn a_side_may_override_commands() {
    let scenario = ours().into_iter().find(|scenario| scenario.name == "key-order").unwrap();
    let page = |side: usize| {
        let case = scenario.case_for(&scenario.cases[1], &scenario.sides[side], &Table::default(), 0).unwrap();
        let Load::Generator { command, .. } = case.load else { panic!("{}", case.name) };
        command
    };
    assert_eq!(page(0), "KEYRANGE [key:{random:12} + LIMIT 100");
    assert_eq!(page(1), "ZRANGEBYLEX names [key:{random:12} + LIMIT 0 100");
}

#[test]
fn a_side_may_have_a_load_of_its_own() {
    let text = r#"
        what = "Values"
        [[side]]
        label = "server"
        program = "redis"
        fsync = "none"
        [[side]]
        label = "library"
        program = "tokyocabinet"
        fsync = "none"
        words = { count = "tchmgr inform {file} | record number", file = "casket.tch" }
        loads = { set = { tools = { commands = ["tchmgr importtsv {file} in.tsv"] } } }
        [[case]]
        name = "set"
        what = "written"
        load.benchmark = "-t set"
        check = { command = "{count}", answer = "1" }
    "#;
    let scenario = Scenario::parse(text, Path::new("values.toml")).unwrap();
    let case =
        |side: usize| scenario.case_for(&scenario.cases[0], &scenario.sides[side], &Table::default(), 0).unwrap();
    assert!(matches!(case(0).load, Load::Benchmark(_)));
    let Load::Tools(tools) = case(1).load else { panic!("{:?}", case(1).load) };
    assert_eq!(tools.commands, ["tchmgr importtsv casket.tch in.tsv"]);
    assert_eq!(case(1).check.command, "tchmgr inform casket.tch | record number");
}

const TABLES: &str = r#"
    what = "Lists"
    baseline = "peer"
    [[side]]
    label = "own"
    program = "bobbin"
    fsync = "none"
    words = { page = "LRANGE {key} 0 9", key = "mine" }
    [[side]]
    label = "peer"
    program = "redis"
    fsync = "none"
    words = { page = "LRANGE {key} 0 9", key = "theirs" }
    [columns]
    what = "items"
    name = "{items}"
    words = { items = [10, 200] }
    [[table]]
    name = "A"
    what = "one client"
    words = { clients = "1" }
    [[published]]
    system = "old"
    table = "A"
    cases = { page = [5.0, nan] }
    [[case]]
    name = "page"
    what = "a page"
    load.benchmark = "-c {clients} {page} {items:12}"
    check = { command = "LLEN {key}", answer = "{items}" }
"#;

#[test]
fn words_of_side_table_and_column_are_replaced() {
    let scenario = Scenario::parse(TABLES, Path::new("lists.toml")).unwrap();
    let table = &scenario.tables[0];
    let case = scenario.case_for(&scenario.cases[0], &scenario.sides[1], table, 1).unwrap();
    let Load::Benchmark(arguments) = &case.load else { panic!("{case:?}") };
    assert_eq!(arguments, "-c 1 LRANGE theirs 0 9 000000000200");
    assert_eq!((case.check.command.as_str(), case.check.answer.as_str()), ("LLEN theirs", "200"));
    assert_eq!((scenario.columns.name_of(1), scenario.items(1)), ("200".to_owned(), 200));
    assert_eq!(scenario.baseline().unwrap().label, "peer");
}

#[test]
fn contradictions_of_a_scenario_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = TABLES.replace(from, to);
        Scenario::parse(&text, Path::new("lists.toml")).unwrap_err().to_string()
    };
    assert!(refused("baseline = \"peer\"", "baseline = \"nobody\"").contains("nobody"));
    assert!(refused("label = \"peer\"", "label = \"own\"").contains("two sides"));
    assert!(refused("table = \"A\"", "table = \"B\"").contains("no table"));
    assert!(refused("[5.0, nan]", "[5.0]").contains("2 values"));
    assert!(refused("[10, 200]", "[]").contains("need values"));
    assert!(refused("baseline = \"peer\"", "stack = [\"nothing\"]").contains("`nothing` of `stack`"));
}

#[test]
fn a_word_is_replaced_on_demand() {
    let mut scenario = Scenario::parse(TABLES, Path::new("lists.toml")).unwrap();
    scenario.replace("n", "7").unwrap();
    scenario.replace("clients", "3").unwrap();
    scenario.replace("items", "40").unwrap();
    assert_eq!(
        (scenario.counts(&scenario.cases[0], 0).unwrap().requests, scenario.columns.count(), scenario.items(0)),
        (7, 1, 40)
    );
    assert_eq!(scenario.tables[0].words["clients"], "3");
    assert!(scenario.replace("nothing", "3").unwrap_err().to_string().contains("no word"));
    assert!(scenario.replace("items", "many").unwrap_err().to_string().contains("number"));
}

#[test]
fn an_unknown_field_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.toml");
    fs::write(&path, "what = \"x\"\nspeed = 1\n").unwrap();
    assert!(Scenario::read(&path).unwrap_err().to_string().contains("speed"));
}
